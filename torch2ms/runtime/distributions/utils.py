"""Helpers for distributions of one's own: ``torch.distributions.utils``."""

from __future__ import annotations

from typing import Any, Tuple

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from ..functional.activation import softmax
from ..functional.exact import log
from .base import together

__all__ = [
    "broadcast_all",
    "clamp_probs",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]


def broadcast_all(*values: Any) -> Tuple[Tensor, ...]:
    """Return tensors and numbers in one shape; numbers take the dtype of the first tensor. ValueError for others."""
    if not all(isinstance(value, (Tensor, bool, int, float)) for value in values):
        raise ValueError("Input arguments must all be instances of Number or Tensor")
    return together(*values)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Return probabilities of log odds (``is_binary``), or of log probabilities along the last axis."""
    return ops.sigmoid(logits) if is_binary else softmax(logits, -1)


def clamp_probs(probs: Tensor) -> Tensor:
    """Return probabilities no closer to 0 and 1 than the smallest step of their dtype."""
    step = float(np.finfo(ms.dtype_to_nptype(probs.dtype)).eps)
    return ops.clamp(probs, step, 1 - step)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Return the log odds (``is_binary``) or the logarithms of probabilities, which stay finite."""
    held = clamp_probs(probs)
    return log(held) - ops.log1p(-held) if is_binary else log(held)


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """Return (..., entries): what (..., n, n) has on and below a diagonal, row by row. ValueError: no such diagonal."""
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    places = np.flatnonzero(np.tri(n, n, diag))
    return ops.gather(mat.reshape((*mat.shape[:-2], n * n)), Tensor(places, ms.int32), mat.ndim - 2)


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """Return (..., n, n) with (..., entries) on and below a diagonal, row by row, and zeros above it.

    ValueError where no triangle has that number of entries.
    """
    root = ((1 + 2 * diag) ** 2 + 8 * vec.shape[-1] + 4 * abs(diag) * (diag + 1)) ** 0.5
    size = (-(1 + 2 * diag) + root) / 2
    n = round(size)
    if n - size > np.finfo(np.float32).eps:
        raise ValueError(f"{vec.shape[-1]} entries are not those of a triangle of a square matrix")
    below = np.tri(n, n, diag).astype(np.bool_).reshape(-1)
    places = np.where(below, np.cumsum(below) - 1, 0)
    spread = ops.gather(vec, Tensor(places, ms.int32), vec.ndim - 1)
    zeros = ops.zeros_like(spread)
    return ops.where(Tensor(below), spread, zeros).reshape((*vec.shape[:-1], n, n))
