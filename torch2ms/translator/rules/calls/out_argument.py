"""``out=``: torch writes the result into a tensor that is there already; ``x[...] = result`` does the same."""

from __future__ import annotations

import ast
from collections.abc import Callable

import libcst as cst

from torch2ms.mapping_tables.facts import load_facts
from torch2ms.translator.context import Context
from torch2ms.translator.effects.sharing import (
    fills_whole,
    held_elsewhere,
    is_fresh,
    is_shared_view,
    owner_of,
    reaches_views,
    seen_elsewhere,
    shares_memory,
    what_index_gives,
    writes_through,
)
from torch2ms.translator.rules.recipes.narrowed_parts import narrowed_part
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.syntax.cst_builders import bare, build, code_of, fix_commas, parenthesised, parse_expression
from torch2ms.translator.values.dtypes import family
from torch2ms.translator.values.queries.ranks import ranks

__all__ = ["rewrite_out"]

Rewrite = Callable[[cst.Call, ast.Call], cst.BaseExpression]


def rewrite_out(updated: cst.Call, tree: ast.Call, ctx: Context, rewrite: Rewrite) -> cst.BaseExpression | None:
    """Return what a call with ``out=`` becomes, None for one without it or whose place cannot be written to.

    ``rewrite`` translates the call without the argument.
    """
    given = next((keyword.value for keyword in tree.keywords if keyword.arg == "out"), None)
    position = next(
        (i for i, arg in enumerate(updated.args) if arg.keyword is not None and arg.keyword.value == "out"), None
    )
    if given is None or position is None or (isinstance(given, ast.Constant) and given.value is None):
        return None
    if isinstance(given, ast.Call) and is_fresh(given, ctx):
        wanted = ctx.kind(given).of
        if _gives(tree, wanted, ctx) or (not wanted and not _is_cast(given)):
            return _without_place(updated, tree, position, rewrite)
        if wanted.startswith("torch.") and "|" not in wanted:  # torch casts to the dtype of the place
            made = _without_place(updated, tree, position, rewrite)
            word = wanted.removeprefix("torch.").replace("bool", "bool_")
            return build("{x}.astype({t})", x=parenthesised(bare(made)), t=ctx.reference(f"mindspore.{word}"))
    if (kin := _kin(given)) is not None:
        made = _without_place(updated, tree, position, rewrite)
        return build("{x}.astype({y}.dtype)", x=parenthesised(bare(made)), y=parse_expression(kin))
    alone = isinstance(ctx.small, ast.Expr) and ctx.small.value is tree
    if alone and isinstance(given, (ast.Call, ast.Subscript)) and _is_part(given, updated.args[position].value, ctx):
        made = _without_place(updated, tree, position, rewrite)
        held = updated.args[position].value
        part = narrowed_part(given, held, ctx)
        place = f"{code_of(part[0])}[{part[1]}]" if part is not None else code_of(held)
        ctx.rebind.append(place if part is not None or isinstance(given, ast.Subscript) else f"{place}[()]")
        return made
    places = given.elts if isinstance(given, (ast.Tuple, ast.List)) else [given]
    if not places or not all(_is_writable(place, ctx) for place in places):
        return None
    if not alone and not _comes_first(tree, places, ctx):
        return None
    code = updated.args[position].value
    plain = ast.copy_location(ast.Call(tree.func, tree.args, [k for k in tree.keywords if k.arg != "out"]), tree)
    rest = [arg for arg in updated.args if arg is not updated.args[position]]
    made = rewrite(updated.with_changes(args=fix_commas(rest, ())), plain)
    is_number = len(places) == 1 and ranks(plain, ctx) == {0} and 0 not in (ranks(places[0], ctx) or {0})
    targets = ", ".join(ast.unparse(place) if is_number else _target(place, ctx) for place in places)
    if targets.isidentifier() and _differs(places[0], plain, tree, ctx):
        made = build("{x}.astype({y}.dtype)", x=parenthesised(bare(made)), y=cst.Name(targets))
    _tell_of_others(places, tree, targets, ctx)
    if alone and targets == f"{code_of(code)}[...]" and not is_number and _may_be_resized(places[0], plain, ctx):
        return _resized(code, made, family(ctx.kind(tree).of) == family(ctx.kind(places[0]).of) != "")
    if alone:
        ctx.rebind.append(targets)
        return made
    target = parse_expression(targets)
    assert isinstance(target, (cst.Name, cst.Subscript, cst.Tuple))
    assigned = cst.Assign([cst.AssignTarget(target)], bare(made))
    ctx.frame.before.append(cst.SimpleStatementLine([assigned]))
    return code


