"""Walking ``ast`` trees fast: fields that hold nodes are found once a class, not once a node."""

from __future__ import annotations

import ast
from collections.abc import Iterator

__all__ = ["children", "walk"]

_LEAVES = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)
_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {}
# Fields that hold identifiers, numbers or comments, never nodes.
_PLAIN = frozenset(
    """id attr arg name asname module level kind type_comment type_ignores conversion simple is_async ctx op ops lineno
    names""".split()
)


def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    fields = _FIELDS.get(kind)
    if fields is None:
        keep = kind in (ast.Import, ast.ImportFrom)
        fields = tuple(name for name in kind._fields if name not in _PLAIN or (keep and name == "names"))
        if kind is ast.Constant:
            fields = ()
        _FIELDS[kind] = fields
    return fields


def children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes below a node, in order; contexts and operators are left out."""
    for name in _fields(type(node)):
        value = getattr(node, name, None)
        if value.__class__ is list:
            for item in value:
                if isinstance(item, ast.AST):
                    yield item
        elif isinstance(value, ast.AST):
            yield value


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all nodes below it, in no particular order."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        fields = _FIELDS.get(type(current))
        for name in fields if fields is not None else _fields(type(current)):
            value = getattr(current, name, None)
            if value.__class__ is list:
                stack.extend([item for item in value if isinstance(item, ast.AST)])
            elif isinstance(value, ast.AST):
                stack.append(value)
