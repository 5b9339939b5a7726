"""Adam against PyTorch's formula (torch.optim.Adam's documentation) in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

ms = pytest.importorskip("mindspore")

from torch2ms.runtime.adam import Adam  # noqa: E402 - after the check that MindSpore is there

STEPS, SIZE = 6, 200


def gradients() -> np.ndarray:
    """Gradients of all sizes down to 1e-10, where MindSpore's own epsilon shows."""
    generator = np.random.default_rng(0)
    sizes = 10 ** generator.uniform(-10, 0, SIZE)
    return (generator.standard_normal((STEPS, SIZE)) * sizes).astype(np.float32)


def expected(start: np.ndarray, amsgrad: bool = False, weight_decay: float = 0.0, maximize: bool = False) -> np.ndarray:
    weights, first, second, largest = start.astype(np.float64), 0.0, 0.0, 0.0
    for step, gradient in enumerate(gradients().astype(np.float64), 1):
        change = (-gradient if maximize else gradient) + weight_decay * weights
        first = 0.9 * first + 0.1 * change
        second = 0.999 * second + 0.001 * change**2
        largest = np.maximum(largest, second) if amsgrad else second
        scale = np.sqrt(largest) / np.sqrt(1 - 0.999**step) + 1e-8
        weights = weights - 0.01 / (1 - 0.9**step) * first / scale
    return weights


@pytest.mark.parametrize(
    "options", [{}, {"amsgrad": True}, {"weight_decay": 1e-5}, {"maximize": True}], ids=lambda options: str(options)
)
def test_small_gradients_move_as_far_as_in_pytorch(options: dict[str, Any]) -> None:
    start = np.random.default_rng(1).standard_normal(SIZE).astype(np.float32)
    halves = [ms.Parameter(ms.Tensor(part), name=f"p{number}") for number, part in enumerate((start[:50], start[50:]))]
    optimizer = Adam(halves, lr=0.01, **options)
    for gradient in gradients():
        optimizer((ms.Tensor(gradient[:50]), ms.Tensor(gradient[50:])))
    found = np.concatenate([half.asnumpy() for half in halves])
    moved = expected(start, **options) - start
    assert np.linalg.norm(found - start - moved) <= 1e-4 * np.linalg.norm(moved)


def test_groups_have_their_own_learning_rate() -> None:
    parameters = [ms.Parameter(ms.Tensor(np.ones(2, np.float32)), name=name) for name in "ab"]
    groups = [{"params": [parameters[0]], "lr": 0.1}, {"params": [parameters[1]], "lr": 0.2}]
    Adam(groups)(tuple(ms.Tensor(np.ones(2, np.float32)) for _ in parameters))
    assert [parameter.asnumpy()[0] for parameter in parameters] == pytest.approx([0.9, 0.8], abs=1e-5)


def test_a_float64_parameter_is_trained_beside_a_float32_one() -> None:
    # MindSpore's kernel refuses float64; a temperature of SAC is `torch.tensor(np.log(0.01))`.
    start, gradients = np.log([0.01, 0.5]), np.array([[0.3, -2.0], [1e-9, 0.1], [-0.7, 4.0]])
    wide = ms.Parameter(ms.tensor(start, ms.float64), name="wide")
    narrow = ms.Parameter(ms.tensor(start, ms.float32), name="narrow")
    optimizer = Adam([wide, narrow], lr=0.01, weight_decay=0.1)
    expected, first, second = start.copy(), np.zeros(2), np.zeros(2)
    for step, gradient in enumerate(gradients, 1):
        optimizer((ms.tensor(gradient, ms.float64), ms.tensor(gradient, ms.float32)))
        descended = gradient + 0.1 * expected
        first, second = 0.9 * first + 0.1 * descended, 0.999 * second + 0.001 * descended**2
        expected -= 0.01 * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    assert wide.dtype == ms.float64
    np.testing.assert_allclose(wide.asnumpy(), expected, rtol=1e-6)
    np.testing.assert_allclose(narrow.asnumpy(), expected, rtol=1e-5)
