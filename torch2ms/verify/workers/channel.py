"""The worker's end of the line: JSON requests on stdin, JSON replies on what was stdout, arrays in ``.npz`` files."""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["as_float32", "flatten", "load_arrays", "pack", "save_arrays", "serve", "unpack"]

Handler = Callable[..., Dict[str, Any]]


def serve(handlers: Mapping[str, Handler]) -> None:
    """Answer requests until stdin ends.

    What the user's code prints goes to stderr: the reply line has the old stdout for itself.
    """
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            reply = {"ok": True, **handlers[request.pop("command")](**request)}
        except Exception as error:  # whatever the user's network raises is an answer
            traceback.print_exc()
            trace = [[frame.filename, frame.lineno] for frame in traceback.extract_tb(error.__traceback__)]
            reply = {"ok": False, "error": f"{type(error).__name__}: {error}".strip(), "trace": trace}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


def as_float32(arrays: Mapping[str, NDArray[Any]]) -> Dict[str, NDArray[Any]]:
    """Return the arrays in float32: differences and gradients lose nothing that matters, and take half the space."""
    narrow = {np.dtype(np.float64): np.float32, np.dtype(np.complex128): np.complex64}
    return {name: array.astype(narrow.get(array.dtype, array.dtype), copy=False) for name, array in arrays.items()}


def save_arrays(path: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays under any names (npz members cannot have every name, so they are numbered)."""
    names = list(arrays)
    numbered = {f"a{number}": arrays[name] for number, name in enumerate(names)}
    np.savez(path, names=np.array(names, dtype=np.str_), **numbered)


def load_arrays(path: str) -> Dict[str, NDArray[Any]]:
    """Return what :func:`save_arrays` wrote."""
    with np.load(Path(path), allow_pickle=False) as archive:
        return {str(name): archive[f"a{number}"] for number, name in enumerate(archive["names"])}


def flatten(value: Any, is_tensor: Callable[[Any], bool], path: str = "output") -> Dict[str, Any]:
    """Return the tensors in nested tuples, lists, dicts and dataclasses of a network's result, by their place.

    Numbers count as tensors, None and other values are passed over: both sides must give the same places.
    """
    if is_tensor(value) or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return {path: value}
    if isinstance(value, Mapping):
        items = [(f"{path}[{key!r}]", value[key]) for key in value]
    elif isinstance(value, (list, tuple)):
        items = [(f"{path}[{number}]", item) for number, item in enumerate(value)]
    elif hasattr(value, "__dataclass_fields__"):
        items = [(f"{path}.{name}", getattr(value, name)) for name in value.__dataclass_fields__]
    else:
        return {}
    found: Dict[str, Any] = {}
    for place, item in items:
        found.update(flatten(item, is_tensor, place))
    return found


def pack(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Dict[str, NDArray[Any]]:
    """Return the arguments of a call as arrays, for :func:`unpack`: ``input:0``, ... and how they are nested.

    Arrays and tensors of PyTorch may lie in tuples, lists and dictionaries, beside numbers, texts and None.
    Floating-point arrays become float32 (complex ones complex64): both sides begin with the same. Raises TypeError for
    anything else.
    """
    arrays: Dict[str, NDArray[Any]] = {}

    def node(value: Any) -> Dict[str, Any]:
        if value is None or isinstance(value, (bool, int, float, str)):
            return {"value": value}
        if isinstance(value, Mapping):
            if not all(isinstance(key, (str, int)) for key in value):
                raise TypeError("the keys of a dictionary are texts or whole numbers")
            return {"dict": [[key, node(item)] for key, item in value.items()]}
        if isinstance(value, (list, tuple)):
            return {"list" if isinstance(value, list) else "tuple": [node(item) for item in value]}
        name = f"input:{len(arrays)}"
        arrays[name] = _array(value)
        return {"array": name}

    tree = [[node(value) for value in args], {name: node(value) for name, value in kwargs.items()}]
    return {"arguments": np.array(json.dumps(tree)), **arrays}


def _array(value: Any) -> NDArray[Any]:
    if hasattr(value, "detach"):  # a tensor
        value = value.detach().cpu()
        value = (value.float() if value.is_floating_point() else value).numpy()
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.kind not in "biufc":
        raise TypeError(f"an input is {getattr(value, 'dtype', None) or type(value).__name__}, which is no tensor")
    wanted = {"f": np.float32, "c": np.complex64}.get(value.dtype.kind, value.dtype)
    return np.array(value, wanted)


def unpack(
    arrays: Mapping[str, NDArray[Any]], tensor: Callable[[NDArray[Any]], Any]
) -> Tuple[List[Any], Dict[str, Any]]:
    """Return the positional and the keyword arguments that :func:`pack` was given, made anew; arrays as tensors."""

    def made(node: Mapping[str, Any]) -> Any:
        ((kind, content),) = node.items()
        if kind == "array":
            return tensor(arrays[content])
        if kind == "dict":
            return {key: made(item) for key, item in content}
        if kind == "value":
            return content
        items = [made(item) for item in content]
        return items if kind == "list" else tuple(items)

    args, kwargs = json.loads(str(arrays["arguments"]))
    return [made(node) for node in args], {name: made(node) for name, node in kwargs.items()}
