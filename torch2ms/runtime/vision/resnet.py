"""ResNet and its relatives.

Sources: He et al., "Deep Residual Learning for Image Recognition" (2015); Xie et al., "Aggregated Residual
Transformations" (2017); Zagoruyko and Komodakis, "Wide Residual Networks" (2016).
"""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, List, Optional, Sequence

from mindspore import Tensor, nn, ops

from .. import layers as cells
from ..initializers import kaiming_normal_
from .building import Network, fill_layers, named

__all__ = [
    "BasicBlock",
    "Bottleneck",
    "ResNet",
    "conv1x1",
    "conv3x3",
    "resnet18",
    "resnet34",
    "resnet50",
    "resnet101",
    "resnet152",
    "resnext50_32x4d",
    "resnext101_32x8d",
    "resnext101_64x4d",
    "wide_resnet50_2",
    "wide_resnet101_2",
]

Maker = Callable[..., nn.Cell]


def conv3x3(in_planes: int, out_planes: int, stride: int = 1, groups: int = 1, dilation: int = 1) -> nn.Cell:
    """Return a 3x3 convolution that keeps the size at stride 1."""
    return cells.Conv2d(in_planes, out_planes, 3, stride, dilation, dilation=dilation, groups=groups, bias=False)


def conv1x1(in_planes: int, out_planes: int, stride: int = 1) -> nn.Cell:
    """Return a 1x1 convolution."""
    return cells.Conv2d(in_planes, out_planes, 1, stride, bias=False)


