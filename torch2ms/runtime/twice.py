"""Layers and functions whose gradients can be differentiated again, as a gradient penalty does.

MindSpore's kernels for the gradients of pooling, PReLU, Hardswish, GroupNorm and the cross entropies cannot, or lose
parts of it, as that of LayerNorm does where the variance is not far from eps (2.10, CPU): what stands here computes
the same out of convolutions, products and sums. It is for networks under such a penalty alone: MindSpore's own layers
are faster. Signatures are PyTorch's, and graph mode compiles all of it, which ``derivatives.by_input`` needs.
"""

from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple, Union

import mindspore as ms
from mindspore import Tensor, ops

from .functional.reductions import reduced, reduction_name
from .layers import activation, loss, normalization, pooling

__all__ = [
    "AdaptiveAvgPool2d",
    "AvgPool2d",
    "BCEWithLogitsLoss",
    "CrossEntropyLoss",
    "GroupNorm",
    "Hardswish",
    "LayerNorm",
    "MaxPool2d",
    "PReLU",
    "adaptive_avg_pool2d",
    "avg_pool2d",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "group_norm",
    "hardswish",
    "layer_norm",
    "max_pool2d",
    "prelu",
]

IntOrInts = Union[int, Sequence[int]]
_LOWEST = -3.0e38  # times 0 it is 0, which infinity is not


def _pair(value: Any) -> Tuple[int, int]:
    return (value[0], value[1]) if isinstance(value, (tuple, list)) else (value, value)


