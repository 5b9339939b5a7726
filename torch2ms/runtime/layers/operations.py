"""Operations that are layers, so that tools of PyTorch's can see them."""

from __future__ import annotations

from typing import Any, Sequence

from mindspore import Tensor, nn, ops

from .. import functional as F
from ..kinds import Kind

__all__ = ["FloatFunctional"]


class FloatFunctional(nn.Cell, metaclass=Kind):
    """Sums, products and joins as methods of a layer; quantisation, for whose sake it is there, is left out."""

    def construct(self, x: Tensor) -> Tensor:
        """Raise: it is called by its methods."""
        raise RuntimeError("FloatFunctional is not intended to use the 'forward'. Please use the underlying operation")

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """Return ``x + y``."""
        return x + y

    def add_scalar(self, x: Tensor, y: float) -> Tensor:
        """Return ``x + y`` for a number."""
        return x + y

    def mul(self, x: Tensor, y: Tensor) -> Tensor:
        """Return ``x * y``."""
        return x * y

    def mul_scalar(self, x: Tensor, y: float) -> Tensor:
        """Return ``x * y`` for a number."""
        return x * y

    def cat(self, x: Sequence[Any], dim: int = 0) -> Tensor:
        """Return tensors joined along an axis."""
        return F.cat(x, dim)

    def add_relu(self, x: Tensor, y: Tensor) -> Tensor:
        """Return ``x + y`` where that is positive, else 0."""
        return ops.relu(x + y)

    def matmul(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the product of matrices."""
        return ops.matmul(x, y)
