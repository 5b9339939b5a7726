"""Classifiers that programs ask for by name: ResNet and its relatives, VGG and AlexNet.

Written natively after the papers; children carry the names that torchvision gives them, so programs find ``fc``,
``layer4`` or ``classifier[6]``, and trained weights can be converted (``torch2ms convert-weights``). Nothing is
downloaded: trained weights are read from ``$TORCH2MS_WEIGHTS/NAME.ckpt``, for example ``resnet18.ckpt``.

Sources: He et al., "Deep Residual Learning for Image Recognition" (2015); Xie et al., "Aggregated Residual
Transformations" (2017); Zagoruyko and Komodakis, "Wide Residual Networks" (2016); Simonyan and Zisserman, "Very Deep
Convolutional Networks" (2014); Krizhevsky, "One weird trick for parallelizing convolutional neural networks" (2014).
"""

from __future__ import annotations

import os
from collections import OrderedDict
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

from mindspore import Tensor, nn, ops
from mindspore.common.initializer import HeNormal, Normal, initializer

from . import checkpoint
from .layers.container import ModuleDict
from .layers.linear import Linear

__all__ = [
    "MODELS",
    "TRAINED",
    "VGG",
    "AlexNet",
    "IntermediateLayerGetter",
    "ResNet",
    "alexnet",
    "resnet18",
    "resnet34",
    "resnet50",
    "resnet101",
    "resnet152",
    "resnext50_32x4d",
    "resnext101_32x8d",
    "vgg11",
    "vgg11_bn",
    "vgg13",
    "vgg13_bn",
    "vgg16",
    "vgg16_bn",
    "vgg19",
    "vgg19_bn",
    "wide_resnet50_2",
    "wide_resnet101_2",
]


def _conv(inputs: int, outputs: int, size: int, stride: int = 1, padding: int = 0, group: int = 1) -> nn.Conv2d:
    """A convolution without a bias, as a normalization follows; started from He's normal distribution."""
    conv = nn.Conv2d(inputs, outputs, size, stride=stride, pad_mode="pad", padding=padding, group=group, has_bias=False)
    conv.weight.set_data(initializer(HeNormal(mode="fan_out", nonlinearity="relu"), conv.weight.shape))
    return conv


class IntermediateLayerGetter(ModuleDict):
    """The first children of a network, one after the other, up to the last whose output is asked for.

    ``return_layers``: the names of children, with the key that each one's output gets in the result. The network must
    run its children in the order in which it has them. Raises ValueError where it has none of a name.
    """

    def __init__(self, model: nn.Cell, return_layers: Dict[str, Any]) -> None:
        children = model.name_cells()
        missing = [name for name in return_layers if name not in children]
        if missing:
            raise ValueError(f"return_layers are not present in model: {', '.join(missing)}")
        names = list(children)
        last = max((names.index(name) for name in return_layers), default=-1)
        super().__init__({name: children[name] for name in names[: last + 1]})
        self.return_layers = dict(return_layers)

    def construct(self, x: Tensor) -> Dict[Any, Tensor]:
        """Return the outputs asked for, by their keys, in the order of the children."""
        found: Dict[Any, Tensor] = OrderedDict()
        for name, cell in self.items():
            x = cell(x)
            if name in self.return_layers:
                found[self.return_layers[name]] = x
        return found


class _Basic(nn.Cell):
    """Two 3x3 convolutions and a shortcut."""

    expansion = 1

    def __init__(self, inputs: int, width: int, stride: int, groups: int, base: int) -> None:
        super().__init__()
        self.conv1 = _conv(inputs, width, 3, stride, 1)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU()
        self.conv2 = _conv(width, width, 3, 1, 1)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = _shortcut(inputs, width, stride)

    def construct(self, x: Tensor) -> Tensor:
        """Return features of shape (N, width, H / stride, W / stride)."""
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class _Bottleneck(nn.Cell):
    """1x1, 3x3 (with the stride) and 1x1 convolution and a shortcut."""

    expansion = 4

    def __init__(self, inputs: int, width: int, stride: int, groups: int, base: int) -> None:
        super().__init__()
        inner = int(width * (base / 64.0)) * groups
        self.conv1 = _conv(inputs, inner, 1)
        self.bn1 = nn.BatchNorm2d(inner)
        self.conv2 = _conv(inner, inner, 3, stride, 1, groups)
        self.bn2 = nn.BatchNorm2d(inner)
        self.conv3 = _conv(inner, width * self.expansion, 1)
        self.bn3 = nn.BatchNorm2d(width * self.expansion)
        self.relu = nn.ReLU()
        self.downsample = _shortcut(inputs, width * self.expansion, stride)

    def construct(self, x: Tensor) -> Tensor:
        """Return features of shape (N, 4 * width, H / stride, W / stride)."""
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


