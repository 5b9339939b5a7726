"""Where ``torch.autograd.grad`` stands: as the value of an assignment, or in an expression, ``grad(y, x)[0].norm()``.

Inside of an expression the gradient is computed in front of the statement, and a name takes the place of the call; not
where the expression may not be evaluated, or is more than once.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from torch2ms.translator.syntax.ast_walk import children

__all__ = ["always_makes", "holder_of"]

_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)
_OTHERWISE = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension, ast.NamedExpr)


def holder_of(
    call: ast.Call, parents: Mapping[int, ast.AST], *, is_single: bool
) -> tuple[ast.stmt | None, ast.expr | None]:
    """Return the statement of a call, None where it cannot be placed, and the part that a name can take the place of.

    There is no such part where the call is the whole value of an assignment. ``is_single``: one gradient is asked for;
    then the ``[0]`` behind the call belongs to it.
    """
    part: ast.expr = call
    above = parents[id(call)]
    if isinstance(above, ast.Subscript) and is_single and above.value is call and _is_zero(above.slice):
        part, above = above, parents[id(above)]
    if isinstance(above, ast.Assign) and len(above.targets) == 1:
        return above, None
    node: ast.AST = part
    while not isinstance(above, ast.stmt):
        if isinstance(above, _OTHERWISE) or (isinstance(above, ast.IfExp) and node is not above.test):
            return None, None
        if isinstance(above, ast.BoolOp) and node is not above.values[0]:
            return None, None
        node, above = above, parents[id(above)]
    return (above, part) if isinstance(above, _SIMPLE) else (None, None)


def always_makes(tree: ast.AST, call: ast.Call) -> bool:
    """Whether a simple statement, or a part of it, makes a call just once, whatever its conditions say."""
    if tree is call:
        return True
    if isinstance(tree, _OTHERWISE) or (isinstance(tree, ast.stmt) and not isinstance(tree, _SIMPLE)):
        return False
    parts = [tree.test] if isinstance(tree, ast.IfExp) else children(tree)
    return any(always_makes(part, call) for part in (parts[:1] if isinstance(tree, ast.BoolOp) else parts))


def _is_zero(index: ast.expr) -> bool:
    return isinstance(index, ast.Constant) and index.value == 0
