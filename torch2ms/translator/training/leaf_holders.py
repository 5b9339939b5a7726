"""Where ``torch.autograd.grad`` stands: as the value of an assignment, or in an expression, ``grad(y, x)[0].norm()``.

Inside of an expression the gradient is computed in front of the statement, and a name takes the place of the call; not
where the expression may not be evaluated, or is more than once.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

__all__ = ["holder_of"]

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


def _is_zero(index: ast.expr) -> bool:
    return isinstance(index, ast.Constant) and index.value == 0
