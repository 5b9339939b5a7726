"""What numpy holds beside a tensor: comparisons, and what an operator takes behind one.

MindSpore's ``tensor == np.int64(1)`` is one False, whatever the tensor holds, and ``!=`` one True. Its arithmetic
takes numpy's numbers, and refuses arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from mindspore import Tensor

__all__ = ["differs", "equals", "operand"]


def equals(a: Any, b: Any) -> Any:
    """Return ``a == b``; of a tensor and what numpy holds, element by element."""
    first, second = _alike(a, b)
    return first == second


def differs(a: Any, b: Any) -> Any:
    """Return ``a != b``; of a tensor and what numpy holds, element by element."""
    first, second = _alike(a, b)
    return first != second


def _alike(a: Any, b: Any) -> Any:
    """Return both as tensors where one is a tensor and the other numpy's."""
    if isinstance(a, Tensor) and isinstance(b, (np.generic, np.ndarray)):
        return a, Tensor(np.asarray(b))
    if isinstance(b, Tensor) and isinstance(a, (np.generic, np.ndarray)):
        return Tensor(np.asarray(a)), b
    return a, b


def operand(value: Any) -> Any:
    """Return an array of numpy's as a tensor; an array without axes as a number; anything else as it is."""
    if not isinstance(value, np.ndarray):
        return value
    return Tensor(value) if value.ndim else value.item()
