"""One class of PyTorch's that is two here: MindSpore's own where the arguments are known, else a layer of this package.

A program compares classes (``norm_layer == nn.BatchNorm2d``), looks them up (``FLOPS[type(m)]``) and tests for them
(``isinstance(m, layer_class)``). For all of that, both count as the same.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from mindspore import nn

__all__ = ["MINDSPORE_NAMES", "Kind", "kind_of"]

MINDSPORE_NAMES = {
    "Dense": "Linear",
    "SequentialCell": "Sequential",
    "CellList": "ModuleList",
    "CellDict": "ModuleDict",
    "Conv1dTranspose": "ConvTranspose1d",
    "Conv2dTranspose": "ConvTranspose2d",
    "Conv3dTranspose": "ConvTranspose3d",
    "BiDense": "Bilinear",
}
"""The layers of MindSpore that PyTorch calls otherwise, with PyTorch's name."""
_CONTAINERS = tuple(getattr(nn, name) for name in ("SequentialCell", "CellList", "CellDict") if hasattr(nn, name))
_OWN_NAMES = {theirs: own for own, theirs in MINDSPORE_NAMES.items()}


def kind_of(value: Any) -> Any:
    """Return the class of MindSpore's that a layer of this package stands for; anything else is its own kind."""
    if isinstance(value, Kind) and value.__module__.startswith(f"{__package__}.layers."):
        name = str(value.__name__)
        found = getattr(nn, _OWN_NAMES.get(name, name), value)
        return found if isinstance(found, type) else value
    return value


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.integer) else value


class Kind(type(nn.Cell)):  # type: ignore[misc]
    """The class of the layers of this package: they are equal to MindSpore's, and take its instances for theirs."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Return a new layer, in train mode as PyTorch's are: who looks a class up need not say so.

        The containers leave the layers that they are given in the mode that these have. Sizes may be numpy's integers,
        which MindSpore's layers refuse.
        """
        made = super().__call__(*(_plain(value) for value in args), **{k: _plain(v) for k, v in kwargs.items()})
        if isinstance(made, nn.Cell) and not isinstance(made, _CONTAINERS):
            made.set_train()
        return made

    @property
    def __signature__(cls) -> inspect.Signature:
        """What a new layer takes, for programs that ask ``inspect.signature`` before they hand it over."""
        start = getattr(cls, "__init__")  # noqa: B009 - a type checker knows of no class that derives from this one
        return inspect.Signature(list(inspect.signature(start).parameters.values())[1:])

    def __eq__(cls, other: object) -> bool:
        return kind_of(cls) is kind_of(other)

    def __hash__(cls) -> int:
        kind = kind_of(cls)
        return super().__hash__() if kind is cls else hash(kind)

    def __instancecheck__(cls, instance: Any) -> bool:
        kind = kind_of(cls)
        return bool(super().__instancecheck__(instance) or (kind is not cls and isinstance(instance, kind)))
