"""Making tensors: sizes become one tuple, the classes named after a dtype say it as an argument."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.effects.later_writes import changes_behind, written_into
from torch2ms.translator.rules.call_site import CallSite, Leave, Outcome, Replace, recipe
from torch2ms.translator.rules.emission import emit_call
from torch2ms.translator.rules.recipes.variables import cut_off
from torch2ms.translator.syntax.argument_binding import same_literal
from torch2ms.translator.syntax.cst_builders import build, fix_commas, keyword_arg
from torch2ms.translator.values.dtypes import family
from torch2ms.translator.values.queries.complex_values import has_complex
from torch2ms.translator.values.queries.ranks import ranks

__all__ = ["apart", "code_tuple", "content", "holds_tensors", "positional", "sizes", "with_numbers"]

_SPACED = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))


def positional(site: CallSite) -> list[tuple[ast.expr, cst.Arg]]:
    """Return the arguments passed by position, starred ones too: in both trees."""
    given = [arg for arg in site.updated.args if arg.keyword is None and arg.star != "**"]
    return list(zip(site.tree.args, given, strict=True))


def code_tuple(args: Sequence[cst.Arg]) -> cst.Tuple:
    """Return arguments as a tuple display; a starred argument stays starred."""
    elements: list[cst.BaseElement] = []
    for index, arg in enumerate(args):
        last = index == len(args) - 1
        comma = cst.Comma() if len(args) == 1 else cst.MaybeSentinel.DEFAULT if last else _SPACED
        kind = cst.StarredElement if arg.star else cst.Element
        elements.append(kind(arg.value, comma=comma))
    return cst.Tuple(elements, lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def sizes(given: Sequence[tuple[ast.expr, cst.Arg]], ctx: Context) -> cst.BaseExpression:
    """Return the one value that stands for ``*size``: an int or sequence alone, several ints as a tuple."""
    made = [arg.with_changes(value=_as_int(tree, arg.value, ctx)) for tree, arg in given]
    if len(made) != 1:
        return code_tuple(made)
    tree, arg = given[0][0], made[0]
    if not arg.star:
        return arg.value
    assert isinstance(tree, ast.Starred)
    plain = ctx.kind(tree.value).name in ("tuple", "list", "Size") or isinstance(tree.value, (ast.Name, ast.Attribute))
    return arg.value if plain else code_tuple(made)


def _as_int(tree: ast.expr, code: cst.BaseExpression, ctx: Context) -> cst.BaseExpression:
    """A size that is a tensor is written as an int: torch takes either. What is unpacked is several sizes."""
    return build("int({x})", x=code) if ctx.kind(tree).is_tensor and not isinstance(tree, ast.Starred) else code


def _keywords(site: CallSite) -> dict[str, tuple[ast.expr, cst.Arg]] | None:
    """Return the arguments passed by name; None when ``**`` hides them."""
    given = [arg for arg in site.updated.args if arg.keyword is not None or arg.star == "**"]
    found: dict[str, tuple[ast.expr, cst.Arg]] = {}
    for keyword, arg in zip(site.tree.keywords, given, strict=True):
        if keyword.arg is None:
            return None
        found[keyword.arg] = (keyword.value, arg)
    return found


@recipe("size_tuple", takes_stars=True)
def size_tuple(site: CallSite, ctx: Context) -> Outcome:
    """``torch.zeros(2, 3)`` -> ``ops.zeros((2, 3))``."""
    named = _keywords(site)
    if named is None:
        return Leave("its options are passed with **")
    given = positional(site)
    if "size" in named:
        given = [named.pop("size")]
    if not given:
        return Leave("it is called without a size")
    out = named.get("out")
    if out is not None and not same_literal(out[0], "None"):
        return Leave("it writes into another tensor: out=")
    shape = sizes(given, ctx)
    if isinstance(shape, (cst.Tuple, cst.List)) and not shape.elements and "dtype" not in named:
        named["dtype"] = (given[0][0], keyword_arg("dtype", ctx.reference("mindspore.float32")))
    args = [cst.Arg(shape)]
    args += [arg for name, (_, arg) in named.items() if name not in site.option.drop]
    codes: list[tuple[str, str]] = []
    gradient = named.get("requires_grad")
    if gradient is not None and not same_literal(gradient[0], "False"):
        codes.append(("T2M302", "requires_grad was dropped: value_and_grad is told what to differentiate by"))
    func = ctx.reference(site.option.target, site.tree.func)
    original = site.updated.args if len(args) == len(site.updated.args) else ()
    return Replace(site.updated.with_changes(func=func, args=fix_commas(args, original)), tuple(codes))


@recipe("range_of_floats")
def range_of_floats(site: CallSite, ctx: Context) -> Outcome:
    """``torch.arange(0, 1, 0.1, dtype=torch.float64)`` -> the runtime's: MindSpore's own counts in float32."""
    dtype = site.argument("dtype")
    steps = [site.argument(name) for name in ("start", "end", "step")]
    has_float = any(step is not None and ctx.kind(step.tree).name == "float" for step in steps)
    if dtype is None or not has_float or ctx.kind(dtype.tree).of in ("torch.float32", "torch.float"):
        return emit_call(site, ctx)
    return emit_call(replace(site, option=replace(site.option, target="torch2ms.runtime.functional.arange")), ctx)


@recipe("new_tensor")
def new_tensor(site: CallSite, ctx: Context) -> Outcome:
    """``torch.tensor([1j])`` -> ``ms.tensor([1j], dtype=ms.complex64)``: MindSpore itself takes 128 bits."""
    made, data, dtype = _new_tensor(site, ctx), site.argument("data"), site.argument("dtype")
    if isinstance(made, Leave) or data is None:
        return made
    return replace(made, code=cut_off(apart(made.code, data.tree, dtype.tree if dtype else None, ctx), data.tree, ctx))


def apart(code: cst.BaseExpression, data: ast.expr, dtype: ast.expr | None, ctx: Context) -> cst.BaseExpression:
    """Return a tensor made of another one with memory of its own: from MindSpore 2.8 on, ``ms.tensor(x)`` shares it."""
    if not isinstance(code, cst.Call) or isinstance(data, (ast.BinOp, ast.UnaryOp, ast.Compare)):
        return code
    kind = ctx.kind(data)
    if kind.is_tensor:
        if dtype is None:
            return build("{x}.copy()", x=code.args[0].value)
        wanted = ctx.kind(dtype).of
        return code if kind.of and wanted and kind.of != wanted else build("{x}.copy()", x=code)
    if kind.name != "unknown" or not isinstance(data, (ast.Name, ast.Attribute, ast.Subscript)):
        return code
    small = ctx.small
    names = {ast.unparse(target) for target in small.targets} if isinstance(small, ast.Assign) else set()
    if {ast.unparse(data), *names}.isdisjoint(ctx.once(written_into)):
        return code
    return code.with_changes(func=ctx.reference("torch2ms.runtime.functional.new_tensor"))


def _new_tensor(site: CallSite, ctx: Context) -> Outcome:
    made = emit_call(site, ctx)
    if isinstance(made, Leave) or not isinstance(made.code, cst.Call):
        return made
    if site.tree.args and _is_deque(site.tree.args[0], ctx):
        first, *others = made.code.args
        listed = first.with_changes(value=build("list({queue})", queue=first.value))
        return replace(made, code=made.code.with_changes(args=[listed, *others]))
    data = site.argument("data")
    several = data is not None and holds_tensors(data.tree, ctx)
    if any(keyword.arg in ("dtype", None) for keyword in site.tree.keywords):
        return with_numbers(made, ctx) if several else made
    if several or (data is not None and _holds_numpy(data.tree, ctx)):
        made_of = ctx.reference("torch2ms.runtime.functional.of_numbers")
        return replace(made, code=made.code.with_changes(func=made_of))
    if ctx.kind(site.tree).of != "torch.complex64":
        return made
    dtype = keyword_arg("dtype", ctx.reference("mindspore.complex64"))
    return replace(made, code=made.code.with_changes(args=fix_commas([*made.code.args, dtype], made.code.args)))


@recipe("complex_parameter")
def complex_parameter(site: CallSite, ctx: Context) -> Outcome:
    """``nn.Parameter(x)``; that of a complex tensor has a gradient, but no optimizer of MindSpore takes it."""
    made = emit_call(site, ctx)
    data = site.argument("data")
    if isinstance(made, Leave) or data is None:
        return made
    made = _bound_again(made, data.tree, site, ctx)
    if family(ctx.kind(data.tree).of) != "complex":
        return made
    trained = site.argument("requires_grad")
    if trained is not None and same_literal(trained.tree, "False"):
        return made
    message = (
        "no optimizer of MindSpore takes a complex parameter: make the parameter of torch.view_as_real(...), "
        "and view it as complex where it is used"
    )
    return replace(made, codes=(*made.codes, ("T2M303", message)))


def _bound_again(made: Replace, data: ast.expr, site: CallSite, ctx: Context) -> Replace:
    """Bind the name of a tensor to the parameter made of it as well, where it is changed later.

    The two share their memory in PyTorch, ``self.w = nn.Parameter(w); nn.init.normal_(w)``; MindSpore's has its own.
    """
    if not isinstance(data, ast.Name) or next(changes_behind((data.id,), site.tree, ctx), None) is None:
        return made
    small = ctx.small
    if not isinstance(small, ast.Assign) or small.value is not site.tree:
        message = f"{data.id} is changed below; the parameter that was made of it has memory of its own in MindSpore"
        return replace(made, codes=(*made.codes, ("T2M305", message)))
    if data.id not in {ast.unparse(target) for target in small.targets}:
        ctx.rebind.append(data.id)
    return made


def _holds_numpy(node: ast.expr, ctx: Context) -> bool:
    """Whether numbers of numpy stand in a list: they keep their dtypes in PyTorch, float64 mostly."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return any(ctx.kind(part).name == "ndarray" or _holds_numpy(part, ctx) for part in node.elts)
    kind = ctx.kind(node)
    return kind.name in ("list", "tuple") and any(item.name == "ndarray" for item in kind.items)


