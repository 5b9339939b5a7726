"""The language of the terminal and of report.html: English, or a catalogue of ``torch2ms/languages/``.

A catalogue maps English texts to their translations, as gettext's do; placeholders in braces are the same in both. The
test of the catalogues collects every text that is asked for, so one without a translation fails it. What machines read
(report.json, report.sarif, codes, severities in ``--format lines``) is English in every language, and so are the
messages of single diagnostics, which name things of the program and of the tables.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from importlib import resources

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["LANGUAGES", "catalogue", "counted", "current", "speaking", "tr", "use"]

LANGUAGES = ("en", "zh")
_current: ContextVar[str] = ContextVar("language", default="en")


@lru_cache(maxsize=len(LANGUAGES))
def catalogue(language: str) -> Mapping[str, str]:
    """Return the translations of a language by their English text; nothing for English itself."""
    if language == "en":
        return {}
    text = (resources.files("torch2ms") / "languages" / f"{language}.toml").read_text(encoding="utf-8")
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
