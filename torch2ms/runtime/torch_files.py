"""Data that ``torch.save`` wrote, read without PyTorch: tensors, arrays and numbers in dicts, lists and tuples.

Both formats of PyTorch: a zip archive with the storages beside the pickle, and the older row of pickles with the
storages behind them. No code of the file is run. The weights of a network (a ``state_dict``) are refused: MindSpore's
layers have other names and shapes for some of them, which ``convert_weights.py`` knows.
"""

from __future__ import annotations

import argparse
import builtins
import collections
import io
import pathlib
import pickle
import zipfile
from typing import Any, BinaryIO, Callable, Dict, List, Literal, Tuple, cast

import mindspore as ms
import numpy as np

__all__ = ["Unreadable", "is_torch_file", "read"]

_STORAGES = {
    "FloatStorage": "float32", "DoubleStorage": "float64", "HalfStorage": "float16", "BFloat16Storage": "uint16",
    "LongStorage": "int64", "IntStorage": "int32", "ShortStorage": "int16", "CharStorage": "int8",
    "ByteStorage": "uint8", "BoolStorage": "bool", "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
}  # fmt: skip
_PLAIN = ("set", "frozenset", "complex", "slice", "range", "bytearray", "int", "float", "bool", "str", "list", "dict",
          "tuple", "bytes")  # fmt: skip
_OF_NUMPY = ("_reconstruct", "ndarray", "dtype", "scalar", "_frombuffer")
_MAGIC = 0x1950A86A20F9469CFC6C
_BFLOAT16 = "BFloat16Storage"


class Unreadable(ValueError):
    """A file of PyTorch that holds more than data, or is damaged."""


def is_torch_file(start: bytes) -> bool:
    """Whether a file that begins with these bytes was written by ``torch.save``."""
    return start[:4] == b"PK\x03\x04" or start[:2] == b"\x80\x02"


def read(content: bytes) -> Any:
    """Return what the bytes of a PyTorch file hold.

    Raises Unreadable for weights, for what is of a class that a program defines, and for damage.
    """
    try:
        found = _of_archive(content) if content[:2] == b"PK" else _of_pickles(content)
    except Unreadable:
        raise
    except Exception as error:  # whatever pickle and zipfile make of damaged bytes
        raise Unreadable(f"it is damaged: {error}") from error
    return _tensors(found)


class _View:
    """A tensor of the file: an array over its storage, whose values may be read later."""

    def __init__(self, array: Any, is_bfloat16: bool) -> None:
        self.array, self.is_bfloat16 = array, is_bfloat16

    def tensor(self) -> ms.Tensor:
        """Return the tensor, with memory of its own."""
        array = np.array(self.array, order="C")
        if self.is_bfloat16:
            return ms.Tensor((array.astype(np.uint32) << 16).view(np.float32)).astype(ms.bfloat16)
        return ms.Tensor(array)


class _Ordered(collections.OrderedDict):  # type: ignore[type-arg]
    """An OrderedDict that is told when it is the ``state_dict`` of a network."""

    def __setstate__(self, state: Any) -> None:
        if isinstance(state, dict) and "_metadata" in state:
            raise Unreadable("it holds the weights of a network")
        self.__dict__.update(state)