def _resized(place: cst.BaseExpression, made: cst.BaseExpression, is_same: bool) -> cst.BaseExpression:
    """Return ``x.assign_value(result)``, which gives the very tensor the result's size; ``is_same``: its dtype too."""
    if is_same:
        return build("{x}.assign_value({made})", x=place, made=bare(made))
    template = f"{{x}}.assign_value({{made}}.astype({code_of(place)}.dtype))"
    return build(template, x=place, made=parenthesised(bare(made)))


def _tell_of_others(places: list[ast.expr], tree: ast.Call, targets: str, ctx: Context) -> None:
    """Report places that share memory with another name, where what is written does not reach that."""
    for place in places:
        assert isinstance(place, ast.Name)
        owner = owner_of(place.id, place, ctx)
        held = held_elsewhere(place.id, tree, ctx) if owner in ("fresh", "object") else {owner}
        if "view" in held or ("shared" in held and not targets.endswith("[()]")):
            message = f"{place.id} shares its memory in torch with another tensor, which keeps its old values"
            ctx.report("T2M305", tree, message)


def _may_be_resized(place: ast.expr, plain: ast.Call, ctx: Context) -> bool:
    """Whether a place is a tensor that was made here, of sizes that the result need not have: torch resizes it.

    Where a gradient flows, or where somebody holds a part of the tensor, its memory is filled instead; a tensor that
    the result is computed from has its size.
    """
    if not isinstance(place, ast.Name) or not fills_whole(ctx):
        return False
    if any(isinstance(node, ast.Name) and node.id == place.id for node in walk(plain)):
        return False
    is_own = owner_of(place.id, place, ctx) == "fresh"
    return is_own and seen_elsewhere(place.id, place, ctx) in ("fresh", "object")


def _differs(place: ast.expr, plain: ast.Call, tree: ast.Call, ctx: Context) -> bool:
    """Whether a result has another dtype than the tensor without elements that it takes the name of."""
    found, own = family(ctx.kind(tree).of), family(ctx.kind(place).of)
    name = plain.func.attr if isinstance(plain.func, ast.Attribute) else ""
    if not found and (name.startswith("bitwise_") or name in ("gcd", "lcm")):
        found = "int"
    return bool(found and own) and found != own


def _gives(tree: ast.Call, dtype: str, ctx: Context) -> bool:
    """Whether a call gives a tensor of a dtype of its own accord, and not because of the place it writes to."""
    tensors = [kind for kind in map(ctx.kind, tree.args) if kind.is_tensor]
    return bool(dtype and tensors) and all(kind.of == dtype for kind in (*tensors, ctx.kind(tree)))


def _without_place(updated: cst.Call, tree: ast.Call, position: int, rewrite: Rewrite) -> cst.BaseExpression:
    """Return the call without its ``out``: nobody else sees a tensor that is made for it, ``out=torch.empty(3)``."""
    plain = ast.copy_location(ast.Call(tree.func, tree.args, [k for k in tree.keywords if k.arg != "out"]), tree)
    rest = [arg for arg in updated.args if arg is not updated.args[position]]
    return rewrite(updated.with_changes(args=fix_commas(rest, ())), plain)


