"""What a tensor held before it is filled: ``x[...] = x.copy().clamp(0, 1)``.

For the gradient, MindSpore keeps what an operation was given, not a copy of it. ``x[...] =`` then changes that very
memory, and the gradient of ``clamp``, of ``log``, of the other factor of a product is computed from the new values;
nothing says so (seen in 2.7 to 2.10; 2.0 is right). torch keeps the old values, and a copy holds them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.effects.gradient_state import is_recording, requires_grad
from torch2ms.translator.syntax.argument_binding import literal
from torch2ms.translator.syntax.cst_builders import build

__all__ = ["AUGMENTED", "of_old_values"]

# Operations whose gradient needs nothing, or their result alone
_BLIND = frozenset(
    """add sub subtract rsub neg negative div divide true_divide floor_divide zero fill copy relu sigmoid tanh exp sqrt
    rsqrt reciprocal softmax log_softmax leaky_relu elu dropout masked_fill masked_scatter index_fill index_add
    index_copy index_put scatter scatter_add fill_diagonal floor ceil round trunc sign triu tril bernoulli normal
    uniform random exponential cauchy geometric log_normal eq ne lt le gt ge less less_equal greater greater_equal
    not_equal logical_and logical_or logical_xor logical_not""".split()
)
_PRODUCTS = frozenset({"mul", "multiply"})  # the gradient of x needs the other factor alone
_SIZES = frozenset({"shape", "dtype", "ndim", "size"})
AUGMENTED: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "floor_divide", ast.Pow: "pow",
    ast.Mod: "remainder", ast.MatMult: "matmul",
}  # fmt: skip


def of_old_values(
    value: cst.BaseExpression,
    target: cst.BaseExpression,
    operation: str,
    operands: Sequence[ast.expr],
    ctx: Context,
) -> cst.BaseExpression:
    """Return what ``target`` is filled with, computed from a copy where the gradient of ``operation`` looks at it.

    ``operands`` are the tensor itself and what else the operation is given.
    """
    if operation in _BLIND or is_recording(operands[0], ctx) is False:
        return value
    asked = operands[1:] if operation in _PRODUCTS else operands
    if all(requires_grad(operand, ctx) is False or _is_number(operand, ctx) for operand in asked):
        return value
    for read in list(_reads(value, target)):
        made = value.deep_replace(read, build("{x}.copy()", x=target.deep_clone()))
        assert isinstance(made, cst.BaseExpression)
        value = made
    return value


def _reads(node: cst.CSTNode, target: cst.BaseExpression) -> Iterator[cst.CSTNode]:
    """Yield the places where a tensor's values are read, below an expression."""
    for part in node.children:
        if isinstance(node, cst.Attribute) and (part is node.attr or node.attr.value in _SIZES):
            continue
        if isinstance(node, cst.Arg) and part is node.keyword:
            continue
        if part.deep_equals(target):
            yield part
        else:
            yield from _reads(part, target)


def _is_number(operand: ast.expr, ctx: Context) -> bool:
    """Whether a value is an argument whose default is a number: ``decay=0.9``."""
    info = ctx.functions[-1]
    if not isinstance(operand, ast.Name) or info is None or isinstance(info.node, ast.Lambda):
        return False
    arguments = info.node.args
    places = [*arguments.posonlyargs, *arguments.args]
    behind = places[len(places) - len(arguments.defaults) :]
    defaults = [
        *zip(behind, arguments.defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    given = {argument.arg: default for argument, default in defaults}
    default = given.get(operand.id)
    return default is not None and isinstance(literal(default), (int, float))
