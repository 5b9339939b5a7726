"""PyTorch's layers, called one by one: in float64 (the reference) and in float32 (the floor), with equal inputs."""

from __future__ import annotations

import inspect
import weakref
from typing import Any, Dict, List, Tuple

import numpy as np
import torch
from numpy.typing import NDArray

from .channel import flatten, save_arrays
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

__all__ = ["TorchLayers"]

Arrays = Dict[str, NDArray[Any]]
Forced = List[Tuple[str, int, int]]  # path, occurrence, and index of its call


class _Keeper:
    """Copies of tensors, one for each that is not written into between."""

    def __init__(self) -> None:
        self.kept: Dict[int, Tuple[Any, int, Any]] = {}

    def __call__(self, value: Any) -> Any:
        if torch.is_grad_enabled() and value.requires_grad:
            return value.clone()  # gradients go on through it
        reference, version, copy = self.kept.get(id(value), (None, 0, None))
        if reference is None or reference() is not value or version != value._version:
            copy = value.detach().clone()
            self.kept[id(value)] = (weakref.ref(value), value._version, copy)
        return copy


class TorchLayers:
    """One network, float32 and float64, whose calls were recorded in one pass of float32."""

    def __init__(self) -> None:
        self.keeper = _Keeper()
        self.tracer = Tracer(
            Framework(torch.nn.Module, torch.is_tensor, self.keeper, lambda value: value._version, "forward")
        )
        self.calls: List[Call] = []
        self.chains: Dict[str, List[Call]] = {}
        self.twins: Dict[str, Any] = {}
        self.paths: Dict[str, Dict[int, str]] = {}
        self.lines: Dict[str, int] = {}

    def record(self, nets: Dict[str, Any], inputs: Dict[str, Any], root: str) -> Dict[str, Any]:
        """Run the networks (``float32`` and the reference) once each; return what is known of layers and calls."""
        paths = {id(layer): path for path, layer in _tracked(nets["float32"])}
        self.twins, self.chains = {slot: dict(net.named_modules()) for slot, net in nets.items()}, {}
        for slot, net in nets.items():
            own = {id(layer): path for path, layer in self.twins[slot].items() if path in paths.values()}

            def run(net: Any = net, slot: str = slot) -> None:
                with torch.no_grad(), counters_kept(net.modules()):
                    args, kwargs = inputs[slot]
                    net(*args, **kwargs)

            buffers = [(value, value.clone()) for value in net.buffers()]
            error = self.tracer.record(root, own, run)
            for value, before in buffers:
                value.copy_(before)
            self.keeper.kept.clear()
            if error:
                return {"error": f"PyTorch, {slot}: {error}"}
            self.chains[slot], self.paths[slot] = self.tracer.calls, own
        self.calls = self.chains["float32"]
        layers = [_layer(path, layer, root) for path, layer in _tracked(nets["float32"])]
        return {"error": "", "layers": layers, "calls": [_call(call) for call in self.calls]}

    def repeat(self, index: int, forced: Forced, path: str, gradients: bool, watched: bool = False) -> Dict[str, Any]:
        """Repeat one call in both precisions; write what goes in, and the results under ``SLOT|KIND:PLACE``.

        Returns the lines of the variables where the call is ``watched``.
        """
        self.lines.clear()
        call = self.calls[index]
        arrays: Arrays = {}
        for number, value in enumerate(_tensors(call)):
            arrays[f"argument:{number}"] = _array(value)
        for name, occurrence, child in forced:
            for number, (_, value) in enumerate(leaves(self.calls[child].output, torch.is_tensor)):
                arrays[f"given:{name}#{occurrence}:{number}"] = _array(value)
        for slot, calls in self.chains.items():
            for place, value in flatten(calls[index].output, torch.is_tensor).items():
                arrays[f"{slot}|chain:{place}"] = np.asarray(_array(value))
        error = ""
        for slot in self.chains:
            try:
                found = self._repeat(slot, call, forced, gradients, watched)
            except Exception as failure:  # a layer that cannot be called alone, or has no gradients
                if not gradients:
                    return {"error": f"{type(failure).__name__}: {failure}"}
                error = f"gradients: {type(failure).__name__}: {failure}"
                found = self._repeat(slot, call, forced, False)
            arrays.update({f"{slot}|{key}": value for key, value in found.items()})
        save_arrays(path, arrays)
        return {"error": error, "lines": self.lines}

    def _repeat(self, slot: str, call: Call, forced: Forced, gradients: bool, watched: bool = False) -> Arrays:
        layer = self.twins[slot][call.path]
        precision = torch.float64 if slot == "float64" else torch.float32
        leaf: Dict[str, Any] = {}

        def fresh(key: str, value: Any) -> Any:
            value = _as(value.clone(), precision)
            if not (gradients and value.is_floating_point()):
                return value
            leaf[key] = value.requires_grad_()
            return leaf[key] * 1  # may be written into

        arguments = [fresh(f"argument:{number}", value) for number, value in enumerate(_tensors(call))]
        args, kwargs = replaced((call.args, call.kwargs), torch.is_tensor, arguments)
        given = {}
        for path, occurrence, child in forced:
            output = self.calls[child].output
            values = [
                fresh(f"given:{path}#{occurrence}:{number}", value)
                for number, (_, value) in enumerate(leaves(output, torch.is_tensor))
            ]
            given[path, occurrence] = replaced(output, torch.is_tensor, values)
        buffers = {name: (value, value.clone()) for name, value in layer.named_buffers()}
        repeated = Call(call.index, call.path, 0, -1, layer, None)
        self.tracer.paths = self.paths[slot]
        with torch.set_grad_enabled(gradients), counters_kept(layer.modules()):
            done = self.tracer.repeat(repeated, args, kwargs, given, watched)
        results = {f"output:{place}": value for place, value in flatten(done.output, torch.is_tensor).items()}
        results.update({f"entering:{place}": value for place, value in done.entering.items()})
        found = {key: np.asarray(_array(value)) for key, value in results.items()}
        found.update({f"variable:{name}": _array(value) for name, (_, value) in done.variables.items()})
        self.lines.update({name: line for name, (line, _) in done.variables.items()})
        prefix = f"{call.path}." if call.path else ""
        if gradients:
            starts = {key: value for key, value in results.items() if goes_backward(key, given)}
            found.update(_gradients(starts, leaf, {prefix + name: p for name, p in layer.named_parameters()}))
        for name, (value, before) in buffers.items():
            found[f"statistic:{prefix}{name}"] = _array(value)
            with torch.no_grad():
                value.copy_(before)
        self.keeper.kept.clear()
        return found


