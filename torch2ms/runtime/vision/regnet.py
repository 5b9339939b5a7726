"""RegNet: Radosavovic et al., "Designing Network Design Spaces" (2020)."""

from __future__ import annotations

import math
from collections import OrderedDict
from functools import partial
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np
from mindspore import Parameter, Tensor, nn, ops

from .. import layers
from ..initializers import normal_
from .blocks import Conv2dNormActivation, SqueezeExcitation
from .building import Network, fill_layers, make_divisible, named

__all__ = [
    "BlockParams",
    "RegNet",
    "ResBottleneckBlock",
    "SimpleStemIN",
    "regnet_x_1_6gf",
    "regnet_x_3_2gf",
    "regnet_x_8gf",
    "regnet_x_16gf",
    "regnet_x_32gf",
    "regnet_x_400mf",
    "regnet_x_800mf",
    "regnet_y_1_6gf",
    "regnet_y_3_2gf",
    "regnet_y_8gf",
    "regnet_y_16gf",
    "regnet_y_32gf",
    "regnet_y_128gf",
    "regnet_y_400mf",
    "regnet_y_800mf",
]

Maker = Callable[..., nn.Cell]


class SimpleStemIN(Conv2dNormActivation):
    """The stem: one 3x3 convolution to half the size."""

    def __init__(self, width_in: int, width_out: int, norm_layer: Maker, activation_layer: Maker) -> None:
        super().__init__(width_in, width_out, 3, 2, norm_layer=norm_layer, activation_layer=activation_layer)


