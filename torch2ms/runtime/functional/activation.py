"""Activations that MindSpore lacks on some device or release, or computes with other defaults."""

from __future__ import annotations

import math
from typing import Any, Optional

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from .dtypes import abs as modulus
from .dtypes import number
from .exact import exp, expm1, log, tanh
from .pointwise import complex_quotient

__all__ = [
    "celu",
    "elu",
    "glu",
    "gumbel_softmax",
    "hardshrink",
    "hardswish",
    "hardtanh",
    "leaky_relu",
    "log_softmax",
    "log_softmax_backward",
    "logsigmoid",
    "masked_softmax",
    "mish",
    "prelu",
    "relu6",
    "selu",
    "softmax",
    "softmax_backward",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "threshold",
]


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return ``input * tanh(softplus(input))`` (Misra 2019)."""
    return input * tanh(softplus(input))


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return ``input`` where positive, else ``alpha * (exp(input) - 1)``, for any ``alpha``."""
    return ops.where(input > 0, input, number(alpha, input) * expm1(_not_above_0(input)))


def _not_above_0(input: Tensor) -> Tensor:
    """Return ``input``, 0 where positive; of ``ops.minimum`` the gradient at 0, where both are equal, is a half."""
    return ops.where(input > 0, ops.zeros_like(input), input)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return ``max(input, 0) + min(alpha * (exp(input / alpha) - 1), 0)``."""
    size = number(alpha, input)
    return ops.where(input > 0, input, size * expm1(_not_above_0(input) / size))


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return the scaled ELU (Klambauer et al. 2017)."""
    return number(1.0507009873554804934193349852946, input) * elu(input, 1.6732632423543772848170429916717)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """Return the first half of ``dim`` times the sigmoid of the second."""
    half = input.shape[dim] // 2
    first, second = ops.split(input, half, dim)
    return first * ops.sigmoid(second)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """Return ``input`` held between ``min_val`` and ``max_val``, whose gradient is 0 at both (unlike that of clamp).

    ``max_val`` everywhere where the limits are crossed, as in PyTorch.
    """
    above = ops.where(input <= min_val, ops.full_like(input, min_val), input)
    return ops.where(above >= max_val, ops.full_like(input, max_val), above)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Return ``input`` held between 0 and 6, whose gradient is 0 at both (MindSpore's is 1 at 6)."""
    return hardtanh(input, 0.0, 6.0)


def softsign(input: Tensor) -> Tensor:
    """Return ``input / (1 + |input|)``, of ints as float32."""
    if input.is_complex():
        return complex_quotient(input, 1 + modulus(input))
    values = input if input.is_floating_point() else input.astype(ms.float32)
    return values / (1 + ops.abs(values))


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Return ``input`` where positive, else ``negative_slope * input``, whose gradient at 0 is the slope."""
    return ops.where(input > 0, input, number(negative_slope, input) * input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return ``input * relu6(input + 3) / 6``, whose gradient is 0 at -3 and 1 at 3 (MindSpore's is -1/2 and 3/2)."""
    inside = ops.logical_and(input > -3, input < 3)
    return ops.where(inside, ops.hardswish(input), ops.where(input >= 3, input, input * 0))  # NaN of -infinity


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Return ``input`` where ``|input| > lambd``, else 0."""
    return input * (ops.abs(input) > lambd).astype(input.dtype)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Return ``input`` moved towards 0 by ``lambd``."""
    return ops.where(ops.abs(input) > lambd, input - ops.sign(input) * number(lambd, input), input * 0)  # NaN stays


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Return ``input`` above ``threshold``, else ``value``; both are cut to whole numbers where the input has those."""
    if not input.is_floating_point():
        threshold, value = int(threshold), int(value)
    return ops.where(input <= number(threshold, input), ops.full_like(input, value), input)  # NaN stays


def logsigmoid(input: Tensor) -> Tensor:
    """Return ``log(sigmoid(input))`` without overflow."""
    return ops.minimum(input, ops.zeros_like(input)) - ops.log1p(ops.exp(-ops.abs(input)))


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """Return ``log(1 + exp(beta * input)) / beta``, linear where ``beta * input > threshold``."""
    beta = number(beta, input)
    scaled = input * beta
    is_linear = scaled > threshold
    # not relu(x) + log1p(exp(-|x|)): neither relu nor abs has a gradient at 0, where it is 1/2
    positive = scaled > 0
    size = ops.where(positive, scaled, -scaled)
    soft = ops.where(positive, scaled, ops.zeros_like(scaled)) + ops.log1p(exp(-size))
    return ops.where(is_linear, input, soft / beta)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Return ``input`` where positive, else ``weight * input``; one ``weight``, or one a channel (axis 1)."""
    if weight.size != 1 and input.ndim > 1:
        weight = weight.reshape((1, -1) + (1,) * (input.ndim - 2))
    return ops.where(input > 0, input, weight * input)  # the gradient at 0 is the weight's side, as in PyTorch


def _softmax_axis(input: Tensor, dim: Optional[int]) -> int:
    """Return ``dim``, or torch's old default: 0 for 0, 1 and 3 dimensions, else 1."""
    if dim is not None:
        return dim
    return 0 if input.ndim in (0, 1, 3) else 1


def softmax(input: Tensor, dim: Optional[int] = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """Return the softmax over ``dim``; ``dtype`` is that of the result."""
    if dtype is not None:
        input = input.astype(dtype)
    axis = _softmax_axis(input, dim)
    if input.ndim == 0 or input.shape[axis] == 1:
        # a CPU kernel made for the gradient along one place computes wrong ones ever after; not a number stays
        return ops.where(input == input, ops.ones_like(input), input)
    return ops.softmax(input, axis)


def masked_softmax(scores: Tensor, mask: Optional[Tensor], blind: float) -> Tensor:
    """Return the softmax over the last axis of ``scores + mask``; what sees nothing at all gets ``blind``, NaN or 0.

    MindSpore's kernel for the CPU stops at the first row of -infinity alone: whatever the memory held is in all rows
    from there on (seen in 2.7 to 2.10). Of NaN it computes NaN, and goes on.
    """
    if mask is None or not mask.shape[-1]:
        return softmax(scores, -1)
    sees_nothing = ops.amax(ops.stop_gradient(mask), -1, True) == Tensor(-np.inf, mask.dtype)
    weights = softmax(scores + ops.masked_fill(mask, sees_nothing, Tensor(blind, mask.dtype)), -1)
    return weights if math.isnan(blind) else ops.masked_fill(weights, sees_nothing, Tensor(blind, weights.dtype))


def softmin(input: Tensor, dim: Optional[int] = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """Return the softmax of ``-input`` over ``dim``; a line that holds -infinity is NaN, as in PyTorch."""
    values = -input if dtype is None else -input.astype(dtype)
    axis = _softmax_axis(values, dim)
    if values.ndim == 0 or values.shape[axis] == 1:
        return softmax(values, dim)
    powers = exp(values - ops.stop_gradient(ops.amax(values, axis, True)))
    total = powers.sum(axis, keepdims=True)
    return powers / (total + (total - total))


def log_softmax(input: Tensor, dim: Optional[int] = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """Return the logarithm of the softmax over ``dim``; any axis and number of dimensions."""
    if dtype is not None:
        input = input.astype(dtype)
    axis = _softmax_axis(input, dim)
    shifted = input - ops.stop_gradient(ops.amax(input, axis, True))
    return shifted - log(exp(shifted).sum(axis, keepdims=True))


def softmax_backward(grad_output: Tensor, output: Tensor, dim: int, input_dtype: Any) -> Tensor:
    """Return the gradient by what was given to a softmax whose result was ``output``."""
    product = grad_output * output
    return (product - output * product.sum(dim, keepdims=True)).astype(input_dtype)


def log_softmax_backward(grad_output: Tensor, output: Tensor, dim: int, input_dtype: Any) -> Tensor:
    """Return the gradient by what was given to a logarithm of a softmax whose result was ``output``, of its shape.

    Raises ValueError for a gradient of another shape, of which PyTorch reads what the memory holds.
    """
    if grad_output.shape != output.shape:
        raise ValueError(f"a gradient of shape {tuple(grad_output.shape)} for a result of {tuple(output.shape)}")
    return (grad_output - exp(output) * grad_output.sum(dim, keepdims=True)).astype(input_dtype)


def gumbel_softmax(logits: Tensor, tau: float = 1.0, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """Return a sample of the Gumbel-softmax distribution (Jang et al. 2016); ``hard``: one-hot in the forward."""
    uniform = ops.rand(*logits.shape, dtype=ms.float32).clip(1e-20, 1.0)
    soft = softmax((logits - ops.log(-ops.log(uniform))) / tau, dim).astype(logits.dtype)
    if not hard:
        return soft
    sample = (soft == ops.amax(soft, dim, True)).astype(soft.dtype)
    return ops.stop_gradient(sample - soft) + soft
