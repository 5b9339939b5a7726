"""Distributions over classes and counts, and their continuous relaxations."""

from __future__ import annotations

import copy
import math
from typing import Any, Optional, Sequence, Tuple

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from ..functional import logsigmoid, multinomial, softmax
from ..functional.dtypes import beside
from ..functional.exact import exp, log
from .base import Distribution, floats, probs_and_logits, together, uniform
from .gamma import standard_gamma
from .transforms import inside_0_1, softplus

__all__ = [
    "Bernoulli",
    "Binomial",
    "Categorical",
    "Geometric",
    "Multinomial",
    "NegativeBinomial",
    "OneHotCategorical",
    "Poisson",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
]


class _Binary(Distribution):
    """A distribution given by the probability of one of two outcomes."""

    parameters = ("probs", "logits")

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: Optional[bool] = None) -> None:
        self.shown = ("logits",) if probs is None else ("probs",)
        self.probs, self.logits = probs_and_logits(probs, logits, True)
        self.batch_shape = self.logits.shape


class Bernoulli(_Binary):
    """1 with probability ``probs``, else 0; from probabilities or logits."""

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.probs

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return zeros and ones of shape (*sample_shape, *batch_shape)."""
        noise = ops.rand(self.shape_of(sample_shape), dtype=ms.float32)
        return (noise < ops.stop_gradient(self.probs)).astype(self.probs.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability of ``value``."""
        return logsigmoid(self.logits) - (1 - value) * self.logits

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return -(self.probs * logsigmoid(self.logits) + (1 - self.probs) * logsigmoid(-self.logits))


class Geometric(_Binary):
    """Number of failures before the first success."""

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return 1 / self.probs - 1

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return (1 / self.probs - 1) / self.probs

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples of shape (*sample_shape, *batch_shape)."""
        probs = ops.stop_gradient(self.probs)
        return ops.floor(log(uniform(self.shape_of(sample_shape), probs)) / ops.log1p(-probs))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability of ``value``."""
        value = floats(value)
        certain = ops.logical_and(self.probs == 1, value == 0)
        failures = value * ops.log1p(-self.probs)
        return ops.select(certain, ops.zeros_like(failures), failures) + log(self.probs)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return -(self.probs * logsigmoid(self.logits) + (1 - self.probs) * logsigmoid(-self.logits)) / self.probs


class _Counted(Distribution):
    """A distribution of a count, given by a number of trials and a probability."""

    parameters = ("total_count", "probs", "logits")

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: Optional[bool] = None
    ) -> None:
        self.shown = ("total_count", "logits" if probs is None else "probs")
        probs, logits = probs_and_logits(probs, logits, True)
        self.total_count, self.probs, self.logits = together(floats(total_count).astype(probs.dtype), probs, logits)
        self.batch_shape = self.logits.shape


class Binomial(_Counted):
    """Number of successes in ``total_count`` trials."""

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.total_count * self.probs

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples of shape (*sample_shape, *batch_shape)."""
        trials = int(self.total_count.max())
        noise = ops.rand((trials, *self.shape_of(sample_shape)), dtype=ms.float32)
        number = ops.arange(trials).reshape((trials, *(1 for _ in self.shape_of(sample_shape))))
        success = ops.logical_and(noise < ops.stop_gradient(self.probs), number < self.total_count)
        return success.astype(self.probs.dtype).sum(0)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability of ``value``."""
        value = floats(value)
        ways = ops.lgamma(self.total_count + 1) - ops.lgamma(value + 1) - ops.lgamma(self.total_count - value + 1)
        return ways + value * self.logits - self.total_count * softplus(self.logits)

    def entropy(self) -> Tensor:
        """Return the entropy in nats, a sum over every count; as in torch, of equal ``total_count`` alone."""
        trials = int(self.total_count.max())
        if int(self.total_count.min()) != trials:
            raise NotImplementedError("Inhomogeneous total count not supported by `entropy`.")
        values = ops.arange(1 + trials).astype(self.probs.dtype).reshape((-1, *(1 for _ in self.batch_shape)))
        logs = self.log_prob(values)
        return -(exp(logs) * logs).sum(0)


class NegativeBinomial(_Counted):
    """Number of successes before ``total_count`` failures."""

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.total_count * exp(self.logits)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.mean / ops.sigmoid(-self.logits)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return Poisson samples whose rates are Gamma samples."""
        rate = standard_gamma(sample_shape, self.total_count) * exp(ops.stop_gradient(self.logits))
        return Poisson(rate).sample()

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability of ``value``."""
        value = floats(value)
        whole = self.total_count + value
        ways = ops.lgamma(whole) - ops.lgamma(1.0 + value) - ops.lgamma(self.total_count)
        ways = ops.where(whole == 0, ops.zeros_like(ways), ways)  # one way of no trials at all
        return self.total_count * logsigmoid(-self.logits) + value * logsigmoid(self.logits) + ways


class Poisson(Distribution):
    """Poisson distribution of counts with mean ``rate``."""

    parameters = ("rate",)

    def __init__(self, rate: Any, validate_args: Optional[bool] = None) -> None:
        self.rate = floats(rate)
        self.batch_shape = self.rate.shape

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.rate

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.rate

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return counts, as floats, of shape (*sample_shape, *batch_shape)."""
        drawn = ops.random_poisson(Tensor(tuple(sample_shape) or (1,), ms.int32), ops.stop_gradient(self.rate))
        return (drawn if sample_shape else drawn[0]).astype(self.rate.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability of ``value``."""
        value = floats(value)
        return ops.xlogy(value, self.rate) - self.rate - ops.lgamma(value + 1)


