"""Dtypes: casts, and what a dtype can hold."""

from __future__ import annotations

import ast
from dataclasses import replace

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.rules.call_site import CallSite, Leave, Outcome, Replace, recipe
from torch2ms.translator.rules.dtype_names import TYPES
from torch2ms.translator.rules.emission import emit_call
from torch2ms.translator.rules.recipes.gradient_cuts import cut_from_floats
from torch2ms.translator.syntax.cst_builders import build, parenthesised
from torch2ms.translator.values.dtypes import family
from torch2ms.translator.values.kinds import UNKNOWN

__all__ = ["may_be_complex", "truth_of"]


@recipe("dtype_info")
def dtype_info(site: CallSite, ctx: Context) -> Outcome:
    """``torch.finfo(d)`` -> numpy's for the same dtype."""
    if len(site.updated.args) != 1 or site.updated.args[0].star:
        return Leave("it is called without a dtype")
    if site.row.name == "torch.finfo" and ctx.once(_names_bfloat16):  # which numpy does not know
        finfo = ctx.reference("torch2ms.runtime.functional.finfo")
        return Replace(build("{info}({dtype})", info=finfo, dtype=site.updated.args[0].value))
    info = ctx.reference(site.option.target, site.tree.func)
    numpy_dtype = ctx.reference("mindspore.dtype_to_nptype")
    return Replace(build("{info}({of}({dtype}))", info=info, of=numpy_dtype, dtype=site.updated.args[0].value))


def _names_bfloat16(ctx: Context) -> bool:
    """Whether the file speaks of bfloat16."""
    return any(isinstance(node, ast.Attribute) and node.attr == "bfloat16" for node in ctx.analysis.nodes)


@recipe("byte_condition")
def byte_condition(site: CallSite, ctx: Context) -> Outcome:
    """``torch.where(mask, x, y)`` takes masks of bytes as well, as ``Tensor.byte`` gives; MindSpore's of booleans."""
    made = emit_call(site, ctx)
    given = site.argument("condition")
    kind = ctx.kind(given.tree) if given is not None else UNKNOWN
    bytes_ = kind.of == "torch.uint8" or (not kind.of and ctx.once(_names_bytes))
    if not isinstance(made, Replace) or not kind.is_tensor or not bytes_:
        return made
    call = cst.ensure_type(made.code, cst.Call)
    named = [i for i, arg in enumerate(call.args) if arg.keyword is not None and arg.keyword.value == "condition"]
    args, place = list(call.args), next(iter(named), 0)
    value = build("{mask}.astype({dtype})", mask=args[place].value, dtype=ctx.reference("mindspore.bool_"))
    args[place] = args[place].with_changes(value=value)
    return replace(made, code=call.with_changes(args=args))


def _names_bytes(ctx: Context) -> bool:
    """Whether the file makes tensors of bytes."""
    return any(isinstance(n, ast.Attribute) and n.attr in ("uint8", "byte", "ByteTensor") for n in ctx.analysis.nodes)


@recipe("dtype_limit")
def dtype_limit(site: CallSite, ctx: Context) -> Outcome:
    """``torch.finfo(d).max``: numpy says it as a number of that dtype, torch as one of Python's own."""
    attribute = cst.ensure_type(site.updated.func, cst.Attribute)
    return Replace(build("{python}({value})", python=cst.Name(site.option.target), value=attribute))


@recipe("cast")
def cast(site: CallSite, ctx: Context) -> Outcome:
    """``x.double()`` -> ``x.astype(ms.float64)``."""
    assert site.receiver is not None
    dtype = site.option.add["dtype"]
    receiver = site.receiver if "float" in dtype else cut_from_floats(site.receiver, site.receiver_tree, site.tree, ctx)
    return Replace(build("{x}.astype({dtype})", x=receiver, dtype=ctx.reference(dtype)))


@recipe("whole_cast")
def whole_cast(site: CallSite, ctx: Context) -> Outcome:
    """``x.long()``: the method is the same, the gradient that torch ends there goes on in MindSpore."""
    made = emit_call(site, ctx)
    if site.receiver is None or not isinstance(made, Replace):
        return made
    if site.row.name.endswith(".bool") and may_be_complex(site.receiver_tree, ctx):
        return Replace(truth_of(site.receiver))
    receiver = cut_from_floats(site.receiver, site.receiver_tree, site.tree, ctx)
    call = made.code
    if receiver is site.receiver or not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute):
        return made
    return replace(made, code=call.with_changes(func=call.func.with_changes(value=receiver)))


def truth_of(code: cst.BaseExpression) -> cst.BaseExpression:
    """Return ``x != 0`` for a complex tensor as bools: MindSpore's cast looks at its real part alone."""
    return parenthesised(build("{x} != 0", x=parenthesised(code)))


def may_be_complex(tree: ast.expr | None, ctx: Context) -> bool:
    """Whether a tensor is seen to be complex."""
    return tree is not None and family(ctx.kind(tree).of) == "complex"


@recipe("tensor_type")
def tensor_type(site: CallSite, ctx: Context) -> Outcome:
    """``x.type(torch.float32)``, ``x.type(torch.FloatTensor)`` and its name as text -> ``x.astype(...)``."""
    assert site.receiver is not None
    wanted = site.argument("dtype")
    if wanted is None:
        name = ctx.reference("torch2ms.runtime.functional.tensor_type_name")
        return Replace(build("{name}({x})", name=name, x=site.receiver))
    kind = ctx.kind(wanted.tree)
    text = kind.of if kind.name == "api" else wanted.tree.value if isinstance(wanted.tree, ast.Constant) else ""
    word = TYPES.get(str(text).rpartition(".")[2])
    if word is not None:
        if word == "bool_" and may_be_complex(site.receiver_tree, ctx):
            return Replace(truth_of(site.receiver))
        cuts = not word.startswith(("float", "bfloat"))
        receiver = cut_from_floats(site.receiver, site.receiver_tree, site.tree, ctx) if cuts else site.receiver
        return Replace(build("{x}.astype({dtype})", x=receiver, dtype=ctx.reference(f"mindspore.{word}")))
    if kind.name != "str":
        cuts = family(kind.of) in ("int", "bool")
        receiver = cut_from_floats(site.receiver, site.receiver_tree, site.tree, ctx) if cuts else site.receiver
        return Replace(build("{x}.astype({dtype})", x=receiver, dtype=wanted.code))
    if isinstance(wanted.tree, ast.Constant):
        return Leave(f"{ast.unparse(wanted.tree)} names no dtype that is known")
    func = wanted.tree.func if isinstance(wanted.tree, ast.Call) and not wanted.tree.args else None
    if isinstance(func, ast.Attribute) and func.attr == "type" and ctx.kind(func.value).is_tensor:
        other = cst.ensure_type(wanted.code, cst.Call).args[0].value  # of tensor_type_name(y)
        return Replace(build("{x}.astype({y}.dtype)", x=site.receiver, y=other))
    of_type = ctx.reference("torch2ms.runtime.functional.of_type")
    return Replace(build("{cast}({x}, {name})", cast=of_type, x=site.receiver, name=wanted.code))


@recipe("type_as")
def type_as(site: CallSite, ctx: Context) -> Outcome:
    """``x.type_as(y)`` -> ``x.astype(y.dtype)``."""
    other = next(iter(site.bound), None) if site.bound is not None else None
    if site.receiver is None or other is None:
        return Leave("it is called without a tensor")
    return Replace(build("{x}.astype({y}.dtype)", x=site.receiver, y=other.code))
