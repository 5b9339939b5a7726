"""ShuffleNetV2: Ma et al., "ShuffleNet V2: Practical Guidelines for Efficient CNN Architecture Design" (2018)."""

from __future__ import annotations

from typing import Any, Callable, List, Sequence

from mindspore import Tensor, nn, ops

from .. import layers
from .building import Network, named

__all__ = [
    "ShuffleBlock",
    "ShuffleNetV2",
    "channel_shuffle",
    "shufflenet_v2_x0_5",
    "shufflenet_v2_x1_0",
    "shufflenet_v2_x1_5",
    "shufflenet_v2_x2_0",
]


def channel_shuffle(x: Tensor, groups: int) -> Tensor:
    """Return (batch, channels, height, width) with the channels of the groups by turns."""
    batch, channels, height, width = x.shape
    x = x.reshape((batch, groups, channels // groups, height, width)).swapaxes(1, 2)
    return x.reshape((batch, channels, height, width))


def _over_places(channels: int, stride: int) -> List[nn.Cell]:
    """Return a 3x3 convolution of each channel by itself, normalised."""
    conv = layers.Conv2d(channels, channels, 3, stride, 1, groups=channels, bias=False)
    return [conv, layers.BatchNorm2d(channels)]


def _over_channels(inputs: int, outputs: int) -> List[nn.Cell]:
    """Return a 1x1 convolution, normalised and activated."""
    return [layers.Conv2d(inputs, outputs, 1, bias=False), layers.BatchNorm2d(outputs), layers.ReLU()]


class ShuffleBlock(Network):
    """Half of the channels through convolutions, the others as they are; at a stride both through convolutions."""

    def __init__(self, inp: int, oup: int, stride: int) -> None:
        super().__init__()
        if not 1 <= stride <= 3:
            raise ValueError("illegal stride value")
        half = oup // 2
        if stride == 1 and inp != 2 * half:
            raise ValueError(f"at stride 1 the block has as many inputs as outputs, not {inp} and {oup}")
        self.stride = stride
        first: List[nn.Cell] = [] if stride == 1 else _over_places(inp, stride) + _over_channels(inp, half)
        self.branch1 = layers.Sequential(*first)
        self.branch2 = layers.Sequential(
            *_over_channels(half if stride == 1 else inp, half), *_over_places(half, stride),
            *_over_channels(half, half),
        )  # fmt: skip

    def construct(self, x: Tensor) -> Tensor:
        """Return both halves, shuffled."""
        if self.stride == 1:
            half = x.shape[1] // 2
            out = ops.cat((x[:, :half], self.branch2(x[:, half:])), 1)
        else:
            out = ops.cat((self.branch1(x), self.branch2(x)), 1)
        return channel_shuffle(out, 2)


class ShuffleNetV2(Network):
    """A stem, three stages, a convolution and one linear layer."""

    def __init__(
        self,
        stages_repeats: Sequence[int],
        stages_out_channels: Sequence[int],
        num_classes: int = 1000,
        inverted_residual: Callable[..., Any] = ShuffleBlock,
    ) -> None:
        super().__init__()
        if len(stages_repeats) != 3:
            raise ValueError("expected stages_repeats as list of 3 positive ints")
        if len(stages_out_channels) != 5:
            raise ValueError("expected stages_out_channels as list of 5 positive ints")
        self._stage_out_channels = list(stages_out_channels)
        channels, *widths, last = stages_out_channels
        self.conv1 = nn.SequentialCell(
            layers.Conv2d(3, channels, 3, 2, 1, bias=False), layers.BatchNorm2d(channels), layers.ReLU()
        )
        self.maxpool = layers.MaxPool2d(3, 2, 1)
        stages = []
        for count, width in zip(stages_repeats, widths):
            more = [inverted_residual(width, width, 1) for _ in range(count - 1)]
            stages.append(nn.SequentialCell(inverted_residual(channels, width, 2), *more))
            channels = width
        self.stage2, self.stage3, self.stage4 = stages
        self.conv5 = nn.SequentialCell(*_over_channels(channels, last))
        self.fc = layers.Linear(last, num_classes)

    def _forward_impl(self, x: Tensor) -> Tensor:
        x = self.stage4(self.stage3(self.stage2(self.maxpool(self.conv1(x)))))
        return self.fc(self.conv5(x).mean((2, 3)))

    def construct(self, x: Tensor) -> Tensor:
        """Return logits of shape (N, num_classes)."""
        return self._forward_impl(x)


shufflenet_v2_x0_5 = named("shufflenet_v2_x0_5", ShuffleNetV2, (4, 8, 4), (24, 48, 96, 192, 1024))
shufflenet_v2_x1_0 = named("shufflenet_v2_x1_0", ShuffleNetV2, (4, 8, 4), (24, 116, 232, 464, 1024))
shufflenet_v2_x1_5 = named("shufflenet_v2_x1_5", ShuffleNetV2, (4, 8, 4), (24, 176, 352, 704, 1024))
shufflenet_v2_x2_0 = named("shufflenet_v2_x2_0", ShuffleNetV2, (4, 8, 4), (24, 244, 488, 976, 2048))
