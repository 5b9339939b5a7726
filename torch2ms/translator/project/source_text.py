r"""The text of one Python file: decoding and parsing on the way in, encoding on the way out.

Inside torch2ms every text has ``\n`` newlines and no byte order mark. ``SourceText`` remembers how the file was written
(PEP 263 encoding, byte order mark, ``\r\n``, ``\r`` or mixed newlines), so that ``encode`` gives untouched lines back
byte for byte.
"""

from __future__ import annotations

import ast
import difflib
import io
import re
import sys
import tokenize
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace

from torch2ms.diagnostics import CODES, Diagnostic

__all__ = ["SourceText", "decode", "diagnose", "parse"]

# Ways to read a text as another that means the same: each returns that, or None
READINGS: list[Callable[[str], str | None]] = []

_BOM = "\ufeff"
_UNEVEN = re.compile(r"^ +\t[ \t]*", re.MULTILINE)
_NEWLINE = re.compile(r"\r\n|\r|\n")
_ASYNC_ARGUMENT = re.compile(r"async\s*=(?!=)")  # starts with a literal, which is searched for fast
# Methods of torch that took async= before Python 3.7 made it a keyword; PyTorch calls it non_blocking= since 0.4.
_ASYNC_METHODS = frozenset({"cuda", "cpu", "to", "type", "copy_"})
_RECURSION_LIMIT = 1000  # Python's default
_PYTHON_2 = re.compile(
    r"^\s*(print\s+[\"'\w]|exec\s+[\"'\w]|except\s+[\w.]+\s*,\s*\w+\s*:|raise\s+\w+\s*,)", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class SourceText:
    """A Python file, decoded and parsed as far as that was possible.

    ``text`` is what torch2ms works on, None when the file cannot be decoded; ``tree`` is its syntax tree, None when it
    cannot be parsed. A file without ``tree`` is copied as it is, and ``diagnostics`` say why.
    """

    path: str
    data: bytes
    text: str | None = None
    tree: ast.Module | None = field(default=None, compare=False, repr=False)
    encoding: str = "utf-8"
    newline: str = "\n"  # the commonest one of the file
    mixed: bool = False  # whether it has other newlines as well
    bom: bool = False
    repaired: bool = False  # whether ``text`` is not what the file says: T2M106, or gradients within a step
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def original(self) -> str | None:
        """The file as it is written: newlines, byte order mark and all; None when it cannot be decoded."""
        return None if self.text is None else self.data.decode(self.encoding)

    def restore(self, text: str) -> str:
        """Return ``text``, a rewriting of ``self.text``, with the newlines and the byte order mark of the file."""
        if text == self.text and not self.repaired:
            original = self.original
            assert original is not None
            return original
        if self.mixed:
            restored = self._restore_mixed(text)
        else:
            restored = text if self.newline == "\n" else text.replace("\n", self.newline)
        return _BOM + restored if self.bom else restored

    def encode(self, text: str) -> bytes:
        """Return the bytes to write for ``text``; UnicodeEncodeError if the file's encoding lacks a character."""
        if text == self.text and not self.repaired:
            return self.data
        return self.restore(text).encode(self.encoding)

    def _restore_mixed(self, text: str) -> str:
        """Give unchanged lines their own newline back, and new ones the commonest."""
        raw = self.data.decode(self.encoding).removeprefix(_BOM)
        newlines = _NEWLINE.findall(raw)
        before, after = _NEWLINE.split(raw), text.split("\n")
        result = [self.newline] * len(after)
        matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
        for start, position, size in matcher.get_matching_blocks():
            for step in range(size):
                if start + step < len(newlines):
                    result[position + step] = newlines[start + step]
        result[-1] = ""
        return "".join(line + newline for line, newline in zip(after, result, strict=True))


def diagnose(code: str, path: str, line: int, column: int, message: str, advice: str | None = None) -> Diagnostic:
    """Return a diagnostic of the code's own severity and, unless given, advice."""
    entry = CODES[code]
    return Diagnostic(path, line, column, code, entry.severity, "", message, entry.advice if advice is None else advice)


def decode(data: bytes, path: str, *, is_parsed: bool = False) -> SourceText:
    """Decode and parse a file as Python does (PEP 263); what is wrong with it is in the result's ``diagnostics``.

    With ``is_parsed`` the caller knows that it parses and wants only the text: there is no ``tree`` then.
    """
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as error:
        # Either the encoding is unknown, or the first two lines are no UTF-8.
        return _undecodable(data, path, str(error.msg))
    bom = data.startswith(b"\xef\xbb\xbf")
    codec = "utf-8" if encoding == "utf-8-sig" else encoding
    try:
        raw = data.decode(codec)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return _undecodable(data, path, f"byte {data[error.start]:#04x} in line {line} is not {encoding}", line)
    try:
        faithful = codec == "utf-8" or raw.encode(codec) == data
    except UnicodeEncodeError:
        faithful = False
    if not faithful:
        return _undecodable(data, path, f"its encoding {encoding} cannot be written back without changes")
    body = raw.removeprefix(_BOM) if bom else raw
    newline, mixed = _newline_style(body)
    text = body.replace("\r\n", "\n").replace("\r", "\n") if "\r" in body else body
    text = _evenly_indented(text) if "\t" in text else text
    source = SourceText(path, data, text, None, codec, newline, mixed, bom)
    asked = next(filter(None, (reading(text) for reading in READINGS)), None)
    if asked is not None:
        return replace(source, text=asked, tree=None if is_parsed else ast.parse(asked), repaired=True)
    if is_parsed and not _ASYNC_ARGUMENT.search(text):
        return source
    tree, diagnostic = parse(text, path)
    if tree is not None:
        return replace(source, tree=tree)
    repaired = _repair_async(text, path)
    if repaired is not None:
        new, tree, diagnostics = repaired
        return replace(source, text=new, tree=tree, repaired=True, diagnostics=diagnostics)
    return replace(source, diagnostics=(diagnostic,)) if diagnostic is not None else source


def _evenly_indented(text: str) -> str:
    """Return a text without tabs behind spaces in indentations, which Python takes for eight columns and libcst not."""
    even = _UNEVEN.sub(lambda found: found.group().expandtabs(8), text)
    if even == text:
        return text
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            same = ast.dump(ast.parse(even)) == ast.dump(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    return even if same else text  # a string of several lines may hold some


def parse(text: str, path: str) -> tuple[ast.Module | None, Diagnostic | None]:
    """Return the syntax tree of ``text``, or None and the diagnostic that names the line that is wrong.

    This comes before any other parser sees the text: Python's own refuses what is nested too deeply, on which others
    overflow their stack.
    """
    try:
        with warnings.catch_warnings(), _bounded_depth():
            warnings.simplefilter("ignore")  # invalid escapes are the author's business
            tree = ast.parse(text)
            if sys.version_info < (3, 11):
                _refuse_depth(tree)
            return tree, None
    except SyntaxError as error:
        if "\0" in text:  # named first, because Python gives it no line
            return None, _null_byte(text, path)
        line, column = error.lineno or 1, max(error.offset or 1, 1)
        message = f"no valid Python 3: {error.msg} (line {line})"
        if _PYTHON_2.search(text):
            message += "; this looks like Python 2"
        return None, diagnose("T2M101", path, line, column, message)
    except ValueError as error:
        if "\0" in text:
            return None, _null_byte(text, path)
        return None, diagnose("T2M101", path, 1, 1, f"no valid Python 3: {error}")
    except (RecursionError, MemoryError):
        return None, diagnose("T2M101", path, 1, 1, "an expression or statement is nested too deeply to be parsed")


def _refuse_depth(tree: ast.Module) -> None:
    """Raise RecursionError for what Python 3.11 and later refuse to parse: 3.10 notices the depth only later."""
    level: list[ast.AST] = [tree]
    for _ in range(3 * _RECURSION_LIMIT):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return
    raise RecursionError


@contextmanager
def _bounded_depth() -> Iterator[None]:
    """Keep Python's own limit of nesting while parsing, also where a framework has raised it for its purposes."""
    limit = sys.getrecursionlimit()
    try:
        if limit > _RECURSION_LIMIT:
            with suppress(RecursionError):  # the caller is deeper than that already
                sys.setrecursionlimit(_RECURSION_LIMIT)
        yield
    finally:
        sys.setrecursionlimit(limit)


def _null_byte(text: str, path: str) -> Diagnostic:
    before = text[: text.index("\0")]
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    return diagnose("T2M101", path, line, column, f"no valid Python 3: null byte in line {line}")


def _undecodable(data: bytes, path: str, reason: str, line: int = 1) -> SourceText:
    return SourceText(path, data, diagnostics=(diagnose("T2M102", path, line, 1, f"cannot be decoded: {reason}"),))


def _newline_style(text: str) -> tuple[str, bool]:
    """Return the commonest newline and whether there are others."""
    if "\r" not in text:
        return "\n", False
    crlf = text.count("\r\n")
    counts = {"\n": text.count("\n") - crlf, "\r\n": crlf, "\r": text.count("\r") - crlf}
    commonest = max(counts, key=lambda newline: counts[newline])
    return commonest, sum(count > 0 for count in counts.values()) > 1


def _repair_async(text: str, path: str) -> tuple[str, ast.Module, tuple[Diagnostic, ...]] | None:
    """Write ``x.cuda(async=True)`` as ``x.cuda(non_blocking=True)``; None when that does not make the file parse."""
    if not _ASYNC_ARGUMENT.search(text):
        return None
    places = _async_arguments(text)
    lines = text.split("\n")
    diagnostics = []
    for line, column in reversed(places):
        before = lines[line - 1]
        lines[line - 1] = before[:column] + "non_blocking" + before[column + len("async") :]
        message = "async= was read as non_blocking=, its name since PyTorch 0.4"
        diagnostics.append(diagnose("T2M106", path, line, column + 1, message))
    repaired = "\n".join(lines)
    tree, _ = parse(repaired, path)
    return (repaired, tree, tuple(reversed(diagnostics))) if tree is not None else None


def _async_arguments(text: str) -> list[tuple[int, int]]:
    """Return line (from 1) and column (from 0) of each ``async=`` in a call of one of torch's methods."""
    places: list[tuple[int, int]] = []
    calls: list[str] = []  # for each open bracket, the method that is called, or ""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return []
    for index, token in enumerate(tokens):
        if token.type == tokenize.OP and token.string in "([{":
            is_call = token.string == "(" and index >= 2 and tokens[index - 2].string == "."
            calls.append(tokens[index - 1].string if is_call else "")
        elif token.type == tokenize.OP and token.string in ")]}":
            if calls:
                calls.pop()
        elif token.string == "async" and calls and calls[-1] in _ASYNC_METHODS:
            follows = tokens[index + 1].string if index + 1 < len(tokens) else ""
            if follows == "=" and tokens[index - 1].string in ("(", ","):
                places.append(token.start)
    return places
