"""Functions that are handed an output and the input it was computed from, and ask for the gradient: by the text alone.

Gradient penalties are often such: ``def r1(d_out, x_in): grad = autograd.grad(d_out.sum(), x_in, create_graph=True)``.
The function does not see the network. Its callers do, so they compute the gradient and hand it over.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torch2ms.translator.effects.names_used import binds, own
from torch2ms.translator.syntax.ast_walk import walk

__all__ = [
    "AskedGradient",
    "HandedOutput",
    "asked_gradients",
    "asks_for_given",
    "handed_output",
    "is_mark",
    "is_ones",
    "marked_name",
]

_SETTINGS = frozenset("outputs inputs grad_outputs retain_graph create_graph only_inputs".split())
_ONES = frozenset({"ones", "ones_like", "new_ones", "Variable", "size", "cuda", "to", "type", "float", "expand_as"})


@dataclass(frozen=True, slots=True)
class AskedGradient:
    """``autograd.grad(output, by, seed, create_graph=True)``; the sum of an output is the output here."""

    call: ast.Call
    output: ast.expr
    by: ast.Name
    seed: ast.expr | None


@dataclass(frozen=True, slots=True)
class HandedOutput:
    """Which parameters of a function are an output and its input, and what the gradient will be called."""

    calls: tuple[ast.Call, ...]
    output: str
    by: str
    parameter: str


def asked_gradients(scope: ast.AST) -> Iterator[AskedGradient]:
    """Yield the gradients by one tensor that a scope asks for and that are differentiated again."""
    for node in own(scope):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "grad":
            found = _asked(node)
            if found is not None:
                yield found


def asks_for_given(tree: ast.Module) -> bool:
    """Whether a function asks for gradients that are differentiated again, of or by what it is handed."""
    for function in walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        given = {argument.arg for argument in walk(function.args) if isinstance(argument, ast.arg)}
        for node in own(function):
            is_asked = isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "grad"
            if (
                not is_asked
                or not isinstance(node, ast.Call)
                or not any(k.arg == "create_graph" for k in node.keywords)
            ):
                continue
            asked = [*node.args[:2], *(k.value for k in node.keywords if k.arg in ("outputs", "inputs"))]
            if any(isinstance(part, ast.Name) and part.id in given for value in asked for part in walk(value)):
                return True
    return False


def _asked(call: ast.Call) -> AskedGradient | None:
    given: dict[str | None, ast.expr] = dict(zip(("outputs", "inputs", "grad_outputs"), call.args, strict=False))
    given.update((keyword.arg, keyword.value) for keyword in call.keywords)
    graph, output, by = given.get("create_graph"), _single(given.get("outputs")), _single(given.get("inputs"))
    if len(call.args) > 3 or set(given) - _SETTINGS or getattr(graph, "value", None) is not True:
        return None
    if output is None or not isinstance(by, ast.Name) or any(isinstance(arg, ast.Starred) for arg in call.args):
        return None
    seed = _single(given.get("grad_outputs"))
    if isinstance(seed, ast.Constant):
        seed = None
    if isinstance(output, ast.Call) and isinstance(output.func, ast.Attribute) and output.func.attr == "sum":
        if output.args or output.keywords or seed is not None:
            return None
        output = output.func.value
    return AskedGradient(call, output, by, seed)


def _single(value: ast.expr | None) -> ast.expr | None:
    """Return what a list of one tensor holds, and any other value as it is."""
    if isinstance(value, (ast.List, ast.Tuple)):
        return value.elts[0] if len(value.elts) == 1 else None
    return value


def handed_output(function: ast.AST) -> HandedOutput | None:
    """Return what a function does with an output and an input that it is handed; None where it does not ask so."""
    if not isinstance(function, ast.FunctionDef) or function.args.vararg or function.args.kwarg:
        return None
    asked = list(asked_gradients(function))
    given = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    pairs = {(ast.unparse(found.output), found.by.id) for found in asked}
    if len(pairs) != 1:
        return None
    output, by = next(iter(pairs))
    if output == by or not {output, by} <= set(given):
        return None
    bound = set().union(*(binds(statement) for statement in function.body if not is_mark(statement)))
    seeds = [found.seed for found in asked if found.seed is not None]
    if bound & {output, by} or not all(is_ones(seed, function) for seed in seeds):
        return None
    taken = {node.id for node in walk(function) if isinstance(node, ast.Name)} | {*given}
    name = next(name for name in ("input_gradient", "gradient_by_input", f"{by}_gradient_") if name not in taken)
    return HandedOutput(tuple(found.call for found in asked), output, by, name)


def is_mark(statement: ast.AST) -> bool:
    """Whether a statement only says that a gradient is wanted: ``x.requires_grad = True``, ``x.requires_grad_()``."""
    return marked_name(statement) is not None


def marked_name(statement: ast.AST) -> ast.expr | None:
    """Return the tensor whose gradient a statement says is wanted."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        func, given = statement.value.func, [*statement.value.args, *(k.value for k in statement.value.keywords)]
        plain = all(isinstance(value, ast.Constant) and value.value is True for value in given)
        return func.value if isinstance(func, ast.Attribute) and func.attr == "requires_grad_" and plain else None
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    return target.value if isinstance(target, ast.Attribute) and target.attr == "requires_grad" else None


def is_ones(seed: ast.expr, scope: ast.AST | None = None) -> bool:
    """Whether an expression makes ones: ``torch.ones(out.size()).cuda() if cuda else torch.ones(out.size())``.

    ``scope``: a name is looked up there.
    """
    if isinstance(seed, ast.Name) and scope is not None:
        made = [node for node in own(scope) if isinstance(node, ast.Assign) and seed.id in binds(node)]
        return bool(made) and all(is_ones(node.value) for node in made)
    if isinstance(seed, ast.IfExp):
        return is_ones(seed.body) and is_ones(seed.orelse)
    calls = [ast.unparse(node.func).rpartition(".")[2] for node in walk(seed) if isinstance(node, ast.Call)]
    plain = not any(isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Subscript, ast.IfExp)) for node in walk(seed))
    return plain and set(calls) <= _ONES and not {"ones", "ones_like", "new_ones"}.isdisjoint(calls)
