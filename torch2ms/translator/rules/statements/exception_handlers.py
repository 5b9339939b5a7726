"""Exceptions that a program expects of tensor operations: MindSpore raises others, and possibly later."""

from __future__ import annotations

import ast

from torch2ms.translator.context import Context
from torch2ms.translator.syntax.ast_walk import walk

__all__ = ["report_expected", "report_handlers"]

_EXPECTED = frozenset({"RuntimeError", "ValueError", "TypeError", "IndexError"})
_MESSAGE = (
    "torch raises {names} here at once; MindSpore may raise another class of exception, and, computing in the "
    "background, later: mindspore.runtime.launch_blocking() at the start of the program makes it wait"
)


def report_handlers(tree: ast.Try, ctx: Context) -> None:
    """Report a ``try`` around tensor operations whose handlers name the exceptions that torch raises."""
    caught = {node.id for handler in tree.handlers for node in _classes(handler) if isinstance(node, ast.Name)}
    expected = sorted(caught & _EXPECTED)
    if expected and any(_computes(node, ctx) for statement in tree.body for node in walk(statement)):
        ctx.report("T2M303", tree, _MESSAGE.format(names=" or ".join(expected)))


def report_expected(tree: ast.With | ast.AsyncWith, ctx: Context) -> None:
    """Report ``with pytest.raises(RuntimeError):``, ``self.assertRaises``, around tensor operations."""
    for item in tree.items:
        call = item.context_expr
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") in ("raises", "assertRaises") and call.args:
            caught = {node.id for node in walk(call.args[0]) if isinstance(node, ast.Name)}
            expected = sorted(caught & (_EXPECTED | {"Exception"}))
            if expected and any(_computes(node, ctx) for statement in tree.body for node in walk(statement)):
                ctx.report("T2M303", tree, _MESSAGE.format(names=" or ".join(expected)))


def _classes(handler: ast.ExceptHandler) -> list[ast.expr]:
    listed = handler.type
    return listed.elts if isinstance(listed, ast.Tuple) else [listed] if listed is not None else []


def _computes(node: ast.AST, ctx: Context) -> bool:
    return isinstance(node, (ast.Call, ast.BinOp, ast.Subscript, ast.AugAssign)) and ctx.kind(
        node.target if isinstance(node, ast.AugAssign) else node
    ).name in ("Tensor", "Parameter")
