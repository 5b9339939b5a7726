"""Networks that do something of their own when their mode changes: PyTorch's ``def train(self, mode=True)``.

PyTorch changes the mode of a network by calling ``train`` of every part, so that a part's own method is called whoever
changes the mode. ``Cell.set_train`` sets a flag in all parts instead, and calls none of them.
"""

from __future__ import annotations

from typing import Any

__all__ = ["OwnMode"]


class OwnMode:
    """A base for Cells with a ``set_train`` of their own: it is also called when a network around them is set."""

    _setting = False  # within set_train, which comes back here for the flags

    def set_train(self, mode: bool = True) -> Any:
        """Set the mode of this Cell and of all in it."""
        self.__dict__["_setting"] = True
        try:
            return super().set_train(mode)  # type: ignore[misc]
        finally:
            self.__dict__["_setting"] = False

    def add_flags_recursive(self, **flags: Any) -> Any:
        """Set flags; the mode by way of ``set_train``."""
        if set(flags) == {"training"} and not self._setting:
            return self.set_train(flags["training"])
        return super().add_flags_recursive(**flags)  # type: ignore[misc]
