"""Compare training: step by step from PyTorch's own states, and in free run against a perturbed twin."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch2ms.verify.comparison import Arrays, Comparison, Prepared, floating, select
from torch2ms.verify.figures import MINIMUM, Figure, judge, judge_single, median, norm_error, norm_errors
from torch2ms.verify.gradients import relative
from torch2ms.verify.inputs import OptimizerSpec

__all__ = ["TrainingCheck", "free_run_ratio"]

_TWIN_FACTOR = 10.0
# MindSpore computes Adam's bias corrections 1 - beta^t in float32, PyTorch in Python's float64: half a unit in the last
# place of 1, over what is left after the subtraction, is at most this share of the first update.
_HALF_UNIT = 2.0**-24
_BIAS_CORRECTED = {"Adam", "AdamW", "NAdam", "RAdam", "Adamax"}
_QUANTITIES = ("loss", "gradient", "update", "statistics")


class TrainingCheck:
    """Both training checks; call :meth:`add` for each seed, then :meth:`finish`."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        self.steps = comparison.plan.train_steps
        spec = comparison.plan.optimizer
        self.optimizer = {"name": spec.name, "target": spec.target, "settings": dict(spec.settings)}
        self.rounding = _rounding_of(comparison.plan.optimizer)
        # quantity -> step -> one error a seed
        self.ours: dict[str, defaultdict[int, list[float]]] = {name: defaultdict(list) for name in _QUANTITIES}
        self.floors: dict[str, defaultdict[int, list[float]]] = {name: defaultdict(list) for name in _QUANTITIES}
        # parameter -> errors of its update, one a seed and step: ours and the floor
        self.single: defaultdict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
        self.ratios: list[float] = []  # free run: largest distance over the limit, one a seed
        self.distances: list[tuple[float, float]] = []  # free run: MindSpore's and the twin's, relative, one a seed

    def ask(self, prepared: Prepared) -> None:
        """Train one seed's network in PyTorch alone."""
        self._start(prepared)
        for step in range(self.steps):
            batch, loss = self.comparison.batch(prepared, "train", step)
            self._ask_step(prepared, step, batch, loss)
            self.comparison.torch.call("step", slot="free twin", batch=batch, loss=loss)
            Path(batch).unlink(missing_ok=True)

    def _start(self, prepared: Prepared) -> None:
        torch, path = self.comparison.torch, self.comparison.path
        torch.call("start_training", optimizer=self.optimizer["name"], settings=self.optimizer["settings"])
        torch.call("copy_slot", source="float32", target="free twin", perturb=1000 + prepared.seed)
        torch.call("export", slot="float32", path=str(path("start")))

    def add(self, prepared: Prepared) -> None:
        """Train one seed's network on both sides."""
        if self.comparison.random_training:
            return
        torch, path = self.comparison.torch, self.comparison.path
        self._start(prepared)
        batches = []
        curve, twin = [], []
        for step in range(self.steps):
            batch, loss = self.comparison.batch(prepared, "train", step)
            batches.append(batch)
            curve.append(self._step(prepared, step, batch, loss))
            twin.append(torch.call("step", slot="free twin", batch=batch, loss=loss)["loss"])
        reply = self.comparison.mindspore.call(
            "free_run", state=str(path("start")), batches=batches, loss=loss, optimizer=self.optimizer
        )
        self._free_run(curve, twin, reply["losses"])
        for batch in batches:
            Path(batch).unlink(missing_ok=True)

    def _ask_step(self, prepared: Prepared, step: int, batch: str, loss: str) -> dict[str, float]:
        """Make one step in PyTorch, in float32 and in the copy it is measured by; return the losses by slot."""
        torch, path = self.comparison.torch, self.comparison.path
        torch.call("export", slot="float32", path=str(path("before")))
        # the other torch copies start where the float32 network stands, optimizer state included
        other = prepared.reference if prepared.reference != "float32" else prepared.floor
        perturb = 2000 + step if other == "twin" else 0
        torch.call("copy_slot", source="float32", target=other, perturb=perturb)
        request = {"batch": batch, "loss": loss}
        losses = {}
        for slot in (other, "float32"):
            losses[slot] = torch.call("step", slot=slot, path=str(path(f"step-{slot}")), **request)["loss"]
        return losses

    def _step(self, prepared: Prepared, step: int, batch: str, loss: str) -> float:
        """Make one step on every side from PyTorch's state before it; return PyTorch's loss."""
        path = self.comparison.path
        losses = self._ask_step(prepared, step, batch, loss)
        request = {"batch": batch, "loss": loss}
        reply = self.comparison.mindspore.call(
            "step", state=str(path("before")), path=str(path("step-mindspore")), **request, optimizer=self.optimizer
        )
        names = {"ours": "mindspore", "reference": prepared.reference, "floor": prepared.floor}
        changes = {role: self._changes(f"step-{slot}") for role, slot in names.items()}
        self._note(
            "loss",
            step,
            relative(reply["loss"], losses[prepared.reference]),
            relative(losses[prepared.floor], losses[prepared.reference]),
        )
        for quantity in _QUANTITIES[1:]:
            reference = changes["reference"][quantity]
            if reference:
                own = {name: array for name, array in changes["ours"][quantity].items() if name in reference}
                missing = norm_error(own, reference)
                self._note(quantity, step, missing, norm_error(changes["floor"][quantity], reference))
        reference = changes["reference"]["update"]
        own_errors, floor_errors = (norm_errors(changes[role]["update"], reference) for role in ("ours", "floor"))
        for name in reference:
            self.single[name][0].append(own_errors[name])
            self.single[name][1].append(floor_errors[name])
        return float(losses["float32"])

    def _changes(self, name: str) -> dict[str, Arrays]:
        """Return gradients, and how parameters and statistics have moved in the step."""
        arrays = self.comparison.load(name)
        return {
            "gradient": select(arrays, "gradient"),
            "update": select(arrays, "update"),
            "statistics": floating(select(arrays, "statistic")),
        }

    def _note(self, quantity: str, step: int, ours: float, floor: float) -> None:
        self.ours[quantity][step].append(ours)
        self.floors[quantity][step].append(floor)

    def _free_run(self, curve: Sequence[float], twin: Sequence[float], ours: Sequence[float]) -> None:
        """Hold the distance of the loss curves against the twin's: its largest so far, since curves part for good."""
        ratio, own, other = free_run_ratio(curve, twin, ours, self.rounding)
        self.ratios.append(ratio)
        self.distances.append((own, other))
        if "PyTorch" not in self.comparison.curves:
            self.comparison.curves.update(PyTorch=list(curve), twin=list(twin), MindSpore=list(ours))

    def finish(self) -> None:
        """Add one figure a quantity (the step that comes closest to its limit) and the free run's."""
        if not self.distances:
            return
        for quantity in _QUANTITIES:
            if self.ours[quantity]:
                self.comparison.figures.append(self._worst(quantity))
        if self.single:
            self.comparison.figures.append(self._worst_parameter())
        ratio = median(self.ratios)
        own, other = (median(column) for column in zip(*self.distances, strict=True))
        note = f"floor: PyTorch's perturbed twin; limit: {_TWIN_FACTOR:.0f} times"
        self.comparison.figures.append(
            Figure(f"training, {self.steps} steps in free run", "loss", own, other, own / ratio if ratio else MINIMUM,
                   ratio <= 1, note)
        )  # fmt: skip

    def _worst(self, quantity: str) -> Figure:
        group = f"training, {self.steps} steps one by one"
        floors: dict[int, Any] = dict(self.floors[quantity])
        if quantity == "loss":
            # the error of one number can be 0 by luck: its floor is the largest of all steps
            seeds = [max(column) for column in zip(*floors.values(), strict=True)]
            floors = dict.fromkeys(floors, seeds)
        minimum = max(MINIMUM, self.rounding) if quantity == "update" else MINIMUM
        figures = [
            judge(group, quantity, errors, floors[step], minimum=minimum, note=f"worst step: {step + 1}")
            for step, errors in self.ours[quantity].items()
        ]
        return max(figures, key=lambda figure: figure.ours / figure.limit)

    def _worst_parameter(self) -> Figure:
        """Return the update of the one parameter that comes closest to its limit, by the median of seeds and steps.

        All together can hide an error of a few parameters behind others whose gradients are only rounding.
        """
        figures = [
            judge_single(
                f"training, {self.steps} steps one by one",
                "update, worst single parameter",
                ours,
                floors,
                minimum=max(MINIMUM, self.rounding),
                note=name,
            )
            for name, (ours, floors) in self.single.items()
        ]
        return max(figures, key=lambda figure: figure.ours / figure.limit)


