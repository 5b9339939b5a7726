"""Errors, floors and limits: the arithmetic of docs/parity.md. NumPy only."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "FACTOR",
    "MANY",
    "MINIMUM",
    "PARAMETER_FACTOR",
    "Figure",
    "judge",
    "judge_many",
    "judge_single",
    "largest_error",
    "norm_error",
    "norm_errors",
]

FACTOR = 4.0  # ours may be this many times the floor ...
PARAMETER_FACTOR = 10.0  # ... and this many times for one parameter alone
MINIMUM = 1e-6  # ... but an error below this always passes
MANY = 9  # seeds that are needed to tell how often a kink is crossed
_EPSILON = 2.0**-24  # half a unit in the last place of float32, relative

Array = NDArray[Any]
Arrays = Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure: MindSpore's error, PyTorch's own (the floor), the limit, and whether it holds."""

    group: str  # outputs, gradients, training, ...
    name: str
    ours: float
    floor: float
    limit: float
    passed: bool
    note: str = ""


def judge(
    group: str,
    name: str,
    ours: Sequence[float],
    floors: Sequence[float],
    *,
    factor: float = FACTOR,
    minimum: float = MINIMUM,
    note: str = "",
) -> Figure:
    """Return the figure of several seeds: the median of ours against ``factor`` times the median floor.

    An error that is no number never passes.
    """
    own, floor = median(ours), median(floors)
    limit = max(factor * floor, minimum) if math.isfinite(floor) else minimum
    return Figure(group, name, own, floor, limit, bool(own <= limit), note)


def judge_single(
    group: str, name: str, ours: Sequence[float], floors: Sequence[float], *, minimum: float = MINIMUM, note: str = ""
) -> Figure:
    """Return the figure of one parameter alone: the median of ours against 10 times the floor.

    The floor is the root mean square here: a ReLU that flips in one of three seeds is PyTorch's own error too, and a
    single parameter has few others beside it that would hide which seeds were lucky.
    """
    finite = [value for value in floors if math.isfinite(value)]
    floor = math.sqrt(sum(value * value for value in finite) / len(finite)) if finite else math.inf
    return judge(group, name, ours, [floor], factor=PARAMETER_FACTOR, minimum=minimum, note=note)


def judge_many(
    group: str, name: str, ours: Sequence[float], floors: Sequence[float], *, factor: float = FACTOR, note: str = ""
) -> Figure:
    """Return the figure of many seeds: the median of ours against the limit, less the seeds where PyTorch is beyond it.

    The median of ours is beyond the limit where more than half of its errors are. A ReLU that flips is beyond it in
    PyTorch too, in other seeds and as often; so many of ours are taken off before the rest is held against the half.
    An error of the translation is there in every seed, and PyTorch is beyond the limit, ``factor`` times its own
    median, in less than half of them: what is wrong in each seed is always found.
    """
    figure = judge(group, name, ours, floors, factor=factor, note=note)
    beyond = sum(not value <= figure.limit for value in ours)
    torch = sum(math.isfinite(value) and value > figure.limit for value in floors)
    if figure.passed:
        return figure
    counts = f"{beyond} of {len(ours)} seeds beyond it, PyTorch {torch}"
    passed = 2 * (beyond - torch) <= len(ours)
    return replace(figure, passed=passed, note=f"{note}: {counts}" if note else counts)


def median(values: Sequence[float]) -> float:
    """Return the median; one that is no number counts as infinite."""
    return statistics.median(value if not math.isnan(value) else math.inf for value in values)


def largest_error(found: Array, reference: Array) -> float:
    """Return the largest difference over the largest magnitude of the reference.

    0 where both are empty or equal; infinite where the shapes differ or a value is missing (nan) on one side only.
    """
    if found.shape != reference.shape:
        return math.inf
    found, reference = found.astype(np.float64), reference.astype(np.float64)
    same = (found == reference) | (np.isnan(found) & np.isnan(reference))
    if bool(same.all()):
        return 0.0
    with np.errstate(invalid="ignore"):  # equal infinities, whose difference is none
        difference = float(np.max(np.abs(np.where(same, 0.0, found - reference))))
    scale = float(np.max(np.abs(np.where(np.isfinite(reference), reference, 0.0))))
    error = difference / scale if scale else math.inf
    return math.inf if math.isnan(error) else error


def norm_error(found: Arrays, reference: Arrays) -> float:
    """Return the norm of the difference over the norm of the reference, all arrays taken together."""
    return _combine(_squares(found, reference))


def norm_errors(found: Arrays, reference: Arrays) -> dict[str, float]:
    """Return the error by norm of each array alone.

    An array whose own norm is below float32's resolution of the whole (a bias in front of a normalization, whose true
    gradient is 0) is held against that resolution: there is nothing but rounding in it.
    """
    squares = _squares(found, reference)
    whole = math.sqrt(sum(total for _, total in squares.values()))
    return {
        name: _ratio(math.sqrt(difference), max(math.sqrt(total), _EPSILON * whole))
        for name, (difference, total) in squares.items()
    }


def _squares(found: Arrays, reference: Arrays) -> dict[str, tuple[float, float]]:
    squares = {}
    for name in {**reference, **found}:
        if name not in found or name not in reference or found[name].shape != reference[name].shape:
            squares[name] = (math.inf, 0.0)
            continue
        wanted = reference[name].astype(np.float64)
        difference = found[name].astype(np.float64) - wanted
        squares[name] = (float(np.vdot(difference, difference)), float(np.vdot(wanted, wanted)))
    return squares


def _combine(squares: Mapping[str, tuple[float, float]]) -> float:
    difference = sum(pair[0] for pair in squares.values())
    total = sum(pair[1] for pair in squares.values())
    return _ratio(math.sqrt(difference) if difference >= 0 else math.nan, math.sqrt(total))


def _ratio(difference: float, scale: float) -> float:
    if difference == 0:
        return 0.0
    return difference / scale if scale else math.inf
