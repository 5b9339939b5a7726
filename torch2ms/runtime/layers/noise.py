"""Layers that draw at random in training, with PyTorch's signatures."""

from __future__ import annotations

from mindspore import Tensor, nn

from .. import functional as F
from ..kinds import Kind

__all__ = ["AlphaDropout", "FeatureAlphaDropout", "RReLU"]


class RReLU(nn.Cell, metaclass=Kind):
    """``x`` where positive, else a slope times ``x``: drawn in training, the mean of its bounds otherwise."""

    def __init__(self, lower: float = 0.125, upper: float = 0.3333333333333333, inplace: bool = False) -> None:
        super().__init__()
        self.lower, self.upper = lower, upper

    def construct(self, x: Tensor) -> Tensor:
        """Return the activation of ``x``."""
        return F.rrelu(x, self.lower, self.upper, self.training)


class AlphaDropout(nn.Cell, metaclass=Kind):
    """Dropout that keeps mean and variance of SELU networks (Klambauer et al. 2017)."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        self.p = p

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` with places dropped in training, ``x`` itself otherwise."""
        return F.alpha_dropout(x, self.p, self.training)


class FeatureAlphaDropout(AlphaDropout):
    """Alpha dropout of whole channels of (batch, channels, ...)."""

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` with channels dropped in training, ``x`` itself otherwise."""
        return F.feature_alpha_dropout(x, self.p, self.training)
