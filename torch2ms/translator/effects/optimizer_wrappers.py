"""Classes that hold an optimizer and take its steps for whoever called backward: by the text alone.

``NoamOpt``, ``ScheduledOptim`` and their like set the learning rate in a ``step()`` of their own, which then calls that
of the optimizer. The loss is unknown there, so the gradients are kept with the weights (``runtime.gradients``). So they
are for optimizers of the program's own whose steps have other names: ``SAM.first_step()`` and ``second_step()``.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from torch2ms.translator.effects.reads_and_writes import dotted_path
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.use_evidence import is_optimizer, is_schedule, place_of, uses

__all__ = ["holds_only", "stepping_methods", "wrapping_methods"]

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def stepping_methods(tree: ast.Module) -> dict[str, frozenset[str]]:
    """Return the names of the methods that take a step, by the name of the class."""
    found = {node.name: _steps(node) for node in walk(tree) if isinstance(node, ast.ClassDef)}
    return {name: steps for name, steps in found.items() if steps}


def wrapping_methods(tree: ast.Module, wrappers: Mapping[str, frozenset[str]]) -> set[ast.AST]:
    """Return all methods of these classes of a file, and of its optimizers that take the steps of another one."""
    classes = [node for node in walk(tree) if isinstance(node, ast.ClassDef)]
    found = (node for node in classes if node.name in wrappers or (_is_optimizer(node) and _takes_steps(node)))
    return {part for node in found for part in node.body if isinstance(part, _FUNCTIONS)}


def holds_only(node: ast.ClassDef) -> bool:
    """Whether an optimizer is none of PyTorch's making: its ``__init__`` never calls the base's."""
    makers = [part for part in node.body if isinstance(part, _FUNCTIONS) and part.name == "__init__"]
    called = any(
        isinstance(part, ast.Attribute) and part.attr == "__init__" for maker in makers for part in walk(maker)
    )
    return _is_optimizer(node) and bool(makers) and not called


def _is_optimizer(node: ast.ClassDef) -> bool:
    return [(dotted_path(base) or "").rpartition(".")[2] for base in node.bases] == ["Optimizer"]


def _takes_steps(node: ast.ClassDef) -> bool:
    return bool(_held(node))


def _held(node: ast.ClassDef) -> frozenset[str]:
    """Return the members of a class that are optimizers by what it does with them: ``self.inner``.

    Several members may step: those whose gradients are reset or whose groups are read are optimizers, and others
    schedules. Where nothing is done but to step, one member is the optimizer.
    """
    found, sure, others = uses(node), set(), set()
    for call in walk(node):
        func = call.func if isinstance(call, ast.Call) else None
        if not isinstance(call, ast.Call) or not isinstance(func, ast.Attribute) or func.attr != "step":
            continue
        member = place_of(func.value)
        if not member.startswith("self.") or "[]" in member:
            continue
        of_member = found.of(func.value)
        if is_optimizer(of_member) or "zero_grad" in of_member.methods:
            sure.add(member)
        elif not is_schedule(of_member) and (not call.args or _is_optimizer(node)):
            others.add(member)
    return frozenset(sure or (others if len(others) == 1 else ()))


def _steps(node: ast.ClassDef) -> frozenset[str]:
    """Return the methods that call ``self.optimizer.step()``, themselves or through another method of the class.

    None where the class calls ``backward`` itself, or is derived from another: what that one does is not seen here. An
    optimizer's own ``step()`` is none of these: it is called as any optimizer's is.
    """
    is_optimizer = _is_optimizer(node)
    derived = any(not isinstance(base, ast.Name) or base.id != "object" for base in node.bases)
    methods = {part.name: _called(part) for part in node.body if isinstance(part, _FUNCTIONS)}
    if derived and not is_optimizer:
        return frozenset()
    if "__call__" in methods or any(getattr(part, "attr", "") == "backward" for part in walk(node)):
        return frozenset()
    held = {f"{member}.step" for member in _held(node)}
    found = {name for name, paths in methods.items() if not held.isdisjoint(paths)}
    if is_optimizer:
        return _steps_of_optimizer(node, found)
    grown = True
    while grown:
        more = {name for name, paths in methods.items() if any(f"self.{step}" in paths for step in found)} - found
        found |= more
        grown = bool(more)
    return frozenset(name for name in found if not name.startswith("__"))


def _steps_of_optimizer(node: ast.ClassDef, found: set[str]) -> frozenset[str]:
    """Return the steps of an optimizer of the program's own that holds another one, besides ``step()``."""
    if not found - {"step"}:
        return frozenset()
    methods = (part for part in node.body if isinstance(part, _FUNCTIONS) and not part.name.startswith("_"))
    asking = {m.name for m in methods if any(getattr(part, "attr", "") == "grad" for part in walk(m))}
    return frozenset((found | asking) - {"step"})


def _called(function: ast.AST) -> frozenset[str]:
    return frozenset((dotted_path(node.func) or "") for node in walk(function) if isinstance(node, ast.Call))
