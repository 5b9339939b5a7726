"""What all distributions have, and the kinds that wrap another one."""

from __future__ import annotations

import copy
import math
from functools import wraps
from typing import Any, Callable, List, Optional, Sequence, Tuple

import mindspore as ms
from mindspore import Tensor, ops

from ..functional.exact import exp, log
from . import constraints
from .transforms import ComposeTransform, Transform, total

__all__ = [
    "Distribution",
    "Independent",
    "TransformedDistribution",
    "floats",
    "narrow",
    "probs_and_logits",
    "together",
    "uniform",
]

_HALVES = (ms.float16, getattr(ms, "bfloat16", ms.float16))  # 2.0 has the one alone
EPSILON = 1.1920929e-07  # float32's, as torch bounds probabilities


def floats(value: Any) -> Tensor:
    """Return a number or a tensor as a float tensor."""
    return value if isinstance(value, Tensor) else Tensor(value, ms.float32)


def together(*values: Any) -> Tuple[Tensor, ...]:
    """Return parameters in one shape; numbers take the dtype of the first tensor among them, as in PyTorch."""
    like = next((value.dtype for value in values if isinstance(value, Tensor)), ms.float32)
    tensors = [value if isinstance(value, Tensor) else Tensor(value, like) for value in values]
    shape = sum(tensors[1:], tensors[0]).shape
    return tuple(ops.broadcast_to(t, shape) if t.shape != shape else t for t in tensors)


def narrow(method: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return a method whose results are halves for halves, which parameters without axes do not widen in PyTorch."""

    @wraps(method)
    def told(self: Any, value: Any) -> Tensor:
        found = method(self, value)
        is_half = isinstance(value, Tensor) and value.ndim and value.dtype in _HALVES
        return found.astype(value.dtype) if is_half and not self.batch_shape else found

    return told


def uniform(shape: Sequence[int], like: Tensor) -> Tensor:
    """Return numbers of the open interval (0, 1), so that their logarithms are finite."""
    tiny = 1.1754944e-38
    return ops.clamp(ops.rand(tuple(shape), dtype=ms.float32), tiny, 1 - EPSILON / 2).astype(like.dtype)


def probs_and_logits(probs: Any, logits: Any, is_binary: bool) -> Tuple[Tensor, Tensor]:
    """Return both forms of probabilities, given one of them; ValueError when none or both are given."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")
    if probs is None:
        values = floats(logits)
        if is_binary:
            return ops.sigmoid(values), values
        values = values - ops.logsumexp(values, -1, True)
        return exp(values), values
    values = floats(probs)
    if not is_binary:
        values = values / values.sum(-1, keepdims=True)
    held = ops.clamp(values, EPSILON, 1 - EPSILON)
    return values, log(held) - ops.log1p(-held) if is_binary else log(held)


