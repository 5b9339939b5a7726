"""Gradient contexts: MindSpore records only inside ``value_and_grad``, so ``no_grad`` has nothing to switch off.

Where a gradient function may be running it has: in a network's own code, in what a training step takes in, and in the
functions that these call. There the runtime's context stops it.
"""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.effects import gradient_state
from torch2ms.translator.rules.call_site import DROPPED, CallSite, Leave, Outcome, Replace, recipe
from torch2ms.translator.syntax.ast_walk import walk

__all__ = ["PLAIN_CONTEXT", "dropped", "empty_context", "plain_context"]

PLAIN_CONTEXT = cst.Name("__plain_context__")  # stands for a context manager or decorator that goes


def empty_context(ctx: Context) -> cst.BaseExpression:
    """Return ``nullcontext()``, under the name the file has for it."""
    for node in ctx.analysis.tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "contextlib":
            name = next((alias.asname or alias.name for alias in node.names if alias.name == "nullcontext"), None)
            if name is not None:
                return cst.Call(cst.Name(name))
    return cst.Call(ctx.reference("contextlib.nullcontext"))


def dropped(site: CallSite, ctx: Context) -> Replace | None:
    """Return what stands for a context, a decorator or a statement that goes; None where the value is used."""
    note = ("T2M304", f"{site.row.name} has no effect in MindSpore; dropped")
    if isinstance(ctx.parent(site.tree), ast.withitem) or ctx.use_of(site.tree) == "decorator":
        return Replace(PLAIN_CONTEXT, (note,))
    if isinstance(ctx.small, ast.Expr) and ctx.small.value is site.tree:
        return Replace(DROPPED, (note,))
    return None


@recipe("plain_context")
def plain_context(site: CallSite, ctx: Context) -> Outcome:
    """A context, decorator or statement that goes; where it is kept for later, a context that does nothing."""
    return dropped(site, ctx) or Replace(empty_context(ctx), (("T2M304", f"{site.row.name} has no effect here"),))


@recipe("no_grad")
def no_grad(site: CallSite, ctx: Context) -> Outcome:
    """``with torch.no_grad():`` goes outside networks; inside it becomes the runtime's."""
    parent = ctx.parent(site.tree)
    is_with = isinstance(parent, ast.withitem)
    if isinstance(ctx.small, ast.Expr) and ctx.small.value is site.tree:
        return Replace(DROPPED, (("T2M304", "MindSpore records gradients only inside value_and_grad; dropped"),))
    if not is_with and ctx.use_of(site.tree) != "decorator":
        return Replace(cst.Call(ctx.reference("torch2ms.runtime.autograd.no_grad", None)))  # kept for later
    if _is_in_gradient(site.tree, ctx):
        made = ctx.reference("torch2ms.runtime.autograd.no_grad", None)
        return Replace(cst.Call(made))
    return Replace(PLAIN_CONTEXT)


@recipe("enable_grad")
def enable_grad(site: CallSite, ctx: Context) -> Outcome:
    """``with torch.enable_grad():`` goes, but for what is inside of a ``no_grad`` that is kept."""
    if _may_be_off(site.tree, ctx):
        return Replace(cst.Call(ctx.reference("torch2ms.runtime.autograd.enable_grad", None)))
    return plain_context(site, ctx)


@recipe("grad_mode")
def grad_mode(site: CallSite, ctx: Context) -> Outcome:
    """``set_grad_enabled(mode)`` goes where nothing is recorded anyway; inside of a gradient it is the runtime's."""
    mode = site.argument("mode")
    if mode is None:
        return Leave("its mode is not named")
    flag = mode.tree.value if isinstance(mode.tree, ast.Constant) else None
    if flag is True and not isinstance(ctx.small, ast.Expr):
        return enable_grad(site, ctx)
    if not _is_in_gradient(site.tree, ctx):
        return plain_context(site, ctx)
    function = ctx.reference("torch2ms.runtime.autograd.set_grad_enabled", None)
    return Replace(cst.Call(function, [cst.Arg(mode.code)]))


