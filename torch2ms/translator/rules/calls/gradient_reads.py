"""The gradient of a weight, ``p.grad``: where the translated step, or what is kept with the weights, answers for it."""

from __future__ import annotations

import ast
from typing import Any

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.rules.training_units import weights_of
from torch2ms.translator.syntax.cst_builders import build, code_of

__all__ = ["clip_kept", "gradient_of", "put_gradient"]


def gradient_of(tree: ast.Attribute, weight: cst.BaseExpression, ctx: Context) -> cst.BaseExpression | None:
    """Return what ``weight.grad`` becomes behind a backward call that was rewritten; None where it stays."""
    name = ctx.training.gradients.get(tree)
    if name is not None:
        ctx.account(tree, "torch.Tensor.grad", "mapped", "mindspore.value_and_grad")
        return cst.Name(name)
    if tree in ctx.training.kept:
        return _kept_gradient(tree, weight, ctx)
    unit, read = ctx.training.reads.get(tree), ctx.training.leaves.network_reads.get(tree)
    if unit is not None:
        weights, grads = weights_of(unit, ctx), unit.grads_name
    elif read is not None:
        weights, grads = f"{read[0]}.trainable_params()", read[1]
    elif _has_none(tree, ctx):
        ctx.account(tree, "torch.Tensor.grad", "mapped", "None")
        return cst.Name("None")
    else:
        return None
    ctx.account(tree, "torch.Tensor.grad", "mapped", "torch2ms.runtime.autograd.gradient_of")
    _tell_unused(tree, ctx)
    callee = code_of(ctx.reference("torch2ms.runtime.autograd.gradient_of"))
    made = cst.parse_expression(f"{callee}(__weight__, {weights}, {grads})")
    call = cst.ensure_type(made, cst.Call)
    return call.with_changes(args=[call.args[0].with_changes(value=weight), *call.args[1:]])


def _has_none(tree: ast.Attribute, ctx: Context) -> bool:
    """Whether a tensor that the code itself made has no gradient: nothing in the file computes any."""
    if tree.attr != "grad" or not isinstance(tree.value, ast.Name) or not isinstance(tree.ctx, ast.Load):
        return False
    is_made = ctx.kind(tree.value).is_tensor and ctx.once(_made).get(tree.value.id, False)
    return is_made and not ctx.once(_computes)


def _computes(ctx: Context) -> bool:
    """Whether a file computes gradients, sets them, or imports from files that may."""
    return ctx.world.symbols.is_near("computes_gradients", ctx.path, besides=True) or any(
        (
            isinstance(node, ast.Attribute)
            and (node.attr in ("backward", "step") or (node.attr == "grad" and not isinstance(node.ctx, ast.Load)))
        )
        or (isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "grad")
        or (isinstance(node, ast.ImportFrom) and node.level > 0)
        for node in ctx.analysis.nodes
    )


def _made(ctx: Context) -> dict[str, bool]:
    """Return the names of scripts, outside of functions, and whether each assignment is a call or an operation."""
    found: dict[str, bool] = {}
    for node in getattr(ctx.analysis.tree, "body", ()):
        for target in node.targets if isinstance(node, ast.Assign) else ():
            if isinstance(target, ast.Name):
                is_new = isinstance(node.value, (ast.Call, ast.BinOp))
                found[target.id] = found.get(target.id, True) and is_new
    return found


def _kept_gradient(tree: ast.Attribute, weight: cst.BaseExpression, ctx: Context) -> cst.BaseExpression | None:
    """Return ``gradients.of(weight)``; None where the gradient is bound: the statement becomes a call."""
    ctx.account(tree, "torch.Tensor.grad", "mapped", "torch2ms.runtime.gradients.of")
    if not isinstance(tree.ctx, ast.Load):
        return cst.Attribute(weight, cst.Name("grad"))
    return cst.Call(ctx.reference("torch2ms.runtime.gradients.of"), [cst.Arg(weight)])


def put_gradient(updated: Any, tree: ast.AST, ctx: Context) -> Any:
    """Return ``gradients.put(weight, value)`` for a statement that gives a weight another gradient."""
    if not isinstance(tree, (ast.Assign, ast.AugAssign)) or not isinstance(updated, (cst.Assign, cst.AugAssign)):
        return updated
    targets = [tree.target] if isinstance(tree, ast.AugAssign) else tree.targets
    owner = targets[0]
    if isinstance(owner, ast.Attribute) and owner.attr == "data":
        owner = owner.value
    if owner not in ctx.training.kept or len(targets) > 1:
        return updated
    weight = _weight(updated.target if isinstance(updated, cst.AugAssign) else updated.targets[0].target)
    value = updated.value
    if isinstance(updated, cst.AugAssign):
        operator = code_of(updated.operator).strip().removesuffix("=")
        of = ctx.reference("torch2ms.runtime.gradients.of")
        value = build(f"{{of}}({{x}}) {operator} {{value}}", of=of, x=weight, value=value)
    put = ctx.reference("torch2ms.runtime.gradients.put")
    return cst.Expr(build("{put}({x}, {value})", put=put, x=weight, value=value))


def _weight(target: cst.BaseExpression) -> cst.BaseExpression:
    """Return the weight of a rewritten ``weight.grad`` or ``gradients.of(weight).data`` that is bound."""
    if isinstance(target, cst.Attribute) and target.attr.value == "data":
        target = target.value
    if isinstance(target, cst.Call):
        return target.args[0].value
    return cst.ensure_type(target, cst.Attribute).value


def _tell_unused(tree: ast.Attribute, ctx: Context) -> None:
    """Report a test for None whose outcome is a result: the gradient of an unused weight is zero in MindSpore."""
    test = ctx.parent(tree)
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], (ast.Is, ast.IsNot)):
        return
    above = ctx.parent(test)
    if isinstance(above, (ast.If, ast.IfExp, ast.While, ast.Assert, ast.comprehension, ast.BoolOp)):
        return  # what the program does with gradients; a gradient of zero does nothing there
    ctx.report("T2M303", tree, "the gradient of a weight that the loss does not use is zero in MindSpore, not None")


def clip_kept(updated: cst.Call, tree: ast.Call, ctx: Context) -> cst.Call:
    """Return ``gradients.clip_norm(p, limit)`` for a call that clips the gradient that is kept with a weight."""
    name = ctx.kind(tree.func).of
    target = f"torch2ms.runtime.gradients.clip_{'norm' if 'norm' in name else 'value'}"
    ctx.account(tree.func, name, "mapped", target, "exact")
    return updated.with_changes(func=ctx.reference(target))
