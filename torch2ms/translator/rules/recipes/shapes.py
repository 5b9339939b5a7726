"""Shapes: ``size()``, sizes given one by one, and the number of axes."""

from __future__ import annotations

import ast
from dataclasses import replace

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.rules.call_site import CallSite, Leave, Outcome, Replace, recipe
from torch2ms.translator.rules.emission import emit_call
from torch2ms.translator.rules.recipes.creation import apart, code_tuple, content, positional, sizes
from torch2ms.translator.rules.recipes.variables import cut_off
from torch2ms.translator.syntax.argument_binding import literal
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.syntax.cst_builders import as_tuple, build, parenthesised, undetached
from torch2ms.translator.values.dtypes import family

__all__: list[str] = []


@recipe("size")
def size(site: CallSite, ctx: Context) -> Outcome:
    """``x.size()`` -> ``x.shape``, ``x.size(0)`` -> ``x.shape[0]``."""
    assert site.receiver is not None
    shape = cst.Attribute(parenthesised(site.receiver), cst.Name("shape"))
    if not site.updated.args:
        return Replace(shape)
    axis = site.argument("dim")
    if axis is None or ctx.kind(axis.tree).name == "none":
        return Replace(shape) if axis is not None else Leave("its axis is not named")
    return Replace(build("{shape}[{axis}]", shape=shape, axis=axis.code))


@recipe("one_size", takes_stars=True)
def one_size(site: CallSite, ctx: Context) -> Outcome:
    """``x.repeat(2, 3)`` -> ``x.tile((2, 3))``: sizes given one by one become one tuple."""
    if site.receiver is None or any(arg.star == "**" for arg in site.updated.args):
        return Leave("its sizes are passed with **, or it is not called on a tensor")
    given = positional(site)
    named = [arg for arg in site.updated.args if arg.keyword is not None]
    if len(named) == 1 and not given:
        plain = named[0].with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT)
        given, named = [(site.tree.keywords[0].value, plain)], []
    if not given or named:
        return Leave("it is called without sizes" if not named else "its sizes are passed by name")
    name = site.option.target.rpartition(".")[2]
    alone = len(given) == 1 and ctx.kind(given[0][0]).name == "int"
    size = code_tuple([given[0][1]]) if alone else sizes(given, ctx)
    if len(given) == 1 and name == "tile" and ctx.kind(given[0][0]).name == "list":
        size = as_tuple(size)
    args = [cst.Arg(size)]
    if site.option.target.startswith("mindspore.Tensor."):
        func = cst.ensure_type(site.updated.func, cst.Attribute).with_changes(attr=cst.Name(name))
        return Replace(site.updated.with_changes(func=func, args=args))
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    func_name = ctx.reference(site.option.target)
    return Replace(site.updated.with_changes(func=func_name, args=[cst.Arg(site.receiver, comma=comma), *args]))


@recipe("view", takes_stars=True)
def view(site: CallSite, ctx: Context) -> Outcome:
    """``x.view(2, -1)`` stays; so does a view of another dtype, which releases before 2.8 do not have."""
    kinds = [ctx.kind(tree) for tree, _ in positional(site)]
    is_typed = any(kind.name == "dtype" or (kind.name == "api" and kind.of.startswith("torch.")) for kind in kinds)
    is_typed = is_typed or any(arg.keyword is not None and arg.keyword.value == "dtype" for arg in site.updated.args)
    if is_typed and ctx.target.mindspore < (2, 8):
        return Leave("it reinterprets the bytes as another dtype")
    args = [arg.with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT) for arg in site.updated.args]
    if len(args) == 1 and isinstance(args[0].value, cst.List):  # which MindSpore 2.7 refuses
        args[0] = args[0].with_changes(value=as_tuple(args[0].value))
    name = site.option.target.rpartition(".")[2]
    func = cst.ensure_type(site.updated.func, cst.Attribute).with_changes(attr=cst.Name(name))
    return Replace(site.updated.with_changes(func=func, args=args))


