"""Triangular systems are solved by substitution: an infinity stays where it belongs, and small diagonals are exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

ms = pytest.importorskip("mindspore")

from torch2ms.runtime import linalg, substitution  # noqa: E402

LOWER = [[2.0, 0.0, 0.0], [1.0, 4.0, 0.0], [0.5, -1.0, 5.0]]


def _of(values: Any) -> Any:
    return ms.Tensor(np.array(values, np.float32))


def test_infinity_of_one_row() -> None:
    found = linalg.solve_triangular(_of(np.transpose(LOWER)), _of([[1.0], [np.inf], [-1.0]]), upper=True)
    assert found.asnumpy()[:, 0].tolist() == [-np.inf, np.inf, pytest.approx(-0.2)]


def test_a_factor_that_is_nearly_singular() -> None:
    factor = np.tril(np.full((6, 6), 0.5)) + np.diag([1.0, 1.0, 1e-4, 1.0, 1e-4, 1.0])
    right = np.arange(6.0)[:, None]
    exact = np.linalg.solve(factor, right)
    found = linalg.solve_triangular(_of(factor), _of(right), upper=False).asnumpy()
    assert np.abs(found - exact).max() / np.abs(exact).max() < 1e-6


def test_the_other_triangle_is_not_read() -> None:
    whole = np.array(LOWER, np.float32) + np.triu(np.full((3, 3), np.nan, np.float32), 1)
    assert np.isfinite(linalg.solve_triangular(_of(whole), _of(np.eye(3)), upper=False).asnumpy()).all()


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("adjoint", [True, False])
def test_from_factors(left: bool, adjoint: bool) -> None:
    matrix = np.array([[0.0, 2.0, 1.0], [1.0, 0.5, 0.0], [3.0, 1.0, -1.0]])
    right = np.arange(12.0).reshape(2, 3, 2) if left else np.arange(12.0).reshape(2, 2, 3)
    found = linalg.lu_solve(*linalg.lu_factor(_of(matrix)), _of(right), left=left, adjoint=adjoint).asnumpy()
    used = matrix.T if adjoint else matrix
    assert np.allclose(used @ found if left else found @ used, right, atol=1e-4)


def test_a_batch_of_right_sides_repeats_the_matrix() -> None:
    found = linalg.triangular_solve(_of(np.ones((2, 3, 1))), _of(LOWER), upper=False)
    assert found.cloned_coefficient.shape == (2, 3, 3)
    assert np.allclose(np.array(LOWER) @ found.solution.asnumpy(), 1, atol=1e-6)


def test_releases_without_it_go_by_the_inverse(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = linalg.solve_triangular(_of(LOWER), _of(np.ones((3, 2))), upper=False, unitriangular=True).asnumpy()
    monkeypatch.setattr(substitution, "_solve", None)
    found = linalg.solve_triangular(_of(LOWER), _of(np.ones((3, 2))), upper=False, unitriangular=True).asnumpy()
    assert np.allclose(found, expected, atol=1e-6)


def test_gradients_reach_both_sides() -> None:
    def loss(triangle: Any, right: Any) -> Any:
        return (linalg.solve_triangular(triangle, right, upper=False) ** 2).sum()

    slope, _ = ms.grad(loss, (0, 1))(_of(LOWER), _of(np.ones((3, 1))))
    step = 1e-3
    moved = _of(np.array(LOWER) + step * np.outer([0, 1, 0], [1, 0, 0]))
    change = float(loss(moved, _of(np.ones((3, 1))))) - float(loss(_of(LOWER), _of(np.ones((3, 1)))))
    assert float(slope.asnumpy()[1, 0]) == pytest.approx(change / step, rel=0.02)
