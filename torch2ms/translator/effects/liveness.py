"""Whether a name is read again: what decides if it must be bound anew after an operation that torch does in place."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

from torch2ms.translator.effects.definite_assignment import binds
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.file_facts import FileFacts

__all__ = ["is_done_with", "read_again", "read_before", "read_beside"]

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def read_again(name: str, statement: ast.AST | None, ctx: FileFacts) -> bool:
    """Whether a name is read after a statement, in a later round of a loop too, before every path binds it anew."""
    if statement is None:
        return True
    child: ast.AST = statement
    parent = ctx.parent(child)
    while parent is not None:
        for field in ("body", "orelse", "finalbody"):
            block = getattr(parent, field, None)
            if isinstance(block, list) and child in block:
                later = block[block.index(child) + 1 :]
                found = _first(name, later)
                if found != "neither" and not (found == "bound" and any(map(_jumps, later))):
                    return found == "read"
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return False
        if _reads_again(name, parent, child):
            return True
        child, parent = parent, ctx.parent(parent)
    return False


def is_done_with(name: str, use: ast.AST, ctx: FileFacts) -> bool:
    """Whether nothing reads a name in the statement of a use or behind it: no other function, no other file."""
    statement: ast.AST | None = use
    while statement is not None and not isinstance(statement, ast.stmt):
        statement = ctx.parent(statement)
    own = _scope(use, ctx)
    declared = (node.names for node in ctx.analysis.nodes if isinstance(node, (ast.Global, ast.Nonlocal)))
    is_seen = isinstance(own, ast.ClassDef) or (own is None and not ctx.world.symbols.is_program_alone(ctx.path))
    if statement is None or is_seen or any(name in names for names in declared):
        return False
    if any(node.id == name and _scope(node, ctx) is not own for node in ctx.analysis.all(ast.Name)):
        return False
    return not _reads(name, statement) and not read_again(name, statement, ctx)


def _scope(tree: ast.AST, ctx: FileFacts) -> ast.AST | None:
    """Return the function or class around a place; None for the module."""
    node = ctx.parent(tree)
    while node is not None and not isinstance(node, _SCOPES):
        node = ctx.parent(node)
    return node


def _first(name: str, block: list[ast.stmt]) -> Literal["read", "bound", "neither"]:
    """Say what the first statement that has to do with a name does with it."""
    for statement in block:
        if _reads(name, statement):
            return "read"
        if _binds(name, statement):
            return "bound"
    return "neither"


def _reads_again(name: str, parent: ast.AST, child: ast.AST) -> bool:
    """Whether the next round of a loop, or another part of a ``try`` statement, reads a name behind ``child``."""
    if isinstance(parent, ast.Try):
        others = [*parent.handlers, *parent.orelse, *parent.finalbody]
        return any(part is not child and _reads(name, part) for part in others)
    if not isinstance(parent, (ast.For, ast.AsyncFor, ast.While)) or child not in parent.body:
        return False
    if isinstance(parent, ast.While):
        return _reads(name, parent.test) or _first(name, parent.body) == "read"
    return not binds(parent.target, name) and _first(name, parent.body) == "read"


def _jumps(statement: ast.stmt) -> bool:
    return any(isinstance(part, (ast.Break, ast.Continue)) for part in walk(statement))


def read_beside(name: str, call: ast.Call, statement: ast.AST, ctx: FileFacts) -> bool:
    """Whether the statement around a call that changes a name reads it elsewhere, when it is changed already.

    ``x + f(x)`` reads before the call and adds after it; of ``g(x) + f(x)`` the first part is done by then.
    """
    inside = {*walk(call), *_of_other_branches(call, ctx)}
    for node in walk(statement):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load) and node not in inside:
            behind = (node.lineno, node.col_offset) >= (call.end_lineno or 0, call.end_col_offset or 0)
            if behind or not _is_done(node, call, ctx):
                return True
    return False


def _of_other_branches(call: ast.Call, ctx: FileFacts) -> Iterator[ast.AST]:
    """Yield what does not run where a call does: the other branch of ``f(x) if c else g(x)``."""
    child: ast.AST = call
    parent = ctx.parent(child)
    while parent is not None and not isinstance(parent, ast.stmt):
        if isinstance(parent, ast.IfExp) and child is not parent.test:
            yield from walk(parent.orelse if child is parent.body else parent.body)
        child, parent = parent, ctx.parent(parent)


def read_before(name: str, call: ast.Call, statement: ast.AST, ctx: FileFacts) -> bool:
    """Whether a part of the statement that is over before the call has read the name: ``g(x)`` of ``g(x) + f(x)``."""
    return any(
        isinstance(node, ast.Name)
        and node.id == name
        and (node.lineno, node.col_offset) < (call.lineno, call.col_offset)
        and _is_done(node, call, ctx)
        for node in walk(statement)
    )


_OPERATIONS = (ast.BinOp, ast.UnaryOp, ast.Compare)


def _is_done(read: ast.AST, call: ast.Call, ctx: FileFacts) -> bool:
    """Whether a call or an operator takes what is read, and is over before ``call`` is made."""
    node = ctx.parent(read)
    while node is not None and not isinstance(node, (ast.stmt, ast.Call)):
        if isinstance(node, _OPERATIONS) and all(part is not call for part in walk(node)):
            return True
        node = ctx.parent(node)
    return isinstance(node, ast.Call) and all(part is not call for part in walk(node))


def _reads(name: str, tree: ast.AST) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) for n in walk(tree))


def _binds(name: str, statement: ast.AST) -> bool:
    if not isinstance(statement, ast.Assign):
        return False
    return any(isinstance(t, ast.Name) and t.id == name for t in statement.targets)
