"""Find the layer in which a translation departs: every call is repeated with PyTorch's own inputs, and judged alone.

The answer is a list of :class:`Departure`, the first one in the order of computing first, and a :class:`LayerFigure`
for each call. A layer's own error is that of its own code: it gets what PyTorch's got, and the layers that it calls
give what PyTorch's gave. So a layer that is wrong only because its input is wrong, an echo, has no own error.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from torch2ms.verify.comparison import Arrays, Comparison, Prepared, floating
from torch2ms.verify.figures import PARAMETER_FACTOR, largest_error, norm_errors
from torch2ms.verify.layer_texts import Texts, Variable
from torch2ms.verify.report import Departure, LayerFigure

__all__ = ["LayerCheck"]

# A native operator may differ from PyTorch's formula by this much (mapping tables), which a layer alone shows
ACCEPTED = 1e-5
_RATE_TOLERANCE = 0.01
_WATCHED = 3  # departures whose variables are compared
_CALLS = 2000  # more are not repeated: an unrolled recurrence


@dataclass(slots=True)
class _Error:
    """The error at one place of a call: what it returns, what enters a layer that it calls, a gradient, ..."""

    kind: str  # output, entering, statistic, gradient, dropout, raises
    place: str
    ours: float
    floor: float
    call: int = -1  # of the layer that it enters

    @property
    def limit(self) -> float:
        return max(PARAMETER_FACTOR * self.floor, ACCEPTED) if math.isfinite(self.floor) else ACCEPTED

    @property
    def holds(self) -> bool:
        return bool(self.ours <= self.limit)


@dataclass(slots=True)
class _Pair:
    """One call in PyTorch, and the same in MindSpore (None: not made)."""

    torch: dict[str, Any]
    mindspore: dict[str, Any] | None
    errors: list[_Error] = field(default_factory=list)
    chain: tuple[float, float] = (math.nan, math.nan)  # error of the whole run up to here: MindSpore's, the floor
    note: str = ""  # why it could not be repeated
    position: float = math.inf  # of the first departure, in the order of PyTorch's calls
    first: _Error | None = None
    called: frozenset[int] = frozenset()  # layers in it that were really called when it was repeated


class LayerCheck:
    """The check of one mode, with the network and the inputs of one seed."""

    def __init__(self, comparison: Comparison, prepared: Prepared, *, train: bool) -> None:
        self.comparison = comparison
        self.prepared = prepared
        self.train = train
        self.mode = "train" if train else "eval"
        self.pairs: list[_Pair] = []
        self.texts: Texts | None = None

    def run(self, source: str, output: str, mappings: tuple[str, ...]) -> None:
        """Repeat every call on both sides; add what was found to the comparison."""
        comparison, prepared = self.comparison, self.prepared
        slots = list(dict.fromkeys(["float32", prepared.reference, prepared.floor]))
        batch = comparison.batch(prepared, self.mode)[0] if prepared.places else comparison.inputs(prepared)
        torch = comparison.torch.call("record_layers", slots=slots, batch=batch, train=self.train)
        if torch["error"]:
            comparison.notes.append(f"layers were not compared: {torch['error']}")
            return
        paths = [layer["path"] for layer in torch["layers"]]
        mindspore = comparison.mindspore.call(
            "record_layers", state=str(prepared.state), batch=batch, train=self.train, paths=paths
        )
        self.texts = Texts(source, output, torch, mindspore, self.mode, mappings, comparison.mindspore)
        self.pairs = _paired(torch["calls"][:_CALLS], mindspore["calls"])
        for pair in self.pairs:
            self._repeat(pair)
        for pair in self.pairs:
            _place(pair)
        comparison.departures += self._departures()
        comparison.layers += [self._figure(pair) for pair in self.pairs]
        comparison.settings += [text for text in self.texts.settings() if text not in comparison.settings]

    def _repeat(self, pair: _Pair) -> None:
        """Repeat one call on both sides, and measure its errors."""
        own = pair.mindspore
        if own is None:
            pair.note = "MindSpore does not make this call"
            return
        children = [p for p in self.pairs if p.torch["parent"] == pair.torch["index"]]
        torch, mindspore = self._call(pair, own, children, gradients=self.comparison.plan.gradients)
        if torch["error"]:
            pair.note = f"PyTorch: {torch['error']}"
            if not torch["error"].startswith("gradients"):
                return
        if own["error"] or (mindspore["error"] and not mindspore["error"].startswith("ValueError: PyTorch has")):
            innermost = not any(p.mindspore and p.mindspore["error"] for p in children)
            if innermost:
                pair.errors.append(_Error("raises", own["error"] or mindspore["error"], math.inf, 0.0))
        elif mindspore["error"]:
            pair.note = mindspore["error"].partition(": ")[2]
        else:
            reference, floor = self.prepared.reference, self.prepared.floor
            wanted, noise = (_of(self.comparison.load("layer-torch"), slot) for slot in (reference, floor))
            found = self.comparison.load("layer-mindspore")
            pair.chain = _chain(found, wanted), _chain(noise, wanted)
            pair.errors += _errors(found, noise, wanted, _entered(children))
            if not torch["error"]:
                pair.errors += _rates(torch["dropout"], mindspore["dropout"])

    def _call(
        self, pair: _Pair, own: Mapping[str, Any], children: Sequence[_Pair], *, gradients: bool, watched: bool = False
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Repeat a call on both sides; return the replies. The arrays lie in the comparison's folder then."""
        forced = [p for p in children if p.mindspore is not None and _is_forced(p.torch, p.mindspore)]
        pair.called = frozenset(p.torch["index"] for p in children) - {p.torch["index"] for p in forced}
        given, path = self.comparison.path("layer-torch"), self.comparison.path("layer-mindspore")
        request: dict[str, Any] = {"train": self.train, "gradients": gradients, "watched": watched}
        torch = self.comparison.torch.call(
            "repeat_layer", index=pair.torch["index"], path=str(given), forced=_named(forced, "torch"), **request
        )
        if torch["error"]:
            request["gradients"] = False
            if not torch["error"].startswith("gradients"):
                return torch, {"error": "", "lines": {}}
        calls = _named(forced, "mindspore")
        mindspore = self.comparison.mindspore.call(
            "repeat_layer", index=own["index"], given=str(given), path=str(path), forced=calls, **request
        )
        return torch, mindspore

    def _departures(self) -> list[Departure]:
        """Return what departs, in the order of computing; what departs only backward comes last, the deepest first."""
        wrong = {pair.torch["index"]: pair for pair in self.pairs if pair.first is not None}
        own = [pair for pair in wrong.values() if not pair.called & wrong.keys()]
        own.sort(key=lambda pair: (pair.position, -pair.torch["index"]))
        texts = self.texts
        return [self._told(pair, texts, number < _WATCHED) for number, pair in enumerate(own) if texts is not None]

    def _told(self, pair: _Pair, texts: Texts, is_watched: bool) -> Departure:
        first = pair.first
        assert first is not None
        child = next((p for p in self.pairs if p.torch["index"] == first.call), None)
        before = [p for p in self.pairs if p.torch["parent"] == pair.torch["index"]]
        before = [p for p in before if child is None or p.torch["index"] < child.torch["index"]]
        if first.kind not in ("output", "entering"):  # a gradient is lost somewhere behind what it belongs to
            before = [p for p in before if first.place.startswith(f"given:{p.torch['path']}#{p.torch['occurrence']}:")]
        missing = [
            p.torch["path"] for p in self.pairs if p.mindspore is None and p.torch["parent"] == pair.torch["index"]
        ]
        return texts.departure(
            (pair.torch, pair.mindspore or {}),
            (first.kind, first.place, first.ours, first.floor, first.limit),
            (child.torch, child.mindspore or {}) if child is not None else None,
            (before[-1].torch, before[-1].mindspore or {}) if before else None,
            missing,
            self._variable(pair) if is_watched and texts.is_own(pair.torch["path"]) else None,
        )

    def _variable(self, pair: _Pair) -> Variable | None:
        """Return the first variable of a layer's code that departs: name, line in SRC and in OUT, error."""
        own = pair.mindspore
        if own is None:
            return None
        children = [p for p in self.pairs if p.torch["parent"] == pair.torch["index"]]
        torch, mindspore = self._call(pair, own, children, gradients=False, watched=True)
        if torch["error"] or mindspore["error"]:
            return None
        lines, others = torch["lines"], mindspore["lines"]
        reference, floor = self.prepared.reference, self.prepared.floor
        arrays = self.comparison.load("layer-torch")
        wanted, noise = (_kind(_of(arrays, slot), "variable") for slot in (reference, floor))
        found = _kind(self.comparison.load("layer-mindspore"), "variable")
        for place, array in wanted.items():
            name = place.partition(":")[2]
            other = found.get(place)
            if other is None:
                continue
            error = _Error("variable", name, largest_error(other, array), largest_error(noise.get(place, array), array))
            if not error.holds:
                return name.partition("#")[0], lines.get(name, 0), others.get(name, 0), error.ours
        return None

    def _figure(self, pair: _Pair) -> LayerFigure:
        worst = pair.first or max(pair.errors, key=lambda error: error.ours / error.limit, default=None)
        departs = {d.layer for d in self.comparison.departures if d.mode == self.mode}
        verdict = "not compared" if worst is None else "ok"
        if pair.first is not None:
            verdict = "departs" if pair.torch["path"] in departs else "echo"
        elif worst is not None and pair.chain[0] > max(PARAMETER_FACTOR * pair.chain[1], ACCEPTED):
            verdict = "echo"
        depth = 0 if not pair.torch["path"] else pair.torch["path"].count(".") + 1
        own, floor, limit = (worst.ours, worst.floor, worst.limit) if worst else (math.nan, math.nan, math.nan)
        texts = self.texts
        kind = texts.kind(pair.torch["path"]) if texts is not None else ""
        return LayerFigure(
            self.mode, pair.torch["index"], pair.torch["path"], kind, depth, *pair.chain, own, floor, limit, verdict,
            pair.note,
        )  # fmt: skip


