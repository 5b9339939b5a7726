"""Layers whose constructors need more than renamed arguments."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.rules.call_site import CallSite, Leave, Outcome, Replace, recipe
from torch2ms.translator.rules.emission import emit_call
from torch2ms.translator.syntax.argument_binding import literal
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.syntax.cst_builders import fix_commas, keyword_arg

__all__ = ["cell_dict", "pool_stride", "resampled", "sequential", "static_method"]


@recipe("sequential", takes_stars=True)
def sequential(site: CallSite, ctx: Context) -> Outcome:
    """``nn.Sequential(*layers)`` and ``nn.Sequential(OrderedDict(...))``: SequentialCell takes the same."""
    return Replace(site.updated.with_changes(func=ctx.reference(site.option.target, site.tree.func)))


# names that a Cell has and a Module has not
_CELL_ATTRIBUTES = frozenset(
    "arguments_key cell_type cells cls_name compiled construct offload param_prefix phase pipeline_segment "
    "pipeline_stage recompute requires_grad shard".split()
)
_CONTAINERS = frozenset(f"torch.nn.{name}" for name in ("Sequential", "ModuleList", "ModuleDict"))


@recipe("static_method")
def static_method(site: CallSite, ctx: Context) -> Outcome:
    """A static method, which may be called on an object: that is no argument of it."""
    return emit_call(replace(site, receiver=None), ctx)


@recipe("cell_dict")
def cell_dict(site: CallSite, ctx: Context) -> Outcome:
    """``nn.ModuleDict``: CellDict, which takes single layers only, where all of its networks are seen to be such."""
    given = site.argument("modules")
    if given is None or not isinstance(given.tree, ast.Dict):
        return Leave("CellDict takes single layers only")
    kinds = [ctx.kind(value) for value in given.tree.values]
    if None in given.tree.keys or not all(k.name == "Module" and _is_single(k.of) for k in kinds):
        return Leave("CellDict takes single layers only")
    if not all(isinstance(key, ast.Constant) and _is_cell_key(key.value) for key in given.tree.keys):
        return Leave("CellDict takes names in ASCII that are no attributes of its own")
    return emit_call(site, ctx)


def _is_cell_key(key: object) -> bool:
    """Say whether CellDict takes a key, which it puts in front of the names of parameters."""
    return isinstance(key, str) and re.fullmatch(r"[\w-]+", key, re.ASCII) is not None and key not in _CELL_ATTRIBUTES


def _is_single(names: str) -> bool:
    return all(name.startswith("torch.nn.") and name not in _CONTAINERS for name in names.split("|"))


@recipe("pool_stride")
def pool_stride(site: CallSite, ctx: Context) -> Outcome:
    """Write out the stride of a pooling: it defaults to the kernel in torch and to 1 in MindSpore."""
    kernel, stride = site.argument("kernel_size"), site.argument("stride")
    made = emit_call(site, ctx)
    if isinstance(made, Leave) or (stride is not None and literal(stride.tree) is not None):
        return made
    if kernel is None:
        return Leave("it has no kernel size")
    if any(isinstance(node, (ast.Call, ast.NamedExpr, ast.Await)) for node in walk(kernel.tree)):
        return Leave("the kernel size is computed by a call, and would be written twice")
    call = cst.ensure_type(made.code, cst.Call)
    place = int(site.row.kind == "function")  # of the kernel, behind the input of a function
    args = [arg for arg in call.args if arg.keyword is None or arg.keyword.value != "stride"]
    if stride is not None and stride.positional:
        args = [arg for arg in args if arg is not call.args[place + 1]]
    named = (i for i, arg in enumerate(args) if arg.keyword is not None and arg.keyword.value == "kernel_size")
    first = next(named, place)
    size = args[first].value  # as it is written: a list is a tuple by now
    new = cst.Arg(size) if args[first].keyword is None else keyword_arg("stride", size)
    args.insert(first + 1, new)
    return Replace(call.with_changes(args=fix_commas(args, site.updated.args)), made.codes)


_RESAMPLED = frozenset({"nearest", "bilinear"})  # MindSpore's other modes compute other numbers, or refuse some shapes


@recipe("resampled")
def resampled(site: CallSite, ctx: Context) -> Outcome:
    """``interpolate`` to a size, or to a whole multiple of it, which MindSpore takes with recompute_scale_factor=True.

    A multiple with a fraction steps otherwise where the size is computed anew.
    """
    mode, scale = site.argument("mode"), site.argument("scale_factor")
    if mode is not None and literal(mode.tree) not in _RESAMPLED:
        return Leave(f"mode={ast.unparse(mode.tree)} computes something else in MindSpore")
    factor = None if scale is None else literal(scale.tree)
    if factor is not None and not (isinstance(factor, (int, float)) and factor == int(factor) > 0):
        return Leave("a scale factor with a fraction steps otherwise in MindSpore")
    if factor is None:
        return emit_call(site, ctx)
    whole = replace(site.option, add={"recompute_scale_factor": "True"}, transform={"scale_factor": "float_of_int"})
    return emit_call(replace(site, option=whole), ctx)
