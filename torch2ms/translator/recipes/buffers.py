"""Buffers that carry a gradient: what a method assigns to one and reads again, ``self.state = self.net(x)``.

A buffer that is bound anew is a parameter without gradient in MindSpore, and what is assigned to it is copied into it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torch2ms.translator.context import Context
from torch2ms.translator.training.names_used import is_no_grad
from torch2ms.translator.trees import children, walk

__all__ = ["carries_gradient"]

_CUT = frozenset({"detach", "data", "item", "numpy", "tolist", "long", "int", "bool", "argmax", "shape", "size"})


def carries_gradient(name: str, where: ast.AST, ctx: Context) -> bool:
    """Whether a method of a class assigns to ``self.name`` what a gradient flows through, and reads it behind."""
    methods = [node for node in walk(where) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return any(_does(name, method, ctx) for method in methods if method.name != "__init__")


def _does(name: str, method: ast.FunctionDef | ast.AsyncFunctionDef, ctx: Context) -> bool:
    nodes = [] if any("no_grad" in ast.unparse(d) for d in method.decorator_list) else list(_recorded(method.body))
    lines = [
        node.lineno
        for node in nodes
        if isinstance(node, ast.Assign)
        and any(_is_own(target, name) for target in node.targets)
        and _has_gradient(node.value, ctx)
    ]
    if not lines:
        return False
    reads = (node for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load))
    return any(_is_own(node, name) and node.lineno > min(lines) and not _is_cut(node, ctx) for node in reads)


def _recorded(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Yield what a method runs with gradients."""
    pending: list[ast.AST] = [*body]
    while pending:
        node = pending.pop()
        if not is_no_grad(node) and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield node
            pending.extend(children(node))


def _is_own(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == name and getattr(node.value, "id", "") == "self"


def _is_cut(node: ast.AST, ctx: Context) -> bool:
    parent = ctx.parent(node)
    return isinstance(parent, ast.Attribute) and parent.attr in _CUT


def _has_gradient(value: ast.expr, ctx: Context) -> bool:
    """Whether a value is computed from tensors that may have one, or by a network."""
    if isinstance(value, ast.Attribute):
        return value.attr not in _CUT and _has_gradient(value.value, ctx)
    if isinstance(value, ast.Call):
        if isinstance(value.func, ast.Attribute) and value.func.attr in _CUT:
            return False
        inner = [value.func.value] if isinstance(value.func, ast.Attribute) else []
        return ctx.kind(value.func).name == "Module" or any(_has_gradient(part, ctx) for part in [*inner, *value.args])
    if isinstance(value, ast.BinOp):
        return _has_gradient(value.left, ctx) or _has_gradient(value.right, ctx)
    if isinstance(value, (ast.UnaryOp, ast.Subscript)):
        return _has_gradient(value.operand if isinstance(value, ast.UnaryOp) else value.value, ctx)
    kind = ctx.kind(value)
    counts = kind.of.removeprefix("torch.").startswith(("int", "uint", "bool", "long"))
    return isinstance(value, ast.Name) and kind.is_tensor and not counts