class BasicBlock(Network):
    """Two 3x3 convolutions and a shortcut, which ``downsample`` brings to their shape."""

    expansion = 1

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: Optional[nn.Cell] = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Optional[Maker] = None,
    ) -> None:
        super().__init__()
        norm = norm_layer or cells.BatchNorm2d
        if groups != 1 or base_width != 64:
            raise ValueError("BasicBlock only supports groups=1 and base_width=64")
        if dilation > 1:
            raise NotImplementedError("Dilation > 1 not supported in BasicBlock")
        self.conv1 = conv3x3(inplanes, planes, stride)
        self.bn1 = norm(planes)
        self.relu = cells.ReLU()
        self.conv2 = conv3x3(planes, planes)
        self.bn2 = norm(planes)
        self.downsample = downsample
        self.stride = stride

    def construct(self, x: Tensor) -> Tensor:
        """Return features of shape (N, planes, H / stride, W / stride)."""
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class Bottleneck(Network):
    """1x1, 3x3 (with the stride) and 1x1 convolution and a shortcut, which ``downsample`` brings to their shape."""

    expansion = 4

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: Optional[nn.Cell] = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Optional[Maker] = None,
    ) -> None:
        super().__init__()
        norm = norm_layer or cells.BatchNorm2d
        inner = int(planes * (base_width / 64.0)) * groups
        self.conv1 = conv1x1(inplanes, inner)
        self.bn1 = norm(inner)
        self.conv2 = conv3x3(inner, inner, stride, groups, dilation)
        self.bn2 = norm(inner)
        self.conv3 = conv1x1(inner, planes * self.expansion)
        self.bn3 = norm(planes * self.expansion)
        self.relu = cells.ReLU()
        self.downsample = downsample
        self.stride = stride

    def construct(self, x: Tensor) -> Tensor:
        """Return features of shape (N, 4 * planes, H / stride, W / stride)."""
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class ResNet(Network):
    """A stem, four stages of residual blocks, global average pooling and one linear layer.

    Input: images of shape (N, 3, H, W). Output: logits of shape (N, ``num_classes``).
    ``zero_init_residual``: the last normalization of every block starts at zero. ``replace_stride_with_dilation``:
    for each of the last three stages, whether it keeps the size and looks at places further apart instead.
    """

    def __init__(
        self,
        block: Any,
        layers: Sequence[int],
        num_classes: int = 1000,
        zero_init_residual: bool = False,
        groups: int = 1,
        width_per_group: int = 64,
        replace_stride_with_dilation: Optional[Sequence[bool]] = None,
        norm_layer: Optional[Maker] = None,
    ) -> None:
        super().__init__()
        self._norm_layer = norm_layer or cells.BatchNorm2d
        self.inplanes, self.dilation = 64, 1
        dilate = replace_stride_with_dilation or (False, False, False)
        if len(dilate) != 3:
            raise ValueError(f"replace_stride_with_dilation should be None or a 3-element tuple, got {dilate}")
        self.groups, self.base_width = groups, width_per_group
        self.conv1 = cells.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = self._norm_layer(64)
        self.relu = cells.ReLU()
        self.maxpool = cells.MaxPool2d(3, 2, 1)
        self.layer1 = self._make_layer(block, 64, layers[0])
        self.layer2 = self._make_layer(block, 128, layers[1], 2, dilate[0])
        self.layer3 = self._make_layer(block, 256, layers[2], 2, dilate[1])
        self.layer4 = self._make_layer(block, 512, layers[3], 2, dilate[2])
        self.avgpool = cells.AdaptiveAvgPool2d((1, 1))
        self.fc = cells.Linear(512 * block.expansion, num_classes)
        fill_layers(self, conv=partial(kaiming_normal_, mode="fan_out", nonlinearity="relu"))
        if zero_init_residual:  # each block starts as its shortcut
            for _, cell in self.cells_and_names():
                name = "bn3" if isinstance(cell, Bottleneck) else "bn2" if isinstance(cell, BasicBlock) else ""
                last = getattr(cell, name, None)
                if last is not None and hasattr(last, "gamma"):
                    last.gamma.set_data(last.gamma * 0)

    def _make_layer(self, block: Any, planes: int, blocks: int, stride: int = 1, dilate: bool = False) -> nn.Cell:
        before = self.dilation
        if dilate:
            self.dilation, stride = self.dilation * stride, 1
        outputs = planes * block.expansion
        shortcut = None
        if stride != 1 or self.inplanes != outputs:
            shortcut = nn.SequentialCell(conv1x1(self.inplanes, outputs, stride), self._norm_layer(outputs))
        shape = (self.groups, self.base_width)
        made: List[nn.Cell] = [block(self.inplanes, planes, stride, shortcut, *shape, before, self._norm_layer)]
        self.inplanes = outputs
        for _ in range(1, blocks):
            made.append(block(outputs, planes, 1, None, *shape, self.dilation, self._norm_layer))
        return nn.SequentialCell(*made)

    def _forward_impl(self, x: Tensor) -> Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(ops.flatten(self.avgpool(x), start_dim=1))

    def construct(self, x: Tensor) -> Tensor:
        """Return logits of shape (N, num_classes)."""
        return self._forward_impl(x)


resnet18 = named("resnet18", ResNet, BasicBlock, (2, 2, 2, 2))
resnet34 = named("resnet34", ResNet, BasicBlock, (3, 4, 6, 3))
resnet50 = named("resnet50", ResNet, Bottleneck, (3, 4, 6, 3))
resnet101 = named("resnet101", ResNet, Bottleneck, (3, 4, 23, 3))
resnet152 = named("resnet152", ResNet, Bottleneck, (3, 8, 36, 3))
resnext50_32x4d = named("resnext50_32x4d", ResNet, Bottleneck, (3, 4, 6, 3), groups=32, width_per_group=4)
resnext101_32x8d = named("resnext101_32x8d", ResNet, Bottleneck, (3, 4, 23, 3), groups=32, width_per_group=8)
resnext101_64x4d = named("resnext101_64x4d", ResNet, Bottleneck, (3, 4, 23, 3), groups=64, width_per_group=4)
wide_resnet50_2 = named("wide_resnet50_2", ResNet, Bottleneck, (3, 4, 6, 3), width_per_group=128)
wide_resnet101_2 = named("wide_resnet101_2", ResNet, Bottleneck, (3, 4, 23, 3), width_per_group=128)
