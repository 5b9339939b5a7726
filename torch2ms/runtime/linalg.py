"""Matrix decompositions and what follows from them, with PyTorch's signatures and result tuples.

The factors are found by numpy, on the host, and carry no gradient unless a function says so; MindSpore's own are
missing on some devices, or return their parts in another order. Eigenvalues of symmetric matrices, singular values and
determinants have gradients: they are computed once more, from the matrix, with the vectors held fixed.
"""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Optional, Sequence

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from .functional import LinAlgError, adjoint, inverse, linalg_solve, nans, norm, selections, singular, slogdet
from .functional.algebra import cholesky_codes, not_factored, open_cholesky, open_solve
from .functional.kernels import tril, triu
from .functional.singular import eliminated, not_inverted, open_inverse, refuse, zero_pivots
from .least_squares import least_share, lstsq  # noqa: F401  handed on
from .substitution import cholesky_solve, lu_solve, solve_triangular  # noqa: F401  handed on

__all__ = """LinAlgError cholesky_ex cholesky_inverse cholesky_solve cond eig eigh eigvals eigvalsh geqrf inv_ex lstsq
lu lu_factor lu_solve lu_unpack matrix_exp matrix_norm matrix_rank old_lu old_lu_solve old_qr old_svd
old_vander orgqr ormqr pinv qr slogdet_named solve_ex solve_triangular svd svdvals tensorinv
tensorsolve triangular_solve vander vecdot""".split()


class Eigen(NamedTuple):
    """Eigenvalues in ascending order and eigenvectors, one a column."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class Singular(NamedTuple):
    """``A = U @ diag(S) @ Vh``."""

    U: Tensor
    S: Tensor
    Vh: Tensor


class OldSingular(NamedTuple):
    """``A = U @ diag(S) @ V.T``."""

    U: Tensor
    S: Tensor
    V: Tensor


class Orthogonal(NamedTuple):
    """``A = Q @ R``."""

    Q: Tensor
    R: Tensor


class Triangular(NamedTuple):
    """``A = P @ L @ U``."""

    P: Tensor
    L: Tensor
    U: Tensor


class Compact(NamedTuple):
    """L (below the diagonal) and U in one matrix, and the rows exchanged, counted from 1."""

    LU: Tensor
    pivots: Tensor


class Solved(NamedTuple):
    """The solution and a copy of the coefficients."""

    solution: Tensor
    cloned_coefficient: Tensor


class Reflections(NamedTuple):
    """The Householder vectors of QR below R, and the factors of the reflections."""

    a: Tensor
    tau: Tensor


class SignLog(NamedTuple):
    """The sign of a determinant and the logarithm of its magnitude."""

    sign: Tensor
    logabsdet: Tensor


class Inverse(NamedTuple):
    """An inverse and 0 for each matrix that has one."""

    inverse: Tensor
    info: Tensor


def _by_numpy(function: Callable[..., Any], *inputs: Tensor) -> Any:
    """Return numpy's answer as tensors of the dtype of the first input (complex stays complex)."""
    arrays = [tensor.asnumpy() for tensor in inputs]
    try:
        found = function(*arrays)
    except np.linalg.LinAlgError as error:  # a ValueError, where PyTorch raises a RuntimeError
        raise LinAlgError(str(error)) from error
    parts = found if isinstance(found, tuple) else (found,)
    double = arrays[0].dtype in (np.float64, np.complex128)
    made = []
    for part in parts:
        array = np.asarray(part)
        if array.dtype.kind in "fc" and not double:
            array = array.astype(np.float32 if array.dtype.kind == "f" else np.complex64)
        made.append(Tensor(np.array(array, order="C")))
    return tuple(made) if isinstance(found, tuple) else made[0]


def _transposed(x: Tensor) -> Tensor:
    return ops.swapaxes(x, -1, -2)


