"""Gradient modes, compilers, precision: what a program says about how to run, and MindSpore needs not be told."""

from __future__ import annotations

import ast
from dataclasses import replace

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.effects.recordability import GRAPHS, keeps_graph
from torch2ms.translator.effects.sharing import owner_of
from torch2ms.translator.rules.call_site import CallSite, Leave, Outcome, Replace, recipe
from torch2ms.translator.rules.emission import emit_call
from torch2ms.translator.rules.recipes.contexts import dropped
from torch2ms.translator.syntax.cst_builders import build, fix_commas, parse_expression

__all__: list[str] = []


@recipe("transparent")
def transparent(site: CallSite, ctx: Context) -> Outcome:
    """``torch.compile(network)`` is the network; as a decorator or a statement it goes; without one it does nothing."""
    first = None
    if site.bound is not None and site.bound.signature.parameters:
        first = site.bound.get(site.bound.signature.parameters[0].name)
    args = site.updated.args
    if ctx.use_of(site.tree) == "decorator" or (first is None and not args):
        return dropped(site, ctx) or Leave("there is nothing to stand for the call")
    if first is not None:
        return Replace(first.code)
    if site.bound is not None:  # torch.compile(dynamic=True) without a function: a decorator for later
        return Replace(parse_expression("lambda function: function"))
    return (
        Replace(args[0].value) if not args[0].star and args[0].keyword is None else Leave("its argument is not named")
    )


@recipe("annotated")
def annotated(site: CallSite, ctx: Context) -> Outcome:
    """``torch.jit.annotate(type, value)`` is the value."""
    value = site.argument("the_value")
    return Replace(value.code) if value is not None else Leave("its value is not named")


@recipe("recorded_gradient")
def recorded_gradient(site: CallSite, ctx: Context) -> Outcome:
    """``torch.autograd.grad(loss, weights)``: the gradients of what was recorded."""

    if site.tree not in ctx.training.asked:
        return Leave(_NO_RECORD)
    made = emit_call(site, ctx)
    if isinstance(made, Leave) or not keeps_graph(site.tree):
        return made
    if ctx.target.mindspore < GRAPHS:
        return replace(
            made, codes=(*made.codes, ("T2M303", "where create_graph is true it raises NotImplementedError"))
        )
    code = cst.ensure_type(made.code, cst.Call)
    return replace(made, code=code.with_changes(func=ctx.reference("torch2ms.runtime.higher.grad")))


_NO_RECORD = (
    "a gradient that is differentiated again (create_graph=True), or by a tensor that is changed in place, is no part "
    "of MindSpore's records: mindspore.grad of a function gives it, compiled by mindspore.jit where it is to go on"
)


@recipe("literal")
def literal(site: CallSite, ctx: Context) -> Outcome:
    """A call whose result is always the same in MindSpore: its target is the value."""
    return Replace(parse_expression(site.option.target))


@recipe("switches")
def switches(site: CallSite, ctx: Context) -> Outcome:
    """A module of settings that MindSpore has not: setting one is dropped, and nothing else is known of it."""
    return Leave("MindSpore has no such settings to read or to hand on")


@recipe("isinstance")
def isinstance_of(site: CallSite, ctx: Context) -> Outcome:
    """``torch.jit.isinstance(x, torch.Tensor)`` -> ``isinstance``, which takes no ``List[int]``."""
    value, wanted = site.argument("obj"), site.argument("target_type")
    if value is None or wanted is None:
        return Leave("its arguments have no counterpart")
    if any(isinstance(part, ast.Subscript) for part in ast.walk(wanted.tree)):
        return Leave("what a container holds is not compared by isinstance")
    return Replace(build("isinstance({x}, {t})", x=value.code, t=wanted.code))


@recipe("call_now", takes_stars=True)
def call_now(site: CallSite, ctx: Context) -> Outcome:
    """``checkpoint(function, *args)`` -> ``function(*args)``: the activations are kept instead of computed anew."""
    args = [arg for arg in site.updated.args if arg.keyword is None or arg.keyword.value not in _CHECKPOINT_SETTINGS]
    if not args or args[0].star:
        return Leave("the function is not named")
    if any(arg.star == "**" for arg in args):
        return Leave("what ** holds may be settings of checkpoint")
    if args[0].keyword is not None:
        return Leave("the function is passed by name")
    rest = args[1:]
    if rest:
        rest[-1] = rest[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    function = args[0].value
    if not isinstance(function, (cst.Name, cst.Attribute, cst.Call, cst.Subscript)) and not function.lpar:
        function = function.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return Replace(cst.Call(function, rest))


_CHECKPOINT_SETTINGS = frozenset(
    {"use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug", "early_stop"}
)


@recipe("checkpoint_sequential")
def checkpoint_sequential(site: CallSite, ctx: Context) -> Outcome:
    """``checkpoint_sequential(layers, segments, x)`` -> ``layers(x)`` for a Sequential."""
    functions, value = site.argument("functions"), site.argument("input")
    if functions is None or value is None or ctx.kind(functions.tree).name != "Module":
        return Leave("its layers are no Sequential")
    return Replace(cst.Call(functions.code, [cst.Arg(value.code)]))


@recipe("collective")
def collective(site: CallSite, ctx: Context) -> Outcome:
    """``dist.all_reduce(x)`` changes ``x``; MindSpore's gives a new tensor, which ``x`` is bound to."""

    tensor = site.argument("tensor")
    is_statement = isinstance(ctx.small, ast.Expr) and ctx.small.value is site.tree
    if tensor is None or not is_statement or not isinstance(tensor.tree, (ast.Name, ast.Attribute, ast.Subscript)):
        return Leave("it changes a tensor that cannot be bound anew here")
    made = emit_call(site, ctx)
    if isinstance(made, Leave):
        return made
    name = ast.unparse(tensor.tree)
    if ctx.kind(tensor.tree).name == "Parameter" or _is_data(tensor.tree):
        args = fix_commas([cst.Arg(_plain(tensor.code)), cst.Arg(made.code)], ())
        return Replace(cst.Call(ctx.reference("mindspore.ops.assign"), args), made.codes)
    owned = isinstance(tensor.tree, ast.Name) and owner_of(tensor.tree.id, site.tree, ctx) == "fresh"
    # Whoever else holds the tensor (a list, a network, the caller) must see the change.
    ctx.rebind.append(name if owned or isinstance(tensor.tree, ast.Subscript) else f"{name}[...]")
    return made


def _is_data(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Attribute) and tree.attr == "data"


def _plain(code: cst.BaseExpression) -> cst.BaseExpression:
    """Return ``p`` of what ``p.data`` became."""
    if isinstance(code, cst.Call) and len(code.args) == 1:
        return code.args[0].value
    return code.value if isinstance(code, cst.Attribute) and code.attr.value == "data" else code
