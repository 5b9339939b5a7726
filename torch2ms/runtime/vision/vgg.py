"""VGG and AlexNet.

Sources: Simonyan and Zisserman, "Very Deep Convolutional Networks" (2014); Krizhevsky, "One weird trick for
parallelizing convolutional neural networks" (2014).
"""

from __future__ import annotations

from functools import partial
from typing import Any, List, Sequence, Union

from mindspore import Tensor, nn, ops

from .. import layers
from ..initializers import kaiming_normal_, normal_
from .building import Network, fill_layers, named

__all__ = [
    "COUNTS",
    "VGG",
    "AlexNet",
    "alexnet",
    "make_layers",
    "vgg11",
    "vgg11_bn",
    "vgg13",
    "vgg13_bn",
    "vgg16",
    "vgg16_bn",
    "vgg19",
    "vgg19_bn",
]


def make_layers(cfg: Sequence[Union[int, str]], batch_norm: bool = False) -> nn.SequentialCell:
    """Return 3x3 convolutions of the widths ``cfg``, where "M" is a pooling."""
    made: List[nn.Cell] = []
    inputs = 3
    for width in cfg:
        if width == "M":
            made.append(layers.MaxPool2d(2, 2))
            continue
        conv = layers.Conv2d(inputs, int(width), 3, padding=1)
        made += [conv, layers.BatchNorm2d(int(width)), layers.ReLU()] if batch_norm else [conv, layers.ReLU()]
        inputs = int(width)
    return nn.SequentialCell(*made)


class VGG(Network):
    """Stages of 3x3 convolutions (``features``), each ended by max pooling, and three linear layers."""

    def __init__(
        self, features: nn.Cell, num_classes: int = 1000, init_weights: bool = True, dropout: float = 0.5
    ) -> None:
        super().__init__()
        self.features = features
        self.avgpool = layers.AdaptiveAvgPool2d((7, 7))
        self.classifier = nn.SequentialCell(
            layers.Linear(512 * 7 * 7, 4096), layers.ReLU(), layers.Dropout(dropout),
            layers.Linear(4096, 4096), layers.ReLU(), layers.Dropout(dropout), layers.Linear(4096, num_classes),
        )  # fmt: skip
        if init_weights:
            conv = partial(kaiming_normal_, mode="fan_out", nonlinearity="relu")
            fill_layers(self, conv, partial(normal_, mean=0.0, std=0.01))

    def construct(self, x: Tensor) -> Tensor:
        """Return logits of shape (N, num_classes)."""
        return self.classifier(ops.flatten(self.avgpool(self.features(x)), start_dim=1))


class AlexNet(Network):
    """Five convolutions and three linear layers."""

    def __init__(self, num_classes: int = 1000, dropout: float = 0.5) -> None:
        super().__init__()
        conv = layers.Conv2d
        self.features = nn.SequentialCell(
            conv(3, 64, 11, 4, 2), layers.ReLU(), layers.MaxPool2d(3, 2),
            conv(64, 192, 5, padding=2), layers.ReLU(), layers.MaxPool2d(3, 2),
            conv(192, 384, 3, padding=1), layers.ReLU(), conv(384, 256, 3, padding=1), layers.ReLU(),
            conv(256, 256, 3, padding=1), layers.ReLU(), layers.MaxPool2d(3, 2),
        )  # fmt: skip
        self.avgpool = layers.AdaptiveAvgPool2d((6, 6))
        self.classifier = nn.SequentialCell(
            layers.Dropout(dropout), layers.Linear(256 * 6 * 6, 4096), layers.ReLU(),
            layers.Dropout(dropout), layers.Linear(4096, 4096), layers.ReLU(), layers.Linear(4096, num_classes),
        )  # fmt: skip

    def construct(self, x: Tensor) -> Tensor:
        """Return logits of shape (N, num_classes)."""
        return self.classifier(ops.flatten(self.avgpool(self.features(x)), start_dim=1))


# The convolutions in each of the five stages
COUNTS = {"vgg11": (1, 1, 2, 2, 2), "vgg13": (2, 2, 2, 2, 2), "vgg16": (2, 2, 3, 3, 3), "vgg19": (2, 2, 4, 4, 4)}


def _vgg(name: str, batch_norm: bool, **options: Any) -> VGG:
    widths: List[Union[int, str]] = []
    for count, width in zip(COUNTS[name], (64, 128, 256, 512, 512)):
        widths += [*(width,) * count, "M"]
    return VGG(make_layers(widths, batch_norm), **options)


alexnet = named("alexnet", AlexNet)
vgg11 = named("vgg11", _vgg, "vgg11", False)
vgg11_bn = named("vgg11_bn", _vgg, "vgg11", True)
vgg13 = named("vgg13", _vgg, "vgg13", False)
vgg13_bn = named("vgg13_bn", _vgg, "vgg13", True)
vgg16 = named("vgg16", _vgg, "vgg16", False)
vgg16_bn = named("vgg16_bn", _vgg, "vgg16", True)
vgg19 = named("vgg19", _vgg, "vgg19", False)
vgg19_bn = named("vgg19_bn", _vgg, "vgg19", True)
