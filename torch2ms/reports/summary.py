"""The figures every report shows, computed once from a Report."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import get_args

from torch2ms.config import Target
from torch2ms.diagnostics import Severity
from torch2ms.reports.model import ApiStatus, ApiUse, FileStatus, Report

__all__ = ["API_STATUSES", "FILE_STATUSES", "SEVERITIES", "Proof", "Summary", "proof", "summarize"]

FILE_STATUSES: tuple[FileStatus, ...] = get_args(FileStatus)
API_STATUSES: tuple[ApiStatus, ...] = get_args(ApiStatus)
SEVERITIES: tuple[Severity, ...] = tuple(sorted(Severity, reverse=True))  # worst first

# The releases that the package index carries, on which the project executes its mappings (CPU).
_EXECUTED = frozenset({(2, 0), (2, 7), (2, 8), (2, 9), (2, 10)})


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts of one report.

    ``uses`` counts places, ``apis`` distinct names; ``unmapped`` lists the APIs left for a person, most used first.
    """

    files: dict[FileStatus, int]
    apis: dict[ApiStatus, int]
    uses: dict[ApiStatus, int]
    severities: dict[Severity, int]
    by_file: dict[str, dict[Severity, int]]
    unmapped: tuple[ApiUse, ...]

    @property
    def satisfied(self) -> float | None:
        """Share (0 to 1) of the distinct torch APIs that are translated, kept or dropped by rule; None without any."""
        total = sum(self.apis.values())
        return (total - len(self.unmapped)) / total if total else None


@dataclass(frozen=True, slots=True)
class Proof:
    """How far the target of a translation is proved: by execution, or by documentation only."""

    executed: bool
    text: str


def summarize(report: Report) -> Summary:
    """Count files, APIs, uses and diagnostics; keys appear in a fixed order, zeros included."""
    files = Counter(file.status for file in report.files)
    apis = Counter(api.status for api in report.apis)
    uses: Counter[ApiStatus] = Counter()
    for api in report.apis:
        uses[api.status] += len(api.places)
    by_file: dict[str, dict[Severity, int]] = {}
    for diagnostic in report.diagnostics:
        counts = by_file.setdefault(diagnostic.file, dict.fromkeys(SEVERITIES, 0))
        counts[diagnostic.severity] += 1
    unmapped = (api for api in report.apis if api.status in ("unsupported", "unknown"))
    return Summary(
        files={status: files[status] for status in FILE_STATUSES},
        apis={status: apis[status] for status in API_STATUSES},
        uses={status: uses[status] for status in API_STATUSES},
        severities={severity: report.count(severity) for severity in SEVERITIES},
        by_file=by_file,
        unmapped=tuple(sorted(unmapped, key=lambda api: (-len(api.places), api.name))),
    )


def proof(target: Target) -> Proof:
    """Say what stands behind the mappings for ``target``: execution on CPU, or documentation only."""
    release = f"MindSpore {target.mindspore[0]}.{target.mindspore[1]}"
    if target.mindspore not in _EXECUTED:
        return Proof(False, f"{release}: documented, not executed. Its package was not available to run.")
    if target.device == "cpu":
        return Proof(True, f"{release} on CPU: executed.")
    if target.device == "portable":
        return Proof(True, f"{release} on CPU: executed. On Ascend and GPU: documented, not executed.")
    device = {"ascend": "Ascend", "gpu": "GPU"}[target.device]
    return Proof(False, f"{release} on {device}: documented, not executed.")
