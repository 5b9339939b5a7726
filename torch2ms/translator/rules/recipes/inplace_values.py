"""In-place operations: the value that the tensor is to have afterwards, written without changing anything."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

import libcst as cst

from torch2ms.mapping_tables.facts import load_facts
from torch2ms.translator.context import Context
from torch2ms.translator.rules.call_site import RECIPES, CallSite, Leave, Replace
from torch2ms.translator.rules.emission import emit_call, fits
from torch2ms.translator.syntax.argument_binding import bind
from torch2ms.translator.syntax.ast_walk import changed_in_place, walk
from torch2ms.translator.syntax.cst_builders import bare, build, code_of, parenthesised
from torch2ms.translator.values.queries.dtype_widths import dtype_name, is_wider
from torch2ms.translator.values.queries.edge_cases import by_edges

__all__ = [
    "DATA",
    "Value",
    "bare_name",
    "changed_by",
    "first_of",
    "flattened",
    "functional",
    "goes_on_unchanged",
    "is_inplace",
    "is_piece",
    "repeatable",
]

Value = cst.BaseExpression
DATA = "torch's gradient does not see a change of .data, MindSpore's does: they differ where the changed values count"
_OPERATORS = {
    "add": "+",
    "sub": "-",
    "subtract": "-",
    "mul": "*",
    "multiply": "*",
    "div": "/",
    "divide": "/",
    "true_divide": "/",
    "pow": "**",
}
Maker = Callable[[CallSite, cst.BaseExpression, Context], "cst.BaseExpression | None"]


def bare_name(site: CallSite) -> str:
    """Return the name of the operation, without its underscore."""
    return site.row.name.rpartition(".")[2].removesuffix("_")


def changed_by(tree: ast.AST | None, ctx: Context) -> ast.expr | None:
    """Return what a call by the recipe ``inplace`` changes: ``x`` of ``x.log_()`` and ``torch.log_(x)``."""
    if not isinstance(tree, ast.Call):
        return None
    callee = ctx.kind(tree.func)
    if callee.name == "api":
        changed, name = tree.args[0] if tree.args else None, ctx.tables.canonical(callee.of)
    else:
        changed, name = changed_in_place(tree), f"torch.Tensor.{getattr(tree.func, 'attr', '')}"
    row = ctx.tables.row(name)
    return changed if row is not None and any(option.recipe == "inplace" for option in row.to) else None


def is_inplace(tree: ast.AST | None, ctx: Context) -> bool:
    """Whether a call changes a tensor in place, by a row that names the recipe ``inplace``."""
    return changed_by(tree, ctx) is not None


def first_of(site: CallSite, ctx: Context) -> tuple[str, list[ast.expr]]:
    """Return the name of the operation that reads what is changed, the first of a chain, and what it is given."""
    call, name = site.tree, bare_name(site)
    changed = changed_by(call, ctx)
    while isinstance(changed, ast.Call) and is_inplace(changed, ctx):
        call, changed = changed, changed_by(changed, ctx)
        called = ctx.kind(call.func).of or ast.unparse(call.func)
        name = called.rpartition(".")[2].removesuffix("_")
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return name, [changed, *given] if changed is not None and changed not in given else given


def functional(site: CallSite, tensor: cst.BaseExpression, ctx: Context) -> Replace | Leave:
    """Return the new value of the tensor that ``tensor`` spells."""
    name = bare_name(site)
    if name in _OPERATORS:
        made = _operator(site, tensor, ctx)
        if made is not None:
            return _kept(Replace(made), site, tensor, ctx)
    maker = _MAKERS.get(name)
    if maker is not None:
        made = maker(site, tensor, ctx)
        return Replace(made) if made is not None else Leave("its arguments have no counterpart")
    made_by_row = _by_row(_on(site, tensor), ctx)
    if load_facts().gives(name, "torch.bool", "sum") and isinstance(made_by_row, Replace):
        return _cast(made_by_row, build("{x}.dtype", x=tensor.deep_clone()))
    return _kept(made_by_row, site, tensor, ctx)


def _cast(made: Replace, dtype: cst.BaseExpression) -> Replace:
    """Return a value in the dtype of the tensor that takes it."""
    return replace(made, code=build("{value}.astype({dtype})", value=parenthesised(made.code), dtype=dtype))


def _kept(made: Replace | Leave, site: CallSite, tensor: cst.BaseExpression, ctx: Context) -> Replace | Leave:
    """Return a value in the tensor's own dtype where an argument is of a wider one: MindSpore takes the wider."""
    changed = changed_by(site.tree, ctx)
    if changed is None or not isinstance(made, Replace):
        return made
    own = dtype_name(ctx.kind(changed))
    given = (*site.tree.args, *(keyword.value for keyword in site.tree.keywords))
    is_narrow = own and any(is_wider(dtype_name(ctx.kind(value)), own) for value in given)
    if not is_narrow:
        return made
    is_short = isinstance(tensor, (cst.Name, cst.Attribute))
    return _cast(made, build("{x}.dtype", x=tensor.deep_clone()) if is_short else ctx.reference(f"mindspore.{own}"))


