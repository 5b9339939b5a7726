"""Read the files that ``torch.save`` wrote, without PyTorch and without running any code that they name.

Both formats are read: the zip archive of PyTorch 1.6 and newer, and the stream of pickles of before, which many weights
on the web still have. Tensors, parameters, containers, numbers, texts, dtypes and NumPy's arrays are made again; what
needs any other class (a network that was saved whole) is refused by name. The layout of both is that of
``torch/serialization.py`` of PyTorch 2.13.
"""

from __future__ import annotations

import io
import math
import sys
import zipfile
from typing import Any, Callable, Dict, Literal, NamedTuple, Sequence, Tuple, Union

import mindspore as ms
import numpy as np

from .budget import Budget, BudgetError
from .file_bytes import ChecksumError, FileBytes
from .plain_pickles import NAMES, NUMPY, Machine, Made, Name, PickleError, finished, shown

__all__ = ["TorchFileError", "is_torch_file", "read"]

_Order = Literal["<", ">"]
_Make = Callable[["np.ndarray[Any, Any]", str], Any]
_MAGIC = 0x1950A86A20F9469CFC6C
_RANK = 32  # dimensions that an array of NumPy can have
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


class _Storage(NamedTuple):
    """The memory that tensors share: its elements as a flat array, of uint16 for bfloat16."""

    dtype: str
    elements: np.ndarray[Any, Any]


class _Pending:
    """A storage of the old format, whose bytes come behind the objects that use it."""

    def __init__(self, dtype: str, size: int) -> None:
        self.dtype = dtype
        self.size = size
        self.elements = np.empty(0, _element(dtype))


def is_torch_file(start: bytes) -> bool:
    """Whether the first bytes of a file (at least four) are those of one of PyTorch's two formats."""
    return start[:4] == b"PK\x03\x04" or start[:2] == b"\x80\x02"


def _tensor(array: np.ndarray[Any, Any], dtype: str) -> ms.Tensor:
    if dtype == _BFLOAT16:
        return ms.Tensor((array.astype(np.uint32) << 16).view(np.float32)).astype(ms.bfloat16)
    return ms.Tensor(np.array(array, order="C"))


def read(content: Union[bytes, FileBytes], make: _Make = _tensor) -> Any:
    """Return the object in the bytes of a file that ``torch.save`` wrote; its tensors are MindSpore's.

    ``make`` makes them from an array in the memory of the file (read-only, maybe not contiguous) and the name of the
    element type (the array is of uint16 where that is bfloat16: the upper half of a float32).
    Of a mapped file, :meth:`FileBytes.checked` is to be called before arrays are used.
    Raises TorchFileError where the file is damaged, is a TorchScript program, holds objects of other classes, or asks
    for more memory than a file of its size can be worth.
    """
    file = FileBytes(memoryview(content)) if isinstance(content, bytes) else content
    budget = Budget(len(file.view))
    try:
        reader = _read_archive if bytes(file.view[:2]) == b"PK" else _read_stream
        return finished(reader(file, make, budget), budget)
    except TorchFileError:
        raise
    except BudgetError as error:
        raise TorchFileError(f"the file is damaged, or meant to harm: {error}; get it anew from its source") from None
    except Exception as error:  # whatever damaged bytes lead to, in NumPy, zipfile or MindSpore
        known = isinstance(error, (PickleError, ChecksumError))
        reason = str(error) if known else f"{type(error).__name__}: {shown(str(error))}"
        raise TorchFileError(f"the file is damaged: {reason}; get it anew from its source") from error


