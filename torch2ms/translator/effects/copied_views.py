"""Values written into what shares memory in PyTorch and not in MindSpore: ``c.real[0] = 1``, ``y = x.flatten(1)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torch2ms.mapping_tables.facts import load_facts
from torch2ms.translator.effects.aliases import shared_memory
from torch2ms.translator.effects.definite_assignment import element_of
from torch2ms.translator.effects.differentiation import are_differentiated
from torch2ms.translator.effects.liveness import read_again
from torch2ms.translator.effects.pass_through import is_itself
from torch2ms.translator.effects.sharing import (
    PARAMETERS,
    is_fresh,
    is_shared_view,
    owner_of,
    seen_elsewhere,
    what_index_gives,
)
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.file_facts import FileFacts
from torch2ms.translator.values.kinds import candidates
from torch2ms.translator.values.queries.device_arguments import describes_device
from torch2ms.translator.values.scopes import root_of

__all__ = ["left_view", "lost_writes"]


def _casts(name: str) -> bool:
    """Whether a method may give a tensor in another dtype, or an array."""
    return name == "numpy" or load_facts().may_cast(name)


def lost_writes(tree: ast.AST | None, ctx: FileFacts) -> Iterator[str]:
    """Yield a message for each assignment of elements to a copy, where torch changes the tensor itself."""
    if not isinstance(tree, (ast.Assign, ast.AugAssign)):
        return
    for target in tree.targets if isinstance(tree, ast.Assign) else [tree.target]:
        if isinstance(target, ast.Subscript) and (ctx.kind(target.value).is_tensor or _is_array(target.value, ctx)):
            shown = _copied(target.value, tree, ctx)
            if not shown and _is_differentiated(tree, ctx):
                shown = _copied_in_gradients(target.value, tree, ctx)
            shown = shown or _left_behind(target.value, tree, ctx)
            if shown:
                yield f"{shown} shares its memory in torch and is a copy in MindSpore: the other keeps its old values"
            elif left := _left_by_elements(target, tree, ctx):
                yield left


def _left_by_elements(target: ast.Subscript, tree: ast.stmt, ctx: FileFacts) -> str:
    """Return what is to be said where an assignment gives a tensor memory of its own, for its gradient.

    A mask, a list or ``...`` does so anywhere in what is differentiated; all else does where MindSpore records.
    """
    if not isinstance(target.value, ast.Name):
        return ""
    is_whole = isinstance(target.slice, ast.Constant) and target.slice.value is ...
    if not is_whole and what_index_gives(target.slice, ctx) != "copy":
        return left_view(target.value.id, tree, ctx) if _is_differentiated(tree, ctx) else ""
    view = ctx.once(_bindings).get((_scope(tree, ctx), target.value.id))
    made = view if isinstance(view, (ast.Call, ast.Attribute)) else getattr(view, "value", None)
    if (
        view is not None
        and isinstance(made, (ast.Call, ast.Attribute))
        and are_differentiated(ctx)
        and not is_itself(made, ctx)
        and is_shared_view(made, ctx)
        and _is_read_later(made, tree, ctx)
    ):
        return f"MindSpore gives {target.value.id} memory of its own here, and {ast.unparse(view)} keeps its old values"
    return left_view(target.value.id, tree, ctx)


def left_view(name: str, use: ast.stmt | ast.expr, ctx: FileFacts) -> str:
    """Return what is to be said of a view that does not see how a tensor is changed in place, and is read later."""
    if not are_differentiated(ctx):
        return ""
    origin = _origin(name, use, ctx)
    for other, bound in _held_later(name, use, ctx):
        if is_shared_view(bound, ctx) and _origin(other, use, ctx) == origin:
            return f"{other} keeps its old values: MindSpore gives {name} memory of its own, for the gradient to see it"
    return ""


def _origin(name: str, use: ast.AST, ctx: FileFacts) -> str:
    """Return the name of the tensor that a name is a view of, or another name for: ``x`` of ``z = y[0]; y = x.t()``."""
    passed: list[str] = []
    while name not in passed:
        passed.append(name)
        bound = ctx.once(_bindings).get((_scope(use, ctx), name))
        is_other = bound is not None and (isinstance(bound, ast.Name) or is_shared_view(bound, ctx))
        name = (root_of(_viewed(bound, ctx)[0]) if bound is not None and is_other else None) or name
    return name


def _held_later(name: str, use: ast.AST, ctx: FileFacts) -> Iterator[tuple[str, ast.expr]]:
    """Yield the other names of a function that are bound before a place and read behind it, with their values."""
    line = getattr(use, "lineno", 0)
    for (scope, other), bound in ctx.once(_bindings).items():
        if scope is not _scope(use, ctx) or bound is None or other == name or bound.lineno >= line:
            continue
        reads = (n for n in ctx.analysis.all(ast.Name) if n.id == other and isinstance(n.ctx, ast.Load))
        if any(read.lineno > line for read in reads):
            yield other, bound


def _copied(value: ast.expr, tree: ast.stmt, ctx: FileFacts) -> str:
    """Return the view that an expression is, or that the one binding of a name gives it; empty where it is none."""
    if isinstance(value, ast.Name):
        binding = ctx.once(_bindings).get((_scope(value, ctx), value.id))
        view = _view(binding, ctx) if binding is not None else None
        if view is None or binding is None or root_of(view) == value.id or _is_last_holder(view, tree, ctx):
            return ""
        if (
            isinstance(view, ast.Call)
            and _casts(getattr(view.func, "attr", ""))
            and not _is_read_later(view, tree, ctx)
        ):
            return ""
        return ast.unparse(view)
    view = _view(value, ctx)
    return ast.unparse(view) if view is not None else ""


def _is_last_holder(view: ast.expr, tree: ast.stmt, ctx: FileFacts) -> bool:
    """Whether nothing but a view sees the memory behind a statement: what it is made of was made here, and is done."""
    shared = shared_memory(view, ctx)
    if shared is None:
        return False
    return all(_is_done(source, tree, ctx) if isinstance(source, ast.Name) else is_fresh(source, ctx)
               for source in shared.sources)  # fmt: skip


def _is_done(source: ast.Name, tree: ast.stmt, ctx: FileFacts) -> bool:
    return (
        (_scope(tree, ctx) is not None or ctx.world.symbols.is_program_alone(ctx.path))
        and owner_of(source.id, tree, ctx) == "fresh"
        and seen_elsewhere(source.id, tree, ctx, source) == "fresh"
        and not read_again(source.id, tree, ctx)
        and all(_scope(n, ctx) is _scope(tree, ctx) for n in ctx.analysis.all(ast.Name) if n.id == source.id)
    )


def _left_behind(value: ast.expr, tree: ast.stmt, ctx: FileFacts) -> str:
    """Return the copied view that another name holds of the tensor whose elements change, and that is read later."""
    if not isinstance(value, ast.Name) or not ctx.kind(value).is_tensor:
        return ""
    for _, bound in _held_later(value.id, tree, ctx):
        view = _view(bound, ctx)
        if isinstance(view, ast.Call) and set(candidates(ctx.kind(view.func))) & PARAMETERS:
            continue  # p = w = Parameter(w)
        is_cast = isinstance(view, ast.Call) and _casts(getattr(view.func, "attr", ""))
        if view is not None and not is_cast and value.id in map(root_of, _viewed(view, ctx)):
            return ast.unparse(view)
    return ""


def _viewed(view: ast.expr, ctx: FileFacts) -> tuple[ast.expr, ...]:
    """Return the tensors that a view is made of: by a method, by a function of torch, by a layer."""
    while isinstance(view, ast.Subscript) and isinstance(view.value, ast.Call):  # torch.split(x, 1)[0]
        view = view.value
    shared = shared_memory(view, ctx)
    if shared is not None:
        return shared.sources
    function = view.func if isinstance(view, ast.Call) else view
    return (function.value if isinstance(function, ast.Attribute) else view,)


def _copied_in_gradients(value: ast.expr, tree: ast.stmt, ctx: FileFacts) -> str:
    """Return the view by a method, of the expression or the one binding of a name, if its whole is read later.

    Views share memory in MindSpore too, but not where it records operations for their gradients: there an index or a
    slice is a view, and all else is a copy.
    """
    view = ctx.once(_bindings).get((_scope(value, ctx), value.id)) if isinstance(value, ast.Name) else value
    while isinstance(view, ast.Subscript) and not isinstance(view.value, ast.Name):  # x.chunk(2)[0]
        view = view.value
    function = view.func if isinstance(view, ast.Call) else view
    if view is None or not isinstance(function, ast.Attribute) or shared_memory(view, ctx) is None:
        return ""
    if not load_facts().may_share_since(function.attr, ctx.target.mindspore) or is_itself(view, ctx):
        return ""
    return ast.unparse(view) if root_of(view) is not None and _is_read_later(view, tree, ctx) else ""


def _is_differentiated(tree: ast.stmt, ctx: FileFacts) -> bool:
    """Whether MindSpore may record a statement: in a forward pass, in a function of one, where all is recorded."""
    if _scope(tree, ctx) in ctx.once(_forward_passes):
        return True
    plan = ctx.training
    return plan.is_recording or any(tree in unit.body for unit in (*plan.leaves.units, *plan.units))


_SETTING_UP = frozenset({"__init__", "reset_parameters", "init_weights", "_init_weights"})


def _forward_passes(ctx: FileFacts) -> frozenset[ast.AST]:
    """Return the functions that a file's networks run: ``forward``, the methods beside it, and what those call."""
    found: list[ast.AST] = []
    for owner in ctx.analysis.all(ast.ClassDef):
        methods = [node for node in owner.body if isinstance(node, ast.FunctionDef)]
        if any(method.name == "forward" for method in methods):
            found += [method for method in methods if method.name not in _SETTING_UP]
    functions = {node.name: node for node in ctx.analysis.tree.body if isinstance(node, ast.FunctionDef)}
    for function in found:  # it grows while it is read
        calls = (node.func for node in walk(function) if isinstance(node, ast.Call))
        found += [
            functions.pop(called.id) for called in calls if isinstance(called, ast.Name) and called.id in functions
        ]
    return frozenset(found)


