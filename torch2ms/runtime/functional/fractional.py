"""Fractional max pooling (Graham, 2014): windows of one size whose starts are drawn at random."""

from __future__ import annotations

import math
from typing import Any, Optional, Sequence, Tuple

import mindspore as ms
from mindspore import Tensor, ops

from .creation import rand
from .pooling import _ints

__all__ = ["fractional_max_pool2d", "fractional_max_pool3d"]


def _starts(samples: Tensor, size: int, wanted: int, kernel: int) -> Tensor:
    """Return where the windows of one axis start, by one number of [0, 1) for each picture and channel."""
    last = ops.full((*samples.shape, 1), size - kernel, dtype=ms.int64)
    if wanted == 1:
        return last
    step = (size - kernel) / (wanted - 1)
    places = ops.expand_dims(samples, -1)
    first = ops.floor((ops.arange(wanted - 1).astype(samples.dtype) + places) * step) - ops.floor(places * step)
    return ops.concat((first.astype(ms.int64), last), -1)


def _windows(starts: Sequence[Tensor], kernel: Sequence[int], sizes: Sequence[int]) -> Tensor:
    """Return the places in the flattened picture that each window has, of (batch, channels, windows, places)."""
    count = len(starts)
    found: Any = 0
    for axis, start in enumerate(starts):
        along = ops.expand_dims(start, -1) + ops.arange(kernel[axis])
        shape = [1] * (2 * count)
        shape[axis], shape[count + axis] = along.shape[2:]
        found = found * sizes[axis] + along.reshape((*along.shape[:2], *shape))
    return found.reshape((*found.shape[:2], -1, math.prod(kernel)))


def _fractional(
    input: Tensor, kernel_size: Any, output_size: Any, output_ratio: Any, samples: Optional[Tensor], count: int
) -> Tuple[Tensor, Tensor]:
    kernel, sizes = _ints(kernel_size, count), input.shape[-count:]
    if output_size is None:
        ratios = (output_ratio,) * count if isinstance(output_ratio, float) else output_ratio
        output_size = tuple(int(size * ratio) for size, ratio in zip(sizes, ratios))
    wanted = _ints(output_size, count)
    whole = input if input.ndim == count + 2 else input.reshape((1, *input.shape))
    drawn = rand(*whole.shape[:2], count) if samples is None else samples
    order = (1, 0) if count == 2 else (0, 1, 2)  # PyTorch's first number is for the width in two dimensions
    starts = [_starts(drawn[..., order[axis]], sizes[axis], wanted[axis], kernel[axis]) for axis in range(count)]
    windows = _windows(starts, kernel, sizes)
    flat = whole.reshape((*whole.shape[:2], -1))
    values = ops.gather_elements(flat, -1, windows.reshape((*whole.shape[:2], -1))).reshape(windows.shape)
    best = ops.expand_dims(ops.argmax(values, -1), -1)
    shape = (*input.shape[:-count], *wanted)
    maxima = ops.gather_elements(values, -1, best).reshape(shape)
    indices = ops.gather_elements(windows, -1, best).reshape(shape)
    return maxima, indices


def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Optional[Tensor] = None,
) -> Any:
    """Return the maxima of windows of (batch, channels, height, width), with their places when asked for."""
    found = _fractional(input, kernel_size, output_size, output_ratio, _random_samples, 2)
    return found if return_indices else found[0]


def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Optional[Tensor] = None,
) -> Any:
    """Return the maxima of windows of (batch, channels, depth, height, width), with their places when asked for."""
    found = _fractional(input, kernel_size, output_size, output_ratio, _random_samples, 3)
    return found if return_indices else found[0]
