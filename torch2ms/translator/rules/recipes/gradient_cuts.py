"""Casts of floats to integers and booleans: torch's gradient ends there, MindSpore's goes through the cast.

``x - x.long()`` has the gradient 1 in torch and 0 in MindSpore (seen in 2.8 to 2.10, with ``astype``, ``int``, ``bool``
and ``ops.cast``). ``ops.stop_gradient`` in front of the cast says what torch does. It stands only where ``x`` may carry
a gradient and the integers may come back to floats: an index, a mask or a label brings none back.
"""

from __future__ import annotations

import ast
import re

import libcst as cst

from torch2ms.mapping_tables.facts import load_facts
from torch2ms.translator.context import Context
from torch2ms.translator.effects.gradient_state import requires_grad
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.syntax.cst_builders import build
from torch2ms.translator.values.dtypes import family

__all__ = ["cut_from_floats"]

# Arguments and members that bring nothing back to floats
_TAKERS = frozenset(
    """embedding one_hot cross_entropy nll_loss gather take take_along_dim index_select index_add index_fill index_copy
    scatter scatter_ scatter_add scatter_add_ masked_fill masked_fill_ masked_select where bincount searchsorted range
    len print bool int str repr float isinstance format append_metric accuracy eq ne equal isin append""".split()
)
_TAKING = re.compile(r"torch\.nn\.(Embedding|EmbeddingBag|CrossEntropyLoss|NLLLoss|NLLLoss2d)")
_WHOLE = ("int", "bool")


def cut_from_floats(
    code: cst.BaseExpression, given: ast.expr | None, cast: ast.expr, ctx: Context
) -> cst.BaseExpression:
    """Return what is cast to integers or booleans, cut off where a gradient would go through the cast.

    ``code`` and ``given`` are what is cast, ``cast`` is the expression that casts it.
    """
    if given is None or not _may_carry(given, ctx) or _is_harmless(cast, ctx, set()):
        return code
    return build("{stop}({x})", stop=ctx.reference("mindspore.ops.stop_gradient"), x=code)


def _may_carry(tree: ast.expr, ctx: Context) -> bool:
    """Whether a tensor may have a gradient: no integers, steps or labels, nothing that torch does not record."""
    kind = ctx.kind(tree)
    if family(kind.of) in _WHOLE or isinstance(tree, (ast.Compare, ast.BoolOp, ast.Constant)):
        return False
    if isinstance(tree, ast.Attribute) and tree.attr == "data":
        return False
    if isinstance(tree, ast.Subscript):
        return _may_carry(tree.value, ctx)
    if isinstance(tree, ast.Call):
        function = tree.func
        called = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if not load_facts().has_gradient(called):
            return False
        if _keeps_form(called) and isinstance(function, ast.Attribute):
            of_torch = ctx.kind(function).name == "api" and tree.args
            return _may_carry(tree.args[0] if of_torch else function.value, ctx)
    return requires_grad(tree, ctx) is not False


def _is_harmless(node: ast.expr, ctx: Context, seen: set[str]) -> bool:
    """Whether integers or booleans go where no gradient comes back from."""
    parent = ctx.parent(node)
    if isinstance(parent, (ast.Compare, ast.Expr, ast.FormattedValue, ast.BoolOp, ast.If, ast.While, ast.Assert)):
        return True
    if isinstance(parent, ast.IfExp):
        return parent.test is node or _is_harmless(parent, ctx, seen)
    if isinstance(parent, ast.Subscript):
        return parent.slice is node or _is_harmless(parent, ctx, seen)
    if isinstance(parent, (ast.Tuple, ast.Slice)):
        above = ctx.parent(parent)
        return isinstance(above, (ast.Subscript, ast.Tuple)) and _is_harmless(parent, ctx, seen)
    if isinstance(parent, ast.Attribute):
        return _is_member_harmless(parent, ctx, seen)
    if isinstance(parent, (ast.BinOp, ast.UnaryOp)):
        return _is_operator_harmless(parent, ctx, seen)
    if isinstance(parent, ast.keyword):
        parent = ctx.parent(parent)
    if isinstance(parent, ast.Call):
        return _takes(parent, ctx)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        return _is_name_harmless(parent.targets[0].id, ctx, seen)
    return False


def _is_member_harmless(member: ast.Attribute, ctx: Context, seen: set[str]) -> bool:
    call = ctx.parent(member)
    if not load_facts().has_gradient(member.attr):
        return True
    if not isinstance(call, ast.Call) or call.func is not member:
        return False
    whole = family(ctx.kind(call).of) in _WHOLE
    keeps = _keeps_form(member.attr) and not load_facts().may_cast(member.attr)
    return (whole or keeps) and _is_harmless(call, ctx, seen)


def _keeps_form(called: str) -> bool:
    """Whether an operation gives the numbers of its input, or bounds them: its input alone tells of gradients."""
    return load_facts().may_share(called) or load_facts().has_axes(called, "same")


def _is_operator_harmless(tree: ast.BinOp | ast.UnaryOp, ctx: Context, seen: set[str]) -> bool:
    if isinstance(getattr(tree, "op", None), (ast.Not, ast.Invert, ast.BitAnd, ast.BitOr, ast.BitXor)):
        return True
    return family(ctx.kind(tree).of) in _WHOLE and _is_harmless(tree, ctx, seen)


def _takes(call: ast.Call, ctx: Context) -> bool:
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    kind = ctx.kind(function)
    return name in _TAKERS or (kind.name == "Module" and _TAKING.fullmatch(kind.of) is not None)


def _is_name_harmless(name: str, ctx: Context, seen: set[str]) -> bool:
    """Whether all that a function reads of a name is harmless."""
    if name in seen:
        return True
    function = ctx.functions[-1]
    body: ast.AST = function.node if function is not None else ctx.analysis.tree
    reads = [n for n in walk(body) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
    return all(_is_harmless(read, ctx, {*seen, name}) for read in reads)
