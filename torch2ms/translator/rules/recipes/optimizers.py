"""Calls of optimizers outside of training steps."""

from __future__ import annotations

import ast
import sys

from torch2ms.translator.context import Context
from torch2ms.translator.effects.missing_gradients import never_has_gradients
from torch2ms.translator.rules.call_site import DROPPED, CallSite, Leave, Outcome, Replace, recipe

__all__: list[str] = []

_GRADIENT_WORDS = frozenset({"backward", "grad", "grads", "autograd", "functional_call"})
_WANTED = (
    "a MindSpore optimizer is called with the gradients: optimizer(grads), with grads from mindspore.value_and_grad"
)


@recipe("step_without_gradients")
def step_without_gradients(site: CallSite, ctx: Context) -> Outcome:
    """``optimizer.step()`` in a program that computes no gradients (to show a schedule) does nothing, as in torch."""
    is_statement = isinstance(ctx.small, ast.Expr) and ctx.small.value is site.tree
    if not is_statement or site.updated.args or (_may_have_gradients(site, ctx) and not _has_none_here(site, ctx)):
        return Leave(_WANTED)
    return Replace(DROPPED, (("T2M304", "no gradients are computed here: the step changes nothing; dropped"),))


def _has_none_here(site: CallSite, ctx: Context) -> bool:
    """Whether the function around a step makes the optimizer, over weights that nothing else gets."""
    scope: ast.AST | None = site.tree
    while scope is not None and not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
        scope = ctx.parent(scope)
    receiver = site.receiver_tree
    return isinstance(receiver, ast.Name) and never_has_gradients(receiver.id, scope, ctx.kind)


def _may_have_gradients(site: CallSite, ctx: Context) -> bool:
    """Whether weights may get gradients: the file names them, imports code that could, or was handed the optimizer."""
    made = False
    receiver = ast.unparse(site.receiver_tree) if site.receiver_tree is not None else ""
    for node in ctx.analysis.nodes:
        name = getattr(node, "attr", None) or getattr(node, "id", None)
        if name in _GRADIENT_WORDS:
            return True
        if isinstance(node, (ast.Import, ast.ImportFrom)) and not _is_harmless(node):
            return True
        if isinstance(node, ast.Assign) and any(ast.unparse(target) == receiver for target in node.targets):
            made = made or ctx.kind(node.value).name == "Optimizer"
    return not made


def _is_harmless(node: ast.Import | ast.ImportFrom) -> bool:
    """Whether an import brings no code that could compute gradients of its own accord."""
    if getattr(node, "level", 0):
        return False
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    return all(name.partition(".")[0] in _HARMLESS for name in names)


_HARMLESS = frozenset({*sys.stdlib_module_names, "torch", "torchvision", "numpy", "matplotlib", "tqdm", "PIL", "scipy"})
