"""Files that are larger than memory: mapped to be read, and written atomically piece by piece.

What is read of a mapped file lies in memory until :meth:`FileBytes.release`::

    content = FileBytes.of(path)
    np.frombuffer(content.view[8:16], np.float32)
    content.release()

Checksums of a mapped file are compared by a thread, beside what reads it; :meth:`FileBytes.checked` waits for it, and
is called before what was read is used.

A file is written beside its place, reaches the disk, and is then renamed; its SHA-256 goes to ``NAME.sha256``, which
``sha256sum -c`` checks. Whoever is killed in between leaves the old file, or none.
"""

from __future__ import annotations

import hashlib
import io
import mmap
import os
import queue
import tempfile
import threading
import time
import zlib
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO, Callable, List, Optional, TextIO, TypeVar

__all__ = ["ChecksumError", "FileBytes", "Progress", "Sink", "replace", "write_atomically"]

_T = TypeVar("_T")
_PART = 16 << 20  # bytes that are looked at, or written, at a time
_SHOWN_EVERY = 0.2  # seconds


class ChecksumError(ValueError):
    """What a file holds does not fit a checksum that stands in it."""


class FileBytes:
    """The bytes of a file, of which only those in use are in memory.

    ``damaged`` makes what is raised where a checksum does not fit, of a text that says which.
    """

    def __init__(
        self,
        view: memoryview,
        mapping: Optional[mmap.mmap] = None,
        damaged: Callable[[str], Exception] = ChecksumError,
    ) -> None:
        self.view = view
        self._mapping = mapping
        self._damaged = damaged
        self._pool: Optional[ThreadPoolExecutor] = None
        self._comparisons: List[Future[None]] = []

    @classmethod
    def of(cls, path: Path, damaged: Callable[[str], Exception] = ChecksumError) -> FileBytes:
        """Map a file. Raises OSError."""
        with open(path, "rb") as stream:
            if os.fstat(stream.fileno()).st_size == 0:  # which cannot be mapped
                return cls(memoryview(b""))
            mapping = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        return cls(memoryview(mapping), mapping, damaged)

    def release(self) -> None:
        """Give the memory back that was filled by reading; it is filled anew where it is read again."""
        if self._mapping is not None and hasattr(mmap, "MADV_DONTNEED"):
            self._mapping.madvise(mmap.MADV_DONTNEED)

    def expect(self, begin: int, end: int, checksum: int, where: str, start: int = 0) -> None:
        """Compare the CRC-32 of ``view[begin:end]``, continued from ``start``, with ``checksum``.

        What does not fit raises here where the bytes are in memory, and :meth:`checked` where they are mapped.
        """
        expected = begin, end, start, checksum, f"the checksum of {where} does not fit its content"
        if self._mapping is None:
            self._compare(*expected)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1)
        self._comparisons.append(self._pool.submit(self._compare, *expected))

    def checked(self) -> None:
        """Wait until every checksum is compared; raises where one does not fit, or could not be compared."""
        while self._comparisons:
            self._comparisons[-1].result()
            self._comparisons.pop()

    def _compare(self, begin: int, end: int, start: int, checksum: int, text: str) -> None:
        for place in range(begin, end, _PART):
            start = zlib.crc32(self.view[place : min(place + _PART, end)], start)
            self.release()
        if start != checksum:
            raise self._damaged(text)

    def stream(self) -> BinaryIO:
        """Return a stream of the bytes."""
        return io.BufferedReader(_Stream(self.view))


class _Stream(io.RawIOBase):
    """A stream of bytes in memory, without a copy of them."""

    def __init__(self, view: memoryview) -> None:
        self._view = view
        self._place = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._place = max(0, offset + (0, self._place, len(self._view))[whence])
        return self._place

    def readinto(self, buffer: Any) -> int:
        part = self._view[self._place : self._place + len(buffer)]
        buffer[: len(part)] = part
        self._place += len(part)
        return len(part)


class Sink:
    """A file that is being written: what is written is hashed as well, by a thread of its own.

    A piece must keep its content: the hash reads it after ``write`` has returned. ``progress`` is called with the bytes
    of every piece; ``written`` counts them.
    """

    def __init__(self, stream: BinaryIO, progress: Callable[[int], None]) -> None:
        self._stream = stream
        self._progress = progress
        self.written = 0
        self._hash = hashlib.sha256()
        self._pieces: queue.Queue[Optional[memoryview]] = queue.Queue(2)
        self._thread = threading.Thread(target=self._hash_pieces, daemon=True)
        self._thread.start()

    def write(self, piece: Any) -> int:
        """Write bytes, or the memory of an array that is contiguous."""
        view = memoryview(piece).cast("B")
        for begin in range(0, len(view), _PART):
            part = view[begin : begin + _PART]
            self._pieces.put(part)
            self._stream.write(part)
            self.written += len(part)
            self._progress(len(part))
        return len(view)

    def finish(self) -> str:
        """End the hash, and return it in hexadecimal digits."""
        if self._thread.is_alive():
            self._pieces.put(None)
            self._thread.join()
        return self._hash.hexdigest()

    def _hash_pieces(self) -> None:
        for piece in iter(self._pieces.get, None):
            self._hash.update(piece)


class Progress:
    """A bar on a terminal: ``weights.ckpt  37% of 3.9 GB``; nothing where the stream is none."""

    def __init__(self, name: str, total: int, stream: Optional[TextIO] = None) -> None:
        self._name = name
        self._total = max(total, 1)
        self._stream = stream if stream is not None and stream.isatty() else None
        self._done = 0
        self._last = 0.0

    def __call__(self, size: int) -> None:
        """Count ``size`` bytes more as written."""
        self._done += size
        now = time.monotonic()
        if self._stream is None or now - self._last < _SHOWN_EVERY:
            return
        self._last = now
        share = min(self._done / self._total, 1.0)
        bar = "#" * int(30 * share)
        self._stream.write(f"\r{self._name} [{bar:30}] {share:4.0%} of {self._total / 1e9:.1f} GB")
        self._stream.flush()

    def end(self) -> None:
        """Take the bar away."""
        if self._stream is not None and self._last:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def write_atomically(
    path: Path, write: Callable[[Sink], None], progress: Callable[[int], None] = lambda size: None
) -> None:
    """Let ``write`` fill the file ``path``, and write its SHA-256 beside it. Raises OSError.

    Where ``write`` raises, nothing is left, and an old file stays.
    """
    beside = path.with_name(f"{path.name}.sha256")

    def fill(stream: BinaryIO) -> str:
        sink = Sink(stream, progress)
        try:
            write(sink)
        finally:
            digest = sink.finish()
        return digest

    digest = replace(path, fill, before=lambda: beside.unlink() if beside.exists() else None)
    line = f"{digest}  {path.name}\n".encode()
    replace(beside, lambda stream: stream.write(line))


def replace(path: Path, fill: Callable[[BinaryIO], _T], before: Callable[[], object] = lambda: None) -> _T:
    """Fill a temporary file, let it reach the disk, and rename it to ``path``; return what ``fill`` returns.

    ``before`` is called when the file is complete and the old one still there. Raises OSError.
    """
    handle, temporary = tempfile.mkstemp(dir=str(path.parent), prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as stream:
            result = fill(stream)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        before()
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
    if os.name == "posix":  # the rename itself must reach the disk
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    return result


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
