"""Values of which nothing is known, shown as numbers: ``f"{value:.3f}"``.

Where it may be a tensor at run time - it went through a parameter, an untyped dictionary, a call of the project -
``number(value)`` is right for both. What comes from elsewhere (a setting, a clock) is left as it is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.containers import PUTTING
from torch2ms.translator.values.declarations import FunctionInfo
from torch2ms.translator.values.file_facts import FileFacts
from torch2ms.translator.values.kinds import Kind

__all__ = ["METERED", "is_number_format", "may_be_tensor", "may_hold_tensors", "string_values"]

METERED = frozenset({"val", "avg", "value", "average", "mean", "sum"})  # what meters call what they hold
_GIVING = frozenset({"items", "values", "get", "pop"})  # methods of dictionaries that hand on what those hold
_HANDING_ON = frozenset({"enumerate", "zip", "list", "tuple", "sorted", "reversed", "max", "min", "sum", "abs"})
_HELD = ("dict", "list", "tuple", "iterator")
_OPEN = ("unknown", "python", "instance")  # of the values in it nothing is known
_STEPS = 6  # how far a value is followed back
_NUMBER = re.compile(r"(\.\d+|[\d.}][eEfFgG%n]|^[eEfFgG%n])$|\.\{?\w*\}?[eEfFgG%n]$|\.\d+[a-zA-Z]?$")


def is_number_format(spec: str) -> bool:
    """Whether a format is one of numbers that are no counts: ``.3f``, ``10.2e``, ``.2``; not ``>10`` or ``03d``."""
    return _NUMBER.search(spec) is not None


def may_be_tensor(tree: ast.expr, ctx: FileFacts) -> bool:
    """Whether a value of which nothing is known may be a tensor, by where it comes from."""
    return not ctx.kind(tree).known and _is_doubtful(tree, ctx, _STEPS)


def may_hold_tensors(tree: ast.expr, ctx: FileFacts) -> bool:
    """Whether a container may hold tensors, by where it comes from."""
    return _is_doubtful(tree, ctx, _STEPS)


def string_values(tree: ast.expr, ctx: FileFacts) -> list[str]:
    """Return the strings written out that a name is given where it stands: ``msg = "{:.2f}"``."""
    found = _origins(tree, ctx) if isinstance(tree, ast.Name) else ()
    return [value.value for value in found if isinstance(value, ast.Constant) and isinstance(value.value, str)]


def _is_doubtful(tree: ast.expr, ctx: FileFacts, steps: int) -> bool:
    kind = ctx.kind(tree)
    if steps == 0 or not (kind.name in _OPEN or kind.is_tensor or _holds_unknown(kind)):
        return False
    if isinstance(tree, ast.Name):
        return kind.is_tensor or any(_is_doubtful_origin(found, ctx, steps - 1) for found in _origins(tree, ctx))
    if isinstance(tree, ast.Attribute):
        mine = isinstance(tree.value, ast.Name) and tree.value.id == "self" and not ctx.kind(tree).known
        given = ctx.once(_given_attributes).get(ast.unparse(tree), ())
        if any(ctx.kind(value).is_tensor or _is_doubtful(value, ctx, steps - 1) for value in given):
            return True
        return mine or (tree.attr in METERED and ast.unparse(tree.value) not in ctx.once(_updated))
    if isinstance(tree, ast.Subscript):
        return _is_doubtful(tree.value, ctx, steps - 1)
    if isinstance(tree, ast.BinOp):
        parts = (tree.left,) if isinstance(tree.op, ast.Div) else (tree.left, tree.right)  # by a count, mostly
        return any(_is_doubtful(part, ctx, steps - 1) for part in parts)
    if isinstance(tree, (ast.List, ast.Tuple, ast.Set)):
        return any(_is_doubtful(part, ctx, steps - 1) for part in tree.elts)
    if isinstance(tree, ast.Starred):
        return _is_doubtful(tree.value, ctx, steps - 1)
    return isinstance(tree, ast.Call) and _gives_doubtful(tree, ctx, steps)


def _holds_unknown(kind: Kind) -> bool:
    """Whether a container holds what nothing is known of, or tensors."""
    return kind.name in _HELD and (
        not kind.items or any(not i.known or i.is_tensor or _holds_unknown(i) for i in kind.items)
    )


def _gives_doubtful(tree: ast.Call, ctx: FileFacts, steps: int) -> bool:
    """Whether a call gives what nothing is known of: of the project's functions, or from a container of such values."""
    func = tree.func
    if ctx.kind(func).of == "torch.load":  # a program's checkpoint may hold the best accuracy as a tensor
        return True
    if isinstance(func, ast.Attribute):
        if func.attr in _GIVING:
            return _is_doubtful(func.value, ctx, steps - 1)
        return bool(ctx.world.symbols.definers(func.attr))
    if not isinstance(func, ast.Name):
        return False
    if func.id in _HANDING_ON and not ctx.kind(func).known:
        return any(_is_doubtful(given, ctx, steps - 1) for given in tree.args)
    return ctx.kind(func).name in ("function", "Module")


