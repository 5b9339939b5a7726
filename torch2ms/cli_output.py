"""What a command says on stderr, and its help: in the language that is spoken.

Names from the user's files cannot steer the terminal, or turn a line around.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

import click
from click.formatting import measure_table

from torch2ms.language import LANGUAGES, current, told, tr, use
from torch2ms.reports.escape import printable

__all__ = ["in_every_language", "language_option", "say"]

# What stays on one line: a short setting, a word with what closes it, or one character of a script without words
_UNBROKEN = re.compile(r"(?:\[[^]]{1,20}\]|[!-~]+|[^!-~])[\uff0c\u3002\uff1b\uff1a\u3001\uff09]*\s?")


def _choose(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        use(value)


language_option = click.option(
    "--lang",
    type=click.Choice(LANGUAGES),
    expose_value=False,
    is_eager=True,
    callback=_choose,
    help="Language of help, messages and report.html.  [default: en, or TORCH2MS_LANG]",
)
"""Option of the commands that print texts of the catalogues; the group has it too."""


def say(text: str) -> None:
    """Print lines on stderr, with control and bidirectional characters spelled out."""
    click.echo(printable("\n".join(map(told, text.split("\n")))), err=True)


class _Formatter(click.HelpFormatter):
    """Writes help; a text without a translation stays English."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        super().write_usage(prog, args, tr("Usage: ") if prefix is None else prefix)

    def write_heading(self, heading: str) -> None:
        super().write_heading(tr(heading))

    def write_text(self, text: str) -> None:
        paragraphs = [tr(" ".join(paragraph.split())) for paragraph in text.split("\n\n")]
        super().write_text("\n\n".join(_wrapped(text, self.width - self.current_indent) for text in paragraphs))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        given = list(rows)
        first = min(measure_table(given)[0], col_max) + col_spacing
        shown = [(name, _wrapped(_record(text), self.width - first - 2)) for name, text in given]
        super().write_dl(shown, col_max, col_spacing)


class _Context(click.Context):
    formatter_class = _Formatter


def in_every_language(command: click.Command) -> None:
    """Have a command, and those below it, print their help in the language that is spoken."""
    command.context_class = _Context
    for part in command.commands.values() if isinstance(command, click.Group) else ():
        in_every_language(part)


def _record(text: str) -> str:
    """Return the help of an option, ``What it does.  [default: 1; required]``, part by part."""
    words, *settings = re.split(r"\s\s\[|^\[", text)
    shown = [f"[{'; '.join(map(told, setting.rstrip(']').split('; ')))}]" for setting in settings]
    return "  ".join([*([tr(words)] if words else []), *shown])


def _wrapped(text: str, width: int) -> str:
    """Return a text for click to print; one with wide characters as lines, which click would count wrongly."""
    if current() == "en" or text.isascii():
        return text
    lines = [""]
    for part in _UNBROKEN.findall(text):
        if _columns(lines[-1] + part.rstrip()) > width:
            lines.append("")
        lines[-1] += part if lines[-1] else part.lstrip()
    return "\b\n" + "\n".join(line.rstrip() for line in lines)


def _columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
