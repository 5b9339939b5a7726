"""Check what a table file says, key by key, and write its short forms out.

The result is plain data (what JSON can hold), so that it can be kept; rows become ``schema.Row`` when asked for.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, get_args

from torch2ms.config import NEWEST, Version
from torch2ms.errors import TableError
from torch2ms.mapping_tables.schema import Edge, Limit
from torch2ms.mapping_tables.signatures import parse_signature

__all__ = ["holds_for", "rows_of_file"]

ROW_KINDS = ("function", "class", "method", "attribute", "constant", "module")
DEVICES = ("ascend", "gpu", "cpu")
FIDELITIES = ("exact", "approximate", "partial")
RUN_KEYS = frozenset(
    {
        "args", "objects", "input", "copy_weights", "grad", "train", "compare", "dtype", "tolerance", "graph", "check",
        "steps", "state", "raises", "reference", "skip", "releases", "calls",
    }
)  # fmt: skip
RANGE = r"-?\d+(\.\d+)?\.\.-?\d+(\.\d+)?"  # of numbers: "1..4", "0.0..1.0"
_COMPARISONS: dict[str, Callable[[Version, Version], bool]] = {
    ">=": lambda version, bound: version >= bound,
    "<=": lambda version, bound: version <= bound,
    "==": lambda version, bound: version == bound,
    "!=": lambda version, bound: version != bound,
    ">": lambda version, bound: version > bound,
    "<": lambda version, bound: version < bound,
}


@lru_cache(maxsize=1024)
def holds_for(versions: str, version: Version) -> bool:
    """Whether ``version`` fulfils comma-separated comparisons such as ``">=2.3,<2.6"``.

    Raises ValueError when ``versions`` is no such text.
    """
    results = []
    for comparison in versions.split(","):
        comparison = comparison.strip()
        sign = next((sign for sign in _COMPARISONS if comparison.startswith(sign)), None)
        if sign is None:
            raise ValueError(comparison)
        major, minor = comparison[len(sign) :].strip().split(".")
        results.append(_COMPARISONS[sign](version, (int(major), int(minor))))
    return all(results)


def _fail(where: str, expected: str, got: object) -> TableError:
    return TableError(f"{where}: expected {expected}, got {got!r}")


def _text(where: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _fail(where, "a string", value)
    return value


def _filled(where: str, value: Any) -> str:
    if not _text(where, value).strip():
        raise _fail(where, "a string that is not empty", value)
    return str(value)


def _flag(where: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise _fail(where, "true or false", value)
    return value


def _texts(where: str, value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _fail(where, "a list of strings", value)
    return list(value)


def _limits(where: str, value: Any) -> list[str]:
    known = get_args(Limit)
    if not isinstance(value, list) or not value or not all(item in known for item in value):
        raise _fail(where, f"a list of {', '.join(known)}", value)
    return list(value)


def _text_table(where: str, value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise _fail(where, "a table of strings", value)
    return dict(value)


def _any_table(where: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _fail(where, "a table", value)
    return dict(value)


def _expressions(where: str, value: Any) -> dict[str, str]:
    for key, text in _text_table(where, value).items():
        try:
            ast.parse(text, mode="eval")
        except (SyntaxError, ValueError):
            raise _fail(f"{where}.{key}", 'Python source of one expression, such as "\'pad\'" or "1"', text) from None
    return dict(value)


def _one_of(*choices: str) -> Callable[[str, Any], str]:
    def check(where: str, value: Any) -> str:
        if value not in choices:
            raise _fail(where, f"one of {', '.join(choices)}", value)
        return str(value)

    return check


def _versions(where: str, value: Any) -> str:
    try:
        holds_for(_text(where, value), (2, 10))
    except ValueError:
        raise _fail(where, 'a range of releases such as ">=2.3" or ">=2.0,<2.5"', value) from None
    return str(value)


def _devices(where: str, value: Any) -> list[str]:
    if not isinstance(value, list) or not value or not set(value) <= set(DEVICES):
        raise _fail(where, f"a list of {', '.join(DEVICES)}", value)
    return list(value)


def _state(where: str, value: Any) -> Any:
    return "same" if value == "same" else _text_table(where, value)


def _signature(where: str, value: Any) -> str:
    if parse_signature(_text(where, value)) is None:
        raise _fail(where, 'a signature such as "(input, dim=None)"', value)
    return str(value)


def _run(where: str, value: Any) -> dict[str, Any]:
    table = _any_table(where, value)
    if unknown := sorted(set(table) - RUN_KEYS):
        raise TableError(f"{where}: unknown key {unknown[0]!r}; known are {', '.join(sorted(RUN_KEYS))}")
    return table


def _domain(where: str, value: Any) -> dict[str, Any]:
    """Check what the arguments of a row may be when its examples are varied."""
    table = _any_table(where, value)
    for name, allowed in table.items():
        place = f"{where}.{name}"
        if isinstance(allowed, dict):
            _checked(place, allowed, {"values": _text, "dtypes": _texts}, ())
        elif isinstance(allowed, list):
            _expressions(place, dict(enumerate(_texts(place, allowed))))
        elif allowed != "fixed" and not re.fullmatch(RANGE, _text(place, allowed)):
            raise _fail(place, 'a list of sources, a range such as "0.0..1.0", "fixed" or a table', allowed)
    return table


Check = Callable[[str, Any], Any]
EDGES = tuple(edge for edge in get_args(Edge) if edge)


def _edges(where: str, value: Any) -> list[str]:
    if not isinstance(value, list) or not value or not set(value) <= set(EDGES):
        raise _fail(where, f"a list of {', '.join(EDGES)}", value)
    return list(value)


_TARGET: dict[str, Check] = {
    "target": _filled, "recipe": _filled, "mindspore": _versions, "device": _devices, "when": _expressions,
    "rename": _text_table, "transform": _text_table, "write_default": _texts, "named": _texts, "add": _expressions,
    "drop": _texts, "edge": _one_of(*EDGES), "unless": _edges, "deviates": _devices, "pynative": _flag,
    "reject": _text_table, "state": _state, "reshape": _text_table, "attributes": _text_table,
    "fidelity": _one_of(*FIDELITIES), "limits": _limits, "codes": _texts, "notes": _text,
}  # fmt: skip
_EXAMPLE: dict[str, Check] = {
    "before": _filled, "after": _filled, "run": _run, "mindspore": _text, "device": _text, "edge": _one_of(*EDGES),
    "exact": _flag, "graph": _flag,
}  # fmt: skip
_IDENTICAL: dict[str, Check] = {
    "to": _filled, "names": _texts, "rename": _text_table, "mindspore": _versions, "device": _devices,
    "returns": _text, "kind": _one_of(*ROW_KINDS), "example": _filled, "run": _run, "codes": _texts, "notes": _text,
    "unless": _edges, "deviates": _devices,
}  # fmt: skip
_EDGE: dict[str, Check] = {
    "to": _filled, "edge": _one_of(*EDGES), "names": _texts, "rename": _text_table, "when": _expressions,
    "mindspore": _versions, "drop": _texts, "before": _filled, "after": _filled, "run": _run,
}  # fmt: skip
_GROUP: dict[str, Check] = {"names": _texts, "advice": _filled, "rule": _filled, "kind": _one_of(*ROW_KINDS)}


def _checked(where: str, table: Any, known: Mapping[str, Check], needed: tuple[str, ...]) -> dict[str, Any]:
    """Return ``table`` with every key and type checked."""
    result = {}
    for key, value in _any_table(where, table).items():
        if key not in known:
            raise TableError(f"{where}: unknown key {key!r}; known are {', '.join(sorted(known))}")
        result[key] = known[key](f"{where}.{key}", value)
    for key in needed:
        if key not in result:
            raise TableError(f"{where}: the key {key!r} is missing")
    return result


def _targets(where: str, value: Any) -> list[dict[str, Any]]:
    if isinstance(value, str):
        return [{"target": _filled(where, value)}]
    if not isinstance(value, list) or not value:
        raise _fail(where, 'a target such as "mindspore.ops.relu", or [[...to]] tables', value)
    targets = [_checked(f"{where}[{index}]", item, _TARGET, ("target",)) for index, item in enumerate(value)]
    for index, target in enumerate(targets):
        if target.get("fidelity", "exact") != "exact" and not target.get("notes"):
            raise TableError(f"{where}[{index}]: fidelity {target['fidelity']!r} needs notes that say when it differs")
        if target.get("deviates") and not target.get("notes"):
            raise TableError(f"{where}[{index}]: 'deviates' needs notes that say in what")
        if "limits" in target and target.get("fidelity", "exact") == "exact":
            raise TableError(f"{where}[{index}]: limits are of a target whose fidelity is not exact")
    return targets


def _examples(where: str, value: Any) -> list[dict[str, Any]]:
    items = value if isinstance(value, list) else [value]
    return [_checked(f"{where}[{i}]", item, _EXAMPLE, ("before", "after")) for i, item in enumerate(items)]


_ROW: dict[str, Check] = {
    "kind": _one_of(*ROW_KINDS), "to": _targets, "keep": _filled, "unsupported": _filled, "returns": _text,
    "signature": _signature, "adapter": _filled, "domain": _domain, "example": _examples,
}  # fmt: skip
_FAMILY: dict[str, Check] = {"names": _texts, "members": _texts, "rename": _text_table, **_ROW}


def rows_of_file(file: str, table: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the rows of a parsed file by canonical torch name, checked and written out.

    Raises TableError with the file, the key and what was expected.
    """
    namespace = _text(f"{file}: namespace", table.get("namespace", ""))
    prefix = f"{namespace}." if namespace else ""
    rows: dict[str, dict[str, Any]] = {}
    shown: dict[str, dict[str, Any]] = {}  # examples of names that a group has
    for key, value in table.items():
        if key in ("namespace", "family", "identical", "edges", "unsupported", "kept"):
            continue
        where = f"{file}: {key}"
        row = _checked(where, {"to": value} if isinstance(value, str) else value, _ROW, ())
        if set(row) == {"example"} and any(key in entry.get("names", ()) for entry in table.get("kept", ())):
            shown[prefix + key] = row
            continue
        _check_one_way(where, row)
        rows[prefix + key] = {**row, "file": file}
    for index, entry in enumerate(_tables(f"{file}: family", table.get("family", []))):
        _add_family(f"{file}: family[{index}]", entry, prefix, rows, file)
    _add_groups(file, table, prefix, rows)
    for name, row in shown.items():
        rows[name] |= row
    for index, entry in enumerate(_tables(f"{file}: identical", table.get("identical", []))):
        where = f"{file}: identical[{index}]"
        _add_identical(where, _checked(where, entry, _IDENTICAL, ("to",)), prefix, rows, file)
    for index, entry in enumerate(_tables(f"{file}: edges", table.get("edges", []))):
        where = f"{file}: edges[{index}]"
        _add_edge(where, _checked(where, entry, _EDGE, ("to", "edge", "before", "after", "run")), prefix, rows)
    for row in rows.values():
        row.get("to", []).sort(key=_rank)
    return rows


