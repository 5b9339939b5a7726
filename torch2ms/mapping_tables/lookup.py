"""Look things up: rows by any public spelling of a name, targets by release and device, signatures of both sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

from torch2ms.config import Target, Version
from torch2ms.mapping_tables.catalogue import (
    Catalogue,
    mindspore_catalogue,
    nearest_releases,
    torch_catalogue,
)
from torch2ms.mapping_tables.checks import DEVICES, holds_for
from torch2ms.mapping_tables.counterparts import counterparts, place_of
from torch2ms.mapping_tables.runtime_source import runtime_signature
from torch2ms.mapping_tables.schema import Example, MappedTo, Row, RowKind, Signature
from torch2ms.mapping_tables.signatures import parse_signature

__all__ = ["Tables"]

_ALL_DEVICES = frozenset(DEVICES)


class Tables:
    """Every row, built when it is asked for, and both catalogues behind it.

    Iterating gives the canonical torch names that have a row, in the order of the files.
    """

    def __init__(self, rows: Mapping[str, Mapping[str, Any]], catalogue: Catalogue | None = None) -> None:
        """Take checked raw rows (``checks.rows_of_file``); the shipped torch catalogue unless another is given."""
        self._raw = rows
        self._catalogue = catalogue
        self._built: dict[str, Row] = {}
        self._canonical: dict[str, str] = {}
        self._rows_by_canonical: dict[str, str] | None = None
        self._setters: dict[str, list[str]] | None = None

    @property
    def catalogue(self) -> Catalogue:
        """The catalogue of torch and torchvision, read on first use."""
        if self._catalogue is None:
            self._catalogue = torch_catalogue()
        return self._catalogue

    def raw(self) -> dict[str, Mapping[str, Any]]:
        """Return the rows as they were given, to put others over them."""
        return dict(self._raw)

    def __iter__(self) -> Iterator[str]:
        """Give the names that have a row."""
        return iter(self._raw)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._raw)

    def __contains__(self, name: object) -> bool:
        """Whether a torch name, in any spelling, has a row."""
        return isinstance(name, str) and self.row(name) is not None

    def rows(self) -> Iterator[Row]:
        """Give every row."""
        for name in self._raw:
            yield self._build(name)

    def layers(self) -> Iterator[Row]:
        """Give every row with a target that has a state; the others need not be built for this."""
        for name, raw in self._raw.items():
            if any("state" in option for option in raw.get("to", ())):
                yield self._build(name)

    def row(self, name: str) -> Row | None:
        """Return the row of a torch name in any public spelling; of an inherited member, the base class's row.

        A member of a class that is unsupported, and has no row of its own, has what the class's says.
        """
        if name in self._raw:
            return self._build(name)
        canonical = self.canonical(name)
        if canonical in self._raw:
            return self._build(canonical)
        if owner := self._inherited_row(canonical):
            return self._of_holder(self._build(owner), canonical)
        if (found := counterparts(canonical)) is not None and (raw := found.row(canonical)) is not None:
            return self._make_row(canonical, raw)
        holder = canonical.rpartition(".")[0]
        if holder and "unsupported" in self._raw.get(whole := self.canonical(holder), {}):
            return replace(self._build(whole), name=canonical)
        return None

    def _of_holder(self, row: Row, name: str) -> Row:
        """Return the row of a member that a class with a counterpart inherits, as a member of that class.

        ``transformers.BertModel.from_pretrained`` makes a BertModel, by the same function of its counterpart.
        """
        holder, _, member = name.rpartition(".")
        place = place_of(holder)
        if place is None or row.kind != "function":
            return row
        to = tuple(replace(option, target=f"{place.target}.{member}") for option in row.to)
        returns = f"{row.returns}:{place.name}" if row.returns in ("Module", "instance") else row.returns
        return replace(row, name=name, to=to, returns=returns)

    def _inherited_row(self, name: str) -> str | None:
        holder, _, member = name.rpartition(".")
        for base in self.bases(holder):
            if f"{base}.{member}" in self._raw:
                return f"{base}.{member}"
        return None

    def canonical(self, name: str) -> str:
        """Return the canonical spelling of a torch name; a spelling that has a row of its own is canonical.

        A name nobody knows comes back as it is. ``torch.torch`` is torch, as it happens.
        """
        while name.startswith("torch.torch") and name[11:12] in (".", ""):
            name = name[6:]
        if name in self._raw:
            return name
        known = self._canonical.get(name)
        if known is None and (place := place_of(name)) is not None:
            known = self._canonical[name] = place.name
        if known is None:
            known = self.catalogue.canonical(name)
            if known not in self._raw:
                known = self._written_spelling(known)
            self._canonical[name] = known
        return known

    def _written_spelling(self, name: str) -> str:
        """Return the spelling under which the tables have ``name``, where they chose another than the catalogue."""
        if self._rows_by_canonical is None:
            self._rows_by_canonical = {
                canonical: row for row in self._raw if (canonical := self.catalogue.canonical(row)) != row
            }
        return self._rows_by_canonical.get(name, name)

    def select(self, row: Row, target: Target) -> tuple[MappedTo, ...]:
        """Return the targets of a row that hold for a release and device, in order; conditions on arguments are open.

        ``portable`` needs all three devices; ``mindspore.mint`` is given only where ``target.mint`` asks for it; a
        target that deviates is not given where ``target.exact`` asks for none that does, nor one that graph mode does
        not compile where ``target.graph`` does.
        """
        return tuple(
            option
            for option in row.to
            if holds_for(option.mindspore, target.mindspore)
            and _device_holds(option, target)
            and not (target.exact and option.deviates & _needed(target))
            and not (target.graph and option.pynative)
        )

    def setters(self, name: str) -> tuple[str, ...]:
        """Return the functions that set the switch which ``name`` reads."""
        if self._setters is None:
            self._setters = {}
            for setter, raw in self._raw.items():
                for option in raw.get("to", ()):
                    if option.get("recipe") == "sets_switch":
                        self._setters.setdefault(option["target"], []).append(setter)
        return tuple(self._setters.get(name, ()))

    def signature(self, torch_name: str) -> Signature | None:
        """Return the signature of a torch callable, without ``self``; of a class, its constructor's."""
        row = self.row(torch_name)
        if row is not None and row.signature is not None:
            return row.signature
        return self.catalogue.signature(self.catalogue.canonical(torch_name))

    def overloads(self, torch_name: str) -> tuple[Signature, ...]:
        """Return every signature of a torch callable, the main one first: ``arange(end)``, ``arange(start, end)``."""
        row = self.row(torch_name)
        if row is not None and row.signature is not None:
            return (row.signature,)
        return self.catalogue.signatures(self.catalogue.canonical(torch_name))

    def call_signature(self, torch_class: str) -> Signature | None:
        """Return the signature of calling an instance (``forward``) of a torch class, without ``self``."""
        record = self.catalogue.record(torch_class)
        text = record.get("c") if record else None
        return parse_signature(text) if text else None

    def target_signature(self, ms_name: str, version: Version) -> Signature | None:
        """Return the signature of a target in the nearest executed release; None when it is not known.

        Runtime names are read from the runtime's source; numpy's and Python's own are not known.
        """
        if ms_name.startswith("torch2ms.runtime."):
            return runtime_signature(ms_name)
        if not ms_name.startswith("mindspore."):
            return None
        for release in nearest_releases(version):
            catalogue = mindspore_catalogue(release)
            if catalogue.record(ms_name) is not None:
                return catalogue.signature(ms_name)
        return None

    def star(self, module: str) -> tuple[str, ...]:
        """Return the names that ``from module import *`` may bind, as far as the catalogue knows them."""
        prefix = f"{self.canonical(module)}."
        known = {name for source in (self.catalogue.names, self.catalogue.aliases) for name in source}
        known.update(self)
        found = {name[len(prefix) :] for name in known if name.startswith(prefix)}
        return tuple(sorted(name for name in found if "." not in name and not name.startswith("_")))

    def is_identical(self, row: Row, option: MappedTo) -> bool:
        """Whether a target comes from an ``[[identical]]`` entry."""
        raw = self._raw[row.name].get("to", ())
        return any(item.get("identical", False) and item["target"] == option.target for item in raw)

    def names_its_kind(self, row: Row) -> bool:
        """Whether the row itself says its kind, instead of the catalogue."""
        return "kind" in self._raw[row.name]

    def kind_of_name(self, torch_name: str) -> str | None:
        """Return module, class, function, method, attribute or constant; None when torch has no such name."""
        return self.catalogue.kind(self.catalogue.canonical(torch_name))

    def is_module(self, name: str) -> bool:
        """Whether a torch name is a module (a package or a file), not an object in one."""
        return self.kind_of_name(name) == "module"

    def bases(self, torch_class: str) -> tuple[str, ...]:
        """Return the public base classes of a torch class, nearest first."""
        found = counterparts(torch_class)
        return self.catalogue.bases(torch_class) if found is None else found.bases(torch_class)

    def _build(self, name: str) -> Row:
        row = self._built.get(name)
        if row is None:
            row = self._built[name] = self._make_row(name, self._raw[name])
        return row

    def _make_row(self, name: str, raw: Mapping[str, Any]) -> Row:
        kind = cast("RowKind", raw.get("kind") or self.catalogue.kind(name) or "function")
        signature = raw.get("signature")
        return Row(
            name=name,
            kind=kind,
            to=tuple(_target(option) for option in raw.get("to", ())),
            keep=raw.get("keep", ""),
            unsupported=raw.get("unsupported", ""),
            returns=raw.get("returns", ""),
            signature=parse_signature(signature) if signature else None,
            adapter=raw.get("adapter", ""),
            domain=raw.get("domain", {}),
            examples=tuple(Example(**example) for example in raw.get("example", ())),
            file=raw["file"],
        )


def _device_holds(option: MappedTo, target: Target) -> bool:
    if option.target.startswith("mindspore.mint."):
        # Who asks for mint by name, without a device, gets it: that is what --api mint is for.
        return target.mint and (target.device == "portable" or target.device in option.device)
    return _needed(target) <= option.device


def _needed(target: Target) -> frozenset[str]:
    """Return the devices that the emitted code is for."""
    return _ALL_DEVICES if target.device == "portable" else frozenset({target.device})


def _target(raw: Mapping[str, Any]) -> MappedTo:
    values = {key: value for key, value in raw.items() if key != "identical"}
    for key in ("write_default", "named", "drop", "limits", "codes", "unless"):
        if key in values:
            values[key] = tuple(values[key])
    for key in {"device", "deviates"} & values.keys():
        values[key] = frozenset(values[key])
    return MappedTo(**values)
