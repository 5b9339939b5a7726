"""Losses against classes, with PyTorch's signatures. ``size_average`` and ``reduce`` are its older ``reduction``.

MindSpore's own ``cross_entropy`` is NaN where a logit is -inf, and passes gradients through its maximum: computed as
here, forward and backward take a third to four fifths of its time on CPU, with the same error (2.10; 128 x 10 to
512 x 50257 logits, and pictures of 21 classes). The ``log_softmax`` kernel is faster still, and three times less exact.
"""

from __future__ import annotations

from typing import Optional

import mindspore as ms
from mindspore import Tensor, ops

from .dtypes import number
from .normalization import linear
from .reductions import reduced, reduction_name

__all__ = ["cross_entropy", "linear_cross_entropy", "nll_loss"]

_HALVES = (ms.float16, getattr(ms, "bfloat16", ms.float16))
_INTEGERS = (ms.int8, ms.int16, ms.int32, ms.int64, ms.uint8)


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Optional[Tensor] = None,
    size_average: Optional[bool] = None,
    ignore_index: int = -100,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Return the cross entropy of logits against class indices (any integer type) or probabilities.

    ``input`` is (batch, classes, ...) or (classes,); indices have its shape without the classes, probabilities its own.
    """
    name = reduction_name(size_average, reduce, reduction)
    if 0 in input.shape:  # of no classes as well, a mean has nothing to divide by
        return reduced(ops.zeros((0,) if name == "mean" else _without_classes(input), input.dtype), name)
    logits = _rows(_wide(input))
    shifted = logits - ops.stop_gradient(logits.max(-1, keepdims=True))
    logs = shifted - ops.log(ops.exp(shifted).sum(-1, keepdims=True))
    classes = logs.shape[-1]
    if target.dtype not in _INTEGERS:
        shares = _rows(_wide(target)) * number(1.0 - label_smoothing, input) + number(label_smoothing / classes, input)
        losses = -(logs * (shares if weight is None else shares * weight)).sum(-1)
        return reduced(losses.reshape(_without_classes(input)), name).astype(input.dtype)
    labels = target.reshape(-1)
    losses, factor = _of_labels(logs, labels, weight, ignore_index)
    if label_smoothing:
        evenly = -(logs if weight is None else logs * weight).sum(-1)
        evenly = ops.where(labels != ignore_index, evenly, ops.zeros_like(evenly))
        losses = losses * number(1.0 - label_smoothing, losses) + evenly * number(label_smoothing / classes, losses)
    return _averaged(losses, factor, name, target.shape).astype(input.dtype)


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Optional[Tensor] = None,
    size_average: Optional[bool] = None,
    ignore_index: int = -100,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the negative log likelihood of log-probabilities against class indices of any integer type."""
    name = reduction_name(size_average, reduce, reduction)
    if 0 in input.shape:
        return reduced(ops.zeros(_without_classes(input), input.dtype), name)
    losses, factor = _of_labels(_rows(_wide(input)), target.reshape(-1), weight, ignore_index)
    return _averaged(losses, factor, name, target.shape).astype(input.dtype)


def _wide(input: Tensor) -> Tensor:
    """Return half precision as float32, as PyTorch adds it up: the sum of a picture's pixels is beyond float16."""
    return input.astype(ms.float32) if input.dtype in _HALVES else input


def _averaged(losses: Tensor, factor: Tensor, reduction: str, shape: tuple[int, ...]) -> Tensor:
    return losses.sum() / factor.sum() if reduction == "mean" else reduced(losses.reshape(shape), reduction)


def _rows(input: Tensor) -> Tensor:
    """Return values (batch, classes, ...) or (classes,) as rows of classes."""
    if input.ndim > 2:
        input = ops.movedim(input, 1, -1)
    return input.reshape(-1, input.shape[-1])


def _without_classes(input: Tensor) -> tuple[int, ...]:
    return input.shape[:1] + input.shape[2:] if input.ndim > 1 else ()


def _of_labels(logs: Tensor, labels: Tensor, weight: Optional[Tensor], ignore_index: int) -> tuple[Tensor, Tensor]:
    """Return the loss of each row, and what it counts for in the mean; both are 0 where the label is ignored."""
    kept = labels != ignore_index
    index = ops.where(kept, labels, ops.zeros_like(labels)).astype(ms.int32)
    losses = -ops.gather_d(logs, 1, index.expand_dims(1)).squeeze(1)
    factor = kept.astype(logs.dtype)
    if weight is not None:
        factor = factor * ops.gather(weight, index, 0)
        losses = losses * factor
    return ops.where(kept, losses, ops.zeros_like(losses)), factor


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Optional[Tensor] = None,
    weight: Optional[Tensor] = None,
    reduction: str = "mean",
    ignore_index: Optional[int] = None,
    label_smoothing: float = 0.0,
) -> Tensor:
    """Return the cross entropy of ``input`` times a weight of (classes, features) or (classes, ..., features)."""
    if linear_weight.ndim > 2:
        shape = linear_weight.shape[:-1]
        logits = linear(input, linear_weight.reshape((-1, input.shape[-1]))).reshape((*input.shape[:-1], *shape))
        logits = logits if linear_bias is None else logits + linear_bias
    else:
        logits = linear(input, linear_weight, linear_bias)
    ignored = -100 if ignore_index is None else ignore_index
    return cross_entropy(
        logits, target, weight, ignore_index=ignored, reduction=reduction, label_smoothing=label_smoothing
    )
