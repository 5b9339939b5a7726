"""The largest and the smallest with PyTorch's signatures, for calls whose arguments decide what is meant."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import mindspore as ms
from mindspore import Tensor, ops

__all__ = ["argmax", "argmin", "max", "min", "minimum"]


class Extrema(NamedTuple):
    """Values along an axis, and where they were: a tuple whose parts have PyTorch's names."""

    values: Tensor
    indices: Tensor


def max(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """Return the largest value; along an axis (values, indices); of two tensors, the larger ones."""
    if other is not None or isinstance(dim, Tensor):
        return ops.maximum(input, dim if other is None else other)
    if dim is None:
        return input.any() if input.dtype == ms.bool_ else input.max()
    if input.dtype == ms.bool_:
        values, places = max(input.astype(ms.int32), dim, keepdim)
        return Extrema(values.astype(ms.bool_), places)
    index, values = ops.ArgMaxWithValue(int(dim), keepdim)(input)
    return Extrema(values, index.astype(ms.int64))  # ops.max gives int32 indices in MindSpore 2.0


def min(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """Return the smallest value; along an axis (values, indices); of two tensors, the smaller ones."""
    if other is not None or isinstance(dim, Tensor):
        return minimum(input, dim if other is None else other)
    if dim is None:
        return input.all() if input.dtype == ms.bool_ else input.min()
    if input.dtype == ms.bool_:
        values, places = min(input.astype(ms.int32), dim, keepdim)
        return Extrema(values.astype(ms.bool_), places)
    index, values = ops.ArgMinWithValue(int(dim), keepdim)(input)
    return Extrema(values, index.astype(ms.int64))  # ops.min gives int32 indices in MindSpore 2.0


def minimum(input: Tensor, other: Tensor) -> Tensor:
    """Return the smaller of each two elements; of bools as well, which MindSpore's has no kernel for on CPU."""
    if input.dtype == other.dtype == ms.bool_:
        return ops.logical_and(input, other)
    return ops.minimum(input, other)


def argmax(input: Tensor, dim: Optional[int] = None, keepdim: bool = False) -> Tensor:
    """Return the int64 index of the largest element, along ``dim`` or of all; ``keepdim`` keeps every axis."""
    found = ops.argmax(input, dim, keepdim)
    return found.reshape((1,) * input.ndim) if dim is None and keepdim else found


def argmin(input: Tensor, dim: Optional[int] = None, keepdim: bool = False) -> Tensor:
    """Return the int64 index of the smallest element, along ``dim`` or of all; ``keepdim`` keeps every axis."""
    found = ops.argmin(input, dim, keepdim).astype(ms.int64)
    return found.reshape((1,) * input.ndim) if dim is None and keepdim else found
