"""JSON with a line for each thing that somebody may look for, and no more: ``json.dumps(indent=2)`` is far slower."""

from __future__ import annotations

import json

__all__ = ["laid_out"]


def laid_out(value: object, levels: int, indent: str = "") -> str:
    """Return JSON text in which the entries of the first ``levels`` levels have lines of their own.

    Raises ValueError for numbers that JSON cannot say, TypeError for objects.
    """
    if levels and value and isinstance(value, (dict, list)):
        inner = indent + "  "
        if isinstance(value, dict):
            entries = [f"{_compact(key)}: {laid_out(item, levels - 1, inner)}" for key, item in value.items()]
        else:
            entries = [laid_out(item, levels - 1, inner) for item in value]
        start, end = "{}" if isinstance(value, dict) else "[]"
        return f"{start}\n{inner}" + f",\n{inner}".join(entries) + f"\n{indent}{end}"
    return _compact(value)


_compact = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
