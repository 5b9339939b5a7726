"""safetensors.torch and safetensors.safe_open for MindSpore's tensors: the same files, under the same names."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

import mindspore as ms
import numpy as np

from . import modules
from .tensor_values import Value
from .weight_files import read_safetensors, write_safetensors

__all__ = ["load", "load_file", "load_model", "safe_open", "save", "save_file", "save_model"]

PathLike = Union[str, Path]


def _tensor(value: Value) -> ms.Tensor:
    tensor = ms.Tensor(np.array(value.array))
    return tensor.astype(ms.bfloat16) if value.dtype == "bfloat16" else tensor


def _value(tensor: ms.Tensor) -> Value:
    name = str(tensor.dtype).lower()
    return Value(tensor.astype(ms.float32).asnumpy() if name == "bfloat16" else tensor.asnumpy(), name)


def load_file(filename: PathLike, device: Any = "cpu") -> Dict[str, ms.Tensor]:
    """Return the tensors of a safetensors file by name. Raises WeightsError for what is none."""
    return {name: _tensor(value) for name, value in read_safetensors(Path(filename)).items()}


def save_file(tensors: Mapping[str, ms.Tensor], filename: PathLike, metadata: Optional[Dict[str, str]] = None) -> None:
    """Write tensors as a safetensors file; ``metadata``: texts for its header."""
    values = {name: _value(tensor) for name, tensor in tensors.items()}
    write_safetensors(values, Path(filename), "pt", metadata or {})


def save(tensors: Mapping[str, ms.Tensor], metadata: Optional[Dict[str, str]] = None) -> bytes:
    """Return the bytes of such a file."""
    with tempfile.TemporaryDirectory() as folder:
        save_file(tensors, Path(folder) / "tensors", metadata)
        return (Path(folder) / "tensors").read_bytes()


def load(data: bytes) -> Dict[str, ms.Tensor]:
    """Return the tensors in the bytes of such a file."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "tensors").write_bytes(data)
        return load_file(Path(folder) / "tensors")


def save_model(
    model: Any, filename: PathLike, metadata: Optional[Dict[str, str]] = None, force_contiguous: bool = True
) -> None:
    """Write the weights and buffers of a network, a shared one once, under PyTorch's names."""
    kept: Dict[int, str] = {}
    state = modules.state_dict(model)
    for name, tensor in state.items():
        kept.setdefault(id(tensor), name)
    save_file({name: state[name] for name in kept.values()}, filename, metadata)


def load_model(model: Any, filename: PathLike, strict: bool = True, device: Any = "cpu") -> Tuple[List[str], List[str]]:
    """Load such a file into a network; return the names that are missing, and those that are not expected."""
    found, state = load_file(filename), modules.state_dict(model)
    first: Dict[int, str] = {id(state[name]): name for name in state if name in found}
    shared = {name: found[first[id(tensor)]] for name, tensor in state.items() if id(tensor) in first}
    missing, unexpected = modules.load_state_dict(model, {**found, **shared}, strict)
    return missing, unexpected


class _Slice:
    """A tensor of a file, of which a part is taken: ``file.get_slice(name)[:2]``."""

    def __init__(self, value: Value) -> None:
        self._value = value

    def get_shape(self) -> List[int]:
        """Return the sizes."""
        return list(self._value.array.shape)

    def __getitem__(self, index: Any) -> ms.Tensor:
        return _tensor(Value(self._value.array[index], self._value.dtype))


class safe_open:
    """An open safetensors file: its names, metadata and tensors; arrays of NumPy with ``framework="np"``."""

    def __init__(self, filename: PathLike, framework: str = "pt", device: Any = "cpu") -> None:
        self._values = read_safetensors(Path(filename))
        self._arrays = framework in ("np", "numpy")
        with open(filename, "rb") as stream:
            size = int.from_bytes(stream.read(8), "little")
            self._metadata: Optional[Dict[str, str]] = json.loads(stream.read(size)).get("__metadata__")

    def __enter__(self) -> safe_open:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def keys(self) -> List[str]:
        """Return the names of the tensors."""
        return sorted(self._values)

    def offset_keys(self) -> List[str]:
        """Return the names in the order of the file."""
        return list(self._values)

    def metadata(self) -> Optional[Dict[str, str]]:
        """Return the texts of the header."""
        return self._metadata

    def get_tensor(self, name: str) -> Any:
        """Return one tensor."""
        value = self._values[name]
        return np.array(value.array) if self._arrays else _tensor(value)

    def get_slice(self, name: str) -> _Slice:
        """Return one tensor, to take a part of it."""
        return _Slice(self._values[name])
