"""Matrices that have no inverse, or no Cholesky factor: PyTorch raises, MindSpore gives numbers of no meaning.

The check is made on the host, where code runs eagerly; a compiled graph cannot raise, and computes as MindSpore does.
"""

from __future__ import annotations

from typing import Any, Tuple

import numpy as np
from mindspore import Tensor, ops

__all__ = ["LinAlgError", "inverse"]


class LinAlgError(RuntimeError):
    """A matrix is singular, or not positive-definite."""


class _Compiled(ops.PrimitiveWithInfer):
    """Whether the code that asks is compiled: the compiler infers a value, and nobody else does."""

    def __init__(self) -> None:
        super().__init__("Compiled")
        self.set_const_prim(True)

    def infer_value(self) -> bool:
        """Return what the compiler sees."""
        return True

    def __call__(self) -> bool:
        """Return what eager code sees."""
        return False


compiled = _Compiled()


def finite(matrices: Any) -> Any:
    """Return matrices, zeros in the place of those with infinities: there numpy's singular values may never end.

    Raises numpy's LinAlgError for NaN, as PyTorch does.
    """
    if np.isfinite(matrices).all():
        return matrices
    if np.isnan(matrices).any():
        raise np.linalg.LinAlgError("SVD did not converge: the matrix contained non-finite values")
    return np.where(np.isfinite(matrices).all((-2, -1), keepdims=True), matrices, 0)


def _nan_of_infinite(matrices: Any, part: Any) -> Any:
    """Return what was computed of matrices, NaN for those with infinities."""
    bad = ~np.isfinite(matrices).all((-2, -1))
    return np.where(bad.reshape(bad.shape + (1,) * (part.ndim - bad.ndim)), np.nan, part) if bad.any() else part


def singular_parts(matrices: Any, full: bool) -> Tuple[Any, ...]:
    """Return ``U, S, Vh`` of numpy; NaN of matrices with infinities, as PyTorch's singular values."""
    return tuple(_nan_of_infinite(matrices, part) for part in np.linalg.svd(finite(matrices), full))


def pseudo_inverse(matrices: Any, limit: Any) -> Any:
    """Return numpy's pseudo-inverse; NaN of matrices with infinities."""
    return _nan_of_infinite(matrices, np.linalg.pinv(finite(matrices), limit))


def eliminated(matrix: Any, dtype: Any) -> Tuple[Any, Any]:
    """Return L and U in one matrix, and the rows exchanged, of one matrix; with partial pivoting."""
    found = np.array(matrix, dtype)
    count = min(found.shape)
    pivots = np.arange(1, count + 1, dtype=np.int32)
    for column in range(count):
        below = found[column:, column]  # LAPACK measures complex numbers by the sum of their parts
        best = column + int((np.abs(below.real) + np.abs(below.imag)).argmax())
        pivots[column] = best + 1
        found[[column, best]] = found[[best, column]]
        if found[column, column] != 0:
            found[column + 1 :, column] /= found[column, column]
            found[column + 1 :, column + 1 :] -= np.outer(found[column + 1 :, column], found[column, column + 1 :])
    return found, pivots


def substituted(triangle: Any, right: Any, upper: bool, unit: bool = False) -> Any:
    """Return ``X`` with ``triangle @ X = right``, as LAPACK does: infinite or NaN where the diagonal has a zero."""
    found = np.array(right)
    size = triangle.shape[-1]
    with np.errstate(all="ignore"):
        for row in reversed(range(size)) if upper else range(size):
            if not unit:
                found[..., row, :] /= triangle[..., row, row, None]
            rest = slice(0, row) if upper else slice(row + 1, None)
            found[..., rest, :] -= triangle[..., rest, row, None] * found[..., None, row, :]
    return found