def _read_archive(file: FileBytes, make: _Make, budget: Budget) -> Any:
    with zipfile.ZipFile(file.stream()) as archive:
        names = archive.namelist()
        root = next((name[: -len("data.pkl")] for name in names if name.endswith("data.pkl")), None)
        if root is None:
            raise TorchFileError("the zip archive holds no data.pkl: it is no file of torch.save")
        if f"{root}constants.pkl" in names:
            raise TorchFileError("the file is a TorchScript program: save its state_dict() with PyTorch")

        def part(name: str) -> Union[bytes, memoryview]:
            found = archive.getinfo(f"{root}{name}")
            budget.charge(found.file_size)  # what zipfile will read at most
            return archive.read(found) if found.compress_type else _stored(file, archive, found)

        order: _Order = ">" if f"{root}byteorder" in names and part("byteorder") == b"big" else "<"
        storages: Dict[str, _Storage] = {}

        def storage(saved: Sequence[Any]) -> _Storage:
            _, _, key, _, size = saved
            dtype = _storage_dtype(saved)
            if key not in storages:
                elements = _flat(part(f"data/{key}"), dtype, order)
                if dtype != "uint8" and len(elements) != size:
                    raise PickleError(f"storage {shown(key)} has {len(elements)} elements")
                storages[key] = _Storage(dtype, elements)
            return storages[key]

        return Machine(io.BytesIO(part("data.pkl")), _finder(make), budget, storage).load()


