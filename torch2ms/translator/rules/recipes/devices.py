"""Devices: tensors and networks stay where MindSpore puts them, so that moving them goes; casts stay."""

from __future__ import annotations

import ast
from dataclasses import replace

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.rules.call_site import DROPPED, CallSite, Leave, Outcome, Replace, recipe
from torch2ms.translator.rules.dtype_names import floating_type
from torch2ms.translator.rules.emission import emit_call
from torch2ms.translator.rules.recipes.casts import may_be_complex, truth_of
from torch2ms.translator.rules.recipes.gradient_cuts import cut_from_floats
from torch2ms.translator.syntax.argument_binding import same_literal
from torch2ms.translator.syntax.cst_builders import build, code_of, itself
from torch2ms.translator.values.dtypes import family
from torch2ms.translator.values.queries.device_arguments import describes_device, describes_dtype

__all__ = ["SETTINGS", "moved"]

_MOVED = ("T2M301", "MindSpore runs on the device of its context; the move was dropped")


def moved(site: CallSite, ctx: Context) -> Replace:
    """Return the receiver in place of the call; a statement that does nothing else goes."""
    if isinstance(ctx.small, ast.Expr) and ctx.small.value is site.tree:
        return Replace(DROPPED, (_MOVED,))
    assert site.receiver is not None
    return Replace(itself(site.receiver), (_MOVED,))


def _arguments(site: CallSite) -> list[tuple[str, ast.expr, cst.BaseExpression]]:
    """Return (keyword or "", tree, code) of each argument, in order."""
    trees = iter([*site.tree.args, *(keyword.value for keyword in site.tree.keywords)])
    found = []
    for arg in site.updated.args:
        found.append((arg.keyword.value if arg.keyword is not None else "", next(trees), arg.value))
    return found


# Keywords of ``to`` that say neither a device nor a dtype
SETTINGS = frozenset({"non_blocking", "copy", "memory_format"})


def _cast(site: CallSite, ctx: Context) -> tuple[str, cst.BaseExpression | None] | None:
    """Return ("cast", dtype), ("like", tensor), ("any", value) or ("move", None); None when it cannot be read."""
    found: tuple[str, cst.BaseExpression | None] = ("move", None)
    if any(arg.star for arg in site.updated.args):
        return None
    for position, (keyword, tree, code) in enumerate(_arguments(site)):
        kind = ctx.kind(tree)
        if keyword in SETTINGS or keyword == "device":
            continue
        if isinstance(tree, ast.Constant) and isinstance(tree.value, bool):
            continue
        if keyword == "dtype" or describes_dtype(tree, ctx):
            found = ("cast", code)
        elif keyword == "other" or kind.is_tensor:
            found = ("like", code)
        elif describes_device(tree, ctx):
            continue
        elif position == 0:
            found = ("any", code)
        else:
            return None
    return found


@recipe("to_tensor")
def to_tensor(site: CallSite, ctx: Context) -> Outcome:
    """``tensor.to(...)``: the device goes, a dtype becomes ``astype``; what cannot be told is decided at run time."""
    made, copied = _to(site, ctx), site.argument("copy")
    is_asked = copied is not None and same_literal(copied.tree, "True")
    if isinstance(made, Leave) or not is_asked or (isinstance(ctx.small, ast.Expr) and ctx.small.value is site.tree):
        return made
    return replace(made, code=build("{x}.copy()", x=made.code))  # what has the dtype already is cast to itself


def _to(site: CallSite, ctx: Context) -> Outcome:
    assert site.receiver is not None
    read = _cast(site, ctx)
    if read is None:
        return Leave("its arguments are passed with * or **")
    what, code = read
    if what == "move" or code is None:
        return moved(site, ctx)
    if what == "cast" and not _may_be_none(code, ctx):
        if code_of(code).endswith(".bool_") and may_be_complex(site.receiver_tree, ctx):
            return Replace(truth_of(site.receiver))
        return Replace(build("{x}.astype({dtype})", x=_cut(site, ctx), dtype=code))
    if what == "like":
        return Replace(build("{x}.astype({other}.dtype)", x=site.receiver, other=code))
    function = ctx.reference("torch2ms.runtime.device.to")
    return Replace(build("{function}({x}, {value})", function=function, x=site.receiver, value=code))


def _cut(site: CallSite, ctx: Context) -> cst.BaseExpression:
    """Return what is cast, cut off where it is cast to integers or booleans, which end a gradient in torch alone."""
    assert site.receiver is not None
    wanted = (family(ctx.kind(tree).of) for _, tree, _ in _arguments(site))
    if not any(found in ("int", "bool") for found in wanted):
        return site.receiver
    return cut_from_floats(site.receiver, site.receiver_tree, site.tree, ctx)


def _may_be_none(code: cst.BaseExpression, ctx: Context) -> bool:
    """Whether an expression is a parameter of the function whose default is None: astype refuses that."""
    function = ctx.functions[-1]
    if function is None or not isinstance(code, cst.Name):
        return False
    arguments = function.node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = dict(zip([arg.arg for arg in reversed(positional)], reversed(arguments.defaults), strict=False))
    defaults.update({a.arg: d for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d})
    default = defaults.get(code.value)
    return isinstance(default, ast.Constant) and default.value is None


_PRECISION = "not every layer computes in every precision in MindSpore, and what does rounds otherwise"


@recipe("to_module")
def to_module(site: CallSite, ctx: Context) -> Outcome:
    """``network.to(...)``: the device goes, a dtype becomes the precision the network computes in."""
    assert site.receiver is not None
    read = _cast(site, ctx)
    if read is None:
        return Leave("its arguments are passed with * or **")
    what, code = read
    if what in ("move", "any") or code is None:
        return moved(site, ctx)
    if what == "like":
        return Leave("it takes dtype and device of a tensor: say the dtype")
    function = ctx.reference("torch2ms.runtime.modules.cast")
    codes = () if code_of(code).endswith(".float32") else (("T2M303", _PRECISION),)
    return Replace(build("{cast}({x}, {dtype})", cast=function, x=site.receiver, dtype=code), codes)


@recipe("to_batch")
def to_batch(site: CallSite, ctx: Context) -> Outcome:
    """``batch.to(device, dtype)`` of a processor's tensors: the device goes, a dtype is that of the floating ones."""
    assert site.receiver is not None
    what, code = _cast(site, ctx) or ("like", None)
    if what == "like":
        return Leave("its arguments do not tell a dtype")
    if what in ("move", "any") or code is None:
        return moved(site, ctx)
    return Replace(build("{f}({x}, {dtype})", f=ctx.reference(site.option.target), x=site.receiver, dtype=code))


@recipe("network_type")
def network_type(site: CallSite, ctx: Context) -> Outcome:
    """``net.type(torch.FloatTensor)`` -> ``modules.cast(net, ms.float32)``: the weights have the type."""
    wanted = site.argument("dst_type")
    if site.receiver is None or wanted is None:
        return Leave("it is called without a type")
    dtype = floating_type(wanted.tree, wanted.code, ctx)
    if dtype is None:
        return emit_call(site, ctx)
    cast = ctx.reference("torch2ms.runtime.modules.cast")
    codes = () if code_of(dtype).endswith("float32") else (("T2M303", _PRECISION),)
    return Replace(build("{cast}({net}, {dtype})", cast=cast, net=site.receiver, dtype=dtype), codes)


@recipe("move")
def move(site: CallSite, ctx: Context) -> Outcome:
    """``x.cuda()``, ``x.cpu()``: the receiver itself."""
    return moved(site, ctx)
