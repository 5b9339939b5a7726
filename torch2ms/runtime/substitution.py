"""Systems of equations whose matrix is a triangle, or a product of two: solved by substitution, as LAPACK does.

The inverse of the matrix times the right side is less exact, and spreads an infinity of one row over all. Gradients
flow through all of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from mindspore import Tensor, ops
from mindspore.scipy import linalg as scipy_linalg

from .functional.singular import triangular_inverse

__all__ = ["cholesky_solve", "lu_solve", "solve_triangular"]

_solve = getattr(scipy_linalg, "solve_triangular", None)  # MindSpore 2.0 has none


def solve_triangular(A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Tensor:
    """Return ``X`` with ``A @ X = B`` (``X @ A = B`` when not ``left``); of ``A``, one triangle is read."""
    if not left:
        turned = solve_triangular(_turned(A), _turned(B), upper=not upper, unitriangular=unitriangular)
        return _turned(turned)
    if A.shape[:-2] != B.shape[:-2]:
        batch = np.broadcast_shapes(A.shape[:-2], B.shape[:-2])
        A, B = _of_batch(A, batch), _of_batch(B, batch)
    if _solve is not None:
        return _solve(A, B, lower=not upper, unit_diagonal=unitriangular)
    triangle = ops.triu(A) if upper else ops.tril(A)
    if unitriangular:
        eye = ops.eye(A.shape[-1], A.shape[-1], A.dtype)
        triangle = triangle * (1 - eye) + eye
    return ops.matmul(triangular_inverse(triangle, upper), B)


def cholesky_solve(B: Tensor, L: Tensor, upper: bool = False) -> Tensor:
    """Return ``X`` with ``A @ X = B`` from the Cholesky factor of ``A``."""
    first, second = (_adjoint(L), L) if upper else (L, _adjoint(L))
    return solve_triangular(second, solve_triangular(first, B, upper=False), upper=True)


def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False) -> Tensor:
    """Return ``X`` with ``A @ X = B`` (``X @ A = B`` when not ``left``) from the factors of ``A``, or its adjoint."""
    if not left:
        if adjoint:
            return _adjoint(lu_solve(LU, pivots, _adjoint(B)))
        return ops.conj(_adjoint(lu_solve(LU, pivots, _adjoint(B), adjoint=True)))
    batch = np.broadcast_shapes(LU.shape[:-2], B.shape[:-2])
    order = _order(pivots.asnumpy(), LU.shape[-1])
    if adjoint:
        found = solve_triangular(_adjoint(LU), _of_batch(B, batch), upper=False)
        found = solve_triangular(_adjoint(LU), found, upper=True, unitriangular=True)
        return _rows(found, np.argsort(order, -1))
    found = solve_triangular(LU, _rows(_of_batch(B, batch), order), upper=False, unitriangular=True)
    return solve_triangular(LU, found, upper=True)


def _order(pivots: Any, size: int) -> Any:
    """Return which row stands at each place after the exchanges of LAPACK, counted from 1."""
    order = np.broadcast_to(np.arange(size), (*pivots.shape[:-1], size)).copy()
    for place in np.ndindex(*pivots.shape[:-1]):
        for row, other in enumerate(pivots[place]):
            order[place][[row, other - 1]] = order[place][[other - 1, row]]
    return order


def _rows(B: Tensor, order: Any) -> Tensor:
    """Return the rows of each matrix in an order; what they hold is not multiplied: 0 times infinity is NaN."""
    if not B.shape[-1]:
        return B
    places = np.broadcast_to(order[..., None], B.shape).astype(np.int64)
    return ops.gather_elements(B, B.ndim - 2, Tensor(places))


def _of_batch(matrices: Tensor, batch: Any) -> Tensor:
    shape = (*batch, *matrices.shape[-2:])
    return matrices if matrices.shape == shape else ops.broadcast_to(matrices, shape)


def _turned(x: Tensor) -> Tensor:
    return ops.swapaxes(x, -1, -2)


def _adjoint(x: Tensor) -> Tensor:
    turned = _turned(x)
    return ops.conj(turned) if x.is_complex() else turned
