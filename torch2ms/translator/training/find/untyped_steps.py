"""Which untyped ``x.step()`` takes an optimizer's step? The first one behind a backward call."""

from __future__ import annotations

import ast

from torch2ms.translator.syntax.ast_walk import children
from torch2ms.translator.training.find.scope import Scope
from torch2ms.translator.values.kinds import Oracle
from torch2ms.translator.values.use_evidence import FileUses, is_optimizer, is_schedule, place_of

__all__ = ["first_steps", "own_expressions"]

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_STATEMENTS = (ast.stmt, ast.ExceptHandler, ast.match_case)


def own_expressions(statement: ast.stmt, scope: Scope) -> list[ast.AST]:
    """Return every node that belongs to the statement itself: none of its child statements, definitions or lambdas."""
    if statement in scope.expressions:
        return scope.expressions[statement]
    found: list[ast.AST] = []
    scope.expressions[statement] = found
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        found.append(node)
        if isinstance(node, _DEFINITIONS):
            continue
        pending += [child for child in children(node) if not isinstance(child, _STATEMENTS)]
    return found


def first_steps(scope: Scope, oracle: Oracle, found: FileUses) -> frozenset[int]:
    """Return the ids of the first untyped steps behind each backward call, where no known optimizer steps.

    A schedule steps behind its optimizer, so that the first step is none of a schedule's.
    """
    chosen: set[int] = set()
    first: ast.Call | None = None
    is_open = False
    for statement in scope.statements:
        calls = [node for node in own_expressions(statement, scope) if isinstance(node, ast.Call)]
        for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
            func = call.func
            if not isinstance(func, ast.Attribute) or func.attr not in ("backward", "step"):
                continue
            if func.attr == "backward":
                chosen |= {id(first)} if first is not None else set()
                first, is_open = None, True
            elif is_open and _is_known(func, oracle, found):
                first, is_open = None, False
            elif is_open and first is None and _may_step(statement, call, func, oracle, found):
                first = call
    return frozenset(chosen | ({id(first)} if first is not None else set()))


def _is_known(func: ast.Attribute, oracle: Oracle, found: FileUses) -> bool:
    kind = oracle.kind(func.value).name
    return kind in ("Optimizer", "GradScaler") or is_optimizer(found.of(func.value))


def _may_step(statement: ast.stmt, call: ast.Call, func: ast.Attribute, oracle: Oracle, found: FileUses) -> bool:
    alone = isinstance(statement, ast.Expr) and statement.value is call
    is_unknown = oracle.kind(func.value).name == "unknown" and not is_schedule(found.of(func.value))
    return alone and is_unknown and bool(place_of(func.value)) and not call.args and not call.keywords
