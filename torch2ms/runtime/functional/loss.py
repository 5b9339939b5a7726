"""Losses with PyTorch's signatures. ``size_average`` and ``reduce`` are torch's older spelling of ``reduction``."""

from __future__ import annotations

import math
from typing import Any, Callable, Optional

import mindspore as ms
from mindspore import Tensor, ops

from . import selections
from .activation import logsigmoid
from .dtypes import abs as magnitude
from .dtypes import beside, number
from .exact import log
from .normalization import pairwise_distance
from .reductions import reduced, reduction_name

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "ctc_loss",
    "gaussian_nll_loss",
    "hinge_embedding_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "margin_ranking_loss",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "poisson_nll_loss",
    "reduction_number",
    "smooth_l1_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]

_LEAST_VARIANCE = 1e-12


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: Optional[bool] = None,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
    weight: Optional[Tensor] = None,
) -> Tensor:
    """Return the squared difference; with ``weight`` the weighted one, whose mean is over the weights."""
    loss, name = ops.square(input - target), reduction_name(size_average, reduce, reduction)
    if weight is None:
        return reduced(loss, name)
    loss = loss * weight
    return loss.sum() / ops.broadcast_to(weight, loss.shape).sum() if name == "mean" else reduced(loss, name)


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: Optional[bool] = None,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the absolute difference."""
    return reduced(magnitude(input - target), reduction_name(size_average, reduce, reduction))


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: Optional[bool] = None,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """Return ``d**2 / (2 * beta)`` where ``d = |input - target| < beta``, else ``d - beta / 2``."""
    name = reduction_name(size_average, reduce, reduction)
    distance = ops.abs(input - target)
    if beta == 0:
        return reduced(distance, name)
    inside = ops.minimum(distance, ops.full_like(distance, beta))
    return reduced(inside * inside / number(2.0 * beta, distance) + (distance - inside), name)


def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    """Return ``d**2 / 2`` where ``d = |input - target| < delta``, else ``delta * (d - delta / 2)``; of one dtype."""
    distance = ops.abs(input - target)
    inside = ops.minimum(distance, ops.full_like(distance, delta))
    loss = inside * inside / 2 + number(delta, distance) * (distance - inside)
    return reduced(loss if loss.dtype == input.dtype else loss.astype(input.dtype), reduction)


def reduction_number(reduction: str) -> int:
    """Return the number that PyTorch gives to a reduction: 0 for none, 1 for the mean, 2 for the sum."""
    numbers = {"none": 0, "mean": 1, "elementwise_mean": 1, "sum": 2}
    if reduction not in numbers:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return numbers[reduction]


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Optional[Tensor] = None,
    size_average: Optional[bool] = None,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the binary cross entropy of probabilities.

    As in torch, logarithms are held above -100, and the gradient is ``(input - target) / (input * (1 - input))`` with
    a divisor of at least 1e-12: finite at 0 and 1, where the logarithm's own is not.
    """
    variance = input * (1 - input)
    at_edge = variance < _LEAST_VARIANCE
    inside = ops.where(at_edge, ops.full_like(input, 0.5), input)
    loss = -(target * log(inside) + (1 - target) * log(1 - inside))
    here, floor = ops.stop_gradient(input), ops.full_like(input, -100.0)
    edge = -(target * ops.maximum(log(here), floor) + (1 - target) * ops.maximum(log(1 - here), floor))
    slope = ops.stop_gradient((input - target) / _LEAST_VARIANCE)
    loss = ops.where(at_edge, edge + (input - here) * slope, loss)
    if weight is not None:
        loss = (loss * weight).astype(loss.dtype)
    return reduced(loss, reduction_name(size_average, reduce, reduction))


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Optional[Tensor] = None,
    size_average: Optional[bool] = None,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
    pos_weight: Optional[Tensor] = None,
) -> Tensor:
    """Return the binary cross entropy of logits, without overflow."""
    log_weight = 1.0 if pos_weight is None else (pos_weight - 1) * target + 1
    loss = (1 - target) * input - log_weight * logsigmoid(input)
    if weight is not None:
        loss = loss * weight
    # PyTorch computes it in place of the targets, and in their dtype
    return reduced(loss.astype(target.dtype), reduction_name(size_average, reduce, reduction))


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: Optional[bool] = None,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """Return ``target * (log(target) - input)``; 0 where the target is 0."""
    name = reduction_name(size_average, reduce, reduction)
    if log_target:
        loss = ops.exp(target) * (target - input)
    else:
        safe = ops.where(target == 0, ops.ones_like(target), target)  # of a negative target, torch makes NaN as well
        loss = target * ops.log(safe) - target * input
    if name == "batchmean":
        return selections.sum(loss) / (input.shape[0] if input.ndim else 1)
    return reduced(loss, name)


