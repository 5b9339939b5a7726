"""The PyTorch side: reference in float64, floor in float32, and the twin whose weights are moved by 1e-7."""

from __future__ import annotations

import contextlib
import copy
import inspect
import os
import random
import sys
from typing import Any, ContextManager, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import torch
from numpy.typing import NDArray

from . import norm_gradients
from .channel import as_float32, flatten, load_arrays, pack, save_arrays, serve, unpack
from .counters import counters_kept
from .dropout import Switch
from .entries import given_arguments, load_entry
from .layers import note_origins
from .layers_torch import TorchLayers

__all__ = ["main"]

TWIN = 1e-7  # relative size of the twin's perturbation (docs/parity.md)


class Slot(NamedTuple):
    """One copy of the network with its optimizer."""

    net: Any
    optimizer: Any


class TorchSide:
    """The commands; one network in several slots (``float32``, ``float64``, ``twin``)."""

    def __init__(self) -> None:
        self.target: Any = None
        self.kwargs: Dict[str, Any] = {}
        self.slots: Dict[str, Slot] = {}
        self.seed = 0
        self.root = ""
        self.layers = TorchLayers()
        self.dropout = Switch()
        _wrap_dropout(self.dropout)

    def build(self, root: str, entry: str, kwargs: Dict[str, Any]) -> Dict[str, Any]:
        """Import the network's builder from the project at ``root``; may be called again for another network."""
        self.slots.clear()
        self.root = root
        note_origins(torch.nn.Module, root)
        self.target, self.kwargs = load_entry(root, entry), kwargs
        return {"version": torch.__version__, "python": sys.version.split()[0]}

    def draw(self, root: str, source: str, seed: Sequence[int], path: str) -> Dict[str, Any]:
        """Write the arguments of the network that the user's ``source`` gives; files lie below the folder ``root``."""

        def start() -> None:
            number = seed[0] << 16 | seed[1]
            torch.manual_seed(number)
            np.random.seed(number % (1 << 32))
            random.seed(number)

        args, kwargs = given_arguments(self.root, root, source, start)
        save_arrays(path, pack(args, kwargs))
        return {}

    def prepare(self, seed: int, state: str) -> Dict[str, Any]:
        """Make a network with random weights and non-trivial statistics; write its state_dict to ``state``."""
        self.seed = seed
        self._seed()
        net = self.target(**self.kwargs)
        with torch.no_grad():
            _randomise(net, torch.Generator().manual_seed(seed))
        self.slots = {"float32": Slot(net, None)}
        save_arrays(state, _arrays(net.state_dict()))
        return {
            "keys": list(net.state_dict()),
            "trainable": [name for name, parameter in net.named_parameters() if parameter.requires_grad],
            "numbers": sum(parameter.numel() for parameter in net.parameters()),
            "trainable_numbers": sum(parameter.numel() for parameter in _trainable(net)),
        }

    def _copy(self, net: Any) -> Any:
        """Return a network like ``net`` with parameters of its own.

        It is built anew where that gives the same parameters and buffers: a copy of the object would share what
        functions made in the constructor refer to (``self.f = lambda x: layer(x)``) with the original.
        """
        self._seed()
        made = self.target(**self.kwargs)
        own, wanted = dict(_tensors(made)), dict(_tensors(net))
        if own.keys() != wanted.keys() or any(own[name].shape != value.shape for name, value in wanted.items()):
            return copy.deepcopy(net)
        others = (net, *(slot.net for slot in self.slots.values()))
        held = {id(value) for other in others for _, value in _tensors(other)}
        if held.intersection(map(id, own.values())):
            made = copy.deepcopy(made)  # a layer that is a default, ``def __init__(self, act=nn.PReLU())``, is in all
        _in_precision(made, _precision(net))
        own = dict(_tensors(made))
        with torch.no_grad():
            for name, value in wanted.items():
                own[name].copy_(value)
        return made

    def _seed(self) -> None:
        torch.manual_seed(self.seed)
        np.random.seed(self.seed)
        random.seed(self.seed)

    def _places(self, net: Any, batch: str, train: bool) -> Dict[str, List[int]]:
        """Return place and shape of each floating-point result; the network is left as it was."""
        twin = self._copy(net)
        twin.train(train)  # a network's own may return nothing
        with torch.no_grad(), self.dropout:
            found = flatten(_called(twin, batch, torch.float32), torch.is_tensor)
        return {place: list(value.shape) for place, value in found.items() if _is_floating(value)}

    def places(self, batch: str) -> Dict[str, Any]:
        """Return place and shape of each floating-point result, in eval mode and in train mode."""
        net = self.slots["float32"].net
        return {mode: self._places(net, batch, mode == "train") for mode in ("eval", "train")}

    def copy_slot(self, source: str, target: str, perturb: int = 0) -> Dict[str, Any]:
        """Make ``target`` equal to ``source`` (weights, statistics, optimizer state), in its own precision.

        A target called ``float64`` computes in float64. ``perturb`` is the seed of the twin's perturbation, 0: none.
        """
        slot = self.slots[source]
        net = self._copy(slot.net)
        net = _in_precision(net, torch.float64) if target == "float64" else net
        if perturb:
            generator = torch.Generator().manual_seed(perturb)
            with torch.no_grad():
                for parameter in net.parameters():
                    noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
                    parameter.mul_((1 + TWIN * noise).to(parameter.dtype))
        optimizer = None
        if slot.optimizer is not None:
            optimizer = type(slot.optimizer)(_trainable(net), **_settings(slot.optimizer))
            if slot.optimizer.state:
                optimizer.load_state_dict(copy.deepcopy(slot.optimizer.state_dict()))
        self.slots[target] = Slot(net, optimizer)
        return {}

    def outputs(self, slot: str, batch: str, path: str) -> Dict[str, Any]:
        """Write the results in eval mode."""
        net = self.slots[slot].net
        net.eval()
        before = _random_state()
        with torch.no_grad(), counters_kept(net.modules()):
            found = flatten(_called(net, batch, _precision(net)), torch.is_tensor)
        random_numbers = before != _random_state()
        save_arrays(path, {place: _array(value) for place, value in found.items()})
        return {
            "random": random_numbers,
            "double": all(np.asarray(_array(v)).dtype == np.float64 for v in found.values() if _is_floating(v)),
        }

    def gradients(self, slot: str, batch: str, path: str, train: bool, loss: str) -> Dict[str, Any]:
        """Write the gradients of all trainable parameters and, in train mode, the statistics after the pass."""
        net = self._copy(self.slots[slot].net)
        net.train(train)
        before = _random_state()
        with self.dropout:
            _no_recurrent_dropout(net)
            value = _loss(net, batch, loss)
        random_numbers = before != _random_state()
        value.backward()
        save_arrays(path, {**_gradients(net), **_statistics(net)})
        return {"loss": float(value.detach()), "dropout": self.dropout.rates, "random": random_numbers}

    def record_layers(self, slots: List[str], batch: str, train: bool) -> Dict[str, Any]:
        """Run the network of each slot and keep the calls of its layers; ``float32`` is the first."""
        nets = {slot: self._copy(self.slots[slot].net) for slot in slots}
        for net in nets.values():
            net.train(train)
            if train:
                _no_recurrent_dropout(net)
        inputs = {slot: _inputs(batch, _precision(net)) for slot, net in nets.items()}
        with self._without_dropout(train):
            return self.layers.record(nets, inputs, self.root)

    def repeat_layer(self, train: bool, **request: Any) -> Dict[str, Any]:
        """Repeat one of the calls that were recorded."""
        with self._without_dropout(train):
            reply = self.layers.repeat(**request)
        return {**reply, "dropout": self.dropout.rates[: len(self.dropout.rates) // 2] if train else []}

    def _without_dropout(self, train: bool) -> ContextManager[Any]:
        return self.dropout if train else contextlib.nullcontext()

    def start_training(self, optimizer: str, settings: Dict[str, Any]) -> Dict[str, Any]:
        """Give the float32 network its optimizer."""
        net = self.slots["float32"].net
        made = getattr(torch.optim, optimizer)(_trainable(net), **settings)
        self.slots["float32"] = Slot(net, made)
        return {}

    def export(self, slot: str, path: str) -> Dict[str, Any]:
        """Write weights, statistics and optimizer state."""
        net, optimizer = self.slots[slot]
        arrays = {f"state:{key}": value for key, value in _arrays(net.state_dict()).items()}
        for name, parameter in net.named_parameters():
            for key, value in optimizer.state.get(parameter, {}).items():
                if value is not None:
                    arrays[f"optimizer:{key}:{name}"] = np.asarray(_array(value))
        save_arrays(path, arrays)
        return {}

    def step(self, slot: str, batch: str, loss: str, path: Optional[str] = None) -> Dict[str, Any]:
        """Make one training step; write gradients, and how parameters and statistics have moved."""
        net, optimizer = self.slots[slot]
        net.train()
        optimizer.zero_grad()
        before = {name: _array(value) for name, value in net.named_parameters()} if path else {}
        statistics = _statistics(net) if path else {}
        with self.dropout:
            _no_recurrent_dropout(net)
            value = _loss(net, batch, loss)
        value.backward()
        gradients = _gradients(net) if path else {}
        optimizer.step()
        if path:
            updates = {f"update:{name}": _array(value) - before[name] for name, value in net.named_parameters()}
            moved = {name: value - statistics[name] for name, value in _statistics(net).items()}
            save_arrays(path, as_float32({**gradients, **updates, **moved}))
        return {"loss": float(value.detach())}


def _tensors(net: Any) -> Any:
    """Yield name and value of all parameters and buffers, saved or not; shared ones under their first name."""
    yield from net.named_parameters()
    yield from net.named_buffers()


def _random_state() -> bytes:
    """Return what changes when anything draws a random number."""
    state = np.random.get_state()
    return bytes(torch.get_rng_state().numpy()) + bytes(state[1]) + str((state[2:], random.getstate())).encode()  # type: ignore[index]


def _trainable(net: Any) -> List[Any]:
    return [parameter for parameter in net.parameters() if parameter.requires_grad]


def _settings(optimizer: Any) -> Dict[str, Any]:
    known = inspect.signature(type(optimizer)).parameters
    return {key: value for key, value in optimizer.param_groups[0].items() if key in known and key != "params"}


def _randomise(net: Any, generator: Any) -> None:
    """Move every parameter that starts out constant (biases, scales) and all statistics.

    Equal values would hide a mix-up; initial statistics would hide that they are not used.
    """
    for parameter in net.parameters():
        if parameter.is_floating_point() and parameter.numel() > 1 and parameter.min() == parameter.max():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=generator).to(parameter.dtype))
    for name, buffer in net.named_buffers():
        if name.endswith("running_mean"):
            buffer.copy_(0.1 * torch.randn(buffer.shape, generator=generator))
        elif name.endswith("running_var"):
            buffer.copy_(0.75 + 0.5 * torch.rand(buffer.shape, generator=generator))


