"""Writing into places of a tensor with PyTorch's signatures: a new tensor comes back, with a gradient."""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence, Tuple

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

__all__ = [
    "along",
    "as_index",
    "coalesced",
    "diagonal_scatter",
    "gather",
    "index_add",
    "index_copy",
    "index_fill",
    "index_put",
    "index_reduce",
    "masked_fill",
    "masked_scatter",
    "put",
    "scatter",
    "scatter_add",
    "scatter_reduce",
    "select_scatter",
    "slice_scatter",
    "sparse_coo_tensor",
    "sparse_count",
    "sparse_indices",
    "sparse_values",
    "unravel_index",
]


def _places(indices: Sequence[Any], shape: Sequence[int]) -> Any:
    """Return the numbers of the places (row by row) that an index of tensors, masks and None picks."""
    numbers = np.arange(int(np.prod(shape))).reshape(tuple(shape))
    arrays = tuple(slice(None) if index is None else index.asnumpy() for index in indices)
    return numbers[arrays]


def _in_parts(write: Callable[[Tensor, Tensor], Tensor], input: Tensor, source: Tensor) -> Tensor:
    """Return what ``write`` makes of ``input`` and ``source``; of complex ones, which no kernel takes, part by part."""
    if not input.is_complex():
        return write(input, source)
    real = write(ops.real(input), ops.real(source))
    return ops.Complex()(real, write(ops.imag(input), ops.imag(source)))


def _put(input: Tensor, where: Tensor, source: Tensor, axis: int = 0) -> Tensor:
    """Return ``input`` with ``source`` at the places ``where`` along ``axis``."""
    return _in_parts(lambda x, y: ops.tensor_scatter_elements(x, where, y, axis), input, source)


def added(input: Tensor, where: Tensor, source: Tensor) -> Tensor:
    """Return ``input`` with ``source`` added at the places ``where`` (1-D) of its first axis; equal places add up.

    Not with TensorScatterElements: threads of its CPU kernel lose sums of equal places (MindSpore 2.7, 2.8, 2.10).
    """
    if input.is_complex():
        return _in_parts(lambda x, y: added(x, where, y), input, source)
    if input.dtype == ms.bool_:  # which the other kernel has not
        return ops.tensor_scatter_elements(input, where, source, 0, "add")
    return ops.tensor_scatter_add(input, where.reshape((-1, 1)), source)


def as_index(value: Any) -> Any:
    """Return an index as MindSpore takes it: NumPy's arrays as tensors, its numbers as Python's; all else as it is.

    What ``np.where(mask)`` gives is one array for each axis. A list without places is a tensor without any.
    """
    if isinstance(value, list) and not value:
        return Tensor(np.zeros(0, np.int64))
    if isinstance(value, tuple):
        return tuple(map(as_index, value))
    if isinstance(value, slice):
        return slice(as_index(value.start), as_index(value.stop), as_index(value.step))
    if isinstance(value, np.ndarray):
        return Tensor(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list) and any(isinstance(item, np.generic) for item in value):
        return [item.item() if isinstance(item, np.generic) else item for item in value]
    return value


def index_put(input: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: bool = False) -> Tensor:
    """Return ``input`` with ``values`` written, or added, at ``indices``."""
    places = _places(indices, input.shape)
    source = values if isinstance(values, Tensor) else Tensor(values)
    source = ops.broadcast_to(source.astype(input.dtype), places.shape).reshape((-1,))
    where = Tensor(places.reshape(-1), ms.int32)
    flat = input.reshape((-1,))
    made = added(flat, where, source) if accumulate else _put(flat, where, source)
    return made.reshape(input.shape)


def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """Return ``input`` with the values of ``source`` at the places ``index`` of the flattened tensor."""
    flat = index_put(input.reshape((-1,)), (index,), source.reshape(index.shape), accumulate)
    return flat.reshape(input.shape)


