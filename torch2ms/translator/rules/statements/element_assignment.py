"""Elements that are assigned where others see the tensor: ``v = x.view(-1); v[v > 1] = 0``.

In MindSpore, assigning to what a mask or a list selects gives the tensor memory of its own: views keep the old values.
``x[...] = y`` with a tensor of fewer elements makes all of ``x`` one place in memory. And ``x[a:b, c:d] = y`` where
``a`` is ``b`` fails on CPU, though there is nothing to write, as does ``x[i] = y`` where ``i`` is an empty tensor.
``x[i] = row`` with a row of shape (1, n) is refused where ``x`` is (m, n): MindSpore drops no axis of what is assigned
(all seen in 2.10). An optimizer that has begun trains no more a weight that ``w[w < 0] = 0`` gave other memory
(2.7 to 2.10).
"""

from __future__ import annotations

import ast
import struct
from collections.abc import Sequence

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.effects.differentiation import are_differentiated
from torch2ms.translator.effects.escape import is_held
from torch2ms.translator.effects.parameter_storage import (
    gives_first_values,
    holds_data,
    is_parameter,
    may_be_weight,
    may_have_stepped,
    names_parameter,
)
from torch2ms.translator.effects.sharing import fills_whole, is_view_of_memory, what_index_gives, writes_through
from torch2ms.translator.rules.statements.leading_axes import without_leading_axes
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.syntax.cst_builders import build, code_of, parse_expression
from torch2ms.translator.values.dtypes import COMPLEX

__all__ = ["guarded", "written_elements"]

_LARGEST = 3.4e38  # of float32


def written_elements(
    node: cst.Assign | cst.AugAssign, tree: ast.AST, ctx: Context
) -> cst.Assign | cst.AugAssign | cst.Expr:
    """Return ``v[()] = functional.assigned(v, v > 1, 0)`` where views of ``v`` are to see the change.

    A weight that goes on being trained keeps its memory: ``weight_data.put_at(w, w < 0, 0)``.
    """
    place = _place(tree)
    target = node.target if isinstance(node, cst.AugAssign) else node.targets[0].target
    if place is None or not isinstance(target, cst.Subscript):
        return node
    trained, through = _is_trained_on(place, tree, ctx), _is_written_through(place, ctx)
    if not trained and not through and not ctx.kind(place.value).is_tensor:
        return node
    wide_dtype = _wide(tree, place, ctx) if isinstance(node, cst.Assign) and isinstance(tree, ast.Assign) else ""
    if wide_dtype:
        wide = {"tensor": ctx.reference("mindspore.Tensor"), "dtype": ctx.reference(wide_dtype)}
        node = node.with_changes(value=build("{tensor}({x}, {dtype})", x=node.value, **wide))
    every = _is_all(place.slice)
    if trained and (every or what_index_gives(place.slice, ctx) != "part"):
        put, index = ctx.reference("torch2ms.runtime.weight_data.put_at"), cst.Ellipsis() if every else _indices(target)
        return cst.Expr(build("{put}({x}, {i}, {v})", put=put, x=target.value, i=index, v=_value(node, target)))
    if isinstance(place.slice, ast.Constant) and place.slice.value is ...:
        spread = isinstance(tree, ast.Assign) and ctx.kind(tree.value).is_tensor and fills_whole(ctx)
        if not spread and not _has_views(place, tree, ctx):
            return _with_own_memory(node, tree, ctx)
        whole = cst.ensure_type(parse_expression(f"{code_of(target.value)}[()]"), cst.Subscript)
        if isinstance(node, cst.AugAssign):
            return node.with_changes(target=whole)
        return node.with_changes(targets=[node.targets[0].with_changes(target=whole)])
    if isinstance(node, cst.Assign) and isinstance(tree, ast.Assign):
        node = without_leading_axes(node, place, tree, ctx)
    what = what_index_gives(place.slice, ctx)
    if what != "part" and holds_data(place.value, ctx):
        return cst.Expr(build("{x}.copy_({made})", x=target.value.deep_clone(), made=_assigned(node, target, ctx)))
    if through:
        return node if what == "part" else _through(node, tree, place, target, ctx)
    if what != "copy" or not _has_views(place, tree, ctx):
        return node
    return _whole(node, target, ctx)


def _is_all(index: ast.expr) -> bool:
    """Whether an index is ``...`` or ``:``: after either, ``ops.assign`` refuses a parameter (MindSpore 2.10)."""
    whole = isinstance(index, ast.Slice) and index.lower is None and index.upper is None and index.step is None
    return whole or (isinstance(index, ast.Constant) and index.value is ...)


