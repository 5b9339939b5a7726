"""Losses with PyTorch's signatures; the formulas are in ``functional``.

``size_average`` and ``reduce`` are torch's older spelling of ``reduction``. Integer class labels may be int64.
"""

from __future__ import annotations

from typing import Any, Callable, Optional

from mindspore import Tensor, nn

from .. import functional as F
from ..kinds import Kind

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "PoissonNLLLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


class _Loss(nn.Cell, metaclass=Kind):
    """A loss that is a function of two tensors and keyword options."""

    function: Any = None

    def __init__(
        self,
        size_average: Optional[bool] = None,
        reduce: Optional[bool] = None,
        reduction: str = "mean",
        **options: Any,
    ) -> None:
        super().__init__()
        self.reduction = F.reduction_name(size_average, reduce, reduction)
        self.options = options

    def construct(self, x: Tensor, target: Tensor) -> Tensor:
        """Return the loss of ``x`` against ``target``."""
        return type(self).function(x, target, reduction=self.reduction, **self.options)


class MSELoss(_Loss):
    """Squared difference."""

    function = staticmethod(F.mse_loss)


class L1Loss(_Loss):
    """Absolute difference."""

    function = staticmethod(F.l1_loss)


class SmoothL1Loss(_Loss):
    """Squared below ``beta``, absolute above."""

    function = staticmethod(F.smooth_l1_loss)

    def __init__(
        self,
        size_average: Optional[bool] = None,
        reduce: Optional[bool] = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction, beta=beta)


class HuberLoss(_Loss):
    """Squared below ``delta``, ``delta`` times absolute above."""

    function = staticmethod(F.huber_loss)

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction, delta=delta)


class SoftMarginLoss(_Loss):
    """``log(1 + exp(-target * x))``."""

    function = staticmethod(F.soft_margin_loss)


class MultiLabelMarginLoss(_Loss):
    """Multi-label margin loss."""

    function = staticmethod(F.multilabel_margin_loss)


class KLDivLoss(_Loss):
    """Kullback-Leibler divergence of log-probabilities ``x`` from ``target``."""

    function = staticmethod(F.kl_div)

    def __init__(
        self,
        size_average: Optional[bool] = None,
        reduce: Optional[bool] = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        super().__init__(size_average, reduce, reduction, log_target=log_target)


class HingeEmbeddingLoss(_Loss):
    """``x`` where the target is 1, ``max(0, margin - x)`` where it is -1."""

    function = staticmethod(F.hinge_embedding_loss)

    def __init__(
        self,
        margin: float = 1.0,
        size_average: Optional[bool] = None,
        reduce: Optional[bool] = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction, margin=margin)


class PoissonNLLLoss(_Loss):
    """Negative log likelihood of a Poisson distribution."""

    function = staticmethod(F.poisson_nll_loss)

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: Optional[bool] = None,
        eps: float = 1e-8,
        reduce: Optional[bool] = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction, log_input=log_input, full=full, eps=eps)


