"""Pooling that knows the places of what it took: adaptive maxima with indices, and their inverse."""

from __future__ import annotations

import itertools
from typing import Any, Optional, Sequence, Tuple, Union

import numpy as np
from mindspore import Tensor, ops

from .pooling import _ints, _sizes, _windows

__all__ = [
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
]

IntOrInts = Union[int, Sequence[int]]


def _adaptive_max(input: Tensor, output_size: Any, count: int, return_indices: bool) -> Any:
    """Return the largest value of each window, and its place in the flattened last ``count`` axes when asked for."""
    sizes, spatial = _sizes(input, output_size, count), input.shape[-count:]
    lead = input.shape[:-count]
    grid = np.arange(int(np.prod(spatial))).reshape(spatial)
    flat = input.reshape((*lead, grid.size))
    parts = []
    for window in itertools.product(*(_windows(have, want) for have, want in zip(spatial, sizes))):
        places = Tensor(grid[tuple(slice(*bounds) for bounds in window)].ravel().astype(np.int64))
        values = ops.gather(flat, places, -1)
        parts.append(ops.gather(places, ops.argmax(values, -1), 0))
    indices = ops.stack(parts, -1).astype(places.dtype)
    maxima = ops.gather_elements(flat, -1, indices).reshape((*lead, *sizes))
    return (maxima, indices.reshape((*lead, *sizes))) if return_indices else maxima


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Return the largest value of (..., length) in ``output_size`` windows, with its place when asked for."""
    return _adaptive_max(input, _ints(output_size, 1), 1, return_indices)


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Return the largest value of (..., height, width) in ``output_size`` windows, with its place when asked for."""
    return _adaptive_max(input, output_size, 2, return_indices)


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Return the largest value of (..., depth, height, width) in ``output_size`` windows, with its place if asked."""
    return _adaptive_max(input, output_size, 3, return_indices)


def _unpool(
    input: Tensor,
    indices: Tensor,
    kernel_size: IntOrInts,
    stride: Optional[IntOrInts],
    padding: IntOrInts,
    output_size: Optional[Sequence[int]],
    count: int,
) -> Tensor:
    """Put the values of ``input`` at their places in zeros of the size that was pooled."""
    kernel, pads = _ints(kernel_size, count), _ints(padding, count)
    strides = _ints(kernel_size if stride is None else stride, count)
    lead, spatial = input.shape[:-count], input.shape[-count:]
    size: Tuple[int, ...] = tuple(
        (have - 1) * step - 2 * pad + window for have, step, pad, window in zip(spatial, strides, pads, kernel)
    )
    if output_size is not None:
        size = tuple(int(value) for value in output_size)[-count:]
    empty = ops.zeros((*lead, int(np.prod(size))), input.dtype)
    flat = (*lead, int(np.prod(spatial)))
    filled = ops.tensor_scatter_elements(empty, indices.reshape(flat), input.reshape(flat), axis=len(lead))
    return filled.reshape((*lead, *size))


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: IntOrInts,
    stride: Optional[IntOrInts] = None,
    padding: IntOrInts = 0,
    output_size: Optional[Sequence[int]] = None,
) -> Tensor:
    """Undo a max pooling of (..., length): the maxima at their places, zeros elsewhere."""
    return _unpool(input, indices, kernel_size, stride, padding, output_size, 1)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: IntOrInts,
    stride: Optional[IntOrInts] = None,
    padding: IntOrInts = 0,
    output_size: Optional[Sequence[int]] = None,
) -> Tensor:
    """Undo a max pooling of (..., height, width): the maxima at their places, zeros elsewhere."""
    return _unpool(input, indices, kernel_size, stride, padding, output_size, 2)


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: IntOrInts,
    stride: Optional[IntOrInts] = None,
    padding: IntOrInts = 0,
    output_size: Optional[Sequence[int]] = None,
) -> Tensor:
    """Undo a max pooling of (..., depth, height, width): the maxima at their places, zeros elsewhere."""
    return _unpool(input, indices, kernel_size, stride, padding, output_size, 3)
