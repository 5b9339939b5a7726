"""TensorBoard's event files, written without TensorBoard: scalars, histograms, images, sounds and texts.

A file is a sequence of records (length, CRC-32C of it, content, CRC-32C of that), each an ``Event`` in the protocol
buffer encoding that ``tensorboard/compat/proto`` describes. MindSpore's ``SummaryRecord`` writes for MindInsight.
"""

from __future__ import annotations

import io
import json
import os
import socket
import struct
import time
import wave
from datetime import datetime
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, Dict, Iterable, List, Mapping, Optional, Type, Union

import numpy as np
from PIL import Image

__all__ = ["SummaryWriter"]

PathLike = Union[str, "os.PathLike[str]"]


def _crc_table() -> List[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _crc_table()


def _masked_crc(content: bytes) -> int:
    """Return the CRC-32C of ``content``, rotated and shifted as the record format wants it."""
    crc = 0xFFFFFFFF
    for byte in content:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def _int(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _double(field: int, value: float) -> bytes:
    return _varint(field << 3 | 1) + struct.pack("<d", value)


def _float(field: int, value: float) -> bytes:
    return _varint(field << 3 | 5) + struct.pack("<f", value)


def _bytes(field: int, value: Union[bytes, str]) -> bytes:
    content = value.encode("utf-8") if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _doubles(field: int, values: Iterable[float]) -> bytes:
    return _bytes(field, np.asarray(list(values), "<f8").tobytes())


def _array(value: Any) -> np.ndarray[Any, Any]:
    """Return a tensor, a parameter, a number or a list as an array."""
    return np.asarray(value.asnumpy() if hasattr(value, "asnumpy") else value)


class _EventFile:
    """One event file; every event is on its way to the disk when the call returns."""

    def __init__(self, folder: Path, suffix: str = "") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        name = (
            f"events.out.tfevents.{int(time.time())}.{socket.gethostname()}.{os.getpid()}.{id(self) % 100000}{suffix}"
        )
        self._stream = open(folder / name, "ab")  # noqa: SIM115 - closed by close()
        self._event(_bytes(3, "brain.Event:2"), None, None)

    def _event(self, content: bytes, step: Optional[int], walltime: Optional[float]) -> None:
        event = _double(1, time.time() if walltime is None else walltime)
        event += (_int(2, int(step)) if step is not None else b"") + content
        size = struct.pack("<Q", len(event))
        crcs = struct.pack("<I", _masked_crc(size)), struct.pack("<I", _masked_crc(event))
        self._stream.write(size + crcs[0] + event + crcs[1])
        self._stream.flush()

    def value(self, tag: str, content: bytes, step: Any, walltime: Optional[float]) -> None:
        self._event(_bytes(5, _bytes(1, _bytes(1, tag) + content)), None if step is None else int(step), walltime)

    def close(self) -> None:
        self._stream.close()


class SummaryWriter:
    """Writes what a program logs into event files below ``log_dir`` (default: ``runs/`` and date and host).

    The interface is that of ``torch.utils.tensorboard.SummaryWriter``. Networks are not drawn: ``add_graph`` and
    ``add_embedding`` write nothing.
    """

    def __init__(
        self,
        log_dir: Optional[PathLike] = None,
        comment: str = "",
        purge_step: Optional[int] = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        del purge_step, max_queue, flush_secs  # nothing is kept back
        started = datetime.now().strftime("%b%d_%H-%M-%S")
        self.log_dir = str(log_dir) if log_dir else os.path.join("runs", f"{started}_{socket.gethostname()}{comment}")
        self._suffix = filename_suffix
        self._files: Dict[str, _EventFile] = {}
        self._together: Dict[str, List[List[Any]]] = {}
        self._file()

    def _file(self, below: str = "") -> _EventFile:
        if below not in self._files:
            self._files[below] = _EventFile(Path(self.log_dir) / below, self._suffix)
        return self._files[below]

    def get_logdir(self) -> str:
        """Return the folder the files are in."""
        return self.log_dir

    def add_scalar(
        self, tag: str, scalar_value: Any, global_step: Any = None, walltime: Optional[float] = None, **_: object
    ) -> None:
        """Write one number: a Python one, or a tensor or array of one element."""
        number = float(_array(scalar_value).reshape(()))
        self._file().value(tag, _float(2, number), global_step, walltime)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: Mapping[str, Any],
        global_step: Any = None,
        walltime: Optional[float] = None,
    ) -> None:
        """Write several numbers that are drawn together, each into a file of its own, as TensorBoard wants it."""
        when = time.time() if walltime is None else walltime
        for tag, value in tag_scalar_dict.items():
            below, number = f"{main_tag.replace('/', '_')}_{tag}", float(_array(value).reshape(()))
            self._file(below).value(main_tag, _float(2, number), global_step, when)
            step = None if global_step is None else int(global_step)
            self._together.setdefault(os.path.join(self.log_dir, main_tag, tag), []).append([when, step, number])

    def export_scalars_to_json(self, path: PathLike) -> None:
        """Write what :meth:`add_scalars` was given since the last export as JSON, a list of time, step and value a tag.

        tensorboardX has this; numbers of :meth:`add_scalar` are not among them, there as here.
        """
        Path(path).write_text(json.dumps(self._together))
        self._together.clear()

    def add_histogram(
        self, tag: str, values: Any, global_step: Any = None, bins: Any = "tensorflow",
        walltime: Optional[float] = None, **_: object,
    ) -> None:  # fmt: skip
        """Write the distribution of the numbers in ``values``; 30 bins unless ``bins`` says otherwise."""
        numbers = _array(values).astype(np.float64).ravel()
        if numbers.size == 0:
            raise ValueError("a histogram of no values")
        counts, edges = np.histogram(numbers, bins=30 if bins == "tensorflow" else bins)
        content = b"".join(
            [
                _double(1, numbers.min()), _double(2, numbers.max()), _double(3, numbers.size),
                _double(4, numbers.sum()), _double(5, float(numbers @ numbers)),
                _doubles(6, edges[1:]), _doubles(7, counts),
            ]
        )  # fmt: skip
        self._file().value(tag, _bytes(5, content), global_step, walltime)

    def add_image(
        self, tag: str, img_tensor: Any, global_step: Any = None, walltime: Optional[float] = None,
        dataformats: str = "CHW",
    ) -> None:  # fmt: skip
        """Write a picture: 0 to 1 (floats) or 0 to 255 (uint8), its dimensions in the order of ``dataformats``."""
        picture = _array(img_tensor)
        wanted = [dataformats.upper().index(letter) for letter in "HWC" if letter in dataformats.upper()]
        picture = picture.transpose(wanted)
        if picture.dtype != np.uint8:
            picture = (picture.astype(np.float64) * 255).clip(0, 255).astype(np.uint8)
        if picture.ndim == 3 and picture.shape[2] == 1:
            picture = picture[..., 0]
        stream = io.BytesIO()
        Image.fromarray(picture).save(stream, format="PNG")
        height, width = picture.shape[:2]
        channels = picture.shape[2] if picture.ndim == 3 else 1
        content = _int(1, height) + _int(2, width) + _int(3, channels) + _bytes(4, stream.getvalue())
        self._file().value(tag, _bytes(4, content), global_step, walltime)

    def add_images(
        self, tag: str, img_tensor: Any, global_step: Any = None, walltime: Optional[float] = None,
        dataformats: str = "NCHW",
    ) -> None:  # fmt: skip
        """Write a batch of pictures, side by side."""
        batch = np.moveaxis(_array(img_tensor), dataformats.upper().index("N"), 0)
        rest = dataformats.upper().replace("N", "")
        row = np.concatenate(list(batch), axis=rest.index("W"))
        self.add_image(tag, row, global_step, walltime, rest)

    def add_figure(
        self, tag: str, figure: Any, global_step: Any = None, close: bool = True, walltime: Optional[float] = None
    ) -> None:
        """Write a figure of matplotlib, or several, as a picture; with ``close``, pyplot forgets it, as PyTorch's does.

        It is drawn on a canvas of its own: that of a figure which pyplot has closed cannot draw.
        """
        backend = import_module("matplotlib.backends.backend_agg")
        for one in figure if isinstance(figure, list) else [figure]:
            canvas = backend.FigureCanvasAgg(one)
            canvas.draw()
            self.add_image(tag, np.asarray(canvas.buffer_rgba())[..., :3], global_step, walltime, "HWC")
            if close:
                import_module("matplotlib.pyplot").close(one)

    def add_audio(
        self, tag: str, snd_tensor: Any, global_step: Any = None, sample_rate: int = 44100,
        walltime: Optional[float] = None,
    ) -> None:  # fmt: skip
        """Write a sound of one channel, -1 to 1, as 16 bits a sample; ``sample_rate`` in Hz."""
        sound = _array(snd_tensor).squeeze()
        if sound.ndim != 1:
            raise ValueError(f"a sound has one dimension, not {sound.ndim}")
        stream = io.BytesIO()
        with wave.open(stream, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(sample_rate)
            file.writeframes((sound.clip(-1, 1) * 32767).astype("<i2").tobytes())
        content = _float(1, sample_rate) + _int(2, 1) + _int(3, sound.size) + _bytes(4, stream.getvalue())
        self._file().value(tag, _bytes(6, content + _bytes(5, "audio/wav")), global_step, walltime)

    def add_text(self, tag: str, text_string: str, global_step: Any = None, walltime: Optional[float] = None) -> None:
        """Write a text, which TensorBoard reads as Markdown."""
        kind = _bytes(9, _bytes(1, _bytes(1, "text")))
        tensor = _int(1, 7) + _bytes(2, _bytes(2, _int(1, 1))) + _bytes(8, text_string)
        self._file().value(f"{tag}/text_summary", kind + _bytes(8, tensor), global_step, walltime)

    def add_hparams(self, hparam_dict: Mapping[str, Any], metric_dict: Mapping[str, Any], **_: object) -> None:
        """Write hyperparameters as a text, and the results they led to as numbers."""
        self.add_text("hparams", "\n".join(f"- {name}: {value}" for name, value in hparam_dict.items()))
        for name, value in metric_dict.items():
            self.add_scalar(name, value)

    def add_graph(self, *_: object, **__: object) -> None:
        """Do nothing: a network is not drawn."""

    def add_embedding(self, *_: object, **__: object) -> None:
        """Do nothing: embeddings are not projected."""

    def flush(self) -> None:
        """Do nothing: every call has written what it was given."""

    def close(self) -> None:
        """Close the files; a later call opens new ones."""
        for file in self._files.values():
            file.close()
        self._files.clear()

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()
