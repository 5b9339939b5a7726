"""What a command says on stderr: names from the user's files cannot steer the terminal, or turn a line around."""

from __future__ import annotations

import click

from torch2ms.reports.escape import printable

__all__ = ["say"]


def say(text: str) -> None:
    """Print a line on stderr, with control and bidirectional characters spelled out."""
    click.echo(printable(text), err=True)
