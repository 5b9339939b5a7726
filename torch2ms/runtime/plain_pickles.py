"""Pickles of containers, numbers and arrays, read by an interpreter of their opcodes that runs nothing they name.

``pickle.Unpickler`` trusts its input: an index of the memo allocates the memo, a key that is a tuple of tuples is
hashed without end. Here every opcode costs the bytes that it stands in, and what makes more of its arguments (a list of
a range, bytes of a number) is charged to a :class:`~.budget.Budget`::

    Machine(io.BytesIO(content), find, Budget(len(content))).load()

Arrays and element types are finished by :func:`finished`, since a pickle fills them after it has named them.
"""

from __future__ import annotations

import argparse
import collections
import pathlib
import pickletools
from typing import Any, BinaryIO, Callable, Dict, List, Optional, Sequence, Tuple, Type

import numpy as np

from .budget import DEPTH, Budget, BudgetError

__all__ = ["Array", "ElementType", "Machine", "Made", "Name", "PickleError", "finished", "shown"]

_SHOWN = 80
_DIGITS = 4000  # of a number written in decimals
_SIZE = 40  # bytes of a number in a container, about


class PickleError(ValueError):
    """A pickle is damaged, or needs what is not made of it."""


class Name:
    """What stands for a class or function that a pickle names: how it is called, and what it is as a value."""

    def __init__(self, make: Callable[..., Any], value: Any = None, *, needs_budget: bool = False) -> None:
        self.make = make
        self.value = value
        self.needs_budget = needs_budget


class Made:
    """Something that can only be made once the whole file is read; :func:`finished` calls ``made``."""

    def made(self, budget: Budget, finish: Callable[[Any], Any]) -> Any:
        """Return the object; ``finish`` returns what an object in it becomes."""
        raise NotImplementedError


class ElementType(Made):
    """A ``numpy.dtype``, whose byte order or fields come after it."""

    def __init__(self, text: Any, *_: Any) -> None:
        if not isinstance(text, str) or len(text) > _SHOWN:
            raise PickleError("an element type without a name")
        self.dtype = np.dtype(text)

    def set_state(self, state: Any) -> None:
        """Take the byte order, and the fields of a structured type."""
        _, order, _, names, fields, *_ = state
        if fields:
            parts = [fields[name] for name in names]
            formats = [part[0].dtype for part in parts]
            layout = {"names": list(names), "formats": formats, "offsets": [part[1] for part in parts]}
            self.dtype = np.dtype({**layout, "itemsize": self.dtype.itemsize})  # type: ignore[call-overload]
        elif order in ("<", ">"):
            self.dtype = self.dtype.newbyteorder(order)

    def made(self, budget: Budget, finish: Callable[[Any], Any]) -> Any:
        """Return the type."""
        return self.dtype


class Array(Made):
    """A NumPy array, filled by the state that comes after it."""

    def __init__(self, *_: Any) -> None:
        self.shape: Tuple[int, ...] = (0,)
        self.dtype: Any = ElementType("float64")
        self.order = "C"
        self.content: Any = b""

    def set_state(self, state: Any) -> None:
        """Take shape, element type, order and content."""
        _, shape, dtype, is_fortran, content = state
        sizes = [size for size in shape if isinstance(size, int) and size >= 0]
        if len(sizes) != len(shape) or not isinstance(dtype, ElementType):
            raise PickleError("an array without shape or element type")
        if not isinstance(content, list if dtype.dtype.hasobject else (bytes, bytearray)):
            raise PickleError("an array whose content does not fit its type")
        self.shape, self.dtype, self.content = tuple(sizes), dtype, content
        self.order = "F" if is_fortran else "C"

    def made(self, budget: Budget, finish: Callable[[Any], Any]) -> Any:
        """Return the array."""
        budget.charge(len(self.content) * (8 if isinstance(self.content, list) else 1))
        dtype = self.dtype.dtype
        if isinstance(self.content, list):
            array = np.empty(len(self.content), dtype=object)
            array[:] = [finish(item) for item in self.content]
        else:
            array = np.frombuffer(self.content, dtype) if self.content else np.empty(0, dtype)
        return array.reshape(self.shape, order=self.order).copy()  # type: ignore[call-overload]


