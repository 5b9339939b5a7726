"""Small layers of networks for pictures, with the names of parts that timm gives them.

Written natively after the papers: "Deep Networks with Stochastic Depth" (Huang et al. 2016), "An Image is Worth 16x16
Words" (Dosovitskiy et al. 2021), "Going deeper with Image Transformers" (Touvron et al. 2021), "Squeeze-and-Excitation
Networks" (Hu et al. 2018), "ConvNeXt V2" (Woo et al. 2023).
"""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence, Tuple, Union

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

from .. import functional as F
from .. import layers
from ..vision.blocks import scale_of_survivors
from ..vision.building import Network
from .sizes import make_divisible, to_2tuple

__all__ = [
    "ConvMlp",
    "DropPath",
    "GatedMlp",
    "GlobalResponseNorm",
    "GlobalResponseNormMlp",
    "GroupNorm",
    "GroupNorm1",
    "LayerNorm",
    "LayerNorm2d",
    "LayerScale",
    "LayerScale2d",
    "Mlp",
    "PatchDropout",
    "PatchEmbed",
    "SqueezeExcite",
    "SwiGLU",
    "drop_path",
]

Maker = Callable[..., nn.Cell]
Pair = Union[int, Sequence[int]]


def weight(start: Any, name: str) -> Parameter:
    """Return a parameter that begins with the values given."""
    return Parameter(Tensor(np.asarray(start, np.float32)), name=name)


def drop_path(x: Tensor, drop_prob: float = 0.0, training: bool = False, scale_by_keep: bool = True) -> Tensor:
    """Drop whole samples with probability ``drop_prob`` in training; the others are scaled up to keep the mean."""
    if not drop_prob or not training:
        return x
    kept = 1.0 - drop_prob
    drawn = scale_of_survivors((x.shape[0], *(1,) * (x.ndim - 1)), kept, x.dtype)
    return x * (drawn if scale_by_keep else (drawn > 0).astype(x.dtype))


class DropPath(Network):
    """``drop_path`` in training."""

    def __init__(self, drop_prob: Optional[float] = 0.0, scale_by_keep: bool = True) -> None:
        super().__init__()
        self.drop_prob, self.scale_by_keep = drop_prob, scale_by_keep

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x``, samples of it dropped in training."""
        return drop_path(x, self.drop_prob or 0.0, self.training, self.scale_by_keep)

    def extend_repr(self) -> str:
        """Return what ``repr`` shows of the layer."""
        return f"drop_prob={round(self.drop_prob or 0.0, 3):0.3f}"


class LayerNorm(layers.LayerNorm):
    """Layer normalization over the last axis."""

    def __init__(self, num_channels: Any, eps: float = 1e-6, affine: bool = True) -> None:
        super().__init__(num_channels, eps=eps, elementwise_affine=affine)


class LayerNorm2d(LayerNorm):
    """Layer normalization over the channels of (batch, channels, height, width)."""

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` normalised."""
        return super(LayerNorm2d, self).construct(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)


class GroupNorm(layers.GroupNorm):
    """Group normalization whose first argument is the number of channels."""

    def __init__(self, num_channels: int, num_groups: int = 32, eps: float = 1e-5, affine: bool = True) -> None:
        super().__init__(num_groups, num_channels, eps=eps, affine=affine)


class GroupNorm1(layers.GroupNorm):
    """Group normalization of one group."""

    def __init__(self, num_channels: int, **options: Any) -> None:
        super().__init__(1, num_channels, **options)


