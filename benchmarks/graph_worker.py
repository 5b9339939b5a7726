"""Builds one network of a translation and compiles it for ``graph_mode.py``, in a process of its own: REQUEST (JSON).

Lines on stdout that begin with ``GRAPH`` say what was done: the stage that begins, then its figures. A failure ends it.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


class NoTorch:
    """A translation must do without PyTorch, though it may well be installed here."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Refuse torch."""
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, NoTorch())  # type: ignore[arg-type]
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import mindspore as ms  # noqa: E402
from mindspore import nn, ops  # noqa: E402

from torch2ms.verify.figures import largest_error, norm_error  # noqa: E402
from torch2ms.verify.workers.channel import flatten, load_arrays, unpack  # noqa: E402
from torch2ms.verify.workers.entries import load_entry  # noqa: E402

TWINS = 2  # whose weights are off by 1e-7: how far rounding alone moves a result


class Step(nn.Cell):
    """The network and a loss over every result of floating point: the mean square distance from drawn numbers."""

    def __init__(self, net: Any, found: Any) -> None:
        super().__init__(auto_prefix=False)
        self.net = net
        draws = np.random.RandomState(2)
        places = [(path, value) for path, value in paths(found) if ops.is_floating_point(value)]
        self.places = tuple(path for path, _ in places)
        self.targets = tuple(ms.Tensor(np.asarray(draws.randn(*value.shape), np.float32)) for _, value in places)

    def construct(self, *args, **kwargs):  # type: ignore[no-untyped-def] # noqa: D102
        found = self.net(*args, **kwargs)
        total = ms.Tensor(0.0, ms.float32)
        for i in range(len(self.places)):
            value = found
            for key in self.places[i]:
                value = value[key]
            total = total + ops.mean(ops.square(value.astype(ms.float32) - self.targets[i]))
        return total


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], Any]]:
    """Return the tensors of a result with the keys that lead to each."""
    if isinstance(value, ms.Tensor):
        return [(path, value)]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
    return [found for key, item in items for found in paths(item, (*path, key))]


def say(**what: Any) -> None:
    print("GRAPH", json.dumps(what), flush=True)


class Network:
    """The network, with the weights it was built with before each run."""

    def __init__(self, request: dict[str, Any]) -> None:
        ms.set_seed(1)
        np.random.seed(1)
        self.root = os.path.realpath(request["root"])
        self.request = request
        self.net = load_entry(self.root, request["entry"])(**request["kwargs"])
        self.weights = ms.ParameterTuple(self.net.trainable_params())
        self.state = [(p, np.array(p.asnumpy())) for p in self.net.get_parameters()]
        self.reached: set[Any] = set()  # code of the translation that was run
        self.step: Any = None
        self.both: dict[bool, Any] = {}  # loss and gradients of a step, in train mode and in eval mode
        self.is_moved = False  # weights or statistics have changed

    def run(self, what: Callable[..., Any], arguments: str, mode: str, train: bool, perturb: int = 0) -> Any:
        """Run ``forward`` or ``gradient`` of these arguments; return arrays by name."""
        ms.set_context(mode=ms.GRAPH_MODE if mode == "graph" else ms.PYNATIVE_MODE)
        if perturb or self.is_moved:
            draws = np.random.default_rng(perturb)
            for parameter, value in self.state:
                moved = value
                if perturb and value.dtype == np.float32:
                    moved = value * (1 + 1e-7 * draws.standard_normal(value.shape, np.float32))
                parameter.set_data(ms.Tensor(np.asarray(moved, value.dtype)))
        self.is_moved = bool(perturb) or train
        self.net.set_train(train)
        args, kwargs = unpack(load_arrays(self.request[arguments]), ms.Tensor)
        if mode == "pynative" and not perturb:
            sys.setprofile(self._note)
        try:
            return what(*args, **kwargs)
        finally:
            sys.setprofile(None)

    def _note(self, frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(self.root + os.sep):
            self.reached.add(frame.f_code)

    def forward(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return the results."""
        found = self.net(*args, **kwargs)
        if self.step is None:
            self.step = Step(self.net, found)
        return {place: array(value) for place, value in flatten(found, lambda v: isinstance(v, ms.Tensor)).items()}

    def gradient(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return loss and gradients, and the statistics that the pass left."""
        self.step.set_train(self.net.training)
        if self.net.training not in self.both:  # compiled once: the mode is read then
            self.both[self.net.training] = ms.value_and_grad(self.step, None, self.weights)
        loss, gradients = self.both[self.net.training](*args, **kwargs)
        learnt = {id(weight) for weight in self.weights}
        statistics = {p.name: array(p) for p, _ in self.state if id(p) not in learnt}
        named = {f"gradient:{i}": array(found) for i, found in enumerate(gradients)}
        return {**named, **statistics, "loss": array(loss)}

    def functions(self) -> list[list[Any]]:
        """Return [file, first line, last line] of the functions that ran."""
        return [[c.co_filename, c.co_firstlineno, last_line(c)] for c in self.reached]


def last_line(code: Any) -> int:
    return int(code.co_firstlineno) + len(inspect.getsourcelines(code)[0]) - 1


def array(value: Any) -> Any:
    if not isinstance(value, ms.Tensor):
        return np.asarray(value)
    return np.array((value.astype(ms.float32) if str(value.dtype) in ("BFloat16", "Float16") else value).asnumpy())


def error_of(found: dict[str, Any], reference: dict[str, Any]) -> float:
    """Return the largest error of a result, or that of all gradients together, by norm, if that is larger."""
    if set(found) != set(reference):
        return float("inf")
    gradients, theirs = ({k: v for k, v in r.items() if k.startswith("gradient:")} for r in (found, reference))
    others = [largest_error(np.asarray(found[k]), np.asarray(reference[k])) for k in found if k not in gradients]
    return max([*others, norm_error(gradients, theirs) if gradients else 0.0])


def compared(network: Network, stage: str, arguments: str, train: bool) -> None:
    """Run one stage in PyNative mode, with twins, and compiled; say how far apart they are."""
    what = network.forward if stage == "forward" else network.gradient
    say(stage=stage, train=train, mode="pynative")
    reference = network.run(what, arguments, "pynative", train)
    random = train and error_of(network.run(what, arguments, "pynative", train), reference) > 0
    floors = [error_of(network.run(what, arguments, "pynative", train, n + 1), reference) for n in range(TWINS)]
    say(stage=stage, train=train, mode="graph", functions=network.functions())
    found = network.run(what, arguments, "graph", train)
    if random:
        say(stage=stage, train=train, random=True)
        compared(network, stage, arguments, False)
    else:
        say(stage=stage, train=train, error=error_of(found, reference), floors=floors)


def main() -> None:
    request = json.loads(sys.argv[1])
    if hasattr(ms, "set_device"):
        ms.set_device("CPU")
    try:
        say(stage="build", mode="pynative")
        network = Network(request)
        compared(network, "forward", "inputs", False)
        if request["gradients"]:
            compared(network, "gradient", "train_inputs", True)
        say(stage="done")
    except Exception as error:  # whatever the network or its compiler raises is an answer
        traceback.print_exc()
        say(failed=f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
