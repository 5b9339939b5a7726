"""``torch2ms explain`` and ``torch2ms tables``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from torch2ms.cli_output import language_option
from torch2ms.errors import UsageError

if TYPE_CHECKING:
    from torch2ms.mapping_tables.lookup import Tables

__all__ = ["explain", "tables"]

_MAPPING = click.option("--mapping", multiple=True, metavar="FILE", help="Your own mapping table; repeatable.")


def _load(mapping: tuple[str, ...]) -> Tables:
    from torch2ms.mapping_tables.loader import load

    return load(mapping)


@click.command(short_help="Explain one mapping, or one diagnostic.")
@click.argument("name")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@_MAPPING
@language_option
def explain(name: str, form: str, mapping: tuple[str, ...]) -> None:
    """Explain one mapping (torch.nn.Conv2d), by release and device and with its proof, or one diagnostic (T2M201)."""
    from torch2ms.diagnostics import CODES, code_named

    code = code_named(name)
    if code is None and name.upper().startswith("T2M"):
        raise UsageError(f"there is no diagnostic {name}", advice=f"known are {', '.join(CODES)}")
    from torch2ms.mapping_tables.explain import explain as explain_name
    from torch2ms.mapping_tables.explain import explain_code

    if form == "json":
        from torch2ms.mapping_tables.explain_data import explained

        click.echo(json.dumps(explained(_load(mapping), name), indent=1, ensure_ascii=False))
        return
    text = explain_code(code) if code is not None else explain_name(_load(mapping), name)
    click.echo(text, nl=not text.endswith("\n"))


@click.group()
def tables() -> None:
    """Look at the mapping tables and check them."""


@tables.command(short_help="Check every row against the catalogues.")
@click.option("--announced", is_flag=True, help="Also list the changes that MindSpore announces for the targets.")
@_MAPPING
def lint(announced: bool, mapping: tuple[str, ...]) -> int:
    """Hold every row against the catalogues; exit with 1 when one is wrong."""
    from torch2ms.mapping_tables.announcements import announcements
    from torch2ms.mapping_tables.lint import lint as lint_tables
    from torch2ms.translator.rules.recipes import RECIPES

    tables = _load(mapping)
    problems = lint_tables(tables, sorted(RECIPES))
    for problem in problems:
        click.echo(str(problem))
    coming = announcements(tables)
    for item in coming if announced else ():
        click.echo(str(item))
    click.echo(f"{len(problems)} problems" if problems else "mapping tables: ok", err=True)
    if coming and not announced:
        click.echo(f"{len(coming)} announced changes of targets: torch2ms tables lint --announced", err=True)
    return 1 if problems else 0


@tables.command(short_help="Show how much of PyTorch's API has rows.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@_MAPPING
def coverage(form: str, mapping: tuple[str, ...]) -> None:
    """Show how much of PyTorch's API the tables account for, and how much of that is proved."""
    from torch2ms.mapping_tables.coverage import coverage as measure

    found = measure(_load(mapping))
    click.echo(json.dumps(found, indent=1) if form == "json" else "\n".join(_outline(found)))


def _outline(value: object, indent: str = "") -> list[str]:
    """Return nested plain data as indented lines; what is flat and short stays on one."""
    if not isinstance(value, dict):
        return [f"{indent}{value}"]
    lines = []
    for key, entry in value.items():
        if isinstance(entry, dict) and any(isinstance(inner, dict) for inner in entry.values()):
            lines += [f"{indent}{key}", *_outline(entry, indent + "  ")]
        elif isinstance(entry, dict):
            lines.append(f"{indent}{key:36}" + ", ".join(f"{name} {inner}" for name, inner in entry.items()))
        else:
            lines.append(f"{indent}{key:36}{entry}")
    return lines


@tables.command(short_help="Print rows as JSON.")
@click.argument("prefix", default="")
@_MAPPING
def dump(prefix: str, mapping: tuple[str, ...]) -> None:
    """Print all rows whose name starts with PREFIX as JSON."""
    from torch2ms.mapping_tables.coverage import dump as dump_rows

    rows = [row for row in dump_rows(_load(mapping)) if row["name"].startswith(prefix)]
    if not rows:
        raise UsageError(f"no row starts with {prefix}")
    click.echo(json.dumps(rows, indent=1))


@tables.command(short_help="Print a new row, to be filled in.")
@click.argument("name")
@_MAPPING
def new(name: str, mapping: tuple[str, ...]) -> None:
    """Print a new row for the torch NAME, filled in as far as the catalogues know it."""
    from torch2ms.mapping_tables.explain import new_row

    click.echo(new_row(_load(mapping), name), nl=False)
