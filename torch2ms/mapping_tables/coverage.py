"""How much of torch the tables account for, and how much of that is proved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch2ms.config import API_FAMILIES, DEVICES, NEWEST, OLDEST, Target
from torch2ms.mapping_tables.call_shapes import LETTERS
from torch2ms.mapping_tables.catalogue import mindspore_releases, usage
from torch2ms.mapping_tables.lookup import Tables
from torch2ms.mapping_tables.proofs import PROVED_ON, proofs_of
from torch2ms.mapping_tables.schema import MappedTo, Row

__all__ = ["NAMESPACES", "coverage", "dump", "row_data"]

# What the table of coverage shows: the namespaces that programs use, the longest that fits counts.
NAMESPACES = (
    "torch", "torch.Tensor", "torch.nn", "torch.nn.functional", "torch.nn.init", "torch.nn.utils", "torch.optim",
    "torch.optim.lr_scheduler", "torch.utils.data", "torch.autograd", "torch.cuda", "torch.amp", "torch.backends",
    "torch.distributed", "torch.distributions", "torch.fft", "torch.linalg", "torch.special", "torch.jit",
    "torchvision.transforms", "torchvision.transforms.functional", "torchvision.datasets", "torchvision.models",
    "torchvision.ops", "torchvision.utils",
)  # fmt: skip


def coverage(tables: Tables) -> dict[str, Any]:
    """Return what the tables cover, as plain data.

    ``accounted`` rows: every torch name the tables know. Of these ``mapped`` have a target, ``kept`` stay by a rule and
    ``unsupported`` have none, with advice. ``proved``: mapped rows with an example that was executed in both frameworks
    with equal results and no example that failed. ``uses`` weighs the same by how often programs use a name.
    ``namespaces`` compares with torch's catalogue; ``versions`` counts the rows that have a target for each executed
    release on every device; ``examples`` counts the newest proofs, ``calls`` the rows whose call was executed with them
    in each shape.
    """
    rows = list(tables.rows())
    mapped = [row for row in rows if row.to]
    return {
        "accounted": len(rows),
        "mapped": len(mapped),
        "kept": sum(bool(row.keep) for row in rows),
        "unsupported": sum(bool(row.unsupported) for row in rows),
        "proved": sum(_is_proved(row) for row in mapped),
        "uses": _uses(tables, usage()),
        "examples": _examples(rows),
        "calls": _calls(mapped),
        "namespaces": _namespaces(tables, rows),
        "versions": {
            f"{major}.{minor}": sum(bool(tables.select(row, Target((major, minor)))) for row in mapped)
            for major, minor in mindspore_releases()
        },
        "fidelity": {
            name: sum(any(option.fidelity == name for option in row.to) for row in mapped)
            for name in ("exact", "approximate", "partial")
        },
    }


def _is_proved(row: Row) -> bool:
    proofs = proofs_of(row.name)
    return any(proof.executed for proof in proofs) and not any(proof.failed for proof in proofs)


def _examples(rows: list[Row]) -> dict[str, int]:
    found: dict[str, int] = {"written": sum(len(row.examples) for row in rows)}
    newest = f"{NEWEST[0]}.{NEWEST[1]}.0"
    for row in rows:
        for proof in proofs_of(row.name):
            if proof.mindspore == newest:
                found[proof.result] = found.get(proof.result, 0) + 1
    return found


def _namespaces(tables: Tables, rows: list[Row]) -> dict[str, dict[str, int]]:
    """Return for each namespace how many public names torch has and how many of them the tables account for."""
    found = {name: {"names": 0, "accounted": 0, "mapped": 0, "proved": 0} for name in NAMESPACES}
    used: dict[str, dict[str, int]] = {name: {} for name in NAMESPACES}
    for name, count in usage().items():
        home = tables.canonical(name).rpartition(".")[0]
        if home in used:
            used[home][name] = count
    for name, record in tables.catalogue.names.items():
        home = name.rpartition(".")[0]
        if home in found and record["k"] in ("class", "function", "method") and not record.get("d"):
            found[home]["names"] += 1
            row = tables.row(name)
            found[home]["accounted"] += row is not None
            found[home]["mapped"] += bool(row and row.to)
            found[home]["proved"] += bool(row and row.to and _is_proved(row))
    for home, counts in used.items():
        found[home] |= {f"uses {key}" if key != "uses" else key: value for key, value in _uses(tables, counts).items()}
    return found


def _uses(tables: Tables, counts: Mapping[str, int]) -> dict[str, int]:
    """Return how many uses there are, and how many of them are of names that the tables account for, map, prove."""
    found = {"uses": 0, "accounted": 0, "mapped": 0, "proved": 0}
    for name, count in counts.items():
        row = tables.row(name)
        known = bool(row or tables.is_module(name))  # a module is no API: its members are
        found["uses"] += count
        found["accounted"] += count * known
        found["mapped"] += count * bool(row and row.to)
        found["proved"] += count * bool(row and row.to and _is_proved(row))
    return found


def _calls(rows: list[Row]) -> dict[str, int]:
    newest = f"{NEWEST[0]}.{NEWEST[1]}.0"
    shapes = [
        {letter for p in proofs_of(row.name) if p.mindspore == newest for letter in p.executed_calls} for row in rows
    ]
    return {name: sum(letter in found for found in shapes) for letter, name in LETTERS.items()}


def dump(tables: Tables) -> list[dict[str, Any]]:
    """Return every row as plain data that JSON can hold, sorted by name."""
    return [row_data(tables, row) for row in sorted(tables.rows(), key=lambda row: row.name)]


def row_data(tables: Tables, row: Row) -> dict[str, Any]:
    """Return one row as plain data: its targets, what is emitted by release and device, examples and proofs."""
    return {
        "name": row.name,
        "kind": row.kind,
        "status": "mapped" if row.to else "kept" if row.keep else "unsupported",
        "file": row.file,
        "returns": row.returns,
        "advice": row.unsupported or row.keep,
        "targets": [_plain_target(option) for option in row.to],
        "emitted": _emitted(tables, row),
        "examples": [{"before": example.before, "after": example.after} for example in row.examples],
        "proofs": [
            {
                "example": p.example,
                "mindspore": p.mindspore,
                "device": p.device,
                "result": p.result,
                "difference": p.difference,
            }
            for device in PROVED_ON
            for p in proofs_of(row.name, device)
        ],
    }


def _plain_target(option: MappedTo) -> dict[str, Any]:
    return {
        "target": option.target,
        "recipe": option.recipe,
        "mindspore": option.mindspore,
        "device": sorted(option.device),
        "when": dict(option.when),
        "rename": dict(option.rename),
        "fidelity": option.fidelity,
        "notes": option.notes,
    }


def _emitted(tables: Tables, row: Row) -> dict[str, dict[str, str]]:
    """Return the first target (conditions on arguments left open) by release and device; mint under ``mint``."""
    found: dict[str, dict[str, str]] = {}
    for major, minor in [(OLDEST[0], minor) for minor in range(NEWEST[1] + 1)]:
        targets = {device: Target((major, minor), device) for device in DEVICES}
        chosen = {device: tables.select(row, target) for device, target in targets.items()}
        chosen[API_FAMILIES[2]] = tables.select(row, Target((major, minor), "portable", "mint"))  # type: ignore[index]
        found[f"{major}.{minor}"] = {device: options[0].target for device, options in chosen.items() if options}
    return found