def _in_floats(input: Tensor) -> Tensor:
    """Return whole numbers as float32, as functions of floats take them in PyTorch."""
    return input if input.is_floating_point() or input.is_complex() else input.astype(ms.float32)


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: Optional[bool] = None,
    eps: float = 1e-8,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the Poisson negative log likelihood; ``full``: with Stirling's term for targets above 1."""
    values = _in_floats(input)
    loss = ops.exp(values) - target * input if log_input else input - target * ops.log(values + eps)
    if full:
        target = _in_floats(target)
        safe = ops.where(target > 1, target, ops.ones_like(target))
        stirling = safe * ops.log(safe) - safe + 0.5 * ops.log(2 * math.pi * safe)
        loss = loss + ops.where(target > 1, stirling, ops.zeros_like(stirling))
    return reduced(loss, reduction_name(size_average, reduce, reduction))


def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """Return the negative log likelihood of a normal distribution; ``var`` is held above ``eps`` without a gradient."""
    if isinstance(var, (int, float)):
        var = ops.full_like(input, var)
    if var.shape != input.shape and var.shape == input.shape[:-1]:
        var = ops.expand_dims(var, -1)
    raised = ops.stop_gradient(ops.maximum(var, ops.full_like(var, eps)) - var)
    var = var + raised
    loss = 0.5 * (ops.log(var) + ops.square(input - target) / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced(loss, reduction)


def _above(gap: Tensor) -> Tensor:
    """Return what is above 0; at 0 itself it has a slope, and NaN stays, as with PyTorch's ``clamp_min``."""
    return ops.where(gap < 0, ops.zeros_like(gap), gap)


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: Optional[bool] = None,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
) -> Tensor:
    """Return ``input`` where the target is 1, ``max(0, margin - input)`` where it is -1."""
    zero = ops.zeros_like(input)
    limit = margin if input.is_floating_point() else int(margin)  # PyTorch's core takes it in the dtype of the input
    loss = ops.where(target != 1, _above(limit - input), zero) + ops.where(target != -1, input, zero)
    return reduced(loss, reduction_name(size_average, reduce, reduction))


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: Optional[bool] = None,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
) -> Tensor:
    """Return ``log(1 + exp(-target * input))``."""
    losses = ops.log1p(ops.exp(-target * input)).astype(input.dtype)  # infinite where PyTorch's is
    return reduced(losses, reduction_name(size_average, reduce, reduction))


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    size_average: Optional[bool] = None,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
) -> Tensor:
    """Return ``max(0, -target * (input1 - input2) + margin)``."""
    product = -target * beside(input1 - input2, target)
    loss = _above(product + number(margin, product))
    return reduced(loss, reduction_name(size_average, reduce, reduction))


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    size_average: Optional[bool] = None,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
) -> Tensor:
    """Return ``1 - cos`` for target 1, ``max(0, cos - margin)`` for target -1; squared norms get torch's epsilon."""
    input1, input2 = (x.astype(ms.float32) if x.dtype == ms.bool_ else x for x in (input1, input2))
    dot = (input1 * input2).sum(-1)
    squares = (ops.square(input1).sum(-1) + 1e-12) * (ops.square(input2).sum(-1) + 1e-12)
    cosine = dot / ops.sqrt(squares)
    zero = ops.zeros_like(cosine)
    loss = ops.where(target == 1, 1 - cosine, zero) + ops.where(target == -1, _above(cosine - margin), zero)
    return reduced(loss, reduction_name(size_average, reduce, reduction))


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: Optional[bool] = None,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
) -> Tensor:
    """Return ``max(0, d(anchor, positive) - d(anchor, negative) + margin)`` with the p-norm distance of torch."""
    near = _distance(anchor, positive, p, eps)
    far = _distance(anchor, negative, p, eps)
    if swap:
        far = ops.minimum(far, _distance(positive, negative, p, eps))
    return reduced(_above(near - far + margin), reduction_name(size_average, reduce, reduction))


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Optional[Callable[[Tensor, Tensor], Tensor]] = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """Return ``max(0, d(anchor, positive) - d(anchor, negative) + margin)`` for any distance ``d``."""
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = ops.minimum(far, distance(positive, negative))
    return reduced(_above(near - far + margin), reduction)


