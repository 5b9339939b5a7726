"""Containers: what is in lists, dictionaries and tuples."""

from __future__ import annotations

import ast
from collections.abc import Mapping, MutableMapping, MutableSequence, MutableSet, Sequence, Set

from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.syntax.names import EITHER_DEVICE
from torch2ms.translator.values.kinds import UNKNOWN, Kind, join

__all__ = [
    "CHANGING",
    "CONTAINERS",
    "NOTHING",
    "OF_NETWORKS",
    "PUTTING",
    "TENSOR_MAKERS",
    "added",
    "batch_of",
    "common",
    "container_method",
    "either",
    "element_of",
    "is_module_dict",
    "is_module_list",
    "item_of",
    "makes_tensor",
    "moves",
    "nothing_in",
    "of_arguments",
    "of_joined",
    "value_of",
]

# What an empty list or dictionary holds: whatever is put into it later.
NOTHING = Kind("none", evidence="nothing yet")


def moves(kind: Kind) -> bool:
    """Whether an argument of ``.to`` says a device or a dtype: then the receiver is a tensor (or a network)."""
    return kind.name in ("device", "dtype") or kind.name == "api"


def of_arguments(result: Kind, arguments: Sequence[Kind]) -> Kind:
    """Return the kind of what a function gives, where a table row says that of its arguments."""
    if result.name == "arguments" and len(arguments) > 1:
        return Kind("tuple", items=tuple(arguments))
    if result.name in ("argument", "arguments"):
        return arguments[0] if arguments else UNKNOWN
    return result


def common(kinds: list[Kind]) -> Kind:
    """Return what holds of all of several values."""
    if not kinds:
        return UNKNOWN
    result = kinds[0]
    for kind in kinds[1:]:
        result = join(result, kind)
    return result


def either(one: Kind, other: Kind) -> Kind:
    """Return the kind of a value that is one of two; ``torch.cuda if use_cuda else torch`` is torch."""
    if {one.of, other.of} == EITHER_DEVICE and one.name == other.name == "api":
        return one if one.of == "torch" else other
    return join(one, other)


def element_of(kind: Kind) -> Kind:
    """Return the kind of what iterating over, indexing or unpacking a value gives."""
    if kind.is_tensor:
        return Kind("Tensor", kind.of if kind.name == "Tensor" else "", evidence="part of a tensor")
    if kind.name in ("list", "iterator"):
        return _filled(kind.items[0]) if kind.items else UNKNOWN
    if kind.name in ("tuple", "dict"):
        return _filled(common(list(kind.items)))
    if kind.name == "DataLoader":
        # One tensor or several: what is done with either - methods, indexing, unpacking - is the same on this kind.
        return Kind("Tensor", evidence="batch of a DataLoader")
    if kind.name == "Module":
        held = element_of(kind.items[0]) if is_module_list(kind) else UNKNOWN
        return held if _is_one_layer(held) else Kind("Module", evidence="part of a container")
    if kind.name == "Size":
        return Kind("int")
    if kind.name in ("ndarray", "str"):
        return kind
    if kind.name == "api" and kind.of.endswith(".__dict__"):  # any class or function of a torch module
        return Kind("factory", f"{kind.of.removesuffix('.__dict__')}.*")
    return UNKNOWN


def _filled(kind: Kind) -> Kind:
    """Return the kind of an element; of a container that is still empty nothing is known."""
    return UNKNOWN if kind.name == "none" else kind


def value_of(kind: Kind, key: object) -> Kind:
    """Return the kind of a dictionary's value at a key that is known."""
    keys = kind.of.split("|") if kind.of else []
    if isinstance(key, str) and key in keys:
        return _filled(kind.items[keys.index(key)])
    return element_of(kind)


# Networks whose kind holds the kind of what they were made of
CONTAINERS = (".Sequential", ".ModuleList", ".ModuleDict", ".DataParallel")


# Layers with weights; how an activation computes depends on how it was made (``inplace``), not on its class alone
_NAMES = "Linear Conv BatchNorm LayerNorm GroupNorm InstanceNorm Embedding LSTM GRU RNN Sequential ModuleList"
_WEIGHTED = tuple(f"torch.nn.{name}" for name in _NAMES.split())


def _is_one_layer(kind: Kind) -> bool:
    """Whether all of a ModuleList are of one class of the project, or of one of layers with weights."""
    one = kind.name == "Module" and "|" not in kind.of
    return one and (":" in kind.of or kind.of.startswith(_WEIGHTED))


def nothing_in(made: Kind, call: ast.Call) -> tuple[Kind, ...]:
    """Return what a ModuleList holds that is made of nothing: what is put in later."""
    is_empty = made.of.endswith(".ModuleList") and not call.args and not call.keywords
    return (Kind("list", items=(NOTHING,)),) if is_empty else ()


