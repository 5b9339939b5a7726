"""Distributions that few programs use."""

from __future__ import annotations

import math
from typing import Any, Optional, Sequence

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from ..functional.exact import exp, log
from ..functional.special import i0e, i1e
from .base import EPSILON, Distribution, TransformedDistribution, floats, probs_and_logits, together, uniform
from .continuous import Normal
from .discrete import OneHotCategorical
from .gamma import gamma_draws
from .multivariate import MultivariateNormal
from .transforms import softplus
from .wider_transforms import StickBreakingTransform

__all__ = [
    "ContinuousBernoulli",
    "FisherSnedecor",
    "InverseGamma",
    "Kumaraswamy",
    "LogisticNormal",
    "LowRankMultivariateNormal",
    "OneHotCategoricalStraightThrough",
    "VonMises",
]

_EULER = 0.57721566490153286060


class InverseGamma(Distribution):
    """Distribution of 1 / x for x of a Gamma distribution."""

    shown = ()

    parameters = ("concentration", "rate")
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: Optional[bool] = None) -> None:
        self.concentration, self.rate = together(concentration, rate)
        self.batch_shape = self.rate.shape

    @property
    def mean(self) -> Tensor:
        """The mean; infinite up to a concentration of 1."""
        finite = self.rate / (self.concentration - 1)
        return ops.select(self.concentration > 1, finite, ops.full_like(finite, math.inf))

    @property
    def variance(self) -> Tensor:
        """The variance; infinite up to a concentration of 2."""
        finite = ops.square(self.rate) / (ops.square(self.concentration - 1) * (self.concentration - 2))
        return ops.select(self.concentration > 2, finite, ops.full_like(finite, math.inf))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples that carry the gradients of the parameters."""
        return self.rate / gamma_draws(sample_shape, self.concentration)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        shape, value = self.concentration, floats(value)
        return shape * log(self.rate) - ops.lgamma(shape) - (shape + 1) * log(value) - self.rate / value

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        shape = self.concentration
        return shape + log(self.rate) + ops.lgamma(shape) - (1 + shape) * ops.digamma(shape)


class FisherSnedecor(Distribution):
    """F-distribution."""

    parameters = ("df1", "df2")
    has_rsample = True

    def __init__(self, df1: Any, df2: Any, validate_args: Optional[bool] = None) -> None:
        self.df1, self.df2 = together(df1, df2)
        self.batch_shape = self.df1.shape

    @property
    def mean(self) -> Tensor:
        """The mean; not a number up to two degrees of freedom below."""
        finite = self.df2 / (self.df2 - 2)
        return ops.select(self.df2 > 2, finite, ops.full_like(finite, math.nan))

    @property
    def variance(self) -> Tensor:
        """The variance; not a number up to four degrees of freedom below."""
        one, two = self.df1, self.df2
        finite = 2 * ops.square(two) * (one + two - 2) / (one * ops.square(two - 2) * (two - 4))
        return ops.select(two > 4, finite, ops.full_like(finite, math.nan))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples that carry the gradients of the parameters."""
        above = gamma_draws(sample_shape, self.df1 * 0.5) / self.df1
        return above / (gamma_draws(sample_shape, self.df2 * 0.5) / self.df2)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        one, two, value = self.df1 * 0.5, self.df2 * 0.5, floats(value)
        ratio = self.df1 / self.df2
        normalizer = ops.lgamma(one + two) - ops.lgamma(one) - ops.lgamma(two)
        rest = (one - 1) * log(value) - (one + two) * ops.log1p(ratio * value)
        return normalizer + one * log(ratio) + rest


