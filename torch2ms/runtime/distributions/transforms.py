"""Invertible functions of single numbers, with the logarithm of their slope."""

from __future__ import annotations

import math
from typing import Any, List, Optional, Sequence, Tuple

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from ..functional.dtypes import beside
from ..functional.exact import exp, log

__all__ = [
    "AffineTransform",
    "ComposeTransform",
    "ExpTransform",
    "PowerTransform",
    "SigmoidTransform",
    "SoftplusTransform",
    "TanhTransform",
    "Transform",
    "inside_0_1",
    "total",
]


def total(value: Tensor, count: int) -> Tensor:
    """Return ``value`` summed over its last ``count`` axes."""
    if count < 0:  # PyTorch takes it, and sums what comes after the first -count axes
        return value.reshape((*value.shape[:-count], -1)).sum(-1)
    return value.sum(tuple(range(-count, 0))) if count else value


class Transform:
    """A function and its inverse. With ``cache_size`` 1 the inverse of the last result is the very argument it had.

    Transforms of a program's own define ``_call`` and ``_inverse``, as PyTorch has it.
    """

    bijective = False
    sign = 1  # 1 where the function grows, -1 where it falls, 0 where that is not known
    event_dim = 0  # how many last axes one slope is of

    def __init__(self, cache_size: int = 0) -> None:
        self._cache_size = cache_size
        self._last: Optional[Tuple[Tensor, Tensor]] = None

    def __call__(self, x: Tensor) -> Tensor:
        """Return the function's value."""
        y = self.forward(x)
        if self._cache_size:
            self._last = (x, y)
        return y

    def inv(self, y: Tensor) -> Tensor:
        """Return the argument whose value is ``y``."""
        if self._last is not None and self._last[1] is y:
            return self._last[0]
        return self.inverse(y)

    def forward(self, x: Tensor) -> Tensor:
        """Return the function's value."""
        return self._call(x)

    def inverse(self, y: Tensor) -> Tensor:
        """Return the argument whose value is ``y``."""
        return self._inverse(y)

    def _call(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the logarithm of the absolute slope at ``x``, where the value is ``y``."""
        raise NotImplementedError

    def forward_shape(self, shape: Sequence[int]) -> Tuple[int, ...]:
        """Return the shape of a value, given that of its argument."""
        return tuple(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Tuple[int, ...]:
        """Return the shape of an argument, given that of its value."""
        return tuple(shape)


class ExpTransform(Transform):
    """y = exp(x)."""

    bijective = True

    def forward(self, x: Tensor) -> Tensor:
        """Return exp(x)."""
        return exp(x)

    def inverse(self, y: Tensor) -> Tensor:
        """Return log(y)."""
        return log(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return x."""
        return x


class AffineTransform(Transform):
    """y = loc + scale * x."""

    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self.event_dim = loc, scale, event_dim
        if isinstance(scale, (int, float)):
            self.sign = 1 if scale > 0 else -1 if scale < 0 else 0
        else:
            self.sign = 0

    def forward(self, x: Tensor) -> Tensor:
        """Return loc + scale * x."""
        return self.loc + self.scale * x

    def inverse(self, y: Tensor) -> Tensor:
        """Return (y - loc) / scale."""
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return log |scale|, added up over the axes of an event."""
        if isinstance(self.scale, Tensor):
            return total(log(ops.abs(self.scale)) + ops.zeros_like(x), self.event_dim)
        return total((ops.zeros_like(x) + math.log(abs(self.scale))).astype(x.dtype), self.event_dim)


def inside_0_1(values: Tensor) -> Tensor:
    """Return values without 0 and 1, so that their logarithms are finite: the nearest numbers of the dtype."""
    limits = np.finfo(ms.dtype_to_nptype(values.dtype))
    return ops.clamp(values, float(limits.tiny), 1 - float(limits.eps))


class SigmoidTransform(Transform):
    """y = 1 / (1 + exp(-x))."""

    bijective = True

    def forward(self, x: Tensor) -> Tensor:
        """Return the sigmoid, held inside (0, 1) as in torch."""
        return inside_0_1(ops.sigmoid(x))

    def inverse(self, y: Tensor) -> Tensor:
        """Return the logit."""
        held = inside_0_1(y)
        return log(held) - ops.log1p(-held)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return -softplus(-x) - softplus(x)."""
        return -softplus(-x) - softplus(x)


class TanhTransform(Transform):
    """y = tanh(x)."""

    bijective = True

    def forward(self, x: Tensor) -> Tensor:
        """Return tanh(x)."""
        return ops.tanh(x)

    def inverse(self, y: Tensor) -> Tensor:
        """Return artanh(y), which is infinite at 1 and -1: use ``cache_size=1`` for saturated samples."""
        return 0.5 * (ops.log1p(y) - ops.log1p(-y))

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return log(1 - tanh(x)^2) in the form that does not cancel."""
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class SoftplusTransform(Transform):
    """y = log(1 + exp(x))."""

    bijective = True

    def forward(self, x: Tensor) -> Tensor:
        """Return softplus(x)."""
        return softplus(x)

    def inverse(self, y: Tensor) -> Tensor:
        """Return log(exp(y) - 1)."""
        return log(-ops.expm1(-y)) + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return -softplus(-x)."""
        return -softplus(-x)


class PowerTransform(Transform):
    """y = x ** exponent, for positive x."""

    bijective = True

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.exponent = exponent
        self.sign = 0

    def forward(self, x: Tensor) -> Tensor:
        """Return x ** exponent."""
        return ops.pow(x, beside(self.exponent, x))

    def inverse(self, y: Tensor) -> Tensor:
        """Return y ** (1 / exponent)."""
        return ops.pow(y, 1 / beside(self.exponent, y))

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return log |exponent * y / x|."""
        return log(ops.abs(beside(self.exponent, y) * y / x))


class ComposeTransform(Transform):
    """Several transforms, the first one first."""

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts: List[Transform] = list(parts)
        self.sign = math.prod(part.sign for part in self.parts)
        self.bijective = all(part.bijective for part in self.parts)
        self.event_dim = max((part.event_dim for part in self.parts), default=0)

    def forward(self, x: Tensor) -> Tensor:
        """Return the value of the last transform."""
        for part in self.parts:
            x = part(x)
        return x

    def forward_shape(self, shape: Sequence[int]) -> Tuple[int, ...]:
        """Return the shape of the last transform's value."""
        for part in self.parts:
            shape = part.forward_shape(shape)
        return tuple(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Tuple[int, ...]:
        """Return the shape of the first transform's argument."""
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return tuple(shape)

    def inverse(self, y: Tensor) -> Tensor:
        """Return the argument of the first transform."""
        for part in reversed(self.parts):
            y = part.inv(y)
        return y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the sum over all transforms."""
        result: Any = 0.0
        for part in self.parts:
            value = part(x)
            slope = part.log_abs_det_jacobian(x, value)
            result = result + total(slope, self.event_dim - part.event_dim)
            x = value
        return result


def softplus(x: Tensor) -> Tensor:
    """Return log(1 + exp(x)) without overflow."""
    return ops.relu(x) + ops.log1p(exp(-ops.abs(x)))
