"""Normalisation, distances, dropout and linear maps with PyTorch's signatures."""

from __future__ import annotations

import math
from typing import Any, Optional, Sequence

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from . import selections
from .activation import masked_softmax
from .dtypes import abs as magnitude
from .dtypes import number, promoted
from .pointwise import complex_quotient

__all__ = [
    "alpha_dropout",
    "batch_norm",
    "bilinear",
    "cosine_similarity",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "linear",
    "local_response_norm",
    "normalize",
    "one_hot",
    "pairwise_distance",
    "pdist",
    "rms_norm",
    "scaled_dot_product_attention",
]

# Computed in float32
_NARROW = tuple(getattr(ms, name) for name in ("float16", "bfloat16") if hasattr(ms, name))

# The gradient of ops.LayerNorm on CPU leaves eps out in MindSpore 2.0, and no longer does in 2.7.
_EPS_IN_GRADIENT = tuple(int(part) for part in ms.__version__.split(".")[:2]) >= (2, 7)


def linear(input: Tensor, weight: Tensor, bias: Optional[Tensor] = None) -> Tensor:
    """Return ``input @ weight.T + bias``."""
    if input.shape[-1] == 0:  # MindSpore's CPU kernel returns what the memory held
        output = ops.zeros((*input.shape[:-1], *weight.shape[:-1]), input.dtype)
    else:
        output = ops.matmul(input, weight.swapaxes(-1, -2) if weight.ndim > 1 else weight)
    return output if bias is None else output + bias.astype(output.dtype)  # autocast has it in half precision


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Optional[Tensor] = None) -> Tensor:
    """Return ``input1 @ weight[k] @ input2`` for each k, plus ``bias``."""
    parts = []
    for index in range(weight.shape[0]):
        product = ops.matmul(input1, weight[index]) * input2
        parts.append(product.sum(-1).astype(product.dtype))  # the sum of ints is int64
    output = ops.stack(parts, -1)
    return output if bias is None else output + bias


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Return int64 vectors with a 1 at the class; ``num_classes=-1`` is the largest class plus one."""
    if num_classes == -1:
        num_classes = int(tensor.max().asnumpy()) + 1
    if 0 in tensor.shape:
        return ops.zeros((*tensor.shape, num_classes), ms.int64)
    one, zero = Tensor(1, ms.int64), Tensor(0, ms.int64)
    return ops.one_hot(tensor.astype(ms.int32), num_classes, one, zero).astype(ms.int64)


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Optional[Tensor] = None,
    bias: Optional[Tensor] = None,
    eps: float = 1e-5,
) -> Tensor:
    """Return ``input`` normalised over its last ``len(normalized_shape)`` axes."""
    shape = tuple(normalized_shape)
    axis = input.ndim - len(shape)
    gamma = ops.ones(shape, input.dtype) if weight is None else weight
    beta = ops.zeros(shape, input.dtype) if bias is None else bias
    if _EPS_IN_GRADIENT and input.dtype not in (ms.float16, ms.float64) and 0 not in input.shape:
        return ops.LayerNorm(axis, axis, float(eps))(input, gamma, beta)[0]
    axes = tuple(range(axis, input.ndim))
    if input.dtype == ms.float64:
        centred = input - input.mean(axes, True)
        return centred * ops.rsqrt(ops.square(centred).mean(axes, True) + number(eps, input)) * gamma + beta
    centred = input.astype(ms.float32) - input.astype(ms.float32).mean(axes, True)
    normal = centred * ops.rsqrt(ops.square(centred).mean(axes, True) + eps)
    return (normal * gamma + beta).astype(input.dtype)


def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Optional[Tensor] = None, eps: Optional[float] = None
) -> Tensor:
    """Return ``input`` divided by its root mean square over the last axes, in the dtype of ``input``."""
    axes = tuple(range(-len(tuple(normalized_shape)), 0))
    wide = input.astype(ms.float32) if input.dtype in _NARROW else input
    epsilon = (2.220446049250313e-16 if input.dtype == ms.float64 else 1.1920929e-07) if eps is None else eps
    output = wide * ops.rsqrt(ops.square(wide).mean(axes, True) + epsilon)
    if weight is not None:
        output = output * weight
    return output if output.dtype == input.dtype else output.astype(input.dtype)


def _affine(output: Tensor, weight: Optional[Tensor], bias: Optional[Tensor]) -> Tensor:
    """Return ``output * weight + bias`` along the channels (axis 1)."""
    shape = (1, -1) + (1,) * (output.ndim - 2)
    if weight is not None:
        output = output * weight.reshape(shape)
    return output if bias is None else output + bias.reshape(shape)


def batch_norm(
    input: Tensor,
    running_mean: Optional[Tensor],
    running_var: Optional[Tensor],
    weight: Optional[Tensor] = None,
    bias: Optional[Tensor] = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Return ``input`` (batch, channels, ...) normalised; in training the running statistics are updated in place."""
    shape = (1, -1) + (1,) * (input.ndim - 2)
    if not training:
        if running_mean is None or running_var is None:
            raise ValueError("Expected running_mean and running_var to be defined when training=False")
        output = (input - running_mean.reshape(shape)) * ops.rsqrt(running_var.reshape(shape) + eps)
        return _affine(output, weight, bias).astype(input.dtype)
    axes = (0, *range(2, input.ndim))
    mean = input.mean(axes)
    centred = input - mean.reshape(shape)
    variance = ops.square(centred).mean(axes)
    if running_mean is not None and running_var is not None:
        count = input.size // input.shape[1]
        unbiased = variance * (count / max(count - 1, 1))
        _write(running_mean, (1 - momentum) * running_mean + momentum * mean)
        _write(running_var, (1 - momentum) * running_var + momentum * unbiased)
    return _affine(centred * ops.rsqrt(variance.reshape(shape) + eps), weight, bias).astype(input.dtype)


