"""Compressed rows of matrices: what PyTorch's CSR tensors tell of themselves. MindSpore's tensors stay dense here."""

from __future__ import annotations

from typing import Any, Optional, Sequence

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from . import placing, tensor

__all__ = [
    "SPARSE_BSC",
    "SPARSE_BSR",
    "SPARSE_COO",
    "SPARSE_CSC",
    "SPARSE_CSR",
    "STRIDED",
    "col_indices",
    "crow_indices",
    "ends_to_rows",
    "layout",
    "rows_to_ends",
    "segment_reduce",
    "sparse_csr_tensor",
    "sparse_dim",
    "sparse_sum",
]

STRIDED = "torch.strided"
SPARSE_COO = "torch.sparse_coo"
SPARSE_CSR = "torch.sparse_csr"
SPARSE_CSC = "torch.sparse_csc"
SPARSE_BSR = "torch.sparse_bsr"
SPARSE_BSC = "torch.sparse_bsc"


def layout(x: Tensor) -> str:
    """Return the name of PyTorch's layout: of a tensor that was made as a sparse one what it was made as."""
    if getattr(x, "stored_rows", False):
        return SPARSE_CSR
    return STRIDED if getattr(x, "stored_places", None) is None else SPARSE_COO


def rows_to_ends(input: Tensor, size: int, *, out_int32: bool = False) -> Tensor:
    """Return how many of the rows given, in order, come before each of ``size`` rows, and at all."""
    ends = np.searchsorted(input.asnumpy(), np.arange(size + 1))
    return Tensor(ends.astype(np.int32 if out_int32 else np.int64))


def ends_to_rows(
    crow_indices: Tensor, col_indices: Tensor, *, out_int32: bool = False, transpose: bool = False
) -> Tensor:
    """Return the row and the column of each value that is stored, or the other way round."""
    ends, columns = crow_indices.asnumpy(), col_indices.asnumpy()
    rows = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    pair = (columns, rows) if transpose else (rows, columns)
    return Tensor(np.stack(pair).astype(np.int32 if out_int32 else np.int64))


def sparse_dim(x: Tensor) -> int:
    """Return along how many axes places are stored: all of them."""
    return len(x.shape)


def sparse_sum(input: Tensor, dim: Any = None, dtype: Any = None) -> Tensor:
    """Return the sum; along some axes alone, bools and ints stay of their dtype, as PyTorch's of sparse tensors do."""
    axes = (
        range(input.ndim) if dim is None else {axis % input.ndim for axis in ([dim] if isinstance(dim, int) else dim)}
    )
    total = tensor.sum(input, dim, dtype=dtype)
    return total.astype(input.dtype) if dtype is None and len(axes) < input.ndim else total


def crow_indices(x: Tensor) -> Tensor:
    """Return how many values a matrix stores in the rows before each row, and at all."""
    counts = np.count_nonzero(x.asnumpy(), axis=-1)
    return Tensor(np.concatenate((np.zeros((*counts.shape[:-1], 1), np.int64), np.cumsum(counts, -1)), -1), ms.int64)


def col_indices(x: Tensor) -> Tensor:
    """Return the columns of the values that a matrix stores, row by row."""
    return Tensor(np.nonzero(x.asnumpy())[-1], ms.int64)


def sparse_csr_tensor(
    crow_indices: Any, col_indices: Any, values: Any, size: Optional[Sequence[int]] = None, *, dtype: Any = None
) -> Tensor:
    """Return the matrix, dense, whose rows are given by how many values are before them."""
    ends, columns = (
        part.asnumpy() if isinstance(part, Tensor) else np.asarray(part) for part in (crow_indices, col_indices)
    )
    stored = values if isinstance(values, Tensor) else Tensor(values)
    stored = stored if dtype is None else stored.astype(dtype)
    own = (len(ends) - 1, int(columns.max()) + 1 if len(columns) else 0, *stored.shape[1:])
    shape = own if size is None else tuple(size)
    places = np.repeat(np.arange(len(ends) - 1), np.diff(ends)) * shape[1] + columns
    flat = ops.zeros((shape[0] * shape[1], *stored.shape[1:]), stored.dtype)
    made = placing.added(flat, Tensor(places, ms.int32), stored).reshape(shape)
    made.stored_rows = True
    return made


def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Optional[Tensor] = None,
    offsets: Optional[Tensor] = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Any = None,
) -> Tensor:
    """Return the sum, mean, product or extreme of each of the parts that an axis is cut into."""
    reduce = {"amax": "max", "amin": "min"}.get(reduce, reduce)
    given = lengths if lengths is not None else offsets
    if given is None:
        raise ValueError("segment_reduce(): Either lengths or offsets must be defined.")
    if given.ndim > 1:  # other cuts for each row before the axis
        name = "offsets" if lengths is None else "lengths"
        pairs = zip(ops.unbind(data, 0), ops.unbind(given, 0))
        rows = [segment_reduce(part, reduce, axis=axis - 1, initial=initial, **{name: cut}) for part, cut in pairs]
        return ops.stack(rows, 0)
    cuts = given.asnumpy()
    ends = np.concatenate(([0], np.cumsum(cuts))) if lengths is not None else cuts
    parts = [_of_part(data, reduce, axis, int(start), int(stop), initial) for start, stop in zip(ends[:-1], ends[1:])]
    return ops.stack(parts, axis)


_FIRST = {"sum": 0.0, "mean": float("nan"), "prod": 1.0, "max": -float("inf"), "min": float("inf")}


def _of_part(data: Tensor, reduce: str, axis: int, start: int, stop: int, initial: Any) -> Tensor:
    """Return what a reduction makes of the places from ``start`` to ``stop``, beside the value it begins with."""
    shape = (*data.shape[:axis], *data.shape[axis + 1 :])
    if start == stop:
        return ops.zeros(shape, data.dtype) + (_FIRST[reduce] if initial is None else initial)
    part = data[(slice(None),) * axis + (slice(start, stop),)]
    if reduce in ("max", "min"):
        found = ops.amax(part, axis) if reduce == "max" else ops.amin(part, axis)
        if initial is None:
            return found
        bound = ops.zeros(shape, data.dtype) + initial
        return ops.maximum(found, bound) if reduce == "max" else ops.minimum(found, bound)
    if reduce == "prod":
        return part.prod(axis) * (1 if initial is None else initial)
    total = part.sum(axis) + (0 if initial is None else initial)
    return total / (stop - start) if reduce == "mean" else total
