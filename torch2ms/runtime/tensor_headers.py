"""The header of a safetensors file, checked: which arrays lie where in it.

A file is 8 bytes of header length, a JSON header and raw little-endian arrays that fill the rest without overlap::

    header = read_header(content)
    header.entries["fc.weight"]    # Entry(tag="F32", shape=(10, 4), begin=0, end=160)
"""

from __future__ import annotations

import json
import math
from typing import Any, Dict, NamedTuple, Tuple, Union

from .plain_pickles import shown

__all__ = ["Entry", "Header", "HeaderError", "read_header"]

_RANK = 32  # dimensions that an array of NumPy can have
_BYTES = {
    "F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U64": 8, "U32": 4, "U16": 2,
    "U8": 1, "BOOL": 1, "C64": 8, "C128": 16,
}  # fmt: skip


class HeaderError(ValueError):
    """The header of a file is damaged, or names arrays that the file does not hold."""


class Entry(NamedTuple):
    """One array: its element type as the format spells it, its shape, and its bytes ``data[begin:end]``."""

    tag: str
    shape: Tuple[int, ...]
    begin: int
    end: int


class Header(NamedTuple):
    """The arrays of a file in their order, what is said of the whole, and the bytes behind the header."""

    entries: Dict[str, Entry]
    metadata: Dict[str, str]
    data: memoryview


def read_header(content: Union[bytes, memoryview]) -> Header:
    """Return the header of a file; raises HeaderError where it is damaged or does not fit the file's size."""
    start = 8 + int.from_bytes(content[:8], "little")
    if len(content) < 8 or start > len(content):
        raise HeaderError("the file is cut off, or of another format")
    try:
        header = json.loads(bytes(content[8:start]).decode("utf-8"))
    except RecursionError:
        raise HeaderError("its header is nested too deeply") from None
    except ValueError as error:
        raise HeaderError(f"its header is no JSON: {shown(str(error))}") from None
    metadata = header.pop("__metadata__", {}) if isinstance(header, dict) else None
    if not isinstance(metadata, dict) or not all(isinstance(text, str) for text in metadata.values()):
        raise HeaderError("its header is no table of arrays")
    data = memoryview(content)[start:]
    entries = {name: _entry(name, value, len(data)) for name, value in header.items()}
    if sum(entry.end - entry.begin for entry in entries.values()) > len(data):
        raise HeaderError("its arrays overlap")
    return Header(entries, metadata, data)


def _entry(name: str, value: Any, length: int) -> Entry:
    where = f"array {shown(name)!r}"
    if not isinstance(value, dict) or not {"dtype", "shape", "data_offsets"} <= set(value):
        raise HeaderError(f"{where} has no dtype, shape or data_offsets")
    tag, shape, offsets = value["dtype"], value["shape"], value["data_offsets"]
    if not isinstance(tag, str) or tag not in _BYTES:
        raise HeaderError(f"{where} has the element type {shown(tag)}, which is not read")
    if not _are_sizes(shape) or not _are_sizes(offsets) or len(offsets) != 2 or len(shape) > _RANK:
        raise HeaderError(f"{where} has sizes that are no sizes")
    if not offsets[0] <= offsets[1] <= length:
        raise HeaderError(f"the file is cut off: {where} ends behind its {length} bytes of arrays")
    if math.prod(shape) * _BYTES[tag] != offsets[1] - offsets[0]:
        raise HeaderError(f"{where} has another number of bytes than its shape says")
    return Entry(tag, tuple(shape), offsets[0], offsets[1])


def _are_sizes(values: Any) -> bool:
    return isinstance(values, list) and all(type(value) is int and 0 <= value < 1 << 63 for value in values)
