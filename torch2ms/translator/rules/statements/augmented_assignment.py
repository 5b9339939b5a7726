"""In-place work that no method name shows: ``x += y`` on a tensor.

torch changes the tensor itself, and everybody who holds it sees that; MindSpore computes a new one. Where only one name
holds it there is no difference; where the name is read again it is bound anew; where somebody else may look, T2M305.
"""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.effects.differentiation import may_be_called_for_gradients
from torch2ms.translator.effects.members import is_handed_tensor
from torch2ms.translator.effects.must_alias import twin_of
from torch2ms.translator.effects.names_used import own
from torch2ms.translator.effects.parameter_storage import (
    goes_over_weights,
    holds_data,
    is_of_state,
    names_parameter,
)
from torch2ms.translator.effects.pass_through import passes_on
from torch2ms.translator.effects.sharing import (
    fills_whole,
    held_elsewhere,
    is_fresh,
    owner_of,
    reaches_views,
    seen_elsewhere,
    writes_through,
)
from torch2ms.translator.effects.trained_tensors import is_trained
from torch2ms.translator.rules.expressions.joined_layers import extended
from torch2ms.translator.rules.expressions.operators import shift
from torch2ms.translator.rules.expressions.rare_operators import long_operator
from torch2ms.translator.rules.expressions.slices import read_in_steps
from torch2ms.translator.rules.recipes.inplace_values import repeatable
from torch2ms.translator.rules.recipes.own_tensors import held_by_network
from torch2ms.translator.rules.snapshots import AUGMENTED, of_old_values
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.syntax.cst_builders import bare, build, code_of, parse_expression
from torch2ms.translator.values.leaf_tensors import BY_HAND
from torch2ms.translator.values.queries.dtype_widths import dtype_name, is_wider

__all__ = ["augmented"]


def _is_name(tree: ast.expr, name: str) -> bool:
    return isinstance(tree, ast.Name) and tree.id == name


def augmented(node: cst.AugAssign, tree: ast.AugAssign, ctx: Context) -> cst.AugAssign | cst.Expr | cst.Assign:
    """Return ``x += y``; a weight is assigned to, for MindSpore would bind the name to a tensor and leave the weight.

    Where somebody else holds a tensor that torch changes for them, T2M305 says that MindSpore does not.
    """
    container = extended(node, tree, ctx)
    if container is not None:
        return container
    if not isinstance(tree.target, ast.Name):
        kind = ctx.kind(tree.target)
        is_listed = isinstance(tree.target, ast.Subscript) and repeatable(tree.target)
        if kind.name == "Parameter" and (is_listed or kind.evidence == BY_HAND):  # no network keeps what is bound anew
            return _assigned(node, node.target, ctx)
        if is_of_state(tree.target, ctx) and is_listed:
            return _copied(node, node.target)
        if isinstance(tree.target, ast.Attribute):
            if _is_for_holders(tree.target, ctx):
                return _filled(node, tree, node.target, "...", ctx)
            _attribute(tree.target, tree, ctx)
        else:
            _element(tree, ctx)
        return _rebound(node, tree, ctx) if _is_function(tree, ctx) else _in_steps(node, tree, ctx)
    name = tree.target.id
    if names_parameter(tree.target, ctx):
        return _assigned(node, cst.Name(name), ctx)
    if not ctx.kind(tree.target).is_tensor:
        return node
    if ctx.kind(tree.target).name == "Parameter" or is_trained(name, ctx) or goes_over_weights(tree.target, ctx):
        return _assigned(node, cst.Name(name), ctx)
    if is_of_state(tree.target, ctx) or holds_data(tree.target, ctx):
        return _copied(node, cst.Name(name))
    through = writes_through(name, tree, ctx)
    if (through or _is_for_others(name, tree, ctx)) and not _may_be_number(name, tree, ctx):
        if through and may_be_called_for_gradients(ctx):
            ctx.report("T2M305", tree, f"a gradient does not see that the change of {name} reaches a view of it, too")
        elif not through and "view" in held_elsewhere(name, tree, ctx):
            message = f"{name} may share its memory with another tensor, which keeps its old value in MindSpore"
            ctx.report("T2M305", tree, message)
        return _filled(node, tree, cst.Name(name), "()" if through or reaches_views(name, ctx) else "...", ctx)
    twin = twin_of(name, tree, ctx)
    if not twin or seen_elsewhere(name, tree, ctx) != "fresh":
        _seen_elsewhere(name, tree, ctx)
        return _rebound(node, tree, ctx) if _is_function(tree, ctx) else _kept(node, name, tree, ctx)
    _seen_elsewhere(twin.id, tree, ctx, but=twin)
    kept = _rebound(node, tree, ctx) if _is_function(tree, ctx) else _kept(node, name, tree, ctx)
    ctx.rebind.append(twin.id)  # h = x: both names go on holding one tensor
    return kept if isinstance(kept, cst.Assign) else _rebound(node, tree, ctx)


