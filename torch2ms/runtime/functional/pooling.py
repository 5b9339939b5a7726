"""Pooling with PyTorch's signatures: the stride defaults to the kernel; unbatched input works."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple, Union

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from .image import pad

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
]

IntOrInts = Union[int, Sequence[int]]
_LOWEST = -3.4028234e38  # what never is the largest


def _ints(value: IntOrInts, count: int) -> Tuple[int, ...]:
    """Return ``count`` ints from an int or a sequence."""
    if isinstance(value, (int, np.integer)):
        return (int(value),) * count
    return tuple(value) * count if len(value) == 1 else tuple(value)


def _twice(values: Tuple[int, ...]) -> Tuple[int, ...]:
    """Return each value two times in a row: the widths on both sides of each axis."""
    result: Tuple[int, ...] = ()
    for value in values:
        result = (*result, value, value)
    return result


def max_pool2d(
    input: Tensor,
    kernel_size: IntOrInts,
    stride: Optional[IntOrInts] = None,
    padding: IntOrInts = 0,
    dilation: IntOrInts = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the largest value of each window of (batch, channels, height, width)."""
    unbatched = input.ndim == 3
    x = ops.expand_dims(input, 0) if unbatched else input
    kernel, strides = _ints(kernel_size, 2), _ints(kernel_size if stride is None else stride, 2)
    if not (return_indices or ceil_mode) and _ints(dilation, 2) == (1, 1):
        # not ops.max_pool2d: its gradient is wrong on CPU in MindSpore 2.0
        top, left = _ints(padding, 2)
        x = pad(x, (left, left, top, top), value=_LOWEST)
        result = ops.MaxPool(kernel, strides, "valid")(x)
        return ops.squeeze(result, 0) if unbatched else result
    result = ops.max_pool2d(
        x,
        kernel,
        strides,
        _ints(padding, 2),
        _ints(dilation, 2),
        return_indices,
        ceil_mode,
    )
    if not unbatched:
        return result
    return tuple(ops.squeeze(part, 0) for part in result) if return_indices else ops.squeeze(result, 0)


