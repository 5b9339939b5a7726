"""Feature pyramids: Lin et al., "Feature Pyramid Networks for Object Detection" (2017)."""

from __future__ import annotations

from collections import OrderedDict
from functools import partial
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from mindspore import Tensor, nn, ops

from .. import functional as F
from .. import layers
from ..initializers import kaiming_uniform_
from .blocks import Conv2dNormActivation
from .building import Network, fill_layers

__all__ = ["ExtraFPNBlock", "FeaturePyramidNetwork", "LastLevelMaxPool", "LastLevelP6P7"]

Levels = Tuple[List[Tensor], List[str]]


class ExtraFPNBlock(Network):
    """What adds levels to a pyramid: of its levels, the features it was made of, and their names."""

    def construct(self, *args: Any, **kwargs: Any) -> Levels:
        """Return all levels and their names."""
        raise NotImplementedError


class FeaturePyramidNetwork(Network):
    """Features of all sizes, each with what the smaller ones say added; all have ``out_channels``."""

    def __init__(
        self,
        in_channels_list: Sequence[int],
        out_channels: int,
        extra_blocks: Optional[ExtraFPNBlock] = None,
        norm_layer: Optional[Callable[..., nn.Cell]] = None,
    ) -> None:
        super().__init__()
        if 0 in in_channels_list:
            raise ValueError("in_channels=0 is currently not supported")
        if extra_blocks is not None and not isinstance(extra_blocks, ExtraFPNBlock):
            raise TypeError(f"extra_blocks should be of type ExtraFPNBlock not {type(extra_blocks)}")
        conv: Any = partial(Conv2dNormActivation, norm_layer=norm_layer, activation_layer=None)
        self.inner_blocks = layers.ModuleList([conv(width, out_channels, 1, padding=0) for width in in_channels_list])
        self.layer_blocks = layers.ModuleList([conv(out_channels, out_channels, 3) for _ in in_channels_list])
        fill_layers(self, conv=partial(kaiming_uniform_, a=1))
        self.extra_blocks = extra_blocks

    def construct(self, x: Dict[str, Tensor]) -> Dict[str, Tensor]:
        """Return the levels by the names of the features, largest first; those of ``extra_blocks`` follow."""
        names, features = list(x.keys()), list(x.values())
        results: List[Tensor] = []
        above: Any = None
        for place in range(len(features) - 1, -1, -1):
            inner = self.inner_blocks[place](features[place])
            if above is not None:
                inner = inner + F.interpolate(above, inner.shape[-2:], mode="nearest")
            above = inner
            results.insert(0, self.layer_blocks[place](inner))
        if self.extra_blocks is not None:
            results, names = self.extra_blocks(results, features, names)
        return OrderedDict(zip(names, results))


class LastLevelMaxPool(ExtraFPNBlock):
    """One more level: every second place of the last."""

    def construct(self, x: List[Tensor], y: List[Tensor], names: List[str]) -> Levels:
        """Return all levels and their names."""
        return [*x, F.max_pool2d(x[-1], 1, 2)], [*names, "pool"]


class LastLevelP6P7(ExtraFPNBlock):
    """Two more levels by convolutions, of the last level or, where they have other widths, of the last features."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.p6 = layers.Conv2d(in_channels, out_channels, 3, 2, 1)
        self.p7 = layers.Conv2d(out_channels, out_channels, 3, 2, 1)
        fill_layers(self, conv=partial(kaiming_uniform_, a=1))
        self.use_P5 = in_channels == out_channels

    def construct(self, p: List[Tensor], c: List[Tensor], names: List[str]) -> Levels:
        """Return all levels and their names."""
        p6 = self.p6(p[-1] if self.use_P5 else c[-1])
        return [*p, p6, self.p7(ops.relu(p6))], [*names, "p6", "p7"]
