"""Vision Transformer: Dosovitskiy et al., "An Image is Worth 16x16 Words" (2021)."""

from __future__ import annotations

import math
from collections import OrderedDict
from functools import partial
from typing import Any, Callable, Dict, NamedTuple, Optional, Sequence

import numpy as np
from mindspore import Parameter, Tensor, nn, ops

from .. import layers
from ..initializers import normal_, trunc_normal_, xavier_uniform_, zeros_
from .blocks import MLP, Conv2dNormActivation
from .building import Network, named

__all__ = [
    "ConvStemConfig",
    "Encoder",
    "EncoderBlock",
    "MLPBlock",
    "VisionTransformer",
    "vit_b_16",
    "vit_b_32",
    "vit_h_14",
    "vit_l_16",
    "vit_l_32",
]

Maker = Callable[..., nn.Cell]


class ConvStemConfig(NamedTuple):
    """One convolution of a stem that is not one patch a place."""

    out_channels: int
    kernel_size: int
    stride: int
    norm_layer: Maker = layers.BatchNorm2d
    activation_layer: Maker = layers.ReLU


class MLPBlock(MLP):
    """The perceptron of a transformer's block."""

    def __init__(self, in_dim: int, mlp_dim: int, dropout: float) -> None:
        super().__init__(in_dim, [mlp_dim, in_dim], activation_layer=layers.GELU, inplace=None, dropout=dropout)
        for cell in self.cells():
            if isinstance(cell, nn.Dense):
                xavier_uniform_(cell.weight)
                normal_(cell.bias, 0.0, 1e-6)


class EncoderBlock(Network):
    """Self-attention and a perceptron, each behind a normalization and with its input added."""

    def __init__(
        self,
        num_heads: int,
        hidden_dim: int,
        mlp_dim: int,
        dropout: float,
        attention_dropout: float,
        norm_layer: Optional[Maker] = None,
    ) -> None:
        super().__init__()
        norm = norm_layer or partial(layers.LayerNorm, eps=1e-6)
        self.num_heads = num_heads
        self.ln_1 = norm(hidden_dim)
        self.self_attention = layers.MultiheadAttention(
            hidden_dim, num_heads, dropout=attention_dropout, batch_first=True
        )
        self.dropout = layers.Dropout(dropout)
        self.ln_2 = norm(hidden_dim)
        self.mlp = MLPBlock(hidden_dim, mlp_dim, dropout)

    def construct(self, input: Tensor) -> Tensor:
        """Return (batch, places, hidden_dim)."""
        x = self.ln_1(input)
        x, _ = self.self_attention(x, x, x, need_weights=False)
        x = self.dropout(x) + input
        return x + self.mlp(self.ln_2(x))


class Encoder(Network):
    """What is learnt of each place, blocks, and a normalization."""

    def __init__(
        self,
        seq_length: int,
        num_layers: int,
        num_heads: int,
        hidden_dim: int,
        mlp_dim: int,
        dropout: float,
        attention_dropout: float,
        norm_layer: Optional[Maker] = None,
    ) -> None:
        super().__init__()
        norm = norm_layer or partial(layers.LayerNorm, eps=1e-6)
        places = Tensor(np.zeros((1, seq_length, hidden_dim), np.float32))
        self.pos_embedding = Parameter(places, name="pos_embedding")
        normal_(self.pos_embedding, 0.0, 0.02)
        self.dropout = layers.Dropout(dropout)
        blocks = [
            EncoderBlock(num_heads, hidden_dim, mlp_dim, dropout, attention_dropout, norm) for _ in range(num_layers)
        ]
        named_blocks = ((f"encoder_layer_{place}", block) for place, block in enumerate(blocks))
        self.layers = nn.SequentialCell(OrderedDict(named_blocks))
        self.ln = norm(hidden_dim)

    def construct(self, input: Tensor) -> Tensor:
        """Return (batch, places, hidden_dim)."""
        return self.ln(self.layers(self.dropout(input + self.pos_embedding)))


