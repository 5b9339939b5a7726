"""Blocks that networks for pictures share: torchvision's ``ops`` that are layers."""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Sequence, Tuple, Union

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

from .. import functional as F
from .. import layers, modules
from ..layers.arguments import reset_parameters
from .building import Network

__all__ = [
    "MLP",
    "Conv2dNormActivation",
    "Conv3dNormActivation",
    "DeformConv2d",
    "DropBlock2d",
    "DropBlock3d",
    "FrozenBatchNorm2d",
    "LayerNorm2d",
    "Permute",
    "SqueezeExcitation",
    "StochasticDepth",
    "drop_block2d",
    "drop_block3d",
    "scale_of_survivors",
    "stochastic_depth",
]

Maker = Callable[..., nn.Cell]
Sizes = Union[int, Tuple[int, ...]]


def _ints(value: Sizes, count: int) -> Tuple[int, ...]:
    return (value,) * count if isinstance(value, (int, np.integer)) else tuple(value)


class _ConvNormActivation(layers.Sequential):
    """A convolution, a normalization and an activation; the last two may be None."""

    rank = 2
    conv: Maker = layers.Conv2d

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes = 3,
        stride: Sizes = 1,
        padding: Union[Sizes, str, None] = None,
        groups: int = 1,
        norm_layer: Optional[Maker] = layers.BatchNorm2d,
        activation_layer: Optional[Maker] = layers.ReLU,
        dilation: Sizes = 1,
        inplace: Optional[bool] = True,
        bias: Optional[bool] = None,
    ) -> None:
        sizes, steps = _ints(kernel_size, self.rank), _ints(dilation, self.rank)
        if padding is None:
            padding = tuple((size - 1) // 2 * step for size, step in zip(sizes, steps))
        biased = norm_layer is None if bias is None else bias
        conv = type(self).conv(
            in_channels, out_channels, sizes, stride, padding, dilation=steps, groups=groups, bias=biased
        )
        parts: List[nn.Cell] = [conv]
        if norm_layer is not None:
            parts.append(norm_layer(out_channels))
        if activation_layer is not None:
            parts.append(activation_layer() if inplace is None else activation_layer(inplace=inplace))
        super().__init__(*parts)
        self.out_channels = out_channels


class Conv2dNormActivation(_ConvNormActivation):
    """A convolution of (batch, channels, height, width), a normalization and an activation."""


class Conv3dNormActivation(_ConvNormActivation):
    """A convolution of (batch, channels, depth, height, width), a normalization and an activation."""

    rank = 3
    conv = layers.Conv3d

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes = 3,
        stride: Sizes = 1,
        padding: Union[Sizes, str, None] = None,
        groups: int = 1,
        norm_layer: Optional[Maker] = layers.BatchNorm3d,
        activation_layer: Optional[Maker] = layers.ReLU,
        dilation: Sizes = 1,
        inplace: Optional[bool] = True,
        bias: Optional[bool] = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, groups, norm_layer, activation_layer, dilation,
            inplace, bias,
        )  # fmt: skip


class SqueezeExcitation(Network):
    """Channels weighed by what the whole picture shows (Hu et al., "Squeeze-and-Excitation Networks", 2017)."""

    def __init__(
        self,
        input_channels: int,
        squeeze_channels: int,
        activation: Maker = layers.ReLU,
        scale_activation: Maker = layers.Sigmoid,
    ) -> None:
        super().__init__()
        self.avgpool = layers.AdaptiveAvgPool2d(1)
        self.fc1 = layers.Conv2d(input_channels, squeeze_channels, 1)
        self.fc2 = layers.Conv2d(squeeze_channels, input_channels, 1)
        self.activation = activation()
        self.scale_activation = scale_activation()

    def construct(self, input: Tensor) -> Tensor:
        """Return ``input`` with each channel times its weight."""
        return self.scale_activation(self.fc2(self.activation(self.fc1(self.avgpool(input))))) * input


def scale_of_survivors(shape: Sequence[int], survival: float, dtype: Any) -> Tensor:
    """Return 0 or ``1 / survival`` at each place, drawn so that the mean is 1; zeros where nothing survives."""
    kept = (ops.rand(*shape, dtype=ms.float32) < survival).astype(dtype)
    return kept / survival if survival > 0 else kept


def stochastic_depth(input: Tensor, p: float, mode: str, training: bool = True) -> Tensor:
    """Drop whole samples ("row") or the whole batch ("batch") with probability ``p`` (Huang et al. 2016).

    Raises ValueError for another mode, and for a ``p`` that is no probability.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"drop probability has to be between 0 and 1, but got {p}")
    if mode not in ("batch", "row"):
        raise ValueError(f"mode has to be either 'batch' or 'row', but got {mode}")
    if not training or p == 0:
        return input
    samples = input.shape[0] if mode == "row" else 1
    return input * scale_of_survivors((samples, *(1,) * (input.ndim - 1)), 1.0 - p, input.dtype)


class StochasticDepth(Network):
    """``stochastic_depth`` in training."""

    def __init__(self, p: float, mode: str) -> None:
        super().__init__()
        self.p, self.mode = p, mode

    def construct(self, input: Tensor) -> Tensor:
        """Return ``input``, samples of it dropped in training."""
        return stochastic_depth(input, self.p, self.mode, self.training)

    def extend_repr(self) -> str:
        """Return what ``repr`` shows of the layer."""
        return f"p={self.p}, mode={self.mode}"


class MLP(layers.Sequential):
    """Linear layers with normalization (where asked for), activation and dropout between."""

    def __init__(
        self,
        in_channels: int,
        hidden_channels: Sequence[int],
        norm_layer: Optional[Maker] = None,
        activation_layer: Maker = layers.ReLU,
        inplace: Optional[bool] = None,
        bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        options = {} if inplace is None else {"inplace": inplace}
        parts: List[nn.Cell] = []
        widths = [in_channels, *hidden_channels]
        for place, (inputs, outputs) in enumerate(zip(widths, widths[1:]), 1):
            parts.append(layers.Linear(inputs, outputs, bias=bias))
            if place < len(hidden_channels):
                if norm_layer is not None:
                    parts.append(norm_layer(outputs))
                parts.append(activation_layer(**options))
            parts.append(layers.Dropout(dropout, **options))
        super().__init__(*parts)


class Permute(Network):
    """The axes in another order."""

    def __init__(self, dims: Sequence[int]) -> None:
        super().__init__()
        self.dims = dims

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` with its axes in the order ``dims``."""
        return ops.transpose(x, tuple(dim % x.ndim for dim in self.dims))


