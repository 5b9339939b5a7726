"""``torch2ms translate`` and ``torch2ms scan``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from torch2ms.cli_config import CHOICES, FailOn, settings_for
from torch2ms.cli_output import language_option, say
from torch2ms.reports.escape import one_line, printable

if TYPE_CHECKING:
    from torch2ms.config import Options
    from torch2ms.diagnostics import Severity
    from torch2ms.reports.model import Report
    from torch2ms.translator.update import Update

__all__ = ["scan", "translate", "update"]

STDIO = "-"
_Command = TypeVar("_Command", bound=Callable[..., Any])


def _target_options(function: _Command) -> _Command:
    """Add the options that say what is translated to, shared by translate and scan."""
    options = (
        click.option("--mindspore", metavar="VERSION", help="MindSpore release to write for.  [default: 2.10]"),
        click.option("--device", type=click.Choice(CHOICES["device"]), help="Device.  [default: portable]"),
        click.option("--api", type=click.Choice(CHOICES["api"]), help="API family to emit.  [default: auto]"),
        click.option("--exact", is_flag=True, default=None, help="No function of MindSpore that is known to deviate."),
        click.option("--entry", metavar="MODULE:CALLABLE", help="What builds the network, if it is not found."),
        click.option("--exclude", multiple=True, metavar="GLOB", help="Leave out, as in a .gitignore; repeatable."),
        click.option(
            "--with",
            "with_",
            multiple=True,
            metavar="PACKAGE",
            help="Translate this package too: installed, or a folder, wheel or sdist; repeatable.",
        ),
        click.option(
            "--data-limit",
            type=click.IntRange(min=0),
            metavar="MIB",
            help="Copy no folder or file of data that is larger.  [default: 256]",
        ),
        click.option("--mapping", multiple=True, metavar="FILE", help="Your own mapping table; repeatable."),
        click.option("--mode", type=click.Choice(CHOICES["mode"]), help="Mode it is to run in.  [default: pynative]"),
        click.option(
            "--on-unsupported",
            type=click.Choice(CHOICES["on-unsupported"]),
            help="Leave a mark, or emit code that raises.  [default: mark]",
        ),
        click.option(
            "--fail-on",
            type=click.Choice(CHOICES["fail-on"]),
            help="Exit with 1 from this severity on.  [default: error]",
        ),
        click.option(
            "--jobs", type=click.IntRange(min=0), metavar="N", help="Processes; 0 = one for each core.  [default: 1]"
        ),
        click.option("--no-cache", is_flag=True, help="Read and write no cache."),
        click.option(
            "--format",
            "form",
            type=click.Choice(["text", "json", "lines", "github"]),
            default="text",
            show_default=True,
            help="Form of the report on stdout; lines: one a diagnostic, for editors; github: for GitHub Actions.",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return language_option(function)


@click.command(short_help="Translate a project, or a file.")
@click.argument("src")
@click.argument("out", required=False)
@_target_options
@click.option("--runtime", type=click.Choice(CHOICES["runtime"]), help="Copy the runtime into OUT, or import it.")
@click.option("--diff", is_flag=True, help="Print the changes of SRC's files as a diff and write nothing.")
@click.option("--generated", is_flag=True, help="With --diff, also the files that OUT gets besides, at the end.")
@click.option("--dry-run", is_flag=True, help="Print the report and write nothing.")
@click.option("--force", is_flag=True, help="Replace an OUT that torch2ms wrote; what was added to it is kept aside.")
def translate(
    src: str, out: str | None, form: str, diff: bool, generated: bool, dry_run: bool, force: bool, **given: Any
) -> int:
    """Translate the PyTorch project (or file) SRC into the MindSpore project OUT.

    OUT must not exist yet, or be empty. SRC "-" reads one file from stdin; OUT "-" writes one file to stdout, and an
    OUT that ends in .py the translation of the file SRC, without report and runtime.
    Settings may also stand in [tool.torch2ms] of SRC's pyproject.toml.
    """
    settings = settings_for(Path.cwd() if src == STDIO else Path(src), _by_key(given))
    is_file = out is not None and out.endswith(".py") and Path(src).is_file()
    if src == STDIO or out == STDIO or is_file:
        if src == STDIO and out not in (None, STDIO):
            raise click.UsageError('what is read from stdin ("-") goes to stdout: give no OUT, or "-"')
        target = Path(out) if out is not None and is_file and not (diff or dry_run) else None
        return _translate_stream(src, settings.options, settings.fail_on, diff, target)
    if out is None and not (diff or dry_run):
        raise click.UsageError("missing OUT (it may be left out with --diff and --dry-run)")
    if force and out is not None and not (diff or dry_run):
        _warn_of_edits(src, Path(out))
    report = _run(src, out, settings.options, force=force, dry_run=diff or dry_run)
    if diff:
        from torch2ms.reports.diff import to_diff

        _write_bytes(to_diff(report, generated=generated))
        _summarize_diff(report)
    else:
        _show(report, form, src, out or "OUT", is_written=not dry_run)
    for name in _texts(report.facts.get("other names")):
        say(f"written as {name}")
    for done in _texts(report.facts.get("cleared")):
        say(done)
    if "backup" in report.facts:
        say(f"the old OUT held files that torch2ms did not write; it is now {report.facts['backup']}")
    return _exit_code(report.worst, settings.fail_on)


@click.command(short_help="Translate again, and merge.")
@click.argument("src")
@click.argument("out")
@_target_options
@click.option("--runtime", type=click.Choice(CHOICES["runtime"]), help="Copy the runtime into OUT, or import it.")
def update(src: str, out: str, form: str, **given: Any) -> int:
    """Translate SRC again and merge with what was changed in OUT since it was translated.

    Options that are not given are those of the last translation. Where both changed the same lines, they are marked as
    git marks conflicts, and the exit code is 1.
    """
    from torch2ms.translator.update import last_settings, update_project

    last = last_settings(Path(out))
    tables = last.pop("mapping", None)
    asked = {key: value for key, value in _by_key(given).items() if value is not None and value != ()}
    if "." in last.get("with", ()) and "with" not in asked:
        raise click.UsageError("the last translation took packages along from files or folders: give them with --with")
    settings = settings_for(Path(src), {**last, **asked})
    if tables and not settings.options.mappings:
        raise click.UsageError("the last translation used mapping tables: give them again with --mapping")
    with _progress() as progress:
        report, made = update_project(Path(src), Path(out), settings.options, progress=progress)
    _show(report, form, src, out, is_written=True)
    _say_update(made)
    return 1 if made.conflicts else _exit_code(report.worst, settings.fail_on)


def _say_update(made: Update) -> None:
    """Say what became of the files of OUT; the kinds that matter with their names."""
    found = made.to_json()
    number = len(found["conflicts"])
    counts = ", ".join(f"{len(paths)} {kind}" for kind, paths in found.items() if paths and kind != "conflicts")
    counts += f"{', ' if counts else ''}{number} conflict{'s' * (number != 1)}" if number else ""
    say(f"update: {counts or 'nothing changed'}")
    for kind in ("merged", "kept", "removed", "conflicts"):
        for path in found[kind]:
            say(f"  {'conflict' if kind == 'conflicts' else kind}  {path}")


@click.command(short_help="Show what can be translated.")
@click.argument("src", required=False)
@_target_options
@click.option("--report", "folder", metavar="DIR", help="Also write the report files into this folder.")
@click.option(
    "--compare",
    nargs=2,
    metavar="OLD NEW",
    help="Say what changed from the report OLD to NEW (folders, or report.json); exit with 1 when it is worse.",
)
def scan(src: str | None, form: str, folder: str | None, compare: tuple[str, str] | None, **given: Any) -> int:
    """Show what of SRC can be translated: its APIs, its tricks and hyperparameters. Nothing of SRC is written."""
    if compare is not None:
        if src is not None or folder is not None:
            raise click.UsageError("--compare reads two reports: give no SRC, and no --report")
        return _compare(*compare, form)
    if src is None:
        raise click.UsageError("missing SRC")
    settings = settings_for(Path(src), _by_key(given))
    report = _run(src, None, settings.options, force=False, dry_run=True)
    if folder is not None:
        from torch2ms.reports.write import write_reports

        write_reports(report, Path(folder))
    _show(report, form, src, "OUT")
    return _exit_code(report.worst, settings.fail_on)


def _compare(old: str, new: str, form: str) -> int:
    """Print the difference of two reports; 1 when the new one is worse."""
    from torch2ms.reports.comparison import compare_reports, read_report

    if form not in ("text", "json"):
        raise click.UsageError("--compare prints text or json")
    found = compare_reports(read_report(Path(old)), read_report(Path(new)))
    click.echo(found.to_json() if form == "json" else printable(found.to_text()), nl=False)
    return 1 if found.is_worse else 0


_NAMED = 5  # edited files that a warning names


def _warn_of_edits(src: str, out: Path) -> None:
    """Say which edits of the user would not be in a new OUT, before it is made."""
    from torch2ms.translator.output.emit import user_changes

    edited = user_changes(out) if out.is_dir() else []
    if edited:
        more = f" and {len(edited) - _NAMED} more" if len(edited) > _NAMED else ""
        say(f"warning: {len(edited)} files of {out} were changed, added or deleted since the last translation:")
        say(f"  {', '.join(edited[:_NAMED])}{more}")
        say(f"  they will not be in the new {out}; `torch2ms update {src} {out}` would merge them")


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _by_key(given: dict[str, Any]) -> dict[str, Any]:
    """Return the options by the names that they have in pyproject.toml."""
    settings = {name.rstrip("_").replace("_", "-"): value for name, value in given.items()}
    settings["cache"] = False if settings.pop("no-cache") else None
    return settings


def _run(src: str, out: str | None, options: Options, *, force: bool, dry_run: bool) -> Report:
    from torch2ms import translate_project

    destination = Path(out) if out is not None else None
    with _progress() as progress:
        return translate_project(Path(src), destination, options, progress=progress, force=force, dry_run=dry_run)


@contextmanager
def _progress() -> Iterator[Callable[[str], None] | None]:
    """Give a function that shows one line of progress, or None where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return

    def show(message: str) -> None:
        sys.stderr.write(f"\r\x1b[K{one_line(message)[:100]}")
        sys.stderr.flush()

    try:
        yield show
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def _translate_stream(src: str, options: Options, fail_on: FailOn, diff: bool, target: Path | None = None) -> int:
    """Translate one text to stdout, or to the file ``target``, which must not exist; diagnostics go to stderr."""
    from torch2ms import translate_source
    from torch2ms.diagnostics import Severity
    from torch2ms.errors import InputError
    from torch2ms.translator.project.source_text import decode
    from torch2ms.translator.project.source_tree import read_project

    name = "<stdin>" if src == STDIO else Path(src).name
    if src == STDIO:
        data = sys.stdin.buffer.read()
    else:
        project = read_project(Path(src))
        if not project.single:
            raise click.UsageError('OUT "-" (stdout) takes one file, but SRC is a folder')
        data = project.files[0].data
    source = decode(data, name)
    if source.text is None or source.tree is None:
        raise InputError(str(source.diagnostics[0]), advice=source.diagnostics[0].advice)
    result = translate_source(source.text, filename=name, options=options)
    if diff:
        from torch2ms.reports.diff import file_diff
        from torch2ms.reports.model import FileReport

        changed = FileReport(name, "translated", source.original, source.restore(result.text))
        _write_bytes(file_diff(changed))
    elif target is not None:
        from torch2ms.translator.output.emit import write_new_file

        write_new_file(target, source.encode(result.text))
    else:
        sys.stdout.buffer.write(source.encode(result.text))
    if options.runtime == "copied" and options.package in result.text and not diff:
        say(f"{target or 'the text'} imports {options.package}, which a translation into a folder puts beside it;")
        say("  with --runtime installed it imports torch2ms.runtime, and needs torch2ms where it runs")
    diagnostics = (*source.diagnostics, *result.diagnostics)
    if result.silenced:
        say(f"{len(result.silenced)} diagnostics silenced")
    for diagnostic in diagnostics:
        if diagnostic.severity > Severity.NOTE:
            say(str(diagnostic))
    return _exit_code(max((diagnostic.severity for diagnostic in diagnostics), default=None), fail_on)


