"""Checkpoints: written atomically, checked when read, and read without executing anything, whole networks excepted.

A file is in the safetensors format (8 bytes of header length, a JSON header, raw arrays), so that other tools read it
too. The header also keeps the shape of the saved object (dicts, lists, tuples, numbers, strings, None) and a CRC-32 of
both. A write goes to a temporary file in the same folder, reaches the disk (``fsync``) and is then renamed:
whoever is killed in between leaves the old file. A torn or damaged file is recognised and never loaded.
"""

from __future__ import annotations

import argparse
import json
import os
import zlib
from pathlib import Path
from typing import Any, BinaryIO, Callable, Dict, List, Optional, Tuple, Union

import mindspore as ms
import numpy as np

from . import ckpt_files, modules, networks, torch_files
from .file_bytes import ChecksumError, FileBytes, replace
from .names import torch_names
from .tensor_headers import Entry, HeaderError, read_header
from .tensor_values import Value

__all__ = [
    "CheckpointError",
    "CheckpointStore",
    "load",
    "load_given",
    "load_network",
    "load_weights",
    "save",
    "save_given",
    "weights_of",
]

PathLike = Union[str, "os.PathLike[str]"]

_FORMAT = "torch2ms-1"
_DTYPES = {
    "F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64, "I32": np.int32, "I16": np.int16,
    "I8": np.int8, "U64": np.uint64, "U32": np.uint32, "U16": np.uint16, "U8": np.uint8, "BOOL": np.bool_,
    "C64": np.complex64, "C128": np.complex128,
}  # fmt: skip
_NAMES = {np.dtype(dtype): name for name, dtype in _DTYPES.items()}
_Arrays = Dict[str, Tuple[str, "np.ndarray[Any, Any]"]]
_Make = Callable[[str, "np.ndarray[Any, Any]", Optional[str]], Any]
_OBJECTS = "pickled objects"
_BFLOAT16 = "BF16"  # NumPy has no such type: the upper half of a float32


class CheckpointError(RuntimeError):
    """A checkpoint is missing, damaged, or of a kind that cannot be read."""


class _Packer:
    """Take an object apart into a JSON description and named arrays."""

    def __init__(self) -> None:
        self.arrays: Dict[str, Tuple[str, np.ndarray[Any, Any]]] = {}
        self.objects: List[Any] = []  # kept together: an optimizer goes on with the weights of the network beside it
        self.places: List[str] = []

    def pack(self, value: Any, path: str) -> Any:
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, dict):
            return {"d": [[self.pack(key, path), self.pack(item, _join(path, key))] for key, item in value.items()]}
        if isinstance(value, (list, tuple)):
            kind = "l" if isinstance(value, list) else "t"
            return {kind: [self.pack(item, _join(path, index)) for index, item in enumerate(value)]}
        if isinstance(value, argparse.Namespace):
            return {"ns": self.pack(vars(value), path)["d"]}
        if isinstance(value, (ms.Tensor, np.ndarray, np.generic)):
            return self.pack_array(value, path)
        return self.pack_object(value, path)

    def pack_object(self, value: Any, path: str) -> Any:
        """Keep a network, an optimizer, or an object of a class of the program, for the bytes of one pickle."""
        self.objects.append(value)
        self.places.append(path)
        return {"s": len(self.objects) - 1}

    def finish(self) -> None:
        """Pickle what was kept. Raises TypeError, with its place, for what cannot be."""
        if not self.objects:
            return
        try:
            content = networks.to_bytes(self.objects)
        except TypeError:
            for value, path in zip(self.objects, self.places):
                try:
                    networks.to_bytes(value)
                except TypeError as error:
                    raise TypeError(f"{error}, at {path or 'the top'!r}") from error
            raise
        self.pack_array(np.frombuffer(content, np.uint8), _OBJECTS)

    def pack_array(self, value: Any, path: str) -> Any:
        name, number = path or "value", 1
        while name in self.arrays:
            number += 1
            name = f"{path}#{number}"
        kind = "a" if not isinstance(value, ms.Tensor) else "p" if isinstance(value, ms.Parameter) else "x"
        if kind != "a" and str(value.dtype) == "BFloat16":
            bits = np.ascontiguousarray(value.astype(ms.float32).asnumpy()).view(np.uint32) >> 16
            self.arrays[name] = (_BFLOAT16, bits.astype(np.uint16))
        else:
            array = value.asnumpy() if kind != "a" else np.asarray(value)
            if array.dtype not in _NAMES:
                raise TypeError(f"cannot save an array of {array.dtype} at {path!r}")
            self.arrays[name] = (_NAMES[array.dtype], array)
        return {kind: name}


