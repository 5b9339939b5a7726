"""Read the files that ``torch.save`` wrote, without PyTorch and without running any code that they name.

Both formats are read: the zip archive of PyTorch 1.6 and newer, and the stream of pickles of before, which many weights
on the web still have. Tensors, parameters, containers, numbers, texts, dtypes and NumPy's arrays are made again; what
needs any other class (a network that was saved whole) is refused by name. The layout of both is that of
``torch/serialization.py`` of PyTorch 2.13.
"""

from __future__ import annotations

import argparse
import collections
import io
import pathlib
import pickle
import zipfile
from typing import Any, Callable, Dict, Literal, NamedTuple, Optional, Sequence, Tuple, Union

import mindspore as ms
import numpy as np

__all__ = ["TorchFileError", "is_torch_file", "read"]

_Order = Literal["<", ">"]
_Make = Callable[["np.ndarray[Any, Any]", str], Any]
_MAGIC = 0x1950A86A20F9469CFC6C
_BFLOAT16 = "bfloat16"  # NumPy has no such type: the upper half of a float32
_STORAGES = {
    "DoubleStorage": "float64", "FloatStorage": "float32", "HalfStorage": "float16", "BFloat16Storage": _BFLOAT16,
    "LongStorage": "int64", "IntStorage": "int32", "ShortStorage": "int16", "CharStorage": "int8",
    "ByteStorage": "uint8", "BoolStorage": "bool", "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128", "UntypedStorage": "uint8",
}  # fmt: skip
_DTYPES = {
    "float64": "float64", "double": "float64", "float32": "float32", "float": "float32", "float16": "float16",
    "half": "float16", "bfloat16": _BFLOAT16, "int64": "int64", "long": "int64", "int32": "int32", "int": "int32",
    "int16": "int16", "short": "int16", "int8": "int8", "uint8": "uint8", "bool": "bool", "complex64": "complex64",
    "complex128": "complex128",
}  # fmt: skip


class TorchFileError(RuntimeError):
    """A file of PyTorch's is damaged, or holds what cannot be read without PyTorch."""


class _StorageType(NamedTuple):
    dtype: str


class _Storage(NamedTuple):
    """The memory that tensors share: its elements as a flat array, of uint16 for bfloat16."""

    dtype: str
    elements: np.ndarray[Any, Any]


class _Pending:
    """A storage of the old format, whose bytes come behind the objects that use it."""

    def __init__(self, dtype: str, size: int) -> None:
        self.dtype = dtype
        self.elements = np.zeros(size, _element(dtype))


def is_torch_file(start: bytes) -> bool:
    """Whether the first bytes of a file (at least four) are those of one of PyTorch's two formats."""
    return start[:4] == b"PK\x03\x04" or start[:2] == b"\x80\x02"


def _tensor(array: np.ndarray[Any, Any], dtype: str) -> ms.Tensor:
    tensor = ms.Tensor(array)
    return tensor.astype(ms.bfloat16) if dtype == _BFLOAT16 else tensor


def read(content: bytes, make: _Make = _tensor) -> Any:
    """Return the object in the bytes of a file that ``torch.save`` wrote; its tensors are MindSpore's.

    ``make`` makes them from an array and the name of the element type (the array is float32 where that is bfloat16).
    Raises TorchFileError where the file is damaged, is a TorchScript program, or holds objects of other classes.
    """
    try:
        loaded = _read_archive(content) if content[:2] == b"PK" else _read_stream(io.BytesIO(content))
        return _finished(loaded, make)
    except TorchFileError:
        raise
    except (pickle.UnpicklingError, zipfile.BadZipFile, EOFError, KeyError, ValueError, TypeError, IndexError,
            AttributeError, RecursionError) as error:  # fmt: skip
        raise TorchFileError(f"the file is damaged: {type(error).__name__}: {error}") from error


