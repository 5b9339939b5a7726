"""Sequentials that a loop fills with the layers of another: ``self.slice2.add_module(str(i), vgg[i])``.

The networks of torchvision activate in place: a slice that starts with an activation changes what the slice before it
has computed, also for whoever keeps that.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.kinds import Kind

__all__ = ["taken_start", "vgg_activations"]

_BLOCKS = {"vgg11": (1, 1, 2, 2, 2), "vgg13": (2, 2, 2, 2, 2), "vgg16": (2, 2, 3, 3, 3), "vgg19": (2, 2, 4, 4, 4)}


def taken_start(name: str, function: ast.AST, kind_of: Callable[[ast.expr], Kind]) -> str:
    """Return the class of the layer that a loop puts first into ``self.<name>``, if it works in place; else ""."""
    loops = [node for node in walk(function) if isinstance(node, ast.For) and isinstance(node.target, ast.Name)]
    for loop in sorted(loops, key=lambda loop: loop.lineno):
        for part in (part for statement in loop.body for part in walk(statement)):
            source = _source(part, name, loop)
            first = _first(loop.iter) if source is not None else None
            if source is not None:
                places = _activations(source, function, kind_of)
                return "ReLU" if first is not None and first in places else ""
    return ""


def _source(node: ast.AST, name: str, loop: ast.For) -> ast.expr | None:
    """Return ``layers`` of ``self.<name>.add_module(str(i), layers[i])`` in a loop over ``i``."""
    if not isinstance(node, ast.Call) or len(node.args) != 2 or not isinstance(node.args[1], ast.Subscript):
        return None
    taken = node.args[1]
    if ast.unparse(node.func) != f"self.{name}.add_module" or ast.unparse(taken.slice) != ast.unparse(loop.target):
        return None
    return taken.value


def _first(tree: ast.expr) -> int | None:
    """Return the first number of ``range(4, 9)``."""
    if not isinstance(tree, ast.Call) or getattr(tree.func, "id", "") != "range" or not tree.args:
        return None
    start = tree.args[0] if len(tree.args) > 1 else ast.Constant(0)
    return start.value if isinstance(start, ast.Constant) and isinstance(start.value, int) else None


def _activations(source: ast.expr, function: ast.AST, kind_of: Callable[[ast.expr], Kind]) -> frozenset[int]:
    """Return the places of the activations among the layers of ``models.vgg19().features``, and of its like."""
    values = _values(source, function)
    text = ast.unparse(values[0]) if len(values) == 1 else ""
    for call in walk(values[0]) if text.count(".features") == 1 else ():
        if isinstance(call, ast.Call):
            package, _, made = kind_of(call.func).of.rpartition(".")
            model, _, normed = made.partition("_")
            if package.startswith("torchvision.models") and model in _BLOCKS:
                return vgg_activations(model, normed)
    return frozenset()


def vgg_activations(model: str, suffix: str) -> frozenset[int]:
    """Return the places of the activations among the features of ``vgg16``, or ``vgg16_bn`` with that suffix."""
    return frozenset(_places(_BLOCKS[model], 3 if suffix else 2))


def _values(source: ast.expr, function: ast.AST) -> list[ast.expr]:
    if not isinstance(source, ast.Name):
        return [source]
    return [
        node.value
        for node in walk(function)
        if isinstance(node, ast.Assign) and any(getattr(target, "id", "") == source.id for target in node.targets)
    ]


def _places(blocks: tuple[int, ...], each: int) -> Iterator[int]:
    """Yield where the activations stand: behind each convolution (and its normalisation); a pooling ends a block."""
    place = 0
    for block in blocks:
        for _ in range(block):
            place += each
            yield place - 1
        place += 1