def _pooled(values: Tensor, places: Any, count: int, reduce: str, start: Optional[Tensor], rest: Any = None) -> Tensor:
    """Return ``values`` (1-D) reduced over equal ``places``, with ``start`` among them, or instead of ``rest``."""
    where = Tensor(places, ms.int32)
    base = ops.zeros((count,), values.dtype) if start is None else start
    if reduce in ("sum", "mean"):
        total = added(base, where, values)
        if reduce == "sum":
            return total
        hits = np.bincount(places, minlength=count) + (start is not None)
        return _quotient(total, np.maximum(hits, 1))
    chosen = _winners(values.asnumpy(), None if start is None else start.asnumpy(), places, count, reduce)
    whole = values if start is None else ops.concat((start, values))
    owners = places if start is None else np.concatenate((np.arange(count), places))
    if reduce == "prod":
        return _with_factors(whole, owners, chosen)
    return _with_ties(whole, owners, chosen, rest)


def _with_factors(whole: Tensor, owners: Any, products: Tensor) -> Tensor:
    """Return ``products`` of the values with a gradient by each of them: the product of the others."""
    if not whole.is_floating_point():
        return products
    numbers = whole.asnumpy()
    zero = numbers == 0
    others = np.ones(len(products), numbers.dtype)
    np.multiply.at(others, owners, np.where(zero, 1, numbers))
    zeros = np.bincount(owners, zero, len(others))[owners]
    with np.errstate(invalid="ignore"):
        slopes = np.where(zeros == zero, others[owners] / np.where(zero, 1, numbers), 0)  # no zero but this one
    slopes = np.where(np.isfinite(slopes) & np.isfinite(numbers), slopes, 0).astype(
        numbers.dtype
    )  # infinity * 0 is NaN
    changes = ops.where(Tensor(np.isfinite(numbers)), whole - ops.stop_gradient(whole), 0.0) * Tensor(slopes)
    return ops.stop_gradient(products) + added(ops.zeros_like(products), Tensor(owners, ms.int32), changes)


def _with_ties(whole: Tensor, owners: Any, chosen: Tensor, rest: Any) -> Tensor:
    """Return the values ``chosen`` with a gradient by all that equal them, which PyTorch shares among those.

    It counts what was in a place before (``rest``) as one of them, whether that takes part or not.
    """
    best = ops.gather(whole, chosen, 0)
    numbers, tops = whole.asnumpy(), best.asnumpy()
    equal = numbers == tops[owners]
    counts = np.bincount(owners, equal, len(tops)) + (0 if rest is None else rest == tops)
    if not whole.is_floating_point() or counts.max(initial=0) <= 1:
        return best
    parts = ops.where(Tensor(equal & np.isfinite(numbers)), whole, ops.zeros_like(whole))
    slopes = added(ops.zeros_like(best), Tensor(owners, ms.int32), parts)
    shares = slopes / Tensor(np.maximum(counts, 1), whole.dtype)
    return ops.stop_gradient(best) + (shares - ops.stop_gradient(shares))


def _quotient(total: Tensor, counts: Any) -> Tensor:
    if total.is_floating_point():
        return total / Tensor(counts, total.dtype)
    return Tensor(np.floor_divide(total.asnumpy(), counts.astype(total.asnumpy().dtype)))


def _winners(values: Any, start: Any, places: Any, count: int, reduce: str) -> Tensor:
    """Return where the first largest (smallest) value of each place stands, NaN before all others.

    For "prod" it returns the products, without a gradient.
    """
    if reduce == "prod":
        product = np.ones(count, values.dtype) if start is None else start.copy()
        np.multiply.at(product, places, values)
        return Tensor(product)
    whole = values if start is None else np.concatenate((start, values))
    owners = places if start is None else np.concatenate((np.arange(count), places))
    ranks = np.unique(whole, return_inverse=True)[1].reshape(-1)
    ranks = np.where(whole == whole, -ranks if reduce == "amax" else ranks, -len(whole))
    order = np.lexsort((np.arange(len(whole)), ranks, owners))
    held = owners[order]
    first = np.ones(len(held), bool)
    first[1:] = held[1:] != held[:-1]
    winner = np.zeros(count, np.int64)
    winner[held[first]] = order[first]
    return Tensor(winner, ms.int32)


