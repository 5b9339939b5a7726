"""``torch2ms convert-weights``, ``torch2ms verify`` and ``torch2ms demo``: what needs torch or MindSpore to run."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from torch2ms.cli_output import say
from torch2ms.errors import InputError, UsageError
from torch2ms.reports.escape import printable

if TYPE_CHECKING:
    from torch2ms.verify.report import VerifyReport

__all__ = ["convert_weights", "demo", "verify"]

_ENTRY = click.option("--entry", required=True, metavar="MODULE:CALLABLE", help="What builds the network.")
_KWARGS = click.option("--kwargs", default="{}", metavar="JSON", help="Its arguments, as in '{\"num_classes\": 10}'.")
_MAPPING = click.option("--mapping", multiple=True, metavar="FILE", help="Your own mapping table; repeatable.")


def _parse_kwargs(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"--kwargs is no valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise UsageError("--kwargs must be a JSON object", advice="write it like '{\"num_classes\": 10}'")
    return value


def _progress(message: str) -> None:
    if sys.stderr.isatty():
        say(message)


@click.command("convert-weights", short_help="Convert weights, either way.")
@click.argument("source", metavar="IN")
@click.argument("destination", metavar="OUT")
@click.option("--project", required=True, metavar="DIR", help="The translated project.")
@_ENTRY
@_KWARGS
@click.option("--reverse", is_flag=True, help="From MindSpore to PyTorch.")
@click.option("--whole", is_flag=True, help="With --reverse: the optimizer's state and the rest of a checkpoint too.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@_MAPPING
def convert_weights(
    source: str, destination: str, project: str, entry: str, kwargs: str, reverse: bool, whole: bool, form: str,
    mapping: tuple[str, ...],
) -> None:  # fmt: skip
    """Convert the weights IN to OUT (.ckpt, .safetensors), or back with --reverse.

    IN is a .pth or .safetensors file, or the .index.json of several. OUT.sha256 is its checksum.
    """
    arguments = _parse_kwargs(kwargs)
    from torch2ms.weights import convert_weights as convert

    result = convert(
        Path(source),
        Path(destination),
        project=Path(project),
        entry=entry,
        kwargs=arguments,
        reverse=reverse,
        whole=whole,
        mappings=mapping,
    )
    if form == "json":
        found = {
            "schema": 1,
            "written": printable(destination),
            "arrays": result.parameters,
            "dropped": [printable(name) for name in result.dropped],
            "notes": [printable(note) for note in result.notes],
        }
        click.echo(json.dumps(found, indent=1))
        return
    click.echo(f"{printable(destination)}: {result.parameters} arrays written")
    if result.dropped:
        say(f"without a counterpart, left out: {', '.join(result.dropped)}")
    for note in result.notes:
        say(f"note: {note}")


@click.command(short_help="Compare a translation with its source.")
@click.argument("src")
@click.argument("out")
@click.option("--entry", metavar="MODULE:CALLABLE", help="What builds the network.  [default: what SRC trains]")
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="SHAPE",
    help="2x3x224x224, or 2x16:int64<1000; once for each argument of the network.  [default: where SRC shows it]",
)
@click.option("--input-from", metavar="SOURCE", help="FILE.npz, FILE.py:CALLABLE or MODULE:CALLABLE of SRC gives them.")
@click.option("--kwargs", metavar="JSON", help="Its arguments, as in '{\"num_classes\": 10}'.")
@click.option("--train-steps", type=click.IntRange(min=0), default=0, metavar="N", help="Also train N steps.")
@click.option("--train-input", "train_inputs", multiple=True, metavar="SHAPE", help="Input of the training steps.")
@click.option("--optimizer", default="Adam(lr=0.001)", show_default=True, help="Optimizer of the training steps.")
@click.option("--loss", default="auto", show_default=True, help="Loss of gradients and training steps.")
@click.option("--graph/--no-graph", default=True, show_default=True, help="Also run the outputs in graph mode.")
@click.option("--layers/--no-layers", default=None, help="Compare layer by layer.  [default: where anything departs]")
@click.option("--record", metavar="FILE", help="Run PyTorch's half alone, and write it to FILE.")
@click.option("--replay", metavar="FILE", help="Compare with PyTorch's half from FILE; SRC and PyTorch are not needed.")
@click.option("--html", "page", metavar="FILE", help="Also write the report as a page, with pictures of the curves.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@_MAPPING
def verify(
    src: str, out: str, entry: str | None, inputs: tuple[str, ...], input_from: str | None, kwargs: str | None,
    train_steps: int, train_inputs: tuple[str, ...], optimizer: str, loss: str, graph: bool, layers: bool | None,
    record: str | None, replay: str | None, page: str | None, form: str, mapping: tuple[str, ...],
) -> int:  # fmt: skip
    """Run the network of SRC in PyTorch and that of OUT in MindSpore, and compare outputs, gradients and training.

    Exits with 1 when they do not compute the same.
    """
    given = _parse_kwargs(kwargs) if kwargs is not None else None
    from torch2ms.verify import verification
    from torch2ms.verify.found_entry import find_entry

    if replay is not None:
        if record is not None or entry or inputs or input_from or given is not None or train_steps or train_inputs:
            raise UsageError("--replay has entry, inputs and steps from its file", advice="leave these options out")
        report = verification.replay(Path(out), Path(replay), graph=graph, mappings=mapping, progress=_progress)
        return _tell(report, form, page)
    found = find_entry(Path(out), entry, inputs, given, has_inputs=input_from is not None)
    if not entry:
        say(f"verifies {printable(found.entry)} with {', '.join(found.inputs) or printable(str(input_from))}")
    settings: dict[str, Any] = {
        "entry": found.entry,
        "inputs": found.inputs,
        "input_from": input_from or "",
        "kwargs": found.kwargs,
        "train_steps": train_steps,
        "train_inputs": train_inputs,
        "optimizer": optimizer,
        "loss": loss,
        "progress": _progress,
    }
    if record is not None:
        verification.record_torch(Path(src), Path(record), **settings)
        size = Path(record).stat().st_size / 1e6
        click.echo(f"{printable(record)}: PyTorch's half, {size:.0f} MB; compare it with --replay where MindSpore is")
        return 0
    report = verification.verify(Path(src), Path(out), graph=graph, layers=layers, mappings=mapping, **settings)
    return _tell(report, form, page)


def _tell(report: VerifyReport, form: str, page: str | None) -> int:
    """Print a report, write its page, and return the exit code."""
    if page is not None:
        from torch2ms.verify.page import to_html

        try:
            Path(page).write_text(to_html(report), encoding="utf-8", newline="\n")
        except OSError as error:
            raise InputError(f"{page}: {error.strerror}") from error
    click.echo(json.dumps(report.to_json(), indent=2) if form == "json" else report.to_text())
    return 0 if report.passed else 1


@click.command(short_help="Run the bundled ResNet-50 example.")
@click.argument("folder", metavar="[DIR]", required=False)
@click.option("--full", is_flag=True, help="The whole proof: larger images, more steps; about ten minutes.")
def demo(folder: str | None, full: bool) -> int:
    """Run the main job on the bundled ResNet-50 example, on CPU.

    Translates it, converts weights, shows the first figure, verifies, trains, evaluates and resumes, and prints a
    table of what was measured. Needs PyTorch and MindSpore.
    """
    from torch2ms.demo import run_demo

    return run_demo(Path(folder) if folder else None, full=full)
