"""Distributions of vectors, and mixtures."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple

from mindspore import Tensor, ops

from ..functional import nans
from ..functional.algebra import open_cholesky
from ..functional.exact import log
from ..functional.singular import compiled, inverse, refuse_indefinite
from .base import LOG_2PI, Distribution, floats
from .gamma import gamma_draws, standard_gamma

__all__ = ["Dirichlet", "MixtureSameFamily", "MultivariateNormal"]


class Dirichlet(Distribution):
    """Dirichlet distribution on the simplex."""

    parameters = ("concentration",)

    has_rsample = True

    def __init__(self, concentration: Any, validate_args: Optional[bool] = None) -> None:
        self.concentration = floats(concentration)
        if not self.concentration.shape:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.batch_shape, self.event_shape = self.concentration.shape[:-1], self.concentration.shape[-1:]

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.concentration / self.concentration.sum(-1, keepdims=True)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        whole = self.concentration.sum(-1, keepdims=True)
        return self.concentration * (whole - self.concentration) / (ops.square(whole) * (whole + 1))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples that carry the gradients of the parameters."""
        drawn = gamma_draws(sample_shape, self.concentration)
        return drawn / drawn.sum(-1, keepdims=True)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples without gradients."""
        drawn = standard_gamma(sample_shape, self.concentration)
        return drawn / drawn.sum(-1, keepdims=True)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        shape = self.concentration
        return ops.xlogy(shape - 1.0, value).sum(-1) + ops.lgamma(shape.sum(-1)) - ops.lgamma(shape).sum(-1)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        shape = self.concentration
        whole, classes = shape.sum(-1), self.event_shape[0]
        return (
            ops.lgamma(shape).sum(-1)
            - ops.lgamma(whole)
            - (classes - whole) * ops.digamma(whole)
            - ((shape - 1.0) * ops.digamma(shape)).sum(-1)
        )


class MultivariateNormal(Distribution):
    """Normal distribution of vectors: mean ``loc`` (..., n), and one of three forms of the covariance (..., n, n)."""

    parameters: Tuple[str, ...] = ("loc", "scale_tril")
    has_rsample = True

    def __init__(
        self,
        loc: Any,
        covariance_matrix: Optional[Tensor] = None,
        precision_matrix: Optional[Tensor] = None,
        scale_tril: Optional[Tensor] = None,
        validate_args: Optional[bool] = None,
    ) -> None:
        given = [form for form in (covariance_matrix, precision_matrix, scale_tril) if form is not None]
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        if validate_args is not False and scale_tril is None and not compiled():
            refuse_indefinite(given[0], "precision_matrix" if covariance_matrix is None else "covariance_matrix")
        if covariance_matrix is not None:
            scale_tril = open_cholesky(covariance_matrix)
        elif precision_matrix is not None:
            scale_tril = open_cholesky(inverse(precision_matrix))
        assert scale_tril is not None
        scale_tril = ops.tril(scale_tril)  # what stands above the diagonal counts for nothing, in gradients too
        loc = floats(loc)
        size = scale_tril.shape[-1]
        batch = (scale_tril[..., 0] + loc).shape[:-1]
        self.loc = ops.broadcast_to(loc, (*batch, *loc.shape[-1:]))  # one place, which all share, stays one in PyTorch
        self.scale_tril = ops.broadcast_to(scale_tril, (*batch, size, size))
        self.batch_shape, self.event_shape = batch, loc.shape[-1:]
        names = (("covariance_matrix", covariance_matrix), ("precision_matrix", precision_matrix))
        self.shown = ("loc", next((name for name, form in names if form is not None), "scale_tril"))

    @property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        return ops.matmul(self.scale_tril, ops.swapaxes(self.scale_tril, -1, -2))

    @property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        return inverse(self.covariance_matrix)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        """The mean."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """The diagonal of the covariance."""
        return ops.square(self.scale_tril).sum(-1)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return ``loc + scale_tril @ noise``."""
        noise = ops.standard_normal(self.shape_of(sample_shape)).astype(self.loc.dtype)
        return self.loc + ops.matmul(self.scale_tril, ops.expand_dims(noise, -1)).squeeze(-1)

    def half_log_det(self) -> Tensor:
        """Return half the logarithm of the covariance's determinant."""
        return log(ops.diagonal(self.scale_tril, 0, -2, -1)).sum(-1)

    def mahalanobis(self, difference: Tensor) -> Tensor:
        """Return the squared length of a difference, measured by the covariance."""
        return ops.square(ops.matmul(inverse(self.scale_tril), ops.expand_dims(difference, -1)).squeeze(-1)).sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        distance = self.mahalanobis(value - self.loc)
        return -0.5 * (self.event_shape[0] * LOG_2PI + distance) - self.half_log_det()

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return 0.5 * self.event_shape[0] * (1.0 + LOG_2PI) + self.half_log_det()


class MixtureSameFamily(Distribution):
    """Mixture of the last axis of ``component_distribution``'s batch, by ``mixture_distribution``; no gradients."""

    def __init__(
        self,
        mixture_distribution: Any,
        component_distribution: Distribution,
        validate_args: Optional[bool] = None,
    ) -> None:
        self.mixture_distribution, self.component_distribution = mixture_distribution, component_distribution
        self.batch_shape = component_distribution.batch_shape[:-1]
        self.event_shape = component_distribution.event_shape

    def expand(self, batch_shape: Sequence[int]) -> Distribution:
        """Return the distribution with its parameters in a larger shape."""
        component = self.component_distribution
        mixture = self.mixture_distribution.expand(batch_shape)
        return MixtureSameFamily(mixture, component.expand((*batch_shape, component.batch_shape[-1])))

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of at most ``value``."""
        padded = ops.expand_dims(value, -1 - len(self.event_shape))
        return (self.component_distribution.cdf(padded) * self.mixture_distribution.probs).sum(-1)

    def _weights(self) -> Tensor:
        probs = self.mixture_distribution.probs
        return probs.reshape((*probs.shape, *(1 for _ in self.event_shape)))

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return (self._weights() * self.component_distribution.mean).sum(-1 - len(self.event_shape))

    @property
    def variance(self) -> Tensor:
        """The variance."""
        axis = -1 - len(self.event_shape)
        component = self.component_distribution
        spread = ops.square(component.mean - ops.expand_dims(self.mean, axis))
        return (self._weights() * (component.variance + spread)).sum(axis)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples without gradients."""
        drawn = self.component_distribution.sample(sample_shape)
        classes = self.mixture_distribution.probs.shape[-1]
        chosen = ops.expand_dims(self.mixture_distribution.sample(sample_shape), -1) == ops.arange(classes)
        mask = chosen.reshape((*chosen.shape, *(1 for _ in self.event_shape)))
        return ops.select(ops.broadcast_to(mask, drawn.shape), drawn, ops.zeros_like(drawn)).sum(
            -1 - len(self.event_shape)
        )

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        value = ops.expand_dims(value, -1 - len(self.event_shape))
        return nans.logsumexp(self.component_distribution.log_prob(value) + self.mixture_distribution.logits, -1)
