"""Calls whose spelling depends on the release of what they call, where MindSpore keeps to another than the source."""

from __future__ import annotations

import ast

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.effects.reads_and_writes import dotted_path
from torch2ms.translator.rules.calls.untyped_receivers import told
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.kinds import UNKNOWN, Kind
from torch2ms.translator.values.queries.ranks import assigned, ranks

__all__ = ["old_number", "older_call"]

_COPIERS = frozenset({"numpy.array", "numpy.asarray"})


def older_call(updated: cst.Call, tree: ast.Call, callee: Kind, ctx: Context) -> cst.Call:
    """Return ``np.array(x, copy=False)`` for ``copy=None``, and ``next(batches)`` for ``batches.next()``.

    NumPy 2's ``copy=None`` (copy where needed) is what ``copy=False`` means in NumPy 1, which MindSpore asks for. The
    iterators of loaders had a method ``next`` before PyTorch 1.13. A tensor's class, ``type(x)(2, 3)``, makes tensors
    by their sizes.
    """
    if _is_class_of_tensor(tree.func, ctx):
        return updated.with_changes(func=ctx.reference("torch2ms.runtime.functional.typed_tensor"))
    if callee.name == "module" and callee.of in _COPIERS:
        args = [
            arg.with_changes(value=cst.Name("False"))
            if arg.keyword is not None and arg.keyword.value == "copy" and _is_none(arg.value)
            else arg
            for arg in updated.args
        ]
        return updated.with_changes(args=args)
    func = updated.func
    if isinstance(tree.func, ast.Attribute) and tree.func.attr == "next" and not tree.args and not tree.keywords:
        path = dotted_path(tree.func.value)
        if isinstance(func, cst.Attribute) and (_iterates(tree.func.value) or path in ctx.once(_iterators)):
            return cst.Call(cst.Name("next"), [cst.Arg(func.value)])
    return updated


def _is_none(code: cst.BaseExpression) -> bool:
    return isinstance(code, cst.Name) and code.value == "None"


def _iterates(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "iter"


def _is_class_of_tensor(func: ast.expr, ctx: Context) -> bool:
    """Whether a callable is ``type(x)`` of a tensor, or a name that the function binds to that and nothing else."""
    if isinstance(func, ast.Name) and ctx.functions[-1] is not None and func.id in ctx.once(_names_of_types):
        inside = walk(ctx.functions[-1].node)
        stored = (ctx.parent(n) for n in inside if isinstance(n, ast.Name) and n.id == func.id and _is_stored(n))
        values = [node.value if isinstance(node, ast.Assign) else None for node in stored]
        return len(values) == 1 and values[0] is not None and _is_class_of_tensor(values[0], ctx)
    asked = func.args[0] if _is_type(func) and isinstance(func, ast.Call) else None
    return asked is not None and (ctx.kind(asked).is_tensor or _is_used_as_tensor(asked, ctx))


def _is_type(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Call) and getattr(tree.func, "id", "") == "type" and len(tree.args) == 1


def _is_stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _names_of_types(ctx: Context) -> frozenset[str]:
    """Return the names that the file binds to ``type(...)`` of one value."""
    assigned = (node for node in ctx.analysis.nodes if isinstance(node, ast.Assign) and _is_type(node.value))
    return frozenset(target.id for node in assigned for target in node.targets if isinstance(target, ast.Name))


def _is_used_as_tensor(value: ast.expr, ctx: Context) -> bool:
    """Whether the function around asks something of a name that only tensors answer."""
    function = ctx.functions[-1]
    if not isinstance(value, ast.Name) or function is None:
        return False
    about = [parent for node in walk(function.node) if _is_read(node, value.id) and (parent := ctx.parent(node))]
    if any(_is_tested(parent) for parent in about):  # type(x)(move(part) for part in x), where x is no tensor
        return False
    return any(isinstance(parent, ast.Attribute) and told(parent, ctx).is_tensor for parent in about)


def _is_read(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)


def _is_tested(parent: ast.AST) -> bool:
    """Whether what a name is used in asks what it is, or goes over its parts."""
    if isinstance(parent, ast.Call) and getattr(parent.func, "id", "") in ("isinstance", "hasattr", "iter", "map"):
        return True
    return isinstance(parent, (ast.For, ast.comprehension))


def _iterators(ctx: Context) -> frozenset[str]:
    """Return the names and attributes that are only ever bound to ``iter(...)``."""
    bound: dict[str, bool] = {}
    for node in ctx.analysis.nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                path = dotted_path(target)
                if path is not None:
                    bound[path] = bound.get(path, True) and _iterates(node.value)
    return frozenset(path for path, always in bound.items() if always)


def old_number(updated: cst.Subscript, tree: ast.Subscript, ctx: Context) -> cst.BaseExpression | None:
    """Return ``loss.data`` for ``loss.data[0]``, as PyTorch before 0.4 read the number of a loss; None for others.

    What has no axis refuses the index since then, in MindSpore too.
    """
    index = tree.slice
    if not isinstance(tree.ctx, ast.Load) or not isinstance(index, ast.Constant) or repr(index.value) != "0":
        return None
    source, is_data = tree.value, False
    while True:
        if isinstance(source, ast.Attribute) and source.attr == "data":
            source, is_data = source.value, True
        elif isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute) and source.func.attr in _MOVES:
            source = source.func.value
        else:
            break
    if not is_data and not ctx.kind(tree.value).is_tensor:
        return None
    has_no_axis = ranks(source, ctx) == frozenset({0}) or (is_data and _is_loss(source, ctx))
    return updated.value if has_no_axis else None


_MOVES = frozenset({"cpu", "cuda", "detach", "numpy"})
_DEPTH = 3


def _is_loss(tree: ast.expr, ctx: Context, depth: int = _DEPTH) -> bool:
    """Whether an expression is a loss that the file differentiates as a number: ``loss.backward()``."""
    if isinstance(tree, ast.BinOp):
        return any(_is_loss(part, ctx, depth) for part in (tree.left, tree.right))
    if isinstance(tree, ast.Name):
        values = ctx.once(assigned).get(tree.id, []) if depth and tree.id in ctx.once(_differentiated) else []
        return bool(values) and all(_is_loss(value, ctx, depth - 1) for value in values)
    callee = ctx.kind(tree.func) if isinstance(tree, ast.Call) else UNKNOWN
    of_layer = callee.name == "Module" and callee.of.startswith("torch.nn.") and callee.of.endswith("Loss")
    return of_layer or (callee.name == "api" and callee.of.startswith("torch.nn.functional.") and _says_loss(callee.of))


def _says_loss(name: str) -> bool:
    return "loss" in name or "cross_entropy" in name


def _differentiated(ctx: Context) -> set[str]:
    """Return the names on which the file calls ``backward()`` without a gradient: PyTorch wants a number there."""
    called = (node.func for node in ctx.analysis.all(ast.Call) if not node.args)
    return {ast.unparse(f.value) for f in called if isinstance(f, ast.Attribute) and f.attr == "backward"}
