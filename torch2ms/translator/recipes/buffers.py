"""Buffers that carry a gradient: what a method assigns to one and reads again, ``self.state = self.net(x)``.

A buffer that is bound anew is a parameter without gradient in MindSpore, and what is assigned to it is copied into it.
One that carries a gradient stays a buffer of the Cell, which ``parts.set_buffer`` binds anew.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torch2ms.translator.context import Context
from torch2ms.translator.kinds import Kind
from torch2ms.translator.training.names_used import is_no_grad
from torch2ms.translator.trees import children, walk

__all__ = ["carries_gradient", "class_around", "is_bound_live"]

_CUT = frozenset({"detach", "data", "item", "numpy", "tolist", "long", "int", "bool", "argmax", "shape", "size"})


def carries_gradient(name: str, where: ast.AST, ctx: Context) -> bool:
    """Whether a method of a class assigns to ``self.name`` what a gradient flows through, and reads it behind."""
    methods = [node for node in walk(where) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return any(_does(name, method, ctx) for method in methods if method.name != "__init__")


def is_bound_live(name: str, where: ast.AST, ctx: Context) -> bool:
    """Whether a buffer carries a gradient, and its class binds it with statements of their own alone."""
    if ctx.target.mindspore < _SINCE or ctx.world.symbols.sets_on_others(name):
        return False
    stored = [n for n in ctx.analysis.all(ast.Attribute) if n.attr == name and not isinstance(n.ctx, ast.Load)]
    if not stored:
        return False
    bound: list[ast.expr] = [node.target for node in ctx.analysis.all(ast.AugAssign) if _is_own(node.target, name)]
    single = (node.targets[0] for node in ctx.analysis.all(ast.Assign) if len(node.targets) == 1)
    bound += [target for target in single if _is_own(target, name)]
    inside = set(walk(where))
    changed = any(_is_in_place(node, name) for node in inside)
    return (
        len(stored) == len(bound) and inside.issuperset(stored) and not changed and carries_gradient(name, where, ctx)
    )


_SINCE = (2, 7)  # Cell.register_buffer


def _is_in_place(node: ast.AST, name: str) -> bool:
    """Whether a method changes a buffer of its own in place, ``self.state.mul_(0.9)``."""
    called = node.func if isinstance(node, ast.Call) else None
    in_place = isinstance(called, ast.Attribute) and called.attr.endswith("_") and not called.attr.endswith("__")
    return in_place and isinstance(called, ast.Attribute) and _is_own(called.value, name)


def _does(name: str, method: ast.FunctionDef | ast.AsyncFunctionDef, ctx: Context) -> bool:
    nodes = [] if any("no_grad" in ast.unparse(d) for d in method.decorator_list) else list(_recorded(method.body))
    binding = [node for node in nodes if isinstance(node, (ast.Assign, ast.AugAssign))]
    lines = [
        node.lineno
        for node in binding
        if any(_is_own(target, name) for target in _targets(node)) and _has_gradient(node.value, ctx)
    ]
    if not lines:
        return False
    reads = (node for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load))
    return any(_is_own(node, name) and node.lineno > min(lines) and not _is_cut(node, ctx) for node in reads)


def _targets(node: ast.Assign | ast.AugAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


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
    if isinstance(value, ast.Attribute) and getattr(value.value, "id", "") == "self":
        return ctx.kind(value).name == "Parameter" or value.attr in ctx.once(_computed)
    if isinstance(value, ast.Attribute):
        return value.attr not in _CUT and _has_gradient(value.value, ctx)
    if isinstance(value, ast.Call):
        if isinstance(value.func, ast.Attribute) and value.func.attr in _CUT:
            return False
        if ctx.kind(value.func).name == "function":  # of the project: self.filters = self.make_filters()
            return _may_have_gradient(ctx.kind(value))
        inner = [value.func.value] if isinstance(value.func, ast.Attribute) else []
        return ctx.kind(value.func).name == "Module" or any(_has_gradient(part, ctx) for part in [*inner, *value.args])
    if isinstance(value, ast.BinOp):
        return _has_gradient(value.left, ctx) or _has_gradient(value.right, ctx)
    if isinstance(value, (ast.UnaryOp, ast.Subscript)):
        return _has_gradient(value.operand if isinstance(value, ast.UnaryOp) else value.value, ctx)
    return isinstance(value, ast.Name) and _may_have_gradient(ctx.kind(value))


def _computed(ctx: Context) -> set[str]:
    """Return the attributes of ``self`` that the file binds to what networks or the project's functions compute."""
    found = set()
    for node in ctx.analysis.all(ast.Assign):
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Attribute) and isinstance(value, ast.Call) and _is_own(target, target.attr):
            made = ctx.kind(value.func).name in ("function", "Module") and _may_have_gradient(ctx.kind(value))
            found.update([target.attr] if made else [])
    return found


def _may_have_gradient(kind: Kind) -> bool:
    return kind.is_tensor and not kind.of.removeprefix("torch.").startswith(("int", "uint", "bool", "long"))


def class_around(node: ast.AST, ctx: Context) -> ast.ClassDef | None:
    """Return the class that a node stands in."""
    above = ctx.parent(node)
    while above is not None and not isinstance(above, ast.ClassDef):
        above = ctx.parent(above)
    return above
