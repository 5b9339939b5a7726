"""Statements that only chose devices or contexts: ``with torch.no_grad():``, ``if use_cuda:`` before a move."""

from __future__ import annotations

import ast
from typing import TypeVar

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.rules.recipes.contexts import PLAIN_CONTEXT
from torch2ms.translator.rules.statements.comment_lines import spaced
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.syntax.cst_builders import code_of

_Definition = TypeVar("_Definition", cst.FunctionDef, cst.ClassDef)

__all__ = ["drop_decorators", "is_emptied", "rewrite_if", "rewrite_with", "tries_nothing"]

_ASKED = ("torch.cuda.", "torch.backends.", "torch.accelerator.", "torch.mps.", "torch.distributed.is_")


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
    return unwrap(updated, tree, ctx)


def unwrap(node: cst.With, tree: ast.With, ctx: Context) -> cst.With | cst.FlattenSentinel[cst.BaseStatement]:
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
    if isinstance(first, cst.FunctionDef) and getattr(ctx.parent(tree), "body", [tree])[0] is not tree:
        inner[0] = spaced(inner[0], 1)  # the function of a training step, which stood first in the block
    return cst.FlattenSentinel(inner)


def rewrite_if(node: cst.If, updated: cst.If) -> cst.If:
    """Return a conditional without an ``else`` that has nothing left to do."""
    last = updated.orelse
    before = node.orelse
    if isinstance(last, cst.Else) and isinstance(before, cst.Else) and _lost_all(before.body, last.body):
        return updated if "#" in code_of(last) else updated.with_changes(orelse=None)
    return updated


_PLAIN = (cst.Name, cst.Attribute, cst.BooleanOperation, cst.UnaryOperation, cst.Comparison, cst.Integer)


def one_branch(node: cst.If, updated: cst.If) -> cst.If | cst.FlattenSentinel[cst.BaseStatement]:
    """Return the block of a conditional whose two branches have become the same, and which asks names alone.

    ``if self.use_checkpoint: x = checkpoint(block, x)`` and ``else: x = block(x)`` only differ in memory.
    """
    if updated is node:
        return updated
    last, before = updated.orelse, node.orelse
    if not isinstance(last, cst.Else) or not isinstance(before, cst.Else) or not _asks_names(updated.test):
        return updated
    if not updated.body.deep_equals(last.body) or node.body.deep_equals(before.body):
        return updated
    if not isinstance(updated.body, cst.IndentedBlock) or "#" in code_of(updated.with_changes(leading_lines=[])):
        return updated
    first, *rest = updated.body.body
    lines = [*updated.leading_lines, *getattr(first, "leading_lines", ())]
    return cst.FlattenSentinel([first.with_changes(leading_lines=lines), *rest])


def one_value(node: cst.IfExp, updated: cst.BaseExpression) -> cst.BaseExpression:
    """Return the value of a conditional expression whose two values have become the same."""
    if updated is node or not isinstance(updated, cst.IfExp):
        return updated
    same = updated.body.deep_equals(updated.orelse) and not node.body.deep_equals(node.orelse)
    return updated.body if same and _asks_names(updated.test) else updated


def _asks_names(test: cst.BaseExpression) -> bool:
    parts: list[cst.CSTNode] = [test]
    while parts:
        part = parts.pop()
        if isinstance(part, cst.BaseExpression) and not isinstance(part, _PLAIN):
            return False
        parts.extend(part.children)
    return True


def is_emptied(node: cst.If, updated: cst.If, tree: ast.If, ctx: Context) -> bool:
    """Whether a conditional lost all it does, and asks nothing but names, numbers and which devices there are."""
    if updated.orelse is not None or not _lost_all(node.body, updated.body):
        return False
    for part in walk(tree.test):
        if isinstance(part, (ast.NamedExpr, ast.Await)):
            return False
        if isinstance(part, ast.Call):
            kind = ctx.kind(part.func)
            builtin = isinstance(part.func, ast.Name) and part.func.id in ("len", "isinstance", "hasattr")
            if not builtin and not (kind.name == "api" and kind.of.startswith(_ASKED)):
                return False
    return "#" not in code_of(updated.with_changes(leading_lines=[]))


def goes_over_nothing(node: cst.For, updated: cst.For, tree: ast.For, ctx: Context) -> bool:
    """Whether a loop lost all it did (``for k in b: b[k] = b[k].to(device)``), and nobody reads its names."""
    moves = all(isinstance(statement, ast.Assign) for statement in tree.body)
    if not moves or updated.orelse is not None or not _lost_all(node.body, updated.body):
        return False
    if "#" in code_of(updated.with_changes(leading_lines=[])):
        return False
    over = tree.iter
    if isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute) and over.func.attr in ("keys", "items"):
        over = over.func.value
    elif isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and over.func.id in ("range", "enumerate"):
        calls = [part for argument in over.args for part in walk(argument) if isinstance(part, ast.Call)]
        return all(getattr(call.func, "id", "") == "len" for call in calls) and not _read_behind(tree, ctx)
    return isinstance(over, (ast.Name, ast.Attribute)) and not _read_behind(tree, ctx)


def _read_behind(loop: ast.For, ctx: Context) -> bool:
    """Whether a name that a loop binds is read further down in its function, or in its file."""
    bound = {part.id for part in walk(loop.target) if isinstance(part, ast.Name)}
    function = ctx.functions[-1]
    scope = function.node if function is not None else ctx.analysis.tree
    names = (part for part in walk(scope) if isinstance(part, ast.Name) and part.id in bound)
    return any(isinstance(name.ctx, ast.Load) and name.lineno > (loop.end_lineno or 0) for name in names)


def tries_nothing(node: cst.Try, updated: cst.Try) -> bool:
    """Whether nothing is left that could fail: what a handler imports from elsewhere is not needed either."""
    if updated.orelse is not None or updated.finalbody is not None or not _lost_all(node.body, updated.body):
        return False
    return "#" not in code_of(updated.with_changes(leading_lines=[]))


def _lost_all(before: cst.BaseSuite, after: cst.BaseSuite) -> bool:
    """Whether a block had statements, and has none left."""
    return after is not before and _is_pass(after) and not _is_pass(before)


def _is_pass(block: cst.BaseSuite) -> bool:
    lines = block.body if isinstance(block, cst.IndentedBlock) else [block]
    simple = (cst.SimpleStatementLine, cst.SimpleStatementSuite)
    return all(isinstance(line, simple) and all(isinstance(part, cst.Pass) for part in line.body) for line in lines)


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
