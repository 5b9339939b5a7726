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
    output: Path, entry: str | None, inputs: Sequence[str], kwargs: Mapping[str, Any] | None = None
) -> FoundEntry:
    """Return entry, inputs and arguments, those that are not given from the report in ``output``.

    Raises UsageError that says what is missing, and which networks there are.
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
    shown = facts.get("entry_inputs", []) if is_same else []
    if not inputs and not shown:
        raise UsageError(
            f"SRC does not show the inputs of {entry}",
            advice="add --input for each argument of the network, for example --input 2x3x224x224",
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
