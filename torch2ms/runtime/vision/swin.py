"""Swin Transformer and its second version.

Sources: Liu et al., "Swin Transformer: Hierarchical Vision Transformer using Shifted Windows" (2021) and "Swin
Transformer V2: Scaling Up Capacity and Resolution" (2022).
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Callable, List, Optional, Sequence, Tuple

import numpy as np
from mindspore import Parameter, Tensor, nn, ops

from .. import functional as F
from .. import layers, modules
from ..initializers import trunc_normal_
from .blocks import MLP, Permute, StochasticDepth
from .building import Network, fill_layers, named

__all__ = [
    "PatchMerging",
    "PatchMergingV2",
    "ShiftedWindowAttention",
    "ShiftedWindowAttentionV2",
    "SwinTransformer",
    "SwinTransformerBlock",
    "SwinTransformerBlockV2",
    "swin_b",
    "swin_s",
    "swin_t",
    "swin_v2_b",
    "swin_v2_s",
    "swin_v2_t",
]

Maker = Callable[..., nn.Cell]


class PatchMerging(Network):
    """Four places become one, of twice the channels: normalised, then reduced."""

    norm_first = True

    def __init__(self, dim: int, norm_layer: Maker = layers.LayerNorm) -> None:
        super().__init__()
        self.dim = dim
        self.reduction = layers.Linear(4 * dim, 2 * dim, bias=False)
        self.norm = norm_layer(4 * dim if self.norm_first else 2 * dim)

    def construct(self, x: Tensor) -> Tensor:
        """Return (..., H / 2, W / 2, 2 * dim) of (..., H, W, dim); odd sides get a row of zeros."""
        height, width = x.shape[-3:-1]
        if height % 2 or width % 2:
            x = F.pad(x, (0, 0, 0, width % 2, 0, height % 2))
        *before, height, width, channels = x.shape
        x = x.reshape((-1, height // 2, 2, width // 2, 2, channels)).transpose(0, 1, 3, 4, 2, 5)
        x = x.reshape((*before, height // 2, width // 2, 4 * channels))
        return self.reduction(self.norm(x)) if self.norm_first else self.norm(self.reduction(x))


class PatchMergingV2(PatchMerging):
    """Four places become one, of twice the channels: reduced, then normalised."""

    norm_first = False


def _rolled(x: Tensor, shifts: Sequence[int]) -> Tensor:
    """Return (batch, height, width, channels) with rows and columns moved up and left, around the edges."""
    down, right = shifts
    if down:
        x = ops.cat((x[:, down:], x[:, :down]), 1)
    if right:
        x = ops.cat((x[:, :, right:], x[:, :, :right]), 2)
    return x


def _windows(x: Any, window: Sequence[int]) -> Any:
    """Return (batch, height, width, channels) as (batch * windows, places, channels)."""
    batch, height, width, channels = x.shape
    x = x.reshape((batch, height // window[0], window[0], width // window[1], window[1], channels))
    return x.transpose(0, 1, 3, 2, 4, 5).reshape((-1, window[0] * window[1], channels))


def _apart(height: int, width: int, window: Sequence[int], shift: Sequence[int]) -> Any:
    """Return what is added to the scores: -100 where two places of a window were no neighbours before the shift."""
    regions = np.zeros((1, height, width, 1), np.float32)
    edges = [(0, size - step, size - by, size) for size, step, by in zip((height, width), window, shift)]
    for row, (top, bottom) in enumerate(zip(edges[0], edges[0][1:])):
        for column, (left, right) in enumerate(zip(edges[1], edges[1][1:])):
            regions[:, top:bottom, left:right] = 3 * row + column
    found = _windows(regions, window)[:, :, 0]
    return np.where(found[:, None] == found[:, :, None], 0.0, -100.0).astype(np.float32)


class ShiftedWindowAttention(Network):
    """Self-attention within windows, which every second block moves by half a window."""

    def __init__(
        self,
        dim: int,
        window_size: Sequence[int],
        shift_size: Sequence[int],
        num_heads: int,
        qkv_bias: bool = True,
        proj_bias: bool = True,
        attention_dropout: float = 0.0,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if len(window_size) != 2 or len(shift_size) != 2:
            raise ValueError("window_size and shift_size must be of length 2")
        self.window_size, self.shift_size = list(window_size), list(shift_size)
        self.num_heads, self.attention_dropout, self.dropout = num_heads, attention_dropout, dropout
        self.qkv = layers.Linear(dim, dim * 3, bias=qkv_bias)
        self.proj = layers.Linear(dim, dim, bias=proj_bias)
        self.define_relative_position_bias_table()
        self.define_relative_position_index()

    def define_relative_position_bias_table(self) -> None:
        """Learn one number a head for each distance of two places in a window."""
        distances = (2 * self.window_size[0] - 1) * (2 * self.window_size[1] - 1)
        table = Tensor(np.zeros((distances, self.num_heads), np.float32))
        self.relative_position_bias_table = Parameter(table, name="relative_position_bias_table")
        trunc_normal_(self.relative_position_bias_table, std=0.02)

    def define_relative_position_index(self) -> None:
        """Find the row of the table for each two places."""
        high, wide = self.window_size
        rows, columns = (axis.flatten() for axis in np.meshgrid(np.arange(high), np.arange(wide), indexing="ij"))
        down = rows[:, None] - rows[None] + high - 1
        right = columns[:, None] - columns[None] + wide - 1
        index = (down * (2 * wide - 1) + right).flatten().astype(np.int64)
        modules.register_buffer(self, "relative_position_index", Tensor(index))

    def _of_places(self, table: Tensor) -> Tensor:
        """Return (1, heads, places, places) of a table by distance."""
        places = self.window_size[0] * self.window_size[1]
        return table[self.relative_position_index].reshape((places, places, -1)).transpose(2, 0, 1).expand_dims(0)

    def get_relative_position_bias(self) -> Tensor:
        """Return what is added to the scores of each two places of a window."""
        return self._of_places(self.relative_position_bias_table)

    def _scores(self, query: Tensor, key: Tensor) -> Tensor:
        return ops.matmul(query * query.shape[-1] ** -0.5, key.swapaxes(-2, -1))

    def _qkv(self, x: Tensor) -> Tensor:
        return self.qkv(x)

    def _attend(self, x: Tensor, apart: Optional[Any]) -> Tensor:
        """Return (batch * windows, places, channels) after self-attention."""
        count, places, channels = x.shape
        parts = self._qkv(x).reshape((count, places, 3, self.num_heads, channels // self.num_heads))
        query, key, value = (part.squeeze(0) for part in ops.split(parts.transpose(2, 0, 3, 1, 4), 1, 0))
        scores = self._scores(query, key) + self.get_relative_position_bias()
        if apart is not None:
            mask = Tensor(apart, scores.dtype).expand_dims(1).expand_dims(0)
            scores = scores.reshape((-1, apart.shape[0], self.num_heads, places, places)) + mask
            scores = scores.reshape((count, self.num_heads, places, places))
        weights = F.dropout(F.softmax(scores, -1), self.attention_dropout, self.training)
        x = ops.matmul(weights, value).swapaxes(1, 2).reshape((count, places, channels))
        return F.dropout(self.proj(x), self.dropout, self.training)

    def construct(self, x: Tensor) -> Tensor:
        """Return (batch, height, width, channels)."""
        batch, height, width, channels = x.shape
        high, wide = self.window_size
        below, beside = -height % high, -width % wide
        if below or beside:
            x = F.pad(x, (0, 0, 0, beside, 0, below))
        rows, columns = height + below, width + beside
        shift = [by if step < size else 0 for by, step, size in zip(self.shift_size, (high, wide), (rows, columns))]
        moved = sum(shift) > 0
        x = self._attend(
            _windows(_rolled(x, shift), self.window_size),
            _apart(rows, columns, self.window_size, shift) if moved else None,
        )
        x = x.reshape((batch, rows // high, columns // wide, high, wide, channels)).transpose(0, 1, 3, 2, 4, 5)
        x = x.reshape((batch, rows, columns, channels))
        if moved:
            x = _rolled(x, [-shift[0] % rows, -shift[1] % columns])
        return x[:, :height, :width]


class ShiftedWindowAttentionV2(ShiftedWindowAttention):
    """Self-attention by cosines, with biases that a small network computes from the distance."""

    def __init__(
        self,
        dim: int,
        window_size: Sequence[int],
        shift_size: Sequence[int],
        num_heads: int,
        qkv_bias: bool = True,
        proj_bias: bool = True,
        attention_dropout: float = 0.0,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(dim, window_size, shift_size, num_heads, qkv_bias, proj_bias, attention_dropout, dropout)
        scale = Tensor(np.full((num_heads, 1, 1), math.log(10), np.float32))
        self.logit_scale = Parameter(scale, name="logit_scale")
        self.cpb_mlp = nn.SequentialCell(
            layers.Linear(2, 512), layers.ReLU(), layers.Linear(512, num_heads, bias=False)
        )
        keys = np.repeat(np.array([1, 0, 1], np.float32), dim)  # keys have no bias, though the layer has a place for it
        self._kept = Tensor(keys)
        if qkv_bias:
            self.qkv.bias.set_data(self.qkv.bias * self._kept)

    def define_relative_position_bias_table(self) -> None:
        """Give each distance as logarithms between -1 and 1 times log2(9) / 3."""
        axes = [np.arange(1 - size, size, dtype=np.float32) for size in self.window_size]
        table = np.stack(np.meshgrid(*axes, indexing="ij"), -1)[None]
        table = table / np.array([size - 1 for size in self.window_size], np.float32) * 8
        logs = np.sign(table) * np.log2(np.abs(table) + 1.0) / 3.0
        modules.register_buffer(self, "relative_coords_table", Tensor(logs.astype(np.float32)))

    def get_relative_position_bias(self) -> Tensor:
        """Return what is added to the scores of each two places of a window."""
        table = self.cpb_mlp(self.relative_coords_table).reshape((-1, self.num_heads))
        return 16 * ops.sigmoid(self._of_places(table))

    def _scores(self, query: Tensor, key: Tensor) -> Tensor:
        scale = ops.exp(ops.clamp(self.logit_scale, max=math.log(100.0)))
        return ops.matmul(F.normalize(query, dim=-1), F.normalize(key, dim=-1).swapaxes(-2, -1)) * scale

    def _qkv(self, x: Tensor) -> Tensor:
        if self.qkv.bias is None:
            return self.qkv(x)
        return ops.matmul(x, self.qkv.weight.swapaxes(0, 1)) + self.qkv.bias * self._kept


class SwinTransformerBlock(Network):
    """Attention in windows and a perceptron, each behind a normalization and with its input added."""

    def __init__(
        self,
        dim: int,
        num_heads: int,
        window_size: Sequence[int],
        shift_size: Sequence[int],
        mlp_ratio: float = 4.0,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        stochastic_depth_prob: float = 0.0,
        norm_layer: Maker = layers.LayerNorm,
        attn_layer: Maker = ShiftedWindowAttention,
    ) -> None:
        super().__init__()
        self.norm1 = norm_layer(dim)
        self.attn = attn_layer(
            dim, window_size, shift_size, num_heads, attention_dropout=attention_dropout, dropout=dropout
        )
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")
        self.norm2 = norm_layer(dim)
        self.mlp = MLP(dim, [int(dim * mlp_ratio), dim], activation_layer=layers.GELU, dropout=dropout)

    def construct(self, x: Tensor) -> Tensor:
        """Return (batch, height, width, dim)."""
        x = x + self.stochastic_depth(self.attn(self.norm1(x)))
        return x + self.stochastic_depth(self.mlp(self.norm2(x)))


class SwinTransformerBlockV2(SwinTransformerBlock):
    """Attention in windows and a perceptron, each before a normalization and with its input added."""

    def __init__(
        self,
        dim: int,
        num_heads: int,
        window_size: Sequence[int],
        shift_size: Sequence[int],
        mlp_ratio: float = 4.0,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        stochastic_depth_prob: float = 0.0,
        norm_layer: Maker = layers.LayerNorm,
        attn_layer: Maker = ShiftedWindowAttentionV2,
    ) -> None:
        super().__init__(
            dim, num_heads, window_size, shift_size, mlp_ratio, dropout, attention_dropout, stochastic_depth_prob,
            norm_layer, attn_layer,
        )  # fmt: skip

    def construct(self, x: Tensor) -> Tensor:
        """Return (batch, height, width, dim)."""
        x = x + self.stochastic_depth(self.norm1(self.attn(x)))
        return x + self.stochastic_depth(self.norm2(self.mlp(x)))


class SwinTransformer(Network):
    """Patches, stages of blocks with mergings between, and one linear layer."""

    def __init__(
        self,
        patch_size: Sequence[int],
        embed_dim: int,
        depths: Sequence[int],
        num_heads: Sequence[int],
        window_size: Sequence[int],
        mlp_ratio: float = 4.0,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        stochastic_depth_prob: float = 0.1,
        num_classes: int = 1000,
        norm_layer: Optional[Maker] = None,
        block: Optional[Maker] = None,
        downsample_layer: Maker = PatchMerging,
    ) -> None:
        super().__init__()
        self.num_classes = num_classes
        block, norm = block or SwinTransformerBlock, norm_layer or partial(layers.LayerNorm, eps=1e-5)
        patch = tuple(patch_size)
        stem = nn.SequentialCell(layers.Conv2d(3, embed_dim, patch, patch), Permute([0, 2, 3, 1]), norm(embed_dim))
        features: List[nn.Cell] = [stem]
        number, dim = 0, embed_dim
        for stage, (depth, heads) in enumerate(zip(depths, num_heads)):
            blocks = []
            for place in range(depth):
                # The deeper a block, the more often it is dropped
                chance = stochastic_depth_prob * number / (sum(depths) - 1)
                shift = [size // 2 if place % 2 else 0 for size in window_size]
                made = block(
                    dim, heads, window_size=window_size, shift_size=shift, mlp_ratio=mlp_ratio, dropout=dropout,
                    attention_dropout=attention_dropout, stochastic_depth_prob=chance, norm_layer=norm,
                )  # fmt: skip
                blocks.append(made)
                number += 1
            features.append(nn.SequentialCell(*blocks))
            if stage < len(depths) - 1:
                features.append(downsample_layer(dim, norm))
                dim *= 2
        self.features = nn.SequentialCell(*features)
        self.norm = norm(dim)
        self.permute = Permute([0, 3, 1, 2])
        self.avgpool = layers.AdaptiveAvgPool2d(1)
        self.flatten = layers.Flatten(1)
        self.head = layers.Linear(dim, num_classes)
        fill_layers(self, linear=partial(trunc_normal_, std=0.02))

    def construct(self, x: Tensor) -> Tensor:
        """Return logits of shape (N, num_classes)."""
        x = self.permute(self.norm(self.features(x)))
        return self.head(self.flatten(self.avgpool(x)))


_HEADS, _WIDER = (3, 6, 12, 24), (4, 8, 16, 32)
_SHALLOW, _DEEP = (2, 2, 6, 2), (2, 2, 18, 2)


def _swin(
    width: int, depths: Tuple[int, ...], heads: Tuple[int, ...], version: int, chance: float, **options: Any
) -> SwinTransformer:
    options.setdefault("stochastic_depth_prob", chance)
    if version == 2:
        options = {"block": SwinTransformerBlockV2, "downsample_layer": PatchMergingV2, **options}
    return SwinTransformer((4, 4), width, depths, heads, (7, 7) if version == 1 else (8, 8), **options)


swin_t = named("swin_t", _swin, 96, _SHALLOW, _HEADS, 1, 0.2)
swin_s = named("swin_s", _swin, 96, _DEEP, _HEADS, 1, 0.3)
swin_b = named("swin_b", _swin, 128, _DEEP, _WIDER, 1, 0.5)
swin_v2_t = named("swin_v2_t", _swin, 96, _SHALLOW, _HEADS, 2, 0.2)
swin_v2_s = named("swin_v2_s", _swin, 96, _DEEP, _HEADS, 2, 0.3)
swin_v2_b = named("swin_v2_b", _swin, 128, _DEEP, _WIDER, 2, 0.5)
