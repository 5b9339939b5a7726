"""Where a program starts to record its operations: the statements that ``recording.start()`` stands in front of.

The forward pass of a recorded step may stand anywhere in a script: it starts the record with its first statement, or
in its ``if __name__ == "__main__":``. What other files import must not start anything when it is imported: its
functions start the record when they are called, if the loss is computed in them. A function that is handed the loss
leaves it to the script (:func:`torch2ms.translator.effects.loss_arguments.differentiates`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from torch2ms.translator.effects.reads_and_writes import base_path, dotted_path, root
from torch2ms.translator.syntax.names import is_torch_name

__all__ = ["record_starts", "script_start"]

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Asked = tuple[ast.AST, ast.expr]  # a call that asks the record, and the loss it asks about


def record_starts(
    asked: Iterable[Asked], tree: ast.Module, parent: Callable[[ast.AST], ast.AST | None], *, imported: bool
) -> Iterator[ast.stmt]:
    """Yield the statements in front of which a file starts the record that its calls ask."""
    in_functions = False
    for call, loss in asked:
        function = _outermost(call, parent)
        if function is None:
            yield from script_start(tree)
            continue
        in_functions = True
        if (imported or not _runs(tree)) and not _is_given(loss, function):
            yield from _first(function.body)
    if in_functions and (not imported or _guard(tree) is not None) and _runs(tree):
        yield from script_start(tree)


def script_start(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the first statement that a file executes as a script: in its guard, where it has one."""
    guard = _guard(tree)
    if guard is not None:
        yield guard.body[0]
        return
    imports = [place for place, statement in enumerate(tree.body) if _imports_torch(statement)]
    later = tree.body[imports[0] if imports else 0 :]
    yield from _first([s for s in later if not isinstance(s, _DEFINITIONS) and not _is_setting(s)])


def _guard(tree: ast.Module) -> ast.If | None:
    """Return ``if __name__ == "__main__":``."""
    found = (s for s in tree.body if isinstance(s, ast.If) and isinstance(s.test, ast.Compare))
    return next((s for s in found if dotted_path(s.test.left) == "__name__"), None)  # type: ignore[attr-defined]


def _imports_torch(statement: ast.stmt) -> bool:
    """Whether a statement imports PyTorch: what the translation imports takes its place."""
    if isinstance(statement, ast.ImportFrom):
        return not statement.level and is_torch_name(statement.module or "")
    return isinstance(statement, ast.Import) and any(is_torch_name(alias.name) for alias in statement.names)


def _is_setting(statement: ast.stmt) -> bool:
    """Whether a statement only names a number or a text."""
    return isinstance(statement, (ast.Assign, ast.AnnAssign)) and isinstance(statement.value, ast.Constant)


def _runs(tree: ast.Module) -> bool:
    """Whether a file does anything but define names: a script, no part of a library."""
    rest = (s for s in tree.body if not isinstance(s, (*_DEFINITIONS, ast.Assign, ast.AnnAssign)))
    return any(not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)) for s in rest)


def _first(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the first statement of a block behind its docstring, if there is one."""
    return [s for s in body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))][:1]


def _outermost(node: ast.AST, parent: Callable[[ast.AST], ast.AST | None]) -> ast.FunctionDef | None:
    """Return the function of the file, or the method of one of its classes, that a node stands in."""
    found: ast.AST | None = None
    current: ast.AST | None = node
    while current is not None:
        found = current if isinstance(current, _FUNCTIONS) else found
        current = parent(current)
    return found  # type: ignore[return-value]


def _is_given(loss: ast.expr, function: ast.FunctionDef) -> bool:
    """Whether a loss is a parameter of a function that the function never binds anew."""
    name = root(base_path(loss) or "")
    arguments = function.args
    names = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)} - {"self"}
    bound = (n.id for n in ast.walk(function) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load))
    return name in names and name not in bound