def _write(statistic: Tensor, value: Tensor) -> None:
    """Give a statistic its new values; of a part of one, ``running_mean[:8]``, ops.assign will not hear."""
    if isinstance(statistic, ms.Parameter):
        ops.assign(statistic, ops.stop_gradient(value))
    else:
        statistic[()] = ops.stop_gradient(value)


def group_norm(
    input: Tensor, num_groups: int, weight: Optional[Tensor] = None, bias: Optional[Tensor] = None, eps: float = 1e-5
) -> Tensor:
    """Return ``input`` (batch, channels, ...) normalised over groups of channels and all places."""
    flat = input.reshape((input.shape[0], num_groups, -1))
    centred = flat - flat.mean(-1, True)
    output = centred * ops.rsqrt(ops.square(centred).mean(-1, True) + eps)
    return _affine(output.reshape(input.shape), weight, bias).astype(input.dtype)


def instance_norm(
    input: Tensor,
    running_mean: Optional[Tensor] = None,
    running_var: Optional[Tensor] = None,
    weight: Optional[Tensor] = None,
    bias: Optional[Tensor] = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Return each channel of each sample normalised over its places; running statistics are updated in place."""
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    if running_mean is not None and running_var is not None and 0 not in input.shape:
        axes = tuple(range(2, input.ndim))
        mean = input.mean(axes, True)
        variance = ops.square(input - mean).mean(axes, True)
        count = input.size // (input.shape[0] * input.shape[1])
        average = mean.reshape(input.shape[:2]).mean(0)
        unbiased = variance.reshape(input.shape[:2]).mean(0) * (count / max(count - 1, 1))
        _write(running_mean, (1 - momentum) * running_mean + momentum * average)
        _write(running_var, (1 - momentum) * running_var + momentum * unbiased)
    return group_norm(input, input.shape[1], weight, bias, eps)


def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """Divide by ``(k + alpha * mean of squares over size neighbouring channels) ** beta`` (Krizhevsky et al. 2012)."""
    shape = input.shape
    squares = ops.square(input).reshape((shape[0], shape[1], -1))
    before, after = size // 2, (size - 1) // 2
    parts = [ops.zeros((shape[0], width, squares.shape[2]), input.dtype) for width in (before, after) if width]
    padded = ops.concat((parts[0], squares, *parts[1:]), 1) if parts else squares
    total = padded[:, : shape[1]]
    for shift in range(1, size):
        total = total + padded[:, shift : shift + shape[1]]
    return input / ops.pow(mean_of(total.reshape(shape), size) * alpha + k, beta)


def mean_of(total: Tensor, count: int) -> Tensor:
    """Return ``total / count``; PyTorch's average of ints is an int."""
    return total / count if total.is_floating_point() else ops.div(total, count, rounding_mode="trunc")


def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: Any = None) -> Tensor:
    """Return ``input / max(norm, eps)`` with the p-norm over ``dim``."""
    if input.is_complex():
        return complex_quotient(input, _length(magnitude(input), p, dim, eps))
    return input / _length(input, p, dim, eps)


def _length(input: Tensor, p: float, dim: Any, eps: float) -> Tensor:
    """Return the p-norm over ``dim``, or ``eps`` where that is larger."""
    if p == 2:
        squares = selections.sum(ops.square(input), dim, True)
        norm = ops.sqrt(ops.maximum(squares, ops.full_like(squares, eps * eps)))
    elif p == 0:
        norm = selections.sum((input != 0).astype(input.dtype), dim, True)
    elif p == 1:
        norm = selections.sum(ops.abs(input), dim, True)
    elif p == math.inf:
        norm = ops.amax(ops.abs(input), dim, True)
    else:
        norm = ops.pow(selections.sum(ops.pow(ops.abs(input), p), dim, True), 1.0 / p)
    return ops.maximum(norm, ops.full_like(norm, eps))


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """Return the cosine of the angle along ``dim``; norms are held above ``eps``."""
    if x1.dtype != x2.dtype:
        x1, x2 = promoted((x1, x2))
    # One number along the axis stands for as many as there are
    if x1.ndim != x2.ndim or (x1.ndim and x1.shape[dim] != x2.shape[dim]):
        x1, x2 = ops.broadcast_to(x1, (x1 + x2).shape), ops.broadcast_to(x2, (x1 + x2).shape)
    floor = eps * eps
    first, second = selections.sum(ops.square(x1), dim, True), selections.sum(ops.square(x2), dim, True)
    first = ops.maximum(first, ops.full_like(first, floor))
    second = ops.maximum(second, ops.full_like(second, floor))
    return selections.sum((x1 / ops.sqrt(first)) * (x2 / ops.sqrt(second)), dim)  # a product of large ones overflows


