"""Buffers that a copy cannot follow: one that carries a gradient, ``self.state = self.net(x)``, or changes its dtype.

A buffer that is bound anew is a parameter without gradient in MindSpore, and what is assigned to it is copied into it,
in the dtype that it was registered with. One that carries a gradient, or is given a wider dtype (``self.count =
self.count * 0.5`` of ints), stays a buffer of the Cell, which ``parts.set_buffer`` binds anew.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from torch2ms.mapping_tables.facts import load_facts
from torch2ms.translator.effects.names_used import is_no_grad
from torch2ms.translator.syntax.ast_walk import children, walk
from torch2ms.translator.values.dtypes import dtype_of_operator, family
from torch2ms.translator.values.file_facts import FileFacts
from torch2ms.translator.values.kinds import Kind
from torch2ms.translator.values.queries.dtype_widths import is_wider

__all__ = ["carries_gradient", "class_around", "is_bound_live", "put_in_place", "registers"]


def carries_gradient(name: str, where: ast.AST, ctx: FileFacts) -> bool:
    """Whether a method of a class assigns to ``self.name`` what a gradient flows through, and reads it behind."""
    methods = [node for node in walk(where) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return any(_does(name, method, ctx) for method in methods if method.name != "__init__")


def is_bound_live(name: str, where: ast.AST, ctx: FileFacts) -> bool:
    """Whether a buffer carries a gradient or gets a wider dtype, and only its class binds it, by own statements."""
    if ctx.target.mindspore < _SINCE or ctx.world.symbols.sets_on_others(name):
        return False
    stored = [n for n in ctx.analysis.all(ast.Attribute) if n.attr == name and not isinstance(n.ctx, ast.Load)]
    filled = [target for target in ctx.once(_changed_in_place) if _ends(target, name)]
    if not stored and not filled:
        return False
    bound: list[ast.expr] = [node.target for node in ctx.analysis.all(ast.AugAssign) if _is_own(node.target, name)]
    single = [node for node in ctx.analysis.all(ast.Assign) if len(node.targets) == 1]
    given = {node.targets[0]: node.value for node in single if _is_own(node.targets[0], name)}
    bound += given
    inside = set(walk(where))
    own = len(stored) == len(bound) and all(_is_own(target, name) for target in filled)
    if not own or not inside.issuperset((*stored, *filled)):
        return False
    return _widens(name, where, list(given.values()), ctx) or carries_gradient(name, where, ctx)


def _widens(name: str, where: ast.AST, given: list[ast.expr], ctx: FileFacts) -> bool:
    """Whether a buffer of a class is registered with one dtype and bound to a wider one: ints to floats."""
    calls = [node for node in walk(where) if registers(name, node, named=True) and isinstance(node, ast.Call)]
    made = [n for call in calls for n in [*call.args[1:2], *(w.value for w in call.keywords if w.arg == "tensor")]]
    first = {ctx.kind(node).of for node in made}
    if len(made) != 1 or len(calls) != 1 or not all(family(dtype) for dtype in first):
        return False
    own = ctx.kind(made[0])
    return any(_is_wider(value, name, own, ctx) for value in given)


def _is_wider(value: ast.expr, name: str, own: Kind, ctx: FileFacts) -> bool:
    """Whether a value is of a wider dtype than a buffer ``own``, which may be one of its operands."""
    dtype = _result(value, name, own, ctx).of
    if not family(dtype):
        return False
    return _FAMILIES.index(family(dtype)) > _FAMILIES.index(family(own.of)) or is_wider(dtype[6:], own.of[6:])


_FAMILIES = ("bool", "int", "float", "complex")


def _result(value: ast.expr, name: str, own: Kind, ctx: FileFacts) -> Kind:
    """Return the kind of a value, in which ``self.name`` is of the kind ``own``."""
    if _is_own(value, name):
        return own
    dtype = load_facts().cast_of(getattr(value.func, "attr", "")) if isinstance(value, ast.Call) else ""
    if dtype and isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        held = _result(value.func.value, name, own, ctx)
        return replace(held, of=dtype) if held.is_tensor else held
    if not isinstance(value, ast.BinOp):
        return ctx.kind(value)
    left, right = (_result(part, name, own, ctx) for part in (value.left, value.right))
    if not left.is_tensor and not right.is_tensor:
        return ctx.kind(value)
    return replace(own, of=dtype_of_operator(left, right, value.op))


_SINCE = (2, 7)  # Cell.register_buffer


def _changed_in_place(ctx: FileFacts) -> list[ast.expr]:
    """Return what the file changes in place."""
    return [target for node in ctx.analysis.nodes for target, _ in put_in_place(node)]


def put_in_place(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield what a node changes in place, and what it puts there: of ``x.mul_(2).add_(y)`` and ``x += y`` both."""
    if isinstance(node, ast.AugAssign):
        yield _whole(node.target), node.value
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                yield _whole(target), node.value
    elif isinstance(node, ast.Call) and _is_in_place(node.func):
        changed = node.func
        while isinstance(changed, ast.Attribute) and _is_in_place(changed):
            inner = changed.value
            changed = inner.func if isinstance(inner, ast.Call) and _is_in_place(inner.func) else inner
        for value in [*node.args, *(word.value for word in node.keywords)]:
            yield _whole(changed), value
        if not node.args and not node.keywords:
            yield _whole(changed), ast.Constant(0)


