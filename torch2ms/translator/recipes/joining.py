"""Tensors of different dtypes in one call."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.emission import emit_call
from torch2ms.translator.recipes.base import CallSite, Leave, Outcome, Replace, recipe

__all__: list[str] = []


@recipe("common_dtype")
def common_dtype(site: CallSite, ctx: Context) -> Outcome:
    """``torch.cat([ints, floats])`` promotes, which MindSpore does not: the runtime's function then."""
    given = site.argument("tensors")
    elements = given.tree.elts if given is not None and isinstance(given.tree, (ast.List, ast.Tuple)) else []
    dtypes = {ctx.kind(element).of for element in elements}
    if len(dtypes) < 2:  # one dtype, or nothing known; one that is known beside one that is not may differ
        return emit_call(site, ctx)
    out = site.argument("out")
    if out is not None and "" in dtypes:
        return emit_call(site, ctx)
    if out is not None:
        return Leave("out= fills a tensor that exists already; assign the result instead")
    name = "stack" if site.row.name.endswith(".stack") else "cat"
    return Replace(site.updated.with_changes(func=ctx.reference(f"torch2ms.runtime.functional.{name}")))


@recipe("tensors_in_a_list")
def tensors_in_a_list(site: CallSite, ctx: Context) -> Outcome:
    """``torch.atleast_2d(a, b)`` -> ``ops.atleast_2d([a, b])``."""
    args = site.updated.args
    if len(args) < 2 or any(arg.star or arg.keyword is not None for arg in args):
        return emit_call(site, ctx)
    elements = [cst.Element(arg.value) for arg in args]
    assert site.option is not None
    func = ctx.reference(site.option.target)
    return Replace(site.updated.with_changes(func=func, args=[cst.Arg(cst.List(elements))]))