class ResBottleneckBlock(Network):
    """1x1, 3x3 (in groups, with the stride), channels weighed by the whole picture, 1x1, and the input."""

    def __init__(
        self,
        width_in: int,
        width_out: int,
        stride: int,
        norm_layer: Maker,
        activation_layer: Maker,
        group_width: int = 1,
        bottleneck_multiplier: float = 1.0,
        se_ratio: Optional[float] = None,
    ) -> None:
        super().__init__()
        conv = partial(Conv2dNormActivation, norm_layer=norm_layer, activation_layer=activation_layer)
        changes = width_in != width_out or stride != 1
        self.proj = conv(width_in, width_out, 1, stride, activation_layer=None) if changes else None
        inner = round(width_out * bottleneck_multiplier)
        parts: Dict[str, nn.Cell] = OrderedDict(
            a=conv(width_in, inner, 1), b=conv(inner, inner, 3, stride, groups=inner // group_width)
        )
        if se_ratio:
            parts["se"] = SqueezeExcitation(inner, round(se_ratio * width_in), activation=activation_layer)
        parts["c"] = conv(inner, width_out, 1, activation_layer=None)
        self.f = nn.SequentialCell(parts)
        self.activation = activation_layer(inplace=True)

    def construct(self, x: Tensor) -> Tensor:
        """Return features of shape (N, width_out, H / stride, W / stride)."""
        return self.activation((x if self.proj is None else self.proj(x)) + self.f(x))


class BlockParams:
    """How many blocks each stage has, how wide they are, and in what groups."""

    def __init__(
        self,
        depths: Sequence[int],
        widths: Sequence[int],
        group_widths: Sequence[int],
        bottleneck_multipliers: Sequence[float],
        strides: Sequence[int],
        se_ratio: Optional[float] = None,
    ) -> None:
        self.depths, self.widths, self.group_widths = list(depths), list(widths), list(group_widths)
        self.bottleneck_multipliers, self.strides = list(bottleneck_multipliers), list(strides)
        self.se_ratio = se_ratio

    @classmethod
    def from_init_params(
        cls,
        depth: int,
        w_0: int,
        w_a: float,
        w_m: float,
        group_width: int,
        bottleneck_multiplier: float = 1.0,
        se_ratio: Optional[float] = None,
        **kwargs: Any,
    ) -> BlockParams:
        """Return the stages of a network whose widths grow by ``w_a``, rounded to powers of ``w_m`` times ``w_0``.

        Raises ValueError for settings that are no RegNet's.
        """
        if w_a < 0 or w_0 <= 0 or w_m <= 1 or w_0 % 8 != 0:
            raise ValueError("Invalid RegNet settings")
        wanted = np.arange(depth, dtype=np.float32) * np.float32(w_a) + np.float32(w_0)
        powers = np.round(np.log(wanted / np.float32(w_0)) / np.float32(math.log(w_m)))
        quantised = np.round(np.float32(w_0) * np.power(np.float32(w_m), powers) / 8) * 8
        widths, depths = np.unique(quantised.astype(int), return_counts=True)  # they only grow
        inner = [int(width * bottleneck_multiplier) for width in widths]
        groups = [min(group_width, width) for width in inner]
        fitting = [make_divisible(width, group) for width, group in zip(inner, groups)]
        stages = len(fitting)
        return cls(
            [int(depth) for depth in depths],
            [int(width / bottleneck_multiplier) for width in fitting],
            groups,
            [bottleneck_multiplier] * stages,
            [2] * stages,
            se_ratio,
        )


def _by_outputs(weight: Parameter) -> Any:
    """Draw the weight of a convolution by its outputs, in however many groups they are."""
    return normal_(weight, 0.0, math.sqrt(2.0 / (weight.shape[0] * math.prod(weight.shape[2:]))))


class RegNet(Network):
    """A stem, stages of residual blocks, global average pooling and one linear layer."""

    def __init__(
        self,
        block_params: BlockParams,
        num_classes: int = 1000,
        stem_width: int = 32,
        stem_type: Optional[Maker] = None,
        block_type: Optional[Maker] = None,
        norm_layer: Optional[Maker] = None,
        activation: Optional[Maker] = None,
    ) -> None:
        super().__init__()
        norm, act = norm_layer or layers.BatchNorm2d, activation or layers.ReLU
        block = block_type or ResBottleneckBlock
        self.stem = (stem_type or SimpleStemIN)(3, stem_width, norm, act)
        stages: Dict[str, nn.Cell] = OrderedDict()
        width, params = stem_width, block_params
        rows = zip(params.widths, params.strides, params.depths, params.group_widths, params.bottleneck_multipliers)
        for number, (outputs, stride, depth, group, multiplier) in enumerate(rows, 1):
            blocks: List[Tuple[str, nn.Cell]] = []
            for place in range(depth):
                step = 1 if place else stride
                made = block(width, outputs, step, norm, act, group, multiplier, params.se_ratio)
                blocks.append((f"block{number}-{place}", made))
                width = outputs
            stages[f"block{number}"] = nn.SequentialCell(OrderedDict(blocks))
        self.trunk_output = nn.SequentialCell(stages)
        self.avgpool = layers.AdaptiveAvgPool2d((1, 1))
        self.fc = layers.Linear(width, num_classes)
        biases = [(cell, cell.bias) for cell in self._weighed()]
        fill_layers(self, _by_outputs, partial(normal_, mean=0.0, std=0.01))
        for cell, bias in biases:
            cell.bias.set_data(bias)

    def _weighed(self) -> List[nn.Cell]:
        """Return the convolutions with a bias: of squeeze and excitation, which torchvision leaves as drawn."""
        cells = (cell for _, cell in self.cells_and_names() if isinstance(cell, nn.Conv2d))
        return [cell for cell in cells if cell.bias is not None]

    def construct(self, x: Tensor) -> Tensor:
        """Return logits of shape (N, num_classes)."""
        return self.fc(ops.flatten(self.avgpool(self.trunk_output(self.stem(x))), start_dim=1))


def _regnet(depth: int, w_0: int, w_a: float, w_m: float, group: int, se_ratio: Any, **options: Any) -> RegNet:
    return RegNet(BlockParams.from_init_params(depth, w_0, w_a, w_m, group, se_ratio=se_ratio), **options)


regnet_y_400mf = named("regnet_y_400mf", _regnet, 16, 48, 27.89, 2.09, 8, 0.25)
regnet_y_800mf = named("regnet_y_800mf", _regnet, 14, 56, 38.84, 2.4, 16, 0.25)
regnet_y_1_6gf = named("regnet_y_1_6gf", _regnet, 27, 48, 20.71, 2.65, 24, 0.25)
regnet_y_3_2gf = named("regnet_y_3_2gf", _regnet, 21, 80, 42.63, 2.66, 24, 0.25)
regnet_y_8gf = named("regnet_y_8gf", _regnet, 17, 192, 76.82, 2.19, 56, 0.25)
regnet_y_16gf = named("regnet_y_16gf", _regnet, 18, 200, 106.23, 2.48, 112, 0.25)
regnet_y_32gf = named("regnet_y_32gf", _regnet, 20, 232, 115.89, 2.53, 232, 0.25)
regnet_y_128gf = named("regnet_y_128gf", _regnet, 27, 456, 160.83, 2.52, 264, 0.25)
regnet_x_400mf = named("regnet_x_400mf", _regnet, 22, 24, 24.48, 2.54, 16, None)
regnet_x_800mf = named("regnet_x_800mf", _regnet, 16, 56, 35.73, 2.28, 16, None)
regnet_x_1_6gf = named("regnet_x_1_6gf", _regnet, 18, 80, 34.01, 2.25, 24, None)
regnet_x_3_2gf = named("regnet_x_3_2gf", _regnet, 25, 88, 26.31, 2.25, 48, None)
regnet_x_8gf = named("regnet_x_8gf", _regnet, 23, 80, 49.56, 2.88, 120, None)
regnet_x_16gf = named("regnet_x_16gf", _regnet, 22, 216, 55.59, 2.1, 128, None)
regnet_x_32gf = named("regnet_x_32gf", _regnet, 23, 320, 69.86, 2.0, 168, None)
