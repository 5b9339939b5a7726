"""GoogLeNet and Inception v3.

Sources: Szegedy et al., "Going Deeper with Convolutions" (2015); Szegedy et al., "Rethinking the Inception
Architecture for Computer Vision" (2016). In training both also return the logits of auxiliary classifiers.
"""

from __future__ import annotations

from collections import namedtuple
from functools import partial
from typing import Any, Callable, Dict, List, Optional, Sequence

from mindspore import Tensor, nn, ops

from .. import functional as F
from .. import layers
from ..initializers import trunc_normal_
from .building import Network, named

__all__ = [
    "BasicConv2d",
    "GoogLeNet",
    "GoogLeNetOutputs",
    "Inception",
    "Inception3",
    "InceptionA",
    "InceptionAux",
    "InceptionAux3",
    "InceptionB",
    "InceptionC",
    "InceptionD",
    "InceptionE",
    "InceptionOutputs",
    "googlenet",
    "inception_v3",
]

Maker = Callable[..., nn.Cell]
GoogLeNetOutputs = namedtuple("GoogLeNetOutputs", ["logits", "aux_logits2", "aux_logits1"])
InceptionOutputs = namedtuple("InceptionOutputs", ["logits", "aux_logits"])
# From the mean and deviation of torchvision's pictures to those that the first trained weights were made for
_SCALES = ((0.229, 0.485), (0.224, 0.456), (0.225, 0.406))


class _OwnInput(Network):
    """A network that may bring normalised pictures to the range -1 to 1 (``transform_input``)."""

    transform_input = False

    def _transform_input(self, x: Tensor) -> Tensor:
        if not self.transform_input:
            return x
        parts = [
            x[:, place : place + 1] * (deviation / 0.5) + (mean - 0.5) / 0.5
            for place, (deviation, mean) in enumerate(_SCALES)
        ]
        return ops.cat(parts, 1)


def _start(network: nn.Cell, usual: float) -> None:
    """Draw weights within -2 and 2; a layer may say its own deviation. Biases stay as the layers draw them."""
    for _, cell in network.cells_and_names():
        if isinstance(cell, (nn.Conv2d, nn.Dense)):
            trunc_normal_(cell.weight, 0.0, float(getattr(cell, "stddev", usual)), -2.0, 2.0)


class BasicConv2d(Network):
    """A convolution, batch normalization and ReLU."""

    def __init__(self, in_channels: int, out_channels: int, **kwargs: Any) -> None:
        super().__init__()
        self.conv = layers.Conv2d(in_channels, out_channels, bias=False, **kwargs)
        self.bn = layers.BatchNorm2d(out_channels, eps=0.001)

    def construct(self, x: Tensor) -> Tensor:
        """Return the features."""
        return ops.relu(self.bn(self.conv(x)))


class Inception(Network):
    """1x1, 3x3, "5x5" (which torchvision has as 3x3) convolutions and pooling side by side."""

    def __init__(
        self,
        in_channels: int,
        ch1x1: int,
        ch3x3red: int,
        ch3x3: int,
        ch5x5red: int,
        ch5x5: int,
        pool_proj: int,
        conv_block: Optional[Maker] = None,
    ) -> None:
        super().__init__()
        conv = conv_block or BasicConv2d
        self.branch1 = conv(in_channels, ch1x1, kernel_size=1)
        self.branch2 = nn.SequentialCell(
            conv(in_channels, ch3x3red, kernel_size=1), conv(ch3x3red, ch3x3, kernel_size=3, padding=1)
        )
        self.branch3 = nn.SequentialCell(
            conv(in_channels, ch5x5red, kernel_size=1), conv(ch5x5red, ch5x5, kernel_size=3, padding=1)
        )
        self.branch4 = nn.SequentialCell(
            layers.MaxPool2d(3, 1, 1, ceil_mode=True), conv(in_channels, pool_proj, kernel_size=1)
        )

    def construct(self, x: Tensor) -> Tensor:
        """Return the features of all branches, one after the other in the channels."""
        return ops.cat((self.branch1(x), self.branch2(x), self.branch3(x), self.branch4(x)), 1)


