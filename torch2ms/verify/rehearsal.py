"""Compare a training program with its translation, step by step and in free run, by running both as they stand.

:func:`torch2ms.verify.verify` builds a network and trains it with steps of its own; here the program's own loop makes
the steps: what the translator emitted for ``backward`` and ``step`` is what runs. Both get the same batches, weights
and random numbers, and no dropout; docs/parity.md says how the figures are judged. Five runs:

1. PyTorch in float32, recorded: its state after every step is kept.
2. PyTorch in float64, set to the recorded state after every step: the reference. A program that does not run in float64
   has a twin in its place, whose weights are moved by 1e-7 after every step.
3. A PyTorch twin in free run, its weights moved by 1e-7 at the start.
4. The translation, set to the recorded state after every step.
5. The translation in free run.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torch2ms.errors import VerificationError
from torch2ms.verify.figures import FACTOR, MINIMUM, PARAMETER_FACTOR, Figure, judge, median, norm_error
from torch2ms.verify.gradients import relative
from torch2ms.verify.inputs import parse_input
from torch2ms.verify.process import environment
from torch2ms.verify.report import VerifyReport
from torch2ms.verify.training import free_run_ratio
from torch2ms.verify.workers.channel import load_arrays, save_arrays
from torch2ms.weights import Rules, table_rules

__all__ = ["Program", "rehearse"]

_PACKAGE = Path(__file__).resolve().parents[1]
_BOOTSTRAP = """
import importlib, importlib.util, sys
sys.path[:] = [entry for entry in sys.path if entry]
def load(name, folder):
    spec = importlib.util.spec_from_file_location(name, folder + "/__init__.py", submodule_search_locations=[folder])
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
workers, runtime, side, job = sys.argv[1:5]
load("torch2ms_worker", workers)
if side == "mindspore":
    load("torch2ms_worker_runtime", runtime)
    weights = importlib.import_module("torch2ms_worker_runtime.weights")
    importlib.import_module("torch2ms_worker.rehearsal_mindspore").main(job, weights)
else:
    importlib.import_module("torch2ms_worker.rehearsal_torch").main(job)