_MODES = {
    "sum": "sum",
    "add": "sum",
    "mean": "mean",
    "prod": "prod",
    "multiply": "prod",
    "amax": "amax",
    "amin": "amin",
}


def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """Return ``input`` with the values of ``src`` reduced ("sum", "mean", "amax", ...) into the places ``index``."""
    if input.ndim == 0 or index.ndim == 0:
        line, index, src = (x.reshape((-1,)) for x in (input, index, src))
        return scatter_reduce(line, 0, index, src, reduce, include_self=include_self).reshape(input.shape)
    axis = dim % input.ndim
    picked = index.asnumpy()
    grid = list(np.indices(picked.shape))
    grid[axis] = picked
    places = np.ravel_multi_index(tuple(grid), input.shape).reshape(-1)
    source = src[tuple(slice(0, size) for size in picked.shape)].reshape((-1,)).astype(input.dtype)
    return _into(input, places, source, _MODES[reduce], include_self)


def _into(input: Tensor, places: Any, source: Tensor, mode: str, include_self: bool) -> Tensor:
    count = int(np.prod(input.shape))
    flat = input.reshape((-1,))
    hit = np.bincount(places, minlength=count) > 0
    if not include_self:
        pooled = _pooled(source, places, count, mode, None, flat.asnumpy())
    elif mode == "mean":
        sums = added(flat, Tensor(places, ms.int32), source)
        pooled = _quotient(sums, np.bincount(places, minlength=count) + 1)
    else:
        pooled = _pooled(source, places, count, mode, flat)
    return ops.where(Tensor(hit), pooled, flat).reshape(input.shape)


