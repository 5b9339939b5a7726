"""The translator: read, index, resolve, rewrite, emit. Imports neither torch nor mindspore."""
