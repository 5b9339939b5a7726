"""``torch.distributed``'s collectives on MindSpore's engine, under its names where :mod:`.distributed` has others."""

from __future__ import annotations

from typing import Any, List, Optional

import mindspore as ms

from . import distributed

__all__ = ["ReduceOp", "all_gather", "all_reduce", "broadcast", "get_backend", "reduce"]


class ReduceOp:
    """How :func:`all_reduce` combines."""

    SUM = "sum"
    AVG = "mean"
    MAX = "max"
    MIN = "min"
    PRODUCT = "prod"


def all_reduce(tensor: ms.Tensor, op: str = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> ms.Tensor:
    """Return the ranks' tensors combined by ``op``. Raises ValueError for a group or an asynchronous call."""
    _check(group, async_op)
    return distributed.all_reduce(tensor, op)


def reduce(
    tensor: ms.Tensor, dst: int = 0, op: str = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> ms.Tensor:
    """Return the ranks' tensors combined by ``op``, on every rank (torch: on ``dst``)."""
    _check(group, async_op)
    return distributed.all_reduce(tensor, op)


def broadcast(tensor: ms.Tensor, src: int = 0, group: Any = None, async_op: bool = False) -> ms.Tensor:
    """Return rank ``src``'s tensor."""
    _check(group, async_op)
    return distributed.broadcast(tensor, src)


def all_gather(tensor_list: List[ms.Tensor], tensor: ms.Tensor, group: Any = None, async_op: bool = False) -> None:
    """Put the ranks' tensors into ``tensor_list``, by rank."""
    _check(group, async_op)
    tensor_list[:] = distributed.all_gather(tensor)


def get_backend(group: Optional[Any] = None) -> str:
    """Return MindSpore's backend for the device target: "hccl", "nccl" or "mccl"."""
    del group
    return {"Ascend": "hccl", "GPU": "nccl"}.get(str(ms.get_context("device_target")), "mccl")


def _check(group: Any, async_op: bool) -> None:
    if group is not None or async_op:
        raise ValueError("collectives act on all ranks and are waited for: leave group and async_op at their defaults")