def _view(value: ast.expr, ctx: FileFacts) -> ast.expr | None:
    """Return a view that MindSpore computes anew; None where it shares memory as well, or is no view."""
    if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Call):
        return _view(value.value, ctx)
    function = value.func if isinstance(value, ast.Call) else value
    if isinstance(function, ast.Attribute) and _casts(function.attr):
        return value if isinstance(value, ast.Call) and _casts_to_same(value, function, ctx) else None
    shared = shared_memory(value, ctx)
    if shared is None or is_itself(value, ctx) or shared.fact.shares_since(ctx.target.mindspore):
        return None
    if shared.fact.writes or shared.fact.memory == "held":
        return None
    takes_memory = shared.fact.memory == "view" and isinstance(value, ast.Call) and ctx.kind(value.func).name == "api"
    known = any(ctx.kind(source).name in ("Tensor", "Parameter", "ndarray") for source in shared.sources)
    return value if known or takes_memory else None  # torch.from_numpy(a): an array, whatever is known of it


def _is_array(value: ast.expr, ctx: FileFacts) -> bool:
    return isinstance(value, ast.Name) and ctx.kind(value).name == "ndarray"


def _casts_to_same(call: ast.Call, function: ast.Attribute, ctx: FileFacts) -> bool:
    """Whether a tensor is given the dtype that it has, or its numbers to numpy: torch hands out the same memory."""
    before = ctx.kind(function.value)
    if not before.is_tensor or any(word.arg == "copy" for word in call.keywords):
        return False
    given = call.args[0] if function.attr == "type_as" and call.args else call
    if function.attr == "numpy":
        return True
    if function.attr == "to" and call.args and describes_device(call.args[0], ctx):
        return False
    return not before.of or ctx.kind(given).of in ("", before.of)