class Categorical(Distribution):
    """Distribution over classes, from probabilities or logits along the last axis."""

    parameters = ("probs", "logits")

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: Optional[bool] = None) -> None:
        self.shown = ("logits",) if probs is None else ("probs",)
        self.probs, self.logits = probs_and_logits(probs, logits, False)
        self.batch_shape = self.logits.shape[:-1]

    @property
    def param_shape(self) -> Tuple[int, ...]:
        """The shape of the probabilities."""
        return tuple(self.logits.shape)

    @property
    def mean(self) -> Tensor:
        """NaN: classes have no mean."""
        return ops.full(self.batch_shape, float("nan"), dtype=self.logits.dtype)

    @property
    def variance(self) -> Tensor:
        """NaN: classes have no variance."""
        return self.mean

    @property
    def mode(self) -> Tensor:
        """The likeliest class."""
        return ops.argmax(self.probs, -1)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return int64 classes of shape (*sample_shape, *batch_shape)."""
        count = math.prod(int(size) for size in sample_shape)
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
        least = float(np.finfo(ms.dtype_to_nptype(self.logits.dtype)).min)  # of a class that is masked, 0 * -infinity
        return -(self.probs * ops.clamp(self.logits, min=least)).sum(-1)


class OneHotCategorical(Distribution):
    """Distribution over classes, whose samples are unit vectors."""

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: Optional[bool] = None) -> None:
        self._categorical: Any = Categorical(probs, logits)
        self.batch_shape = self._categorical.batch_shape
        self.event_shape = self.probs.shape[-1:]

    def expand(self, batch_shape: Sequence[int]) -> Distribution:
        """Return the distribution with its parameters in a larger shape."""
        new = copy.copy(self)
        new._categorical, new.batch_shape = self._categorical.expand(batch_shape), tuple(batch_shape)
        return new

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        found: Tensor = self._categorical.probs
        return found

    @property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities."""
        found: Tensor = self._categorical.logits
        return found

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.probs

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return unit vectors of shape (*sample_shape, *batch_shape, classes)."""
        drawn = self._categorical.sample(sample_shape)
        return (ops.expand_dims(drawn, -1) == ops.arange(self.event_shape[0])).astype(self.probs.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability of unit vectors."""
        return self._categorical.log_prob(ops.argmax(value, -1))

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return self._categorical.entropy()


class Multinomial(Distribution):
    """Counts of ``total_count`` draws of a class."""

    parameters = ("probs", "logits")

    def __init__(
        self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: Optional[bool] = None
    ) -> None:
        self.total_count = total_count
        self.shown = ()
        self._categorical = Categorical(probs, logits)
        self.probs, self.logits = self._categorical.probs, self._categorical.logits
        self.batch_shape = self._categorical.batch_shape
        self.event_shape = self.probs.shape[-1:]

    def expand(self, batch_shape: Sequence[int]) -> Distribution:
        """Return the distribution with its parameters in a larger shape."""
        new = super().expand(batch_shape)
        new._categorical = self._categorical.expand(batch_shape)  # type: ignore[attr-defined]
        return new

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.total_count * self.probs * (1 - self.probs)

    def entropy(self) -> Tensor:
        """Return the entropy in nats, with a sum over the counts that a class may have."""
        counts = Binomial(self.total_count, self.probs)
        values = ops.arange(1, self.total_count + 1).astype(self.probs.dtype)
        values = values.reshape((-1, *(1 for _ in self.probs.shape)))
        lost = (exp(counts.log_prob(values)) * ops.lgamma(values + 1)).sum((0, -1))
        known: Tensor = self.total_count * self._categorical.entropy()
        return known - math.lgamma(self.total_count + 1) + lost

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return counts, as floats, of shape (*sample_shape, *batch_shape, classes)."""
        drawn = ops.expand_dims(self._categorical.sample((self.total_count, *sample_shape)), -1)
        return (drawn == ops.arange(self.event_shape[0])).astype(self.probs.dtype).sum(0)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability of counts."""
        value = floats(value)
        ways = ops.lgamma(value.sum(-1) + 1) - ops.lgamma(value + 1).sum(-1)
        return ways + (self.logits * value).sum(-1)


class RelaxedBernoulli(_Binary):
    """Bernoulli distribution relaxed to (0, 1) by a ``temperature``; samples carry gradients."""

    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: Optional[bool] = None
    ) -> None:
        super().__init__(probs, logits)
        self.shown = ()
        self.temperature = beside(floats(temperature), self.logits)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples that carry the gradients of the logits."""
        noise = uniform(self.shape_of(sample_shape), self.logits)
        return inside_0_1(ops.sigmoid((log(noise) - ops.log1p(-noise) + self.logits) / self.temperature))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        logit = log(value) - ops.log1p(-value)
        difference = self.logits - logit * self.temperature
        density = log(self.temperature) + difference - 2 * softplus(difference)
        return density + softplus(-logit) + softplus(logit)


class RelaxedOneHotCategorical(Distribution):
    """Unit vectors relaxed to the simplex by a ``temperature`` (Gumbel-softmax); samples carry gradients."""

    parameters = ("probs", "logits")
    shown = ()
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: Optional[bool] = None
    ) -> None:
        self.probs, self.logits = probs_and_logits(probs, logits, False)
        self.temperature = beside(floats(temperature), self.logits)
        self.batch_shape, self.event_shape = self.logits.shape[:-1], self.logits.shape[-1:]

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples that carry the gradients of the logits."""
        noise = uniform(self.shape_of(sample_shape), self.logits)
        return softmax((self.logits - log(-log(noise))) / self.temperature, -1)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        classes = self.event_shape[0]
        exponent = log(value)
        score = self.logits - exponent * self.temperature
        score = (score - ops.logsumexp(score, -1, True)).sum(-1)
        scale = math.lgamma(classes) + (classes - 1) * log(self.temperature)
        return score + scale - exponent.sum(-1)
