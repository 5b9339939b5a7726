"""Transforms of vectors and matrices, and of several parts, with PyTorch's signatures."""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Sequence, Tuple

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from ..functional import cumprod, logsigmoid
from ..functional.exact import exp, log
from .transforms import Transform, inside_0_1, total

__all__ = [
    "AbsTransform",
    "CatTransform",
    "CumulativeDistributionTransform",
    "IndependentTransform",
    "LowerCholeskyTransform",
    "ReshapeTransform",
    "SoftmaxTransform",
    "StackTransform",
    "StickBreakingTransform",
]


class AbsTransform(Transform):
    """y = |x|; of the two arguments, the inverse is the positive one."""

    sign = 0

    def forward(self, x: Tensor) -> Tensor:
        """Return |x|."""
        return ops.abs(x)

    def inverse(self, y: Tensor) -> Tensor:
        """Return y."""
        return y


class SoftmaxTransform(Transform):
    """y = softmax(x) over the last axis; its inverse is the logarithm."""

    sign = 0
    event_dim = 1

    def forward(self, x: Tensor) -> Tensor:
        """Return the softmax."""
        powers = exp(x - ops.stop_gradient(ops.amax(x, -1, True)))
        return powers / powers.sum(-1, keepdims=True)

    def inverse(self, y: Tensor) -> Tensor:
        """Return log(y)."""
        return log(y)


class StickBreakingTransform(Transform):
    """From vectors to the simplex with one number more: each is the share of what the ones before it have left."""

    bijective = True
    sign = 0
    event_dim = 1

    def _centred(self, x: Tensor) -> Tensor:
        count = x.shape[-1]
        return x - Tensor(np.log(count - np.arange(count)), x.dtype)

    def forward(self, x: Tensor) -> Tensor:
        """Return a point of the simplex."""
        if not x.shape[-1]:
            return ops.ones((*x.shape[:-1], 1), x.dtype)  # all is left
        share = inside_0_1(ops.sigmoid(self._centred(x)))
        one = ops.ones_like(share[..., :1])
        return ops.concat((share, one), -1) * ops.concat((one, cumprod(1 - share, -1)), -1)

    def inverse(self, y: Tensor) -> Tensor:
        """Return the vector of a point."""
        most, count = y[..., :-1], y.shape[-1] - 1
        least = float(np.finfo(ms.dtype_to_nptype(y.dtype)).tiny)
        rest = ops.clamp(1 - ops.cumsum(most, -1), min=least)
        return log(most) - log(rest) + Tensor(np.log(count - np.arange(count)), y.dtype)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the logarithm of the determinant."""
        centred = self._centred(x)
        return (logsigmoid(centred) - centred + log(y[..., :-1])).sum(-1)

    def forward_shape(self, shape: Sequence[int]) -> Tuple[int, ...]:
        """Return the shape of a value."""
        return (*shape[:-1], shape[-1] + 1)

    def inverse_shape(self, shape: Sequence[int]) -> Tuple[int, ...]:
        """Return the shape of an argument."""
        return (*shape[:-1], shape[-1] - 1)


class LowerCholeskyTransform(Transform):
    """From square matrices to lower triangular ones with a positive diagonal."""

    sign = 0
    event_dim = 2

    def _with_diagonal(self, x: Tensor, change: Callable[[Tensor], Tensor]) -> Tensor:
        diagonal = change(ops.diagonal(x, 0, -2, -1))
        on_it = ops.eye(x.shape[-1], x.shape[-1], x.dtype) > 0  # a product with it would be NaN beside infinity
        return ops.where(on_it, ops.expand_dims(diagonal, -1), ops.tril(x, -1))

    def forward(self, x: Tensor) -> Tensor:
        """Return the lower triangle with the exponentials of the diagonal."""
        return self._with_diagonal(x, exp)

    def inverse(self, y: Tensor) -> Tensor:
        """Return the lower triangle with the logarithms of the diagonal."""
        return self._with_diagonal(y, log)


class ReshapeTransform(Transform):
    """Events in another shape."""

    bijective = True

    def __init__(self, in_shape: Sequence[int], out_shape: Sequence[int], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.in_shape, self.out_shape = tuple(in_shape), tuple(out_shape)
        self.event_dim = len(self.in_shape)

    def forward(self, x: Tensor) -> Tensor:
        """Return the value in the new shape."""
        return x.reshape(self.forward_shape(x.shape))

    def inverse(self, y: Tensor) -> Tensor:
        """Return the value in the old shape."""
        return y.reshape(self.inverse_shape(y.shape))

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return zeros."""
        return ops.zeros(x.shape[: x.ndim - len(self.in_shape)], x.dtype)

    def forward_shape(self, shape: Sequence[int]) -> Tuple[int, ...]:
        """Return the shape of a value."""
        return (*shape[: len(shape) - len(self.in_shape)], *self.out_shape)

    def inverse_shape(self, shape: Sequence[int]) -> Tuple[int, ...]:
        """Return the shape of an argument."""
        return (*shape[: len(shape) - len(self.out_shape)], *self.in_shape)


