"""How much memory reading a file of weights may take: a multiple of the file's own size.

A few bytes can ask for more than a machine has (a tensor of stride 0, ``bytes(10**12)``, a zip bomb). What a reader is
about to make is charged before it is made; work counts as the memory that it would fill, so the limit does not depend
on the machine::

    budget = Budget(len(content))
    budget.charge(array.nbytes)    # BudgetError where that is too much
"""

from __future__ import annotations

__all__ = ["DEPTH", "Budget", "BudgetError"]

DEPTH = 200
"""How deep the containers of a file may be nested."""

_BASE, _FACTOR = 256 << 20, 16


class BudgetError(ValueError):
    """A file asks for more than a file of its size can be worth."""


class Budget:
    """The bytes that may still be made of a file of ``size`` bytes."""

    def __init__(self, size: int) -> None:
        self.left = _BASE + _FACTOR * size
        self._size = size

    def charge(self, amount: int) -> None:
        """Take ``amount`` bytes; raises BudgetError where fewer are left."""
        if amount < 0:
            raise BudgetError("a size is negative")
        self.left -= amount
        if self.left < 0:
            raise BudgetError(
                f"the {self._size} bytes of the file expand to more than {_BASE + _FACTOR * self._size} bytes"
            )