def _inputs(batch: str, precision: Any) -> Tuple[List[Any], Dict[str, Any]]:
    """Return the arguments of the network, positional ones and those by name."""
    complex_precision = torch.complex128 if precision == torch.float64 else torch.complex64

    def tensor(array: NDArray[Any]) -> Any:
        made = torch.from_numpy(array)
        if made.is_complex():
            return made.to(complex_precision)
        return made.to(precision) if made.is_floating_point() else made

    return unpack(load_arrays(batch), tensor)


def _called(net: Any, batch: str, precision: Any) -> Any:
    args, kwargs = _inputs(batch, precision)
    return net(*args, **kwargs)


def _precision(net: Any) -> Any:
    return next((p.dtype.to_real() for p in net.parameters() if p.is_floating_point() or p.is_complex()), torch.float32)


def _in_precision(net: Any, precision: Any) -> Any:
    """Return the network with its numbers in another precision; ``Module.to`` would make complex ones real."""
    double = torch.complex128 if precision == torch.float64 else torch.complex64
    wanted = {True: precision, False: double}
    return net._apply(lambda t: t.to(wanted[t.is_floating_point()]) if t.is_floating_point() or t.is_complex() else t)


def _loss(net: Any, batch: str, kind: str) -> Any:
    """Return the loss of the network's results against the batch's targets: one term for each floating-point result."""
    precision = _precision(net)
    found = flatten(_called(net, batch, precision), torch.is_tensor)
    arrays = load_arrays(batch)
    total = torch.zeros((), dtype=precision)
    for place, value in found.items():
        target = arrays.get(f"target:{place}")
        if target is None or not _is_floating(value):
            continue
        wanted = torch.from_numpy(target)
        if kind == "cross_entropy":
            total = total + torch.nn.functional.cross_entropy(value, wanted.long())
        else:
            total = total + ((value - wanted.to(precision)) ** 2).mean()
    return total


