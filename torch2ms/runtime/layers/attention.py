"""Attention layers with PyTorch's signatures."""

from __future__ import annotations

from typing import Any, Optional, Tuple

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

from .. import functional as F
from ..kinds import Kind
from .normalization import LayerNorm

__all__ = [
    "MultiheadAttention",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "activation_called",
    "clones",
]


def activation_called(activation: str) -> Any:
    """Return the function that transformers call ``relu`` or ``gelu``; raises RuntimeError for other names."""
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return ops.relu if activation == "relu" else ops.gelu


def clones(module: nn.Cell, count: int) -> nn.CellList:
    """Return ``count`` copies of a layer, each with weights of its own."""
    return nn.CellList([F.deepcopy(module) for _ in range(count)])


class MultiheadAttention(nn.MultiheadAttention, metaclass=Kind):
    """Multi-head attention that always returns two values; the second is None with ``need_weights=False``."""

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: Optional[int] = None,
        vdim: Optional[int] = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(embed_dim, num_heads, dropout, bool(bias), add_bias_kv, add_zero_attn, kdim, vdim, batch_first)

    def __call__(self, query: Tensor, key: Tensor, value: Tensor, *args: Any, **kwargs: Any) -> Any:
        """Call the layer: MindSpore's own takes query, key and value by position only (``args[2]``, seen in 2.10)."""
        return super().__call__(query, key, value, *args, **kwargs)

    def construct(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Optional[Tensor] = None,
        need_weights: bool = True,
        attn_mask: Optional[Tensor] = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> Tuple[Tensor, Optional[Tensor]]:
        """Return (output, attention weights or None)."""
        if attn_mask is not None and key_padding_mask is not None:
            attn_mask, key_padding_mask = _alike(attn_mask, key_padding_mask)
        is_masked = attn_mask is not None or key_padding_mask is not None
        if is_masked or key.shape[1 if self.batch_first and key.ndim == 3 else 0] < 2:
            # MindSpore's softmax over one place spoils the gradient of all later ones; a product over none is not 0;
            # and a row that a mask hides whole spoils all others
            return self._with_care(query, key, value, key_padding_mask, need_weights, attn_mask, average_attn_weights)
        result = super(MultiheadAttention, self).construct(
            query, key, value, key_padding_mask, need_weights, attn_mask, average_attn_weights
        )
        return (result[0], result[1]) if need_weights else (result[0], None)

    def _with_care(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Optional[Tensor],
        need_weights: bool,
        attn_mask: Optional[Tensor],
        average_attn_weights: bool,
    ) -> Tuple[Tensor, Optional[Tensor]]:
        """Return (output, attention weights or None) by the runtime's own function."""
        turned = self.batch_first and query.ndim == 3
        query, key, value = (part.swapaxes(0, 1) if turned else part for part in (query, key, value))
        output, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            self.training,
            key_padding_mask,
            need_weights,
            attn_mask,
            self.in_proj_weight is None,
            self.q_proj_weight,
            self.k_proj_weight,
            self.v_proj_weight,
            average_attn_weights,
        )
        return output.swapaxes(0, 1) if turned else output, weights


def _alike(attn_mask: Tensor, key_padding_mask: Tensor) -> Tuple[Tensor, Tensor]:
    """Return both masks as numbers where one is: MindSpore adds a mask of booleans to numbers as 1 (seen to 2.10)."""
    if attn_mask.dtype == key_padding_mask.dtype:
        return attn_mask, key_padding_mask
    masks = (attn_mask, key_padding_mask)
    numbers = next((mask.dtype for mask in masks if mask.is_floating_point()), None)
    if numbers is None:
        return masks
    first, second = (
        mask if mask.is_floating_point() else ops.zeros(mask.shape, dtype=numbers).masked_fill(mask != 0, -np.inf)
        for mask in masks
    )
    return first, second


def _drop_biases(layer: nn.Cell) -> None:
    """Replace the dense layers of a feed-forward network by such without bias; MindSpore 2.0 calls them otherwise."""
    for name in ("dense1", "dense2", "linear1", "linear2"):
        dense = getattr(layer, name, None)
        if dense is not None:
            setattr(layer, name, type(dense)(dense.in_channels, dense.out_channels, has_bias=False))


