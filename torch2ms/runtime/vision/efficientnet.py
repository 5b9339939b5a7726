"""EfficientNet and EfficientNetV2.

Sources: Tan and Le, "EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks" (2019) and
"EfficientNetV2: Smaller Models and Faster Training" (2021).
"""

from __future__ import annotations

import copy
import math
from functools import partial
from typing import Any, Callable, List, Optional, Sequence, Tuple

from mindspore import Parameter, Tensor, nn, ops

from .. import layers
from ..initializers import kaiming_normal_, uniform_
from .blocks import Conv2dNormActivation, SqueezeExcitation, StochasticDepth
from .building import Network, fill_layers, make_divisible, named

__all__ = [
    "EfficientNet",
    "FusedMBConv",
    "FusedMBConvConfig",
    "MBConv",
    "MBConvConfig",
    "efficientnet_b0",
    "efficientnet_b1",
    "efficientnet_b2",
    "efficientnet_b3",
    "efficientnet_b4",
    "efficientnet_b5",
    "efficientnet_b6",
    "efficientnet_b7",
    "efficientnet_v2_l",
    "efficientnet_v2_m",
    "efficientnet_v2_s",
]

Maker = Callable[..., nn.Cell]


class _StageConfig:
    """What the blocks of one stage look like."""

    def __init__(
        self,
        expand_ratio: float,
        kernel: int,
        stride: int,
        input_channels: int,
        out_channels: int,
        num_layers: int,
        block: Maker,
    ) -> None:
        self.expand_ratio, self.kernel, self.stride = expand_ratio, kernel, stride
        self.input_channels, self.out_channels = input_channels, out_channels
        self.num_layers, self.block = num_layers, block

    @staticmethod
    def adjust_channels(channels: int, width_mult: float, min_value: Optional[int] = None) -> int:
        """Return the width at a multiple of eight."""
        return max(make_divisible(channels * width_mult, 8), min_value or 0)


class MBConvConfig(_StageConfig):
    """A stage of inverted residuals, at a width and a depth."""

    def __init__(
        self,
        expand_ratio: float,
        kernel: int,
        stride: int,
        input_channels: int,
        out_channels: int,
        num_layers: int,
        width_mult: float = 1.0,
        depth_mult: float = 1.0,
        block: Optional[Maker] = None,
    ) -> None:
        inputs, outputs = (self.adjust_channels(width, width_mult) for width in (input_channels, out_channels))
        depth = self.adjust_depth(num_layers, depth_mult)
        super().__init__(expand_ratio, kernel, stride, inputs, outputs, depth, block or MBConv)

    @staticmethod
    def adjust_depth(num_layers: int, depth_mult: float) -> int:
        """Return how many blocks a stage has at a depth."""
        return math.ceil(num_layers * depth_mult)


class FusedMBConvConfig(_StageConfig):
    """A stage of inverted residuals whose first two convolutions are one."""

    def __init__(
        self,
        expand_ratio: float,
        kernel: int,
        stride: int,
        input_channels: int,
        out_channels: int,
        num_layers: int,
        block: Optional[Maker] = None,
    ) -> None:
        super().__init__(expand_ratio, kernel, stride, input_channels, out_channels, num_layers, block or FusedMBConv)


class _Residual(Network):
    """What both blocks share: the input is added where the features have its shape, some samples dropped."""

    def __init__(self, cnf: _StageConfig, parts: Sequence[nn.Cell], stochastic_depth_prob: float) -> None:
        super().__init__()
        if not 1 <= cnf.stride <= 2:
            raise ValueError("illegal stride value")
        self.use_res_connect = cnf.stride == 1 and cnf.input_channels == cnf.out_channels
        self.block = nn.SequentialCell(*parts)
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")
        self.out_channels = cnf.out_channels

    def construct(self, input: Tensor) -> Tensor:
        """Return the features."""
        out = self.block(input)
        return self.stochastic_depth(out) + input if self.use_res_connect else out


