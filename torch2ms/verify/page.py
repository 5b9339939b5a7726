"""The result of a verification as one HTML page: figures, curves of the losses, errors against the depth of layers.

The page needs no network and has no script; a content security policy with the hash of its style forbids all else.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from torch2ms.reports.escape import printable
from torch2ms.verify.report import LayerFigure, VerifyReport

__all__ = ["to_html"]

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 720.0, 220.0, 56.0, 24.0
_SMALLEST = 1e-9  # what a logarithmic axis shows of a zero
_TICKS = 5


@dataclass(frozen=True, slots=True)
class _Line:
    """A curve of a plot: its name, the class of its colour, and the points as SVG writes them."""

    name: str
    style: str
    points: str


@dataclass(frozen=True, slots=True)
class _Mark:
    """A point that is named: where a layer departs."""

    x: float
    y: float
    name: str


@dataclass(frozen=True, slots=True)
class _Plot:
    """A picture with its axes; places are in the units of the view box."""

    title: str
    below: str  # what the horizontal axis counts
    lines: tuple[_Line, ...]
    ticks: tuple[tuple[float, str], ...]  # (place, number) of the vertical axis
    last: int  # number of points
    marks: tuple[_Mark, ...] = ()


def to_html(report: VerifyReport) -> str:
    """Return the page of a report."""
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["printable"] = printable
    folder = resources.files("torch2ms") / "templates"
    style = "\n".join((folder / name).read_text(encoding="utf-8").strip("\n") for name in ("report.css", "verify.css"))
    template = environment.from_string((folder / "verify.html.j2").read_text(encoding="utf-8"))
    digest = base64.b64encode(hashlib.sha256(style.encode("utf-8")).digest()).decode("ascii")
    page: str = template.render(
        report=report,
        rows=[(*row, figure.passed) for row, figure in zip(report.rows(), report.figures, strict=True)],
        failed=sum(not figure.passed for figure in report.figures),
        plots=_plots(report),
        layers=[(layer, [_short(value) for value in _numbers(layer)]) for layer in report.layers],
        departures=[list(departure.lines()) for departure in report.departures],
        facts=[(name, _text(value)) for name, value in report.facts.items()],
        style=Markup(style),  # our own files, not the user's text
        style_hash=f"sha256-{digest}",
        size=(_WIDTH, _HEIGHT, _LEFT, _BOTTOM),
    )
    return page


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _numbers(layer: LayerFigure) -> tuple[float, ...]:
    return layer.chain, layer.chain_floor, layer.own, layer.limit


def _short(value: float) -> str:
    return "-" if math.isnan(value) else "inf" if math.isinf(value) else f"{value:.1e}" if value else "0"


def _plots(report: VerifyReport) -> list[_Plot]:
    plots = []
    styles = ("torch", "twin", "ours")
    if report.curves:
        curves = [(name, style, values) for (name, values), style in zip(report.curves.items(), styles, strict=False)]
        plots.append(_plot("Loss of each step, first seed", "step", curves))
    for mode in dict.fromkeys(layer.mode for layer in report.layers):
        layers = _innermost([layer for layer in report.layers if layer.mode == mode])
        curves = [
            ("PyTorch in float32", "twin", [max(layer.chain_floor, _SMALLEST) for layer in layers]),
            ("MindSpore", "ours", [max(layer.chain, _SMALLEST) for layer in layers]),
        ]
        departs = {number: layer.layer or "the network itself" for number, layer in enumerate(layers)
                   if layer.verdict == "departs"}  # fmt: skip
        title = f"Error of each innermost layer in the whole run, {mode} mode"
        plots.append(_plot(title, "call of a layer, in order", curves, departs, is_log=True))
    return plots


def _innermost(layers: Sequence[LayerFigure]) -> list[LayerFigure]:
    """Return the calls that make no others, and those that depart: what holds others comes first, yet ends last."""
    behind = [*(layer.depth for layer in layers[1:]), 0]
    return [own for own, depth in zip(layers, behind, strict=True) if depth <= own.depth or own.verdict == "departs"]


def _plot(
    title: str,
    below: str,
    curves: Sequence[tuple[str, str, Sequence[float]]],
    marked: dict[int, str] | None = None,
    *,
    is_log: bool = False,
) -> _Plot:
    """Return the picture of curves of one length; ``marked`` names points of the last one."""
    scaled = [[math.log10(v) if is_log and v > 0 else v for v in values] for _, _, values in curves]
    finite = [value for values in scaled for value in values if math.isfinite(value)] or [0.0]
    low, high = (math.floor(min(finite)), math.ceil(max(finite))) if is_log else (min(finite), max(finite))
    if high == low:
        low, high = low - 0.5, high + 0.5
    last = max(len(values) for values in scaled)

    def place(number: int, value: float) -> tuple[float, float]:
        x = _LEFT + (_WIDTH - _LEFT - 8) * (number / max(last - 1, 1))
        return round(x, 1), round(8 + (_HEIGHT - _BOTTOM - 8) * (high - value) / (high - low), 1)

    lines = []
    for (name, style, _), values in zip(curves, scaled, strict=True):
        points = [place(number, value) for number, value in enumerate(values) if math.isfinite(value)]
        lines.append(_Line(name, style, " ".join(f"{x},{y}" for x, y in points)))
    step = max(1, round((high - low) / _TICKS)) if is_log else (high - low) / _TICKS
    places = [low + step * number for number in range(int((high - low) / step + 1.001))]
    ticks = tuple((place(0, value)[1], f"1e{value:.0f}" if is_log else f"{value:.3g}") for value in places)
    shown = scaled[-1] if scaled else []
    marks = tuple(
        _Mark(*place(number, shown[number] if math.isfinite(shown[number]) else high), name)
        for number, name in (marked or {}).items()
    )
    return _Plot(title, below, tuple(lines), ticks, last, marks)
