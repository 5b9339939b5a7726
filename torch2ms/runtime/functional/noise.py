"""Functions that draw at random while a network is trained, and do not while it is evaluated."""

from __future__ import annotations

import math
from typing import Any

import mindspore as ms
from mindspore import Tensor, ops

from .dtypes import number
from .normalization import alpha_dropped

__all__ = ["cauchy_like", "feature_alpha_dropout", "geometric_like", "log_normal_like", "make_tensor", "rrelu"]


def rrelu(
    input: Tensor,
    lower: float = 0.125,
    upper: float = 0.3333333333333333,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """Return ``input`` where positive, else a slope times it: the mean slope, or in training one drawn for each."""
    slope = (lower + upper) / 2
    if training:
        drawn = ops.rand(input.shape, dtype=ms.float32).astype(input.dtype) * number(upper - lower, input) + number(
            lower, input
        )
        return ops.where(input > 0, input, input * drawn)
    return ops.where(input > 0, input, number(slope, input) * input)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Return (batch, channels, ...) with alpha dropout of whole channels."""
    if not training or p == 0:
        return input
    kept = ops.rand(*input.shape[:2], dtype=ms.float32) >= p
    return alpha_dropped(input, kept.astype(input.dtype).reshape((*input.shape[:2], *(1,) * (input.ndim - 2))), p)


def _uniform(input: Tensor) -> Tensor:
    """Return draws from (0, 1): neither end is met, so that logarithms are finite."""
    return ops.clamp(ops.rand(input.shape, dtype=ms.float32), 1e-7, 1 - 1e-7)


def log_normal_like(input: Tensor, mean: float = 1, std: float = 2) -> Tensor:
    """Return draws whose logarithms are normal, in the shape and dtype of ``input``."""
    return ops.exp(ops.randn(input.shape, dtype=ms.float32) * std + mean).astype(input.dtype)


def cauchy_like(input: Tensor, median: float = 0, sigma: float = 1) -> Tensor:
    """Return draws from a Cauchy distribution, in the shape and dtype of ``input``."""
    return (median + sigma * ops.tan(math.pi * (_uniform(input) - 0.5))).astype(input.dtype)


def geometric_like(input: Tensor, p: float) -> Tensor:
    """Return the numbers of trials up to the first success, in the shape and dtype of ``input``."""
    return ops.ceil(ops.log(_uniform(input)) / math.log1p(-p)).astype(input.dtype)


def make_tensor(*shape: Any, dtype: Any, low: Any = None, high: Any = None, exclude_zero: bool = False) -> Tensor:
    """Return uniform draws from [``low``, ``high``), by default from -9 to 9; whole ones where the dtype is whole."""
    size = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    is_whole = dtype in (ms.uint8, ms.int8, ms.int16, ms.int32, ms.int64)
    if dtype == ms.bool_:
        return ops.rand(size, dtype=ms.float32) < 0.5
    least = (0 if dtype == ms.uint8 else -9) if low is None else low
    most = (10 if is_whole else 9) if high is None else high
    drawn = ops.rand(size, dtype=ms.float32) * float(most - least) + float(least)
    if is_whole:
        drawn = ops.floor(drawn)
    if exclude_zero:
        drawn = ops.where(drawn == 0, ops.ones_like(drawn), drawn)
    return drawn.astype(dtype)
