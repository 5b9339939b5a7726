"""Comments and blank lines of statements that are replaced, moved or taken away."""

from __future__ import annotations

from typing import Any

import libcst as cst

__all__ = ["comments", "like", "spaced", "without_blank", "without_lines"]

Statement = Any  # a libcst statement; blocks hold simple and compound ones alike


def comments(updated: list[Statement]) -> list[Statement]:
    """Return an empty statement with the comments of statements that go."""
    lines = [line for s in updated for line in s.leading_lines if line.comment is not None]
    for statement in updated:
        trailing = getattr(statement, "trailing_whitespace", None)
        if trailing is not None and trailing.comment is not None:
            lines.append(cst.EmptyLine(comment=trailing.comment))
    lines = [line for line in lines if not line.comment.value.startswith("# TORCH2MS")]
    return [cst.SimpleStatementLine([], leading_lines=lines)] if lines else []


def like(new: list[Statement], old: list[Statement]) -> list[Statement]:
    """Give new statements the lines and the trailing comment of the one they replace."""
    if not old:
        return new
    lines = [x for x in old[0].leading_lines if not (x.comment and x.comment.value.startswith("# TORCH2MS"))]
    first = new[0].with_changes(leading_lines=lines)
    trailing = getattr(old[-1], "trailing_whitespace", None)
    if len(new) == 1 and isinstance(first, cst.SimpleStatementLine) and trailing is not None:
        first = first.with_changes(trailing_whitespace=trailing)
    return [first, *new[1:]]


def without_lines(statements: list[Statement]) -> list[Statement]:
    """Return statements without the lines in front of them, which stand in front of what precedes them now."""
    return [statements[0].with_changes(leading_lines=[]), *statements[1:]]


def spaced(statement: Statement, count: int) -> Statement:
    """Return a statement with blank lines in front, unless it has some."""
    lines = list(statement.leading_lines)
    if lines and lines[0].comment is None:
        return statement
    return statement.with_changes(leading_lines=[*(cst.EmptyLine(indent=False) for _ in range(count)), *lines])


def without_blank(statement: Statement) -> Statement:
    """Return a statement without the blank lines in front of it."""
    lines = list(statement.leading_lines)
    while lines and lines[0].comment is None:
        lines.pop(0)
    return statement.with_changes(leading_lines=lines)
