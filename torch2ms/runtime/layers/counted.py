"""Batch normalisations that count the batches they were trained with: ``num_batches_tracked``.

MindSpore's own keep no such count; these stand in where a program reads it.
"""

from __future__ import annotations

from typing import Any, Optional

import mindspore as ms
from mindspore import Tensor

from . import normalization

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d"]


class _Counted:
    """A batch normalisation whose ``num_batches_tracked`` is a tensor; None without running statistics."""

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: Optional[float] = 0.1, *args: Any, **kw: Any):
        super().__init__(num_features, eps, momentum, *args, **kw)  # type: ignore[call-arg]
        if self.track_running_stats:  # type: ignore[attr-defined]
            self.num_batches_tracked = Tensor(0, ms.int64)

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` normalised; in training the count grows by one."""
        count = self.num_batches_tracked
        if self.training and count is not None:  # type: ignore[attr-defined]
            self.num_batches_tracked = Tensor(int(count.asnumpy()) + 1, ms.int64)
        return super(_Counted, self).construct(x)  # type: ignore[misc]


class BatchNorm1d(_Counted, normalization.BatchNorm1d):
    """Batch normalisation of (batch, features) or (batch, features, length)."""


class BatchNorm2d(_Counted, normalization.BatchNorm2d):
    """Batch normalisation of (batch, channels, height, width)."""


class BatchNorm3d(_Counted, normalization.BatchNorm3d):
    """Batch normalisation of (batch, channels, depth, height, width)."""
