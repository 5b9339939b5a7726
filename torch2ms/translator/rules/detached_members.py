"""Members of a tuple or list that a loop cuts from what computed them: ``for s in state: s.detach_()``.

MindSpore cuts by computing a new tensor, which the tuple would not hold: the name is bound to a tuple of such instead.
"""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.syntax.cst_builders import comments, parse_expression

__all__ = ["detached_members", "detaches_members"]


def detaches_members(tree: ast.AST | None, ctx: Context) -> bool:
    """Whether a loop does nothing but ``s.detach_()`` with the members of what a name holds."""
    if not isinstance(tree, ast.For) or tree.orelse or len(tree.body) != 1 or not isinstance(tree.iter, ast.Name):
        return False
    call = tree.body[0].value if isinstance(tree.body[0], ast.Expr) else None
    if not isinstance(call, ast.Call) or call.args or not isinstance(tree.target, ast.Name):
        return False
    held = ctx.kind(tree.iter)
    if held.name not in ("unknown", "tuple", "list") or any(item.name == "Parameter" for item in held.items):
        return False
    return ast.unparse(call.func) == f"{tree.target.id}.detach_"


def detached_members(updated: cst.For, tree: ast.For | ast.AsyncFor, ctx: Context) -> cst.BaseStatement:
    """Return ``state = type(state)(ops.stop_gradient(s) for s in state)``."""
    line = updated.body.body[0] if isinstance(updated.body, cst.IndentedBlock) else updated.body
    made = line.body[0] if isinstance(line, (cst.SimpleStatementLine, cst.SimpleStatementSuite)) else None
    if not detaches_members(tree, ctx) or not isinstance(made, cst.Assign):
        return updated
    assert isinstance(tree.iter, ast.Name)
    name, member = tree.iter.id, ast.unparse(tree.target)
    kind = ctx.kind(tree.iter).name
    maker = kind if kind in ("tuple", "list") else f"type({name})"
    source = cst.Module([]).code_for_node(made.value)
    value = parse_expression(f"{maker}({source} for {member} in {name})")
    bound = cst.Assign([cst.AssignTarget(cst.Name(name))], value)
    inside = [cst.EmptyLine(comment=comment) for comment in comments(updated.body)]
    return cst.SimpleStatementLine([bound], leading_lines=[*updated.leading_lines, *inside])
