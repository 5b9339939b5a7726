"""In-place methods. MindSpore's own do not change a tensor in PyNative mode on CPU, so each becomes what does.

A name that alone holds its tensor is bound to the new value; a parameter or a buffer is assigned; what others may see,
an argument say, is filled with ``x[...] = value``, which does change the very tensor, with right gradients. A view does
not share its memory in MindSpore: T2M305.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

import libcst as cst

from torch2ms.mapping_tables.facts import load_facts
from torch2ms.translator.context import Context
from torch2ms.translator.effects.copied_views import left_view
from torch2ms.translator.effects.differentiation import may_be_called_for_gradients
from torch2ms.translator.effects.escape import is_held
from torch2ms.translator.effects.gradient_state import is_recording
from torch2ms.translator.effects.must_alias import twin_of
from torch2ms.translator.effects.parameter_storage import (
    gives_first_values,
    goes_over_weights,
    holds_data,
    holds_gradient,
    is_of_state,
    may_have_stepped,
    names_parameter,
)
from torch2ms.translator.effects.partial_writes import is_handed_parts
from torch2ms.translator.effects.sharing import (
    fills_whole,
    held_elsewhere,
    is_fresh,
    owner_of,
    reaches_views,
    seen_elsewhere,
    shares_memory,
    what_index_gives,
    writes_through,
)
from torch2ms.translator.effects.trained_tensors import is_trained
from torch2ms.translator.effects.write_back import is_written_back
from torch2ms.translator.rules.call_site import CallSite, Leave, Outcome, Replace, recipe
from torch2ms.translator.rules.detached_members import detaches_members
from torch2ms.translator.rules.recipes.first_values import first_value, may_be_float64
from torch2ms.translator.rules.recipes.inplace_values import (
    DATA,
    bare_name,
    changed_by,
    first_of,
    flattened,
    functional,
    goes_on_unchanged,
    is_inplace,
    is_piece,
    repeatable,
)
from torch2ms.translator.rules.recipes.narrowed_parts import narrowed_part
from torch2ms.translator.rules.recipes.own_tensors import cut_buffer, dropped, held_by_network, may_carry
from torch2ms.translator.rules.recipes.whole_values import exactly_filled
from torch2ms.translator.rules.snapshots import of_old_values
from torch2ms.translator.syntax.ast_walk import changed_in_place, walk
from torch2ms.translator.syntax.cst_builders import build, code_of, fix_commas, parenthesised, parse_expression

__all__: list[str] = []

_ALIAS = "another name may refer to the tensor that is changed in place, and keeps its old value in MindSpore"
_BACK = "the change reaches what shares the memory, but the gradient does not see it there"
_VIEW = "the tensor may share its memory with another one, which keeps its old value in MindSpore"
_COPY = "indexing with a tensor or a list makes a copy, which changing in place does not write back"

# What an expression may stand in without parentheses.
_WHOLE = (ast.stmt, ast.Call, ast.keyword, ast.Tuple, ast.List, ast.Dict, ast.Set)


@dataclass(frozen=True, slots=True)
class _Place:
    """The tensor that is changed: in both trees, without ``.data`` and ``.detach()``."""

    tree: ast.expr
    code: cst.BaseExpression
    stripped: bool


@recipe("inplace")
def inplace(site: CallSite, ctx: Context) -> Outcome:
    """``x.add_(y)`` -> ``x = x + y``, ``ops.assign(self.x, self.x + y)`` or ``x[...] = x + y``."""
    made = _changed(exactly_filled(site, ctx) if bare_name(site) == "masked_fill" else site, ctx)
    if isinstance(made, Replace) and ctx.small is not None and detaches_members(ctx.parent(ctx.small), ctx):
        return replace(made, codes=())  # the tuple is made anew
    if isinstance(made, Replace) and not isinstance(ctx.parent(site.tree), _WHOLE):
        return replace(made, code=parenthesised(made.code))  # an operator now stands where a call stood
    return made


def _changed(site: CallSite, ctx: Context) -> Outcome:
    if _start(site)[0] is None:
        return Leave("the tensor is not named")
    if _inner(site, ctx):
        inner, place = _stripped(site)
        ctx.chain_starts[site.tree] = ctx.chain_starts.get(place.tree, place.code)
        return functional(inner, place.code, ctx)
    place = _root(site, ctx)
    site, direct = _stripped(site)
    statement = isinstance(ctx.small, ast.Expr) and ctx.small.value is site.tree
    once = bare_name(site) == "copy" or repeatable(place.tree)
    keeps = is_of_state(place.tree, ctx) or holds_data(place.tree, ctx) or holds_gradient(place.tree, ctx)
    if statement and once and keeps and not _reshapes(site):
        return _copied(site, place, direct, ctx)
    if isinstance(place.tree, ast.Subscript) and not is_fresh(place.tree.value, ctx):
        if _is_parameter(place.tree, ctx):  # of a list or a dictionary; an optimizer trains no more what [...] fills
            return _assigned(site, place, direct, statement, ctx)
        return _seen(_element(site, place, direct, statement, ctx), place, ctx)
    if isinstance(place.tree, ast.Name):
        kind = ctx.kind(place.tree).name
        if (
            kind == "Parameter"
            or names_parameter(place.tree, ctx)
            or is_trained(place.tree.id, ctx)
            or (place.stripped and kind != "Tensor")
        ):
            return _assigned(site, place, direct, statement, ctx)
        if statement and goes_over_weights(place.tree, ctx):  # an optimizer trains no more what x[...] = y has filled
            return _assigned(site, place, direct, statement, ctx)
        return _seen(_name(site, place.tree.id, direct, statement, ctx), place, ctx)
    if isinstance(place.tree, ast.Attribute) and not is_fresh(place.tree, ctx):
        return _attribute(site, place, direct, statement, ctx)
    part = narrowed_part(place.tree, place.code, ctx) if statement and not _reshapes(site) else None
    if part is not None:
        return _filled(site, part[0], direct, True, ctx, index=part[1])
    name = flattened(place.tree)
    if statement and name and owner_of(name, site.tree, ctx) == "fresh" and not _reshapes(site):
        made = functional(site, direct.code, ctx)
        if isinstance(made, Leave):
            return made
        ctx.rebind.append(name)
        return replace(
            made, code=build("{made}.view({name}.shape)", made=parenthesised(made.code), name=cst.Name(name))
        )
    is_new = is_fresh(place.tree, ctx)
    if statement and not is_new and shares_memory(place.tree, ctx) and not _reshapes(site):
        return _filled(site, place.code, direct, True, ctx, index="()")
    made = functional(site, direct.code, ctx)
    if isinstance(made, Leave) or is_new:
        return made
    if statement:
        return Leave(f"what {ast.unparse(place.tree)} returns is changed in place: give it a name")
    return replace(made, codes=(*made.codes, ("T2M305", _ALIAS)))


def _copied(site: CallSite, place: _Place, direct: _Place, ctx: Context) -> Outcome:
    """``v.copy_(value)`` for a tensor of a ``state_dict()``, or another name for a weight."""
    source = site.argument("src") if bare_name(site) == "copy" else None
    tensor = source is not None and ctx.kind(source.tree).is_tensor
    made = Replace(source.code) if source is not None and tensor else functional(site, direct.code, ctx)
    return made if isinstance(made, Leave) else replace(made, code=build("{x}.copy_({v})", x=place.code, v=made.code))


def _seen(made: Outcome, place: _Place, ctx: Context) -> Outcome:
    """Say that a change of ``x.data`` is seen by the gradient, where a function computes ``x``."""
    function = ctx.functions[-1]
    computes = function is not None and getattr(function.node, "name", "") not in ("", "__init__", "step")
    if not isinstance(made, Replace) or not place.stripped or not computes:
        return made
    if ctx.kind(place.tree).name == "Parameter":
        return made
    return replace(made, codes=(*made.codes, ("T2M305", DATA)))


# ---- what is changed


def _inner(site: CallSite, ctx: Context) -> bool:
    """Whether another in-place method follows: ``x.mul_(a).add_(b)``; the last one says what becomes of ``x``."""
    parent = ctx.parent(site.tree)
    return isinstance(parent, ast.Attribute) and is_inplace(ctx.parent(parent), ctx)


def _root(site: CallSite, ctx: Context) -> _Place:
    """Return the tensor at the start of a chain of in-place methods."""
    tree, _ = _start(site)
    assert tree is not None
    start = ctx.chain_starts.get(tree)
    while (changed := changed_by(tree, ctx)) is not None:
        tree = changed
    stripped = False
    while (inner := _data_of(tree)) is not None:
        tree, stripped = inner, True
    return _Place(tree, _stripped(site)[1].code if start is None else start.deep_clone(), stripped)


def _start(site: CallSite) -> tuple[ast.expr | None, cst.BaseExpression | None]:
    if site.receiver is not None:
        return site.receiver_tree, site.receiver
    first = site.tree.args[0] if site.tree.args else None
    return first, site.updated.args[0].value if first is not None else None


def _data_of(tree: ast.expr) -> ast.expr | None:
    """Return ``x`` of ``x.data`` and ``x.detach()``."""
    if isinstance(tree, ast.Call) and not tree.args and isinstance(tree.func, ast.Attribute):
        return tree.func.value if tree.func.attr == "detach" else None
    return tree.value if isinstance(tree, ast.Attribute) and tree.attr == "data" else None


def _stripped(site: CallSite) -> tuple[CallSite, _Place]:
    """Return the call without ``.data`` and ``.detach()`` on its receiver, and that receiver."""
    tree, code = _start(site)
    assert tree is not None
    assert code is not None
    stripped = False
    while (inner := _data_of(tree)) is not None:
        tree, stripped = inner, True
        code = _without_data(code)
    if stripped and site.receiver is not None:
        func = cst.ensure_type(site.updated.func, cst.Attribute).with_changes(value=code)
        site = replace(site, receiver=code, updated=site.updated.with_changes(func=func))
    return site, _Place(tree, code, stripped)


def _without_data(code: cst.BaseExpression) -> cst.BaseExpression:
    """Return ``x`` of what ``x.data`` became: ``x.data``, ``ops.stop_gradient(x)``, ``x.value()`` or ``x`` itself."""
    if isinstance(code, cst.Call):
        if len(code.args) == 1:
            return code.args[0].value
        if not code.args and isinstance(code.func, cst.Attribute):
            return code.func.value
    if isinstance(code, cst.Attribute) and code.attr.value == "data":
        return code.value
    return code


def _is_parameter(tree: ast.expr, ctx: Context) -> bool:
    return ctx.kind(tree).name == "Parameter"


def _name(site: CallSite, name: str, direct: _Place, statement: bool, ctx: Context) -> Outcome:
    """Change what a name holds: bind it anew where nothing else sees the tensor, else fill the tensor."""
    owner = owner_of(name, site.tree, ctx)
    if owner == "fresh":
        owner = seen_elsewhere(name, site.tree, ctx)
    if isinstance(ctx.small, ast.Assign) and ctx.small.value is site.tree and _targets(ctx.small) == {name}:
        made = functional(site, direct.code, ctx)
        return made if isinstance(made, Leave) or owner == "fresh" else _warned(made, owner)
    if not _reshapes(site) and writes_through(name, site.tree, ctx):
        filled = _filled(site, cst.Name(name), direct, statement, ctx, index="()")
        if not may_be_called_for_gradients(ctx) or not isinstance(filled, Replace):
            return filled
        return replace(filled, codes=(*filled.codes, ("T2M305", _BACK)))
    twin = twin_of(name, ctx.small, ctx) if owner == "object" and statement and not _reshapes(site) else None
    if twin is not None and _is_network_input(twin.id, ctx) and seen_elsewhere(name, site.tree, ctx) == "fresh":
        made = functional(site, direct.code, ctx)
        ctx.rebind.extend([] if isinstance(made, Leave) else [name, twin.id])
        return made
    if owner == "object" and not _reshapes(site) and not _is_network_input(name, ctx):
        filled = _filled(site, cst.Name(name), direct, statement, ctx)
        is_copied = isinstance(filled, Replace) and "view" in held_elsewhere(name, site.tree, ctx)
        return _warned(filled, "view") if is_copied and isinstance(filled, Replace) else filled
    made = functional(site, direct.code, ctx)
    if isinstance(made, Leave):
        return made
    is_cut = bare_name(site) == "detach"  # gives no other shape: the name alone is bound anew
    if owner == "object" and statement and _reshapes(site) and not is_cut and fills_whole(ctx):
        return replace(made, code=build("{x}.assign_value({made})", x=cst.Name(name), made=made.code))
    if owner != "fresh" and not is_written_back(name, site.tree, ctx):
        made = _warned(made, owner)
    if statement or (isinstance(ctx.small, ast.Assign) and ctx.small.value is site.tree):
        ctx.rebind.append(name)
        return made
    if _is_last_use(site.tree, name, ctx) or owner != "fresh":
        return made
    if not _reshapes(site) and not _is_network_input(name, ctx):
        return replace(made, code=_expression(cst.Name(name), made.code, ctx))
    return replace(made, codes=(*made.codes, ("T2M305", f"{name} is changed in place in the middle of an expression")))


def _is_last_use(call: ast.Call, name: str, ctx: Context) -> bool:
    """Whether a call stands in a return statement that names the tensor only once: nobody sees it afterwards."""
    node: ast.AST | None = call
    while node is not None and not isinstance(node, ast.stmt):
        node = ctx.parent(node)
    if not isinstance(node, ast.Return):
        return False
    return sum(isinstance(part, ast.Name) and part.id == name for part in walk(node)) == 1


def _targets(node: ast.Assign) -> set[str]:
    return {target.id if isinstance(target, ast.Name) else "" for target in node.targets}


def _warned(made: Replace, owner: str) -> Replace:
    return replace(made, codes=(*made.codes, ("T2M305", _ALIAS if owner == "object" else _VIEW)))


def _reshapes(site: CallSite) -> bool:
    """Whether the call, or one before it in a chain of in-place methods, changes the shape."""
    tree: ast.expr | None = site.receiver_tree
    while tree is not None and (changed := changed_in_place(tree)) is not None:
        if load_facts().gives_form(tree.func.attr):  # type: ignore[attr-defined]
            return True
        tree = changed
    return load_facts().gives_form(f"{bare_name(site)}_")


def _is_network_input(name: str, ctx: Context) -> bool:
    """Whether a name is a parameter of a network's forward: MindSpore forbids to fill an input it differentiates by."""
    info = ctx.functions[-1]
    if info is None or info.owner is None or ctx.world.family(info.owner.key).name != "Module":
        return False
    arguments = info.node.args
    return any(arg.arg == name for arg in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs])


