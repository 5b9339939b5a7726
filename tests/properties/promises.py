"""What holds for every translated file, as checks that say where it does not."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterable

from torch2ms.diagnostics import Diagnostic, Severity

__all__ = ["comments", "lost_comments", "torch_imports", "unreported_imports"]

_GUARDED = re.compile(r"^try:  # only for what is marked TORCH2MS below$", re.MULTILINE)


def comments(text: str) -> Counter[str]:
    """Return every comment of a file and how often it occurs."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return Counter(token.string.rstrip() for token in tokens if token.type == tokenize.COMMENT)


def lost_comments(source: str, output: str) -> Counter[str]:
    """Return the comments of ``source`` that ``output`` lacks."""
    return comments(source) - comments(output)


def torch_imports(text: str, own: str = "") -> list[int]:
    """Return the lines of a file that import torch or torchvision, unless that is the project's ``own`` package."""
    found = []
    for node in ast.walk(ast.parse(text)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        found.extend(node.lineno for name in names if name.partition(".")[0] in {"torch", "torchvision"} - {own})
    return found


def unreported_imports(output: str, diagnostics: Iterable[Diagnostic]) -> list[int]:
    """Return the imports of torch that stay although nothing in the file was reported as left."""
    is_left = any(diagnostic.severity > Severity.NOTE for diagnostic in diagnostics)
    return [] if is_left else torch_imports(output)
