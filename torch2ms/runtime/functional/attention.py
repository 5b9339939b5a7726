"""Multi-head attention as a function of its weights."""

from __future__ import annotations

import math
from typing import Any, Optional, Tuple

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from .activation import masked_softmax
from .normalization import linear

__all__ = ["multi_head_attention_forward"]


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Optional[Tensor],
    in_proj_bias: Optional[Tensor],
    bias_k: Optional[Tensor],
    bias_v: Optional[Tensor],
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Optional[Tensor],
    training: bool = True,
    key_padding_mask: Optional[Tensor] = None,
    need_weights: bool = True,
    attn_mask: Optional[Tensor] = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Optional[Tensor] = None,
    k_proj_weight: Optional[Tensor] = None,
    v_proj_weight: Optional[Tensor] = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> Tuple[Tensor, Optional[Tensor]]:
    """Return (output, attention weights or None) for sequences (length, batch, channels), or (length, channels).

    ``is_causal`` is torch's hint that ``attn_mask`` is causal.
    """
    if query.shape[-1] != embed_dim_to_check:
        raise ValueError(f"was expecting an embedding dimension of {embed_dim_to_check}, but got {query.shape[-1]}")
    is_batched = query.ndim == 3
    if not is_batched:
        query, key, value = (ops.expand_dims(part, 1) for part in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else ops.expand_dims(key_padding_mask, 0)
    weights: Any = (q_proj_weight, k_proj_weight, v_proj_weight)
    if not use_separate_proj_weight:
        weights = ops.chunk(in_proj_weight, 3)
    biases: Any = (None, None, None) if in_proj_bias is None else ops.chunk(in_proj_bias, 3)
    q, k, v = (linear(*part) for part in zip((query, key, value), weights, biases))
    length = k.shape[0]
    k, v = _longer(k, bias_k, add_zero_attn), _longer(v, bias_v, add_zero_attn)
    added = k.shape[0] - length
    q, k, v = (_heads(part, num_heads) for part in (q, k, v))
    scores = ops.matmul(q * (1.0 / math.sqrt(q.shape[-1])), k.swapaxes(-2, -1))
    mask: Any = None
    if attn_mask is not None:
        mask = _added_to_scores(_over_heads(attn_mask, num_heads), added, scores.dtype)
    if key_padding_mask is not None:
        padding = _added_to_scores(key_padding_mask[:, None, None], added, scores.dtype)
        mask = padding if mask is None else mask + padding
    attention = masked_softmax(scores, mask, math.nan if need_weights else 0.0)
    dropped = ops.dropout(attention, dropout_p, training=training) if training and dropout_p > 0 else attention
    found = ops.matmul(dropped, v) if v.shape[-2] else ops.zeros_like(q)  # over nothing: whatever the memory held
    output = found.transpose(2, 0, 1, 3).reshape(query.shape)
    output = linear(output, out_proj_weight, out_proj_bias)
    shown = attention.mean(1) if average_attn_weights else attention
    if not is_batched:
        output, shown = output.squeeze(1), shown.squeeze(0)
    return output, (shown if need_weights else None)


def _heads(x: Tensor, heads: int) -> Tensor:
    """(length, batch, channels) -> (batch, heads, length, channels / heads)."""
    return x.reshape((x.shape[0], x.shape[1], heads, x.shape[2] // heads)).transpose(1, 2, 0, 3)


def _longer(x: Tensor, last: Optional[Tensor], zeros: bool) -> Tensor:
    """Return keys or values with a learnt one and with zeros at the end."""
    if last is not None:
        x = ops.cat([x, ops.tile(last, (1, x.shape[1], 1))])
    return ops.cat([x, ops.zeros((1, *x.shape[1:]), dtype=x.dtype)]) if zeros else x


def _over_heads(mask: Tensor, heads: int) -> Tensor:
    """Return a mask of (L, S) or (batch * heads, L, S) in a form that meets (batch, heads, L, S)."""
    return mask.reshape((-1, heads, *mask.shape[1:])) if mask.ndim == 3 else mask


def _added_to_scores(mask: Tensor, added: int, dtype: Any) -> Tensor:
    """Return a mask as numbers to be added; keys that were ``added`` at the end are not masked."""
    if mask.dtype == ms.bool_:
        zeros = ops.zeros(mask.shape, dtype=dtype)
        mask = ops.masked_fill(zeros, mask, Tensor(-np.inf, dtype))
    if added:
        mask = ops.cat([mask, ops.zeros((*mask.shape[:-1], added), dtype=mask.dtype)], -1)
    return mask.astype(dtype)