def _on(site: CallSite, tensor: cst.BaseExpression) -> CallSite:
    """Return the call with another receiver (or first argument, of a function)."""
    if site.receiver is None or tensor is site.receiver:
        return site
    func = cst.ensure_type(site.updated.func, cst.Attribute).with_changes(value=tensor)
    return replace(site, receiver=tensor, updated=site.updated.with_changes(func=func))


def _by_row(site: CallSite, ctx: Context) -> Replace | Leave:
    """Return what the row of the operation that is not in place makes of the call."""
    row = ctx.tables.row(site.row.name.removesuffix("_"))
    options = ctx.tables.select(row, ctx.target) if row is not None else ()
    if row is None or not options:
        return emit_call(site, ctx)
    bound = bind(site.tree, site.updated, ctx.tables.signature(row.name))
    obstacle = "no alternative fits"
    for option in by_edges(options, site.tree, ctx):
        problem = fits(option, bound, row, ctx)
        if problem is None:
            other = replace(site, row=row, option=option, bound=bound)
            recipe = RECIPES.get(option.recipe) if option.recipe is not None else None
            if option.recipe is not None and recipe is None:
                return Leave(f"the recipe {option.recipe} is not there yet")
            made = recipe(other, ctx) if recipe is not None else emit_call(other, ctx)
            if isinstance(made, Replace):
                return made
            problem = made.message
        obstacle = problem
    return Leave(obstacle)


def _arguments(site: CallSite) -> dict[str, cst.BaseExpression] | None:
    """Return the arguments: by name, those by position as "0", "1", ...; None when a star hides them."""
    found: dict[str, cst.BaseExpression] = {}
    for index, arg in enumerate(site.updated.args):
        if arg.star:
            return None
        found[arg.keyword.value if arg.keyword is not None else str(index)] = arg.value
    return found


def _operator(site: CallSite, tensor: cst.BaseExpression, ctx: Context) -> cst.BaseExpression | None:
    """``x.add_(y, alpha=a)`` -> ``x + a * y``; None when the operator cannot say it."""
    given = _arguments(site)
    if given is None:
        return None
    tensor = bare(tensor)
    name, sign = bare_name(site), _OPERATORS[bare_name(site)]
    if name in ("add", "sub") and "1" in given:  # the order of old: (alpha, other)
        return binary(tensor, sign, binary(given["0"], "*", given["1"])) if len(given) == 2 else None
    other = next((given.pop(key) for key in ("0", "other", "value", "exponent") if key in given), None)
    alpha = given.pop("alpha", None) if name in ("add", "sub") else None
    if other is None or given:
        return None
    return binary(tensor, sign, other if alpha is None else binary(alpha, "*", other))


_STRENGTH: dict[type[cst.BaseBinaryOp], int] = {
    cst.Add: 1,
    cst.Subtract: 1,
    cst.Multiply: 2,
    cst.Divide: 2,
    cst.FloorDivide: 2,
    cst.Modulo: 2,
    cst.MatrixMultiply: 2,
    cst.Power: 4,
}
_SIGNS: dict[str, cst.BaseBinaryOp] = {
    "+": cst.Add(),
    "-": cst.Subtract(),
    "*": cst.Multiply(),
    "/": cst.Divide(),
    "**": cst.Power(),
}


def binary(left: cst.BaseExpression, sign: str, right: cst.BaseExpression) -> cst.BinaryOperation:
    """Return ``left sign right`` with no more parentheses than it takes."""
    operator = _SIGNS[sign]
    strength = _STRENGTH[type(operator)]
    return cst.BinaryOperation(_operand(left, strength + (sign == "**")), operator, _operand(right, strength + 1))


def _operand(node: cst.BaseExpression, strength: int) -> cst.BaseExpression:
    if node.lpar or isinstance(node, (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.Integer, cst.Float)):
        return node
    if isinstance(node, cst.UnaryOperation) and not isinstance(node.operator, cst.Not) and strength <= 3:
        return node
    if isinstance(node, cst.BinaryOperation) and _STRENGTH.get(type(node.operator), 0) >= strength:
        return node
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


# ---- operations that no row has without the underscore


def _zero(site: CallSite, tensor: cst.BaseExpression, ctx: Context) -> cst.BaseExpression | None:
    return build("{like}({x})", like=ctx.reference("mindspore.ops.zeros_like"), x=tensor)


