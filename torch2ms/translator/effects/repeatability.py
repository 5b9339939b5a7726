"""Whether code that is run twice gives the same twice: the function of a gradient, and of the gradient of that."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from torch2ms.translator.effects.reads_and_writes import dotted_path
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.kinds import Oracle

__all__ = ["draws", "gives_the_same"]

# In the names of all that draws random numbers: those of the rows that carry T2M306 (a test compares them).
_RANDOM = re.compile(
    "rand|dropout|bernoulli|binomial|multinomial|normal_?$|poisson|rrelu|gumbel|sample|exponential|uniform|cauchy"
    "|geometric|fractional|seed|rng_state|generator|make_tensor",
    re.I,
)
_KEEPING = frozenset(
    {"append", "apply", "extend", "forward", "pop", "put", "rsample", "send", "step", "update", "write"}
)
_PLAIN = frozenset({"len", "range", "zip", "enumerate", "float", "int", "sum", "list", "tuple"})


def draws(path: str) -> bool:
    """Whether what a dotted path names draws random numbers: functions, and layers, for their first weights."""
    name = path.rpartition(".")[2]
    return _RANDOM.search(name) is not None or (path.startswith("torch.nn.") and name[:1].isupper())


def gives_the_same(statement: ast.AST, nodes: Sequence[ast.AST], oracle: Oracle) -> bool:
    """Whether a statement calls nothing but what gives the same again; ``nodes`` are those of its scope."""
    functions = {node.name: node for node in nodes if isinstance(node, ast.FunctionDef) and not node.decorator_list}
    lambdas = {
        node.targets[0].id: node.value
        for node in nodes
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Lambda)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Name)
    }
    return all(_is_known(call, {**functions, **lambdas}, oracle) for call in _calls(statement))


def _calls(node: ast.AST) -> list[ast.Call]:
    return [part for part in walk(node) if isinstance(part, ast.Call)]


def _is_known(call: ast.Call, functions: dict[str, ast.FunctionDef | ast.Lambda], oracle: Oracle) -> bool:
    path = dotted_path(call.func) or str(getattr(call.func, "attr", ""))
    kind = oracle.kind(call.func)
    if draws(kind.of) or (path not in functions and draws(path)):
        return False
    if kind.name == "api":
        return True
    if isinstance(call.func, ast.Attribute):
        return oracle.kind(call.func.value).is_tensor
    return path in functions and _is_pure(functions[path], oracle)


def _is_pure(function: ast.FunctionDef | ast.Lambda, oracle: Oracle) -> bool:
    """Whether a function of the program's own computes with tensors alone, and keeps nothing for the next call."""
    own = {node.arg for node in walk(function.args) if isinstance(node, ast.arg)}
    own |= {n.id for n in walk(function) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    for node in walk(function):
        if isinstance(node, (ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await)):
            return False
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            return False
        if isinstance(node, ast.Call):
            name = (dotted_path(node.func) or str(getattr(node.func, "attr", ""))).rpartition(".")[2]
            if draws(name) or draws(oracle.kind(node.func).of) or name in _KEEPING or name.endswith("_"):
                return False
            if isinstance(node.func, ast.Name) and node.func.id not in _PLAIN and oracle.kind(node.func).name != "api":
                return False  # another function, or a network, that the argument may be
            if isinstance(node.func, ast.Attribute) and oracle.kind(node.func).name != "api":
                value = node.func.value
                start = value.id if isinstance(value, ast.Name) else ""
                if not (start in own or not start or oracle.kind(value).is_tensor):
                    return False
    return True
