"""Values: what an expression of the program is: its kind, and what follows from it."""
