"""The command line: ``torch2ms COMMAND``.

Thin on purpose: options become arguments of the API, its result becomes output and an exit code. Everything heavy is
imported inside the commands, so that ``torch2ms --help`` answers at once. stdout is the product, stderr the talk.

Exit codes: 0 done; 1 done, with diagnostics at or above ``--fail-on`` (or a check that did not pass); 2 wrong usage,
SRC or OUT unusable, or a failure of our own; 130 interrupted.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

import click

from torch2ms import __version__
from torch2ms.cli_output import in_every_language, language_option, say
from torch2ms.cli_tables import explain, tables
from torch2ms.cli_translate import scan, translate, update
from torch2ms.cli_verify import convert_weights, demo, verify
from torch2ms.config import NEWEST, OLDEST
from torch2ms.errors import Torch2msError, UsageError
from torch2ms.language import LANGUAGES, current, speaking, told, tr, use
from torch2ms.reports.escape import shortened

__all__ = ["command", "main", "run"]

FAILED, INTERRUPTED, TERMINATED = 2, 130, 143
_EXTRAS = {"torch": "torch", "mindspore": "mindspore", "safetensors": "torch", "PIL": "mindspore"}


def _show_version(context: click.Context, parameter: click.Parameter, is_asked: bool) -> None:
    """Print what is translated from and to, as the catalogues beside the tables have it."""
    if not is_asked or context.resilient_parsing:
        return
    from torch2ms.mapping_tables.catalogue import catalogued

    releases = catalogued()
    sources = " and ".join(f"{name} {', '.join(releases[name])}" for name in ("torch", "torchvision"))
    click.echo(f"torch2ms, version {__version__}")
    click.echo(f"tables   of {sources}")
    click.echo(f"targets  MindSpore {'.'.join(map(str, OLDEST))} to {'.'.join(map(str, NEWEST))}")
    click.echo(f"         signatures of {', '.join(releases['mindspore'])}; other releases by documentation")
    context.exit()


@click.group(
    name="torch2ms",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Exit codes: 0 done; 1 done, with diagnostics at or above --fail-on; 2 wrong usage or a failure.",
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version,
    help="Show the versions of torch2ms, its tables and its targets, and exit.",
)  # fmt: skip
@language_option
def command() -> None:
    """Translate PyTorch projects into MindSpore projects, and prove that both compute the same."""


for _command in (translate, update, scan, explain, tables, convert_weights, verify, demo):
    command.add_command(_command)
in_every_language(command)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; no exception of ours or the user's input leaves it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal or locale without the characters is no reason to fail
            stream.reconfigure(errors="backslashreplace")
    with speaking(current()):  # what --lang and the environment choose ends with the command
        return _run(arguments)


def _run(arguments: Sequence[str] | None) -> int:
    try:
        use(_preferred())
        given = list(arguments) if arguments is not None else None
        result = command.main(args=given, prog_name="torch2ms", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(file=shown)
        say(shown.getvalue().rstrip())
        return FAILED
    except click.exceptions.Exit as error:
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except Torch2msError as error:
        _complain(str(error), error.advice)
        return FAILED
    except BrokenPipeError:  # torch2ms ... | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except ModuleNotFoundError as error:
        if error.name not in _EXTRAS:
            return _report_fault(error)
        _complain(f"this command needs {error.name}", f'install it: pip install "torch2ms[{_EXTRAS[error.name]}]"')
        return FAILED
    except Exception as error:
        return _report_fault(error)
    return result if isinstance(result, int) else 0


def _preferred() -> str:
    """Return the language that the environment asks for, where there is no ``--lang``."""
    asked = os.environ.get("TORCH2MS_LANG") or "en"
    if asked not in LANGUAGES:
        raise UsageError(f"TORCH2MS_LANG: {asked} is none of {', '.join(LANGUAGES)}")
    return asked


def _report_fault(error: Exception) -> int:
    """Say in one line what failed inside torch2ms, or raise it for who debugs."""
    if os.environ.get("TORCH2MS_TRACEBACK"):
        raise error
    _complain(
        f"T2M900: {type(error).__name__}: {error}",
        "this is a fault of torch2ms; please report it, with what TORCH2MS_TRACEBACK=1 prints",
    )
    return FAILED


def main() -> NoReturn:
    """Entry point of the console script."""
    signal.signal(signal.SIGTERM, _terminate)
    sys.exit(run())


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    """End as an exception does, so that half-written files are cleared away."""
    raise SystemExit(TERMINATED)


def _complain(message: str, advice: str) -> None:
    say(tr("error: {message}", message=told(shortened(message))))
    for line in advice.splitlines():
        say(f"  {line}")