def _stem(configs: Sequence[ConvStemConfig], hidden_dim: int) -> nn.SequentialCell:
    """Return convolutions to ``hidden_dim`` channels."""
    parts: Dict[str, nn.Cell] = OrderedDict()
    channels = 3
    for place, one in enumerate(configs):
        parts[f"conv_bn_relu_{place}"] = Conv2dNormActivation(
            channels, one.out_channels, one.kernel_size, one.stride, norm_layer=one.norm_layer,
            activation_layer=one.activation_layer,
        )  # fmt: skip
        channels = one.out_channels
    last = parts["conv_last"] = layers.Conv2d(channels, hidden_dim, 1)
    normal_(last.weight, 0.0, math.sqrt(2.0 / hidden_dim))
    zeros_(last.bias)
    return nn.SequentialCell(parts)


class VisionTransformer(Network):
    """Patches as words, with a word for the class in front, an encoder, and linear layers on that word."""

    def __init__(
        self,
        image_size: int,
        patch_size: int,
        num_layers: int,
        num_heads: int,
        hidden_dim: int,
        mlp_dim: int,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        num_classes: int = 1000,
        representation_size: Optional[int] = None,
        norm_layer: Optional[Maker] = None,
        conv_stem_configs: Optional[Sequence[ConvStemConfig]] = None,
    ) -> None:
        super().__init__()
        if image_size % patch_size:
            raise AssertionError("Input shape indivisible by patch size!")
        self.image_size, self.patch_size = image_size, patch_size
        self.hidden_dim, self.mlp_dim, self.num_classes = hidden_dim, mlp_dim, num_classes
        self.attention_dropout, self.dropout, self.representation_size = attention_dropout, dropout, representation_size
        self.norm_layer = norm_layer or partial(layers.LayerNorm, eps=1e-6)
        if conv_stem_configs is not None:
            self.conv_proj = _stem(conv_stem_configs, hidden_dim)
        else:
            self.conv_proj = layers.Conv2d(3, hidden_dim, patch_size, patch_size)
            trunc_normal_(self.conv_proj.weight, std=math.sqrt(1 / (3 * patch_size**2)))
            zeros_(self.conv_proj.bias)
        self.seq_length = (image_size // patch_size) ** 2 + 1
        self.class_token = Parameter(Tensor(np.zeros((1, 1, hidden_dim), np.float32)), name="class_token")
        self.encoder = Encoder(
            self.seq_length, num_layers, num_heads, hidden_dim, mlp_dim, dropout, attention_dropout, self.norm_layer
        )
        heads: Dict[str, nn.Cell] = OrderedDict()
        if representation_size is not None:
            first = heads["pre_logits"] = layers.Linear(hidden_dim, representation_size)
            trunc_normal_(first.weight, std=math.sqrt(1 / hidden_dim))
            zeros_(first.bias)
            heads["act"] = layers.Tanh()
        last = heads["head"] = layers.Linear(representation_size or hidden_dim, num_classes)
        zeros_(last.weight)
        zeros_(last.bias)
        self.heads = nn.SequentialCell(heads)

    def _process_input(self, x: Tensor) -> Tensor:
        """Return the patches as words (batch, places, hidden_dim). Raises AssertionError for another image size."""
        for side, what in zip(x.shape[2:], ("height", "width")):
            if side != self.image_size:
                raise AssertionError(f"Wrong image {what}! Expected {self.image_size} but got {side}!")
        x = self.conv_proj(x)
        return x.reshape((x.shape[0], self.hidden_dim, -1)).transpose(0, 2, 1)

    def construct(self, x: Tensor) -> Tensor:
        """Return logits of shape (N, num_classes)."""
        x = self._process_input(x)
        token = ops.tile(self.class_token, (x.shape[0], 1, 1))
        return self.heads(self.encoder(ops.cat((token, x), 1))[:, 0])


def _vit(patch: int, depth: int, heads: int, width: int, mlp: int, image_size: int = 224, **options: Any) -> Any:
    return VisionTransformer(image_size, patch, depth, heads, width, mlp, **options)


vit_b_16 = named("vit_b_16", _vit, 16, 12, 12, 768, 3072)
vit_b_32 = named("vit_b_32", _vit, 32, 12, 12, 768, 3072)
vit_l_16 = named("vit_l_16", _vit, 16, 24, 16, 1024, 4096)
vit_l_32 = named("vit_l_32", _vit, 32, 24, 16, 1024, 4096)
vit_h_14 = named("vit_h_14", _vit, 14, 32, 16, 1280, 5120)
