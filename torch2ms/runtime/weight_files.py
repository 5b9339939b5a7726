"""Read and write the files that hold weights: PyTorch's .pth, safetensors, MindSpore's .ckpt.

None of them needs PyTorch, and none is held in memory: arrays are read when they are written or asked for. No file that
is read has its code executed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, BinaryIO, Callable, Dict, Iterable, List, Mapping, Optional, Tuple, Union

import numpy as np

from .file_bytes import FileBytes, Sink, replace, write_atomically
from .plain_pickles import shown
from .tensor_headers import Entry, read_header
from .tensor_values import Value, Values

__all__ = [
    "Progress",
    "Value",
    "Values",
    "WeightsError",
    "read_mindspore",
    "read_torch",
    "write_mindspore",
    "write_torch",
]

TORCH_SUFFIXES = (".pth", ".pt", ".bin", ".tar")
_NAMES = {
    "F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "I64": "int64", "I32": "int32",
    "I16": "int16", "I8": "int8", "U64": "uint64", "U32": "uint32", "U16": "uint16", "U8": "uint8", "BOOL": "bool",
    "C64": "complex64", "C128": "complex128",
}  # fmt: skip
_TAGS = {name: tag for tag, name in _NAMES.items()}
_LISTED = 20  # keys in a message
# Where programs put the state dictionary when they save more than that; the first that holds tensors is taken.
_NESTS = ("state_dict", "model_state_dict", "model_state", "model", "net", "network", "module")
_WRAPPERS = {"module.": "DataParallel", "_orig_mod.": "torch.compile"}  # prefixes of keys, and what puts them there
INDEX_SUFFIX = ".index.json"


Progress = Callable[[int], None]
"""What is told of every piece that was written: its bytes."""


class WeightsError(RuntimeError):
    """A file of weights cannot be read or written, or does not fit the network."""


def _silent(_: int) -> None:
    """Tell no one how far a file is written."""


def read_torch(path: Path) -> Tuple[Values, List[str]]:
    """Return the tensors of PyTorch's state dictionary in ``path``, and what was noticed on the way.

    The dictionary may lie under a key such as ``state_dict`` or ``model``, or any other that is the only one to hold
    tensors; the prefixes of DataParallel and torch.compile are taken off. An index of shards, ``*.index.json`` as
    Hugging Face writes it, stands for all its files. Raises WeightsError.
    """
    if path.name.endswith(INDEX_SUFFIX):
        values, notes = _read_shards(path)
    else:
        values, notes = _read_one(path)
    return _without_prefixes(values, notes), notes


def _read_one(path: Path) -> Tuple[Values, List[str]]:
    content = read_safetensors(path) if path.suffix == ".safetensors" else _load_pth(path)
    values, notes, _ = unnest(path, content)
    return values, notes


def _read_shards(path: Path) -> Tuple[Values, List[str]]:
    """Return the tensors of all files that an index names: each key from the file that the index says."""
    try:
        index = json.loads(path.read_text(encoding="utf-8"))
        files = {str(key): str(name) for key, name in index["weight_map"].items()}
    except OSError as error:
        raise WeightsError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise WeightsError(f"{path} is no index of shards: it has no weight_map of keys and files") from error
    values: Values = {}
    notes: List[str] = []
    names = list(dict.fromkeys(files.values()))
    for name in names:
        if not _is_beside(name):
            raise WeightsError(f"{path} names {shown(name)}, which is no file beside it")
        try:
            own, more = _read_one(path.with_name(name))
        except WeightsError as error:
            raise WeightsError(f"{path} names a file that cannot be used: {error}") from error
        missing = _listed(key for key, file in files.items() if file == name and key not in own)
        if missing:
            raise WeightsError(f"{path.with_name(name)} lacks what {path.name} says is in it: {missing}")
        values.update((key, value) for key, value in own.items() if files.get(key) == name)
        notes += more
    if not values:
        raise WeightsError(f"{path} names no weights")
    return values, [f"read {len(names)} files", *notes]


def _is_beside(name: str) -> bool:
    """Whether an index may name a file so: one in its own folder, and no other index."""
    plain = name not in ("", ".", "..") and Path(name).name == name and "\\" not in name
    return plain and name.isprintable() and len(name) < 256 and not name.endswith(INDEX_SUFFIX)


def _load_pth(path: Path) -> Any:
    from . import torch_files

    file = _mapped(path)
    try:
        loaded = torch_files.read(file, lambda array, dtype: Value(array, dtype, file=file))
    except torch_files.TorchFileError as error:
        raise WeightsError(f"{path} is no file of weights that can be read: {error}") from error
    return loaded


def _mapped(path: Path) -> FileBytes:
    try:
        return FileBytes.of(path, lambda text: WeightsError(f"{path} is damaged: {text}; get it anew from its source"))
    except OSError as error:
        raise WeightsError(f"{path} cannot be read: {error.strerror or error}") from error


def unnest(path: Path, content: Any) -> Tuple[Values, List[str], List[Any]]:
    """Return the state dictionary in ``content``, which may lie some keys down; notes of what was passed; the keys.

    Raises WeightsError where there is none, or more than one.
    """
    if not isinstance(content, dict):
        raise WeightsError(f"{path} holds a {type(content).__name__}, not a state dictionary")
    notes: List[str] = []
    places: List[Any] = []
    while not any(is_value(value) for value in content.values()):
        found = [key for key in _NESTS if isinstance(content.get(key), dict)] or _only_nest(content)
        if not found:
            raise WeightsError(
                f"{path} holds no state dictionary: looked for tensors, and under {', '.join(_NESTS)}; the file has "
                + (_listed(content) or "nothing")
            )
        rest = _listed(key for key in content if key != found[0])
        notes.append(f"took the weights under {found[0]!r}" + (f"; passed over {rest}" if rest else ""))
        content = content[found[0]]
        places.append(found[0])
    others = _listed(key for key, value in content.items() if not is_value(value))
    if others:
        notes.append(f"passed over what is no tensor: {others}")
    return {str(key): value for key, value in content.items() if is_value(value)}, notes, places


def is_value(value: Any) -> bool:
    """Whether something in a file is a tensor."""
    return isinstance(value, Value)


def _only_nest(content: Dict[Any, Any]) -> List[Any]:
    """Return the key of the one dictionary in ``content`` that holds tensors by name, as no optimizer's state does."""
    nests = {key: value for key, value in content.items() if isinstance(value, dict)}
    found = [key for key, value in nests.items() if any(map(is_value, value.values()))]
    return found if len(found) == 1 else []


