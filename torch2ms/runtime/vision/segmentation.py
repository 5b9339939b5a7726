"""Networks that give each place of a picture a class: FCN, DeepLabV3 and Lite R-ASPP.

Sources: Long et al., "Fully Convolutional Networks for Semantic Segmentation" (2015); Chen et al., "Rethinking Atrous
Convolution for Semantic Image Segmentation" (2017); Howard et al., "Searching for MobileNetV3" (2019).
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from mindspore import Tensor, nn, ops

from .. import checkpoint, layers
from .. import functional as F
from .building import TRAINED, Builder, Network, weights_file
from .intermediate import IntermediateLayerGetter
from .mobilenet import mobilenet_v3_large
from .resnet import resnet50, resnet101

__all__ = [
    "ASPP",
    "FCN",
    "LRASPP",
    "ASPPConv",
    "ASPPPooling",
    "DeepLabHead",
    "DeepLabV3",
    "FCNHead",
    "LRASPPHead",
    "deeplabv3_mobilenet_v3_large",
    "deeplabv3_resnet50",
    "deeplabv3_resnet101",
    "fcn_resnet50",
    "fcn_resnet101",
    "lraspp_mobilenet_v3_large",
]


def _resized(x: Tensor, size: Sequence[int]) -> Tensor:
    return F.interpolate(x, tuple(size), mode="bilinear", align_corners=False)


class FCN(Network):
    """Features ("out", and "aux" for an auxiliary classifier) of a backbone, classified at each place and resized."""

    def __init__(self, backbone: nn.Cell, classifier: nn.Cell, aux_classifier: Optional[nn.Cell] = None) -> None:
        super().__init__()
        self.backbone = backbone
        self.classifier = classifier
        self.aux_classifier = aux_classifier

    def construct(self, x: Tensor) -> Dict[str, Tensor]:
        """Return logits of shape (N, classes, H, W) under "out", those of the auxiliary classifier under "aux"."""
        size, features = x.shape[-2:], self.backbone(x)
        result: Dict[str, Tensor] = OrderedDict(out=_resized(self.classifier(features["out"]), size))
        if self.aux_classifier is not None:
            result["aux"] = _resized(self.aux_classifier(features["aux"]), size)
        return result


class DeepLabV3(FCN):
    """The same with a classifier that looks at several distances."""


def _conv(inputs: int, outputs: int, size: int, dilation: int = 1) -> List[nn.Cell]:
    """Return a convolution that keeps the size, normalised and activated."""
    padding = (size - 1) // 2 * dilation
    conv = layers.Conv2d(inputs, outputs, size, padding=padding, dilation=dilation, bias=False)
    return [conv, layers.BatchNorm2d(outputs), layers.ReLU()]


class FCNHead(layers.Sequential):
    """A 3x3 convolution to a quarter of the channels, and one to the classes."""

    def __init__(self, in_channels: int, channels: int) -> None:
        inner = in_channels // 4
        super().__init__(*_conv(in_channels, inner, 3), layers.Dropout(0.1), layers.Conv2d(inner, channels, 1))


class ASPPConv(layers.Sequential):
    """A 3x3 convolution of places ``dilation`` apart."""

    def __init__(self, in_channels: int, out_channels: int, dilation: int) -> None:
        super().__init__(*_conv(in_channels, out_channels, 3, dilation))


class ASPPPooling(layers.Sequential):
    """What the whole picture shows, at each place."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__(layers.AdaptiveAvgPool2d(1), *_conv(in_channels, out_channels, 1))

    def construct(self, x: Tensor) -> Tensor:
        """Return (N, out_channels, H, W)."""
        return _resized(super(ASPPPooling, self).construct(x), x.shape[-2:])


class ASPP(Network):
    """Convolutions at several distances and the whole picture, side by side and then brought together."""

    def __init__(self, in_channels: int, atrous_rates: Sequence[int], out_channels: int = 256) -> None:
        super().__init__()
        branches: List[nn.Cell] = [layers.Sequential(*_conv(in_channels, out_channels, 1))]
        branches += [ASPPConv(in_channels, out_channels, rate) for rate in atrous_rates]
        branches.append(ASPPPooling(in_channels, out_channels))
        self.convs = nn.CellList(branches)
        joined = _conv(len(branches) * out_channels, out_channels, 1)
        self.project = layers.Sequential(*joined, layers.Dropout(0.5))

    def construct(self, x: Tensor) -> Tensor:
        """Return (N, out_channels, H, W)."""
        return self.project(ops.cat([conv(x) for conv in self.convs], 1))


class DeepLabHead(layers.Sequential):
    """Features at several distances, a 3x3 convolution, and one to the classes."""

    def __init__(self, in_channels: int, num_classes: int, atrous_rates: Sequence[int] = (12, 24, 36)) -> None:
        parts = [ASPP(in_channels, atrous_rates), *_conv(256, 256, 3), layers.Conv2d(256, num_classes, 1)]
        super().__init__(*parts)


