from __future__ import annotations

from collections.abc import Callable

import pytest

from torch2ms.mapping_tables.emission_check import canonical_body, source_of
from torch2ms.mapping_tables.lookup import Tables
from torch2ms.mapping_tables.schema import Example

Only = Callable[[str], Tables]


def test_variables_are_annotated_by_their_inputs() -> None:
    run = {
        "args": {"x": "randn(2)", "n": "3", "p": "param(ones(2))", "xs": "[randn(2), ones(2)]", "a": "array(ones(2))"},
        "objects": {"m": {"torch": "torch.nn.Linear(2, 2)", "mindspore": "mindspore.nn.Dense(2, 2)"}},
    }
    assert source_of(Example("m(x + n)", "m(x + n)", run)) == (
        "import torch\n\n\n"
        "def example(x: torch.Tensor, n: int, p: torch.nn.Parameter, xs: list[torch.Tensor], a: numpy.ndarray):\n"
        "    m = torch.nn.Linear(2, 2)\n    return m(x + n)\n"
    )


def test_several_lines_and_optimizers() -> None:
    example = Example("y = torch.abs(x)\ny.sum()", "", {"args": {"x": "randn(2)"}, "check": "optimizer"})
    assert source_of(example).endswith(
        "def example(x: torch.Tensor, parameters: list[torch.nn.Parameter], optimizer: torch.optim.SGD):\n"
        "    y = torch.abs(x)\n    return y.sum()\n"
    )


@pytest.mark.parametrize(
    ("imports", "code"),
    [
        ("import mindspore as ms\nfrom mindspore import nn, ops\n", "ops.abs(nn.Dense(2, 3)(x), ms.int32)"),
        ("import mindspore\n", "mindspore.ops.abs(mindspore.nn.Dense(2, 3)(x), mindspore.int32)"),
    ],
)
def test_names_are_written_out(imports: str, code: str) -> None:
    body = canonical_body(f"{imports}\n\ndef example(x):\n    return {code}\n")
    assert body == "return mindspore.ops.abs(mindspore.nn.Dense(2, 3)(x), mindspore.int32)"


@pytest.mark.parametrize("line", ["from torch2ms_runtime.data import DataLoader", "from torch2ms_runtime import data"])
def test_the_copied_runtime_has_the_name_of_the_tables(line: str) -> None:
    name = "DataLoader" if "import DataLoader" in line else "data.DataLoader"
    assert canonical_body(f"{line}\ndef example(x):\n    {name}(x)\n") == "torch2ms.runtime.data.DataLoader(x)"
