"""Gradients of a network by its input that stand apart from the network's call, and are differentiated again.

``autograd.grad(out, x, create_graph=True)`` inside of a training step, where ``out = netD(x)`` stands above, is the
gradient of ``netD`` at ``x``, which the runtime compiles (see ``network_input``). A function that is handed ``out`` and
``x`` has one parameter more, for the gradient, and whoever calls it computes that. Where MindSpore records gradients
that are differentiated again, this is done only where all the callers are seen: the record needs nobody's help.
"""

from __future__ import annotations

import ast
from collections.abc import Container
from dataclasses import dataclass, field

import libcst as cst

from torch2ms.diagnostics import Severity
from torch2ms.translator.context import Context
from torch2ms.translator.effects.names_used import FUNCTIONS, binds
from torch2ms.translator.effects.output_arguments import (
    AskedGradient,
    HandedOutput,
    asked_gradients,
    handed_output,
    is_mark,
    is_ones,
    marked_name,
)
from torch2ms.translator.effects.recordability import GRAPHS
from torch2ms.translator.rules.calls.input_gradients import is_network
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.syntax.cst_builders import code_of, parse_expression
from torch2ms.translator.values.declarations import FunctionInfo

__all__ = [
    "asked_network",
    "asks_for_networks",
    "calls_of_networks",
    "drops_mark",
    "first_of",
    "with_gradient",
    "with_parameter",
]

_GRADIENT = "torch.autograd.grad"
_AGAIN = "the network runs once more for it: running statistics, and what is drawn at random, are those of that run"
_CHANGES = frozenset({"step", "eval", "train", "load_state_dict"})
_LOOPS = (ast.For, ast.While, ast.AsyncFor)


@dataclass(frozen=True, slots=True)
class _Network:
    """``network(*inputs)``, which of its results is differentiated, and by which of its inputs."""

    call: ast.Call
    place: int
    part: int | None
    seed: ast.expr | None


@dataclass(slots=True)
class _Asked:
    """What a file asks for."""

    networks: dict[ast.AST, _Network] = field(default_factory=dict)
    handed: dict[ast.AST, str] = field(default_factory=dict)  # autograd.grad -> the parameter that holds the gradient
    parameters: dict[ast.AST, HandedOutput] = field(default_factory=dict)  # of functions
    marked: set[tuple[ast.AST, str]] = field(default_factory=set)  # (scope, x): x.requires_grad = True goes


def asks_for_networks(ctx: Context) -> bool:
    """Whether a file near this one asks for gradients that are differentiated again."""
    return ctx.world.symbols.is_near("asks_for_graphs", ctx.path)


def calls_of_networks(ctx: Context, handled: Container[ast.AST]) -> set[ast.AST]:
    """Return the calls of ``autograd.grad`` that become the gradient of a network; ``handled`` are taken already."""
    found = _found(ctx, handled)
    return {*found.networks, *found.handed}


def _find(ctx: Context) -> _Asked:
    return _Asked() if ctx.training.derives_by_record else _found(ctx, ctx.training.handled)


def _found(ctx: Context, handled: Container[ast.AST]) -> _Asked:
    found = _Asked()
    scopes = [ctx.analysis.tree, *ctx.analysis.all(ast.FunctionDef)]
    for scope in scopes:
        handed = handed_output(scope)
        if handed is not None and not any(call in handled for call in handed.calls) and _is_handed(scope, ctx):
            found.parameters[scope] = handed
            found.handed.update((call, handed.parameter) for call in handed.calls)
            found.marked.add((scope, handed.by))
    for scope in scopes:
        if scope in found.parameters:
            continue
        for asked in asked_gradients(scope):
            kind = ctx.kind(asked.call.func)
            if asked.call in handled or kind.name != "api" or kind.of != _GRADIENT:
                continue
            network = _network(asked.output, asked.by.id, asked.call, _seed(asked, scope), ctx)
            if network is not None:
                found.networks[asked.call] = network
                found.marked.add((scope, asked.by.id))
        if asks_for_networks(ctx):
            found.marked.update((scope, name) for name in _handed_over(scope, found, ctx))
    return found


