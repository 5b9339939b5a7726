"""Rules: what becomes of calls, expressions and statements."""