def shown(text: object) -> str:
    """Return a name from a file for a message: short, and nothing in it that steers a terminal."""
    written = text if isinstance(text, str) else type(text).__name__
    return ascii(written[:_SHOWN])[1:-1] + ("..." if len(written) > _SHOWN else "")


def key_of(value: Any, depth: int = 0) -> Any:
    """Return a key that can be hashed in time; raises PickleError for another, such as tuples nested deeply."""
    if isinstance(value, tuple) and depth < 3 and len(value) < 64:
        for item in value:
            key_of(item, depth + 1)
        return value
    if isinstance(value, Name):  # an element type
        return value.value
    if isinstance(value, int) and value.bit_length() > 64:
        raise PickleError("a key that is no number of 64 bits")
    if value is None or isinstance(value, (int, float, complex, str, bytes, np.generic, frozenset, pathlib.PurePath)):
        return value
    raise PickleError("a key that is no number, text or short tuple of them")


def _elements(value: Any, budget: Budget) -> Sequence[Any]:
    """Return what a container that is made of another one holds, and charge for it."""
    if isinstance(value, range):
        budget.charge(_SIZE * max(0, (value.stop - value.start) // value.step + 1))
    elif isinstance(value, (list, tuple, dict, set, frozenset, collections.deque, str, bytes, bytearray)):
        budget.charge(8 + 8 * len(value))
    else:
        raise PickleError("a container made of something else")
    return list(value)


def _pairs(value: Any, budget: Budget) -> List[Tuple[Any, Any]]:
    found = list(value.items()) if isinstance(value, dict) else list(_elements(value, budget))
    budget.charge(_SIZE * len(found))
    return [(key_of(key), item) for key, item in found]


def _mapping(kind: Callable[[Any], Any]) -> Name:
    return Name(lambda budget, given=(): kind(_pairs(given, budget)), kind, needs_budget=True)


def _sequence(kind: Callable[[Any], Any]) -> Name:
    return Name(lambda budget, given=(): kind(_elements(given, budget)), kind, needs_budget=True)


def _hashed(kind: Callable[[Any], Any]) -> Name:
    def make(budget: Budget, given: Any = ()) -> Any:
        return kind([key_of(item) for item in _elements(given, budget)])

    return Name(make, kind, needs_budget=True)


def _octets(kind: Callable[[Any], Any]) -> Name:
    def make(budget: Budget, given: Any = b"", encoding: str = "latin1") -> Any:
        if isinstance(given, int):
            budget.charge(given)
            return kind(given)
        return kind(_encoded(budget, given, encoding) if isinstance(given, str) else bytes(_elements(given, budget)))

    return Name(make, kind, needs_budget=True)


def _scalar(kind: Type[Any]) -> Name:
    def make(*given: Any) -> Any:
        if not all(isinstance(item, (int, float, str)) and len(_decimals(item)) < _DIGITS for item in given):
            raise PickleError("a number made of something else")
        return kind(*given)

    return Name(make, kind)


def _decimals(value: Any) -> Any:
    """Return a text, or one about as long as the number: the decimals of a long one take time squared to write."""
    return value if isinstance(value, str) else range(value.bit_length() // 3 if isinstance(value, int) else 1)


def _encoded(budget: Budget, text: str, encoding: str = "latin1") -> bytes:
    if encoding not in ("latin1", "latin-1", "utf-8", "utf8", "ascii"):
        raise PickleError("bytes in an encoding that no file of weights has")
    budget.charge(4 * len(text))
    return text.encode(encoding)


def _text(budget: Budget, given: Any = "") -> str:
    if not isinstance(given, str):
        given = _scalar(str).make(given)
    return str(given)


def _default(budget: Budget, factory: Any = None, given: Any = ()) -> Any:
    kind = factory.value if isinstance(factory, Name) else None
    return collections.defaultdict(kind if isinstance(kind, type) else None, _pairs(given, budget))


def _queue(budget: Budget, given: Any = (), length: Optional[int] = None) -> Any:
    return collections.deque(_elements(given, budget), length)


def _counted(budget: Budget, given: Any = ()) -> Any:
    return collections.Counter(dict(_pairs(given, budget)))


def _path(budget: Budget, *parts: Any) -> Any:
    if not all(isinstance(part, (str, pathlib.PurePath)) for part in parts):
        raise PickleError("a path made of something else")
    path = pathlib.PurePath(*parts)
    budget.charge(_SIZE * len(path.parts) + len(str(path)))
    return path


def _bounds(kind: Callable[..., Any]) -> Name:
    def make(*given: Any) -> Any:
        if not all(item is None or (isinstance(item, int) and item.bit_length() < 64) for item in given):
            raise PickleError("a range or slice that is not one of numbers")
        return kind(*given)

    return Name(make, kind)


def _numpy_scalar(dtype: Any, content: Any) -> Any:
    if not isinstance(dtype, ElementType) or dtype.dtype.hasobject:
        raise PickleError("a number without element type")
    return np.frombuffer(content, dtype.dtype, 1)[0]


_BUILTINS: Dict[str, Name] = {
    "list": _sequence(list), "tuple": _sequence(tuple), "dict": _mapping(dict), "set": _hashed(set),
    "frozenset": _hashed(frozenset), "bytes": _octets(bytes), "bytearray": _octets(bytearray), "int": _scalar(int),
    "float": _scalar(float), "complex": _scalar(complex), "bool": _scalar(bool), "slice": _bounds(slice),
    "range": _bounds(range), "str": Name(_text, str, needs_budget=True),
}  # fmt: skip
NAMES: Dict[Tuple[str, str], Name] = {
    ("collections", "OrderedDict"): _mapping(collections.OrderedDict),
    ("collections", "defaultdict"): Name(_default, collections.defaultdict, needs_budget=True),
    ("collections", "Counter"): Name(_counted, collections.Counter, needs_budget=True),
    ("collections", "deque"): Name(_queue, collections.deque, needs_budget=True),
    ("argparse", "Namespace"): Name(argparse.Namespace, argparse.Namespace),
    ("_codecs", "encode"): Name(_encoded, needs_budget=True),
    **{
        ("pathlib", name): Name(_path, pathlib.PurePath, needs_budget=True)
        for name in ("PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath")
    },
    **{(module, name): made for module in ("builtins", "__builtin__") for name, made in _BUILTINS.items()},
    ("__builtin__", "xrange"): _BUILTINS["range"],  # as protocol 2 has it
    ("__builtin__", "unicode"): _BUILTINS["str"],
    ("__builtin__", "long"): _BUILTINS["int"],
}
NUMPY: Dict[str, Name] = {  # in a module whose name differs by release
    "dtype": Name(ElementType, np.dtype), "ndarray": Name(Array, np.ndarray), "_reconstruct": Name(Array),
    "scalar": Name(_numpy_scalar),
}  # fmt: skip
Find = Callable[[str, str], Name]


class Machine:
    """Makes the object of one pickle, reading no further than its end.

    ``find`` returns what stands for a class or function, and ``persistent`` for what lies outside of the pickle.
    """

    def __init__(
        self, stream: BinaryIO, find: Find, budget: Budget, persistent: Optional[Callable[[Any], Any]] = None
    ) -> None:
        self._stream = stream
        self._find = find
        self._budget = budget
        self._persistent = persistent
        self._stack: List[Any] = []
        self._marks: List[int] = []
        self._memo: Dict[int, Any] = {}

    def load(self) -> Any:
        """Return the object. Raises PickleError, or ValueError, TypeError, IndexError, KeyError of a damaged pickle."""
        for opcode, argument, _ in pickletools.genops(self._stream):
            if opcode.name in _VALUES:
                self._stack.append(_VALUES[opcode.name](argument))
            elif opcode.name == "STOP":
                return self._stack.pop()
            else:
                step = _STEPS.get(opcode.name)
                if step is None:
                    raise PickleError(f"the opcode {opcode.name}, which no file of weights has")
                step(self, argument)
        raise PickleError("it has no end")

    # ---- the stack

    def _since_mark(self) -> List[Any]:
        start = self._marks.pop()
        items = self._stack[start:]
        del self._stack[start:]
        return items

    def _mark(self, _: Any) -> None:
        self._marks.append(len(self._stack))

    def _pop(self, _: Any) -> None:
        if self._marks and self._marks[-1] == len(self._stack):
            self._marks.pop()
        else:
            self._stack.pop()

    def _keep(self, key: Any) -> None:
        self._memo[len(self._memo) if key is None else key] = self._stack[-1]

    def _fetch(self, key: Any) -> None:
        self._stack.append(self._memo[key])

    # ---- containers

    def _tuple(self, items: List[Any]) -> None:
        self._stack.append(tuple(items))

    def _tuple_of(self, number: int) -> None:
        items = self._stack[len(self._stack) - number :]
        if len(items) != number:
            raise PickleError("a tuple without its items")
        del self._stack[len(self._stack) - number :]
        self._tuple(items)

    def _dict(self, _: Any) -> None:
        items = self._since_mark()
        self._stack.append({})
        self._set_items(items)

    def _set_items(self, items: List[Any]) -> None:
        target = self._stack[-1]
        if not isinstance(target, dict) or len(items) % 2:
            raise PickleError("items of what is no dictionary")
        target.update(zip(map(key_of, items[::2]), items[1::2]))

    def _append(self, items: List[Any]) -> None:
        target = self._stack[-1]
        if not isinstance(target, (list, collections.deque)):
            raise PickleError("items of what is no list")
        target.extend(items)

    def _add(self, items: List[Any]) -> None:
        if not isinstance(self._stack[-1], set):
            raise PickleError("items of what is no set")
        self._stack[-1].update(map(key_of, items))

    # ---- classes and functions

    def _global(self, module: Any, name: Any) -> None:
        if not isinstance(module, str) or not isinstance(name, str):
            raise PickleError("a class without a name")
        self._stack.append(self._find(module, name))

    def _call(self, function: Any, arguments: Any, keywords: Any = None) -> None:
        if not isinstance(function, Name) or not isinstance(arguments, (tuple, list)) or keywords:
            raise PickleError("a call of what is no function")
        given = (self._budget, *arguments) if function.needs_budget else arguments
        self._stack.append(function.make(*given))

    def _reduce(self, _: Any) -> None:
        arguments, function = self._stack.pop(), self._stack.pop()
        self._call(function, arguments)

    def _new_with_keywords(self, _: Any) -> None:
        keywords, arguments, function = self._stack.pop(), self._stack.pop(), self._stack.pop()
        self._call(function, arguments, keywords)

    def _build(self, _: Any) -> None:
        state, target = self._stack.pop(), self._stack[-1]
        if isinstance(target, (Array, ElementType)):
            target.set_state(state)
        elif isinstance(target, (collections.OrderedDict, argparse.Namespace)) and isinstance(state, dict):
            new = {key: item for key, item in state.items() if isinstance(key, str) and not hasattr(type(target), key)}
            vars(target).update(new)
        else:
            raise PickleError("a state of what has none")

    def _outside(self, name: Any) -> None:
        if self._persistent is None:
            raise PickleError("a storage, where there is none")
        self._stack.append(self._persistent(name))


def _same(value: Any) -> Any:
    return value


def _python2_text(value: str) -> str:
    return value.encode("latin1").decode("utf-8")


_VALUES: Dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(
        "INT BININT BININT1 BININT2 LONG LONG1 LONG4 FLOAT BINFLOAT BINBYTES SHORT_BINBYTES BINBYTES8 UNICODE "
        "SHORT_BINUNICODE BINUNICODE BINUNICODE8".split(),
        _same,
    ),
    **dict.fromkeys(("STRING", "BINSTRING", "SHORT_BINSTRING"), _python2_text),
    "BYTEARRAY8": bytearray,
    "NONE": _same,
    "NEWTRUE": lambda _: True,
    "NEWFALSE": lambda _: False,
    "EMPTY_LIST": lambda _: [],
    "EMPTY_TUPLE": lambda _: (),
    "EMPTY_DICT": lambda _: {},
    "EMPTY_SET": lambda _: set(),
}
_STEPS: Dict[str, Callable[[Machine, Any], None]] = {
    "PROTO": lambda m, a: None,
    "FRAME": lambda m, a: None,
    "MARK": Machine._mark,
    "POP": Machine._pop,
    "POP_MARK": lambda m, a: m._since_mark().clear(),
    "DUP": lambda m, a: m._stack.append(m._stack[-1]),
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"), Machine._keep),
    **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), Machine._fetch),
    "TUPLE": lambda m, a: m._tuple(m._since_mark()),
    "TUPLE1": lambda m, a: m._tuple_of(1),
    "TUPLE2": lambda m, a: m._tuple_of(2),
    "TUPLE3": lambda m, a: m._tuple_of(3),
    "LIST": lambda m, a: m._stack.append(m._since_mark()),
    "DICT": Machine._dict,
    "FROZENSET": lambda m, a: m._stack.append(frozenset(map(key_of, m._since_mark()))),
    "APPEND": lambda m, a: m._append([m._stack.pop()]),
    "APPENDS": lambda m, a: m._append(m._since_mark()),
    "SETITEM": lambda m, a: m._set_items([m._stack.pop(), m._stack.pop()][::-1]),
    "SETITEMS": lambda m, a: m._set_items(m._since_mark()),
    "ADDITEMS": lambda m, a: m._add(m._since_mark()),
    "GLOBAL": lambda m, a: m._global(*a.split(" ", 1)),
    "STACK_GLOBAL": lambda m, a: m._global(*[m._stack.pop(), m._stack.pop()][::-1]),
    "REDUCE": Machine._reduce,
    "NEWOBJ": Machine._reduce,
    "NEWOBJ_EX": Machine._new_with_keywords,
    "BUILD": Machine._build,
    "PERSID": Machine._outside,
    "BINPERSID": lambda m, a: m._outside(m._stack.pop()),
}


