"""Make untrusted text (paths, source lines, names from the user's code) safe to show."""

from __future__ import annotations

import re

__all__ = ["one_line", "printable", "shortened"]

# Control characters (an ANSI sequence starts with one) and the bidirectional controls, which make a line read
# otherwise than it runs; newlines and tabs stay.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def _spell_out(match: re.Match[str]) -> str:
    number = ord(match.group())
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


def printable(text: str) -> str:
    """Return ``text`` with control characters, bidi controls and lone surrogates spelled out (``\\x1b``).

    The result can be encoded as UTF-8 and cannot steer a terminal. Newlines and tabs are kept,
    a lone carriage return is not.
    """
    return _UNSAFE.sub(_spell_out, text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """Return ``printable(text)`` on one line: every run of white space becomes one space."""
    return " ".join(printable(text).split())


def shortened(text: str, limit: int = 1_000) -> str:
    """Return ``text``, or its beginning and ``...`` where it is longer than ``limit`` characters."""
    return text if len(text) <= limit else f"{text[: limit - 3]}..."