def max_pool1d(
    input: Tensor,
    kernel_size: IntOrInts,
    stride: Optional[IntOrInts] = None,
    padding: IntOrInts = 0,
    dilation: IntOrInts = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the largest value of each window of (batch, channels, length)."""
    kernel = _ints(kernel_size, 1)[0]
    step = kernel if stride is None else _ints(stride, 1)[0]
    result = max_pool2d(
        ops.expand_dims(input, -2),
        (1, kernel),
        (1, step),
        (0, _ints(padding, 1)[0]),
        (1, _ints(dilation, 1)[0]),
        ceil_mode,
        return_indices,
    )
    return tuple(ops.squeeze(part, -2) for part in result) if return_indices else ops.squeeze(result, -2)


def max_pool3d(
    input: Tensor,
    kernel_size: IntOrInts,
    stride: Optional[IntOrInts] = None,
    padding: IntOrInts = 0,
    dilation: IntOrInts = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the largest value of each window of (batch, channels, depth, height, width)."""
    if not input.is_floating_point():  # MindSpore has 0 where whole numbers are negative
        options = (kernel_size, stride, padding, dilation, ceil_mode, return_indices)
        found = max_pool3d(input.astype(ms.float64), *options)
        return (found[0].astype(input.dtype), found[1]) if return_indices else found.astype(input.dtype)
    unbatched = input.ndim == 4
    result = ops.max_pool3d(
        ops.expand_dims(input, 0) if unbatched else input,
        _ints(kernel_size, 3),
        _ints(kernel_size if stride is None else stride, 3),
        _ints(padding, 3),
        _ints(dilation, 3),
        ceil_mode,
        return_indices,
    )
    if not unbatched:
        return result
    return tuple(ops.squeeze(part, 0) for part in result) if return_indices else ops.squeeze(result, 0)


def _steps(kernel_size: IntOrInts, stride: Any, count: int) -> Tuple[int, ...]:
    """Return the stride, which is that of the kernel where none is given, or an empty tuple."""
    if stride is None or (isinstance(stride, (tuple, list)) and len(stride) == 0):  # a graph compares no int with ()
        return _ints(kernel_size, count)
    return _ints(stride, count)


def _cut(pool: Any, input: Tensor, *options: Any) -> Tensor:
    """Return means of whole numbers, cut as a division of whole numbers is in C."""
    return ops.trunc(pool(input.astype(ms.float64), *options)).astype(input.dtype)


def avg_pool2d(
    input: Tensor,
    kernel_size: IntOrInts,
    stride: Optional[IntOrInts] = None,
    padding: IntOrInts = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: Optional[int] = None,
) -> Tensor:
    """Return the mean of each window of (batch, channels, height, width); of ints, cut to a whole number."""
    if not input.is_floating_point():
        return _cut(avg_pool2d, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    if divisor_override is not None and divisor_override < 0:
        total = avg_pool2d(input, kernel_size, stride, padding, ceil_mode, count_include_pad, 1)
        return total / divisor_override
    unbatched = input.ndim == 3
    x = ops.expand_dims(input, 0) if unbatched else input
    result = ops.avg_pool2d(
        x,
        _ints(kernel_size, 2),
        _steps(kernel_size, stride, 2),
        _twice(_ints(padding, 2)),
        ceil_mode,
        count_include_pad,
        divisor_override or 0,
    )
    return ops.squeeze(result, 0) if unbatched else result


def avg_pool1d(
    input: Tensor,
    kernel_size: IntOrInts,
    stride: Optional[IntOrInts] = None,
    padding: IntOrInts = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Return the mean of each window of (batch, channels, length)."""
    kernel = _ints(kernel_size, 1)[0]
    step = _steps(kernel_size, stride, 1)[0]
    if 0 in input.shape:  # no samples: what so many zeros would have
        like = ops.zeros((1, *input.shape[1:]), input.dtype)
        return avg_pool1d(like, kernel_size, stride, padding, ceil_mode, count_include_pad)[:0]
    result = avg_pool2d(
        ops.expand_dims(input, -2),
        (1, kernel),
        (1, step),
        (0, _ints(padding, 1)[0]),
        ceil_mode,
        count_include_pad,
    )
    return ops.squeeze(result, -2)


def avg_pool3d(
    input: Tensor,
    kernel_size: IntOrInts,
    stride: Optional[IntOrInts] = None,
    padding: IntOrInts = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: Optional[int] = None,
) -> Tensor:
    """Return the mean of each window of (batch, channels, depth, height, width); of ints, cut to a whole number."""
    if not input.is_floating_point():
        return _cut(avg_pool3d, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    if divisor_override is not None and divisor_override < 0:
        total = avg_pool3d(input, kernel_size, stride, padding, ceil_mode, count_include_pad, 1)
        return total / divisor_override
    if not input.shape[0]:  # no samples: what so many zeros would have
        like = ops.zeros((1, *input.shape[1:]), input.dtype)
        return avg_pool3d(like, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)[:0]
    widths = _twice(_ints(padding, 3))
    unbatched = input.ndim == 4
    result = ops.avg_pool3d(
        ops.expand_dims(input, 0) if unbatched else input,
        _ints(kernel_size, 3),
        _steps(kernel_size, stride, 3),
        widths,
        ceil_mode,
        count_include_pad,
        divisor_override or 0,
    )
    return ops.squeeze(result, 0) if unbatched else result


def _windows(size: int, count: int) -> Tuple[Tuple[int, int], ...]:
    """Return (start, stop) of each of ``count`` adaptive windows over ``size`` places."""
    return tuple((index * size // count, -((-(index + 1) * size) // count)) for index in range(count))


def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """Return the mean of (batch, channels, length) over ``output_size`` windows."""
    count = _ints(output_size, 1)[0]
    parts = [input[..., start:stop].mean(-1, True) for start, stop in _windows(input.shape[-1], count)]
    return parts[0] if count == 1 else ops.concat(parts, -1)


def _sizes(input: Tensor, output_size: Any, count: int) -> Tuple[int, ...]:
    """Return the sizes asked for; None keeps that of the input."""
    sizes = (output_size,) * count if output_size is None or isinstance(output_size, int) else tuple(output_size)
    return tuple(have if want is None else want for want, have in zip(sizes, input.shape[-count:]))


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Return the mean of (batch, channels, height, width) over ``output_size`` windows."""
    sizes = _sizes(input, output_size, 2)
    if sizes == (1, 1):
        return input.mean((-2, -1), True)
    return ops.adaptive_avg_pool2d(input, sizes)


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Return the mean of (batch, channels, depth, height, width) over ``output_size`` windows."""
    depth, height, width = _sizes(input, output_size, 3)
    x = input
    for axis, count in ((-3, depth), (-2, height), (-1, width)):
        moved = ops.swapaxes(x, axis, -1)
        x = ops.swapaxes(adaptive_avg_pool1d(moved, count), axis, -1)
    return x


def _power(input: Tensor, norm_type: float) -> Tensor:
    """Return the powers whose means are taken; those of whole numbers are floats."""
    is_whole = not (input.is_floating_point() or input.is_complex())
    return ops.pow(input.astype(ms.float32) if is_whole else input, norm_type)


def _power_mean(mean: Tensor, places: int, norm_type: float) -> Tensor:
    """Return the power average of windows of ``places`` values from the mean of their powers."""
    return ops.pow(ops.sign(mean) * ops.abs(mean) * places, 1.0 / norm_type)


def lp_pool1d(
    input: Tensor,
    norm_type: float,
    kernel_size: IntOrInts,
    stride: Optional[IntOrInts] = None,
    ceil_mode: bool = False,
) -> Tensor:
    """Return ``(sum of input ** norm_type over the window) ** (1 / norm_type)`` of (batch, channels, length)."""
    mean = avg_pool1d(_power(input, norm_type), kernel_size, stride, 0, ceil_mode)
    return _power_mean(mean, _ints(kernel_size, 1)[0], norm_type)


def lp_pool2d(
    input: Tensor,
    norm_type: float,
    kernel_size: IntOrInts,
    stride: Optional[IntOrInts] = None,
    ceil_mode: bool = False,
) -> Tensor:
    """Return ``(sum of input ** norm_type over the window) ** (1 / norm_type)``."""
    height, width = _ints(kernel_size, 2)
    mean = avg_pool2d(_power(input, norm_type), kernel_size, stride, 0, ceil_mode)
    return _power_mean(mean, height * width, norm_type)


def lp_pool3d(
    input: Tensor,
    norm_type: float,
    kernel_size: IntOrInts,
    stride: Optional[IntOrInts] = None,
    ceil_mode: bool = False,
) -> Tensor:
    """Return ``(sum of input ** norm_type over the window) ** (1 / norm_type)`` of (..., depth, height, width)."""
    depth, height, width = _ints(kernel_size, 3)
    mean = avg_pool3d(_power(input, norm_type), kernel_size, stride, 0, ceil_mode)
    return _power_mean(mean, depth * height * width, norm_type)