def _content(site: CallSite, direct: _Place, ctx: Context) -> Replace | Leave:
    """Return what ``x[...] =`` is given: a number for ``zero_`` and ``fill_``, the source of ``copy_``."""
    name = bare_name(site)
    if not is_inplace(site.receiver_tree, ctx):
        if name == "zero":
            return Replace(cst.Integer("0"))
        argument = site.argument("value" if name == "fill" else "src") if name in ("fill", "copy") else None
        if argument is not None:
            return Replace(argument.code)
    return functional(site, direct.code, ctx)


def _filled(
    site: CallSite, target: cst.BaseExpression, direct: _Place, statement: bool, ctx: Context, *, index: str = "..."
) -> Outcome:
    """``x[...] = value``, or ``x[()] = value`` for a view; where the value is used, in a statement before."""
    made = _content(site, direct, ctx)
    if isinstance(made, Leave):
        return made
    made = replace(made, code=of_old_values(made.code, target, *first_of(site, ctx), ctx))
    copied = build("{x}.copy_({v})", x=target, v=made.code)
    if is_handed_parts(site.receiver_tree, ctx):
        copied = _expression(target, made.code, ctx)
    copies = index == "..." and _keeps_assignable(site, ctx)
    if copies and statement:
        return replace(made, code=copied)
    name = target.value if isinstance(target, cst.Name) else ""
    if index == "..." and (reaches_views(name, ctx) or _is_spread(site, ctx)):
        index = "()"
    source = site.argument("src") if bare_name(site) == "copy" else None
    if index == "..." and source is not None and is_held(source.tree, ctx):
        made = replace(made, code=build("{f}({x})", f=ctx.reference("mindspore.ops.deepcopy"), x=made.code))
    filled = f"{code_of(target)}[{index}]"
    whole = isinstance(site.receiver_tree, ast.Name) and index == "..."
    left = left_view(getattr(site.receiver_tree, "id", ""), site.tree, ctx) if whole else ""
    made = replace(made, codes=(*made.codes, ("T2M305", left))) if left else made
    if statement:
        ctx.rebind.append(filled)
        return made
    alone = isinstance(ctx.small, (ast.Assign, ast.Return, ast.AnnAssign)) and ctx.small.value is site.tree
    if not alone or ctx.frame.tree is not ctx.small:
        return replace(made, code=_expression(target, made.code, ctx))
    place = cst.ensure_type(parse_expression(filled), cst.Subscript)
    first = cst.Expr(copied) if copies else cst.Assign([cst.AssignTarget(place)], made.code)
    ctx.frame.before.append(cst.SimpleStatementLine([first]))
    return replace(made, code=target)


