"""Distributions made of Gamma draws, whose gradients are those of the distribution function at what was drawn."""

from __future__ import annotations

import math
from typing import Any, Optional, Sequence

import mindspore as ms
from mindspore import Tensor, ops

from ..functional.exact import log
from .base import Distribution, floats, together

__all__ = ["Beta", "Chi2", "Gamma", "StudentT", "gamma_draws", "standard_gamma"]


def standard_gamma(shape: Sequence[int], concentration: Tensor) -> Tensor:
    """Return draws from Gamma(concentration, 1) without gradients: (*shape, *concentration's shape)."""
    drawn = ops.random_gamma(Tensor(tuple(shape) or (1,), ms.int32), ops.stop_gradient(concentration))
    return ops.clamp(drawn if shape else drawn[0], 1.1754944e-38).astype(concentration.dtype)


def gamma_draws(shape: Sequence[int], concentration: Tensor) -> Tensor:
    """Return draws from Gamma(concentration, 1) that carry the gradient of ``concentration``.

    Implicit reparametrisation (Figurnov et al. 2018): the distribution function F stays the same where a draw moves
    with its parameter, so that dx / da = -(dF / da) / density. MindSpore's draws have no gradient of their own.
    """
    drawn = standard_gamma(shape, concentration)
    a = ops.broadcast_to(ops.stop_gradient(concentration), drawn.shape).astype(ms.float64)
    x, step = drawn.astype(ms.float64), 1e-4 * a
    change = (ops.igamma(a + step, x) - ops.igamma(a - step, x)) / (2 * step)
    slope = -change / ops.exp((a - 1) * ops.log(x) - x - ops.lgamma(a))
    slope = ops.select(ops.isfinite(slope), slope, ops.zeros_like(slope)).astype(drawn.dtype)
    return drawn + ops.stop_gradient(slope) * (concentration - ops.stop_gradient(concentration))


class Gamma(Distribution):
    """Gamma distribution with shape ``concentration`` and inverse scale ``rate``."""

    parameters = ("concentration", "rate")
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: Optional[bool] = None) -> None:
        self.concentration, self.rate = together(concentration, rate)
        self.batch_shape = self.rate.shape

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.concentration / self.rate

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.concentration / ops.square(self.rate)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples that carry the gradients of the parameters."""
        return gamma_draws(sample_shape, self.concentration) / self.rate

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples without gradients."""
        return standard_gamma(sample_shape, self.concentration) / ops.stop_gradient(self.rate)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density, in the dtype of the parameters."""
        value = floats(value).astype(self.rate.dtype)
        return (
            ops.xlogy(self.concentration, self.rate)
            + ops.xlogy(self.concentration - 1, value)
            - self.rate * value
            - ops.lgamma(self.concentration)
        )

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        shape = self.concentration
        return shape - log(self.rate) + ops.lgamma(shape) + (1.0 - shape) * ops.digamma(shape)


class Chi2(Gamma):
    """Chi-squared distribution with ``df`` degrees of freedom."""

    shown = ()

    def __init__(self, df: Any, validate_args: Optional[bool] = None) -> None:
        super().__init__(0.5 * floats(df), 0.5)

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self.concentration * 2


class Beta(Distribution):
    """Beta distribution on (0, 1)."""

    parameters = ("concentration1", "concentration0")
    shown = ()
    has_rsample = True

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: Optional[bool] = None) -> None:
        self.concentration1, self.concentration0 = together(concentration1, concentration0)
        self.batch_shape = self.concentration1.shape

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        whole = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (ops.square(whole) * (whole + 1))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples that carry the gradients of the parameters."""
        one = gamma_draws(sample_shape, self.concentration1)
        return one / (one + gamma_draws(sample_shape, self.concentration0))

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples without gradients."""
        one = standard_gamma(sample_shape, self.concentration1)
        return one / (one + standard_gamma(sample_shape, self.concentration0))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        value = floats(value)
        return (
            ops.xlogy(self.concentration1 - 1, value)
            + ops.xlogy(self.concentration0 - 1, 1 - value)
            - self.log_normalizer()
        )

    def log_normalizer(self) -> Tensor:
        """Return the logarithm of the beta function."""
        one, zero = self.concentration1, self.concentration0
        return ops.lgamma(one) + ops.lgamma(zero) - ops.lgamma(one + zero)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        one, zero = self.concentration1, self.concentration0
        return (
            self.log_normalizer()
            - (one - 1) * ops.digamma(one)
            - (zero - 1) * ops.digamma(zero)
            + (one + zero - 2) * ops.digamma(one + zero)
        )


class StudentT(Distribution):
    """Student's t-distribution."""

    parameters = ("df", "loc", "scale")
    has_rsample = True

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: Optional[bool] = None) -> None:
        self.df, self.loc, self.scale = together(df, loc, scale)
        self.batch_shape = self.df.shape

    @property
    def mean(self) -> Tensor:
        """The mean; not a number up to one degree of freedom."""
        return ops.select(self.df > 1, self.loc, ops.full_like(self.loc, math.nan))

    @property
    def variance(self) -> Tensor:
        """The variance; infinite up to two degrees of freedom, not a number up to one."""
        finite = ops.square(self.scale) * self.df / (self.df - 2)
        large = ops.select(self.df > 2, finite, ops.full_like(finite, math.inf))
        return ops.select(self.df > 1, large, ops.full_like(finite, math.nan))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples that carry the gradients of the parameters."""
        noise = ops.standard_normal(self.shape_of(sample_shape)).astype(self.loc.dtype)
        chi2 = 2 * gamma_draws(sample_shape, self.df / 2)
        return self.loc + self.scale * noise * ops.rsqrt(chi2 / self.df)

    def _log_beta(self) -> Tensor:
        """Return the logarithm of the beta function of df / 2 and 1 / 2."""
        return ops.lgamma(0.5 * self.df) + 0.5 * math.log(math.pi) - ops.lgamma(0.5 * (self.df + 1.0))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        standard = (value - self.loc) / self.scale
        normalizer = log(self.scale) + 0.5 * log(self.df) + self._log_beta()
        return -0.5 * (self.df + 1.0) * ops.log1p(ops.square(standard) / self.df) - normalizer

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        half = 0.5 * (self.df + 1)
        spread = half * (ops.digamma(half) - ops.digamma(0.5 * self.df))
        return log(self.scale) + spread + 0.5 * log(self.df) + self._log_beta()
