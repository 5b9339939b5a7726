"""The result of a translation, from which every report is made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from torch2ms.config import Target
from torch2ms.diagnostics import Diagnostic, Severity
from torch2ms.language import told

__all__ = [
    "ApiStatus",
    "ApiUse",
    "ChecklistItem",
    "FileReport",
    "FileStatus",
    "LeftOut",
    "PackageReport",
    "Place",
    "Report",
    "Script",
]

ApiStatus = Literal["mapped", "kept", "removed", "unsupported", "unknown"]
FileStatus = Literal["translated", "unchanged", "copied", "generated", "failed"]


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A place in SRC: relative path with ``/``, line and column counted from 1."""

    file: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class ApiUse:
    """One torch API of SRC (canonical name), what became of it, and everywhere it is used."""

    name: str
    status: ApiStatus
    targets: tuple[str, ...]  # canonical MindSpore names that were emitted for it; () when removed or not mapped
    fidelity: str  # exact | approximate | partial | ""
    advice: str
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class ChecklistItem:
    """One trick or hyperparameter the program uses, read statically from SRC.

    ``topic`` is one of: network, data, transforms, loss, optimizer, learning rate, weight decay, schedule, batch size,
    epochs, initialization, precision, distribution, seed, checkpoint, metric.
    """

    topic: str
    value: str  # as the source writes it, e.g. "Adam(lr=0.001, weight_decay=1e-05)"
    place: Place | None
    mindspore: str = ""  # what it became
    note: str = ""


@dataclass(frozen=True, slots=True)
class FileReport:
    """One file of SRC or one generated file of OUT.

    The texts keep their newlines as they are (``\\r\\n`` stays), so that a diff made from them applies to the bytes.
    """

    path: str
    status: FileStatus
    source: str | None = None  # text of SRC; None for binary and generated files
    output: str | None = None  # text of OUT; None when copied byte for byte or not written
    note: str = ""
    encoding: str = "utf-8"  # of both texts; "utf-8-sig": a byte order mark, which the texts leave out
    executable: bool = False  # a generated script

    @property
    def changed(self) -> bool:
        """Whether OUT's text differs from SRC's."""
        return self.output is not None and self.output != self.source


@dataclass(frozen=True, slots=True, order=True)
class LeftOut:
    """A file or folder (with a slash behind it) of SRC that is not in OUT, and why."""

    path: str
    reason: str  # "exclude PATTERN" | ".gitignore" | "build products" | "large data" | ...
    size: int = 0  # bytes of data
    files: int = 0

    @property
    def size_text(self) -> str:
        """The size as a person reads it, "" where it is not known."""
        files = "1 file" if self.files == 1 else f"{self.files} files"
        return f"{files}, {self.size / (1 << 20):,.0f} MiB" if self.files else ""

    def holds(self, path: str) -> bool:
        """Whether a file is, or lies below, what was left out."""
        return path.startswith(self.path) if self.path.endswith("/") else path == self.path


@dataclass(frozen=True, slots=True)
class Script:
    """A file of SRC that is run as a program, and the files of SRC that its imports reach, itself included."""

    path: str
    reaches: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PackageReport:
    """A package that was translated with SRC: what was found in it stands here, apart from the project's findings."""

    name: str
    version: str  # "" where nothing says it
    files: tuple[FileReport, ...]
    apis: tuple[ApiUse, ...]
    diagnostics: tuple[Diagnostic, ...]
    silenced: tuple[Diagnostic, ...] = ()
    on_import: tuple[Diagnostic, ...] = ()  # the errors outside of functions, which every importer meets

    @property
    def title(self) -> str:
        """Name and version as a person writes them."""
        return f"{self.name} {self.version}".rstrip()

    def count(self, severity: Severity) -> int:
        """Number of diagnostics of exactly this severity."""
        return sum(1 for diagnostic in self.diagnostics if diagnostic.severity == severity)


@dataclass(frozen=True, slots=True)
class Report:
    """All that a translation found and did, in deterministic order; what is a package's stands in ``packages``."""

    tool: str  # "torch2ms 0.1.0"
    target: Target
    files: tuple[FileReport, ...]
    apis: tuple[ApiUse, ...]
    checklist: tuple[ChecklistItem, ...]
    diagnostics: tuple[Diagnostic, ...]
    # What else was found, as plain JSON values without absolute paths: "networks" (list of "path:class"),
    # "entry" ("module:callable" of the network that is trained), ...
    facts: dict[str, object] = field(default_factory=dict)
    scripts: tuple[Script, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    silenced: tuple[Diagnostic, ...] = ()  # by a comment in the source, or by per-file-ignores
    packages: tuple[PackageReport, ...] = ()

    def count(self, severity: Severity) -> int:
        """Number of diagnostics of exactly this severity."""
        return sum(1 for diagnostic in self.diagnostics if diagnostic.severity == severity)

    @property
    def worst(self) -> Severity | None:
        """The highest severity, or None when nothing was found."""
        return max((diagnostic.severity for diagnostic in self.diagnostics), default=None)

    def in_language(self) -> Report:
        """Return the report with its texts in the language that is spoken; names, code and paths stay as they are."""
        return replace(
            self,
            files=tuple(replace(file, note=told(file.note)) for file in self.files),
            apis=tuple(replace(api, advice=told(api.advice)) for api in self.apis),
            checklist=tuple(replace(item, note=told(item.note)) for item in self.checklist),
            diagnostics=_told(self.diagnostics),
            left_out=tuple(replace(entry, reason=told(entry.reason)) for entry in self.left_out),
            silenced=_told(self.silenced),
            packages=tuple(
                replace(package, diagnostics=_told(package.diagnostics), on_import=_told(package.on_import))
                for package in self.packages
            ),
        )


def _told(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    return tuple(replace(found, message=told(found.message), advice=told(found.advice)) for found in diagnostics)
