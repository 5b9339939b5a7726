"""Compare what PyTorch and MindSpore made of an example."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Verdict", "judge"]

_DTYPE_NAMES = {"bool_": "bool", "long": "int64", "float": "float32", "double": "float64", "int": "int32"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome: see ``proofs.Proof``."""

    result: str
    detail: str = ""
    difference: float | None = None

    @property
    def failed(self) -> bool:
        """Whether the two sides do not agree."""
        return self.result in ("different", "error")


class _Unequal(Exception):
    """Two results differ; the message says where and how."""


def judge(case: Mapping[str, Any], expected: Mapping[str, Any], found: Mapping[str, Any]) -> Verdict:
    """Return the verdict on one example from both sides' answers."""
    if case["raises"]:
        return _judge_raising(case, expected, found)
    for side, answer in (("torch", expected), ("mindspore", found)):
        if "error" in answer:
            return Verdict("error", f"{side}: {answer['error']}")
    reference, ours = expected["ok"], found["ok"]
    if case["names"] and ours.get("problems"):
        return Verdict("different", "state: " + "; ".join(ours["problems"][:4]))
    if case["compare"] == "none":
        return Verdict("ran")
    try:
        worst = _compare(reference["value"], ours["value"], case, "value")
        if "graph" in ours:
            worst = max(worst, _compare(reference["value"], ours["graph"], case, "in graph mode"))
        if case["grad"]:
            worst = max(worst, _compare_gradients(reference["gradients"], ours["gradients"], case))
    except _Unequal as error:
        return Verdict("different", str(error))
    if case["compare"] != "value":
        return Verdict(f"same {case['compare']}")
    if not any(True for _ in _leaves(reference["value"])):
        return Verdict("ran", "the value is an object that cannot be compared")
    return Verdict("equal", difference=worst)


def _judge_raising(case: Mapping[str, Any], expected: Mapping[str, Any], found: Mapping[str, Any]) -> Verdict:
    if expected.get("type") != case["raises"]:
        return Verdict("different", f"torch: expected {case['raises']}, got {expected.get('error', 'a result')}")
    if "error" not in found or found["type"] == "Crash":
        return Verdict("different", f"mindspore: expected an exception, got {found.get('error', 'a result')}")
    return Verdict("both raise")


def _leaves(value: Any) -> Iterator[Any]:
    """Give the parts of a plain value that can be compared."""
    if value[0] == "sequence":
        for item in value[1]:
            yield from _leaves(item)
    elif value[0] == "dict":
        for item in value[1].values():
            yield from _leaves(item)
    elif value[0] != "object":
        yield value


def _compare(a: Any, b: Any, case: Mapping[str, Any], where: str) -> float:
    """Return the largest relative difference; raises _Unequal when it is too large or the structure differs."""
    if a[0] in ("tensor", "array") and b[0] in ("tensor", "array"):
        return _compare_arrays(a, b, case, where)
    if a[0] != b[0]:
        raise _Unequal(f"{where}: {_shown(a)} in torch, {_shown(b)} in mindspore")
    if a[0] == "sequence":
        if len(a[1]) != len(b[1]):
            raise _Unequal(f"{where}: {len(a[1])} items in torch, {len(b[1])} in mindspore")
        parts = [_compare(x, y, case, f"{where}[{i}]") for i, (x, y) in enumerate(zip(a[1], b[1], strict=True))]
        return max(parts, default=0.0)
    if a[0] == "dict":
        if set(a[1]) != set(b[1]):
            raise _Unequal(f"{where}: keys {sorted(a[1])} in torch, {sorted(b[1])} in mindspore")
        return max((_compare(x, b[1][key], case, f"{where}[{key!r}]") for key, x in a[1].items()), default=0.0)
    if a[0] == "dtype":
        if _DTYPE_NAMES.get(a[1], a[1]) != _DTYPE_NAMES.get(b[1], b[1]):
            raise _Unequal(f"{where}: dtype {a[1]} in torch, {b[1]} in mindspore")
        return 0.0
    return 0.0 if a[0] == "object" else _compare_scalars(a[1], b[1], case, where)


def _compare_scalars(a: Any, b: Any, case: Mapping[str, Any], where: str) -> float:
    number = (int, float, complex)
    if isinstance(a, number) and isinstance(b, number) and not isinstance(a, bool) and not isinstance(b, bool):
        if case["dtype"] and type(a) is not type(b):
            raise _Unequal(f"{where}: {a!r} in torch, {b!r} in mindspore")
        if case["compare"] != "value" or a == b or (a != a and b != b):
            return 0.0
        difference = abs(a - b) / max(1.0, abs(a))
        if not difference <= case["tolerance"]:
            raise _Unequal(f"{where}: {a!r} in torch, {b!r} in mindspore")
        return float(difference)
    if a != b or type(a) is not type(b):
        raise _Unequal(f"{where}: {a!r} in torch, {b!r} in mindspore")
    return 0.0


