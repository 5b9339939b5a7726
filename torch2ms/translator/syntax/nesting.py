"""Nested code: translating takes more frames than Python allows by itself; what is too deep is told with its line."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from torch2ms.translator.syntax.ast_walk import children

__all__ = ["deepest", "many_frames"]

# Python 3.11 and later take no room on the stack for a call of Python code by Python code.
_FRAMES = 20_000 if sys.version_info >= (3, 11) else 6_000


@contextmanager
def many_frames() -> Iterator[None]:
    """Allow the calls that the deepest code takes which Python itself parses."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def deepest(tree: ast.AST) -> tuple[int, int]:
    """Return the line of the node nested deepest, and how deep it is."""
    line, depth = 1, 0
    level = [tree]
    while level:
        line = next((node.lineno for node in level if hasattr(node, "lineno")), line)
        level = [child for node in level for child in children(node)]
        depth += 1
    return line, depth