class LRASPPHead(Network):
    """Coarse features, weighed by the whole picture, and fine ones, each classified; the sum of both."""

    def __init__(self, low_channels: int, high_channels: int, num_classes: int, inter_channels: int) -> None:
        super().__init__()
        self.cbr = layers.Sequential(*_conv(high_channels, inter_channels, 1))
        self.scale = layers.Sequential(
            layers.AdaptiveAvgPool2d(1),
            layers.Conv2d(high_channels, inter_channels, 1, bias=False),
            layers.Sigmoid(),
        )
        self.low_classifier = layers.Conv2d(low_channels, num_classes, 1)
        self.high_classifier = layers.Conv2d(inter_channels, num_classes, 1)

    def construct(self, input: Dict[str, Tensor]) -> Tensor:
        """Return logits in the size of the fine features."""
        low, high = input["low"], input["high"]
        x = _resized(self.cbr(high) * self.scale(high), low.shape[-2:])
        return self.low_classifier(low) + self.high_classifier(x)


class LRASPP(Network):
    """Features "low" (fine) and "high" (coarse) of a backbone, classified at each place and resized."""

    def __init__(
        self, backbone: nn.Cell, low_channels: int, high_channels: int, num_classes: int, inter_channels: int = 128
    ) -> None:
        super().__init__()
        self.backbone = backbone
        self.classifier = LRASPPHead(low_channels, high_channels, num_classes, inter_channels)

    def construct(self, input: Tensor) -> Dict[str, Tensor]:
        """Return logits of shape (N, classes, H, W) under "out"."""
        return OrderedDict(out=_resized(self.classifier(self.backbone(input)), input.shape[-2:]))


def _of_resnet(kind: Any, head: Any) -> Callable[[nn.Cell, int, bool], nn.Cell]:
    """Return a function that builds a network on a ResNet."""

    def make(backbone: nn.Cell, num_classes: int, aux: bool) -> nn.Cell:
        wanted = {"layer4": "out", **({"layer3": "aux"} if aux else {})}
        features = IntermediateLayerGetter(backbone, wanted)
        return kind(features, head(2048, num_classes), FCNHead(1024, num_classes) if aux else None)

    return make


def _strided(backbone: nn.Cell) -> Tuple[nn.Cell, List[int]]:
    """Return the features of a MobileNet, and where they get smaller: the first and the last place, and strides."""
    features = backbone.features
    places = [place for place, cell in enumerate(features) if getattr(cell, "halves", False)]
    return features, [0, *places, len(features) - 1]


def _deeplab_of_mobilenet(backbone: nn.Cell, num_classes: int, aux: bool) -> nn.Cell:
    features, places = _strided(backbone)
    last, fine = places[-1], places[-4]
    getter = IntermediateLayerGetter(features, {str(last): "out", **({str(fine): "aux"} if aux else {})})
    auxiliary = FCNHead(features[fine].out_channels, num_classes) if aux else None
    return DeepLabV3(getter, DeepLabHead(features[last].out_channels, num_classes), auxiliary)


def _lraspp_of_mobilenet(backbone: nn.Cell, num_classes: int, aux: bool) -> nn.Cell:
    features, places = _strided(backbone)
    low, high = places[-4], places[-1]
    getter = IntermediateLayerGetter(features, {str(low): "low", str(high): "high"})
    return LRASPP(getter, features[low].out_channels, features[high].out_channels, num_classes)


def _named(name: str, make: Callable[[nn.Cell, int, bool], nn.Cell], backbone: Builder, **settings: Any) -> Builder:
    """Return the function that builds the network ``name``."""

    def build(
        pretrained: Any = False,
        progress: bool = True,
        num_classes: Optional[int] = None,
        aux_loss: Optional[bool] = None,
        weights_backbone: Any = TRAINED,
        *,
        weights: Any = None,
        pretrained_backbone: Optional[bool] = None,
        **options: Any,
    ) -> nn.Cell:
        trained = bool(pretrained) or weights is not None
        if trained and aux_loss is False:
            raise ValueError("The parameter 'aux_loss' expected value True but got False instead.")
        if trained or pretrained_backbone is False or weights_backbone is False:
            weights_backbone = None
        body = backbone(weights=weights_backbone, **settings)
        network = make(body, 21 if num_classes is None else num_classes, bool(aux_loss) or trained)
        if trained:
            checkpoint.load_network(network, weights_file(name))
        return network.set_train()

    build.__name__ = build.__qualname__ = name
    build.__doc__ = f"{name}, in train mode; its backbone is trained unless ``weights_backbone`` is None."
    build.task = "segmentation"  # type: ignore[attr-defined]
    return build


_FINE = {"replace_stride_with_dilation": (False, True, True)}
fcn_resnet50 = _named("fcn_resnet50", _of_resnet(FCN, FCNHead), resnet50, **_FINE)
fcn_resnet101 = _named("fcn_resnet101", _of_resnet(FCN, FCNHead), resnet101, **_FINE)
deeplabv3_resnet50 = _named("deeplabv3_resnet50", _of_resnet(DeepLabV3, DeepLabHead), resnet50, **_FINE)
deeplabv3_resnet101 = _named("deeplabv3_resnet101", _of_resnet(DeepLabV3, DeepLabHead), resnet101, **_FINE)
deeplabv3_mobilenet_v3_large = _named(
    "deeplabv3_mobilenet_v3_large", _deeplab_of_mobilenet, mobilenet_v3_large, dilated=True
)
lraspp_mobilenet_v3_large = _named("lraspp_mobilenet_v3_large", _lraspp_of_mobilenet, mobilenet_v3_large, dilated=True)
