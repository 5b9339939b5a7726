"""``torch2ms demo``: the main job on the bundled ResNet-50 example, on CPU, every step measured.

Translate, convert randomly initialised weights there and back, compare the logits of one seed, verify, train on
synthetic images in CIFAR-10's files, resume, evaluate; then one table of what was done, what was measured and what the
limit is. Nothing in the table is written down beforehand: each figure comes from the step's own output.
"""

from __future__ import annotations

import importlib.util
import json
import math
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from torch2ms.diagnostics import Severity
from torch2ms.errors import InputError, UsageError, VerificationError
from torch2ms.verify.process import environment

if TYPE_CHECKING:
    from torch2ms.verify.report import VerifyReport

__all__ = ["run_demo"]

_ENTRY = "resnet:resnet50"
_KWARGS = {"num_classes": 10}
_OPTIMIZER = "Adam(lr=0.001, weight_decay=1e-5)"  # as the example's main.py has it
_TOLERANCE = 2e-6  # of the largest |logit|; the ResNet-50 written by hand in MindSpore is 8.5e-7 off
_MARK = "demo.json"
_CHANCE = 0.1  # ten classes
_WIDTH = 100  # columns of the table at most

_SAVE_WEIGHTS = """
import sys, torch
sys.path.insert(0, sys.argv[1])
import resnet
torch.manual_seed(0)
net = resnet.resnet50(num_classes=10)
for name, buffer in net.named_buffers():
    if name.endswith("running_mean"):
        buffer.copy_(0.1 * torch.randn(buffer.shape))
    elif name.endswith("running_var"):
        buffer.copy_(0.75 + 0.5 * torch.rand(buffer.shape))
torch.save(net.state_dict(), sys.argv[2])
"""
_COMPARE_WEIGHTS = """
import sys, torch
first, second = (torch.load(path, weights_only=True) for path in sys.argv[1:3])
kept = [key for key in first if not key.endswith("num_batches_tracked")]
equal = [key for key in kept if key in second and torch.equal(first[key], second[key])]
print(len(equal), "of", len(kept), "equal;", len(set(second) - set(first)), "new keys")
"""
_WRITE_DATA = """
import sys
from torch2ms.runtime.synthetic import write_cifar10_python
print(write_cifar10_python(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
"""


@dataclass(frozen=True, slots=True)
class Scale:
    """How large the demo is."""

    name: str
    first_image: str  # input of the first figure: logits, one seed
    image: str  # input of the outputs of all seeds
    train_image: str  # input of gradients and training steps
    steps: int  # training steps that are compared
    tolerance: float | None
    train_steps: int  # of train.py, first run
    resume_steps: int  # steps in all after the resumed run
    is_trained: bool  # the steps are enough for an accuracy above chance
    graph: bool  # the outputs once more, compiled
    image_size: int = 32
    batch_size: int = 16
    train_images: int = 320
    test_images: int = 80