def finished(value: Any, budget: Budget) -> Any:
    """Return an object with all in it made, each thing once; containers are changed in place where that can be.

    Raises BudgetError for containers nested deeper than DEPTH.
    """
    kept: Dict[int, Tuple[Any, Any]] = {}  # what stands for an object, by its identity, and the object, to keep it

    def finish(value: Any, depth: int) -> Any:
        if not isinstance(value, (Made, Name, dict, list, tuple, collections.deque, argparse.Namespace)):
            return value
        if id(value) in kept:
            return kept[id(value)][1]
        if depth > DEPTH:
            raise BudgetError(f"its containers are nested deeper than {DEPTH}")
        made = value
        if isinstance(value, Made):
            made = value.made(budget, lambda item: finish(item, depth + 1))
        elif isinstance(value, Name):
            made = value.value
        elif isinstance(value, tuple):
            made = tuple(finish(item, depth + 1) for item in value) if type(value) is tuple else value
        kept[id(value)] = value, made
        if isinstance(value, argparse.Namespace):
            finish(vars(value), depth + 1)
        elif isinstance(value, dict):
            for key in list(value):
                value[key] = finish(value[key], depth + 1)
        elif isinstance(value, (list, collections.deque)):
            items = [finish(item, depth + 1) for item in value]
            value.clear()
            value.extend(items)
        return made

    return finish(value, 0)
