"""Functions that give derivatives, ``torch.func.grad(f)``: reported where they are derived once more."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.effects import gradient_state
from torch2ms.translator.effects.gradient_hooks import names_weight
from torch2ms.translator.rules.call_site import CallSite, Leave, Outcome, Replace, recipe
from torch2ms.translator.rules.emission import emit_call
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.training.leaf_model import is_kept_twice
from torch2ms.translator.values.queries.known_values import values_of

__all__: list[str] = []

_DERIVATIVES = ("torch.func.", "torch.autograd.")
_WALKS = frozenset({"torch.func.vmap", "torch.func.functional_call", "torch.func.stack_module_state"})
_AGAIN = (
    "MindSpore 2.10 loses parts of second derivatives through what is no last step: sums and means over an axis, "
    "norms, concatenations, products of matrices. Compare them"
)
_DEPTH = 4


@recipe("derivative")
def derivative(site: CallSite, ctx: Context) -> Outcome:
    """``torch.func.grad(f)``: the same call, with a word where ``f`` is a derivative itself."""
    made = site.updated.with_changes(func=ctx.reference(site.option.target))
    given = next(iter(site.tree.args), next((k.value for k in site.tree.keywords if k.arg == "func"), None))
    inner = _derived(given, ctx) if given is not None else None
    lossy = inner is not None and not (inner and all(_is_plain(function, ctx) for function in inner))
    return Replace(cst.ensure_type(made, cst.Call), (("T2M303", f"{site.row.name}: {_AGAIN}"),) if lossy else ())


def _derived(given: ast.expr, ctx: Context, depth: int = _DEPTH) -> list[ast.expr] | None:
    """Return the functions that are derived inside of another one, which is derived again; None when none is."""
    found: list[ast.expr] = []
    seen = False
    for node in _body(given, ctx):
        if isinstance(node, ast.Call) and _is_derivative(node, ctx):
            seen = True
            inner = _derived(node.args[0], ctx, depth - 1) if node.args and depth else None
            found += node.args[:1] if inner is None else inner
        elif isinstance(node, ast.Name) and node is not given and depth:
            for value in values_of(node, ctx):
                deeper = _derived(value, ctx, depth - 1) if isinstance(value, ast.Call) else None
                seen, found = seen or deeper is not None, found + (deeper or [])
    return found if seen else None


def _is_derivative(call: ast.Call, ctx: Context) -> bool:
    kind = ctx.kind(call.func)
    return kind.name == "api" and kind.of.startswith(_DERIVATIVES) and kind.of not in _WALKS


def _body(function: ast.expr, ctx: Context) -> Iterator[ast.AST]:
    """Yield the nodes of what an expression is or computes: a lambda, a call, a function of the file by its name."""
    if isinstance(function, ast.Name):
        for value in values_of(function, ctx):
            yield from walk(value)
        for node in ctx.analysis.nodes:
            if isinstance(node, ast.FunctionDef) and node.name == function.id:
                yield from walk(node)
        return
    yield from walk(function)


def _is_plain(function: ast.expr, ctx: Context) -> bool:
    """Whether the text shows a computation whose second derivatives MindSpore has all of."""
    nodes = list(_body(function, ctx))
    ends = [n.body if isinstance(n, ast.Lambda) else n.value for n in nodes if isinstance(n, (ast.Lambda, ast.Return))]
    calls = (node for node in nodes if not isinstance(node, (ast.FunctionDef, ast.arguments)))
    return len(ends) == 1 and is_kept_twice(calls, ends[0])


@recipe("vjp", takes_stars=True)
def vjp(site: CallSite, ctx: Context) -> Outcome:
    """``vjp(f, x)`` of tensors is MindSpore's, which knows no containers, and takes a tensor given twice for one.

    Inside of a ``no_grad`` that is kept MindSpore's gives zeros.
    """
    given = site.tree.args[1:]
    names = [ast.unparse(argument) for argument in given]
    is_plain = all(ctx.kind(argument).is_tensor for argument in given) and len(set(names)) == len(names)
    is_off = gradient_state.is_off_around(site.tree, ctx) or (
        ctx.training.is_recording and ctx.once(gradient_state.turns_off)
    )
    if is_plain and not is_off and not (site.tree.args and _gives_container(site.tree.args[0], ctx)):
        return emit_call(site, ctx)
    return Replace(site.updated.with_changes(func=ctx.reference("torch2ms.runtime.derivatives.vjp_of")))


def _gives_container(function: ast.expr, ctx: Context) -> bool:
    """Whether the text shows a function that gives a dictionary or list, or a tuple with one."""
    ends = [
        node.body if isinstance(node, ast.Lambda) else node.value
        for node in _body(function, ctx)
        if isinstance(node, (ast.Lambda, ast.Return))
    ]
    parts = [part for end in ends for part in (end.elts if isinstance(end, ast.Tuple) else [end])]
    return any(isinstance(part, (ast.Dict, ast.List, ast.DictComp, ast.ListComp)) for part in parts)


@recipe("gradient_hook")
def gradient_hook(site: CallSite, ctx: Context) -> Outcome:
    """``weight.register_hook(f)`` stays, so does that of what a network computes in its forward pass, or is recorded.

    Elsewhere the tensor may be computed outside of the function that is differentiated, which calls no hook of it.
    """
    if ctx.options.mode != "pynative":
        return Leave("hooks are called in PyNative mode only")
    if site.receiver_tree is None:
        return Leave("it is not called on a tensor")
    function = ctx.functions[-1]
    owner = function.owner if function is not None and function.name != "__init__" else None
    is_inside = owner is not None and ctx.world.family(owner.key).name == "Module"
    if ctx.training.calls_hooks and not names_weight(site.receiver_tree, ctx.analysis) and _comes_and_goes(site, ctx):
        return Leave("what was recorded goes on calling a hook that is removed: its second backward pass would, too")
    if is_inside or ctx.training.calls_hooks or names_weight(site.receiver_tree, ctx.analysis):
        return Replace(site.updated)
    return Leave("it is called for tensors of the function that is differentiated: put it into the network's forward")


def _comes_and_goes(site: CallSite, ctx: Context) -> bool:
    """Whether a hook is removed in a file that goes through a record twice, or by a function: the hook itself."""
    parent = ctx.parent(site.tree)
    names = {t.id for t in parent.targets if isinstance(t, ast.Name)} if isinstance(parent, ast.Assign) else set()
    gone = [n for n in ctx.analysis.all(ast.Attribute) if n.attr == "remove" and getattr(n.value, "id", "") in names]
    own = ctx.functions[-1]
    bodies = [n for n in ctx.analysis.all(ast.FunctionDef) if own is None or n is not own.node]
    inner = any(removal in walk(body) for removal in gone for body in bodies)
    return bool(gone) and (inner or any(word.arg == "retain_graph" for word in ctx.analysis.all(ast.keyword)))
