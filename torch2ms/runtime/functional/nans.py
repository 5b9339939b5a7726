"""Comparisons and normalisations that hand NaN and infinity on as PyTorch does; MindSpore's own do not on CPU.

Signatures are PyTorch's. NaN counts as the largest of all values; of several, the first is meant.
"""

from __future__ import annotations

from typing import Any, Optional, Tuple

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from . import extrema, handed, normalization, selections, tensor

__all__ = [
    "amax",
    "amin",
    "argmax",
    "argmin",
    "argsort",
    "batch_norm",
    "clamp",
    "clamp_max",
    "clamp_min",
    "instance_norm",
    "kthvalue",
    "logaddexp",
    "logcumsumexp",
    "logsumexp",
    "max",
    "maximum",
    "median",
    "min",
    "minimum",
    "normalize",
    "relu",
    "softmax",
    "sort",
    "std_mean",
    "topk",
    "var_mean",
]

_INFINITY = float("inf")


def _marked(result: Tensor, nan: Tensor) -> Tensor:
    """Return ``result`` with NaN where ``nan`` holds."""
    return result.masked_fill(nan, float("nan")) if result.is_floating_point() else result


def maximum(input: Tensor, other: Tensor) -> Tensor:
    """Return the larger of each two elements, NaN where either is."""
    return _marked(ops.maximum(input, other), (input != input) | (other != other))


def minimum(input: Tensor, other: Tensor) -> Tensor:
    """Return the smaller of each two elements, NaN where either is."""
    return _marked(ops.minimum(input, other), (input != input) | (other != other))


def _plain(input: Tensor, value: float) -> Tensor:
    """Return a tensor with ``value`` in the place of NaN."""
    return input.masked_fill(input != input, value)


def _place(input: Tensor, dim: int, keepdim: bool, place: Tensor) -> Tuple[Tensor, Tensor]:
    """Return where a line along ``dim`` holds NaN, and the index of its first one there, else ``place``."""
    nan = (input != input).astype(ms.int32)
    has = nan.sum(dim, keepdims=keepdim) > 0
    first = extrema.argmax(nan.astype(ms.float32), dim, keepdim)
    return has, ops.where(has, first, place.astype(ms.int64))


def _extreme(find: Any, lowest: float, input: Tensor, dim: Any, keepdim: bool) -> Any:
    if not input.is_floating_point():
        return find(input, dim, keepdim)
    plain = _plain(input, lowest)
    if dim is None:
        return _marked(find(plain), (input != input).any())
    values, indices = find(plain, dim, keepdim)
    has, places = _place(input, dim, keepdim, indices)
    return _marked(values, has), places


