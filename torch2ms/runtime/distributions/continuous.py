"""Distributions of single real numbers."""

from __future__ import annotations

import math
from typing import Any, Optional, Sequence

import mindspore as ms
from mindspore import Tensor, ops

from ..functional.exact import erfinv, exp, log
from .base import LOG_2PI, Distribution, floats, narrow, together, uniform

__all__ = [
    "Cauchy",
    "Exponential",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Laplace",
    "LogNormal",
    "Normal",
    "Pareto",
    "Uniform",
    "Weibull",
]

EULER = 0.5772156649015329


def _inside(condition: Tensor, value: Tensor) -> Tensor:
    """Return ``value`` where the condition holds, else minus infinity."""
    return ops.select(condition, value, ops.full_like(value, -math.inf))


class _LocationScale(Distribution):
    parameters = ("loc", "scale")
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: Optional[bool] = None) -> None:
        self.loc, self.scale = together(loc, scale)
        self.batch_shape = self.loc.shape

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.loc

    def standard(self, value: Tensor) -> Tensor:
        """Return ``(value - loc) / scale``."""
        return (value - self.loc) / self.scale


class Normal(_LocationScale):
    """Normal distribution with mean ``loc`` and standard deviation ``scale``."""

    @property
    def mode(self) -> Tensor:
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
        noise = ops.standard_normal(self.shape_of(sample_shape))
        return self.loc + noise.astype(self.loc.dtype) * self.scale

    @narrow
    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        return -0.5 * ops.square(self.standard(value)) - log(self.scale) - 0.5 * LOG_2PI

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return 0.5 + 0.5 * LOG_2PI + log(self.scale)

    @narrow
    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of at most ``value``."""
        return 0.5 * (1 + ops.erf(self.standard(value) / math.sqrt(2)))

    @narrow
    def icdf(self, value: Tensor) -> Tensor:
        """Return the quantile."""
        return self.loc + self.scale * erfinv(2 * value - 1) * math.sqrt(2)


class LogNormal(_LocationScale):
    """exp of a normal distribution with mean ``loc`` and standard deviation ``scale``."""

    shown = ()

    def _normal(self) -> Normal:
        return Normal(self.loc, self.scale)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return exp(self.loc + ops.square(self.scale) / 2)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        square = ops.square(self.scale)
        return ops.expm1(square) * exp(2 * self.loc + square)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return exp of normal samples."""
        return exp(self._normal().rsample(sample_shape))

    @narrow
    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        exponent = log(value)
        return self._normal().log_prob(exponent) - exponent

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return self._normal().entropy() + self.loc

    @narrow
    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of at most ``value``."""
        return self._normal().cdf(log(value))

    @narrow
    def icdf(self, value: Tensor) -> Tensor:
        """Return the quantile of a probability."""
        return exp(self._normal().icdf(value))


class Laplace(_LocationScale):
    """Laplace distribution around ``loc``."""

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return 2 * ops.square(self.scale)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples by the quantile of uniform noise."""
        return self.icdf(uniform(self.shape_of(sample_shape), self.loc))

    @narrow
    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        return -log(2 * self.scale) - ops.abs(value - self.loc) / self.scale

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return 1 + log(2 * self.scale)

    @narrow
    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of at most ``value``."""
        from_middle = self.standard(value)
        return 0.5 - 0.5 * ops.sign(from_middle) * ops.expm1(-ops.abs(from_middle))

    @narrow
    def icdf(self, value: Tensor) -> Tensor:
        """Return the quantile."""
        term = value - 0.5
        return self.loc - self.scale * ops.sign(term) * ops.log1p(-2 * ops.abs(term))


class Cauchy(_LocationScale):
    """Cauchy distribution; it has neither mean nor variance."""

    @property
    def mean(self) -> Tensor:
        """Not a number."""
        return ops.full_like(self.loc, math.nan)

    @property
    def variance(self) -> Tensor:
        """Infinite."""
        return ops.full_like(self.loc, math.inf)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples by the quantile of uniform noise."""
        return self.icdf(uniform(self.shape_of(sample_shape), self.loc))

    @narrow
    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        return -math.log(math.pi) - log(self.scale) - ops.log1p(ops.square(self.standard(value)))

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return math.log(4 * math.pi) + log(self.scale)

    @narrow
    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of at most ``value``."""
        return ops.atan(self.standard(value)) / math.pi + 0.5

    @narrow
    def icdf(self, value: Tensor) -> Tensor:
        """Return the quantile."""
        return self.loc + self.scale * ops.tan(math.pi * (value - 0.5))


class Gumbel(_LocationScale):
    """Gumbel distribution (of maxima)."""

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.loc + self.scale * EULER

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return math.pi**2 / 6 * ops.square(self.scale)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return ``loc - scale * log(-log(noise))``."""
        noise = uniform(self.shape_of(sample_shape), self.loc)
        return self.loc - self.scale * log(-log(noise))

    @narrow
    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        exponent = -self.standard(value)
        return exponent - exp(exponent) - log(self.scale)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return log(self.scale) + (1 + EULER)

    @narrow
    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of at most ``value``."""
        return exp(-exp(-self.standard(value)))


class Uniform(Distribution):
    """Uniform distribution on [``low``, ``high``)."""

    parameters = ("low", "high")
    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: Optional[bool] = None) -> None:
        self.low, self.high = together(low, high)
        self.batch_shape = self.low.shape

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return (self.low + self.high) / 2

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return ops.square(self.high - self.low) / 12

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return ``low + (high - low) * noise``."""
        noise = ops.rand(self.shape_of(sample_shape), dtype=ms.float32)
        return self.low + noise.astype(self.low.dtype) * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density; minus infinity outside."""
        inside = ops.logical_and(value >= self.low, value < self.high).astype(self.low.dtype)
        return log(inside) - log(self.high - self.low)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return log(self.high - self.low)

    @narrow
    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of at most ``value``."""
        return ops.clamp((value - self.low) / (self.high - self.low), 0, 1)

    @narrow
    def icdf(self, value: Tensor) -> Tensor:
        """Return the quantile."""
        return value * (self.high - self.low) + self.low


