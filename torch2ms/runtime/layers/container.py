"""Containers as base classes: what a subclass sets as attributes runs as well, in the order in which it was set."""

from __future__ import annotations

from typing import Any

from mindspore import nn

__all__ = ["Sequential"]


class Sequential(nn.SequentialCell):
    """``mindspore.nn.SequentialCell`` for subclasses that set their layers as attributes.

    SequentialCell runs the layers that its constructor was given and ignores those that are set later, which
    torch.nn.Sequential runs like all others.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if isinstance(value, nn.Cell):
            self._collect()

    def insert_child_to_cell(self, child_name: str, child_cell: nn.Cell) -> None:
        """Add a layer under a name; it runs last."""
        super().insert_child_to_cell(child_name, child_cell)
        self._collect()

    def _collect(self) -> None:
        object.__setattr__(self, "cell_list", tuple(self._cells.values()))