def eigh(A: Tensor, UPLO: str = "L") -> Eigen:
    """Return eigenvalues (they have a gradient) and eigenvectors of symmetric matrices; the signs are LAPACK's."""
    values, vectors = _by_numpy(lambda a: tuple(np.linalg.eigh(a, "U" if UPLO == "U" else "L")), A)
    if A.is_complex() or 0 in A.shape:
        return Eigen(values, vectors)
    held = A if UPLO == "L" else _transposed(A)
    lower = ops.tril(held)
    whole = lower + _transposed(ops.tril(held, -1))
    even = (held + _transposed(held)) / 2  # PyTorch's gradient is symmetric, also where one triangle is read
    whole = even + ops.stop_gradient(whole - even)
    return Eigen((vectors * ops.matmul(whole, vectors)).sum(-2), vectors)


def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """Return the eigenvalues of symmetric matrices, in ascending order; they have a gradient."""
    return eigh(A, UPLO).eigenvalues


def eig(A: Tensor) -> Eigen:
    """Return the complex eigenvalues and eigenvectors of square matrices."""
    values, vectors = _by_numpy(lambda a: tuple(np.linalg.eig(a.astype(np.result_type(a, np.complex64)))), A)
    return Eigen(values, vectors)


def eigvals(A: Tensor) -> Tensor:
    """Return the complex eigenvalues of square matrices."""
    values: Tensor = _by_numpy(lambda a: np.linalg.eigvals(a).astype(np.result_type(a, np.complex64)), A)
    return values


def svd(A: Tensor, full_matrices: bool = True, *, driver: Any = None) -> Singular:
    """Return ``U, S, Vh``; the singular values have a gradient."""
    left, values, right = _by_numpy(lambda a: singular.singular_parts(a, full_matrices), A)
    if not A.is_complex():
        size = values.shape[-1]
        across = ops.matmul(ops.matmul(_transposed(left[..., :size]), A), _transposed(right[..., :size, :]))
        values = ops.diagonal(across, 0, -2, -1)
    return Singular(left, values, right)


def svdvals(A: Tensor, *, driver: Any = None) -> Tensor:
    """Return the singular values in descending order; they have a gradient."""
    return svd(A, False).S


def old_svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> OldSingular:
    """Return ``U, S, V`` as ``torch.svd`` does: V is not transposed; square and of zeros without ``compute_uv``."""
    left, values, right = svd(input, not (some and compute_uv))
    if not compute_uv:
        left, right = ops.zeros_like(left), ops.zeros_like(right)
    turned = _transposed(right)
    return OldSingular(left, values, ops.conj(turned) if input.is_complex() else turned)


def qr(A: Tensor, mode: str = "reduced") -> Orthogonal:
    """Return ``Q, R``; mode "r" leaves Q empty."""
    if mode == "r":
        found: Tensor = _by_numpy(lambda a: np.linalg.qr(a, "r"), A)
        return Orthogonal(ops.zeros((0,), A.dtype), found)
    return Orthogonal(*_by_numpy(lambda a: tuple(np.linalg.qr(a, "complete" if mode == "complete" else "reduced")), A))


def old_qr(input: Tensor, some: bool = True) -> Orthogonal:
    """Return ``Q, R`` as ``torch.qr`` does."""
    return qr(input, "reduced" if some else "complete")


def slogdet_named(A: Tensor) -> SignLog:
    """Return the sign and the logarithm of the magnitude of determinants; they have a gradient."""
    return SignLog(*slogdet(A))


def inv_ex(A: Tensor, *, check_errors: bool = False) -> Inverse:
    """Return the inverse, and 0 or the place of the first zero on the diagonal of U."""
    info = zero_pivots(A)
    if check_errors:
        refuse(info, not_inverted("linalg.inv_ex"))
    return Inverse(open_inverse(A), Tensor(info))