class InceptionAux(Network):
    """An auxiliary classifier of GoogLeNet."""

    def __init__(
        self, in_channels: int, num_classes: int, conv_block: Optional[Maker] = None, dropout: float = 0.7
    ) -> None:
        super().__init__()
        self.conv = (conv_block or BasicConv2d)(in_channels, 128, kernel_size=1)
        self.fc1 = layers.Linear(2048, 1024)
        self.fc2 = layers.Linear(1024, num_classes)
        self.dropout = layers.Dropout(dropout)

    def construct(self, x: Tensor) -> Tensor:
        """Return logits of shape (N, num_classes)."""
        x = ops.flatten(self.conv(F.adaptive_avg_pool2d(x, (4, 4))), start_dim=1)
        return self.fc2(self.dropout(ops.relu(self.fc1(x))))


class GoogLeNet(_OwnInput):
    """Nine inception blocks and one linear layer; in training, with ``aux_logits``, a ``GoogLeNetOutputs``."""

    def __init__(
        self,
        num_classes: int = 1000,
        aux_logits: bool = True,
        transform_input: bool = False,
        init_weights: Optional[bool] = None,
        blocks: Optional[Sequence[Maker]] = None,
        dropout: float = 0.2,
        dropout_aux: float = 0.7,
    ) -> None:
        super().__init__()
        if blocks is not None and len(blocks) != 3:
            raise ValueError(f"blocks length should be 3 instead of {len(blocks)}")
        conv, block, aux = blocks or (BasicConv2d, Inception, InceptionAux)
        self.aux_logits, self.transform_input = aux_logits, transform_input
        pool = partial(layers.MaxPool2d, 3, 2, ceil_mode=True)
        self.conv1 = conv(3, 64, kernel_size=7, stride=2, padding=3)
        self.maxpool1 = pool()
        self.conv2 = conv(64, 64, kernel_size=1)
        self.conv3 = conv(64, 192, kernel_size=3, padding=1)
        self.maxpool2 = pool()
        self.inception3a = block(192, 64, 96, 128, 16, 32, 32)
        self.inception3b = block(256, 128, 128, 192, 32, 96, 64)
        self.maxpool3 = pool()
        self.inception4a = block(480, 192, 96, 208, 16, 48, 64)
        self.inception4b = block(512, 160, 112, 224, 24, 64, 64)
        self.inception4c = block(512, 128, 128, 256, 24, 64, 64)
        self.inception4d = block(512, 112, 144, 288, 32, 64, 64)
        self.inception4e = block(528, 256, 160, 320, 32, 128, 128)
        self.maxpool4 = layers.MaxPool2d(2, 2, ceil_mode=True)
        self.inception5a = block(832, 256, 160, 320, 32, 128, 128)
        self.inception5b = block(832, 384, 192, 384, 48, 128, 128)
        self.aux1 = aux(512, num_classes, dropout=dropout_aux) if aux_logits else None
        self.aux2 = aux(528, num_classes, dropout=dropout_aux) if aux_logits else None
        self.avgpool = layers.AdaptiveAvgPool2d((1, 1))
        self.dropout = layers.Dropout(dropout)
        self.fc = layers.Linear(1024, num_classes)
        if init_weights is None or init_weights:
            _start(self, 0.01)

    def construct(self, x: Tensor) -> Any:
        """Return logits of shape (N, num_classes), in training with those of the auxiliary classifiers."""
        x = self.maxpool1(self.conv1(self._transform_input(x)))
        x = self.maxpool2(self.conv3(self.conv2(x)))
        x = self.inception4a(self.maxpool3(self.inception3b(self.inception3a(x))))
        aux1 = self.aux1(x) if self.training and self.aux1 is not None else None
        x = self.inception4d(self.inception4c(self.inception4b(x)))
        aux2 = self.aux2(x) if self.training and self.aux2 is not None else None
        x = self.inception5b(self.inception5a(self.maxpool4(self.inception4e(x))))
        x = self.fc(self.dropout(ops.flatten(self.avgpool(x), start_dim=1)))
        return GoogLeNetOutputs(x, aux2, aux1) if self.training and self.aux_logits else x


