"""Reductions: what torch decides by the kind of an argument, MindSpore by the function's name."""

from __future__ import annotations

import ast
from dataclasses import replace

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.rules.call_site import CallSite, Leave, Outcome, Replace, recipe
from torch2ms.translator.rules.emission import emit_call
from torch2ms.translator.syntax.argument_binding import BoundArgument, same_literal
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.syntax.cst_builders import bare, build, fix_commas, keyword_arg
from torch2ms.translator.values.dtypes import family

__all__ = ["is_axis"]


def is_axis(tree: ast.expr, ctx: Context) -> bool | None:
    """Whether an argument says an axis and not a second tensor; None when that is not known."""
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        return is_axis(tree.operand, ctx)
    kind = ctx.kind(tree)
    if kind.is_tensor:
        return False
    if kind.name in ("int", "bool"):
        return True
    if isinstance(tree, ast.Subscript) and any(isinstance(node, ast.Slice) for node in walk(tree.slice)):
        return False
    if isinstance(tree, ast.Name) and tree.id in ("dim", "axis", "d") and not kind.known:
        return True
    return None


@recipe("max_min")
def max_min(site: CallSite, ctx: Context) -> Outcome:
    """``torch.max``: of everything, along an axis (values and indices), or of two tensors."""
    out = site.argument("out")
    if out is not None and not same_literal(out.tree, "None"):
        return Leave("it writes into other tensors: out=")
    tensor = _tensor(site)
    if tensor is None:
        return Leave("it is called without a tensor")
    word = site.row.name.rpartition(".")[2]
    second, other = site.argument("dim"), site.argument("other")
    if other is None and second is not None and not (second.arg.keyword is not None):
        axis = is_axis(second.tree, ctx)
        if axis is None:
            return Replace(_at_run_time(site, tensor, f"torch2ms.runtime.functional.{word}", ctx))
        if not axis:
            second, other = None, second
    is_bool = _is_bool(site, ctx)  # MindSpore has no kernels for the extrema of bools
    if other is not None:
        if is_bool and word == "min":
            return Replace(_at_run_time(site, tensor, "torch2ms.runtime.functional.min", ctx))
        function = ctx.reference(f"mindspore.ops.{word}imum")
        return Replace(cst.Call(function, fix_commas([cst.Arg(bare(tensor)), cst.Arg(other.code)], site.updated.args)))
    if second is None and not is_bool and _may_be_bool(site, ctx):
        return Replace(_at_run_time(site, tensor, f"torch2ms.runtime.functional.{word}", ctx))
    if second is None:
        method = {"max": "any", "min": "all"}[word] if is_bool else word
        return Replace(build("{x}." + method + "()", x=tensor))
    if is_bool:
        return Replace(_at_run_time(site, tensor, f"torch2ms.runtime.functional.{word}", ctx))
    return Replace(_along_axis(site, tensor, second, f"mindspore.ops.{word}", ctx))


@recipe("any")
def any_(site: CallSite, ctx: Context) -> Outcome:
    """``x.any(1)`` -> ``x.astype(ms.bool_).any(1)``: MindSpore's ``any`` misreads other dtypes than bool on CPU."""
    made = emit_call(site, ctx)
    first = site.argument("input")
    if not isinstance(made, Replace) or (site.receiver is None and first is None) or _is_bool(site, ctx):
        return made
    call = cst.ensure_type(made.code, cst.Call)
    boolean = ctx.reference("mindspore.bool_")
    if site.receiver is not None and isinstance(call.func, cst.Attribute):
        value = build("{x}.astype({b})", x=call.func.value, b=boolean)
        return replace(made, code=call.with_changes(func=call.func.with_changes(value=value)))
    assert first is not None
    args = [
        arg.with_changes(value=build("{x}.astype({b})", x=arg.value, b=boolean)) if arg.value is first.code else arg
        for arg in call.args
    ]
    return replace(made, code=call.with_changes(args=args))


def _is_bool(site: CallSite, ctx: Context) -> bool:
    """Whether the tensor that is reduced is known to hold bools."""
    first = site.argument("input")
    tree = site.receiver_tree if site.receiver is not None else first.tree if first is not None else None
    return tree is not None and family(ctx.kind(tree).of) == "bool"


def _may_be_bool(site: CallSite, ctx: Context) -> bool:
    """Whether a tensor of unknown dtype is reduced, in a file that asks for bools: ``x.dtype in (torch.bool, ...)``."""
    first = site.argument("input")
    tree = site.receiver_tree if site.receiver is not None else first.tree if first is not None else None
    if not isinstance(tree, (ast.Name, ast.Attribute)) or ctx.kind(tree).of:
        return False
    return ctx.once(_asks_for_bools)


def _asks_for_bools(ctx: Context) -> bool:
    """Whether the file compares a dtype with ``torch.bool``."""
    compares = ctx.analysis.all(ast.Compare)
    return any(
        isinstance(part, ast.Attribute) and part.attr == "bool"
        for compare in compares
        for value in compare.comparators
        for part in getattr(value, "elts", [value])
    )


def _at_run_time(site: CallSite, tensor: cst.BaseExpression, target: str, ctx: Context) -> cst.BaseExpression:
    """Return a call of the runtime's function, which looks whether its argument is an axis or a second tensor."""
    rest = site.updated.args if site.receiver is not None else site.updated.args[1:]
    return cst.Call(ctx.reference(target), fix_commas([cst.Arg(bare(tensor)), *rest], site.updated.args))


def _tensor(site: CallSite) -> cst.BaseExpression | None:
    if site.receiver is not None:
        return site.receiver
    first = site.argument("input")
    return first.code if first is not None else None


def _along_axis(
    site: CallSite, tensor: cst.BaseExpression, axis: BoundArgument, target: str, ctx: Context
) -> cst.BaseExpression:
    args = [cst.Arg(bare(tensor)), cst.Arg(axis.code) if axis.positional else keyword_arg("axis", axis.code)]
    keep = site.argument("keepdim")
    if keep is not None:
        args.append(cst.Arg(keep.code) if keep.positional else keyword_arg("keepdims", keep.code))
    return cst.Call(ctx.reference(target), fix_commas(args, site.updated.args))
