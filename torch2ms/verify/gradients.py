"""Compare loss, gradients, statistics and dropout rates of one pass, in eval mode and in train mode."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from torch2ms.verify.comparison import Arrays, Comparison, Prepared, floating, select
from torch2ms.verify.figures import (
    MANY,
    PARAMETER_FACTOR,
    Figure,
    judge,
    judge_many,
    judge_single,
    norm_error,
    norm_errors,
)

__all__ = ["GradientCheck", "relative"]

_RATE_TOLERANCE = 0.01  # five standard deviations of the share that is measured on 65536 ones


@dataclass(slots=True)
class _Samples:
    """Errors of ours and of the floor, one a seed, by name."""

    ours: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    floors: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, name: str, ours: float, floor: float) -> None:
        self.ours[name].append(ours)
        self.floors[name].append(floor)

    def add_arrays(self, kind: str, ours: Arrays, floor: Arrays, reference: Arrays) -> None:
        """Add the error of all arrays together under ``kind``, and of each alone under ``kind:name``."""
        if not reference and not ours:
            return
        self.add(kind, norm_error(ours, reference), norm_error(floor, reference))
        own, floors = norm_errors(ours, reference), norm_errors(floor, reference)
        for name, error in own.items():
            self.add(f"{kind}:{name}", error, floors.get(name, 0.0))


class GradientCheck:
    """The check of one mode; call :meth:`add` for each seed, then :meth:`finish`."""

    def __init__(self, comparison: Comparison, *, train: bool) -> None:
        self.comparison = comparison
        self.train = train
        self.mode = "train" if train else "eval"
        self.group = f"gradients, {self.mode} mode" + (" without dropout" if train else "")
        self.samples = _Samples()
        self.rates: tuple[list[float], list[float]] = ([], [])

    def ask(self, prepared: Prepared) -> tuple[dict[str, Any], dict[str, dict[str, Any]]] | None:
        """Run one seed in PyTorch; return the request and its replies by role, None where it draws at random."""
        batch, loss = self.comparison.batch(prepared, self.mode)
        request = {"batch": batch, "train": self.train, "loss": loss}
        replies = {}
        for name, slot in (("reference", prepared.reference), ("floor", prepared.floor)):
            path = self.comparison.path(f"gradients-{name}")
            replies[name] = self.comparison.torch.call("gradients", slot=slot, path=str(path), **request)
            if replies[name]["random"] and self.train:
                self.skip()
                return None
        return request, replies

    def add(self, prepared: Prepared) -> None:
        """Run one seed on both sides."""
        asked = self.ask(prepared)
        if asked is None:
            return
        request, replies = asked
        losses: dict[str, float] = {name: reply["loss"] for name, reply in replies.items()}
        arrays: dict[str, Arrays] = {name: self.comparison.load(f"gradients-{name}") for name in replies}
        if not all(np.isfinite(array).all() for array in floating(select(arrays["reference"], "gradient")).values()):
            problem = f"PyTorch's own {self.group} are no finite numbers with these inputs: nothing to compare with"
            if problem not in self.comparison.problems:
                self.comparison.problems.append(problem)
            return
        expected = replies["floor"]["dropout"]
        path = self.comparison.path("gradients-mindspore")
        reply = self.comparison.mindspore.call("gradients", state=str(prepared.state), path=str(path), **request)
        losses["ours"], arrays["ours"] = reply["loss"], self.comparison.load("gradients-mindspore")
        self.rates = (expected, reply["dropout"])
        self.samples.add(
            "loss", relative(losses["ours"], losses["reference"]), relative(losses["floor"], losses["reference"])
        )
        for kind in ("gradient", "statistic") if self.train else ("gradient",):
            own, floor, reference = (floating(select(arrays[name], kind)) for name in ("ours", "floor", "reference"))
            # a shared parameter has a gradient under each of its names; PyTorch lists the first
            own = {name: array for name, array in own.items() if name in reference}
            self.samples.add_arrays(kind, own, floor, reference)

    def skip(self) -> None:
        """Give the mode up: what is drawn at random in each pass cannot be equal on both sides."""
        note = "the network draws random numbers in train mode: train mode and training are not compared"
        self.comparison.random_training = True
        if note not in self.comparison.notes:
            self.comparison.notes.append(note)

    def finish(self) -> None:
        """Add the figures."""
        self.comparison.figures += self.figures()

    def figures(self) -> list[Figure]:
        """Return the figures of the seeds so far: all parameters together, the worst single one, and so on."""
        figures: list[Figure] = []
        for kind, together, alone in (
            ("loss", "loss", ""),
            ("gradient", "all parameters together", "worst single parameter"),
            ("statistic", "statistics of the normalizations", "worst single statistic"),
        ):
            if kind not in self.samples.ours:
                continue
            ours, floors = self.samples.ours[kind], self.samples.floors[kind]
            figures.append((judge_many if len(ours) >= MANY else judge)(self.group, together, ours, floors))
            worst = self._worst(kind, alone)
            if worst is not None:
                figures.append(worst)
        if self.train and any(self.rates):
            figures.append(self._dropout())
        return figures

    def _worst(self, kind: str, title: str) -> Figure | None:
        """Return the figure of the one array that comes closest to its limit, or passes it the furthest."""
        figures = [self._single(title, name) for name in self.samples.ours if name.startswith(f"{kind}:")]
        return max(figures, key=lambda figure: (not figure.passed, figure.ours / figure.limit), default=None)

    def _single(self, title: str, name: str) -> Figure:
        """Return the figure of one array."""
        ours, floors, note = self.samples.ours[name], self.samples.floors[name], name.partition(":")[2]
        if len(ours) >= MANY:
            return judge_many(self.group, title, ours, floors, factor=PARAMETER_FACTOR, note=note)
        return judge_single(self.group, title, ours, floors, note=note)

    def _dropout(self) -> Figure:
        """Compare the rates of all dropout calls, in order: MindSpore's are measured, PyTorch's are its settings.

        Calls with a rate of 0 do nothing, and are not made by every layer.
        """
        expected, found = ([rate for rate in rates if rate] for rates in self.rates)
        if len(expected) != len(found):
            note = f"PyTorch calls it {len(expected)} times, MindSpore {len(found)} times"
            return Figure(self.group, "dropout rates", float("inf"), 0.0, _RATE_TOLERANCE, False, note)
        worst = max((abs(a - b) for a, b in zip(expected, found, strict=True)), default=0.0)
        return Figure(
            self.group, "dropout rates", worst, 0.0, _RATE_TOLERANCE, worst <= _RATE_TOLERANCE, f"{len(found)} calls"
        )


def relative(found: float, reference: float) -> float:
    """Return the relative difference of two numbers."""
    if found == reference:
        return 0.0
    return abs(found - reference) / abs(reference) if reference else float("inf")


def check_trainable(comparison: Comparison, torch_names: Sequence[str], reply: Mapping[str, object]) -> None:
    """Name the parameters that only one side trains."""
    ours = reply["trainable"]
    if not isinstance(ours, list):
        return
    for name in sorted(set(torch_names) - set(ours)):
        comparison.problems.append(f"{name}: PyTorch trains it, MindSpore does not")
    for name in sorted(set(ours) - set(torch_names)):
        comparison.problems.append(f"{name}: MindSpore trains it, PyTorch does not")