def _seed(asked: AskedGradient, scope: ast.AST) -> ast.expr | None:
    return None if asked.seed is None or is_ones(asked.seed, scope) else asked.seed


def _records(ctx: Context) -> bool:
    """Whether MindSpore can record gradients that are differentiated again."""
    return ctx.target.mindspore >= GRAPHS and ctx.options.mode == "pynative"


def _is_handed(function: ast.AST, ctx: Context) -> bool:
    """Whether a function gets the gradient from its callers: always, or where they are all seen to know the network."""
    return not _records(ctx) or (isinstance(function, ast.FunctionDef) and _all_seen(function, ctx, networks=True))


def _handed_over(scope: ast.AST, found: _Asked, ctx: Context) -> list[str]:
    """Return the inputs that a scope hands, with an output, to functions that ask for the gradient."""
    from torch2ms.translator.effects.names_used import own

    calls = [node for node in own(scope) if isinstance(node, ast.Call)]
    given = [_given(call, ctx) for call in calls]
    pairs = [pair for pair in given if pair is not None and (not _records(ctx) or pair[0] in found.parameters.values())]
    return [pair[2].id for pair in pairs if isinstance(pair[2], ast.Name)]


# ---- where an output comes from


def _network(output: ast.expr, by: str, at: ast.AST, seed: ast.expr | None, ctx: Context) -> _Network | None:
    """Return the one call of a network that an output, where it is used, was computed by."""
    part: int | None = None
    call: ast.expr | None = output
    if isinstance(output, ast.Name):
        call, part = _definition(output.id, at, ctx)
    if not isinstance(call, ast.Call) or call.keywords or not is_network(call.func, ctx):
        return None
    if not all(isinstance(arg, (ast.Name, ast.Attribute, ast.Constant)) for arg in call.args):
        return None
    places = [index for index, arg in enumerate(call.args) if isinstance(arg, ast.Name) and arg.id == by]
    names = {node.id for arg in (*call.args, call.func) for node in walk(arg) if isinstance(node, ast.Name)}
    if len(places) != 1 or (call is not output and _is_changed(names, call, at, ctx)):
        return None
    return _Network(call, places[0], part, seed)


def _above(at: ast.AST, ctx: Context) -> list[tuple[ast.AST, list[ast.stmt]]]:
    """Return the statements around a node, each with those in front of it in its block, innermost first."""
    found: list[tuple[ast.AST, list[ast.stmt]]] = []
    child: ast.AST = at
    parent = ctx.parent(child)
    while parent is not None and not isinstance(child, FUNCTIONS):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(parent, name, None)
            if isinstance(block, list) and child in block:
                found.append((child, block[: block.index(child)]))
        child, parent = parent, ctx.parent(parent)
    return found


def _definition(name: str, at: ast.AST, ctx: Context) -> tuple[ast.expr | None, int | None]:
    """Return the value that a name certainly has at a place, and which part of it."""
    for statement, before in _above(at, ctx):
        if isinstance(statement, _LOOPS) and name in binds(statement):
            return None, None
        for other in reversed(before):
            if name not in binds(other) or is_mark(other):
                continue
            target = other.targets[0] if isinstance(other, ast.Assign) and len(other.targets) == 1 else None
            if not isinstance(other, ast.Assign) or target is None:
                return None, None
            if isinstance(target, ast.Name):
                return other.value, None
            names = [getattr(element, "id", "") for element in target.elts] if isinstance(target, ast.Tuple) else []
            return (other.value, names.index(name)) if names.count(name) == 1 else (None, None)
    return None, None


