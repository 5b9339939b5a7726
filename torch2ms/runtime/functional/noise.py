"""Functions that draw at random while a network is trained, and do not while it is evaluated."""

from __future__ import annotations

import mindspore as ms
from mindspore import Tensor, ops

from .normalization import alpha_dropped

__all__ = ["feature_alpha_dropout", "rrelu"]


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
        drawn = ops.rand(*input.shape, dtype=ms.float32).astype(input.dtype) * (upper - lower) + lower
        return ops.where(input >= 0, input, input * drawn)
    return ops.relu(input) - slope * ops.relu(-input)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Return (batch, channels, ...) with alpha dropout of whole channels."""
    if not training or p == 0:
        return input
    kept = ops.rand(*input.shape[:2], dtype=ms.float32) >= p
    return alpha_dropped(input, kept.astype(input.dtype).reshape((*input.shape[:2], *(1,) * (input.ndim - 2))), p)
