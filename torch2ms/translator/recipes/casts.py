"""Dtypes: casts, and what a dtype can hold."""

from __future__ import annotations

from torch2ms.translator.context import Context
from torch2ms.translator.recipes.base import CallSite, Leave, Outcome, Replace, recipe
from torch2ms.translator.syntax import build

__all__: list[str] = []


@recipe("dtype_info")
def dtype_info(site: CallSite, ctx: Context) -> Outcome:
    """``torch.finfo(d)`` -> numpy's for the same dtype; bfloat16, which numpy does not know, is told at run time."""
    if len(site.updated.args) != 1 or site.updated.args[0].star:
        return Leave("it is called without a dtype")
    info = ctx.reference(site.option.target, site.tree.func)
    numpy_dtype = ctx.reference("mindspore.dtype_to_nptype")
    return Replace(build("{info}({of}({dtype}))", info=info, of=numpy_dtype, dtype=site.updated.args[0].value))
