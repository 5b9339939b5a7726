"""The MindSpore side: the translated network, loaded with the torch side's weights by the rules of the tables."""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
from typing import Any, ContextManager, Dict, List, Mapping, Optional, Sequence, Set, Tuple

import mindspore as ms
import numpy as np
from mindspore import nn, ops
from numpy.typing import NDArray

from .channel import as_float32, flatten, load_arrays, save_arrays, serve, unpack
from .counters import counters_kept
from .dropout import Switch
from .entries import load_entry
from .layers import note_origins
from .layers_mindspore import MindSporeLayers, expected_settings
from .optimizers import Bridge, assign

__all__ = ["main"]


class MindSporeSide:
    """The commands; one network, loaded anew before each of them. ``weights`` is the runtime's module of that name."""

    def __init__(self, weights: Any) -> None:
        self.weights = weights
        self.net: Any = None
        self.keys: Any = None
        self.bridge: Optional[Bridge] = None
        self.dropout = Switch()
        self.wrapped = False
        self.present: Set[str] = set()  # the torch keys that were loaded
        self.root = ""
        self.source_name = weights.source_name
        self.layers = MindSporeLayers(self)

    def build(
        self, root: str, entry: str, kwargs: Dict[str, Any], rules: Dict[str, Any], keys: Sequence[str], graph: bool
    ) -> Dict[str, Any]:
        """Build the network and pair its parameters with the torch keys; ``problems`` names what is left over.

        May be called again for another network.
        """
        _choose_mode(graph)
        self.net = self.keys = self.bridge = None
        if not graph and not self.wrapped:  # graph mode compiles the layers' source, which a wrapper would hide
            _wrap_dropout(self.dropout)
            self.wrapped = True
        self.root = root
        if not graph:
            note_origins(nn.Cell, root)
        self.net = load_entry(root, entry)(**kwargs)
        _mark_recurrent_dropout(self.net)
        self.keys = self.weights.as_given(self.weights.key_map(self.net, rules), keys)
        return {
            "version": ms.__version__,
            "python": sys.version.split()[0],
            "problems": self.weights.match(self.keys, keys),
            "trainable": sorted({self._torch_name(parameter) for parameter in self.net.trainable_params()}),
            "trainable_numbers": self._trainable_numbers(keys),
        }

    def sources(self, root: str) -> Dict[str, Any]:
        """Return [file, first line, last line] of each class of the project that the network is made of."""
        return {"sources": _sources(self.net, root) if self.net is not None else []}

    def _trainable_numbers(self, keys: Sequence[str]) -> int:
        """Return how many numbers are trained, of the parameters that the torch network has as well."""
        known = set(keys)
        ours = {id(entry.tensor) for entry in self.keys.entries if entry.torch in known}
        return sum(int(np.prod(p.shape)) for p in self.net.trainable_params() if id(p) in ours)

    def _counters(self) -> ContextManager[None]:
        return counters_kept((cell for _, cell in self.net.cells_and_names()), vars(nn.Cell()).keys())

    def _torch_name(self, tensor: Any) -> str:
        return next((entry.torch for entry in self.keys.entries if entry.tensor is tensor), f"?{tensor.name}")

    def _load(self, path: str) -> Dict[str, NDArray[Any]]:
        """Load a torch state (weights and statistics) into the network; return all arrays of the file."""
        arrays = load_arrays(path)
        prefix = "state:"
        own = {key[len(prefix) :]: value for key, value in arrays.items() if key.startswith(prefix)} or arrays
        values = {key: self.weights.Value(value, str(value.dtype)) for key, value in own.items()}
        self.present = set(values)
        placed, _ = self.weights.from_torch(self.keys, values)
        for entry in self.keys.entries:
            assign(entry.tensor, placed[entry.mindspore].array)
        return arrays

    def outputs(self, state: str, batch: str, path: str) -> Dict[str, Any]:
        """Write the results in eval mode."""
        self._load(state)
        self.net.set_train(False)
        with self._counters():
            args, kwargs = _inputs(batch)
            found = flatten(self.net(*args, **kwargs), _is_tensor)
        save_arrays(path, {place: _array(value) for place, value in found.items()})
        return {}

    def gradients(self, state: str, batch: str, path: str, train: bool, loss: str) -> Dict[str, Any]:
        """Write the gradients of all trainable parameters and, in train mode, the statistics after the pass."""
        self._load(state)
        self.net.set_train(train)
        with self._counters():
            value, gradients = self._value_and_gradients(batch, loss)
        save_arrays(path, {**gradients, **self._statistics()})
        return {"loss": value, "dropout": self.dropout.rates}

    def _value_and_gradients(self, batch: str, loss: str, arrays: bool = True) -> Any:
        (args, kwargs), targets = _inputs(batch), load_arrays(batch)
        parameters = ms.ParameterTuple(self.net.trainable_params())

        def forward() -> Any:
            return _loss(flatten(self.net(*args, **kwargs), _is_tensor), targets, loss)

        with self.dropout:
            value, gradients = ms.value_and_grad(forward, None, parameters)()
        if not arrays:
            return float(value.asnumpy()), gradients
        return float(value.asnumpy()), self._by_torch_name("gradient", parameters, gradients)

    def _by_torch_name(self, kind: str, parameters: Sequence[Any], values: Sequence[Any]) -> Dict[str, NDArray[Any]]:
        """Return arrays in PyTorch's shapes under PyTorch's names (all of them, for shared parameters)."""
        found = {}
        by_id = {id(parameter): value for parameter, value in zip(parameters, values)}
        for entry in self.keys.entries:
            # a layer without scale and shift in PyTorch has both in MindSpore, and does not use them
            if id(entry.tensor) in by_id and entry.torch in self.present:
                array = _array(by_id[id(entry.tensor)])
                found[f"{kind}:{entry.torch}"] = self.weights.restore(entry, array)
        return found

    def _statistics(self) -> Dict[str, NDArray[Any]]:
        learnt = {id(parameter) for parameter in self.net.trainable_params()}
        others = [entry.tensor for entry in self.keys.entries if id(entry.tensor) not in learnt]
        return self._by_torch_name("statistic", others, others)

    def step(self, state: str, batch: str, loss: str, optimizer: Dict[str, Any], path: str) -> Dict[str, Any]:
        """Make one training step from a torch state (weights, statistics, optimizer state); write what moved how."""
        arrays = self._load(state)
        parameters = self.net.trainable_params()
        trainer = self._trainer(optimizer, arrays)
        self.net.set_train(True)
        value, gradients = self._value_and_gradients(batch, loss, arrays=False)
        written = self._by_torch_name("gradient", parameters, gradients)
        trainer(gradients)
        after = {**self._by_torch_name("update", parameters, parameters), **self._statistics()}
        moved = {key: value - arrays["state:" + key.partition(":")[2]] for key, value in after.items()}
        save_arrays(path, as_float32({**written, **moved}))
        return {"loss": value}

    def _trainer(self, optimizer: Dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Any:
        """Return the optimizer, in the state that ``arrays`` hold; where they hold none, as if new."""
        parameters = self.net.trainable_params()
        if self.bridge is None:  # one for all steps: its first step compiles
            self.bridge = Bridge.build(optimizer["name"], optimizer["target"], parameters, optimizer["settings"])
        names = {id(parameter): self._torch_name(parameter) for parameter in parameters}
        entries = {entry.torch: entry for entry in self.keys.entries}
        self.bridge.load(arrays, names, lambda name, array: self.weights.place(entries[name], array))
        return self.bridge.optimizer

    def record_layers(self, state: str, batch: str, train: bool, paths: Sequence[str]) -> Dict[str, Any]:
        """Run the network and keep the calls of those layers that PyTorch has too."""
        self._load(state)
        self.net.set_train(train)
        with self._without_dropout(train):
            reply = self.layers.record(paths, _inputs(batch), self.root)
        self._load(state)  # the pass has moved the statistics
        return reply

    def repeat_layer(self, train: bool, **request: Any) -> Dict[str, Any]:
        """Repeat one of the calls that were recorded, with what PyTorch's got."""
        with self._without_dropout(train):
            reply = self.layers.repeat(**request)
        return {**reply, "dropout": self.dropout.rates if train else []}

    def expected(self, layers: Dict[str, str]) -> Dict[str, Any]:
        """Return type and settings of layers that are written as emitted code, by the name they are given under."""
        found = {}
        for name, text in layers.items():
            with contextlib.suppress(Exception):  # what cannot be built here is not compared
                found[name] = expected_settings(text)
        return {"layers": found}

    def _without_dropout(self, train: bool) -> ContextManager[Any]:
        return self.dropout if train else contextlib.nullcontext()

    def free_run(self, state: str, batches: Sequence[str], loss: str, optimizer: Dict[str, Any]) -> Dict[str, Any]:
        """Train from a torch state on its own; return the loss before each step."""
        self._load(state)
        self.net.set_train(True)
        trainer = self._trainer(optimizer, {})
        losses = []
        for batch in batches:
            value, gradients = self._value_and_gradients(batch, loss, arrays=False)
            trainer(gradients)
            losses.append(value)
        return {"losses": losses}


def _sources(net: Any, root: str) -> List[List[Any]]:
    found = []
    for cls in {type(cell) for _, cell in net.cells_and_names()}:
        with contextlib.suppress(OSError, TypeError):
            file = inspect.getfile(cls)
            if os.path.realpath(file).startswith(os.path.realpath(root) + os.sep):
                lines, first = inspect.getsourcelines(cls)
                found.append([file, first, first + len(lines) - 1])
    return sorted(found)


def _choose_mode(graph: bool) -> None:
    if hasattr(ms, "set_device"):
        ms.set_device("CPU")
    else:
        ms.set_context(device_target="CPU")
    ms.set_seed(1)
    ms.set_context(mode=ms.GRAPH_MODE if graph else ms.PYNATIVE_MODE)
    with contextlib.suppress(Exception):  # not every release has both
        ms.set_context(runtime_num_threads=int(os.environ.get("OMP_NUM_THREADS", "2")))
        ms.runtime.launch_blocking()  # errors belong to the call that caused them


def _inputs(batch: str) -> Tuple[List[Any], Dict[str, Any]]:
    """Return the arguments of the network, positional ones and those by name."""
    return unpack(load_arrays(batch), ms.Tensor)


def _loss(found: Mapping[str, Any], targets: Mapping[str, NDArray[Any]], kind: str) -> Any:
    total = ms.Tensor(0.0, ms.float32)
    for place, value in found.items():
        target = targets.get(f"target:{place}")
        if target is None or not _is_floating(value):
            continue
        if kind == "cross_entropy":
            total = total + ops.cross_entropy(value, ms.Tensor(target.astype(np.int32)))
        else:
            total = total + ((value - ms.Tensor(target)) ** 2).mean()
    return total


def _is_tensor(value: Any) -> bool:
    return isinstance(value, ms.Tensor)


def _is_floating(value: Any) -> bool:
    return _is_tensor(value) and "Float" in str(value.dtype)


def _array(value: Any) -> NDArray[Any]:
    if not _is_tensor(value):
        return np.asarray(value)
    if str(value.dtype) in ("BFloat16", "Float16"):
        value = value.astype(ms.float32)
    return np.array(value.asnumpy())


_RECURRENT = "torch2ms_inside_of_recurrent_layer"


def _mark_recurrent_dropout(net: Any) -> None:
    """Recurrent layers of PyTorch drop inside their kernel, and are told not to: MindSpore's are not counted either."""
    for _, cell in net.cells_and_names():
        inner = getattr(cell, "dropout_op", None)
        if isinstance(inner, nn.Cell):
            object.__setattr__(inner, _RECURRENT, True)


def _wrap_dropout(switch: Switch) -> None:
    """Wrap the layers' ``construct`` and the functions. A rate is measured: by what share of many ones is dropped."""

    def share(result: Any) -> float:
        dropped = (result[0] if isinstance(result, tuple) else result).asnumpy() == 0
        return float(dropped.mean())

    def of_layer(original: Any, layer: Any, *_: Any, **__: Any) -> float:
        return 0.0 if hasattr(layer, _RECURRENT) else share(original(layer, _ones(type(layer).__name__)))

    def of_function(name: str) -> Any:
        def rate(original: Any, input: Any, *args: Any, **kwargs: Any) -> float:
            return share(original(_ones(name), *args, **kwargs))

        return rate

    mint = getattr(ms, "mint", None)
    for holder in filter(None, (nn, getattr(mint, "nn", None))):
        for name in ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d"):
            cls = getattr(holder, name, None)
            if cls is not None and "construct" in vars(cls):
                switch.wrap(cls, "construct", of_layer, position=1)
    for holder in filter(None, (ops, getattr(getattr(mint, "nn", None), "functional", None))):
        for name in ("dropout", "dropout1d", "dropout2d", "dropout3d"):
            switch.wrap(holder, name, of_function(name))
    _wrap_attention(switch, share)


def _wrap_attention(switch: Switch, share: Any) -> None:
    """Wrap the dropout inside of MindSpore's own attention, which is called with a rate of 0 as well."""
    inside: Any = sys.modules.get("mindspore.ops.function.nn_func")
    original = getattr(inside, "_inner_dropout", None)
    if original is None:
        return

    def wrapped(x: Any, p: float, training: bool) -> Any:
        if not switch.off:
            return original(x, p, training)
        if p and training:
            switch.rates.append(share(original(_ones("Dropout"), p, training)))
        return x

    inside._inner_dropout = wrapped


def _ones(name: str) -> Any:
    """Return 65536 ones in a shape that the layer takes: channels are dropped whole by the dimensional forms."""
    shape = {"1": (64, 1024, 1), "2": (64, 1024, 1, 1), "3": (64, 1024, 1, 1, 1)}.get(name[-2:-1], (65536,))
    return ms.Tensor(np.ones(shape if name.lower().endswith("d") else (65536,), np.float32))


def main(weights: Any) -> None:
    """Serve until the parent hangs up."""
    side = MindSporeSide(weights)
    names = (
        "build", "sources", "outputs", "gradients", "step", "free_run", "record_layers", "repeat_layer", "expected",
    )  # fmt: skip
    serve({name: getattr(side, name) for name in names})