class IndependentTransform(Transform):
    """``base_transform`` with further last axes read as one event."""

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.base_transform, self.reinterpreted_batch_ndims = base_transform, reinterpreted_batch_ndims
        self.event_dim = base_transform.event_dim + reinterpreted_batch_ndims
        self.bijective, self.sign = base_transform.bijective, base_transform.sign

    def forward(self, x: Tensor) -> Tensor:
        """Return the base's value."""
        return self.base_transform(x)

    def inverse(self, y: Tensor) -> Tensor:
        """Return the base's argument."""
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the base's slopes, added up over an event."""
        return total(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Sequence[int]) -> Tuple[int, ...]:
        """Return the shape of a value."""
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Tuple[int, ...]:
        """Return the shape of an argument."""
        return self.base_transform.inverse_shape(shape)


class CatTransform(Transform):
    """Transforms of parts along an axis, ``lengths`` long, by default one place each."""

    def __init__(
        self,
        tseq: Sequence[Transform],
        dim: int = 0,
        lengths: Optional[Sequence[int]] = None,
        cache_size: int = 0,
    ) -> None:
        super().__init__(cache_size)
        self.transforms, self.dim = list(tseq), dim
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        self.event_dim = max(part.event_dim for part in self.transforms)
        self.bijective = all(part.bijective for part in self.transforms)

    def _parts(self, x: Tensor) -> List[Tensor]:
        ends = np.cumsum([0, *self.lengths]).tolist()
        return [ops.narrow(x, self.dim, start, length) for start, length in zip(ends, self.lengths)]

    def forward(self, x: Tensor) -> Tensor:
        """Return the parts' values."""
        return ops.concat([step(part) for step, part in zip(self.transforms, self._parts(x))], self.dim)

    def inverse(self, y: Tensor) -> Tensor:
        """Return the parts' arguments."""
        return ops.concat([step.inv(part) for step, part in zip(self.transforms, self._parts(y))], self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the parts' slopes, in one tensor, or added up where the axis is part of an event."""
        axis = self.dim if self.dim < 0 else self.dim - x.ndim
        slopes = []
        for step, part, value in zip(self.transforms, self._parts(x), self._parts(y)):
            slopes.append(total(step.log_abs_det_jacobian(part, value), self.event_dim - step.event_dim))
        if axis + self.event_dim < 0:
            return ops.concat(slopes, axis + self.event_dim)
        found: Any = sum(slopes[1:], slopes[0])
        return found


class StackTransform(Transform):
    """One transform for each place along an axis."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.transforms, self.dim = list(tseq), dim
        self.bijective = all(part.bijective for part in self.transforms)

    def forward(self, x: Tensor) -> Tensor:
        """Return the places' values."""
        return ops.stack([step(part) for step, part in zip(self.transforms, ops.unbind(x, self.dim))], self.dim)

    def inverse(self, y: Tensor) -> Tensor:
        """Return the places' arguments."""
        return ops.stack([step.inv(part) for step, part in zip(self.transforms, ops.unbind(y, self.dim))], self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the places' slopes."""
        parts = zip(self.transforms, ops.unbind(x, self.dim), ops.unbind(y, self.dim))
        return ops.stack([step.log_abs_det_jacobian(part, value) for step, part, value in parts], self.dim)


class CumulativeDistributionTransform(Transform):
    """y = the probability of at most x."""

    bijective = True

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution

    def forward(self, x: Tensor) -> Tensor:
        """Return the probability of at most ``x``."""
        return self.distribution.cdf(x)

    def inverse(self, y: Tensor) -> Tensor:
        """Return the quantile of ``y``."""
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the logarithm of the density."""
        return self.distribution.log_prob(x)