def _expression(target: cst.BaseExpression, value: cst.BaseExpression, ctx: Context) -> cst.BaseExpression:
    """Return ``functional.filled(x, value)``: what fills a tensor in the middle of an expression, or in a lambda."""
    return build("{f}({x}, {v})", f=ctx.reference("torch2ms.runtime.functional.filled"), x=target, v=value)


def _keeps_assignable(site: CallSite, ctx: Context) -> bool:
    """Whether what is filled may be a weight that ``ops.assign`` is to take later, as an average of weights does.

    From 2.8 on it refuses one that ``p[...] = x`` has given a tensor; a number does no harm.
    """
    return gives_first_values(ctx) and ctx.target.mindspore >= (2, 8) and bare_name(site) not in ("zero", "fill")


def _is_spread(site: CallSite, ctx: Context) -> bool:
    """Whether a tensor is filled with another one, of perhaps fewer elements.

    ``x[...] = y`` then makes all elements of ``x`` one place in memory, and ``x[0] = 1`` sets them all (seen in 2.10).
    """
    name = {"fill": "value", "copy": "src"}.get(bare_name(site))
    source = site.argument(name) if name is not None else None
    return source is not None and ctx.kind(source.tree).is_tensor and fills_whole(ctx)


def _assigned(site: CallSite, place: _Place, direct: _Place, statement: bool, ctx: Context) -> Outcome:
    """``ops.assign(p, value)``: what changes a parameter or a buffer in any mode."""
    if bare_name(site) == "detach" and statement and site.receiver_tree in ctx.training.kept:
        return dropped()  # a gradient that is kept has no history
    if bare_name(site) == "detach" and statement and not place.stripped and _is_parameter(place.tree, ctx):
        ctx.rebind.append(f"{code_of(place.code)}.requires_grad")  # nothing made a leaf: it is frozen
        return Replace(cst.Name("False"))
    if _reshapes(site):
        return Leave("it changes the shape of a parameter or a buffer")
    if not repeatable(place.tree):
        return Leave(f"{ast.unparse(place.tree)} is computed: give it a name")
    if statement and (_is_parameter(place.tree, ctx) or place.stripped):
        initial = first_value(site, place.tree, place.code, ctx)
        if initial is not None:
            return Replace(initial)
    source = site.argument("src") if bare_name(site) == "copy" else None
    made = Replace(source.code) if source is not None else functional(site, direct.code, ctx)
    if isinstance(made, Leave):
        return made
    if source is None and statement and gives_first_values(ctx) and not may_have_stepped(site.tree, ctx):
        return replace(made, code=build("{p}.set_data({x})", p=place.code.deep_clone(), x=made.code))
    if source is not None and may_be_float64(source.tree, ctx):  # assign refuses another dtype than the parameter's
        dtyped = build("{x}.astype({p}.dtype)", x=made.code, p=place.code.deep_clone())
        made = replace(made, code=dtyped)
    args = fix_commas([cst.Arg(place.code.deep_clone()), cst.Arg(made.code)], ())
    return replace(made, code=cst.Call(ctx.reference("mindspore.ops.assign"), args))


