"""The two sides of a file as segments, the form in which report.html carries its diffs.

A segment is ``[0, n]`` (n equal lines that are not carried), ``[1, lines]`` (equal lines) or ``[2, old, new]`` (lines
that changed). What bounds the page: a long line is cut, a long file is carried around its changes and marks only, and
when the page is full, further files point to changes.diff; the page says each of these where it happens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from torch2ms.reports.lines import changes, split_lines
from torch2ms.reports.model import FileReport

__all__ = ["LINE_LIMIT", "LONG_FILE", "PAGE_LIMIT", "PageBudget", "Segment", "file_segments"]

LINE_LIMIT = 2_000  # characters of one line
LONG_FILE = 6_000  # lines; a longer file is carried around its changes and marks
PAGE_LIMIT = 16_000_000  # characters of code on the page
_CONTEXT = 5  # lines around a change or a mark in a long file

# Python ends a line there, git does not; the page counts lines as Python does
_LONE_RETURN = re.compile(r"\r(?!\n)")

Segment = list[Any]  # [0, n] | [1, lines] | [2, old, new]


@dataclass(slots=True)
class PageBudget:
    """How many characters of code the page may still take."""

    left: int = PAGE_LIMIT


def file_segments(file: FileReport, marked: set[int], used: bool, budget: PageBudget) -> dict[str, Any]:
    """Return what the page carries of one file.

    Keys: ``g`` segments (absent when there is nothing to show), ``add`` and ``del`` counts of lines, ``end`` [old, new]
    whether the text ends with a newline, ``crlf`` true when all lines end so, ``full`` true when the page had no room,
    ``one`` which side exists when only one does ("old" or "new"). ``marked`` are the lines of SRC with a diagnostic;
    ``used`` says that something links into the file.
    """
    if file.source is None and file.output is None:
        return {}
    if not file.changed and not marked and not used:
        return {}
    old, new = (split_lines(_LONE_RETURN.sub("\r\n", text or "")) for text in (file.source, file.output))
    if not file.changed:
        new = old
    segments: list[Segment] = _segments(old, new) if file.source is not None else [[2, [], new]]
    added = sum(len(segment[2]) for segment in segments if segment[0] == 2)
    removed = sum(len(segment[1]) for segment in segments if segment[0] == 2)
    shown: dict[str, Any] = {
        "add": added,
        "del": removed,
        "end": [not old or old[-1].endswith("\n"), not new or new[-1].endswith("\n")],
    }
    if file.source is None or not file.changed:
        shown["one"] = "new" if file.source is None else "old"
    crlf = _is_crlf(old, new) and not _LONE_RETURN.search((file.source or "") + (file.output or ""))
    if crlf:
        shown["crlf"] = True
    if max(len(old), len(new)) > LONG_FILE:
        segments = _around(segments, marked)
    segments = [_cut(segment, crlf) for segment in segments]
    size = sum(map(len, _lines(segments)))
    if size > budget.left:
        shown["full"] = True
        return shown
    budget.left -= size
    shown["g"] = segments
    return shown


def _lines(segments: list[Segment]) -> Iterator[str]:
    for segment in segments:
        if segment[0]:
            yield from (line for side in segment[1:] for line in side)


def _segments(old: list[str], new: list[str]) -> list[Segment]:
    segments: list[Segment] = []
    at = 0
    for old_start, old_end, new_start, new_end in changes(old, new):
        if at < old_start:
            segments.append([1, old[at:old_start]])
        segments.append([2, old[old_start:old_end], new[new_start:new_end]])
        at = old_end
    return [*segments, [1, old[at:]]] if at < len(old) else segments


def _around(segments: list[Segment], marked: set[int]) -> list[Segment]:
    """Carry only the lines near a change or a mark; long changed blocks are kept whole."""
    result: list[Segment] = []
    line = 1  # of the old side
    for index, segment in enumerate(segments):
        if segment[0] == 2:
            result.append(segment)
            line += len(segment[1])
            continue
        lines = segment[1]
        keep = {number + near - line for number in marked for near in range(-_CONTEXT, _CONTEXT + 1)}
        if index > 0:
            keep.update(range(_CONTEXT))
        if index < len(segments) - 1:
            keep.update(range(len(lines) - _CONTEXT, len(lines)))
        if len(segments) == 1:
            keep.update(range(_CONTEXT))
        result.extend(_fold(lines, keep))
        line += len(lines)
    return result


def _fold(lines: list[str], keep: set[int]) -> list[Segment]:
    result: list[Segment] = []
    for index, text in enumerate(lines):
        if index in keep:
            if not result or result[-1][0] != 1:
                result.append([1, []])
            result[-1][1].append(text)
        else:
            if not result or result[-1][0] != 0:
                result.append([0, 0])
            result[-1][1] += 1
    return result


def _is_crlf(old: list[str], new: list[str]) -> bool:
    ended = [line for line in old + new if line.endswith("\n")]
    return bool(ended) and all(line.endswith("\r\n") for line in ended)


def _cut(segment: Segment, crlf: bool) -> Segment:
    if segment[0] == 0:
        return segment
    return [segment[0], *([_cut_line(line, crlf) for line in side] for side in segment[1:])]


def _cut_line(line: str, crlf: bool) -> str:
    """Cut a long line; a carriage return stays, for the page to show, unless every line ends with one."""
    line = line.removesuffix("\n")
    if crlf:
        line = line.removesuffix("\r")
    if len(line) <= LINE_LIMIT:
        return line
    return f"{line[:LINE_LIMIT]}\N{HORIZONTAL ELLIPSIS} ({len(line) - LINE_LIMIT} more characters)"
