"""In-place work that no method name shows: layers made with ``inplace=True``, and ``x += y`` on a tensor.

torch changes the tensor itself, and everybody who holds it sees that; MindSpore computes a new one. Where only one name
holds it there is no difference; where the name is read again it is bound anew; where somebody else may look, T2M305.
"""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.activated import IDEMPOTENT
from torch2ms.translator.context import Context
from torch2ms.translator.hand_trained import BY_HAND
from torch2ms.translator.inference.changed_inputs import Change, change_of, first_network
from torch2ms.translator.inference.own_attributes import is_inplace
from torch2ms.translator.later_reads import read_again, read_before, read_beside
from torch2ms.translator.old_values import AUGMENTED, of_old_values
from torch2ms.translator.passes.indexing import read_in_steps
from torch2ms.translator.passes.members import is_handed_tensor
from torch2ms.translator.passes.operators import shift
from torch2ms.translator.recipes.passed_tensors import passes_on
from torch2ms.translator.recipes.views import (
    fills_whole,
    is_fresh,
    is_trained,
    owner_of,
    reaches_views,
    seen_elsewhere,
    writes_through,
)
from torch2ms.translator.syntax import build, code_of, parse_expression
from torch2ms.translator.training.names_used import own
from torch2ms.translator.trees import walk

__all__ = ["augmented", "changed_arguments", "inplace_layer"]


def inplace_layer(tree: ast.Call, ctx: Context) -> None:
    """Keep the meaning of ``y = self.relu(x)`` where the layer changes ``x`` and ``x`` is read again."""
    if not tree.args or not isinstance(tree.args[0], ast.Name):
        return
    if not _works_in_place(tree, ctx):
        _first_layer(tree, tree.args[0].id, ctx)
        return
    name, small = tree.args[0].id, ctx.small
    if small is not None and read_beside(name, tree, small, ctx):
        ctx.report("T2M305", tree, f"{name} is changed in place and read again; MindSpore leaves it as it was")
        return
    if isinstance(small, ast.Return) or not isinstance(small, (ast.Assign, ast.Expr)):
        return
    targets = {t.id for t in getattr(small, "targets", ()) if isinstance(t, ast.Name)}
    if seen_elsewhere(name, small, ctx) != "fresh":
        other = f"{ast.unparse(tree.func)} changes {name} in place, which another name may see; MindSpore does not"
        ctx.report("T2M305", tree, other, symbol="inplace")
    if name in targets or not read_again(name, small, ctx):
        return
    if small.value is tree:
        ctx.rebind.append(name)
    else:
        ctx.report("T2M305", tree, f"{name} is changed in place and read again; MindSpore leaves it as it was")


def _works_in_place(tree: ast.Call, ctx: Context) -> bool:
    if isinstance(tree.func, ast.Call):
        return is_inplace(tree.func)
    if isinstance(tree.func, ast.Name):
        name = tree.func.id
        return any(
            is_inplace(node.value) and any(_is_name(t, name) for t in node.targets)
            for node in ctx.analysis.all(ast.Assign)
        )
    owner = _own_class(tree, ctx)
    if owner is None or not isinstance(tree.func, ast.Attribute):
        return False
    keys = [key for key in ctx.world.ancestry(owner) if ":" in key]
    return any(ctx.world.changes_input(key, tree.func.attr) for key in keys)


_WIDTHS = {
    "torch.float16": 1,
    "torch.half": 1,
    "torch.float32": 2,
    "torch.float": 2,
    "torch.float64": 3,
    "torch.double": 3,
}


def _first_layer(tree: ast.Call, name: str, ctx: Context) -> None:
    """Keep the meaning of ``y = self.block(x)`` where the block is a Sequential whose first layer changes ``x``.

    ``x = self.block[0](x)`` in front of it says so, where the layer may run twice.
    """
    owner = _own_class(tree, ctx)
    small = ctx.small
    if owner is None or not isinstance(tree.func, ast.Attribute) or not isinstance(small, _WHOLE):
        return
    keys = [key for key in ctx.world.ancestry(owner) if ":" in key]
    start = "[0]"
    while len(start) < 12 and not any(ctx.world.changes_input(key, tree.func.attr + start) for key in keys):
        start += "[0]"
    if len(start) >= 12 or not _is_noticed(name, tree, small, ctx):
        return
    kinds = filter(None, (ctx.world.changes_input(key, tree.func.attr + start) for key in keys))
    layer = ast.unparse(tree.func) + start
    _say_change(name, layer, Change(layer, next(kinds), first=True), tree, ctx)


