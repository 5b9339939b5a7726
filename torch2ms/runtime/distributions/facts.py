"""What is known of distributions beside their densities: where values lie, modes, distribution functions, as tables.

Each entry becomes a member of its class, under PyTorch's name; subclasses have it too, unless they say otherwise.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Sequence, Tuple

from mindspore import Tensor, ops

from ..functional.exact import exp, log
from . import constraints as c
from .base import together
from .continuous import (
    Cauchy,
    Exponential,
    Gumbel,
    HalfCauchy,
    HalfNormal,
    Laplace,
    LogNormal,
    Normal,
    Pareto,
    Uniform,
    Weibull,
)
from .discrete import (
    Bernoulli,
    Binomial,
    Categorical,
    Geometric,
    Multinomial,
    NegativeBinomial,
    OneHotCategorical,
    Poisson,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
)
from .gamma import Beta, Chi2, Gamma, StudentT
from .multivariate import Dirichlet, MultivariateNormal
from .seldom import (
    ContinuousBernoulli,
    FisherSnedecor,
    InverseGamma,
    Kumaraswamy,
    LogisticNormal,
    LowRankMultivariateNormal,
    VonMises,
)

__all__ = ["attach"]

_NAN = float("nan")
_PLACED: Dict[str, c.Constraint] = {"loc": c.real, "scale": c.positive}
_BINARY: Dict[str, c.Constraint] = {"probs": c.unit_interval, "logits": c.real}
_CLASSES: Dict[str, c.Constraint] = {"probs": c.simplex, "logits": c.real_vector}
_SHAPED: Dict[str, c.Constraint] = {"concentration": c.positive, "rate": c.positive}
_TWO: Dict[str, c.Constraint] = {"concentration1": c.positive, "concentration0": c.positive}

# Where values lie (a function of the distribution, where that depends on it), and parameters
_SUPPORTS: Dict[type, Any] = {
    Bernoulli: c.boolean,
    Beta: c.unit_interval,
    Binomial: lambda d: c.integer_interval(0, d.total_count),
    Categorical: lambda d: c.integer_interval(0, d.logits.shape[-1] - 1),
    Cauchy: c.real,
    ContinuousBernoulli: c.unit_interval,
    Dirichlet: c.simplex,
    Exponential: c.nonnegative,
    FisherSnedecor: c.positive,
    Gamma: c.nonnegative,
    Geometric: c.nonnegative_integer,
    Gumbel: c.real,
    HalfCauchy: c.nonnegative,
    HalfNormal: c.nonnegative,
    InverseGamma: c.positive,
    Kumaraswamy: c.unit_interval,
    Laplace: c.real,
    LogisticNormal: c.simplex,
    LogNormal: c.positive,
    Multinomial: lambda d: c.multinomial(d.total_count),
    MultivariateNormal: c.real_vector,
    NegativeBinomial: c.nonnegative_integer,
    Normal: c.real,
    OneHotCategorical: c.one_hot,
    Pareto: lambda d: c.greater_than_eq(d.scale),
    Poisson: c.nonnegative_integer,
    RelaxedBernoulli: c.unit_interval,
    RelaxedOneHotCategorical: c.simplex,
    StudentT: c.real,
    Uniform: lambda d: c.interval(d.low, d.high),
    VonMises: c.real,
    Weibull: c.positive,
}
_ARGUMENTS: Dict[type, Dict[str, c.Constraint]] = {
    Bernoulli: _BINARY,
    Beta: _TWO,
    Binomial: {"total_count": c.nonnegative_integer, **_BINARY},
    Categorical: _CLASSES,
    Cauchy: _PLACED,
    Chi2: {"df": c.positive},
    ContinuousBernoulli: _BINARY,
    Dirichlet: {"concentration": c.independent(c.positive, 1)},
    Exponential: {"rate": c.positive},
    FisherSnedecor: {"df1": c.positive, "df2": c.positive},
    Gamma: _SHAPED,
    Geometric: _BINARY,
    Gumbel: _PLACED,
    HalfCauchy: {"scale": c.positive},
    HalfNormal: {"scale": c.positive},
    InverseGamma: _SHAPED,
    Kumaraswamy: _TWO,
    Laplace: _PLACED,
    LogisticNormal: _PLACED,
    LogNormal: _PLACED,
    LowRankMultivariateNormal: {
        "loc": c.real_vector,
        "cov_factor": c.independent(c.real, 2),
        "cov_diag": c.independent(c.positive, 1),
    },
    Multinomial: _CLASSES,
    MultivariateNormal: {
        "loc": c.real_vector,
        "covariance_matrix": c.positive_definite,
        "precision_matrix": c.positive_definite,
        "scale_tril": c.lower_cholesky,
    },
    NegativeBinomial: {
        "total_count": c.greater_than_eq(0),
        "probs": c.half_open_interval(0.0, 1.0),
        "logits": c.real,
    },
    Normal: _PLACED,
    OneHotCategorical: _CLASSES,
    Pareto: {"alpha": c.positive, "scale": c.positive},
    Poisson: {"rate": c.nonnegative},
    RelaxedBernoulli: _BINARY,
    RelaxedOneHotCategorical: _CLASSES,
    StudentT: {"df": c.positive, **_PLACED},
    Uniform: {"low": c.dependent, "high": c.dependent},
    VonMises: {"loc": c.real, "concentration": c.positive},
    Weibull: {"scale": c.positive, "concentration": c.positive},
}


def _of_simplex(shape: Tensor) -> Tensor:
    """Return the mode of a Dirichlet distribution; one corner, where the density is infinite at all."""
    above = ops.relu(shape - 1)
    found = above / above.sum(-1, keepdims=True)
    corner = ops.arange(shape.shape[-1]) == ops.expand_dims(ops.argmax(_without_nan(found), -1), -1)
    is_bowl = ops.expand_dims((shape < 1).all(-1), -1)
    return ops.where(ops.broadcast_to(is_bowl, shape.shape), corner.astype(shape.dtype), found)


def _without_nan(values: Tensor) -> Tensor:
    return ops.where(values == values, values, ops.zeros_like(values))


def _of_kumaraswamy(d: Any) -> Tensor:
    one, zero = d.concentration1, d.concentration0
    found = exp(ops.log1p(-zero) / zero - ops.log1p(-zero * one))
    return found.masked_fill(ops.logical_or(one < 1, zero < 1), _NAN)


_MODES: Dict[type, Callable[[Any], Tensor]] = {
    Bernoulli: lambda d: (d.probs >= 0.5).astype(d.probs.dtype).masked_fill(d.probs == 0.5, _NAN),
    Beta: lambda d: _of_simplex(ops.stack((d.concentration1, d.concentration0), -1))[..., 0],
    Binomial: lambda d: ops.minimum(ops.floor((d.total_count + 1) * d.probs), d.total_count),
    Cauchy: lambda d: d.loc,
    Dirichlet: lambda d: _of_simplex(d.concentration),
    Exponential: lambda d: ops.zeros_like(d.rate),
    FisherSnedecor: lambda d: ((d.df1 - 2) / d.df1 * d.df2 / (d.df2 + 2)).masked_fill(d.df1 <= 2, _NAN),
    Gamma: lambda d: ops.relu((d.concentration - 1) / d.rate),
    Geometric: lambda d: ops.zeros_like(d.probs),
    Gumbel: lambda d: d.loc,
    HalfCauchy: lambda d: ops.zeros_like(d.scale),
    HalfNormal: lambda d: ops.zeros_like(d.scale),
    InverseGamma: lambda d: d.rate / (d.concentration + 1),
    Kumaraswamy: _of_kumaraswamy,
    Laplace: lambda d: d.loc,
    LogNormal: lambda d: exp(d.loc - ops.square(d.scale)),
    NegativeBinomial: lambda d: ops.relu(ops.floor((d.total_count - 1) * exp(d.logits))),
    OneHotCategorical: lambda d: _unit_vectors(d, ops.expand_dims(d._categorical.mode, -1)),
    Pareto: lambda d: d.scale,
    Poisson: lambda d: ops.floor(d.rate),
    StudentT: lambda d: d.loc,
    Uniform: lambda d: d.high * _NAN,
    VonMises: lambda d: d.loc,
    Weibull: lambda d: d.scale * ops.pow((d.concentration - 1) / d.concentration, 1 / d.concentration),
}


def _unit_vectors(d: Any, places: Tensor) -> Tensor:
    return (ops.arange(d.event_shape[0]) == places).astype(d.probs.dtype)


def _lower_gamma(shape: Tensor, value: Tensor) -> Tensor:
    return ops.igamma(*together(shape, value))


_CDFS: Dict[type, Callable[[Any, Any], Tensor]] = {
    Gamma: lambda d, value: _lower_gamma(d.concentration, d.rate * value),
    HalfCauchy: lambda d, value: 2 * Cauchy(0.0, d.scale).cdf(value) - 1,
    InverseGamma: lambda d, value: 1 - _lower_gamma(d.concentration, d.rate / value),
    Kumaraswamy: lambda d, value: 1 - ops.pow(1 - ops.pow(value, d.concentration1), d.concentration0),
    Pareto: lambda d, value: 1 - exp(-d.alpha * log(value / d.scale)),
    Weibull: lambda d, value: 1 - exp(-ops.pow(value / d.scale, d.concentration)),
}
_ICDFS: Dict[type, Callable[[Any, Any], Tensor]] = {
    Gumbel: lambda d, value: d.loc - d.scale * log(-log(value)),
    HalfCauchy: lambda d, value: Cauchy(0.0, d.scale).icdf((value + 1) / 2),
    HalfNormal: lambda d, value: Normal(0.0, d.scale).icdf((value + 1) / 2),
    Kumaraswamy: lambda d, value: ops.pow(1 - ops.pow(1 - value, 1 / d.concentration0), 1 / d.concentration1),
    Pareto: lambda d, value: d.scale * exp(-ops.log1p(-value) / d.alpha),
    Weibull: lambda d, value: d.scale * ops.pow(-ops.log1p(-value), 1 / d.concentration),
}


def _all_values(d: Any, count: int, like: Tensor, expand: bool) -> Tensor:
    """Return the numbers from 0 below ``count`` along a first axis, for every distribution of the batch."""
    values = ops.arange(count).astype(like.dtype).reshape((-1, *(1 for _ in d.batch_shape)))
    return ops.broadcast_to(values, (count, *d.batch_shape)) if expand else values


def _counts(d: Any, expand: bool = True) -> Tensor:
    trials = int(d.total_count.max())
    if int(d.total_count.min()) != trials:
        raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`.")
    return _all_values(d, 1 + trials, d.probs, expand)


def _corners(d: Any, expand: bool = True) -> Tensor:
    count = d.event_shape[0]
    values = ops.eye(count, count, d.probs.dtype).reshape((count, *(1 for _ in d.batch_shape), count))
    return ops.broadcast_to(values, (count, *d.batch_shape, count)) if expand else values


_VALUES: Dict[type, Callable[..., Tensor]] = {
    Bernoulli: lambda d, expand=True: _all_values(d, 2, d.probs, expand),
    Binomial: _counts,
    Categorical: lambda d, expand=True: _all_values(d, d.logits.shape[-1], ops.arange(1), expand),
    OneHotCategorical: _corners,
}


def attach() -> None:
    """Give the classes their members."""
    supports = {kind: fact if isinstance(fact, c.Constraint) else property(fact) for kind, fact in _SUPPORTS.items()}
    members: Sequence[Tuple[str, Dict[type, Any]]] = (
        ("support", supports),
        ("arg_constraints", _ARGUMENTS),
        ("mode", {kind: property(mode) for kind, mode in _MODES.items()}),
        ("cdf", _CDFS),
        ("icdf", _ICDFS),
        ("enumerate_support", _VALUES),
    )
    for name, table in members:
        for kind, member in table.items():
            setattr(kind, name, member)
