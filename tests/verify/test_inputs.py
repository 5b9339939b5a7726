from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from torch2ms.errors import UsageError, VerificationError
from torch2ms.verify import compare, inputs
from torch2ms.verify.workers.channel import load_arrays, pack, save_arrays, unpack
from torch2ms.verify.workers.entries import given_arguments


@pytest.mark.parametrize(
    ("text", "shape", "dtype", "high"),
    [
        ("2x3x224x224", (2, 3, 224, 224), "float32", None),
        ("7", (7,), "float32", None),
        ("2x16:int64<1000", (2, 16), "int64", 1000),
        ("2x16<5", (2, 16), "int64", 5),
        ("4:bool", (4,), "bool", None),
        ("scalar", (), "float32", None),
        ("3x5:float32<255", (3, 5), "float32", 255),
    ],
)
def test_parse_input(text: str, shape: tuple[int, ...], dtype: str, high: int | None) -> None:
    spec = inputs.parse_input(text)
    assert (spec.shape, spec.dtype, spec.high) == (shape, dtype, high)
    drawn = spec.draw(np.random.default_rng(0))
    assert drawn.shape == shape
    assert str(drawn.dtype) == dtype
    assert high is None or (drawn.min() >= 0 and drawn.max() < high)
    assert inputs.parse_input(str(spec)).draw(np.random.default_rng(0)).tolist() == drawn.tolist()


@pytest.mark.parametrize("text", ["", "2x", "2,3", "2x3:float16", "ax3", "-1x2", "2:int64<0"])
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
    arguments, places = [inputs.parse_argument("3x4")], {"output": [3, 5]}
    first, again, other = (inputs.make_batch(arguments, (1, number)) for number in (2, 2, 3))
    assert all(np.array_equal(first[key], again[key]) for key in first)
    assert not np.array_equal(first["input:0"], other["input:0"])
    full = inputs.add_targets(first, places, "cross_entropy", (1, 2))
    assert full["target:output"].max() < 5
    assert full["input:0"] is first["input:0"]
    assert inputs.add_targets(first, places, "mse", (1, 2))["target:output"].shape == (3, 5)


def test_arguments_by_name_and_dictionaries_are_drawn() -> None:
    texts = ["2x3", "mask=2:bool", "{image: 2x3x8x8, tokens: 2x4:int64<9}"]
    arguments = [inputs.parse_argument(text) for text in texts]
    assert [str(argument) for argument in arguments] == texts
    args, kwargs = unpack(inputs.make_batch(arguments, (1, 0)), np.asarray)
    assert [type(arg).__name__ for arg in args] == ["ndarray", "dict"]
    assert args[1]["image"].shape == (2, 3, 8, 8)
    assert args[1]["tokens"].max() < 9
    assert kwargs["mask"].dtype == bool


@pytest.mark.parametrize("text", ["a b=2x3", "=2x3", "{}", "{image}", "{image: }", "{a: 2x3"])
def test_parse_argument_refuses(text: str) -> None:
    with pytest.raises(UsageError):
        inputs.parse_argument(text)


def test_nested_arguments_come_back_from_a_file(tmp_path: Path) -> None:
    args = [{"a": np.ones(2), 3: [np.arange(2), None]}, (True, 1.5, "x", np.float64(2))]
    save_arrays(str(tmp_path / "x.npz"), pack(args, {"kw": np.array([1j])}))
    found, by_name = unpack(load_arrays(str(tmp_path / "x.npz")), lambda array: array)
    assert found[0]["a"].dtype == np.float32  # both sides begin with the same
    assert found[0][3][0].tolist() == [0, 1]
    assert found[0][3][1] is None
    assert found[1][:3] == (True, 1.5, "x")
    assert float(found[1][3]) == 2
    assert by_name["kw"].dtype == np.complex64


@pytest.mark.parametrize("value", [object(), np.array(["text"]), {(1, 2): np.ones(2)}, {1, 2}])
def test_what_is_no_tensor_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        pack([value], {})
    with pytest.raises(UsageError):
        inputs.write_values(Path("never.npz"), value if isinstance(value, dict) else (value,))


def nothing() -> None:
    pass