_WHOLE = (ast.Assign, ast.AugAssign, ast.Expr, ast.Return)
_SOMETIMES = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


_NONE = ("", "", "")
_FUNCTIONS = {"ReLU": "mindspore.ops.relu", "ReLU6": "mindspore.ops.relu6"}


def changed_arguments(tree: ast.Call, ctx: Context) -> None:
    """Keep the meaning of ``self.residual(x) + x`` where the method, or another network's, changes ``x`` in place.

    As with a Sequential, ``x = self.relu(x)`` in front of the statement says so, where the layer may run twice.
    """
    small = ctx.small
    key, owner, holder = _called(tree, ctx)
    if small is None or not key:
        return
    for position, given in enumerate(tree.args):
        if not isinstance(given, ast.Name) or not _is_noticed(given.id, tree, small, ctx):
            continue
        change = change_of(key, position, owner, ctx.world)
        if change is not None:
            _say_change(given.id, f"{holder}.{change.layer}" if change.layer else "", change, tree, ctx)
            return


def _called(tree: ast.Call, ctx: Context) -> tuple[str, str, str]:
    """Return the method that a call runs, the class it is looked up in, and the object that has the method."""
    callee, own = ctx.kind(tree.func), _own_class(tree, ctx)
    if "|" in callee.of or (callee.name != "function" and not isinstance(tree.func, ast.Attribute)):
        return _NONE
    if callee.name == "function":
        info = ctx.world.function(callee.of)
        if info is None or info.owner is None:
            return callee.of, "", ""
        return (callee.of, own, ast.unparse(tree.func.value)) if own and isinstance(tree.func, ast.Attribute) else _NONE
    assert isinstance(tree.func, ast.Attribute)
    place, owner = tree.func.attr, callee.of
    if callee.of == "torch.nn.Sequential" and own is not None:
        place, owner = first_network(place, own, ctx.world)
    method = ctx.world.method(owner, "forward") if ":" in owner else None
    return method or "", owner, f"{ast.unparse(tree.func.value)}.{place}"


def _is_noticed(name: str, tree: ast.Call, small: ast.AST, ctx: Context) -> bool:
    """Whether a name is read after a call that changes what it holds."""
    if read_beside(name, tree, small, ctx) or (isinstance(small, ast.AugAssign) and _is_name(small.target, name)):
        return True
    bound = any(_is_name(target, name) for target in getattr(small, "targets", ()))
    return not bound and not isinstance(small, ast.Return) and read_again(name, small, ctx)


def _say_change(name: str, layer: str, change: Change, tree: ast.Call, ctx: Context) -> None:
    small = ctx.small
    assert small is not None
    node = ctx.parent(tree)
    always = isinstance(small, _WHOLE)
    while node is not None and node is not small:
        always, node = always and not isinstance(node, _SOMETIMES), ctx.parent(node)
    alone = seen_elsewhere(name, small, ctx) == "fresh" and not read_before(name, tree, small, ctx)
    if change.first and always and alone and change.kind in IDEMPOTENT:
        function = layer or code_of(ctx.reference(_FUNCTIONS[change.kind]))
        ctx.frame.before.append(cst.parse_statement(f"{name} = {function}({name})"))
    else:
        what = f"{ast.unparse(tree.func)} changes {name} in place ({layer or change.kind}), which is read again"
        ctx.report("T2M305", tree, f"{what}; MindSpore leaves it", symbol="inplace")


def _own_class(tree: ast.Call, ctx: Context) -> str | None:
    """Return the key of the class whose method calls an attribute of ``self``, or None."""
    function = ctx.functions[-1]
    while function is not None and function.owner is None:
        function = function.outer
    if function is None or function.owner is None or not isinstance(tree.func, ast.Attribute):
        return None
    return function.owner.key if ctx.kind(tree.func.value).evidence == "self" else None


def _is_name(tree: ast.expr, name: str) -> bool:
    return isinstance(tree, ast.Name) and tree.id == name


