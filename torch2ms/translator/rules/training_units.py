"""What rules ask of the training units of a file: their weights, and calls that stay as they are."""

from __future__ import annotations

import ast

from torch2ms.translator.context import Context
from torch2ms.translator.effects.gradient_marks import is_of_another
from torch2ms.translator.syntax.cst_builders import code_of, parenthesised, parse_expression
from torch2ms.translator.training.model import TrainingUnit

__all__ = ["is_left", "scope_around", "translated", "weighted_parts", "weights_of"]


def weighted_parts(tree: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """Return loss and seed of what :func:`weighted` made."""
    func = tree.func if isinstance(tree, ast.Call) else None
    product = func.value if isinstance(func, ast.Attribute) else None
    return (product.left, product.right) if isinstance(product, ast.BinOp) else None


def scope_around(node: ast.AST, ctx: Context) -> ast.AST:
    """Return the function, or the module, that a statement stands in."""
    current: ast.AST | None = node
    while current is not None and not isinstance(current, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
        current = ctx.parent(current)
    return current if current is not None else ctx.analysis.tree


def is_left(tree: ast.AST, ctx: Context) -> bool:
    """Whether a call of the training machinery stands in a function one of whose steps stays as it is."""
    scope = scope_around(tree, ctx) if ctx.training.left_scopes else None
    return scope is not None and scope in ctx.training.left_scopes and not is_of_another(tree, scope)


def weights_of(unit: TrainingUnit, ctx: Context) -> str:
    """Return the code of the list of weights that a unit differentiates by."""
    by_hand = {step.optimizer for step in unit.steps if step.by_hand} if unit.steps or unit.is_kept else unit.optimizers
    if unit.is_wrapped:
        held = code_of(ctx.reference("torch2ms.runtime.gradients.parameters_of"))
        names = [f"{held}({', '.join(translated(node, ctx) for node in unit.optimizers)})"]
    else:
        names = [
            f"{translated(n, ctx)}.{'trainable_params()' if n in by_hand else 'parameters'}" for n in unit.optimizers
        ]
    leaves = [translated(leaf, ctx) for leaf in unit.leaves]
    if len(names) == 1 and not leaves:
        return names[0]
    return "[" + ", ".join([*(f"*{name}" for name in names), *leaves]) + "]"


def translated(tree: ast.expr, ctx: Context) -> str:
    """Return the translated text of an expression of the source, or of a loss with its weights."""
    code = ctx.alignment.code(tree)
    parts = weighted_parts(tree) if code is None else None
    if parts is not None:  # the weights are constant, whatever they were computed from
        loss, seed = (code_of(parenthesised(parse_expression(translated(part, ctx)))) for part in parts)
        return f"({loss} * {code_of(ctx.reference('mindspore.ops.stop_gradient'))}({seed})).sum()"
    return ast.unparse(tree) if code is None else code_of(ctx.visit_apart(code))
