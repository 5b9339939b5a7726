"""Read and write the files that hold weights: PyTorch's .pth, safetensors, MindSpore's .ckpt.

PyTorch is needed to write a .pth file alone, and imported then; no file that is read has its code executed.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Tuple

import numpy as np
from numpy.typing import NDArray

from .plain_pickles import shown
from .tensor_headers import Entry, read_header

__all__ = ["Value", "WeightsError", "read_mindspore", "read_torch", "write_mindspore", "write_torch"]

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


class WeightsError(RuntimeError):
    """A file of weights cannot be read or written, or does not fit the network."""


class Value(NamedTuple):
    """One array and the name of its element type; bfloat16, which NumPy lacks, is held as the equal float32 array."""

    array: NDArray[Any]
    dtype: str


Values = Dict[str, Value]


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
    content: Dict[Any, Any] = dict(read_safetensors(path)) if path.suffix == ".safetensors" else _load_pth(path)
    return _unnest(path, content, lambda value: isinstance(value, Value))


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
        if name in ("", ".", "..") or Path(name).name != name or "\\" in name or name.endswith(INDEX_SUFFIX):
            raise WeightsError(f"{path} names {shown(name)}, which is no file beside it")
        own, more = _read_one(path.with_name(name))
        missing = _listed(key for key, file in files.items() if file == name and key not in own)
        if missing:
            raise WeightsError(f"{path.with_name(name)} lacks what {path.name} says is in it: {missing}")
        values.update((key, value) for key, value in own.items() if files.get(key) == name)
        notes += more
    if not values:
        raise WeightsError(f"{path} names no weights")
    return values, [f"read {len(names)} files", *notes]


def _load_pth(path: Path) -> Dict[Any, Any]:
    from . import torch_files

    try:
        loaded = torch_files.read(path.read_bytes(), Value)
    except OSError as error:
        raise WeightsError(f"{path} cannot be read: {error.strerror or error}") from error
    except torch_files.TorchFileError as error:
        raise WeightsError(f"{path} is no file of weights that can be read: {error}") from error
    if not isinstance(loaded, dict):
        raise WeightsError(f"{path} holds a {type(loaded).__name__}, not a state dictionary")
    return loaded


def _import_torch(path: Path) -> Any:
    try:
        import torch
    except ImportError as error:
        raise WeightsError(
            f"writing {path.name} needs PyTorch on this machine (pip install torch); .safetensors files do not"
        ) from error
    return torch


def _unnest(path: Path, content: Dict[Any, Any], is_value: Callable[[Any], bool]) -> Tuple[Dict[Any, Any], List[str]]:
    """Return the state dictionary in ``content``, which may lie one or two keys down, and notes of what was passed."""
    notes: List[str] = []
    while not any(is_value(value) for value in content.values()):
        found = [key for key in _NESTS if isinstance(content.get(key), dict)] or _only_nest(content, is_value)
        if not found:
            raise WeightsError(
                f"{path} holds no state dictionary: looked for tensors, and under {', '.join(_NESTS)}; the file has "
                + (_listed(content) or "nothing")
            )
        rest = _listed(key for key in content if key != found[0])
        notes.append(f"took the weights under {found[0]!r}" + (f"; passed over {rest}" if rest else ""))
        content = content[found[0]]
    others = _listed(key for key, value in content.items() if not is_value(value))
    if others:
        notes.append(f"passed over what is no tensor: {others}")
    return {str(key): value for key, value in content.items() if is_value(value)}, notes


def _only_nest(content: Dict[Any, Any], is_value: Callable[[Any], bool]) -> List[Any]:
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


def write_torch(values: Values, path: Path) -> None:
    """Write a state dictionary: safetensors by suffix, else PyTorch's own format (which imports torch)."""
    if path.suffix == ".safetensors":
        write_safetensors(values, path, "pt")
        return
    torch = _import_torch(path)
    state = {}
    for key, value in values.items():
        tensor = torch.from_numpy(np.array(value.array))  # a copy that can be written to
        state[key] = tensor.to(torch.bfloat16) if value.dtype == "bfloat16" else tensor
    _atomically(path, lambda temporary: torch.save(state, temporary))


