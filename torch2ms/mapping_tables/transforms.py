"""Transforms: named pure functions on one argument, for what a rename cannot say and a recipe would be too much for.

A row names one with ``transform = { padding = "pair_to_tblr" }``. The function gets the argument (``Argument``) and
returns the code that takes its place, or None when it cannot be said: then the target does not hold for this call, and
the next one is tried (T2M203 when there is none). Each carries examples, which a test runs.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

import libcst as cst

from torch2ms.translator.values.kinds import Kind

__all__ = ["TRANSFORMS", "Argument", "Transform", "transform"]


class Argument(Protocol):
    """One argument of a call that is being translated."""

    @property
    def tree(self) -> ast.expr:
        """The argument as the source wrote it."""

    @property
    def code(self) -> cst.BaseExpression:
        """The argument, already translated."""

    @property
    def kind(self) -> Kind:
        """What is known of its value."""

    @property
    def is_number(self) -> bool:
        """Whether it is one number, by its kind or by what its scope does with it."""

    def runtime(self, name: str, *args: cst.BaseExpression) -> cst.BaseExpression:
        """Return a call of ``torch2ms.runtime.<name>`` with ``args`` (the argument itself when there are none)."""


Body = Callable[[Argument], "cst.BaseExpression | None"]


@dataclass(frozen=True, slots=True)
class Transform:
    """A registered transform: its name, what it does, and source before -> after (None: cannot be said)."""

    name: str
    apply: Body
    examples: Mapping[str, str | None]

    def __call__(self, argument: Argument) -> cst.BaseExpression | None:
        """Return the code that takes the argument's place, or None."""
        return self.apply(argument)


TRANSFORMS: dict[str, Transform] = {}


def transform(examples: Mapping[str, str | None]) -> Callable[[Body], Transform]:
    """Register a function as a transform under its own name; ``examples`` may not be empty."""

    def register(function: Body) -> Transform:
        if not examples or function.__name__ in TRANSFORMS:
            raise ValueError(f"transform {function.__name__} needs examples and a name of its own")
        made = Transform(function.__name__, function, dict(examples))
        TRANSFORMS[made.name] = made
        return made

    return register


# --- what several of them need ----------------------------------------------------------------------------------------


def _elements(code: cst.BaseExpression) -> list[cst.BaseExpression] | None:
    """Return the elements of a tuple or list display, None for anything else or when one is starred."""
    if not isinstance(code, (cst.Tuple, cst.List)):
        return None
    if not all(isinstance(element, cst.Element) for element in code.elements):
        return None
    return [element.value for element in code.elements]