_FULL = Scale("full", "1x3x224x224", "4x3x224x224", "4x3x112x112", 20, _TOLERANCE, 36, 48, True, True)
_SHORT = Scale(
    "short", "1x3x224x224", "2x3x64x64", "4x3x64x64", 2, None, 6, 9, False, False, train_images=96, test_images=32
)
_NOTES = {
    "short": "smaller images and fewer steps than the README's figures have: those are `torch2ms demo --full`",
    "full": "",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; ``noise`` is PyTorch's own distance from float64, where there is one."""

    step: str
    what: str
    measured: str
    limit: str
    passed: bool
    noise: str = ""


@dataclass(slots=True)
class Demo:
    """One run of the demo in ``folder``."""

    folder: Path
    scale: Scale
    console: Console
    rows: list[Row] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    progress: Callable[[str], None] = lambda message: None

    @property
    def out(self) -> Path:
        """The translated project."""
        return self.folder / "out"

    def add(self, step: str, what: str, measured: str, limit: str, passed: bool, noise: str = "") -> None:
        """Add a line to the table."""
        self.rows.append(Row(step, what, measured, limit, passed, noise))

    def run(self, name: str, *command: str, cwd: Path | None = None) -> str:
        """Run Python with ``command`` and return what it printed; both streams go to ``logs/NAME.log``.

        Raises VerificationError with the last lines when it fails.
        """
        done = subprocess.run(
            [sys.executable, *command],
            cwd=cwd or self.out,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        log = self.folder / "logs" / f"{name}.log"
        log.parent.mkdir(exist_ok=True)
        log.write_text(done.stdout + done.stderr, encoding="utf-8")
        if done.returncode:
            last = "\n".join((done.stdout + done.stderr).splitlines()[-12:])
            raise VerificationError(f"{name} failed with exit code {done.returncode}; see {log}", advice=last)
        return done.stdout


def run_demo(folder: Path | None = None, *, full: bool = False, console: Console | None = None) -> int:
    """Run the demo in ``folder`` (default: ``torch2ms-demo`` here) and print the table.

    Returns 0 when every line of the table holds, 1 when one does not. ``full`` is the whole proof: larger images and
    more steps. Raises UsageError for a folder that holds something else and for packages that are missing,
    VerificationError when a step cannot be run.
    """
    _need_packages()
    console = console or _console()
    folder = (folder or Path("torch2ms-demo")).resolve()
    _prepare(folder)
    demo = Demo(folder, _FULL if full else _SHORT, console)
    began = time.monotonic()
    steps: tuple[tuple[str, Callable[[Demo], None]], ...] = (
        ("translate", _translate),
        ("convert weights", _convert),
        ("first figure", _first_figure),
        ("verify", _verify),
        ("train", _train),
        ("resume", _resume),
        ("evaluate", _evaluate),
    )
    with _bar(demo, len(steps)) as advance:
        for name, step in steps:
            advance(name)
            start = time.monotonic()
            done = len(demo.rows)
            step(demo)
            demo.seconds[name] = time.monotonic() - start
            _tell_step(demo, name, demo.rows[done:], time.monotonic() - began)
    _show(demo, time.monotonic() - began)
    return 0 if all(row.passed for row in demo.rows) else 1


def _console() -> Console:
    """Return the console of stdout; where it is no terminal, lines may be as long as the table."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=_WIDTH)


def _need_packages() -> None:
    missing = [name for name in ("torch", "mindspore") if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(
            f"the demo runs PyTorch and MindSpore, and {sys.executable} has no {' and no '.join(missing)}",
            advice=f'install it: pip install "torch2ms[{",".join(missing)}]"',
        )


@contextmanager
def _bar(demo: Demo, total: int) -> Iterator[Callable[[str], None]]:
    """Give a function that begins a step; on a terminal a bar stands below what is printed."""
    if not demo.console.is_terminal:
        yield lambda name: None
        return
    columns = (MofNCompleteColumn(), BarColumn(20), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=demo.console, transient=True) as bar:
        task: TaskID = bar.add_task("", total=total)
        names: list[str] = []

        def advance(name: str) -> None:
            bar.update(task, completed=len(names), description=name)
            names.append(name)

        demo.progress = lambda message: bar.update(task, description=f"{names[-1]}: {message}")
        yield advance


def _tell_step(demo: Demo, name: str, rows: list[Row], seconds: float) -> None:
    """Print a line for a step that is done; a step of one or two figures shows them."""
    figures = ", ".join(f"{row.what} {row.measured}" for row in rows) if len(rows) <= 2 else f"{len(rows)} figures"
    failed = sum(not row.passed for row in rows)
    verdict = f"  [red]{failed} FAILED[/red]" if failed else ""
    demo.console.print(f"{seconds:4.0f} s  {name:16} {figures}{verdict}", soft_wrap=True)


def _prepare(folder: Path) -> None:
    """Make the folder, or empty one of an earlier demo; anything else is left alone."""
    if folder.exists():
        if not folder.is_dir() or (any(folder.iterdir()) and not (folder / _MARK).exists()):
            raise UsageError(f"{folder} exists and is no demo folder", advice="name another folder, or remove it")
        for name in ("out", "weights", "data", "checkpoints", "logs"):
            shutil.rmtree(folder / name, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _MARK).write_text("{}\n", encoding="utf-8")
    (folder / "weights").mkdir()


def _example() -> Path:
    """Return the example: in the wheel, or in the repository."""
    package = Path(__file__).resolve().parent
    for place in (package / "examples", package.parent / "examples"):
        if (place / "resnet50_cifar10" / "resnet.py").is_file():
            return place / "resnet50_cifar10"
    raise InputError("the example resnet50_cifar10 is not in this installation", advice="install torch2ms again")


def _translate(demo: Demo) -> None:
    from torch2ms.translator.pipeline import translate_project

    report = translate_project(_example(), demo.out)
    changed = sum(file.status == "translated" for file in report.files)
    errors, warnings = report.count(Severity.ERROR), report.count(Severity.WARNING)
    mapped = sum(use.status in ("mapped", "kept", "removed") for use in report.apis)
    demo.add("translate", "files translated", str(changed), "", True)
    demo.add("translate", "torch APIs translated", f"{mapped} of {len(report.apis)}", "all", mapped == len(report.apis))
    demo.add("translate", "errors / warnings", f"{errors} / {warnings}", "0 errors", errors == 0)


def _convert(demo: Demo) -> None:
    weights = demo.folder / "weights"
    source, target, back = weights / "resnet50.pth", weights / "resnet50.ckpt", weights / "back.pth"
    demo.run("make weights", "-c", _SAVE_WEIGHTS, str(_example()), str(source), cwd=weights)
    there = demo.run("convert", "convert_weights.py", str(source), str(target))
    demo.run("convert back", "convert_weights.py", "--reverse", str(target), str(back))
    equal = demo.run("compare weights", "-c", _COMPARE_WEIGHTS, str(source), str(back), cwd=weights).strip()
    found = re.fullmatch(r"(\d+) of (\d+) equal; (\d+) new keys", equal)
    written = re.search(r"(\d+) arrays", there)
    demo.add("convert weights", ".pth to .ckpt", f"{written.group(1) if written else '?'} arrays", "", bool(written))
    same = found is not None and found.group(1) == found.group(2) and found.group(3) == "0"
    shown = f"{found.group(1)} of {found.group(2)}" if found else equal
    demo.add("convert weights", "and back, equal bit by bit", shown, "all", same)


def _first_figure(demo: Demo) -> None:
    """Compare the logits of one seed: what the reader came to see, before all that takes longer."""
    _compare(demo, "first figure", inputs=[demo.scale.first_image], seeds=(1,), gradients=False, graph=False)


def _verify(demo: Demo) -> None:
    scale = demo.scale
    report = _compare(
        demo,
        "verify",
        inputs=[scale.image],
        train_inputs=[scale.train_image],
        train_steps=scale.steps,
        optimizer=_OPTIMIZER,
        loss="cross_entropy",
        tolerance=scale.tolerance,
        graph=scale.graph,
    )
    (demo.folder / "verify.json").write_text(json.dumps(report.to_json(), indent=1) + "\n", encoding="utf-8")


def _compare(demo: Demo, step: str, **settings: Any) -> VerifyReport:
    """Run a verification and add its figures and problems as lines of ``step``."""
    from torch2ms.verify.verification import verify

    report = verify(_example(), demo.out, entry=_ENTRY, kwargs=_KWARGS, progress=demo.progress, **settings)
    for figure in report.figures:
        noise = "" if math.isnan(figure.floor) else f"{figure.floor:.1e}"
        what = f"{figure.group}: {figure.name}"
        demo.add(step, what, f"{figure.ours:.1e}", f"{figure.limit:.1e}", figure.passed, noise)
    for problem in report.problems:
        demo.add(step, problem, "", "none", False)
    return report


def _train(demo: Demo) -> None:
    scale = demo.scale
    data = demo.folder / "data"
    demo.run("data", "-c", _WITH_OUT + _WRITE_DATA, str(data), str(scale.train_images), str(scale.test_images))
    options = _options(
        demo, "--max-steps", str(scale.train_steps), "--pretrained", str(demo.folder / "weights" / "resnet50.ckpt")
    )
    text = demo.run("train", "train.py", *options)
    losses = [float(number) for number in re.findall(r"mean loss ([\d.einfa+-]+)", text)]
    fine = bool(losses) and all(math.isfinite(loss) for loss in losses)
    shown = " ".join(f"{loss:.2f}" for loss in losses) or "none"
    demo.add("train", f"mean loss of each epoch, {scale.train_steps} steps", shown, "finite", fine)


def _resume(demo: Demo) -> None:
    text = demo.run("resume", "train.py", *_options(demo, "--max-steps", str(demo.scale.resume_steps), "--resume"))
    found = re.search(r"checkpoint-(\d+)", text) if "resumed from" in text else None
    step = int(found.group(1)) if found else -1
    shown = f"step {step}" if found else "not"
    demo.add("resume", "goes on from", shown, f"step {demo.scale.train_steps}", step == demo.scale.train_steps)
    newest = sorted(path.name for path in (demo.folder / "checkpoints").glob("checkpoint-*"))[-1:]
    wanted = f"checkpoint-{demo.scale.resume_steps:08d}.safetensors"
    limit = f"step {demo.scale.resume_steps}"
    shown = limit if newest == [wanted] else ", ".join(newest) or "none"
    demo.add("resume", "newest checkpoint", shown, limit, newest == [wanted])


def _evaluate(demo: Demo) -> None:
    best = demo.folder / "checkpoints" / "best.safetensors"
    text = demo.run("evaluate", "eval.py", *_data_options(demo), "--checkpoint", str(best))
    found = re.search(r"accuracy ([\d.]+)", text)
    accuracy = float(found.group(1)) if found else math.nan
    fine = accuracy > _CHANCE if demo.scale.is_trained else math.isfinite(accuracy)
    limit = f"above {_CHANCE}" if demo.scale.is_trained else "a number"
    demo.add("evaluate", "accuracy of the best checkpoint", f"{accuracy:.3f}", limit, fine)


_WITH_OUT = "import os, sys\nsys.path.insert(0, os.getcwd())\n"


def _data_options(demo: Demo) -> list[str]:
    scale = demo.scale
    return [
        "--data-path", str(demo.folder / "data"), "--dataset", "cifar10", "--image-size", str(scale.image_size),
        "--batch-size", str(scale.batch_size), "--device-target", "CPU",
    ]  # fmt: skip


def _options(demo: Demo, *more: str) -> list[str]:
    return [*_data_options(demo), "--output-dir", str(demo.folder / "checkpoints"), *more]


def _show(demo: Demo, seconds: float) -> None:
    """Print the table, and leave it as data in the demo's folder."""
    content: dict[str, Any] = {
        "schema": 1,
        "scale": demo.scale.name,
        "passed": all(row.passed for row in demo.rows),
        "seconds": {name: round(value, 1) for name, value in demo.seconds.items()},
        "rows": [asdict(row) for row in demo.rows],
    }
    (demo.folder / _MARK).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    table = Table(title="ResNet-50 from PyTorch to MindSpore, on CPU", title_justify="left", box=SIMPLE_HEAD)
    table.add_column("", overflow="fold")
    for heading in ("MindSpore", "noise", "limit"):
        table.add_column(heading, overflow="fold", justify="right")
    table.add_column("", no_wrap=True)
    last = ""
    for row in demo.rows:
        if row.step != last:
            table.add_row(f"[bold]{row.step}[/bold]  {demo.seconds[row.step]:.0f} s")
        verdict = "ok" if row.passed else "[red]FAILED[/red]"
        table.add_row(f"  {row.what}", row.measured, row.noise, row.limit, verdict)
        last = row.step
    demo.console.print(table, width=min(demo.console.width, _WIDTH))
    failed = sum(not row.passed for row in demo.rows)
    demo.console.print(f"{'all hold' if not failed else f'{failed} FAILED'}; {seconds:.0f} s", soft_wrap=True)
    for line in (_NOTES[demo.scale.name], "GPU and Ascend: documented, not executed"):
        if line:
            demo.console.print(line, soft_wrap=True)
    report = demo.out / "torch2ms_report" / "report.html"
    demo.console.print(f"the report, to be opened in a browser: {report}", soft_wrap=True)
