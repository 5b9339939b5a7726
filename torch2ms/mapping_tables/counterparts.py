"""Counterparts: what another package of MindSpore's world has of a package built on PyTorch, name by name.

``counterparts/<package>.toml`` is harvested from both packages at the versions it names
(``scripts/harvest_counterparts.py``). Rows are made of it when a name is asked for: the thousands of names that move
from ``transformers`` to ``mindone.transformers`` are no rows of the tables, which every run reads.

    >>> counterparts("transformers").row("transformers.BertModel")["to"][0]["target"]
    'mindone.transformers.BertModel'
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover - same code under its older name
    import tomli as tomllib

__all__ = [
    "MAKERS",
    "PACKAGES",
    "Counterparts",
    "Place",
    "counterparts",
    "disagreement",
    "is_staying",
    "needed_by",
    "place_of",
    "proof_of",
    "target_package",
]

FOLDER = Path(__file__).with_name("counterparts")
PACKAGES = ("transformers", "diffusers", "peft")
_TARGETS = (*PACKAGES, *(f"mindone.{package}" for package in PACKAGES))
_KINDS = {"models": "class", "layers": "class", "outputs": "class", "classes": "class", "functions": "function"}
_DOCUMENTED = ">=2.6"  # the releases that mindone's own page names, and 2.10, beside which it was installed
_NOTES = (
    "{installs}, read beside {package} {version}: the same name, and the same arguments but for what is said here. It"
    " was installed beside MindSpore 2.10; its own page names 2.6 to 2.7. Its networks have no kernels for CPU"
)
# The class whose rows answer for the members of others, by the package, their kind and where they are defined
_BASES = (
    ("transformers", "models", "", "transformers.PreTrainedModel"),
    ("transformers", "outputs", "", "transformers.utils.ModelOutput"),
    ("diffusers", "models", "", "diffusers.ModelMixin"),
    ("diffusers", "outputs", "", "transformers.utils.ModelOutput"),
    ("diffusers", "classes", "pipelines", "diffusers.DiffusionPipeline"),
    ("peft", "layers", "", "peft.PeftModel"),
)
_FIELDS = "transformers.utils.ModelOutput"
# Class methods that make an instance of the class they are called on
MAKERS = frozenset({"from_pretrained", "from_config", "_from_config", "from_pipe", "from_single_file"})


@dataclass(frozen=True, slots=True)
class Place:
    """Where a name is defined, and where it goes; ``kind`` is models, layers, outputs, classes or functions.

    Of a name that needs no PyTorch the kind is ``stays``, of one that the other package lacks it is ``lacks``.
    """

    name: str  # its canonical spelling here
    kind: str
    target: str


class Counterparts:
    """What is known of one package."""

    def __init__(self, data: Mapping[str, Any], file: str) -> None:
        """Take the contents of a file of ``counterparts``."""
        self._data, self._file = data, file
        self.package: str = data["package"]
        self.version: str = data["version"]
        self.installs: str = data["installs"]

    @cached_property
    def places(self) -> dict[str, Place]:
        """Every name that has a place, by its canonical spelling: the public one where there is one."""
        found: dict[str, Place] = {}
        target = self._data["target"]
        for kind in ("stays", "lacks"):
            for word in self._data[kind].split():
                name = f"{self.package}.{word}"
                found[name] = Place(name, kind, name if kind == "stays" else "")
        for kind in _KINDS:
            for module, words in self._data.get(kind, {}).items():
                for word in words.split():
                    short = word.strip(".*")
                    inner = f"{module}.{short}"
                    name = f"{self.package}.{inner if word[0] == '.' else short}"
                    found[name] = Place(name, kind, f"{target}.{inner if word != short else short}")
        return found

    @cached_property
    def _homes(self) -> dict[str, str]:
        """The module that defines each public name, of those that move."""
        return {
            word.rstrip("*"): module
            for kind in _KINDS
            for module, words in self._data.get(kind, {}).items()
            for word in words.split()
            if word[0] != "."
        }

    def place(self, name: str) -> Place | None:
        """Return the place of a name in any spelling: by its module, a package of it, or as older releases had it."""
        if name in self.places:
            return self.places[name]
        if name == f"{self.package}.__version__":
            return Place(name, "stays", name)
        module, _, last = name.removeprefix(f"{self.package}.").rpartition(".")
        home = self._homes.get(last)
        if home is not None and module:
            last_of = home.rpartition(".")[2]
            if module in (home, last_of) or home.startswith(f"{module}."):
                return self.places[f"{self.package}.{last}"]
        public = self.places.get(f"{self.package}.{last}")
        if module and (self._is_staying_module(module) or (public is not None and public.kind == "stays")):
            return Place(name, "stays", name)
        return None

    def _is_staying_module(self, module: str) -> bool:
        stem = module.rpartition(".")[2]
        words = self._data["stay_files"].split()
        is_plain = any(module == word or module.startswith(f"{word}.") for word in words)
        return is_plain or (not stem.endswith("processing_fast") and stem.startswith(tuple(f"{w}_" for w in words)))

    def row(self, name: str) -> dict[str, Any] | None:
        """Return the row of a name, as the tables keep rows; None where nothing is known of it."""
        place = self.place(name)
        if place is None:
            return self._field(name) or self._member(name)
        short = place.name.rpartition(".")[2]
        kind = _KINDS.get(place.kind, "class" if short[:1].isupper() else "function")
        if place.kind == "lacks":
            return {"kind": kind, "unsupported": f"{self.installs} has no {short}", "file": self._file}
        option: dict[str, Any] = {"target": place.target}
        row: dict[str, Any] = {"kind": kind, "to": [option], "file": self._file}
        if place.kind == "stays":
            return row
        option["mindspore"] = _DOCUMENTED
        option["notes"] = _NOTES.format(installs=self.installs, package=self.package, version=self.version)
        signature = self._data.get("signatures", {}).get(short) if place.name.count(".") == 1 else None
        if signature is not None:
            row["signature"] = signature
            option["rename"] = dict(self._data.get("former", {}).get(short, {}))
            option["reject"] = dict.fromkeys(
                self._without("constructors", short) + self._without("functions", short),
                f"{self.installs} lacks it",
            )
        return row

    def _field(self, name: str) -> dict[str, Any] | None:
        """Return the row of a part of a network's outputs: ``transformers.utils.ModelOutput.logits``."""
        holder, _, last = name.rpartition(".")
        if holder != _FIELDS:
            return None
        returns = "Tensor" if last in self._tensors else "tuple" if last in self._tuples else ""
        keep = "the other package's outputs have the same parts"
        return {"kind": "attribute", "keep": keep, "returns": returns, "file": self._file} if returns else None

    def _member(self, name: str) -> dict[str, Any] | None:
        """Return the row of what belongs to a name that stays, or to a class that moves and whose kind is not told."""
        holder, _, last = name.rpartition(".")
        place = self.place(holder)
        if place is not None and place.kind == "lacks":
            return self.row(holder)
        if place is None or place.kind not in ("stays", "classes"):
            return None
        moved = {"mindspore": _DOCUMENTED} if place.kind == "classes" else {}
        made = {"returns": f"instance:{place.name}"} if last in MAKERS else {}
        return {"kind": "function", "to": [{"target": f"{place.target}.{last}", **moved}], "file": self._file, **made}

    @cached_property
    def _tensors(self) -> frozenset[str]:
        return frozenset(self._data.get("tensors", "").split())

    @cached_property
    def _tuples(self) -> frozenset[str]:
        return frozenset(self._data.get("tuples", "").split())

    def _without(self, kind: str, short: str) -> list[str]:
        parts = self._data.get("without", {}).get(kind, {})
        return [name for name, words in parts.items() if short in words.split()]

    def bases(self, name: str) -> tuple[str, ...]:
        """Return the class whose rows answer for the members of a class that moves."""
        place = self.place(name)
        if place is None:
            return ()
        home = self._homes.get(place.name.rpartition(".")[2], place.name.removeprefix(f"{self.package}."))
        return tuple(
            base
            for package, kind, start, base in _BASES
            if (package, kind) == (self.package, place.kind) and home.startswith(start) and base != name
        )

    def asks(self, name: str, method: str = "calls") -> bool:
        """Whether the call of an object, or a method of it, gives a tuple unless ``return_dict=True`` is said.

        What an Auto class loads may be of a class that does; most take the argument.
        """
        place = self.place(name)
        if place is None or place.kind == "stays":
            return False
        short = name.rpartition(".")[2]
        is_auto = place.kind == "models" and short.startswith("Auto")
        return short in self._data.get("asks", {}).get(method, "").split() or (method == "calls" and is_auto)

    def refuses(self, name: str) -> bool:
        """Whether the call of a network takes no ``return_dict``."""
        return name.rpartition(".")[2] in self._data["refuses"].split()

    def takes_int32(self, name: str) -> bool:
        """Whether a network's loss may take no labels but int32; what an Auto class loads may be such a network."""
        place = self.place(name)
        short = name.rpartition(".")[2]
        return place is not None and (
            short in self._data.get("int32", "").split() or (place.kind == "models" and short.startswith("Auto"))
        )

    def lacking(self, name: str) -> list[str]:
        """Return the arguments that the call of a network does not take there."""
        return self._without("calls", name.rpartition(".")[2])

    def placed(self, name: str) -> int | None:
        """Return how many arguments the call of a network may give by their places; None where all may be."""
        short = name.rpartition(".")[2]
        return next((int(k) for k, words in self._data.get("places", {}).items() if short in words.split()), None)


@lru_cache(maxsize=len(PACKAGES))
def _loaded(package: str) -> Counterparts:
    path = FOLDER / f"{package}.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return Counterparts(data, f"counterparts/{path.name}")


def counterparts(name: str) -> Counterparts | None:
    """Return what is known of the package that a dotted name starts with; None for packages without a counterpart."""
    root = name.partition(".")[0]
    return _loaded(root) if root in PACKAGES else None


def is_staying(module: str, name: str | None) -> bool:
    """Whether ``from module import name`` gets what needs no PyTorch, and stays as it is written."""
    place = place_of(f"{module}.{name}") if name is not None else None
    return place is not None and place.kind == "stays"


def moved(module: str, name: str | None) -> tuple[str, str] | None:
    """Return where another package has what ``from module import name`` gets, as module and name, or None."""
    place = place_of(f"{module}.{name}") if name is not None else None
    if place is None or place.kind in ("stays", "lacks"):
        return None
    parent, _, last = place.target.rpartition(".")
    return parent, last


def needed_by(texts: Iterable[str]) -> list[str]:
    """Return the lines of requirements for the other packages that translated code imports, at the pinned versions."""
    joined = "\n".join(texts)
    if re.search(r"^\s*(?:from|import)\s+mindone\b", joined, re.MULTILINE) is None:
        return []
    found = _loaded("transformers")
    return [found.installs, f"{found.package}=={found.version}"]  # mindone itself pins this one


def target_package(name: str) -> str | None:
    """Return the package that a name of a row's target is in: ``mindone.transformers``, or one whose names stay."""
    return next((p for p in _TARGETS if name == p or name.startswith(f"{p}.")), None)


@lru_cache(maxsize=1)
def _proofs() -> Mapping[str, Mapping[str, Any]]:
    path = FOLDER / "proofs.json"
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}


def proof_of(name: str) -> str:
    """Say how a network was compared with its counterpart; empty where it was not."""
    place = place_of(name)
    proof = _proofs().get(place.name.rpartition(".")[2]) if place is not None else None
    if proof is None:
        return ""
    return (
        f"{proof['verdict']}, executed on CPU with stand-in kernels, {proof['with']}: outputs within"
        f" {proof['output']:.1e} of PyTorch in float64 (PyTorch's own float32: {proof['output_floor']:.1e}), gradients"
        f" within {proof['gradient']:.1e} ({proof['gradient_floor']:.1e})"
    )


def disagreement(name: str) -> str:
    """Say how far a network is from its counterpart where they were compared and differ; empty for all others."""
    place = place_of(name)
    proof = _proofs().get(place.name.rpartition(".")[2]) if place is not None else None
    if place is None or proof is None or proof["verdict"] == "agrees":
        return ""
    return (
        f"{place.target} gives other numbers than {place.name}: of a tiny one the outputs are off by"
        f" {proof['output']:.1e} ({proof['with']})"
    )


def place_of(name: str) -> Place | None:
    """Return the place of a name of a package with a counterpart, in any spelling."""
    found = counterparts(name)
    return found.place(name) if found is not None else None