class _Branches(Network):
    """A block of Inception v3: each branch is a list of children that run one after the other, the pooled one last."""

    def _join(self, x: Tensor, branches: Sequence[Sequence[str]], pooled: Tensor) -> Tensor:
        found: List[Tensor] = []
        for names in branches:
            out = x
            for name in names:
                out = getattr(self, name)(out)
            found.append(out)
        return ops.cat((*found, pooled), 1)


class InceptionA(_Branches):
    """1x1, 5x5, two 3x3 convolutions and pooling side by side."""

    def __init__(self, in_channels: int, pool_features: int, conv_block: Optional[Maker] = None) -> None:
        super().__init__()
        conv = conv_block or BasicConv2d
        self.branch1x1 = conv(in_channels, 64, kernel_size=1)
        self.branch5x5_1 = conv(in_channels, 48, kernel_size=1)
        self.branch5x5_2 = conv(48, 64, kernel_size=5, padding=2)
        self.branch3x3dbl_1 = conv(in_channels, 64, kernel_size=1)
        self.branch3x3dbl_2 = conv(64, 96, kernel_size=3, padding=1)
        self.branch3x3dbl_3 = conv(96, 96, kernel_size=3, padding=1)
        self.branch_pool = conv(in_channels, pool_features, kernel_size=1)

    def construct(self, x: Tensor) -> Tensor:
        """Return the features of all branches, one after the other in the channels."""
        branches = (
            ("branch1x1",), ("branch5x5_1", "branch5x5_2"), ("branch3x3dbl_1", "branch3x3dbl_2", "branch3x3dbl_3"),
        )  # fmt: skip
        return self._join(x, branches, self.branch_pool(F.avg_pool2d(x, 3, 1, 1)))


class InceptionB(_Branches):
    """3x3 convolutions and pooling side by side, to half the size."""

    def __init__(self, in_channels: int, conv_block: Optional[Maker] = None) -> None:
        super().__init__()
        conv = conv_block or BasicConv2d
        self.branch3x3 = conv(in_channels, 384, kernel_size=3, stride=2)
        self.branch3x3dbl_1 = conv(in_channels, 64, kernel_size=1)
        self.branch3x3dbl_2 = conv(64, 96, kernel_size=3, padding=1)
        self.branch3x3dbl_3 = conv(96, 96, kernel_size=3, stride=2)

    def construct(self, x: Tensor) -> Tensor:
        """Return the features of all branches, one after the other in the channels."""
        branches = (("branch3x3",), ("branch3x3dbl_1", "branch3x3dbl_2", "branch3x3dbl_3"))
        return self._join(x, branches, F.max_pool2d(x, 3, 2))


class InceptionC(_Branches):
    """7x7 convolutions, each as 1x7 and 7x1, side by side."""

    def __init__(self, in_channels: int, channels_7x7: int, conv_block: Optional[Maker] = None) -> None:
        super().__init__()
        conv, inner = conv_block or BasicConv2d, channels_7x7
        wide, high = (
            partial(conv, kernel_size=(1, 7), padding=(0, 3)),
            partial(conv, kernel_size=(7, 1), padding=(3, 0)),
        )
        self.branch1x1 = conv(in_channels, 192, kernel_size=1)
        self.branch7x7_1 = conv(in_channels, inner, kernel_size=1)
        self.branch7x7_2 = wide(inner, inner)
        self.branch7x7_3 = high(inner, 192)
        self.branch7x7dbl_1 = conv(in_channels, inner, kernel_size=1)
        self.branch7x7dbl_2 = high(inner, inner)
        self.branch7x7dbl_3 = wide(inner, inner)
        self.branch7x7dbl_4 = high(inner, inner)
        self.branch7x7dbl_5 = wide(inner, 192)
        self.branch_pool = conv(in_channels, 192, kernel_size=1)

    def construct(self, x: Tensor) -> Tensor:
        """Return the features of all branches, one after the other in the channels."""
        branches = (
            ("branch1x1",), ("branch7x7_1", "branch7x7_2", "branch7x7_3"),
            ("branch7x7dbl_1", "branch7x7dbl_2", "branch7x7dbl_3", "branch7x7dbl_4", "branch7x7dbl_5"),
        )  # fmt: skip
        return self._join(x, branches, self.branch_pool(F.avg_pool2d(x, 3, 1, 1)))


