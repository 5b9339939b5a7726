"""Proofs: what happened when an example was executed, kept in ``proofs.json``."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from torch2ms.mapping_tables.lookup import Tables
from torch2ms.mapping_tables.schema import Example

__all__ = ["PROOFS", "Proof", "digest_of", "proofs_of", "read_proofs", "write_proofs"]

PROOFS = Path(__file__).with_name("proofs.json")
_FAILED = ("different", "error")


@dataclass(frozen=True, slots=True, order=True)
class Proof:
    """The outcome of one example with one MindSpore release.

    ``result``: "equal" (values; ``difference`` is the largest, as a share of the largest magnitude or of 1),
    "same shape", "same distribution", "both raise", "ran", or "different", "error", or "skipped" (not executed:
    ``detail`` says why).
    """

    row: str
    example: int
    mindspore: str
    device: str
    result: str
    difference: float | None
    digest: str
    detail: str = ""

    @property
    def failed(self) -> bool:
        """Whether the example was executed and is wrong."""
        return self.result in _FAILED

    @property
    def executed(self) -> bool:
        """Whether the example was executed in both frameworks and they agree; that both ran is not enough."""
        return not self.failed and self.result not in ("skipped", "ran")


def digest_of(example: Example) -> str:
    """Return a short digest of all that an example says."""
    text = json.dumps([example.before, example.after, dict(example.run)], sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


def read_proofs(path: Path = PROOFS) -> list[Proof]:
    """Return the proofs of a file, none when there is no file."""
    if not path.exists():
        return []
    return [Proof(*fields) for fields in json.loads(path.read_text(encoding="utf-8"))["proofs"]]


def write_proofs(path: Path, proofs: Iterable[Proof], tables: Tables) -> None:
    """Write the newest proof of each example and release, without those of examples that changed or are no more."""
    newest = {(proof.row, proof.example, proof.mindspore, proof.device): proof for proof in proofs}
    valid = {(row.name, i): digest_of(example) for row in tables.rows() for i, example in enumerate(row.examples)}
    kept = sorted(proof for key, proof in newest.items() if valid.get(key[:2]) == proof.digest)
    lines = ",\n".join(json.dumps(_fields(proof)) for proof in kept)
    path.write_text(f'{{"fields": {json.dumps(list(Proof.__slots__))},\n"proofs": [\n{lines}\n]}}\n', encoding="utf-8")


def _fields(proof: Proof) -> list[object]:
    difference = None if proof.difference is None else float(f"{proof.difference:.2g}")
    return [
        proof.row, proof.example, proof.mindspore, proof.device, proof.result, difference, proof.digest, proof.detail
    ]  # fmt: skip


@lru_cache(maxsize=1)
def _shipped() -> dict[str, list[Proof]]:
    found: dict[str, list[Proof]] = {}
    for proof in read_proofs():
        found.setdefault(proof.row, []).append(proof)
    return found


def proofs_of(row: str) -> list[Proof]:
    """Return the shipped proofs of a row."""
    return _shipped().get(row, [])
