"""What changed between two reports of one project: did a commit, a release of torch2ms or another target help?

Reports are read as report.json, so that they may come from different machines and times. A diagnostic is known by its
file, code and symbol, never by its line: lines above it come and go.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from torch2ms.errors import InputError

__all__ = ["Changes", "compare_reports", "read_report"]

_PLACES = ("", "report.json", "torch2ms_report/report.json")
_DONE = ("mapped", "kept", "removed")


@dataclass(frozen=True, slots=True)
class Changes:
    """What NEW has that OLD had not, and the other way round; texts are sorted, diagnostics are ``file: code symbol``.

    ``apis_gained``: names that are translated now; ``apis_lost``: names that are not translated, and were or were not
    there. ``fixed`` and ``appeared`` are errors and warnings.
    """

    old: dict[str, Any]
    new: dict[str, Any]
    apis_gained: tuple[str, ...]
    apis_lost: tuple[str, ...]
    fixed: tuple[str, ...]
    appeared: tuple[str, ...]
    scripts_ready: tuple[str, ...]
    scripts_blocked: tuple[str, ...]

    @property
    def is_worse(self) -> bool:
        """Whether anything was lost: a name, a script, or a diagnostic more."""
        return bool(self.apis_lost or self.appeared or self.scripts_blocked)

    def to_json(self) -> str:
        """Return the changes as docs/compare.schema.json describes them, ending with a newline."""
        return json.dumps({"schema": 1, "worse": self.is_worse, **asdict(self)}, indent=1, ensure_ascii=False) + "\n"

    def to_text(self) -> str:
        """Return the changes as a person reads them."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield (
            "{translated} of {apis}".format(**self.old)
            + " -> {translated} of {apis}".format(**self.new)
            + "  torch APIs"
        )
        for key in ("errors", "warnings"):
            yield f"{self.old[key]} -> {self.new[key]}  {key}"
        for heading, entries in (
            ("translated now", self.apis_gained),
            ("not translated any more, or new and not translated", self.apis_lost),
            ("fixed", self.fixed),
            ("new errors and warnings", self.appeared),
            ("scripts that can run now", self.scripts_ready),
            ("scripts that cannot run any more", self.scripts_blocked),
        ):
            if entries:
                yield f"{heading}: {len(entries)}"
                yield from (f"  {entry}" for entry in entries)
        yield "worse" if self.is_worse else "no worse"


def read_report(path: Path) -> dict[str, Any]:
    """Return the report.json at ``path``, in it, or in the OUT that it is; raises InputError where there is none."""
    for place in _PLACES:
        file = path / place if place else path
        if file.is_file():
            try:
                document = json.loads(file.read_bytes())
                if document["schema"] == 1 and isinstance(document["diagnostics"], list):
                    return dict(document)
            except (ValueError, KeyError, TypeError, RecursionError):
                pass
            raise InputError(f"{file} is no report of torch2ms")
    advice = "write one with: torch2ms scan SRC --report DIR"
    raise InputError(f"{path}: no report.json there", advice=advice)


def compare_reports(old: Mapping[str, Any], new: Mapping[str, Any]) -> Changes:
    """Return what changed from the report ``old`` to the report ``new``, both as :func:`read_report` gives them."""
    before, after = _done(old), _done(new)
    told, tells = _told(old), _told(new)
    ran, runs = _ready(old), _ready(new)
    return Changes(
        _counts(old),
        _counts(new),
        tuple(sorted(name for name, done in after.items() if done and not before.get(name, False))),
        tuple(sorted(name for name, done in after.items() if not done and before.get(name, True))),
        tuple(sorted((told - tells).elements())),
        tuple(sorted((tells - told).elements())),
        tuple(sorted(path for path, ready in runs.items() if ready and ran.get(path) is False)),
        tuple(sorted(path for path, ready in runs.items() if not ready and ran.get(path) is True)),
    )


def _done(report: Mapping[str, Any]) -> dict[str, bool]:
    return {api["name"]: api["status"] in _DONE for api in report["apis"]}


def _ready(report: Mapping[str, Any]) -> dict[str, bool]:
    return {script["path"]: script["state"] == "ready" for script in report["scripts"]}


def _told(report: Mapping[str, Any]) -> Counter[str]:
    found: Sequence[Mapping[str, Any]] = report["diagnostics"]
    return Counter(
        f"{entry['file']}: {entry['code']} {entry['symbol']}".rstrip() for entry in found if entry["severity"] != "note"
    )


def _counts(report: Mapping[str, Any]) -> dict[str, Any]:
    done = _done(report)
    severities = report["summary"]["diagnostics"]
    return {
        "tool": report["tool"],
        "apis": len(done),
        "translated": sum(done.values()),
        "errors": severities["error"],
        "warnings": severities["warning"],
    }
