"""Probability distributions with PyTorch's signatures, on plain MindSpore operators.

Parameters are float tensors (numbers become tensors) and broadcast against each other; ``log_prob``, ``entropy`` and
``rsample`` have gradients. Samples come from MindSpore's generator.
"""

from __future__ import annotations

import math
from typing import Any, Optional, Sequence, Tuple

import mindspore as ms
from mindspore import Tensor, ops

from .functional import logsigmoid, multinomial

__all__ = ["Bernoulli", "Categorical", "Distribution", "Normal", "Uniform", "kl_divergence"]


def _floats(value: Any) -> Tensor:
    """Return a number or a tensor as a float tensor."""
    return value if isinstance(value, Tensor) else Tensor(value, ms.float32)


def _together(first: Any, second: Any) -> Tuple[Tensor, Tensor]:
    """Return two parameters in one shape."""
    a, b = _floats(first), _floats(second)
    shape = (a + b).shape
    return ops.broadcast_to(a, shape) if a.shape != shape else a, ops.broadcast_to(b, shape) if b.shape != shape else b


class Distribution:
    """What all distributions have: the shape of one sample is ``batch_shape``."""

    batch_shape: Tuple[int, ...] = ()
    event_shape: Tuple[int, ...] = ()

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples of shape (*sample_shape, *batch_shape) that carry gradients."""
        raise NotImplementedError

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples of shape (*sample_shape, *batch_shape) without gradients."""
        return ops.stop_gradient(self.rsample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density or probability of ``value``."""
        raise NotImplementedError

    def prob(self, value: Tensor) -> Tensor:
        """Return the density or probability of ``value``."""
        return ops.exp(self.log_prob(value))


class Normal(Distribution):
    """Normal distribution with mean ``loc`` and standard deviation ``scale``."""

    def __init__(self, loc: Any, scale: Any, validate_args: Optional[bool] = None) -> None:
        self.loc, self.scale = _together(loc, scale)
        self.batch_shape = self.loc.shape

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.loc

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.scale

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return ops.square(self.scale)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return ``loc + scale * noise``."""
        noise = ops.standard_normal((*sample_shape, *self.batch_shape))
        return self.loc + noise.astype(self.loc.dtype) * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        standard = (value - self.loc) / self.scale
        return -0.5 * ops.square(standard) - ops.log(self.scale) - 0.5 * math.log(2 * math.pi)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return 0.5 + 0.5 * math.log(2 * math.pi) + ops.log(self.scale)

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of at most ``value``."""
        return 0.5 * (1 + ops.erf((value - self.loc) / (self.scale * math.sqrt(2))))


class Uniform(Distribution):
    """Uniform distribution on [``low``, ``high``)."""

    def __init__(self, low: Any, high: Any, validate_args: Optional[bool] = None) -> None:
        self.low, self.high = _together(low, high)
        self.batch_shape = self.low.shape

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return (self.low + self.high) / 2

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return ``low + (high - low) * noise``."""
        noise = ops.rand((*sample_shape, *self.batch_shape), dtype=ms.float32)
        return self.low + noise.astype(self.low.dtype) * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density; minus infinity outside."""
        inside = ops.logical_and(value >= self.low, value < self.high).astype(self.low.dtype)
        return ops.log(inside) - ops.log(self.high - self.low)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return ops.log(self.high - self.low)


class Categorical(Distribution):
    """Distribution over classes, from probabilities or logits along the last axis."""

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: Optional[bool] = None) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        if probs is not None:
            values = _floats(probs)
            self.probs = values / values.sum(-1, keepdims=True)
            tiny = 1.1920929e-07  # float32's epsilon, as in torch
            self.logits = ops.log(ops.clamp(self.probs, tiny, 1 - tiny))
        else:
            values = _floats(logits)
            self.logits = values - ops.logsumexp(values, -1, True)
            self.probs = ops.exp(self.logits)
        self.batch_shape = self.logits.shape[:-1]

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return int64 classes of shape (*sample_shape, *batch_shape)."""
        count = 1
        for size in sample_shape:
            count *= int(size)
        weights = ops.stop_gradient(self.probs).reshape((-1, self.probs.shape[-1]))
        drawn = multinomial(weights, count, True)
        return ops.transpose(drawn, (1, 0)).reshape((*sample_shape, *self.batch_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability of the classes ``value``."""
        index = value.astype(ms.int32)
        shape = index.shape if len(index.shape) >= len(self.batch_shape) else self.batch_shape
        logits = ops.broadcast_to(self.logits, (*shape, self.logits.shape[-1]))
        index = ops.broadcast_to(index, shape) if index.shape != shape else index
        return ops.gather_elements(logits, -1, ops.expand_dims(index, -1)).reshape(shape)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return -(self.probs * self.logits).sum(-1)


class Bernoulli(Distribution):
    """1 with probability ``probs``, else 0; from probabilities or logits."""

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: Optional[bool] = None) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        if probs is not None:
            self.probs = _floats(probs)
            tiny = 1.1920929e-07
            held = ops.clamp(self.probs, tiny, 1 - tiny)
            self.logits = ops.log(held) - ops.log1p(-held)
        else:
            self.logits = _floats(logits)
            self.probs = ops.sigmoid(self.logits)
        self.batch_shape = self.logits.shape

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.probs

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return zeros and ones of shape (*sample_shape, *batch_shape)."""
        noise = ops.rand((*sample_shape, *self.batch_shape), dtype=ms.float32)
        return (noise < ops.stop_gradient(self.probs)).astype(self.probs.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability of ``value``."""
        return value * logsigmoid(self.logits) + (1 - value) * logsigmoid(-self.logits)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return -(self.probs * logsigmoid(self.logits) + (1 - self.probs) * logsigmoid(-self.logits))


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """Return the Kullback-Leibler divergence of ``p`` from ``q``: two normal, or two categorical distributions."""
    if isinstance(p, Normal) and isinstance(q, Normal):
        ratio = ops.square(p.scale / q.scale)
        return 0.5 * (ratio + ops.square((p.loc - q.loc) / q.scale) - 1 - ops.log(ratio))
    if isinstance(p, Categorical) and isinstance(q, Categorical):
        return (p.probs * (p.logits - q.logits)).sum(-1)
    raise NotImplementedError(f"no formula for {type(p).__name__} and {type(q).__name__}")
