"""Whether a file computes gradients: those of MindSpore do not see what is written through a view."""

from __future__ import annotations

import ast

from torch2ms.translator.effects.parameter_storage import gives_first_values
from torch2ms.translator.syntax.ast_walk import children
from torch2ms.translator.values.file_facts import FileFacts

__all__ = ["GRADIENTS", "are_differentiated", "asks_for_gradients", "may_be_called_for_gradients"]

GRADIENTS = frozenset({
    "backward", "grad", "requires_grad", "requires_grad_", "Module", "Parameter", "autograd", "Variable",
    "value_and_grad", "jacobian", "hessian", "vjp", "jvp", "jacrev", "jacfwd", "func", "functorch",
})  # fmt: skip


def asks_for_gradients(ctx: FileFacts) -> bool:
    """Whether the file says anywhere that it computes gradients."""
    return ctx.once(_computes_gradients)


def are_differentiated(ctx: FileFacts) -> bool:
    """Whether tensors may be differentiated here: in such a file, but where weights are given their first values."""
    return ctx.once(_computes_gradients) and not gives_first_values(ctx)


def may_be_called_for_gradients(ctx: FileFacts) -> bool:
    """Whether the function around may run where another file computes gradients.

    Not a function that its own file runs, where that is a program that no other file imports.
    """
    info = next((function for function in ctx.functions if function is not None), None)
    if info is None or gives_first_values(ctx):
        return False
    if info.owner is not None or not ctx.world.symbols.is_program_alone(ctx.path):
        return True
    return info.name not in ctx.once(_run_by_the_file)


def _run_by_the_file(ctx: FileFacts) -> frozenset[str]:
    """Return the names that a file reads outside of its functions and classes."""
    made = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
    queue: list[ast.AST] = [ctx.analysis.tree]
    found: set[str] = set()
    while queue:
        for child in children(queue.pop()):
            if isinstance(child, ast.Name):
                found.add(child.id)
            elif not isinstance(child, made):
                queue.append(child)
    return frozenset(found)


def _computes_gradients(ctx: FileFacts) -> bool:
    for node in ctx.analysis.nodes:
        name = node.attr if isinstance(node, ast.Attribute) else ""
        if isinstance(node, (ast.alias, ast.keyword)):
            name = (node.name if isinstance(node, ast.alias) else node.arg) or ""
        elif isinstance(node, ast.ImportFrom):  # from torch.autograd import *
            name = node.module or ""
        if name.rpartition(".")[2] in GRADIENTS:
            return True
    return False
