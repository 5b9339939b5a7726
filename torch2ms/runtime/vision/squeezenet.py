"""SqueezeNet: Iandola et al., "SqueezeNet: AlexNet-level accuracy with 50x fewer parameters" (2016)."""

from __future__ import annotations

from typing import List

from mindspore import Tensor, nn, ops

from .. import layers
from ..initializers import kaiming_uniform_, normal_
from .building import Network, fill_layers, named

__all__ = ["Fire", "SqueezeNet", "squeezenet1_0", "squeezenet1_1"]

# Of each fire module the width of the squeeze and of each expansion; 0 is a pooling
_FIRES = {
    "1_0": (96, 7, (0, (16, 64), (16, 64), (32, 128), 0, (32, 128), (48, 192), (48, 192), (64, 256), 0, (64, 256))),
    "1_1": (64, 3, (0, (16, 64), (16, 64), 0, (32, 128), (32, 128), 0, (48, 192), (48, 192), (64, 256), (64, 256))),
}  # fmt: skip


class Fire(Network):
    """A 1x1 convolution to few channels, and from these 1x1 and 3x3 convolutions side by side."""

    def __init__(self, inplanes: int, squeeze_planes: int, expand1x1_planes: int, expand3x3_planes: int) -> None:
        super().__init__()
        self.inplanes = inplanes
        self.squeeze = layers.Conv2d(inplanes, squeeze_planes, 1)
        self.squeeze_activation = layers.ReLU()
        self.expand1x1 = layers.Conv2d(squeeze_planes, expand1x1_planes, 1)
        self.expand1x1_activation = layers.ReLU()
        self.expand3x3 = layers.Conv2d(squeeze_planes, expand3x3_planes, 3, padding=1)
        self.expand3x3_activation = layers.ReLU()

    def construct(self, x: Tensor) -> Tensor:
        """Return both expansions, one after the other in the channels."""
        x = self.squeeze_activation(self.squeeze(x))
        narrow = self.expand1x1_activation(self.expand1x1(x))
        return ops.cat((narrow, self.expand3x3_activation(self.expand3x3(x))), 1)


class SqueezeNet(Network):
    """Fire modules with pooling between, and a convolution to the classes. ``version``: "1_0" or "1_1"."""

    def __init__(self, version: str = "1_0", num_classes: int = 1000, dropout: float = 0.5) -> None:
        super().__init__()
        if version not in _FIRES:
            raise ValueError(f"Unsupported SqueezeNet version {version}: 1_0 or 1_1 expected")
        self.num_classes = num_classes
        channels, size, fires = _FIRES[version]
        features: List[nn.Cell] = [layers.Conv2d(3, channels, size, stride=2), layers.ReLU()]
        for widths in fires:
            if not isinstance(widths, tuple):
                features.append(layers.MaxPool2d(3, 2, ceil_mode=True))
                continue
            squeeze, expand = widths
            features.append(Fire(channels, squeeze, expand, expand))
            channels = 2 * expand
        self.features = nn.SequentialCell(*features)
        last = layers.Conv2d(channels, num_classes, 1)
        self.classifier = nn.SequentialCell(
            layers.Dropout(dropout), last, layers.ReLU(), layers.AdaptiveAvgPool2d((1, 1))
        )
        fill_layers(self, conv=kaiming_uniform_)
        normal_(last.weight, 0.0, 0.01)

    def construct(self, x: Tensor) -> Tensor:
        """Return logits of shape (N, num_classes)."""
        return ops.flatten(self.classifier(self.features(x)), start_dim=1)


squeezenet1_0 = named("squeezenet1_0", SqueezeNet, "1_0")
squeezenet1_1 = named("squeezenet1_1", SqueezeNet, "1_1")
