"""What one comparison works with: both workers, the plan, the folder of arrays, and the figures found so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torch2ms.errors import VerificationError
from torch2ms.verify.figures import Figure
from torch2ms.verify.inputs import Argument, OptimizerSpec, add_targets, choose_loss, make_batch
from torch2ms.verify.process import Answers, WorkerError
from torch2ms.verify.report import Departure, LayerFigure
from torch2ms.verify.workers.channel import load_arrays, save_arrays

__all__ = ["Comparison", "Plan", "Prepared"]

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to compare: see ``torch2ms.verify.verify`` for the meaning of each."""

    entry: str
    inputs: tuple[Argument, ...]
    kwargs: Mapping[str, Any]
    optimizer: OptimizerSpec
    seeds: tuple[int, ...] = (1, 2, 3)
    loss: str = "auto"
    train_steps: int = 0
    train_inputs: tuple[Argument, ...] = ()
    input_from: str = ""  # what gives the inputs, where they are not drawn
    gradients: bool = True
    graph: bool = True
    tolerance: float | None = None
    layers: bool | None = None  # whether layers are compared one by one; None: where anything departs


@dataclass(frozen=True, slots=True)
class Prepared:
    """One seed's network on the torch side: its state on disk, the places of its results, the slots to compare."""

    seed: int
    state: Path
    places: Mapping[str, Mapping[str, list[int]]]
    reference: str  # slot of the reference: float64, or float32 where the network does not run in float64
    floor: str  # slot whose distance from the reference is the floor: float32, or twin


@dataclass(slots=True)
class Comparison:
    """A running comparison."""

    plan: Plan
    torch: Answers
    mindspore: Answers
    folder: Path
    progress: Callable[[str], None]
    figures: list[Figure] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    curves: dict[str, list[float]] = field(default_factory=dict)
    departures: list[Departure] = field(default_factory=list)
    layers: list[LayerFigure] = field(default_factory=list)
    settings: list[str] = field(default_factory=list)
    random_training: bool = False  # the network draws random numbers in train mode besides dropout

    def path(self, name: str) -> Path:
        """Return the file of some arrays; the same name overwrites, which bounds the disk space."""
        return self.folder / f"{name}.npz"

    def load(self, name: str) -> Arrays:
        """Return the arrays that a worker wrote."""
        return load_arrays(str(self.path(name)))

    def inputs(self, prepared: Prepared) -> str:
        """Write the batch of a seed for the outputs, which needs no targets; return its path."""
        path = self.path(f"batch-outputs-{prepared.seed}")
        if not path.exists():
            self._write_inputs(path, self.plan.inputs, (prepared.seed, 0))
        return str(path)

    def batch(self, prepared: Prepared, mode: str, number: int = 0) -> tuple[str, str]:
        """Write the batch of a seed, a mode and a step number; return its path and the loss that fits it."""
        places = prepared.places[mode]
        loss = choose_loss(self.plan.loss, places)
        path = self.path(f"batch-{mode}-{number}")
        self._write_inputs(path, self.plan.train_inputs or self.plan.inputs, (prepared.seed, number))
        save_arrays(str(path), add_targets(load_arrays(str(path)), places, loss, (prepared.seed, number)))
        return str(path), loss

    def _write_inputs(self, path: Path, arguments: tuple[Argument, ...], seed: tuple[int, int]) -> None:
        """Write the arguments of the network: drawn, or what the user's own callable or file gives."""
        source = self.plan.input_from
        if arguments or not source:
            save_arrays(str(path), make_batch(arguments, seed))
            return
        try:
            self.torch.call("draw", root=str(Path.cwd()), source=source, seed=list(seed), path=str(path))
        except WorkerError as error:
            reason = str(error).removeprefix("PyTorch, draw: ")
            raise VerificationError(
                f"--input-from {source} gives no inputs: {reason}",
                advice="name FILE.npz, FILE.py:CALLABLE or MODULE:CALLABLE of SRC; the callable is called without "
                "arguments, and returns a tensor, a tuple of arguments, or a dictionary of arguments by name",
            ) from error

    def prepare(self, seed: int) -> tuple[Prepared, dict[str, Any]]:
        """Make the network of a seed on the torch side, and find out whether it runs in float64."""
        probe, state = str(self.path("batch-probe")), self.path(f"state-{seed}")
        self._write_inputs(Path(probe), self.plan.train_inputs or self.plan.inputs, (seed, 0))
        reply = self.torch.call("prepare", seed=seed, state=str(state))
        trained = self.plan.gradients or self.plan.train_steps
        places = self.torch.call("places", batch=probe) if trained else {}
        reference, floor = "float64", "float32"
        try:
            self.torch.call("copy_slot", source="float32", target="float64")
            done = self.torch.call("outputs", slot="float64", batch=probe, path=str(self.path("probe")))
            double = bool(done["double"])
        except VerificationError:
            double = False
        if not double:
            reference, floor = "float32", "twin"
            self.torch.call("copy_slot", source="float32", target="twin", perturb=seed)
            note = "the network does not run in float64: the floor is PyTorch's own twin, perturbed by 1e-7"
            if note not in self.notes:
                self.notes.append(note)
        return Prepared(seed, state, places, reference, floor), reply


def select(arrays: Mapping[str, NDArray[Any]], kind: str) -> Arrays:
    """Return the arrays of one kind (``gradient``, ``after``, ``statistic``), under their plain names."""
    prefix = f"{kind}:"
    return {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}


def floating(arrays: Mapping[str, NDArray[Any]]) -> Arrays:
    """Return the floating-point arrays, complex ones as pairs of numbers.

    Counters such as num_batches_tracked are not compared by norm.
    """
    real = {name: _pairs(array) if np.iscomplexobj(array) else array for name, array in arrays.items()}
    return {name: array for name, array in real.items() if np.issubdtype(array.dtype, np.floating)}


def _pairs(array: NDArray[Any]) -> NDArray[Any]:
    return np.stack([array.real, array.imag], axis=-1)