def _copied(node: cst.AugAssign, target: cst.BaseExpression) -> cst.Expr:
    """Return ``v.copy_(v + y)`` for ``v += y``."""
    operator = code_of(node.operator).strip().removesuffix("=")
    return cst.Expr(build(f"{{v}}.copy_({{v}} {operator} {{value}})", v=target.deep_clone(), value=node.value))


def _assigned(node: cst.AugAssign, target: cst.BaseExpression, ctx: Context) -> cst.Expr:
    """Return ``ops.assign(w, w - g)`` for ``w -= g``."""
    operator = code_of(node.operator).strip().removesuffix("=")
    template = f"{{assign}}({{target}}, {{target}} {operator} {{value}})"
    assign = ctx.reference("mindspore.ops.assign")
    return cst.Expr(build(template, assign=assign, target=target.deep_clone(), value=node.value))


def _filled(
    node: cst.AugAssign, tree: ast.AugAssign, target: cst.BaseExpression, index: str, ctx: Context
) -> cst.Assign:
    """Return ``x[...] = x + y`` for ``x += y``: what else holds the tensor sees it."""
    operation = AUGMENTED.get(type(tree.op), "add")
    value = of_old_values(_combined(node, tree, ctx), target, operation, [tree.target, tree.value], ctx)
    whole = cst.ensure_type(parse_expression(f"{code_of(target)}[{index}]"), cst.Subscript)
    return cst.Assign([cst.AssignTarget(whole)], value)


def _is_for_holders(target: ast.Attribute, ctx: Context) -> bool:
    """Whether a network's own tensor, no parameter or buffer, may be held by another name as well."""
    of_network = ctx.kind(target.value).name == "Module" and ctx.kind(target).name == "Tensor"
    if not of_network or held_by_network(target, ctx) != "own":
        return False
    return not _made_here(target, ctx) or any(
        node.attr == target.attr and _is_handed_over(node, ctx) for node in ctx.analysis.all(ast.Attribute)
    )


def _is_handed_over(tree: ast.Attribute, ctx: Context) -> bool:
    """Whether an attribute's tensor is returned, put into a container, or bound in one statement with another name."""
    parent = ctx.parent(tree)
    if isinstance(parent, ast.Assign):
        return isinstance(tree.ctx, ast.Store) and len(parent.targets) > 1
    if isinstance(tree.ctx, ast.Store):
        return False
    puts = isinstance(parent, ast.Call) and getattr(parent.func, "attr", "") in ("append", "insert", "setdefault")
    return puts or isinstance(parent, (ast.List, ast.Tuple, ast.Dict, ast.Set, ast.Return, ast.Yield))


def _shifts(tree: ast.AugAssign, ctx: Context) -> bool:
    """Whether the bits of a tensor are moved, for which MindSpore has no operator."""
    return isinstance(tree.op, (ast.LShift, ast.RShift)) and ctx.kind(tree.target).is_tensor


def _is_function(tree: ast.AugAssign, ctx: Context) -> bool:
    """Whether a function does what the operator does in torch."""
    return _shifts(tree, ctx) or bool(long_operator(tree.op, tree.target, tree.value, ctx))


def _combined(node: cst.AugAssign, tree: ast.AugAssign, ctx: Context) -> cst.BaseExpression:
    """Return ``x + y`` for ``x += y``."""
    if _shifts(tree, ctx):
        return shift(_read(node.target), node.value, tree.op, ctx)
    if name := long_operator(tree.op, tree.target, tree.value, ctx):
        function = ctx.reference(f"torch2ms.runtime.functional.{name}")
        return build("{f}({x}, {y})", f=function, x=_read(node.target), y=bare(node.value))
    operator = code_of(node.operator).strip().removesuffix("=")
    return build(f"{{x}} {operator} {{y}}", x=_read(node.target), y=node.value)


