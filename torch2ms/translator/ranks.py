"""The number of axes of a tensor, where the text of the program shows it: ``torch.ones(3, 7, 7)``, ``x.view(4, 2)``."""

from __future__ import annotations

import ast

from torch2ms.translator.context import Context

__all__ = ["SIZED", "ranks"]

_MADE = frozenset({"zeros", "ones", "empty", "rand", "randn", "Tensor"})
_SHAPED = frozenset({"view", "reshape", "expand", "new_zeros", "new_ones"})
SIZED = _MADE | _SHAPED  # calls that are given the sizes of what they make
_SAME = frozenset(
    "float double half to cpu cuda type clone detach contiguous requires_grad_ abs sin cos exp mul div add sub neg "
    "zeros_like ones_like rand_like randn_like flip sigmoid tanh relu".split()
)
_WHOLE = frozenset({"sum", "mean", "max", "min", "prod", "std", "var", "norm", "median", "argmax", "argmin", "trace"})
_LINES = frozenset({"arange", "linspace", "logspace", "eye"})
_DEPTH = 5


def ranks(tree: ast.expr | None, ctx: Context, depth: int = _DEPTH) -> frozenset[int]:
    """Return how many axes a tensor may have, as far as the text of the file shows; nothing where it does not."""
    if tree is None or depth == 0:
        return frozenset()
    if isinstance(tree, ast.Name):
        known = ctx.once(_known)
        if (tree.id, depth) not in known:  # a file may assign to the same few names some hundred times
            values = ctx.once(_assigned).get(tree.id, ())
            known[tree.id, depth] = frozenset(rank for value in values for rank in ranks(value, ctx, depth - 1))
        return known[tree.id, depth]
    if isinstance(tree, ast.BinOp):
        both = ranks(tree.left, ctx, depth - 1) | ranks(tree.right, ctx, depth - 1)
        return frozenset({max(both)}) if both else both
    if isinstance(tree, ast.UnaryOp):
        return ranks(tree.operand, ctx, depth - 1)
    if isinstance(tree, ast.Subscript) and isinstance(tree.slice, (ast.Constant, ast.UnaryOp, ast.Name)):
        return frozenset(rank - 1 for rank in ranks(tree.value, ctx, depth - 1) if rank > 0)
    return _of_call(tree, ctx, depth) if isinstance(tree, ast.Call) else frozenset()


def _of_call(call: ast.Call, ctx: Context, depth: int) -> frozenset[int]:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name in _WHOLE and not call.keywords and len(call.args) == (1 if ctx.is_import_root(call.func) else 0):
        return frozenset({0})
    if name in _LINES:
        return frozenset({2 if name == "eye" else 1})
    if name in ("tensor", "as_tensor", "FloatTensor"):
        return frozenset({_nesting(call.args[0])} if call.args else ())
    if name in SIZED:
        return _of_sizes(call.args, call)
    if name == "full":
        return _of_sizes(call.args[:1], call)
    inner = ranks(_subject(call, ctx), ctx, depth - 1)
    if name in _SAME:
        return inner
    step = {"unsqueeze": 1, "squeeze": -1, "select": -1}.get(name)
    return frozenset(rank + step for rank in inner) if step is not None and (call.args or step > 0) else frozenset()


def _of_sizes(args: list[ast.expr], call: ast.Call) -> frozenset[int]:
    """Return the rank that sizes say, one by one or in one tuple."""
    given = args or [word.value for word in call.keywords if word.arg == "size"]
    if len(given) == 1 and isinstance(given[0], (ast.Tuple, ast.List)):
        given = given[0].elts
    if not given or any(isinstance(size, ast.Starred) for size in given):
        return frozenset()
    return frozenset({len(given)})


def _nesting(tree: ast.expr) -> int:
    """Return how deep lists are nested."""
    if not isinstance(tree, (ast.List, ast.Tuple)):
        return 0
    return 1 + (_nesting(tree.elts[0]) if tree.elts else 0)


def _subject(call: ast.Call, ctx: Context) -> ast.expr | None:
    """Return the tensor that a method or a function of torch is called for."""
    if isinstance(call.func, ast.Attribute) and not ctx.is_import_root(call.func):
        return call.func.value
    return call.args[0] if call.args else None


def _known(_: Context) -> dict[tuple[str, int], frozenset[int]]:
    """Return where the ranks of names are kept, by the depth that they were asked at."""
    return {}


def _assigned(ctx: Context) -> dict[str, list[ast.expr]]:
    """Return what the file assigns to each name, alone or among others."""
    found: dict[str, list[ast.expr]] = {}
    for node in ctx.analysis.all(ast.Assign):
        for target in node.targets:
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(target.elts, node.value.elts, strict=False))
            for name, value in pairs:
                if isinstance(name, ast.Name):
                    found.setdefault(name.id, []).append(value)
    return found
