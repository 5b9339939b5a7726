"""``Variable(x)`` and ``torch.tensor(x)``: other tensors than ``x``, which no gradient passes.

Programs of PyTorch's first years wrap every batch in one, and there it is the batch; around what a network computed it
cuts the gradient off, as ``detach()`` does.
"""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.mapping_tables.facts import load_facts
from torch2ms.translator.context import Context
from torch2ms.translator.effects.gradient_state import requires_grad
from torch2ms.translator.rules.call_site import CallSite, Leave, Outcome, Replace, recipe
from torch2ms.translator.syntax.cst_builders import build, undetached
from torch2ms.translator.values.use_evidence import is_loader, uses

__all__ = ["cut_off"]

_DEPTH = 6
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.Module)
_LOADERS = frozenset({"DataLoader", "Dataset"})
_ITERATES = frozenset({"enumerate", "iter", "tqdm", "next", "zip", "reversed", "islice", "cycle"})
_NUMBERS = frozenset({"ndarray", "int", "float", "bool", "str", "none", "Size", "dtype", "device", "image"})


@recipe("variable")
def variable(site: CallSite, ctx: Context) -> Outcome:
    """``Variable(x)`` is ``x`` where that was not computed from weights, and ``ops.stop_gradient(x)`` elsewhere."""
    data = site.argument("data")
    if data is None:
        return Leave("its tensor is not named")
    if undetached(data.code) is not data.code or _is_data(data.tree, ctx, _DEPTH):
        return Replace(data.code)
    return Replace(build("{stop}({x})", stop=ctx.reference("mindspore.ops.stop_gradient"), x=data.code))


def cut_off(code: cst.BaseExpression, source: ast.expr, ctx: Context) -> cst.BaseExpression:
    """Return a new tensor without gradient where what it is made of is a tensor that may have one."""
    kind = ctx.kind(source)
    asked = kind.is_tensor or (kind.name == "unknown" and isinstance(source, _TENSORS) and _is_differentiated(ctx))
    if not asked or _is_data(source, ctx, _DEPTH):
        return code
    return build("{stop}({x})", stop=ctx.reference("mindspore.ops.stop_gradient"), x=code)


_TENSORS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.BinOp)


def _is_differentiated(ctx: Context) -> bool:
    """Whether a statement belongs to a training step, or to a network."""
    info = ctx.functions[-1]
    if info is not None and info.owner is not None and ctx.world.family(info.owner.key).name == "Module":
        return info.name != "__init__"
    return ctx.small in ctx.training.taken or any(ctx.small in unit.body for unit in ctx.training.leaves.units)


def _is_data(tree: ast.expr, ctx: Context, depth: int) -> bool:
    """Whether a value is shown to carry no gradient: a batch of a loader, a tensor made of numbers, integers."""
    if depth == 0:
        return False
    if ctx.kind(tree).name in _NUMBERS:
        return True
    needed = requires_grad(tree, ctx)
    if needed is not None:
        return not needed
    if isinstance(tree, ast.Name):
        stores = _stores_of(tree, ctx)
        return bool(stores) and all(_binds_data(store, tree, ctx, depth - 1) for store in stores)
    if isinstance(tree, ast.BinOp):
        return _is_data(tree.left, ctx, depth - 1) and _is_data(tree.right, ctx, depth - 1)
    if isinstance(tree, (ast.Attribute, ast.Subscript, ast.UnaryOp)):
        if isinstance(tree, ast.Attribute) and load_facts().detaches(tree.attr):
            return True
        return _is_data(tree.operand if isinstance(tree, ast.UnaryOp) else tree.value, ctx, depth - 1)
    return isinstance(tree, ast.Call) and _is_data_made(tree, ctx, depth)