def _stored(file: FileBytes, archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> memoryview:
    """Return the bytes of a part that is not compressed, where they are in the file. Raises BadZipFile."""
    with archive.open(part):  # which looks at what the file says of the part at its place
        start = part.header_offset + 30  # and behind these bytes a name, and more
    lengths = file.view[start - 4 : start]
    begin = start + sum(int.from_bytes(lengths[place : place + 2], "little") for place in (0, 2))
    end = begin + part.file_size
    if end > len(file.view):
        raise zipfile.BadZipFile(f"{shown(part.filename)} is cut off")
    file.expect(begin, end, part.CRC, shown(part.filename))
    return file.view[begin:end]


def _read_stream(file: FileBytes, make: _Make, budget: Budget) -> Any:
    stream = file.stream()
    find = _finder(make)
    if Machine(stream, find, budget).load() != _MAGIC:
        raise TorchFileError("the file is no file of torch.save")
    Machine(stream, find, budget).load()  # the version of the format, always 1001
    system = Machine(stream, find, budget).load()
    order: _Order = "<" if system.get("little_endian", True) else ">"
    storages: Dict[str, _Pending] = {}

    def storage(saved: Sequence[Any]) -> _Pending:
        _, _, key, _, size, view = saved
        if view is not None:
            raise TorchFileError("the file shares parts of storages, as PyTorch before 0.4 did: save it again")
        return storages.setdefault(key, _Pending(_storage_dtype(saved), size))

    result = Machine(stream, find, budget, storage).load()
    for key in Machine(stream, find, budget).load():
        size = int.from_bytes(stream.read(8), "little" if order == "<" else "big", signed=True)
        held = storages[key]
        length = size * _element(held.dtype).itemsize
        begin = stream.tell()
        if held.size != size or begin + length > len(file.view):
            raise PickleError(f"storage {shown(key)} is cut off")
        data = file.view[begin : stream.seek(begin + length)]
        held.elements = _flat(data, held.dtype, order)
    return result


class _StorageType(NamedTuple):
    dtype: str


def _storage_dtype(saved: Sequence[Any]) -> str:
    """Return the element type that a storage is saved with; raises PickleError for what is no storage."""
    kind, key = saved[1], saved[2]
    if saved[0] != "storage" or not isinstance(kind, Name) or not isinstance(kind.value, _StorageType):
        raise PickleError("it names something outside of itself that is no storage")
    if not isinstance(key, str):
        raise PickleError("a storage without a name")
    return kind.value.dtype


def _flat(data: Union[bytes, memoryview], dtype: str, order: _Order) -> np.ndarray[Any, Any]:
    elements = np.frombuffer(data, _element(dtype))
    return elements if order == ("<" if sys.byteorder == "little" else ">") else elements.byteswap()


def _element(dtype: str) -> np.dtype[Any]:
    return np.dtype(np.uint16 if dtype == _BFLOAT16 else dtype)


class _Tensor(Made):
    """A tensor that is made once all storages are read."""

    def __init__(
        self,
        make: _Make,
        storage: Union[_Storage, _Pending],
        offset: int,
        shape: Sequence[int],
        strides: Sequence[int],
        dtype: str = "",
    ) -> None:
        if not isinstance(storage, (_Storage, _Pending)):
            raise PickleError("a tensor without a storage")
        self.make = make
        self.storage = storage
        self.dtype = dtype or storage.dtype
        (self.offset,), self.shape, self.strides = _sizes((offset,)), _sizes(shape), _sizes(strides)

    def made(self, budget: Budget, finish: Callable[[Any], Any]) -> Any:
        """Return the tensor; raises PickleError where it reaches beyond its storage."""
        elements = self.storage.elements
        if self.dtype != self.storage.dtype:  # bytes that a tensor reads as another dtype
            elements = elements.view(_element(self.dtype))
        last = self.offset + sum(stride * (size - 1) for stride, size in zip(self.strides, self.shape))
        if 0 in self.shape:
            array = np.zeros(self.shape, elements.dtype)
        elif len(self.strides) == len(self.shape) and last < len(elements):
            budget.charge(math.prod(self.shape) * elements.itemsize)
            steps = [stride * elements.itemsize for stride in self.strides]
            array = np.lib.stride_tricks.as_strided(elements[self.offset :], self.shape, steps, writeable=False)
        else:
            raise PickleError("a tensor reaches beyond its storage")
        return self.make(array, self.dtype)


def _sizes(values: Sequence[int]) -> Tuple[int, ...]:
    """Return sizes, strides or an offset; raises PickleError for what is no number of 63 bits, or is negative."""
    if not isinstance(values, (tuple, list)) or len(values) > _RANK:
        raise PickleError("a tensor without a shape")
    if not all(type(value) is int and 0 <= value < 1 << 63 for value in values):
        raise PickleError("sizes, strides or offset of a tensor are negative, or no numbers")
    return tuple(values)


def _first(value: Any, *_: Any) -> Any:
    return value


def _of_type(function: Any, _: Any, arguments: Sequence[Any], __: Any) -> Any:
    if not isinstance(function, Name) or function.needs_budget:
        raise PickleError("a tensor that nothing makes")
    return function.make(*arguments)


def _device(kind: Any, index: Any = None) -> str:
    return shown(kind) if index is None else f"{shown(kind)}:{int(index)}"


def _no_call(*_: Any) -> Any:
    raise PickleError("it calls what is no function")


def _finder(make: _Make) -> Callable[[str, str], Name]:
    """Return what finds the stand-in of a class or function; ``make`` makes the tensors."""

    def tensor_v2(storage: Any, offset: int, size: Sequence[int], stride: Sequence[int], *_: Any) -> _Tensor:
        return _Tensor(make, storage, offset, size, stride)

    def tensor_v3(storage: Any, offset: int, size: Sequence[int], stride: Sequence[int], *rest: Any) -> _Tensor:
        dtype = str(rest[2].value).rpartition(".")[2].lower().rstrip("_")
        return _Tensor(make, storage, offset, size, stride, dtype)

    torch = {
        ("torch._utils", "_rebuild_tensor"): Name(tensor_v2),
        ("torch._utils", "_rebuild_tensor_v2"): Name(tensor_v2),
        ("torch._utils", "_rebuild_tensor_v3"): Name(tensor_v3),
        ("torch._utils", "_rebuild_parameter"): Name(_first),
        ("torch._utils", "_rebuild_parameter_with_state"): Name(_first),
        ("torch._tensor", "_rebuild_from_type_v2"): Name(_of_type),
        ("torch", "Tensor"): Name(_no_call),
        ("torch", "Size"): NAMES["builtins", "tuple"],
        ("torch", "device"): Name(_device),
        ("torch.nn.parameter", "Parameter"): Name(_first),
    }

    def find(module: str, name: str) -> Name:
        if (module, name) in torch:
            return torch[module, name]
        if (module, name) in NAMES:
            return NAMES[module, name]
        if module in ("torch", "torch.storage") and name in _STORAGES:
            return Name(_no_call, _StorageType(_STORAGES[name]))
        if module == "torch" and name in _DTYPES:
            return Name(_no_call, getattr(ms, "bool_" if name == "bool" else _DTYPES[name]))
        if module.partition(".")[0] == "numpy" and name in NUMPY:
            return NUMPY[name]
        raise TorchFileError(
            f"the file holds an object of {shown(module)}.{shown(name)}: only tensors, containers and plain values are "
            "read; save the state_dict() with PyTorch"
        )

    return find
