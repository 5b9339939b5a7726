"""The result of a verification, as an object, a table and JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from torch2ms.verify.figures import Figure

__all__ = ["SCHEMA", "Departure", "LayerFigure", "VerifyReport"]

SCHEMA = 1
_DEPARTURES = 3  # shown as text; JSON has all of them
_ROWS = 20


@dataclass(frozen=True, slots=True)
class LayerFigure:
    """The errors of one call of a layer: in the whole run (``chain``), and its own, repeated with PyTorch's inputs."""

    mode: str
    call: int
    layer: str
    type: str
    depth: int
    chain: float
    chain_floor: float
    own: float
    floor: float
    limit: float
    verdict: str  # ok | departs | echo | not compared
    note: str = ""


@dataclass(frozen=True, slots=True)
class Departure:
    """One layer whose own code departs; places are ``file:line``, rows are names for ``torch2ms explain``."""

    layer: str  # path; "" is the network itself
    type: str
    mode: str
    what: str
    error: float
    floor: float
    limit: float
    source: str
    output: str
    rows: tuple[str, ...]
    proof: str
    details: tuple[str, ...]
    advice: str

    def lines(self) -> Iterator[str]:
        """Yield the text of a report."""
        amount = (
            "" if math.isinf(self.error) else f": {self.error:.1e} (PyTorch {self.floor:.1e}, limit {self.limit:.1e})"
        )
        yield f"departs: {self.layer or 'the network itself'} ({self.type}), {self.mode} mode, {self.what}{amount}"
        yield f"  PyTorch {self.source or '-'}, MindSpore {self.output or '-'}"
        if self.rows:
            yield f"  torch2ms explain {' '.join(self.rows)}" + (f"    {self.proof}" if self.proof else "")
        yield from (f"  {detail}" for detail in self.details)
        if self.advice:
            yield f"  {self.advice}"


@dataclass(frozen=True, slots=True, repr=False)
class VerifyReport:
    """Every figure of a verification; ``problems`` name what could not be compared and count as failures."""

    entry: str
    figures: tuple[Figure, ...]
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)  # versions, seeds, inputs, where the floor comes from
    curves: dict[str, list[float]] = field(default_factory=dict)  # loss of each step: pytorch, twin, mindspore
    layers: tuple[LayerFigure, ...] = ()  # each call of a layer, in order; empty where nothing departs
    departures: tuple[Departure, ...] = ()  # the layers whose own code departs, the first one first
    settings: tuple[str, ...] = ()  # settings and tensors of layers that differ

    @property
    def passed(self) -> bool:
        """Whether something was compared, nothing is left over, and every figure holds."""
        whole = bool(self.figures) and not self.problems and not self.departures
        return whole and all(figure.passed for figure in self.figures)

    def __bool__(self) -> bool:
        """Whether the two agree: ``assert compare(...)``."""
        return self.passed

    def __repr__(self) -> str:
        """Return the text, which pytest shows where an assertion fails."""
        return self.to_text()

    def to_json(self) -> dict[str, Any]:
        """Return plain data for ``json.dumps``; figures that are no number are null."""
        return {
            "schema": SCHEMA,
            "entry": self.entry,
            "passed": self.passed,
            "figures": [_plain(figure) for figure in self.figures],
            "problems": list(self.problems),
            "notes": list(self.notes),
            "facts": self.facts,
            "curves": self.curves,
            "departures": [_plain(departure) for departure in self.departures],
            "layers": [_plain(layer) for layer in self.layers],
            "settings": list(self.settings),
        }

    def rows(self) -> list[tuple[str, str, str, str, str]]:
        """Return the table's rows: what, MindSpore's error, PyTorch's own error, the limit, the verdict."""
        return [
            (
                f"{figure.group}: {figure.name}" + (f" ({figure.note})" if figure.note else ""),
                _number(figure.ours),
                _number(figure.floor),
                _number(figure.limit),
                "ok" if figure.passed else "FAILED",
            )
            for figure in self.figures
        ]

    def to_text(self) -> str:
        """Return the table as plain text, with the problems under it and the verdict in the last line."""
        rows = [("check", "MindSpore", "floor", "limit", ""), *self.rows()]
        widths = [max(len(row[column]) for row in rows) for column in range(5)]
        lines = ["  ".join(_aligned(row, widths)).rstrip() for row in rows]
        lines.insert(1, "-" * len(lines[0]))
        lines += [f"note: {note}" for note in self.notes]
        lines += [f"problem: {problem}" for problem in self.problems]
        failed = sum(not figure.passed for figure in self.figures)
        lines += self._layer_lines()
        if self.passed:
            lines.append(f"{len(self.figures)} figures, all within their limits")
        else:
            lines.append(f"FAILED: {failed} of {len(self.figures)} figures, {len(self.problems)} problems")
            if self.departures:
                first = self.departures[0]
                lines.append(f"first layer that departs: {first.layer or 'the network itself'} ({first.output})")
        return "\n".join(lines)

    def _layer_lines(self) -> list[str]:
        """Return the table of error against depth, shortened to what departs and its neighbours, and the departures."""
        lines: list[str] = []
        for mode in dict.fromkeys(layer.mode for layer in self.layers):
            own = [layer for layer in self.layers if layer.mode == mode]
            rows = [("layer", "whole run", "floor", "alone", "limit", ""), *map(_layer_row, _shown(own))]
            widths = [max(len(row[column]) for row in rows) for column in range(6)]
            lines += ["", f"layers in {mode} mode, {len(own)} calls"]
            lines += ["  ".join(_aligned(row, widths)).rstrip() for row in rows]
        lines += [f"differs: {text}" for text in self.settings]
        for departure in self.departures[:_DEPARTURES]:
            lines += ["", *departure.lines()]
        rest = len(self.departures) - _DEPARTURES
        return [*lines, *([f"and {rest} more"] if rest > 0 else []), *([""] if lines else [])]


def _plain(value: Any) -> dict[str, Any]:
    """Return a dataclass as plain data; numbers that are none are null."""
    items = asdict(value).items()
    return {k: (None if isinstance(v, float) and not math.isfinite(v) else v) for k, v in items}


def _shown(layers: Sequence[LayerFigure]) -> list[LayerFigure]:
    """Return the calls to show: around those that depart, and some at equal distances."""
    departing = [number for number, layer in enumerate(layers) if layer.verdict == "departs"][:_DEPARTURES]
    near = {number + step for number in departing for step in (-2, -1, 0, 1, 2)}
    stride = max(1, len(layers) // _ROWS)
    return [layer for number, layer in enumerate(layers) if number in near or number % stride == 0]


def _layer_row(layer: LayerFigure) -> tuple[str, ...]:
    name = "  " * min(layer.depth, 4) + (layer.layer.rpartition(".")[2] or "the network itself")
    numbers = (_number(value) for value in (layer.chain, layer.chain_floor, layer.own, layer.limit))
    return (f"{name} ({layer.type.rpartition('.')[2]})", *numbers, "" if layer.verdict == "ok" else layer.verdict)


def _aligned(row: tuple[str, ...], widths: list[int]) -> list[str]:
    return [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]


def _number(value: float) -> str:
    if not math.isfinite(value):
        return "-" if math.isnan(value) else "inf"
    return f"{value:.1e}" if value else "0"
