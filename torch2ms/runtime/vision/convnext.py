"""ConvNeXt: Liu et al., "A ConvNet for the 2020s" (2022)."""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, List, Optional, Sequence, Tuple

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn

from .. import layers
from ..initializers import trunc_normal_
from .blocks import Conv2dNormActivation, LayerNorm2d, Permute, StochasticDepth
from .building import Network, fill_layers, named

__all__ = [
    "CNBlock",
    "CNBlockConfig",
    "ConvNeXt",
    "convnext_base",
    "convnext_large",
    "convnext_small",
    "convnext_tiny",
]

Maker = Callable[..., nn.Cell]


class CNBlock(Network):
    """A 7x7 convolution of each channel by itself, a perceptron over the channels, and the input."""

    def __init__(
        self, dim: int, layer_scale: float, stochastic_depth_prob: float, norm_layer: Optional[Maker] = None
    ) -> None:
        super().__init__()
        norm = norm_layer or partial(layers.LayerNorm, eps=1e-6)
        self.block = nn.SequentialCell(
            layers.Conv2d(dim, dim, 7, padding=3, groups=dim), Permute([0, 2, 3, 1]), norm(dim),
            layers.Linear(dim, 4 * dim), layers.GELU(), layers.Linear(4 * dim, dim), Permute([0, 3, 1, 2]),
        )  # fmt: skip
        scale = np.full((dim, 1, 1), layer_scale, np.float32)
        self.layer_scale = Parameter(Tensor(scale, ms.float32), name="layer_scale")
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")

    def construct(self, input: Tensor) -> Tensor:
        """Return the features."""
        return self.stochastic_depth(self.layer_scale * self.block(input)) + input


class CNBlockConfig:
    """How many blocks a stage has, and how many channels there are in it and after it (None: it is the last)."""

    def __init__(self, input_channels: int, out_channels: Optional[int], num_layers: int) -> None:
        self.input_channels, self.out_channels, self.num_layers = input_channels, out_channels, num_layers


class ConvNeXt(Network):
    """A stem, stages of blocks with halvings of the size between, and one linear layer."""

    def __init__(
        self,
        block_setting: Sequence[CNBlockConfig],
        stochastic_depth_prob: float = 0.0,
        layer_scale: float = 1e-6,
        num_classes: int = 1000,
        block: Optional[Maker] = None,
        norm_layer: Optional[Maker] = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        if not block_setting:
            raise ValueError("The block_setting should not be empty")
        block, norm = block or CNBlock, norm_layer or partial(LayerNorm2d, eps=1e-6)
        stem = Conv2dNormActivation(
            3, block_setting[0].input_channels, 4, 4, 0, norm_layer=norm, activation_layer=None, bias=True
        )
        features: List[nn.Cell] = [stem]
        total, number = sum(stage.num_layers for stage in block_setting), 0
        for stage in block_setting:
            blocks = []
            for _ in range(stage.num_layers):
                # The deeper a block, the more often it is dropped
                blocks.append(block(stage.input_channels, layer_scale, stochastic_depth_prob * number / (total - 1.0)))
                number += 1
            features.append(nn.SequentialCell(*blocks))
            if stage.out_channels is not None:
                halved = layers.Conv2d(stage.input_channels, stage.out_channels, 2, 2)
                features.append(nn.SequentialCell(norm(stage.input_channels), halved))
        self.features = nn.SequentialCell(*features)
        self.avgpool = layers.AdaptiveAvgPool2d(1)
        last = block_setting[-1].out_channels or block_setting[-1].input_channels
        self.classifier = nn.SequentialCell(norm(last), layers.Flatten(1), layers.Linear(last, num_classes))
        draw = partial(trunc_normal_, std=0.02)
        fill_layers(self, draw, draw)

    def _forward_impl(self, x: Tensor) -> Tensor:
        return self.classifier(self.avgpool(self.features(x)))

    def construct(self, x: Tensor) -> Tensor:
        """Return logits of shape (N, num_classes)."""
        return self._forward_impl(x)


def _convnext(widths: Tuple[int, ...], counts: Tuple[int, ...], **options: Any) -> ConvNeXt:
    setting = [CNBlockConfig(*row) for row in zip(widths, (*widths[1:], None), counts)]
    return ConvNeXt(setting, **options)


convnext_tiny = named("convnext_tiny", _convnext, (96, 192, 384, 768), (3, 3, 9, 3), stochastic_depth_prob=0.1)
convnext_small = named("convnext_small", _convnext, (96, 192, 384, 768), (3, 3, 27, 3), stochastic_depth_prob=0.4)
convnext_base = named("convnext_base", _convnext, (128, 256, 512, 1024), (3, 3, 27, 3), stochastic_depth_prob=0.5)
convnext_large = named("convnext_large", _convnext, (192, 384, 768, 1536), (3, 3, 27, 3), stochastic_depth_prob=0.5)
