"""``torch2ms demo``: the main job on the bundled ResNet-50 example, on CPU, every step measured.

Translate, convert randomly initialised weights there and back, verify, train on synthetic images in CIFAR-10's files,
resume, evaluate; then one table of what was done, what was measured and what the limit is. Nothing in the table is
written down beforehand: each figure comes from the step's own output.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from torch2ms.diagnostics import Severity
from torch2ms.errors import InputError, UsageError, VerificationError
from torch2ms.verify.process import environment

__all__ = ["run_demo"]

_ENTRY = "resnet:resnet50"
_KWARGS = {"num_classes": 10}
_OPTIMIZER = "Adam(lr=0.001, weight_decay=1e-5)"  # as the example's main.py has it
_TOLERANCE = 2e-6  # of the largest |logit|; the ResNet-50 written by hand in MindSpore is 8.5e-7 off
_MARK = "demo.json"
_CHANCE = 0.1  # ten classes

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

    image: str  # input of the outputs
    train_image: str  # input of gradients and training steps
    steps: int
    tolerance: float | None
    train_steps: int  # of train.py, first run
    resume_steps: int  # steps in all after the resumed run
    image_size: int = 32
    batch_size: int = 16
    train_images: int = 320
    test_images: int = 80


_FULL = Scale("4x3x224x224", "4x3x112x112", 20, _TOLERANCE, 36, 48)
_QUICK = Scale("2x3x64x64", "4x3x64x64", 2, None, 6, 9, train_images=96, test_images=32)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    step: str
    what: str
    measured: str
    limit: str
    passed: bool


@dataclass(slots=True)
class Demo:
    """One run of the demo in ``folder``."""

    folder: Path
    scale: Scale
    console: Console
    rows: list[Row] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def out(self) -> Path:
        """The translated project."""
        return self.folder / "out"

    def add(self, step: str, what: str, measured: str, limit: str, passed: bool) -> None:
        """Add a line to the table."""
        self.rows.append(Row(step, what, measured, limit, passed))

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


def run_demo(folder: Path | None = None, *, quick: bool = False, console: Console | None = None) -> int:
    """Run the demo in ``folder`` (default: ``torch2ms-demo`` here) and print the table.

    Returns 0 when every line of the table holds, 1 when one does not. ``quick`` uses smaller images and fewer steps,
    and says so. Raises UsageError for a folder that holds something else, VerificationError when a step cannot be run.
    """
    console = console or Console(highlight=False)
    folder = (folder or Path("torch2ms-demo")).resolve()
    _prepare(folder)
    demo = Demo(folder, _QUICK if quick else _FULL, console)
    began = time.monotonic()
    steps: tuple[tuple[str, Callable[[Demo], None]], ...] = (
        ("translate", _translate),
        ("convert weights", _convert),
        ("verify", _verify),
        ("train", _train),
        ("resume", _resume),
        ("evaluate", _evaluate),
    )
    for number, (name, step) in enumerate(steps, 1):
        console.print(f"{number}/{len(steps)} {name} ...")
        start = time.monotonic()
        step(demo)
        demo.seconds[name] = time.monotonic() - start
    _show(demo, time.monotonic() - began)
    return 0 if all(row.passed for row in demo.rows) else 1


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
    demo.add("convert weights", "and back, bit by bit", equal, "all equal", same)


def _verify(demo: Demo) -> None:
    from torch2ms.verify.verification import verify

    scale = demo.scale
    report = verify(
        _example(),
        demo.out,
        entry=_ENTRY,
        kwargs=_KWARGS,
        inputs=[scale.image],
        train_inputs=[scale.train_image],
        train_steps=scale.steps,
        optimizer=_OPTIMIZER,
        loss="cross_entropy",
        tolerance=scale.tolerance,
        progress=lambda message: demo.console.print(f"    {message}", style="dim"),
    )
    (demo.folder / "verify.json").write_text(json.dumps(report.to_json(), indent=1) + "\n", encoding="utf-8")
    for figure in report.figures:
        floor = "" if math.isnan(figure.floor) else f" (PyTorch's own: {figure.floor:.1e})"
        demo.add(
            "verify",
            f"{figure.group}: {figure.name}",
            f"{figure.ours:.1e}{floor}",
            f"{figure.limit:.1e}",
            figure.passed,
        )
    for problem in report.problems:
        demo.add("verify", problem, "", "none", False)


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
    shown = ", ".join(f"{loss:.3f}" for loss in losses) or "none"
    demo.add("train", f"mean loss of each epoch, {scale.train_steps} steps", shown, "finite", fine)


def _resume(demo: Demo) -> None:
    text = demo.run("resume", "train.py", *_options(demo, "--max-steps", str(demo.scale.resume_steps), "--resume"))
    found = re.search(r"checkpoint-(\d+)", text) if "resumed from" in text else None
    step = int(found.group(1)) if found else -1
    shown = f"step {step}" if found else "not resumed"
    demo.add("resume", "goes on from", shown, f"step {demo.scale.train_steps}", step == demo.scale.train_steps)
    newest = sorted(path.name for path in (demo.folder / "checkpoints").glob("checkpoint-*"))[-1:]
    wanted = f"checkpoint-{demo.scale.resume_steps:08d}.safetensors"
    demo.add("resume", "newest checkpoint", ", ".join(newest) or "none", wanted, newest == [wanted])


def _evaluate(demo: Demo) -> None:
    best = demo.folder / "checkpoints" / "best.safetensors"
    text = demo.run("evaluate", "eval.py", *_data_options(demo), "--checkpoint", str(best))
    found = re.search(r"accuracy ([\d.]+)", text)
    accuracy = float(found.group(1)) if found else math.nan
    # a few steps of the quick demo teach nothing
    limit = _CHANCE if demo.scale is _FULL else -1.0
    demo.add("evaluate", "accuracy of the best checkpoint", f"{accuracy:.3f}", f"above {limit}", accuracy > limit)


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
        "quick": demo.scale is _QUICK,
        "passed": all(row.passed for row in demo.rows),
        "seconds": {name: round(value, 1) for name, value in demo.seconds.items()},
        "rows": [asdict(row) for row in demo.rows],
    }
    (demo.folder / _MARK).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    table = Table(title="ResNet-50 from PyTorch to MindSpore, on CPU", title_justify="left")
    for heading in ("step", "what", "measured", "limit", ""):
        table.add_column(heading, overflow="fold")
    last = ""
    for row in demo.rows:
        step = f"{row.step} ({demo.seconds[row.step]:.0f} s)" if row.step != last else ""
        table.add_row(step, row.what, row.measured, row.limit, "ok" if row.passed else "[red]FAILED[/red]")
        last = row.step
    demo.console.print(table)
    failed = sum(not row.passed for row in demo.rows)
    demo.console.print(f"{'all hold' if not failed else f'{failed} FAILED'}; {seconds:.0f} s")
    if demo.scale is _QUICK:
        demo.console.print("quick: smaller images and fewer steps than the figures in the README are measured with")
    demo.console.print("GPU and Ascend: documented, not executed")
    demo.console.print(f"report: {demo.out / 'torch2ms_report' / 'report.html'}")
