"""What both sides of a rehearsed training program share: its batches and random numbers, and the record of its steps.

A program is run as it stands, as ``__main__``. What would make two runs differ for other reasons than arithmetic is
given from outside: batches instead of a data loader's, random numbers from one NumPy stream, no dropout.
"""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Set, Tuple
from unittest.mock import MagicMock

import numpy as np
from numpy.typing import NDArray

from .channel import load_arrays, save_arrays

__all__ = ["Draws", "Finished", "Rehearsal", "Stream", "find_networks", "put_stubs", "read_job", "sampled"]

_SAMPLE = 4096  # numbers of one array that are compared: the norms of larger ones are estimated
Array = NDArray[Any]


class Finished(BaseException):
    """The steps asked for are done; not an Exception, so that no handler of the program takes it."""


def sampled(array: Array) -> Array:
    """Return at most about 4096 elements, always the same ones."""
    flat = array.reshape(-1)
    return flat[:: max(1, flat.size // _SAMPLE)].copy()


class Draws:
    """Random numbers by kind, the same in both frameworks: the n-th draw of a kind depends on nothing else."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.counts: Dict[str, int] = {}

    def _stream(self, kind: str) -> np.random.Generator:
        count = self.counts[kind] = self.counts.get(kind, 0) + 1
        return np.random.default_rng([self.seed, count, *kind.encode()])

    def normal(self, shape: Tuple[int, ...]) -> Array:
        """Return normal numbers in float32."""
        return self._stream("normal").standard_normal(shape).astype(np.float32)

    def uniform(self, shape: Tuple[int, ...]) -> Array:
        """Return numbers from 0 to 1 in float32."""
        return self._stream("uniform").random(shape).astype(np.float32)

    def integers(self, low: int, high: int, shape: Tuple[int, ...]) -> Array:
        """Return integers from ``low`` up to ``high``, exclusive."""
        return self._stream("integers").integers(low, high, shape)

    def permutation(self, count: int) -> Array:
        """Return a permutation of 0 to count - 1."""
        return self._stream("permutation").permutation(count)


class Stream:
    """Stands where the program builds a data loader; yields the given batches, over and over.

    ``arrays`` are named ``BATCH:KEY``; keys that are all numbers make lists, others dictionaries.
    """

    def __init__(self, arrays: Mapping[str, Array], convert: Callable[[Array], Any]) -> None:
        self.batches: Dict[int, Dict[str, Array]] = {}
        for name, array in arrays.items():
            number, _, key = name.partition(":")
            self.batches.setdefault(int(number), {})[key] = array
        self.convert = convert
        self.position = 0
        self.length = max(1, len(self.batches) // 2)  # two epochs, so that what stands between them runs too

    def loader(self, dataset: Any = None, *_: Any, **__: Any) -> _Loader:
        """Return a loader, whatever the program asked for."""
        return _Loader(self, dataset)

    def next(self) -> Any:
        """Return the next batch."""
        batch = self.batches[self.position % len(self.batches)]
        self.position += 1
        if all(key.isdigit() for key in batch):
            return [self.convert(batch[key]) for key in sorted(batch, key=int)]
        return {key: self.convert(array) for key, array in batch.items()}


class _Loader:
    """One loader of the program's; all of them draw from the same batches."""

    def __init__(self, stream: Stream, dataset: Any) -> None:
        self.stream = stream
        self.dataset = dataset if hasattr(dataset, "__len__") and len(dataset) else range(1000)
        self.sampler = self.batch_sampler = MagicMock()
        first = next(iter(stream.batches[0].values())) if stream.batches else np.zeros(1)
        self.batch_size = len(first)

    def __len__(self) -> int:
        return self.stream.length

    def __iter__(self) -> Iterator[Any]:
        for _ in range(self.stream.length):
            yield self.stream.next()


def put_stubs(names: List[str]) -> None:
    """Let ``import NAME`` (and of its submodules) find something that takes every call and attribute."""
    for name in names:
        stub = MagicMock(name=name)
        stub.__path__ = []
        stub.__spec__ = None
        sys.modules[name] = stub
        for child in ("datasets", "transforms", "transforms.functional", "utils", "models"):
            sys.modules[f"{name}.{child}"] = MagicMock(name=f"{name}.{child}", __spec__=None)


def find_networks(
    frame: Optional[FrameType], skip: Tuple[str, ...], kind: type, wanted: Callable[[Any], Set[int]]
) -> Dict[str, Any]:
    """Return the networks, by name, that hold the parameters in question in the innermost frame that knows them.

    ``wanted`` gives the ids of those parameters that a network holds. A name may be an attribute of ``self``.
    """
    while frame is not None:
        known: Dict[str, Any] = {}
        if not any(part in frame.f_code.co_filename for part in skip):
            for names in (frame.f_locals, frame.f_globals):
                own = getattr(names.get("self"), "__dict__", {})
                for name, value in [*names.items(), *((f"self.{name}", value) for name, value in own.items())]:
                    if isinstance(value, kind):
                        known.setdefault(name, value)
        found: Dict[str, Any] = {}
        covered: Set[int] = set()
        for name in sorted(known, key=lambda name: -len(wanted(known[name]))):
            if wanted(known[name]) - covered:
                found[name] = known[name]
                covered |= wanted(known[name])
        if found:
            return found
        frame = frame.f_back
    return {}


class Rehearsal:
    """The record of one run, and when a step begins and ends; each framework fills in how its objects are read.

    A step ends with the optimizer's; a program that updates its weights by hand has no optimizer, and there a step ends
    when the next forward pass begins. At the end of a step, what happened in it is recorded; then, in a run that is
    ``synced``, everything is set to the state that the recorded PyTorch run had there.
    """

    def __init__(self, job: Dict[str, Any]) -> None:
        self.job = job
        self.draws = Draws(job["seed"])
        self.networks: Dict[str, Any] = {}
        self.optimizers: List[Any] = []
        self.steps = 0
        self.since = 0  # losses since the last step
        self.labels: List[str] = []  # of each loss: which one since the last step, and whose step came after it
        self.losses: List[float] = []
        self.record: Dict[str, Array] = {}
        self.before: Dict[str, Array] = {}
        self.pending = False  # a gradient was taken, and no optimizer is known that will end the step

    def arrays(self) -> Dict[str, Array]:
        """Return all weights and statistics by PyTorch's names, ``NETWORK:KEY``, in PyTorch's shapes."""
        raise NotImplementedError

    def load_state(self, name: str, optimizer: Any = None) -> None:
        """Set the networks, and the optimizer, to what is in the file ``name`` of the recorded run."""
        raise NotImplementedError

    def note_loss(self, value: float) -> None:
        """Record a loss whose gradient is taken."""
        self.losses.append(value)
        self.labels.append(str(self.since))
        self.since += 1
        self.pending = not self.optimizers

    def note_gradients(self, gradients: Dict[str, Array]) -> None:
        """Record the gradients of the step, by PyTorch's names."""
        for name, array in gradients.items():
            key = f"{self.steps}:gradient:{name}"
            self.record[key] = sampled(array)

    def begin_forward(self) -> None:
        """End a step that no optimizer has ended."""
        if self.pending:
            self.pending = False
            self.end_step(None)

    def end_step(self, optimizer: Any) -> None:
        """Record how weights and statistics moved; then sync, or finish."""
        after = self.arrays()
        for name, array in after.items():
            if array.dtype.kind == "f":
                self.record[f"{self.steps}:moved:{name}"] = sampled(array - self.before[name])
        owner = self.optimizers.index(optimizer) if optimizer in self.optimizers else 0
        for number in range(len(self.labels) - self.since, len(self.labels)):
            self.labels[number] = f"{owner}.{self.labels[number]}"
        self.since = 0
        self.steps += 1
        self.after_step(optimizer)
        if self.steps >= self.job["steps"]:
            raise Finished
        self.before = self.arrays()

    def after_step(self, optimizer: Any) -> None:
        """Set everything to the recorded run's state after this step, in a run that is synced."""
        if self.job["synced"]:
            self.load_state(f"after-{self.steps}", optimizer)

    def adopt(self, found: Mapping[str, Any]) -> None:
        """Take networks in, and give them the recorded run's first weights."""
        new = {name: net for name, net in found.items() if all(net is not known for known in self.networks.values())}
        self.networks.update(new)
        if new:
            self.start(list(new))
            self.before = self.arrays()

    def start(self, names: List[str]) -> None:
        """Give newly found networks their first weights."""
        for name in names:
            self.load_state(f"start-{name}")

    def run(self) -> None:
        """Run the program until it has made its steps, or ends; write the record."""
        script = Path(self.job["script"])
        sys.argv = [str(script), *self.job["arguments"]]
        sys.path.insert(0, str(script.parent))
        main = ModuleType("__main__")
        main.__file__ = str(script)
        sys.modules["__main__"] = main
        with contextlib.suppress(Finished):
            exec(compile(script.read_text(encoding="utf-8"), str(script), "exec"), main.__dict__)
        facts = {"losses": self.losses, "labels": self.labels, "steps": self.steps, "networks": list(self.networks)}
        save_arrays(self.job["result"], self.record)
        Path(self.job["result"] + ".json").write_text(json.dumps(facts), encoding="utf-8")


def read_job(path: str) -> Dict[str, Any]:
    """Return the job in the file; its batches are under ``arrays``."""
    job: Dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    job["arrays"] = load_arrays(job["batches"])
    return job
