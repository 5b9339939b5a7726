"""Cross entropy with smoothed labels, for class indices and for dense targets, each a small Cell of its own.

The formula is PyTorch's: a share ``smoothing`` of each target is spread evenly over all classes (Szegedy et al., 2016).
MindSpore's guides spread it over the *other* classes; theirs with ``s`` is this one with ``s * n / (n - 1)``.
"""

from __future__ import annotations

import mindspore as ms
from mindspore import nn, ops

__all__ = ["DenseCrossEntropy", "SparseCrossEntropy"]


class _CrossEntropy(nn.Cell):
    """Mean, sum or list of ``-sum(target * log_softmax(logits))``."""

    def __init__(self, smoothing: float = 0.0, reduction: str = "mean") -> None:
        super().__init__()
        if not 0.0 <= smoothing <= 1.0:
            raise ValueError(f"smoothing {smoothing} lies outside 0 to 1")
        if reduction not in ("mean", "sum", "none"):
            raise ValueError(f"unknown reduction {reduction!r}")
        self.smoothing, self.reduction = smoothing, reduction

    def _reduced(self, logits: ms.Tensor, target: ms.Tensor) -> ms.Tensor:
        smooth = target * (1.0 - self.smoothing) + self.smoothing / logits.shape[1]
        losses = -(smooth * ops.log_softmax(logits, axis=1)).sum(axis=1)
        if self.reduction == "none":
            return losses
        return losses.sum() if self.reduction == "sum" else losses.mean()


class SparseCrossEntropy(_CrossEntropy):
    """Cross entropy of logits (N, classes) and class indices (N,), any integer type."""

    def construct(self, logits: ms.Tensor, labels: ms.Tensor) -> ms.Tensor:
        """Return the loss: a scalar, or (N,) with ``reduction="none"``."""
        return self._reduced(logits, ops.one_hot(labels.astype(ms.int32), logits.shape[1]).astype(logits.dtype))


class DenseCrossEntropy(_CrossEntropy):
    """Cross entropy of logits (N, classes) and probabilities (N, classes): one-hot, mixed or distilled."""

    def construct(self, logits: ms.Tensor, target: ms.Tensor) -> ms.Tensor:
        """Return the loss: a scalar, or (N,) with ``reduction="none"``."""
        return self._reduced(logits, target.astype(logits.dtype))
