"""Calls with ``*`` whose target has other parameters: the tuple written out, or a function with PyTorch's parameters.

``torch.clamp_max(*pair)`` becomes ``ops.clamp(pair[0], max=pair[1])`` where the text shows the pair, and
``(lambda input, max: ops.clamp(input, max=max))(*pair)`` where it does not.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

import libcst as cst

from torch2ms.diagnostics import Severity
from torch2ms.mapping_tables.schema import Parameter, Signature
from torch2ms.translator.context import Context
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.syntax.cst_builders import build

__all__ = ["through_function", "unpacked"]

_Part = tuple[ast.expr, cst.BaseExpression]
_Call = tuple[cst.Call, ast.Call]
_READABLE = 4  # parameters of a function that stands in a call
_NO_DEFAULT = cst.MaybeSentinel.DEFAULT
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def unpacked(updated: cst.Call, tree: ast.Call, ctx: Context) -> _Call | None:
    """Return a call with the tuples that a ``*`` spreads written out; None where the text does not show all of them."""
    args: list[cst.Arg] = []
    given: list[ast.expr] = []
    positional = iter(tree.args)
    for arg in updated.args:
        if arg.keyword is not None or arg.star == "**":
            args.append(arg.with_changes(comma=cst.MaybeSentinel.DEFAULT))
            continue
        value = next(positional)
        parts = _parts(value, arg.value, ctx) if isinstance(value, ast.Starred) else [(value, arg.value)]
        if parts is None or any(before.keyword is not None for before in args):
            return None
        given += [part for part, _ in parts]
        args += [cst.Arg(code) for _, code in parts]
    if not any(arg.star == "*" for arg in updated.args):
        return None
    return updated.with_changes(args=args), ast.copy_location(ast.Call(tree.func, given, tree.keywords), tree)


def _parts(
    star: ast.Starred, code: cst.BaseExpression, ctx: Context
) -> list[tuple[ast.expr, cst.BaseExpression]] | None:
    """Return the elements of a tuple that is written out, or bound to a name once."""
    value = star.value
    if isinstance(value, (ast.Tuple, ast.List)) and isinstance(code, (cst.Tuple, cst.List)):
        elements = [element.value for element in code.elements]
    else:
        shown = _only_value(value, ctx)
        if not isinstance(shown, ast.Tuple):
            return None
        value, elements = shown, [build(f"{{x}}[{i}]", x=code.deep_clone()) for i in range(len(shown.elts))]
    if any(isinstance(element, ast.Starred) for element in value.elts):
        return None
    return list(zip(value.elts, elements, strict=True))


def _only_value(value: ast.expr, ctx: Context) -> ast.expr | None:
    """Return what a name is bound to, by the one statement of its scope that binds it."""
    if not isinstance(value, ast.Name):
        return None
    scope = _scope(value, ctx)
    arguments = scope.args if isinstance(scope, _SCOPES) else None
    if arguments is not None and any(node.arg == value.id for node in walk(arguments) if isinstance(node, ast.arg)):
        return None
    stores = [n for n in ctx.analysis.all(ast.Name) if n.id == value.id and not isinstance(n.ctx, ast.Load)]
    binding = ctx.parent(stores[0]) if len(stores) == 1 else None
    if not isinstance(binding, ast.Assign) or stores[0] not in binding.targets:
        return None
    return binding.value if _scope(stores[0], ctx) in (scope, None) else None


def _scope(node: ast.AST, ctx: Context) -> ast.AST | None:
    above = ctx.parent(node)
    while above is not None and not isinstance(above, _SCOPES):
        above = ctx.parent(above)
    return above


def through_function(
    updated: cst.Call,
    tree: ast.Call,
    signature: Signature | None,
    translate: Callable[[cst.Call, ast.Call], cst.BaseExpression],
    ctx: Context,
) -> cst.BaseExpression | None:
    """Return a call of a function with PyTorch's parameters; None where it would not be read at a glance."""
    parameters = _parameters(signature)
    receiver = tree.func.value if isinstance(tree.func, ast.Attribute) else None
    used = {node.id for node in walk(receiver) if isinstance(node, ast.Name)} if receiver is not None else set()
    if not parameters or len(parameters) > _READABLE or used & {p.name for p in parameters}:
        return None
    if receiver is not None and any(isinstance(node, ast.Call) for node in walk(receiver)):
        return None
    if not {word.arg for word in tree.keywords} <= {None, *(p.name for p in parameters)}:
        return None
    given: list[ast.expr] = [ast.copy_location(ast.Name(p.name, ast.Load()), tree) for p in parameters]
    inner = ast.copy_location(ast.Call(tree.func, given, []), tree)
    code = updated.with_changes(args=[cst.Arg(cst.Name(p.name)) for p in parameters])
    with ctx.trial() as trial:
        made = translate(code, inner)
        refused = any(d.severity > Severity.NOTE for d in trial.diagnostics) or trial.has_statements
    if refused or not isinstance(made, cst.Call):
        return None
    body = translate(code, inner)
    params = [_parameter(p) for p in parameters]
    function = cst.Lambda(cst.Parameters(params), body, lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return cst.Call(function, updated.args)


def _parameters(signature: Signature | None) -> Sequence[Parameter]:
    """Return the parameters that have a place; none where a call can have others."""
    known = signature.parameters if signature is not None else ()
    places = [p for p in known if p.kind in ("positional_only", "positional")]
    others = [p for p in known if p not in places and p.name not in ("out", "dtype", "layout", "device")]
    return () if others else [p for p in places if p.name != "out"]


def _parameter(parameter: Parameter) -> cst.Param:
    default = None if parameter.default is None else cst.parse_expression(parameter.default)
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    return cst.Param(cst.Name(parameter.name), default=default, equal=equal if default is not None else _NO_DEFAULT)
