"""Blocks that networks for pictures share: torchvision's ``ops`` that are layers."""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Sequence, Tuple, Union

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

from .. import layers, modules
from .building import Network

__all__ = [
    "MLP",
    "Conv2dNormActivation",
    "Conv3dNormActivation",
    "FrozenBatchNorm2d",
    "LayerNorm2d",
    "Permute",
    "SqueezeExcitation",
    "StochasticDepth",
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
        return super().construct(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)


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
