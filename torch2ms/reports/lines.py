"""Which lines of two texts belong together.

``difflib`` alone either takes quadratic time on repetitive code or, with its junk heuristic, gives up on every line
that is repeated and shows a long file as one change. So lines that occur exactly once on both sides are matched first,
in the longest increasing run (the patience diff, after Bram Cohen); ``difflib`` works on the pieces between them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher

__all__ = ["Change", "changes", "split_lines"]

# Half-open ranges [old_start, old_end) and [new_start, new_end) that differ; equal lines lie between two of them.
Change = tuple[int, int, int, int]
_PRECISE = 100_000  # pairs of equal lines up to which difflib may look at all of them: a second at worst


def split_lines(text: str) -> list[str]:
    """Split at ``\\n`` only, as git does, and keep the ends (``str.splitlines`` also splits at form feeds)."""
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


def changes(old: list[str], new: list[str]) -> list[Change]:
    """Return what differs, in order; between two changes, and around them, both sides have equal lines."""
    found: list[Change] = []
    for old_start, old_end, new_start, new_end in _pieces(old, new):
        if old_start == old_end or new_start == new_end:
            _extend(found, (old_start, old_end, new_start, new_end))
            continue
        matcher = _matcher(old[old_start:old_end], new[new_start:new_end])
        for tag, i1, i2, j1, j2 in matcher.get_opcodes():
            if tag != "equal":
                _extend(found, (old_start + i1, old_start + i2, new_start + j1, new_start + j2))
    return found


def _extend(found: list[Change], change: Change) -> None:
    """Append a change, joined to the last one when no equal line lies between them."""
    if found and found[-1][1] == change[0] and found[-1][3] == change[2]:
        found[-1] = (found[-1][0], change[1], found[-1][2], change[3])
    else:
        found.append(change)


def _pieces(old: list[str], new: list[str]) -> Iterator[Change]:
    """Yield the ranges between the anchors, less the equal lines at their ends."""
    old_at = new_at = 0
    for i, j in [*_anchors(old, new), (len(old), len(new))]:
        if i < old_at or j < new_at:  # this anchor was already run over
            continue
        old_end, new_end = i, j
        while old_end > old_at and new_end > new_at and old[old_end - 1] == new[new_end - 1]:
            old_end, new_end = old_end - 1, new_end - 1
        while old_at < old_end and new_at < new_end and old[old_at] == new[new_at]:
            old_at, new_at = old_at + 1, new_at + 1
        if old_at < old_end or new_at < new_end:
            yield old_at, old_end, new_at, new_end
        old_at, new_at = i + 1, j + 1


def _anchors(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """Return the longest run of pairs, increasing on both sides, of lines that occur once on each side."""
    old_counts, new_counts = Counter(old), Counter(new)
    where = {line: index for index, line in enumerate(new) if new_counts[line] == 1}
    pairs = [(i, where[line]) for i, line in enumerate(old) if old_counts[line] == 1 and line in where]
    tops: list[int] = []  # the smallest end of a run of each length, by its line of the new side
    top_pairs: list[int] = []
    before: list[int] = []
    for index, (_, j) in enumerate(pairs):
        length = bisect_left(tops, j)
        before.append(top_pairs[length - 1] if length else -1)
        tops[length : length + 1] = [j]
        top_pairs[length : length + 1] = [index]
    run: list[tuple[int, int]] = []
    index = top_pairs[-1] if top_pairs else -1
    while index >= 0:
        run.append(pairs[index])
        index = before[index]
    return run[::-1]


def _matcher(old: list[str], new: list[str]) -> SequenceMatcher[str]:
    counts = Counter(new)
    pairs = sum(count * counts[line] for line, count in Counter(old).items())
    return SequenceMatcher(None, old, new, autojunk=pairs > _PRECISE)