def pinv(A: Tensor, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Tensor:
    """Return the pseudo-inverse of matrices; it has the gradient by matrices of the same rank, as PyTorch's has."""
    smallest = 1e-15 if A.dtype == ms.float64 else least_share(A)
    share = next((value for value in (rcond, rtol) if value is not None), smallest if atol is None else 0.0)

    def inverted(a: Any) -> Any:
        if hermitian:  # LAPACK reads the lower triangle and the real parts of the diagonal
            lower = np.tril(a, -1)
            a = lower + np.conj(lower).swapaxes(-1, -2) + a.real * np.eye(a.shape[-1], dtype=a.dtype)
        if atol is None:
            return singular.pseudo_inverse(a, share)
        largest = np.linalg.svd(singular.finite(a), compute_uv=False).max(-1, initial=0.0)
        return singular.pseudo_inverse(a, np.maximum(share, atol / np.where(largest > 0, largest, 1)))

    found: Tensor = _by_numpy(inverted, A)
    return found if A.is_complex() or not found.size else found + _change_of_pinv(A, found)


def _change_of_pinv(A: Tensor, found: Tensor) -> Tensor:
    """Return zeros with the gradient of the pseudo-inverse ``found`` by ``A`` (Golub and Pereyra 1973).

    The inverse of ``A.T @ A``, which would have it of itself, squares the condition of the matrix.
    """
    held = ops.stop_gradient(A)
    step = A - held
    if not np.isfinite(held.asnumpy()).all():
        return ops.zeros_like(found)
    turned, back = _transposed(step), _transposed(found)
    rows = turned - ops.matmul(turned, ops.matmul(held, found))
    columns = turned - ops.matmul(ops.matmul(found, held), turned)
    inner = ops.matmul(found, ops.matmul(back, rows)) + ops.matmul(columns, ops.matmul(back, found))
    return inner - ops.matmul(found, ops.matmul(step, found))


def matrix_rank(A: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Tensor:
    """Return the rank of matrices, as int64; the tolerances may be tensors, one for each matrix."""
    given = (x.asnumpy()[..., None] if isinstance(x, Tensor) else x for x in (tol, atol, rtol))
    tol, atol, rtol = given

    def rank(a: Any) -> Any:
        if not min(a.shape[-2:]):
            return np.zeros(a.shape[:-2], np.int64)
        values = np.abs(np.linalg.eigvalsh(a)) if hermitian else np.linalg.svd(singular.finite(a), compute_uv=False)
        share = max(a.shape[-2:]) * np.finfo(values.dtype).eps if rtol is None and atol is None else _or_0(rtol)
        limit = tol if tol is not None else np.maximum(_or_0(atol), share * values.max(-1, keepdims=True))
        return np.asarray((values > limit).sum(-1), np.int64)

    found: Tensor = _by_numpy(rank, A)
    return found


def _or_0(value: Any) -> Any:
    return 0.0 if value is None else value


def matrix_norm(
    A: Tensor, ord: Any = "fro", dim: Sequence[int] = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """Return the norm of matrices: "fro", "nuc", 1, -1, 2, -2, inf or -inf."""
    A = A if dtype is None else A.astype(dtype)
    rows, columns = (axis % A.ndim for axis in dim)
    if ord == "fro":
        return norm(A, "fro", (rows, columns), keepdim)
    if ord in ("nuc", 2, -2):
        rest = [axis for axis in range(A.ndim) if axis not in (rows, columns)]
        values = svdvals(ops.transpose(A, (*rest, rows, columns)))
        found = selections.sum(values, -1) if ord == "nuc" else values[..., 0] if ord == 2 else values[..., -1]
        for axis in sorted((rows, columns)) if keepdim else ():
            found = ops.expand_dims(found, axis)
        return found
    along, over = (rows, columns) if ord in (1, -1) else (columns, rows)
    sums = selections.sum(ops.abs(A), along, True)
    find = (nans.amax if ord > 0 else nans.amin) if A.shape[over] else selections.sum  # of nothing: 0
    found = find(sums, over, True)
    return found if keepdim else ops.squeeze(found, (rows, columns))


def cond(A: Tensor, p: Any = None) -> Tensor:
    """Return the condition number of matrices in a norm, the 2-norm by default."""
    if p in (None, 2, -2):
        values = svdvals(A)
        high, low = values[..., 0], values[..., -1]
        return low / high if p == -2 else high / low
    return matrix_norm(A, p) * matrix_norm(open_inverse(A), p)


def matrix_exp(A: Tensor) -> Tensor:
    """Return the exponential of square matrices by scaling, a Taylor polynomial and squaring; it has a gradient."""
    sizes = np.abs(A.asnumpy()).sum(-1)
    if not (is_finite := np.isfinite(sizes)).all():
        lost = Tensor(~is_finite.all(-1)[..., None, None])
        return matrix_exp(A.masked_fill(lost, 0)).masked_fill(lost, float("nan"))
    size = float(sizes.max(initial=0.0))
    squarings = max(0, int(np.ceil(np.log2(size))) + 3) if size > 0 else 0
    scaled = A / 2.0**squarings
    term = ops.broadcast_to(ops.eye(A.shape[-1], A.shape[-1], A.dtype), A.shape)
    total = term
    for power in range(1, 13):
        term = ops.matmul(term, scaled) / power
        total = total + term
    for _ in range(squarings):
        total = ops.matmul(total, total)
    return total


def lu_factor(A: Tensor, *, pivot: bool = True) -> Compact:
    """Return L and U in one matrix, and the pivots; a zero on the diagonal of U raises."""
    found: Compact = old_lu(A, pivot)
    zero = np.diagonal(found.LU.asnumpy(), 0, -2, -1) == 0
    for place in np.argwhere(zero)[:1] + 1:
        says = "using it on lu_solve would result in a division by zero"
        raise RuntimeError(f"torch.linalg.lu_factor: U[{place[-1]},{place[-1]}] is zero and {says}")
    return found


def old_lu(A: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    """Return L and U in one matrix, and the pivots, as ``torch.lu`` does, and with ``get_infos`` first zeros of U."""

    def factor(a: Any) -> Any:
        if not a.size:
            return a.copy(), np.zeros((*a.shape[:-2], min(a.shape[-2:])), np.int32)
        flat = a.reshape((-1, *a.shape[-2:]))
        parts = [eliminated(matrix, np.result_type(matrix, np.float64)) for matrix in flat]
        combined = np.stack([part[0] for part in parts]).reshape(a.shape).astype(a.dtype)
        pivots = np.stack([part[1] for part in parts]).reshape((*a.shape[:-2], -1))
        return combined, pivots

    found = Compact(*_by_numpy(factor, A))
    return (*found, Tensor(zero_pivots(A))) if get_infos else found


def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True) -> Triangular:
    """Return ``P, L, U`` of what ``lu_factor`` gives; what is not asked for is empty."""

    def unpack(combined: Any, pivots: Any) -> Any:
        rows, columns = combined.shape[-2:]
        count = min(rows, columns)
        lower = np.tril(combined[..., :, :count], -1) + np.eye(rows, count, dtype=combined.dtype)
        upper = np.triu(combined[..., :count, :])
        permutations = np.zeros((*combined.shape[:-2], rows, rows), combined.dtype)
        for place in np.ndindex(*combined.shape[:-2]):
            order = np.arange(rows)
            for row, other in enumerate(pivots[place]):
                order[[row, other - 1]] = order[[other - 1, row]]
            permutations[place][order, np.arange(rows)] = 1
        return permutations, lower, upper

    found = [part.astype(LU_data.dtype) for part in _by_numpy(unpack, LU_data, LU_pivots)]
    asked = (unpack_pivots, unpack_data, unpack_data)
    return Triangular(*(part if wanted else ops.zeros((0,), part.dtype) for part, wanted in zip(found, asked)))


def lu(A: Tensor, *, pivot: bool = True) -> Triangular:
    """Return ``P, L, U`` with ``A = P @ L @ U``."""
    return lu_unpack(*old_lu(A, pivot))


def cholesky_inverse(L: Tensor, upper: bool = False) -> Tensor:
    """Return the inverse of ``A`` from its Cholesky factor."""
    return inverse(_squared(L, upper), "cholesky_inverse")


def _squared(L: Tensor, upper: bool) -> Tensor:
    L = triu(L) if upper else tril(L)
    return ops.matmul(adjoint(L), L) if upper else ops.matmul(L, adjoint(L))


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """Return the dot products along an axis; ``x`` is conjugated where it is complex."""
    return selections.sum((ops.conj(x) if x.is_complex() else x) * y, dim)


def vander(x: Tensor, *, N: Optional[int] = None) -> Tensor:
    """Return the powers 0 to N - 1 of each value as rows, of ints as int64; a number counts as a vector of one."""
    values = ops.expand_dims(x if x.ndim else x.reshape((1,)), -1)
    if not (x.is_floating_point() or x.is_complex()):
        values = values.astype(ms.int64)
    count = values.shape[-2] if N is None else N
    if not count:
        return ops.zeros((*values.shape[:-1], 0), values.dtype)
    powers = [ops.ones_like(values)]
    powers += [values] * (count > 1)
    for _ in range(count - 2):
        powers.append(powers[-1] * values)
    return ops.concat(powers[:count], -1)


def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """Return the inverse with respect to ``tensordot`` over ``ind`` axes."""
    rows = int(np.prod(A.shape[:ind]))
    return inverse(A.reshape((rows, -1)), "inv").reshape((*A.shape[ind:], *A.shape[:ind]))


def tensorsolve(A: Tensor, B: Tensor, dims: Any = None) -> Tensor:
    """Return ``X`` with ``tensordot(A, X, X.ndim) = B``."""
    if dims is not None:
        rest = [axis for axis in range(A.ndim) if axis not in dims]
        A = ops.transpose(A, (*rest, *dims))
    size = int(np.prod(B.shape))
    shape = A.shape[B.ndim :]
    return linalg_solve(A.reshape((size, size)), B.reshape((size, 1))).reshape(shape)


def triangular_solve(
    b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Solved:
    """Return ``X`` with ``A @ X = b`` for a triangular ``A``, or with its transpose, as ``torch.triangular_solve``."""
    triangle, side = (_transposed(A), not upper) if transpose else (A, upper)
    solution = solve_triangular(triangle, b, upper=side, unitriangular=unitriangular)
    return Solved(solution, ops.broadcast_to(A, (*solution.shape[:-2], *A.shape[-2:])).copy())


def old_lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """Return ``X`` with ``A @ X = b``, its arguments in the order of ``torch.lu_solve``."""
    return lu_solve(LU_data, LU_pivots, b)


def old_vander(x: Tensor, N: Optional[int] = None, increasing: bool = False) -> Tensor:
    """Return the powers of each value as rows, the highest first unless ``increasing``."""
    rising = vander(x, N=N)
    return rising if increasing else ops.flip(rising, (-1,))


def geqrf(input: Tensor) -> Reflections:
    """Return LAPACK's compact form of QR."""
    vectors, tau = _by_numpy(lambda a: tuple(np.linalg.qr(a, "raw")), input)
    return Reflections(_transposed(vectors), tau)


def _reflected(a: Any, tau: Any) -> Any:
    rows = a.shape[-2]
    whole = np.broadcast_to(np.eye(rows, dtype=a.dtype), (*a.shape[:-2], rows, rows)).copy()
    for place in range(tau.shape[-1]):
        vector = np.where(np.arange(rows) > place, a[..., :, place], 0)
        vector[..., place] = 1
        along = np.matmul(whole, vector[..., None]) * tau[..., place][..., None, None]
        whole = whole - along * np.conj(vector)[..., None, :]
    return whole


def orgqr(input: Tensor, tau: Tensor) -> Tensor:
    """Return the first columns of the product of Householder reflections."""
    found: Tensor = _by_numpy(lambda a, t: _reflected(a, t)[..., : a.shape[-1]], input, tau)
    return found


def ormqr(input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False) -> Tensor:
    """Return ``other`` multiplied by the product of Householder reflections, or by its transpose."""
    whole = _by_numpy(_reflected, input, tau)
    whole = _transposed(whole) if transpose else whole
    return ops.matmul(whole, other) if left else ops.matmul(other, whole)


class Factor(NamedTuple):
    """A Cholesky factor and 0 for each matrix that has one."""

    L: Tensor
    info: Tensor


class Result(NamedTuple):
    """The solution and 0 for each system that has one."""

    result: Tensor
    info: Tensor


def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> Factor:
    """Return the Cholesky factor, and the order of the first leading minor that is not positive, else 0."""
    found = open_cholesky(A, upper)
    info = cholesky_codes(found)
    if check_errors:
        refuse(info, not_factored("linalg.cholesky_ex"))
    return Factor(found, Tensor(info))


def solve_ex(A: Tensor, B: Tensor) -> Result:
    """Return ``X`` with ``A @ X = B``, and 0 or the place of the first zero on the diagonal of U."""
    return Result(open_solve(A, B), Tensor(zero_pivots(A)))