def _compare_arrays(a: Any, b: Any, case: Mapping[str, Any], where: str) -> float:
    (_, dtype, x), (_, other, y) = a, b
    dtype, other = _DTYPE_NAMES.get(dtype, dtype), _DTYPE_NAMES.get(other, other)
    if case["dtype"] and dtype != other:
        raise _Unequal(f"{where}: dtype {dtype} in torch, {other} in mindspore")
    if x.shape != y.shape:
        raise _Unequal(f"{where}: shape {x.shape} in torch, {y.shape} in mindspore")
    if case["compare"] == "shape" or not x.size:
        return 0.0
    if case["compare"] == "distribution":
        return _compare_distributions(x, y, where)
    if x.dtype.kind not in "fc":
        wrong = int((x != y).sum()) if x.dtype.kind == y.dtype.kind == "b" else int((x.astype(float) != y).sum())
        if wrong:
            raise _Unequal(
                f"{where}: {wrong} of {x.size} values differ: {_sample(x)} in torch, {_sample(y)} in mindspore"
            )
        return 0.0
    kind = np.complex128 if x.dtype.kind == "c" else np.float64
    wide, ours = x.astype(kind), y.astype(kind)
    unusual = ~np.isfinite(wide)
    same = (np.isnan(wide) & np.isnan(ours)) | (wide == ours)
    if not same[unusual | ~np.isfinite(ours)].all():
        raise _Unequal(f"{where}: infinities or NaN differ: {_sample(x)} in torch, {_sample(y)} in mindspore")
    finite = ~unusual
    if not finite.any():
        return 0.0
    difference = float(np.abs(wide[finite] - ours[finite]).max() / max(1.0, float(np.abs(wide[finite]).max())))
    if not difference <= case["tolerance"]:
        raise _Unequal(f"{where}: differs by {difference:.2g}: {_sample(x)} in torch, {_sample(y)} in mindspore")
    return difference


def _compare_distributions(x: Any, y: Any, where: str) -> float:
    """Raise _Unequal unless mean, standard deviation and distribution function agree as two samples' should."""
    wide, ours = x.astype(np.float64).ravel(), y.astype(np.float64).ravel()
    spread = max(float(wide.std()), float(ours.std()))
    if spread == 0.0:
        if wide[0] != ours[0]:
            raise _Unequal(f"{where}: constant {wide[0]:g} in torch, {ours[0]:g} in mindspore")
        return 0.0
    if wide.size < 1000:
        raise _Unequal(f"{where}: {wide.size} numbers are too few to compare distributions; give 10,000")
    # Six standard errors of a difference of two means.
    limit = 6.0 * float(np.sqrt(2.0 / wide.size))
    if abs(wide.mean() - ours.mean()) > limit * spread:
        raise _Unequal(f"{where}: mean {wide.mean():.4g} in torch, {ours.mean():.4g} in mindspore")
    doubt = 6.0 * float(np.hypot(_doubt_of_deviation(wide), _doubt_of_deviation(ours)))
    if abs(wide.std() - ours.std()) > max(2 * limit * spread, doubt):
        raise _Unequal(f"{where}: standard deviation {wide.std():.4g} in torch, {ours.std():.4g} in mindspore")
    apart = _distribution_distance(np.sort(wide), np.sort(ours), spread)
    # Kolmogorov and Smirnov's bound for two samples of this size at a level of one in a million.
    if apart > 2.7 * float(np.sqrt(2.0 / wide.size)):
        raise _Unequal(f"{where}: the distribution functions are up to {apart:.3g} apart")
    return 0.0


def _doubt_of_deviation(values: Any) -> float:
    """Return the standard error of a sample's standard deviation, which long tails make as large as itself."""
    centred = values - values.mean()
    variance = float(np.mean(centred**2))
    fourth = float(np.mean((centred / np.sqrt(variance)) ** 4)) if variance else 1.0
    return float(np.sqrt(variance * max(fourth - 1.0, 0.0) / (4.0 * values.size)))


def _distribution_distance(a: Any, b: Any, spread: float) -> float:
    """Return the largest vertical distance of two empirical distribution functions, with some slack sideways.

    The slack keeps the rounding of values that occur often (zeros and 1 / (1 - p) of dropout) from counting; it goes
    with the values, for that of a long tail would pass over all the others. Numbers below the smallest normal one count
    as zeros: MindSpore's kernels flush them.
    """
    points = np.concatenate([a, b])
    slack = np.maximum(1e-4 * np.minimum(spread, np.abs(points)), np.finfo(np.float32).tiny)

    def share(values: Any, at: Any) -> Any:
        return np.searchsorted(values, at, side="right") / values.size

    above = (share(a, points - slack) - share(b, points)).max()
    below = (share(b, points) - share(a, points + slack)).max()
    return float(max(above, below, 0.0))


def _compare_gradients(a: Mapping[str, Any], b: Mapping[str, Any], case: Mapping[str, Any]) -> float:
    if set(a) != set(b):
        only_torch, only_ours = sorted(set(a) - set(b)), sorted(set(b) - set(a))
        raise _Unequal(f"gradients: only in torch {only_torch}, only in mindspore {only_ours}")
    case = {**case, "tolerance": case.get("grad_tolerance", case["tolerance"])}
    return max((_compare(a[name], b[name], case, f"gradient of {name}") for name in a), default=0.0)


def _shown(value: Any) -> str:
    return f"{value[0]} {str(value[1])[:60]}"


def _sample(array: Any) -> str:
    return np.array2string(array.ravel()[:4], precision=5, separator=", ")
