"""Complex tensors: MindSpore's product of two has no gradient, and the gradient of its quotient is wrong."""

from __future__ import annotations

import ast
from collections.abc import Set

import libcst as cst

from torch2ms.mapping_tables.schema import Row
from torch2ms.translator.context import Context
from torch2ms.translator.syntax.cst_builders import bare, build
from torch2ms.translator.values.dtypes import COMPLEX, family
from torch2ms.translator.values.kinds import Kind
from torch2ms.translator.values.queries.complex_values import has_complex, may_be_complex

__all__ = ["complex_function", "complex_operator", "is_complex_number"]

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
    if all(_of_open_dtype(kind) for kind in kinds) and ctx.once(has_complex):
        by_function = ctx.once(_names_by_function)
        around = _function_around(left, ctx)
        names = by_function.get(id(around) if around else 0, by_function[0])
        if any(_may_give_complex(part, names) for part in (left, right)):
            return True
    if operator is ast.Div and all(kind.is_tensor for kind in kinds):
        return all(may_be_complex(part, ctx) for part in (left, right)) or _one_is_complex(kinds)
    numbers = COMPLEX in kinds
    complexes = numbers or _one_is_complex(kinds)
    return complexes and all(kind.is_tensor or kind == COMPLEX for kind in kinds) and any(k.is_tensor for k in kinds)


def _of_open_dtype(kind: Kind) -> bool:
    """Whether a value is a tensor of a dtype that is not known to be real, or not known at all."""
    return not kind.known or (kind.is_tensor and family(kind.of) in ("", "complex"))


def _names_by_function(ctx: Context) -> dict[int, frozenset[str]]:
    """Return what may be complex for each function (0: outside all).

    Its own names, and of the whole file attributes (``.x``) and what functions return (``f()``, ``f()[0]``).
    """
    given: dict[int, list[tuple[str, ast.expr]]] = {}
    for node in ctx.analysis.nodes:
        if not isinstance(node, (ast.Assign, ast.Return)) or node.value is None:
            continue
        around = _function_around(node, ctx)
        returned = ast.Name(f"{getattr(around, 'name', '')}()")
        targets = node.targets if isinstance(node, ast.Assign) else [returned]
        pairs = [pair for target in targets for pair in _pairs(target, node.value)]
        given.setdefault(id(around) if around else 0, []).extend(pairs)
    common: frozenset[str] = frozenset()
    while True:
        found = {place: _grown(common, pairs) for place, pairs in given.items()}
        new = found.get(0, frozenset()) | {
            name for names in found.values() for name in names if name.startswith(".") or "()" in name
        }
        if new == common:
            return {0: common, **found}
        common = new


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[str, ast.expr]]:
    """Return what is bound to what: names to values; to the parts of a call where it is taken apart."""
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else None
    if parts is None:
        if isinstance(value, ast.Tuple) and isinstance(target, ast.Name):
            return [(f"{target.id}[{number}]", part) for number, part in enumerate(value.elts)]
        return [(key, value)] if (key := _key(target)) else []
    if isinstance(value, ast.Tuple) and len(value.elts) == len(parts):
        return [pair for part, given in zip(parts, value.elts, strict=True) for pair in _pairs(part, given)]
    if isinstance(value, ast.Call):
        name = f"{_called(value)}()"
        return [(_key(part), ast.Name(f"{name}[{number}]")) for number, part in enumerate(parts) if _key(part)]
    return []


def _called(call: ast.Call) -> str:
    return str(getattr(call.func, "attr", getattr(call.func, "id", "")))


def _grown(names: frozenset[str], given: list[tuple[str, ast.expr]]) -> frozenset[str]:
    while new := {key for key, value in given if key not in names and _may_give_complex(value, names)}:
        names |= new
    return names


def _function_around(node: ast.AST | None, ctx: Context) -> ast.AST | None:
    while node is not None and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        node = ctx.parent(node)
    return node


def _key(target: ast.expr) -> str:
    if isinstance(target, ast.Attribute):
        return f".{target.attr}"
    return target.id if isinstance(target, ast.Name) else ""


def _may_give_complex(tree: ast.expr, names: Set[str]) -> bool:
    """Whether an expression's text shows a complex value: a literal, what makes one, or a name that was given one."""
    if isinstance(tree, (ast.Name, ast.Attribute)) and _key(tree) in names:
        return True
    if isinstance(tree, ast.Attribute):
        return tree.attr in _MAKES_COMPLEX or (tree.attr not in _REAL and _may_give_complex(tree.value, names))
    if isinstance(tree, ast.Call):
        name = _called(tree)
        if name in _REAL or f"{name}()" in names:
            return name not in _REAL
        parts = [tree.func, *tree.args, *(keyword.value for keyword in tree.keywords)]
        return any(_may_give_complex(part, names) for part in parts)
    if isinstance(tree, ast.BinOp):
        return _may_give_complex(tree.left, names) or _may_give_complex(tree.right, names)
    if isinstance(tree, ast.IfExp):
        return _may_give_complex(tree.body, names) or _may_give_complex(tree.orelse, names)
    if isinstance(tree, (ast.UnaryOp, ast.Subscript, ast.Starred)):
        return _may_give_complex(tree.value if not isinstance(tree, ast.UnaryOp) else tree.operand, names)
    return is_complex_number(tree)


def _one_is_complex(kinds: list[Kind]) -> bool:
    return any(family(kind.of) == "complex" for kind in kinds)


def is_complex_number(tree: ast.AST) -> bool:
    """Whether a node is a number such as ``1j``."""
    return isinstance(tree, ast.Constant) and isinstance(tree.value, complex)


_MAKES_COMPLEX = frozenset(
    """complex complex64 complex128 cfloat cdouble polar view_as_complex fft fft2 fftn ifft ifft2 ifftn rfft rfft2 rfftn
    stft""".split()
)
_REAL = frozenset(
    """real imag abs absolute angle view_as_real irfft irfft2 irfftn hfft istft shape size dim ndim dtype device numel
    len isinstance""".split()
)