def _shortcut(inputs: int, outputs: int, stride: int) -> Optional[nn.SequentialCell]:
    """Bring the input of a block to the shape of its output; None where it has it."""
    if stride == 1 and inputs == outputs:
        return None
    return nn.SequentialCell(_conv(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))


class ResNet(nn.Cell):
    """A stem, four stages of residual blocks, global average pooling and one linear layer.

    Input: images of shape (N, 3, H, W). Output: logits of shape (N, ``num_classes``).
    ``zero_init_residual``: the last normalization of every block starts at zero.
    """

    def __init__(
        self,
        block: Any,
        layers: Sequence[int],
        num_classes: int = 1000,
        zero_init_residual: bool = False,
        groups: int = 1,
        width_per_group: int = 64,
    ) -> None:
        super().__init__()
        self.conv1 = _conv(3, 64, 7, 2, 3)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2d(3, 2, pad_mode="pad", padding=1)
        inputs, stages = 64, []
        for index, count in enumerate(layers):
            width = 64 << index
            blocks = []
            for place in range(count):
                stride = 2 if index and not place else 1
                blocks.append(block(inputs, width, stride, groups, width_per_group))
                if zero_init_residual:  # each block starts as its shortcut
                    last = blocks[-1].bn2 if block is _Basic else blocks[-1].bn3
                    last.gamma.set_data(initializer("zeros", last.gamma.shape))
                inputs = width * block.expansion
            stages.append(nn.SequentialCell(*blocks))
        self.layer1, self.layer2, self.layer3, self.layer4 = stages
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = Linear(inputs, num_classes)

    def construct(self, x: Tensor) -> Tensor:
        """Return logits of shape (N, num_classes)."""
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(ops.flatten(self.avgpool(x), start_dim=1))


