"""MobileNetV2, MobileNetV3 and MNASNet.

Sources: Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks" (2018); Howard et al., "Searching for
MobileNetV3" (2019); Tan et al., "MnasNet: Platform-Aware Neural Architecture Search for Mobile" (2019).
"""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, List, Optional, Sequence, Tuple

from mindspore import Tensor, nn, ops

from .. import layers
from ..initializers import kaiming_normal_, kaiming_uniform_, normal_
from .blocks import Conv2dNormActivation, SqueezeExcitation
from .building import Network, fill_layers, make_divisible, named

__all__ = [
    "InvertedResidual",
    "InvertedResidualConfig",
    "InvertedResidualV3",
    "MNASNet",
    "MobileNetV2",
    "MobileNetV3",
    "mnasnet0_5",
    "mnasnet0_75",
    "mnasnet1_0",
    "mnasnet1_3",
    "mobilenet_v2",
    "mobilenet_v3_large",
    "mobilenet_v3_small",
]

Maker = Callable[..., nn.Cell]


def _start(network: nn.Cell) -> None:
    """Draw the weights of MobileNets: by fan out, and small ones for linear layers."""
    fill_layers(network, partial(kaiming_normal_, mode="fan_out"), partial(normal_, mean=0.0, std=0.01))


class InvertedResidual(Network):
    """A block of MobileNetV2: to many channels, over the places, to few channels."""

    def __init__(
        self, inp: int, oup: int, stride: int, expand_ratio: float, norm_layer: Optional[Maker] = None
    ) -> None:
        super().__init__()
        if stride not in (1, 2):
            raise ValueError(f"stride should be 1 or 2 instead of {stride}")
        norm, hidden = norm_layer or layers.BatchNorm2d, round(inp * expand_ratio)
        self.stride, self.out_channels = stride, oup
        self.use_res_connect = stride == 1 and inp == oup
        parts: List[nn.Cell] = []
        if expand_ratio != 1:
            parts.append(Conv2dNormActivation(inp, hidden, 1, norm_layer=norm, activation_layer=layers.ReLU6))
        parts += [
            Conv2dNormActivation(
                hidden, hidden, stride=stride, groups=hidden, norm_layer=norm, activation_layer=layers.ReLU6
            ),
            layers.Conv2d(hidden, oup, 1, bias=False),
            norm(oup),
        ]
        self.conv = nn.SequentialCell(*parts)

    def construct(self, x: Tensor) -> Tensor:
        """Return the features, with the input added where they have its shape."""
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


# Expansion, channels, number of blocks, stride of the first
_V2 = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


class MobileNetV2(Network):
    """Inverted residuals between two convolutions, and one linear layer."""

    def __init__(
        self,
        num_classes: int = 1000,
        width_mult: float = 1.0,
        inverted_residual_setting: Optional[Sequence[Sequence[int]]] = None,
        round_nearest: int = 8,
        block: Optional[Maker] = None,
        norm_layer: Optional[Maker] = None,
        dropout: float = 0.2,
    ) -> None:
        super().__init__()
        setting = _V2 if inverted_residual_setting is None else inverted_residual_setting
        if not setting or len(setting[0]) != 4:
            raise ValueError(f"inverted_residual_setting should be non-empty or a 4-element list, got {setting}")
        block, norm = block or InvertedResidual, norm_layer or layers.BatchNorm2d
        conv = partial(Conv2dNormActivation, norm_layer=norm, activation_layer=layers.ReLU6)
        channels = make_divisible(32 * width_mult, round_nearest)
        self.last_channel = make_divisible(1280 * max(1.0, width_mult), round_nearest)
        features: List[nn.Cell] = [conv(3, channels, stride=2)]
        for expansion, width, count, stride in setting:
            outputs = make_divisible(width * width_mult, round_nearest)
            for place in range(count):
                step = stride if place == 0 else 1
                features.append(block(channels, outputs, step, expand_ratio=expansion, norm_layer=norm))
                channels = outputs
        features.append(conv(channels, self.last_channel, kernel_size=1))
        self.features = nn.SequentialCell(*features)
        self.classifier = nn.SequentialCell(layers.Dropout(dropout), layers.Linear(self.last_channel, num_classes))
        _start(self)

    def _forward_impl(self, x: Tensor) -> Tensor:
        return self.classifier(self.features(x).mean((2, 3)))

    def construct(self, x: Tensor) -> Tensor:
        """Return logits of shape (N, num_classes)."""
        return self._forward_impl(x)


class InvertedResidualConfig:
    """What one block of MobileNetV3 looks like: a line of the tables 1 and 2 of its paper."""

    def __init__(
        self,
        input_channels: int,
        kernel: int,
        expanded_channels: int,
        out_channels: int,
        use_se: bool,
        activation: str,
        stride: int,
        dilation: int,
        width_mult: float,
    ) -> None:
        self.input_channels = self.adjust_channels(input_channels, width_mult)
        self.kernel = kernel
        self.expanded_channels = self.adjust_channels(expanded_channels, width_mult)
        self.out_channels = self.adjust_channels(out_channels, width_mult)
        self.use_se, self.use_hs = use_se, activation == "HS"
        self.stride, self.dilation = stride, dilation

    @staticmethod
    def adjust_channels(channels: float, width_mult: float) -> int:
        """Return the width at a multiple of eight."""
        return make_divisible(channels * width_mult, 8)