def read_mindspore(path: Path) -> Tuple[Values, List[str]]:
    """Return the parameters in ``path``, whatever a MindSpore program wrote there, and what was noticed.

    Takes .ckpt, safetensors, and the checkpoints of translated programs under any name. Raises WeightsError.
    """
    import mindspore as ms

    from . import checkpoint

    try:
        content = checkpoint.load(path, weights_only=True)
    except (checkpoint.CheckpointError, OSError, ValueError) as error:
        raise WeightsError(f"{path} cannot be read as MindSpore weights: {error}") from error
    if not isinstance(content, dict):
        raise WeightsError(f"{path} holds a {type(content).__name__}, not a state dictionary")
    content, notes = _unnest(path, content, lambda value: isinstance(value, ms.Tensor))
    return {key: value_of_tensor(tensor) for key, tensor in content.items()}, notes


def value_of_tensor(tensor: Any) -> Value:
    """Return a MindSpore tensor as a Value."""
    import mindspore as ms

    name = dtype_of_tensor(tensor)
    return Value((tensor.astype(ms.float32) if name == "bfloat16" else tensor).asnumpy(), name)


def dtype_of_tensor(tensor: Any) -> str:
    """Return the name of a MindSpore tensor's element type as NumPy spells it, or ``"bfloat16"``."""
    import mindspore as ms

    return (
        "bfloat16" if tensor.dtype == getattr(ms, "bfloat16", None) else str(np.dtype(ms.dtype_to_nptype(tensor.dtype)))
    )


def write_mindspore(values: Values, path: Path) -> None:
    """Write parameters: safetensors by suffix, else MindSpore's ``.ckpt``."""
    if path.suffix == ".safetensors":
        write_safetensors(values, path, "ms")
        return
    import mindspore as ms

    items = []
    for name, value in values.items():
        tensor = ms.Tensor(np.ascontiguousarray(value.array).reshape(value.array.shape))
        items.append({"name": name, "data": tensor.astype(ms.bfloat16) if value.dtype == "bfloat16" else tensor})
    _atomically(path, lambda temporary: ms.save_checkpoint(items, temporary))


def read_safetensors(path: Path) -> Values:
    """Return the arrays of a safetensors file (8 bytes of header length, JSON header, raw little-endian arrays)."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise WeightsError(f"{path} cannot be read: {error.strerror}") from error
    try:
        header = read_header(content)
        return {key: _array(entry, header.data) for key, entry in header.entries.items()}
    except ValueError as error:
        raise WeightsError(
            f"{path} is no safetensors file, or is damaged: {error}; get it anew from its source"
        ) from error


def _array(entry: Entry, data: memoryview) -> Value:
    name = _NAMES[entry.tag]
    dtype = np.dtype("uint16" if name == "bfloat16" else name).newbyteorder("<")
    array = np.frombuffer(data[entry.begin : entry.end], dtype=dtype).reshape(entry.shape)
    if name == "bfloat16":  # the upper half of a float32
        array = (array.astype(np.uint32) << 16).view(np.float32)
    return Value(array, name)


def write_safetensors(values: Values, path: Path, framework: str, metadata: Optional[Mapping[str, str]] = None) -> None:
    """Write a safetensors file; its metadata is ``metadata``, or else ``format``: ``framework`` (``pt`` or ``ms``)."""
    texts = {"format": framework} if metadata is None else dict(metadata)
    header: Dict[str, Any] = {"__metadata__": texts} if texts else {}
    arrays = []
    offset = 0
    for key, value in values.items():
        array = np.ascontiguousarray(value.array).reshape(value.array.shape)
        if value.dtype == "bfloat16":
            array = (array.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
        if value.dtype not in _TAGS:
            raise WeightsError(f"{key}: safetensors has no element type {value.dtype}")
        end = offset + array.nbytes
        header[key] = {"dtype": _TAGS[value.dtype], "shape": list(array.shape), "data_offsets": [offset, end]}
        arrays.append(array)
        offset = end
    text = json.dumps(header).encode("utf-8")
    text += b" " * (-len(text) % 8)

    def write(temporary: str) -> None:
        with open(temporary, "wb") as stream:
            stream.write(len(text).to_bytes(8, "little") + text)
            for array in arrays:
                stream.write(array.tobytes())

    _atomically(path, write)


def _atomically(path: Path, write: Callable[[str], None]) -> None:
    """Let ``write`` fill a temporary file beside ``path``, then rename it; nothing half-written is left."""
    try:
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
            temporary = os.path.join(folder, path.name)
            write(temporary)
            if not os.path.exists(temporary):  # save_checkpoint appends .ckpt to any other name
                temporary += ".ckpt"
            os.chmod(temporary, 0o644)
            os.replace(temporary, path)
    except OSError as error:
        raise WeightsError(f"{path} cannot be written: {error.strerror or error}") from error
