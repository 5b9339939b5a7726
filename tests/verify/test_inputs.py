from __future__ import annotations

import numpy as np
import pytest

from torch2ms.errors import UsageError
from torch2ms.verify import inputs


@pytest.mark.parametrize(
    ("text", "shape", "dtype", "high"),
    [
        ("2x3x224x224", (2, 3, 224, 224), "float32", 2),
        ("7", (7,), "float32", 2),
        ("2x16:int64<1000", (2, 16), "int64", 1000),
        ("2x16<5", (2, 16), "int64", 5),
        ("4:bool", (4,), "bool", 2),
        ("scalar", (), "float32", 2),
    ],
)
def test_parse_input(text: str, shape: tuple[int, ...], dtype: str, high: int) -> None:
    spec = inputs.parse_input(text)
    assert (spec.shape, spec.dtype, spec.high) == (shape, dtype, high)
    drawn = spec.draw(np.random.default_rng(0))
    assert drawn.shape == shape
    assert str(drawn.dtype) == dtype
    assert dtype == "float32" or drawn.max() < high


@pytest.mark.parametrize("text", ["", "2x", "2,3", "2x3:float16", "ax3", "-1x2"])
def test_parse_input_refuses(text: str) -> None:
    with pytest.raises(UsageError):
        inputs.parse_input(text)


def test_parse_optimizer() -> None:
    spec = inputs.parse_optimizer("Adam(lr=0.001, betas=(0.9, 0.99))")
    assert (spec.name, spec.settings) == ("Adam", {"lr": 0.001, "betas": (0.9, 0.99)})
    assert str(spec) == "Adam(lr=0.001, betas=(0.9, 0.99))"
    assert inputs.parse_optimizer("SGD").settings == {}


@pytest.mark.parametrize("text", ["Adam(0.1)", "Adam(lr=x)", "a.Adam()", "Adam(**{'lr': 1})", "1 + 1", "("])
def test_parse_optimizer_refuses(text: str) -> None:
    with pytest.raises(UsageError):
        inputs.parse_optimizer(text)


def test_choose_loss() -> None:
    assert inputs.choose_loss("auto", {"output": [4, 10]}) == "cross_entropy"
    assert inputs.choose_loss("auto", {"output": [4, 10], "output[1]": [4, 3, 8, 8]}) == "mse"
    assert inputs.choose_loss("auto", {"output": [4, 1]}) == "mse"
    assert inputs.choose_loss("mse", {"output": [4, 10]}) == "mse"
    with pytest.raises(UsageError):
        inputs.choose_loss("nll", {})


def test_batches_follow_from_the_seed() -> None:
    specs, places = [inputs.parse_input("3x4")], {"output": [3, 5]}
    first = inputs.make_batch(specs, places, "cross_entropy", (1, 2))
    again = inputs.make_batch(specs, places, "cross_entropy", (1, 2))
    other = inputs.make_batch(specs, places, "cross_entropy", (1, 3))
    assert all(np.array_equal(first[key], again[key]) for key in first)
    assert not np.array_equal(first["input:0"], other["input:0"])
    assert first["target:output"].max() < 5
    assert inputs.make_batch(specs, places, "mse", (1, 2))["target:output"].shape == (3, 5)