class InceptionD(_Branches):
    """3x3 and 7x7 convolutions and pooling side by side, to half the size."""

    def __init__(self, in_channels: int, conv_block: Optional[Maker] = None) -> None:
        super().__init__()
        conv = conv_block or BasicConv2d
        self.branch3x3_1 = conv(in_channels, 192, kernel_size=1)
        self.branch3x3_2 = conv(192, 320, kernel_size=3, stride=2)
        self.branch7x7x3_1 = conv(in_channels, 192, kernel_size=1)
        self.branch7x7x3_2 = conv(192, 192, kernel_size=(1, 7), padding=(0, 3))
        self.branch7x7x3_3 = conv(192, 192, kernel_size=(7, 1), padding=(3, 0))
        self.branch7x7x3_4 = conv(192, 192, kernel_size=3, stride=2)

    def construct(self, x: Tensor) -> Tensor:
        """Return the features of all branches, one after the other in the channels."""
        branches = (
            ("branch3x3_1", "branch3x3_2"), ("branch7x7x3_1", "branch7x7x3_2", "branch7x7x3_3", "branch7x7x3_4"),
        )  # fmt: skip
        return self._join(x, branches, F.max_pool2d(x, 3, 2))


class InceptionE(Network):
    """3x3 convolutions, each as 1x3 beside 3x1, and pooling side by side."""

    def __init__(self, in_channels: int, conv_block: Optional[Maker] = None) -> None:
        super().__init__()
        conv = conv_block or BasicConv2d
        wide, high = (
            partial(conv, kernel_size=(1, 3), padding=(0, 1)),
            partial(conv, kernel_size=(3, 1), padding=(1, 0)),
        )
        self.branch1x1 = conv(in_channels, 320, kernel_size=1)
        self.branch3x3_1 = conv(in_channels, 384, kernel_size=1)
        self.branch3x3_2a = wide(384, 384)
        self.branch3x3_2b = high(384, 384)
        self.branch3x3dbl_1 = conv(in_channels, 448, kernel_size=1)
        self.branch3x3dbl_2 = conv(448, 384, kernel_size=3, padding=1)
        self.branch3x3dbl_3a = wide(384, 384)
        self.branch3x3dbl_3b = high(384, 384)
        self.branch_pool = conv(in_channels, 192, kernel_size=1)

    def construct(self, x: Tensor) -> Tensor:
        """Return the features of all branches, one after the other in the channels."""
        once = self.branch3x3_1(x)
        twice = self.branch3x3dbl_2(self.branch3x3dbl_1(x))
        parts = (
            self.branch1x1(x), self.branch3x3_2a(once), self.branch3x3_2b(once), self.branch3x3dbl_3a(twice),
            self.branch3x3dbl_3b(twice), self.branch_pool(F.avg_pool2d(x, 3, 1, 1)),
        )  # fmt: skip
        return ops.cat(parts, 1)


class InceptionAux3(Network):
    """The auxiliary classifier of Inception v3."""

    def __init__(self, in_channels: int, num_classes: int, conv_block: Optional[Maker] = None) -> None:
        super().__init__()
        conv = conv_block or BasicConv2d
        self.conv0 = conv(in_channels, 128, kernel_size=1)
        self.conv1 = conv(128, 768, kernel_size=5)
        self.fc = layers.Linear(768, num_classes)
        self.conv1.stddev, self.fc.stddev = 0.01, 0.001  # torchvision's for conv1 as well, where nothing reads it

    def construct(self, x: Tensor) -> Tensor:
        """Return logits of shape (N, num_classes)."""
        x = self.conv1(self.conv0(F.avg_pool2d(x, 5, 3)))
        return self.fc(x.mean((2, 3)))