def _in_steps(node: cst.AugAssign, tree: ast.AugAssign, ctx: Context) -> cst.AugAssign | cst.Assign:
    """``x[:, 1::2] += y`` -> ``x[:, 1::2] = take_every(x, 2, axis=1, start=1) + y``, which has a gradient."""
    if not isinstance(tree.target, ast.Subscript) or not isinstance(node.target, cst.Subscript):
        return node
    read = read_in_steps(node.target, tree.target, ctx)
    if read is None:
        return node
    operator = code_of(node.operator).strip().removesuffix("=")
    return cst.Assign([cst.AssignTarget(node.target)], build(f"{{x}} {operator} {{y}}", x=read, y=node.value))


def _rebound(node: cst.AugAssign, tree: ast.AugAssign, ctx: Context) -> cst.Assign:
    return cst.Assign([cst.AssignTarget(node.target)], _combined(node, tree, ctx))


def _kept(node: cst.AugAssign, name: str, tree: ast.AugAssign, ctx: Context) -> cst.AugAssign | cst.Assign:
    """Return ``x = (x * y).astype(x.dtype)`` where ``y`` is of a wider dtype: torch keeps that of ``x``."""
    if not is_wider(dtype_name(ctx.kind(tree.value)), dtype_name(ctx.kind(tree.target))):
        return node
    operator = code_of(node.operator).strip().removesuffix("=")
    template = f"({{x}} {operator} {{y}}).astype({{x2}}.dtype)"
    value = build(template, x=cst.Name(name), y=node.value, x2=cst.Name(name))
    return cst.Assign([cst.AssignTarget(cst.Name(name))], value)


def _may_be_number(name: str, tree: ast.AugAssign, ctx: Context) -> bool:
    """Whether a name may still hold the number that a sum of tensors began with: ``total = 0``, ``total += loss``."""
    body = ctx.functions[-1].node if ctx.functions[-1] is not None else ctx.analysis.tree
    return any(
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Constant)
        and any(_is_name(target, name) for target in node.targets)
        and node.lineno < tree.lineno
        for node in walk(body)
    )


def _is_for_others(name: str, tree: ast.AugAssign, ctx: Context) -> bool:
    """Whether another name holds the very tensor, or a caller does who gets nothing back: it must be filled."""
    owner = owner_of(name, tree, ctx)
    if owner == "fresh":
        return seen_elsewhere(name, tree, ctx) == "object"
    info = ctx.functions[-1]
    if owner != "object" or (info is not None and (info.owner is not None or isinstance(info.node, ast.Lambda))):
        return False
    if _walks_over(name, tree, ctx):
        return True  # for x in tensors
    made = [
        node
        for node in ctx.analysis.nodes
        if isinstance(node, ast.Assign) and any(_is_name(target, name) for target in node.targets)
    ]
    if info is None and all(ctx.parent(node) is ctx.analysis.tree for node in (tree, *made)):
        made = [node for node in made if node.lineno < tree.lineno][-1:]  # line by line: the last one counts
    if made and all(_is_held(node.value, ctx) for node in made):
        return True  # y = x: two names of one tensor
    if info is None:
        return False
    returned = [n for n in own(info.node) if isinstance(n, (ast.Return, ast.Yield)) and n.value is not None]
    return name in {arg.arg for arg in info.node.args.args} and (not returned or fills_whole(ctx))


def _walks_over(name: str, tree: ast.AugAssign, ctx: Context) -> bool:
    """Whether a name is bound by the loop around alone, which goes over tensors that a list or a dictionary holds."""
    loop = ctx.parent(tree)
    while loop is not None and not isinstance(loop, (ast.For, ast.FunctionDef, ast.Lambda)):
        loop = ctx.parent(loop)
    if not isinstance(loop, ast.For) or ctx.kind(loop.iter).is_tensor:
        return False
    bound = [n for n in walk(loop) if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)]
    own = {id(node) for node in walk(loop.target)}
    sources = [loop.iter]
    while isinstance(sources[0], ast.Call):  # enumerate(tensors), zip(tensors, others), tensors.items()
        call = sources[0]
        func = call.func
        if isinstance(func, ast.Attribute) and func.attr in ("items", "values") and not call.args:
            sources = [func.value]
        elif isinstance(func, ast.Name) and func.id in ("enumerate", "zip", "reversed", "list") and call.args:
            sources = list(call.args)
        else:
            return False
    held = all(ctx.kind(source).name in ("list", "tuple", "dict") for source in sources)
    return held and all(id(node) in own or node is tree.target for node in bound)