def _distance(a: Tensor, b: Tensor, p: float, eps: float) -> Tensor:
    """Return the p-norm of ``a - b + eps`` over the last axis."""
    difference = ops.abs(a - b + eps)
    if p == 1:
        return difference.sum(-1)
    if p == 2:
        return ops.sqrt(ops.square(difference).sum(-1))
    if p == float("inf"):
        return ops.amax(difference, -1)
    return ops.pow(ops.pow(difference, p).sum(-1), 1 / p)


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Optional[Tensor] = None,
    size_average: Optional[bool] = None,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the mean over classes of the binary cross entropy of logits."""
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    return reduced(loss.sum(-1) / input.shape[-1], reduction_name(size_average, reduce, reduction))


def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: Optional[bool] = None,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the multi-label margin loss; a row of ``target`` lists its classes and ends at the first -1."""
    scores = input if input.ndim == 2 else input.reshape((1, -1))
    labels = target if target.ndim == 2 else target.reshape((1, -1))
    classes = scores.shape[1]
    listed = ops.cumprod((labels >= 0).astype(ms.float32), 1)
    held = ops.maximum(labels, ops.zeros_like(labels)).astype(ms.int32)
    hot = ops.one_hot(held, classes, 1.0, 0.0) * ops.expand_dims(listed, -1)
    own = ops.gather_elements(scores, 1, held)
    gaps = 1 - ops.expand_dims(own, -1) + ops.expand_dims(scores, 1)
    is_other = ops.logical_and(ops.expand_dims(listed, -1) > 0, ops.expand_dims(hot.sum(1) == 0, 1))
    # NaN, and infinity less infinity, count for nothing
    loss = ops.where(ops.logical_and(is_other, gaps > 0), gaps, ops.zeros_like(gaps)).sum((1, 2)) / classes
    if input.ndim < 2:
        loss = loss.reshape(())
    return reduced(loss, reduction_name(size_average, reduce, reduction))


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Optional[Tensor] = None,
    size_average: Optional[bool] = None,
    reduce: Optional[bool] = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the multi-class margin loss of scores (batch, classes) against class indices."""
    scores = input if input.ndim == 2 else input.reshape((1, -1))
    index = target.reshape((-1, 1)).astype(ms.int32)
    gaps = margin - ops.gather_elements(scores, 1, index) + scores
    others = ops.arange(scores.shape[1]).astype(ms.int32) != index
    gaps = ops.where(ops.logical_and(gaps > 0, others), gaps, ops.zeros_like(gaps))
    if p == 2:
        gaps = ops.square(gaps)
    if weight is not None:
        gaps = gaps * ops.gather(weight, index, 0)
    losses = gaps.sum(1) / scores.shape[1]
    losses = losses if input.ndim == 2 else losses[0]
    return reduced(losses, reduction_name(size_average, reduce, reduction))


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Return the connectionist temporal classification loss of (time, batch, classes) log-probabilities.

    ``targets`` is (batch, longest) or all targets one after another; the mean divides by the target lengths first.
    """
    if log_probs.ndim == 2:  # one sample: (time, classes)
        log_probs, targets = ops.expand_dims(log_probs, 1), targets.reshape((1, -1))
        loss = ctc_loss(
            log_probs, targets, [int(input_lengths)], [int(target_lengths)], blank, reduction, zero_infinity
        )
        return loss.reshape(())
    lengths = _lengths(target_lengths)
    if targets.ndim == 1:
        targets = _padded_rows(targets, lengths)
    loss, _ = ops.ctc_loss(
        log_probs,
        targets.astype(ms.int32),
        _lengths(input_lengths),
        lengths,
        blank,
        "none",
        zero_infinity,
    )
    if reduction == "mean":
        return (loss / ops.maximum(lengths.astype(loss.dtype), 1.0)).mean()
    return reduced(loss, reduction)


def _lengths(values: Any) -> Tensor:
    """Return lengths as an int32 tensor."""
    return values.astype(ms.int32) if isinstance(values, Tensor) else Tensor(list(values), ms.int32)


def _padded_rows(targets: Tensor, lengths: Tensor) -> Tensor:
    """Return concatenated targets as rows, padded with zeros."""
    counts = [int(count) for count in lengths.asnumpy()]
    rows, start = [], 0
    for count in counts:
        rows.append(ops.pad(targets[start : start + count], (0, max(counts) - count)))
        start += count
    return ops.stack(rows)
