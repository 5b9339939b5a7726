"""Normalisation layers with PyTorch's signatures.

Parameters have MindSpore's names: ``gamma`` (weight), ``beta`` (bias), ``moving_mean``, ``moving_variance``.
"""

from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple, Union

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops

from ..functional.normalization import batch_norm, group_norm, instance_norm, layer_norm, mean_of, rms_norm
from ..kinds import Kind
from .arguments import draw_own, typed

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "CrossMapLRN2d",
    "GroupNorm",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LayerNorm",
    "LocalResponseNorm",
    "RMSNorm",
]

Shape = Union[int, Sequence[int]]


def _leave_out(layer: Any, names: Sequence[str]) -> None:
    """Set parameters of a layer to None, as PyTorch's has them where it is made without."""
    layer._torch2ms_absent = frozenset(names)
    for name in names:
        # MindSpore 2.0 stumbles over a parameter that is None: the layer has none of the name.
        layer._params.pop(name, None)
        object.__setattr__(layer, name, None)


class _Average:
    """What the batch normalisations share: torch's arguments, and ``momentum=None``, a cumulative average."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: Optional[float] = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(  # type: ignore[call-arg]
            num_features=num_features,
            eps=float(eps) if 0 < eps <= 1 else 1e-5,
            momentum=0.9 if momentum is None else 1.0 - momentum,  # MindSpore: the share that is kept
            affine=bool(affine),
            use_batch_statistics=None if track_running_stats else True,
            **typed(dtype),
        )
        self.affine, self.track_running_stats = bool(affine), bool(track_running_stats)
        cell: Any = getattr(self, "bn2d", self)
        cell.eps = float(eps)
        absent = ([] if affine else ["gamma", "beta"]) + (
            [] if track_running_stats else ["moving_mean", "moving_variance"]
        )
        if affine and not bias:
            absent.append("beta")
        _leave_out(cell, absent)
        self.num_batches_tracked: Any = None  # subclasses ask for it; counted.py counts
        self.share = 0.0 if momentum is None else float(momentum)  # of the new statistics
        self.batches: Optional[int] = 0 if momentum is None and track_running_stats else None
        draw_own(self)

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` normalised; in training the running statistics follow."""
        cell: Any = getattr(self, "bn2d", self)  # BatchNorm3d keeps its parameters in an inner layer
        if self.batches is None and not cell._torch2ms_absent and 0 < cell.eps <= 1:  # no kernel takes another
            return super(_Average, self).construct(x)  # type: ignore[misc]
        if self.batches is not None and self.training:  # type: ignore[attr-defined]
            self.batches += 1
        return batch_norm(
            x,
            cell.moving_mean if self.track_running_stats else None,
            cell.moving_variance if self.track_running_stats else None,
            cell.gamma,
            cell.beta,
            self.training or not self.track_running_stats,  # type: ignore[attr-defined]
            self.share if self.batches is None else 1.0 / max(self.batches, 1),
            cell.eps,
        )


class BatchNorm1d(_Average, nn.BatchNorm1d, metaclass=Kind):
    """Batch normalisation of (batch, features) or (batch, features, length)."""


class BatchNorm2d(_Average, nn.BatchNorm2d, metaclass=Kind):
    """Batch normalisation of (batch, channels, height, width)."""


class BatchNorm3d(_Average, nn.BatchNorm3d, metaclass=Kind):
    """Batch normalisation of (batch, channels, depth, height, width)."""


