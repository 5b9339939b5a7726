"""DenseNet: Huang et al., "Densely Connected Convolutional Networks" (2017)."""

from __future__ import annotations

from collections import OrderedDict
from typing import Dict, Sequence

from mindspore import Tensor, nn, ops

from .. import layers
from ..functional import dropout
from ..initializers import kaiming_normal_
from .building import Network, fill_layers, named

__all__ = ["DenseNet", "densenet121", "densenet161", "densenet169", "densenet201"]


class _DenseLayer(Network):
    """A bottleneck and a 3x3 convolution of all that came before."""

    def __init__(self, inputs: int, growth: int, bottleneck: int, drop_rate: float) -> None:
        super().__init__()
        self.norm1 = layers.BatchNorm2d(inputs)
        self.relu1 = layers.ReLU()
        self.conv1 = layers.Conv2d(inputs, bottleneck * growth, 1, bias=False)
        self.norm2 = layers.BatchNorm2d(bottleneck * growth)
        self.relu2 = layers.ReLU()
        self.conv2 = layers.Conv2d(bottleneck * growth, growth, 3, padding=1, bias=False)
        self.drop_rate = float(drop_rate)

    def construct(self, features: Tensor) -> Tensor:
        """Return ``growth`` new channels."""
        x = self.conv1(self.relu1(self.norm1(features)))
        return dropout(self.conv2(self.relu2(self.norm2(x))), self.drop_rate, self.training)


class _DenseBlock(layers.ModuleDict):
    """Layers that each see the input and the output of all before them."""

    def __init__(self, count: int, inputs: int, growth: int, bottleneck: int, drop_rate: float) -> None:
        cells = [_DenseLayer(inputs + place * growth, growth, bottleneck, drop_rate) for place in range(count)]
        super().__init__({f"denselayer{number}": cell for number, cell in enumerate(cells, 1)})

    def construct(self, x: Tensor) -> Tensor:
        """Return the input and all new channels."""
        for layer in self.values():
            x = ops.cat((x, layer(x)), 1)
        return x


def _transition(inputs: int, outputs: int) -> nn.SequentialCell:
    """Return what halves the channels and the sides between two blocks."""
    cells = {
        "norm": layers.BatchNorm2d(inputs), "relu": layers.ReLU(),
        "conv": layers.Conv2d(inputs, outputs, 1, bias=False), "pool": layers.AvgPool2d(2, 2),
    }  # fmt: skip
    return nn.SequentialCell(OrderedDict(cells))


class DenseNet(Network):
    """A stem, dense blocks with transitions between, and one linear layer.

    ``memory_efficient`` is PyTorch's way to compute activations anew in the backward pass: it changes no result.
    """

    def __init__(
        self,
        growth_rate: int = 32,
        block_config: Sequence[int] = (6, 12, 24, 16),
        num_init_features: int = 64,
        bn_size: int = 4,
        drop_rate: float = 0,
        num_classes: int = 1000,
        memory_efficient: bool = False,
    ) -> None:
        super().__init__()
        cells: Dict[str, nn.Cell] = OrderedDict(
            conv0=layers.Conv2d(3, num_init_features, 7, 2, 3, bias=False),
            norm0=layers.BatchNorm2d(num_init_features),
            relu0=layers.ReLU(),
            pool0=layers.MaxPool2d(3, 2, 1),
        )
        channels = num_init_features
        for number, count in enumerate(block_config, 1):
            cells[f"denseblock{number}"] = _DenseBlock(count, channels, growth_rate, bn_size, drop_rate)
            channels += count * growth_rate
            if number < len(block_config):
                cells[f"transition{number}"] = _transition(channels, channels // 2)
                channels //= 2
        cells["norm5"] = layers.BatchNorm2d(channels)
        self.features = nn.SequentialCell(cells)
        self.classifier = layers.Linear(channels, num_classes)
        fill_layers(self, conv=kaiming_normal_)
        self.classifier.bias.set_data(self.classifier.bias * 0)

    def construct(self, x: Tensor) -> Tensor:
        """Return logits of shape (N, num_classes)."""
        x = ops.relu(self.features(x))
        return self.classifier(x.mean((2, 3)))


densenet121 = named("densenet121", DenseNet, 32, (6, 12, 24, 16), 64)
densenet161 = named("densenet161", DenseNet, 48, (6, 12, 36, 24), 96)
densenet169 = named("densenet169", DenseNet, 32, (6, 12, 32, 32), 64)
densenet201 = named("densenet201", DenseNet, 32, (6, 12, 48, 32), 64)
