"""The ways of writing a call: those that mean the same, and no others."""

from __future__ import annotations

import pytest

from torch2ms.mapping_tables.call_shapes import call_shapes
from torch2ms.mapping_tables.loader import load
from torch2ms.mapping_tables.lookup import Tables
from torch2ms.mapping_tables.schema import Example


@pytest.fixture(scope="module")
def tables() -> Tables:
    return load()


def shapes(tables: Tables, name: str, before: str, run: dict[str, object] | None = None) -> dict[str, str]:
    row = tables.row(name)
    assert row is not None
    return {shape.before: shape.letters for shape in call_shapes(tables, row, Example(before, "", run or {}))}


def test_what_is_no_call_has_none(tables: Tables) -> None:
    assert shapes(tables, "torch.Tensor.T", "x.T") == {}


def test_stars_hide_what_goes_where(tables: Tables) -> None:
    assert shapes(tables, "torch.nn.Linear", "torch.nn.Linear(*sizes)") == {}
    assert shapes(tables, "torch.nn.Linear", "torch.nn.Linear(2, **rest)") == {}


def test_another_api_is_left_alone(tables: Tables) -> None:
    found = shapes(tables, "torch.nn.Linear", "torch.nn.ReLU(inplace=True)(torch.nn.Linear(2, 3)(x))")
    assert all("torch.nn.ReLU(inplace=True)" in text for text in found)


def test_the_reference_of_torch_allows_no_other_arguments(tables: Tables) -> None:
    found = shapes(tables, "torch.nn.Linear", "torch.nn.Linear(2, 3, bias=False)", {"reference": "something"})
    assert not any("d" in letters for letters in found.values())


def test_a_class(tables: Tables) -> None:
    assert shapes(tables, "torch.nn.Linear", "torch.nn.Linear(2, 3, bias=False)") == {
        "torch.nn.Linear(2, 3, False)": "p",
        "torch.nn.Linear(in_features=2, out_features=3, bias=False)": "k",
        "torch.nn.Linear(bias=False, out_features=3, in_features=2)": "r",
        "torch.nn.Linear(2, 3)": "d",
    }


def test_defaults_fill_the_gaps_of_places(tables: Tables) -> None:
    found = shapes(tables, "torch.nn.Conv2d", "torch.nn.Conv2d(3, 8, 3, padding=1)")
    assert found["torch.nn.Conv2d(3, 8, 3, 1, 1)"] == "p"


def test_a_method_in_the_middle_of_statements(tables: Tables) -> None:
    found = shapes(tables, "torch.Tensor.sum", "y = x + 1\nz = y.sum(1, keepdim=True)")
    assert "y = x + 1\nz = y.sum(dim=1, keepdim=True)" in found
    assert "y = x + 1\nz = y.sum(keepdim=True, dim=1)" in found


def test_one_text_has_all_its_letters(tables: Tables) -> None:
    assert shapes(tables, "torch.abs", "torch.abs(x)") == {"torch.abs(x)": "pd", "torch.abs(input=x)": "kr"}
