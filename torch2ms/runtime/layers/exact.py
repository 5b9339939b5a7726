"""Activations that agree with PyTorch's at the very places where MindSpore's own do not.

MindSpore's ReLU passes NaN by, the gradients of its ReLU6 and LeakyReLU at 6 and at 0 are not PyTorch's, and its
softmax computes nothing at all where a line is -infinity alone. That counts for programs that ask for such numbers; all
others use MindSpore's own, whose subclasses these are.
"""

from __future__ import annotations

from typing import Any, Optional

from mindspore import Tensor, nn

from .. import functional as F
from ..functional import nans
from ..kinds import Kind
from . import activation, recurrent

__all__ = ["RNN", "LeakyReLU", "ReLU", "ReLU6", "Softmax"]


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
