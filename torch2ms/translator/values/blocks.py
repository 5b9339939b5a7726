"""What holds in a block of code: classes of their own, since there are some hundred thousand such blocks."""

from __future__ import annotations

from collections import Counter
from typing import Protocol

from torch2ms.translator.values.budget import Work

__all__ = ["At", "Holding"]


class _Asking(Protocol):
    depth: int
    work: Work


class At:
    """A block whose questions are asked at another depth."""

    __slots__ = ("_before", "_depth", "_world")

    def __init__(self, world: _Asking, depth: int) -> None:
        self._world, self._depth = world, depth

    def __enter__(self) -> None:
        self._world.work.spend(1)
        self._before, self._world.depth = self._world.depth, self._depth

    def __exit__(self, *_: object) -> None:
        self._world.depth = self._before


class Holding:
    """A block that asks about other files while one is kept: its functions and classes stay what they are."""

    __slots__ = ("_held", "_path")

    def __init__(self, held: Counter[str], path: str) -> None:
        self._held, self._path = held, path

    def __enter__(self) -> None:
        self._held[self._path] += 1

    def __exit__(self, *_: object) -> None:
        self._held[self._path] -= 1
