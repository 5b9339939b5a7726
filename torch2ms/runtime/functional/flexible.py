"""Attention whose mask and scores are functions of places: ``torch.nn.attention.flex_attention``.

PyTorch calls such a function once for each pair of a query and a key, with numbers, by vmap. Here it is called once,
with tensors that broadcast over (batch, heads, queries, keys), and the scores are computed whole.
"""

from __future__ import annotations

import inspect
import math
from typing import Any, Callable, List, NamedTuple, Optional, Sequence, Tuple, Union

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from . import nans
from .activation import masked_softmax
from .singular import compiled

__all__ = [
    "AuxOutput",
    "AuxRequest",
    "BlockMask",
    "and_masks",
    "create_block_mask",
    "create_mask",
    "flex_attention",
    "noop_mask",
    "or_masks",
]

_SCORED = 5  # arguments of a function of scores: the score before the four places


class AuxRequest(NamedTuple):
    """What :func:`flex_attention` shall return besides its output."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What was asked for by an :class:`AuxRequest`, each (batch, heads, queries), or None."""

    lse: Optional[Tensor] = None
    max_scores: Optional[Tensor] = None


def _places(*lengths: int) -> List[Tensor]:
    """Return the places along each axis, shaped to broadcast over all of them; int64."""
    count = len(lengths)
    return [
        Tensor(np.arange(length).reshape((1,) * axis + (length,) + (1,) * (count - 1 - axis)), ms.int64)
        for axis, length in enumerate(lengths)
    ]


def _over_places(mod: Callable[..., Tensor], given: Sequence[Tensor], lengths: Tuple[int, ...]) -> Tensor:
    """Return what a function of places gives for every place; ValueError where it is no function place by place.

    One that adds up what it looks up, for which PyTorch adds up for each place apart, gives another value for the last
    place alone than among the others.
    """
    found = mod(*given)
    if not isinstance(found, Tensor) or any(
        size not in (1, length) for size, length in zip(found.shape[::-1], lengths[::-1])
    ):
        raise ValueError("a mask or score function must give one value for each (batch, head, query, key)")
    found = found if found.shape == lengths else ops.broadcast_to(found, lengths)
    if 0 not in lengths and not compiled():
        one = mod(*(part[tuple(slice(size - 1, None) for size in part.shape)] for part in given))
        alone, among = (each.astype(ms.float32).reshape((-1,))[-1:].asnumpy() for each in (one, found))
        if one.size != 1 or not np.allclose(alone, among, rtol=1e-3, atol=1e-5, equal_nan=True):
            raise ValueError("a mask or score function must give one value for each (batch, head, query, key)")
    return found


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """Return True: every query sees every key."""
    return ops.ones((1,) * batch.ndim, dtype=ms.bool_)


