"""Proofs: what happened when an example was executed, kept in ``proofs.json``."""

from __future__ import annotations

import hashlib
import json
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from torch2ms.mapping_tables.example_calls import producer
from torch2ms.mapping_tables.lookup import Tables
from torch2ms.mapping_tables.runtime_source import runtime_code
from torch2ms.mapping_tables.schema import Example, Row

__all__ = ["PROOFS", "PROVED_ON", "Proof", "digest_of", "failure_on", "proofs_of", "read_proofs", "write_proofs"]

PROOFS = Path(__file__).with_name("proofs.json")
PROVED_ON = ("CPU", "GPU")
"""Where examples were executed: all of them on CPU, which is what coverage counts."""
_FAILED = ("different", "error")
# What a target says about the call that is emitted; its notes and diagnostics may change without a new proof.
_PROVED_KEYS = (
    "target", "recipe", "mindspore", "device", "when", "rename", "transform", "write_default", "named", "add", "drop",
    "reject", "state", "reshape",
)  # fmt: skip


@dataclass(frozen=True, slots=True, order=True)
class Proof:
    """The outcome of one example with one MindSpore release.

    ``result``: "equal" (values; ``difference`` is the largest, as a share of the largest magnitude or of 1),
    "same shape", "same distribution", "both raise", "ran", or "different", "error", or "skipped" (not executed:
    ``detail`` says why). ``calls`` are the letters of ``call_shapes.LETTERS`` that the call was executed in, with the
    same outcome, and after a slash those that are marked instead. ``graph`` is what came out under ``mindspore.jit``:
    "equal", "different", "fails", or empty where that was no question.
    """

    row: str
    example: int
    mindspore: str
    device: str
    result: str
    difference: float | None
    digest: str
    detail: str = ""
    calls: str = ""
    graph: str = ""

    @property
    def failed(self) -> bool:
        """Whether the example was executed and is wrong."""
        return self.result in _FAILED

    @property
    def executed(self) -> bool:
        """Whether the example was executed in both frameworks and they agree; that both ran is not enough."""
        return not self.failed and self.result not in ("skipped", "ran")

    @property
    def executed_calls(self) -> str:
        """The letters of the call shapes that were executed and agree."""
        return self.calls.partition("/")[0]


def digest_of(tables: Tables, row: Row, example: Example) -> str:
    """Return a short digest of all that a proof rests on.

    That is what the example says, the target it shows (its releases, devices and what becomes of the arguments) and the
    runtime's code that it reaches.
    """
    option = producer(tables, row, example)
    shown = {} if option is None else {key: _data(getattr(option, key)) for key in _PROVED_KEYS}
    objects = [code["mindspore"] for code in dict(example.run.get("objects", {})).values()]
    runtime = runtime_code("\n".join([example.after, *objects]))
    text = json.dumps([example.before, example.after, dict(example.run), shown, runtime], sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


def _data(value: object) -> object:
    if isinstance(value, frozenset):
        return sorted(value)
    return dict(value) if isinstance(value, Mapping) else value


def read_proofs(path: Path = PROOFS) -> list[Proof]:
    """Return the proofs of a file, none when there is no file."""
    if not path.exists():
        return []
    return [Proof(*fields) for fields in json.loads(path.read_text(encoding="utf-8"))["proofs"]]


def write_proofs(path: Path, proofs: Iterable[Proof], tables: Tables) -> None:
    """Write the newest proof of each example and release, without those of examples that changed or are no more."""
    newest = {(proof.row, proof.example, proof.mindspore, proof.device): proof for proof in proofs}
    valid = {
        (row.name, index): digest_of(tables, row, example)
        for row in tables.rows()
        for index, example in enumerate(row.examples)
    }
    kept = sorted(proof for key, proof in newest.items() if valid.get(key[:2]) == proof.digest)
    lines = ",\n".join(json.dumps(_fields(proof)) for proof in kept)
    path.write_text(f'{{"fields": {json.dumps(list(Proof.__slots__))},\n"proofs": [\n{lines}\n]}}\n', encoding="utf-8")


def _fields(proof: Proof) -> list[object]:
    difference = None if proof.difference is None else float(f"{proof.difference:.2g}")
    fields = [
        proof.row, proof.example, proof.mindspore, proof.device, proof.result, difference, proof.digest, proof.detail,
        proof.calls, proof.graph,
    ]  # fmt: skip
    while fields[-1] == "":  # the last ones have defaults
        fields.pop()
    return fields


@lru_cache(maxsize=1)
def _shipped() -> dict[str, list[Proof]]:
    found: dict[str, list[Proof]] = {}
    for proof in read_proofs():
        found.setdefault(proof.row, []).append(proof)
    return found


def failure_on(row: str, device: str, release: str) -> str:
    """Return how a release ("2.10") failed on a device in all examples of a row; empty if one agrees, or none ran."""
    proofs = [proof for proof in proofs_of(row, device) if proof.mindspore.startswith(f"{release}.")]
    if any(proof.executed for proof in proofs):
        return ""
    detail = next((proof.detail for proof in proofs if proof.failed), "")
    return textwrap.shorten(" ".join(word for word in detail.split() if word.strip("-")), 110, placeholder=" ...")


def proofs_of(row: str, device: str = "CPU") -> list[Proof]:
    """Return the shipped proofs of a row on one of ``PROVED_ON``."""
    return [proof for proof in _shipped().get(row, []) if proof.device == device]
