"""Tensors of different dtypes or shapes in one call."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.mapping_tables.facts import load_facts
from torch2ms.translator.context import Context
from torch2ms.translator.rules.call_site import CallSite, Leave, Outcome, Replace, recipe
from torch2ms.translator.rules.emission import emit_call
from torch2ms.translator.syntax.cst_builders import build
from torch2ms.translator.values.queries.known_values import values_of
from torch2ms.translator.values.queries.ranks import assigned

__all__: list[str] = []


@recipe("common_dtype")
def common_dtype(site: CallSite, ctx: Context) -> Outcome:
    """``torch.cat([ints, floats])`` promotes, which MindSpore does not: the runtime's function then."""
    given = site.argument("tensors")
    elements = _elements(given.tree, ctx) if given is not None else []
    dtypes = {ctx.kind(element).of for element in elements}
    out = site.argument("out")
    empty = out is None and site.row.name == "torch.cat" and any(_may_be_empty(element, ctx) for element in elements)
    # One dtype, or nothing known; one that is known beside one that is not may differ.
    # Where the project casts some of what it computes, what meets here may be of both precisions.
    mixed = bool(ctx.world.symbols.callers("autocast")) and len(elements) != 1
    if len(dtypes) < 2 and not empty and not mixed:
        return emit_call(site, ctx)
    if out is not None and (mixed or "" in dtypes):
        return emit_call(site, ctx)
    assert given is not None
    if out is not None:
        return Leave("out= fills a tensor that exists already; assign the result instead")
    name = site.row.name.rpartition(".")[2]
    if name not in ("cat", "concat", "concatenate", "stack"):
        made = emit_call(site, ctx)
        common = build("{f}({x})", f=ctx.reference("torch2ms.runtime.functional.promoted"), x=given.code)
        return Replace(made.code.deep_replace(given.code, common), made.codes) if isinstance(made, Replace) else made
    name = "stack" if name == "stack" else "cat"
    return Replace(site.updated.with_changes(func=ctx.reference(f"torch2ms.runtime.functional.{name}")))


def _elements(tree: ast.expr, ctx: Context) -> list[ast.expr]:
    """Return the tensors that a list holds; of a name, those of the list it is bound to, as far as dtypes are known."""
    values = values_of(tree, ctx) if isinstance(tree, ast.Name) else [tree]
    found = values[0].elts if len(values) == 1 and isinstance(values[0], (ast.List, ast.Tuple)) else []
    return [part for part in found if ctx.kind(part).of] if isinstance(tree, ast.Name) else found


def _may_be_empty(tree: ast.expr, ctx: Context) -> bool:
    """Whether a variable begins as an empty tensor, which torch skips whatever its rank is, and MindSpore refuses."""
    text = ast.unparse(tree)
    starts = ctx.once(_empty_starts)
    return text in starts or (isinstance(tree, ast.Subscript) and ast.unparse(tree.value) in starts)


def _empty_starts(ctx: Context) -> frozenset[str]:
    """Return what is bound to an empty tensor, ``torch.tensor([])``, or to a dictionary that makes them."""
    found: set[str] = set()
    for node in ctx.analysis.all(ast.Assign):
        if _is_empty(node.value, ctx):
            found.update(ast.unparse(target) for target in node.targets)
        elif isinstance(node.value, ast.Dict):
            keys = [ast.unparse(key) for key, value in zip(node.value.keys, node.value.values, strict=True)
                    if key is not None and _is_empty(value, ctx)]  # fmt: skip
            found.update(f"{ast.unparse(target)}[{key}]" for target in node.targets for key in keys)
    return frozenset(found)


_EMPTY = frozenset({"", "[]", "0", "(0,)"})


def _is_empty(value: ast.expr, ctx: Context) -> bool:
    if not isinstance(value, ast.Call):
        return False
    name = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
    if name == "defaultdict":
        made = value.args[0] if value.args else value
        return isinstance(made, (ast.Name, ast.Attribute)) and "ensor" in ast.unparse(made)
    if name in ("to", "cuda", "float", "long", "int") and isinstance(value.func, ast.Attribute):
        return _is_empty(value.func.value, ctx)
    kind = ctx.kind(value.func)
    makes = kind.name == "api" and (name.endswith("ensor") or name in ("empty", "zeros"))
    return makes and ", ".join(map(ast.unparse, value.args)) in _EMPTY


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


@recipe("alike")
def alike(site: CallSite, ctx: Context) -> Outcome:
    """``torch.polar(torch.ones_like(x), x)``: two tensors that are seen to have one shape."""
    given = [site.argument(name) for name in ("abs", "angle")]
    shapes = {_shaped_as(argument.tree, ctx) for argument in given if argument is not None}
    return emit_call(site, ctx) if len(shapes) == 1 else Leave("its two tensors may have different shapes")


def _shaped_as(tree: ast.expr, ctx: Context, depth: int = 3) -> str:
    """Return the text of the tensor whose shape a value has: ``x`` for ``torch.ones_like(x)`` and ``x.abs()``."""
    if isinstance(tree, ast.Name) and depth:
        found = ctx.once(assigned).get(tree.id, ())
        return _shaped_as(found[0], ctx, depth - 1) if len(found) == 1 and _is_each(found[0]) else tree.id
    if not isinstance(tree, ast.Call) or not _is_each(tree) or not depth:
        return ast.unparse(tree)
    assert isinstance(tree.func, ast.Attribute)
    inner = tree.args[0] if tree.args and ctx.is_import_root(tree.func) else tree.func.value
    return _shaped_as(inner, ctx, depth - 1)


def _is_each(tree: ast.expr) -> bool:
    """Whether a value has a number for each element of a tensor."""
    is_method = isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute)
    return is_method and load_facts().has_axes(tree.func.attr, "same")  # type: ignore[attr-defined]
