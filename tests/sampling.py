"""Which part of a large grid a run takes: the same in every run, by a hash; all of it with TORCH2MS_WHOLE=1."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable
from typing import TypeVar

__all__ = ["WHOLE", "sampled"]

WHOLE = os.environ.get("TORCH2MS_WHOLE") == "1"
_Case = TypeVar("_Case")


def sampled(cases: Iterable[_Case], one_in: int, name: Callable[[_Case], str] = str) -> list[_Case]:
    """Return about one of ``one_in`` cases, in their order; ``make test-whole`` takes all.

    A case is taken by its name alone: it stays when others are added, and CI finds the same faults again.
    """
    return [case for case in cases if WHOLE or zlib.crc32(name(case).encode()) % one_in == 0]
