"""Max pooling that hands NaN on, and keeps -infinity, as PyTorch's does; MindSpore's own passes both by on CPU.

Signatures are those of the plain functions. Of several NaN in a window, the last one's place is meant, as in PyTorch.
"""

from __future__ import annotations

from functools import wraps
from typing import Any, Callable

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from . import fractional, places, pooling
from .creation import rand

__all__ = [
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
]

_INFINITY = float("inf")


def _passing(pool: Callable[..., Any], axes: int, is_drawn: bool = False) -> Callable[..., Any]:
    """Return a max pooling over the last ``axes`` axes that hands on NaN and -infinity."""

    @wraps(pool)
    def pooled(input: Tensor, *args: Any, **options: Any) -> Any:
        if not input.is_floating_point():
            return pool(input, *args, **options)
        if is_drawn and (args[4] if len(args) > 4 else options.get("_random_samples")) is None:
            lead = input.shape[:-axes] if input.ndim == axes + 2 else (1, *input.shape[:-axes])
            args = args[:4]
            options["_random_samples"] = rand(*lead, axes)  # both poolings need the same windows
        found = pool(input.masked_fill(input != input, -_INFINITY), *args, **options)
        marks = pool(_marks(input, axes), *args, **options)
        if not isinstance(found, tuple):
            return _told(found, marks)
        first = 2 + pool(ops.broadcast_to(-_numbers(input, axes), input.shape), *args, **options)[0]
        indices = ops.where(marks[0] > 1.5, marks[0] - 2, -first).astype(found[1].dtype)
        return _told(found[0], marks[0]), ops.where(ops.abs(marks[0] - 1) < 0.5, found[1], indices)

    return pooled


def _marks(input: Tensor, axes: int) -> Tensor:
    """Return 0 for -infinity, 1 for other numbers, and for NaN its place and 2."""
    numbers = _numbers(input, axes)
    others = (input != -_INFINITY).astype(ms.float32)
    return ops.where(input != input, ops.broadcast_to(numbers, input.shape), others)


def _numbers(input: Tensor, axes: int) -> Tensor:
    """Return the place of each element in its picture, counted from 2 on."""
    size = int(np.prod(input.shape[-axes:]))
    return Tensor(np.arange(2, size + 2), ms.float32).reshape(input.shape[-axes:])


def _told(found: Tensor, marks: Tensor) -> Tensor:
    return found.masked_fill(marks < 0.5, -_INFINITY).masked_fill(marks > 1.5, float("nan"))


max_pool1d = _passing(pooling.max_pool1d, 1)
max_pool2d = _passing(pooling.max_pool2d, 2)
max_pool3d = _passing(pooling.max_pool3d, 3)
adaptive_max_pool1d = _passing(places.adaptive_max_pool1d, 1)
adaptive_max_pool2d = _passing(places.adaptive_max_pool2d, 2)
adaptive_max_pool3d = _passing(places.adaptive_max_pool3d, 3)
fractional_max_pool2d = _passing(fractional.fractional_max_pool2d, 2, is_drawn=True)
fractional_max_pool3d = _passing(fractional.fractional_max_pool3d, 3, is_drawn=True)
