"""What a command says on stderr: names from the user's files cannot steer the terminal, or turn a line around."""

from __future__ import annotations

import click

from torch2ms.language import LANGUAGES, use
from torch2ms.reports.escape import printable

__all__ = ["language_option", "say"]


def _choose(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        use(value)


language_option = click.option(
    "--lang",
    type=click.Choice(LANGUAGES),
    expose_value=False,
    is_eager=True,
    callback=_choose,
    help="Language of the summary and of report.html.  [default: en, or TORCH2MS_LANG]",
)
"""Option of the commands that print texts of the catalogues; the group has it too, with the default."""


def say(text: str) -> None:
    """Print a line on stderr, with control and bidirectional characters spelled out."""
    click.echo(printable(text), err=True)
