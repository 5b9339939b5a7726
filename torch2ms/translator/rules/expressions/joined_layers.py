"""Containers of layers that are joined and repeated: ``first + second``, ``blocks += more``, ``block * 3``.

MindSpore's SequentialCell has none of these operators, its CellList only ``+=`` of a list.
"""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.syntax.cst_builders import bare, build
from torch2ms.translator.values.kinds import Kind

__all__ = ["extended", "joined"]

_SEQUENTIAL, _LIST = "torch.nn.Sequential", "torch.nn.ModuleList"


def _is(kind: Kind, name: str) -> bool:
    return kind.name == "Module" and kind.of == name


def joined(updated: cst.BinaryOperation, tree: ast.BinOp, ctx: Context) -> cst.BaseExpression | None:
    """Return what ``a + b`` and ``a * 2`` of containers become: a new one of the same layers; None for all else."""
    left, right = ctx.kind(tree.left), ctx.kind(tree.right)
    if isinstance(tree.op, ast.Add):
        if _is(left, _SEQUENTIAL) and _is(right, _SEQUENTIAL):
            chain = ctx.reference("mindspore.nn.SequentialCell")
            return build("{chain}(*{left}, *{right})", chain=chain, left=updated.left, right=updated.right)
        if _is(left, _LIST) and right.name in ("Module", "list"):
            cells = ctx.reference("mindspore.nn.CellList")
            return build("{cells}([*{left}, *{right}])", cells=cells, left=updated.left, right=updated.right)
    if isinstance(tree.op, ast.Mult):
        for whole, count, code, times in (
            (left, right, updated.left, updated.right),
            (right, left, updated.right, updated.left),
        ):
            if _is(whole, _SEQUENTIAL) and count.name == "int":
                chain = ctx.reference("mindspore.nn.SequentialCell")
                return build("{chain}(*list({x}) * {n})", chain=chain, x=bare(code), n=times)
    return None


def extended(node: cst.AugAssign, tree: ast.AugAssign, ctx: Context) -> cst.Expr | None:
    """Return ``modules.extend(a, b)`` for ``a += b`` where a container takes up the layers of another one."""
    kind = ctx.kind(tree.target)
    if not isinstance(tree.op, ast.Add) or not isinstance(tree.target, (ast.Name, ast.Attribute)):
        return None
    is_plain = _is(kind, _LIST) and ctx.kind(tree.value).name == "list"  # CellList takes a list as it is
    if is_plain or not (_is(kind, _SEQUENTIAL) or _is(kind, _LIST)):
        return None
    function = ctx.reference("torch2ms.runtime.modules.extend")
    return cst.Expr(build("{f}({x}, {more})", f=function, x=node.target.deep_clone(), more=bare(node.value)))