class Distribution:
    """What all distributions have: a sample has the shape (*sample_shape, *batch_shape, *event_shape)."""

    parameters: Tuple[str, ...] = ()  # attributes of shape ``batch_shape``
    shown: Optional[Tuple[str, ...]] = None  # those that its text names, if others
    has_rsample = False
    batch_shape: Tuple[int, ...] = ()
    event_shape: Tuple[int, ...] = ()

    def __init__(
        self, batch_shape: Sequence[int] = (), event_shape: Sequence[int] = (), validate_args: Optional[bool] = None
    ) -> None:
        """Take the shapes; what is drawn and computed is said by classes derived from this one."""
        self.batch_shape, self.event_shape = tuple(batch_shape), tuple(event_shape)

    def __repr__(self) -> str:
        """Return the text that PyTorch writes: numbers, and the sizes of what are more."""
        parts = []
        for name in self.parameters if self.shown is None else self.shown:
            value = getattr(self, name)
            size = f"torch.Size({list(value.shape)})"
            parts.append(f"{name}: {size if value.size != 1 else value.asnumpy().item() if not value.ndim else value}")
        return f"{type(self).__name__}({', '.join(parts)})"

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples that carry the gradients of the parameters."""
        raise NotImplementedError(f"samples of {type(self).__name__} carry no gradients; sample() draws without")

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples without gradients."""
        return ops.stop_gradient(self.rsample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density or probability of ``value``."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        """The mean."""
        raise NotImplementedError

    @property
    def variance(self) -> Tensor:
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return ops.sqrt(self.variance)

    def perplexity(self) -> Tensor:
        """Return the exponential of the entropy."""
        return exp(self.entropy())

    @property
    def mode(self) -> Tensor:
        """The likeliest value."""
        raise NotImplementedError(f"{type(self).__name__} does not implement mode")

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of at most ``value``."""
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """Return the quantile of a probability."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return all values of a discrete distribution along a first axis."""
        raise NotImplementedError

    def expand(self, batch_shape: Sequence[int]) -> Distribution:
        """Return the distribution with its parameters in a larger shape."""
        if not self.parameters:
            raise NotImplementedError(f"{type(self).__name__} has no expand")
        new = copy.copy(self)
        new.batch_shape = tuple(batch_shape)
        for name in self.parameters:
            value = getattr(self, name)
            setattr(new, name, ops.broadcast_to(value, (*new.batch_shape, *value.shape[len(self.batch_shape) :])))
        return new

    def shape_of(self, sample_shape: Sequence[int]) -> Tuple[int, ...]:
        """Return the shape of samples."""
        return (*sample_shape, *self.batch_shape, *self.event_shape)


class Independent(Distribution):
    """``base_distribution`` with its last axes of ``batch_shape`` read as one event."""

    def __init__(
        self,
        base_distribution: Distribution,
        reinterpreted_batch_ndims: int,
        validate_args: Optional[bool] = None,
    ) -> None:
        shape = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(shape):
            raise ValueError(f"cannot read {reinterpreted_batch_ndims} axes of the batch shape {shape} as an event")
        cut = len(shape) - reinterpreted_batch_ndims
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        self.has_rsample = base_distribution.has_rsample
        self.batch_shape = shape[:cut]
        self.event_shape = (*shape[cut:], *base_distribution.event_shape)

    def __repr__(self) -> str:
        """Return the text that PyTorch writes."""
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.base_dist.mean

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.base_dist.variance

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples without gradients."""
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples that carry the gradients of the parameters."""
        return self.base_dist.rsample(sample_shape)

    @property
    def mode(self) -> Tensor:
        """The likeliest value."""
        return self.base_dist.mode

    @property
    def support(self) -> Any:
        """Where events lie."""
        inner, count = self.base_dist.support, self.reinterpreted_batch_ndims  # type: ignore[attr-defined]
        return constraints.independent(inner, count) if count else inner

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return all values along a first axis, where no axis is part of the event."""
        if self.reinterpreted_batch_ndims:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand)

    def expand(self, batch_shape: Sequence[int]) -> Distribution:
        """Return the distribution with its parameters in a larger shape."""
        count = self.reinterpreted_batch_ndims
        return Independent(self.base_dist.expand((*batch_shape, *self.event_shape[:count])), count)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the density of events."""
        return total(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        """Return the entropy in nats."""
        return total(self.base_dist.entropy(), self.reinterpreted_batch_ndims)


class TransformedDistribution(Distribution):
    """The distribution of ``transforms`` applied, one after the other, to samples of ``base_distribution``."""

    def __init__(self, base_distribution: Distribution, transforms: Any, validate_args: Optional[bool] = None) -> None:
        steps: List[Transform] = [transforms] if isinstance(transforms, Transform) else list(transforms)
        more = max((step.event_dim for step in steps), default=0) - len(base_distribution.event_shape)
        if more > 0:
            base_distribution = Independent(base_distribution, more)
        self.base_dist = base_distribution
        self.transforms = steps
        self.has_rsample = base_distribution.has_rsample
        size = len(base_distribution.batch_shape)
        whole = (*base_distribution.batch_shape, *base_distribution.event_shape)
        shape = ComposeTransform(steps).forward_shape(whole)
        self.batch_shape, self.event_shape = tuple(shape[:size]), tuple(shape[size:])

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples without gradients."""
        return ComposeTransform(self.transforms)(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples that carry the gradients of the parameters."""
        return ComposeTransform(self.transforms)(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the density of the base at the inverse, by the change of variables."""
        change: Any = 0.0
        for transform in reversed(self.transforms):
            before = transform.inv(value)
            slope = transform.log_abs_det_jacobian(before, value)
            change = change - total(slope, len(self.event_shape) - transform.event_dim)
            value = before
        return self.base_dist.log_prob(value) + change

    def expand(self, batch_shape: Sequence[int]) -> Distribution:
        """Return the distribution with its parameters in a larger shape."""
        return TransformedDistribution(self.base_dist.expand(batch_shape), self.transforms)

    def _sign(self) -> Any:
        """Return 1 where all transforms together grow, -1 where they fall."""
        signs = [transform.sign for transform in self.transforms]
        for transform, sign in zip(self.transforms, signs):
            if isinstance(sign, int) and not sign:
                raise NotImplementedError(f"through {type(transform).__name__}, which does not grow everywhere")
        return math.prod(signs)

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of at most ``value``, for transforms that grow or fall."""
        sign = self._sign()
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        found = self.base_dist.cdf(value)
        return sign * (found - 0.5) + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        """Return the quantile of a probability, for transforms that grow or fall."""
        found = self.base_dist.icdf(self._sign() * (value - 0.5) + 0.5)
        return ComposeTransform(self.transforms)(found)


LOG_2PI = math.log(2 * math.pi)