def holds_tensors(node: ast.expr, ctx: Context) -> bool:
    """Whether tensors stand in a list that may have axes: each counts as its one number in PyTorch."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return any(_has_axes(part, ctx) if ctx.kind(part).is_tensor else holds_tensors(part, ctx) for part in node.elts)
    if isinstance(node, ast.ListComp):
        return ctx.kind(node.elt).is_tensor and _has_axes(node.elt, ctx)
    kind = ctx.kind(node)
    return isinstance(node, ast.Name) and kind.name in ("list", "tuple") and any(item.is_tensor for item in kind.items)


def _has_axes(node: ast.expr, ctx: Context) -> bool:
    """Whether a tensor may have an axis: it is not seen to be a single number."""
    return ranks(node, ctx) != {0}


def with_numbers(made: Replace, ctx: Context) -> Replace:
    """Return a call that is given the numbers of the tensors in its first argument."""
    if not isinstance(made.code, cst.Call):
        return made
    first, *others = made.code.args
    return replace(
        made, code=made.code.with_changes(args=[first.with_changes(value=_numbers(first.value, ctx)), *others])
    )


def _numbers(code: cst.BaseExpression, ctx: Context) -> cst.BaseExpression:
    return build("{f}({x})", f=ctx.reference("torch2ms.runtime.functional.numbers"), x=code)


def _is_deque(node: ast.expr, ctx: Context) -> bool:
    """Whether a name is bound to ``deque(...)``, which PyTorch takes for a list and MindSpore does not."""
    if not isinstance(node, ast.Name):
        return False
    bound = (
        statement.value
        for statement in ctx.analysis.nodes
        if isinstance(statement, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == node.id for target in statement.targets)
    )
    return any(isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] == "deque" for value in bound)


@recipe("spread")
def spread(site: CallSite, ctx: Context) -> Outcome:
    """``torch.meshgrid([x, y])`` -> ``ops.meshgrid(x, y)``: tensors given as one list are given one by one."""
    made = emit_call(site, ctx)
    given = positional(site)
    if isinstance(made, Leave) or len(given) != 1 or not isinstance(made.code, cst.Call) or given[0][1].star:
        return made
    if ctx.kind(given[0][0]).is_tensor:
        return made
    first, *others = made.code.args
    if isinstance(first.value, (cst.List, cst.Tuple)):
        args = [
            cst.Arg(item.value, star="*" if isinstance(item, cst.StarredElement) else "")
            for item in first.value.elements
        ]
    else:
        args = [cst.Arg(first.value, star="*")]
    return replace(made, code=made.code.with_changes(args=fix_commas([*args, *others], made.code.args)))


@recipe("typed_tensor", takes_stars=True)
def typed_tensor(site: CallSite, ctx: Context) -> Outcome:
    """``torch.FloatTensor(2, 3)`` -> ``ops.zeros((2, 3), dtype=...)``; of values, ``ms.Tensor(values, dtype=...)``."""
    named = _keywords(site)
    if named is None:
        return Leave("its options are passed with **")
    named.pop("device", None)
    given = positional(site) + [named.pop(name) for name in ("data", "size") if name in named]
    if named:
        return Leave(f"the argument {min(named)} has no counterpart")
    dtype = keyword_arg("dtype", ctx.reference(site.option.add["dtype"]))
    like = site.tree.func
    if not given:
        made = ctx.reference("mindspore.Tensor")
        return Replace(cst.Call(made, [cst.Arg(cst.List([]), comma=_SPACED), dtype]))
    what = content(given, ctx)
    if what == "size":
        shape = sizes(given, ctx)
        made = ctx.reference("mindspore.ops.zeros")
        return Replace(cst.Call(made, fix_commas([cst.Arg(shape), dtype], ())))
    if what == "values":
        same_name = like if site.row.name == "torch.Tensor" else None
        made = ctx.reference("mindspore.Tensor", same_name)
        values = given[0][1].value
        values = _numbers(values, ctx) if holds_tensors(given[0][0], ctx) else values
        return Replace(cst.Call(made, fix_commas([cst.Arg(values), dtype], ())))
    made = ctx.reference("torch2ms.runtime.functional.typed_tensor")
    return Replace(cst.Call(made, fix_commas([*(arg for _, arg in given), dtype], ())))


def content(given: Sequence[tuple[ast.expr, cst.Arg]], ctx: Context) -> str:
    """Say whether arguments are a ``size`` or ``values``; empty when only the program knows."""
    if len(given) == 1 and isinstance(given[0][0], ast.Starred):
        kind = ctx.kind(given[0][0].value)
        counts = (
            kind.name == "Size"
            or _asks_size(given[0][0].value, ctx)
            or (bool(kind.items) and all(item.name == "int" for item in kind.items))
        )
        return "size" if counts else ""
    if len(given) > 1:
        return "size"
    if not given:
        return ""
    kind = ctx.kind(given[0][0])
    if kind.name in ("int", "Size") or _asks_size(given[0][0], ctx):
        return "size"
    return "values" if kind.name in ("list", "tuple", "ndarray", "Tensor", "Parameter") else ""


def _asks_size(tree: ast.expr, ctx: Context) -> bool:
    """Whether a value is a size: ``x.size()``, which arrays do not have, or ``x.shape`` of what is not known as one."""
    if isinstance(tree, ast.Attribute):
        return tree.attr == "shape" and not ctx.kind(tree.value).known
    return isinstance(tree, ast.Call) and getattr(tree.func, "attr", "") == "size" and not (tree.args or tree.keywords)


@recipe("drawn_floats", by_name_alone=True)
def drawn_floats(site: CallSite, ctx: Context) -> Outcome:
    """``torch.randn(n, dtype=d)``: MindSpore draws no complex numbers, which the runtime's function does."""
    dtype = site.argument("dtype")
    of = ctx.kind(dtype.tree).of if dtype is not None else "torch.float32"
    if family(of) == "complex" or (not family(of) and ctx.once(has_complex)):
        return Leave("its dtype may be complex")
    return emit_call(site, ctx)