def _through(
    node: cst.Assign | cst.AugAssign, tree: ast.AST, place: ast.Subscript, target: cst.Subscript, ctx: Context
) -> cst.Assign:
    """Return the assignment of elements of a view that has no name, which reaches what it is a view of."""
    view, differentiated = place.value, ctx.functions[-1] is not None and are_differentiated(ctx)
    if isinstance(view, ast.Name) or _is_of_data(view) or not differentiated:  # a name of a layer's data, if any
        return _whole(node, target, ctx)
    method = target.value.func if isinstance(target.value, cst.Call) and _is_other_shape(view) else None
    of = method.value if isinstance(method, cst.Attribute) else None
    if isinstance(of, cst.Attribute | cst.Name):
        made = build("{made}.view({x}.shape)", made=_assigned(node, target, ctx), x=of.deep_clone())
        whole = cst.ensure_type(parse_expression(f"{code_of(of)}[...]"), cst.Subscript)
        return cst.Assign([cst.AssignTarget(whole)], made)  # which gradients see
    message = f"the change reaches what {ast.unparse(view)} is a view of, but the gradient does not see it there"
    ctx.report("T2M305", tree, message)
    return _whole(node, target, ctx)


def _is_other_shape(view: ast.expr) -> bool:
    """Whether a view has the elements of a tensor in their order: ``x.view(-1)``, ``x.reshape(2, 3)``."""
    return isinstance(view, ast.Call) and getattr(view.func, "attr", "") in ("view", "reshape")


def _whole(node: cst.Assign | cst.AugAssign, target: cst.Subscript, ctx: Context) -> cst.Assign:
    """Return ``v[()] = functional.assigned(v, index, value)``."""
    whole = cst.ensure_type(parse_expression(f"{code_of(target.value)}[()]"), cst.Subscript)
    return cst.Assign([cst.AssignTarget(whole)], _assigned(node, target, ctx))


def _assigned(node: cst.Assign | cst.AugAssign, target: cst.Subscript, ctx: Context) -> cst.BaseExpression:
    made = ctx.reference("torch2ms.runtime.functional.assigned")
    parts = {"x": target.value.deep_clone(), "i": _indices(target), "v": _value(node, target)}
    return build("{made}({x}, {i}, {v})", made=made, **parts)


def _indices(target: cst.Subscript) -> cst.BaseExpression:
    parts = [_index(element.slice) for element in target.slice]
    return parse_expression(parts[0] if len(parts) == 1 else f"({', '.join(parts)})")


def _value(node: cst.Assign | cst.AugAssign, target: cst.Subscript) -> cst.BaseExpression:
    """Return what is assigned; of ``x[i] += y``, ``x[i] + y``."""
    if isinstance(node, cst.Assign):
        return node.value
    operator = code_of(node.operator).strip().removesuffix("=")
    return build(f"{{x}} {operator} {{y}}", x=target.deep_clone(), y=node.value)


def _with_own_memory(node: cst.Assign | cst.AugAssign, tree: ast.AST, ctx: Context) -> cst.Assign | cst.AugAssign:
    """Return ``x[...] = y`` with a copy of a tensor that others hold."""
    value = tree.value if isinstance(tree, ast.Assign) else None
    if value is None or not ctx.kind(value).is_tensor or not is_held(value, ctx):
        return node
    return node.with_changes(value=build("{f}({x})", f=ctx.reference("mindspore.ops.deepcopy"), x=node.value))


def guarded(made: list[cst.BaseStatement], trees: Sequence[ast.AST], ctx: Context) -> list[cst.BaseStatement]:
    """Return an assignment to a box of a tensor under ``if x[a:b, c:d].size:``, where the box may be empty."""
    place = _place(trees[0]) if len(trees) == 1 else None
    line = made[-1] if made else None
    if place is None or not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
        return made
    statement = line.body[0]
    if not _may_be_empty(place, ctx) or not ctx.kind(place.value).is_tensor:
        return made
    if isinstance(statement, cst.Assign):
        target = statement.targets[0].target
    elif isinstance(statement, cst.AugAssign):
        target = statement.target
    else:
        return made
    if not isinstance(target, cst.Subscript) or code_of(target).endswith("[()]"):
        return made
    test = cst.Attribute(target.deep_clone(), cst.Name("size"))
    body = cst.IndentedBlock([line.with_changes(leading_lines=[])])
    return [*made[:-1], cst.If(test, body, leading_lines=line.leading_lines)]


def _may_be_empty(place: ast.Subscript, ctx: Context) -> bool:
    """Whether two axes are cut, the first of them between two values that nothing relates: ``[:, x1:x2, y1:y2]``.

    Or an index alone is what a condition found: ``i = torch.where(x == k)[0]; y[i] = 0``.
    """
    if isinstance(place.slice, ast.Name):
        return _is_found(place.slice.id, ctx)
    parts = place.slice.elts if isinstance(place.slice, ast.Tuple) else []
    cut = [cuts for cuts in (_cuts(part, ctx) for part in parts) if cuts]
    return any(_is_value(lower) and _is_value(upper) for cuts in cut[:-1] for lower, upper in cuts)


def _is_found(name: str, ctx: Context) -> bool:
    """Whether a variable holds the places where a condition holds, of which there may be none."""
    for node in ctx.analysis.all(ast.Assign):
        if any(isinstance(part, ast.Name) and part.id == name for target in node.targets for part in walk(target)):
            for call in walk(node.value):
                if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
                    continue
                own = ctx.kind(call.func.value).is_tensor
                is_search = call.func.attr in ("where", "nonzero", "argwhere")
                if is_search and len(call.args) <= (0 if own else 1) and "np." not in ast.unparse(call.func):
                    return True
    return False


