"""The results of Python's own functions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from torch2ms.translator.values.kinds import UNKNOWN, Kind, join

__all__ = ["TUPLE", "asks_for_collection", "builtin_result", "literal_name", "made_dict"]

TUPLE = "made a tuple"  # evidence for a tuple of one kind of elements, however many

_FIXED: dict[str, Kind] = {
    "len": Kind("int"),
    "int": Kind("int"),
    "round": Kind("int"),
    "id": Kind("int"),
    "float": Kind("float"),
    "bool": Kind("bool"),
    "isinstance": Kind("bool"),
    "issubclass": Kind("bool"),
    "hasattr": Kind("bool"),
    "callable": Kind("bool"),
    "any": Kind("bool"),
    "all": Kind("bool"),
    "str": Kind("str"),
    "repr": Kind("str"),
    "format": Kind("str"),
    "input": Kind("str"),
    "print": Kind("none"),
    "range": Kind("iterator", items=(Kind("int"),)),
    "open": Kind("python"),
    "vars": Kind("dict"),
}
_COLLECTIONS = frozenset({"tuple", "list", "dict", "set", "str"})
_SAME_ELEMENTS = frozenset({"list", "tuple", "sorted", "reversed", "set", "iter", "filter"})


def asks_for_collection(test: ast.expr, kinds: Mapping[ast.AST, Kind]) -> bool:
    """Whether a test asks of what is a tensor if it is a collection: ``y[0] if isinstance(y, tuple) else y``."""
    if not isinstance(test, ast.Call) or getattr(test.func, "id", "") != "isinstance" or len(test.args) != 2:
        return False
    asked, classes = test.args
    names = [getattr(name, "id", "") for name in (classes.elts if isinstance(classes, ast.Tuple) else [classes])]
    return kinds.get(asked, UNKNOWN).is_tensor and _COLLECTIONS.issuperset(names)


def literal_name(node: ast.expr) -> str:
    """Return the identifier of a plain name, else an empty string."""
    return node.id if isinstance(node, ast.Name) else ""


def made_dict(given: Kind) -> Kind:
    """Return the kind of ``dict(given)``: of another dictionary, or of pairs such as ``net.named_parameters()``."""
    if given.name == "dict":
        return given
    pair = given.items[0] if given.name in ("iterator", "list") and given.items else UNKNOWN
    is_pair = pair.name == "tuple" and len(pair.items) == 2 and pair.items[1].known
    return Kind("dict", items=pair.items[1:]) if is_pair else Kind("dict")


def builtin_result(name: str, node: ast.Call, arguments: list[Kind], attribute: Callable[[Kind, str], Kind]) -> Kind:
    """Return the kind of ``name(...)`` for a Python builtin."""
    from torch2ms.translator.values.containers import element_of

    if name in _FIXED:
        return _FIXED[name]
    first = arguments[0] if arguments else UNKNOWN
    if name == "dict":
        return made_dict(first)
    if name in _SAME_ELEMENTS:
        if first.name == "tuple" and name in ("list", "tuple"):
            return first
        if first.name == "Module":
            return Kind("list", items=(element_of(first),))
        element = element_of(first)
        return Kind("list", items=(element,) if element.known else (), evidence=TUPLE if name == "tuple" else "")
    if name == "enumerate":
        return Kind("iterator", items=(Kind("tuple", items=(Kind("int"), element_of(first))),))
    if name == "zip":
        return Kind("iterator", items=(Kind("tuple", items=tuple(element_of(kind) for kind in arguments)),))
    if name == "next":
        return element_of(first)
    if name == "sum":
        return element_of(first)
    if name in ("max", "min"):
        result = first if len(arguments) > 1 else element_of(first)
        for kind in arguments[1:]:
            result = join(result, kind)
        return result if result.name in ("int", "float", "ndarray", "Tensor") else UNKNOWN
    if name == "abs":
        return Kind("Tensor", first.of) if first.name == "Parameter" else first
    if name == "getattr" and len(node.args) >= 2:
        key = node.args[1]
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            return attribute(first, key.value)
        return element_of(Kind("api", f"{first.of}.__dict__")) if first.name in ("api", "module") else UNKNOWN
    return UNKNOWN