def _is_in_place(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else ""
    return name.endswith("_") and not name.startswith("_") and name != "requires_grad_"


def _whole(target: ast.expr) -> ast.expr:
    """Return ``x`` of ``x[0]``."""
    while isinstance(target, ast.Subscript):
        target = target.value
    return target


def registers(name: str, node: ast.AST, *, named: bool = False) -> bool:
    """Whether a node may be ``self.register_buffer(name, ...)``; where it is to be ``named``, by that very name."""
    if not isinstance(node, ast.Call) or getattr(node.func, "attr", "") not in (
        "register_buffer",
        "register_parameter",
    ):
        return False
    given = node.args[0] if node.args else next((w.value for w in node.keywords if w.arg == "name"), None)
    told = isinstance(given, ast.Constant) and given.value == name
    return told or (not named and not isinstance(given, ast.Constant))


_REGISTERING = ("register_buffer", "register_parameter")


def _ends(target: ast.expr, name: str) -> bool:
    return isinstance(target, ast.Attribute) and target.attr == name


def _does(name: str, method: ast.FunctionDef | ast.AsyncFunctionDef, ctx: FileFacts) -> bool:
    nodes = [] if any("no_grad" in ast.unparse(d) for d in method.decorator_list) else list(_recorded(method.body))
    binding = [node for node in nodes if isinstance(node, ast.Assign)]
    given: list[tuple[ast.expr, ast.expr]] = [
        (target, node.value) for node in binding for part in node.targets for target in _single(part)
    ]
    given += [pair for node in nodes for pair in put_in_place(node)]
    places = [
        value
        for target, value in given
        if _is_own(target, name) and not isinstance(value, ast.Constant) and _has_gradient(value, ctx)
    ]
    reads = [
        node
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and _is_own(node, name)
    ]
    return any(
        read.lineno > place.lineno and not _is_cut(read, ctx) and not _is_beside(read, place, ctx)
        for place in places
        for read in reads
    )


def _single(target: ast.expr) -> list[ast.expr]:
    """Return the targets in one: ``x`` and ``y`` of ``x, y = f()``."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return [inner for part in target.elts for inner in _single(part)]
    return [target.value if isinstance(target, ast.Starred) else target]


def _is_beside(read: ast.AST, place: ast.AST, ctx: FileFacts) -> bool:
    """Whether one stands in the branch of an ``if`` that does not run where the other does."""
    above: dict[ast.AST, ast.AST] = {}
    node: ast.AST | None = place
    while node is not None and (parent := ctx.parent(node)) is not None:
        above[parent] = node
        node = parent
    inner, node = read, ctx.parent(read)
    while node is not None and node not in above:
        inner, node = node, ctx.parent(node)
    return isinstance(node, ast.If) and inner in node.orelse and above[node] in node.body


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


def _is_cut(node: ast.AST, ctx: FileFacts) -> bool:
    parent = ctx.parent(node)
    return isinstance(parent, ast.Attribute) and load_facts().detaches(parent.attr)


def _has_gradient(value: ast.expr, ctx: FileFacts) -> bool:
    """Whether a value is computed from tensors that may have one, or by a network."""
    if isinstance(value, ast.Attribute) and getattr(value.value, "id", "") == "self":
        return ctx.kind(value).name == "Parameter" or value.attr in ctx.once(_computed)
    if isinstance(value, ast.Attribute):
        return not load_facts().detaches(value.attr) and _has_gradient(value.value, ctx)
    if isinstance(value, ast.Call):
        if isinstance(value.func, ast.Attribute) and load_facts().detaches(value.func.attr):
            return False
        if ctx.kind(value.func).name == "function":  # of the project: self.filters = self.make_filters()
            return _may_have_gradient(ctx.kind(value))
        inner = [value.func.value] if isinstance(value.func, ast.Attribute) else []
        return ctx.kind(value.func).name == "Module" or any(_has_gradient(part, ctx) for part in [*inner, *value.args])
    if isinstance(value, ast.BinOp):
        return _has_gradient(value.left, ctx) or _has_gradient(value.right, ctx)
    if isinstance(value, (ast.Tuple, ast.List)):
        return any(_has_gradient(part, ctx) for part in value.elts)
    if isinstance(value, (ast.UnaryOp, ast.Subscript)):
        return _has_gradient(value.operand if isinstance(value, ast.UnaryOp) else value.value, ctx)
    return isinstance(value, ast.Name) and _may_have_gradient(ctx.kind(value))


def _computed(ctx: FileFacts) -> set[str]:
    """Return the attributes of ``self`` that the file binds to what networks or the project's functions compute."""
    found = set()
    for node in ctx.analysis.all(ast.Assign):
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Attribute) and isinstance(value, ast.Call) and _is_own(target, target.attr):
            made = ctx.kind(value.func).name in ("function", "Module") and _may_have_gradient(ctx.kind(value))
            found.update([target.attr] if made else [])
    return found


def _may_have_gradient(kind: Kind) -> bool:
    if kind.name in ("tuple", "list"):
        return any(map(_may_have_gradient, kind.items))
    return kind.is_tensor and not kind.of.removeprefix("torch.").startswith(("int", "uint", "bool", "long"))


def class_around(node: ast.AST, ctx: FileFacts) -> ast.ClassDef | None:
    """Return the class that a node stands in."""
    above = ctx.parent(node)
    while above is not None and not isinstance(above, ast.ClassDef):
        above = ctx.parent(above)
    return above
