"""Passes: what becomes of calls, attributes, values, modules, training steps and imports."""
