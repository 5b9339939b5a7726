"""Numbers that a network counts up when it runs (``self.iter += 1``): each check begins with those it was built with.

PyTorch's side and MindSpore's do not run their networks equally often.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Collection, Iterable, Iterator

__all__ = ["counters_kept"]


@contextmanager
def counters_kept(parts: Iterable[Any], others: Collection[str] = ()) -> Iterator[None]:
    """Put back the ints and floats that the parts of a network hold, but for those called as ``others``."""
    kept = [
        (part, {key: value for key, value in vars(part).items() if type(value) in (int, float) and key not in others})
        for part in parts
    ]
    try:
        yield
    finally:
        for part, numbers in kept:
            held = vars(part)
            held.update({key: value for key, value in numbers.items() if type(held.get(key)) in (int, float)})