class LayerNorm(nn.LayerNorm, metaclass=Kind):
    """Normalise over the last ``len(normalized_shape)`` axes.

    Without ``elementwise_affine`` the parameters ``gamma`` and ``beta`` are None; without ``bias`` only ``beta`` is.
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
        super().__init__(shape, -1, -1, epsilon=float(eps), **typed(dtype))
        self.elementwise_affine = bool(elementwise_affine)
        _leave_out(self, ["gamma", "beta"] if not elementwise_affine else [] if bias else ["beta"])
        draw_own(self)

    @property
    def eps(self) -> float:
        """PyTorch's name of ``epsilon``."""
        return float(self.epsilon)

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` normalised."""
        return layer_norm(x, self.normalized_shape, self.gamma, self.beta, self.epsilon)


class GroupNorm(nn.GroupNorm, metaclass=Kind):
    """Normalise ``num_channels / num_groups`` channels of a sample together."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_groups, num_channels, eps=float(eps), affine=bool(affine), **typed(dtype))
        self.affine = bool(affine)
        _leave_out(self, ["gamma", "beta"] if not affine else [] if bias else ["beta"])
        draw_own(self)

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` normalised."""
        if not self._torch2ms_absent:
            return super(GroupNorm, self).construct(x)
        return group_norm(x, self.num_groups, self.gamma, self.beta, self.eps)


class _InstanceNorm(nn.Cell, metaclass=Kind):
    """Normalise each channel of each sample over its places: (batch, channels, ...)."""

    rank = 2  # number of axes of one sample

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps, self.momentum = eps, momentum
        self.affine, self.track_running_stats = bool(affine), bool(track_running_stats)
        ones, zeros = ops.ones((num_features,), ms.float32), ops.zeros((num_features,), ms.float32)
        self.gamma = Parameter(ones, name="gamma") if self.affine else None
        self.beta = Parameter(zeros, name="beta") if self.affine and bias else None
        if self.track_running_stats:
            self.moving_mean = Parameter(zeros, name="moving_mean", requires_grad=False)
            self.moving_variance = Parameter(ones, name="moving_variance", requires_grad=False)

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` normalised; a sample without batch axis has one axis less."""
        unbatched = x.ndim == self.rank
        y = instance_norm(
            ops.expand_dims(x, 0) if unbatched else x,
            self.moving_mean if self.track_running_stats else None,
            self.moving_variance if self.track_running_stats else None,
            self.gamma,
            self.beta,
            self.training or not self.track_running_stats,
            self.momentum,
            self.eps,
        )
        return ops.squeeze(y, 0) if unbatched else y


class InstanceNorm1d(_InstanceNorm):
    """Instance normalisation of (batch, channels, length)."""


class InstanceNorm2d(_InstanceNorm):
    """Instance normalisation of (batch, channels, height, width)."""

    rank = 3


class InstanceNorm3d(_InstanceNorm):
    """Instance normalisation of (batch, channels, depth, height, width)."""

    rank = 4


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
        self.eps, self.normalized_shape = eps, shape
        self.elementwise_affine = bool(elementwise_affine)
        if self.elementwise_affine:
            self.weight = Parameter(ops.ones(shape, ms.float32 if dtype is None else dtype), name="weight")

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` normalised."""
        return rms_norm(x, self.normalized_shape, self.weight if self.elementwise_affine else None, self.eps)


class LocalResponseNorm(nn.Cell):
    """Divide by ``(k + alpha * mean of squares over size neighbouring channels) ** beta`` (Krizhevsky et al. 2012)."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size, self.alpha, self.beta_, self.k = size, alpha, beta, k

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` of shape (batch, channels, ...) normalised."""
        return x / ops.pow(mean_of(self.squares(x), self.size) * self.alpha + self.k, self.beta_)

    def squares(self, x: Tensor) -> Tensor:
        """Return the sum of the squares of neighbouring channels."""
        shape = x.shape
        flat = ops.square(x).reshape((shape[0], 1, shape[1], -1))
        flat = ops.pad(flat, (0, 0, self.size // 2, (self.size - 1) // 2))
        total = flat[:, :, 0 : shape[1]]
        for shift in range(1, self.size):
            total = total + flat[:, :, shift : shift + shape[1]]
        return total.reshape(shape)


class CrossMapLRN2d(LocalResponseNorm):
    """Local response normalisation with as many channels before as behind, also where ``size`` is even.

    As in PyTorch, whose running sum never takes the first channel out again.
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        channels = (size - 1) // 2 * 2 + 1
        super().__init__(channels, alpha * channels / size, beta, k)

    def squares(self, x: Tensor) -> Tensor:
        """Return the sum of the squares of neighbouring channels, and of the first one."""
        near = self.size // 2 + 1  # of so many channels it is a neighbour already
        if x.shape[1] <= near:
            return super(CrossMapLRN2d, self).squares(x)
        first = ops.square(x[:, :1])
        beyond = ops.broadcast_to(first, (first.shape[0], x.shape[1] - near, *first.shape[2:]))
        return super(CrossMapLRN2d, self).squares(x) + ops.concat((ops.zeros_like(x[:, :near]), beyond), 1)
