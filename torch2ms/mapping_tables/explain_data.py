"""What ``torch2ms explain NAME --format json`` prints: one row of the tables, or one diagnostic, as plain data.

docs/explain.schema.json describes it.
"""

from __future__ import annotations

from typing import Any

from torch2ms.diagnostics import CODES, code_named
from torch2ms.language import speaking
from torch2ms.mapping_tables.coverage import row_data
from torch2ms.mapping_tables.explain import explain
from torch2ms.mapping_tables.lookup import Tables
from torch2ms.mapping_tables.signatures import format_signature

__all__ = ["SCHEMA_VERSION", "explained"]

SCHEMA_VERSION = 1


def explained(tables: Tables, name: str) -> dict[str, Any]:
    """Return what is known of a torch name (any spelling) or of a diagnostic code, as JSON data of schema 1.

    ``status`` is "mapped", "kept", "unsupported", "unknown" or, for a code, "diagnostic"; ``text`` is what ``explain``
    prints. Raises UsageError as :func:`explain` does.
    """
    with speaking("en"):  # machines read it
        text = explain(tables, name)
    code = code_named(name)
    if code is not None:
        entry = CODES[code]
        return {
            "schema": SCHEMA_VERSION,
            "name": entry.code,
            "status": "diagnostic",
            "diagnostic": {
                "name": entry.name,
                "severity": str(entry.severity),
                "meaning": entry.meaning,
                "advice": entry.advice,
            },
            "text": text,
        }
    row = tables.row(name)
    canonical = row.name if row else tables.canonical(name)
    signature = tables.signature(canonical)
    known = {"status": "unknown"} if row is None else row_data(tables, row)
    return {
        "schema": SCHEMA_VERSION,
        "name": canonical,
        "signature": format_signature(signature) if signature else "",
        **known,
        "text": text,
    }
