"""Containers and libraries: what is in lists, dictionaries and tuples, and what other packages return."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from torch2ms.translator.kinds import UNKNOWN, Kind, join
from torch2ms.translator.trees import walk

__all__ = [
    "CONTAINERS",
    "NOTHING",
    "OF_TENSORS",
    "PUTTING",
    "TENSOR_MAKERS",
    "added",
    "batch_of",
    "common",
    "container_method",
    "element_of",
    "is_module_dict",
    "library_result",
    "makes_tensor",
    "moves",
    "of_arguments",
    "of_settings",
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


_SETTINGS = "argparse.Namespace"


def of_settings(base: Kind, name: str) -> Kind:
    """Return the kind of a method's result on an object that is no torch's.

    Settings hold anything, classes as well: ``args.model_class(args)`` may be a network.
    """
    if name == "parse_args":
        return Kind("python", _SETTINGS)
    if name == "parse_known_args":
        return Kind("tuple", items=(Kind("python", _SETTINGS), Kind("list", items=(Kind("str"),))))
    return UNKNOWN if base.of == _SETTINGS else Kind("python")


def common(kinds: list[Kind]) -> Kind:
    """Return what holds of all of several values."""
    if not kinds:
        return UNKNOWN
    result = kinds[0]
    for kind in kinds[1:]:
        result = join(result, kind)
    return result


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
        return Kind("Module", evidence="part of a container")
    if kind.name == "Size":
        return Kind("int")
    if kind.name in ("ndarray", "str"):
        return kind
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


def is_module_dict(kind: Kind) -> bool:
    """Whether a value is a ModuleDict whose layers are known by their names."""
    return kind.of == "torch.nn.ModuleDict" and bool(kind.items) and kind.items[0].name == "dict"


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
    """Return the kind of a list or dictionary that another value was put into."""
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


# Libraries whose results are certainly no torch objects; of any other library nothing is known.
_PYTHON_LIBRARIES = frozenset(
    """argparse json math os sys re time datetime random pathlib logging collections itertools glob shutil pickle
    csv yaml functools subprocess tempfile warnings typing enum string struct inspect hashlib platform socket""".split()
)


# Functions of numpy that give several arrays, or one or several.
_SEVERAL_ARRAYS = frozenset(
    """ix_ where nonzero unravel_index triu_indices tril_indices diag_indices indices meshgrid ogrid mgrid split
    array_split histogram unique load s_ index_exp broadcast_arrays""".split()
)


# Those that give several whatever they get, and functions of random that give elements of what they get.
_LISTED = frozenset(
    f"numpy.{name}"
    for name in ("nonzero", "unravel_index", "triu_indices", "tril_indices", "ix_", "diag_indices", "split")
)
_PICKS = frozenset({"random.choice", "random.choices", "random.sample"})


# Functions of numpy by element, and torch's: of a torch tensor they give a tensor.
OF_TENSORS = {
    f"numpy.{name}": f"torch.{name}"
    for name in """abs arctan ceil cos cosh exp expm1 floor log log10 log1p log2 sign sin sinh sqrt square tan
    tanh""".split()
}


# Methods that put something into a container.
PUTTING = frozenset({"append", "appendleft", "add", "insert", "setdefault", "extend", "update"})

# Functions of numpy.random that give Python's numbers unless a shape is named, with the arguments they take before it.
_DRAWS = {"rand": 0, "randn": 0, "random": 0, "random_sample": 0, "exponential": 1, "beta": 2, "gamma": 2, "normal": 2,
          "randint": 2, "uniform": 2}  # fmt: skip


def gives_array(node: ast.Call) -> bool:
    """Whether the arguments of a function of numpy's say that it gives one array, whatever its name: a ``size``."""
    if isinstance(node.func, ast.Attribute) and node.func.attr == "unique":  # with settings it gives several
        return len(node.args) == 1 and not node.keywords
    return any(keyword.arg == "size" for keyword in node.keywords)


def library_result(name: str, arguments: Sequence[Kind] = ()) -> Kind:
    """Return what a function of another package gives, where that is certain."""
    root = name.partition(".")[0]
    if len(arguments) == 1 and arguments[0].is_tensor and name in OF_TENSORS:
        return Kind("Tensor", evidence="numpy's function of a tensor")
    if name in _LISTED or (name == "numpy.where" and len(arguments) == 1):
        return Kind("iterator", items=(Kind("ndarray"),))
    if name.rpartition(".")[2] in _SEVERAL_ARRAYS:
        return UNKNOWN
    if name in _PICKS and arguments:
        element = element_of(arguments[0])
        return element if name == "random.choice" else Kind("list", items=(element,) if element.known else ())
    if name.startswith("numpy.random.") and len(arguments) <= _DRAWS.get(name.rpartition(".")[2], -1):
        return UNKNOWN  # a number, which has no item()
    if root in ("numpy", "cv2"):
        return Kind("ndarray")
    if root == "PIL":
        return Kind("image")
    if name in ("copy.deepcopy", "copy.copy"):
        return arguments[0] if len(arguments) == 1 else UNKNOWN
    if root not in _PYTHON_LIBRARIES:
        return UNKNOWN
    if root == "math":
        return Kind("float") if name not in ("math.ceil", "math.floor", "math.prod") else Kind("int")
    return Kind("python")