def _paired(torch: Sequence[dict[str, Any]], mindspore: Sequence[dict[str, Any]]) -> list[_Pair]:
    """Pair the calls: of the same layer, for the same time, within calls that are paired."""
    own = {(call["parent"], call["path"], call["occurrence"]): call for call in mindspore}
    partner: dict[int, int] = {-1: -1}
    pairs = []
    for call in torch:
        parent = partner.get(call["parent"])
        found = own.get((parent, call["path"], call["occurrence"])) if parent is not None else None
        if found is not None:
            partner[call["index"]] = found["index"]
        pairs.append(_Pair(call, found))
    return pairs


def _is_forced(torch: Mapping[str, Any], mindspore: Mapping[str, Any]) -> bool:
    """Whether a layer's result can be given: both return the same tensors, and nothing is written into its inputs."""
    return torch["places"] == mindspore["places"] != ["?"] and not torch["written"] and not mindspore["error"]


def _named(pairs: Sequence[_Pair], side: str) -> list[tuple[str, int, int]]:
    calls = [getattr(pair, side) for pair in pairs]
    return [(call["path"], call["occurrence"], call["index"]) for call in calls]


def _entered(children: Sequence[_Pair]) -> dict[str, int]:
    """Return index of the call by its place in the results: those that both sides make."""
    return {f"{p.torch['path']}#{p.torch['occurrence']}": p.torch["index"] for p in children if p.mindspore is not None}