def _tuple(items: Sequence[cst.BaseExpression]) -> cst.Tuple:
    space = cst.SimpleWhitespace(" ")
    elements = [
        cst.Element(item, cst.Comma(whitespace_after=space) if index < len(items) - 1 else cst.MaybeSentinel.DEFAULT)
        for index, item in enumerate(items)
    ]
    if len(items) == 1:
        elements = [cst.Element(items[0], cst.Comma())]
    return cst.Tuple(elements, lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def _repeatable(node: ast.expr) -> bool:
    """Whether writing an expression twice evaluates to the same, without doing anything twice."""
    calls = (ast.Call, ast.Await, ast.NamedExpr, ast.Yield, ast.YieldFrom)
    return not any(isinstance(item, calls) for item in ast.walk(node))


def _is_int(argument: Argument) -> bool:
    tree = argument.tree.operand if isinstance(argument.tree, ast.UnaryOp) else argument.tree
    literal = isinstance(tree, ast.Constant) and type(tree.value) is int
    return literal or argument.kind.name == "int"


def _is_text_or_none(argument: Argument) -> bool:
    literal = isinstance(argument.tree, ast.Constant) and isinstance(argument.tree.value, (str, bytes, type(None)))
    return literal or argument.kind.name in ("str", "none")


def _each_twice(argument: Argument, count: int, runtime: str) -> cst.BaseExpression | None:
    """Turn ``count`` values, one an axis, into two an axis; an int stays."""
    if _is_text_or_none(argument):
        return None
    if _is_int(argument):
        return argument.code
    items = _elements(argument.code)
    if items is None or not _repeatable(argument.tree):
        return argument.runtime(runtime)
    if len(items) == 1:
        return items[0]
    if len(items) != count:
        return None
    return _tuple([item for value in items for item in (value, value.deep_clone())])


# --- the transforms ---------------------------------------------------------------------------------------------------


@transform({"1": "1", "(1, 2)": "(1, 1, 2, 2)", "[h, w]": "(h, h, w, w)", "padding": "layers.pair_to_tblr(padding)",
            "'same'": None, "(1, 2, 3)": None})  # fmt: skip
def pair_to_tblr(argument: Argument) -> cst.BaseExpression | None:
    """Padding of a 2-D layer: torch's int or (height, width) as MindSpore's int or (top, bottom, left, right)."""
    return _each_twice(argument, 2, "layers.pair_to_tblr")


@transform({"1": "1", "(1, 2, 3)": "(1, 1, 2, 2, 3, 3)", "padding": "layers.triple_to_6(padding)", "'valid'": None,
            "(1, 2)": None})  # fmt: skip
def triple_to_6(argument: Argument) -> cst.BaseExpression | None:
    """Padding of a 3-D layer: torch's int or (depth, height, width) as MindSpore's int or two values an axis."""
    return _each_twice(argument, 3, "layers.triple_to_6")


@transform({"0.1": "0.9", "0.01": "0.99", "1": "0", "m": "1 - m", "m / n": "1 - m / n", "a + b": "1 - (a + b)",
            "-m": "1 - -m", "None": None})  # fmt: skip
def one_minus(argument: Argument) -> cst.BaseExpression | None:
    """Momentum of a normalisation layer: torch weighs the new value, MindSpore the old one. Literals are folded."""
    if _is_text_or_none(argument):
        return None
    if isinstance(argument.tree, ast.Constant) and type(argument.tree.value) in (int, float):
        # Decimal: 1 - 0.1 in binary arithmetic would be written 0.9 here, but 1 - 0.01 is 0.99 by luck only.
        return cst.parse_expression(str(Decimal(1) - Decimal(repr(argument.tree.value))))
    code = argument.code
    binds_tighter = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.UnaryOperation, cst.BaseNumber)
    product = isinstance(code, cst.BinaryOperation) and isinstance(
        code.operator, (cst.Multiply, cst.Divide, cst.FloorDivide, cst.Modulo, cst.Power)
    )
    if not (isinstance(code, binds_tighter) or product or code.lpar):
        code = code.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return cst.BinaryOperation(cst.Integer("1"), cst.Subtract(), code)


@transform({"'none'": "False", "'tanh'": "True", "mode": "mode == 'tanh'", "f(x)": "f(x) == 'tanh'", "None": None})
def gelu_approximate(argument: Argument) -> cst.BaseExpression | None:
    """Which GELU: torch's 'none' or 'tanh' as MindSpore's False or True."""
    if isinstance(argument.tree, ast.Constant):
        word = argument.tree.value
        return cst.Name(str(word == "tanh")) if word in ("none", "tanh") else None
    code = argument.code
    if not isinstance(code, (cst.Name, cst.Attribute, cst.Call, cst.Subscript)) and not code.lpar:
        code = code.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return cst.Comparison(code, [cst.ComparisonTarget(cst.Equal(), cst.SimpleString("'tanh'"))])


@transform({"1": "1", "(1, 0, 2, 1)": "(1, 0, 2, 1)", "[0, 1, 0, 1]": "[0, 1, 0, 1]", "(0, 0, 1, -1)": None, "p": None})
def not_negative(argument: Argument) -> cst.BaseExpression | None:
    """Widths of a padding that are all written out and take nothing away: MindSpore's layers crop into wrong memory."""
    tree = argument.tree
    widths = tree.elts if isinstance(tree, (ast.Tuple, ast.List)) else [tree]
    plain = all(isinstance(width, ast.Constant) and isinstance(width.value, int) for width in widths)
    return argument.code if plain else None


@transform({"1": "1.0", "0": "0.0", "-2": "-2.0", "0.5": "0.5", "w": "float(w)", "n + 1": "float(n + 1)"})
def float_of_int(argument: Argument) -> cst.BaseExpression | None:
    """A number that PyTorch takes as an int as well, and MindSpore as a float alone."""
    written = _written_as_float(argument)
    if written is not None or argument.kind.name not in _MAYBE_INTS:
        return argument.code if written is None else written
    return cst.Call(cst.Name("float"), [cst.Arg(argument.code)])


@transform({"1": "1.0", "-2": "-2.0", "0.5": "0.5", "w": "functional.float_of_int(w)"})
def float_or_tensor(argument: Argument) -> cst.BaseExpression | None:
    """A tensor or a number, which PyTorch takes as an int as well, and MindSpore as a float alone."""
    written = _written_as_float(argument)
    if written is not None or argument.kind.name not in _MAYBE_INTS:
        return argument.code if written is None else written
    if argument.kind.known:
        return cst.Call(cst.Name("float"), [cst.Arg(argument.code)])
    return argument.runtime("functional.float_of_int")


