"""Activations with PyTorch's signatures; ``inplace`` changes nothing: MindSpore computes a new tensor."""

from __future__ import annotations

from typing import Any, Optional

from mindspore import Tensor, nn, ops

from .. import functional as F
from ..kinds import Kind

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]


class ReLU(nn.Cell, metaclass=Kind):
    """``max(x, 0)``."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()

    def construct(self, x: Tensor) -> Tensor:
        """Return the activation of ``x``."""
        return ops.relu(x)


class ReLU6(nn.Cell, metaclass=Kind):
    """``min(max(x, 0), 6)``."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()

    def construct(self, x: Tensor) -> Tensor:
        """Return the activation of ``x``."""
        return ops.relu6(x)


class LeakyReLU(nn.Cell, metaclass=Kind):
    """``x`` where positive, else ``negative_slope * x``."""

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope = negative_slope

    def construct(self, x: Tensor) -> Tensor:
        """Return the activation of ``x``."""
        return ops.leaky_relu(x, self.negative_slope)


class ELU(nn.Cell, metaclass=Kind):
    """``x`` where positive, else ``alpha * (exp(x) - 1)``."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha

    def construct(self, x: Tensor) -> Tensor:
        """Return the activation of ``x``."""
        return F.elu(x, self.alpha)


class CELU(nn.Cell, metaclass=Kind):
    """``max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0)``."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha

    def construct(self, x: Tensor) -> Tensor:
        """Return the activation of ``x``."""
        return F.celu(x, self.alpha)


class SELU(nn.Cell):
    """Scaled ELU with the constants of Klambauer et al. 2017."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()

    def construct(self, x: Tensor) -> Tensor:
        """Return the activation of ``x``."""
        return F.selu(x)


class GELU(nn.Cell, metaclass=Kind):
    """Gaussian error linear unit, exact or its tanh form (``approximate="tanh"``)."""

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def construct(self, x: Tensor) -> Tensor:
        """Return the activation of ``x``."""
        return ops.gelu(x, approximate=self.approximate)


class GLU(nn.Cell, metaclass=Kind):
    """First half of ``dim`` times the sigmoid of the second."""

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def construct(self, x: Tensor) -> Tensor:
        """Return the activation of ``x``."""
        return F.glu(x, self.dim)


class SiLU(nn.Cell, metaclass=Kind):
    """``x * sigmoid(x)``."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()

    def construct(self, x: Tensor) -> Tensor:
        """Return the activation of ``x``."""
        return ops.silu(x)


class Mish(nn.Cell, metaclass=Kind):
    """``x * tanh(softplus(x))``."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()

    def construct(self, x: Tensor) -> Tensor:
        """Return the activation of ``x``."""
        return F.mish(x)


class Hardswish(nn.Cell):
    """``x * relu6(x + 3) / 6``."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()

    def construct(self, x: Tensor) -> Tensor:
        """Return the activation of ``x``."""
        return F.hardswish(x)


class Hardsigmoid(nn.Cell):
    """``relu6(x + 3) / 6``."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()

    def construct(self, x: Tensor) -> Tensor:
        """Return the activation of ``x``."""
        return ops.hardsigmoid(x)


class Hardtanh(nn.Cell, metaclass=Kind):
    """``x`` held between ``min_val`` and ``max_val``."""

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: Optional[float] = None,
        max_value: Optional[float] = None,
    ) -> None:
        super().__init__()
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value

    def construct(self, x: Tensor) -> Tensor:
        """Return the activation of ``x``."""
        return F.hardtanh(x, self.min_val, self.max_val)


class Hardshrink(nn.Cell, metaclass=Kind):
    """``x`` where ``|x| > lambd``, else 0."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def construct(self, x: Tensor) -> Tensor:
        """Return the activation of ``x``."""
        return F.hardshrink(x, self.lambd)


class Softshrink(nn.Cell, metaclass=Kind):
    """``x`` moved towards 0 by ``lambd``, 0 in between."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def construct(self, x: Tensor) -> Tensor:
        """Return the activation of ``x``."""
        return F.softshrink(x, self.lambd)


class Tanhshrink(nn.Cell, metaclass=Kind):
    """``x - tanh(x)``."""

    def construct(self, x: Tensor) -> Tensor:
        """Return the activation of ``x``."""
        return x - F.tanh(x)


class Sigmoid(nn.Cell, metaclass=Kind):
    """``1 / (1 + exp(-x))``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def construct(self, x: Tensor) -> Tensor:
        """Return the activation of ``x``."""
        return ops.sigmoid(x)


class Tanh(nn.Tanh, metaclass=Kind):
    """Hyperbolic tangent."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def construct(self, x: Tensor) -> Tensor:
        """Return the activation of ``x``."""
        return F.tanh(x)


class LogSigmoid(nn.Cell, metaclass=Kind):
    """``log(sigmoid(x))``."""

    def construct(self, x: Tensor) -> Tensor:
        """Return the activation of ``x``."""
        return F.logsigmoid(x)


class Softplus(nn.Cell):
    """``log(1 + exp(beta * x)) / beta``, linear above ``threshold``."""

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def construct(self, x: Tensor) -> Tensor:
        """Return the activation of ``x``."""
        return F.softplus(x, self.beta, self.threshold)


class Softsign(nn.Cell, metaclass=Kind):
    """``x / (1 + |x|)``."""

    def construct(self, x: Tensor) -> Tensor:
        """Return the activation of ``x``."""
        return x / (1 + ops.abs(x))


class Threshold(nn.Cell, metaclass=Kind):
    """``x`` above ``threshold``, else ``value``."""

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold, self.value = threshold, value

    def construct(self, x: Tensor) -> Tensor:
        """Return the activation of ``x``."""
        return F.threshold(x, self.threshold, self.value)


class PReLU(nn.PReLU, metaclass=Kind):
    """``x`` where positive, else ``w * x``; the parameter ``w`` is one number, or one a channel (axis 1)."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__(num_parameters, float(init))
        self.num_parameters = num_parameters

    def construct(self, x: Tensor) -> Tensor:
        """Return the activation of ``x``."""
        return F.prelu(x, self.w)


class Softmax(nn.Cell, metaclass=Kind):
    """Softmax over ``dim``; without it torch's old rule holds: axis 0 for 0, 1 and 3 dimensions, else 1."""

    def __init__(self, dim: Optional[int] = None) -> None:
        super().__init__()
        self.dim = dim

    def construct(self, x: Tensor) -> Tensor:
        """Return the softmax of ``x``."""
        return F.softmax(x, self.dim)


class LogSoftmax(nn.Cell, metaclass=Kind):
    """Logarithm of the softmax over ``dim``."""

    def __init__(self, dim: Optional[int] = None) -> None:
        super().__init__()
        self.dim = dim

    def construct(self, x: Tensor) -> Tensor:
        """Return the logarithm of the softmax of ``x``."""
        return F.log_softmax(x, self.dim)


class Softmin(nn.Cell, metaclass=Kind):
    """Softmax of ``-x`` over ``dim``."""

    def __init__(self, dim: Optional[int] = None) -> None:
        super().__init__()
        self.dim = dim

    def construct(self, x: Tensor) -> Tensor:
        """Return the softmin of ``x``."""
        return F.nans.softmax(-x, self.dim) if x.ndim else F.softmax(-x, self.dim)


class Softmax2d(nn.Cell, metaclass=Kind):
    """Softmax over the channels of (batch, channels, height, width)."""

    def construct(self, x: Tensor) -> Tensor:
        """Return the softmax of ``x``."""
        return F.softmax(x, -3)
