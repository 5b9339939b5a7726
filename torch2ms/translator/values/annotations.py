"""The kind an annotation promises."""

from __future__ import annotations

import ast
from collections.abc import Callable

from torch2ms.translator.syntax.ast_walk import parse_string
from torch2ms.translator.values.families import instance_of
from torch2ms.translator.values.kinds import UNKNOWN, Kind, KindName, join

__all__ = ["annotated"]

_PLAIN: dict[str, KindName] = {"int": "int", "float": "float", "bool": "bool", "str": "str", "None": "none"}
_SEQUENCES = frozenset({"List", "list", "Sequence", "Iterable", "Set", "set", "MutableSequence", "Collection"})
_WRAPPERS = frozenset({"Optional", "Final", "ClassVar", "Annotated"})


def annotated(node: ast.expr | None, kind_of: Callable[[ast.expr], Kind], family_of: Callable[[str], Kind]) -> Kind:
    """Return the kind of a value annotated with ``node``.

    ``kind_of`` gives the kind of a name in the annotation, ``family_of`` that of an instance of a project class.
    """
    if node is None:
        return UNKNOWN
    if isinstance(node, ast.Constant):
        if node.value is None:
            return Kind("none", evidence="annotation")
        if isinstance(node.value, str):
            quoted = parse_string(node.value, "eval")
            return annotated(quoted.body, kind_of, family_of) if isinstance(quoted, ast.Expression) else UNKNOWN
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return join(annotated(node.left, kind_of, family_of), annotated(node.right, kind_of, family_of))
    if isinstance(node, ast.Subscript):
        return _generic(node, kind_of, family_of)
    if isinstance(node, ast.Name) and node.id in _PLAIN:
        return Kind(_PLAIN[node.id], evidence="annotation")
    if isinstance(node, (ast.Name, ast.Attribute)):
        name = node.id if isinstance(node, ast.Name) else node.attr
        kind = kind_of(node)
        if kind.name == "api" and "|" not in kind.of:
            return instance_of(kind.of).because("annotation")
        if kind.name == "class":
            return family_of(kind.of).because("annotation")
        if name in ("ndarray", "NDArray"):
            return Kind("ndarray", evidence="annotation")
        if name in _SEQUENCES:
            return Kind("list", evidence="annotation")
        if name in ("Dict", "dict", "Mapping", "OrderedDict"):
            return Kind("dict", evidence="annotation")
        if name in ("Tuple", "tuple"):
            return Kind("tuple", evidence="annotation")
    return UNKNOWN


def _generic(node: ast.Subscript, kind_of: Callable[[ast.expr], Kind], family_of: Callable[[str], Kind]) -> Kind:
    head = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    inner = [annotated(part, kind_of, family_of) for part in parts]
    if head in _WRAPPERS:
        return inner[0]
    if head == "Union":
        found = inner[0]
        for kind in inner[1:]:
            found = join(found, kind)
        return found
    if head in _SEQUENCES:
        return Kind("list", items=(inner[0],), evidence="annotation")
    if head in ("Tuple", "tuple"):
        if len(parts) == 2 and isinstance(parts[1], ast.Constant) and parts[1].value is Ellipsis:
            return Kind("list", items=(inner[0],), evidence="annotation")
        return Kind("tuple", items=tuple(inner), evidence="annotation")
    if head in ("Dict", "dict", "Mapping", "OrderedDict", "DefaultDict"):
        return Kind("dict", items=(inner[-1],), evidence="annotation")
    if head in ("Iterator", "Generator"):
        return Kind("iterator", items=(inner[0],), evidence="annotation")
    return UNKNOWN
