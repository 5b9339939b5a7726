"""The rules by which weights are carried over, in the form that the runtime's ``weights`` module reads."""

from __future__ import annotations

from typing import Any

from torch2ms.mapping_tables.lookup import Tables

__all__ = ["weight_rules"]


def weight_rules(tables: Tables) -> dict[str, dict[str, Any]]:
    """Return ``{target: {"state": "same" or {torch key: parameter}, "reshape": {torch key: rule}}}``.

    The first row that names a target gives its rule; ``lint`` reports rows that disagree.
    """
    rules: dict[str, dict[str, Any]] = {}
    for row in tables.rows():
        for option in row.to:
            if option.state is not None:
                state = option.state if isinstance(option.state, str) else dict(option.state)
                rules.setdefault(option.target, {"state": state, "reshape": dict(option.reshape)})
    return rules
