"""Kullback-Leibler divergences, by pairs of classes."""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, Tuple, Type

from mindspore import Tensor, ops

from ..functional.exact import exp, log
from ..functional.singular import inverse
from .base import Distribution, Independent
from .continuous import Exponential, Laplace, Normal, Uniform
from .discrete import Bernoulli, Categorical, Geometric, OneHotCategorical, Poisson
from .gamma import Beta, Gamma
from .multivariate import Dirichlet, MultivariateNormal
from .transforms import softplus, total

__all__ = ["kl_divergence", "register_kl"]

Formula = Callable[[Any, Any], Tensor]
_FORMULAS: Dict[Tuple[Type[Any], Type[Any]], Formula] = {}


def register_kl(type_p: Type[Any], type_q: Type[Any]) -> Callable[[Formula], Formula]:
    """Return a decorator that makes a function the formula for two classes (and those derived from them)."""

    def register(function: Formula) -> Formula:
        _FORMULAS[type_p, type_q] = function
        return function

    return register


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """Return the Kullback-Leibler divergence of ``p`` from ``q``; NotImplementedError for pairs without a formula."""
    for class_p in type(p).__mro__:
        for class_q in type(q).__mro__:
            if (class_p, class_q) in _FORMULAS:
                return _FORMULAS[class_p, class_q](p, q)
    raise NotImplementedError(f"no formula for {type(p).__name__} and {type(q).__name__}")


@register_kl(Normal, Normal)
def _normal(p: Normal, q: Normal) -> Tensor:
    ratio = ops.square(p.scale / q.scale)
    return 0.5 * (ratio + ops.square((p.loc - q.loc) / q.scale) - 1 - log(ratio))


@register_kl(Categorical, Categorical)
def _categorical(p: Categorical, q: Categorical) -> Tensor:
    terms = p.probs * (p.logits - q.logits)
    terms = ops.where(q.probs == 0, ops.full_like(terms, math.inf), terms)
    return ops.where(p.probs == 0, ops.zeros_like(terms), terms).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: OneHotCategorical, q: OneHotCategorical) -> Tensor:
    return _categorical(p, q)


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    one = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    zero = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    return one + zero


@register_kl(Geometric, Geometric)
def _geometric(p: Geometric, q: Geometric) -> Tensor:
    return -p.entropy() - ops.log1p(-q.probs) / p.probs - q.logits


@register_kl(Poisson, Poisson)
def _poisson(p: Poisson, q: Poisson) -> Tensor:
    return p.rate * (log(p.rate) - log(q.rate)) - (p.rate - q.rate)


@register_kl(Exponential, Exponential)
def _exponential(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - log(ratio) - 1


@register_kl(Gamma, Gamma)
def _gamma(p: Gamma, q: Gamma) -> Tensor:
    return (
        q.concentration * log(p.rate / q.rate)
        + ops.lgamma(q.concentration)
        - ops.lgamma(p.concentration)
        + (p.concentration - q.concentration) * ops.digamma(p.concentration)
        + (q.rate - p.rate) * (p.concentration / p.rate)
    )


@register_kl(Beta, Beta)
def _beta(p: Beta, q: Beta) -> Tensor:
    sum_p = p.concentration1 + p.concentration0
    sum_q = q.concentration1 + q.concentration0
    return (
        q.log_normalizer()
        - p.log_normalizer()
        + (p.concentration1 - q.concentration1) * ops.digamma(p.concentration1)
        + (p.concentration0 - q.concentration0) * ops.digamma(p.concentration0)
        + (sum_q - sum_p) * ops.digamma(sum_p)
    )


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    sum_p, sum_q = p.concentration.sum(-1), q.concentration.sum(-1)
    slope = ops.digamma(p.concentration) - ops.expand_dims(ops.digamma(sum_p), -1)
    return (
        ops.lgamma(sum_p)
        - ops.lgamma(sum_q)
        - (ops.lgamma(p.concentration) - ops.lgamma(q.concentration)).sum(-1)
        + ((p.concentration - q.concentration) * slope).sum(-1)
    )


@register_kl(Laplace, Laplace)
def _laplace(p: Laplace, q: Laplace) -> Tensor:
    ratio, distance = p.scale / q.scale, ops.abs(p.loc - q.loc)
    return -log(ratio) + distance / q.scale + ratio * exp(-distance / p.scale) - 1


@register_kl(Uniform, Uniform)
def _uniform(p: Uniform, q: Uniform) -> Tensor:
    result = log((q.high - q.low) / (p.high - p.low))
    outside = ops.logical_or(q.low > p.low, q.high < p.high)
    return ops.select(outside, ops.full_like(result, math.inf), result)


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p: MultivariateNormal, q: MultivariateNormal) -> Tensor:
    relative = ops.matmul(inverse(q.scale_tril), p.scale_tril)
    trace = ops.square(relative).sum((-2, -1))
    distance = q.mahalanobis(q.loc - p.loc)
    return q.half_log_det() - p.half_log_det() + 0.5 * (trace + distance - p.event_shape[0])


@register_kl(Independent, Independent)
def _independent(p: Independent, q: Independent) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("Independent distributions of different events")
    return total(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
