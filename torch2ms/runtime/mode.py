"""The mode of networks: those born with parts in eval mode, and those that do something of their own when it changes.

PyTorch changes the mode of a network, ``def train(self, mode=True)``, by calling ``train`` of every part, so that a
part's own method is called whoever changes the mode. ``Cell.set_train`` sets a flag in all parts instead, and calls
none of them.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from mindspore import nn

__all__ = ["OwnMode", "trained"]


def trained(network: Any) -> Any:
    """Set a new network to train mode and return it; parts that were set to eval mode while it was built stay so."""
    for _, cell in network.cells_and_names():
        if "training" not in cell.get_flags():  # nobody has set it
            cell._phase = "train"
            nn.Cell.add_flags(cell, training=True)
    return network


class OwnMode:
    """A base for Cells with a ``set_train`` of their own: it is also called when a network around them is set."""

    _setting = False  # within set_train, which comes back here for the flags

    def __init_subclass__(cls, **options: Any) -> None:
        """Let a ``set_train`` of a class's own call that of any base: ``layers.Linear.set_train(self, mode)``."""
        super().__init_subclass__(**options)
        own = cls.__dict__.get("set_train")
        if own is not None:
            cls.set_train = _guarded(own)  # type: ignore[method-assign]

    def set_train(self, mode: bool = True) -> Any:
        """Set the mode of this Cell and of all in it."""
        before = self._setting
        self.__dict__["_setting"] = True
        try:
            return super().set_train(mode)  # type: ignore[misc]
        finally:
            self.__dict__["_setting"] = before

    def add_flags_recursive(self, **flags: Any) -> Any:
        """Set flags; the mode by way of ``set_train``."""
        if set(flags) == {"training"} and not self._setting:
            return self.set_train(flags["training"])
        return super().add_flags_recursive(**flags)  # type: ignore[misc]


def _guarded(own: Any) -> Any:
    """Return a ``set_train`` that the flags which it sets do not come back to.

    Where it returns nothing, which ``train`` may in PyTorch, the Cell comes back: ``Net().set_train()`` is used.
    """

    @wraps(own)
    def set_train(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = self._setting
        self.__dict__["_setting"] = True
        try:
            result = own(self, *args, **kwargs)
            return self if result is None else result
        finally:
            self.__dict__["_setting"] = before

    return set_train