class _Reader(pickle.Unpickler):
    """Reads the pickle of a file; ``storage`` gives the array of a storage by its type, its key and its size."""

    def __init__(self, stream: BinaryIO, storage: Callable[[str, str, int], Any]) -> None:
        super().__init__(stream, encoding="utf-8")
        self.storage = storage

    def persistent_load(self, pid: Any) -> Tuple[Any, bool]:
        """Return a storage, and whether it is of bfloat16."""
        kind, storage_type, key, _, size = pid[:5]
        if kind != "storage" or not isinstance(storage_type, str) or (len(pid) > 5 and pid[5] is not None):
            raise Unreadable(f"it holds a {kind} of an unknown kind")
        return self.storage(_STORAGES[storage_type], str(key), int(size)), storage_type == _BFLOAT16

    def find_class(self, module: str, name: str) -> Any:
        """Return what stands for a class or a function of the pickle; those of a program are refused."""
        if module == "torch._utils" and name in ("_rebuild_tensor_v2", "_rebuild_tensor"):
            return _view
        if module == "torch._utils" and name == "_rebuild_parameter":
            return lambda data, *_: data
        if module in ("torch", "torch.storage") and name in _STORAGES:
            return name
        if module == "torch" and name == "Size":
            return tuple
        if module == "torch" and name == "device":
            return lambda kind, index=None: kind if index is None else f"{kind}:{index}"
        if module == "torch" and isinstance(getattr(ms, name, None), type(ms.float32)):
            return getattr(ms, name)
        if module.partition(".")[0] == "numpy" and name in _OF_NUMPY:
            return super().find_class(module.replace("numpy._core", "numpy.core"), name)
        if module in ("builtins", "__builtin__") and name in _PLAIN:
            return getattr(builtins, name)
        known = {("collections", "OrderedDict"): _Ordered, ("argparse", "Namespace"): argparse.Namespace}
        if (module, name) in known:
            return known[module, name]
        if module == "collections" and name in ("defaultdict", "Counter", "deque"):
            return getattr(collections, name)
        if module == "pathlib" and name in ("PosixPath", "WindowsPath", "Path", "PurePosixPath", "PureWindowsPath"):
            return pathlib.PurePath
        if (module, name) == ("_codecs", "encode"):
            return super().find_class(module, name)
        raise Unreadable(f"it holds {module}.{name}")


def _view(storage: Tuple[Any, bool], offset: int, size: Any, stride: Any, *_: Any) -> _View:
    array, is_bfloat16 = storage
    steps = [step * array.itemsize for step in stride]
    last = offset + sum((count - 1) * step for count, step in zip(size, stride)) if 0 not in size else offset
    if offset < 0 or min(stride, default=0) < 0 or (0 not in size and last >= array.size):
        raise Unreadable("it is damaged: a tensor is larger than what it is stored in")
    made = np.lib.stride_tricks.as_strided(array[offset:], tuple(size), steps)
    return _View(made, is_bfloat16)


def _of_archive(content: bytes) -> Any:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = [name for name in archive.namelist() if name.endswith("data.pkl")]
        if len(names) != 1:
            raise Unreadable("it holds a program (TorchScript), or is no archive of torch.save")
        folder = names[0][: -len("data.pkl")]
        order: Literal["<", ">"] = "<"
        if f"{folder}byteorder" in archive.namelist() and archive.read(f"{folder}byteorder") == b"big":
            order = ">"
        found: Dict[str, Any] = {}

        def storage(dtype: str, key: str, size: int) -> Any:
            if key not in found:
                kept = np.dtype(dtype).newbyteorder(order)
                found[key] = np.frombuffer(archive.read(f"{folder}data/{key}"), kept, size).astype(dtype)
            return found[key]

        return _Reader(io.BytesIO(archive.read(names[0])), storage).load()


def _of_pickles(content: bytes) -> Any:
    stream = io.BytesIO(content)
    found: Dict[str, Any] = {}

    def storage(dtype: str, key: str, size: int) -> Any:
        return found.setdefault(key, np.zeros(size, dtype))

    def following() -> Any:
        return _Reader(stream, storage).load()

    if following() != _MAGIC:
        raise Unreadable("it is no file of torch.save")
    following()  # the version
    is_little = following()["little_endian"]
    tree = following()
    for key in cast("List[Any]", following()):
        array = found[str(key)]
        stream.seek(8, io.SEEK_CUR)  # the count, which the storage knows
        kept = array.dtype.newbyteorder("<" if is_little else ">")
        array[:] = np.frombuffer(stream.read(array.nbytes), kept)
    return tree


def _tensors(value: Any) -> Any:
    """Return what was read, with tensors."""
    if isinstance(value, _View):
        return value.tensor()
    if isinstance(value, _Ordered):
        return collections.OrderedDict((key, _tensors(item)) for key, item in value.items())
    if isinstance(value, dict):
        for key in value:
            value[key] = _tensors(value[key])
        return value
    if isinstance(value, list):
        value[:] = [_tensors(item) for item in value]
        return value
    if isinstance(value, (tuple, set)):
        return type(value)(_tensors(item) for item in value)
    if isinstance(value, argparse.Namespace):
        _tensors(vars(value))
    return value