@recipe("new_like", takes_stars=True)
def new_like(site: CallSite, ctx: Context) -> Outcome:
    """``x.new_zeros(2, 3)`` -> ``ops.zeros((2, 3), dtype=x.dtype)``."""
    assert site.receiver is not None
    dtype = _own_dtype(site, ctx)
    if dtype is None:
        return Leave("the tensor whose dtype it takes is computed: give it a name")
    given = positional(site)
    extra: list[cst.Arg] = []
    for keyword, arg in zip(site.tree.keywords, [a for a in site.updated.args if a.keyword is not None], strict=False):
        if keyword.arg is None:
            return Leave("its options are passed with **")
        if keyword.arg == "dtype" and ctx.kind(keyword.value).name != "none":
            dtype = arg.value
        elif keyword.arg == "size":
            given.insert(0, (keyword.value, arg.with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT)))
        elif keyword.arg in ("fill_value", "data"):
            extra.append(arg)
    word = site.row.name.rpartition(".")[2]
    if word == "new" and not given and not extra:
        return Replace(_call("mindspore.Tensor", [cst.List([])], dtype, ctx))
    if word == "new_tensor" or (word == "new" and content(given, ctx) == "values"):
        values = given[0][1].value if given else extra[0].value if extra else None
        if values is None:
            return Leave("it is called without values")
        source = given[0][0] if given else site.tree.keywords[0].value
        wanted = next((word.value for word in site.tree.keywords if word.arg == "dtype"), site.receiver_tree)
        made = apart(_call("mindspore.Tensor", [values], dtype, ctx), source, wanted, ctx)
        return Replace(cut_off(made, source, ctx))
    if word == "new" and content(given, ctx) != "size":
        if len(given) == 1 and given[0][1].star:  # x.new(*given): sizes, or one argument that holds values
            made = _call("torch2ms.runtime.functional.typed_tensor", [given[0][1].value], dtype, ctx)
            return Replace(made.with_changes(args=[made.args[0].with_changes(star="*"), *made.args[1:]]))
        return Leave("its argument may be a size or the values: say which with new_zeros or new_tensor")
    if word == "new_full":
        value = extra[0].value if extra else given.pop()[1].value if len(given) > 1 else None
        if value is None or not given:
            return Leave("it is called without its value")
        return Replace(_call(site.option.target, [sizes(given, ctx), value], dtype, ctx))
    if not given:
        return Leave("it is called without a size")
    return Replace(_call(site.option.target, [sizes(given, ctx)], dtype, ctx))


def _own_dtype(site: CallSite, ctx: Context) -> cst.BaseExpression | None:
    """Return ``x.dtype``, or the dtype itself where a call makes the tensor; None where that is not known."""
    tree = site.receiver_tree or site.tree.func
    if all(_is_detached(node) for node in walk(tree) if isinstance(node, (ast.Call, ast.Await))):
        assert site.receiver is not None
        return cst.Attribute(parenthesised(undetached(site.receiver)), cst.Name("dtype"))
    known = ctx.kind(tree).of if isinstance(tree, ast.expr) else ""
    if isinstance(tree, ast.Call) and ctx.kind(tree.func).of == "torch.Tensor":  # torch.Tensor().new_zeros(2, 3)
        known = "torch.float32"
    if not family(known) or any(isinstance(node, ast.Await) for node in walk(tree)) or _changes_something(tree):
        return None
    row = ctx.tables.row(known)
    return ctx.reference(row.to[0].target) if row is not None and row.to else None


def _is_detached(node: ast.AST) -> bool:
    """Whether a call only takes a tensor out of the gradient: ``x.detach()`` has the dtype of ``x``."""
    return isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "detach" and not node.args


def _changes_something(tree: ast.AST) -> bool:
    """Whether a call in an expression does more than make a tensor: it then must stay."""
    calls = [node.func for node in walk(tree) if isinstance(node, ast.Call)]
    return any(not isinstance(func, ast.Attribute) or func.attr.endswith("_") for func in calls)


def _call(target: str, values: list[cst.BaseExpression], dtype: cst.BaseExpression, ctx: Context) -> cst.Call:
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    tight = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    args = [cst.Arg(value, comma=comma) for value in values]
    args.append(cst.Arg(dtype.deep_clone(), keyword=cst.Name("dtype"), equal=tight))
    return cst.Call(ctx.reference(target), args)


@recipe("property")
def as_property(site: CallSite, ctx: Context) -> Outcome:
    """What torch calls as a method is a property: ``x.element_size()`` -> ``x.itemsize``."""
    assert site.receiver is not None
    return Replace(cst.Attribute(parenthesised(site.receiver), cst.Name(site.option.target.rpartition(".")[2])))


@recipe("narrow")
def narrow(site: CallSite, ctx: Context) -> Outcome:
    """``x.narrow(1, -2, 2)``: a start that counts from the end, or is a tensor, goes to the runtime's function.

    So does a length of 0, which MindSpore's refuses.
    """
    start, length = site.argument("start"), site.argument("length")
    first = literal(start.tree) if start is not None else None
    is_empty = length is not None and literal(length.tree) == 0
    if start is None or not (is_empty or ctx.kind(start.tree).is_tensor or (isinstance(first, int) and first < 0)):
        return emit_call(site, ctx)
    return emit_call(
        replace(site, option=replace(site.option, target="torch2ms.runtime.functional.narrow", rename={})), ctx
    )


@recipe("split_sizes", takes_stars=True)
def split_sizes(site: CallSite, ctx: Context) -> Outcome:
    """``x.split([h * w for h, w in shapes])``: the sizes may be elements of a tensor, which ``ops.split`` refuses."""
    made = emit_call(site, ctx)
    given = site.argument("split_size_or_sections") or site.argument("split_size")
    if not isinstance(made, Replace) or given is None or not isinstance(given.tree, ast.ListComp):
        return made
    if not isinstance(given.code, cst.ListComp) or ctx.kind(given.tree.elt).name in ("int", "Size"):
        return made
    if isinstance(given.tree.elt, ast.Call) and getattr(given.tree.elt.func, "id", "") in ("int", "len"):
        return made
    sizes_ = given.code.with_changes(elt=build("int({size})", size=given.code.elt))
    return Replace(cst.ensure_type(made.code.deep_replace(given.code, sizes_), cst.Call), made.codes)
