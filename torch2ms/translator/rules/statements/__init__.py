"""Statements: assignments, definitions, contexts, loops, imports."""
