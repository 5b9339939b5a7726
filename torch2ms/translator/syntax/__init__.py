"""Syntax: ast and libcst, the alignment of the two, builders and walks."""