class Kumaraswamy(Distribution):
    """Kumaraswamy distribution on (0, 1)."""

    parameters = ("concentration1", "concentration0")
    has_rsample = True

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: Optional[bool] = None) -> None:
        self.concentration1, self.concentration0 = together(concentration1, concentration0)
        self.batch_shape = self.concentration1.shape

    def _moment(self, order: int) -> Tensor:
        one, zero = 1 + order / self.concentration1, self.concentration0
        return zero * exp(ops.lgamma(one) + ops.lgamma(zero) - ops.lgamma(one + zero))

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self._moment(1)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self._moment(2) - ops.square(self._moment(1))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples by the quantile of uniform noise."""
        noise = uniform(self.shape_of(sample_shape), self.concentration1)
        return ops.pow(1 - ops.pow(noise, 1 / self.concentration0), 1 / self.concentration1)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        one, zero, value = self.concentration1, self.concentration0, floats(value)
        return log(one) + log(zero) + (one - 1) * log(value) + (zero - 1) * ops.log1p(-ops.pow(value, one))

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        one, zero = 1 - 1 / self.concentration1, 1 - 1 / self.concentration0
        harmonic = ops.digamma(self.concentration0 + 1) + _EULER
        return zero + one * harmonic - log(self.concentration1) - log(self.concentration0)


class VonMises(Distribution):
    """Normal distribution on the circle; samples carry no gradients."""

    parameters = ("loc", "concentration")

    def __init__(self, loc: Any, concentration: Any, validate_args: Optional[bool] = None) -> None:
        self.loc, self.concentration = together(loc, concentration)
        self.batch_shape = self.loc.shape

    @property
    def mean(self) -> Tensor:
        """The mean, as an angle."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """The circular variance."""
        return 1 - i1e(self.concentration) / i0e(self.concentration)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples without gradients, from numpy's generator, which MindSpore's seed sets as well."""
        shape = self.shape_of(sample_shape)
        drawn = np.random.vonmises(self.loc.asnumpy(), self.concentration.asnumpy(), shape)
        return Tensor(np.asarray(drawn), ms.float32).astype(self.loc.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        normalizer = math.log(2 * math.pi) + log(i0e(self.concentration)) + self.concentration
        return self.concentration * ops.cos(value - self.loc) - normalizer


class LowRankMultivariateNormal(MultivariateNormal):
    """Normal distribution of vectors, with the covariance ``cov_factor @ cov_factor.T + diag(cov_diag)``."""

    parameters = ("loc", "scale_tril", "cov_factor", "cov_diag")

    def __init__(self, loc: Any, cov_factor: Any, cov_diag: Any, validate_args: Optional[bool] = None) -> None:
        self.cov_factor, self.cov_diag = cov_factor, cov_diag
        diagonal = ops.expand_dims(cov_diag, -1) * ops.eye(cov_diag.shape[-1], dtype=cov_diag.dtype)
        super().__init__(loc, ops.matmul(cov_factor, ops.swapaxes(cov_factor, -1, -2)) + diagonal)
        self.shown = ("loc", "cov_factor", "cov_diag")


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """Distribution over classes, whose samples have the gradients of the probabilities."""

    has_rsample = True

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return unit vectors with the gradients of the probabilities."""
        return self.sample(sample_shape) + (self.probs - ops.stop_gradient(self.probs))


class ContinuousBernoulli(Distribution):
    """Distribution on (0, 1) whose density is that of a Bernoulli distribution, normalised; near 1 / 2 by a series."""

    parameters = ("probs", "logits")
    has_rsample = True

    def __init__(
        self, probs: Any = None, logits: Any = None, lims: Any = (0.499, 0.501), validate_args: Optional[bool] = None
    ) -> None:
        self.shown = ("logits",) if probs is None else ("probs",)
        found, self.logits = probs_and_logits(probs, logits, True)
        self.probs = ops.clamp(found, EPSILON, 1 - EPSILON)
        self.batch_shape, self._lims = self.logits.shape, lims

    def _outside(self) -> Tensor:
        return ops.logical_or(self.probs <= self._lims[0], self.probs > self._lims[1])

    def _cut(self) -> Tensor:
        return ops.where(self._outside(), self.probs, ops.full_like(self.probs, self._lims[0]))

    def _log_normalizer(self) -> Tensor:
        cut, square = self._cut(), ops.square(self.probs - 0.5)
        exact = log(ops.abs(ops.log1p(-cut) - log(cut))) - log(ops.abs(1.0 - 2.0 * cut))
        return ops.where(self._outside(), exact, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * square) * square)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        cut, rest = self._cut(), self.probs - 0.5
        exact = cut / (2.0 * cut - 1.0) + 1.0 / (ops.log1p(-cut) - log(cut))
        return ops.where(self._outside(), exact, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * ops.square(rest)) * rest)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        cut, square = self._cut(), ops.square(self.probs - 0.5)
        exact = cut * (cut - 1.0) / ops.square(1.0 - 2.0 * cut) + 1.0 / ops.square(ops.log1p(-cut) - log(cut))
        return ops.where(self._outside(), exact, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * square) * square)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples by the quantile of uniform noise."""
        return self.icdf(uniform(self.shape_of(sample_shape), self.probs))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        return value * self.logits - softplus(self.logits) + self._log_normalizer()

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of at most ``value``."""
        cut = self._cut()
        exact = (ops.pow(cut, value) * ops.pow(1.0 - cut, 1.0 - value) + cut - 1.0) / (2.0 * cut - 1.0)
        inside = ops.where(self._outside(), exact, value + ops.zeros_like(exact))
        return ops.where(value <= 0, ops.zeros_like(inside), ops.where(value >= 1, ops.ones_like(inside), inside))

    def icdf(self, value: Tensor) -> Tensor:
        """Return the quantile of a probability."""
        cut = self._cut()
        exact = ops.log1p(-cut + value * (2.0 * cut - 1.0)) - ops.log1p(-cut)
        exact = exact / (log(cut) - ops.log1p(-cut))
        return ops.where(self._outside(), exact, value + ops.zeros_like(exact))

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        of_0, of_1 = ops.log1p(-self.probs), log(self.probs)
        return self.mean * (of_0 - of_1) - self._log_normalizer() - of_0


class LogisticNormal(TransformedDistribution):
    """Distribution on the simplex: stick breaking of normal vectors."""

    def __init__(self, loc: Any, scale: Any, validate_args: Optional[bool] = None) -> None:
        super().__init__(Normal(loc, scale), StickBreakingTransform())

    @property
    def loc(self) -> Tensor:
        """The means of the normal distribution."""
        return self.base_dist.base_dist.loc  # type: ignore[attr-defined]

    @property
    def scale(self) -> Tensor:
        """The standard deviations of the normal distribution."""
        return self.base_dist.base_dist.scale  # type: ignore[attr-defined]
