"""The result of one file: its text, its diagnostics and the APIs it uses."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch2ms.diagnostics import Diagnostic
from torch2ms.translator.context import Use
from torch2ms.translator.output.program import ProgramFindings

__all__ = ["FileResult"]


@dataclass(frozen=True, slots=True)
class FileResult:
    """What became of one Python file. ``text`` is None when it stays as it is."""

    path: str
    text: str | None
    diagnostics: tuple[Diagnostic, ...] = ()
    uses: tuple[Use, ...] = ()
    failed: bool = False
    silenced: tuple[Diagnostic, ...] = ()  # diagnostics that comments of the user silence
    program: ProgramFindings = field(default_factory=ProgramFindings)
