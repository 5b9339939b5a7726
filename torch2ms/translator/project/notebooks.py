"""Jupyter notebooks: their code cells are one Python text on the way in, and cells again on the way out.

The cells are joined with a string statement in front of each, which no pass moves; magics (``%``, ``!``, ``?``) are
``pass`` meanwhile. A cell that is no Python (``%%bash``, or code that does not parse) is left alone.
In a notebook that changes, outputs are cleared: they were PyTorch's. The JSON keeps its indentation and key order.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass, field, replace
from typing import Any

from torch2ms.diagnostics import Diagnostic
from torch2ms.reports.model import Place
from torch2ms.translator.project.source_text import SourceText, diagnose, parse

__all__ = ["NotebookText", "read_notebook"]

_MARK = '"torch2ms: cell {number}"'
_MARK_LINE = re.compile(r'^"torch2ms: cell (\d+)"\n', re.MULTILINE)
_MAGIC = re.compile(r"^(?P<before>\s*(?:[\w, \t]+=\s*(?=[%!]))?)(?P<magic>[%!?].*|[\w.]+\?{1,2}\s*)$")
_STAND_IN = re.compile(r"(?:pass|None)  # torch2ms: magic (\d+)")
_PYTHON_CELLS = frozenset({"time", "timeit", "capture", "prun", "memit"})  # cell magics whose cells are Python


@dataclass(frozen=True, slots=True)
class _Cell:
    number: int  # as Jupyter counts all cells, from 1
    line: int  # of ``text`` where its code begins, from 1
    magics: tuple[str, ...]
    places: tuple[int, ...]  # for each of its lines, the line of the file


@dataclass(frozen=True, slots=True)
class NotebookText(SourceText):
    """A notebook whose ``text`` is the code of its Python cells."""

    cells: tuple[_Cell, ...] = field(default=(), compare=False)

    def restore(self, text: str) -> str:
        """Return the notebook with its code replaced by that of ``text``; unchanged text gives the file as it was."""
        raw = self.data.decode(self.encoding)
        sources = self.split(text)
        if text == self.text or sources is None:
            return raw
        notebook = json.loads(raw)
        for index, entry in enumerate(notebook["cells"], start=1):
            if entry.get("cell_type") != "code":
                continue
            if index in sources and sources[index] != _text(entry.get("source", [])):
                entry["source"] = _like(entry.get("source", []), sources[index])
            entry["outputs"], entry["execution_count"] = [], None
        indent = re.match(r"\{\r?\n([ \t]+)", raw)
        written = json.dumps(notebook, indent=indent.group(1) if indent else 1, ensure_ascii=raw.isascii())
        return written + "\n" if raw.endswith("\n") else written

    def encode(self, text: str) -> bytes:
        """Return the bytes to write for ``text``."""
        return self.data if text == self.text else self.restore(text).encode(self.encoding)

    def split(self, text: str) -> dict[int, str] | None:
        """Return the code of each cell by its number; None if the border of a cell is missing."""
        parts = _MARK_LINE.split(text)
        numbers = [int(number) for number in parts[1::2]]
        if numbers != [cell.number for cell in self.cells]:
            return None
        parts[2] = parts[0] + parts[2]
        return {
            cell.number: _STAND_IN.sub(lambda found, cell=cell: cell.magics[int(found.group(1))], code[:-1])
            for cell, code in zip(self.cells, parts[2::2], strict=True)
        }

    def locate(self, line: int) -> tuple[int, int]:
        """Return the line of the file and the number of the cell for a line of ``text``."""
        cell = max((c for c in self.cells if c.line <= line), key=lambda c: c.line, default=self.cells[0])
        offset = min(max(line - cell.line, 0), len(cell.places) - 1)
        return cell.places[offset], cell.number

    def diagnostic(self, found: Diagnostic) -> Diagnostic:
        """Return a diagnostic on ``text`` as one on the file."""
        line, number = self.locate(found.line)
        return replace(found, line=line, message=f"{found.message} (cell {number})")

    def place(self, found: Place) -> Place:
        """Return a place in ``text`` as one in the file."""
        return replace(found, line=self.locate(found.line)[0])


def read_notebook(data: bytes, path: str, *, is_parsed: bool = False) -> SourceText:
    """Return the Python text of a notebook; what is not one, or is of another language, has no ``text``.

    With ``is_parsed`` only the text is wanted: there is no ``tree`` then.
    """
    try:
        raw = data.decode("utf-8")
        notebook = json.loads(raw)
        entries = notebook["cells"]
        language = _language(notebook)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = f"no notebook of format 4: {type(error).__name__}: {error}"
        return SourceText(path, data, diagnostics=(diagnose("T2M101", path, 1, 1, reason),))
    if language != "python":
        return SourceText(path, data)
    lines: list[str] = []
    cells: list[_Cell] = []
    problems: list[Diagnostic] = []
    position = 0
    for number, entry in enumerate(entries, start=1):
        source, places, position = _source(entry, raw, position)
        if entry.get("cell_type") != "code" or not source.strip():
            continue
        code, magics, problem = _plain(source, path)
        if code is None and problem is not None:
            message = f"cell {number}, left as it is: {problem.message}"
            problems.append(replace(problem, line=places[min(problem.line, len(places)) - 1], message=message))
        elif "torch" in (source if code is None else "".join(magics)):
            message = f"cell {number} mentions torch in what is no Python; it was left as it is"
            problems.append(diagnose("T2M802", path, places[0], 1, message))
        if code is None:
            continue
        lines.append(_MARK.format(number=number))
        cells.append(_Cell(number, len(lines) + 1, magics, places))
        lines.extend(code.split("\n"))
    text = "".join(f"{line}\n" for line in lines)
    tree = ast.parse(text) if cells and not is_parsed else None
    if not cells:
        return SourceText(path, data, diagnostics=tuple(problems))
    return NotebookText(path, data, text, tree, diagnostics=tuple(problems), cells=tuple(cells))


def _language(notebook: dict[str, Any]) -> str:
    metadata = notebook.get("metadata", {})
    for key, name in (("language_info", "name"), ("kernelspec", "language")):
        if name in metadata.get(key, {}):
            return str(metadata[key][name]).lower()
    return "python"


def _source(entry: dict[str, Any], raw: str, position: int) -> tuple[str, tuple[int, ...], int]:
    """Return the text of a cell, for each of its lines the line of the file, and where to look for the next cell."""
    source = entry.get("source", "")
    pieces = [source] if isinstance(source, str) else [str(piece) for piece in source]
    places: list[int] = []
    for piece in pieces:
        found = -1
        for ascii_only in (False, True):
            literal = json.dumps(piece, ensure_ascii=ascii_only)
            found = raw.find(literal, position)
            if found >= 0:
                position = found + len(literal)
                break
        line = raw.count("\n", 0, max(found, position if found < 0 else found)) + 1
        places.extend([line] * max(piece.count("\n"), 1) if piece else [])
    text = _text(source)
    places.extend([places[-1] if places else 1] * (text.count("\n") + 1 - len(places)))
    return text, tuple(places), position


def _plain(source: str, path: str) -> tuple[str | None, tuple[str, ...], Diagnostic | None]:
    """Return a cell as plain Python and the magics taken out of it; None, and what is wrong, if it is none."""
    tree, problem = parse(source, path)
    if tree is not None:
        return source, (), None
    magics: list[str] = []
    lines = source.split("\n")
    for index, line in enumerate(lines):
        if line.startswith("%%") and line[2:].split(" ")[0] not in _PYTHON_CELLS:
            return None, (), None
        found = _MAGIC.match(line)
        if found is not None:
            before = found["before"]
            stand_in = "None" if before.strip() else "pass"
            lines[index] = f"{before}{stand_in}  # torch2ms: magic {len(magics)}"
            magics.append(found["magic"])
    code = "\n".join(lines)
    return (code, tuple(magics), None) if magics and parse(code, path)[0] is not None else (None, (), problem)


def _like(before: object, text: str) -> object:
    """Return the text of a cell in the form it had: a list of lines, or one string."""
    return text if isinstance(before, str) else re.findall(r"[^\n]*\n|[^\n]+", text)


def _text(source: object) -> str:
    """Return the text of a cell with the newlines that Python takes ``\\r\\n`` and ``\\r`` for."""
    pieces = [source] if isinstance(source, str) else source if isinstance(source, list) else []
    return "".join(map(str, pieces)).replace("\r\n", "\n").replace("\r", "\n")
