"""Everyday functions under PyTorch's names and arguments, for programs that hand the function itself on."""

from __future__ import annotations

from typing import Any, Sequence, Tuple, Union

from mindspore import Tensor, ops

__all__ = ["all", "amax", "amin", "any", "chunk", "index_select", "split", "squeeze", "transpose"]


def all(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Return whether all elements hold, along ``dim`` or of all."""
    return input.astype("bool").all(dim, keepdim)


def any(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Return whether an element holds, along ``dim`` or of all."""
    return input.astype("bool").any(dim, keepdim)


def amax(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Return the largest values along one or several axes."""
    return ops.amax(input, () if dim is None else dim, keepdim)


def amin(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Return the smallest values along one or several axes."""
    return ops.amin(input, () if dim is None else dim, keepdim)


def chunk(input: Tensor, chunks: int, dim: int = 0) -> Tuple[Tensor, ...]:
    """Return at most ``chunks`` parts along ``dim``."""
    parts: Tuple[Tensor, ...] = ops.chunk(input, chunks, dim)
    return parts


def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the parts of ``input`` at ``index`` along ``dim``."""
    return ops.index_select(input, dim, index)


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
    """Return ``input`` with two axes exchanged."""
    return ops.swapaxes(input, dim0, dim1)
