"""Settings of layers as tuples: a number stands for every axis (torch.nn.modules.utils)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Callable, Tuple

__all__ = ["ntuple", "pair", "quadruple", "reverse_repeat", "single", "triple"]


def ntuple(n: int, name: str = "parse") -> Callable[[Any], Tuple[Any, ...]]:
    """Return a function that repeats a single value ``n`` times and makes a tuple of several."""

    def parse(x: Any) -> Tuple[Any, ...]:
        return tuple(x) if isinstance(x, Iterable) else (x,) * n

    parse.__name__ = name
    return parse


single = ntuple(1, "single")
pair = ntuple(2, "pair")
triple = ntuple(3, "triple")
quadruple = ntuple(4, "quadruple")


def reverse_repeat(t: Iterable[Any], n: int) -> Tuple[Any, ...]:
    """Return the values from the last to the first, each ``n`` times: a padding as ``pad`` wants it."""
    return tuple(x for x in reversed(tuple(t)) for _ in range(n))
