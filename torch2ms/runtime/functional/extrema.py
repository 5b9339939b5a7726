"""The largest and the smallest with PyTorch's signatures, for calls whose arguments decide what is meant."""

from __future__ import annotations

from typing import Any

from mindspore import Tensor, ops

__all__ = ["max", "min"]


def max(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """Return the largest value; along an axis (values, indices); of two tensors, the larger ones."""
    if other is not None or isinstance(dim, Tensor):
        return ops.maximum(input, dim if other is None else other)
    return input.max() if dim is None else ops.max(input, axis=int(dim), keepdims=keepdim)


def min(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """Return the smallest value; along an axis (values, indices); of two tensors, the smaller ones."""
    if other is not None or isinstance(dim, Tensor):
        return ops.minimum(input, dim if other is None else other)
    return input.min() if dim is None else ops.min(input, axis=int(dim), keepdims=keepdim)
