"""SparseAdam against PyTorch's formula (torch.optim.SparseAdam's documentation) in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

ms = pytest.importorskip("mindspore")

from torch2ms.runtime.sparse_adam import SparseAdam  # noqa: E402 - after the check that MindSpore is there

ROWS = ([0, 2], [2, 4], [], [0], [1, 2, 3])  # that have a gradient, step by step


def gradients() -> list[np.ndarray]:
    generator = np.random.default_rng(0)
    found = []
    for rows in ROWS:
        gradient = np.zeros((5, 3), np.float32)
        gradient[rows] = generator.standard_normal((len(rows), 3))
        found.append(gradient)
    return found


def expected(start: np.ndarray, maximize: bool = False, eps: float = 1e-8) -> np.ndarray:
    weights = start.astype(np.float64)
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step, (rows, gradient) in enumerate(zip(ROWS, gradients(), strict=True), 1):
        change = (-gradient if maximize else gradient).astype(np.float64)[rows]
        first[rows] = 0.9 * first[rows] + 0.1 * change
        second[rows] = 0.999 * second[rows] + 0.001 * change**2
        size = 0.01 * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
        weights[rows] -= size * first[rows] / (np.sqrt(second[rows]) + eps)
    return weights


@pytest.mark.parametrize("options", [{}, {"maximize": True}, {"eps": 0.1}], ids=str)
def test_rows_without_a_gradient_stay(options: dict[str, Any]) -> None:
    start = np.random.default_rng(1).standard_normal((5, 3)).astype(np.float32)
    table = ms.Parameter(ms.Tensor(start), name="table")
    optimizer = SparseAdam([table], lr=0.01, **options)
    for gradient in gradients():
        optimizer((ms.Tensor(gradient),))
    assert np.allclose(table.asnumpy(), expected(start, **options), atol=1e-6)


def test_groups_have_their_own_learning_rate() -> None:
    parameters = [ms.Parameter(ms.Tensor(np.ones(2, np.float32)), name=name) for name in "ab"]
    SparseAdam([{"params": [parameters[0]], "lr": 0.1}, {"params": [parameters[1]]}], lr=0.2)(
        tuple(ms.Tensor(np.array([1, 0], np.float32)) for _ in parameters)
    )
    assert [parameter.asnumpy().tolist() for parameter in parameters] == [
        pytest.approx([0.9, 1.0], abs=1e-5),
        pytest.approx([0.8, 1.0], abs=1e-5),
    ]