def _fill(site: CallSite, tensor: cst.BaseExpression, ctx: Context) -> cst.BaseExpression | None:
    value = site.argument("value")
    if value is None:
        return None
    if ctx.kind(value.tree).is_tensor:
        return _spread(value.code, tensor, ctx)
    return build("{like}({x}, {v})", like=ctx.reference("mindspore.ops.full_like"), x=tensor, v=value.code)


def _copy(site: CallSite, tensor: cst.BaseExpression, ctx: Context) -> cst.BaseExpression | None:
    """The other tensor, broadcast and cast to the one it is copied into."""
    source = site.argument("src")
    return _spread(source.code, tensor, ctx) if source is not None else None


def _spread(source: cst.BaseExpression, tensor: cst.BaseExpression, ctx: Context) -> cst.BaseExpression | None:
    like = ctx.reference("mindspore.ops.broadcast_to")
    if isinstance(tensor, cst.Call) and len(tensor.args) == 2 and tensor.func.deep_equals(ctx.reference(_RESIZED)):
        old, size = (arg.value for arg in tensor.args)  # ``x.resize_as_(y).copy_(y)``
        same = code_of(size) == f"{code_of(source)}.shape"
        made = source if same else build("{like}({y}, {size})", like=like, y=source, size=size)
        return build("{y}.astype({x}.dtype).copy()", y=made, x=old)
    if not isinstance(tensor, (cst.Name, cst.Attribute)):  # torch.FloatTensor(2, 3).copy_(y)
        return build("{copied}({x}, {y})", copied=ctx.reference(_COPIED), x=tensor, y=source)
    return build("{like}({y}, {x}.shape).astype({x2}.dtype)", like=like, y=source, x=tensor,
                 x2=tensor.deep_clone())  # fmt: skip


_COPIED = "torch2ms.runtime.functional.copied_into"
_RESIZED = "torch2ms.runtime.functional.resized"


def _resize(site: CallSite, tensor: cst.BaseExpression, ctx: Context) -> cst.BaseExpression | None:
    """Another size: what there was stays in front, as far as there is room."""
    args = site.updated.args
    if not args or any(arg.star or arg.keyword is not None for arg in args):
        return None
    size: cst.BaseExpression = cst.Tuple([cst.Element(arg.value) for arg in args])
    if len(args) == 1 and ctx.kind(site.tree.args[0]).name != "int":
        size = args[0].value
    return build("{resized}({x}, {size})", resized=ctx.reference(_RESIZED), x=tensor, size=size)


def _resize_as(site: CallSite, tensor: cst.BaseExpression, ctx: Context) -> cst.BaseExpression | None:
    other = site.argument("tensor")
    if other is None:
        return None
    return build("{resized}({x}, {other}.shape)", resized=ctx.reference(_RESIZED), x=tensor, other=other.code)


def _range(site: CallSite, names: tuple[str, str], ctx: Context) -> tuple[cst.BaseExpression | None, ...] | None:
    """Return two numbers, None where they are left at their defaults; None when a generator draws."""
    generator = site.argument("generator")
    if generator is not None and ctx.kind(generator.tree).name != "none":
        return None
    found = [site.argument(name) for name in names]
    return tuple(argument.code if argument is not None else None for argument in found)


def _is(code: cst.BaseExpression | None, value: float, default: bool) -> bool:
    """Whether a number is left at a default of this value, or written as it."""
    if code is None:
        return default
    return isinstance(code, (cst.Integer, cst.Float)) and float(code.evaluated_value) == value


def _normal(site: CallSite, tensor: cst.BaseExpression, ctx: Context) -> cst.BaseExpression | None:
    given = _range(site, ("mean", "std"), ctx)
    if given is None:
        return None
    mean, std = given
    made = _random("randn", tensor, ctx)
    if std is not None and not _is(std, 1, False):
        made = binary(made, "*", std)
    return made if mean is None or _is(mean, 0, True) else binary(made, "+", mean)


def _uniform(site: CallSite, tensor: cst.BaseExpression, ctx: Context) -> cst.BaseExpression | None:
    given = _range(site, ("from_", "to"), ctx)
    if given is None:
        return None
    low, high = given
    made = _random("rand", tensor, ctx)
    if low is None or _is(low, 0, True):
        return made if _is(high, 1, True) or high is None else binary(made, "*", high)
    width = binary(high if high is not None else cst.Integer("1"), "-", low)
    return binary(binary(made, "*", width), "+", low.deep_clone())