class TransformerEncoderLayer(nn.TransformerEncoderLayer, metaclass=Kind):
    """Self-attention and a feed-forward network (Vaswani et al. 2017)."""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        named = activation if isinstance(activation, str) else "relu"  # MindSpore's takes no other function
        super().__init__(d_model, nhead, dim_feedforward, dropout, named, layer_norm_eps, batch_first, norm_first)
        if named is not activation:
            self.activation = activation
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first)
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias)
        if not bias:
            _drop_biases(self)

    def construct(
        self,
        src: Tensor,
        src_mask: Optional[Tensor] = None,
        src_key_padding_mask: Optional[Tensor] = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Return ``src`` after the layer; ``is_causal`` is torch's hint that ``src_mask`` is causal."""
        return super(TransformerEncoderLayer, self).construct(src, src_mask, src_key_padding_mask)


class TransformerDecoderLayer(nn.TransformerDecoderLayer, metaclass=Kind):
    """Self-attention, attention to a memory and a feed-forward network (Vaswani et al. 2017)."""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        named = activation if isinstance(activation, str) else "relu"  # MindSpore's takes no other function
        super().__init__(d_model, nhead, dim_feedforward, dropout, named, layer_norm_eps, batch_first, norm_first)
        if named is not activation:
            self.activation = activation
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first)
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias)
        self.norm3 = LayerNorm(d_model, layer_norm_eps, bias=bias)
        if not bias:
            _drop_biases(self)

    def construct(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Optional[Tensor] = None,
        memory_mask: Optional[Tensor] = None,
        tgt_key_padding_mask: Optional[Tensor] = None,
        memory_key_padding_mask: Optional[Tensor] = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Return ``tgt`` after the layer; the ``is_causal`` arguments are torch's hints about the masks."""
        return super(TransformerDecoderLayer, self).construct(
            tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask
        )


class TransformerEncoder(nn.Cell, metaclass=Kind):
    """``num_layers`` copies of a layer, one after another, and a final ``norm``."""

    def __init__(
        self,
        encoder_layer: nn.Cell,
        num_layers: int,
        norm: Optional[nn.Cell] = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = clones(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def construct(
        self,
        src: Tensor,
        mask: Optional[Tensor] = None,
        src_key_padding_mask: Optional[Tensor] = None,
        is_causal: Optional[bool] = None,
    ) -> Tensor:
        """Return ``src`` after all layers."""
        output = src
        for layer in self.layers:
            output = layer(output, src_mask=mask, src_key_padding_mask=src_key_padding_mask)
        return output if self.norm is None else self.norm(output)


class TransformerDecoder(nn.Cell, metaclass=Kind):
    """``num_layers`` copies of a decoder layer, one after another, and a final ``norm``."""

    def __init__(self, decoder_layer: nn.Cell, num_layers: int, norm: Optional[nn.Cell] = None) -> None:
        super().__init__()
        self.layers = clones(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def construct(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Optional[Tensor] = None,
        memory_mask: Optional[Tensor] = None,
        tgt_key_padding_mask: Optional[Tensor] = None,
        memory_key_padding_mask: Optional[Tensor] = None,
        tgt_is_causal: Optional[bool] = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Return ``tgt`` after all layers."""
        output = tgt
        for layer in self.layers:
            output = layer(
                output,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
            )
        return output if self.norm is None else self.norm(output)


class Transformer(nn.Cell, metaclass=Kind):
    """Encoder and decoder (Vaswani et al. 2017), both with a final layer normalisation."""

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = "relu",
        custom_encoder: Optional[nn.Cell] = None,
        custom_decoder: Optional[nn.Cell] = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        options = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)
        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*options), num_encoder_layers, LayerNorm(d_model, layer_norm_eps, bias=bias)
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*options), num_decoder_layers, LayerNorm(d_model, layer_norm_eps, bias=bias)
        )
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def construct(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Optional[Tensor] = None,
        tgt_mask: Optional[Tensor] = None,
        memory_mask: Optional[Tensor] = None,
        src_key_padding_mask: Optional[Tensor] = None,
        tgt_key_padding_mask: Optional[Tensor] = None,
        memory_key_padding_mask: Optional[Tensor] = None,
        src_is_causal: Optional[bool] = None,
        tgt_is_causal: Optional[bool] = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Return the decoder's output for ``tgt``, given the encoder's for ``src``."""
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask)
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """Return a (sz, sz) mask that hides later places: minus infinity above the diagonal, 0 elsewhere."""
        mask = np.triu(np.full((sz, sz), -np.inf, np.float32), 1)
        return Tensor(mask, ms.float32 if dtype is None else dtype)
