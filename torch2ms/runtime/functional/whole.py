"""Arithmetic of int64 beyond 2**53, which MindSpore's kernels on CPU take through float64.

Products, differences and comparisons of int64 are exact there; quotients, powers and sums along an axis are not.
"""

from __future__ import annotations

from typing import Any, Tuple

import mindspore as ms
from mindspore import Tensor, ops

from . import selections

__all__ = ["power", "remainder"]  # sum is asked for as whole.sum


def is_long(*values: Any) -> bool:
    """Whether the result of an operator on ``values`` is of int64, and a tensor."""
    is_long_tensor = False
    for value in values:  # one by one: what any() and all() say is no constant of a graph
        if not _is_whole(value):
            return False
        if isinstance(value, Tensor) and value.dtype == ms.int64:
            is_long_tensor = True
    return is_long_tensor


def _is_whole(value: Any) -> bool:
    if isinstance(value, Tensor):
        return not (value.is_floating_point() or value.is_complex())
    return isinstance(value, int)


def divided(input: Any, other: Any) -> Tuple[Tensor, Tensor]:
    """Return the quotient of int64, rounded down, and the rest, which has the sign of ``other``."""
    a, b = (x.astype(ms.int64) if isinstance(x, Tensor) else Tensor(x, ms.int64) for x in (input, other))
    quotient = a // b  # off by 2**11 at most
    rest = a - quotient * b
    step = rest // b  # off by one at most: the rest is below 2**53 now, or b is so large that the quotient is 2 at most
    quotient, rest = quotient + step, rest - step * b
    below = ((rest != 0) & ((rest < 0) != (b < 0))).astype(ms.int64)
    quotient, rest = quotient - below, rest + below * b
    above = (ops.abs(rest) >= ops.abs(b)).astype(ms.int64)
    return quotient + above, rest - above * b


def remainder(input: Any, other: Any) -> Any:
    """Return ``input % other``, the rest of the division, with the sign of ``other``, which may be infinite."""
    if is_long(input, other):
        return divided(input, other)[1]
    found = input % other
    if not isinstance(found, Tensor) or not found.is_floating_point():
        return found
    if not isinstance(other, Tensor) and abs(other) < float("inf"):
        return found
    value, limit = (x.astype(found.dtype) if isinstance(x, Tensor) else Tensor(x, found.dtype) for x in (input, other))
    is_endless = ops.logical_and(ops.isinf(limit), ops.isfinite(value))
    crosses = ops.logical_and(value != 0, (value < 0) != (limit < 0))
    return ops.where(is_endless, ops.where(crosses, limit, value), found)


def power(input: Any, exponent: Any) -> Any:
    """Return ``input ** exponent``; of int64, the product of as many.

    Of 0, ones: the slope that MindSpore gives of ``x ** 0`` is NaN where ``x`` is 0.
    """
    if isinstance(exponent, (int, float)) and not exponent and isinstance(input, Tensor) and input.dtype != ms.bool_:
        return ops.ones_like(input)
    if not isinstance(exponent, int) or isinstance(exponent, bool) or exponent < 1 or not is_long(input):
        return input**exponent
    found, factor = None, input
    while exponent:
        if exponent & 1:
            found = factor if found is None else found * factor
        factor, exponent = factor * factor, exponent >> 1
    return found


def sum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Return the sum; of int64, the upper and the lower halves are added apart."""
    if input.dtype != ms.int64 or dtype not in (None, ms.int64):
        return selections.sum(input, dim, keepdim, dtype=dtype)
    lower = ops.bitwise_and(input, Tensor(_HALF - 1, ms.int64))
    upper = divided(input - lower, _HALF)[0]
    return selections.sum(upper, dim, keepdim) * _HALF + selections.sum(lower, dim, keepdim)


_HALF = 1 << 32