def _listed(keys: Iterable[Any]) -> str:
    """Return keys of a file for a message, the first few."""
    found = [shown(str(key)) for key in keys]
    return ", ".join(found[:_LISTED]) + (f" and {len(found) - _LISTED} more" if len(found) > _LISTED else "")


def _without_prefixes(values: Values, notes: List[str]) -> Values:
    """Return the values without the prefixes that all keys have, one after the other."""
    found = next((prefix for prefix in _WRAPPERS if all(key.startswith(prefix) for key in values)), "")
    if not values or not found:
        return values
    notes.append(f"took off {_WRAPPERS[found]}'s prefix {found!r}")
    return _without_prefixes({key[len(found) :]: value for key, value in values.items()}, notes)


def write_torch(values: Dict[str, Any], path: Path, progress: Progress = _silent) -> None:
    """Write a state dictionary: safetensors by suffix, else PyTorch's own format, which holds more as well."""
    if path.suffix == ".safetensors":
        _write(path, lambda sink: _fill(values, sink, {"format": "pt"}), progress)
        return
    from . import torch_archives

    _write(path, lambda sink: torch_archives.write(values, sink), progress)


def read_mindspore(path: Path) -> Tuple[Values, List[str]]:
    """Return the parameters in ``path``, whatever a MindSpore program wrote there, and what was noticed.

    Takes .ckpt, safetensors, and the checkpoints of translated programs under any name. Raises WeightsError.
    """
    values, notes, _ = unnest(path, load_mindspore(path))
    return values, notes