class VGG(nn.Cell):
    """Stages of 3x3 convolutions, each ended by max pooling, and three linear layers; ``widths``: 0 is a pooling."""

    def __init__(self, widths: Sequence[int], norm: bool, num_classes: int = 1000, dropout: float = 0.5) -> None:
        super().__init__()
        layers: List[nn.Cell] = []
        inputs = 3
        for width in widths:
            if not width:
                layers.append(nn.MaxPool2d(2, 2))
                continue
            conv = nn.Conv2d(inputs, width, 3, pad_mode="pad", padding=1, has_bias=True)
            conv.weight.set_data(initializer(HeNormal(mode="fan_out", nonlinearity="relu"), conv.weight.shape))
            conv.bias.set_data(initializer("zeros", conv.bias.shape))
            layers += [conv, nn.BatchNorm2d(width), nn.ReLU()] if norm else [conv, nn.ReLU()]
            inputs = width
        self.features = nn.SequentialCell(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d((7, 7))
        linear = [Linear(512 * 7 * 7, 4096), Linear(4096, 4096), Linear(4096, num_classes)]
        for layer in linear:
            layer.weight.set_data(initializer(Normal(sigma=0.01, mean=0.0), layer.weight.shape))
            layer.bias.set_data(initializer("zeros", layer.bias.shape))
        self.classifier = nn.SequentialCell(
            linear[0], nn.ReLU(), nn.Dropout(p=dropout), linear[1], nn.ReLU(), nn.Dropout(p=dropout), linear[2]
        )

    def construct(self, x: Tensor) -> Tensor:
        """Return logits of shape (N, num_classes)."""
        return self.classifier(ops.flatten(self.avgpool(self.features(x)), start_dim=1))


class AlexNet(nn.Cell):
    """Five convolutions and three linear layers."""

    def __init__(self, num_classes: int = 1000, dropout: float = 0.5) -> None:
        super().__init__()

        def conv(inputs: int, outputs: int, size: int, padding: int, stride: int = 1) -> nn.Conv2d:
            return nn.Conv2d(inputs, outputs, size, stride, pad_mode="pad", padding=padding, has_bias=True)

        self.features = nn.SequentialCell(
            conv(3, 64, 11, 2, 4), nn.ReLU(), nn.MaxPool2d(3, 2),
            conv(64, 192, 5, 2), nn.ReLU(), nn.MaxPool2d(3, 2),
            conv(192, 384, 3, 1), nn.ReLU(), conv(384, 256, 3, 1), nn.ReLU(), conv(256, 256, 3, 1), nn.ReLU(),
            nn.MaxPool2d(3, 2),
        )  # fmt: skip
        self.avgpool = nn.AdaptiveAvgPool2d((6, 6))
        self.classifier = nn.SequentialCell(
            nn.Dropout(p=dropout), Linear(256 * 6 * 6, 4096), nn.ReLU(),
            nn.Dropout(p=dropout), Linear(4096, 4096), nn.ReLU(), Linear(4096, num_classes),
        )  # fmt: skip

    def construct(self, x: Tensor) -> Tensor:
        """Return logits of shape (N, num_classes)."""
        return self.classifier(ops.flatten(self.avgpool(self.features(x)), start_dim=1))


TRAINED = "trained"  # what a name of trained weights stands for: there is one file a network
Builder = Callable[..., nn.Cell]
MODELS: Dict[str, Builder] = {}


def _named(name: str, kind: Any, *structure: Any, **fixed: Any) -> Builder:
    """Return the function that builds the network ``name``, and enter it in MODELS."""

    def build(
        pretrained: Union[bool, str, None] = False, progress: bool = True, *, weights: Any = None, **options: Any
    ) -> nn.Cell:
        network: nn.Cell = kind(*structure, **{**fixed, **options})
        if pretrained or weights is not None:
            checkpoint.load_network(network, _trained(name))
        return network.set_train()

    build.__name__ = build.__qualname__ = name
    build.__doc__ = f"{name}, in train mode; ``pretrained`` or ``weights``: with trained weights (module docstring)."
    MODELS[name] = build
    return build


def _trained(name: str) -> Path:
    path = Path(os.environ.get("TORCH2MS_WEIGHTS", "weights")) / f"{name}.ckpt"
    if not path.is_file():
        raise FileNotFoundError(
            f"trained weights of {name} are wanted at {path} and not downloaded: convert torchvision's file with"
            " torch2ms convert-weights, and name the folder in TORCH2MS_WEIGHTS"
        )
    return path


resnet18 = _named("resnet18", ResNet, _Basic, (2, 2, 2, 2))
resnet34 = _named("resnet34", ResNet, _Basic, (3, 4, 6, 3))
resnet50 = _named("resnet50", ResNet, _Bottleneck, (3, 4, 6, 3))
resnet101 = _named("resnet101", ResNet, _Bottleneck, (3, 4, 23, 3))
resnet152 = _named("resnet152", ResNet, _Bottleneck, (3, 8, 36, 3))
resnext50_32x4d = _named("resnext50_32x4d", ResNet, _Bottleneck, (3, 4, 6, 3), groups=32, width_per_group=4)
resnext101_32x8d = _named("resnext101_32x8d", ResNet, _Bottleneck, (3, 4, 23, 3), groups=32, width_per_group=8)
wide_resnet50_2 = _named("wide_resnet50_2", ResNet, _Bottleneck, (3, 4, 6, 3), width_per_group=128)
wide_resnet101_2 = _named("wide_resnet101_2", ResNet, _Bottleneck, (3, 4, 23, 3), width_per_group=128)
alexnet = _named("alexnet", AlexNet)

_11 = (64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0)
_13 = (64, 64, 0, 128, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0)
_16 = (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0)
_19 = (64, 64, 0, 128, 128, 0, 256, 256, 256, 256, 0, 512, 512, 512, 512, 0, 512, 512, 512, 512, 0)
vgg11 = _named("vgg11", VGG, _11, False)
vgg11_bn = _named("vgg11_bn", VGG, _11, True)
vgg13 = _named("vgg13", VGG, _13, False)
vgg13_bn = _named("vgg13_bn", VGG, _13, True)
vgg16 = _named("vgg16", VGG, _16, False)
vgg16_bn = _named("vgg16_bn", VGG, _16, True)
vgg19 = _named("vgg19", VGG, _19, False)
vgg19_bn = _named("vgg19_bn", VGG, _19, True)
