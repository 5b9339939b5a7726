"""Names for what a unit adds to the code, free of collisions."""

from __future__ import annotations

import re
from collections.abc import Collection

__all__ = ["Names", "suffix_of"]


def suffix_of(loss: str) -> str:
    """Return what tells a loss from the others in its scope: ``d`` for ``d_loss`` and ``lossD``, nothing for ``loss``.

    Only the last part of a path counts.
    """
    last = loss.rpartition(".")[2]
    stem = re.sub(r"(?i)_?(losses|loss|error|err)_?", "_", last).strip("_")
    stem = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", stem).lower()
    return stem if stem.isidentifier() or stem.isdigit() else ""


class Names:
    """Gives out names that neither the file nor an earlier unit of the scope uses."""

    def __init__(self, taken: Collection[str]) -> None:
        self._taken = set(taken)

    def fresh(self, *candidates: str) -> str:
        """Return and reserve the first free candidate, else the last one with a number."""
        for name in candidates:
            if name not in self._taken:
                break
        else:
            number = 2
            while f"{candidates[-1]}_{number}" in self._taken:
                number += 1
            name = f"{candidates[-1]}_{number}"
        self._taken.add(name)
        return name