def _join(path: str, key: Any) -> str:
    return f"{path}.{key}" if path else str(key)


class _Unpacker:
    """Make an object again of its JSON description and its arrays, each of which is used once."""

    def __init__(self, arrays: _Arrays, name: object, weights_only: bool, make: _Make) -> None:
        self.arrays = arrays
        self.name = name
        self.weights_only = weights_only
        self.make = make
        self.objects: Any = None  # those that were pickled together

    def unpack(self, node: Any) -> Any:
        """Return what a part of the description stands for."""
        if not isinstance(node, dict):
            return node
        ((kind, content),) = node.items()
        if kind == "d":
            return {self.unpack(key): self.unpack(item) for key, item in content}
        if kind == "ns":
            return argparse.Namespace(**{key: self.unpack(item) for key, item in content})
        if kind in ("l", "t"):
            items = [self.unpack(item) for item in content]
            return items if kind == "l" else tuple(items)
        if kind in ("s", "o"):
            return self.unpack_object(kind, content)
        tag, array = self.arrays.pop(content)
        return array.copy() if kind == "a" else self.make(tag, array, content if kind == "p" else None)

    def unpack_object(self, kind: str, content: Any) -> Any:
        """Return an object of the program's own classes, which runs their code."""
        if self.weights_only:
            raise CheckpointError(f"{self.name} holds a network, not only weights: weights_only=False runs its code")
        if kind == "o":  # of files that earlier releases wrote
            return _objects(self.arrays.pop(content)[1], content)
        if self.objects is None:
            self.objects = _objects(self.arrays.pop(_OBJECTS)[1], _OBJECTS)
        return self.objects[content]


def _objects(array: np.ndarray[Any, Any], name: str) -> Any:
    try:
        return networks.from_bytes(array.tobytes())
    except Exception as error:  # whatever the program's own classes raise
        raise CheckpointError(f"{name} in the checkpoint cannot be made again: {error}") from error


def _tensor(tag: str, array: np.ndarray[Any, Any], parameter: Optional[str] = None) -> Any:
    tensor = ms.Tensor((array.astype(np.uint32) << 16).view(np.float32) if tag == _BFLOAT16 else array.copy())
    if tag == _BFLOAT16:
        tensor = tensor.astype(ms.bfloat16)
    return tensor if parameter is None else ms.Parameter(tensor, name=parameter)


