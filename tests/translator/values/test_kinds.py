"""Kinds: joining what is known on two paths, and reading the kinds that table rows promise."""

from __future__ import annotations

import pytest

from torch2ms.translator.values.kinds import MAX_ALTERNATIVES, UNKNOWN, Kind, join, parse_kind

TENSOR, NONE, INT = Kind("Tensor"), Kind("none"), Kind("int")


def test_unknown_is_not_known() -> None:
    assert not UNKNOWN.known
    assert TENSOR.known


@pytest.mark.parametrize("kind", [TENSOR, NONE, INT, UNKNOWN, Kind("Module", "torch.nn.ReLU")])
def test_a_kind_joined_with_itself_stays(kind: Kind) -> None:
    assert join(kind, kind.because("elsewhere")).same(kind)


def test_none_on_one_path_hides_nothing() -> None:
    assert join(NONE, TENSOR).same(TENSOR)
    assert join(TENSOR, NONE).same(TENSOR)


@pytest.mark.parametrize("other", [INT, UNKNOWN, Kind("ndarray"), Kind("Module", "torch.nn.ReLU")])
def test_a_tensor_on_one_path_only_is_no_tensor(other: Kind) -> None:
    assert not join(TENSOR, other).is_tensor
    assert not join(other, TENSOR).is_tensor


def test_an_unknown_value_remembers_what_it_is_on_some_paths() -> None:
    assert join(TENSOR, INT).seen == {"Tensor", "int"}
    assert join(join(INT, Kind("ndarray")), UNKNOWN).may_be("ndarray")
    assert not UNKNOWN.may_be("Tensor")
    assert TENSOR.may_be("Tensor", "Parameter")
    assert join(Kind("list", items=(INT,)), Kind("list", items=(TENSOR,))).items[0].may_be("Tensor")


def test_a_parameter_is_a_tensor_on_both_paths() -> None:
    assert join(Kind("Parameter"), TENSOR).name == "Tensor"


def test_dtypes_are_kept_only_where_they_agree() -> None:
    assert join(Kind("Tensor", "torch.int64"), Kind("Tensor", "torch.int64")).of == "torch.int64"
    assert join(Kind("Tensor", "torch.int64"), Kind("Tensor", "torch.bool")).of == ""


def test_alternatives_are_listed_once_and_in_order() -> None:
    a, b = Kind("Module", "torch.nn.ReLU"), Kind("Module", "torch.nn.GELU")
    both = join(join(a, b), a)
    assert both.of.split("|") == sorted(both.of.split("|"))
    assert set(both.of.split("|")) == {"torch.nn.ReLU", "torch.nn.GELU"}


def test_too_many_alternatives_are_no_fact() -> None:
    kind = Kind("Module", "a:C0")
    for index in range(1, MAX_ALTERNATIVES + 3):
        kind = join(kind, Kind("Module", f"a:C{index}"))
    assert kind.of.count("|") < MAX_ALTERNATIVES


def test_elements_are_joined_one_by_one() -> None:
    a, b = Kind("tuple", items=(TENSOR, INT)), Kind("tuple", items=(TENSOR, NONE))
    assert [item.name for item in join(a, b).items] == ["Tensor", "int"]
    assert join(a, Kind("tuple", items=(TENSOR,))).items == ()


@pytest.mark.parametrize(
    ("text", "name", "items"),
    [
        ("Tensor", "Tensor", []),
        ("tuple[Tensor, Tensor]", "tuple", ["Tensor", "Tensor"]),
        ("tuple[Tensor, tuple[Tensor, int]]", "tuple", ["Tensor", "tuple"]),
        ("iterator[tuple[str, Parameter]]", "iterator", ["tuple"]),
        ("self", "self", []),
        ("", "unknown", []),
    ],
)
def test_kinds_that_rows_promise(text: str, name: str, items: list[str]) -> None:
    kind = parse_kind(text, "a row")
    assert (kind.name, [item.name for item in kind.items]) == (name, items)