class Exponential(Distribution):
    """Exponential distribution with mean 1 / ``rate``."""

    parameters = ("rate",)
    has_rsample = True

    def __init__(self, rate: Any, validate_args: Optional[bool] = None) -> None:
        self.rate = floats(rate)
        self.batch_shape = self.rate.shape

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return 1 / self.rate

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return 1 / self.rate

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return 1 / ops.square(self.rate)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples by the quantile of uniform noise."""
        return -log(uniform(self.shape_of(sample_shape), self.rate)) / self.rate

    @narrow
    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        return log(self.rate) - self.rate * value

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return 1.0 - log(self.rate)

    @narrow
    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of at most ``value``."""
        return 1 - exp(-self.rate * value)

    @narrow
    def icdf(self, value: Tensor) -> Tensor:
        """Return the quantile."""
        return -ops.log1p(-value) / self.rate


class HalfNormal(Distribution):
    """Absolute value of a normal distribution around 0."""

    shown = ()

    parameters = ("scale",)
    has_rsample = True

    def __init__(self, scale: Any, validate_args: Optional[bool] = None) -> None:
        self.scale = floats(scale)
        self.batch_shape = self.scale.shape

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return ops.square(self.scale) * (1 - 2 / math.pi)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return absolute normal samples."""
        return ops.abs(Normal(0.0, self.scale).rsample(sample_shape))

    @narrow
    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density; minus infinity below 0."""
        value = floats(value)
        density = Normal(0.0, self.scale).log_prob(value) + math.log(2)
        return _inside(ops.broadcast_to(value >= 0, density.shape), density)

    @narrow
    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of at most ``value``."""
        return 2 * Normal(0.0, self.scale).cdf(value) - 1

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return Normal(0.0, self.scale).entropy() - math.log(2)


class HalfCauchy(Distribution):
    """Absolute value of a Cauchy distribution around 0."""

    shown = ()

    parameters = ("scale",)
    has_rsample = True

    def __init__(self, scale: Any, validate_args: Optional[bool] = None) -> None:
        self.scale = floats(scale)
        self.batch_shape = self.scale.shape

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return absolute Cauchy samples."""
        return ops.abs(Cauchy(0.0, self.scale).rsample(sample_shape))

    @property
    def mean(self) -> Tensor:
        """The mean, which is infinite."""
        return ops.full_like(self.scale, math.inf)

    @property
    def variance(self) -> Tensor:
        """The variance, which is infinite."""
        return ops.full_like(self.scale, math.inf)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density, in the dtype of the scale; minus infinity below 0."""
        value = floats(value).astype(self.scale.dtype)
        density = Cauchy(0.0, self.scale).log_prob(value) + math.log(2)
        return _inside(ops.broadcast_to(value >= 0, density.shape), density)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return Cauchy(0.0, self.scale).entropy() - math.log(2)


class Pareto(Distribution):
    """Pareto distribution above ``scale`` with exponent ``alpha``."""

    shown = ("alpha", "scale")

    parameters = ("scale", "alpha")
    has_rsample = True

    def __init__(self, scale: Any, alpha: Any, validate_args: Optional[bool] = None) -> None:
        self.scale, self.alpha = together(scale, alpha)
        self.batch_shape = self.scale.shape

    @property
    def mean(self) -> Tensor:
        """The mean; infinite for exponents up to 1."""
        held = ops.clamp(self.alpha, 1)
        return held * self.scale / (held - 1)

    @property
    def variance(self) -> Tensor:
        """The variance; infinite for exponents up to 2."""
        held = ops.clamp(self.alpha, 2)
        return ops.square(self.scale) * held / (ops.square(held - 1) * (held - 2))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples by the quantile of uniform noise."""
        noise = uniform(self.shape_of(sample_shape), self.scale)
        return self.scale * exp(-log(noise) / self.alpha)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        return log(self.alpha) + self.alpha * log(self.scale) - (self.alpha + 1) * log(floats(value))

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return log(self.scale / self.alpha) + (1 + 1 / self.alpha)


class Weibull(Distribution):
    """Weibull distribution."""

    parameters = ("scale", "concentration")
    has_rsample = True

    def __init__(self, scale: Any, concentration: Any, validate_args: Optional[bool] = None) -> None:
        self.scale, self.concentration = together(scale, concentration)
        self.batch_shape = self.scale.shape

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.scale * exp(ops.lgamma(1 + 1 / self.concentration))

    @property
    def variance(self) -> Tensor:
        """The variance."""
        second = exp(ops.lgamma(1 + 2 / self.concentration))
        return ops.square(self.scale) * (second - exp(2 * ops.lgamma(1 + 1 / self.concentration)))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples by the quantile of uniform noise."""
        noise = uniform(self.shape_of(sample_shape), self.scale)
        return self.scale * ops.pow(-log(noise), 1 / self.concentration)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        ratio = floats(value) / self.scale
        shape = self.concentration
        return log(shape / self.scale) + (shape - 1) * log(ratio) - ops.pow(ratio, shape)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return EULER * (1 - 1 / self.concentration) + log(self.scale / self.concentration) + 1
