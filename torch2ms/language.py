"""The language of the terminal and of report.html: English, or the catalogues of a folder of ``torch2ms/languages/``.

A catalogue maps English texts to their translations, as gettext's do; placeholders in braces are the same in both:

- ``tr("{count} of {total}", count=3, total=5)`` looks up the text of a page and fills it in;
- ``told("x could not be typed; .step changes if it is an optimizer")`` takes a text that was filled in already, such as
  the message of a diagnostic, and finds the template that it was made of. So the translator makes its messages in plain
  f-strings, and results, which are kept and compared, are English in every language.

A text is translated whole or not at all. ``scripts/harvest_messages.py`` collects the templates from the source and the
tables; the test of the catalogues fails for one without a translation. What machines read (report.json, report.sarif,
codes, severities in ``--format lines``) is English in every language, and so are report.md and the marks in OUT.
"""

from __future__ import annotations

import ast
import re
import string
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["LANGUAGES", "catalogue", "counted", "current", "page_texts", "speaking", "told", "tr", "use"]

LANGUAGES = ("en", "zh")
_OF_MESSAGES = ("codes.toml", "errors.toml", "help.toml", "messages.toml", "tables.toml")
_current: ContextVar[str] = ContextVar("language", default="en")
_PROSE = re.compile(r"[A-Za-z],? [a-z]")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


@lru_cache(maxsize=len(LANGUAGES))
def catalogue(language: str) -> Mapping[str, str]:
    """Return the translations of a language by their English text; nothing for English itself."""
    if language == "en":
        return {}
    folder = resources.files("torch2ms") / "languages" / language
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    return {key: value for file in files for key, value in _read(language, file.name).items()}


@lru_cache(maxsize=len(LANGUAGES))
def _messages(language: str) -> Mapping[str, str]:
    """Return the translations of texts that are put together: without the words of pages, which are names, too."""
    return {key: value for name in _OF_MESSAGES for key, value in _read(language, name).items()}


def page_texts(language: str) -> Mapping[str, str]:
    """Return the translations of what the pages and the terminal say themselves, by their English text."""
    return {} if language == "en" else _read(language, "page.toml")


def _read(language: str, name: str) -> Mapping[str, str]:
    text = (resources.files("torch2ms") / "languages" / language / name).read_text(encoding="utf-8")
    return {str(key): str(value) for key, value in tomllib.loads(text).items()}


def current() -> str:
    """Return the language that is spoken."""
    return _current.get()


def use(language: str) -> None:
    """Speak a language from here on."""
    _current.set(language)


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Speak a language inside the block."""
    token = _current.set(language)
    try:
        yield
    finally:
        _current.reset(token)


def tr(text: str, **values: object) -> str:
    """Return ``text`` in the language that is spoken, with its placeholders filled in."""
    found = catalogue(_current.get()).get(text, text)
    return found.format(**values) if values else found


def counted(number: int, noun: str) -> str:
    """Return a number with what it counts: ``1 note``, ``2 notes``; other languages have one form."""
    if _current.get() == "en":
        return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
    return tr("{number} " + noun, number=number)


def told(text: str) -> str:
    """Return a text that was put together in English in the language that is spoken; as it is without a translation."""
    if _current.get() == "en":
        return text
    words = text.strip()
    found = _told(_current.get(), words)
    return text if found is None else text.replace(words, found, 1)


@dataclass(frozen=True, slots=True)
class _Template:
    """An English text with named places, cut at them, and its translation."""

    literals: tuple[str, ...]
    names: tuple[str, ...]
    translation: str

    @property
    def specific(self) -> int:
        return sum(map(len, self.literals))

    def values(self, text: str) -> Iterator[tuple[str, ...]]:
        """Yield every way to fill the places so that ``text`` comes out."""
        if all(literal in text for literal in self.literals) and text.startswith(self.literals[0]):
            yield from _fillings(self.literals[1:], text[len(self.literals[0]) :])

    def filled(self, language: str, values: tuple[str, ...]) -> str | None:
        """Return the translation with its places filled; None where a value is a text that has none."""
        by_name = dict(zip(self.names, values, strict=True))
        parts = []
        for literal, name, kind, _ in string.Formatter().parse(self.translation):
            shown = "" if name is None else _value(language, by_name[name], kind or "")
            if shown is None:
                return None
            parts += [literal, shown]
        return "".join(parts)


def _fillings(literals: Sequence[str], text: str) -> Iterator[tuple[str, ...]]:
    """Yield what stands in front of each literal, the last of which ends the text."""
    if len(literals) == 1:
        if text.endswith(literals[0]):
            yield (text[: len(text) - len(literals[0])],)
        return
    start = text.find(literals[0])
    while start >= 0:
        for rest in _fillings(literals[1:], text[start + len(literals[0]) :]):
            yield (text[:start], *rest)
        start = text.find(literals[0], start + 1)


def _value(language: str, value: str, kind: str) -> str | None:
    """Return what fills a place: code as it is, a text in the language; None where prose stands in either's place."""
    if kind == "raw":
        return value
    translated = _told(language, value) if kind == "text" else None
    return translated or (value if _is_code(value) else None)


def _is_code(text: str) -> bool:
    """Whether a text is a name or an expression and no English: it has no two words in a row, or is Python."""
    if not _PROSE.search(_QUOTED.sub("", text)):
        return True
    try:
        ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


@lru_cache(maxsize=len(LANGUAGES))
def _templates(language: str) -> tuple[_Template, ...]:
    """Return the templates of a language, those first that say most themselves."""
    found = []
    for key, translation in _messages(language).items():
        parts = list(string.Formatter().parse(key)) if "{a}" in key else []
        if parts:
            literals = [literal for literal, *_ in parts] + ([] if parts[-1][1] is None else [""])
            found.append(_Template(tuple(literals), tuple(n for _, n, *_ in parts if n is not None), translation))
    return tuple(sorted(found, key=lambda template: -template.specific))


@lru_cache(maxsize=20_000)
def _told(language: str, text: str) -> str | None:
    """Return the translation of a whole text, or of the template that it was made of; None where there is none."""
    exact = _messages(language).get(text)
    if exact is not None:
        return exact
    for template in _templates(language):
        for values in template.values(text):
            found = template.filled(language, values)
            if found is not None:
                return found
    return None