def _cuts(part: ast.expr, ctx: Context) -> list[tuple[ast.expr | None, ast.expr | None]]:
    """Return the bounds of a slice: one that is written, or those that a loop takes from a tuple of ``slice(a, b)``."""
    if isinstance(part, ast.Slice):
        return [(part.lower, part.upper)] if part.lower or part.upper else []
    loop = ctx.parent(part) if isinstance(part, ast.Name) else None
    while loop is not None and not (isinstance(loop, ast.For) and ast.unparse(loop.target) == ast.unparse(part)):
        loop = ctx.parent(loop)
    if not isinstance(loop, ast.For):
        return []
    over = loop.iter
    if isinstance(over, ast.Name):
        made = [node.value for node in ctx.analysis.all(ast.Assign) if ast.unparse(node.targets[0]) == over.id]
        over = made[-1] if made else over
    calls = over.elts if isinstance(over, (ast.Tuple, ast.List)) else []
    given = [call.args for call in calls if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "slice"]
    return [(bounds[0], bounds[1]) for bounds in given if len(bounds) > 1]


def _is_value(bound: ast.expr | None) -> bool:
    bound = bound.operand if isinstance(bound, ast.UnaryOp) else bound
    return isinstance(bound, (ast.Name, ast.Attribute, ast.Subscript))


def _wide(tree: ast.Assign, place: ast.Subscript, ctx: Context) -> str:
    """Return the dtype that a number needs to be written as a tensor in; MindSpore refuses complex numbers."""
    if ctx.kind(tree.value).same(COMPLEX):
        return "mindspore.complex128" if ctx.kind(place.value).of == "torch.complex128" else "mindspore.complex64"
    return "mindspore.float64" if _is_rounded(tree, place, ctx) else ""


def _is_rounded(tree: ast.Assign, place: ast.Subscript, ctx: Context) -> bool:
    """Whether a number that float32 cannot hold is written into float64: MindSpore would round it."""
    negative = isinstance(tree.value, ast.UnaryOp) and isinstance(tree.value.op, ast.USub)
    number = tree.value.operand if negative and isinstance(tree.value, ast.UnaryOp) else tree.value
    if not isinstance(number, ast.Constant) or not isinstance(number.value, float):
        return False
    if ctx.kind(place.value).of not in ("torch.float64", "torch.double"):
        return False
    if abs(number.value) > _LARGEST:
        return True
    return struct.pack("d", *struct.unpack("f", struct.pack("f", number.value))) != struct.pack("d", number.value)


def _place(tree: ast.AST) -> ast.Subscript | None:
    """Return the one subscript that a statement assigns to."""
    targets = tree.targets if isinstance(tree, ast.Assign) else [tree.target] if isinstance(tree, ast.AugAssign) else []
    return targets[0] if len(targets) == 1 and isinstance(targets[0], ast.Subscript) else None


def _has_views(place: ast.Subscript, tree: ast.AST, ctx: Context) -> bool:
    return isinstance(place.value, ast.Name) and writes_through(place.value.id, tree, ctx)


def _is_written_through(place: ast.Subscript, ctx: Context) -> bool:
    """Whether elements of a view are assigned that has no name: ``x.view(-1)[mask] = 0`` reaches ``x`` in torch."""
    view = place.value
    if isinstance(view, ast.Name):  # of a layer that is not known
        return not ctx.kind(view).is_tensor and (holds_data(view, ctx) or is_view_of_memory(view, ctx))
    if not isinstance(view, (ast.Call, ast.Attribute)) or is_parameter(_without_data(view), ctx):
        return False
    return is_view_of_memory(view, ctx)


def _without_data(tree: ast.expr) -> ast.expr:
    """Return ``w`` of ``w.data``: MindSpore's statement is about the weight itself."""
    while isinstance(tree, ast.Attribute) and tree.attr == "data":
        tree = tree.value
    return tree


def _is_of_data(view: ast.expr) -> bool:
    """Whether a view is one of ``x.data`` or ``x.detach()``, of which no gradient is asked."""
    return any(isinstance(part, ast.Attribute) and part.attr in ("data", "detach") for part in walk(view))


def _is_trained_on(place: ast.Subscript, tree: ast.AST, ctx: Context) -> bool:
    """Whether elements of a weight are assigned where an optimizer may have begun, which keeps its memory."""
    base = _without_data(place.value)
    known = is_parameter(base, ctx) or names_parameter(base, ctx)
    if not known and not (may_be_weight(base, ctx) and base is not place.value):
        return False
    return may_have_stepped(tree, ctx) or not (ctx.functions[-1] is None or gives_first_values(ctx))


def _index(part: cst.BaseSlice) -> str:
    """Return a part of an index as an expression."""
    if isinstance(part, cst.Index):
        return code_of(part.value)
    assert isinstance(part, cst.Slice)
    bounds = [code_of(bound) if bound is not None else "None" for bound in (part.lower, part.upper, part.step)]
    return f"slice({', '.join(bounds)})"
