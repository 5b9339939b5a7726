"""Complex tensors: MindSpore's product of two has no gradient, and the gradient of its quotient is wrong."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.mapping_tables.schema import Row
from torch2ms.translator.context import Context
from torch2ms.translator.inference.dtypes import COMPLEX, family
from torch2ms.translator.kinds import Kind
from torch2ms.translator.syntax import bare, build

__all__ = ["complex_function", "complex_operator", "has_complex", "is_complex_number", "may_be_complex"]

_FUNCTIONS = {"mul": ast.Mult, "multiply": ast.Mult, "div": ast.Div, "divide": ast.Div, "true_divide": ast.Div}


def complex_operator(updated: cst.BinaryOperation, tree: ast.BinOp, ctx: Context) -> cst.BaseExpression | None:
    """Return what ``a * b`` and ``a / b`` of complex numbers or tensors become; None for all else."""
    if not isinstance(tree.op, (ast.Mult, ast.Div)) or not _is_complex(tree.left, tree.right, type(tree.op), ctx):
        return None
    return build("{f}({a}, {b})", f=_function(type(tree.op), ctx), a=bare(updated.left), b=bare(updated.right))


def complex_function(row: Row, updated: cst.Call, tree: ast.Call, ctx: Context) -> cst.BaseExpression | None:
    """Return what ``torch.div(a, b)`` and ``a.mul(b)`` of complex tensors become; None for all else."""
    operator = _FUNCTIONS.get(row.name.rpartition(".")[2])
    of_tensor = row.name.startswith("torch.Tensor.") and isinstance(tree.func, ast.Attribute)
    given, codes = [*tree.args], [arg.value for arg in updated.args]
    if of_tensor and isinstance(tree.func, ast.Attribute) and isinstance(updated.func, cst.Attribute):
        given, codes = [tree.func.value, *given], [updated.func.value, *codes]
    if operator is None or tree.keywords or len(given) != 2 or len(codes) != 2 or row.name.count(".") > 1 + of_tensor:
        return None
    if not _is_complex(given[0], given[1], operator, ctx):
        return None
    name = _NAMES[operator]
    ctx.account(tree.func, row.name, "mapped", name)
    return build("{f}({a}, {b})", f=_function(operator, ctx), a=bare(codes[0]), b=bare(codes[1]))


_NAMES: dict[type[ast.operator], str] = {
    ast.Mult: "torch2ms.runtime.functional.complex_product",
    ast.Div: "torch2ms.runtime.functional.complex_quotient",
}


def _function(operator: type[ast.operator], ctx: Context) -> cst.BaseExpression:
    return ctx.reference(_NAMES[operator])


def _is_complex(left: ast.expr, right: ast.expr, operator: type[ast.operator], ctx: Context) -> bool:
    """Whether complex numbers or tensors are multiplied: MindSpore's gradient of that is not implemented.

    Nor does it multiply a complex tensor and another one; a real number beside a complex tensor it can. Its quotient of
    two complex tensors has a wrong gradient, so that those whose dtype is not known are not left to it either.
    """
    kinds = [ctx.kind(part) for part in (left, right)]
    if any(is_complex_number(part) for part in (left, right)) and not all(kind.known for kind in kinds):
        return True  # nothing shows what x of 1j * x is: it may be a tensor
    if operator is ast.Div and all(kind.is_tensor for kind in kinds):
        return all(may_be_complex(part, ctx) for part in (left, right)) or _one_is_complex(kinds)
    numbers = COMPLEX in kinds
    complexes = numbers or _one_is_complex(kinds)
    return complexes and all(kind.is_tensor or kind == COMPLEX for kind in kinds) and any(k.is_tensor for k in kinds)


def _one_is_complex(kinds: list[Kind]) -> bool:
    return any(family(kind.of) == "complex" for kind in kinds)


def may_be_complex(tree: ast.expr, ctx: Context) -> bool:
    """Whether a tensor is complex, or of unknown dtype in a file that has complex tensors."""
    dtype = ctx.kind(tree).of
    return family(dtype) == "complex" or (not family(dtype) and ctx.once(has_complex))


def is_complex_number(tree: ast.AST) -> bool:
    """Whether a node is a number such as ``1j``."""
    return isinstance(tree, ast.Constant) and isinstance(tree.value, complex)


_OF_COMPLEX = frozenset({"complex", "complex64", "complex128", "cfloat", "cdouble", "polar", "view_as_complex", "fft"})


def has_complex(ctx: Context) -> bool:
    """Whether a file names complex tensors: a literal, a dtype, ``torch.polar``, a Fourier transform."""
    return any(
        (isinstance(node, ast.Constant) and isinstance(node.value, complex))
        or (isinstance(node, ast.Attribute) and node.attr in _OF_COMPLEX)
        for node in ctx.analysis.nodes
    )
