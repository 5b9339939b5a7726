"""Comments of a source that its translation lacks are put back, each on a line before the statement that follows.

A pass keeps the comments of the lines that it moves. What stood inside of brackets that are written anew is found here,
by comparing the two texts: ``optimizer.step(  # twice`` becomes ``# twice`` above what stands in its place.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher

from torch2ms.translator.syntax.ast_walk import walk

__all__ = ["with_lost_comments"]

_OURS = re.compile(r"# (TORCH2MS |only for what is marked TORCH2MS)")


def with_lost_comments(source: str, output: str) -> str:
    """Return ``output`` with those comments of ``source`` that it lacks."""
    if not _tails(source) - _tails(output):  # nearly always
        return output
    lost = list(_lost(source, output))
    if not lost:
        return output
    lines = output.split("\n")
    before, after = _matched(source.split("\n"), lines)
    starts = _statement_lines(output, lines)
    inserted: list[tuple[int, str]] = []  # line of ``output`` that a comment comes before, from 0
    for line, comment in lost:
        index = bisect_right(before, line - 1) - 1
        first = after[index] + 1 if index >= 0 else 0
        place = next((start for start in starts if start >= first), len(lines) - 1)
        indent = lines[place][: len(lines[place]) - len(lines[place].lstrip())]
        inserted.append((place, indent + comment))
    for place, text in reversed(inserted):
        lines.insert(place, text)
    return "\n".join(lines)


def _tails(text: str) -> Counter[str]:
    """Return what stands behind the first ``#`` of each line: no comment is lost where none of these is."""
    return Counter(line[line.index("#") :].rstrip() for line in text.split("\n") if "#" in line)


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of every comment."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.rstrip()


def _lost(source: str, output: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of the comments that ``output`` lacks."""
    try:
        kept = Counter(comment for _, comment in _comments(output))
        found = list(_comments(source))
    except (tokenize.TokenError, SyntaxError):
        return
    for line, comment in found:
        if kept[comment] > 0:
            kept[comment] -= 1
        elif not _OURS.match(comment):
            yield line, comment


def _matched(source: list[str], output: list[str]) -> tuple[list[int], list[int]]:
    """Return the lines that both texts have in the same order, as indices of the one and of the other."""
    before: list[int] = []
    after: list[int] = []
    for start, place, size in SequenceMatcher(None, source, output, autojunk=False).get_matching_blocks():
        before += range(start, start + size)
        after += range(place, place + size)
    return before, after


def _statement_lines(output: str, lines: list[str]) -> list[int]:
    """Return the lines, from 0, on which a statement begins that nothing stands before."""
    found = set()
    for node in walk(ast.parse(output)):
        if isinstance(node, ast.stmt):
            first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))]) - 1
            if not lines[first].encode()[: node.col_offset].strip():
                found.add(first)
    return sorted(found)
