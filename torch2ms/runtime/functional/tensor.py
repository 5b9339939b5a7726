"""Tensor functions whose MindSpore counterparts differ in arguments, dtypes or devices, with PyTorch's signatures."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple, Union

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from . import selections
from .dtypes import abs as modulus
from .dtypes import number, promoted
from .pointwise import complex_product

__all__ = [
    "addmm",
    "argsort",
    "baddbmm",
    "bincount",
    "cat",
    "count_nonzero",
    "cumsum",
    "diag",
    "diag_embed",
    "dot",
    "flatten",
    "flip",
    "full",
    "histc",
    "item",
    "kthvalue",
    "median",
    "nonzero",
    "norm",
    "numel",
    "permute",
    "prod",
    "repeat",
    "roll",
    "sort",
    "stack",
    "std",
    "std_mean",
    "sum",
    "tensordot",
    "topk",
    "tril_indices",
    "triu_indices",
    "unfold_dimension",
    "unique",
    "unique_consecutive",
    "var",
    "var_mean",
    "view",
    "where",
]

Axes = Union[None, int, Sequence[int]]


def _axes(input: Tensor, dim: Axes) -> Tuple[int, ...]:
    """Return ``dim`` as non-negative axes; None is all."""
    listed = () if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    if input.ndim == 0 or len(listed) == 0:
        return tuple(range(input.ndim))
    return tuple([axis % input.ndim for axis in listed])  # a generator is empty in graph mode


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Return ``input`` with the axes from ``start_dim`` to ``end_dim`` joined."""
    if input.ndim == 0:
        return input.reshape((1,))
    start, end = start_dim % input.ndim, end_dim % input.ndim
    shape = input.shape
    return input.reshape((*shape[:start], -1, *shape[end + 1 :]))


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Return the tensors joined along ``dim``; dtypes are promoted, and empty 1-D tensors skipped, as in torch."""
    alike = promoted(tensors)
    kept = [tensor for tensor in alike if not (tensor.ndim == 1 and tensor.shape[0] == 0)]
    return ops.concat(tuple(kept), dim) if kept else alike[0]


def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Return the tensors side by side in a new axis; dtypes are promoted."""
    return ops.stack(promoted(tensors), dim)


def numel(input: Union[Tensor, Tuple[int, ...]]) -> int:
    """Return the number of elements of a tensor, or of a tensor of this shape."""
    return int(np.prod(input) if isinstance(input, tuple) else input.size)


def item(input: Tensor) -> Any:
    """Return the only element as a number of Python."""
    return input.asnumpy().item()


def permute(input: Tensor, dims: Sequence[int]) -> Tensor:
    """Return ``input`` with its axes in the order ``dims``."""
    return ops.transpose(input, tuple(axis % input.ndim for axis in dims))


def view(input: Tensor, *shape: Any) -> Tensor:
    """Return ``input`` reshaped; a copy where torch would share memory."""
    sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    return input.reshape(tuple(int(size) for size in sizes))


def repeat(input: Tensor, *repeats: Any) -> Tensor:
    """Return ``input`` repeated as often along each axis; new axes come first."""
    counts = repeats[0] if len(repeats) == 1 and isinstance(repeats[0], (tuple, list)) else repeats
    times = tuple(int(count) for count in counts)
    sizes = (1,) * (len(times) - input.ndim) + tuple(input.shape)
    made = tuple(size * count for size, count in zip(sizes, times))
    return ops.zeros(made, input.dtype) if 0 in made else ops.tile(input, times)  # which refuses nothing


def flip(input: Tensor, *dims: Any) -> Tensor:
    """Return ``input`` reversed along ``dims``."""
    axes = dims[0] if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims
    return ops.flip(input, tuple(axes)) if len(axes) else input.copy()


def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """Return ``input`` with its places moved by ``shifts`` along ``dims`` (None: along the flattened tensor)."""
    if dims is None:
        return roll(input.reshape((-1,)), shifts, 0).reshape(input.shape)
    axes = (dims,) if isinstance(dims, int) else tuple(dims)
    is_moved = False
    for shift, axis in zip(shifts if isinstance(shifts, (tuple, list)) else (shifts,), axes):
        size = input.shape[axis]
        cut = int(shift) % size if size else 0
        if cut:
            head, tail = ops.split(input, [size - cut, cut], axis)
            input, is_moved = ops.concat((tail, head), axis), True
    return input if is_moved else input.copy()


