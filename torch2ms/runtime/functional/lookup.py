"""Rows and elements of tables at integer indices: embeddings and bags of them."""

from __future__ import annotations

from typing import Any, Optional

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

__all__ = ["element", "embedding", "embedding_bag", "rows"]


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: Optional[int] = None,
    max_norm: Optional[float] = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Return the rows of ``weight`` at ``input``; no gradient flows to the row ``padding_idx``.

    ``max_norm``: rows that are looked up and longer are shortened first, in ``weight`` itself.
    """
    if max_norm is not None:
        _shorten(weight, input, max_norm, norm_type)
    rows = ops.gather(weight, input.astype(ms.int32), 0)
    if scale_grad_by_freq and weight.is_floating_point():
        share = rows / _frequencies(input).astype(rows.dtype)
        nothing = ops.stop_gradient(share) - share  # 0.0, which -0.0 outlives when it is taken away
        rows = ops.where(ops.isfinite(rows), ops.stop_gradient(rows) - nothing, rows)
    if padding_idx is None or not weight.is_floating_point():
        return rows
    index = padding_idx if padding_idx >= 0 else weight.shape[0] + padding_idx
    return ops.where(ops.expand_dims(input != index, -1), rows, ops.stop_gradient(rows))


def element(input: Tensor, *index: Any) -> Tensor:
    """Return ``input[index]`` where the places, numbers and tensors of them, may name one element together.

    MindSpore refuses to compute the gradient of such an element ("the rank(indices) must be greater than or equal to
    2"); that of a row with one member it computes.
    """
    places = (*index, ...)
    return input.unsqueeze(-1)[places].squeeze(-1)


def _frequencies(input: Tensor) -> Tensor:
    """Return how often each index occurs in ``input``, with one axis more."""
    _, places, counts = np.unique(input.asnumpy(), return_inverse=True, return_counts=True)
    return Tensor(counts[places].reshape((*input.shape, 1)).astype(np.float32))


def _shorten(weight: Tensor, input: Tensor, max_norm: float, norm_type: float) -> None:
    """Scale the rows of ``weight`` at ``input`` down to ``max_norm``, in place."""
    table = weight.asnumpy().copy()
    used = np.unique(input.asnumpy())
    norms = np.linalg.norm(table[used], ord=norm_type, axis=1)
    factors = np.where(norms > max_norm, max_norm / (norms + 1e-7), 1.0)
    table[used] *= factors[:, None].astype(table.dtype)
    if isinstance(weight, ms.Parameter):
        ops.assign(weight, Tensor(table))
    else:
        weight[...] = Tensor(table)


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Optional[Tensor] = None,
    max_norm: Optional[float] = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Optional[Tensor] = None,
    include_last_offset: bool = False,
    padding_idx: Optional[int] = None,
) -> Tensor:
    """Return sum, mean or maximum of the rows of each bag; bags are the rows of a 2-D input, or start at ``offsets``.

    Indices equal to ``padding_idx`` are left out of their bag. A bag without indices is zero.
    """
    if input.is_floating_point():  # PyTorch's order of old, which it still takes
        input, weight = weight, input
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if per_sample_weights is not None and mode != "sum":
        raise ValueError("per_sample_weights is only supported for mode='sum'")
    rows = embedding(input, weight, None, max_norm, norm_type, scale_grad_by_freq)
    if per_sample_weights is not None:
        rows = rows * ops.expand_dims(per_sample_weights, -1)
    if padding_idx is not None and padding_idx < 0:
        padding_idx += weight.shape[0]
    kept = ops.ones(input.shape, rows.dtype) if padding_idx is None else (input != padding_idx).astype(rows.dtype)
    kept = ops.expand_dims(kept, -1)
    if input.ndim == 2:
        return _pooled(rows, kept, mode, 1)
    starts = [int(start) for start in offsets.asnumpy()] if offsets is not None else [0]
    ends = starts[1:] if include_last_offset else [*starts[1:], input.shape[0]]
    if ends and (mode == "max" or padding_idx is not None):
        ends[-1] = input.shape[0]  # PyTorch looks at all that is left, wherever the last bag is said to end
    empty = ops.zeros((weight.shape[1],), rows.dtype)
    bags = [
        _pooled(rows[start:end], kept[start:end], mode, 0) if end > start else empty for start, end in zip(starts, ends)
    ]
    return ops.stack(bags)


def _pooled(rows: Tensor, kept: Tensor, mode: str, axis: int) -> Any:
    """Return the rows of one bag, or of a batch of bags, put together; ``kept`` is 0 for those left out."""
    count = kept.sum(axis)
    if mode == "max":
        largest = ops.amax(ops.where(kept.astype(ms.bool_), rows, ops.full_like(rows, -3.4028234e38)), axis)
        return ops.where(count > 0, largest, ops.zeros_like(largest))
    total = (rows * kept).sum(axis)
    return total if mode == "sum" else total / ops.maximum(count, ops.ones_like(count))


def rows(table: Tensor, index: Any) -> Tensor:
    """Return ``table[index]``; the gradient reaches rows that are counted from the end, too.

    MindSpore's own gradient of ``table[index]`` leaves out what negative places have taken (2.0 to 2.10).
    """
    if isinstance(index, Tensor) and index.dtype not in (ms.bool_, ms.uint8):
        return table[index % table.shape[0]]
    return table[index]
