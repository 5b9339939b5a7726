"""Conditions that are settled in MindSpore: ``torch.jit.is_scripting()`` is False there, whoever asks.

The branch that never runs goes, and the other one moves out; what has a comment in it stays as it is.
"""

from __future__ import annotations

import ast
import re
from typing import TypeVar

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.syntax.cst_builders import code_of

__all__ = ["settled", "settled_negation", "settled_value", "with_simple_test"]

_Tested = TypeVar("_Tested", cst.If, cst.While)


def settled(
    node: cst.If, updated: cst.If, tree: ast.If, ctx: Context
) -> cst.If | cst.FlattenSentinel[cst.BaseStatement]:
    """Return what is left of a conditional whose test became True or False; one that has nothing left is dropped."""
    test = _simple(node.test, updated.test)
    if test is updated.test and not _is(test, "True", "False"):
        return updated
    updated = updated.with_changes(test=test)
    if not _is(test, "True", "False") or _is(node.test, "True", "False"):
        return updated
    runs, never = (updated.body, updated.orelse) if _is(test, "True") else (updated.orelse, updated.body)
    if never is not None and re.search(r"#|\byield\b", code_of(never)):  # a yield makes its function a generator
        return updated
    block = runs.body if isinstance(runs, cst.Else) else runs
    if isinstance(block, cst.IndentedBlock) and _has_loose_comments(runs, block):
        return updated
    if never is not None:
        ctx.report("T2M304", tree, f"the branch was dropped that MindSpore never takes: {ast.unparse(tree.test)}")
    if block is None:
        ctx.frame.drop = True
        return updated
    if isinstance(block, cst.If):  # an ``elif``
        return block.with_changes(leading_lines=[*updated.leading_lines, *block.leading_lines])
    if isinstance(block, cst.SimpleStatementSuite):
        inner: list[cst.BaseStatement] = [
            cst.SimpleStatementLine(block.body, trailing_whitespace=block.trailing_whitespace)
        ]
    else:
        inner = [statement for statement in block.body if isinstance(statement, cst.BaseStatement)]
    first, *rest = inner
    lines = [*updated.leading_lines, *getattr(first, "leading_lines", ())]
    return cst.FlattenSentinel([first.with_changes(leading_lines=lines), *rest])


def with_simple_test(node: _Tested, updated: _Tested) -> _Tested:
    """Return an ``elif``, or a loop, whose test has no constants that came into it."""
    test = _simple(node.test, updated.test)
    return updated if test is updated.test else updated.with_changes(test=test)


def settled_negation(node: cst.UnaryOperation, updated: cst.UnaryOperation) -> cst.BaseExpression:
    """Return what ``not`` gives of an answer that became True or False."""
    return _simple(node, updated)


def settled_value(node: cst.IfExp, updated: cst.IfExp) -> cst.BaseExpression:
    """Return the value of a conditional expression whose test became True or False."""
    test = _simple(node.test, updated.test)
    if not _is(test, "True", "False") or _is(node.test, "True", "False"):
        return updated if test is updated.test else updated.with_changes(test=test)
    return updated.body if _is(test, "True") else updated.orelse


def _simple(before: cst.BaseExpression, test: cst.BaseExpression) -> cst.BaseExpression:
    """Return a test without the constants that came into it: ``x and not False`` is ``x``."""
    if before is test:
        return test
    made = _simplified(before, test)
    return test if made is not test and "#" in code_of(test) else made


def _simplified(before: cst.BaseExpression, test: cst.BaseExpression) -> cst.BaseExpression:
    if isinstance(test, cst.UnaryOperation) and isinstance(before, cst.UnaryOperation):
        # An operand that is a negation itself was simplified when it was left.
        is_left = isinstance(before.expression, cst.UnaryOperation)
        inner = test.expression if is_left else _simple(before.expression, test.expression)
        if isinstance(test.operator, cst.Not) and inner is not before.expression and _is(inner, "True", "False"):
            return cst.Name("False" if _is(inner, "True") else "True")
    if not isinstance(test, cst.BooleanOperation) or not isinstance(before, cst.BooleanOperation):
        return test
    left, right = _simple(before.left, test.left), _simple(before.right, test.right)
    passes, settles = ("True", "False") if isinstance(test.operator, cst.And) else ("False", "True")
    if left is not before.left and _is(left, passes):
        return _in_place_of(test, right)
    if right is not before.right and _is(right, passes):
        return _in_place_of(test, left)
    if left is not before.left and _is(left, settles):
        return left
    return test


def _in_place_of(whole: cst.BooleanOperation, part: cst.BaseExpression) -> cst.BaseExpression:
    """Return what is left of a condition, in its brackets where they hold several lines together."""
    if not whole.lpar or part.lpar or "\n" not in code_of(part):
        return part
    return part.with_changes(lpar=whole.lpar, rpar=whole.rpar)


def _is(test: cst.BaseExpression, *names: str) -> bool:
    return isinstance(test, cst.Name) and test.value in names


def _has_loose_comments(runs: cst.CSTNode | None, block: cst.IndentedBlock) -> bool:
    """Whether comments stand where no statement takes them along: beside ``if``, ``else``, and behind the block."""
    around = [*block.footer, *getattr(runs, "leading_lines", ())]
    return block.header.comment is not None or any(line.comment is not None for line in around)
