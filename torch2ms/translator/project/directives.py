"""Comments that steer torch2ms: ``# torch2ms: ignore[T2M203]`` and ``# torch2ms: skip-file``.

``ignore`` silences diagnostics of the statement whose line it stands on, or of the one below it where it stands alone.
``skip-file``, on a line of its own, leaves the whole file as it is. What is silenced is counted, never forgotten.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pathspec import GitIgnoreSpec

from torch2ms.diagnostics import Diagnostic

__all__ = ["Ignores", "Silence", "is_skipped", "silence"]

_WORD = "torch2ms:"
_IGNORE = re.compile(r"#\s*torch2ms:\s*ignore\[([^\]]*)\]")
_SKIP = re.compile(r"^[ \t]*#\s*torch2ms:\s*skip-file\b", re.MULTILINE)
_BLANK = (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT)
_NEVER = "T2M900"  # a fault of ours is no matter of taste

Ignores = Sequence[tuple[str, Sequence[str]]]  # pattern of paths -> codes, or beginnings of codes


@dataclass(frozen=True, slots=True)
class Silence:
    """What of one file's diagnostics the user does not want to hear of."""

    lines: Mapping[int, frozenset[str]] = field(default_factory=dict)  # line -> codes that a comment silences there
    codes: tuple[str, ...] = ()  # beginnings of codes that the settings silence in the whole file

    def hides(self, code: str, line: int) -> bool:
        """Whether a diagnostic is silenced; a fault of torch2ms never is."""
        return code != _NEVER and (code in self.lines.get(line, ()) or code.startswith(self.codes))

    def split(self, found: Iterable[Diagnostic]) -> tuple[tuple[Diagnostic, ...], tuple[Diagnostic, ...]]:
        """Return the diagnostics that stay, and those that are silenced."""
        kept: list[Diagnostic] = []
        silenced: list[Diagnostic] = []
        for one in found:
            (silenced if self.hides(one.code, one.line) else kept).append(one)
        return tuple(kept), tuple(silenced)


def is_skipped(text: str) -> bool:
    """Whether a file asks to be left as it is."""
    if _WORD not in text or _SKIP.search(text) is None:
        return False
    return any(token.type == tokenize.COMMENT and _SKIP.match(token.string) for token in _tokens(text))


def silence(path: str, text: str, ignores: Ignores = ()) -> Silence:
    """Return what comments of a file's text, and the settings of the project, silence in it."""
    matching = (codes for pattern, codes in ignores if GitIgnoreSpec.from_lines([pattern]).match_file(path))
    return Silence(_lines(text), tuple(code for codes in matching for code in codes))


def _lines(text: str) -> dict[int, frozenset[str]]:
    """Return the lines whose diagnostics comments silence, with their codes."""
    if _WORD not in text or _IGNORE.search(text) is None:
        return {}
    found: dict[int, set[str]] = {}
    waiting: set[str] = set()  # codes of the comments before, or within, the statement
    start = 0
    for token in _tokens(text):
        if token.type == tokenize.COMMENT:
            for match in _IGNORE.finditer(token.string):
                waiting |= {code.strip().upper() for code in match[1].split(",")}
        elif token.type == tokenize.NEWLINE:
            for line in range(start, token.start[0] + 1) if waiting else ():
                found.setdefault(line, set()).update(waiting)
            waiting, start = set(), 0
        elif not start and token.type not in _BLANK:
            start = token.start[0]
    return {line: frozenset(codes) for line, codes in found.items()}


def _tokens(text: str) -> Iterable[tokenize.TokenInfo]:
    """Yield the tokens up to what Python's tokenizer stumbles over."""
    try:
        yield from tokenize.generate_tokens(io.StringIO(text).readline)
    except (tokenize.TokenError, SyntaxError):
        return