def _random(word: str, tensor: cst.BaseExpression, ctx: Context) -> cst.BaseExpression:
    """``ops.randn_like(x)``, or ``ops.randn(size)`` where ``x`` is only just made."""
    if isinstance(tensor, cst.Call) and len(tensor.args) == 1 and tensor.args[0].keyword is None:
        zeros = ctx.reference("mindspore.ops.zeros")
        if tensor.func.deep_equals(zeros) and isinstance(tensor.args[0].value, (cst.Tuple, cst.Integer, cst.Attribute)):
            return cst.Call(ctx.reference(f"mindspore.ops.{word}"), [tensor.args[0]])
    return build("{like}({x})", like=ctx.reference(f"mindspore.ops.{word}_like"), x=tensor)


def _bernoulli(site: CallSite, tensor: cst.BaseExpression, ctx: Context) -> cst.BaseExpression | None:
    if _range(site, ("p", "p"), ctx) is None:
        return None
    p = site.argument("p")
    chance = p.code if p is not None else cst.Float("0.5")
    draw = build("{like}({x})", like=ctx.reference("mindspore.ops.rand_like"), x=tensor)
    return build("({draw} < {p}).astype({x}.dtype)", draw=draw, p=chance, x=tensor.deep_clone())


def _exponential(site: CallSite, tensor: cst.BaseExpression, ctx: Context) -> cst.BaseExpression | None:
    if _range(site, ("lambd", "lambd"), ctx) is None:
        return None
    draw = build("-{log}(1 - {like}({x}))", log=ctx.reference("mindspore.ops.log"),
                 like=ctx.reference("mindspore.ops.rand_like"), x=tensor)  # fmt: skip
    rate = site.argument("lambd")
    return draw if rate is None else binary(draw, "/", rate.code)


def _randint(site: CallSite, tensor: cst.BaseExpression, ctx: Context) -> cst.BaseExpression | None:
    given = _range(site, ("from_", "to"), ctx)
    if given is None or given[0] is None:
        return None
    low, high = (cst.Integer("0"), given[0]) if given[1] is None else given
    assert low is not None
    assert high is not None
    randint = ctx.reference("mindspore.ops.randint")
    return build("{randint}({low}, {high}, {x}.shape).astype({y}.dtype)",
                 randint=randint, low=low, high=high, x=tensor, y=tensor.deep_clone())  # fmt: skip


_MAKERS: dict[str, Maker] = {
    "zero": _zero,
    "fill": _fill,
    "copy": _copy,
    "normal": _normal,
    "uniform": _uniform,
    "bernoulli": _bernoulli,
    "exponential": _exponential,
    "random": _randint,
    "resize": _resize,
    "resize_as": _resize_as,
}


def flattened(tree: ast.expr) -> str:
    """Return ``m`` of ``m.view(-1)``, the same elements in one row; empty for all else, ``m.view(torch.int)``."""
    func = tree.func if isinstance(tree, ast.Call) and not tree.keywords and len(tree.args) == 1 else None
    if not isinstance(func, ast.Attribute) or func.attr != "view" or not isinstance(func.value, ast.Name):
        return ""
    assert isinstance(tree, ast.Call)
    return func.value.id if ast.unparse(tree.args[0]) == "-1" else ""


# Calls that give the same number as often as they are made
_ASKING = frozenset("len int slice abs min max size numel nelement dim ndimension item tolist".split())


_FILLING = ("fill", "zero")


def repeatable(tree: ast.AST, site: CallSite | None = None) -> bool:
    """Whether an expression may be written twice: it calls nothing, but for what asks for a size or a number.

    Or needs to be written once: ``x.view(-1)[0].fill_(1)`` does not read what was there.
    """
    base = tree.value if isinstance(tree, ast.Subscript) and site is not None and bare_name(site) in _FILLING else None
    if isinstance(base, ast.Call) and isinstance(base.func, ast.Attribute) and base.func.attr == "view":
        return all(map(repeatable, (base.func, *base.args)))
    calls = (node.func for node in walk(tree) if isinstance(node, ast.Call))
    names = (func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "") for func in calls)
    return all(name in _ASKING for name in names) and not any(
        isinstance(node, (ast.NamedExpr, ast.Await, ast.Yield)) for node in walk(tree)
    )


def is_piece(base: ast.expr, ctx: Context) -> bool:
    """Whether ``base[i]`` is a view of what was cut up: ``x.chunk(4)[1]``, which MindSpore's ``[()] =`` reaches too."""
    cuts = isinstance(base, ast.Call) and isinstance(base.func, ast.Attribute) and base.func.attr in _CUTS
    return cuts and ctx.target.mindspore >= (2, 7)


_CUTS = ("chunk", "split", "unbind")


def goes_on_unchanged(site: CallSite, ctx: Context) -> bool:
    """Whether a method that changes nothing is called on the result, and none before it changes the numbers."""
    name = getattr(ctx.parent(site.tree), "attr", "_")
    return not name.endswith("_") and not is_inplace(site.receiver_tree, ctx)