@recipe("is_grad_enabled")
def is_grad_enabled(site: CallSite, ctx: Context) -> Outcome:
    """``torch.is_grad_enabled()``: what torch would answer, by the text or by the gradient function that runs."""
    told = gradient_state.mode_at(site.tree, ctx)
    if told is not None:
        return Replace(cst.Name(str(told)), (("T2M302", f"torch would answer {told}; MindSpore has no such mode"),))
    if ctx.training.is_recording:
        return Replace(cst.Call(ctx.reference("torch2ms.runtime.autograd.is_grad_enabled", None)))
    if not gradient_state.chooses(site.tree, ctx):
        return Leave("whether a gradient is recorded is decided by value_and_grad, not by a mode")
    records = ctx.reference("torch2ms.runtime.autograd.records", None)
    return Replace(cst.Call(records), (("T2M303", gradient_state.WHILE_RECORDED),))


def _may_be_off(tree: ast.AST, ctx: Context) -> bool:
    """Whether a kept ``no_grad`` may be active around a place: one in the text, or that of whoever calls."""
    if not _is_in_gradient(tree, ctx):
        return False
    if gradient_state.is_off_around(tree, ctx):
        return True
    calls = ctx.training.is_recording or _in_network(ctx, ctx.parent(tree))
    return calls and ctx.once(gradient_state.turns_off)


def _is_in_gradient(tree: ast.AST, ctx: Context) -> bool:
    """Whether a gradient function may be running where a context or decorator stands, or all is recorded."""
    return _in_network(ctx, ctx.parent(tree)) or _in_step(ctx, tree) or _is_run_by_networks(ctx, tree)


def _is_run_by_networks(ctx: Context, tree: ast.AST) -> bool:
    """Whether the code stands in a function that a network's forward pass may call, in this file or another."""
    current: ast.AST | None = tree
    while current is not None:
        is_function = isinstance(current, (ast.FunctionDef, ast.AsyncFunctionDef))
        if is_function and ctx.world.symbols.runs_in_forward(getattr(current, "name", "")):
            return True
        current = ctx.parent(current)
    return False


def _in_step(ctx: Context, tree: ast.AST) -> bool:
    """Whether the code runs inside of a training step's function, or in a function that one calls."""
    if ctx.training.is_recording or _is_asked_by_steps(ctx):
        return True  # recording goes on all the time
    differentiated = ctx.once(_differentiated)
    current: ast.AST | None = tree
    while current is not None and current not in differentiated:
        current = ctx.parent(current)
    return current is not None


def _is_asked_by_steps(ctx: Context) -> bool:
    """Whether a function gives a value to files that train, its own not being one, and does not evaluate a network."""
    function, symbols = ctx.functions[-1], ctx.world.symbols
    if function is None or ctx.training.units or isinstance(function.node, ast.Lambda):
        return False
    called = {_last_name(part.func) for part in walk(function.node) if isinstance(part, ast.Call)}
    returned = any(isinstance(part, ast.Return) and part.value is not None for part in walk(function.node))
    files = symbols.callers(function.name)
    return returned and "eval" not in called and any(symbols.calls_any(path, _BACKWARD) for path in files)


_BACKWARD = frozenset({"backward"})


def _differentiated(ctx: Context) -> frozenset[ast.AST]:
    """Return the statements that training steps take in, and the functions handed to what differentiates them.

    And the file's functions that these call, in any depth.
    """
    functions: dict[str, list[ast.AST]] = {}
    for node in ctx.analysis.nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            functions.setdefault(node.name, []).append(node)
    found: set[ast.AST] = set()
    queue: list[ast.AST] = [statement for unit in ctx.training.units for statement in unit.body]
    for call in ctx.analysis.all(ast.Call):
        if call.args and _last_name(call.func) in _DERIVATIVES:
            first = call.args[0]
            queue += [first] if isinstance(first, ast.Lambda) else functions.get(_last_name(first), [])
    while queue:
        node = queue.pop()
        if node in found:
            continue
        found.add(node)
        called = {_last_name(part.func) for part in walk(node) if isinstance(part, ast.Call)}
        queue.extend(function for name in called for function in functions.get(name, ()))
    return frozenset(found)


_DERIVATIVES = frozenset("grad grad_and_value vjp jvp linearize jacrev jacfwd hessian jacobian hvp vhp".split())


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _in_network(ctx: Context, parent: ast.AST | None) -> bool:
    """Whether the code may run inside a gradient function: in a method of a module."""
    function = ctx.functions[-1]
    if function is None or function.owner is None:
        return False
    if function.name in ("__init__", "reset_parameters", "init_weights", "_init_weights", "_initialize_weights"):
        return False
    return ctx.world.family(function.owner.key).name == "Module"
