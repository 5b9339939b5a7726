"""Catalogues: what torch and each executed MindSpore release offer, harvested by ``scripts/harvest_catalogues.py``.

A catalogue is a JSON file ``<package>-<version>.json``: ``names`` maps a canonical name to a short record, ``aliases``
maps other public spellings of the same object to it. Keys of a record, all optional but the first:

``k`` kind; ``s`` signature without ``self``; ``c`` signature of the call of an instance (``forward``, ``construct``);
``p`` platforms as letters (``a`` Ascend, ``g`` GPU, ``c`` CPU); ``b`` public base classes; ``d`` true when deprecated;
``o`` further signatures (overloads); ``t`` type of a constant; ``n`` changes announced by the docstring.

``shared_members.json``, beside the folder, lists what other types that programs handle share with torch's objects
(``scripts/harvest_members.py``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from torch2ms.config import Version
from torch2ms.mapping_tables.schema import Signature
from torch2ms.mapping_tables.signatures import parse_signature

__all__ = [
    "FOLDER",
    "Catalogue",
    "catalogued",
    "mindspore_catalogue",
    "mindspore_releases",
    "nearest_releases",
    "shared_members",
    "torch_catalogue",
    "usage",
]

FOLDER = Path(__file__).with_name("catalogues")
_DEVICES = {"a": "ascend", "g": "gpu", "c": "cpu"}
Record = Mapping[str, Any]


@dataclass(frozen=True)
class Catalogue:
    """The public names of some packages at one version each; ``title`` says which."""

    title: str
    names: Mapping[str, Record]
    aliases: Mapping[str, str]

    def canonical(self, name: str) -> str:
        """Return the canonical spelling of a public name; a name nobody knows comes back as it is.

        The longest known prefix counts: ``torch.nn.modules.conv.Conv2d.forward`` is ``torch.nn.Conv2d.forward``.
        """
        if name in self.names:
            return name
        head, rest = name, ""
        while head:
            if head in self.aliases:
                return self.aliases[head] + rest
            head, dot, last = head.rpartition(".")
            rest = dot + last + rest
        return name

    def record(self, name: str) -> Record | None:
        """Return the record of a name (aliases and inherited members included), or None."""
        name = self.canonical(name)
        if (found := self.names.get(name)) is not None:
            return found
        owner = self.owner(name)
        return self.names.get(owner) if owner else None

    def owner(self, name: str) -> str | None:
        """Return the name of the base class's member that ``name`` inherits, or None."""
        holder, _, member = name.rpartition(".")
        for base in self.bases(holder):
            if f"{base}.{member}" in self.names:
                return f"{base}.{member}"
        return None

    def bases(self, name: str) -> tuple[str, ...]:
        """Return the public base classes of a class, nearest first."""
        record = self.names.get(self.canonical(name))
        return tuple(record.get("b", ())) if record else ()

    def kind(self, name: str) -> str | None:
        """Return module, class, function, method, attribute or constant; None when the name is not there."""
        record = self.record(name)
        return None if record is None else str(record["k"])

    def signature(self, name: str) -> Signature | None:
        """Return the signature without ``self``; None when it is not known."""
        record = self.record(name)
        text = record.get("s") if record else None
        return parse_signature(text) if text else None

    def signatures(self, name: str) -> tuple[Signature, ...]:
        """Return the signature and the further ones of an overloaded callable, as far as they are known."""
        record = self.record(name) or {}
        texts = [text for text in (record.get("s"), *record.get("o", ())) if text]
        return tuple(signature for signature in map(parse_signature, texts) if signature is not None)

    def platforms(self, name: str) -> frozenset[str] | None:
        """Return the documented devices, None when the docstring names none."""
        record = self.record(name)
        letters = record.get("p") if record else None
        return None if letters is None else frozenset(_DEVICES[letter] for letter in letters)


def _read(path: Path) -> Catalogue:
    data = json.loads(path.read_text(encoding="utf-8"))
    return Catalogue(data["title"], data["names"], data["aliases"])


@lru_cache(maxsize=1)
def torch_catalogue() -> Catalogue:
    """Return the catalogue of torch and torchvision."""
    parts = [_read(path) for path in sorted(FOLDER.glob("torch*.json"))]
    names: dict[str, Record] = {}
    aliases: dict[str, str] = {}
    for part in parts:
        names.update(part.names)
        aliases.update(part.aliases)
    return Catalogue(", ".join(part.title for part in parts), names, aliases)


@lru_cache(maxsize=2)
def shared_members(absent: frozenset[str] = frozenset()) -> tuple[frozenset[str], frozenset[str]]:
    """Return the methods and the attributes that torch's objects share with others (arrays, strings, frames, ...).

    Types of the packages in ``absent`` are left out.
    """
    data = json.loads(FOLDER.with_name("shared_members.json").read_text(encoding="utf-8"))
    data = {name: members for name, members in data.items() if name.partition(".")[0] not in absent}
    methods = frozenset(name for members in data.values() for name in members.get("m", ()))
    return methods, frozenset(name for members in data.values() for name in members.get("a", ()))


def catalogued() -> dict[str, list[str]]:
    """Return the releases of each package that have a catalogue, oldest first: ``{"torch": ["2.13.0"], ...}``."""
    found: dict[str, list[str]] = {}
    for path in FOLDER.glob("*-*.json"):
        name, _, release = path.stem.partition("-")
        found.setdefault(name, []).append(release)
    return {
        name: sorted(all_, key=lambda text: [int(part) for part in text.split(".")]) for name, all_ in found.items()
    }


@lru_cache(maxsize=1)
def mindspore_releases() -> tuple[Version, ...]:
    """Return the releases that have a catalogue, oldest first."""
    found = []
    for path in FOLDER.glob("mindspore-*.json"):
        major, minor = path.stem.removeprefix("mindspore-").split(".")[:2]
        found.append((int(major), int(minor)))
    return tuple(sorted(found))


def nearest_releases(version: Version) -> tuple[Version, ...]:
    """Return the newest catalogued release not above ``version`` and the oldest above it, the former first.

    A release between two catalogued ones has most of what stands in the one below it, and some of the one above.
    """
    releases = mindspore_releases()
    below = [release for release in releases if release <= version]
    above = [release for release in releases if release > version]
    if version in releases:
        return (version,)
    return (*below[-1:], *above[:1])


@lru_cache(maxsize=8)
def mindspore_catalogue(release: Version) -> Catalogue:
    """Return the catalogue of one of ``mindspore_releases()``."""
    return _read(FOLDER / f"mindspore-{release[0]}.{release[1]}.0.json")


@lru_cache(maxsize=1)
def usage() -> Mapping[str, int]:
    """Return how often 58 public projects use each torch name, counted statically; what is seldom used is left out."""
    uses: dict[str, int] = json.loads((FOLDER / "usage.json").read_text(encoding="utf-8"))["uses"]
    return uses