def _is_doubtful_origin(origin: ast.expr | None, ctx: FileFacts, steps: int) -> bool:
    """Whether what a name is given may be a tensor; None stands for a parameter."""
    return origin is None or _is_doubtful(origin, ctx, steps)


def _origins(name: ast.Name, ctx: FileFacts) -> Iterator[ast.expr | None]:
    """Yield what a name is given where it stands: by assignments, loops, comprehensions; None for a parameter."""
    info = ctx.functions[-1]
    yield from ctx.once(_given).get((info.node if info is not None else ctx.analysis.tree, name.id), ())
    if info is not None and _is_untyped_parameter(info, name.id):
        yield None


def _is_untyped_parameter(info: FunctionInfo, name: str) -> bool:
    """Whether a function has such a parameter, with neither an annotation nor a default that says what it is."""
    arguments = info.node.args
    defaulted = [*arguments.posonlyargs, *arguments.args][-len(arguments.defaults) :] if arguments.defaults else []
    told = {arg.arg for arg in defaulted} | {
        a.arg for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d
    }
    found = [arg for arg in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs] if arg.arg == name]
    return bool(found) and found[0].annotation is None and name not in told


def _updated(ctx: FileFacts) -> frozenset[str]:
    """Return the meters that the file itself updates: what they are given shows what they hold."""
    calls = (node.func for node in ctx.analysis.nodes if isinstance(node, ast.Call))
    return frozenset(ast.unparse(f.value) for f in calls if isinstance(f, ast.Attribute) and f.attr == "update")


def _given_attributes(ctx: FileFacts) -> dict[str, list[ast.expr]]:
    """Return what attributes of objects are given, by their text: ``args.best = top1``."""
    found: dict[str, list[ast.expr]] = {}
    for node in ctx.analysis.all(ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Attribute):
                found.setdefault(ast.unparse(target), []).append(node.value)
    return found


def _given(ctx: FileFacts) -> dict[tuple[ast.AST, str], list[ast.expr | None]]:
    """Return what each name of each function is given."""
    found: dict[tuple[ast.AST, str], list[ast.expr | None]] = {}
    for scope in [ctx.analysis.tree, *(info.node for info in ctx.analysis.functions.values())]:
        for node in walk(scope):
            pairs: list[tuple[ast.expr, ast.expr]] = []
            if isinstance(node, ast.Assign):
                pairs = [(target, node.value) for target in node.targets]
            elif isinstance(node, ast.AugAssign):
                pairs = [(node.target, node.value)]
            elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
                pairs = [(node.target, node.iter)]
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in PUTTING:
                pairs = [(node.func.value, value) for value in node.args[-1:]]
            for target, value in (each for pair in pairs for each in _one_by_one(*pair)):
                for part in walk(target):
                    if isinstance(part, ast.Name):
                        found.setdefault((scope, part.id), []).append(value)
    return found


def _one_by_one(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """Return each target with its value: ``epoch, best = state["epoch"], state["best"]`` are two assignments."""
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple) or len(target.elts) != len(value.elts):
        return [(target, value)]
    if any(isinstance(part, ast.Starred) for part in (*target.elts, *value.elts)):
        return [(target, value)]
    return list(zip(target.elts, value.elts, strict=True))
