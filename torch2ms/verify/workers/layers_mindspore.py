"""MindSpore's layers, called one by one with what PyTorch's got."""

from __future__ import annotations

import inspect
from typing import Any, Dict, List, Optional, Sequence, Tuple

import mindspore as ms
import numpy as np
from mindspore import nn
from numpy.typing import NDArray

from .channel import flatten, load_arrays, save_arrays
from .counters import counters_kept
from .layers import (
    Call,
    Framework,
    Tracer,
    cotangent,
    goes_backward,
    leaves,
    origin,
    places_of,
    plain_settings,
    replaced,
)
from .optimizers import assign

__all__ = ["MindSporeLayers"]

Arrays = Dict[str, NDArray[Any]]
_BASE = set(vars(nn.Cell())) - {"training"}


class MindSporeLayers:
    """The network of a :class:`MindSporeSide`, whose calls were recorded in one pass."""

    def __init__(self, side: Any) -> None:
        self.side = side
        self.tracer = Tracer(Framework(nn.Cell, _is_tensor, _keep, lambda value: 0, "construct"))
        self.calls: List[Call] = []
        self.watched = False
        self.lines: Dict[str, int] = {}

    def record(self, paths: Sequence[str], batch: Tuple[List[Any], Dict[str, Any]], root: str) -> Dict[str, Any]:
        """Run the network once; return what is known of those layers that PyTorch has too, and of the calls."""
        cells = {path: cell for path, cell in _cells(self.side.net, "", self.side.source_name) if path in set(paths)}
        own = {id(cell): path for path, cell in reversed(list(cells.items()))}

        def run() -> None:
            with self.side._counters():
                args, kwargs = batch
                self.side.net(*args, **kwargs)

        error = self.tracer.record(root, own, run)
        self.calls = self.tracer.calls
        layers = [_layer(path, cell) for path, cell in cells.items()]
        return {"error": error, "layers": layers, "calls": [_call(call) for call in self.calls]}

    def repeat(
        self,
        index: int,
        forced: List[Tuple[str, int, int]],
        given: str,
        path: str,
        gradients: bool,
        watched: bool = False,
    ) -> Dict[str, Any]:
        """Repeat one call with the arrays in ``given``; write the results under ``KIND:PLACE``.

        Returns the lines of the variables where the call is ``watched``.
        """
        self.watched, self.lines = watched, {}
        call, arrays = self.calls[index], load_arrays(given)
        found = {f"chain:{k}": _array(v) for k, v in flatten(call.output, _is_tensor).items()}
        error = ""
        parameters = list(call.layer.trainable_params()) if gradients else []
        statistics = self._statistics(call)
        before = [(entry, entry.tensor.asnumpy().copy()) for entry in statistics]
        try:
            found.update(self._repeat(call, arrays, forced, parameters, gradients))
        except Exception as failure:  # whatever the user's layer raises is an answer
            error = f"{type(failure).__name__}: {failure}".strip()
        for entry in statistics:
            found[f"statistic:{entry.torch}"] = self.side.weights.restore(entry, _array(entry.tensor))
        for entry, value in before:
            assign(entry.tensor, value)
        save_arrays(path, found)
        return {"error": error, "lines": self.lines}

    def _statistics(self, call: Call) -> List[Any]:
        learnt = {id(parameter) for parameter in self.side.net.trainable_params()}
        prefix = f"{call.path}." if call.path else ""
        entries = [e for e in self.side.keys.entries if e.torch.startswith(prefix) and id(e.tensor) not in learnt]
        return [entry for entry in entries if entry.torch in self.side.present]

    def _repeat(
        self, call: Call, arrays: Arrays, forced: List[Tuple[str, int, int]], parameters: List[Any], gradients: bool
    ) -> Arrays:
        argument = self._given(arrays, "argument", (call.args, call.kwargs))
        outputs = {
            f"{path}#{occurrence}": self._given(arrays, f"given:{path}#{occurrence}", self.calls[child].output)
            for path, occurrence, child in forced
        }
        fixed = {**argument, **{key: value for given in outputs.values() for key, value in given.items()}}
        names = [key for key, value in fixed.items() if "Float" in str(value.dtype)] if gradients else []
        results: Dict[str, Any] = {}
        variables: Dict[str, Any] = {}

        def forward(*values: Any) -> Any:
            now = {**fixed, **dict(zip(names, values))}
            args, kwargs = replaced((call.args, call.kwargs), _is_tensor, [now[key] for key in argument])
            given = {
                (path, occurrence): replaced(
                    self.calls[child].output, _is_tensor, [now[key] for key in outputs[f"{path}#{occurrence}"]]
                )
                for path, occurrence, child in forced
            }
            with counters_kept((cell for _, cell in call.layer.cells_and_names()), _BASE):
                done = self.tracer.repeat(call, args, kwargs, given, self.watched)
            self.lines = {name: line for name, (line, _) in done.variables.items()}
            variables.update({f"variable:{name}": value for name, (_, value) in done.variables.items()})
            results.update({f"output:{k}": v for k, v in flatten(done.output, _is_tensor).items()})
            results.update({f"entering:{place}": value for place, value in done.entering.items()})
            total = ms.Tensor(0.0, ms.float32)
            for key, value in results.items():
                if goes_backward(key, given) and _is_tensor(value) and "Float" in str(value.dtype):
                    total = total + (value * ms.Tensor(cotangent(key, value.shape))).sum()
            return total

        values = [fixed[key] for key in names]
        found = self._differentiated(forward, names, values, parameters) if names or parameters else forward() and {}
        return {**found, **{key: _array(value) for key, value in {**results, **variables}.items()}}

    def _differentiated(
        self, forward: Any, names: Sequence[str], values: Sequence[Any], parameters: Sequence[Any]
    ) -> Arrays:
        positions = tuple(range(len(names))) or None
        weights = ms.ParameterTuple(parameters) if parameters else None
        _, gradients = ms.value_and_grad(forward, positions, weights)(*values)
        own, learnt = gradients if names and parameters else (gradients, ()) if names else ((), gradients)
        own = (own,) if _is_tensor(own) else own  # of a single argument
        found = {f"gradient:{name}": _array(value) for name, value in zip(names, own)}
        return {**found, **self.side._by_torch_name("gradient", parameters, learnt)}

    def _given(self, arrays: Arrays, prefix: str, structure: Any) -> Dict[str, Any]:
        """Return PyTorch's tensors for a structure, in the types that MindSpore's own had; raises when they differ."""
        own = [value for _, value in leaves(structure, _is_tensor)]
        given = {key: array for key, array in arrays.items() if key.startswith(f"{prefix}:")}
        if len(own) != len(given):
            raise ValueError(f"PyTorch has {len(given)} tensors where MindSpore has {len(own)}: {prefix}")
        return {key: ms.Tensor(array).astype(value.dtype) for (key, array), value in zip(given.items(), own)}


