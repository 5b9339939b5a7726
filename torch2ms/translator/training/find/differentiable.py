"""Which parts of the text run, and which of the names that it reads gradients flow through."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from torch2ms.mapping_tables.facts import load_facts
from torch2ms.translator.effects.dataflow import effects
from torch2ms.translator.effects.names_used import own
from torch2ms.translator.effects.reads_and_writes import base_path, dotted_path, root
from torch2ms.translator.syntax.ast_walk import children
from torch2ms.translator.training.find.vocabulary import CUTTING_ATTRIBUTES, CUTTING_FUNCTIONS, MUTATORS

__all__ = [
    "differentiable_nodes", "differentiable_reads", "gives_cut_values", "is_no_grad", "names_no_grad", "walk_executed",
]  # fmt: skip

IsOwn = Callable[[ast.expr], bool]


def walk_executed(node: ast.AST) -> Iterator[ast.AST]:
    """Like ast.walk, but not into what runs later (definitions) or without gradients.

    That is ``with torch.no_grad()``, and what a value that is cut off is computed from: ``f(x).detach()``.
    """
    pending = [node]
    while pending:
        item = pending.pop()
        yield item
        if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        if isinstance(item, ast.With) and is_no_grad(item):
            continue
        if isinstance(item, ast.Call) and load_facts().detaches(getattr(item.func, "attr", "")):
            continue
        pending.extend(children(item))


def is_no_grad(statement: ast.With) -> bool:
    """Whether a block runs without gradients."""
    return any(names_no_grad(item.context_expr) for item in statement.items)


def names_no_grad(node: ast.expr) -> bool:
    """Whether a context or a decorator switches gradients off: ``torch.no_grad()``, ``torch.no_grad``."""
    path = dotted_path(node.func if isinstance(node, ast.Call) else node) or base_path(node) or ""
    return path.rpartition(".")[2] in ("no_grad", "inference_mode")


def differentiable_reads(node: ast.AST, is_own: IsOwn | None = None) -> set[str]:
    """Return the paths ``node`` reads in a way that lets gradients through.

    ``is_own`` tells functions and layers of the program, which may have the name of one of torch's that cuts.
    """
    return {dotted_path(item) or "" for item in differentiable_nodes(node, is_own)}


def differentiable_nodes(node: ast.AST, is_own: IsOwn | None = None) -> Iterator[ast.expr]:
    """Yield the names and the paths of attributes that ``node`` reads in a way that lets gradients through."""
    pending: list[ast.AST] = [node]
    while pending:
        item = pending.pop()
        if (isinstance(item, ast.With) and is_no_grad(item)) or _notes_numbers(item) or _cuts(item, is_own):
            continue
        if isinstance(item, (ast.Name, ast.Attribute)) and dotted_path(item) is not None:
            if isinstance(item.ctx, ast.Load):
                yield item
            continue
        if isinstance(item, ast.AugAssign) and dotted_path(item.target) is not None:
            yield item.target
        pending.extend(children(item))


def gives_cut_values(function: ast.FunctionDef | ast.AsyncFunctionDef, is_own: IsOwn | None = None) -> bool:
    """Whether gradients flow through nothing that a function gives back, and it puts nothing away elsewhere.

    So of what searches for an example that a network gets wrong, ``return delta.detach()``, and computes with weights.
    """
    if any(names_no_grad(decorator) for decorator in function.decorator_list):
        return True
    nodes = list(own(function))
    given = [node.value for node in nodes if isinstance(node, ast.Return) and node.value is not None]
    if not given or any(isinstance(node, (ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal)) for node in nodes):
        return False
    made = {
        target.id
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.value, (ast.Call, ast.BinOp))
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    kept = {root(path) for path in effects(function.body).mutates} - made
    return not kept and not any(any(differentiable_nodes(value, is_own)) for value in given)


def _cuts(node: ast.AST, is_own: IsOwn | None) -> bool:
    """Whether what a node gives has no gradient, whatever it was computed from."""
    if isinstance(node, ast.Call):
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        name = node.func.id if isinstance(node.func, ast.Name) else method
        cuts = load_facts().detaches(method) or name in CUTTING_FUNCTIONS or _gives_numbers(node)
        return cuts and not (is_own is not None and is_own(node.func))
    if isinstance(node, ast.Attribute):  # also of x.grad.sign
        return node.attr in CUTTING_ATTRIBUTES or _cuts(node.value, is_own)
    return isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))


def _gives_numbers(call: ast.Call) -> bool:
    """Whether a call asks for a gradient that nothing differentiates once more."""
    asked = (dotted_path(call.func) or "").endswith("autograd.grad")
    return asked and not any(keyword.arg == "create_graph" for keyword in call.keywords)


def _notes_numbers(node: ast.AST) -> bool:
    """Whether a statement only puts away what has no gradient: ``losses.append(loss.item())``."""
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr not in MUTATORS:
        return False
    return bool(call.args) and not any(differentiable_reads(item) for item in call.args)