def load_mindspore(path: Path) -> Any:
    """Return the object in ``path`` with its tensors as values. Raises WeightsError."""
    from . import checkpoint, ckpt_files

    file = _mapped(path)

    def value(tag: str, array: Any, _: Optional[str]) -> Value:
        return Value(array, _NAMES[tag], file=file)

    try:
        if path.suffix == ".ckpt" and bytes(file.view[8:9]) != b"{":
            return ckpt_files.read(file)
        return checkpoint.parse(file, path, weights_only=True, make=value)
    except ckpt_files.CkptError as error:
        raise WeightsError(f"{path} cannot be read as MindSpore weights: {error}") from error
    except checkpoint.CheckpointError as error:
        raise WeightsError(f"{path} cannot be read as MindSpore weights: {error}") from error


def value_of_tensor(tensor: Any) -> Value:
    """Return a MindSpore tensor as a Value."""
    import mindspore as ms

    name = dtype_of_tensor(tensor)
    return Value((tensor.astype(ms.float32) if name == "bfloat16" else tensor).asnumpy(), name)


def dtype_of_tensor(tensor: Any) -> str:
    """Return the name of a MindSpore tensor's element type as NumPy spells it, or ``"bfloat16"``."""
    return str(tensor.dtype).lower()  # Float32, BFloat16, Bool, in every release


def write_mindspore(values: Values, path: Path, progress: Progress = _silent) -> None:
    """Write parameters: safetensors by suffix, else MindSpore's ``.ckpt``."""
    if path.suffix == ".safetensors":
        _write(path, lambda sink: _fill(values, sink, {"format": "ms"}), progress)
        return
    from . import ckpt_files

    _write(path, lambda sink: ckpt_files.write(values, sink), progress)


def read_safetensors(path: Path) -> Values:
    """Return the arrays of a safetensors file (8 bytes of header length, JSON header, raw little-endian arrays)."""
    file = _mapped(path)
    try:
        header = read_header(file.view)
        return {key: _value(entry, header.data, file) for key, entry in header.entries.items()}
    except ValueError as error:
        raise WeightsError(
            f"{path} is no safetensors file, or is damaged: {error}; get it anew from its source"
        ) from error


def _value(entry: Entry, data: memoryview, file: FileBytes) -> Value:
    name = _NAMES[entry.tag]
    dtype = np.dtype("uint16" if name == "bfloat16" else name).newbyteorder("<")
    array = np.frombuffer(data[entry.begin : entry.end], dtype=dtype).reshape(entry.shape)
    return Value(array, name, file=file)


def write_safetensors(values: Values, path: Path, framework: str, metadata: Optional[Mapping[str, str]] = None) -> None:
    """Write a safetensors file; its metadata is ``metadata``, or else ``format``: ``framework`` (``pt`` or ``ms``)."""
    texts = {"format": framework} if metadata is None else metadata
    try:
        replace(path, lambda stream: _fill(values, stream, texts))
    except OSError as error:
        raise WeightsError(f"{path} cannot be written: {error.strerror or error}") from error


def _fill(values: Values, stream: Union[Sink, BinaryIO], metadata: Mapping[str, str]) -> None:
    header: Dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    offset = 0
    for key, value in values.items():
        if value.dtype not in _TAGS:
            raise WeightsError(f"{key}: safetensors has no element type {value.dtype}")
        end = offset + value.nbytes
        header[key] = {"dtype": _TAGS[value.dtype], "shape": list(value.shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header).encode("utf-8")
    text += b" " * (-len(text) % 8)
    stream.write(len(text).to_bytes(8, "little") + text)
    for value in values.values():
        for piece in value.raw_pieces():
            stream.write(piece.data)
    for value in values.values():
        value.checked()


def _write(path: Path, write: Callable[[Sink], None], progress: Progress) -> None:
    """Let ``write`` fill the file ``path``; nothing half-written is left. Raises WeightsError."""
    try:
        write_atomically(path, write, progress)
    except OSError as error:
        raise WeightsError(f"{path} cannot be written: {error.strerror or error}") from error
    except ValueError as error:  # an element type that the format does not have
        raise WeightsError(f"{path} cannot be written: {error}") from error