class MBConv(_Residual):
    """To many channels, over the places, channels weighed by the whole picture, to few channels."""

    def __init__(
        self,
        cnf: MBConvConfig,
        stochastic_depth_prob: float,
        norm_layer: Maker,
        se_layer: Maker = SqueezeExcitation,
    ) -> None:
        conv = partial(Conv2dNormActivation, norm_layer=norm_layer, activation_layer=layers.SiLU)
        inputs, hidden = cnf.input_channels, cnf.adjust_channels(cnf.input_channels, cnf.expand_ratio)
        parts: List[nn.Cell] = [] if hidden == inputs else [conv(inputs, hidden, 1)]
        parts += [
            conv(hidden, hidden, cnf.kernel, stride=cnf.stride, groups=hidden),
            se_layer(hidden, max(1, inputs // 4), activation=layers.SiLU),
            conv(hidden, cnf.out_channels, 1, activation_layer=None),
        ]
        super().__init__(cnf, parts, stochastic_depth_prob)


class FusedMBConv(_Residual):
    """To many channels over the places, and to few channels."""

    def __init__(self, cnf: FusedMBConvConfig, stochastic_depth_prob: float, norm_layer: Maker) -> None:
        conv = partial(Conv2dNormActivation, norm_layer=norm_layer, activation_layer=layers.SiLU)
        inputs, hidden = cnf.input_channels, cnf.adjust_channels(cnf.input_channels, cnf.expand_ratio)
        if hidden == inputs:
            parts = [conv(inputs, cnf.out_channels, cnf.kernel, stride=cnf.stride)]
        else:
            parts = [
                conv(inputs, hidden, cnf.kernel, stride=cnf.stride),
                conv(hidden, cnf.out_channels, 1, activation_layer=None),
            ]
        super().__init__(cnf, parts, stochastic_depth_prob)


def _small_for_many(weight: Parameter) -> Any:
    """Draw the weight of a linear layer: the smaller, the more outputs it has."""
    bound = 1 / math.sqrt(weight.shape[0])
    return uniform_(weight, -bound, bound)


class EfficientNet(Network):
    """Stages of inverted residuals between two convolutions, and one linear layer."""

    def __init__(
        self,
        inverted_residual_setting: Sequence[_StageConfig],
        dropout: float,
        stochastic_depth_prob: float = 0.2,
        num_classes: int = 1000,
        norm_layer: Optional[Maker] = None,
        last_channel: Optional[int] = None,
    ) -> None:
        super().__init__()
        if not inverted_residual_setting:
            raise ValueError("The inverted_residual_setting should not be empty")
        norm = norm_layer or layers.BatchNorm2d
        conv = partial(Conv2dNormActivation, norm_layer=norm, activation_layer=layers.SiLU)
        features: List[nn.Cell] = [conv(3, inverted_residual_setting[0].input_channels, stride=2)]
        total, number = sum(stage.num_layers for stage in inverted_residual_setting), 0
        for stage in inverted_residual_setting:
            one, blocks = copy.copy(stage), []
            for _ in range(stage.num_layers):
                # The deeper a block, the more often it is dropped
                blocks.append(one.block(one, stochastic_depth_prob * number / total, norm))
                number += 1
                one = copy.copy(one)
                one.input_channels, one.stride = one.out_channels, 1
            features.append(nn.SequentialCell(*blocks))
        channels = inverted_residual_setting[-1].out_channels
        last = 4 * channels if last_channel is None else last_channel
        features.append(conv(channels, last, 1))
        self.features = nn.SequentialCell(*features)
        self.avgpool = layers.AdaptiveAvgPool2d(1)
        self.classifier = nn.SequentialCell(layers.Dropout(dropout), layers.Linear(last, num_classes))
        fill_layers(self, partial(kaiming_normal_, mode="fan_out"), _small_for_many)

    def _forward_impl(self, x: Tensor) -> Tensor:
        return self.classifier(ops.flatten(self.avgpool(self.features(x)), start_dim=1))

    def construct(self, x: Tensor) -> Tensor:
        """Return logits of shape (N, num_classes)."""
        return self._forward_impl(x)


# Expansion, kernel, stride, inputs, outputs, number of blocks; for V2: whether the stage is fused
_V1 = (
    (1, 3, 1, 32, 16, 1), (6, 3, 2, 16, 24, 2), (6, 5, 2, 24, 40, 2), (6, 3, 2, 40, 80, 3), (6, 5, 1, 80, 112, 3),
    (6, 5, 2, 112, 192, 4), (6, 3, 1, 192, 320, 1),
)  # fmt: skip
_V2_S = (
    (True, 1, 3, 1, 24, 24, 2), (True, 4, 3, 2, 24, 48, 4), (True, 4, 3, 2, 48, 64, 4), (False, 4, 3, 2, 64, 128, 6),
    (False, 6, 3, 1, 128, 160, 9), (False, 6, 3, 2, 160, 256, 15),
)  # fmt: skip
_V2_M = (
    (True, 1, 3, 1, 24, 24, 3), (True, 4, 3, 2, 24, 48, 5), (True, 4, 3, 2, 48, 80, 5), (False, 4, 3, 2, 80, 160, 7),
    (False, 6, 3, 1, 160, 176, 14), (False, 6, 3, 2, 176, 304, 18), (False, 6, 3, 1, 304, 512, 5),
)  # fmt: skip
_V2_L = (
    (True, 1, 3, 1, 32, 32, 4), (True, 4, 3, 2, 32, 64, 7), (True, 4, 3, 2, 64, 96, 7), (False, 4, 3, 2, 96, 192, 10),
    (False, 6, 3, 1, 192, 224, 19), (False, 6, 3, 2, 224, 384, 25), (False, 6, 3, 1, 384, 640, 7),
)  # fmt: skip
_SLOW = partial(layers.BatchNorm2d, eps=0.001, momentum=0.01)


def _v1(width: float, depth: float, dropout: float, **options: Any) -> EfficientNet:
    setting = [MBConvConfig(*row, width_mult=width, depth_mult=depth) for row in _V1]
    return EfficientNet(setting, dropout, **options)


def _v2(rows: Sequence[Tuple[Any, ...]], dropout: float, **options: Any) -> EfficientNet:
    setting = [(FusedMBConvConfig if fused else MBConvConfig)(*row) for fused, *row in rows]
    options.setdefault("norm_layer", partial(layers.BatchNorm2d, eps=0.001))
    return EfficientNet(setting, dropout, last_channel=1280, **options)


efficientnet_b0 = named("efficientnet_b0", _v1, 1.0, 1.0, dropout=0.2)
efficientnet_b1 = named("efficientnet_b1", _v1, 1.0, 1.1, dropout=0.2)
efficientnet_b2 = named("efficientnet_b2", _v1, 1.1, 1.2, dropout=0.3)
efficientnet_b3 = named("efficientnet_b3", _v1, 1.2, 1.4, dropout=0.3)
efficientnet_b4 = named("efficientnet_b4", _v1, 1.4, 1.8, dropout=0.4)
efficientnet_b5 = named("efficientnet_b5", _v1, 1.6, 2.2, dropout=0.4, norm_layer=_SLOW)
efficientnet_b6 = named("efficientnet_b6", _v1, 1.8, 2.6, dropout=0.5, norm_layer=_SLOW)
efficientnet_b7 = named("efficientnet_b7", _v1, 2.0, 3.1, dropout=0.5, norm_layer=_SLOW)
efficientnet_v2_s = named("efficientnet_v2_s", _v2, _V2_S, dropout=0.2)
efficientnet_v2_m = named("efficientnet_v2_m", _v2, _V2_M, dropout=0.3)
efficientnet_v2_l = named("efficientnet_v2_l", _v2, _V2_L, dropout=0.4)