def _attribute(site: CallSite, place: _Place, direct: _Place, statement: bool, ctx: Context) -> Outcome:
    assert isinstance(place.tree, ast.Attribute)
    owner = ctx.kind(place.tree.value)
    is_weight = _is_parameter(place.tree, ctx) or place.tree in ctx.training.kept
    if owner.name == "Module" and not is_weight:
        made = _held_by_network(site, place, direct, statement, ctx)
        if made is not None:
            return made
    if place.stripped or is_weight or owner.name == "Module":
        return _assigned(site, place, direct, statement, ctx)
    if not repeatable(place.tree):
        return Leave(f"{ast.unparse(place.tree)} is computed: give it a name")
    if place.tree.attr in ("T", "mT", "grad", "real", "imag"):
        return Leave(f".{place.tree.attr} is changed in place, which does not reach the tensor it belongs to")
    if _reshapes(site) and statement:
        return _rebound(site, place, direct, ctx)
    return _filled(site, place.code, direct, statement, ctx)


def _held_by_network(site: CallSite, place: _Place, direct: _Place, statement: bool, ctx: Context) -> Outcome | None:
    """Return what changes a network's tensor with its gradient; None for parameters, and where none flows."""
    assert isinstance(place.tree, ast.Attribute)
    held = held_by_network(place.tree, ctx)
    if held is None or not repeatable(place.tree):
        return None
    if _reshapes(site):
        is_cut = bare_name(site) == "detach" and not place.stripped
        if held == "own" and statement:
            return _rebound(site, place, direct, ctx)
        return cut_buffer(place.tree, place.code, held, ctx) if is_cut and statement else None
    if held == "buffer" or not may_carry(place.tree, ctx):
        return None
    made = _filled(site, place.code, direct, statement, ctx)
    is_seen = place.stripped and is_recording(site.tree, ctx) is not False
    return replace(made, codes=(*made.codes, ("T2M305", DATA))) if is_seen and isinstance(made, Replace) else made


