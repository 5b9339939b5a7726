"""The texts of tensors as ``torch.set_printoptions`` sets them; what is expected was written by PyTorch 2.13."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mindspore as ms
import pytest

from torch2ms.runtime.functional.statistics import nextafter
from torch2ms.runtime.functional.texts import set_printoptions, tensor_text


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    yield
    set_printoptions(profile="default")


@pytest.mark.parametrize(
    ("options", "values", "expected"),
    [
        ({"precision": 2}, [1.23456, 2.0], "tensor([1.23, 2.00])"),
        ({"sci_mode": False}, [1e-5, 1.0, 123.5], "tensor([  0.0000,   1.0000, 123.5000])"),
        ({"sci_mode": True}, [1.5, 2.0], "tensor([1.5000e+00, 2.0000e+00])"),
        ({"threshold": 4, "edgeitems": 1}, [1, 2, 3, 4, 5], "tensor([1,  ..., 5])"),
        ({"linewidth": 20}, [10, 20, 30, 40], "tensor([10, 20, 30,\n        40])"),
        ({"profile": "short"}, [1.23456], "tensor([1.23])"),
    ],
)
def test_options_hold_for_the_texts_of_tensors(options: dict[str, Any], values: list[float], expected: str) -> None:
    set_printoptions(**options)
    assert tensor_text(ms.Tensor(values)) == expected


def test_what_is_not_set_again_stays_but_for_the_exponents() -> None:
    set_printoptions(precision=1, sci_mode=True)
    set_printoptions(linewidth=100)
    assert tensor_text(ms.Tensor([1.25])) == "tensor([1.2])"


def test_the_next_number_has_a_gradient() -> None:
    x, y = ms.Tensor([1.5, -0.5]), ms.Tensor([0.25, -2.0])
    gradient = ms.grad(lambda x: (nextafter(x, y) * 3).sum())(x)
    assert gradient.tolist() == [3.0, 3.0]
    assert nextafter(x, y).tolist() == [1.4999998807907104, -0.5000000596046448]
