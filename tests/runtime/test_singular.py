"""Matrices without an inverse or a Cholesky factor raise, as in PyTorch; what gives error codes gives PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

ms = pytest.importorskip("mindspore")

from torch2ms.runtime import functional, linalg  # noqa: E402
from torch2ms.runtime.distributions import MultivariateNormal  # noqa: E402

SINGULAR = [[1.0, 2.0], [2.0, 4.0]]
INDEFINITE = [[1.0, 2.0], [2.0, 1.0]]


def _of(values: Any) -> Any:
    return ms.Tensor(np.array(values, np.float32))


@pytest.mark.parametrize(
    ("function", "matrix", "says"),
    [
        (functional.cholesky, INDEFINITE, "linalg.cholesky: The factorization .* leading minor of order 2 is not"),
        (functional.cholesky, [np.eye(2), INDEFINITE], r"linalg.cholesky: \(Batch element 1\): The factorization"),
        (functional.inverse, SINGULAR, "linalg.inv: The diagonal element 2 is zero"),
        (functional.inverse, [np.eye(2), SINGULAR], r"linalg.inv: \(Batch element 1\): The diagonal element 2"),
        (functional.inverse, [[0.0]], "linalg.inv: The diagonal element 1 is zero"),
        (lambda a: functional.linalg_solve(a, a), SINGULAR, "torch.linalg.solve: The solver failed"),
        (lambda a: functional.matrix_power(a, -2), SINGULAR, "linalg.inv: "),
        (lambda a: linalg.inv_ex(a, check_errors=True), SINGULAR, "linalg.inv_ex: "),
        (lambda a: linalg.cholesky_ex(a, check_errors=True), INDEFINITE, "linalg.cholesky_ex: "),
        (linalg.cholesky_inverse, [[1.0, 0.0], [1.0, 0.0]], "cholesky_inverse: "),
        (linalg.tensorinv, np.zeros((2, 1, 1, 2)), "inv: "),
        (linalg.svd, np.full((2, 2), np.nan), "SVD did not converge"),
    ],
)
def test_raises(function: Callable[..., Any], matrix: Any, says: str) -> None:
    with pytest.raises(linalg.LinAlgError, match=says):
        function(_of(matrix))


def test_lu_factor_raises_and_lu_does_not() -> None:
    with pytest.raises(RuntimeError, match=r"U\[2,2\] is zero"):
        linalg.lu_factor(_of(SINGULAR))
    assert linalg.lu(_of(SINGULAR)).U.asnumpy().tolist() == [[2.0, 4.0], [0.0, 0.0]]


def test_codes() -> None:
    both = _of([np.eye(2), SINGULAR])
    found = linalg.inv_ex(both)
    assert found.info.asnumpy().tolist() == [0, 2]
    assert found.inverse.asnumpy()[1].tolist() == [[-np.inf, np.inf], [np.inf, -np.inf]]
    assert linalg.solve_ex(_of(SINGULAR), _of([1.0, 1.0])).info.asnumpy() == 2
    assert linalg.cholesky_ex(_of(INDEFINITE)).info.asnumpy() == 2
    assert linalg.cholesky_ex(_of(np.zeros((2, 2)))).info.asnumpy() == 1


def test_nan_stays() -> None:
    assert np.isnan(functional.inverse(_of([[1.0, np.nan], [0.0, 1.0]])).asnumpy()).all()


def test_zero_on_a_triangles_diagonal() -> None:
    found = linalg.solve_triangular(_of([[1.0, 2.0], [0.0, 0.0]]), _of([[1.0], [1.0]]), upper=True)
    assert not np.isfinite(found.asnumpy()).any()


def test_compiled_code_computes() -> None:
    matrix = _of([[4.0, 2.0], [2.0, 5.0]])

    def both(x: Any) -> Any:
        return functional.inverse(x).sum() + functional.linalg_solve(x, x).sum() + functional.cholesky(x).sum()

    assert np.allclose(ms.jit(both)(matrix).asnumpy(), both(matrix).asnumpy())


def test_covariances_are_checked() -> None:
    with pytest.raises(ValueError, match=r"covariance_matrix .* PositiveDefinite"):
        MultivariateNormal(_of([0.0, 0.0]), _of(INDEFINITE))
    with pytest.raises(ValueError, match=r"precision_matrix .* PositiveDefinite"):
        MultivariateNormal(_of([0.0, 0.0]), precision_matrix=_of(INDEFINITE))


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0)])
def test_matrices_without_elements_are_their_own_inverses(shape: tuple[int, ...]) -> None:
    empty = ms.Tensor(np.zeros(shape, np.float32))
    assert functional.inverse(empty).shape == shape
    assert functional.linalg_solve(empty, ms.Tensor(np.zeros(shape[:-1], np.float32))).shape == shape[:-1]