def _check_one_way(where: str, row: Mapping[str, Any]) -> None:
    if sum(name in row for name in ("to", "keep", "unsupported")) != 1:
        raise TableError(f"{where}: exactly one of 'to', 'keep' and 'unsupported' must be given")


def _add_family(where: str, entry: Any, prefix: str, rows: dict[str, dict[str, Any]], file: str) -> None:
    """Add a row for every name of a ``[[family]]``, which is a row with ``{name}`` and ``{last}`` in its texts.

    With ``members`` each name stands for that many: ``X.DEFAULT``. ``{last}`` is the last part of a name, or what
    ``rename`` says for it.
    """
    checked = _checked(where, entry, _FAMILY, ("names",))
    row = {key: value for key, value in checked.items() if key in _ROW}
    _check_one_way(where, row)
    members = checked.get("members", [""])
    for short in [f"{name}.{member}".rstrip(".") for name in checked["names"] for member in members]:
        name = prefix + short
        if name in rows:
            raise TableError(f"{where}: {short} has a row already")
        last = checked.get("rename", {}).get(short, short.rpartition(".")[2])
        rows[name] = {**_filled_in(row, {"{name}": name, "{last}": last}), "file": file}


def _filled_in(value: Any, words: Mapping[str, str]) -> Any:
    """Return a copy of plain data with the words replaced in all of its texts."""
    if isinstance(value, str):
        for word, text in words.items():
            value = value.replace(word, text)
        return value
    if isinstance(value, dict):
        return {key: _filled_in(item, words) for key, item in value.items()}
    return [_filled_in(item, words) for item in value] if isinstance(value, list) else value


def _rank(target: Mapping[str, Any]) -> tuple[bool, bool]:
    """Return the place of a target: mint's first, as only a device that asks for it has them, those for edges last."""
    return bool(target.get("edge")), not target["target"].startswith("mindspore.mint.")


def _tables(where: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise _fail(where, "[[...]] tables", value)
    return value


def _add_groups(file: str, table: Mapping[str, Any], prefix: str, rows: dict[str, dict[str, Any]]) -> None:
    """Add the rows of ``[[unsupported]]`` (names, advice) and ``[[kept]]`` (names, rule)."""
    for group, given, key in (("unsupported", "advice", "unsupported"), ("kept", "rule", "keep")):
        for index, entry in enumerate(_tables(f"{file}: {group}", table.get(group, []))):
            where = f"{file}: {group}[{index}]"
            checked = _checked(where, entry, _GROUP, ("names", given))
            for name in checked["names"]:
                if prefix + name in rows:
                    raise TableError(f"{where}: {name} has a row already")
                rows[prefix + name] = {key: checked[given], "file": file}
                if "kind" in checked:
                    rows[prefix + name]["kind"] = checked["kind"]


def _newest_of(where: str, versions: str) -> str:
    """Return the newest release that a range of an entry holds for."""
    for minor in range(NEWEST[1], -1, -1):
        if holds_for(versions, (NEWEST[0], minor)):
            return f"{NEWEST[0]}.{minor}"
    raise TableError(f"{where}: no release fulfils {versions!r}")


def _add_identical(where: str, entry: dict[str, Any], prefix: str, rows: dict[str, dict[str, Any]], file: str) -> None:
    """Add a target to the row of every name of an ``[[identical]]`` entry."""
    pairs = {name: name for name in entry.get("names", [])} | entry.get("rename", {})
    if not pairs:
        raise TableError(f"{where}: the key 'names' is missing")
    for name, renamed in pairs.items():
        source, target = prefix + name, f"{entry['to']}.{renamed}"
        row = rows.setdefault(source, {"to": [], "file": file})
        if "to" not in row:
            raise TableError(f"{where}: {name} has a row already, and it has no targets")
        if any(existing["target"] == target for existing in row["to"]):
            raise TableError(f"{where}: {name} has the target {target} already")
        keys = ("mindspore", "device", "codes", "notes", "unless", "deviates")
        row["to"].append({"target": target, "identical": True, **{key: entry[key] for key in keys if key in entry}})
        for key in ("returns", "kind"):
            if key in entry:
                row.setdefault(key, entry[key])
        if "example" in entry:
            before = entry["example"].replace("{name}", source).replace("{method}", name)
            after = entry["example"].replace("{name}", target).replace("{method}", renamed)
            example = {"before": before, "after": after, "run": entry.get("run", {})}
            if not holds_for(entry.get("mindspore", ">=2.0"), NEWEST):
                example["mindspore"] = _newest_of(where, entry["mindspore"])
            row.setdefault("example", []).append(example)


def _add_edge(where: str, entry: dict[str, Any], prefix: str, rows: dict[str, dict[str, Any]]) -> None:
    """Add a target for inputs at an edge to the rows of several names, with an example made for each."""
    keys = ("edge", "when", "drop", "mindspore")
    for name, renamed in ({name: name for name in entry.get("names", [])} | entry.get("rename", {})).items():
        row = rows.get(prefix + name)
        if row is None or "to" not in row:
            raise TableError(f"{where}: {name} has no row with targets in this file")
        target = f"{entry['to']}.{renamed}"
        row["to"].append({"target": target, **{key: entry[key] for key in keys if key in entry}})
        before = entry["before"].replace("{name}", prefix + name).replace("{method}", name)
        example = {"before": before, "after": entry["after"].replace("{name}", target), "run": entry["run"]}
        example["edge"] = entry["edge"]
        row.setdefault("example", []).append(example)