def max(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """Return the largest value; along an axis (values, indices); of two tensors, the larger ones."""
    if other is not None or isinstance(dim, Tensor):
        return maximum(input, dim if other is None else other)
    return _extreme(extrema.max, -_INFINITY, input, dim, keepdim)


def min(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """Return the smallest value; along an axis (values, indices); of two tensors, the smaller ones."""
    if other is not None or isinstance(dim, Tensor):
        return minimum(input, dim if other is None else other)
    return _extreme(extrema.min, _INFINITY, input, dim, keepdim)


def median(input: Tensor, dim: Optional[int] = None, keepdim: bool = False) -> Any:
    """Return the lower median of all values, or along ``dim`` with its int64 index; NaN where there is one."""
    if dim is None:
        return _marked(tensor.median(input), (input != input).any())
    values, indices = tensor.median(_plain(input, _INFINITY), dim, keepdim)
    if not input.is_floating_point():
        return values, indices
    has, places = _place(input, dim, keepdim, indices)
    return _marked(values, has), places


def _argument(find: Any, lowest: float, input: Tensor, dim: Optional[int], keepdim: bool) -> Tensor:
    if not input.is_floating_point():
        return find(input, dim, keepdim)
    plain = _plain(input, lowest)
    if dim is not None:
        return _place(input, dim, keepdim, find(plain, dim, keepdim))[1]
    flat = input.reshape((-1,))
    found = _place(flat, 0, True, find(plain.reshape((-1,)), 0, True))[1]  # one axis: 2.0 cannot select numbers
    return found.reshape((1,) * input.ndim if keepdim else ())


def argmax(input: Tensor, dim: Optional[int] = None, keepdim: bool = False) -> Tensor:
    """Return the int64 index of the largest element, along ``dim`` or of all."""
    return _argument(extrema.argmax, -_INFINITY, input, dim, keepdim)


def argmin(input: Tensor, dim: Optional[int] = None, keepdim: bool = False) -> Tensor:
    """Return the int64 index of the smallest element, along ``dim`` or of all."""
    return _argument(extrema.argmin, _INFINITY, input, dim, keepdim)


def _axes(input: Tensor, dim: Any) -> Any:
    is_empty = isinstance(dim, (tuple, list)) and len(dim) == 0  # a graph compares no int with an empty tuple
    return tuple(range(input.ndim)) if dim is None or is_empty else dim


def amax(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Return the largest values along one or several axes."""
    found = ops.amax(_plain(input, -_INFINITY), _axes(input, dim), keepdim)
    return _marked(found, (input != input).any(_axes(input, dim), keepdim))


def amin(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Return the smallest values along one or several axes."""
    found = ops.amin(_plain(input, _INFINITY), _axes(input, dim), keepdim)
    return _marked(found, (input != input).any(_axes(input, dim), keepdim))


def clamp(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Return the values, none below ``min`` or above ``max``; what is NaN stays so."""
    found = handed.clamp(input, min, max)
    return _marked(found, ops.broadcast_to(input != input, found.shape))


def clamp_min(input: Tensor, min: Any) -> Tensor:
    """Return the values, none below ``min``; what is NaN stays so."""
    return _marked(handed.clamp_min(input, min), input != input)


def clamp_max(input: Tensor, max: Any) -> Tensor:
    """Return the values, none above ``max``; what is NaN stays so."""
    return _marked(handed.clamp_max(input, max), input != input)


def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Tensor:
    """Return ``input / max(norm, eps)`` with the p-norm over ``dim``; all of a line that holds NaN is NaN.

    The norm of order 0 counts what is not 0, NaN among it.
    """
    nan = (input != input).any(dim, True) if p else input != input
    return _marked(normalization.normalize(input, p, dim, eps), nan.broadcast_to(input.shape))


def relu(input: Tensor) -> Tensor:
    """Return the values, 0 for those below; what is NaN stays so."""
    return _marked(ops.relu(input), input != input)


def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """Return the int64 indices that put the values in order, those of NaN where the largest values are."""
    if not input.is_floating_point():
        return tensor.argsort(input, dim, descending)
    order = tensor.argsort(_plain(input, _INFINITY), dim, descending)
    nan = ops.gather_elements((input != input).astype(ms.float32), dim, order)  # inf may have come between them
    return ops.gather_elements(order, dim, tensor.argsort(nan, dim, descending))


def sort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tuple[Tensor, Tensor]:
    """Return the values in order and their int64 indices, NaN where the largest values are."""
    order = argsort(input, dim, descending)
    return ops.gather_elements(input, dim, order), order


def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Tuple[Tensor, Tensor]:
    """Return the ``k``-th smallest value and its int64 index, NaN after all numbers."""
    if not input.is_floating_point() or input.ndim == 0:
        return tensor.kthvalue(input, k, dim, keepdim)
    values, indices = (ops.gather(part, Tensor([k - 1], ms.int32), dim) for part in sort(input, dim))
    return (values, indices) if keepdim else (ops.squeeze(values, dim), ops.squeeze(indices, dim))


def topk(
    input: Tensor, k: int, dim: Optional[int] = None, largest: bool = True, sorted: bool = True
) -> Tuple[Tensor, Tensor]:
    """Return the ``k`` largest (or smallest) values in order and their int64 indices."""
    axis = -1 if dim is None else dim
    values, indices = sort(input, axis, largest)
    wanted = Tensor(list(range(k)), ms.int32)
    return ops.gather(values, wanted, axis), ops.gather(indices, wanted, axis)


def softmax(input: Tensor, dim: Optional[int] = None, *, dtype: Any = None) -> Tensor:
    """Return the softmax over ``dim``; a line that holds NaN or infinity, or -infinity alone, is NaN."""
    axis = dim if dim is not None else 0 if input.ndim in (0, 1, 3) else 1
    values = input if dtype is None else input.astype(dtype)
    powers = ops.exp(values - ops.stop_gradient(ops.amax(values, axis, True)))
    total = powers.sum(axis, keepdims=True)
    return powers / (total + (total - total))  # 2.0 has infinity for the exponential of NaN, and nothing else has here


def logsumexp(input: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """Return the logarithm of the sum of the exponentials over ``dim``; -infinity of -infinity alone."""
    axes = tuple(dim) if isinstance(dim, list) else dim
    if 0 in input.shape:
        return ops.log(selections.sum(input, axes, keepdim))
    largest = ops.stop_gradient(ops.amax(ops.real(input) if input.is_complex() else input, axes, True))
    largest = ops.where(ops.isfinite(largest), largest, ops.zeros_like(largest))
    if input.is_complex():
        shifted = ops.Complex()(ops.real(input) - largest, ops.imag(input))
        total = ops.log(ops.exp(shifted).sum(axes, keepdims=keepdim))
        return ops.Complex()(ops.real(total) + largest.reshape(total.shape), ops.imag(total))
    total = ops.log(ops.exp(input - largest).sum(axes, keepdims=keepdim))
    return total + largest.reshape(total.shape)


def logcumsumexp(input: Tensor, dim: int) -> Tensor:
    """Return the logarithms of the running sums of the exponentials; infinity and NaN reach all that is behind them."""
    if not input.ndim or 0 in input.shape:
        return input.copy()
    low = -6e4 if input.dtype == ms.float16 else -1e30  # MindSpore's own has a wrong number behind -infinity
    found = ops.logcumsumexp(input.masked_fill(~ops.isfinite(input), low), dim)
    found = found.masked_fill(found < 0.9 * low, -_INFINITY)
    for bad, value in ((input == _INFINITY, _INFINITY), (input != input, float("nan"))):
        found = found.masked_fill(ops.cumsum(bad.astype(ms.int32), dim) > 0, value)
    return found


def _complex_logaddexp(input: Tensor, other: Tensor) -> Tensor:
    """Return ``large + log(1 + exp(small - large))``, large by the real part: so its turns of the circle are kept."""
    a, b, c, d = ops.real(input), ops.imag(input), ops.real(other), ops.imag(other)
    is_less = a < c
    large = ops.Complex()(ops.where(is_less, c, a), ops.where(is_less, d, b))
    small = ops.Complex()(ops.where(is_less, a, c), ops.where(is_less, b, d))
    one = ops.Complex()(ops.ones_like(a), ops.zeros_like(a))  # 2.0 adds no number of Python's to complex ones
    return large + ops.log(ops.exp(small - large) + one)


def logaddexp(input: Tensor, other: Tensor) -> Tensor:
    """Return ``log(exp(input) + exp(other))``; infinities of one sign stay."""
    if input.is_complex():
        return _complex_logaddexp(input, other)
    gap = ops.abs(input - other)
    sum = ops.maximum(input, other) + ops.log1p(ops.exp(-gap))
    return ops.where((input == other) & ~ops.isfinite(input), input, sum)


def var_mean(
    input: Tensor, dim: Any = None, unbiased: Any = None, *, correction: Any = None, keepdim: bool = False
) -> Tuple[Tensor, Tensor]:
    """Return variance and mean, which PyTorch goes on from element to element: only the last may be infinite.

    Before another element an infinity makes the mean NaN. So it is up to 32,768 elements; more, PyTorch divides.
    """
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    variance, mean = tensor.var_mean(input, dim, unbiased, correction=correction, keepdim=keepdim)
    axes = tensor._axes(input, dim)
    reduced = {axis % input.ndim for axis in axes}
    places = np.ones([size if axis in reduced else 1 for axis, size in enumerate(input.shape)])
    if not places.size or not axes:
        return variance, mean
    places.ravel()[-1] = 0
    early = (ops.isinf(input).astype(ms.float32) * Tensor(places, ms.float32)).sum(axes, keepdims=keepdim)
    return variance, mean.masked_fill(early > 0, float("nan"))


def std_mean(
    input: Tensor, dim: Any = None, unbiased: Any = None, *, correction: Any = None, keepdim: bool = False
) -> Tuple[Tensor, Tensor]:
    """Return standard deviation and mean, see :func:`var_mean`."""
    variance, mean = var_mean(input, dim, unbiased, correction=correction, keepdim=keepdim)
    return selections.root(variance), mean


def batch_norm(
    input: Tensor,
    running_mean: Optional[Tensor],
    running_var: Optional[Tensor],
    weight: Optional[Tensor] = None,
    bias: Optional[Tensor] = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Return ``input`` normalised; an infinite weight meets its own product with the mean, and makes NaN."""
    mean, variance = running_mean, running_var
    if training:
        axes = (0, *range(2, input.ndim))
        mean = input.mean(axes)
        variance = ops.square(input - mean.reshape((1, -1) + (1,) * (input.ndim - 2))).mean(axes)
    output = normalization.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)
    if weight is None or mean is None or variance is None:
        return output
    factor = weight * ops.rsqrt(variance + eps)
    shift = -mean * factor if bias is None else bias - mean * factor
    shape = (1, -1) + (1,) * (input.ndim - 2)
    factor = factor.reshape(shape)
    return ops.where(ops.isinf(factor), (input * factor + shift.reshape(shape)).astype(output.dtype), output)


def instance_norm(
    input: Tensor,
    running_mean: Optional[Tensor] = None,
    running_var: Optional[Tensor] = None,
    weight: Optional[Tensor] = None,
    bias: Optional[Tensor] = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Return ``input`` normalised, see :func:`batch_norm`: each channel of each sample is one of its channels."""
    output = normalization.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)
    if weight is None or not use_input_stats:
        return output
    count = input.shape[0]
    shift = None if bias is None else ops.tile(bias, (count,))
    flat = input.reshape((1, count * input.shape[1], -1))
    whole = batch_norm(flat, None, None, ops.tile(weight, (count,)), shift, True, 0.0, eps).reshape(input.shape)
    is_infinite = ops.isinf(weight).reshape((1, -1) + (1,) * (input.ndim - 2))
    return ops.where(is_infinite, whole.astype(output.dtype), output)