def _read_archive(content: bytes) -> Any:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
        root = next((name[: -len("data.pkl")] for name in names if name.endswith("data.pkl")), None)
        if root is None:
            raise TorchFileError("the zip archive holds no data.pkl: it is no file of torch.save")
        if f"{root}constants.pkl" in names:
            raise TorchFileError("the file is a TorchScript program: save its state_dict() with PyTorch")
        order: _Order = ">" if f"{root}byteorder" in names and archive.read(f"{root}byteorder") == b"big" else "<"
        storages: Dict[str, _Storage] = {}

        def storage(saved: Sequence[Any]) -> _Storage:
            _, kind, key, _, size = saved
            if key not in storages:
                elements = np.frombuffer(archive.read(f"{root}data/{key}"), _element(kind.dtype).newbyteorder(order))
                if kind.dtype != "uint8" and len(elements) != size:
                    raise TorchFileError(f"the file is damaged: storage {key} has {len(elements)} of {size} elements")
                storages[key] = _Storage(kind.dtype, elements.astype(_element(kind.dtype)))
            return storages[key]

        return _Unpickler(io.BytesIO(archive.read(f"{root}data.pkl")), storage).load()


def _read_stream(stream: io.BytesIO) -> Any:
    if _Unpickler(stream).load() != _MAGIC:
        raise TorchFileError("the file is no file of torch.save")
    _Unpickler(stream).load()  # the version of the format, always 1001
    system = _Unpickler(stream).load()
    order: _Order = "<" if system.get("little_endian", True) else ">"
    storages: Dict[str, _Pending] = {}

    def storage(saved: Sequence[Any]) -> _Pending:
        _, kind, key, _, size, view = saved
        if view is not None:
            raise TorchFileError("the file shares parts of storages, as PyTorch before 0.4 did: save it again")
        return storages.setdefault(key, _Pending(kind.dtype, size))

    result = _Unpickler(stream, storage).load()
    for key in _Unpickler(stream).load():
        size = int.from_bytes(stream.read(8), "little" if order == "<" else "big", signed=True)
        held = storages[key]
        data = stream.read(size * held.elements.itemsize)
        if len(held.elements) != size or len(data) != size * held.elements.itemsize:
            raise TorchFileError(f"the file is damaged: storage {key} is cut off")
        held.elements[:] = np.frombuffer(data, _element(held.dtype).newbyteorder(order))
    return result


def _element(dtype: str) -> np.dtype[Any]:
    return np.dtype(np.uint16 if dtype == _BFLOAT16 else dtype)


class _Tensor(NamedTuple):
    """A tensor that is made once all storages are read."""

    storage: Union[_Storage, _Pending]
    offset: int
    shape: Tuple[int, ...]
    strides: Tuple[int, ...]
    dtype: str

    def made(self, make: _Make) -> Any:
        elements = self.storage.elements
        if self.dtype != self.storage.dtype:  # bytes that a tensor reads as another dtype
            elements = elements.view(_element(self.dtype))
        last = self.offset + sum(stride * (size - 1) for stride, size in zip(self.strides, self.shape))
        is_inside = self.offset >= 0 and min(self.strides, default=0) >= 0 and last < len(elements)
        if 0 in self.shape:
            array = np.zeros(self.shape, elements.dtype)
        elif len(self.strides) == len(self.shape) and is_inside:
            steps = [stride * elements.itemsize for stride in self.strides]
            array = np.lib.stride_tricks.as_strided(elements[self.offset :], self.shape, steps).copy()
        else:
            raise TorchFileError("the file is damaged: a tensor reaches beyond its storage")
        if self.dtype == _BFLOAT16:
            array = (array.astype(np.uint32) << 16).view(np.float32)
        return make(array, self.dtype)


def _finished(value: Any, make: _Make) -> Any:
    """Return the object with its tensors made, containers changed in place where that can be."""
    if isinstance(value, _Tensor):
        return value.made(make)
    if isinstance(value, dict):
        for key in list(value):
            value[key] = _finished(value[key], make)
    elif isinstance(value, list):
        value[:] = [_finished(item, make) for item in value]
    elif isinstance(value, argparse.Namespace):
        _finished(vars(value), make)
    elif type(value) is tuple:
        return tuple(_finished(item, make) for item in value)
    return value


