"""Sums over what may be nothing (what a mask selects): MindSpore's own then return what the memory held.

Signatures are PyTorch's.
"""

from __future__ import annotations

from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

__all__ = ["any", "bmm", "matmul", "mean", "mm", "prod", "sum"]


def _axes(dim: Any) -> Any:
    return tuple(dim) if isinstance(dim, list) else dim


def _constant(input: Tensor, dim: Any, keepdim: bool, value: float, dtype: Any) -> Tensor:
    """Return ``value`` in the shape that a reduction of an empty tensor has."""
    shape = np.zeros(input.shape, np.int8).sum(axis=dim, keepdims=keepdim).shape
    return ops.zeros(shape, dtype) + Tensor(value, dtype) if value else ops.zeros(shape, dtype)


def _summed(input: Tensor) -> Any:
    return input.dtype if input.is_floating_point() or input.is_complex() else ms.int64


def sum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Return the sum, 0 of nothing."""
    axes, kind = _axes(dim), dtype if dtype is not None else _summed(input)
    if 0 in input.shape:
        return _constant(input, axes, keepdim, 0, kind)
    total = input.astype(kind).sum(axes, keepdims=keepdim)
    return total if total.dtype == kind else total.astype(kind)  # bools add up to ints


def mean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Return the mean, NaN of nothing."""
    axes = _axes(dim)
    if 0 in input.shape:
        return _constant(input, axes, keepdim, float("nan"), dtype if dtype is not None else input.dtype)
    return ops.mean(input if dtype is None else input.astype(dtype), axes, keepdim)


def prod(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Return the product, 1 of nothing."""
    kind = dtype if dtype is not None else _summed(input)
    if 0 in input.shape:
        return _constant(input, dim, keepdim, 1, kind)
    return ops.prod(input.astype(kind), dim, keepdim)


def any(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Return whether an element holds: of nothing, none does."""
    axes = _axes(dim)
    if 0 in input.shape:
        return _constant(input, axes, keepdim, 0, ms.bool_)
    return input.astype(ms.bool_).any(axes, keepdim)


def matmul(input: Tensor, other: Tensor) -> Tensor:
    """Return the product of matrices (or vectors), 0 where they have no column in common to sum over."""
    if 0 in input.shape + other.shape:
        shape = np.matmul(np.zeros(input.shape, np.int8), np.zeros(other.shape, np.int8)).shape
        return ops.zeros(shape, input.dtype)
    return ops.matmul(input, other)


def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """Return the product of two matrices, 0 where they have nothing to sum over."""
    return matmul(input, mat2)


def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Return the products of two batches of matrices, 0 where they have nothing to sum over."""
    return matmul(input, mat2)


def shared(value: Tensor, flat: Tensor) -> Tensor:
    """Return ``value`` with a gradient by all that equal it: PyTorch shares that of a median among them."""
    if not flat.is_floating_point():
        return value
    equal = flat == value
    mean = ops.where(equal, flat, ops.zeros_like(flat)).sum() / equal.astype(flat.dtype).sum()
    exact = ops.stop_gradient(value) + (mean - ops.stop_gradient(mean))  # of infinity, that is NaN
    chosen = ops.where(ops.isinf(value).reshape((1,)), mean.reshape((1,)), exact.reshape((1,)))  # 2.0 needs an axis
    return chosen.reshape(value.shape)


def root(squares: Tensor) -> Tensor:
    """Return the square root, whose slope at 0 is taken for 0, as PyTorch does for norms and deviations."""
    if squares.is_complex():
        return ops.sqrt(squares)
    positive = (squares > 0).astype(squares.dtype)
    return ops.sqrt(squares + (1 - positive)) * positive
