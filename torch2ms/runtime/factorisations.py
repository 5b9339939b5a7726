"""Factors of low rank, and factors with the error codes of LAPACK; with PyTorch's result tuples."""

from __future__ import annotations

from typing import NamedTuple, Optional, Tuple

import numpy as np
from mindspore import Tensor, ops

from .linalg import old_lu, svd

__all__ = ["lu_factor_ex", "pca_lowrank", "svd_lowrank"]


class Factors(NamedTuple):
    """L and U in one matrix, the rows exchanged, and the first zero on the diagonal of U, counted from 1."""

    LU: Tensor
    pivots: Tensor
    info: Tensor


def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> Factors:
    """Return L and U, the pivots, and 0 for each matrix that can be inverted."""
    combined, pivots = old_lu(A, pivot)
    zero = np.diagonal(combined.asnumpy(), 0, -2, -1) == 0
    info = np.where(zero.any(-1), zero.argmax(-1) + 1, 0)
    if check_errors and info.any():
        raise RuntimeError(f"torch.linalg.lu_factor_ex: U[{info.max()},{info.max()}] is zero")
    return Factors(combined, pivots, Tensor(info.astype(np.int32)))


def svd_lowrank(
    A: Tensor, q: Optional[int] = 6, niter: Optional[int] = 2, M: Optional[Tensor] = None
) -> Tuple[Tensor, Tensor, Tensor]:
    """Return the ``q`` largest singular values of ``A - M`` with their vectors: ``U, S, V``.

    PyTorch finds them at random, and comes close; here they are exact. Vectors may have the other sign.
    """
    left, values, right = svd(A if M is None else A - ops.broadcast_to(M, A.shape), full_matrices=False)
    count = 6 if q is None else q
    return left[..., :count], values[..., :count], ops.swapaxes(right, -1, -2)[..., :count]


def pca_lowrank(
    A: Tensor, q: Optional[int] = None, center: bool = True, niter: int = 2
) -> Tuple[Tensor, Tensor, Tensor]:
    """Return the ``q`` principal components of the rows of ``A``: ``U, S, V``, exactly."""
    count = min(6, *A.shape[-2:]) if q is None else q
    if not 0 <= count <= min(A.shape[-2:]):
        raise ValueError(f"q(={count}) must be non-negative integer and not greater than min(m, n)")
    return svd_lowrank(A - A.mean(-2, True) if center else A, count, niter)
