"""Linear layers and the identity with PyTorch's signatures."""

from __future__ import annotations

from typing import Any

from mindspore import nn

from ..kinds import Kind
from .arguments import draw_own, reset_parameters, typed

__all__ = ["Bilinear", "Identity", "Linear"]


class Linear(nn.Dense, metaclass=Kind):
    """``x @ weight.T + bias`` over the last axis."""

    reset_parameters = reset_parameters

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(in_features, out_features, has_bias=bool(bias), **typed(dtype))
        self.in_features = in_features
        self.out_features = out_features
        draw_own(self)


class Bilinear(nn.BiDense, metaclass=Kind):
    """``x1 @ weight @ x2 + bias``."""

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(in1_features, in2_features, out_features, has_bias=bool(bias), **typed(dtype))


class Identity(nn.Cell, metaclass=Kind):
    """Return the input; arguments of the constructor are ignored, as in torch."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def construct(self, x: Any) -> Any:
        """Return ``x``."""
        return x
