"""Layers that agree with PyTorch's at the very places where MindSpore's own do not.

MindSpore's ReLU and max pooling pass NaN by, the gradients of its ReLU6 and LeakyReLU at 6 and at 0 are not PyTorch's,
and its softmax computes nothing at all where a line is -infinity alone. That counts for programs that ask for such
numbers; all others use MindSpore's own, whose kinds these are.
"""

from __future__ import annotations

from typing import Any, Optional

from mindspore import Tensor, nn

from .. import functional as F
from ..functional import nan_pools, nans
from ..kinds import Kind
from . import activation, pooling, recurrent

__all__ = [
    "RNN",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "LeakyReLU",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "ReLU",
    "ReLU6",
    "Softmax",
]


class ReLU(nn.ReLU, metaclass=Kind):
    """``max(x, 0)``, NaN where ``x`` is."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()

    def construct(self, x: Tensor) -> Tensor:
        """Return the activation of ``x``."""
        return nans.relu(x)


class ReLU6(nn.ReLU6, metaclass=Kind):
    """``min(max(x, 0), 6)``, whose gradient is 0 at 6."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()

    def construct(self, x: Tensor) -> Tensor:
        """Return the activation of ``x``."""
        return F.hardtanh(x, 0.0, 6.0)


class LeakyReLU(nn.LeakyReLU, metaclass=Kind):
    """``x`` where positive, else ``negative_slope * x``; the gradient at 0 is the slope."""

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__(negative_slope)
        self.negative_slope = negative_slope

    def construct(self, x: Tensor) -> Tensor:
        """Return the activation of ``x``."""
        return F.leaky_relu(x, self.negative_slope)


class Softmax(activation.Softmax):
    """Softmax over ``dim``, NaN along a line of -infinity alone."""

    def construct(self, x: Tensor) -> Tensor:
        """Return the softmax of ``x``."""
        return nans.softmax(x, self.dim)


class RNN(recurrent.RNN):
    """Elman network whose ``relu`` keeps NaN."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.rnn.cell = _relu_step


def _relu_step(
    x: Tensor, before: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Optional[Tensor], b_hh: Optional[Tensor]
) -> Tensor:
    """Return the next hidden state."""
    return nans.relu(F.linear(x, w_ih, b_ih) + F.linear(before, w_hh, b_hh))


class MaxPool1d(pooling.MaxPool1d):
    """Max pooling that hands on NaN and -infinity."""

    function = staticmethod(nan_pools.max_pool1d)


class MaxPool2d(pooling.MaxPool2d):
    """Max pooling that hands on NaN and -infinity."""

    function = staticmethod(nan_pools.max_pool2d)


class MaxPool3d(pooling.MaxPool3d):
    """Max pooling that hands on NaN and -infinity."""

    function = staticmethod(nan_pools.max_pool3d)


class AdaptiveMaxPool1d(pooling.AdaptiveMaxPool1d):
    """Adaptive max pooling that hands on NaN and -infinity."""

    function = staticmethod(nan_pools.adaptive_max_pool1d)


class AdaptiveMaxPool2d(pooling.AdaptiveMaxPool2d):
    """Adaptive max pooling that hands on NaN and -infinity."""

    function = staticmethod(nan_pools.adaptive_max_pool2d)


class AdaptiveMaxPool3d(pooling.AdaptiveMaxPool3d):
    """Adaptive max pooling that hands on NaN and -infinity."""

    function = staticmethod(nan_pools.adaptive_max_pool3d)


class FractionalMaxPool2d(pooling.FractionalMaxPool2d):
    """Fractional max pooling that hands on NaN and -infinity."""

    function = staticmethod(nan_pools.fractional_max_pool2d)


class FractionalMaxPool3d(pooling.FractionalMaxPool3d):
    """Fractional max pooling that hands on NaN and -infinity."""

    function = staticmethod(nan_pools.fractional_max_pool3d)
