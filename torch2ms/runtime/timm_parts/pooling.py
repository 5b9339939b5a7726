"""Global pooling whose kind is chosen by a name."""

from __future__ import annotations

from typing import Any

from mindspore import Tensor, ops

from .. import functional as F
from .. import layers
from ..vision.building import Network

__all__ = ["AdaptiveAvgMaxPool2d", "AdaptiveCatAvgMaxPool2d", "SelectAdaptivePool2d", "select_adaptive_pool2d"]


def select_adaptive_pool2d(x: Tensor, pool_type: str = "avg", output_size: Any = 1) -> Tensor:
    """Pool (batch, channels, height, width): "avg", "max", their mean "avgmax", or both, "catavgmax"."""
    if pool_type not in ("avg", "max", "avgmax", "catavgmax"):
        raise AssertionError(f"Invalid pool type: {pool_type}")
    if pool_type == "avg":
        return F.adaptive_avg_pool2d(x, output_size)
    largest = F.adaptive_max_pool2d(x, output_size)
    if pool_type == "max":
        return largest
    mean = F.adaptive_avg_pool2d(x, output_size)
    return ops.cat((mean, largest), 1) if pool_type == "catavgmax" else 0.5 * (mean + largest)


class _Pool(Network):
    kind = "avgmax"

    def __init__(self, output_size: Any = 1) -> None:
        super().__init__()
        self.output_size = output_size

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` pooled."""
        return select_adaptive_pool2d(x, self.kind, self.output_size)


class AdaptiveAvgMaxPool2d(_Pool):
    """The mean of average and largest."""


class AdaptiveCatAvgMaxPool2d(_Pool):
    """Average and largest, one behind the other."""

    kind = "catavgmax"


class SelectAdaptivePool2d(Network):
    """Pooling by the name of its kind; "" is none."""

    def __init__(self, output_size: Any = 1, pool_type: str = "fast", flatten: bool = False) -> None:
        super().__init__()
        self.pool_type, self.output_size = pool_type or "", output_size
        kind = self.pool_type.lower()
        fast = kind.startswith("fast")
        if fast and output_size != 1:
            raise AssertionError("Fast pooling and non NCHW input formats require output_size == 1.")
        self.kind = kind[4:] or "avg" if fast else kind
        if self.kind not in ("", "avg", "max", "avgmax", "catavgmax"):
            raise AssertionError(f"Invalid pool type: {pool_type}")
        self.flatten = layers.Flatten(1) if flatten else layers.Identity()

    def is_identity(self) -> bool:
        """Whether nothing is pooled."""
        return not self.pool_type

    def feat_mult(self) -> int:
        """Return how many times the channels there are behind it."""
        return 2 if self.kind == "catavgmax" else 1

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` pooled, and flat where asked for."""
        return self.flatten(select_adaptive_pool2d(x, self.kind, self.output_size) if self.kind else x)