def _tensor_v2(storage: Any, offset: int, size: Sequence[int], stride: Sequence[int], *_: Any) -> _Tensor:
    return _Tensor(storage, offset, tuple(size), tuple(stride), storage.dtype)


def _tensor_v3(storage: Any, offset: int, size: Sequence[int], stride: Sequence[int], *rest: Any) -> _Tensor:
    return _Tensor(storage, offset, tuple(size), tuple(stride), str(rest[2]).rpartition(".")[2].lower())


def _first(value: Any, *_: Any) -> Any:
    return value


def _of_type(make: Callable[..., Any], _: Any, arguments: Sequence[Any], __: Any) -> Any:
    return make(*arguments)


_MADE: Dict[Tuple[str, str], Any] = {
    ("torch._utils", "_rebuild_tensor"): _tensor_v2,
    ("torch._utils", "_rebuild_tensor_v2"): _tensor_v2,
    ("torch._utils", "_rebuild_tensor_v3"): _tensor_v3,
    ("torch._utils", "_rebuild_parameter"): _first,
    ("torch._utils", "_rebuild_parameter_with_state"): _first,
    ("torch._tensor", "_rebuild_from_type_v2"): _of_type,
    ("torch", "Tensor"): _Tensor,
    ("torch", "Size"): tuple,
    ("torch", "device"): lambda kind, index=None: kind if index is None else f"{kind}:{index}",
    ("torch.nn.parameter", "Parameter"): _first,
    ("collections", "OrderedDict"): collections.OrderedDict,
    ("collections", "defaultdict"): collections.defaultdict,
    ("collections", "Counter"): collections.Counter,
    ("collections", "deque"): collections.deque,
    ("argparse", "Namespace"): argparse.Namespace,
    **{
        ("pathlib", name): pathlib.PurePath for name in ("PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath")
    },
    ("_codecs", "encode"): lambda text, encoding="latin1": text.encode(encoding),
}
_BUILTINS = (set, frozenset, list, dict, tuple, int, float, complex, bool, str, bytes, bytearray, slice, range)
_MADE.update({(module, kind.__name__): kind for module in ("builtins", "__builtin__") for kind in _BUILTINS})
# NumPy keeps the two functions in a module whose name differs by release.
_NUMPY: Dict[str, Any] = {
    "dtype": np.dtype, "ndarray": np.ndarray, "_reconstruct": np.zeros(1).__reduce__()[0],
    "scalar": np.float32(0).__reduce__()[0],
}  # fmt: skip


class _Unpickler(pickle.Unpickler):
    """An unpickler that makes tensors, containers, numbers and arrays, and nothing else."""

    def __init__(self, stream: io.BytesIO, storage: Optional[Callable[[Sequence[Any]], Any]] = None) -> None:
        super().__init__(stream, encoding="utf-8")
        self._storage = storage

    def persistent_load(self, saved: Any) -> Any:
        """Return the storage that stands outside of the pickle."""
        if self._storage is None or saved[0] != "storage":
            raise TorchFileError(f"the file is damaged: it names {saved!r} outside of itself")
        return self._storage(saved)

    def find_class(self, module: str, name: str) -> Any:
        """Return what stands for a class or function; raises TorchFileError for those that are not known."""
        if (module, name) in _MADE:
            return _MADE[module, name]
        if module in ("torch", "torch.storage") and name in _STORAGES:
            return _StorageType(_STORAGES[name])
        if module == "torch" and name in _DTYPES:
            return getattr(ms, "bool_" if name == "bool" else _DTYPES[name])
        if module.partition(".")[0] == "numpy" and name in _NUMPY:
            return _NUMPY[name]
        raise TorchFileError(
            f"the file holds an object of {module}.{name}: only tensors, containers and plain values are read; "
            "save the state_dict() with PyTorch"
        )