def _kin(tree: ast.expr) -> str | None:
    """Return the tensor whose dtype a new one without elements has: ``pi`` of ``pi.data.new()``; None for others."""
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Attribute) or tree.keywords:
        return None
    none = [isinstance(arg, ast.Constant) and arg.value == 0 for arg in tree.args]
    if tree.func.attr not in ("new", "new_empty") or not all(none):
        return None
    owner = tree.func.value
    if isinstance(owner, ast.Attribute) and owner.attr == "data":
        owner = owner.value
    return ast.unparse(owner) if isinstance(owner, ast.Name) else None


def _is_cast(tree: ast.expr) -> bool:
    """Whether a tensor may have another dtype than the result, which torch casts."""
    maker = tree.func.attr if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute) else ""
    return maker not in ("empty", "empty_like") or any(word.arg == "dtype" for word in getattr(tree, "keywords", ()))


def _is_part(place: ast.Call | ast.Subscript, code: cst.BaseExpression, ctx: Context) -> bool:
    """Whether a place is a part of a tensor that an assignment reaches: ``buffer[2:]``, ``buffer.narrow(0, 2, n)``."""
    if isinstance(place, ast.Subscript):
        return ctx.kind(place.value).is_tensor and what_index_gives(place.slice, ctx) == "part"
    return narrowed_part(place, code, ctx) is not None or (is_shared_view(place, ctx) and shares_memory(place, ctx))


def _is_writable(place: ast.expr, ctx: Context) -> bool:
    return isinstance(place, ast.Name) and ctx.kind(place).name in (
        "Tensor",
        "unknown",
    )  # torch takes nothing but tensors


def _comes_first(tree: ast.Call, places: list[ast.expr], ctx: Context) -> bool:
    """Whether a call may move in front of its statement: nothing before it there reads what it writes."""
    small = ctx.small
    if not isinstance(small, (ast.Assign, ast.Return, ast.AnnAssign)) or ctx.frame.tree is not small:
        return False
    if small.value is None:
        return False
    names = {place.id for place in places if isinstance(place, ast.Name)}
    start = (tree.lineno, tree.col_offset)
    for node in walk(small.value):
        if isinstance(node, (ast.Lambda, ast.IfExp, ast.BoolOp, ast.ListComp, ast.GeneratorExp, ast.DictComp)):
            return False
        if isinstance(node, ast.Name) and node.id in names and (node.lineno, node.col_offset) < start:
            return False
    return True


def _target(place: ast.expr, ctx: Context) -> str:
    """Return ``x[...]``, or ``x`` where the tensor was made without elements: torch gives it the result's size."""
    assert isinstance(place, ast.Name)
    made = [
        value
        for node in ctx.analysis.nodes
        if isinstance(node, ast.Assign)
        for target in node.targets
        for name, value in _pairs(target, node.value)
        if isinstance(name, ast.Name) and name.id == place.id
    ]
    if any(_is_empty(value) for value in made):
        return place.id
    return f"{place.id}[{'()' if writes_through(place.id, place, ctx) or reaches_views(place.id, ctx) else '...'}]"


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """Return what each name of an assignment gets, ``v, i = a, b`` told apart."""
    if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
        return list(zip(target.elts, value.elts, strict=True)) if len(target.elts) == len(value.elts) else []
    return [(target, value)]


def _is_empty(tree: ast.expr) -> bool:
    """Whether a tensor is made with no elements: ``torch.empty(0)``, ``torch.tensor([])``, ``torch.Tensor()``."""
    if not isinstance(tree, ast.Call):
        return False
    name = tree.func.attr if isinstance(tree.func, ast.Attribute) else getattr(tree.func, "id", "")
    is_sized = load_facts().has_axes(name, "sizes") and not load_facts().may_share(name)
    if not is_sized and not name.endswith(("tensor", "Tensor")):
        return False
    if not tree.args:
        return isinstance(tree.func, ast.Attribute) and tree.func.attr.endswith("Tensor") and not tree.keywords
    first = tree.args[0]
    if isinstance(first, (ast.List, ast.Tuple)):
        return not first.elts or any(isinstance(item, ast.Constant) and item.value == 0 for item in first.elts)
    return any(isinstance(arg, ast.Constant) and type(arg.value) is int and arg.value == 0 for arg in tree.args)
