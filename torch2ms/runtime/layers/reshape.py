"""Layers without weights: dropout, padding, resizing, rearranging, distances; all with PyTorch's signatures."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple, Union

import numpy as np
from mindspore import Tensor, nn

from .. import functional as F
from ..kinds import Kind

__all__ = [
    "ChannelShuffle",
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "CosineSimilarity",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "Flatten",
    "Fold",
    "PairwiseDistance",
    "PixelShuffle",
    "PixelUnshuffle",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "Unfold",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]

IntOrInts = Union[int, Sequence[int]]


class _Dropout(nn.Cell, metaclass=Kind):
    """A share ``p`` of the input (or of its channels) becomes 0 in training."""

    function: Any = None

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        nn.Cell.__init__(self)  # MindSpore's own layer of the name is a base for isinstance alone
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` with places dropped in training, ``x`` itself otherwise."""
        return type(self).function(x, self.p, self.training)

    def extend_repr(self) -> str:
        """Return what ``repr`` shows of the layer."""
        return f"p={self.p}"


class Dropout(_Dropout, nn.Dropout):
    """Dropout of single values."""

    function = staticmethod(F.dropout)


class Dropout1d(_Dropout, nn.Dropout1d):
    """Dropout of channels of (batch, channels, length)."""

    function = staticmethod(F.dropout1d)


class Dropout2d(_Dropout, nn.Dropout2d):
    """Dropout of channels of (batch, channels, height, width), or of single values of (batch, channels)."""

    function = staticmethod(F.dropout2d)


class Dropout3d(_Dropout, nn.Dropout3d):
    """Dropout of channels of (batch, channels, depth, height, width)."""

    function = staticmethod(F.dropout3d)


class Flatten(nn.Cell, metaclass=Kind):
    """Join the axes from ``start_dim`` to ``end_dim``."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` with those axes joined."""
        return F.flatten(x, self.start_dim, self.end_dim)


class _Pad(nn.Cell, metaclass=Kind):
    """Pad the last ``rank`` axes; ``padding`` is one width or (left, right, top, bottom, ...)."""

    rank = 1
    mode = "constant"

    def __init__(self, padding: IntOrInts, value: float = 0.0) -> None:
        super().__init__()
        single = isinstance(padding, (int, np.integer))  # widths are often counted with numpy
        widths = (padding,) * (2 * self.rank) if single else padding
        self.padding: Tuple[int, ...] = tuple(int(width) for width in widths)  # type: ignore[arg-type, union-attr]
        self.value = value

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` padded."""
        return F.pad(x, self.padding, self.mode, self.value)


class ConstantPad1d(_Pad):
    """Pad the last axis with a constant."""


class ConstantPad2d(_Pad):
    """Pad the last two axes with a constant."""

    rank = 2


class ConstantPad3d(_Pad):
    """Pad the last three axes with a constant."""

    rank = 3


class ZeroPad1d(_Pad):
    """Pad the last axis with zeros."""


class ZeroPad2d(_Pad):
    """Pad the last two axes with zeros."""

    rank = 2


class ZeroPad3d(_Pad):
    """Pad the last three axes with zeros."""

    rank = 3


class ReflectionPad1d(_Pad):
    """Pad the last axis by reflection."""

    mode = "reflect"


class ReflectionPad2d(_Pad):
    """Pad the last two axes by reflection."""

    rank, mode = 2, "reflect"


class ReflectionPad3d(_Pad):
    """Pad the last three axes by reflection."""

    rank, mode = 3, "reflect"


class ReplicationPad1d(_Pad):
    """Pad the last axis with its edge."""

    mode = "replicate"


class ReplicationPad2d(_Pad):
    """Pad the last two axes with their edges."""

    rank, mode = 2, "replicate"


class ReplicationPad3d(_Pad):
    """Pad the last three axes with their edges."""

    rank, mode = 3, "replicate"


class CircularPad1d(_Pad):
    """Pad the last axis with its other end."""

    mode = "circular"


class CircularPad2d(_Pad):
    """Pad the last two axes with their other ends."""

    rank, mode = 2, "circular"


class CircularPad3d(_Pad):
    """Pad the last three axes with their other ends."""

    rank, mode = 3, "circular"


class Upsample(nn.Cell, metaclass=Kind):
    """Resize (batch, channels, ...)."""

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: Optional[bool] = None,
        recompute_scale_factor: Optional[bool] = None,
    ) -> None:
        super().__init__()
        if scale_factor is not None:  # torch keeps floats
            scale_factor = (
                float(scale_factor) if isinstance(scale_factor, (int, float)) else tuple(map(float, scale_factor))
            )
        self.size, self.scale_factor, self.mode, self.align_corners = size, scale_factor, mode, align_corners

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` resized."""
        return F.interpolate(x, self.size, self.scale_factor, self.mode, self.align_corners)


class UpsamplingNearest2d(Upsample):
    """Resize by the nearest pixel."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, "nearest")


class UpsamplingBilinear2d(Upsample):
    """Resize by bilinear interpolation with aligned corners."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, "bilinear", True)


class PixelShuffle(nn.Cell, metaclass=Kind):
    """(batch, c*r*r, h, w) to (batch, c, h*r, w*r)."""

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` rearranged."""
        return F.pixel_shuffle(x, self.upscale_factor)


class PixelUnshuffle(nn.Cell, metaclass=Kind):
    """(batch, c, h*r, w*r) to (batch, c*r*r, h, w)."""

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` rearranged."""
        return F.pixel_unshuffle(x, self.downscale_factor)


class ChannelShuffle(nn.Cell, metaclass=Kind):
    """Interleave the channels of ``groups`` groups."""

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` rearranged."""
        return F.channel_shuffle(x, self.groups)


class Unfold(nn.Cell, metaclass=Kind):
    """Windows of images as columns."""

    def __init__(
        self, kernel_size: IntOrInts, dilation: IntOrInts = 1, padding: IntOrInts = 0, stride: IntOrInts = 1
    ) -> None:
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def construct(self, x: Tensor) -> Tensor:
        """Return the windows of ``x``."""
        return F.unfold(x, self.kernel_size, self.dilation, self.padding, self.stride)


class Fold(nn.Cell):
    """Sum of windows at their places."""

    def __init__(
        self,
        output_size: IntOrInts,
        kernel_size: IntOrInts,
        dilation: IntOrInts = 1,
        padding: IntOrInts = 0,
        stride: IntOrInts = 1,
    ) -> None:
        super().__init__()
        self.output_size, self.kernel_size = output_size, kernel_size
        self.dilation, self.padding, self.stride = dilation, padding, stride

    def construct(self, x: Tensor) -> Tensor:
        """Return the image that the columns ``x`` add up to."""
        return F.fold(x, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)


class CosineSimilarity(nn.Cell, metaclass=Kind):
    """Cosine of the angle along ``dim``."""

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim, self.eps = dim, eps

    def construct(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Return the similarity of ``x1`` and ``x2``."""
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(nn.Cell):
    """p-norm of the difference over the last axis."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def construct(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Return the distance of ``x1`` and ``x2``."""
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