def _rebound(site: CallSite, place: _Place, direct: _Place, ctx: Context) -> Outcome:
    """``d["a"].unsqueeze_(0)`` -> ``d["a"] = d["a"].unsqueeze(0)``: another shape is another tensor."""
    made = functional(site, direct.code, ctx)
    if isinstance(made, Replace):
        ctx.rebind.append(code_of(place.code))
    return made


def _element(site: CallSite, place: _Place, direct: _Place, statement: bool, ctx: Context) -> Outcome:
    """``x[i].add_(y)`` -> ``x[i] = x[i] + y`` in a tensor, ``xs[i][...] = xs[i] + y`` in a list or a dictionary."""
    assert isinstance(place.tree, ast.Subscript)
    if not statement and ctx.kind(place.tree.value).is_tensor and what_index_gives(place.tree.slice, ctx) == "copy":
        return functional(site, direct.code, ctx)  # ``x[mask].pow_(2).sum()``: nobody sees the copy that is changed
    if not statement and _reshapes(site):
        if ctx.kind(place.tree.value).is_tensor and goes_on_unchanged(site, ctx):
            return functional(site, direct.code, ctx)  # ``x[i].unsqueeze_(0).clone()``: nobody else has this view
        return Leave("a part of a tensor is changed in place in the middle of an expression: do it in a statement")
    if is_piece(place.tree.value, ctx):
        return _filled(site, place.code, direct, statement, ctx, index="()")
    if not repeatable(place.tree, site):
        return Leave(f"{ast.unparse(place.tree)} is computed: give it a name")
    base = place.tree.value
    while (inner := _data_of(base)) is not None:
        base = inner
    kind = ctx.kind(base)
    by_name = isinstance(getattr(place.tree.slice, "value", None), str)  # no tensor is indexed so
    if (by_name or kind.name in ("list", "dict")) and _reshapes(site):
        return _rebound(site, place, direct, ctx)
    if by_name or kind.name in ("list", "tuple", "dict"):
        parts = isinstance(base, ast.Name) and owner_of(base.id, site.tree, ctx) in ("shared", "view")
        return _filled(site, place.code, direct, statement, ctx, index="()" if parts else "...")
    what = what_index_gives(place.tree.slice, ctx)
    if what == "copy":
        return Leave(_COPY)
    if not kind.is_tensor and not (what == "part" and isinstance(place.tree.slice, (ast.Slice, ast.Tuple))):
        return Leave(f"{ast.unparse(place.tree.value)} may be a tensor or a list of tensors: annotate it")
    if what != "part":
        return Leave(f"{ast.unparse(place.tree.slice)} may be an index or a mask: write x[index] = value")
    made = _content(site, direct, ctx)
    if isinstance(made, Replace) and not statement:
        return replace(made, code=_expression(place.code, made.code, ctx))
    if isinstance(made, Replace):
        code = place.code
        if isinstance(code, cst.Subscript) and isinstance(place.tree.value, (ast.Attribute, ast.Call)):
            code = (
                code.with_changes(value=_without_data(code.value)) if _data_of(place.tree.value) is not None else code
            )
        ctx.rebind.append(code_of(code))
    return made
