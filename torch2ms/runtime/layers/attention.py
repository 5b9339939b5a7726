"""Attention layers with PyTorch's signatures."""

from __future__ import annotations

from typing import Any, Optional, Tuple

from mindspore import Tensor, nn

__all__ = ["MultiheadAttention", "TransformerEncoderLayer"]


class MultiheadAttention(nn.MultiheadAttention):
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
        result = super().construct(query, key, value, key_padding_mask, need_weights, attn_mask, average_attn_weights)
        return (result[0], result[1]) if need_weights else (result[0], None)


class TransformerEncoderLayer(nn.TransformerEncoderLayer):
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
        if not bias:
            raise ValueError("bias=False has no equivalent in MindSpore's TransformerEncoderLayer")
        super().__init__(d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first)
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first)
