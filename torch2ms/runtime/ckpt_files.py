"""MindSpore's ``.ckpt`` files, read and written without holding them in memory.

A file is a message of Protocol Buffers, ``repeated Value value = 1`` with ``Value {string tag = 1; TensorProto tensor =
2}`` and ``TensorProto {repeated int64 dims = 1; string tensor_type = 2; bytes tensor_content = 3}``. A tensor of more
than 512 MiB stands in several values of one tag, one behind the other. A checksum may follow.
"""

from __future__ import annotations

import math
from typing import Dict, Iterator, List, NamedTuple, Tuple, Union

import numpy as np

from .file_bytes import ChecksumError, FileBytes, Sink
from .plain_pickles import shown
from .tensor_values import Value, Values

__all__ = ["CkptError", "read", "write"]

_TYPES = {
    "Int8": "int8", "UInt8": "uint8", "Int16": "int16", "UInt16": "uint16", "Int32": "int32", "UInt32": "uint32",
    "Int64": "int64", "UInt64": "uint64", "Float16": "float16", "Float32": "float32", "Float64": "float64",
    "Bool": "bool", "BFloat16": "bfloat16",
}  # fmt: skip
_NAMES = {name: kind for kind, name in _TYPES.items()}
_TEXT = "str"
_RANK = 32  # dimensions that an array of NumPy can have
_SLICE = 512 << 20
_CHECKSUM = b"crc_num"
_VARINT, _BYTES = 0, 2  # kinds of fields


class CkptError(ValueError):
    """A file is no checkpoint of MindSpore's, or is damaged."""


class _Field(NamedTuple):
    """A field of a message: a number, or the bytes ``view[begin:end]``."""

    number: int
    kind: int
    value: int
    begin: int
    end: int


class _Part(NamedTuple):
    """One value of the file: a tensor, or a part of it."""

    kind: str
    dims: Tuple[int, ...]
    begin: int
    end: int


def read(file: FileBytes) -> Dict[str, Union[Value, str]]:
    """Return what a file holds by name: tensors that are read when they are needed, and texts. Raises CkptError."""
    parts: Dict[str, List[_Part]] = {}
    for field in _fields(file.view, 0, _end(file)):
        if field.number != 1 or field.kind != _BYTES:
            raise CkptError("it is encrypted, damaged, or of another format")
        name, part = _part(file.view, field)
        parts.setdefault(name, []).append(part)
    return {name: _joined(file, name, own) for name, own in parts.items()}


def _end(file: FileBytes) -> int:
    """Return where the message ends: at the checksum where there is one, which must fit."""
    end = len(file.view) - len(_CHECKSUM) - 10
    if end < 0 or file.view[end : end + len(_CHECKSUM)] != _CHECKSUM:
        return len(file.view)
    try:
        file.expect(0, end, int.from_bytes(file.view[-10:], "big"), "all that it holds")
    except ChecksumError as error:
        raise CkptError(str(error)) from error
    return end


def _part(view: memoryview, message: _Field) -> Tuple[str, _Part]:
    name, kind, dims, content = "", "", [], (0, 0)
    for field in _fields(view, message.begin, message.end):
        if (field.number, field.kind) == (1, _BYTES):
            name = _text(view, field)
        elif (field.number, field.kind) == (2, _BYTES):
            for inner in _fields(view, field.begin, field.end):
                if (inner.number, inner.kind) == (1, _VARINT):
                    dims.append(inner.value)
                elif (inner.number, inner.kind) == (1, _BYTES):
                    dims.extend(_packed(view, inner))
                elif (inner.number, inner.kind) == (2, _BYTES):
                    kind = _text(view, inner)
                elif (inner.number, inner.kind) == (3, _BYTES):
                    content = inner.begin, inner.end
                if len(dims) > _RANK:
                    raise CkptError("a parameter has sizes that are no sizes")
    return name, _Part(kind, tuple(dims), *content)


