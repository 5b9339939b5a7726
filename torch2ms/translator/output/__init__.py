"""Output: everything that goes into OUT, and the report."""