def _is_held(value: ast.expr, ctx: Context) -> bool:
    """Whether a value is a tensor that a name, a list or a dictionary holds."""
    held = isinstance(value, ast.Subscript) and ctx.kind(value.value).name in ("list", "tuple", "dict")
    return (held or isinstance(value, ast.Name) or bool(passes_on(value, ctx))) and ctx.kind(value).is_tensor


def _read(target: cst.BaseAssignTargetExpression) -> cst.BaseExpression:
    copied = target.deep_clone()
    assert isinstance(copied, cst.BaseExpression)
    return copied


def _attribute(target: ast.Attribute, tree: ast.AugAssign, ctx: Context) -> None:
    """Report ``box.t += y`` where somebody else may hold the tensor: torch changes it for them, too."""
    kind, owner = ctx.kind(target), ctx.kind(target.value)
    if kind.known and not kind.is_tensor:
        return
    known = ctx.kind(tree.value).is_tensor and owner.name != "Module"
    if not kind.known and not known and not is_handed_tensor(target.attr, ctx):
        return
    if kind.name == "Parameter" or target.attr == "data" or _made_here(target, ctx):
        return
    what = ast.unparse(target)
    ctx.report("T2M305", tree, f"{what} is changed in place in torch; who else holds the tensor keeps the old one")


def _made_here(target: ast.Attribute, ctx: Context) -> bool:
    """Whether every assignment of the attribute in this file makes a tensor of its own."""
    values = [
        node.value
        for node in ctx.analysis.nodes
        if isinstance(node, ast.Assign)
        and any(isinstance(t, ast.Attribute) and t.attr == target.attr for t in node.targets)
    ]
    registered = any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "register_buffer"
        and bool(node.args)
        and isinstance(node.args[0], ast.Constant)
        and node.args[0].value == target.attr
        for node in ctx.analysis.nodes
    )
    if any(_hands_on(node, target.attr) for node in ctx.analysis.nodes):
        return False
    plain = all(is_fresh(value, ctx) or ctx.kind(value).name in ("int", "float", "none") for value in values)
    return (bool(values) or registered) and plain


def _hands_on(node: ast.AST, name: str) -> bool:
    """Whether a statement gives another name to what an attribute holds: ``kept = box.t``."""
    held = isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute) and node.value.attr == name
    return held and isinstance(node, ast.Assign) and any(isinstance(target, ast.Name) for target in node.targets)


def _element(tree: ast.AugAssign, ctx: Context) -> None:
    """Report ``tensors[0] += y`` on a list or a dict: whoever else holds the tensor sees the change in torch alone."""
    target = tree.target
    if isinstance(target, ast.Subscript) and ctx.kind(target).is_tensor and not ctx.kind(target.value).is_tensor:
        what = ast.unparse(target)
        ctx.report("T2M305", tree, f"{what} is changed in place in torch; who else holds the tensor keeps the old one")


def _seen_elsewhere(name: str, tree: ast.AugAssign, ctx: Context, but: ast.Name | None = None) -> None:
    elsewhere = seen_elsewhere(name, tree, ctx, but)
    if elsewhere == "fresh" and (owner_of(name, tree, ctx) == "fresh" or _is_network_input(name, ctx)):
        return
    if _is_network_input(name, ctx) and (elsewhere == "view" or _is_bound_before(name, tree, ctx)):
        return
    ctx.report(
        "T2M305", tree, f"{name} is changed in place in torch, and may be seen elsewhere; MindSpore makes a new tensor"
    )


def _is_bound_before(name: str, tree: ast.AugAssign, ctx: Context) -> bool:
    """Whether an input was bound anew: ``shortcut = x``, ``x = self.conv(x)``, and then ``x += shortcut``."""
    body = ctx.functions[-1].node if ctx.functions[-1] is not None else ctx.analysis.tree
    bound = (node for node in walk(body) if isinstance(node, ast.Name) and node.id == name)
    return any(
        isinstance(node.ctx, ast.Store)
        and node.lineno < tree.lineno
        and not isinstance(ctx.parent(node), ast.AugAssign)
        for node in bound
    )


def _is_network_input(name: str, ctx: Context) -> bool:
    """Whether a name is a parameter of a network's forward pass: callers seldom look again."""
    function = ctx.functions[-1]
    if function is None or function.owner is None or isinstance(function.node, ast.Lambda):
        return False
    parameters = [arg.arg for arg in function.node.args.args]
    return name in parameters and function.name.startswith("forward")
