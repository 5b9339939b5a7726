"""Everyday functions under PyTorch's names and arguments, for programs that hand the function itself on."""

from __future__ import annotations

from functools import wraps
from typing import Any, Callable, Sequence, Tuple, Union

import mindspore as ms
from mindspore import Parameter, Tensor, ops

from . import selections
from .dtypes import promoted

__all__ = """all amax amin any chunk clamp clamp_max clamp_min clone copied_into fill filled fitted index_select narrow
of_floats rot90 split squeeze transpose""".split()


def all(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Return whether all elements hold, along ``dim`` or of all."""
    return _like_flags(input, _flags(input).all(dim, keepdim))


def any(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Return whether an element holds, along ``dim`` or of all."""
    if 0 in input.shape:
        return _like_flags(input, selections.any(input, dim, keepdim))
    return _like_flags(input, _flags(input).any(dim, keepdim))


def _flags(input: Tensor) -> Tensor:
    """Return what holds; a cast would look at the real part of complex numbers alone."""
    return ops.ne(input, ops.zeros_like(input)) if input.is_complex() else input.astype("bool")


def _like_flags(input: Tensor, found: Tensor) -> Tensor:
    """Return ``found`` as uint8 where ``input`` is, as PyTorch does."""
    return found.astype(ms.uint8) if input.dtype == ms.uint8 else found


def amax(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Return the largest values along one or several axes."""
    if input.dtype == ms.bool_:
        return amax(input.astype(ms.int32), dim, keepdim).astype(ms.bool_)
    return ops.amax(input, () if dim is None else dim, keepdim)


def amin(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Return the smallest values along one or several axes."""
    if input.dtype == ms.bool_:
        return amin(input.astype(ms.int32), dim, keepdim).astype(ms.bool_)
    return ops.amin(input, () if dim is None else dim, keepdim)


def chunk(input: Tensor, chunks: int, dim: int = 0) -> Tuple[Tensor, ...]:
    """Return at most ``chunks`` parts along ``dim``; of an axis without elements, as many."""
    if input.shape[dim] == 0:
        return tuple(input.copy() for _ in range(chunks))
    parts: Tuple[Tensor, ...] = ops.chunk(input, chunks, dim)
    return parts


def clamp_max(input: Tensor, max: Any) -> Tensor:
    """Return the values, those above ``max`` brought down to it; beside a tensor, the values are broadcast as well."""
    return _held(lambda a, b: a > b, input, max) if isinstance(max, Tensor) else ops.clamp(input, max=max)


def clamp_min(input: Tensor, min: Any) -> Tensor:
    """Return the values, those below ``min`` brought up to it; beside a tensor, the values are broadcast as well."""
    return _held(lambda a, b: a < b, input, min) if isinstance(min, Tensor) else ops.clamp(input, min=min)


def _held(crosses: Callable[[Tensor, Tensor], Tensor], input: Tensor, limit: Tensor) -> Tensor:
    """Return ``limit`` where ``input`` crosses it, else ``input``; MindSpore's own keeps the input's shape."""
    values, limits = promoted((input, limit))
    if values.is_floating_point():
        return ops.where(crosses(values, limits) | (limits != limits), limits, values)  # NaN is handed on
    if values.dtype != ms.bool_:
        return ops.where(crosses(values, limits), limits, values)
    return ops.where(crosses(values.astype(ms.int32), limits.astype(ms.int32)), limits, values)


def clamp(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Return the values, none below ``min`` or above ``max``; beside tensors, the values are broadcast as well."""
    if not isinstance(min, Tensor) and not isinstance(max, Tensor):
        return ops.clamp(input, min, max)
    found = input if min is None else clamp_min(input, min)
    return found if max is None else clamp_max(found, max)


def clone(input: Tensor, **_: Any) -> Tensor:
    """Return a tensor of its own with the same values."""
    return input.copy()


def copied_into(tensor: Tensor, source: Tensor) -> Tensor:
    """Return what ``tensor`` is once ``source`` is copied into it: its shape and its dtype."""
    return ops.broadcast_to(source, tensor.shape).astype(tensor.dtype)


def filled(tensor: Tensor, value: Any) -> Tensor:
    """Return ``tensor`` with its values replaced, in place: an assignment for the middle of an expression."""
    if not tensor.size:
        return tensor
    if isinstance(tensor, Parameter):
        tensor.copy_(value)  # so that ops.assign takes it later
    else:
        tensor[()] = value  # "..." would not reach what it is a view of
    return tensor


def fitted(value: Any, axes: int) -> Any:
    """Return what a place of ``axes`` axes takes: without leading axes of one, which PyTorch's assignment drops."""
    surplus = value.ndim - axes if isinstance(value, Tensor) else 0
    return value.reshape(value.shape[surplus:]) if surplus > 0 else value


def fill(input: Tensor, value: Any) -> Tensor:
    """Return a new tensor like ``input`` that holds one value, a number or a tensor without axes."""
    if not input.size:
        return input.copy()
    made = value.astype(input.dtype) if isinstance(value, Tensor) else Tensor(value, input.dtype)
    return ops.broadcast_to(made, input.shape).copy()  # the view's elements are all one and the same


def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """Return ``length`` elements along ``dim``, from ``start`` on, which may count from the end."""
    first, axis = int(start), dim % input.ndim
    if not length:
        return ops.zeros((*input.shape[:axis], 0, *input.shape[axis + 1 :]), input.dtype)
    return ops.narrow(input, axis, first + input.shape[axis] if first < 0 else first, length)


def of_floats(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of floats that takes ints and bools as float32, as PyTorch's do."""

    def taken(value: Any) -> Any:
        is_whole = isinstance(value, Tensor) and not value.is_floating_point() and not value.is_complex()
        return value.astype(ms.float32) if is_whole else value

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        return function(*map(taken, args), **{name: taken(value) for name, value in kwargs.items()})

    return called


def rot90(input: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """Return ``input`` turned ``k`` times by 90 degrees in the plane of two axes."""
    return ops.rot90(input, k, tuple(dims))


def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the parts of ``input`` at ``index`` along ``dim``."""
    return ops.index_select(input, dim, index) if input.ndim else input.copy()


def split(tensor: Tensor, split_size_or_sections: Union[int, Sequence[int]], dim: int = 0) -> Tuple[Tensor, ...]:
    """Return parts of one size, or of the given sizes, along ``dim``."""
    parts: Tuple[Tensor, ...] = ops.split(tensor, split_size_or_sections, dim)
    return parts


def squeeze(input: Tensor, dim: Any = None) -> Tensor:
    """Return ``input`` without its axes of length 1, or without those of ``dim`` that have it."""
    if dim is None:
        return ops.squeeze(input)
    axes = [axis % input.ndim for axis in ((dim,) if isinstance(dim, int) else dim)] if input.ndim else []
    return input.reshape([size for axis, size in enumerate(input.shape) if axis not in axes or size != 1])


def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Return ``input`` with two axes exchanged; a number alone has one that is its own."""
    return ops.swapaxes(input, dim0, dim1) if input.ndim else input
