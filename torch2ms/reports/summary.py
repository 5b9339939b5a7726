"""The figures every report shows, computed once from a Report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from torch2ms.config import Target
from torch2ms.diagnostics import Diagnostic, Severity
from torch2ms.language import tr
from torch2ms.reports.model import ApiStatus, ApiUse, FileStatus, Report

__all__ = ["API_STATUSES", "FILE_STATUSES", "SEVERITIES", "Proof", "Summary", "proof", "summarize"]

FILE_STATUSES: tuple[FileStatus, ...] = get_args(FileStatus)
API_STATUSES: tuple[ApiStatus, ...] = get_args(ApiStatus)
SEVERITIES: tuple[Severity, ...] = tuple(sorted(Severity, reverse=True))  # worst first

_DEVICES = {"ascend": "Ascend", "gpu": "GPU", "cpu": "CPU", "portable": "CPU"}


_OF_APIS = frozenset({"T2M201", "T2M202"})  # told with the APIs, not again with the codes


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
    other_errors: tuple[Diagnostic, ...]  # those at none of the places of ``unmapped``

    @property
    def satisfied(self) -> float | None:
        """Share (0 to 1) of the distinct torch APIs that are translated, kept or dropped by rule; None without any."""
        total = sum(self.apis.values())
        return (total - len(self.unmapped)) / total if total else None


@dataclass(frozen=True, slots=True)
class Proof:
    """What stands behind the mappings of one report.

    ``executed`` names the mapped APIs with an example that was executed in PyTorch and in the target's release of
    MindSpore and agrees; ``mapped`` counts all mapped APIs. The others rest on documentation.
    """

    executed: frozenset[str]
    mapped: int
    text: str

    @property
    def level(self) -> str:
        """One of "executed" (all of them), "partly executed", "documented only"."""
        if not self.executed:
            return "documented only"
        return "executed" if len(self.executed) == self.mapped else "partly executed"


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
    unmapped = [api for api in report.apis if api.status in ("unsupported", "unknown")]
    told = {(api.name, place.file, place.line) for api in unmapped for place in api.places}
    errors = (found for found in report.diagnostics if found.severity == Severity.ERROR and found.code not in _OF_APIS)
    return Summary(
        files={status: files[status] for status in FILE_STATUSES},
        apis={status: apis[status] for status in API_STATUSES},
        uses={status: uses[status] for status in API_STATUSES},
        severities={severity: report.count(severity) for severity in SEVERITIES},
        by_file=by_file,
        unmapped=tuple(sorted(unmapped, key=lambda api: (-len(api.places), api.name))),
        other_errors=tuple(found for found in errors if (found.symbol, found.file, found.line) not in told),
    )


def proof(report: Report) -> Proof:
    """Say how far the mappings used in ``report`` are proved, from the proofs that come with the tables.

    A portable target counts what was executed on CPU, and says beside it what was on GPU; Ascend is always documented
    only.
    """
    target = report.target
    release = f"MindSpore {target.mindspore[0]}.{target.mindspore[1]}"
    device = _DEVICES[target.device]
    mapped = [api.name for api in report.apis if api.status == "mapped"]
    executed, failed = _executed(mapped, target, device)
    portable = target.device == "portable"
    gpu, broken = _executed(mapped, target, "GPU") if portable else (frozenset(), ())
    if not executed:
        devices = tr("CPU, Ascend and GPU") if portable else device
        text = tr("{release} on {devices}: documented, not executed.", release=release, devices=devices)
        return Proof(executed, len(mapped), text)
    text = tr(
        "{release} on {device}: {executed} of {mapped} mapped APIs have an example that ran in both frameworks and "
        "agrees{rest}.",
        release=release,
        device=device,
        executed=len(executed),
        mapped=len(mapped),
        rest=_rest(len(mapped) - len(executed), failed),
    )
    if gpu or broken:
        rest = _rest(len(mapped) - len(gpu), broken)
        text += tr(" On GPU: {executed} of {mapped}{rest}.", executed=len(gpu), mapped=len(mapped), rest=rest)
        text += tr(" On Ascend: documented, not executed.")
    elif portable:
        text += tr(" On Ascend and GPU: documented, not executed.")
    return Proof(executed, len(mapped), text)


def _rest(others: int, failed: Sequence[str]) -> str:
    """Say what is with the APIs that were not executed with success."""
    fails = tr("; an example fails there of: {names}", names=", ".join(failed)) if failed else ""
    return fails if others == len(failed) else tr(", the others are documented only") + fails


def _executed(names: Sequence[str], target: Target, device: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the APIs whose examples were executed on a device and agree, and those of which one failed there."""
    from torch2ms.mapping_tables.proofs import proofs_of

    release = f"{target.mindspore[0]}.{target.mindspore[1]}."
    executed, failed = set(), []
    for name in names:
        proofs = [entry for entry in proofs_of(name, device) if f"{entry.mindspore}.".startswith(release)]
        if any(entry.failed for entry in proofs):
            failed.append(name)
        elif any(entry.executed for entry in proofs):
            executed.add(name)
    return frozenset(executed), tuple(failed)