def _is_data_made(call: ast.Call, ctx: Context, depth: int) -> bool:
    function = call.func
    if any(word.arg == "requires_grad" for word in call.keywords):
        return False  # requires_grad() could not tell what it says
    given = [*call.args, *(word.value for word in call.keywords if word.arg not in ("device", "dtype"))]
    if isinstance(function, ast.Attribute) and load_facts().detaches(function.attr):
        return True
    if getattr(function, "id", "") == "next":
        return _is_loader(call, ctx)
    callee = ctx.kind(function)
    if callee.name in ("api", "dtype"):
        return all(_is_data(part, ctx, depth - 1) for part in given)
    if not isinstance(function, ast.Attribute) or callee.name in ("Module", "function", "class"):
        return False
    return all(_is_data(part, ctx, depth - 1) for part in (function.value, *given))


def _binds_data(store: ast.Name, use: ast.Name, ctx: Context, depth: int) -> bool:
    """Whether what binds a name gives it data: a loop over a loader, or an assignment of data."""
    node: ast.AST | None = ctx.parent(store)
    while isinstance(node, (ast.Tuple, ast.List, ast.Starred)):
        node = ctx.parent(node)
    if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        return _is_loader(node.iter, ctx) or _is_batch(node.target, ctx)
    if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
        return False
    value = node.value
    if any(inner is use for inner in ast.walk(value)):
        # ``x = Variable(x)``: what it was before decides, and that is bound elsewhere
        return len(_stores_of(use, ctx)) > 1
    if isinstance(value, ast.Call) and ctx.kind(value.func).of == "torch.autograd.Variable":
        return True
    return _is_data(value, ctx, depth)


def _is_loader(tree: ast.expr, ctx: Context) -> bool:
    """Whether what is gone over is a loader, or ``enumerate(loader)``, ``tqdm(loader)`` and the like."""
    kind = ctx.kind(tree)
    if kind.name in _LOADERS or kind.name in _NUMBERS:
        return True
    if isinstance(tree, ast.Call):
        name = tree.func.attr if isinstance(tree.func, ast.Attribute) else getattr(tree.func, "id", "")
        parts = tree.args if name in _ITERATES else []
        return bool(parts) and any(_is_loader(part, ctx) for part in parts)
    made = [ctx.parent(store) for store in _stores_of(tree, ctx)] if isinstance(tree, ast.Name) else []
    if made and all(isinstance(node, ast.Assign) and _is_iterator(node.value, ctx) for node in made):
        return True
    return not kind.known and is_loader(uses(ctx.analysis.tree).of(tree))


def _is_batch(target: ast.AST, ctx: Context) -> bool:
    """Whether a part of what a loop takes is moved to a device, or asked for an item, as data is."""
    names = [part for part in ast.walk(target) if isinstance(part, ast.Name)]
    found = [uses(ctx.analysis.tree).of(name) for name in names]
    return any(part.is_indexed or {"cuda", "to"} & part.methods.keys() for part in found)


def _is_iterator(tree: ast.expr, ctx: Context) -> bool:
    """Whether a value is an iterator made by hand, as one takes single batches: ``it = iter(loader)``."""
    if not isinstance(tree, ast.Call) or getattr(tree.func, "id", "") != "iter" or not tree.args:
        return False
    return not ctx.kind(tree.args[0]).known or _is_loader(tree.args[0], ctx)


def _stores_of(name: ast.Name, ctx: Context) -> list[ast.Name]:
    """Return where the scope around binds a name; none where it is a parameter."""
    scope = _scope(name, ctx)
    if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        given = scope.args
        known = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
        if any(part is not None and part.arg == name.id for part in known):
            return []
    return [store for store in ctx.once(_stores).get(name.id, ()) if _scope(store, ctx) is scope]


def _stores(ctx: Context) -> dict[str, list[ast.Name]]:
    found: dict[str, list[ast.Name]] = {}
    for node in ctx.analysis.all(ast.Name):
        if not isinstance(node.ctx, ast.Load):
            found.setdefault(node.id, []).append(node)
    return found


def _scope(node: ast.AST, ctx: Context) -> ast.AST | None:
    above = ctx.parent(node)
    while above is not None and not isinstance(above, _SCOPES):
        above = ctx.parent(above)
    return above
