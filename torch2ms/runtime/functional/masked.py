"""What ``torch.masked`` computes: reductions over the elements that a mask shows; the others count as if not there.

Signatures are PyTorch's. A line of which nothing is shown has the value that the reduction starts from, or NaN.
"""

from __future__ import annotations

from typing import Any, Optional, Tuple

import mindspore as ms
from mindspore import Tensor, ops

from . import activation, algebra, extrema, handed, nans, pointwise, seldom, statistics, tensor

_INFINITY = float("inf")
_LEAST = {ms.uint8: 0, ms.int8: -(2**7), ms.int16: -(2**15), ms.int32: -(2**31), ms.int64: -(2**63)}
_LARGEST = {ms.uint8: 2**8 - 1, ms.int8: 2**7 - 1, ms.int16: 2**15 - 1, ms.int32: 2**31 - 1, ms.int64: 2**63 - 1}


def _shown(input: Tensor, mask: Optional[Tensor], rest: Any) -> Tensor:
    """Return ``input`` with ``rest`` where the mask does not hold."""
    if mask is None:
        return input
    hidden = ops.broadcast_to(ops.logical_not(mask.astype(ms.bool_)), input.shape)
    return ops.where(hidden, ops.broadcast_to(Tensor(rest, input.dtype), input.shape), input)


def _least(input: Tensor) -> Any:
    return -_INFINITY if input.is_floating_point() else _LEAST[input.dtype]


def _largest(input: Tensor) -> Any:
    return _INFINITY if input.is_floating_point() else _LARGEST[input.dtype]


def _of_dtype(result: Tensor, dtype: Any, input: Tensor) -> Tensor:
    """Return ``result`` in ``dtype``, or else in that of ``input``."""
    kind = input.dtype if dtype is None else dtype
    return result if result.dtype == kind else result.astype(kind)


def _count(input: Tensor, dim: Any, keepdim: bool, mask: Optional[Tensor]) -> Tensor:
    """Return how many elements are shown."""
    return tensor.sum(_shown(ops.ones(input.shape, ms.int64), mask, 0), dim, keepdim)


def sum(
    input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Optional[Tensor] = None
) -> Tensor:
    """Return the sum of what is shown."""
    return tensor.sum(_shown(input, mask, 0), dim, keepdim, dtype)


def prod(
    input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Optional[Tensor] = None
) -> Tensor:
    """Return the product of what is shown, over one or several axes."""
    found = _shown(input, mask, 1)
    found = found if dtype is None else found.astype(dtype)
    if not input.ndim:
        return tensor.prod(found)
    for axis in sorted(tensor._axes(input, dim), reverse=True):
        found = tensor.prod(found, axis, keepdim)
    return found


def cumsum(input: Tensor, dim: int, *, dtype: Any = None, mask: Optional[Tensor] = None) -> Tensor:
    """Return the running sums of what is shown, in the dtype of ``input``."""
    return _of_dtype(tensor.cumsum(_shown(input, mask, 0), dim, dtype), dtype, input)


def cumprod(input: Tensor, dim: int, *, dtype: Any = None, mask: Optional[Tensor] = None) -> Tensor:
    """Return the running products of what is shown, in the dtype of ``input``."""
    return _of_dtype(seldom.cumprod(_shown(input, mask, 1), dim, dtype=dtype), dtype, input)


def amax(
    input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Optional[Tensor] = None
) -> Tensor:
    """Return the largest value that is shown."""
    find = nans.amax if input.is_floating_point() else handed.amax
    return _of_dtype(find(_shown(input, mask, _least(input)), dim, keepdim), dtype, input)


def amin(
    input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Optional[Tensor] = None
) -> Tensor:
    """Return the smallest value that is shown."""
    find = nans.amin if input.is_floating_point() else handed.amin
    return _of_dtype(find(_shown(input, mask, _largest(input)), dim, keepdim), dtype, input)


def argmax(
    input: Tensor, dim: Optional[int] = None, *, keepdim: bool = False, dtype: Any = None, mask: Optional[Tensor] = None
) -> Tensor:
    """Return the index of the largest value that is shown; a float where ``input`` holds floats."""
    find = nans.argmax if input.is_floating_point() else extrema.argmax
    return _of_dtype(find(_shown(input, mask, _least(input)), dim, keepdim), dtype, input)


def argmin(
    input: Tensor, dim: Optional[int] = None, *, keepdim: bool = False, dtype: Any = None, mask: Optional[Tensor] = None
) -> Tensor:
    """Return the index of the smallest value that is shown; a float where ``input`` holds floats."""
    find = nans.argmin if input.is_floating_point() else extrema.argmin
    return _of_dtype(find(_shown(input, mask, _largest(input)), dim, keepdim), dtype, input)


def mean(
    input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Optional[Tensor] = None
) -> Tensor:
    """Return the mean of what is shown, NaN of nothing."""
    total = sum(input, dim, keepdim=keepdim, dtype=dtype, mask=mask)
    return _quotient(total, _count(input, dim, keepdim, mask))