def _gradients(net: Any) -> Dict[str, NDArray[Any]]:
    found = {}
    for name, parameter in net.named_parameters():
        if parameter.requires_grad:
            gradient = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            found[f"gradient:{name}"] = _array(gradient)
    return found


def _statistics(net: Any) -> Dict[str, NDArray[Any]]:
    saved = net.state_dict()
    return {f"statistic:{name}": _array(value) for name, value in net.named_buffers() if name in saved}


def _arrays(state: Mapping[str, Any]) -> Dict[str, NDArray[Any]]:
    return {key: _array(value) for key, value in state.items() if torch.is_tensor(value)}


def _array(value: Any) -> Any:
    if not torch.is_tensor(value):
        return np.asarray(value)
    value = value.detach()
    return (value.float() if value.dtype in (torch.bfloat16, torch.float16) else value).numpy().copy()


def _is_floating(value: Any) -> bool:
    return bool(torch.is_tensor(value) and value.is_floating_point())


def _no_recurrent_dropout(net: Any) -> None:
    """Recurrent layers drop inside their kernel, where no wrapper reaches."""
    for module in net.modules():
        if isinstance(module, torch.nn.RNNBase):
            module.dropout = 0.0


def _wrap_dropout(switch: Switch) -> None:
    def rate(original: Any, input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> float:
        return float(p) if training else 0.0

    functional = torch.nn.functional
    for name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"):
        switch.wrap(functional, name, rate)
    switch.wrap(torch, "dropout", rate)
    attention = functional.scaled_dot_product_attention

    def attend(
        query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, *args: Any, **rest: Any
    ) -> Any:
        if switch.off and dropout_p:
            switch.rates.append(float(dropout_p))
            dropout_p = 0.0
        return attention(query, key, value, attn_mask, dropout_p, *args, **rest)

    functional.scaled_dot_product_attention = attend


def main() -> None:
    """Serve until the parent hangs up."""
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))
    torch.use_deterministic_algorithms(True, warn_only=True)
    norm_gradients.repair()
    side = TorchSide()
    names = (
        "build", "draw", "prepare", "places", "copy_slot", "outputs", "gradients", "start_training", "export", "step",
        "record_layers", "repeat_layer",
    )  # fmt: skip
    serve({name: getattr(side, name) for name in names})
