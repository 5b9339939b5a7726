"""The MindSpore side of a rehearsal: the translated program as it stands, its own step functions included."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, Dict, List, Optional, Sequence, Set, Tuple
from unittest.mock import MagicMock

import mindspore as ms
import numpy as np
from mindspore import nn, ops
from mindspore.experimental.optim import Optimizer
from numpy.typing import NDArray

from .channel import load_arrays
from .optimizers import Bridge, assign
from .rehearsal import Rehearsal, Stream, find_networks, put_stubs, read_job

__all__ = ["main"]

_SKIP = ("/mindspore/", "/torch2ms_runtime/", "/verify/workers/")


class MindSporeRehearsal(Rehearsal):
    """A run of the translation. ``weights`` is the runtime's module of that name."""

    def __init__(self, job: Dict[str, Any], weights: Any) -> None:
        super().__init__(job)
        self.weights = weights
        self.maps: Dict[str, Any] = {}
        self.bridges: Dict[int, Bridge] = {}
        ms.set_device("CPU")
        ms.set_context(mode=ms.PYNATIVE_MODE)
        ms.set_seed(job["seed"])
        with contextlib.suppress(Exception):  # not every release has it
            ms.runtime.launch_blocking()

    def tensor(self, array: NDArray[Any]) -> Any:
        """Return an array as a tensor."""
        return ms.Tensor(np.array(array))

    def entries(self) -> Dict[str, Any]:
        """Return the weights' rules by PyTorch's names."""
        return {f"{name}:{entry.torch}": entry for name, keys in self.maps.items() for entry in keys.entries}

    def arrays(self) -> Dict[str, NDArray[Any]]:
        """Return all weights and statistics in PyTorch's shapes."""
        return {name: self.weights.restore(entry, _array(entry.tensor)) for name, entry in self.entries().items()}

    def names(self) -> Dict[int, str]:
        """Return PyTorch's name of each parameter by its id; a shared one has its first."""
        found: Dict[int, str] = {}
        for name, entry in self.entries().items():
            found.setdefault(id(entry.tensor), name)
        return found

    def load_state(self, name: str, optimizer: Any = None) -> None:
        """Take over the recorded run's state."""
        arrays = load_arrays(str(Path(self.job["states"]) / f"{name}.npz"))
        entries = self.entries()
        for own, entry in entries.items():
            if own in arrays:
                assign(entry.tensor, self.weights.place(entry, arrays[own]))
        if optimizer is not None:
            if id(optimizer) not in self.bridges:
                self.bridges[id(optimizer)] = Bridge(str(arrays["class"]), optimizer)
            names = self.names()
            self.bridges[id(optimizer)].load(
                arrays, names, lambda own, array: self.weights.place(entries[own], array), fresh=False
            )

    def start(self, names: List[str]) -> None:
        """Pair the networks' parameters with the recorded run's, and load them."""
        for name in names:
            keys = self.weights.key_map(self.networks[name], self.job["rules"])
            first = load_arrays(str(Path(self.job["states"]) / f"start-{name}.npz"))
            problems = self.weights.match(keys, [key[len(name) + 1 :] for key in first])
            if problems:
                raise ValueError(f"{name}: the weights do not pair up: " + "; ".join(problems[:5]))
            self.maps[name] = keys
        super().start(names)

    def _find(self, own: Set[int]) -> Dict[str, Any]:
        def wanted(net: Any) -> Set[int]:
            return own & {id(parameter) for parameter in net.get_parameters()}

        return find_networks(sys._getframe(2), _SKIP, nn.Cell, wanted)

    def patch(self, runtime: Optional[ModuleType]) -> None:
        """Give batches and random numbers, write no files, and listen."""
        _no_dropout(runtime)
        self._patch_random(runtime)
        self._listen()
        if runtime is None:
            return
        stream = Stream(self.job["arrays"], self.tensor)
        data, checkpoint = _member(runtime, "data"), _member(runtime, "checkpoint")
        if data is not None:
            data.DataLoader = stream.loader
        if checkpoint is not None:
            checkpoint.save = lambda *_, **__: None
        for module in (_member(runtime, "datasets"), _member(runtime, "image_grids")):
            for name in getattr(module, "__all__", ()):
                setattr(module, name, MagicMock(name=name))

    def _patch_random(self, runtime: Optional[ModuleType]) -> None:
        def shape_of(size: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Tuple[int, ...]:
            size = size or (kwargs.get("size", ()),)
            return tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else tuple(size)

        def integers(low: int, high: Any = None, size: Any = None, **_: Any) -> Any:
            if size is None:
                low, high, size = 0, low, high
            return self.tensor(self.draws.integers(low, high, tuple(size)))

        own = {
            "randn": lambda *size, **kw: self.tensor(self.draws.normal(shape_of(size, kw))),
            "rand": lambda *size, **kw: self.tensor(self.draws.uniform(shape_of(size, kw))),
            "randn_like": lambda value, **_: self.tensor(self.draws.normal(tuple(value.shape))),
            "rand_like": lambda value, **_: self.tensor(self.draws.uniform(tuple(value.shape))),
            "randperm": lambda count, **_: self.tensor(self.draws.permutation(count)),
            "randint": integers,
        }
        for holder in (ops, _member(runtime, "functional"), _member(runtime, "functional.creation")):
            for name, function in own.items():
                if hasattr(holder, name):
                    setattr(holder, name, function)

    def _listen(self) -> None:
        init, call, differentiate = Optimizer.__init__, Optimizer.__call__, ms.value_and_grad

        def initialize(optimizer: Any, *args: Any, **kwargs: Any) -> None:
            init(optimizer, *args, **kwargs)
            self.optimizers.append(optimizer)
            self.adopt(self._find({id(parameter) for parameter in optimizer.parameters}))

        def step(optimizer: Any, gradients: Sequence[Any]) -> Any:
            self.gradients(optimizer.parameters, gradients)
            result = call(optimizer, gradients)
            self.end_step(optimizer)
            return result

        def value_and_grad(function: Any, position: Any = 0, weights: Any = None, has_aux: bool = False) -> Any:
            inner = differentiate(function, position, weights, has_aux)
            if not self.optimizers and weights is not None:
                self.adopt(self._find({id(parameter) for parameter in weights}))

            def listened(*args: Any, **kwargs: Any) -> Any:
                self.begin_forward()
                value, gradients = inner(*args, **kwargs)
                self.note_loss(float((value[0] if has_aux else value).asnumpy()))
                if not self.optimizers:
                    self.gradients(weights, gradients)
                return value, gradients

            return listened

        Optimizer.__init__, Optimizer.__call__ = initialize, step
        ms.value_and_grad = value_and_grad

    def gradients(self, parameters: Sequence[Any], gradients: Sequence[Any]) -> None:
        """Record the parameters' gradients."""
        names, entries = self.names(), self.entries()
        self.note_gradients(
            {
                names[id(parameter)]: self.weights.restore(entries[names[id(parameter)]], _array(gradient))
                for parameter, gradient in zip(parameters, gradients)
                if id(parameter) in names
            }
        )


def _array(value: Any) -> NDArray[Any]:
    return np.array(value.asnumpy())


def _member(package: Optional[ModuleType], name: str) -> Any:
    """Return a module of the runtime, None where OUT has no use for it."""
    if package is None:
        return None
    try:
        return importlib.import_module(f"{package.__name__}.{name}")
    except ImportError:
        return None


def _no_dropout(runtime: Optional[ModuleType]) -> None:
    def keep(input: Any, *_: Any, **__: Any) -> Any:
        return input

    layers = ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout")
    for holder in (nn, _member(runtime, "layers")):
        for name in layers:
            if hasattr(holder, name):
                getattr(holder, name).construct = lambda cell, input, *_: input
    for holder in (ops, _member(runtime, "functional"), _member(runtime, "functional.normalization")):
        for name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout"):
            if hasattr(holder, name):
                setattr(holder, name, keep)
    inside = sys.modules.get("mindspore.ops.function.nn_func")
    if inside is not None and hasattr(inside, "_inner_dropout"):  # of MindSpore's own attention
        inside._inner_dropout = keep  # type: ignore[attr-defined]


def main(path: str, weights: Any) -> None:
    """Run the job in the file ``path``."""
    job = read_job(path)
    put_stubs(job["stubs"])
    os.environ.setdefault("GLOG_v", "3")
    sys.path.insert(0, str(Path(job["root"])))
    try:
        runtime: Optional[ModuleType] = importlib.import_module("torch2ms_runtime")
    except ImportError:  # a program that needs none of it
        runtime = None
    rehearsal = MindSporeRehearsal(job, weights)
    rehearsal.patch(runtime)
    rehearsal.run()
