"""Matrix products, distances and searches with PyTorch's signatures."""

from __future__ import annotations

from typing import Any, Optional

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from .singular import inverse

__all__ = [
    "bucketize",
    "cdist",
    "chain_matmul",
    "cross",
    "inner",
    "kron",
    "matrix_power",
    "picked_at_end",
    "repeat_interleave",
    "searchsorted",
    "select",
    "span",
    "take",
    "take_along_dim",
    "take_every",
]


def cross(input: Tensor, other: Tensor, dim: Optional[int] = None) -> Tensor:
    """Return the cross product along ``dim``, by default the first axis of size 3."""
    axis = input.shape.index(3) if dim is None else dim
    a = [select(input, axis, index) for index in range(3)]
    b = [select(other, axis, index) for index in range(3)]
    parts = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    return ops.stack(parts, axis)


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: Any = None) -> Tensor:
    """Return the p-norm distance of each row of ``x1`` to each row of ``x2``; its slope at distance 0 is 0."""
    difference = ops.abs(ops.expand_dims(x1, -2) - ops.expand_dims(x2, -3))
    if 0 in difference.shape:
        return ops.zeros(difference.shape[:-1], difference.dtype)
    if p == 0:
        counts = (difference != 0).astype(difference.dtype)
        return ops.where(difference == difference, counts, difference).sum(-1)
    if p == 1:
        return difference.sum(-1)
    if p == float("inf"):
        return ops.amax(ops.where(difference == difference, difference, ops.zeros_like(difference)), -1)
    powers = (ops.square(difference) if p == 2 else ops.pow(difference, p)).sum(-1)
    positive = powers != 0  # what is not a number stays
    safe = ops.where(positive, powers, ops.ones_like(powers))
    root = ops.sqrt(safe) if p == 2 else ops.pow(safe, 1.0 / p)
    return root * positive.astype(root.dtype)


def matrix_power(input: Tensor, n: int) -> Tensor:
    """Return the ``n``-th power of square matrices by repeated squaring; negative powers invert first."""
    if n == 0:
        return ops.zeros_like(input) + ops.eye(input.shape[-1], dtype=input.dtype)
    base = inverse(input) if n < 0 else input
    result = None
    exponent = abs(n)
    while exponent:
        if exponent % 2:
            result = base if result is None else ops.matmul(result, base)
        exponent //= 2
        if exponent:
            base = ops.matmul(base, base)
    return result


def chain_matmul(*matrices: Tensor) -> Tensor:
    """Return the product of matrices, from left to right."""
    result = matrices[0]
    for matrix in matrices[1:]:
        result = ops.matmul(result, matrix)
    return result


def repeat_interleave(
    input: Tensor, repeats: Any = None, dim: Optional[int] = None, *, output_size: Optional[int] = None
) -> Tensor:
    """Return ``input`` with each slice along ``dim`` repeated; ``repeats`` is one count, or one a slice.

    Without ``repeats``, ``input`` holds the counts, and what is repeated is 0, 1, 2, ...
    """
    if repeats is None:
        return Tensor(np.repeat(np.arange(input.shape[0]), input.asnumpy()), ms.int64)
    if dim is None:
        input, dim = input.reshape((-1,)), 0
    size = input.shape[dim]
    counts = repeats.asnumpy() if isinstance(repeats, Tensor) else np.asarray(repeats)
    places = np.repeat(np.arange(size), counts if counts.ndim and counts.size > 1 else int(counts.reshape(-1)[0]))
    return ops.gather(input, Tensor(places, ms.int32), dim)


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """Return the slice ``index`` along ``dim``, without that axis."""
    axis = dim % input.ndim
    return input[(slice(None),) * axis + (index,)]


def take_every(input: Tensor, step: int, axis: int, start: Optional[int] = None, stop: Optional[int] = None) -> Tensor:
    """Return ``input[start:stop:step]`` along ``axis``.

    The step is taken along the last axis: the CPU's gradient of other steps reads beyond its memory and raises
    (``StridedSliceGrad``, seen in MindSpore 2.10).
    """
    return _differentiable(input.swapaxes(axis, -1)[..., start:stop:step]).swapaxes(axis, -1)