def and_masks(*mask_mods: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return the mask function that lets through what all of ``mask_mods`` do."""

    def mask(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        found = noop_mask(b, h, q_idx, kv_idx)
        for mod in mask_mods:
            found = ops.logical_and(found, mod(b, h, q_idx, kv_idx))
        return found

    return mask


def or_masks(*mask_mods: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return the mask function that lets through what one of ``mask_mods`` does."""

    def mask(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        found = ops.logical_not(noop_mask(b, h, q_idx, kv_idx))
        for mod in mask_mods:
            found = ops.logical_or(found, mod(b, h, q_idx, kv_idx))
        return found

    return mask


def create_mask(
    mod_fn: Callable[..., Tensor], B: Optional[int], H: Optional[int], Q_LEN: int, KV_LEN: int, device: Any = None
) -> Tensor:
    """Return (B, H, Q_LEN, KV_LEN) of bools: what a mask function lets through, or a score function leaves finite."""
    lengths = (B or 1, H or 1, Q_LEN, KV_LEN)
    places = _places(*lengths)
    if len(inspect.signature(mod_fn).parameters) == _SCORED:
        scores = _over_places(mod_fn, (ops.zeros(lengths, dtype=ms.float32), *places), lengths)
        return scores != Tensor(-np.inf, scores.dtype)
    return _over_places(mod_fn, places, lengths)


class BlockMask:
    """A mask function with the lengths it is for; ``shape`` is (batch, heads, queries, keys)."""

    def __init__(
        self, mask_mod: Callable[..., Tensor], shape: Tuple[int, int, int, int], block_size: Tuple[int, int]
    ) -> None:
        """Take a function of (b, h, q_idx, kv_idx), and the size of the blocks that are counted."""
        self.mask_mod, self.shape, self.BLOCK_SIZE = mask_mod, shape, block_size

    @property
    def seq_lengths(self) -> Tuple[int, int]:
        """The lengths (queries, keys)."""
        return self.shape[2:]

    def numel(self) -> int:
        """Return the number of pairs of a query and a key."""
        return int(np.prod(self.shape))

    def size(self, dim: Optional[int] = None) -> Union[int, Tuple[int, ...]]:
        """Return the shape, or one of its sizes."""
        return self.shape if dim is None else self.shape[dim]

    def to(self, device: Any) -> BlockMask:
        """Return this mask: it holds no tensor of its own."""
        return self

    def to_dense(self) -> Tensor:
        """Return (batch, heads, blocks of queries, blocks of keys): 1 where a block has a pair that is let through."""
        rows, columns = self.BLOCK_SIZE
        mask = create_mask(self.mask_mod, *self.shape).asnumpy()
        mask = np.pad(mask, ((0, 0), (0, 0), (0, -mask.shape[2] % rows), (0, -mask.shape[3] % columns)))
        blocks = mask.reshape(*mask.shape[:2], mask.shape[2] // rows, rows, mask.shape[3] // columns, columns)
        return Tensor(blocks.any(axis=(3, 5)).astype(np.int32))

    def sparsity(self) -> float:
        """Return the share of blocks that need not be computed, in percent."""
        computed = int(self.to_dense().asnumpy().sum()) * self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1]
        return 100 * (1 - computed / self.numel())


def create_block_mask(
    mask_mod: Callable[..., Tensor],
    B: Optional[int],
    H: Optional[int],
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: Union[int, Tuple[int, int]] = 128,
) -> BlockMask:
    """Return the mask of a function of (b, h, q_idx, kv_idx); ``B`` and ``H`` None: the same for all."""
    block_size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else tuple(BLOCK_SIZE)
    return BlockMask(mask_mod, (B or 1, H or 1, Q_LEN, KV_LEN), block_size)  # type: ignore[arg-type]


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: Optional[Callable[..., Tensor]] = None,
    block_mask: Optional[BlockMask] = None,
    scale: Optional[float] = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: Any = None,
    *,
    return_aux: Optional[AuxRequest] = None,
) -> Any:
    """Return ``softmax(score_mod(query @ key.T * scale)) @ value`` over the pairs that ``block_mask`` lets through.

    ``query`` is (batch, heads, queries, features), ``key`` and ``value`` (batch, heads, keys, features), with
    ``enable_gqa`` of fewer heads. A query that sees nothing gets 0. ValueError where a mask is for other lengths.
    """
    lengths = (query.shape[0], query.shape[1], query.shape[2], key.shape[2])
    if block_mask is not None and block_mask.seq_lengths != lengths[2:]:
        raise ValueError(f"block_mask was created for {block_mask.seq_lengths} queries and keys, not {lengths[2:]}")
    if enable_gqa and query.shape[1] != key.shape[1]:
        repeats = query.shape[1] // key.shape[1]
        key, value = (ops.repeat_interleave(each, repeats, 1) for each in (key, value))
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = ops.matmul(query, key.swapaxes(-2, -1))
    scores = (scores if scores.dtype == ms.float64 else scores.astype(ms.float32)) * factor
    places = _places(*lengths)
    if score_mod is not None:
        scores = _over_places(score_mod, (scores, *places), lengths).astype(scores.dtype)
    if block_mask is not None:
        seen = _over_places(block_mask.mask_mod, places, lengths)
        scores = ops.masked_fill(scores, ops.logical_not(seen), Tensor(-np.inf, scores.dtype))
    weights = masked_softmax(ops.zeros_like(scores), scores, 0.0)
    found = ops.matmul(weights.astype(query.dtype), value)
    if return_aux is not None:
        highest = ops.amax(scores, -1) if return_aux.max_scores else None
        return found, AuxOutput(nans.logsumexp(scores, -1) if return_aux.lse else None, highest)
    return (found, nans.logsumexp(scores, -1)) if return_lse else found
