"""``torch2ms explain`` and ``torch2ms tables``."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import click

from torch2ms.cli_config import CHOICES
from torch2ms.errors import UsageError

if TYPE_CHECKING:
    from torch2ms.config import Target

__all__ = ["explain", "tables"]

_MAPPING = click.option("--mapping", multiple=True, metavar="FILE", help="Your own mapping table; repeatable.")


def _target(mindspore: str | None, device: str) -> Target:
    from torch2ms.config import DEVICES, NEWEST, Target, parse_version

    chosen = next(known for known in DEVICES if known == device)
    return Target(mindspore=parse_version(mindspore) if mindspore else NEWEST, device=chosen)


@click.command()
@click.argument("name")
@click.option("--mindspore", metavar="VERSION", help="MindSpore release.  [default: 2.10]")
@click.option("--device", type=click.Choice(CHOICES["device"]), default="portable", show_default=True, help="Device.")
@_MAPPING
def explain(name: str, mindspore: str | None, device: str, mapping: tuple[str, ...]) -> None:
    """Explain one mapping (torch.nn.Conv2d) or one diagnostic (T2M201)."""
    from torch2ms.diagnostics import CODES

    code = CODES.get(name.upper())
    if code is not None:
        click.echo(f"{code.code} {code.name} ({code.severity})\n")
        click.echo(textwrap.fill(code.meaning, 100))
        if code.advice:
            click.echo("\n" + textwrap.fill(f"What to do: {code.advice}", 100))
        return
    if name.upper().startswith("T2M"):
        raise UsageError(f"there is no diagnostic {name}", advice=f"known are {', '.join(CODES)}")
    from torch2ms.mapping_tables.explain import explain as explain_name

    click.echo(explain_name(name, _target(mindspore, device), mapping), nl=False)


@click.group()
def tables() -> None:
    """Look at the mapping tables and check them."""


@tables.command()
@_MAPPING
def lint(mapping: tuple[str, ...]) -> int:
    """Hold every row against the catalogues; exit with 1 when one is wrong."""
    from torch2ms.mapping_tables.lint import lint as lint_tables
    from torch2ms.mapping_tables.loader import load
    from torch2ms.translator.recipes import RECIPES

    problems = lint_tables(load(mapping), sorted(RECIPES))
    for problem in problems:
        click.echo(str(problem))
    click.echo(f"{len(problems)} problems" if problems else "mapping tables: ok", err=True)
    return 1 if problems else 0


@tables.command()
@click.option("--format", "form", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True)
@_MAPPING
def coverage(form: str, mapping: tuple[str, ...]) -> None:
    """Show how much of PyTorch's API has a mapping, for each release and device."""
    from torch2ms.mapping_tables.coverage import coverage as measure

    click.echo(measure(form, mapping), nl=False)


@tables.command()
@click.argument("prefix", default="torch")
@_MAPPING
def dump(prefix: str, mapping: tuple[str, ...]) -> None:
    """Print all rows whose name starts with PREFIX as JSON, with the defaults filled in."""
    from torch2ms.mapping_tables.dump import dump as dump_rows

    click.echo(dump_rows(prefix, mapping), nl=False)


@tables.command()
@click.argument("name")
def new(name: str) -> None:
    """Print a new row for the torch NAME, filled in as far as the catalogues know it."""
    from torch2ms.mapping_tables.new import new_row

    click.echo(new_row(name), nl=False)
