"""``weight.data = value``, for weights that go on being trained.

An optimizer of MindSpore 2.7 to 2.10 compiles its update with the memory of the weights: after ``weight.data = value``
or ``weight.set_data(value)`` it changes that memory, and the weight trains no more, without a word. Here the value is
copied into the memory that the weight has.
"""

from __future__ import annotations

import mindspore as ms

from .modules import write_into

__all__ = ["put"]


def put(target: ms.Tensor, value: ms.Tensor) -> None:
    """Give ``target`` the values of ``value``; a weight of another shape or dtype, and a tensor, its memory as well."""
    same = tuple(target.shape) == tuple(value.shape) and target.dtype == value.dtype
    if isinstance(target, ms.Parameter) and same:
        write_into(target, value)
    else:
        target.data = value
