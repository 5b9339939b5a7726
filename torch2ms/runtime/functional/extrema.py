"""The largest and the smallest with PyTorch's signatures, for calls whose arguments decide what is meant."""

from __future__ import annotations

from typing import Any

import mindspore as ms
from mindspore import Tensor, ops

__all__ = ["max", "min"]


def max(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """Return the largest value; along an axis (values, indices); of two tensors, the larger ones."""
    if other is not None or isinstance(dim, Tensor):
        return ops.maximum(input, dim if other is None else other)
    if dim is None:
        return input.max()
    index, values = ops.ArgMaxWithValue(int(dim), keepdim)(input)
    return values, index.astype(ms.int64)  # ops.max gives int32 indices in MindSpore 2.0


def min(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """Return the smallest value; along an axis (values, indices); of two tensors, the smaller ones."""
    if other is not None or isinstance(dim, Tensor):
        return ops.minimum(input, dim if other is None else other)
    if dim is None:
        return input.min()
    index, values = ops.ArgMinWithValue(int(dim), keepdim)(input)
    return values, index.astype(ms.int64)  # ops.min gives int32 indices in MindSpore 2.0