def span(input: Tensor, axis: int, stop: int, start: int = 0) -> Tensor:
    """Return ``input[start:stop]`` along ``axis``, which may be nothing.

    The CPU's gradient of ``x[:0]`` reads outside of its memory and raises (``StridedSliceGrad``, 2.7 to 2.10).
    """
    return _differentiable(input[(slice(None),) * (axis % input.ndim) + (slice(start, stop),)])


def _differentiable(part: Tensor) -> Tensor:
    """Return a part of a tensor, of which nothing is differentiated where it holds nothing."""
    return ops.stop_gradient(part) if isinstance(part, Tensor) and 0 in part.shape else part


def picked_at_end(input: Tensor, mask: Tensor) -> Tensor:
    """Return ``input[..., mask]`` for a mask of several axes, which MindSpore takes for the index of one."""
    flat = input.reshape((*input.shape[: input.ndim - mask.ndim], -1))
    return flat[..., mask.reshape((-1,))]


def take(input: Tensor, index: Tensor) -> Tensor:
    """Return the values of the flattened ``input`` at ``index``."""
    size = int(np.prod(input.shape))  # MindSpore's gather loses the gradient of what a negative index takes
    return ops.gather(input.reshape((-1,)), (index + (index < 0) * size).astype(ms.int32), 0)


def take_along_dim(input: Tensor, indices: Tensor, dim: Optional[int] = None) -> Tensor:
    """Return the values at ``indices`` along ``dim``; shapes are broadcast outside of it."""
    if dim is None:
        return ops.gather(input.reshape((-1,)), indices.reshape((-1,)).astype(ms.int32), 0)
    axis = dim % input.ndim
    shape = [max(a, b) for a, b in zip(input.shape, indices.shape)]
    ours, theirs = list(shape), list(shape)
    ours[axis], theirs[axis] = input.shape[axis], indices.shape[axis]
    return ops.gather_elements(ops.broadcast_to(input, tuple(ours)), axis, ops.broadcast_to(indices, tuple(theirs)))


def searchsorted(
    sorted_sequence: Tensor,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: Optional[str] = None,
    sorter: Optional[Tensor] = None,
) -> Tensor:
    """Return the int64 places where ``input`` would be inserted into sorted sequences; found by numpy.

    Sequences of several dimensions are sorted along the last; their values have the same dimensions before it.
    """
    values = input.asnumpy() if isinstance(input, Tensor) else np.asarray(input)
    order = None if sorter is None else sorter.asnumpy()
    edges: Any = sorted_sequence.asnumpy()
    where: Any = "right" if right or side == "right" else "left"
    found: Any = np.empty(values.shape, np.int32 if out_int32 else np.int64)
    if edges.ndim == 1:
        found[...] = np.searchsorted(edges, values, where, order)
    for row in np.ndindex(*edges.shape[:-1]) if edges.ndim > 1 else ():
        found[row] = np.searchsorted(edges[row], values[row], where, None if order is None else order[row])
    return Tensor(found)


def bucketize(input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    """Return the int64 number of the bucket between ``boundaries`` that each value falls into."""
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


def inner(input: Tensor, other: Tensor) -> Tensor:
    """Return the sums of products along the last axes: 0 along none, where MindSpore has what the memory held."""
    if input.ndim and other.ndim and input.shape[-1] == 0:
        return ops.zeros((*input.shape[:-1], *other.shape[:-1]), input.dtype)
    return ops.inner(input, other)


def kron(input: Tensor, other: Tensor) -> Tensor:
    """Return the Kronecker product; the tensor of fewer axes gets more in front."""
    rank = max(input.ndim, other.ndim)
    input, other = (x.reshape((1,) * (rank - x.ndim) + x.shape) for x in (input, other))
    shape = tuple(a * b for a, b in zip(input.shape, other.shape))
    ours = input.reshape(tuple(size for axis in input.shape for size in (axis, 1)))
    theirs = other.reshape(tuple(size for axis in other.shape for size in (1, axis)))
    return (ours * theirs).reshape(shape)
