"""Which texts can the user meet? Templates harvested from the source, the tables and the commands' help.

A template is an f-string with its values named a, b, c in order: ``{a} has no MindSpore equivalent``. The catalogues of
``torch2ms/languages/`` are keyed by them, and ``tests/test_language.py`` asks for a translation of each. Run as a
script, it prints those that a language lacks, as lines of TOML to be filled in:

    python scripts/harvest_messages.py zh
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import click

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PACKAGE = Path(__file__).resolve().parent.parent / "torch2ms"
# Values carry provenance ("result of a network"), which rules compare and nobody reads.
APART = ("translator/values/", "translator/syntax/")
# Modules whose errors reach the user of a command
OF_COMMANDS = (
    "cli", "config.py", "demo.py", "generate.py", "weights.py", "reports/",
    "mapping_tables/explain.py", "mapping_tables/loader.py",
    "verify/comparison.py", "verify/found_entry.py", "verify/inputs.py", "verify/process.py", "verify/recording.py",
    "verify/rehearsal.py", "verify/verification.py", "verify/workers/entries.py",
)  # fmt: skip
_SAYING = ("say", "_complain", "UsageError", "InputError", "OutputError")
# Arguments that are no text for a reader: a separator of names, a pattern, a template of code, provenance
_READ_BY_CODE = ("split", "compile", "search", "match", "fullmatch", "sub", "build", "startswith", "endswith")
_OF_CODE = ("evidence", "known")
# What reads as English and is shown to nobody, or only as a part of another text: the translator's own words, code of
# OUT, and faults of ours. The test of the catalogues finds those that are gone.
NOT_SHOWN = (
    "add sort", "behind steps", "beside {a}", "no index of git", "parts below", "retain_graph retain_variables",
    " as {a}", "{a} as {b}", "try:  # only for what is marked TORCH2MS below",
    "layers draw first weights from a stream of their own, not from np.random", "Cells can be pickled",
    "torch2ms {a}", "it leaves the block (", ", but the program imports it", "; this looks like Python 2",
    " and no ", "line {a}: ", "; --reverse converts to PyTorch",
    "{assign}({target}, {target} {a} {value})",
    "{a} of {b} is no part of a translation", "{a}.{b} is no part of a translation", "two recipes are called {a}",
)  # fmt: skip


def of_code() -> Iterator[tuple[str, str]]:
    """Yield (template, place) of every English text in the translator that may be shown."""
    for path in sorted((PACKAGE / "translator").rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if not name.startswith(APART):
            for node, template in texts_of(ast.parse(path.read_text(encoding="utf-8"))):
                yield template, f"{name}:{node.lineno}"


def of_errors() -> Iterator[tuple[str, str]]:
    """Yield (template, place) of what a command says on stderr: errors for the user, their advice, and what is said."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name.startswith(OF_COMMANDS):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            within = {id(part) for node in ast.walk(tree) if _says(node) for part in ast.walk(node)}
            for node, template in texts_of(tree):
                if id(node) in within:
                    yield template, f"{name}:{node.lineno}"


def _says(node: ast.AST) -> bool:
    """Whether a node is a call that makes an error of ours, or prints a line on stderr."""
    name = getattr(node.func, "id", getattr(node.func, "attr", "")) if isinstance(node, ast.Call) else ""
    return name in _SAYING or (name.endswith("Error") and name != "AttributeError")


