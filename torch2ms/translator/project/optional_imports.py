"""Imports in a ``try``: what never is, and what always is.

Packages that a file can do without, ``try: from apex import amp``, ``except ImportError: amp = None``: where they are
not, the program goes on without them; so does its translation, for which they never are. Names of PyTorch's, ``try:
from torch.amp import GradScaler``, ``except ImportError: class GradScaler: ...``, are there in the release that the
program is translated from: its handlers, for older ones, are never reached. Nor are branches for older releases:
``if torch.__version__ >= "1.8": from torch.fft import rfft``, ``else: def rfft(x): ...``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from torch2ms.mapping_tables.lookup import Tables
from torch2ms.translator.syntax.ast_walk import walk

if TYPE_CHECKING:
    from torch2ms.translator.project.symbol_table import SymbolTable

__all__ = ["imports_for_sure", "optional_imports", "version_branch"]

_OPTIONAL = frozenset({"apex"})  # packages with rows that programs commonly do without


def optional_imports(tree: ast.Module, imports: Iterable[tuple[int, str]]) -> frozenset[str]:
    """Return which of these imports, by packages, a file can do without: one that fails is caught, for good."""
    if not any(not level and name.partition(".")[0] in _OPTIONAL for level, name in imports):
        return frozenset()
    return frozenset(
        root
        for node in walk(tree)
        if isinstance(node, ast.Try) and not any(_gives_up(handler) for handler in node.handlers)
        for statement in node.body
        for root in _roots(statement)
        if root in _OPTIONAL
    )


def imports_for_sure(node: ast.Try, symbols: SymbolTable, tables: Tables, path: str) -> bool:
    """Whether a ``try`` only imports names of PyTorch's that can be translated, and notes down that they are there."""
    imports = [statement for statement in node.body if isinstance(statement, (ast.Import, ast.ImportFrom))]
    rest = [statement for statement in node.body if statement not in imports]
    noted = all(isinstance(s, ast.Pass) or (isinstance(s, ast.Assign) and _is_constant(s.value)) for s in rest)
    return bool(imports) and noted and all(_is_there(statement, symbols, tables, path) for statement in imports)


_RELEASE = (2, 13)  # the release of PyTorch that programs are translated from
_NUMBERS = re.compile(r"(\d+)\D+(\d+)")
_TURNED = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}


def version_branch(node: ast.If, name_of: Callable[[ast.expr], str]) -> list[ast.stmt] | None:
    """Return the branch that a comparison of PyTorch's release with another one takes; None for other tests.

    ``name_of`` tells what of PyTorch's an expression names.
    """
    test = node.test
    if not node.orelse or not isinstance(test, ast.Compare) or len(test.ops) > 1 or type(test.ops[0]) not in _TURNED:
        return None
    left, right, operator = test.left, test.comparators[0], type(test.ops[0])
    if _names_version(right, name_of):
        left, right, operator = right, left, _TURNED[operator]
    numbers = _NUMBERS.search(ast.unparse(right))
    if numbers is None or _names_version(right, name_of) or not _names_version(left, name_of):
        return None
    asked = (int(numbers[1]), int(numbers[2]))
    if asked >= _RELEASE:
        return None
    return node.body if operator in (ast.Gt, ast.GtE) else node.orelse


def _names_version(tree: ast.expr, name_of: Callable[[ast.expr], str]) -> bool:
    attributes = (part for part in walk(tree) if isinstance(part, ast.Attribute) and part.attr == "__version__")
    return any(name_of(part) == "torch.__version__" for part in attributes)


def _is_constant(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant)


def _is_there(statement: ast.Import | ast.ImportFrom, symbols: SymbolTable, tables: Tables, path: str) -> bool:
    if isinstance(statement, ast.Import):
        names = [alias.name for alias in statement.names]
        return all(symbols.is_torch(path, name) and tables.is_module(name) for name in names)
    module = statement.module or ""
    if not symbols.is_torch(path, module, statement.level):
        return False
    rows = [tables.row(tables.canonical(f"{module}.{alias.name}")) for alias in statement.names]
    return all(row is not None and bool(row.to) for row in rows)


def _gives_up(handler: ast.ExceptHandler) -> bool:
    return any(isinstance(node, ast.Raise) for node in walk(handler))


def _roots(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.Import):
        yield from (alias.name.partition(".")[0] for alias in statement.names)
    elif isinstance(statement, ast.ImportFrom) and not statement.level:
        yield (statement.module or "").partition(".")[0]
