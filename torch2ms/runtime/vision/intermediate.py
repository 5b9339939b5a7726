"""What a network gives on the way."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Dict

from mindspore import Tensor, nn

from ..layers import ModuleDict

__all__ = ["IntermediateLayerGetter"]


class IntermediateLayerGetter(ModuleDict):
    """The first children of a network, one after the other, up to the last whose output is asked for.

    ``return_layers``: the names of children, with the key that each one's output gets in the result. The network must
    run its children in the order in which it has them. Raises ValueError where it has none of a name.
    """

    def __init__(self, model: nn.Cell, return_layers: Dict[str, Any]) -> None:
        children = model.name_cells()
        missing = [name for name in return_layers if name not in children]
        if missing:
            raise ValueError(f"return_layers are not present in model: {', '.join(missing)}")
        names = list(children)
        last = max((names.index(name) for name in return_layers), default=-1)
        super().__init__({name: children[name] for name in names[: last + 1]})
        self.return_layers = dict(return_layers)

    def construct(self, x: Tensor) -> Dict[Any, Tensor]:
        """Return the outputs asked for, by their keys, in the order of the children."""
        found: Dict[Any, Tensor] = OrderedDict()
        for name, cell in self.items():
            x = cell(x)
            if name in self.return_layers:
                found[self.return_layers[name]] = x
        return found
