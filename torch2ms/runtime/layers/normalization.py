"""Normalisation layers with PyTorch's signatures.

Parameters have MindSpore's names: ``gamma`` (weight), ``beta`` (bias), ``moving_mean``, ``moving_variance``.
"""

from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple, Union

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops

from ..functional.normalization import layer_norm
from .arguments import typed

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "GroupNorm",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LayerNorm",
    "LocalResponseNorm",
    "RMSNorm",
]

Shape = Union[int, Sequence[int]]


def _kept(momentum: Optional[float]) -> float:
    """Return MindSpore's momentum (the share of the old statistics that is kept) for torch's (the share replaced)."""
    if momentum is None:
        raise ValueError("momentum=None (a cumulative average) has no equivalent in MindSpore's batch normalisation")
    return 1.0 - momentum


def _batch_options(
    num_features: int, eps: float, momentum: Optional[float], affine: bool, track_running_stats: bool
) -> dict[str, Any]:
    """Return the arguments of MindSpore's batch normalisation: without running statistics always the batch's."""
    return {
        "num_features": num_features,
        "eps": float(eps),
        "momentum": _kept(momentum),
        "affine": bool(affine),
        "use_batch_statistics": None if track_running_stats else True,
    }


class BatchNorm1d(nn.BatchNorm1d):
    """Batch normalisation of (batch, features) or (batch, features, length)."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: Optional[float] = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(**_batch_options(num_features, eps, momentum, affine, track_running_stats), **typed(dtype))


class BatchNorm2d(nn.BatchNorm2d):
    """Batch normalisation of (batch, channels, height, width)."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: Optional[float] = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(**_batch_options(num_features, eps, momentum, affine, track_running_stats), **typed(dtype))


class BatchNorm3d(nn.BatchNorm3d):
    """Batch normalisation of (batch, channels, depth, height, width)."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: Optional[float] = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(**_batch_options(num_features, eps, momentum, affine, track_running_stats), **typed(dtype))


class LayerNorm(nn.LayerNorm):
    """Normalise over the last ``len(normalized_shape)`` axes.

    Without ``elementwise_affine`` the parameters ``gamma`` (ones) and ``beta`` (zeros) are not trained; without
    ``bias`` only ``beta`` is not.
    """

    def __init__(
        self,
        normalized_shape: Shape,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        super().__init__(shape, -1, -1, epsilon=eps, **typed(dtype))
        self.gamma.requires_grad = bool(elementwise_affine)
        self.beta.requires_grad = bool(elementwise_affine and bias)

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` normalised."""
        return layer_norm(x, self.gamma.shape, self.gamma, self.beta, self.epsilon)


class GroupNorm(nn.GroupNorm):
    """Normalise ``num_channels / num_groups`` channels of a sample together."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(num_groups, num_channels, eps=eps, affine=bool(affine), **typed(dtype))


class _InstanceNorm(nn.Cell):
    """Normalise each channel of each sample over its places: (batch, channels, ...)."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if track_running_stats:
            raise ValueError("track_running_stats=True has no equivalent in MindSpore's instance normalisation")
        self.num_features = num_features
        self.eps = eps
        self.affine = bool(affine)
        if self.affine:
            self.gamma = Parameter(ops.ones((num_features,), ms.float32), name="gamma")
            self.beta = Parameter(ops.zeros((num_features,), ms.float32), name="beta")

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` normalised."""
        axes = tuple(range(2, x.ndim))
        centred = x - x.mean(axes, True)
        y = centred * ops.rsqrt(ops.square(centred).mean(axes, True) + self.eps)
        if self.affine:
            shape = (1, self.num_features) + (1,) * (x.ndim - 2)
            y = y * self.gamma.reshape(shape) + self.beta.reshape(shape)
        return y


class InstanceNorm1d(_InstanceNorm):
    """Instance normalisation of (batch, channels, length)."""


class InstanceNorm2d(_InstanceNorm):
    """Instance normalisation of (batch, channels, height, width)."""


class InstanceNorm3d(_InstanceNorm):
    """Instance normalisation of (batch, channels, depth, height, width)."""


class RMSNorm(nn.Cell):
    """Divide by the root mean square over the last axes (Zhang and Sennrich 2019); ``eps=None``: float32's epsilon."""

    def __init__(
        self,
        normalized_shape: Shape,
        eps: Optional[float] = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        shape: Tuple[int, ...] = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.axes = tuple(range(-len(shape), 0))
        self.eps = 1.1920929e-07 if eps is None else eps
        self.elementwise_affine = bool(elementwise_affine)
        if self.elementwise_affine:
            self.weight = Parameter(ops.ones(shape, ms.float32), name="weight")

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` normalised."""
        y = x * ops.rsqrt(ops.square(x).mean(self.axes, True) + self.eps)
        return y * self.weight if self.elementwise_affine else y


class LocalResponseNorm(nn.Cell):
    """Divide by ``(k + alpha * mean of squares over size neighbouring channels) ** beta`` (Krizhevsky et al. 2012)."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size, self.alpha, self.beta_, self.k = size, alpha, beta, k

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` of shape (batch, channels, ...) normalised."""
        shape = x.shape
        flat = ops.square(x).reshape((shape[0], 1, shape[1], -1))
        flat = ops.pad(flat, (0, 0, self.size // 2, (self.size - 1) // 2))
        total = flat[:, :, 0 : shape[1]]
        for shift in range(1, self.size):
            total = total + flat[:, :, shift : shift + shape[1]]
        total = total.reshape(shape) / self.size
        return x / ops.pow(total * self.alpha + self.k, self.beta_)
