"""Small helpers on libcst: building, parenthesising, arguments with their commas, generic traversal."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, TypeVar

import libcst as cst

__all__ = [
    "as_tuple",
    "bare",
    "build",
    "child_fields",
    "code_of",
    "comments",
    "dotted_name",
    "fix_commas",
    "is_node",
    "itself",
    "keyword_arg",
    "names_read",
    "parenthesised",
    "parse_expression",
    "slice_object",
    "undetached",
]

Node = TypeVar("Node", bound=cst.CSTNode)

_SKIPPED = frozenset(
    """leading_lines lines_after_decorators lines_after_module_docstring header footer trailing_whitespace comma
    equal semicolon lbracket rbracket lbrace rbrace dot colon newline comment indent lpar_whitespace operator""".split()
)
_FIELDS: dict[type[cst.CSTNode], tuple[str, ...]] = {}


def child_fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    """Return the fields of a node class that can hold expressions or statements (no whitespace, no punctuation)."""
    fields = _FIELDS.get(kind)
    if fields is None:
        names = (field.name for field in dataclasses.fields(kind))
        fields = tuple(
            name
            for name in names
            if "whitespace" not in name and name not in _SKIPPED and name not in ("lpar", "rpar", "asynchronous")
        )
        _FIELDS[kind] = fields
    return fields


_NODES: dict[type, bool] = {}


def is_node(value: object) -> bool:
    """Whether a value is a node of libcst, whose classes are abstract: ``isinstance`` asks them at some length."""
    kind = value.__class__
    known = _NODES.get(kind)
    if known is None:
        known = _NODES[kind] = issubclass(kind, cst.CSTNode)
    return known


def names_read(node: cst.CSTNode, wanted: Collection[str] | None = None) -> set[str]:
    """Return every plain name below a node; attributes, keywords of calls and imports are none.

    Where only some are ``wanted``, nothing is looked at any more once these have been found.
    """
    found: set[str] = set()
    missing = None if wanted is None else set(wanted)
    stack: list[Any] = [node]
    while stack:
        current = stack.pop()
        if missing is not None and current.__class__ in _STATEMENTS:
            missing -= found
            if not missing:
                break
        kind = type(current)
        if kind in _IMPORTS:
            continue
        if kind is cst.Name:
            found.add(current.value)
        elif kind is cst.SimpleString:
            if " " not in current.value or "[" in current.value[:40]:
                found.update(_WORD.findall(current.value))  # an annotation in quotes
        elif kind is cst.Attribute or kind is cst.Arg:
            stack.append(current.value)
        else:
            for name in child_fields(kind):
                value = getattr(current, name)
                if is_node(value):
                    stack.append(value)
                elif value.__class__ in (list, tuple):
                    stack.extend([item for item in value if is_node(item)])
    return found


_IMPORTS = (cst.Import, cst.ImportFrom)
_STATEMENTS = (cst.SimpleStatementLine, cst.FunctionDef, cst.ClassDef)
_WORD = re.compile(r"[A-Za-z_]\w*")
_MODULE = cst.Module([])


def code_of(node: cst.CSTNode) -> str:
    """Return the source text of a node."""
    return _MODULE.code_for_node(node)


def comments(node: cst.BaseSmallStatement | cst.BaseSuite) -> list[cst.Comment]:
    """Return the comments inside a statement or a block, in order."""
    code = code_of(node)
    return sorted(_comments(node), key=lambda found: code.find(f"{found.value}\n")) if "#" in code else []


def _comments(node: cst.CSTNode) -> Iterator[cst.Comment]:
    # libcst takes longer to list the children of a node in order than to spell it.
    for name in _all_fields(node.__class__):
        value = getattr(node, name)
        for child in value if value.__class__ in (list, tuple) else (value,):
            if child.__class__ is cst.Comment:
                yield child
            elif is_node(child):
                yield from _comments(child)


@cache
def _all_fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))


@lru_cache(maxsize=4096)
def parse_expression(text: str) -> cst.BaseExpression:
    """Return the expression that ``text`` spells."""
    return cst.parse_expression(text)


def slice_object(element: cst.Slice) -> cst.Call:
    """Return ``slice(a, b)`` for ``a:b``."""
    parts = [element.lower, element.upper, *([element.step] if element.step is not None else [])]
    return cst.Call(cst.Name("slice"), fix_commas([cst.Arg(part or cst.Name("None")) for part in parts], ()))


def build(template: str, **parts: cst.BaseExpression) -> cst.BaseExpression:
    """Return ``template`` with each ``{name}`` replaced by an expression, parenthesised where the place needs it."""
    filled: dict[str, cst.BaseExpression] = {
        _PLACE.format(name): bare(part) if _stands_alone(name, template, part) else _atom(part)
        for name, part in parts.items()
    }
    made: cst.BaseExpression = _filled(_parsed_template(template, tuple(parts)), filled, set())
    return made


_PLACE = "T2M_PART_{}"  # what stands in a template for a part


@lru_cache(maxsize=1024)
def _parsed_template(template: str, names: tuple[str, ...]) -> cst.BaseExpression:
    for name in names:
        template = template.replace(f"{{{name}}}", _PLACE.format(name))
    return cst.parse_expression(template)


def _filled(node: Any, parts: Mapping[str, cst.BaseExpression], used: set[str]) -> Any:
    """Return a template with its parts; one that is asked for twice is copied, since no node stands in two places."""
    if node.__class__ is cst.Name:
        part = parts.get(node.value)
        if part is None:
            return node
        if node.value in used:
            return part.deep_clone()
        used.add(node.value)
        return part
    changes: dict[str, Any] = {}
    for name in child_fields(node.__class__):
        value = getattr(node, name)
        if is_node(value):
            new = _filled(value, parts, used)
            if new is not value:
                changes[name] = new
        elif value.__class__ in (list, tuple):
            items = [_filled(item, parts, used) for item in value]
            if any(a is not b for a, b in zip(items, value, strict=True)):
                changes[name] = items
    return node.with_changes(**changes) if changes else node


def bare(node: cst.BaseExpression) -> cst.BaseExpression:
    """Return ``node`` without its parentheses, where it is to be a whole argument: ``f((a + b))`` -> ``f(a + b)``."""
    kept = (cst.Tuple, cst.Yield, cst.NamedExpr, cst.GeneratorExp)
    if len(node.lpar) != 1 or isinstance(node, kept):
        return node
    spaces = (node.lpar[0].whitespace_after, node.rpar[0].whitespace_before)
    if not all(isinstance(space, cst.SimpleWhitespace) for space in spaces):
        return node
    return node.with_changes(lpar=[], rpar=[])


def _stands_alone(name: str, template: str, part: cst.BaseExpression) -> bool:
    """Whether every place of a part is a whole argument or index, which needs no parentheses."""
    if isinstance(part, (cst.Tuple, cst.Yield, cst.NamedExpr, cst.GeneratorExp)):
        return False
    whole = re.findall(rf"(?:[(\[=]|, ){{{name}}}(?=[,)\]])", template)
    return len(whole) == template.count(f"{{{name}}}")


_ATOMS = frozenset(
    {
        cst.Name,
        cst.Attribute,
        cst.Call,
        cst.Subscript,
        cst.Integer,
        cst.SimpleString,
        cst.List,
        cst.Dict,
        cst.Set,
        cst.ListComp,
        cst.DictComp,
        cst.SetComp,
    }
)


def _atom(node: cst.BaseExpression) -> cst.BaseExpression:
    return node if node.__class__ in _ATOMS or node.lpar or isinstance(node, cst.Float) else parenthesised(node)


def parenthesised(node: cst.BaseExpression) -> cst.BaseExpression:
    """Return ``node`` so that ``.name`` or ``[...]`` may follow it."""
    if isinstance(node, (cst.Integer, cst.Float)) and not node.lpar:
        return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    if node.__class__ in _ATOMS or node.lpar:
        return node
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def dotted_name(name: str) -> cst.Name | cst.Attribute:
    """Return ``a.b.c`` as a node."""
    head, *rest = name.split(".")
    node: cst.Name | cst.Attribute = cst.Name(head)
    for part in rest:
        node = cst.Attribute(node, cst.Name(part))
    return node


_TIGHT = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))


def keyword_arg(name: str, value: cst.BaseExpression) -> cst.Arg:
    """Return ``name=value`` as an argument."""
    return cst.Arg(value, keyword=cst.Name(name), equal=_TIGHT)


def fix_commas(args: Sequence[cst.Arg], original: Sequence[cst.Arg]) -> list[cst.Arg]:
    """Return ``args`` with commas as a person would have left them after editing ``original``.

    A trailing comma stays trailing, arguments one a line stay one a line, and the last argument has no comma otherwise.
    A comment stays behind the argument that it follows.
    """
    if not args:
        return []
    kept = [arg for arg in original if isinstance(arg.comma, cst.Comma)]
    trailing = original[-1].comma if original and isinstance(original[-1].comma, cst.Comma) else None
    commas = [arg.comma for arg in kept if arg.comma is not trailing]
    inner = [comma for comma in commas if isinstance(comma, cst.Comma)]
    separator = _without_comment(inner[0]) if inner else cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    if trailing is not None and not inner and isinstance(trailing.whitespace_after, cst.ParenthesizedWhitespace):
        separator = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    fixed = []
    for arg in args[:-1]:
        own = arg.comma if isinstance(arg.comma, cst.Comma) and arg.comma is not trailing else separator
        if arg.comma is trailing and trailing is not None:
            own = _with_comment(separator, trailing)
        fixed.append(arg.with_changes(comma=own))
    last = args[-1]
    if trailing is None:
        fixed.append(last.with_changes(comma=cst.MaybeSentinel.DEFAULT))
    else:
        fixed.append(last.with_changes(comma=trailing if last.comma is trailing else _without_comment(trailing)))
    return fixed


def _without_comment(comma: cst.Comma) -> cst.Comma:
    """Return a comma with the same line break behind it, but no comment."""
    space = comma.whitespace_after
    if not isinstance(space, cst.ParenthesizedWhitespace):
        return comma
    line = space.first_line.with_changes(comment=None, whitespace=cst.SimpleWhitespace(""))
    lines = [empty for empty in space.empty_lines if empty.comment is None]
    return comma.with_changes(whitespace_after=space.with_changes(first_line=line, empty_lines=lines))


def _with_comment(comma: cst.Comma, source: cst.Comma) -> cst.Comma:
    """Return a comma with the comment that follows another one, where it breaks the line as well."""
    space, other = comma.whitespace_after, source.whitespace_after
    if isinstance(space, cst.ParenthesizedWhitespace) and isinstance(other, cst.ParenthesizedWhitespace):
        return comma.with_changes(whitespace_after=space.with_changes(first_line=other.first_line))
    return comma


def as_tuple(value: cst.BaseExpression) -> cst.BaseExpression:
    """Return a list as a tuple; a literal one as a literal."""
    if not isinstance(value, cst.List):
        return cst.Call(cst.Name("tuple"), [cst.Arg(value)])
    elements = list(value.elements)
    if len(elements) == 1 and isinstance(elements[0].comma, cst.MaybeSentinel):
        elements = [elements[0].with_changes(comma=cst.Comma())]
    return cst.Tuple(elements)


def undetached(code: cst.BaseExpression) -> cst.BaseExpression:
    """Return ``x`` of ``ops.stop_gradient(x)``, and anything else as it is."""
    while isinstance(code, cst.Call) and len(code.args) == 1 and code_of(code.func).endswith("stop_gradient"):
        code = code.args[0].value
    return code


def itself(receiver: cst.BaseExpression) -> cst.BaseExpression:
    """Return what a method that gives back its object stands for: ``super().to(device)`` is ``self``."""
    is_super = isinstance(receiver, cst.Call) and isinstance(receiver.func, cst.Name) and receiver.func.value == "super"
    return cst.Name("self") if is_super else receiver
