"""Names that hold a part of what another name holds: ``y = h.view(2, 2)``, ``row = h[0]``, ``a, b = h.chunk(2)``.

What is written into such a part changes the whole as well, which the text of the change does not name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from torch2ms.translator.trees import walk

__all__ = ["REARRANGED", "parts_of", "wholes_of"]

# Views of the same elements, or of some of them, in another order or shape
REARRANGED = frozenset({
    "view", "view_as", "reshape", "reshape_as", "transpose", "permute", "swapaxes", "swapdims", "squeeze", "unsqueeze",
    "t", "T", "mT", "narrow", "select", "diagonal", "movedim", "moveaxis",
})  # fmt: skip
_PARTS = REARRANGED | {
    "expand", "expand_as", "chunk", "split", "tensor_split", "unbind", "flatten", "unflatten", "ravel", "detach",
    "data", "real", "imag",
}  # fmt: skip


def parts_of(statements: Iterable[ast.AST]) -> dict[str, set[str]]:
    """Return the names that are given a part of something, each with the names of what it may be a part of."""
    found: dict[str, set[str]] = {}
    for statement in statements:
        for node in walk(statement):
            if not isinstance(node, ast.Assign):
                continue
            whole = _whole(node.value)
            targets = [part for target in node.targets for part in getattr(target, "elts", [target])]
            for target in targets if whole else ():
                if isinstance(target, ast.Name) and target.id != whole:
                    found.setdefault(target.id, set()).add(whole)
    return found


def wholes_of(changed: Iterable[str], parts: Mapping[str, set[str]]) -> set[str]:
    """Return the names of what changes when the parts ``changed`` are written into."""
    found: set[str] = set()
    queue = [name.partition(".")[0] for name in changed] if parts else []
    while queue:
        new = parts.get(queue.pop(), set()) - found
        found |= new
        queue.extend(new)
    return found


def _whole(value: ast.expr) -> str:
    """Return the name that an expression is a part of, by the methods that share memory and by indices; else ""."""
    node, is_part = value, False
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _PARTS:
            node = node.func.value
        elif isinstance(node, ast.Attribute) and node.attr in _PARTS:
            node = node.value
        else:
            return ""
        is_part = True
    return node.id if is_part else ""
