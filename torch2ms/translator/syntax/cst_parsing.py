"""The lossless tree of a file, parsed in parts.

While it parses, libcst holds about eight times the memory of the tree it returns. What it needs for one part goes to
the next, so that a file of five thousand lines takes little more room than its tree.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from typing import Any

import libcst as cst

__all__ = ["parse_concrete"]

LINES_OF_PART = 400  # at least, but for the last; a definition at the top level is never cut
_END = "pass\n"  # stands for the next part's first statement, and takes the comments before it


def parse_concrete(text: str, tree: ast.Module) -> cst.Module:
    """Return what ``libcst.parse_module(text)`` returns; ``tree`` is the ``ast`` tree of the text."""
    starts = list(_starts(text, tree))
    if not starts:
        return _unchecked(text)
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    indent = _indentation(text)
    body: list[Any] = []
    first: cst.Module | None = None
    leading: Any = ()
    for start, end in zip([1, *starts], [*starts, len(lines) + 1], strict=True):
        last = end > len(lines)
        part = _parse("".join(lines[start - 1 : end - 1]) + ("" if last else _END), "" if start == 1 else indent)
        statements = list(part.body)
        if start > 1:
            statements[0] = statements[0].with_changes(leading_lines=leading)
        if not last:
            leading = statements.pop().leading_lines
        body += statements
        first = first or part
    assert first is not None
    return part.with_changes(body=body, header=first.header, default_indent=indent or part.default_indent)


def _parse(text: str, indent: str) -> cst.Module:
    """Return the tree of a part of a file whose blocks are indented by ``indent``."""
    if not indent:
        return _unchecked(text)
    # libcst takes the first indentation that it meets for the usual one, and notes at each block only what differs.
    module = _unchecked(f"if 0:\n{indent}pass\n{text}")
    return module.with_changes(body=module.body[1:])


def _unchecked(text: str) -> cst.Module:
    """Return the tree of a text; its nodes, valid because the parser made them, are not checked one by one."""
    check = cst.CSTNode.__post_init__
    cst.CSTNode.__post_init__ = lambda self: None  # type: ignore[method-assign]
    try:
        return cst.parse_module(text)
    finally:
        cst.CSTNode.__post_init__ = check  # type: ignore[method-assign]


def _starts(text: str, tree: ast.Module) -> Iterator[int]:
    """Yield the lines (from 1) at which parts but the first start."""
    lines: list[str] = []
    begun, before = 1, 0
    for statement in tree.body:
        line = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", ()))])
        if line - begun >= LINES_OF_PART and line > before and statement.col_offset == 0:
            lines = lines or text.split("\n")
            if not lines[line - 2].endswith("\\"):
                yield line
                begun = line
        before = statement.end_lineno or line


def _indentation(text: str) -> str:
    """Return the first indentation of a file, or "" when it has none."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.INDENT:
            return token.string
    return ""