class CrossEntropyLoss(nn.Cell, metaclass=Kind):
    """Cross entropy of logits against class indices (any integer type) or probabilities."""

    def __init__(
        self,
        weight: Optional[Tensor] = None,
        size_average: Optional[bool] = None,
        ignore_index: int = -100,
        reduce: Optional[bool] = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__()
        self.weight = weight
        self.ignore_index = ignore_index
        self.reduction = F.reduction_name(size_average, reduce, reduction)
        self.label_smoothing = label_smoothing

    def construct(self, x: Tensor, target: Tensor) -> Tensor:
        """Return the loss of logits ``x`` (batch, classes, ...) against ``target``."""
        return F.cross_entropy(
            x,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class NLLLoss(nn.Cell, metaclass=Kind):
    """Negative log likelihood of log-probabilities against class indices (any integer type)."""

    def __init__(
        self,
        weight: Optional[Tensor] = None,
        size_average: Optional[bool] = None,
        ignore_index: int = -100,
        reduce: Optional[bool] = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__()
        self.weight = weight
        self.ignore_index = ignore_index
        self.reduction = F.reduction_name(size_average, reduce, reduction)

    def construct(self, x: Tensor, target: Tensor) -> Tensor:
        """Return the loss of log-probabilities ``x`` (batch, classes, ...) against ``target``."""
        return F.nll_loss(x, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class BCELoss(nn.Cell, metaclass=Kind):
    """Binary cross entropy of probabilities."""

    def __init__(
        self,
        weight: Optional[Tensor] = None,
        size_average: Optional[bool] = None,
        reduce: Optional[bool] = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__()
        self.weight = weight
        self.reduction = F.reduction_name(size_average, reduce, reduction)

    def construct(self, x: Tensor, target: Tensor) -> Tensor:
        """Return the loss of probabilities ``x`` against ``target``."""
        return F.binary_cross_entropy(x, target, self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(nn.Cell, metaclass=Kind):
    """Binary cross entropy of logits."""

    def __init__(
        self,
        weight: Optional[Tensor] = None,
        size_average: Optional[bool] = None,
        reduce: Optional[bool] = None,
        reduction: str = "mean",
        pos_weight: Optional[Tensor] = None,
    ) -> None:
        super().__init__()
        self.weight, self.pos_weight = weight, pos_weight
        self.reduction = F.reduction_name(size_average, reduce, reduction)

    def construct(self, x: Tensor, target: Tensor) -> Tensor:
        """Return the loss of logits ``x`` against ``target``."""
        return F.binary_cross_entropy_with_logits(
            x, target, self.weight, reduction=self.reduction, pos_weight=self.pos_weight
        )


class GaussianNLLLoss(nn.Cell, metaclass=Kind):
    """Negative log likelihood of a normal distribution with given variance."""

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__()
        self.full, self.eps, self.reduction = full, eps, reduction

    def construct(self, x: Tensor, target: Tensor, var: Any) -> Tensor:
        """Return the loss of means ``x`` and variances ``var`` against ``target``."""
        return F.gaussian_nll_loss(x, target, var, self.full, self.eps, self.reduction)


class MultiLabelSoftMarginLoss(nn.Cell, metaclass=Kind):
    """Mean over classes of the binary cross entropy of logits."""

    def __init__(
        self,
        weight: Optional[Tensor] = None,
        size_average: Optional[bool] = None,
        reduce: Optional[bool] = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__()
        self.weight = weight
        self.reduction = F.reduction_name(size_average, reduce, reduction)

    def construct(self, x: Tensor, target: Tensor) -> Tensor:
        """Return the loss of logits ``x`` (batch, classes) against ``target``."""
        return F.multilabel_soft_margin_loss(x, target, self.weight, reduction=self.reduction)


class MultiMarginLoss(nn.Cell, metaclass=Kind):
    """Multi-class margin loss."""

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Optional[Tensor] = None,
        size_average: Optional[bool] = None,
        reduce: Optional[bool] = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__()
        self.p, self.margin, self.weight = p, margin, weight
        self.reduction = F.reduction_name(size_average, reduce, reduction)

    def construct(self, x: Tensor, target: Tensor) -> Tensor:
        """Return the loss of scores ``x`` (batch, classes) against class indices."""
        return F.multi_margin_loss(x, target, self.p, self.margin, self.weight, reduction=self.reduction)


class MarginRankingLoss(nn.Cell, metaclass=Kind):
    """``max(0, -target * (x1 - x2) + margin)``."""

    def __init__(
        self,
        margin: float = 0.0,
        size_average: Optional[bool] = None,
        reduce: Optional[bool] = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__()
        self.margin = margin
        self.reduction = F.reduction_name(size_average, reduce, reduction)

    def construct(self, x1: Tensor, x2: Tensor, target: Tensor) -> Tensor:
        """Return the ranking loss of ``x1`` and ``x2``; ``target`` holds 1 or -1."""
        return F.margin_ranking_loss(x1, x2, target, self.margin, reduction=self.reduction)


class CosineEmbeddingLoss(nn.Cell, metaclass=Kind):
    """``1 - cos`` for target 1, ``max(0, cos - margin)`` for target -1."""

    def __init__(
        self,
        margin: float = 0.0,
        size_average: Optional[bool] = None,
        reduce: Optional[bool] = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__()
        self.margin = margin
        self.reduction = F.reduction_name(size_average, reduce, reduction)

    def construct(self, x1: Tensor, x2: Tensor, target: Tensor) -> Tensor:
        """Return the loss of ``x1`` and ``x2`` (batch, features)."""
        return F.cosine_embedding_loss(x1, x2, target, self.margin, reduction=self.reduction)


class TripletMarginLoss(nn.Cell, metaclass=Kind):
    """``max(0, d(anchor, positive) - d(anchor, negative) + margin)``."""

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: Optional[bool] = None,
        reduce: Optional[bool] = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__()
        self.margin, self.p, self.eps, self.swap = margin, p, eps, swap
        self.reduction = F.reduction_name(size_average, reduce, reduction)

    def construct(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """Return the triplet loss."""
        return F.triplet_margin_loss(
            anchor, positive, negative, self.margin, self.p, self.eps, self.swap, reduction=self.reduction
        )


class CTCLoss(nn.Cell, metaclass=Kind):
    """Connectionist temporal classification (Graves et al. 2006) of (time, batch, classes) log-probabilities."""

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__()
        self.blank, self.reduction, self.zero_infinity = blank, reduction, zero_infinity

    def construct(self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any) -> Tensor:
        """Return the loss."""
        return F.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )


class TripletMarginWithDistanceLoss(nn.Cell, metaclass=Kind):
    """``max(0, d(anchor, positive) - d(anchor, negative) + margin)`` for any distance ``d``."""

    def __init__(
        self,
        *,
        distance_function: Optional[Callable[[Tensor, Tensor], Tensor]] = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__()
        self.distance_function = F.pairwise_distance if distance_function is None else distance_function
        self.margin, self.swap, self.reduction = margin, swap, reduction

    def construct(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """Return the loss of three batches of vectors."""
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )
