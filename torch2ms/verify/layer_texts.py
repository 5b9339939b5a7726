"""What a report tells of a layer that departs: its lines in both projects, its mapping rows and proofs, and advice."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from torch2ms.config import Options
from torch2ms.mapping_tables import loader
from torch2ms.mapping_tables.proofs import proofs_of
from torch2ms.translator.pipeline import translate_source
from torch2ms.verify.process import Answers, WorkerError
from torch2ms.verify.report import Departure

__all__ = ["Texts", "Variable"]

_TENSOR_TOLERANCE = 1e-5


Variable = tuple[str, int, int, float]  # name, line in SRC, line in OUT, error


class Texts:
    """Answers for one recorded pass; ``torch`` and ``mindspore`` are the workers' replies about layers."""

    def __init__(
        self,
        source: str,
        output: str,
        torch: Mapping[str, Any],
        mindspore: Mapping[str, Any],
        mode: str,
        mappings: tuple[str, ...],
        worker: Answers,
    ) -> None:
        self.source, self.output, self.mode, self.mappings = source, output, mode, mappings
        self.layers = {layer["path"]: layer for layer in torch["layers"]}
        self.partners = {layer["path"]: layer for layer in mindspore["layers"]}
        self.differences = {path: list(self._differences(path)) for path in self.partners}
        for path, text in self._expected(worker):
            self.differences[path].append(text)
        self.apis = _apis(Path(output))

    def kind(self, path: str) -> str:
        """Return the type of a layer as PyTorch's side writes it."""
        found: str = self.layers[path]["type"]
        return found

    def is_own(self, path: str) -> bool:
        """Whether a layer is a class of the project."""
        return bool(self.layers[path]["own"])

    def settings(self) -> Iterator[str]:
        """Yield the differences of settings of the frameworks' own layers, and of tensors that are not loaded."""
        for path, found in self.differences.items():
            if not self.layers[path]["own"] or any("tensor" in text for text in found):
                yield from (f"{path or 'the network itself'}: {text}" for text in found)

    def departure(
        self,
        calls: tuple[Mapping[str, Any], Mapping[str, Any]],
        error: tuple[str, str, float, float, float],
        child: tuple[Mapping[str, Any], Mapping[str, Any]] | None,
        before: tuple[Mapping[str, Any], Mapping[str, Any]] | None,
        missing: Sequence[str],
        variable: Variable | None,
    ) -> Departure:
        """Return what is told of a call (PyTorch's and MindSpore's) and its error: kind, place, ours, floor, limit.

        ``child``: the layer whose input departs; ``before``: the last one that was called before; ``variable``: the
        first one that departs in the code between.
        """
        path, (kind, place, ours, floor, limit) = calls[0]["path"], error
        layer, partner = self.layers[path], self.partners.get(path, {})
        details = [*self.differences.get(path, ()), *(f"PyTorch calls {name}, MindSpore does not" for name in missing)]
        if layer["own"]:
            first, last = _window(layer["code"], self.source, [call and call[0] for call in (before, child)])
            source = _range(layer["code"], self.source, first, last)
            code = partner.get("code")
            own = _window(code, self.output, [call and call[1] for call in (before, child)])
            output = _range(code, self.output, *own)
            if variable is not None and code and layer["code"]:
                name, line, other, amount = variable
                source, output = (
                    _range(c, r, n, n) for c, r, n in ((layer["code"], self.source, line), (code, self.output, other))
                )
                details.append(f"variable {name} departs first: {amount:.1e}")
                first = last = line
            rows = self._rows_in(layer["code"], first, last)
        else:
            source, output = _site(layer["origin"]), _site(partner.get("origin"))
            rows = (layer["type"],)
        source = source or _site(calls[0]["site"])
        output = output or _site(calls[1].get("site"))
        return Departure(
            path, layer["type"], self.mode, _what(kind, place, child), ours, floor, limit, source, output, rows,
            self._proof(rows), tuple(details), _advice(layer, kind, details, source, output),
        )  # fmt: skip

    def _rows_in(self, code: Any, first: int, last: int) -> tuple[str, ...]:
        """Return the APIs of torch that stand in some lines of SRC."""
        if not code:
            return ()
        file = _relative(code[0], self.source)
        return tuple(
            name for name, places in self.apis.items() if any(f == file and first <= line <= last for f, line in places)
        )

    def _proof(self, rows: Sequence[str]) -> str:
        """Say which of the rows have no executed proof."""
        tables = loader.load(self.mappings)
        known = [row for name in rows if (row := tables.row(name)) is not None]
        without = [row.name for row in known if not any(proof.executed for proof in proofs_of(row.name))]
        if not known:
            return "no mapping row"
        return f"not executed: {', '.join(without)}" if without else "proved by execution"

    def _differences(self, path: str) -> Iterator[str]:
        """Yield how a layer of MindSpore differs from PyTorch's: tensors, mode, and in the project's own attributes."""
        torch, own = self.layers[path], self.partners[path]
        for name, (shape, numbers) in torch["tensors"].items():
            if name in own["tensors"]:
                other_shape, others = own["tensors"][name]
                scale = max(map(abs, numbers), default=0.0) or 1.0
                far = any(not abs(a - b) <= _TENSOR_TOLERANCE * scale for a, b in zip(numbers, others, strict=True))
                if shape != other_shape or far:
                    yield f"tensor {name}: other {'values' if shape == other_shape else 'shape'} than in PyTorch"
        settings = torch["settings"] if torch["own"] else {"training": torch["settings"].get("training")}
        yield from _unequal(settings, own["settings"])

    def _expected(self, worker: Answers) -> Iterator[tuple[str, str]]:
        """Yield layer and difference of what PyTorch's own layers are, translated, and what is in their place."""
        texts: dict[tuple[str, str], list[str]] = {}
        for path, layer in self.layers.items():
            if path in self.partners and layer["arguments"]:
                arguments = ", ".join(f"{name}={value!r}" for name, value in _written(layer["arguments"]))
                texts.setdefault((layer["type"], arguments), []).append(path)
        made = {}
        for (kind, arguments), paths in texts.items():
            text = _translated(f"import torch\nlayer = {kind}({arguments})\n", self.mappings)
            made[paths[0]] = text.replace("torch2ms.runtime", "torch2ms_worker_runtime")
        try:
            found = worker.call("expected", layers=made)["layers"]
        except WorkerError:
            return
        for paths in texts.values():
            for path in paths if paths[0] in found else ():
                wanted, own = found[paths[0]], self.partners[path]
                if wanted["type"] not in own["bases"]:  # a layer that also takes device= and dtype= derives from it
                    yield path, f"is {own['type']}; the translation of PyTorch's layer is {wanted['type']}"
                else:
                    wanted["settings"].pop("training", None)
                    yield from ((path, text) for text in _unequal(wanted["settings"], own["settings"]))


