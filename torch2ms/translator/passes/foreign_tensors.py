"""Tensors handed to packages that know PyTorch's: ``wandb.log({"loss": loss})`` and ``plt.axis(limits)`` get arrays."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.kinds import Kind
from torch2ms.translator.syntax import build

__all__ = ["as_arrays"]

# What writes numbers out as JSON, and what takes a tensor apart: MindSpore's numbers claim to have parts
_TAKERS = frozenset({"wandb.log", "matplotlib.pyplot.axis", "matplotlib.pyplot.xlim", "matplotlib.pyplot.ylim"})


def as_arrays(updated: cst.Call, tree: ast.Call, callee: Kind, ctx: Context) -> cst.Call:
    """Return a call of another package's function with arrays of NumPy for the tensors among its arguments."""
    if callee.name != "module" or callee.of not in _TAKERS or len(updated.args) != len(tree.args) + len(tree.keywords):
        return updated
    given = [*tree.args, *(word.value for word in tree.keywords)]
    args = [
        arg.with_changes(value=_as_array(arg.value, value, ctx)) for arg, value in zip(updated.args, given, strict=True)
    ]
    return updated.with_changes(args=args)


def _as_array(code: cst.BaseExpression, value: ast.expr, ctx: Context) -> cst.BaseExpression:
    if ctx.kind(value).is_tensor:
        return build("{x}.asnumpy()", x=code)
    if isinstance(code, cst.Dict) and isinstance(value, ast.Dict) and len(code.elements) == len(value.values):
        elements = [
            element.with_changes(value=_as_array(element.value, held, ctx))
            if isinstance(element, cst.DictElement)
            else element
            for element, held in zip(code.elements, value.values, strict=True)
        ]
        return code.with_changes(elements=elements)
    return code
