"""Constants: hyperparameters read without running anything."""

from __future__ import annotations

import ast

import pytest

from torch2ms.translator.values.constants import NOT_CONSTANT, Constants


def value(text: str) -> object:
    """Return the value found for the argument of ``show(...)``."""
    tree = ast.parse(text)
    call = next(n for n in ast.walk(tree) if isinstance(n, ast.Call) and ast.unparse(n.func) == "show")
    return Constants(tree).value(call.args[0])


KNOWN = {
    "show(3)": 3,
    "lr = 0.1\nshow(lr)": 0.1,
    "lr = 0.1\nshow(lr * 2)": 0.2,
    "a = 4\nb = a\nshow(b)": 4,
    "show((1, 'a'))": (1, "a"),
    "def f(lr=0.1):\n    show(lr)": 0.1,
    "def f(lr=0.1):\n    show(lr)\nf(0.5)": 0.5,
    "def f(lr):\n    show(lr)\nf(lr=0.5)": 0.5,
    "parser.add_argument('--learning-rate', default=0.1)\nargs = parser.parse_args()\nshow(args.learning_rate)": 0.1,
    "parser.add_argument('--lr', '-l', dest='rate', default=1)\nshow(args.rate)": 1,
    "parser.add_argument('--fast', action='store_true')\nshow(args.fast)": False,
}
UNKNOWN = [
    "show(x)",
    "x = f()\nshow(x)",
    "x = 1\nx = 2\nshow(x)",
    "for x in y: show(x)",
    "def f(lr):\n    show(lr)\nf(1)\nf(2)",
    "show(args.lr)",
    "x = x\nshow(x)",
    "a = b\nb = a\nshow(a)",
    "show(1 / 0)",
    "x = 1\nx += 1\nshow(x)",
]


@pytest.mark.parametrize("text", KNOWN)
def test_values_that_are_known(text: str) -> None:
    found = value(text)
    assert found == KNOWN[text]
    assert type(found) is type(KNOWN[text])


@pytest.mark.parametrize("text", UNKNOWN)
def test_values_that_are_not(text: str) -> None:
    assert value(text) is NOT_CONSTANT