def _of(arrays: Arrays, slot: str) -> Arrays:
    prefix = f"{slot}|"
    return {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}


def _kind(arrays: Arrays, kind: str) -> Arrays:
    return {name: array for name, array in arrays.items() if name.startswith(f"{kind}:")}


def _chain(found: Arrays, wanted: Arrays) -> float:
    """Return the error of a call's result in the whole run."""
    errors = [largest_error(_kind(found, "chain").get(k, np.empty(0)), v) for k, v in _kind(wanted, "chain").items()]
    return max(errors, default=math.nan)


def _errors(found: Arrays, noise: Arrays, wanted: Arrays, entered: Mapping[str, int]) -> Iterator[_Error]:
    """Yield the error at each place that both sides have, and those that only one has."""
    missing = np.full(1, np.nan)
    for kind in ("output", "entering"):
        own, ours = _kind(wanted, kind), _kind(found, kind)
        if kind == "entering":  # layers that get other arguments in MindSpore, and those that it does not call
            own, ours = _comparable(own, ours, entered)
        for place in {**own, **ours}:
            reference, other = own.get(place, missing), ours.get(place, missing)
            name = place.partition(":")[2]
            error, floor = largest_error(other, reference), largest_error(noise.get(place, missing), reference)
            yield _Error(kind, name, error, floor, entered.get(name.rpartition(":")[0], -1))
    for kind in ("statistic", "gradient"):
        exact, rounded, measured = (floating(_kind(arrays, kind)) for arrays in (wanted, noise, found))
        if kind == "statistic":  # those that are not saved have no counterpart
            exact = {name: array for name, array in exact.items() if name in measured}
        exact = {name: array for name, array in exact.items() if np.isfinite(array).all()}
        measured = {name: array for name, array in measured.items() if name in exact}
        floors = norm_errors(rounded, exact)
        for name, error in norm_errors(measured, exact).items():
            yield _Error(kind, name.partition(":")[2], error, floors.get(name, 0.0))


def _comparable(own: Arrays, ours: Arrays, entered: Mapping[str, int]) -> tuple[Arrays, Arrays]:
    """Return what enters the layers that both sides call with as many tensors."""

    def counts(arrays: Arrays) -> dict[str, int]:
        layers = [name.partition(":")[2].rpartition(":")[0] for name in arrays]
        return {layer: layers.count(layer) for layer in layers}

    left, right = counts(own), counts(ours)
    same = {layer for layer in left if left[layer] == right.get(layer) and layer in entered}
    first, second = (
        {name: array for name, array in arrays.items() if name.partition(":")[2].rpartition(":")[0] in same}
        for arrays in (own, ours)
    )
    return first, second


def _rates(expected: Sequence[float], found: Sequence[float]) -> Iterator[_Error]:
    """Yield the difference of the dropout rates; calls with a rate of 0 are not made by every layer."""
    wanted, own = [rate for rate in expected if rate], [rate for rate in found if rate]
    if len(wanted) != len(own):
        yield _Error("dropout", f"called {len(wanted)} times in PyTorch, {len(own)} in MindSpore", math.inf, 0.0)
    else:
        worst = max((abs(a - b) for a, b in zip(wanted, own, strict=True)), default=0.0)
        if worst > _RATE_TOLERANCE:
            yield _Error("dropout", f"rate {wanted[0]:.2g} in PyTorch, {own[0]:.2g} in MindSpore", worst, 0.0)


def _place(pair: _Pair) -> None:
    """Find the first error of a call that does not hold, and where in the order of computing it is."""
    end = pair.torch["end"] + 0.5
    for error in pair.errors:
        if error.holds:
            continue
        position = math.inf if error.kind == "gradient" else end if error.call < 0 else float(error.call)
        if pair.first is None or position < pair.position:
            pair.first, pair.position = error, position