class LayerNorm2d(layers.LayerNorm):
    """Layer normalization over the channels of (batch, channels, height, width)."""

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` normalised."""
        return super(LayerNorm2d, self).construct(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)


class FrozenBatchNorm2d(Network):
    """Batch normalization whose statistics and weights do not change: they are no parameters of an optimizer."""

    def __init__(self, num_features: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        for name, start in (("weight", 1), ("bias", 0), ("running_mean", 0), ("running_var", 1)):
            modules.register_buffer(self, name, Tensor(np.full(num_features, start, np.float32)))

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` normalised with the statistics that were loaded."""
        scale = self.weight / ops.sqrt(self.running_var + self.eps)
        shift = self.bias - self.running_mean * scale
        return x * scale.reshape((1, -1, 1, 1)) + shift.reshape((1, -1, 1, 1))

    def extend_repr(self) -> str:
        """Return what ``repr`` shows of the layer."""
        return f"{self.weight.shape[0]}, eps={self.eps}"


def drop_block2d(
    input: Tensor, p: float, block_size: int, inplace: bool = False, eps: float = 1e-6, training: bool = True
) -> Tensor:
    """Drop squares of (batch, channels, height, width) in training (Ghiasi et al., "DropBlock", 2018)."""
    return _drop_block(input, p, block_size, eps, training, 2)


def drop_block3d(
    input: Tensor, p: float, block_size: int, inplace: bool = False, eps: float = 1e-6, training: bool = True
) -> Tensor:
    """Drop cubes of (batch, channels, depth, height, width) in training."""
    return _drop_block(input, p, block_size, eps, training, 3)


def _drop_block(input: Tensor, p: float, block_size: int, eps: float, training: bool, rank: int) -> Tensor:
    if not 0 <= p <= 1:
        raise ValueError(f"drop probability has to be between 0 and 1, but got {p}.")
    if input.ndim != rank + 2:
        raise ValueError(f"input should be {rank + 2} dimensional. Got {input.ndim} dimensions.")
    if not training or p == 0:
        return input
    sides = input.shape[2:]
    size = min(block_size, *sides)
    if size % 2 == 0:
        raise ValueError(f"block size should be odd. Got {size} which is even.")
    centres = [side - size + 1 for side in sides]  # a block lies inside
    share = p * float(np.prod(sides)) / (size**rank * float(np.prod(centres)))
    drawn = (ops.rand(*input.shape[:2], *centres, dtype=ms.float32) < share).astype(input.dtype)
    pool = F.max_pool2d if rank == 2 else F.max_pool3d
    kept = 1 - pool(F.pad(drawn, [size // 2] * (2 * rank)), size, 1, size // 2)
    return input * kept * (float(np.prod(input.shape)) / (eps + kept.sum()))


class DropBlock2d(Network):
    """``drop_block2d`` in training."""

    rank = 2

    def __init__(self, p: float, block_size: int, inplace: bool = False, eps: float = 1e-6) -> None:
        super().__init__()
        self.p, self.block_size, self.inplace, self.eps = p, block_size, inplace, eps

    def construct(self, input: Tensor) -> Tensor:
        """Return ``input``, blocks of it dropped in training."""
        return _drop_block(input, self.p, self.block_size, self.eps, self.training, self.rank)

    def extend_repr(self) -> str:
        """Return what ``repr`` shows of the layer."""
        return f"p={self.p}, block_size={self.block_size}, inplace={self.inplace}"


class DropBlock3d(DropBlock2d):
    """``drop_block3d`` in training."""

    rank = 3


class DeformConv2d(Network):
    """A convolution whose places are moved by ``offset`` (Dai et al., "Deformable Convolutional Networks", 2017)."""

    reset_parameters = reset_parameters

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
    ) -> None:
        super().__init__()
        for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
            if channels % groups:
                raise ValueError(f"{name} must be divisible by groups")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride = _ints(kernel_size, 2), _ints(stride, 2)
        self.padding, self.dilation = _ints(padding, 2), _ints(dilation, 2)
        shape = (out_channels, in_channels // groups, *self.kernel_size)
        self.weight = Parameter(Tensor(np.zeros(shape, np.float32)), name="weight")
        self.bias = Parameter(Tensor(np.zeros(out_channels, np.float32)), name="bias") if bias else None
        self.reset_parameters()

    def construct(self, input: Tensor, offset: Tensor, mask: Optional[Tensor] = None) -> Tensor:
        """Return the convolution; ``mask`` weighs each place."""
        return F.deform_conv2d(
            input, offset, self.weight, self.bias, self.stride, self.padding, self.dilation, mask=mask
        )
