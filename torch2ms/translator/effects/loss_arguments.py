"""Functions that are handed a loss and an optimizer and do the rest of the step: by the text alone.

The callable scalers of mixed precision are such: ``loss_scaler(loss, optimizer, parameters=...)`` calls ``backward``,
clips, and updates. The forward pass stands where the call is, so the gradients are computed there and handed over.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.use_evidence import FileUses, may_be_optimizer, place_of

if TYPE_CHECKING:
    from torch2ms.translator.values.kinds import Oracle

__all__ = ["differentiates", "given_loss", "hands_over", "steps_for_others", "takers"]

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_SELF, _LOSS, _OPTIMIZER = range(3)  # parameters of ``__call__``


def takers(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Yield the ``__call__`` methods of a file whose first argument is a loss and whose second is its optimizer."""
    for node in walk(tree):
        if isinstance(node, ast.ClassDef):
            yield from (part for part in node.body if isinstance(part, ast.FunctionDef) and given_loss(part))


def steps_for_others(tree: ast.Module, calls_backward: bool) -> bool:
    """Whether a file defines such a method, or imports timm's."""
    imports = (node for node in tree.body if isinstance(node, ast.ImportFrom) and not node.level)
    modules = {node.module for node in imports if any(alias.name == "NativeScaler" for alias in node.names)}
    if modules & {"timm.utils", "timm.utils.cuda"}:
        return True
    return calls_backward and next(takers(tree), None) is not None


def differentiates(tree: ast.Module) -> Iterator[str]:
    """Yield the functions and classes of a file that call ``backward`` of a loss which was computed elsewhere.

    It is a parameter, or made of what another method, or another function, stored. Objects that are handed a loss and
    its optimizer are left out: where they are called, the gradients are computed.
    """
    grown = {call.func.value.attr for call in walk(tree) if _grows(call)}  # type: ignore[attr-defined]
    for node in walk(tree):
        if isinstance(node, ast.ClassDef):
            methods = [part for part in node.body if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef))]
            stored = {method.name: grown | _computed(method, methods) for method in methods}
            for method in methods:
                others = frozenset[str]().union(*(names for name, names in stored.items() if name != method.name))
                if not given_loss(method) and _is_given_away(method, others):
                    yield node.name
                    break
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and _is_given_away(node, grown):
            yield node.name


def _grows(call: ast.AST) -> bool:
    """Whether a call adds to a list that an object holds: ``agent.losses.append(loss)``."""
    named = (
        isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in ("append", "extend")
    )
    return named and isinstance(call.func.value, ast.Attribute)  # type: ignore[attr-defined]


def _computed(method: _Function, methods: list[_Function]) -> set[str]:
    """Return the attributes that a method sets to what one of the object's parts computes: ``self.y = self.net(x)``."""
    names = {other.name for other in methods}
    found: set[str] = set()
    for node in walk(method):
        if isinstance(node, ast.Assign) and any(
            isinstance(call, ast.Call) and _holder(call.func) == "self" and _method(call) not in names
            for call in walk(node.value)
        ):
            found.update(t.attr for t in node.targets if isinstance(t, ast.Attribute) and _holder(t) == "self")
    return found


def _holder(node: ast.expr) -> str:
    value = node.value if isinstance(node, ast.Attribute) else None
    return value.id if isinstance(value, ast.Name) else ""


def _is_given_away(function: _Function, stored: Collection[str]) -> bool:
    """Whether a function calls ``backward`` of a parameter that it never binds, or of what was ``stored`` before."""
    nodes = [node for statement in function.body for node in walk(statement)]
    arguments = function.args
    names = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    bound = {ast.unparse(n) for n in nodes if isinstance(n, (ast.Name, ast.Attribute)) and isinstance(n.ctx, ast.Store)}
    calls = [node for node in nodes if isinstance(node, ast.Call) and _method(node) == "backward"]
    losses = [_unscaled(_receiver(call)) for call in calls]
    read = {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)}
    given = any(ast.unparse(loss) not in bound and _owner(loss) in names for loss in losses)
    return given or (bool(losses) and not read.isdisjoint(stored))


def _owner(node: ast.expr) -> str:
    """Return the name that an expression of attributes, items and arithmetic starts at."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.BinOp)):
        node = node.left if isinstance(node, ast.BinOp) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def given_loss(function: ast.AST) -> str:
    """Return the name of the loss that a method ``__call__(self, loss, optimizer, ...)`` takes the step for, or "".

    It calls ``backward`` on this parameter, perhaps scaled, never binds it anew, and updates the other parameter.
    """
    if not isinstance(function, ast.FunctionDef) or function.name != "__call__":
        return ""
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    if len(names) <= _OPTIMIZER:
        return ""
    loss, optimizer = names[_LOSS], names[_OPTIMIZER]
    nodes = [node for statement in function.body for node in walk(statement)]
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    if bound & {loss, optimizer}:
        return ""
    calls = [node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    starts = [_unscaled(_receiver(call)) for call in calls if _method(call) == "backward"]
    steps = [call for call in calls if _method(call) == "step" and _is_name(_stepped(call), optimizer)]
    return loss if len(starts) == 1 and _is_name(starts[0], loss) and steps else ""


def hands_over(call: ast.Call, oracle: Oracle, found: FileUses) -> bool:
    """Whether a call looks like that of such an object: the first two arguments are a loss and an optimizer."""
    if len(call.args) < 2 or any(isinstance(item, ast.Starred) for item in call.args):
        return False
    if isinstance(call.func, ast.Name) and hasattr(builtins, call.func.id) and not found.binds(call.func):
        return False  # super(SAM, self)
    callee, given = oracle.kind(call.func), call.args[1]
    if callee.name not in ("unknown", "instance", "api") or place_of(call.func) == "":
        return False
    if callee.name == "api" and not callee.of.endswith("NativeScaler"):
        return False
    kind, weights = oracle.kind(given).name, any(map(_gives_weights, [*call.args, *(k.value for k in call.keywords)]))
    return kind == "Optimizer" or (kind == "unknown" and (weights or may_be_optimizer(found.of(given))))


def _gives_weights(value: ast.expr) -> bool:
    """Whether a value is ``model.parameters()``, which are clipped by what takes the step."""
    return isinstance(value, ast.Call) and _method(value) == "parameters"


def _method(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _is_name(node: ast.expr | None, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _receiver(call: ast.Call) -> ast.expr:
    return call.func.value if isinstance(call.func, ast.Attribute) else call.func


def _unscaled(node: ast.expr) -> ast.expr:
    """Return the loss of ``scaler.scale(loss)``, and any other expression as it is."""
    if isinstance(node, ast.Call) and _method(node) == "scale" and len(node.args) == 1:
        return node.args[0]
    return node


def _stepped(call: ast.Call) -> ast.expr | None:
    """Return the optimizer of ``optimizer.step()`` and of ``scaler.step(optimizer)``."""
    if len(call.args) == 1:
        return call.args[0]
    return call.func.value if isinstance(call.func, ast.Attribute) and not call.args else None
