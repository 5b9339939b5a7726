"""The result of a verification, as an object, a table and JSON."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

from torch2ms.verify.figures import Figure

__all__ = ["SCHEMA", "VerifyReport"]

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """Every figure of a verification; ``problems`` name what could not be compared and count as failures."""

    entry: str
    figures: tuple[Figure, ...]
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)  # versions, seeds, inputs, where the floor comes from
    curves: dict[str, list[float]] = field(default_factory=dict)  # loss of each step: pytorch, twin, mindspore

    @property
    def passed(self) -> bool:
        """Whether something was compared, nothing is left over, and every figure holds."""
        return bool(self.figures) and not self.problems and all(figure.passed for figure in self.figures)

    def to_json(self) -> dict[str, Any]:
        """Return plain data for ``json.dumps``; figures that are no number are null."""
        figures = [
            {
                key: (None if isinstance(value, float) and not math.isfinite(value) else value)
                for key, value in asdict(figure).items()
            }
            for figure in self.figures
        ]
        return {
            "schema": SCHEMA,
            "entry": self.entry,
            "passed": self.passed,
            "figures": figures,
            "problems": list(self.problems),
            "notes": list(self.notes),
            "facts": self.facts,
            "curves": self.curves,
        }

    def rows(self) -> list[tuple[str, str, str, str, str]]:
        """Return the table's rows: what, MindSpore's error, PyTorch's own error, the limit, the verdict."""
        return [
            (
                f"{figure.group}: {figure.name}" + (f" ({figure.note})" if figure.note else ""),
                _number(figure.ours),
                _number(figure.floor),
                _number(figure.limit),
                "ok" if figure.passed else "FAILED",
            )
            for figure in self.figures
        ]

    def to_text(self) -> str:
        """Return the table as plain text, with the problems under it and the verdict in the last line."""
        rows = [("check", "MindSpore", "floor", "limit", ""), *self.rows()]
        widths = [max(len(row[column]) for row in rows) for column in range(5)]
        lines = ["  ".join(_aligned(row, widths)).rstrip() for row in rows]
        lines.insert(1, "-" * len(lines[0]))
        lines += [f"note: {note}" for note in self.notes]
        lines += [f"problem: {problem}" for problem in self.problems]
        failed = sum(not figure.passed for figure in self.figures)
        if self.passed:
            lines.append(f"{len(self.figures)} figures, all within their limits")
        else:
            lines.append(f"FAILED: {failed} of {len(self.figures)} figures, {len(self.problems)} problems")
        return "\n".join(lines)


def _aligned(row: tuple[str, ...], widths: list[int]) -> list[str]:
    return [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]


def _number(value: float) -> str:
    if not math.isfinite(value):
        return "-" if math.isnan(value) else "inf"
    return f"{value:.1e}" if value else "0"
