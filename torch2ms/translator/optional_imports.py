"""Packages that a file can do without: ``try: from apex import amp``, ``except ImportError: amp = None``.

Where they are not, the program goes on without them; so does its translation, for which they never are.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torch2ms.translator.trees import walk

__all__ = ["optional_imports"]

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


def _gives_up(handler: ast.ExceptHandler) -> bool:
    return any(isinstance(node, ast.Raise) for node in walk(handler))


def _roots(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.Import):
        yield from (alias.name.partition(".")[0] for alias in statement.names)
    elif isinstance(statement, ast.ImportFrom) and not statement.level:
        yield (statement.module or "").partition(".")[0]