def _joined(file: FileBytes, name: str, parts: List[_Part]) -> Union[Value, str]:
    """Return a tensor of all its parts, or a text."""
    where, first = f"parameter {shown(name)!r}", parts[0]
    size = sum(part.end - part.begin for part in parts)
    if any(part[:2] != first[:2] for part in parts):
        raise CkptError(f"{where} stands in it twice")
    if first.kind == _TEXT:
        return bytes(file.view[first.begin : first.end]).decode("utf-32-le", "replace")
    if first.kind not in _TYPES:
        raise CkptError(f"{where} has the element type {shown(first.kind)}, which is not read")
    dtype = _TYPES[first.kind]
    element = np.dtype(np.uint16 if dtype == "bfloat16" else dtype)
    dims = () if first.dims == (0,) and size == element.itemsize else first.dims  # MindSpore's way to write a number
    if math.prod(max(n, 1) for n in dims) >= 1 << 59 or math.prod(dims) * element.itemsize != size:
        raise CkptError(f"{where} has another number of bytes than its shape says")

    if any((part.end - part.begin) % element.itemsize for part in parts):
        raise CkptError(f"{where} is cut off")
    flats = [np.frombuffer(file.view[part.begin : part.end], element) for part in parts]
    if len(parts) > 1:
        return Value(flats, dtype, shape=dims, file=file)
    return Value(flats[0].reshape(dims), dtype, file=file)


def _text(view: memoryview, field: _Field) -> str:
    return bytes(view[field.begin : field.end]).decode("utf-8", "replace")


def _packed(view: memoryview, field: _Field) -> Iterator[int]:
    place = field.begin
    while place < field.end:
        value, place = _varint(view, place, field.end)
        yield value


def _fields(view: memoryview, begin: int, end: int) -> Iterator[_Field]:
    """Yield the fields of the message ``view[begin:end]``. Raises CkptError where they do not end with it."""
    while begin < end:
        key, begin = _varint(view, begin, end)
        number, kind = key >> 3, key & 7
        if kind not in (_VARINT, _BYTES):
            raise CkptError("it is encrypted, damaged, or of another format")
        value, begin = _varint(view, begin, end)
        start, begin = begin, begin + value if kind == _BYTES else begin
        if begin > end:
            raise CkptError("it is cut off, or of another format")
        yield _Field(number, kind, value, start, begin)


def _varint(view: memoryview, begin: int, end: int) -> Tuple[int, int]:
    """Return the number at ``begin``, seven bits a byte, and where it ends."""
    value = 0
    for place in range(begin, min(end, begin + 10)):
        value |= (view[place] & 127) << 7 * (place - begin)
        if view[place] < 128:
            return value, place + 1
    raise CkptError("it is cut off, or of another format")


def write(values: Values, sink: Sink) -> None:
    """Write parameters. Raises CkptError for an element type that MindSpore does not save."""
    for name, value in values.items():
        if value.dtype not in _NAMES:
            raise CkptError(f"{name}: MindSpore's .ckpt has no element type {value.dtype}")
        dims = b"".join(b"\x08" + _number(size) for size in value.shape or (0,))
        kind = _message(2, _NAMES[value.dtype].encode())
        itemsize = value.nbytes // max(math.prod(value.shape), 1)
        pieces, left = value.raw_pieces(), value.nbytes
        while True:
            length = min(left, _SLICE // itemsize * itemsize) if itemsize else 0
            tensor = dims + kind + b"\x1a" + _number(length)
            head = _message(1, name.encode()) + b"\x12" + _number(len(tensor) + length) + tensor
            sink.write(b"\x0a" + _number(len(head) + length) + head)
            written = 0
            while written < length:
                piece = next(pieces)
                sink.write(piece)
                written += piece.nbytes
            left -= length
            if left <= 0:
                break
    for value in values.values():
        value.checked()


def _message(number: int, content: bytes) -> bytes:
    return _number(number << 3 | _BYTES) + _number(len(content)) + content


def _number(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])