def zero_pivots(A: Tensor) -> Any:
    """Return the first zero on the diagonal of U, counted from 1, of each matrix; 0 where there is none."""
    matrices = A.asnumpy()
    info = np.zeros(matrices.shape[:-2], np.int32)
    if not matrices.size:
        return info
    is_square = matrices.shape[-2] == matrices.shape[-1]
    with np.errstate(invalid="ignore"):
        signs = np.linalg.slogdet(matrices)[0] if is_square else np.zeros_like(info)
    for place in map(tuple, np.argwhere(signs == 0)):
        zeros = np.diagonal(eliminated(matrices[place], matrices.dtype)[0]) == 0
        if is_square or zeros.any():  # rounding may leave the last of a singular matrix
            info[place] = 1 + int(np.append(zeros[:-1], True).argmax())
    return info


@ops.constexpr  # so that no compiler reads it: MindSpore 2.0 refuses exceptions of a class of one's own
def refuse(info: Any, text: str) -> None:
    """Raise PyTorch's error where a matrix has another code than 0; ``text`` has a place for the code."""
    for place in np.argwhere(info)[:1]:
        code = info[tuple(place)]
        batch = f"(Batch element {int(np.ravel_multi_index(tuple(place), info.shape))}): " if place.size else ""
        name, says = text.split(": ", 1)
        raise LinAlgError(f"{name}: {batch}{says.format(code)}")


@ops.constexpr
def refuse_indefinite(matrix: Tensor, name: str) -> None:
    """Raise PyTorch's error where a parameter of a distribution is not symmetric and positive-definite."""
    values = matrix.asnumpy()
    fine = bool(np.isclose(values, values.swapaxes(-1, -2), atol=1e-6).all())
    try:
        np.linalg.cholesky(values)
    except np.linalg.LinAlgError:
        fine = False
    if not fine:
        says = "to satisfy the constraint PositiveDefinite(), but found invalid values:"
        raise ValueError(f"Expected parameter {name} (Tensor of shape {values.shape}) {says}\n{values}")


def not_inverted(name: str) -> str:
    """Return what PyTorch says where a function finds no inverse."""
    return (
        f"{name}: The diagonal element {{}} is zero, the inversion could not be completed because the input matrix "
        "is singular."
    )


def plain_inverse(input: Tensor) -> Tensor:
    """Return the inverse of square matrices that have one."""
    if input.shape[-1] == 1:  # MindSpore refuses those of one element (2.10)
        return ops.reciprocal(input)
    return input if 0 in input.shape else ops.inverse(input)


def inverse(input: Tensor, name: str = "linalg.inv") -> Tensor:
    """Return the inverse of square matrices; a singular one raises (not in a compiled graph)."""
    if not compiled():
        refuse(zero_pivots(input), not_inverted(name))
    return open_inverse(input)


def open_inverse(input: Tensor) -> Tensor:
    """Return the inverse of square matrices, infinite or NaN where there is none (not in a compiled graph)."""
    if not compiled():
        matrices = input.asnumpy()
        if not np.isfinite(matrices).all() or zero_pivots(input).any():
            return Tensor(_of_any(matrices))
    return plain_inverse(input)


def _of_any(matrices: Any) -> Any:
    found = np.empty_like(matrices)
    for place in np.ndindex(*matrices.shape[:-2]):
        with np.errstate(all="ignore"):
            factors, pivots = eliminated(matrices[place], matrices.dtype)
        right = np.eye(len(factors), dtype=matrices.dtype)
        for row, other in enumerate(pivots):
            right[[row, other - 1]] = right[[other - 1, row]]
        found[place] = substituted(factors, substituted(factors, right, False, True), True)
    return found


def triangular_inverse(triangle: Tensor, upper: bool) -> Tensor:
    """Return the inverse of a triangle, infinite or NaN where its diagonal has a zero (not in a compiled graph)."""
    if not compiled():
        matrices = triangle.asnumpy()
        if not np.diagonal(matrices, 0, -2, -1).all():
            eye = np.broadcast_to(np.eye(matrices.shape[-1], dtype=matrices.dtype), matrices.shape)
            return Tensor(substituted(matrices, eye, upper))
    return plain_inverse(triangle)
