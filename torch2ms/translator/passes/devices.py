"""Contexts: ``with torch.no_grad():`` and its relatives."""

from __future__ import annotations

import ast
from typing import TypeVar

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.recipes.contexts import PLAIN_CONTEXT

_Definition = TypeVar("_Definition", cst.FunctionDef, cst.ClassDef)

__all__ = ["drop_decorators", "rewrite_with"]


def rewrite_with(
    node: cst.With, updated: cst.With, tree: ast.With, ctx: Context
) -> cst.With | cst.FlattenSentinel[cst.BaseStatement]:
    """Return a ``with`` statement; contexts that MindSpore has no need of go, and their block moves out."""
    kept = [item for item in updated.items if item.item is not PLAIN_CONTEXT]
    if len(kept) == len(updated.items):
        return updated
    if kept:
        kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return updated.with_changes(items=kept)
    return unwrap(updated, ctx)


def unwrap(node: cst.With, ctx: Context) -> cst.With | cst.FlattenSentinel[cst.BaseStatement]:
    """Move the block of a ``with`` out of it."""
    body = node.body
    if isinstance(body, cst.SimpleStatementSuite):
        inner: list[cst.BaseStatement] = [cst.SimpleStatementLine(body.body)]
    else:
        inner = list(body.body)  # type: ignore[arg-type]
        footer = [line for line in body.footer if line.comment] if isinstance(body, cst.IndentedBlock) else []
        if footer:
            inner.append(cst.SimpleStatementLine([], leading_lines=footer))  # an empty one: what follows takes them
    first = inner[0]
    lines = [*node.leading_lines, *first.leading_lines]  # type: ignore[attr-defined]
    if isinstance(body, cst.IndentedBlock) and body.header.comment is not None:
        lines.insert(len(node.leading_lines), cst.EmptyLine(comment=body.header.comment))
    inner[0] = first.with_changes(leading_lines=lines)
    return cst.FlattenSentinel(inner)


def drop_decorators(updated: _Definition) -> _Definition:
    """Return a function or class without the decorators that go."""
    kept: list[cst.Decorator] = [item for item in updated.decorators if item.decorator is not PLAIN_CONTEXT]
    if len(kept) == len(updated.decorators):
        return updated
    gone = [item for item in updated.decorators if item.decorator is PLAIN_CONTEXT]
    lines: list[cst.EmptyLine] = [line for item in gone for line in item.leading_lines if line.comment]
    lines.extend(cst.EmptyLine(comment=c) for item in gone if (c := item.trailing_whitespace.comment) is not None)
    if not kept:
        lines = [*updated.leading_lines, *lines, *updated.lines_after_decorators]
        return updated.with_changes(decorators=[], lines_after_decorators=[], leading_lines=lines)
    kept[0] = kept[0].with_changes(leading_lines=[*lines, *kept[0].leading_lines])
    return updated.with_changes(decorators=kept)
