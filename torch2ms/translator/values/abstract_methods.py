"""Abstract methods: what they return is said by the classes that override them.

``self.model = self._build_model()`` in a base class of experiments, where ``_build_model`` raises NotImplementedError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch2ms.translator.values.containers import common
from torch2ms.translator.values.kinds import UNKNOWN, Kind

if TYPE_CHECKING:
    from torch2ms.translator.values.declarations import FunctionInfo
    from torch2ms.translator.values.world import World

__all__ = ["overridden"]

_MOST = 8  # overrides asked: each may cost a file to be read


def overridden(info: FunctionInfo, world: World) -> Kind:
    """Return the kind that the overrides of a method give, where all that are known agree."""
    owner = info.owner
    keys = _overrides(owner.node.name, info.name, world) if owner is not None else []
    if owner is None or len(keys) > _MOST:
        return UNKNOWN
    real = [key for key in keys if world.function(key) is not None]
    found = [world.returns(key) for key in real if owner.key in world.ancestry(key.rpartition(".")[0])]
    return common([kind for kind in found if kind.known])


def _overrides(name: str, method: str, world: World) -> list[str]:
    """Return the keys of a method in the classes that descend from those called ``name``, by identifiers alone."""
    symbols = world.symbols
    heirs = {heir for heir in symbols.definers(method) if name in symbols.bases(heir)}
    return [
        f"{path}:{heir}.{method}"
        for path, file in sorted(symbols.files.items())
        for heir in sorted(heirs & file.methods.get(method, frozenset()))
    ]