class LayerScale(Network):
    """Each channel (the last axis) times a weight that begins small."""

    def __init__(self, dim: int, init_values: float = 1e-5, inplace: bool = False) -> None:
        super().__init__()
        self.init_values, self.inplace = init_values, inplace
        self.gamma = weight(np.full(dim, init_values), "gamma")

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` scaled."""
        return x * self.gamma


class LayerScale2d(LayerScale):
    """``LayerScale`` of (batch, channels, height, width)."""

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` scaled."""
        return x * self.gamma.reshape((1, -1, 1, 1))


def _linear(use_conv: bool) -> Maker:
    return (lambda inputs, outputs, bias: layers.Conv2d(inputs, outputs, 1, bias=bias)) if use_conv else layers.Linear


class Mlp(Network):
    """Two linear layers (1x1 convolutions with ``use_conv``), an activation between, dropout behind each."""

    def __init__(
        self,
        in_features: int,
        hidden_features: Optional[int] = None,
        out_features: Optional[int] = None,
        act_layer: Maker = layers.GELU,
        norm_layer: Optional[Maker] = None,
        bias: Any = True,
        drop: Any = 0.0,
        use_conv: bool = False,
    ) -> None:
        super().__init__()
        hidden, outputs = hidden_features or in_features, out_features or in_features
        biases, chances = to_2tuple(bias), to_2tuple(drop)
        self.fc1 = _linear(use_conv)(in_features, hidden, bias=biases[0])
        self.act = act_layer()
        self.drop1 = layers.Dropout(chances[0])
        self.norm = norm_layer(hidden) if norm_layer is not None else layers.Identity()
        self.fc2 = _linear(use_conv)(hidden, outputs, bias=biases[1])
        self.drop2 = layers.Dropout(chances[1])

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` with ``out_features`` features."""
        return self.drop2(self.fc2(self.norm(self.drop1(self.act(self.fc1(x))))))