_MAYBE_INTS = ("int", "bool", "unknown")


def _written_as_float(argument: Argument) -> cst.BaseExpression | None:
    """Return an int that is written out as a float; None for all else."""
    tree, code = argument.tree, argument.code
    if isinstance(tree, ast.Constant):
        return cst.Float(f"{tree.value}.0") if type(tree.value) is int else code
    if isinstance(code, cst.UnaryOperation) and isinstance(code.expression, (cst.Integer, cst.Float)):
        is_int = isinstance(code.expression, cst.Integer)
        return code.with_changes(expression=cst.Float(f"{code.expression.value}.0")) if is_int else code
    return None


@transform({"1e-3": "1e-3", "1": "1.0", "eps": "eps", "0": None, "0.0": None, "32": None, "1.5": None})
def epsilon(argument: Argument) -> cst.BaseExpression | None:
    """An epsilon that MindSpore's kernels take: more than 0, at most 1. A size of layers is none of these."""
    value = getattr(argument.tree, "value", None) if isinstance(argument.tree, ast.Constant) else None
    if isinstance(value, (int, float)):
        return float_of_int(argument) if 0 < value <= 1 else None
    return None if argument.kind.name == "int" else argument.code


@transform({"6": "(6,)", "(6,)": "(6,)", "[6]": "(6,)", "(3, 6)": None, "shape": None})
def last_axis(argument: Argument) -> cst.BaseExpression | None:
    """Shape of a normalisation over the last axis alone: torch takes a number, MindSpore a tuple."""
    items = _elements(argument.code)
    if items is not None:
        return _tuple(items) if len(items) == 1 else None
    if not argument.is_number:
        return None
    whole = argument.kind.name != "ndarray"
    return _tuple([argument.code if whole else cst.Call(cst.Name("int"), [cst.Arg(argument.code)])])


@transform({"-2": "(-2,)", "(0, 1)": "(0, 1)", "None": "None", "axes": "axes"})
def axes(argument: Argument) -> cst.BaseExpression | None:
    """Axes of a Fourier transform: PyTorch takes one as well, MindSpore a sequence alone."""
    return _tuple([argument.code]) if _is_int(argument) else argument.code


@transform({"[30, 60]": "[30, 60]", "(30, 60)": "[30, 60]", "[0.5 * n]": "schedulers.milestones([0.5 * n])",
            "[n // 2, n]": "[n // 2, n]", "[n / 2]": "schedulers.milestones([n / 2])",
            "steps": "schedulers.milestones(steps)"})  # fmt: skip
def list_of_ints(argument: Argument) -> cst.BaseExpression | None:
    """Epochs of MultiStepLR: MindSpore takes a list of ints alone, PyTorch any sequence of numbers."""
    tree, code = argument.tree, argument.code
    if any(isinstance(node, ast.Div) or isinstance(getattr(node, "value", None), float) for node in _inner(tree)):
        return argument.runtime("schedulers.milestones")
    if isinstance(code, cst.Tuple) and code.elements:
        return cst.List(code.elements)
    return code if isinstance(tree, (ast.List, ast.ListComp)) else argument.runtime("schedulers.milestones")


@transform({"2": "2", "1.0": "1", "n": "n", "n / 2": "schedulers.whole(n / 2)", "2.5": "schedulers.whole(2.5)"})
def whole_number(argument: Argument) -> cst.BaseExpression | None:
    """A number of steps: MindSpore's schedulers take an int alone, PyTorch's any number."""
    tree = argument.tree
    if isinstance(tree, ast.Constant) and isinstance(tree.value, float) and tree.value.is_integer():
        return cst.Integer(str(int(tree.value)))
    divided = isinstance(tree, ast.BinOp) and _divides(tree)
    is_float = argument.kind.name in ("float", "ndarray") or isinstance(getattr(tree, "value", None), float)
    return argument.runtime("schedulers.whole") if divided or is_float else argument.code


def _divides(tree: ast.expr) -> bool:
    """Whether a sum or product has a quotient in it that may have a fraction."""
    if not isinstance(tree, ast.BinOp):
        return False
    return isinstance(tree.op, ast.Div) or _divides(tree.left) or _divides(tree.right)


def _is_int_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("int", "round")


def _inner(tree: ast.AST) -> list[ast.AST]:
    """Return a node and what it holds, calls that make an int without what they hold."""
    if _is_int_call(tree):
        return [tree]
    return [tree, *(node for child in ast.iter_child_nodes(tree) for node in _inner(child))]
