"""What ``torch.autograd.grad(outputs, inputs)`` is asked for: tensors by their names, or a list of them."""

from __future__ import annotations

import ast
from functools import cached_property

from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.training.find.gradient_targets import holder_of
from torch2ms.translator.training.leaf_model import LeafUnit, Refused
from torch2ms.translator.values.kinds import Oracle

__all__ = ["AskedInputs", "allows_unused", "fills_unused"]

_SETTINGS = frozenset(
    "outputs inputs grad_outputs retain_graph create_graph only_inputs allow_unused materialize_grads".split()
)


class AskedInputs:
    """The part of a scope's planning that reads the arguments of ``autograd.grad``."""

    oracle: Oracle
    marks: dict[str, int]

    @cached_property
    def parents(self) -> dict[int, ast.AST]:
        """What each node stands in."""
        raise NotImplementedError

    def _is_gradient(self, node: ast.Call) -> bool:
        raise NotImplementedError

    def _asks_inside(self, unit: LeafUnit, units: list[LeafUnit]) -> bool:
        """Whether a unit's function would ask for a gradient that is no unit itself."""
        own_calls = {other.call for other in units}
        nodes = (node for statement in unit.body for node in walk(statement))
        return any(isinstance(n, ast.Call) and self._is_gradient(n) and n not in own_calls for n in nodes)

    def _is_constant(self, call: ast.Call) -> bool:
        """Whether ``autograd.grad`` is asked for a gradient that nothing differentiates once more."""
        asked = self.oracle.kind(call.func).name == "api"
        return asked and not any(keyword.arg == "create_graph" for keyword in call.keywords)

    def _asked(
        self, call: ast.Call, keywords: dict[str | None, ast.expr]
    ) -> tuple[ast.AST, ast.expr | None, ast.expr, ast.expr | None, set[str]]:
        """Return statement, the part of it that is no whole assignment, output, seed, inputs of ``autograd.grad``."""
        paths = self._asked_paths(call)
        statement, inner = holder_of(call, self.parents, is_single=len(paths) == 1 and not self._is_list(call))
        if statement is None or len(call.args) > 3 or set(keywords) - _SETTINGS:
            raise Refused
        if any(isinstance(n, ast.Call) and n is not call and self._is_gradient(n) for n in walk(call)):
            raise Refused
        outputs = call.args[0] if call.args else keywords["outputs"]
        if isinstance(outputs, (ast.List, ast.Tuple)):
            raise Refused
        seed = keywords.get("grad_outputs", call.args[2] if len(call.args) > 2 else None)
        if seed is not None and self.oracle.kind(seed).name in ("tuple", "list"):
            raise Refused  # one for each of several outputs
        return statement, inner, outputs, seed, set(paths)

    def _asked_paths(self, call: ast.Call) -> list[str]:
        inputs = _inputs(call)
        listed = inputs.elts if isinstance(inputs, (ast.List, ast.Tuple)) else [inputs]
        whole = listed[0] is not inputs  # what is listed are tensors; a name alone may be a list of weights
        paths = [node.id for node in listed if isinstance(node, ast.Name) and self._is_asked_tensor(node, whole)]
        if isinstance(inputs, ast.Name) and self._is_list(call):
            return [inputs.id]
        if len(paths) != len(listed) or not paths:
            raise Refused
        return paths

    def _is_list(self, call: ast.Call) -> bool:
        """Whether a variable is asked for that holds a list of tensors, which the function takes one by one."""
        inputs = _inputs(call)
        kind = self.oracle.kind(inputs)
        made = isinstance(inputs, ast.Name) and kind.name in ("list", "tuple") and bool(kind.items)
        return made and all(item.name == "Tensor" for item in kind.items)

    def _is_asked_tensor(self, node: ast.Name, is_listed: bool) -> bool:
        kind = self.oracle.kind(node)
        return kind.is_tensor or (not kind.known and (is_listed or node.id in self.marks))


def _inputs(call: ast.Call) -> ast.expr:
    named = (keyword.value for keyword in call.keywords if keyword.arg == "inputs")
    found = call.args[1] if len(call.args) > 1 else next(named, None)
    if found is None:
        raise Refused
    return found


def allows_unused(call: ast.Call) -> bool:
    """Whether the gradient by a tensor that the output does not depend on is None, or zeros."""
    return _is_set(call, "allow_unused") or fills_unused(call)


def fills_unused(call: ast.Call) -> bool:
    """Whether that gradient is zeros."""
    return _is_set(call, "materialize_grads")


def _is_set(call: ast.Call, name: str) -> bool:
    return any(k.arg == name and getattr(k.value, "value", None) is True for k in call.keywords)