class GatedMlp(Network):
    """``Mlp`` whose hidden features are halves, one the gate of the other (Dauphin et al. 2017): timm's GluMlp."""

    def __init__(
        self,
        in_features: int,
        hidden_features: Optional[int] = None,
        out_features: Optional[int] = None,
        act_layer: Maker = layers.Sigmoid,
        norm_layer: Optional[Maker] = None,
        bias: Any = True,
        drop: Any = 0.0,
        use_conv: bool = False,
        gate_last: bool = True,
    ) -> None:
        super().__init__()
        hidden, outputs = hidden_features or in_features, out_features or in_features
        if hidden % 2:
            raise AssertionError("the hidden features of a gated perceptron are two halves")
        biases, chances = to_2tuple(bias), to_2tuple(drop)
        self.chunk_dim = 1 if use_conv else -1
        self.gate_last = gate_last
        self.fc1 = _linear(use_conv)(in_features, hidden, bias=biases[0])
        self.act = act_layer()
        self.drop1 = layers.Dropout(chances[0])
        self.norm = norm_layer(hidden // 2) if norm_layer is not None else layers.Identity()
        self.fc2 = _linear(use_conv)(hidden // 2, outputs, bias=biases[1])
        self.drop2 = layers.Dropout(chances[1])

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` with ``out_features`` features."""
        x1, x2 = ops.chunk(self.fc1(x), 2, self.chunk_dim)
        x = x1 * self.act(x2) if self.gate_last else self.act(x1) * x2
        return self.drop2(self.fc2(self.norm(self.drop1(x))))


class SwiGLU(Network):
    """A perceptron with a gate of its own (Shazeer, "GLU Variants Improve Transformer", 2020)."""

    def __init__(
        self,
        in_features: int,
        hidden_features: Optional[int] = None,
        out_features: Optional[int] = None,
        act_layer: Maker = layers.SiLU,
        norm_layer: Optional[Maker] = None,
        bias: Any = True,
        drop: Any = 0.0,
        align_to: int = 0,
    ) -> None:
        super().__init__()
        hidden, outputs = hidden_features or in_features, out_features or in_features
        biases, chances = to_2tuple(bias), to_2tuple(drop)
        if align_to:
            hidden += -hidden % align_to
        self.fc1_g = layers.Linear(in_features, hidden, bias=biases[0])
        self.fc1_x = layers.Linear(in_features, hidden, bias=biases[0])
        self.act = act_layer()
        self.drop1 = layers.Dropout(chances[0])
        self.norm = norm_layer(hidden) if norm_layer is not None else layers.Identity()
        self.fc2 = layers.Linear(hidden, outputs, bias=biases[1])
        self.drop2 = layers.Dropout(chances[1])

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` with ``out_features`` features."""
        gated = self.act(self.fc1_g(x)) * self.fc1_x(x)
        return self.drop2(self.fc2(self.norm(self.drop1(gated))))


class ConvMlp(Network):
    """``Mlp`` of 1x1 convolutions, with a normalization behind the first."""

    def __init__(
        self,
        in_features: int,
        hidden_features: Optional[int] = None,
        out_features: Optional[int] = None,
        act_layer: Maker = layers.ReLU,
        norm_layer: Optional[Maker] = None,
        bias: Any = True,
        drop: float = 0.0,
    ) -> None:
        super().__init__()
        hidden, outputs = hidden_features or in_features, out_features or in_features
        biases = to_2tuple(bias)
        self.fc1 = layers.Conv2d(in_features, hidden, 1, bias=biases[0])
        self.norm = norm_layer(hidden) if norm_layer is not None else layers.Identity()
        self.act = act_layer()
        self.drop = layers.Dropout(drop)
        self.fc2 = layers.Conv2d(hidden, outputs, 1, bias=biases[1])

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` with ``out_features`` channels."""
        return self.fc2(self.drop(self.act(self.norm(self.fc1(x)))))


class GlobalResponseNorm(Network):
    """Channels compared by their response over the whole picture."""

    def __init__(self, dim: int, eps: float = 1e-6, channels_last: bool = True) -> None:
        super().__init__()
        self.eps = eps
        self.spatial = (1, 2) if channels_last else (2, 3)
        self.channel = -1 if channels_last else 1
        self.shape = (1, 1, 1, -1) if channels_last else (1, -1, 1, 1)
        self.weight = weight(np.zeros(dim), "weight")
        self.bias = weight(np.zeros(dim), "bias")

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` with the normalised response added."""
        response = F.norm(x, p=2, dim=self.spatial, keepdim=True)
        share = response / (response.mean(self.channel, keep_dims=True) + self.eps)
        return x + self.bias.reshape(self.shape) + self.weight.reshape(self.shape) * (x * share)


class GlobalResponseNormMlp(Network):
    """``Mlp`` with a global response normalization between."""

    def __init__(
        self,
        in_features: int,
        hidden_features: Optional[int] = None,
        out_features: Optional[int] = None,
        act_layer: Maker = layers.GELU,
        bias: Any = True,
        drop: Any = 0.0,
        use_conv: bool = False,
    ) -> None:
        super().__init__()
        hidden, outputs = hidden_features or in_features, out_features or in_features
        biases, chances = to_2tuple(bias), to_2tuple(drop)
        self.fc1 = _linear(use_conv)(in_features, hidden, bias=biases[0])
        self.act = act_layer()
        self.drop1 = layers.Dropout(chances[0])
        self.grn = GlobalResponseNorm(hidden, channels_last=not use_conv)
        self.fc2 = _linear(use_conv)(hidden, outputs, bias=biases[1])
        self.drop2 = layers.Dropout(chances[1])

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` with ``out_features`` features."""
        return self.drop2(self.fc2(self.grn(self.drop1(self.act(self.fc1(x))))))


class SqueezeExcite(Network):
    """Channels weighed by what the whole picture shows: timm's SEModule."""

    def __init__(
        self,
        channels: int,
        rd_ratio: float = 1.0 / 16,
        rd_channels: Optional[int] = None,
        rd_divisor: int = 8,
        add_maxpool: bool = False,
        bias: bool = True,
        act_layer: Maker = layers.ReLU,
        norm_layer: Optional[Maker] = None,
        gate_layer: Union[str, Maker] = "sigmoid",
    ) -> None:
        super().__init__()
        if isinstance(gate_layer, str) and gate_layer not in ("sigmoid", "hard_sigmoid"):
            raise ValueError(f"a gate by the name {gate_layer!r} is not known here: hand its class over")
        gates = {"sigmoid": layers.Sigmoid, "hard_sigmoid": layers.Hardsigmoid}
        squeezed = rd_channels or make_divisible(channels * rd_ratio, rd_divisor, round_limit=0.0)
        self.add_maxpool = add_maxpool
        self.fc1 = layers.Conv2d(channels, squeezed, 1, bias=bias)
        self.bn = norm_layer(squeezed) if norm_layer else layers.Identity()
        self.act = act_layer()
        self.fc2 = layers.Conv2d(squeezed, channels, 1, bias=bias)
        self.gate = gates[gate_layer]() if isinstance(gate_layer, str) else gate_layer()

    def construct(self, x: Tensor) -> Tensor:
        """Return ``x`` with each channel times its weight."""
        seen = x.mean((2, 3), keep_dims=True)
        if self.add_maxpool:
            seen = 0.5 * seen + 0.5 * ops.amax(x, (2, 3), keepdims=True)
        return x * self.gate(self.fc2(self.act(self.bn(self.fc1(seen)))))


class PatchDropout(Network):
    """Whole patches dropped in training; what stands in front (class tokens) stays."""

    def __init__(self, prob: float = 0.5, num_prefix_tokens: int = 1, ordered: bool = False) -> None:
        super().__init__()
        if not 0 <= prob < 1.0:
            raise AssertionError("a share of patches to drop lies between 0 and 1")
        self.prob, self.num_prefix_tokens, self.ordered = prob, num_prefix_tokens, ordered

    def construct(self, x: Tensor) -> Tensor:
        """Return the patches that stay."""
        if not self.training or self.prob == 0.0:
            return x
        front, patches = x[:, : self.num_prefix_tokens], x[:, self.num_prefix_tokens :]
        batch, count = patches.shape[:2]
        kept = max(1, int(count * (1.0 - self.prob)))
        places = ops.argsort(ops.rand(batch, count, dtype=ms.float32), -1)[:, :kept]
        if self.ordered:
            places = ops.sort(places.astype(ms.float32), -1)[0].astype(ms.int64)
        index = ops.tile(places.astype(ms.int64).expand_dims(-1), (1, 1, patches.shape[2]))
        patches = ops.gather_elements(patches, 1, index)
        return ops.cat((front, patches), 1) if self.num_prefix_tokens else patches


class PatchEmbed(Network):
    """A picture as words: one patch a word."""

    def __init__(
        self,
        img_size: Optional[Pair] = 224,
        patch_size: Pair = 16,
        in_chans: int = 3,
        embed_dim: int = 768,
        norm_layer: Optional[Maker] = None,
        flatten: bool = True,
        output_fmt: Optional[str] = None,
        bias: bool = True,
        strict_img_size: bool = True,
        dynamic_img_pad: bool = False,
    ) -> None:
        super().__init__()
        if output_fmt not in (None, "NCHW", "NHWC", "NLC", "NCL"):
            raise ValueError(f"{output_fmt!r} is no layout of axes")
        self.patch_size = to_2tuple(patch_size)
        self.img_size: Any = None
        self.grid_size: Any = None
        self.num_patches: Any = None
        if img_size is not None:
            self.img_size = to_2tuple(img_size)
            self.grid_size = tuple(side // patch for side, patch in zip(self.img_size, self.patch_size))
            self.num_patches = self.grid_size[0] * self.grid_size[1]
        self.flatten, self.output_fmt = flatten and output_fmt is None, output_fmt or "NCHW"
        self.strict_img_size, self.dynamic_img_pad = strict_img_size, dynamic_img_pad
        self.proj = layers.Conv2d(in_chans, embed_dim, self.patch_size, self.patch_size, bias=bias)
        self.norm = norm_layer(embed_dim) if norm_layer else layers.Identity()

    def feat_ratio(self, as_scalar: bool = True) -> Any:
        """Return how many pixels a patch has along an axis."""
        return max(self.patch_size) if as_scalar else self.patch_size

    def dynamic_feat_size(self, img_size: Tuple[int, int]) -> Tuple[int, int]:
        """Return how many patches a picture of a size has along each axis."""
        up = [patch - 1 if self.dynamic_img_pad else 0 for patch in self.patch_size]
        return ((img_size[0] + up[0]) // self.patch_size[0], (img_size[1] + up[1]) // self.patch_size[1])

    def _check(self, sides: Tuple[int, int]) -> None:
        """Raise AssertionError for a picture of another size."""
        for axis, side in enumerate(sides):
            what = ("height", "width")[axis]
            if self.strict_img_size and side != self.img_size[axis]:
                raise AssertionError(f"Input {what} ({side}) doesn't match model ({self.img_size[axis]}).")
            if not self.strict_img_size and not self.dynamic_img_pad and side % self.patch_size[axis]:
                raise AssertionError(f"Input {what} ({side}) should be divisible by patch size.")

    def construct(self, x: Tensor) -> Tensor:
        """Return (batch, patches, embed_dim), or a picture of patches."""
        if self.img_size is not None:
            self._check(x.shape[2:])
        if self.dynamic_img_pad:
            height, width = (-side % patch for side, patch in zip(x.shape[2:], self.patch_size))
            x = F.pad(x, (0, width, 0, height))
        x = self.proj(x)
        if self.flatten or self.output_fmt in ("NLC", "NCL"):
            x = x.reshape((*x.shape[:2], -1))
        if self.flatten or self.output_fmt == "NLC":
            x = x.transpose(0, 2, 1)
        elif self.output_fmt == "NHWC":
            x = x.transpose(0, 2, 3, 1)
        return self.norm(x)
