"""Linear algebra and numerical analysis with PyTorch's signatures."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from . import selections
from .dtypes import promoted
from .pointwise import complex_product, complex_quotient
from .singular import compiled, open_inverse, refuse, zero_pivots
from .tensor import norm

__all__ = [
    "bitwise_not",
    "cholesky",
    "corrcoef",
    "cov",
    "diff",
    "dist",
    "is_nonzero",
    "linalg_norm",
    "linalg_solve",
    "mode",
    "multi_dot",
    "renorm",
    "result_type",
    "trapezoid",
    "unflatten",
    "vector_norm",
]


def vector_norm(x: Tensor, ord: float = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Return the ``ord``-norm of the values over ``dim``, of all by default."""
    return norm(x, ord, dim, keepdim, dtype)


def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """Return the ``p``-norm of the difference."""
    return norm(input - other, p)


def linalg_norm(A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Return the vector norm over one axis (or all values), or the norm of matrices."""
    from ..linalg import matrix_norm

    matrices = (isinstance(dim, (tuple, list)) and len(dim) == 2) or (dim is None and A.ndim == 2)
    if ord not in (None, "fro") and matrices:
        return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    return norm(A, 2 if ord in (None, "fro") else ord, dim, keepdim, dtype)


def linalg_solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """Return ``X`` with ``A @ X = B``, or ``X @ A = B`` where not ``left``, through the inverse of ``A``."""
    if not compiled():
        refuse(zero_pivots(A), "torch.linalg.solve: The solver failed because the input matrix is singular.")
    return open_solve(A, B, left=left)


def open_solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """Return ``X`` with ``A @ X = B`` as ``linalg_solve`` does, infinite or NaN where there is none."""
    vector = B.ndim == 1 or B.shape == A.shape[:-1]
    if not left:
        return ops.matmul(B, open_inverse(A))
    solution = ops.matmul(open_inverse(A), ops.expand_dims(B, -1) if vector else B)
    return ops.squeeze(solution, -1) if vector else solution


def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """Return the product of matrices, from left to right."""
    result = tensors[0]
    for tensor in tensors[1:]:
        result = selections.matmul(result, tensor)
    return result


def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """Return the Cholesky factor of symmetric positive definite matrices, column by column.

    It reads the lower triangle, or the upper one; its gradient is symmetric, as PyTorch's is. A matrix that is not
    positive-definite raises (not in a compiled graph).
    """
    if 0 in A.shape:
        return A.copy()
    found = open_cholesky(A, upper)
    if not compiled():
        refuse(cholesky_codes(found), not_factored("linalg.cholesky"))
    return found


def not_factored(name: str) -> str:
    """Return what PyTorch says where a function finds no Cholesky factor."""
    return (
        f"{name}: The factorization could not be completed because the input is not positive-definite (the leading "
        "minor of order {} is not positive-definite)."
    )


def cholesky_codes(factor: Tensor) -> Any:
    """Return the order of the first leading minor that is not positive, of each matrix; 0 where there is a factor."""
    lacking = np.isnan(np.diagonal(factor.asnumpy(), 0, -2, -1)).sum(-1)  # from that place on
    return np.asarray((factor.shape[-1] + 1 - lacking) * (lacking > 0), np.int32)


def open_cholesky(A: Tensor, upper: bool = False) -> Tensor:
    """Return the Cholesky factor as ``cholesky`` does, NaN from the place on where there is none."""
    size = A.shape[-1]
    across = _conjugated(ops.swapaxes(A, -1, -2))
    A, across = (across, A) if upper else (A, across)
    A = (A + across) / 2 + ops.stop_gradient((A - across) / 2)
    if not size:
        return A
    found = ops.expand_dims(_by_root(A[..., :, 0]), -1)
    for index in range(1, size):
        row = _conjugated(found[..., index : index + 1, :])
        rest = A[..., index:, index] - complex_product(found[..., index:, :], row).sum(-1)
        part = ops.concat((ops.zeros((*A.shape[:-2], index), A.dtype), _by_root(rest)), -1)
        found = ops.concat((found, ops.expand_dims(part, -1)), -1)
    return _conjugated(ops.swapaxes(found, -1, -2)) if upper else found


def _by_root(column: Tensor) -> Tensor:
    """Return a column divided by the root of its first element, which is real; NaN where that is below 0."""
    if column.is_complex():
        return complex_quotient(column, ops.sqrt(ops.real(column[..., :1])))
    return column / ops.sqrt(column[..., :1])


def _conjugated(input: Tensor) -> Tensor:
    return ops.conj(input) if input.is_complex() else input


def _from(x: Tensor, axis: int, start: int) -> Tensor:
    """Return ``x`` from ``start`` on along ``axis``."""
    index = (slice(None),) * axis + (slice(start, None),)
    return x[index]


def _upto(x: Tensor, axis: int, stop: int) -> Tensor:
    """Return ``x`` up to ``stop`` along ``axis``."""
    index = (slice(None),) * axis + (slice(0, stop),)
    return x[index]


def diff(
    input: Tensor, n: int = 1, dim: int = -1, prepend: Optional[Tensor] = None, append: Optional[Tensor] = None
) -> Tensor:
    """Return the ``n``-th differences of neighbours along ``dim``."""
    parts = [part.astype(input.dtype) for part in (prepend, input, append) if part is not None]
    x = parts[0] if len(parts) == 1 else ops.concat(parts, dim)
    axis = dim % x.ndim
    for _ in range(n):
        if x.shape[axis] < 2:  # no two neighbours
            return ops.zeros((*x.shape[:axis], 0, *x.shape[axis + 1 :]), x.dtype)
        x = _from(x, axis, 1) - _upto(x, axis, x.shape[axis] - 1)
    return x


def trapezoid(y: Tensor, x: Optional[Tensor] = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    """Return the integral along ``dim`` by the trapezoidal rule, at places ``x`` or ``dx`` apart."""
    axis = dim % y.ndim
    if x is None and y.shape[axis]:  # as PyTorch adds up: a height beside an infinite one may be NaN
        ends = _upto(y, axis, 1) + _from(y, axis, y.shape[axis] - 1)
        return (y.sum(axis) - ends.sum(axis) / 2) * (1 if dx is None else dx)
    heights = _from(y, axis, 1) + _upto(y, axis, y.shape[axis] - 1)
    if x is None:
        return heights.sum(axis) / 2 * (1 if dx is None else dx)
    steps = diff(x, dim=-1 if x.ndim == 1 else dim)
    if x.ndim == 1:
        steps = steps.reshape((-1,) + (1,) * (y.ndim - 1 - axis))
    return selections.sum(heights * steps, axis) / 2  # whole numbers wrap around before, as PyTorch's do


def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Return ``input`` with each slice along ``dim`` scaled down to a p-norm of at most ``maxnorm``."""
    axes = tuple(axis for axis in range(input.ndim) if axis != dim % input.ndim)
    size = norm(input, p, axes, True)
    scale = ops.where(size > maxnorm, maxnorm / (size + 1e-7), ops.ones_like(size))
    return input * scale


def cov(
    input: Tensor, *, correction: int = 1, fweights: Optional[Tensor] = None, aweights: Optional[Tensor] = None
) -> Tensor:
    """Return the covariance matrix of the rows of ``input``.

    ``fweights`` says how often each observation was made, ``aweights`` how much it counts.
    """
    if fweights is not None or aweights is not None:
        return _weighted_cov(input, correction, fweights, aweights)
    x = input if input.ndim == 2 else ops.expand_dims(input, 0)
    x = x if x.is_floating_point() or x.is_complex() else x.astype(ms.float32)
    count = x.shape[0]
    if 0 in x.shape:  # no observations or no variables; MindSpore gives what the memory held
        matrix = ops.zeros((count, count), x.dtype) + float("nan")
    else:
        centred = x - x.mean(1, True)
        turned = centred.swapaxes(0, 1)
        products = ops.matmul(centred, ops.conj(turned) if x.is_complex() else turned)
        freedom = max(x.shape[1] - correction, 0)
        matrix = products / freedom if freedom else products / Tensor(0.0, products.dtype)
    return matrix.reshape(()) if count == 1 else matrix


def _weighted_cov(input: Tensor, correction: int, times: Optional[Tensor], aweights: Optional[Tensor]) -> Tensor:
    x = input if input.ndim == 2 else input.reshape((1, -1))
    x = x if x.is_floating_point() or x.is_complex() else x.astype(ms.float32)
    x = promoted([x, aweights])[0] if aweights is not None and not x.is_complex() else x
    real = ms.float32 if x.is_complex() else x.dtype
    given = [weights.astype(real) for weights in (times, aweights) if weights is not None]
    weights = given[0] if len(given) == 1 else given[0] * given[1]
    total = weights.sum()
    lost = correction if aweights is None else correction * (weights * aweights.astype(real)).sum() / total
    freedom = ops.relu(total - lost)
    centred = x - complex_product(x, weights).sum(1, keepdims=True) / total.astype(x.dtype)
    weighted = complex_product(centred, weights)
    matrix = ops.matmul(weighted, _conjugated(centred.swapaxes(0, 1)))
    matrix = complex_quotient(matrix, freedom)
    return matrix.reshape(()) if x.shape[0] == 1 else matrix


def corrcoef(input: Tensor) -> Tensor:
    """Return the correlation matrix of the rows of ``input``."""
    matrix = cov(input)
    if matrix.ndim == 0:
        return matrix / matrix
    deviation = ops.sqrt(ops.diagonal(matrix))
    # one division: NaN / 0 is -inf on MindSpore's CPU (2.10)
    return matrix / (ops.expand_dims(deviation, 0) * ops.expand_dims(deviation, 1))


def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> Tuple[Tensor, Tensor]:
    """Return the most frequent value along ``dim`` (the smallest of several) and an index of it; found by numpy."""
    if input.ndim == 0:
        return input.copy(), Tensor(0, ms.int64)
    values = np.moveaxis(input.asnumpy(), dim, -1)
    places = np.empty(values.shape[:-1], np.int64)
    for place in np.ndindex(*values.shape[:-1]):
        single, counts = np.unique(values[place], return_counts=True)
        places[place] = np.flatnonzero(values[place] == single[counts.argmax()])[-1]
    kept = np.expand_dims(places, dim)
    found = ops.gather_elements(input, dim, Tensor(kept))  # with a gradient
    return (found, Tensor(kept)) if keepdim else (ops.squeeze(found, dim), Tensor(places))


def bitwise_not(input: Any) -> Any:
    """Return the complement of ints or bools; of what is no tensor, what ``~`` makes of it."""
    if not isinstance(input, Tensor):
        return ~input
    return ops.logical_not(input) if input.dtype == ms.bool_ else -1 - input


def is_nonzero(input: Tensor) -> bool:
    """Return whether the only element is not 0."""
    return bool(input.asnumpy().item())


def result_type(tensor1: Any, tensor2: Any) -> Any:
    """Return the dtype of ``tensor1 + tensor2``."""
    tensors = [value for value in (tensor1, tensor2) if isinstance(value, Tensor)]
    if len(tensors) == 2 and min(x.ndim for x in tensors) == 0 < max(x.ndim for x in tensors):
        single, array = sorted(tensors, key=lambda x: x.ndim)  # what has no axes counts as a number does
        number = True if single.dtype == ms.bool_ else 1.0 if single.is_floating_point() else 1
        return result_type(array, 1j if single.is_complex() else number)
    return (tensor1 + tensor2).dtype


def unflatten(input: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """Return ``input`` with the axis ``dim`` split into ``sizes``."""
    axis = dim % input.ndim
    return input.reshape((*input.shape[:axis], *sizes, *input.shape[axis + 1 :]))
