"""Queries: one question about values each, asked of the facts of a file."""
