"""How much may be found out for the translation of one file: counted, not timed, so that no machine is faster.

A question about another function, class or call is one unit, and so is each line of a file that is read for it.
"""

from __future__ import annotations

__all__ = ["PER_FILE", "Work"]

PER_FILE = 4_000_000


class Work:
    """The units that are left for the file being translated."""

    def __init__(self) -> None:
        self.spent = 0

    def begin(self) -> None:
        """Allow the next file its units."""
        self.spent = 0

    def spend(self, units: int) -> None:
        """Take units; raises TimeoutError when a file has taken more than PER_FILE."""
        self.spent += units
        if self.spent > PER_FILE:
            raise TimeoutError