def _write_bytes(text: str) -> None:
    """Write a diff as the bytes of the files it is about: newlines as they are, odd bytes given back."""
    sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))


def _show(report: Report, form: str, src: str, out: str, *, is_written: bool = False) -> None:
    if form == "json":
        from torch2ms.reports.json import to_json

        click.echo(to_json(report), nl=False)
        return
    if form == "lines":
        for entry in sorted(report.diagnostics):
            click.echo(one_line(str(entry)))
        return
    if form == "github":
        from torch2ms.reports.github import to_github

        folder = src if os.path.isdir(src) else os.path.dirname(src) or "."
        click.echo(to_github(report, Path(os.path.relpath(folder)).as_posix()), nl=False)
        return
    from rich.console import Console

    from torch2ms.reports.terminal import render_terminal

    render_terminal(report, Console(), src=src, out=out, is_written=is_written)


def _summarize_diff(report: Report) -> None:
    from torch2ms.diagnostics import Severity

    own = [file for file in report.files if file.status != "generated"]
    made = len(report.files) - len(own)
    changed = sum(file.changed for file in own)
    errors, warnings = report.count(Severity.ERROR), report.count(Severity.WARNING)
    more = f", {made} would be generated (--generated shows them)" if made else ""
    say(f"{changed} of {len(own)} files would change{more}; {errors} errors, {warnings} warnings")


def _exit_code(worst: Severity | None, fail_on: FailOn) -> int:
    from torch2ms.diagnostics import Severity

    if fail_on == "never" or worst is None:
        return 0
    return 1 if worst >= Severity[fail_on.upper()] else 0