def is_module_list(kind: Kind) -> bool:
    """Whether a value is a ModuleList that is known to be made of a list."""
    return kind.of == "torch.nn.ModuleList" and bool(kind.items) and kind.items[0].name == "list"


def is_module_dict(kind: Kind) -> bool:
    """Whether a value is a ModuleDict whose layers are known by their names."""
    return kind.of == "torch.nn.ModuleDict" and bool(kind.items) and kind.items[0].name == "dict"


def of_joined(left: Kind, right: Kind, op: ast.operator) -> Kind:
    """Return the kind of what an operator makes of containers of layers: ``first + second``, ``block * 3``."""
    for whole, other in ((left, right), (right, left)):
        if whole.name != "Module":
            continue
        if whole.of == "torch.nn.Sequential":
            is_made = other.name == "int" if isinstance(op, ast.Mult) else left.same(right) and isinstance(op, ast.Add)
            return whole if is_made else UNKNOWN
        if whole.of == "torch.nn.ModuleList" and whole is left and isinstance(op, ast.Add):
            return Kind("Module", whole.of) if right.name in ("Module", "list") else UNKNOWN
    return UNKNOWN


def batch_of(kind: Kind) -> Kind:
    """Return the batch that default collation makes of such elements."""
    if kind.name in ("tuple", "dict"):
        parts = tuple(batch_of(part) for part in kind.items)
        return Kind("tuple" if kind.name == "tuple" else "dict", kind.of, parts, "batch of a DataLoader")
    if kind.name == "list":
        return Kind("list", items=tuple(batch_of(part) for part in kind.items))
    if kind.name == "str":
        return Kind("list", items=(kind,))
    return Kind("Tensor", evidence="batch of a DataLoader")


# Transforms that give a tensor whatever they get.
TENSOR_MAKERS = (".ToTensor", ".PILToTensor", ".ToImage")


def makes_tensor(call: ast.Call) -> bool:
    """Whether a composition of transforms has one that makes a tensor."""
    names = [getattr(n.func, "attr", getattr(n.func, "id", "")) for n in walk(call) if isinstance(n, ast.Call)]
    return any(f".{name}" in TENSOR_MAKERS for name in names)


def added(kind: Kind, value: Kind) -> Kind:
    """Return the kind of a list or dictionary that another value was put into; of a ModuleList likewise."""
    if is_module_list(kind):
        return Kind("Module", kind.of, (added(kind.items[0], value),), kind.evidence)
    held = common(list(kind.items)) if kind.items else UNKNOWN
    return Kind(kind.name, "", (join(held, value),), kind.evidence)


_DICT_METHODS = {
    "items": "tuple",
    "values": "value",
    "keys": "key",
    "get": "value",
    "pop": "value",
    "setdefault": "value",
}


def container_method(base: Kind, name: str) -> Kind:
    """Return what a method of a list, tuple, dictionary, iterator or NumPy array gives."""
    if base.name == "ndarray":
        if name == "nonzero":
            return Kind("iterator", items=(Kind("ndarray"),))
        return Kind("ndarray") if name not in ("item", "tolist") else Kind("python")
    if base.name == "dict":
        value = element_of(base)
        what = _DICT_METHODS.get(name)
        if what == "tuple":
            return Kind("iterator", items=(Kind("tuple", items=(UNKNOWN, value)),))
        if what == "value":
            return Kind("iterator", items=(value,)) if name == "values" else value
        return Kind("iterator", items=(UNKNOWN,)) if what == "key" else UNKNOWN
    if name in ("pop",):
        return element_of(base)
    if name in ("copy",):
        return base
    if name in ("index", "count"):
        return Kind("int")
    return Kind("none") if name in ("append", "extend", "insert", "sort", "reverse", "clear") else UNKNOWN


_CHANGED = ((MutableSequence, Sequence), (MutableMapping, Mapping), (MutableSet, Set))
# What a network keeps its parts in: ``self._modules["0"] = layer`` makes it no attribute of the class's own
OF_NETWORKS = frozenset({"_parameters", "_modules", "_buffers"})
# Methods that put something into a container, and all that change one
PUTTING = frozenset({"append", "appendleft", "add", "insert", "setdefault", "extend", "update"})
CHANGING = PUTTING.union(*(set(dir(own)) - set(dir(fixed)) for own, fixed in _CHANGED))


def item_of(kind: Kind, index: int, count: int) -> Kind:
    """Return the kind of one element of an unpacked value."""
    if kind.name == "tuple" and len(kind.items) == count:
        return kind.items[index]
    return element_of(kind)