def _quotient(total: Tensor, count: Tensor) -> Tensor:
    """Return ``total / count`` in the dtype of ``total``; NaN where both are 0, which MindSpore's need not be."""
    if total.is_complex():
        return pointwise.complex_quotient(total, count.astype(ms.float32))
    nothing = ops.logical_and(total == 0, count == 0)
    return (total / count.astype(total.dtype)).masked_fill(nothing, float("nan"))


def median(
    input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: Optional[Tensor] = None
) -> Tensor:
    """Return the lower median of what is shown; of nothing NaN, for which there is no int."""
    values = input if input.is_floating_point() else input.astype(ms.float32)
    found = statistics.nanmedian(_shown(values, mask, float("nan")), dim, keepdim).values
    if input.is_floating_point():
        return found
    if ops.isnan(found).any():
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    return _of_dtype(found, dtype, input)


def logsumexp(
    input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Optional[Tensor] = None
) -> Tensor:
    """Return the logarithm of the sum of the exponentials of what is shown."""
    shown = _shown(input, mask, _least(input))
    values = shown if shown.is_floating_point() else shown.astype(ms.float32)
    if not input.ndim:
        return _of_dtype(values, dtype, input)
    return _of_dtype(nans.logsumexp(values, tensor._axes(input, dim), keepdim), dtype, input)


def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: Any = None,
    input_mask: Optional[Tensor] = None,
    other_mask: Optional[Tensor] = None,
) -> Tensor:
    """Return ``log(exp(input) + exp(other))`` where both are shown, the one that is where the other is not."""
    shown = _shown(input, input_mask, _least(input)), _shown(other, other_mask, _least(other))
    return _of_dtype(nans.logaddexp(*shown), dtype, input)


def norm(
    input: Tensor,
    ord: Any = 2.0,
    dim: Any = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Optional[Tensor] = None,
) -> Tensor:
    """Return the norm of what is shown."""
    rest = _INFINITY if ord == -_INFINITY else 0
    return algebra.vector_norm(_shown(input, mask, rest), ord, dim, keepdim, dtype=dtype)


def _deviation(input: Tensor, dim: Any, correction: Any, keepdim: bool, mask: Optional[Tensor]) -> Tuple[Tensor, Any]:
    """Return the sum of the squared distances from the mean, and what it is to be divided by."""
    centred = input - mean(input, dim, keepdim=True, mask=mask)
    squares = pointwise.complex_product(centred, ops.conj(centred)) if centred.is_complex() else ops.square(centred)
    count = _count(input, dim, keepdim, mask)
    real = ms.float32 if squares.is_complex() else squares.dtype
    freedom = ops.relu(count.astype(real) - float(correction)) if correction else count
    return sum(squares, dim, keepdim=keepdim, mask=mask), freedom


def var(
    input: Tensor,
    dim: Any = None,
    unbiased: Optional[bool] = None,
    *,
    correction: Any = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Optional[Tensor] = None,
) -> Tensor:
    """Return the variance of what is shown, with Bessel's correction unless told otherwise."""
    kind = dtype
    if kind is None:
        kind = input.dtype if input.is_floating_point() or input.is_complex() else ms.float32
    squares, freedom = _deviation(input.astype(kind), dim, tensor._correction(unbiased, correction), keepdim, mask)
    return _quotient(squares, freedom)


def std(
    input: Tensor,
    dim: Any = None,
    unbiased: Optional[bool] = None,
    *,
    correction: Any = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Optional[Tensor] = None,
) -> Tensor:
    """Return the standard deviation of what is shown, with Bessel's correction unless told otherwise."""
    return ops.sqrt(var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask))


def softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Optional[Tensor] = None) -> Tensor:
    """Return the softmax of what is shown, 0 elsewhere."""
    return nans.softmax(_shown(input, mask, _least(input)), dim, dtype=dtype)


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Optional[Tensor] = None) -> Tensor:
    """Return the logarithm of the softmax of what is shown, -infinity elsewhere."""
    return activation.log_softmax(_shown(input, mask, _least(input)), dim, dtype=dtype)


def softmin(input: Tensor, dim: int, *, dtype: Any = None, mask: Optional[Tensor] = None) -> Tensor:
    """Return the softmax of ``-input``, of what is shown, 0 elsewhere."""
    return activation.softmin(_shown(input, mask, _largest(input)), dim, dtype=dtype)


def normalize(
    input: Tensor, ord: float, dim: int, *, eps: float = 1e-12, dtype: Any = None, mask: Optional[Tensor] = None
) -> Tensor:
    """Return what is shown divided by its norm, but by no less than ``eps``; 0 elsewhere."""
    shown = _shown(input, mask, 0)
    shown = shown if dtype is None else shown.astype(dtype)
    length = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return pointwise.complex_quotient(shown, ops.maximum(length, Tensor(eps, length.dtype)))
