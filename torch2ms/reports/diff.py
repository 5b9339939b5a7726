"""changes.diff: a unified diff from SRC to OUT that ``git apply`` takes.

Diffs are made from the bytes each text stands for in its file's encoding, carried as text with ``surrogateescape``:
a Latin-1 file or a byte order mark must reach the patch unchanged. Write the result with
``encode("utf-8", "surrogateescape")``.
"""

from __future__ import annotations

from collections.abc import Iterator

from torch2ms.reports.lines import Change, changes, split_lines
from torch2ms.reports.model import FileReport, Report

__all__ = ["file_diff", "to_diff"]

_CONTEXT = 3
_ESCAPES = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}


def to_diff(report: Report, *, generated: bool = True) -> str:
    """Return the diff of all changed files, and then of the generated ones; "" when nothing changed.

    Files whose texts are not in the report (binary, copied byte for byte) do not appear.
    """
    own = [file for file in report.files if file.status != "generated"]
    made = [file for file in report.files if file.status == "generated"] if generated else []
    return "".join(file_diff(file) for file in (*own, *made))


def file_diff(file: FileReport) -> str:
    """Return the diff of one file, "" when it is not changed."""
    if file.output is None or not file.changed:
        return ""
    old = None if file.source is None else _bytes_as_text(file.source, file.encoding)
    new = _bytes_as_text(file.output, file.encoding)
    before, after = _quote("a/" + file.path), _quote("b/" + file.path)
    head = f"diff --git {before} {after}\n"
    if old is None:
        head += f"new file mode {'100755' if file.executable else '100644'}\n"
        if not new:  # git wants the index line when there is no hunk
            return head + "index 0000000000000000000000000000000000000000..e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\n"
        before = "/dev/null"
    hunks = "".join(_hunks(split_lines(old or ""), split_lines(new)))
    return head + f"--- {_end_name(before)}\n+++ {_end_name(after)}\n" + hunks if hunks else ""


def _hunks(old: list[str], new: list[str]) -> Iterator[str]:
    for hunk in _near(changes(old, new)):
        old_start, new_start = max(0, hunk[0][0] - _CONTEXT), max(0, hunk[0][2] - _CONTEXT)
        old_end, new_end = min(len(old), hunk[-1][1] + _CONTEXT), min(len(new), hunk[-1][3] + _CONTEXT)
        yield f"@@ -{_range(old_start, old_end)} +{_range(new_start, new_end)} @@\n"
        at = old_start
        for removed, removed_end, added, added_end in hunk:
            yield from (_line(" ", line) for line in old[at:removed])
            yield from (_line("-", line) for line in old[removed:removed_end])
            yield from (_line("+", line) for line in new[added:added_end])
            at = removed_end
        yield from (_line(" ", line) for line in old[at:old_end])


def _near(found: list[Change]) -> Iterator[list[Change]]:
    """Group the changes whose contexts touch: each group is one hunk."""
    hunk: list[Change] = []
    for change in found:
        if hunk and change[0] - hunk[-1][1] > 2 * _CONTEXT:
            yield hunk
            hunk = []
        hunk.append(change)
    if hunk:
        yield hunk


def _range(start: int, end: int) -> str:
    length = end - start
    return f"{start + 1 if length else start},{length}"


def _line(mark: str, line: str) -> str:
    return mark + line if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"


def _bytes_as_text(text: str, encoding: str) -> str:
    """Return what the text's bytes read as in UTF-8, bytes that are none carried as lone surrogates."""
    try:
        data = text.encode(encoding, "surrogateescape")
    except (LookupError, UnicodeEncodeError):  # an encoding that is not its own: the report is still written
        data = text.encode("utf-8", "surrogatepass")
    return data.decode("utf-8", "surrogateescape")


def _quote(name: str) -> str:
    """Return a path as git writes it: C-quoted when it holds anything but plain ASCII."""
    raw = name.encode("utf-8", "surrogateescape")
    if all(32 <= byte < 127 and byte not in (34, 92) for byte in raw):
        return name
    quoted = "".join(_ESCAPES.get(byte, chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}") for byte in raw)
    return f'"{quoted}"'


def _end_name(name: str) -> str:
    """Mark where an unquoted name with spaces ends: git puts a tab behind it."""
    return name + "\t" if " " in name and not name.startswith('"') else name
