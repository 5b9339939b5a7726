"""Arrays of numpy, told from its numbers: MindSpore's operators take those beside a tensor, and refuse arrays."""

from __future__ import annotations

import ast

from torch2ms.translator.values.file_facts import FileFacts
from torch2ms.translator.values.queries.known_values import values_of

__all__ = ["is_array"]

_MAKERS = frozenset("arange array asarray eye empty full linspace logspace ones rand randn zeros".split())
_MODULES = ("np", "numpy", "np.random", "numpy.random")
# Functions whose result has the axes of what they are given.
_ELEMENTWISE = frozenset("exp log log2 log10 sqrt square power sin cos tan tanh abs floor ceil float32 float64".split())
_METHODS = frozenset({"astype", "copy"})
_STEPS = 8  # how far a value is followed back


def is_array(tree: ast.expr, ctx: FileFacts, steps: int = _STEPS) -> bool:
    """Whether an expression shows that it is an array with axes: ``1 / 10000 ** (np.arange(d) / d)``, a part of it."""
    if steps == 0 or ctx.kind(tree).is_tensor:
        return False
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute):
        if ast.unparse(tree.func.value) in _MODULES:
            name = tree.func.attr
            return name in _MAKERS or (name in _ELEMENTWISE and any(is_array(a, ctx, steps - 1) for a in tree.args))
        return tree.func.attr in _METHODS and is_array(tree.func.value, ctx, steps - 1)
    if isinstance(tree, ast.BinOp):
        return any(is_array(part, ctx, steps - 1) for part in (tree.left, tree.right))
    if isinstance(tree, ast.UnaryOp):
        return is_array(tree.operand, ctx, steps - 1)
    if isinstance(tree, ast.Subscript):
        parts = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
        return all(isinstance(part, ast.Slice) for part in parts) and is_array(tree.value, ctx, steps - 1)
    if isinstance(tree, ast.Name):
        values = values_of(tree, ctx)
        return bool(values) and all(is_array(value, ctx, steps - 1) for value in values)
    return False
