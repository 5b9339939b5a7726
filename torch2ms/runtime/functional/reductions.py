"""How losses are reduced, in PyTorch's words."""

from __future__ import annotations

from typing import Optional

from mindspore import Tensor

from . import selections

__all__ = ["reduction_name"]


def reduction_name(size_average: Optional[bool], reduce: Optional[bool], reduction: str) -> str:
    """Return ``reduction``, or what the older ``size_average`` and ``reduce`` mean where one of them is given."""
    if size_average is None and reduce is None:
        return "mean" if reduction == "elementwise_mean" else reduction  # its name in PyTorch 0.4, still taken
    if reduce is False:
        return "none"
    return "sum" if size_average is False else "mean"


def reduced(loss: Tensor, reduction: str) -> Tensor:
    """Return the mean, the sum or, for "none", all of ``loss``."""
    if reduction == "mean":
        return selections.mean(loss)  # NaN of nothing
    if reduction == "sum":
        return selections.sum(loss)
    if reduction != "none":
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return loss