def texts_of(tree: ast.Module) -> Iterator[tuple[ast.expr, str]]:
    """Yield the strings of a module that read as English."""
    apart = {id(part) for node in ast.walk(tree) for part in _not_shown(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in apart:
            template = template_of(node)
            if template is not None and reads_as_english(template):
                yield node, template


def template_of(node: ast.Constant | ast.JoinedStr) -> str | None:
    """Return the text of a string, its values named in order; None for another constant."""
    names = iter(ascii_lowercase)
    if isinstance(node, ast.Constant):  # that of a template, "{name} is kept", is filled in by format
        return re.sub(r"\{\w+\}", lambda _: f"{{{next(names)}}}", node.value) if isinstance(node.value, str) else None
    return "".join(str(part.value) if isinstance(part, ast.Constant) else f"{{{next(names)}}}" for part in node.values)


def reads_as_english(text: str) -> bool:
    """Whether a text has two words beside each other and is no Python, no pattern and no template of code."""
    if "\n" in text or "\\" in text or not re.search(r"[a-z]{2,},? [a-z]", text.replace("{", "").replace("}", "")):
        return False
    try:
        ast.parse(re.sub(r"\{\w+\}", "x", text))
    except SyntaxError:
        return not text.startswith(("from ", "import ", "^", "#", '"""'))
    return False


def _not_shown(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the strings below a node that are read by code, and parts of f-strings, which stand in their whole."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant | ast.JoinedStr):
        yield node.value  # a docstring
    elif isinstance(node, ast.JoinedStr):
        yield from node.values
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
        name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
        if name in _READ_BY_CODE:
            yield from (node.func.value, *node.args) if isinstance(node.func, ast.Attribute) else node.args
        yield from (keyword.value for keyword in node.keywords if keyword.arg in _OF_CODE)


def of_tables() -> Iterator[tuple[str, str]]:
    """Yield (text, place) of what rows and the lists of packages say."""
    from torch2ms.mapping_tables.loader import load

    for row in load(store=False).rows():
        for text in (row.keep, row.unsupported):
            yield text, row.name
        for option in row.to:
            for text in (option.notes, *option.reject.values()):
                yield text, row.name
    folder = PACKAGE / "mapping_tables"
    for name, entry in _toml(folder / "packages.toml").items():
        yield (entry if isinstance(entry, str) else entry.get("advice", "")), name
    for name, entry in _toml(folder / "counterparts.toml").items():
        yield entry["has"], name


def of_codes() -> Iterator[tuple[str, str]]:
    """Yield (text, code) of what is known of each code; a name that the advice is given fills NAME."""
    from torch2ms.diagnostics import CODES

    for code, entry in CODES.items():
        yield entry.meaning, code
        yield entry.advice, code
        yield entry.advice.replace("NAME", "{a}"), code


def of_help(command: click.Command, above: click.Context | None = None) -> Iterator[tuple[str, str]]:
    """Yield (text, command) of what the help of a command, and of those below it, is made of."""
    for text in (command.help, command.epilog, command.short_help):
        yield from ((" ".join(part.split()), str(command.name)) for part in (text or "").split("\n\n"))
    context = click.Context(command, parent=above, **command.context_settings)  # click keeps the option of its help
    with context:
        records = [option.get_help_record(context) for option in command.get_params(context)]
    for words, *settings in (re.split(r"\s\s\[|^\[", record[1]) for record in records if record):
        yield words, str(command.name)
        for setting in "; ".join(settings).rstrip("]").split("; "):
            yield (setting if reads_as_english(setting) else ""), str(command.name)
    for part in command.commands.values() if isinstance(command, click.Group) else ():
        yield from of_help(part, context)


def cli_command() -> click.Command:
    """Return the group of all commands."""
    from torch2ms.cli import command

    return command


@lru_cache(maxsize=1)
def texts() -> dict[str, str]:
    """Return every text with the first place where it stands."""
    found: dict[str, str] = {}
    found_in = (*of_codes(), *of_code(), *of_errors(), *of_tables(), *of_help(cli_command()))
    for text, place in found_in:
        if text and text not in NOT_SHOWN:
            found.setdefault(text, place)
    return found


def _toml(path: Path) -> Mapping[str, Any]:
    return dict(tomllib.loads(path.read_text(encoding="utf-8")))


def missing(language: str) -> dict[str, str]:
    """Return the texts that a language has no translation for, with their places."""
    from torch2ms.language import catalogue, speaking, told

    with speaking(language):
        known = catalogue(language)
        return {
            text: place
            for text, place in texts().items()
            if text not in known and text.strip() not in known and ("{a}" in text or told(text) == text)
        }


def main(language: str) -> None:
    """Print what is missing as lines of TOML."""
    for text, place in missing(language).items():
        print(f'{json.dumps(text, ensure_ascii=False)} = ""  # {place}')


if __name__ == "__main__":
    main(*sys.argv[1:])