@lru_cache(maxsize=1000)
def _translated(text: str, mappings: tuple[str, ...]) -> str:
    return translate_source(text, options=Options(mappings=mappings)).text


def _written(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in arguments.items():
        yield name, tuple(value) if isinstance(value, list) else value


def _unequal(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[str]:
    for name, value in wanted.items():
        if name in found and value is not None and not _is_equal(value, found[name]):
            yield f"{name} is {found[name]!r}; of PyTorch's layer: {value!r}"


def _is_equal(one: Any, other: Any) -> bool:
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(_is_equal, one, other))
    if isinstance(one, (list, tuple)) and isinstance(other, (int, float)):  # one number for all dimensions
        return bool(one) and all(_is_equal(item, other) for item in one)
    if isinstance(one, float) or isinstance(other, float):
        return (
            isinstance(one, (int, float)) and isinstance(other, (int, float)) and math.isclose(one, other, rel_tol=1e-9)
        )
    return bool(one == other)


def _what(kind: str, place: str, child: Any) -> str:
    if kind == "entering" and child is not None:
        return f"what enters {child[0]['path']}"
    return {
        "output": f"its result{place.removeprefix('output')}",
        "statistic": f"statistic {place}",
        "gradient": f"gradient of {_named(place)}",
        "dropout": f"dropout {place}",
        "raises": f"MindSpore raises {place}",
    }.get(kind, place)


def _named(place: str) -> str:
    kind, _, rest = place.partition(":")
    return {"argument": "its input", "given": f"the result of {rest.partition('#')[0]}"}.get(kind, place)


def _advice(layer: Mapping[str, Any], kind: str, details: Sequence[str], source: str, output: str) -> str:
    if any(" of PyTorch's layer" in detail for detail in details):
        return f"set it as in PyTorch, at {output}" if output else ""
    if kind == "gradient":
        return f"its result holds: look for a stopped gradient at {output}"
    return f"compare {source} with {output}" if source and output else ""


def _site(site: Any) -> str:
    return f"{site[0]}:{site[1]}" if site else ""


def _relative(file: str, root: str) -> str:
    path = Path(file)
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


def _window(code: Any, root: str, calls: Sequence[Any]) -> tuple[int, int]:
    """Return the lines of a layer's code between two calls that it makes (None: its start, its end)."""
    code = code or ["", 0, 0]
    before, after = (_line_in((call or {}).get("site"), code, root) for call in calls)
    first, last = before or code[1], after or code[2]
    return (first, last) if first <= last else (code[1], code[2])


def _line_in(site: Any, code: Sequence[Any], root: str) -> int:
    """Return the line of a call where it stands in the code; 0 elsewhere."""
    inside = site and site[0] == _relative(code[0], root) and code[1] <= site[1] <= code[2]
    return int(site[1]) if inside else 0


def _range(code: Any, root: str, first: int = 0, last: int = 0) -> str:
    if not code:
        return ""
    first, last = max(first, code[1]), last or code[2]
    return f"{_relative(code[0], root)}:{first}" + (f"-{last}" if last != first else "")


def _apis(output: Path) -> dict[str, list[tuple[str, int]]]:
    """Return the places of the APIs that OUT's report tells of."""
    try:
        document = json.loads((output / "torch2ms_report" / "report.json").read_text(encoding="utf-8"))
        return {a["name"]: [(p["file"], p["line"]) for p in a["places"]] for a in document["apis"]}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
