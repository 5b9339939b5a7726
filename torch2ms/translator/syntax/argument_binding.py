"""Binding: the arguments of a call, by the names of the parameters they go to."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import libcst as cst

from torch2ms.mapping_tables.schema import Parameter, Signature

__all__ = ["BoundArgument", "BoundCall", "accepts", "bind", "is_literal", "literal", "parsed", "same_literal"]


@dataclass(frozen=True, slots=True)
class BoundArgument:
    """One argument: the parameter, the value in both trees (``code`` already translated), and how it was passed."""

    parameter: str
    tree: ast.expr
    code: cst.BaseExpression
    arg: cst.Arg
    positional: bool


@dataclass(frozen=True, slots=True)
class BoundCall:
    """A call whose arguments are bound to a signature.

    ``extra`` holds positional arguments that went to ``*args``; ``splat`` is set when a ``*`` or ``**`` hides what goes
    where: then only what comes before it is bound; ``by_name`` when it is a ``**``, ``by_place`` when it is a ``*``.
    ``surplus`` counts arguments that fit no parameter.
    """

    arguments: dict[str, BoundArgument]
    extra: tuple[BoundArgument, ...] = ()
    splat: bool = False
    by_name: bool = False
    by_place: bool = False
    surplus: tuple[BoundArgument, ...] = ()
    signature: Signature = field(default_factory=lambda: Signature(()))

    def get(self, name: str) -> BoundArgument | None:
        """Return the argument bound to a parameter, or None."""
        return self.arguments.get(name)

    def __iter__(self) -> Iterator[BoundArgument]:
        return iter(self.arguments.values())


# torch takes numpy's names of these parameters as well: torch.cat(xs, axis=1). What cuts a tensor up is called by what
# it is: torch.tensor_split(x, indices=(1,)), torch.tensor_split(x, sections=3).
_OTHER_NAMES = {
    **{"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"},
    **{"indices": "indices_or_sections", "sections": "indices_or_sections"},
    **{"tensor": "tensor1", "other": "tensor2"},
    **{"range": "value_range"},  # torchvision's, until 0.13
}
# Whatever the documentation calls them (torch.linalg.norm(A)), what torch's C++ knows as self is called input by name.
_PLACES = {"input": 0, "input2": 1}
_NUMBERS = ("beta", "alpha", "value")
_FORMER_MEAN = "elementwise_mean"  # what PyTorch 0.4 called reduction="mean", which losses still take


def bind(tree: ast.Call, updated: cst.Call, signature: Signature | None) -> BoundCall | None:
    """Bind the arguments of a call; None when nothing is known of the signature.

    ``updated`` is the call with its parts translated: its arguments stand in the same order as in the source.
    """
    if signature is None:
        return None
    tree, updated = _numbers_last(tree, updated, signature)
    slots = [p for p in signature.parameters if p.kind in ("positional_only", "positional")]
    names = {p.name for p in signature.parameters if p.kind in ("positional", "keyword")}
    var_positional = next((p.name for p in signature.parameters if p.kind == "var_positional"), None)
    var_keyword = any(p.kind == "var_keyword" for p in signature.parameters)
    bound: dict[str, BoundArgument] = {}
    extra: list[BoundArgument] = []
    surplus: list[BoundArgument] = []
    by_name, by_place = (any(arg.star == star for arg in updated.args) for star in ("**", "*"))
    splat = False
    positional, keywords = iter(tree.args), iter(tree.keywords)
    taken = 0
    for arg in updated.args:
        if arg.star:
            splat = True
            next(keywords if arg.star == "**" else positional)
            continue
        if arg.keyword is not None:
            value = next(keywords).value
            name = arg.keyword.value
            if name not in names:
                name = _other_name(name, names, () if var_keyword else slots)
            if name == var_positional and not extra:  # torch.zeros(size=(2, 3)) is torch.zeros((2, 3))
                placed = arg.with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT)
                extra.append(BoundArgument(name, value, arg.value, placed, True))
                continue
            made = _bound(name, value, arg, positional=False)
            if (name in names or var_keyword) and name not in bound:
                bound[name] = made
            else:
                surplus.append(made)
            continue
        value = next(positional)
        if splat:
            continue
        if taken < len(slots) and slots[taken].name not in bound:
            name = slots[taken].name
            bound[name] = _bound(name, value, arg, positional=True)
            taken += 1
        elif var_positional is not None:
            extra.append(BoundArgument(var_positional, value, arg.value, arg, True))
        else:
            surplus.append(BoundArgument("", value, arg.value, arg, True))
    return BoundCall(bound, tuple(extra), splat, by_name, by_place, tuple(surplus), signature)


def _bound(name: str, value: ast.expr, arg: cst.Arg, *, positional: bool) -> BoundArgument:
    if name == "reduction" and isinstance(value, ast.Constant) and value.value == _FORMER_MEAN:
        value, arg = ast.copy_location(ast.Constant("mean"), value), arg.with_changes(value=cst.SimpleString("'mean'"))
    return BoundArgument(name, value, arg.value, arg, positional)


def _numbers_last(tree: ast.Call, updated: cst.Call, signature: Signature) -> tuple[ast.Call, cst.Call]:
    """Return a call with its numbers by name that has them in front, as torch's first releases wanted and all take.

    ``x.addcmul_(1 - beta, grad, grad)`` is ``x.addcmul_(grad, grad, value=1 - beta)``.
    """
    numbers = [p.name for p in signature.parameters if p.kind == "keyword" and p.name in _NUMBERS]
    count = len(tree.args)
    slots = [p.name for p in signature.parameters if p.kind in ("positional_only", "positional")]
    if not numbers or count <= len(slots) or tree.keywords or any(isinstance(a, ast.Starred) for a in tree.args):
        return tree, updated
    first, rest = (slots[:1], slots[1:]) if slots[0] == "input" else ([], slots)
    orders = [[*first, *numbers, *rest]]
    if "beta" in numbers:
        orders = [["beta", *first, "alpha", *rest], ["beta", *first, *rest]]
    order = next((order for order in orders if len(order) == count), None)
    if order is None:
        return tree, updated
    places = {name: place for place, name in enumerate(order)}
    given = [name for name in numbers if name in places]
    words = [ast.keyword(name, tree.args[places[name]]) for name in given]
    moved = ast.copy_location(ast.Call(tree.func, [tree.args[places[name]] for name in slots], words), tree)
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    args = [updated.args[places[name]].with_changes(comma=cst.MaybeSentinel.DEFAULT) for name in (*slots, *given)]
    named = [
        arg.with_changes(keyword=cst.Name(name), equal=equal)
        for arg, name in zip(args[len(slots) :], given, strict=True)
    ]
    return moved, updated.with_changes(args=[*args[: len(slots)], *named])


def accepts(signature: Signature, call: ast.Call) -> bool:
    """Whether every argument of a call finds a parameter; what a ``*`` or ``**`` holds is not known."""
    kinds = [parameter.kind for parameter in signature.parameters]
    slots = sum(kind in ("positional_only", "positional") for kind in kinds)
    names = {p.name for p in signature.parameters if p.kind in ("positional", "keyword")}
    given = [argument for argument in call.args if not isinstance(argument, ast.Starred)]
    if len(given) > slots and "var_positional" not in kinds:
        return False
    keywords = [keyword.arg for keyword in call.keywords if keyword.arg is not None]
    placed = [p for p in signature.parameters if p.kind in ("positional_only", "positional")]
    return "var_keyword" in kinds or all(_other_name(name, names, placed) in names for name in keywords)


def _other_name(name: str, names: set[str], slots: Sequence[Parameter]) -> str:
    """Return the name that the signature has for a keyword, which may be another one that torch takes as well."""
    if name in names or _OTHER_NAMES.get(name) in names:
        return name if name in names else _OTHER_NAMES[name]
    place = _PLACES.get(name, len(slots))
    return slots[place].name if place < len(slots) else name


_NO_LITERAL = object()


def literal(tree: ast.expr) -> object:
    """Return the value of a literal expression; a private marker when it is none (see ``is_literal``)."""
    try:
        return ast.literal_eval(tree)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return _NO_LITERAL


@lru_cache(maxsize=4096)
def parsed(text: str) -> ast.expr:
    """Return the expression that a default or a condition of a row spells."""
    return ast.parse(text, mode="eval").body


def is_literal(tree: ast.expr) -> bool:
    """Whether an expression is a literal."""
    return literal(tree) is not _NO_LITERAL


@lru_cache(maxsize=4096)
def _literal_text(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return _NO_LITERAL


def same_literal(tree: ast.expr, text: str | None) -> bool:
    """Whether an expression is a literal with the value that ``text`` spells (``1`` and ``1.0`` are the same)."""
    if text is None:
        return False
    value = literal(tree)
    if value is _NO_LITERAL:
        return ast.unparse(tree) == text
    other = _literal_text(text)
    if other is _NO_LITERAL:
        return False
    return bool(value == other) and isinstance(value, bool) == isinstance(other, bool)