def augmented(node: cst.AugAssign, tree: ast.AugAssign, ctx: Context) -> cst.AugAssign | cst.Expr | cst.Assign:
    """Return ``x += y``; a weight is assigned to, for MindSpore would bind the name to a tensor and leave the weight.

    Where somebody else holds a tensor that torch changes for them, T2M305 says that MindSpore does not.
    """
    if not isinstance(tree.target, ast.Name):
        kind = ctx.kind(tree.target)
        if kind.name == "Parameter" and kind.evidence == BY_HAND:  # no network holds it, which would keep the weight
            return _assigned(node, node.target, ctx)
        if isinstance(tree.target, ast.Attribute):
            _attribute(tree.target, tree, ctx)
        else:
            _element(tree, ctx)
        return _rebound(node, tree, ctx) if _shifts(tree, ctx) else _in_steps(node, tree, ctx)
    if not ctx.kind(tree.target).is_tensor:
        return node
    name = tree.target.id
    if ctx.kind(tree.target).name == "Parameter" or is_trained(name, ctx):
        return _assigned(node, cst.Name(name), ctx)
    through = writes_through(name, tree, ctx)
    if through or _is_for_others(name, tree, ctx):
        if through and ctx.functions[-1] is not None:
            ctx.report("T2M305", tree, f"a gradient does not see that the change of {name} reaches a view of it, too")
        operation = AUGMENTED.get(type(tree.op), "add")
        value = of_old_values(_combined(node, tree, ctx), cst.Name(name), operation, [tree.target, tree.value], ctx)
        index = "()" if through or reaches_views(ctx) else "..."
        whole = cst.ensure_type(parse_expression(f"{name}[{index}]"), cst.Subscript)
        return cst.Assign([cst.AssignTarget(whole)], value)
    _seen_elsewhere(name, tree, ctx)
    return _rebound(node, tree, ctx) if _shifts(tree, ctx) else _kept(node, name, tree, ctx)


def _assigned(node: cst.AugAssign, target: cst.BaseExpression, ctx: Context) -> cst.Expr:
    """Return ``ops.assign(w, w - g)`` for ``w -= g``."""
    operator = code_of(node.operator).strip().removesuffix("=")
    template = f"{{assign}}({{target}}, {{target}} {operator} {{value}})"
    assign = ctx.reference("mindspore.ops.assign")
    return cst.Expr(build(template, assign=assign, target=target.deep_clone(), value=node.value))


def _shifts(tree: ast.AugAssign, ctx: Context) -> bool:
    """Whether the bits of a tensor are moved, for which MindSpore has no operator."""
    return isinstance(tree.op, (ast.LShift, ast.RShift)) and ctx.kind(tree.target).is_tensor


def _combined(node: cst.AugAssign, tree: ast.AugAssign, ctx: Context) -> cst.BaseExpression:
    """Return ``x + y`` for ``x += y``."""
    if _shifts(tree, ctx):
        return shift(_read(node.target), node.value, tree.op, ctx)
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
    ours, theirs = ctx.kind(tree.target), ctx.kind(tree.value)
    narrow = theirs.is_tensor and _WIDTHS.get(ours.of, 9) < _WIDTHS.get(theirs.of, 0)
    if not narrow:
        return node
    operator = code_of(node.operator).strip().removesuffix("=")
    template = f"({{x}} {operator} {{y}}).astype({{x2}}.dtype)"
    value = build(template, x=cst.Name(name), y=node.value, x2=cst.Name(name))
    return cst.Assign([cst.AssignTarget(cst.Name(name))], value)


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


def _seen_elsewhere(name: str, tree: ast.AugAssign, ctx: Context) -> None:
    if owner_of(name, tree, ctx) == "fresh" and seen_elsewhere(name, tree, ctx) == "fresh":
        return
    if _is_network_input(name, ctx):
        return
    ctx.report(
        "T2M305", tree, f"{name} is changed in place in torch, and may be seen elsewhere; MindSpore makes a new tensor"
    )


def _is_network_input(name: str, ctx: Context) -> bool:
    """Whether a name is a parameter of a network's forward pass that no other name holds: callers seldom look again."""
    function = ctx.functions[-1]
    if function is None or function.owner is None or isinstance(function.node, ast.Lambda):
        return False
    parameters = [arg.arg for arg in function.node.args.args]
    return name in parameters and function.name.startswith("forward")
