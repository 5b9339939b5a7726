"""``weight.data = value`` and ``weight[mask] = value``, for weights that go on being trained.

An optimizer of MindSpore 2.7 to 2.10 compiles its update with the memory of the weights: after ``weight.data = value``,
``weight.set_data(value)`` or an assignment to what a mask or a list selects, it changes that memory, and the weight
trains no more, without a word. Here the value is copied into the memory that the weight has.
"""

from __future__ import annotations

from typing import Any

import mindspore as ms
from mindspore import ops

from .modules import write_into

__all__ = ["put", "put_at"]


def put(target: ms.Tensor, value: ms.Tensor) -> None:
    """Give ``target`` the values of ``value``; a weight of another shape or dtype, and a tensor, its memory as well."""
    same = tuple(target.shape) == tuple(value.shape) and target.dtype == value.dtype
    if isinstance(target, ms.Parameter) and same:
        write_into(target, value)
        return
    try:
        target.data = value
    except AttributeError:  # MindSpore 2.7
        target.assign_value(value)


def put_at(target: Any, index: Any, value: Any) -> None:
    """Assign ``value`` to the elements of ``target`` that an index selects: ``target[index] = value``."""
    if not isinstance(target, ms.Parameter):
        target[index] = value
        return
    made = ops.deepcopy(target)  # the copy of a parameter would be one
    made[index] = value
    write_into(target, made)
