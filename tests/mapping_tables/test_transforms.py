from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

import libcst as cst
import pytest

from torch2ms.mapping_tables.transforms import TRANSFORMS, transform
from torch2ms.translator.values.kinds import UNKNOWN, Kind


@dataclass(frozen=True)
class Given:
    """An argument whose translation is its own source."""

    text: str
    kind: Kind = UNKNOWN

    @property
    def tree(self) -> ast.expr:
        return ast.parse(self.text, mode="eval").body

    @property
    def code(self) -> cst.BaseExpression:
        return cst.parse_expression(self.text)

    @property
    def is_number(self) -> bool:
        return isinstance(self.tree, ast.Constant) or self.kind.name in ("int", "ndarray")

    def runtime(self, name: str, *args: cst.BaseExpression) -> cst.BaseExpression:
        inner = ", ".join(cst.Module([]).code_for_node(arg) for arg in args or (self.code,))
        return cst.parse_expression(f"{name}({inner})")


def changed(name: str, given: Given) -> str | None:
    result = TRANSFORMS[name](given)
    return None if result is None else cst.Module([]).code_for_node(result)


EXAMPLES = [(name, before, after) for name, item in TRANSFORMS.items() for before, after in item.examples.items()]


@pytest.mark.parametrize(("name", "before", "after"), EXAMPLES)
def test_examples(name: str, before: str, after: str | None) -> None:
    assert changed(name, Given(before)) == after
    if after is not None:
        ast.parse(after, mode="eval")


@pytest.mark.parametrize("name", TRANSFORMS)
def test_each_says_what_it_does(name: str) -> None:
    assert TRANSFORMS[name].apply.__doc__


def test_a_known_int_needs_no_runtime() -> None:
    assert changed("pair_to_tblr", Given("padding", Kind("int"))) == "padding"


def test_a_shape_that_is_a_number_becomes_a_tuple() -> None:
    assert changed("last_axis", Given("n", Kind("int"))) == "(n,)"
    assert changed("last_axis", Given("np.prod(s)", Kind("ndarray"))) == "(int(np.prod(s)),)"


def test_what_must_not_run_twice_goes_through_the_runtime() -> None:
    assert changed("pair_to_tblr", Given("(next(it), 1)")) == "layers.pair_to_tblr((next(it), 1))"


@pytest.mark.parametrize(("literal", "value"), [("0.001", 0.999), ("1e-05", 0.99999), ("0.3", 0.7), ("2", -1)])
def test_one_minus_folds_to_the_number_a_person_would_write(literal: str, value: float) -> None:
    result = changed("one_minus", Given(literal))
    assert result is not None
    assert ast.literal_eval(result) == value


@pytest.mark.parametrize("text", ["a if b else c", "lambda: 1", "a or b", "a < b", "x := 1"])
def test_one_minus_keeps_the_meaning_of_loose_expressions(text: str) -> None:
    given = Given(f"({text})")
    result = changed("one_minus", given)
    assert result is not None
    tree = ast.parse(result, mode="eval").body
    assert isinstance(tree, ast.BinOp)
    assert ast.dump(tree.right) == ast.dump(given.tree)


def test_a_transform_needs_examples() -> None:
    with pytest.raises(ValueError, match="needs examples"):
        transform({})(lambda argument: argument.code)


def test_the_page_lists_every_transform() -> None:
    page = (Path(__file__).parents[2] / "docs" / "mapping-tables.md").read_text(encoding="utf-8")
    assert [name for name in TRANSFORMS if f"| `{name}` |" not in page] == []