def full(size: Any, fill_value: Any, dtype: Any = None, **options: Any) -> Tensor:
    """Return a tensor of ``size`` filled with a value; its dtype follows the value (bool, int64 or float32)."""
    shape = (size,) if isinstance(size, int) else tuple(size)
    if isinstance(fill_value, Tensor):
        fill_value = fill_value.asnumpy().item()
    if dtype is None:
        dtype = ms.bool_ if isinstance(fill_value, bool) else ms.int64 if isinstance(fill_value, int) else ms.float32
    if 0 in shape:
        return ops.zeros(shape, dtype)
    return ops.broadcast_to(Tensor(fill_value, dtype), shape).copy()  # the view's elements are all one and the same


def sum(input: Tensor, dim: Axes = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
    """Return the sum over ``dim``; bools and ints add up to int64."""
    if dtype is not None:
        input = input.astype(dtype)
    elif not input.is_floating_point() and not input.is_complex():
        input = input.astype(ms.int64)
    if 0 in input.shape:
        return selections.sum(input, _axes(input, dim), keepdim, dtype=input.dtype)
    found = input.sum(_axes(input, dim) or None, keepdims=keepdim)
    return found if found.dtype == input.dtype else found.astype(input.dtype)  # MindSpore counts bools


def prod(input: Tensor, dim: Optional[int] = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
    """Return the product over ``dim``; bools and ints multiply to int64."""
    if dtype is not None:
        input = input.astype(dtype)
    elif not input.is_floating_point() and not input.is_complex():
        input = input.astype(ms.int64)
    if 0 in input.shape:
        return selections.prod(input, dim, keepdim, dtype=input.dtype)
    result = input.reshape((-1,)).prod(0) if dim is None else input.prod(dim, keepdim)
    return result if input.is_floating_point() else result.astype(input.dtype)  # MindSpore widens small ints


def cumsum(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """Return the running sum along ``dim``; bools and ints add up to int64."""
    if dtype is not None:
        input = input.astype(dtype)
    elif not input.is_floating_point() and not input.is_complex():
        input = input.astype(ms.int64)
    if not input.ndim or 0 in input.shape:
        return input.copy()
    found = input.cumsum(dim)
    return found if input.is_floating_point() else found.astype(input.dtype)  # MindSpore widens small ints


def count_nonzero(input: Tensor, dim: Axes = None) -> Tensor:
    """Return the number of values that are not 0, as int64."""
    return selections.sum(input != 0, dim)


def _correction(unbiased: Any, correction: Any) -> float:
    """Return what is taken off the count: torch's ``correction``, or its older ``unbiased``."""
    if unbiased is not None:
        return 1 if unbiased else 0
    return 1 if correction is None else correction


def _moments(input: Tensor, dim: Any, keepdim: bool, correction: float) -> Tuple[Tensor, Tensor]:
    """Return (variance, mean) over ``dim``."""
    axes = _axes(input, dim)
    if 0 in input.shape:  # NaN, where MindSpore gives what the memory held
        kind = {ms.complex64: ms.float32, ms.complex128: ms.float64}.get(input.dtype, input.dtype)
        return selections.mean(input, axes, keepdim, dtype=kind), selections.mean(input, axes, keepdim)
    count = 1
    for axis in axes:
        count *= input.shape[axis]
    mean = input.mean(axes, True)
    freedom = max(count - correction, 0)
    centred = input - (mean if freedom else ops.stop_gradient(mean))  # infinite gradients would meet in the mean's
    squares = ops.square(modulus(centred) if input.is_complex() else centred).sum(axes, keepdims=keepdim)
    variance = squares / freedom if freedom else squares / Tensor(0.0, squares.dtype)
    if not freedom:  # MindSpore's quotient of NaN and 0 is an infinity
        variance = ops.where(squares == squares, variance, squares)
    return variance, mean if keepdim else mean.reshape(variance.shape)


def var_mean(
    input: Tensor, dim: Any = None, unbiased: Any = None, *, correction: Any = None, keepdim: bool = False
) -> Tuple[Tensor, Tensor]:
    """Return the variance (with Bessel's correction unless told otherwise) and the mean."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    return _moments(input, dim, keepdim, _correction(unbiased, correction))


def var(
    input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> Tensor:
    """Return the variance, with Bessel's correction unless told otherwise."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if input.dtype == ms.float16:
        return var(input.astype(ms.float32), dim, unbiased, keepdim, correction=correction).astype(ms.float16)
    return _moments(input, dim, keepdim, _correction(unbiased, correction))[0]


def std(
    input: Tensor, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> Tensor:
    """Return the standard deviation, with Bessel's correction unless told otherwise."""
    return selections.root(var(input, dim, unbiased, keepdim, correction=correction))


def std_mean(
    input: Tensor, dim: Any = None, unbiased: Any = None, *, correction: Any = None, keepdim: bool = False
) -> Tuple[Tensor, Tensor]:
    """Return the standard deviation (with Bessel's correction unless told otherwise) and the mean."""
    variance, mean = var_mean(input, dim, unbiased, correction=correction, keepdim=keepdim)
    return selections.root(variance), mean


def _nuclear_norm(input: Tensor, dim: Axes, keepdim: bool) -> Tensor:
    from ..linalg import matrix_norm  # a compiled graph takes no import, and this function only where it is called

    return matrix_norm(input, "nuc", tuple(dim) if isinstance(dim, (tuple, list)) else (-2, -1), keepdim)


def norm(input: Tensor, p: Any = "fro", dim: Axes = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
    """Return the p-norm of the values over ``dim`` (all by default); "fro" is 2, also over more than two axes."""
    if dtype is not None:
        input = input.astype(dtype)
    if input.dtype == ms.float16:  # the sum of squares is beyond it
        return norm(input.astype(ms.float32), p, dim, keepdim).astype(ms.float16)
    if p == "nuc":
        return _nuclear_norm(input, dim, keepdim)
    axes = _axes(input, dim)
    if p in ("fro", 2, None):
        squares = selections.sum(ops.square(modulus(input)), axes, keepdim)
        return selections.root(squares)
    values = modulus(input)
    if p in (float("inf"), float("-inf")):
        found = ops.amax(values, axes, keepdim) if p > 0 else ops.amin(values, axes, keepdim)
        is_nan = selections.sum((values != values).astype(ms.float32), axes, keepdim) > 0  # which comparisons pass by
        return found.masked_fill(is_nan, float("nan"))
    if p == 0:
        return selections.sum((values != 0).astype(values.dtype), axes, keepdim)
    if p == 1:
        return selections.sum(values, axes, keepdim)
    if p < 0:  # beside a 0, the norm is 0 and so is its slope
        is_zero = values == 0
        plain = ops.pow(values.masked_fill(is_zero, 1), number(p, values))
        found = ops.pow(selections.sum(plain, axes, keepdim), number(1.0 / p, values))
        return found.masked_fill(selections.any(is_zero, axes, keepdim), 0)
    powers = selections.sum(ops.pow(values, number(p, values)), axes, keepdim)
    positive = (powers > 0).astype(powers.dtype)  # at 0 the slope is taken for 0, as by torch
    return ops.pow(powers + (1 - positive), number(1.0 / p, powers)) * positive


def sort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tuple[Tensor, Tensor]:
    """Return the values in order and their int64 indices."""
    if input.ndim == 0:
        return input.copy(), Tensor(0, ms.int64)
    if input.dtype == ms.bool_:
        values, indices = ops.sort(input.astype(ms.int8), dim, descending)
        return values.astype(ms.bool_), indices.astype(ms.int64)
    if input.dtype == ms.float64 and 0 not in input.shape:  # ops.sort rounds it to float32
        values, indices = ops.topk(input, input.shape[dim], dim, descending)
    else:
        values, indices = ops.sort(input, dim, descending)
    return values, indices.astype(ms.int64)


def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """Return the int64 indices that put the values in order."""
    return sort(input, dim, descending)[1]


def topk(
    input: Tensor, k: int, dim: Optional[int] = None, largest: bool = True, sorted: bool = True
) -> Tuple[Tensor, Tensor]:
    """Return the ``k`` largest (or smallest) values in order and their int64 indices."""
    if input.ndim == 0:  # MindSpore's own ends the process
        return input.copy(), Tensor(0, ms.int64)
    if k == 0:
        axis = input.ndim - 1 if dim is None else dim % input.ndim
        shape = (*input.shape[:axis], 0, *input.shape[axis + 1 :])
        return ops.zeros(shape, input.dtype), ops.zeros(shape, ms.int64)
    signed = input.astype(ms.int32) if input.dtype == ms.uint8 else input  # it looks for the smallest of -input
    values, indices = ops.topk(signed, k, -1 if dim is None else dim, largest, True)
    return values.astype(input.dtype), indices.astype(ms.int64)


def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Tuple[Tensor, Tensor]:
    """Return the ``k``-th smallest value and its int64 index."""
    values, indices = sort(input, dim)
    if input.ndim == 0:
        return values, indices
    value, index = (ops.gather(part, Tensor([k - 1], ms.int32), dim) for part in (values, indices))
    return (value, index) if keepdim else (ops.squeeze(value, dim), ops.squeeze(index, dim))


def median(input: Tensor, dim: Optional[int] = None, keepdim: bool = False) -> Any:
    """Return the lower median of all values, or along ``dim`` with its int64 index."""
    if dim is None:
        flat = input.reshape((-1,))
        if 0 in flat.shape:
            return selections.mean(flat)  # NaN
        return selections.shared(kthvalue(flat, (flat.shape[0] + 1) // 2)[0], flat)
    return kthvalue(input, (input.shape[dim] + 1) // 2 if input.ndim else 1, dim, keepdim)


def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Return the int64 places of values that are not 0, as rows, or as one tensor an axis (``as_tuple``)."""
    if input.ndim == 0 and not as_tuple:
        return ops.zeros((int(input != 0), 0), ms.int64)
    places = ops.nonzero(input if input.ndim else input.reshape((1,)))
    return tuple(places[:, axis] for axis in range(places.shape[1])) if as_tuple else places


def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """Return ``input`` where the condition holds, else ``other``; without both its places, one tensor an axis."""
    if input is None:
        return nonzero(condition, as_tuple=True)
    return ops.where(condition, input, other)


def unique(
    input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """Return the distinct values in order, with int64 inverse indices and counts when asked for; by numpy."""
    result = np.unique(input.asnumpy(), return_inverse=True, return_counts=True, axis=dim)
    values, inverse, counts = result
    shape = input.shape if dim is None else (input.shape[dim],)
    found: List[Tensor] = [Tensor(values)]
    if return_inverse:
        found.append(Tensor(inverse.reshape(shape).astype(np.int64)))
    if return_counts:
        found.append(Tensor(counts.astype(np.int64)))
    return found[0] if len(found) == 1 else tuple(found)


def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """Return the values, or parts along ``dim``, without repetitions of neighbours; computed by numpy."""
    values = input.asnumpy().reshape(-1) if dim is None else np.moveaxis(input.asnumpy(), dim, 0)
    flat = values.reshape(len(values), -1)
    starts = np.concatenate(([True], (flat[1:] != flat[:-1]).any(1))) if len(flat) else np.zeros(0, bool)
    found: List[Tensor] = [Tensor(np.moveaxis(values[starts], 0, 0 if dim is None else dim))]
    if return_inverse:
        places = (np.cumsum(starts) - 1).astype(np.int64)
        found.append(Tensor(places.reshape(input.shape) if dim is None else places))
    if return_counts:
        edges = np.append(np.flatnonzero(starts), len(flat))
        found.append(Tensor(np.diff(edges).astype(np.int64)))
    return found[0] if len(found) == 1 else tuple(found)


def bincount(input: Tensor, weights: Optional[Tensor] = None, minlength: int = 0) -> Tensor:
    """Return how often each non-negative int occurs (int64), or the sum of its weights; computed by numpy."""
    if weights is None:
        return Tensor(np.bincount(input.asnumpy(), minlength=minlength).astype(np.int64))
    given = weights.asnumpy()
    kind = np.float32 if given.dtype == np.float32 else np.float64
    return Tensor(np.bincount(input.asnumpy(), given, minlength).astype(kind))


def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """Return how many values fall into each of ``bins`` equal parts of [min, max]; computed by numpy."""
    values = input.asnumpy()
    if not values.size:
        return ops.zeros((bins,), input.dtype)
    low, high = (values.min(), values.max()) if min == max else (min, max)
    return Tensor(np.histogram(values, bins, (low, high))[0].astype(values.dtype))


def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """Return the diagonal of a matrix, or the matrix with a vector on its diagonal."""
    if input.ndim == 2:
        return ops.diagonal(input, diagonal).copy()  # torch.diagonal is a view, torch.diag is not
    return diag_embed(input, diagonal)


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Return matrices with the last axis of ``input`` on their diagonals."""
    if (dim1, dim2) != (-2, -1):
        return ops.movedim(diag_embed(input, offset), (-2, -1), (dim1, dim2))
    length = input.shape[-1]
    above, below = max(offset, 0), max(-offset, 0)
    inside = Tensor(np.eye(length, dtype=np.bool_))  # chosen, not multiplied by: infinity times 0 is no number
    square = ops.where(inside, ops.unsqueeze(input, -1), Tensor(0, input.dtype))
    return ops.pad(square, (above, below, below, above)) if offset else square


def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """Return the inner product of two vectors."""
    return (input * tensor).sum().astype(input.dtype) if input.size else ops.zeros((), input.dtype)


def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Return ``beta * input + alpha * (mat1 @ mat2)``; what has the factor 0 is left out, whatever it holds."""
    product = selections.matmul(mat1, mat2) if alpha else ops.zeros((mat1.shape[0], mat2.shape[1]), mat1.dtype)
    return _weighted(input, product, beta, alpha)


def _weighted(input: Tensor, product: Tensor, beta: float, alpha: float) -> Tensor:
    if not input.is_floating_point() and not input.is_complex():
        beta, alpha = int(beta), int(alpha)  # the result keeps the dtype of whole numbers
    product = times(alpha, product)
    return times(beta, input.astype(product.dtype)) + product if beta else product


def times(factor: Any, input: Tensor) -> Tensor:
    """Return ``input`` times a number of Python, which may be complex."""
    if factor == 1:
        return input
    return complex_product(input, factor) if isinstance(factor, complex) else number(factor, input) * input


def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """Return ``beta * input + alpha * (batch1 @ batch2)`` for batches of matrices."""
    return _weighted(input, selections.matmul(batch1, batch2), beta, alpha)


def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """Return the sum of products over ``dims`` axes, or over two lists of axes."""
    if isinstance(dims, int):
        left, right = list(range(a.ndim - dims, a.ndim)), list(range(dims))
    else:
        left, right = ([side] if isinstance(side, int) else list(side) for side in dims)
    left, right = [axis % a.ndim for axis in left], [axis % b.ndim for axis in right]
    for one, other in zip(left, right):  # an axis of one place stands for as many as the other has
        if a.shape[one] == 1:
            b = b.sum(other, keepdims=True)
        elif b.shape[other] == 1:
            a = a.sum(one, keepdims=True)
    rows = [axis for axis in range(a.ndim) if axis not in left]
    columns = [axis for axis in range(b.ndim) if axis not in right]
    depth = int(np.prod([a.shape[axis] for axis in left], dtype=np.int64))
    first = ops.transpose(a, tuple(rows + left)).reshape((-1, depth))
    second = ops.transpose(b, tuple(right + columns)).reshape((depth, -1))
    shape = tuple(a.shape[axis] for axis in rows) + tuple(b.shape[axis] for axis in columns)
    return ops.matmul(first, second).reshape(shape)


def unfold_dimension(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Return windows of ``size`` every ``step`` places along ``dimension``, in a new last axis (``Tensor.unfold``)."""
    if input.ndim == 0:
        return input.reshape((1,))[:size]
    axis = dimension % input.ndim
    count = (input.shape[axis] - size) // step + 1
    places = np.arange(count)[:, None] * step + np.arange(size)[None, :]
    taken = ops.gather(input, Tensor(places.reshape(-1), ms.int32), axis)
    shape = (*input.shape[:axis], count, size, *input.shape[axis + 1 :])
    order = [position for position in range(len(shape)) if position != axis + 1] + [axis + 1]
    return ops.transpose(taken.reshape(shape), tuple(order))


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Any = ms.int64, **options: Any) -> Tensor:
    """Return the rows and columns of the lower triangle: shape (2, count)."""
    return Tensor(np.stack(np.tril_indices(row, offset, col)), dtype)


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Any = ms.int64, **options: Any) -> Tensor:
    """Return the rows and columns of the upper triangle: shape (2, count)."""
    return Tensor(np.stack(np.triu_indices(row, offset, col)), dtype)
