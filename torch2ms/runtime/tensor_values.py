"""An array of a file of weights that is read, and changed in type, piece by piece.

``Value(array, "float32")`` holds an array; ``Value(...).cast("float16")`` is another one, made when its pieces are
asked for::

    for piece in value.raw_pieces():    # flat, at most PIECE elements, as files hold them
        stream.write(piece)
"""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from .file_bytes import FileBytes

__all__ = ["PIECE", "Value", "Values", "is_equal"]

PIECE = 4 << 20
"""Elements of a piece; it divides 512 MiB of any element type."""

_BFLOAT16 = "bfloat16"


class Value:
    """One array and the name of its element type; bfloat16, which NumPy lacks, is the equal float32 array.

    ``held``: the array, or its elements in flat parts, which need a ``shape``; of uint16, or of float32, where the type
    is bfloat16. ``file``: where it lies; what reading has filled is freed when a piece was read.
    """

    def __init__(
        self,
        held: Union[NDArray[Any], List[NDArray[Any]]],
        dtype: str,
        *,
        shape: Tuple[int, ...] = (),
        file: Optional[FileBytes] = None,
        source: str = "",
    ) -> None:
        self._held = held
        self.dtype = dtype
        self.shape = shape if isinstance(held, list) else tuple(held.shape)
        self._file = file
        self._source = source or dtype  # the element type of what is held

    @property
    def nbytes(self) -> int:
        """How many bytes the array has in a file."""
        return math.prod(self.shape) * (2 if self.dtype == _BFLOAT16 else np.dtype(self.dtype).itemsize)

    @property
    def array(self) -> NDArray[Any]:
        """The whole array. Raises where the checksum of its file does not fit."""
        self.checked()
        if not isinstance(self._held, list):
            return self._changed(self._held)
        whole = np.empty(self.shape, self._changed(self._held[0][:0]).dtype)
        flat, place = whole.reshape(-1), 0
        for piece in self.pieces():
            flat[place : place + piece.size] = piece
            place += piece.size
        return whole

    def checked(self) -> None:
        """Wait for the checksums of the file that holds the array; raises where one does not fit."""
        if self._file is not None:
            self._file.checked()

    def cast(self, dtype: str) -> Value:
        """Return the array in another type."""
        return Value(self._held, dtype, shape=self.shape, file=self._file, source=self._source)

    def reshaped(self, change: Callable[[Any], Any]) -> Value:
        """Return the array with axes of size 1 added or removed by ``change``, a function of an array."""
        held = self._held
        if isinstance(held, list):
            shape = change(np.broadcast_to(np.zeros((), bool), self.shape)).shape
            return Value(held, self.dtype, shape=shape, file=self._file, source=self._source)
        return Value(np.asarray(change(held)), self.dtype, file=self._file, source=self._source)

    def pieces(self) -> Iterator[NDArray[Any]]:
        """Yield the elements in their order, flat arrays of at most PIECE; :meth:`checked` is to be called as well."""
        parts = self._held if isinstance(self._held, list) else [np.ascontiguousarray(self._held).reshape(-1)]
        for part in parts:
            for begin in range(0, part.size, PIECE):
                yield self._changed(part[begin : begin + PIECE])
                if self._file is not None:
                    self._file.release()

    def raw_pieces(self) -> Iterator[NDArray[Any]]:
        """Yield the bytes of the pieces as files hold them: little-endian, bfloat16 as two bytes."""
        for piece in self.pieces():
            if self.dtype == _BFLOAT16:
                piece = (piece.view(np.uint32) >> 16).astype(np.uint16)
            yield piece.astype(piece.dtype.newbyteorder("<"), copy=False).view(np.uint8)

    def _changed(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return a part of what is held in the type of this value."""
        if self._source == _BFLOAT16 and array.dtype == np.uint16:
            array = (array.astype(np.uint32) << 16).view(np.float32)
        if self.dtype == self._source:
            return array
        if self.dtype == _BFLOAT16:
            return _round_to_bfloat16(array)
        return array.astype(self.dtype)


Values = Dict[str, Value]


def is_equal(one: Value, other: Value) -> bool:
    """Whether two arrays have the same elements, NaN being equal to NaN."""
    one.checked()
    other.checked()
    if one.shape != other.shape:
        return False
    for first, second in zip(one.pieces(), other.pieces()):
        if first.size != second.size:  # files may cut large arrays anywhere
            return _same(one.array, other.array)
        if not _same(first, second):
            return False
    return True


def _same(one: NDArray[Any], other: NDArray[Any]) -> bool:
    return np.array_equal(one, other, equal_nan=one.dtype.kind in "fc" and other.dtype.kind in "fc")


def _round_to_bfloat16(array: NDArray[Any]) -> NDArray[Any]:
    array = array.astype(np.float32)
    bits: NDArray[Any] = array.view(np.uint32).astype(np.uint64)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000  # to nearest, ties to even
    rounded = bits.astype(np.uint32).view(np.float32)
    return np.where(np.isfinite(array), rounded, array).astype(np.float32)
