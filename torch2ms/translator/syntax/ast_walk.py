"""Walking ``ast`` trees fast: fields that hold nodes are found once a class, not once a node."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from functools import lru_cache

__all__ = ["are_alike", "bound_pairs", "changed_in_place", "children", "parse_string", "walk"]

# Fields that hold identifiers, numbers, operators or comments, never nodes that anybody asks for.
_PLAIN = frozenset(
    """id attr arg name asname module level kind type_comment type_ignores conversion simple is_async ctx op ops lineno
    names rest kwd_attrs""".split()
)
_SPARSE = frozenset({"keys", "kw_defaults"})  # lists with None in them
_FIELDS: dict[type[ast.AST], tuple[tuple[str, bool], ...]] = {}


def _fields(kind: type[ast.AST]) -> tuple[tuple[str, bool], ...]:
    """Return the fields of a class that hold nodes, or lists of nodes; and whether the list may have holes."""
    fields = _FIELDS.get(kind)
    if fields is None:
        keep = kind in (ast.Import, ast.ImportFrom)
        fields = tuple(
            (name, name in _SPARSE) for name in kind._fields if name not in _PLAIN or (keep and name == "names")
        )
        if kind in (ast.Constant, ast.MatchSingleton):
            fields = ()
        _FIELDS[kind] = fields
    return fields


def children(node: ast.AST) -> list[ast.AST]:
    """Return the nodes below a node, in order; contexts and operators are left out."""
    found: list[ast.AST] = []
    fields = _FIELDS.get(node.__class__)
    for name, sparse in fields if fields is not None else _fields(node.__class__):
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += [item for item in value if item is not None] if sparse else value
        elif value is not None:
            found.append(value)
    return found


def changed_in_place(node: ast.AST) -> ast.expr | None:
    """Return ``x`` of ``x.add_(1)``: PyTorch's methods that change their tensor have an underscore at the end."""
    func = node.func if isinstance(node, ast.Call) else None
    is_named = isinstance(func, ast.Attribute) and func.attr.endswith("_") and not func.attr.endswith("__")
    return func.value if is_named and isinstance(func, ast.Attribute) else None


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all nodes below it, level by level as ``ast.walk``; contexts and operators are left out."""
    kind = node.__class__
    if kind is ast.Module:
        return iter(_nodes(node))
    return iter(_nodes_below(node)) if kind in _SCOPES else _walk(node)


_SCOPES = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef})


@lru_cache(maxsize=1)  # many ask for the nodes of the file that is being translated
def _nodes(module: ast.AST) -> list[ast.AST]:
    return list(_walk(module))


@lru_cache(maxsize=64)  # and of the functions around what is being rewritten
def _nodes_below(scope: ast.AST) -> list[ast.AST]:
    return list(_walk(scope))


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    level: list[ast.AST] = [node]
    while level:
        below: list[ast.AST] = []
        for current in level:
            yield current
            fields = _FIELDS.get(current.__class__)
            for name, sparse in fields if fields is not None else _fields(current.__class__):
                value = getattr(current, name, None)
                if value.__class__ is list:
                    below += [item for item in value if item is not None] if sparse else value
                elif value is not None:
                    below.append(value)
        level = below


def are_alike(one: ast.AST, other: ast.AST) -> bool:
    """Whether two expressions have the same text, but for layout; contexts are not compared."""
    if one.__class__ is not other.__class__:
        return False
    for name in one._fields:
        first, second = getattr(one, name), getattr(other, name)
        if isinstance(first, ast.expr_context):
            continue
        if isinstance(first, list):
            if len(first) != len(second) or not all(map(_are_alike, first, second)):
                return False
        elif not _are_alike(first, second):
            return False
    return True


def _are_alike(one: object, other: object) -> bool:
    if isinstance(one, ast.AST) and isinstance(other, ast.AST):
        return are_alike(one, other)
    return one.__class__ is other.__class__ and one == other


def bound_pairs(node: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield what an assignment binds with the value that each gets: of ``a, b = f(), g()`` each with its own."""
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            yield from zip(target.elts, node.value.elts, strict=False)
        else:
            yield target, node.value


def parse_string(text: str, mode: str = "exec") -> ast.AST | None:
    """Return the tree of code in a string of the program; None where that is no Python, whatever the reason."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, mode=mode)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # ValueError: a null byte, a lone surrogate
        return None