def _is_read_later(view: ast.expr, tree: ast.stmt, ctx: FileFacts) -> bool:
    """Whether the tensor that a cast or an array is made of is read behind the statement that changes them."""
    sources = _viewed(view, ctx)
    if is_fresh(sources[0], ctx):  # ``torch.zeros(n).to(device)``: nothing else holds what the cast is made of
        return False
    roots = set(map(root_of, sources))
    return any(
        node.id in roots and isinstance(node.ctx, ast.Load) and node.lineno > tree.lineno
        for node in ctx.analysis.all(ast.Name)
    )


def _bindings(ctx: FileFacts) -> dict[tuple[ast.AST | None, str], ast.expr | None]:
    """Return what each name is bound to in its function; None where that is several things, or not an expression."""
    found: dict[tuple[ast.AST | None, str], ast.expr | None] = {}
    for node in ctx.analysis.nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            target: ast.expr = node
            parent = ctx.parent(node)
            while isinstance(parent, (ast.Tuple, ast.List)):  # a, b = x.chunk(2)
                target, parent = parent, ctx.parent(parent)
            key = (_scope(node, ctx), node.id)
            value = element_of(target, parent.value, node.id) if isinstance(parent, ast.Assign) else None
            found[key] = value if key not in found else None
    return found


def _scope(tree: ast.AST, ctx: FileFacts) -> ast.AST | None:
    parent = ctx.parent(tree)
    while parent is not None and not isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        parent = ctx.parent(parent)
    return parent