def test_files_and_callables_give_arguments(tmp_path: Path) -> None:
    def given(source: str) -> Any:
        return given_arguments(str(tmp_path), str(tmp_path), source, nothing)

    np.savez(tmp_path / "plain.npz", np.ones(2), np.zeros(3))
    np.savez(tmp_path / "named.npz", np.ones(2), mask=np.zeros(3))
    args, kwargs = given("plain.npz")
    assert ([len(arg) for arg in args], kwargs) == ([2, 3], {})
    args, kwargs = given("named.npz")
    assert ([len(arg) for arg in args], list(kwargs)) == ([2], ["mask"])
    results: dict[str, Callable[[Any], bool]] = {
        "(1, {'a': 2})": lambda found: found == ([1, {"a": 2}], {}),
        "{'a': 2}": lambda found: found == ([], {"a": 2}),
        "({'a': 2},)": lambda found: found == ([{"a": 2}], {}),
        "[1, 2]": lambda found: found == ([[1, 2]], {}),
    }
    for number, (text, is_right) in enumerate(results.items()):
        (tmp_path / f"own{number}.py").write_text(f"def make():\n    return {text}\n")
        assert is_right(given(f"own{number}.py:make"))
    (tmp_path / "none.py").write_text("def make():\n    pass\n")
    with pytest.raises(ValueError, match="make returns nothing"):
        given("none.py:make")
    with pytest.raises(FileNotFoundError):
        given("gone.py:make")


SOURCE = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, size=4):
        super().__init__()
        self.fc = nn.Linear(size, 3)

    def forward(self, batch, scale=None):
        x = self.fc(batch["x"] * batch["mask"].float())
        return x if scale is None else x * scale
"""
OUTPUT = """
import mindspore as ms
from mindspore import nn

class Net(nn.Cell):
    def __init__(self, size=4):
        super().__init__()
        self.fc = nn.Dense(size, 3)

    def construct(self, batch, scale=None):
        x = self.fc(batch["x"] * batch["mask"].astype(ms.float32))
        return x if scale is None else x * scale
"""
INPUTS = """
import torch

def make():
    return {"batch": {"x": torch.randn(2, 5, dtype=torch.float64), "mask": torch.ones(2, 5).bool()}, "scale": 2.0}

def strange():
    return object()
"""


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    for name, text in (("src", SOURCE), ("out", OUTPUT)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "net.py").write_text(text)
    (tmp_path / "src" / "own.py").write_text(INPUTS)
    return tmp_path / "src", tmp_path / "out"


QUICK: dict[str, Any] = {"seeds": (1,), "graph": False}


@pytest.mark.slow
@pytest.mark.parametrize(
    "given",
    [
        {"inputs": ["{x: 2x5, mask: 2x5:bool}", "scale=2x1"]},
        {"input_from": "own:make"},
        {"inputs": ({"x": np.ones((2, 5), np.float32), "mask": np.ones((2, 5), bool)},)},
    ],
)
def test_a_network_that_takes_a_dictionary_is_compared(pair: tuple[Path, Path], given: dict[str, Any]) -> None:
    report = compare(*pair, "net:Net", kwargs={"size": 5}, **given, **QUICK)
    assert report, report.to_text()


@pytest.mark.slow
def test_a_difference_is_found_with_inputs_of_the_users_own(pair: tuple[Path, Path]) -> None:
    wrong = pair[1] / "net.py"
    wrong.write_text(
        OUTPUT.replace("* scale", "* scale * 1.01").replace("return x if", "x = x * 1.01\n        return x if")
    )
    assert not compare(*pair, "net:Net", kwargs={"size": 5}, input_from="own:make", **QUICK)


@pytest.mark.slow
def test_inputs_that_cannot_be_had_are_told_with_advice(pair: tuple[Path, Path]) -> None:
    for source, reason in (
        ("none:make", "No module named 'none'"),
        ("own:strange", "an input is object, which is no tensor"),
    ):
        with pytest.raises(VerificationError, match=reason) as caught:
            compare(*pair, "net:Net", input_from=source, **QUICK)
        assert f"--input-from {source} gives no inputs" in str(caught.value)
        assert "FILE.npz, FILE.py:CALLABLE or MODULE:CALLABLE" in caught.value.advice
    for wrong in ({"input_from": "own"}, {"input_from": "own:make", "inputs": "2x5"}):
        with pytest.raises(UsageError):
            compare(*pair, "net:Net", **wrong, **QUICK)