def index_reduce(
    input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """Return ``input`` with slices of ``source`` reduced into its slices ``index`` along ``dim``."""
    spread = _spread_index(index, source, dim)
    return scatter_reduce(input, dim, spread, source, reduce, include_self=include_self)


def _written(input: Tensor, key: Tuple[Any, ...], src: Tensor) -> Tensor:
    numbers = np.arange(int(np.prod(input.shape))).reshape(input.shape)[key]
    source = ops.broadcast_to(src, numbers.shape).astype(input.dtype).reshape((-1,))
    flat = _put(input.reshape((-1,)), Tensor(numbers.reshape(-1), ms.int32), source)
    return flat.reshape(input.shape)


def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """Return ``input`` with ``src`` at one index of an axis."""
    return _written(input, (slice(None),) * (dim % input.ndim) + (index,), src)


def slice_scatter(
    input: Tensor, src: Tensor, dim: int = 0, start: Optional[int] = None, end: Optional[int] = None, step: int = 1
) -> Tensor:
    """Return ``input`` with ``src`` in a slice of an axis."""
    return _written(input, (slice(None),) * (dim % input.ndim) + (slice(start, end, step),), src)


def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Return ``input`` with ``src`` on a diagonal."""
    numbers = np.arange(int(np.prod(input.shape))).reshape(input.shape)
    places = np.diagonal(numbers, offset, dim1, dim2)
    where = Tensor(np.ascontiguousarray(places).reshape(-1), ms.int32)
    source = src.astype(input.dtype).reshape((-1,))
    return _put(input.reshape((-1,)), where, source).reshape(input.shape)


def unravel_index(indices: Tensor, shape: Any) -> Tuple[Tensor, ...]:
    """Return the coordinates of places of a flattened tensor, one int64 tensor an axis."""
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    found = np.unravel_index(indices.asnumpy(), sizes)
    return tuple(Tensor(np.asarray(part, np.int64)) for part in found)


def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Return ``input`` with the values of ``source``, in order, where ``mask`` holds."""
    shape = np.broadcast_shapes(input.shape, mask.shape)
    input, spread = ops.broadcast_to(input, shape), ops.broadcast_to(mask, shape).reshape((-1,))
    order = spread.astype(ms.int32).cumsum(0) - 1
    flat = source.reshape((-1,))
    taken = ops.gather(flat, ops.clamp(order, 0, flat.shape[0] - 1).astype(ms.int32), 0).astype(input.dtype)
    return ops.where(spread, taken, input.reshape((-1,))).reshape(input.shape)


def sparse_coo_tensor(
    indices: Any, values: Any, size: Optional[Sequence[int]] = None, dtype: Optional[Any] = None
) -> Tensor:
    """Return a dense tensor with ``values`` at ``indices``, of shape (dimensions, count); equal places add up.

    ``size`` of None is the smallest that holds them. MindSpore's COOTensor has few operations, hence the dense form.
    """
    places = (indices.asnumpy() if isinstance(indices, Tensor) else np.asarray(indices)).astype(np.int64)
    source = values if isinstance(values, Tensor) else Tensor(values)
    source = source if dtype is None else source.astype(dtype)
    shape = tuple(int(length) for length in (size if size is not None else places.max(axis=1) + 1))
    flat = Tensor(np.ravel_multi_index(tuple(places), shape[: len(places)]), ms.int32)
    rest = shape[len(places) :]
    made = ops.zeros((int(np.prod(shape[: len(places)])), *rest), source.dtype)
    made = added(made, flat, source).reshape(shape)
    made.stored_places = places  # zeros that are stored, and places that occur twice
    made.stored_values = source
    return made


def coalesced(x: Tensor) -> Tensor:
    """Return a dense tensor that stands for a sparse one, which stores each place once from now on."""
    if getattr(x, "stored_values", None) is None:
        return x
    same = x.reshape(x.shape)
    same.stored_places = np.unique(x.stored_places, axis=1)
    return same


def sparse_indices(x: Tensor) -> Tensor:
    """Return the places that a sparse tensor stores, of shape (dimensions, count), row by row where it is coalesced.

    The tensor is dense: of one that something was computed of these are the places that are not zero.
    """
    places = getattr(x, "stored_places", None)
    return Tensor(np.stack(np.nonzero(x.asnumpy())) if places is None else places, ms.int64)


def sparse_values(x: Any) -> Any:
    """Return the values that a sparse tensor stores, in the order of ``sparse_indices``.

    What is no tensor gives its own ``values()``: a dictionary may stand where a tensor was thought to.
    """
    if not isinstance(x, Tensor):
        return x.values()
    stored = getattr(x, "stored_values", None)
    return ops.gather_nd(x, sparse_indices(x).T.astype(ms.int32)) if stored is None else stored


def sparse_count(x: Any) -> int:
    """Return how many values a sparse tensor stores: ``_nnz()``."""
    return len(sparse_values(x))


def scatter(input: Tensor, dim: int, index: Tensor, src: Any, *, reduce: Optional[str] = None) -> Tensor:
    """Return ``input`` with ``src`` written, added or multiplied (``reduce``) at ``index`` along ``dim``."""
    if input.ndim == 0 or index.ndim == 0:
        line, index = input.reshape((-1,)), index.reshape((-1,))
        src = src.reshape((-1,)) if isinstance(src, Tensor) else src
        return scatter(line, 0, index, src, reduce=reduce).reshape(input.shape)
    if not isinstance(src, Tensor):
        src = ops.full_like(index, src, dtype=input.dtype)
    if src.ndim == 0 < index.ndim:  # one value for all places, as a tensor
        src = ops.broadcast_to(src, index.shape)
    if src.shape != index.shape:
        src = src[tuple(slice(0, size) for size in index.shape)]
    if reduce == "multiply":  # MindSpore has no CPU kernel for it
        return scatter_reduce(input, dim, index, src.astype(input.dtype), "prod")
    index, src = index.astype(ms.int32), src.astype(input.dtype)
    if reduce is None:
        return _put(input, index, src, dim)
    return added(input.reshape((-1,)), _numbers(input, dim, index), src.reshape((-1,))).reshape(input.shape)


def _numbers(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the places, in the flattened ``input``, of what ``index`` picks along ``dim``, row by row."""
    step, places = 1, index
    for axis in reversed(range(input.ndim)):
        if axis == dim % input.ndim:
            places = places + index * (step - 1)
        else:
            line = ops.arange(index.shape[axis]).astype(ms.int32) * step
            places = places + line.reshape((-1, *[1] * (input.ndim - 1 - axis)))
        step *= input.shape[axis]
    return places.reshape((-1,))


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """Return ``input`` with ``src`` added at ``index`` along ``dim``."""
    return scatter(input, dim, index, src, reduce="add")


def _spread_index(index: Tensor, source: Tensor, dim: int) -> Tensor:
    """Return the 1-D ``index`` along ``dim`` as a tensor of the shape of ``source``."""
    if source.ndim == 0:
        return index.reshape(())
    shape = [1] * source.ndim
    shape[dim] = -1
    return ops.broadcast_to(index.reshape(tuple(shape)), source.shape)


def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1) -> Tensor:
    """Return ``input`` with ``alpha * source`` added to its slices ``index`` along ``dim``."""
    source = (source if alpha == 1 else source * alpha).astype(input.dtype)
    if input.ndim == 0:
        return (input + source.reshape(()) * index.size).astype(input.dtype)
    rows = added(input.swapaxes(0, dim), index.astype(ms.int32), source.swapaxes(0, dim))
    return rows.swapaxes(0, dim)


def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Return ``input`` with its slices ``index`` along ``dim`` replaced by those of ``source``."""
    return scatter(input, dim, _spread_index(index, source, dim), source)


def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """Return ``input`` with its slices ``index`` along ``dim`` set to ``value``."""
    if input.ndim == 0:
        return index_fill(input.reshape((1,)), 0, index, value).reshape(())
    shape = [1] * input.ndim
    shape[dim] = -1
    places = Tensor(np.arange(input.shape[dim]), ms.int64)
    hit = ops.expand_dims(places, 1) == ops.expand_dims(index.astype(ms.int64), 0)
    mask = hit.astype(ms.float32).sum(1) > 0
    if isinstance(value, float) and not (input.is_floating_point() or input.is_complex()):
        value = bool(value) if input.dtype == ms.bool_ else int(value)  # as PyTorch cuts it
    return masked_fill(input, ops.broadcast_to(mask.reshape(tuple(shape)), input.shape), value)


def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """Return the values of ``input`` at ``index`` along ``dim``; either may have no axes, and an empty index any."""
    if 0 in index.shape:
        return ops.zeros(index.shape, input.dtype)
    if input.ndim and index.ndim:
        return ops.gather_elements(input, dim, index)
    return ops.gather_elements(input.reshape((-1,)), 0, index.reshape((-1,))).reshape(index.shape)


def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """Return ``input`` with ``value`` where ``mask`` holds; MindSpore takes whole numbers through float32."""
    if isinstance(value, int) and not isinstance(value, bool) and input.dtype != ms.bool_:
        value = Tensor(value, input.dtype)
    if input.is_complex():
        return ops.where(mask, value if isinstance(value, Tensor) else Tensor(value, input.dtype), input)
    return ops.masked_fill(input, mask, value)


def along(x: Tensor, dim: int, start: Any, length: Any = None) -> Tuple[Any, ...]:
    """Return the index of a part of an axis, or of one place: what ``x[index] = value`` changes gradients see."""
    axis: int = dim % x.ndim
    first = int(start) + (x.shape[axis] if int(start) < 0 else 0)
    part: Any = first if length is None else slice(first, first + int(length))
    return (*[slice(None)] * axis, part)