def save(obj: Any, path: Union[PathLike, BinaryIO]) -> None:
    """Write ``obj`` to exactly the file ``path`` (or a binary file object).

    ``obj``: a state_dict, or dicts, lists and tuples of tensors, arrays, numbers and strings, and argparse namespaces.
    Anything else, such as a whole network, is pickled (see :mod:`.networks`). Raises TypeError for what cannot be (a
    lambda), and OSError where the disk refuses.
    """
    packer = _Packer()
    tree = json.dumps(packer.pack(obj, ""))
    packer.finish()
    header: Dict[str, Any] = {}
    offset, crc = 0, zlib.crc32(tree.encode("utf-8"))
    for name, (tag, array) in packer.arrays.items():
        header[name] = {"dtype": tag, "shape": list(array.shape), "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
        crc = zlib.crc32(_raw(array), crc)
    header["__metadata__"] = {"format": "np", "torch2ms": _FORMAT, "tree": tree, "crc32": str(crc)}
    text = json.dumps(header).encode("utf-8")
    text += b" " * (-len(text) % 8)
    parts = [len(text).to_bytes(8, "little"), text]
    if hasattr(path, "write"):
        _write(path, parts, packer)
    else:
        replace(Path(path), lambda stream: _write(stream, parts, packer))


def _raw(array: np.ndarray[Any, Any]) -> memoryview:
    return memoryview(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def _write(stream: Any, parts: List[bytes], packer: _Packer) -> None:
    for part in parts:
        stream.write(part)
    for _, array in packer.arrays.values():
        stream.write(_raw(array))


def load(
    path: Union[PathLike, BinaryIO], map_location: object = None, *, weights_only: bool = False, **_: object
) -> Any:
    """Return what :func:`save` or ``torch.save`` wrote, or the tensors of a safetensors or ``.ckpt`` file as a dict.

    A network that was saved whole runs code when it is read, like any pickle; with ``weights_only`` it is refused.
    ``map_location`` and further keywords are accepted and ignored: MindSpore places tensors itself. Raises
    FileNotFoundError, or CheckpointError where the file is damaged or of another kind.
    """
    if hasattr(path, "read"):
        name, content = "the stream", path.read()
    else:
        name = os.fspath(path)
        with open(name, "rb") as stream:
            content = stream.read()
    if torch_files.is_torch_file(content):
        try:
            return torch_files.read(content)
        except torch_files.TorchFileError as error:
            raise CheckpointError(f"{name}: {error}") from error
    if str(name).endswith(".ckpt") and not _looks_like_safetensors(content):
        return _load_ckpt(FileBytes(memoryview(content)), name)
    return parse(FileBytes(memoryview(content)), name, weights_only)


def _load_ckpt(file: FileBytes, name: str) -> Dict[str, Any]:
    """Return parameters and texts; MindSpore's own reader makes whatever sizes a damaged file names."""
    try:
        found = ckpt_files.read(file)
    except ckpt_files.CkptError as error:
        raise CheckpointError(f"{name} is damaged, or is no checkpoint of MindSpore's: {error}") from error
    return {key: value if isinstance(value, str) else _parameter(key, value) for key, value in found.items()}


def _parameter(name: str, value: Value) -> ms.Parameter:
    tensor = ms.Tensor(np.array(value.array))
    return ms.Parameter(tensor.astype(ms.bfloat16) if value.dtype == "bfloat16" else tensor, name=name)


def _looks_like_safetensors(content: Union[bytes, memoryview]) -> bool:
    return len(content) > 8 and content[8:9] == b"{" and int.from_bytes(content[:8], "little") <= len(content) - 8


def parse(content: FileBytes, name: object, weights_only: bool = False, make: _Make = _tensor) -> Any:
    """Return the object in the bytes of a file in the safetensors format; raises CheckpointError.

    ``make`` makes its tensors from the format's element type, an array in the memory of the file, and the name where
    it was a parameter.
    """
    if not _looks_like_safetensors(content.view):
        raise CheckpointError(f"{name} is damaged, or is no checkpoint (safetensors, or MindSpore's .ckpt)")
    try:
        entries, metadata, data = read_header(content.view)
        if "crc32" in metadata:
            begin, end = len(content.view) - len(data), len(content.view)
            start = zlib.crc32(metadata["tree"].encode())
            content.expect(begin, end, int(metadata["crc32"]), "all that it holds", start)
        arrays = {key: (entry.tag, _array(entry, data)) for key, entry in entries.items()}
        if metadata.get("torch2ms") == _FORMAT:
            return _Unpacker(arrays, name, weights_only, make).unpack(json.loads(metadata["tree"]))
        return {key: make(tag, array, key) for key, (tag, array) in arrays.items()}
    except CheckpointError:
        raise
    except Exception as error:  # whatever damaged bytes lead to, in NumPy or MindSpore
        reason = error if isinstance(error, (HeaderError, ChecksumError)) else type(error).__name__
        raise CheckpointError(f"{name} is damaged: {reason}") from error


def _array(entry: Entry, data: memoryview) -> np.ndarray[Any, Any]:
    dtype = np.dtype(np.uint16) if entry.tag == _BFLOAT16 else np.dtype(_DTYPES[entry.tag])
    return np.frombuffer(data[entry.begin : entry.end], dtype=dtype).reshape(entry.shape)


def save_given(obj: Any, f: Union[PathLike, BinaryIO], *_: object, **__: object) -> None:
    """:func:`save` with the parameters of torch.save, for calls whose arguments are only known when they are made."""
    save(obj, f)


def load_given(f: Union[PathLike, BinaryIO], *_: object, **options: Any) -> Any:
    """:func:`load` with the parameters of torch.load, for calls whose arguments are only known when they are made."""
    return load(f, weights_only=bool(options.get("weights_only")))


def load_network(network: ms.nn.Cell, path: PathLike) -> Dict[str, Any]:
    """Load the weights in ``path`` into ``network``, whatever wrote them, and return the rest of a training state.

    Takes a training checkpoint of :class:`CheckpointStore`, a state_dict, or a ``.ckpt``. Every parameter of the
    network must be there, with its shape; raises CheckpointError that names those that are not.
    """
    content = load(path)
    rest: Dict[str, Any] = {}
    if isinstance(content, dict) and isinstance(content.get("network"), dict):
        rest = {key: value for key, value in content.items() if key != "network"}
        content = content["network"]
    load_weights(network, content, str(path))
    return rest


def weights_of(network: ms.nn.Cell) -> Dict[str, Any]:
    """Return every parameter and saved buffer of ``network`` under its path (``save_checkpoint`` omits buffers).

    Mixed precision wraps layers in place; the names are those without the wrappers, whatever the level.
    """
    weights = modules.saved_state(network)
    wrappers = [path for path, cell in network.cells_and_names() if type(cell).__module__ == "mindspore.train.amp"]
    for path in sorted(wrappers, key=len, reverse=True):
        inner, outer = f"{path}._backbone.".lstrip("."), f"{path}.".lstrip(".")
        weights = {
            outer + name[len(inner) :] if name.startswith(inner) else name: value for name, value in weights.items()
        }
    return weights


def load_weights(network: ms.nn.Cell, weights: Dict[str, Any], source: str = "the weights") -> None:
    """Copy ``weights`` into ``network``: all names present, equal shapes; extra names are refused too.

    The names are MindSpore's or PyTorch's, which has a count of batches beside.
    """
    own = weights_of(network)
    if not own.keys() <= weights.keys():
        paths = torch_names(network)
        taken = {name: paths.get(name, name) for name in own if paths.get(name, name) in weights}
        counts = {f"{path[: -len('running_mean')]}num_batches_tracked" for path in taken.values()}
        rest = {name: value for name, value in weights.items() if name not in (*taken.values(), *counts)}
        weights = {**rest, **{name: weights[path] for name, path in taken.items()}}
    missing = sorted(set(own) - set(weights))
    extra = sorted(set(weights) - set(own))
    wrong = [name for name in own if name in weights and tuple(own[name].shape) != tuple(weights[name].shape)]
    if missing or extra or wrong:
        problems = [
            f"{what}: {', '.join(names[:5])}{' ...' if len(names) > 5 else ''} ({len(names)})"
            for what, names in (("missing", missing), ("not in the network", extra), ("other shape", wrong))
            if names
        ]
        raise CheckpointError(f"{source} does not fit the network; " + "; ".join(problems))
    for name, value in own.items():
        new = ms.Tensor(weights[name].asnumpy()).astype(value.dtype)
        modules.write_into(value, new)


class CheckpointStore:
    """The checkpoints of one training run in one folder: the newest few, and the best.

    ``checkpoint-<step>.safetensors`` hold a whole training state, ``best.safetensors`` that of the best metric.
    """

    def __init__(self, folder: PathLike, keep: int = 3) -> None:
        self.folder = Path(folder)
        self.keep = max(1, keep)

    @property
    def best_path(self) -> Path:
        """Where the best state is kept."""
        return self.folder / "best.safetensors"

    def paths(self) -> List[Path]:
        """Return the checkpoints, newest first."""
        found = [path for path in self.folder.glob("checkpoint-*.safetensors") if path.stem[11:].isdigit()]
        return sorted(found, key=lambda path: int(path.stem[11:]), reverse=True)

    def save(self, state: Dict[str, Any], step: int, is_best: bool = False) -> Path:
        """Write ``state`` as the checkpoint of ``step`` (and as the best one), and drop the oldest beyond ``keep``."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"checkpoint-{step:08d}.safetensors"
        save(state, path)
        if is_best:
            save(state, self.best_path)
        for old in self.paths()[self.keep :]:
            old.unlink()
        for torn in self.folder.glob(".*.safetensors.*.tmp"):  # left by a process that was killed while writing
            torn.unlink()
        return path

    def load_latest(self) -> Optional[Tuple[Path, Dict[str, Any]]]:
        """Return the newest checkpoint that can be read, and its state; None where there is none."""
        for path in self.paths():
            try:
                return path, load(path)
            except (CheckpointError, OSError):
                continue  # damaged by the disk or by hand: an older one is better than none
        return None