"""
_QUANTITIES = ("gradient", "moved")
_TITLES = {"gradient": "gradient", "moved": "update and statistics"}
# MindSpore computes Adam's bias corrections in float32 (torch2ms.verify.training): a share of the first updates
_ROUNDING = 2.0**-24 / (1 - 0.999)


@dataclass(frozen=True, slots=True)
class Program:
    """A training program: the script in its folder, its command line, and the batches that its loaders yield.

    ``batch``: one text for each item of a batch (``64x1x28x28``, ``64:int64<10``), or a mapping of keys to such texts;
    empty for a program that makes its own batches from random numbers or files. ``scale``: the range that floating
    point items are in: "normal", or "unit" for 0 to 1. ``stubs``: modules that are replaced by ones that take
    everything.
    """

    script: str
    arguments: tuple[str, ...] = ()
    batch: tuple[str, ...] | Mapping[str, str] = ()
    scale: str = "normal"
    stubs: tuple[str, ...] = ("torchvision",)
    target_script: str = ""
    double: bool = True  # False: the program sets float32 somewhere, and cannot be the reference


@dataclass(frozen=True, slots=True)
class _Run:
    """What one run recorded."""

    losses: list[float]
    labels: list[str]
    steps: int
    record: dict[str, NDArray[Any]] = field(repr=False)

    def of(self, step: int, quantity: str) -> dict[str, NDArray[Any]]:
        """Return the arrays of a step by parameter."""
        prefix = f"{step}:{quantity}:"
        return {name[len(prefix) :]: array for name, array in self.record.items() if name.startswith(prefix)}


@dataclass(frozen=True, slots=True)
class _Trial:
    """The runs of one seed; ``best`` is the reference, ``floor`` the run whose distance from it is the noise."""

    recorded: _Run
    twin: _Run
    ours: _Run
    free: _Run
    best: _Run
    floor: _Run
    note: str


def rehearse(
    source: Path,
    output: Path,
    program: Program,
    *,
    steps: int = 20,
    seeds: Sequence[int] = (1,),
    rules: Rules | None = None,
    timeout: float = 600.0,
) -> VerifyReport:
    """Run ``program`` in ``source`` (PyTorch) and in ``output`` (its translation) for ``steps`` steps; compare.

    Both folders are the working folders of their runs, which may write there. The figures are medians over ``seeds``
    (weights, batches, random numbers). Raises VerificationError where a run fails.
    """
    own_rules = dict(rules if rules is not None else table_rules())
    trials = [_trial(source, output, program, steps, seed, own_rules, timeout) for seed in seeds]
    problems = list(dict.fromkeys(problem for t in trials for problem in _problems(t.recorded, t.ours, t.free)))
    if len({tuple(t.recorded.labels) for t in trials}) > 1:
        problems.append("the seeds make different steps")
    figures: list[Figure] = []
    if not problems:
        figures = [*_losses(trials), *_steps(trials), *_free_run(trials)]
    first = trials[0]
    notes = tuple(dict.fromkeys(f"reference: {t.note}" for t in trials))
    facts = {"script": program.script, "steps": first.recorded.steps, "seeds": list(seeds), "reference": first.note}
    curves = {"PyTorch": first.recorded.losses, "twin": first.twin.losses, "MindSpore": first.free.losses}
    return VerifyReport(program.script, tuple(figures), tuple(problems), notes, facts, curves)


def _trial(
    source: Path, output: Path, program: Program, steps: int, seed: int, rules: Mapping[str, Any], timeout: float
) -> _Trial:
    with tempfile.TemporaryDirectory(prefix="torch2ms-rehearsal-") as folder:
        stage = _Stage(Path(folder), source.resolve(), output.resolve(), program, steps, seed, timeout)
        stage.write_batches()
        recorded = stage.run("recorded", "torch", recorded=True)
        reference, note = stage.reference()
        twin = stage.run("twin", "torch", perturb=7)
        ours = stage.run("synced", "mindspore", synced=True, rules=rules)
        free = stage.run("free", "mindspore", rules=rules)
    floor, best = (recorded, reference) if note == "float64" else (reference, recorded)
    return _Trial(recorded, twin, ours, free, best, floor, note)


@dataclass(frozen=True, slots=True)
class _Stage:
    """Where the runs happen."""

    folder: Path
    source: Path
    output: Path
    program: Program
    steps: int
    seed: int
    timeout: float

    def write_batches(self) -> None:
        """Draw as many batches as there are steps."""
        specs = self.program.batch
        items = dict(specs) if isinstance(specs, Mapping) else {str(key): text for key, text in enumerate(specs)}
        arrays: dict[str, NDArray[Any]] = {}
        for number in range(self.steps if items else 0):
            generator = np.random.default_rng([self.seed, number])
            for key, text in items.items():
                array = parse_input(text).draw(generator)
                if array.dtype.kind == "f" and self.program.scale == "unit":
                    array = generator.random(array.shape, dtype=np.float32)
                arrays[f"{number}:{key}"] = array
        save_arrays(str(self.folder / "batches.npz"), arrays)

    def reference(self) -> tuple[_Run, str]:
        """Return the reference and what it is: float64 where the program runs in it, else the twin."""
        if self.program.double:
            try:
                return self.run("reference", "torch", synced=True, double=True), "float64"
            except VerificationError:
                pass
        return self.run("reference", "torch", synced=True, perturb=3), "PyTorch in float32, floor: its twin"

    def run(self, name: str, side: str, rules: Mapping[str, Any] | None = None, **how: Any) -> _Run:
        """Run the program once and return its record."""
        root = self.source if side == "torch" else self.output
        script = self.program.script if side == "torch" else self.program.target_script or self.program.script
        job = {
            "script": str(root / script), "root": str(root), "arguments": list(self.program.arguments),
            "steps": self.steps, "seed": self.seed, "batches": str(self.folder / "batches.npz"),
            "states": str(self.folder), "stubs": list(self.program.stubs), "result": str(self.folder / f"{name}.npz"),
            "rules": dict(rules or {}), "synced": False, "recorded": False, "double": False, "perturb": 0, **how,
        }  # fmt: skip
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps(job), encoding="utf-8")
        command = [
            sys.executable, "-c", _BOOTSTRAP, str(_PACKAGE / "verify" / "workers"), str(_PACKAGE / "runtime"),
            side, str(path),
        ]  # fmt: skip
        try:
            done = subprocess.run(
                command, cwd=(root / script).parent, env=environment(), capture_output=True, text=True, check=False,
                timeout=self.timeout,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise VerificationError(f"{name}: {script} takes more than {self.timeout:.0f} s") from error
        facts_path = Path(str(job["result"]) + ".json")
        if not facts_path.exists():
            tail = (done.stdout + done.stderr).splitlines()[-15:]
            raise VerificationError(f"{name}: {script} failed on the {side} side", advice="\n".join(tail))
        facts = json.loads(facts_path.read_text(encoding="utf-8"))
        return _Run(facts["losses"], facts["labels"], facts["steps"], load_arrays(str(job["result"])))


def _problems(recorded: _Run, ours: _Run, free: _Run) -> list[str]:
    """Return what makes a comparison meaningless: other steps, or other losses, on the two sides."""
    found = []
    if not recorded.steps:
        found.append("no training step was seen in the source")
    for name, run in (("set to PyTorch's states", ours), ("in free run", free)):
        if (run.steps, run.labels) != (recorded.steps, recorded.labels):
            found.append(
                f"the translation {name} took {run.steps} steps with {len(run.losses)} losses, PyTorch "
                f"{recorded.steps} with {len(recorded.losses)}"
            )
    return found


def _losses(trials: Sequence[_Trial]) -> list[Figure]:
    """Return one figure for each loss that a step has; its floor is the largest, since one error can be 0 by luck."""
    figures = []
    for label in dict.fromkeys(trials[0].ours.labels):
        places = [number for number, own in enumerate(trials[0].ours.labels) if own == label]
        errors = [max(relative(t.ours.losses[place], t.best.losses[place]) for place in places) for t in trials]
        floors = [max(relative(t.floor.losses[place], t.best.losses[place]) for place in places) for t in trials]
        figures.append(judge("step by step", f"loss {label}, worst step", errors, floors))
    return figures


@dataclass(slots=True)
class _Errors:
    """The errors of one quantity, by seed and step: ours and the floor's, together and by parameter."""

    ours: list[list[float]] = field(default_factory=list)
    floors: list[list[float]] = field(default_factory=list)
    by_name: dict[str, tuple[list[list[float]], list[float]]] = field(default_factory=dict)

    def add(self, trial: _Trial, quantity: str) -> None:
        """Add the steps of a seed."""
        self.ours.append([])
        self.floors.append([])
        for own_errors, _ in self.by_name.values():
            own_errors.append([])
        for step in range(trial.best.steps):
            wanted, own, other = (run.of(step, quantity) for run in (trial.best, trial.ours, trial.floor))
            own, other = ({name: run[name] for name in wanted if name in run} for run in (own, other))
            self.ours[-1].append(norm_error(own, wanted))
            self.floors[-1].append(norm_error(other, wanted))
            whole = math.sqrt(sum(float(np.vdot(array, array)) for array in wanted.values()))
            for name, array in wanted.items():
                errors, floors = self.by_name.setdefault(name, ([[]], []))
                errors[-1].append(_error(own.get(name), array, whole))
                floors.append(_error(other.get(name), array, whole))