def avg_pool2d(
    input: Tensor,
    kernel_size: IntOrInts,
    stride: Optional[IntOrInts] = None,
    padding: IntOrInts = 0,
    count_include_pad: bool = True,
) -> Tensor:
    """Return the mean of each window of (batch, channels, height, width): a convolution of each channel."""
    height, width = _pair(kernel_size)
    steps = _pair(kernel_size if stride is None else stride)
    rows, columns = _pair(padding)
    channels = input.shape[1]
    weight = ops.ones((channels, 1, height, width), input.dtype) / (height * width)
    around = (rows, columns)
    found = ops.conv2d(input, weight, None, steps, "pad", around, 1, channels)
    if count_include_pad or rows + columns == 0:
        return found
    inside = ops.ones((1, 1, input.shape[2], input.shape[3]), input.dtype)
    return found / ops.conv2d(inside, weight[:1], None, steps, "pad", around)


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Return the means of (batch, channels, height, width) in ``output_size``; of other sizes, by MindSpore's own."""
    height, width = input.shape[2], input.shape[3]
    rows, columns = _pair(output_size)
    rows, columns = height if rows is None else rows, width if columns is None else columns
    if height % rows or width % columns:
        return ops.adaptive_avg_pool2d(input, (rows, columns))  # whose gradient has none
    return avg_pool2d(input, (height // rows, width // columns))


def max_pool2d(
    input: Tensor, kernel_size: IntOrInts, stride: Optional[IntOrInts] = None, padding: IntOrInts = 0
) -> Tensor:
    """Return the largest value of each window of (batch, channels, height, width), of equal ones the first."""
    height, width = _pair(kernel_size)
    down, right = _pair(kernel_size if stride is None else stride)
    rows, columns = _pair(padding)
    x = input
    lowest = -65504.0 if x.dtype == ms.float16 else _LOWEST  # beyond a dtype's range is an infinity: NaN times 0
    if rows:
        edge = ops.full((x.shape[0], x.shape[1], rows, x.shape[3]), lowest, dtype=x.dtype)
        x = ops.concat((edge, x, edge), 2)
    if columns:
        edge = ops.full((x.shape[0], x.shape[1], x.shape[2], columns), lowest, dtype=x.dtype)
        x = ops.concat((edge, x, edge), 3)
    size = height * width
    picks = ops.eye(size, size, x.dtype).reshape((size, 1, height, width))  # one place of the window each
    channels = x.shape[1]
    found = ops.conv2d(x, ops.tile(picks, (channels, 1, 1, 1)), None, (down, right), "pad", 0, 1, channels)
    windows = found.reshape((x.shape[0], channels, size, found.shape[2], found.shape[3]))
    places = ops.argmax(ops.stop_gradient(windows), 2)
    is_largest = ops.equal(places.expand_dims(2), ops.arange(size).reshape((size, 1, 1))).astype(x.dtype)
    return (windows * is_largest).sum(2)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Return ``input`` where positive, else ``weight * input``; the weight is one number, or one a channel (axis 1)."""
    if weight.shape[0] > 1 and input.ndim > 1:
        weight = weight.reshape((1, weight.shape[0]) + (1,) * (input.ndim - 2))
    return ops.relu(input) - weight * ops.relu(-input)


def hardswish(input: Tensor) -> Tensor:
    """Return ``input * relu6(input + 3) / 6``."""
    return input * ops.clamp(input + 3, 0, 6) / 6


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Optional[Tensor] = None,
    bias: Optional[Tensor] = None,
    eps: float = 1e-5,
) -> Tensor:
    """Return (batch, channels, ...) with mean 0 and variance 1 in each group of channels, then scaled and moved."""
    groups = input.reshape((input.shape[0], num_groups, -1))
    away = groups - groups.mean(-1, True)
    found = (away * ops.rsqrt((away * away).mean(-1, True) + eps)).reshape(input.shape)
    shape = (1, input.shape[1]) + (1,) * (input.ndim - 2)
    if weight is not None:
        found = found * weight.reshape(shape)
    if bias is not None:
        found = found + bias.reshape(shape)
    return found.astype(input.dtype)  # beside weights of float32, too


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Optional[Tensor] = None,
    bias: Optional[Tensor] = None,
    eps: float = 1e-5,
) -> Tensor:
    """Return ``input`` with mean 0 and variance 1 over its last axes, then scaled and moved."""
    shape = input.shape
    rows = input.reshape((*shape[: input.ndim - len(normalized_shape)], -1))
    away = rows - rows.mean(-1, True)
    found = (away * ops.rsqrt((away * away).mean(-1, True) + eps)).reshape(shape)
    if weight is not None:
        found = found * weight
    if bias is not None:
        found = found + bias
    return found.astype(input.dtype)


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
    """Return the cross entropy of logits (batch, classes, ...) or (classes,) against class indices or probabilities."""
    name = reduction_name(size_average, reduce, reduction)
    axis = 0 if input.ndim == 1 else 1
    classes = input.shape[axis]
    along = tuple(classes if place == axis else 1 for place in range(input.ndim))
    shifted = input - ops.stop_gradient(input.max(axis, keepdims=True))
    logs = shifted - ops.log(ops.exp(shifted).sum(axis, keepdims=True))
    factor = ops.ones(along, input.dtype) if weight is None else weight.reshape(along)
    if target.ndim == input.ndim:
        counted = input.size / classes
        shares = target * (1 - label_smoothing) + label_smoothing / classes
    else:
        labels = target.expand_dims(axis)
        valid = (labels != ignore_index).astype(input.dtype)
        hot = (labels == ops.arange(classes).reshape(along)).astype(input.dtype) * valid
        counted = (hot * factor).sum()
        shares = hot * (1 - label_smoothing) + valid * (label_smoothing / classes)
    losses = -(logs * (shares * factor))
    if name == "none":
        return losses.sum(axis)
    return losses.sum() / counted if name == "mean" else reduced(losses, name)


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
    most = ops.stop_gradient(ops.relu(-input))
    rest = most + ops.log(ops.exp(-most) + ops.exp(-input - most))  # -log(sigmoid(input)), smooth at 0 as well
    losses = (1 - target) * input + log_weight * rest
    losses = losses if weight is None else losses * weight
    return reduced(losses.astype(target.dtype), reduction_name(size_average, reduce, reduction))


class AvgPool2d(pooling.AvgPool2d):
    """Average pooling of (batch, channels, height, width)."""

    def construct(self, x: Tensor) -> Tensor:
        """Return the pooled ``x``."""
        return avg_pool2d(x, self.kernel_size, self.stride, self.padding, self.count_include_pad)


class AdaptiveAvgPool2d(pooling.AdaptiveAvgPool2d):
    """Average pooling of (batch, channels, height, width) to ``output_size``."""

    def construct(self, x: Tensor) -> Tensor:
        """Return the pooled ``x``."""
        return adaptive_avg_pool2d(x, self.output_size)


class MaxPool2d(pooling.MaxPool2d):
    """Max pooling of (batch, channels, height, width)."""

    def construct(self, x: Tensor) -> Tensor:
        """Return the pooled ``x``."""
        return max_pool2d(x, self.kernel_size, self.stride, self.padding)


class PReLU(activation.PReLU):
    """``x`` where positive, else ``w * x``; the parameter ``w`` is one number, or one a channel (axis 1)."""

    def construct(self, x: Tensor) -> Tensor:
        """Return the activation of ``x``."""
        return prelu(x, self.w)


class Hardswish(activation.Hardswish):
    """``x * relu6(x + 3) / 6``."""

    def construct(self, x: Tensor) -> Tensor:
        """Return the activation of ``x``."""
        return hardswish(x)


class GroupNorm(normalization.GroupNorm):
    """Normalise ``num_channels / num_groups`` channels of a sample together."""

    def construct(self, x: Tensor) -> Tensor:
        """Return the normalised ``x``."""
        return group_norm(x, self.num_groups, self.gamma, self.beta, self.eps)


class LayerNorm(normalization.LayerNorm):
    """Normalise over the last ``len(normalized_shape)`` axes."""

    def construct(self, x: Tensor) -> Tensor:
        """Return the normalised ``x``."""
        return layer_norm(x, self.normalized_shape, self.gamma, self.beta, self.epsilon)


class CrossEntropyLoss(loss.CrossEntropyLoss):
    """Cross entropy of logits against class indices (any integer type) or probabilities."""

    def construct(self, x: Tensor, target: Tensor) -> Tensor:
        """Return the loss of logits ``x`` (batch, classes, ...) against ``target``."""
        smoothing = self.label_smoothing
        return cross_entropy(x, target, self.weight, None, self.ignore_index, None, self.reduction, smoothing)


class BCEWithLogitsLoss(loss.BCEWithLogitsLoss):
    """Binary cross entropy of logits."""

    def construct(self, x: Tensor, target: Tensor) -> Tensor:
        """Return the loss of logits ``x`` against ``target``."""
        return binary_cross_entropy_with_logits(
            x, target, self.weight, reduction=self.reduction, pos_weight=self.pos_weight
        )