def _gradients(results: Dict[str, Any], leaf: Dict[str, Any], parameters: Dict[str, Any]) -> Arrays:
    total: Any = 0
    for key, value in results.items():
        if torch.is_tensor(value) and value.is_floating_point() and value.requires_grad:
            total = total + (value * torch.from_numpy(cotangent(key, value.shape)).to(value.dtype)).sum()
    asked = {**leaf, **{name: p for name, p in parameters.items() if p.requires_grad}}
    if not torch.is_tensor(total) or not asked:
        return {}
    values = torch.autograd.grad(total, list(asked.values()), allow_unused=True)
    pairs = zip(asked.items(), values)
    return {f"gradient:{name}": _array(torch.zeros_like(p) if value is None else value) for (name, p), value in pairs}


def _tracked(net: Any) -> List[Tuple[str, Any]]:
    """Return path and layer, but for the parts of PyTorch's own layers, which may never be called."""
    closed = [
        f"{path}."
        for path, layer in net.named_modules()
        if type(layer).__module__.startswith("torch.") and not isinstance(layer, _CONTAINERS)
    ]
    return [(path, layer) for path, layer in net.named_modules() if not path.startswith(tuple(closed))]


_CONTAINERS = (torch.nn.Sequential, torch.nn.ModuleList, torch.nn.ModuleDict)
_BASE = set(vars(torch.nn.Module()))


def _layer(path: str, layer: Any, root: str) -> Dict[str, Any]:
    """Return what is told of a layer: its type, settings, arguments, tensors beside the saved ones, and place."""
    kind = type(layer)
    names = [name for name in dir(torch.nn) if getattr(torch.nn, name) is kind]
    own = not kind.__module__.startswith("torch.")
    tensors = dict(layer.named_buffers(recurse=False))
    tensors.update({name: value for name, value in vars(layer).items() if torch.is_tensor(value)})
    return {
        "path": path,
        "type": f"torch.nn.{names[0]}" if names else f"{kind.__module__}.{kind.__qualname__}",
        "own": own,
        "settings": plain_settings(layer, _BASE - {"training"}),
        "arguments": {} if own else _arguments(layer),
        "tensors": {name: [list(v.shape), _digest(v)] for name, v in tensors.items()},
        "origin": origin(layer),
        "code": _code(kind.forward, root) if own else None,
    }


def _digest(value: Any) -> List[float]:
    """Return some numbers that tell tensors of equal shape apart."""
    flat = value.detach().double().flatten()
    flat = flat.nan_to_num(0.0, 1.0, -1.0)
    weights = torch.linspace(1.0, 2.0, flat.numel(), dtype=torch.float64)
    return [float(flat.sum()), float((flat * weights).sum()), float(flat.norm())]


def _arguments(layer: Any) -> Dict[str, Any]:
    """Return the constructor's arguments of one of PyTorch's layers, as far as it keeps them."""
    found: Dict[str, Any] = {}
    for name, parameter in inspect.signature(type(layer)).parameters.items():
        if name in ("device", "dtype", "inplace", "_weight", "_freeze"):
            continue
        value = getattr(layer, name, parameter.default)
        if torch.is_tensor(value) or (name == "bias" and value is None):
            value = torch.is_tensor(value)
        if isinstance(value, (bool, int, float, str, type(None), tuple, list)):
            found[name] = list(value) if isinstance(value, tuple) else value
    return found


def _code(function: Any, root: str) -> Any:
    try:
        lines, first = inspect.getsourcelines(function)
        return [inspect.getfile(function), first, first + len(lines) - 1]
    except (OSError, TypeError):
        return None


def _call(call: Call) -> Dict[str, Any]:
    return {
        "index": call.index,
        "path": call.path,
        "occurrence": call.occurrence,
        "parent": call.parent,
        "end": call.end,
        "site": call.site,
        "written": call.written,
        "places": places_of(call.output, torch.is_tensor),
    }


def _tensors(call: Call) -> List[Any]:
    return [value for _, value in leaves((call.args, call.kwargs), torch.is_tensor)]


def _as(value: Any, precision: Any) -> Any:
    return value.to(precision) if value.is_floating_point() else value


def _array(value: Any) -> Any:
    if not torch.is_tensor(value):
        return np.asarray(value)
    value = value.detach()
    return (value.float() if value.dtype in (torch.bfloat16, torch.float16) else value).numpy().copy()
