"""Least squares with PyTorch's result tuple, whose parts depend on the driver of LAPACK that is named."""

from __future__ import annotations

from typing import NamedTuple, Optional

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from .functional import isfinite, singular
from .functional.dtypes import abs as modulus

__all__ = ["LeastSquares", "lstsq"]


class LeastSquares(NamedTuple):
    """The solution; the sums of squared residuals, the rank and the singular values, empty where a driver has none."""

    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor


def least_share(A: Tensor) -> float:
    """Return the part of the largest singular value below which PyTorch takes one for zero."""
    is_double = A.dtype in (ms.float64, ms.complex128)
    return float(max(A.shape[-2:])) * (2.220446049250313e-16 if is_double else 1.1920929e-07)


def lstsq(A: Tensor, B: Tensor, rcond: Optional[float] = None, *, driver: Optional[str] = None) -> LeastSquares:
    """Return the least squares solution of ``A @ X = B``; it has a gradient with respect to ``B``.

    ``driver`` decides what else is told: "gelsy", the default, tells the rank; "gels" residuals; others all.
    """
    kind = "gelsy" if driver is None else driver
    vector = B.ndim == A.ndim - 1
    right = ops.expand_dims(B, -1) if vector else B
    limit = least_share(A) if rcond is None else rcond
    matrices = A.asnumpy()
    inverse = Tensor(np.ascontiguousarray(singular.pseudo_inverse(matrices, limit), matrices.dtype))
    solution = ops.matmul(inverse, right)
    is_finite = isfinite(right).all((-2, -1), True)
    nan = ops.full_like(solution, float("nan"))
    solution = ops.where(ops.broadcast_to(is_finite, solution.shape), solution, nan)  # LAPACK scales by the largest
    values = np.linalg.svd(singular.finite(matrices), compute_uv=False)
    rank = np.asarray((values > limit * values.max(-1, keepdims=True)).sum(-1), np.int64)
    real = values.dtype
    residuals = Tensor(np.zeros(0, real))
    is_full = kind == "gels" or bool((rank == A.shape[-1]).all())
    if A.shape[-2] > A.shape[-1] and kind != "gelsy" and is_full:
        residuals = ops.square(modulus(ops.matmul(A, solution) - right)).sum(-2)
    shown = values if kind in ("gelsd", "gelss") else np.zeros(0, real)
    told = np.zeros(0, np.int64) if kind == "gels" else rank
    return LeastSquares(ops.squeeze(solution, -1) if vector else solution, residuals, Tensor(told), Tensor(shown))
