"""Project: the files of SRC, how they are read, and how they import each other."""
