"""Fractional max pooling (Graham, 2014): windows of one size whose starts are drawn at random."""

from __future__ import annotations

from typing import Any, Optional, Tuple

import numpy as np
from mindspore import Tensor, ops

from .creation import rand
from .pooling import _ints

__all__ = ["fractional_max_pool2d", "fractional_max_pool3d"]


def _starts(sample: float, size: int, wanted: int, kernel: int) -> Any:
    """Return where the windows of one axis start, by one number of [0, 1)."""
    if wanted == 1:
        return np.array([size - kernel])
    step = np.float32((size - kernel) / (wanted - 1))
    places = np.float32(sample)
    found = ((np.arange(wanted, dtype=np.float32) + places) * step).astype(np.int64) - int(places * step)
    found[-1] = size - kernel
    return found


def _fractional(
    input: Tensor, kernel_size: Any, output_size: Any, output_ratio: Any, samples: Optional[Tensor], count: int
) -> Tuple[Tensor, Tensor]:
    kernel, sizes = _ints(kernel_size, count), input.shape[-count:]
    if output_size is None:
        ratios = (output_ratio,) * count if isinstance(output_ratio, float) else output_ratio
        output_size = tuple(int(size * ratio) for size, ratio in zip(sizes, ratios))
    wanted = _ints(output_size, count)
    whole = input if input.ndim == count + 2 else input.reshape((1, *input.shape))
    drawn = (rand(*whole.shape[:2], count) if samples is None else samples).asnumpy()
    order = (1, 0) if count == 2 else (0, 1, 2)  # PyTorch's first number is for the width in two dimensions
    grid = np.arange(int(np.prod(sizes))).reshape(sizes)
    windows = np.empty((*whole.shape[:2], *wanted, int(np.prod(kernel))), np.int64)
    for place in np.ndindex(*whole.shape[:2]):
        starts = [_starts(drawn[place][order[axis]], sizes[axis], wanted[axis], kernel[axis]) for axis in range(count)]
        for window in np.ndindex(*wanted):
            corner = [starts[axis][window[axis]] for axis in range(count)]
            part = grid[tuple(slice(low, low + size) for low, size in zip(corner, kernel))]
            windows[place + window] = part.ravel()
    flat = whole.reshape((*whole.shape[:2], -1))
    places = Tensor(windows.reshape((*whole.shape[:2], -1)))
    values = ops.gather_elements(flat, -1, places).reshape((*whole.shape[:2], -1, windows.shape[-1]))
    best = ops.expand_dims(ops.argmax(values, -1), -1)
    shape = (*input.shape[:-count], *wanted)
    maxima = ops.gather_elements(values, -1, best).reshape(shape)
    indices = ops.gather_elements(places.reshape(values.shape), -1, best).reshape(shape)
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