def _is_changed(names: set[str], call: ast.Call, at: ast.AST, ctx: Context) -> bool:
    """Whether what a call was given, or the network, may be another when ``at`` is reached."""
    for statement, before in _above(at, ctx):
        inside = [statement] if isinstance(statement, _LOOPS) else []
        for other in [*inside, *reversed(before)]:
            parts = list(walk(other))
            if call in parts:
                return False
            if (binds(other) & names and not is_mark(other)) or any(map(_changes, parts)):
                return True
    return True


def _changes(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGES


# ---- calls of functions that are handed an output


def _given(tree: ast.Call, ctx: Context) -> tuple[HandedOutput, ast.expr, ast.expr] | None:
    """Return what a call hands to a function that asks for the gradient: output and input."""
    kind = ctx.kind(tree.func)
    info = ctx.world.function(kind.of) if kind.name == "function" and "|" not in kind.of else None
    handed = handed_output(info.node) if info is not None else None
    if info is None or handed is None:
        return None
    node = info.node
    assert isinstance(node, ast.FunctionDef)
    names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    given: dict[str | None, ast.expr] = dict(zip(names[_skipped(info, tree, ctx) :], tree.args, strict=False))
    given.update((keyword.arg, keyword.value) for keyword in tree.keywords)
    output, by = given.get(handed.output), given.get(handed.by)
    return (handed, output, by) if output is not None and by is not None else None


def _skipped(info: FunctionInfo, tree: ast.Call, ctx: Context) -> int:
    """Return how many parameters a call does not name: ``self``."""
    if info.owner is None or info.is_static or not isinstance(tree.func, ast.Attribute):
        return 0
    return 0 if ctx.kind(tree.func.value).name == "class" else 1


def with_gradient(updated: cst.Call, tree: ast.Call, ctx: Context) -> cst.Call:
    """Return a call of a function that asks for the gradient of what it is handed, with the gradient."""
    given = _given(tree, ctx)
    if given is None or (_records(ctx) and given[0] not in ctx.once(_find).parameters.values()):
        return updated
    handed, output, by = given
    network = _network(output, by.id, tree, None, ctx) if isinstance(by, ast.Name) else None
    if network is None:
        message = f"{handed.parameter} is missing: the text does not show which network gave {ast.unparse(output)}"
        ctx.report("T2M201", tree, message, symbol=_GRADIENT)
        return updated
    ctx.report("T2M302", tree, _AGAIN)
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    new = cst.Arg(parse_expression(_by_input(network, ctx)), keyword=cst.Name(handed.parameter), equal=equal)
    *rest, last = updated.args
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    return updated.with_changes(args=[*rest, last.with_changes(comma=comma), new])


def with_parameter(updated: cst.FunctionDef, tree: ast.AST, ctx: Context) -> cst.FunctionDef:
    """Return a function with the parameter for the gradient."""
    handed = ctx.once(_find).parameters.get(tree) if asks_for_networks(ctx) else None
    if handed is None:
        return updated
    params = updated.params
    star = cst.ParamStar(cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
    new = [*params.kwonly_params, cst.Param(cst.Name(handed.parameter))]
    return updated.with_changes(params=params.with_changes(star_arg=star, kwonly_params=new))


# ---- the gradient


def asked_network(tree: ast.Call, ctx: Context) -> cst.BaseExpression | None:
    """Return the gradient of a network, in a tuple, for ``autograd.grad``; None where it is another."""
    if not asks_for_networks(ctx):
        return None
    asked = ctx.once(_find)
    if tree in asked.handed:
        ctx.account(tree.func, _GRADIENT, "mapped", "torch2ms.runtime.derivatives.by_input")
        name = asked.handed[tree]
        sure = _all_seen(_function(tree, ctx), ctx)
        message = f"{name}: the gradient is computed where the output is, by the callers, which hand it over"
        ctx.report("T2M302" if sure else "T2M303", tree, message, symbol=_GRADIENT)
        return parse_expression(f"({name},)")
    network = asked.networks.get(tree)
    if network is None:
        return None
    ctx.account(tree.func, _GRADIENT, "mapped", "torch2ms.runtime.derivatives.by_input")
    ctx.report("T2M302", tree, _AGAIN)
    return parse_expression(f"({_by_input(network, ctx)},)")


def _function(tree: ast.AST, ctx: Context) -> ast.AST | None:
    """Return the function around a node."""
    scope: ast.AST | None = tree
    while scope is not None and not isinstance(scope, ast.FunctionDef):
        scope = ctx.parent(scope)
    return scope


def _all_seen(function: ast.AST | None, ctx: Context, *, networks: bool = False) -> bool:
    """Whether every call of a function, by its name, stands in this file and is understood.

    ``networks``: and shows which network the output is of; one call at the least.
    """
    name = getattr(function, "name", "")
    own = [
        call for call in ctx.analysis.all(ast.Call) if getattr(call.func, "attr", getattr(call.func, "id", "")) == name
    ]
    others = any(name in file.calls for path, file in ctx.world.symbols.files.items() if path != ctx.path)
    if networks:
        return not others and bool(own) and all(_knows_network(call, ctx) for call in own)
    return not others and all(_given(call, ctx) is not None for call in own)


def _knows_network(call: ast.Call, ctx: Context) -> bool:
    """Whether a call of a function that asks for a gradient shows which network that is of."""
    given = _given(call, ctx)
    if given is None or not isinstance(given[2], ast.Name):
        return False
    return _network(given[1], given[2].id, call, None, ctx) is not None


def first_of(updated: cst.Subscript, tree: ast.Subscript, ctx: Context) -> cst.BaseExpression | None:
    """Return the gradient itself for ``autograd.grad(...)[0]``."""
    if not isinstance(updated.value, cst.Tuple) or not isinstance(tree.value, ast.Call) or not asks_for_networks(ctx):
        return None
    asked = ctx.once(_find)
    is_first = isinstance(tree.slice, ast.Constant) and tree.slice.value == 0
    if not is_first or not (tree.value in asked.handed or tree.value in asked.networks):
        return None
    element: cst.BaseExpression = updated.value.elements[0].value
    return element


def drops_mark(tree: ast.AST | None, ctx: Context) -> bool:
    """Whether a statement only says that such a gradient is wanted: ``x.requires_grad = True``."""
    name = marked_name(tree) if tree is not None and asks_for_networks(ctx) else None
    if tree is None or not isinstance(name, ast.Name):
        return False
    scope: ast.AST | None = tree
    while scope is not None and not isinstance(scope, (ast.FunctionDef, ast.Module)):
        scope = ctx.parent(scope)
    if (scope or ctx.analysis.tree, name.id) not in ctx.once(_find).marked:
        return False
    ctx.account(ctx.parent(name) or tree, "torch.Tensor.requires_grad", "removed")
    note = "requires_grad was dropped: the gradient is asked of the network"
    ctx.report("T2M302", tree, note, symbol="torch.Tensor.requires_grad", severity=Severity.NOTE)
    return True


def _by_input(network: _Network, ctx: Context) -> str:
    """Return the code of the gradient of a network by its input."""
    parts = [code_of(_code(part, ctx)) for part in (network.call.func, *network.call.args)]
    parts += [f"place={network.place}"] if network.place else []
    parts += [f"seed={code_of(_code(network.seed, ctx))}"] if network.seed is not None else []
    parts += [f"output={network.part}"] if network.part is not None else []
    return f"{code_of(ctx.reference('torch2ms.runtime.derivatives.by_input'))}({', '.join(parts)})"


def _code(tree: ast.expr, ctx: Context) -> cst.BaseExpression:
    code = ctx.alignment.code(tree)
    if code is None:
        return parse_expression(ast.unparse(tree))
    made = ctx.visit_apart(code)
    assert isinstance(made, cst.BaseExpression)
    return made