class Inception3(_OwnInput):
    """Inception v3; in training, with ``aux_logits``, an ``InceptionOutputs``. Made for pictures of 299 x 299."""

    def __init__(
        self,
        num_classes: int = 1000,
        aux_logits: bool = True,
        transform_input: bool = False,
        inception_blocks: Optional[Sequence[Maker]] = None,
        init_weights: Optional[bool] = None,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        blocks: Sequence[Any] = inception_blocks or (
            BasicConv2d, InceptionA, InceptionB, InceptionC, InceptionD, InceptionE, InceptionAux3,
        )  # fmt: skip
        if len(blocks) != 7:
            raise ValueError(f"length of inception_blocks should be 7 instead of {len(blocks)}")
        conv, block_a, block_b, block_c, block_d, block_e, aux = blocks
        self.aux_logits, self.transform_input = aux_logits, transform_input
        self.Conv2d_1a_3x3 = conv(3, 32, kernel_size=3, stride=2)
        self.Conv2d_2a_3x3 = conv(32, 32, kernel_size=3)
        self.Conv2d_2b_3x3 = conv(32, 64, kernel_size=3, padding=1)
        self.maxpool1 = layers.MaxPool2d(3, 2)
        self.Conv2d_3b_1x1 = conv(64, 80, kernel_size=1)
        self.Conv2d_4a_3x3 = conv(80, 192, kernel_size=3)
        self.maxpool2 = layers.MaxPool2d(3, 2)
        self.Mixed_5b = block_a(192, pool_features=32)
        self.Mixed_5c = block_a(256, pool_features=64)
        self.Mixed_5d = block_a(288, pool_features=64)
        self.Mixed_6a = block_b(288)
        self.Mixed_6b = block_c(768, channels_7x7=128)
        self.Mixed_6c = block_c(768, channels_7x7=160)
        self.Mixed_6d = block_c(768, channels_7x7=160)
        self.Mixed_6e = block_c(768, channels_7x7=192)
        self.AuxLogits = aux(768, num_classes) if aux_logits else None
        self.Mixed_7a = block_d(768)
        self.Mixed_7b = block_e(1280)
        self.Mixed_7c = block_e(2048)
        self.avgpool = layers.AdaptiveAvgPool2d((1, 1))
        self.dropout = layers.Dropout(dropout)
        self.fc = layers.Linear(2048, num_classes)
        if init_weights is None or init_weights:
            _start(self, 0.1)

    def construct(self, x: Tensor) -> Any:
        """Return logits of shape (N, num_classes), in training with those of the auxiliary classifier."""
        x = self.Conv2d_2b_3x3(self.Conv2d_2a_3x3(self.Conv2d_1a_3x3(self._transform_input(x))))
        x = self.maxpool2(self.Conv2d_4a_3x3(self.Conv2d_3b_1x1(self.maxpool1(x))))
        x = self.Mixed_6a(self.Mixed_5d(self.Mixed_5c(self.Mixed_5b(x))))
        x = self.Mixed_6e(self.Mixed_6d(self.Mixed_6c(self.Mixed_6b(x))))
        aux = self.AuxLogits(x) if self.training and self.AuxLogits is not None else None
        x = self.Mixed_7c(self.Mixed_7b(self.Mixed_7a(x)))
        x = self.fc(ops.flatten(self.dropout(self.avgpool(x)), start_dim=1))
        return InceptionOutputs(x, aux) if self.training and self.aux_logits else x


def _with_classifiers(names: Sequence[str], wanted: bool, options: Dict[str, Any]) -> Callable[[nn.Cell], None]:
    """Build a network as its trained form is, with the auxiliary classifiers; they go again where not ``wanted``."""
    keep = options.get("aux_logits", wanted)
    options.setdefault("transform_input", True)
    options.update(aux_logits=True, init_weights=False)

    def finish(network: nn.Cell) -> None:
        if not keep:
            network.aux_logits = False
            for name in names:
                delattr(network, name)
                setattr(network, name, None)

    return finish


googlenet = named("googlenet", GoogLeNet, trained=partial(_with_classifiers, ("aux1", "aux2"), False))
inception_v3 = named("inception_v3", Inception3, trained=partial(_with_classifiers, ("AuxLogits",), True))
