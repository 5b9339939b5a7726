"""Write the zip archives of ``torch.save`` without PyTorch, and without holding them in memory.

An archive holds a pickle, ``data.pkl``, that names the memory of its tensors, and one part for the memory of each. The
layout is that of ``torch/serialization.py`` of PyTorch 2.13; ``torch.load(path, weights_only=True)`` reads it.
"""

from __future__ import annotations

import math
import pickle
import zipfile
from typing import Any, List, Sequence

from .file_bytes import Sink
from .tensor_values import Value

__all__ = ["write"]

_STORAGES = {
    "float64": "DoubleStorage", "float32": "FloatStorage", "float16": "HalfStorage", "bfloat16": "BFloat16Storage",
    "int64": "LongStorage", "int32": "IntStorage", "int16": "ShortStorage", "int8": "CharStorage",
    "uint8": "ByteStorage", "bool": "BoolStorage", "complex64": "ComplexFloatStorage",
    "complex128": "ComplexDoubleStorage",
}  # fmt: skip
_ALIGNED = 64  # bytes, as PyTorch maps them
_ROOT = "archive"
_HEADER = 30 + 20  # bytes in front of a part, its name and the padding left out
_NEVER = (1980, 1, 1, 0, 0, 0)


def write(content: Any, sink: Sink) -> None:
    """Write dictionaries, lists and tuples of values, numbers, texts and None. Raises ValueError for anything else."""
    tensors: List[Value] = []
    program = b"\x80\x02" + b"".join(_opcodes(content, tensors)) + b"."
    with zipfile.ZipFile(_Unseekable(sink), "w", zipfile.ZIP_STORED) as archive:  # type: ignore[call-overload]
        parts = [("data.pkl", [program]), ("byteorder", [b"little"])]
        parts += [(f"data/{number}", value.raw_pieces()) for number, value in enumerate(tensors)]  # type: ignore[misc]
        for name, pieces in [*parts, ("version", [b"3\n"])]:
            part = zipfile.ZipInfo(f"{_ROOT}/{name}", _NEVER)
            padding = -(sink.written + _HEADER + len(part.filename) + 4) % _ALIGNED
            part.extra = b"FB" + padding.to_bytes(2, "little") + bytes(padding)
            with archive.open(part, "w", force_zip64=True) as stream:
                for piece in pieces:
                    stream.write(memoryview(piece).cast("B"))
    for value in tensors:
        value.checked()


class _Unseekable:
    """What an archive is written to from front to back."""

    def __init__(self, sink: Sink) -> None:
        self.write = sink.write

    def flush(self) -> None:
        """Do nothing: the file is flushed when it is complete."""


def _opcodes(content: Any, tensors: List[Value]) -> Sequence[bytes]:
    """Return the opcodes of a pickle that makes ``content``, and add its tensors to ``tensors``."""
    if isinstance(content, Value):
        return _tensor(content, tensors)
    if content is None or type(content) in (bool, int, float, str):
        return [pickle.dumps(content, 2)[2:-1]]
    found: List[bytes] = []
    if isinstance(content, dict):
        for key, value in content.items():
            found += [*_opcodes(key, tensors), *_opcodes(value, tensors)]
        return [b"}(", *found, b"u"]
    if isinstance(content, (list, tuple)):
        for value in content:
            found += _opcodes(value, tensors)
        return [b"](", *found, b"e"] if isinstance(content, list) else [b"(", *found, b"t"]
    raise ValueError(f"a {type(content).__name__} has no place in a file that PyTorch reads without running code")


def _tensor(value: Value, tensors: List[Value]) -> Sequence[bytes]:
    if value.dtype not in _STORAGES:
        raise ValueError(f"PyTorch has no element type {value.dtype}")
    key, size, strides = str(len(tensors)), math.prod(value.shape), [1]
    tensors.append(value)
    for length in value.shape[:0:-1]:
        strides.insert(0, strides[0] * max(length, 1))
    strides = strides if value.shape else []
    plain = [pickle.dumps(item, 2)[2:-1] for item in ("storage", key, "cpu", size, 0, value.shape, tuple(strides))]
    kind = f"ctorch\n{_STORAGES[value.dtype]}\n".encode()
    memory = [b"(", plain[0], kind, *plain[1:4], b"tQ"]
    return [b"ctorch._utils\n_rebuild_tensor_v2\n(", *memory, *plain[4:], b"\x89ccollections\nOrderedDict\n)RtR"]