def free_run_ratio(
    curve: Sequence[float], twin: Sequence[float], ours: Sequence[float], rounding: float = 0.0
) -> tuple[float, float, float]:
    """Return how far ``ours`` is from ``curve`` over what is allowed, and the largest relative distances of both.

    Allowed is ten times the largest distance of the twin so far, since curves part for good; ``rounding`` is a share
    of what training has moved the loss.
    """
    widest = ratio = own = other = 0.0
    for step, (wanted, perturbed, found) in enumerate(zip(curve, twin, ours, strict=True)):
        widest = max(widest, abs(perturbed - wanted))
        # an update that is off by a share moves the loss by that share of what training has moved it
        moved = max(curve[: step + 1]) - min(curve[: step + 1])
        limit = max(_TWIN_FACTOR * widest, MINIMUM * abs(wanted)) + rounding * moved
        distance = abs(found - wanted)
        ratio = max(ratio, distance / limit if distance == distance else float("inf"))
        own = max(own, relative(found, wanted))
        other = max(other, relative(perturbed, wanted))
    return ratio, own, other


def _rounding_of(optimizer: OptimizerSpec) -> float:
    """Return the share of an update that MindSpore's float32 bias correction may cost; 0 where there is none."""
    if optimizer.name not in _BIAS_CORRECTED:
        return 0.0
    betas = optimizer.settings.get("betas", (0.9, 0.999))
    return float(_HALF_UNIT / (1 - max(betas)))
