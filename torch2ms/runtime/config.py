"""Read ``config.yaml``: the part of YAML that configuration files need, without a further package.

Understood: mappings and lists by indentation (spaces), ``- item`` lists, ``[a, b]`` and ``{a: 1}`` on one line, plain
and quoted strings, numbers, ``true/false``, ``null``, comments. Anything else (anchors, tags, block scalars, tabs) is
an error with its line, not a guess. Numbers are YAML 1.2's: ``1e-5`` is a number (PyYAML, which follows 1.1, needs
``1.0e-5``).
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Dict, List, Tuple, Union

__all__ = ["ConfigError", "load_config", "parse"]

_INT = re.compile(r"[-+]?(0|[1-9][0-9]*)\Z")
_FLOAT = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)([eE][-+]?[0-9]+)?\Z")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
_KEY = re.compile(r"([A-Za-z_][\w.-]*|\"[^\"]*\"|'[^']*')\s*:(?:\s+|\Z)")


class ConfigError(ValueError):
    """A configuration file says something that this reader does not understand."""


class _Lines:
    """The lines that mean something: (line number, indentation, text)."""

    def __init__(self, text: str) -> None:
        self.rows: List[Tuple[int, int, str]] = []
        for number, raw in enumerate(text.splitlines(), 1):
            body = _strip_comment(raw)
            if body.strip() in ("", "---"):
                continue
            indent = len(body) - len(body.lstrip(" "))
            if "\t" in body[: indent + 1]:
                raise ConfigError(f"line {number}: indent with spaces, not tabs")
            self.rows.append((number, indent, body.strip()))
        self.at = 0

    def peek(self) -> Union[Tuple[int, int, str], None]:
        return self.rows[self.at] if self.at < len(self.rows) else None


def _strip_comment(line: str) -> str:
    quote = ""
    for place, char in enumerate(line):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char == "#" and (place == 0 or line[place - 1] in " \t"):
            return line[:place].rstrip()
    return line.rstrip()


def _scalar(text: str, number: int) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if text[0] in "\"'":
        if len(text) < 2 or text[-1] != text[0]:
            raise ConfigError(f"line {number}: unfinished string {text}")
        return json.loads(text) if text[0] == '"' else text[1:-1].replace("''", "'")
    if text[0] in "&*!|>%@`":
        raise ConfigError(f"line {number}: {text[0]!r} is not supported here; write the value out, or quote it")
    if _INT.match(text):
        return int(text)
    if _FLOAT.match(text):
        return float(text)
    return text


def _flow(text: str, at: int, number: int) -> Tuple[Any, int]:
    """Parse the value that starts at ``text[at]`` inside ``[...]`` or ``{...}``; return it and the place behind it."""
    while at < len(text) and text[at] == " ":
        at += 1
    if at < len(text) and text[at] in "[{":
        return _flow_collection(text, at, number)
    start, quote = at, ""
    while at < len(text) and (quote or text[at] not in ",]}:"):
        if quote:
            quote = "" if text[at] == quote else quote
        elif text[at] in "\"'" and not text[start:at].strip():
            quote = text[at]
        at += 1
    return _scalar(text[start:at].strip(), number), at


def _flow_collection(text: str, at: int, number: int) -> Tuple[Any, int]:
    closing = "]" if text[at] == "[" else "}"
    items: List[Any] = []
    pairs: Dict[Any, Any] = {}
    at += 1
    while True:
        while at < len(text) and text[at] in " ,":
            at += 1
        if at >= len(text):
            raise ConfigError(f"line {number}: {closing!r} is missing")
        if text[at] == closing:
            return (items if closing == "]" else pairs), at + 1
        value, at = _flow(text, at, number)
        if closing == "}":
            if at >= len(text) or text[at] != ":":
                raise ConfigError(f"line {number}: expected 'key: value' inside braces")
            pairs[value], at = _flow(text, at + 1, number)
        else:
            items.append(value)


def _value(text: str, number: int) -> Any:
    if text[:1] in ("[", "{"):
        value, end = _flow_collection(text, 0, number)
        if text[end:].strip():
            raise ConfigError(f"line {number}: text behind the closing bracket: {text[end:].strip()}")
        return value
    return _scalar(text, number)


def _block(lines: _Lines, indent: int) -> Any:
    row = lines.peek()
    if row is not None and (row[2] == "-" or row[2].startswith("- ")):
        return _sequence(lines, indent)
    return _mapping(lines, indent)


def _sequence(lines: _Lines, indent: int, at_key: bool = False) -> List[Any]:
    """Read items; ``at_key``: the dashes stand at the column of the key they belong to, so the next key ends them."""
    items: List[Any] = []
    while True:
        row = lines.peek()
        if row is None or row[1] < indent or (at_key and row[1] == indent and not row[2].startswith("-")):
            return items
        number, depth, text = row
        if depth != indent or not (text == "-" or text.startswith("- ")):
            raise ConfigError(f"line {number}: expected '- item' at column {indent + 1}")
        rest = text[1:].lstrip()
        if not rest:
            lines.at += 1
            items.append(_nested(lines, indent))
        elif _KEY.match(rest):  # "- key: value": a mapping that starts on the dash's line
            inner = indent + len(text) - len(rest)
            lines.rows[lines.at] = (number, inner, rest)
            items.append(_mapping(lines, inner))
        else:
            lines.at += 1
            items.append(_value(rest, number))


def _mapping(lines: _Lines, indent: int) -> Dict[str, Any]:
    pairs: Dict[str, Any] = {}
    while True:
        row = lines.peek()
        if row is None or row[1] < indent:
            return pairs
        number, depth, text = row
        match = _KEY.match(text)
        if depth != indent or match is None:
            raise ConfigError(f"line {number}: expected 'key: value' at column {indent + 1}, found {text!r}")
        key = str(_scalar(match.group(1), number)) if match.group(1)[0] in "\"'" else match.group(1)
        if key in pairs:
            raise ConfigError(f"line {number}: {key!r} is given twice")
        rest = text[match.end() :].strip()
        lines.at += 1
        pairs[key] = _value(rest, number) if rest else _nested(lines, indent, allow_dash=True)


def _nested(lines: _Lines, indent: int, allow_dash: bool = False) -> Any:
    row = lines.peek()
    if row is None:
        return None
    if row[1] > indent:
        return _block(lines, row[1])
    if allow_dash and row[1] == indent and (row[2] == "-" or row[2].startswith("- ")):
        return _sequence(lines, indent, at_key=True)  # YAML lets a key's list stand at the key's own column
    return None


def parse(text: str) -> Dict[str, Any]:
    """Return the mapping that ``text`` describes. Raises ConfigError with the line of what is wrong."""
    lines = _Lines(text)
    first = lines.peek()
    if first is None:
        return {}
    result = _block(lines, first[1])
    left = lines.peek()
    if left is not None:
        raise ConfigError(f"line {left[0]}: indentation does not fit what stands before")
    if not isinstance(result, dict):
        raise ConfigError("line 1: expected 'key: value' pairs, found a list")
    return result


def load_config(path: Union[str, Path]) -> Dict[str, Any]:
    """Read a configuration file. Raises ConfigError, which names the file and the line."""
    try:
        return parse(Path(path).read_text(encoding="utf-8"))
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None
