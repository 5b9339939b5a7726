"""Expressions other than calls: names, attributes, operators, indices, format strings."""
