"""The network to verify where no one names it: the one that SRC trains, as OUT's report tells."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from torch2ms.errors import UsageError

__all__ = ["FoundEntry", "find_entry"]


class FoundEntry(NamedTuple):
    """What builds a network, its arguments, and its inputs."""

    entry: str
    inputs: tuple[str, ...]
    kwargs: dict[str, Any]


def find_entry(
    output: Path,
    entry: str | None,
    inputs: Sequence[str],
    kwargs: Mapping[str, Any] | None = None,
    *,
    has_inputs: bool = False,
) -> FoundEntry:
    """Return entry, inputs and arguments, those that are not given from the report in ``output``.

    ``has_inputs``: they come from elsewhere. Raises UsageError that says what is missing, and which networks there are.
    """
    facts = _facts(output)
    own = facts.get("entry")
    if not entry:
        entries = facts.get("entries", [])
        if entries:
            raise UsageError(
                "SRC has several networks and trains none", advice=f"choose --entry {' or '.join(entries)}"
            )
        if not isinstance(own, str):
            raise UsageError("no network found in OUT's report", advice="add --entry MODULE:CALLABLE")
        entry = own
    is_same = entry == own
    shown = facts.get("entry_inputs", []) if is_same and not has_inputs else []
    if not inputs and not shown and not has_inputs:
        raise UsageError(
            f"SRC does not show the inputs of {entry}",
            advice="add --input for each argument of the network, for example --input 2x3x224x224, or --input-from",
        )
    found = facts.get("entry_kwargs", {}) if is_same else {}
    return FoundEntry(entry, tuple(inputs or shown), dict(found if kwargs is None else kwargs))


def _facts(output: Path) -> dict[str, Any]:
    try:
        document = json.loads((output / "torch2ms_report" / "report.json").read_text(encoding="utf-8"))
        found = document["facts"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}