def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """Return the p-norm of the difference of every pair of rows of (rows, width), the first row's pairs first."""
    first, second = np.triu_indices(input.shape[0], 1)
    left = ops.gather(input, Tensor(first.astype(np.int32)), 0)
    return pairwise_distance(left, ops.gather(input, Tensor(second.astype(np.int32)), 0), p, 0.0)


def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """Return the p-norm of ``x1 - x2 + eps`` over the last axis."""
    difference = magnitude(x1 - x2 + eps)
    if p == 2:
        squares = selections.sum(ops.square(difference), -1, keepdim)
        return ops.sqrt(squares) if eps else selections.root(squares)
    if p == math.inf:
        return ops.amax(difference, -1, keepdim)
    if p == 0:
        return selections.sum((difference != 0).astype(difference.dtype), -1, keepdim)
    return ops.pow(selections.sum(ops.pow(difference, p), -1, keepdim), 1.0 / p)


def _dropped(input: Tensor) -> Tensor:
    """Return ``input`` with every value dropped; NaN and infinity become NaN."""
    return ops.zeros_like(input) if input.dtype == ms.bool_ else input * 0  # MindSpore's product with a bool is an int


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Return ``input`` with a share ``p`` of it set to 0 and the rest scaled by ``1 / (1 - p)``."""
    if not training or p == 0:
        return input
    if p == 1:
        return _dropped(input)
    return ops.dropout(input, p, True)


def _channel_dropout(input: Tensor, p: float, training: bool, axes: int) -> Tensor:
    """Return ``input`` with whole channels dropped, which the first ``axes`` axes count."""
    if not training or p == 0:
        return input
    mask = dropout(ops.ones(input.shape[:axes], input.dtype), p)
    return input * mask.reshape(mask.shape + (1,) * (input.ndim - axes))


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Return ([batch,] channels, length) with whole channels dropped."""
    if input.ndim not in (2, 3):
        raise RuntimeError(f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input.")
    return _channel_dropout(input, p, training, input.ndim - 1)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Return (batch, channels, ...) with whole channels dropped: as torch does, whatever the number of axes."""
    return _channel_dropout(input, p, training, 2)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Return ([batch,] channels, depth, height, width) with whole channels dropped.

    As in torch, an input with any other number of axes is one without a batch.
    """
    return _channel_dropout(input, p, training, 2 if input.ndim == 5 else 1)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Return ``input`` with dropout that keeps mean and variance of SELU networks (Klambauer et al. 2017)."""
    if not training or p == 0:
        return input
    return alpha_dropped(input, (ops.rand(*input.shape, dtype=ms.float32) >= p).astype(input.dtype), p)


def alpha_dropped(input: Tensor, kept: Tensor, p: float) -> Tensor:
    """Return ``input`` where ``kept`` is 1, else the lowest value of SELU, scaled to keep mean and variance."""
    if p == 1:
        return _dropped(input)
    alpha = -1.7580993408473766
    scale = (1 - p) ** -0.5 * (1 + p * alpha * alpha) ** -0.5
    return (input * kept + alpha * (1 - kept)) * scale - scale * alpha * p


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Optional[Tensor] = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: Optional[float] = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Return ``softmax(query @ key.T * scale + mask) @ value``; a bool mask is True where attention is allowed."""
    if enable_gqa:
        repeats = query.shape[-3] // key.shape[-3]
        key = ops.repeat_interleave(key, repeats, key.ndim - 3)
        value = ops.repeat_interleave(value, repeats, value.ndim - 3)
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = ops.matmul(query, key.swapaxes(-1, -2)) * factor
    if is_causal:
        allowed = ops.ones((query.shape[-2], key.shape[-2]), ms.float32).tril().astype(ms.bool_)
        scores = scores.masked_fill(ops.logical_not(allowed), float("-inf"))
    if attn_mask is not None and attn_mask.dtype == ms.bool_:
        hidden = ops.logical_not(attn_mask)
        attn_mask = ops.zeros(attn_mask.shape, scores.dtype).masked_fill(hidden, float("-inf"))
    weights = masked_softmax(scores, attn_mask, 0.0)
    if dropout_p > 0:
        weights = dropout(weights, dropout_p)
    if not value.shape[-2]:
        return ops.zeros((*weights.shape[:-1], value.shape[-1]), dtype=value.dtype)
    return ops.matmul(weights, value)
