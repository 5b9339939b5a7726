"""What MindSpore's kernels on CPU refuse for some dtypes and sizes: short ints, bools, float64, nothing at all.

Signatures are PyTorch's.
"""

from __future__ import annotations

from typing import Any, Callable, Sequence, Tuple, Union

import mindspore as ms
from mindspore import Tensor, ops

from .dtypes import abs as modulus
from .whole import divided, is_long, remainder

__all__ = [
    "diagflat",
    "floor_divide",
    "fmod",
    "isclose",
    "isfinite",
    "lerp",
    "sgn",
    "sign",
    "square",
    "tensor_split",
    "tril",
    "triu",
]

_SHORT = (ms.bool_, ms.uint8, ms.int8, ms.int16)


def in_ints(function: Callable[..., Any], input: Tensor) -> Any:
    """Return what ``function`` makes of ``input``, which it takes as int32 where its kernel knows no short ints."""
    if input.dtype not in _SHORT:
        return function(input)
    return function(input.astype(ms.int32)).astype(input.dtype)


def sign(input: Tensor) -> Tensor:
    """Return -1, 0 or 1 by the sign of each element."""
    return in_ints(ops.sign, input)


def sgn(input: Tensor) -> Tensor:
    """Return -1, 0 or 1 by the sign of each element; of complex ones, the number of length 1 in its direction."""
    if input.is_complex():
        return ops.sgn(input)
    return in_ints(ops.sign, input)


def square(input: Tensor) -> Tensor:
    """Return the squares; of bools, as int64."""
    return ops.square(input.astype(ms.int64) if input.dtype == ms.bool_ else input)


def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """Return a matrix with the values on one of its diagonals, of any dtype."""
    return in_ints(lambda values: ops.diagflat(values, offset), input)


def isclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Return where ``|input - other| <= atol + rtol * |other|``, of complex numbers by their magnitudes."""
    if not input.is_complex():
        return ops.isclose(input, other, rtol, atol, equal_nan)
    limit = modulus(other)
    is_near = ops.logical_and(modulus(input - other) <= limit * rtol + atol, limit < float("inf"))
    is_same = input == other
    if equal_nan:
        is_same = ops.logical_or(is_same, ops.logical_and(input != input, other != other))
    return ops.logical_or(is_near, is_same)


def lerp(input: Tensor, end: Tensor, weight: Any) -> Tensor:
    """Return ``input + weight * (end - input)``, of any dtype."""
    weight = weight if isinstance(weight, Tensor) else Tensor(weight, input.dtype)  # a number would become float32
    if input.is_complex():
        return input + weight * (end - input)
    return ops.where(ops.abs(weight) < 0.5, input + weight * (end - input), end - (end - input) * (1 - weight))


def floor_divide(input: Any, other: Any) -> Tensor:
    """Return ``input // other``, also beside infinity: there MindSpore's is rounded towards 0, and stays infinite."""
    if isinstance(other, float) and isinstance(input, Tensor) and input.dtype == ms.float64:
        other = Tensor(other, ms.float64)  # a number would be rounded to float32
    if is_long(input, other):
        return divided(input, other)[0]
    found = input // other
    if not isinstance(found, Tensor) or not found.is_floating_point():  # of numbers, where an annotation says Tensor
        return found
    a, b = (x.astype(found.dtype) if isinstance(x, Tensor) else Tensor(x, found.dtype) for x in (input, other))
    below = ops.isinf(b) & (a != 0) & ((a < 0) != (b < 0))
    found = ops.where(below, ops.full_like(found, -1.0), found)
    found = ops.where(b == 0, a * ops.reciprocal(b), found)  # with the sign of a zero, which a quotient has lost
    return found.masked_fill(ops.isinf(a) & (b != 0), float("nan"))


def fmod(input: Any, other: Any) -> Tensor:
    """Return the rest of the division, with the sign of ``input``; MindSpore's is off by ``other`` beside multiples."""
    if isinstance(other, float) and input.is_floating_point():
        other = Tensor(other, input.dtype)  # beside float64, a number would be rounded to float32
    size = ops.abs(other) if isinstance(other, Tensor) else abs(other)
    return ops.where(input < 0, -remainder(-input, size), remainder(input, size))


def _nothing(input: Tensor) -> bool:
    return 0 in input.shape


def isfinite(input: Tensor) -> Tensor:
    """Return where the values are finite; of complex ones, both parts."""
    if input.is_complex():
        return ops.logical_and(ops.isfinite(ops.real(input)), ops.isfinite(ops.imag(input)))
    return ops.isfinite(input)


def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """Return what lies on and below a diagonal; a matrix without elements is one again."""
    if input.is_complex():
        return ops.Complex()(tril(ops.real(input), diagonal), tril(ops.imag(input), diagonal))
    return input.copy() if _nothing(input) else ops.tril(input, diagonal)


def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """Return what lies on and above a diagonal; a matrix without elements is one again."""
    if input.is_complex():
        return ops.Complex()(triu(ops.real(input), diagonal), triu(ops.imag(input), diagonal))
    return input.copy() if _nothing(input) else ops.triu(input, diagonal)


def tensor_split(
    input: Tensor, indices_or_sections: Union[int, Sequence[int], Tensor], dim: int = 0
) -> Tuple[Tensor, ...]:
    """Return the parts of a tensor; all of those of an axis without elements, of which MindSpore gives one."""
    if isinstance(indices_or_sections, Tensor):  # a number of sections where it has no axes
        indices_or_sections = indices_or_sections.asnumpy().tolist()
    if input.shape[dim]:
        parts: Tuple[Tensor, ...] = ops.tensor_split(input, indices_or_sections, dim)
        return parts
    count = indices_or_sections if isinstance(indices_or_sections, int) else len(indices_or_sections) + 1
    return tuple(input.copy() for _ in range(count))
