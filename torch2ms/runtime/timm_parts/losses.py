"""Losses of classifiers: smoothed labels, shares of classes as targets, agreement of views."""

from __future__ import annotations

from typing import Any, Optional

import mindspore as ms
from mindspore import Tensor, ops

from .. import functional as F
from .. import modules
from ..vision.building import Network

__all__ = [
    "BinaryCrossEntropy",
    "JsdCrossEntropy",
    "LabelSmoothingCrossEntropy",
    "SoftTargetCrossEntropy",
]


class LabelSmoothingCrossEntropy(Network):
    """Cross entropy with a share of each target spread over all classes (Szegedy et al. 2016)."""

    def __init__(self, smoothing: float = 0.1) -> None:
        super().__init__()
        if smoothing >= 1.0:
            raise AssertionError("a share of smoothing lies below 1")
        self.smoothing, self.confidence = smoothing, 1.0 - smoothing

    def construct(self, x: Tensor, target: Tensor) -> Tensor:
        """Return the mean over (batch, classes) and (batch,)."""
        logs = F.log_softmax(x, -1)
        own = -ops.gather_elements(logs, -1, target.astype(ms.int64).expand_dims(1)).squeeze(1)
        return (self.confidence * own - self.smoothing * logs.mean(-1)).mean()


class SoftTargetCrossEntropy(Network):
    """Cross entropy whose targets are shares of the classes."""

    def construct(self, x: Tensor, target: Tensor) -> Tensor:
        """Return the mean over (batch, classes) and (batch, classes)."""
        return (-target * F.log_softmax(x, -1)).sum(-1).mean()


class BinaryCrossEntropy(Network):
    """Each class for itself; targets are classes (smoothed) or shares (cut at ``target_threshold`` where given)."""

    def __init__(
        self,
        smoothing: float = 0.1,
        target_threshold: Optional[float] = None,
        weight: Optional[Tensor] = None,
        reduction: str = "mean",
        sum_classes: bool = False,
        pos_weight: Any = None,
        smooth_dense: bool = False,
    ) -> None:
        super().__init__()
        if not 0.0 <= smoothing < 1.0:
            raise AssertionError("a share of smoothing lies between 0 and 1")
        if pos_weight is not None and not isinstance(pos_weight, Tensor):
            pos_weight = Tensor(pos_weight, ms.float32)
        self.smoothing, self.target_threshold, self.smooth_dense = smoothing, target_threshold, smooth_dense
        self.reduction, self.sum_classes = "none" if sum_classes else reduction, sum_classes
        modules.register_buffer(self, "weight", weight)
        modules.register_buffer(self, "pos_weight", pos_weight)

    def construct(self, x: Tensor, target: Tensor) -> Tensor:
        """Return the loss of (batch, classes) and (batch,) or (batch, classes)."""
        if target.shape[0] != x.shape[0]:
            raise AssertionError("there is one target for each of the batch")
        if target.shape != x.shape:
            spread = self.smoothing / x.shape[-1]
            classes = F.one_hot(target.astype(ms.int64).reshape(-1), x.shape[-1]).astype(x.dtype)
            target = classes * (1.0 - self.smoothing) + spread
        elif self.smooth_dense and self.smoothing:
            target = target * (1.0 - self.smoothing) + 0.5 * self.smoothing
        if self.target_threshold is not None:
            target = (target > self.target_threshold).astype(target.dtype)
        loss = F.binary_cross_entropy_with_logits(
            x, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )
        return loss.sum(-1).mean() if self.sum_classes else loss


class JsdCrossEntropy(Network):
    """Cross entropy of the first of several views, and their Jensen-Shannon divergence (Hendrycks et al. 2020)."""

    def __init__(self, num_splits: int = 3, alpha: float = 12, smoothing: float = 0.1) -> None:
        super().__init__()
        self.num_splits, self.alpha = num_splits, alpha
        self.cross_entropy_loss = LabelSmoothingCrossEntropy(smoothing or 0.0)

    def construct(self, output: Tensor, target: Tensor) -> Tensor:
        """Return the loss of (views * batch, classes) and (views * batch,)."""
        size = output.shape[0] // self.num_splits
        if size * self.num_splits != output.shape[0]:
            raise AssertionError("the views are of one size")
        loss = self.cross_entropy_loss(output[:size], target[:size])
        shares = ops.stack([F.softmax(output[at * size : (at + 1) * size], 1) for at in range(self.num_splits)])
        log_mean = ops.log(ops.clamp(shares.mean(0), 1e-7, 1.0))
        divergence = ops.xlogy(shares, shares) - shares * log_mean
        return loss + self.alpha * (divergence.sum((1, 2)) / size).sum() / self.num_splits
