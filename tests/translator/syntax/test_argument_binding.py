"""Binding arguments to torch's signatures, and comparing literals."""

from __future__ import annotations

import ast

import libcst as cst
import pytest

from torch2ms import translate_source
from torch2ms.mapping_tables.schema import Parameter, Signature
from torch2ms.translator.syntax.argument_binding import BoundCall, bind, is_literal, same_literal

CONV = Signature((
    Parameter("i", "positional"), Parameter("o", "positional"), Parameter("k", "positional"),
    Parameter("bias", "positional", "True"), Parameter("dtype", "keyword", "None"),
))  # fmt: skip
ZEROS = Signature((Parameter("size", "var_positional"), Parameter("dtype", "keyword", "None")))


def call(code: str, signature: Signature | None = CONV) -> BoundCall | None:
    tree = ast.parse(code, mode="eval").body
    node = cst.parse_expression(code)
    assert isinstance(tree, ast.Call)
    assert isinstance(node, cst.Call)
    return bind(tree, node, signature)


def names(bound: BoundCall | None) -> dict[str, str]:
    assert bound is not None
    return {argument.parameter: ast.unparse(argument.tree) for argument in bound}


def test_without_a_signature_nothing_is_bound() -> None:
    assert call("f(1)", None) is None


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("f()", {}),
        ("f(1, 2, 3)", {"i": "1", "o": "2", "k": "3"}),
        ("f(1, k=3, o=2)", {"i": "1", "k": "3", "o": "2"}),
        ("f(1, 2, 3, False, dtype=x)", {"i": "1", "o": "2", "k": "3", "bias": "False", "dtype": "x"}),
    ],
)
def test_arguments_find_their_parameters(code: str, expected: dict[str, str]) -> None:
    bound = call(code)
    assert names(bound) == expected
    assert bound is not None
    assert not bound.splat
    assert not bound.surplus


def test_torchs_other_names_of_a_parameter_find_it() -> None:
    split = Signature(tuple(Parameter(name, "positional") for name in ("input", "indices_or_sections", "dim")))
    for name in ("indices", "sections"):
        found = names(call(f"torch.tensor_split(x, {name}=2, axis=1)", split))
        assert found == {"input": "x", "indices_or_sections": "2", "dim": "1"}


@pytest.mark.parametrize("code", ["f(1, 2, 3, True, 5)", "f(unknown=1)", "f(1, i=2)"])
def test_what_fits_no_parameter_is_surplus(code: str) -> None:
    bound = call(code)
    assert bound is not None
    assert len(bound.surplus) == 1


def test_what_follows_a_star_is_not_guessed() -> None:
    bound = call("f(1, *rest, 2, k=3, **more)")
    assert names(bound) == {"i": "1", "k": "3"}
    assert bound is not None
    assert bound.splat


def test_further_positions_are_extra_where_they_may_be() -> None:
    bound = call("f(2, 3, dtype=x)", ZEROS)
    assert bound is not None
    assert [ast.unparse(a.tree) for a in bound.extra] == ["2", "3"]
    assert names(bound) == {"dtype": "x"}


@pytest.mark.parametrize(
    ("code", "text"),
    [("1", "1"), ("1.0", "1"), ("'a'", '"a"'), ("(1, 2)", "(1,2)"), ("-1", "-1"), ("None", "None"), ("x.y", "x.y")],
)
def test_same_literals(code: str, text: str) -> None:
    assert same_literal(ast.parse(code, mode="eval").body, text)


@pytest.mark.parametrize(
    ("code", "text"), [("1", "True"), ("0", "False"), ("1", "2"), ("x", "1"), ("'a'", None), ("0", "None")]
)
def test_different_literals(code: str, text: str | None) -> None:
    assert not same_literal(ast.parse(code, mode="eval").body, text)


def test_literals() -> None:
    assert is_literal(ast.parse("(1, -2, [None])", mode="eval").body)
    assert not is_literal(ast.parse("x", mode="eval").body)


def test_torch_calls_the_first_tensor_input_whatever_the_signature_says() -> None:
    norm = Signature((Parameter("A", "positional"), Parameter("ord", "positional", "None")))
    assert names(call("f(ord=1, input=x)", norm)) == {"ord": "1", "A": "x"}
    assert names(call("f(x, input2=2)", norm)) == {"A": "x", "ord": "2"}
    bound = call("f(x, inputs=2)", norm)
    assert bound is not None
    assert [ast.unparse(a.tree) for a in bound.surplus] == ["2"]


def test_the_name_that_torchvision_had_for_a_range_is_taken() -> None:
    source = "from torchvision.utils import make_grid\ngrid = make_grid(x, nrow=8, range=(-1, 1), normalize=True)\n"
    found = translate_source(source)
    assert "make_grid(x, nrow=8, value_range=(-1, 1), normalize=True)" in found.text
    assert not [d for d in found.diagnostics if d.code == "T2M203"]


def test_a_class_that_is_chosen_beside_one_that_makes_tensors_makes_them_too() -> None:
    source = "import torch\ntensor = torch.cuda.FloatTensor if cuda else torch.Tensor\nfound = defaultdict(tensor)\n"
    assert "tensor = functional.typed_tensor\n" in translate_source(source).text
