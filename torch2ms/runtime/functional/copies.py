"""PyTorch's functions that say ``copy``: what the view of that name gives, in memory of its own.

MindSpore's views share their memory as PyTorch's do, so that writing into one would be seen in the tensor itself.
"""

from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple, Union

from mindspore import Tensor, ops

from .handed import narrow, split, squeeze, transpose
from .matrix import select, take_every
from .pointwise import view_as_complex, view_as_real
from .seldom import as_strided
from .tensor import permute, unfold_dimension

__all__ = """alias_copy as_strided_copy detach_copy diagonal_copy expand_copy narrow_copy permute_copy select_copy
slice_copy split_copy split_with_sizes_copy squeeze_copy t_copy transpose_copy unbind_copy unfold_copy unsqueeze_copy
view_as_complex_copy view_as_real_copy view_copy""".split()


def alias_copy(input: Tensor) -> Tensor:
    """Return a copy of a tensor."""
    return input.copy()


def detach_copy(input: Tensor) -> Tensor:
    """Return a copy of a tensor without its gradient."""
    return ops.stop_gradient(input).copy()


def as_strided_copy(
    input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: Optional[int] = None
) -> Tensor:
    """Return the elements that lie ``stride`` apart in memory, copied."""
    return as_strided(input, size, stride, storage_offset).copy()


def diagonal_copy(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Return the diagonals over two axes, copied."""
    return ops.diagonal(input, offset, dim1, dim2).copy()


def expand_copy(input: Tensor, size: Sequence[int], *, implicit: bool = False) -> Tensor:
    """Return ``input`` repeated to a size (-1: as it is), copied."""
    new = len(size) - input.ndim
    wanted = tuple(input.shape[axis - new] if count == -1 else count for axis, count in enumerate(size))
    return ops.broadcast_to(input, wanted).copy()


def narrow_copy(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """Return ``length`` places of an axis from ``start`` on, copied."""
    return narrow(input, dim, start, length).copy()


def permute_copy(input: Tensor, dims: Sequence[int]) -> Tensor:
    """Return ``input`` with its axes in another order, copied."""
    return permute(input, dims).copy()


def select_copy(input: Tensor, dim: int, index: int) -> Tensor:
    """Return one place of an axis, copied."""
    return select(input, dim, index).copy()


def slice_copy(
    input: Tensor, dim: int = 0, start: Optional[int] = None, end: Optional[int] = None, step: int = 1
) -> Tensor:
    """Return every ``step``-th place of an axis from ``start`` up to ``end``, copied."""
    return take_every(input, step, dim, start, end).copy()


def split_copy(input: Tensor, split_size: Union[int, Sequence[int]], dim: int = 0) -> Tuple[Tensor, ...]:
    """Return the parts of an axis, copied."""
    return tuple(part.copy() for part in split(input, split_size, dim))


def split_with_sizes_copy(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> Tuple[Tensor, ...]:
    """Return parts of an axis of the sizes given, copied."""
    return split_copy(input, split_sizes, dim)


def squeeze_copy(input: Tensor, dim: Any = None) -> Tensor:
    """Return ``input`` without its axes of length 1, or without those named, copied."""
    return squeeze(input, dim).copy()


def t_copy(input: Tensor) -> Tensor:
    """Return a matrix transposed, copied; a vector as it is."""
    return ops.transpose(input, tuple(reversed(range(input.ndim)))).copy() if input.ndim > 1 else input.copy()


def transpose_copy(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Return ``input`` with two axes exchanged, copied."""
    return transpose(input, dim0, dim1).copy()


def unbind_copy(input: Tensor, dim: int = 0) -> Tuple[Tensor, ...]:
    """Return what stands at each place of an axis, copied."""
    return tuple(select_copy(input, dim, place) for place in range(input.shape[dim]))


def unfold_copy(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Return overlapping windows of an axis in a new last axis, copied."""
    return unfold_dimension(input, dimension, size, step).copy()


def unsqueeze_copy(input: Tensor, dim: int) -> Tensor:
    """Return ``input`` with a new axis of length 1, copied."""
    return ops.expand_dims(input, dim).copy()


def view_as_complex_copy(input: Tensor) -> Tensor:
    """Return complex numbers whose parts stand in the last axis, copied."""
    return view_as_complex(input)  # a copy already; in MindSpore 2.7, copy() loses imaginary parts


def view_as_real_copy(input: Tensor) -> Tensor:
    """Return the parts of complex numbers in a new last axis, copied."""
    return view_as_real(input).copy()


def view_copy(input: Tensor, size: Sequence[int]) -> Tensor:
    """Return ``input`` in another shape, copied."""
    return input.reshape(tuple(size)).copy()