def _cells(cell: Any, path: str, source_name: Any) -> Any:
    yield path, cell
    for name, child in cell._cells.items():
        if child is not None:
            yield from _cells(child, f"{path}.{source_name(name)}" if path else source_name(name), source_name)


def _layer(path: str, cell: Any) -> Dict[str, Any]:
    kind = type(cell)
    tensors = {name: value for name, value in vars(cell).items() if _is_tensor(value)}
    for held in (getattr(cell, "_buffers", None), getattr(cell, "_params", None)):
        tensors.update({name: value for name, value in (held or {}).items() if _is_tensor(value)})
    return {
        "path": path,
        "type": kind.__name__,
        "bases": [base.__name__ for base in kind.__mro__],
        "settings": plain_settings(cell, _BASE),
        "tensors": {name: [list(value.shape), _digest(value)] for name, value in tensors.items()},
        "origin": origin(cell),
        "code": _code(kind),
    }


def _code(kind: Any) -> Optional[List[Any]]:
    try:
        lines, first = inspect.getsourcelines(kind.construct)
        return [inspect.getfile(kind), first, first + len(lines) - 1]
    except (OSError, TypeError):
        return None


def _digest(value: Any) -> List[float]:
    flat = np.nan_to_num(_array(value).astype(np.float64).flatten(), nan=0.0, posinf=1.0, neginf=-1.0)
    weights = np.linspace(1.0, 2.0, flat.size)
    return [float(flat.sum()), float((flat * weights).sum()), float(np.linalg.norm(flat))]


def expected_settings(text: str) -> Dict[str, Any]:
    """Return type and settings of the ``layer`` that a module of emitted code builds."""
    space: Dict[str, Any] = {}
    exec(compile(text, "<expected>", "exec"), space)
    cell = space["layer"]
    return {"type": type(cell).__name__, "settings": plain_settings(cell, _BASE)}


def _call(call: Call) -> Dict[str, Any]:
    return {
        "index": call.index,
        "path": call.path,
        "occurrence": call.occurrence,
        "parent": call.parent,
        "site": call.site,
        "error": call.error,
        "places": places_of(call.output, _is_tensor),
    }


def _is_tensor(value: Any) -> bool:
    return isinstance(value, ms.Tensor)


def _keep(value: Any) -> Any:
    return value * 1 if "Float" in str(value.dtype) else value


def _array(value: Any) -> NDArray[Any]:
    if not _is_tensor(value):
        return np.asarray(value)
    if str(value.dtype) in ("BFloat16", "Float16"):
        value = value.astype(ms.float32)
    return np.array(value.asnumpy())