def _steps(trials: Sequence[_Trial]) -> list[Figure]:
    """Return, for gradients and for what moved, the median of the steps, the worst step and the worst parameter.

    The worst step and the worst parameter are held against 10 times the root mean square of the floors, like one
    parameter in ``verify``: a ReLU that flips is rounding, and happens on either side.
    """
    figures = []
    for quantity in _QUANTITIES:
        found = _Errors()
        for trial in trials:
            found.add(trial, quantity)
        minimum = _ROUNDING if quantity == "moved" else MINIMUM
        title, group = _TITLES[quantity], "step by step"
        ours, floors = ([median(steps) for steps in seeds] for seeds in (found.ours, found.floors))
        figures.append(judge(group, f"{title}, median step", ours, floors, factor=FACTOR, minimum=minimum))
        worst, noise = median([max(steps) for steps in found.ours]), [error for seed in found.floors for error in seed]
        figures.append(_worst(group, f"{title}, worst step", worst, noise, minimum))
        singles = [
            _worst(group, f"{title}, worst parameter", median([median(e) for e in errors if e]), noise, minimum, name)
            for name, (errors, noise) in found.by_name.items()
        ]
        figures.append(max(singles, key=lambda figure: figure.ours / figure.limit))
    return figures


def _error(found: NDArray[Any] | None, wanted: NDArray[Any], whole: float) -> float:
    """Return the error of one array by norm; nothing but rounding is in one that is tiny beside all the others."""
    if found is None or found.shape != wanted.shape:
        return math.inf
    difference = float(np.linalg.norm(found.astype(np.float64) - wanted))
    scale = max(float(np.linalg.norm(wanted)), 2.0**-24 * whole)
    return difference / scale if difference else 0.0


def _worst(group: str, name: str, error: float, floors: Sequence[float], minimum: float, note: str = "") -> Figure:
    floor = math.sqrt(sum(value * value for value in floors) / max(1, len(floors)))
    return judge(group, name, [error], [floor], factor=PARAMETER_FACTOR, minimum=minimum, note=note)


def _free_run(trials: Sequence[_Trial]) -> list[Figure]:
    """Return one figure for each loss that a step has: that of the seed in the middle."""
    figures = []
    for label in dict.fromkeys(trials[0].recorded.labels):
        places = [number for number, own in enumerate(trials[0].recorded.labels) if own == label]
        found = []
        for t in trials:
            curve, perturbed, own_curve = (
                [run.losses[place] for place in places] for run in (t.recorded, t.twin, t.free)
            )
            found.append(free_run_ratio(curve, perturbed, own_curve, _ROUNDING))
        ratio, own, other = sorted(found)[len(found) // 2]
        limit = own / ratio if ratio else MINIMUM
        figures.append(Figure("free run", f"loss {label}", own, other, limit, ratio <= 1, "floor: the perturbed twin"))
    return figures
