"""Compare what the networks return in eval mode, place by place."""

from __future__ import annotations

from collections import defaultdict

from torch2ms.verify.comparison import Comparison, Prepared
from torch2ms.verify.figures import Figure, judge, largest_error
from torch2ms.verify.process import Answers

__all__ = ["RANDOM", "OutputCheck"]

RANDOM = "the network draws random numbers in eval mode: its results cannot be compared"
_Errors = defaultdict[str, list[float]]


class OutputCheck:
    """The check of one execution mode: :meth:`add` for each seed, then :meth:`finish`.

    One figure for each place of the results: ``output``, ``output[0]``, ``output['logits']``, ...
    """

    def __init__(self, comparison: Comparison, group: str) -> None:
        self.comparison = comparison
        self.group = group
        self.ours: _Errors = defaultdict(list)
        self.floors: _Errors = defaultdict(list)
        self.direct: _Errors = defaultdict(list)

    def ask(self, prepared: Prepared) -> tuple[str, dict[str, str]]:
        """Run one seed in PyTorch; return the batch, and the names of the results by slot.

        They stay on disk, so that a second mode finds them.
        """
        path = self.comparison.path
        names = {slot: f"outputs-{slot}-{prepared.seed}" for slot in (prepared.reference, prepared.floor, "float32")}
        batch = self.comparison.inputs(prepared)
        for slot, name in names.items():
            if not path(name).exists():
                reply = self.comparison.torch.call("outputs", slot=slot, batch=batch, path=str(path(name)))
                if reply["random"] and RANDOM not in self.comparison.problems:
                    self.comparison.problems.append(RANDOM)
        return batch, names

    def add(self, prepared: Prepared, worker: Answers) -> None:
        """Run one seed on both sides."""
        path = self.comparison.path
        batch, names = self.ask(prepared)
        worker.call("outputs", state=str(prepared.state), batch=batch, path=str(path("outputs-mindspore")))
        torch = {slot: self.comparison.load(name) for slot, name in names.items()}
        found = self.comparison.load("outputs-mindspore")
        reference = torch[prepared.reference]
        if set(found) != set(reference):
            self.comparison.problems.append(
                f"{self.group}: PyTorch returns {', '.join(sorted(reference)) or 'nothing'}; "
                f"MindSpore returns {', '.join(sorted(found)) or 'nothing'}"
            )
            return
        for place, wanted in reference.items():
            self.ours[place].append(largest_error(found[place], wanted))
            self.floors[place].append(largest_error(torch[prepared.floor][place], wanted))
            self.direct[place].append(largest_error(found[place], torch["float32"][place]))

    def finish(self) -> None:
        """Add the figures."""
        for place, errors in self.ours.items():
            self.comparison.figures.append(judge(self.group, place, errors, self.floors[place]))
            if self.comparison.plan.tolerance is not None:
                self.comparison.figures.append(self._difference(place, self.comparison.plan.tolerance))

    def _difference(self, place: str, tolerance: float) -> Figure:
        """Return the figure that a user's own tolerance asks for: the difference from PyTorch in float32."""
        worst = max(self.direct[place])
        floor = float("nan")
        return Figure(self.group, f"{place}, from PyTorch", worst, floor, tolerance, worst <= tolerance, "worst seed")
