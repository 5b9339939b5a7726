"""Losses at the edges of what they are defined for, against PyTorch's formulas."""

from __future__ import annotations

import mindspore as ms
import numpy as np
import pytest

from torch2ms.runtime import functional as F
from torch2ms.runtime.functional import binary_cross_entropy

ops = ms.ops


def test_the_gradient_of_cross_entropy_is_finite_where_a_sigmoid_is_saturated() -> None:
    def loss(x: ms.Tensor) -> ms.Tensor:
        return binary_cross_entropy(ops.sigmoid(x), ms.Tensor([0.0, 1.0, 0.0, 1.0]), reduction="sum")

    assert not ms.grad(loss)(ms.Tensor([200.0, 200.0, -200.0, -200.0])).asnumpy().any()


@pytest.mark.parametrize(
    ("x", "y"), [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (0.3, 0.0), (0.9, 1.0), (0.4, 0.7)]
)
def test_cross_entropy_and_its_gradient_are_those_of_pytorch(x: float, y: float) -> None:
    def loss(x: ms.Tensor) -> ms.Tensor:
        return binary_cross_entropy(x, ms.Tensor([y]), reduction="sum")

    with np.errstate(divide="ignore"):
        value = -(y * max(np.log(x), -100) + (1 - y) * max(np.log(1 - x), -100))
    point = ms.Tensor([x], ms.float32)
    np.testing.assert_allclose(loss(point).asnumpy(), value, rtol=1e-6, atol=1e-7)
    slope = (x - y) / max(x * (1 - x), 1e-12)
    np.testing.assert_allclose(ms.grad(loss)(point).asnumpy(), [slope], rtol=1e-5)


def test_cross_entropy_hides_no_nan() -> None:
    assert np.isnan(binary_cross_entropy(ms.Tensor([float("nan"), 0.5]), ms.Tensor([1.0, 1.0])).asnumpy())


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_classes_that_are_ruled_out_cost_nothing(reduction: str) -> None:
    """MindSpore's own cross entropy is NaN where a logit is -inf."""
    logits = ms.Tensor([[0.0, -np.inf, 2.0], [1.0, 0.5, -np.inf]], ms.float32)
    found = F.cross_entropy(logits, ms.Tensor([2, 0], ms.int64), reduction=reduction).asnumpy()
    each = np.log1p(np.exp([-2.0, -0.5]))
    expected = {"mean": each.mean(), "sum": each.sum(), "none": each}[reduction]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_losses_of_nothing_are_zero_in_sum() -> None:
    nothing, labels = ms.ops.zeros((0, 3), ms.float32), ms.ops.zeros(0, ms.int64)
    assert F.cross_entropy(nothing, labels, reduction="sum") == 0
    assert F.nll_loss(nothing, labels, reduction="none").shape == (0,)
    assert F.mse_loss(nothing, nothing, reduction="sum") == 0
    assert np.isnan(F.cross_entropy(nothing, labels).asnumpy())


def test_half_precision_is_added_up_in_single() -> None:
    """The sum of so many losses is beyond float16, and so is their number."""
    logits = ms.ops.zeros((70_000, 2), ms.float16)
    loss = F.cross_entropy(logits, ms.ops.zeros(70_000, ms.int64))
    assert loss.dtype == ms.float16
    np.testing.assert_allclose(loss.asnumpy(), np.log(2), rtol=1e-3)


def test_the_cross_entropy_of_no_classes() -> None:
    none = ops.zeros((2, 0))
    assert np.isnan(float(F.cross_entropy(none, none)))
    assert F.cross_entropy(none, none, reduction="none").asnumpy().tolist() == [0.0, 0.0]
    assert float(F.cross_entropy(none, none, reduction="sum")) == 0.0