class InvertedResidualV3(Network):
    """A block of MobileNetV3: as V2's, with channels weighed by the whole picture."""

    def __init__(
        self,
        cnf: InvertedResidualConfig,
        norm_layer: Maker,
        se_layer: Optional[Maker] = None,
    ) -> None:
        super().__init__()
        if not 1 <= cnf.stride <= 2:
            raise ValueError("illegal stride value")
        self.use_res_connect = cnf.stride == 1 and cnf.input_channels == cnf.out_channels
        self.out_channels = cnf.out_channels
        self.halves = cnf.stride > 1  # or would, were it not dilated: segmentation takes the features here
        hidden = cnf.expanded_channels
        act: Any = layers.Hardswish if cnf.use_hs else layers.ReLU
        conv = partial(Conv2dNormActivation, norm_layer=norm_layer, activation_layer=act)
        parts: List[nn.Cell] = [] if hidden == cnf.input_channels else [conv(cnf.input_channels, hidden, 1)]
        stride = 1 if cnf.dilation > 1 else cnf.stride
        parts.append(conv(hidden, hidden, cnf.kernel, stride=stride, dilation=cnf.dilation, groups=hidden))
        if cnf.use_se:
            squeeze = se_layer or partial(SqueezeExcitation, scale_activation=layers.Hardsigmoid)
            parts.append(squeeze(hidden, make_divisible(hidden // 4, 8)))
        parts.append(conv(hidden, cnf.out_channels, 1, activation_layer=None))
        self.block = nn.SequentialCell(*parts)

    def construct(self, input: Tensor) -> Tensor:
        """Return the features, with the input added where they have its shape."""
        return self.block(input) + input if self.use_res_connect else self.block(input)


class MobileNetV3(Network):
    """Inverted residuals between two convolutions, and two linear layers."""

    def __init__(
        self,
        inverted_residual_setting: Sequence[InvertedResidualConfig],
        last_channel: int,
        num_classes: int = 1000,
        block: Optional[Maker] = None,
        norm_layer: Optional[Maker] = None,
        dropout: float = 0.2,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        if not inverted_residual_setting:
            raise ValueError("The inverted_residual_setting should not be empty")
        block = block or InvertedResidualV3
        norm = norm_layer or partial(layers.BatchNorm2d, eps=0.001, momentum=0.01)
        conv = partial(Conv2dNormActivation, norm_layer=norm, activation_layer=layers.Hardswish)
        channels = inverted_residual_setting[-1].out_channels
        self.features = nn.SequentialCell(
            conv(3, inverted_residual_setting[0].input_channels, stride=2),
            *(block(one, norm) for one in inverted_residual_setting),
            conv(channels, 6 * channels, 1),
        )
        self.avgpool = layers.AdaptiveAvgPool2d(1)
        self.classifier = nn.SequentialCell(
            layers.Linear(6 * channels, last_channel), layers.Hardswish(), layers.Dropout(dropout),
            layers.Linear(last_channel, num_classes),
        )  # fmt: skip
        _start(self)

    def _forward_impl(self, x: Tensor) -> Tensor:
        return self.classifier(ops.flatten(self.avgpool(self.features(x)), start_dim=1))

    def construct(self, x: Tensor) -> Tensor:
        """Return logits of shape (N, num_classes)."""
        return self._forward_impl(x)


# Inputs, kernel, expanded, outputs, squeeze and excitation, activation, stride; the last stage can be narrower
_LARGE = (
    (16, 3, 16, 16, False, "RE", 1), (16, 3, 64, 24, False, "RE", 2), (24, 3, 72, 24, False, "RE", 1),
    (24, 5, 72, 40, True, "RE", 2), (40, 5, 120, 40, True, "RE", 1), (40, 5, 120, 40, True, "RE", 1),
    (40, 3, 240, 80, False, "HS", 2), (80, 3, 200, 80, False, "HS", 1), (80, 3, 184, 80, False, "HS", 1),
    (80, 3, 184, 80, False, "HS", 1), (80, 3, 480, 112, True, "HS", 1), (112, 3, 672, 112, True, "HS", 1),
    (112, 5, 672, 160, True, "HS", 2), (160, 5, 960, 160, True, "HS", 1), (160, 5, 960, 160, True, "HS", 1),
)  # fmt: skip
_SMALL = (
    (16, 3, 16, 16, True, "RE", 2), (16, 3, 72, 24, False, "RE", 2), (24, 3, 88, 24, False, "RE", 1),
    (24, 5, 96, 40, True, "HS", 2), (40, 5, 240, 40, True, "HS", 1), (40, 5, 240, 40, True, "HS", 1),
    (40, 5, 120, 48, True, "HS", 1), (48, 5, 144, 48, True, "HS", 1), (48, 5, 288, 96, True, "HS", 2),
    (96, 5, 576, 96, True, "HS", 1), (96, 5, 576, 96, True, "HS", 1),
)  # fmt: skip


def _mobilenet_v3(
    rows: Sequence[Tuple[Any, ...]],
    last: int,
    width_mult: float = 1.0,
    reduced_tail: bool = False,
    dilated: bool = False,
    **options: Any,
) -> MobileNetV3:
    """Return the network of a table; ``dilated``: the last stage keeps the size and looks at places further apart."""
    share, dilation, tail = 2 if reduced_tail else 1, 2 if dilated else 1, len(rows) - 3
    setting = []
    for place, (inputs, kernel, hidden, outputs, squeeze, act, stride) in enumerate(rows):
        if place > tail:
            inputs, hidden = inputs // share, hidden // share
        if place >= tail:
            outputs //= share
        setting.append(
            InvertedResidualConfig(
                inputs, kernel, hidden, outputs, squeeze, act, stride, dilation if place >= tail else 1, width_mult
            )
        )
    last_channel = InvertedResidualConfig.adjust_channels(last // share, width_mult)
    return MobileNetV3(setting, last_channel, **options)


_MOMENTUM = 1 - 0.9997  # of the statistics, as the paper has it


class _MnasBlock(Network):
    """A block of MNASNet: to many channels, over the places, to few channels."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int, expansion: int) -> None:
        super().__init__()
        hidden = inputs * expansion
        self.apply_residual = inputs == outputs and stride == 1
        self.layers = nn.SequentialCell(
            *_mnas_conv(inputs, hidden, 1), layers.ReLU(),
            *_mnas_conv(hidden, hidden, kernel, stride, hidden), layers.ReLU(),
            *_mnas_conv(hidden, outputs, 1),
        )  # fmt: skip

    def construct(self, x: Tensor) -> Tensor:
        """Return the features, with the input added where they have its shape."""
        return self.layers(x) + x if self.apply_residual else self.layers(x)


def _mnas_conv(inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> Tuple[nn.Cell, nn.Cell]:
    conv = layers.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
    return conv, layers.BatchNorm2d(outputs, momentum=_MOMENTUM)


class MNASNet(Network):
    """Stacks of inverted residuals and one linear layer; ``alpha``: how wide they are."""

    def __init__(self, alpha: float, num_classes: int = 1000, dropout: float = 0.2) -> None:
        super().__init__()
        if alpha <= 0:
            raise ValueError(f"alpha should be greater than 0.0 instead of {alpha}")
        self.alpha, self.num_classes = alpha, num_classes
        widths = [make_divisible(width * alpha, 8) for width in (32, 16, 24, 40, 80, 96, 192, 320)]
        stacks = []  # kernel, stride, expansion, number of blocks
        for place, (kernel, stride, expansion, count) in enumerate(
            ((3, 2, 3, 3), (5, 2, 3, 3), (5, 2, 6, 3), (3, 1, 6, 2), (5, 2, 6, 4), (3, 1, 6, 1)), 1
        ):
            inputs, outputs = widths[place], widths[place + 1]
            first = _MnasBlock(inputs, outputs, kernel, stride, expansion)
            more = [_MnasBlock(outputs, outputs, kernel, 1, expansion) for _ in range(count - 1)]
            stacks.append(nn.SequentialCell(first, *more))
        self.layers = nn.SequentialCell(
            *_mnas_conv(3, widths[0], 3, 2), layers.ReLU(),
            *_mnas_conv(widths[0], widths[0], 3, 1, widths[0]), layers.ReLU(),
            *_mnas_conv(widths[0], widths[1], 1), *stacks, *_mnas_conv(widths[-1], 1280, 1), layers.ReLU(),
        )  # fmt: skip
        self.classifier = nn.SequentialCell(layers.Dropout(dropout), layers.Linear(1280, num_classes))
        linear = partial(kaiming_uniform_, mode="fan_out", nonlinearity="sigmoid")
        fill_layers(self, partial(kaiming_normal_, mode="fan_out", nonlinearity="relu"), linear)

    def construct(self, x: Tensor) -> Tensor:
        """Return logits of shape (N, num_classes)."""
        return self.classifier(self.layers(x).mean((2, 3)))


mobilenet_v2 = named("mobilenet_v2", MobileNetV2)
mobilenet_v3_large = named("mobilenet_v3_large", _mobilenet_v3, _LARGE, 1280)
mobilenet_v3_small = named("mobilenet_v3_small", _mobilenet_v3, _SMALL, 1024)
mnasnet0_5 = named("mnasnet0_5", MNASNet, 0.5)
mnasnet0_75 = named("mnasnet0_75", MNASNet, 0.75)
mnasnet1_0 = named("mnasnet1_0", MNASNet, 1.0)
mnasnet1_3 = named("mnasnet1_3", MNASNet, 1.3)
