"""Acceptance by models: whole packages are translated, and each of their models is compared with its translation.

    python benchmarks/models.py torchvision               # every model of one list
    python benchmarks/models.py timm --only 'vit|swin'    # entries that match
    python benchmarks/models.py timm --first              # the first model of each family
    python benchmarks/models.py torchvision --quick       # outputs only, one seed
    python benchmarks/models.py timm --steps              # build and train for one step only
    python benchmarks/models.py timm --keep DIR           # leave source and translation in DIR, to be found next time
    python benchmarks/models.py timm --json FILE          # write what was found

The lists are in ``model_lists/``, one file a package: where its source is, the files that are stood in for (those that
several lists share stand in ``model_lists/shared/``), and the models with their arguments and inputs. torchvision and
timm are taken as they are, and imported by their own ``__init__``. A package is translated once; each framework has one
process for all its models (started again when a model kills it or takes too long), and each model gets the same weights
and inputs on both sides. Outputs in eval mode, gradients in eval mode and in train mode without dropout, statistics and
the number of parameters are held against float64, as ``torch2ms verify`` does. A model that agrees is built once more
by the translation alone, and trained for one step with SGD (``one_step.py``, translated with the package). One seed is
run; where that one is beyond its limits, the median of three decides, and where only gradients are beyond them then,
nine seeds do (docs/parity.md).

A model is

- *parity*: everything is within its limits;
- *rounding*: something is beyond its limit, and nothing is wrong by more than 1e-4: the same sums in another order;
- *marked*: it is not, and the translation says so: an error or a warning stands in the functions that failed, or, when
  values differ, in a class the network is made of;
- *loud*: it is not, unmarked, and fails when it is built or run;
- *silent*: it is not, and nothing says so.

What PyTorch itself cannot run here is *skipped*, with the reason.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover - same code under its older name
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
LISTS = ROOT / "benchmarks" / "model_lists"
ONE_STEP = ROOT / "benchmarks" / "one_step.py"
sys.path.insert(0, str(ROOT))

from torch2ms import translate_project  # noqa: E402
from torch2ms.config import Options  # noqa: E402
from torch2ms.errors import VerificationError  # noqa: E402
from torch2ms.verify.process import Worker, WorkerError, environment  # noqa: E402
from torch2ms.verify.report import VerifyReport  # noqa: E402
from torch2ms.verify.verification import compare, make_plan  # noqa: E402
from torch2ms.weights import table_rules  # noqa: E402

STATES = ("parity", "rounding", "marked", "loud", "silent", "skipped")
ROUNDING = 1e-4
_MARK = re.compile(r"# TORCH2MS T2M\d+")


@dataclass(frozen=True)
class Model:
    """One entry of a list."""

    family: str
    entry: str  # module:callable
    inputs: tuple[str, ...]
    kwargs: dict[str, Any]
    train_inputs: tuple[str, ...] = ()  # for gradients and training mode, where eval mode takes other ones
    gradients: bool = True

    @property
    def label(self) -> str:
        """The name it is printed and chosen by: what a list's own ``entry:build`` takes out of which file."""
        if self.entry != "entry:build":
            return self.entry
        return f"{self.kwargs.get('file', self.kwargs.get('module', ''))}:{self.kwargs.get('name', '')}"


@dataclass
class Outcome:
    """What became of one model."""

    family: str
    entry: str
    state: str
    reason: str = ""  # one line: the error, or the worst figure
    seconds: float = 0.0
    figures: list[tuple[str, ...]] = field(default_factory=list)
    trace: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class Package:
    """A list: the folder of a source, what is stood in for, the models."""

    name: str
    folders: tuple[str, ...]  # below the corpus; the first that exists is taken
    below: str  # where in the tree the folder comes to lie
    leave_out: tuple[str, ...]
    stand_ins: dict[str, str]
    torch_only: dict[str, str]  # files that only the PyTorch side gets
    borrowed: tuple[str, ...]  # packages of the corpus that only the PyTorch side gets
    models: tuple[Model, ...]


def load(name: str) -> Package:
    """Read ``model_lists/NAME.toml``."""
    data = tomllib.loads((LISTS / f"{name}.toml").read_text())
    models = [model for family in data["family"] for model in _models(family, data.get("defaults", {}))]
    return Package(
        name,
        tuple(data["folders"]),
        data.get("below", ""),
        tuple(data.get("leave_out", ())),
        {**data.get("stand_ins", {}), **{path: shared(name) for path, name in data.get("shared", {}).items()}},
        {**data.get("torch_only", {}), **{p: shared(n) for p, n in data.get("torch_only_shared", {}).items()}},
        tuple(data.get("borrowed", ())),
        tuple(models),
    )


def shared(name: str) -> str:
    """Return a stand-in that several lists use: ``model_lists/shared/NAME``, nothing for an empty name."""
    return (LISTS / "shared" / name).read_text() if name else ""


def _models(family: dict[str, Any], defaults: dict[str, Any]) -> Iterator[Model]:
    """Yield the models of a family; each is a name, or a table with its own inputs and arguments."""
    settings = {**defaults, **{key: value for key, value in family.items() if key not in ("name", "models")}}
    for item in family["models"]:
        own = {"name": item} if isinstance(item, str) else item
        merged = {**settings, **own}
        entry = own["name"] if ":" in own["name"] else f"{merged['module']}:{own['name']}"
        kwargs = {**settings.get("kwargs", {}), **own.get("kwargs", {})}
        yield Model(
            family["name"],
            entry,
            tuple(merged["inputs"]),
            {key: None if value == "null" else value for key, value in kwargs.items() if value != "absent"},
            tuple(merged.get("train_inputs", ())),
            merged.get("gradients", True),
        )


def find_folder(name: str, corpora: list[Path]) -> Path | None:
    """Return the folder of a name in the first corpus that has it, or None."""
    return next((corpus / name for corpus in corpora if (corpus / name).is_dir()), None)


def missing(package: Package, corpora: list[Path]) -> list[str]:
    """Return the names of what the corpora do not hold."""
    names = [] if any(find_folder(folder, corpora) for folder in package.folders) else [package.folders[0]]
    return names + [name for name in package.borrowed if find_folder(name, corpora) is None]


def make_source(package: Package, found: Path, root: Path) -> Path:
    """Copy the Python files of a package, with its stand-ins, to ``root/src``."""
    source = root / "src"
    target = source / package.below
    skipped = set(package.leave_out)

    def ignore(folder: str, names: list[str]) -> set[str]:
        inside = Path(folder).relative_to(found)
        return {
            name
            for name in names
            if str(inside / name) in skipped
            or name in (".git", "__pycache__")
            or (not (Path(folder) / name).is_dir() and not name.endswith((".py", ".cfg", ".json", ".txt")))
        }

    shutil.copytree(found, target, ignore=ignore, dirs_exist_ok=True)
    write(source, package.stand_ins)
    if not (source / ONE_STEP.name).exists():
        shutil.copy(ONE_STEP, source)
    return source


def complete(package: Package, source: Path, corpora: list[Path]) -> None:
    """Add, behind the translation, what the PyTorch side alone needs to be imported."""
    for name in package.borrowed:
        borrowed = find_folder(name, corpora)
        if borrowed is not None:
            shutil.copytree(borrowed, source / borrowed.name, dirs_exist_ok=True)
    write(source, package.torch_only)


def write(source: Path, files: dict[str, str]) -> None:
    """Write some files below ``source``."""
    for path, text in files.items():
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_text(text)


_STEPS = """
import json, resource, sys

class NoTorch:  # a translation must do without, though torch may well be installed here
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, NoTorch)
sys.path[0] = sys.argv[1]
import one_step
for line in sys.stdin:
    entry, settings, shapes = json.loads(line)
    try:
        loss, finite = one_step.one_step(one_step.build(*entry, settings), shapes)
        told = "" if finite else f"loss {loss}: the step left weights that are no finite numbers"
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
    is_full = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 4 << 20  # KiB
    print("STEP", json.dumps([told, is_full]), flush=True)
"""


class Steps:
    """A process that imports the translated package, builds its models and trains each for one step.

    MindSpore's experimental optimizers are never freed, nor are their parameters, so a process that has grown beyond
    4 GiB is replaced.
    """

    def __init__(self, output: Path, limit: float) -> None:
        self.output, self.limit = output, limit
        self.process: subprocess.Popen[str] | None = None

    def run(self, model: Model) -> str:
        """Return what went wrong; an empty text if nothing did."""
        if self.process is None or self.process.poll() is not None:
            command = [sys.executable, "-c", _STEPS, str(self.output)]
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment(), cwd=self.output
            )
        process = self.process
        assert process.stdin is not None
        assert process.stdout is not None
        shapes = [[int(size) for size in spec.split("x")] for spec in model.train_inputs or model.inputs]
        watch = threading.Timer(self.limit, process.kill)
        watch.start()
        try:
            process.stdin.write(json.dumps([model.entry.split(":"), model.kwargs, shapes]) + "\n")
            process.stdin.flush()
            line = next((line for line in process.stdout if line.startswith("STEP ")), "")
        except BrokenPipeError:
            line = ""
        finally:
            watch.cancel()
        if not line:
            return f"the process ended with {process.wait()}"
        told, is_full = json.loads(line[5:])
        if is_full:
            self.stop()
        return str(told)

    def stop(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()


class Sides:
    """Both processes; started when first asked for, and again after :meth:`stop`."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.workers: tuple[Worker, Worker] | None = None

    def get(self) -> tuple[Worker, Worker]:
        """Return PyTorch's and MindSpore's process."""
        if self.workers is None:
            self.workers = (Worker("torch_side", None, self.limit), Worker("mindspore_side", None, self.limit))
        return self.workers

    def stop(self) -> None:
        """End both."""
        for worker in self.workers or ():
            worker.__exit__(None, None, None)
        self.workers = None


class Runner:
    """Runs the models of one translated package."""

    def __init__(self, source: Path, output: Path, limit: float, quick: bool) -> None:
        self.source, self.output, self.quick = source, output, quick
        self.sides, self.steps = Sides(limit), Steps(output, limit)
        self.rules = table_rules()

    def run(self, model: Model) -> Outcome:
        """Compare one model; never raises for what the model does."""
        start = time.monotonic()
        outcome = Outcome(model.family, model.label, "parity")
        try:
            report = self._compare(model, (1,))
            if not self.quick and not report.passed and not report.problems:
                report = self._compare(model, (1, 2, 3))
            self._judge(report, outcome)
            if not self.quick and outcome.state in ("parity", "rounding"):
                self._step(model, outcome)
        except WorkerError as error:
            self._failed(error, outcome)
        except VerificationError as error:
            outcome.state, outcome.reason = "loud", str(error)
        outcome.seconds = round(time.monotonic() - start, 1)
        return outcome

    def step(self, model: Model) -> Outcome:
        """Build a model and train it for one step, in the translation alone."""
        start = time.monotonic()
        outcome = Outcome(model.family, model.label, "parity")
        self._step(model, outcome)
        outcome.seconds = round(time.monotonic() - start, 1)
        return outcome

    def _step(self, model: Model, outcome: Outcome) -> None:
        plain = all(re.fullmatch(r"\d+(x\d+)*", spec) for spec in model.train_inputs or model.inputs)
        told = self.steps.run(model) if plain and model.gradients else ""
        if told:
            outcome.state, outcome.reason = "loud", f"one training step: {told}"

    def stop(self) -> None:
        """End all processes."""
        self.sides.stop()
        self.steps.stop()

    def _compare(self, model: Model, seeds: tuple[int, ...]) -> VerifyReport:
        plan = make_plan(
            entry=model.entry,
            inputs=model.inputs,
            train_inputs=model.train_inputs,
            kwargs=model.kwargs,
            seeds=seeds,
            layers=False,
            gradients=model.gradients and not self.quick,
            graph=False,
        )
        return compare(self.source, self.output, plan, self.rules, self.sides.get())

    def _judge(self, report: VerifyReport, outcome: Outcome) -> None:
        if report.passed:
            return
        outcome.figures = [row for row in report.rows() if row[-1] != "ok"]
        outcome.reason = "; ".join(
            [*report.problems[:3], *(f"{row[0]} {row[1]} > {row[3]}" for row in outcome.figures)]
        )
        no_reference = ("draws random numbers in eval mode", "no finite numbers")
        if any(words in problem for problem in report.problems for words in no_reference):
            outcome.state = "skipped"
            return
        if not report.problems and all(figure.passed or figure.ours <= ROUNDING for figure in report.figures):
            outcome.state = "rounding"
            return
        sources = self.sides.get()[1].call("sources", root=str(self.output.resolve()))["sources"]
        outcome.state = "marked" if any(self._marks(file, first, last) for file, first, last in sources) else "silent"
        if any(problem.startswith("T2M801") for problem in report.problems):
            outcome.state = "marked" if outcome.state == "marked" else "loud"  # weights that do not fit are refused

    def _failed(self, error: WorkerError, outcome: Outcome) -> None:
        outcome.reason = str(error)
        outcome.trace = [frame for frame in error.trace if str(self.output) in frame[0] or str(self.source) in frame[0]]
        if error.side == "torch_side":
            outcome.state = "skipped"
        else:
            outcome.state = "marked" if any(self._marked_function(*frame) for frame in error.trace) else "loud"
        if not error.trace or error.side == "mindspore_side":
            self.sides.stop()  # an exception inside value_and_grad leaves MindSpore in a state that breaks what follows

    def _marked_function(self, file: str, line: int) -> bool:
        """Say whether the function (or the statement outside any) that a frame was in holds a mark."""
        if not str(file).startswith(str(self.output.resolve())) or "torch2ms_runtime" in file:
            return False
        tree = ast.parse(Path(file).read_text())
        inside = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or 0)
        ]
        first, last = (inside[-1].lineno, inside[-1].end_lineno or line) if inside else (line - 3, line)
        return self._marks(file, first, last)

    def _marks(self, file: str, first: int, last: int) -> bool:
        lines = Path(file).read_text().splitlines()[max(first - 2, 0) : last]
        return any(_MARK.search(text) for text in lines)


def translated(
    package: Package, folder: Path, corpora: list[Path], options: Options | None = None
) -> tuple[Path, Path]:
    """Return the source of a package and its translation, made unless ``folder`` holds them already."""
    source, output = folder / "src", folder / "out"
    if not output.is_dir():
        found = (find_folder(name, corpora) for name in package.folders)
        make_source(package, next(path for path in found if path), folder)
        started = time.monotonic()
        report = translate_project(source, output, options)
        print(f"{package.name}: {len(report.files)} files, {time.monotonic() - started:.0f} s", flush=True)
    complete(package, source, corpora)
    return source, output


def run_package(package: Package, folder: Path, options: argparse.Namespace) -> list[Outcome]:
    """Translate a package (unless ``folder`` holds it already), then run its models and print one line for each."""
    source, output = translated(package, folder, options.corpus)
    runner = Runner(source.resolve(), output.resolve(), options.limit, options.quick)
    outcomes = []
    try:
        for model in chosen(package, options.only, options.first):
            outcomes.append(runner.step(model) if options.steps else runner.run(model))
            last = outcomes[-1]
            print(f"{last.state:8} {last.seconds:6.1f} s  {last.entry}  {last.reason[:300]}", flush=True)
            for file, line in last.trace[-2:]:
                print(f"{'':20}{file}:{line}", flush=True)
    finally:
        runner.stop()
    return outcomes


def chosen(package: Package, only: str, first: bool) -> list[Model]:
    """Return the models whose entry matches ``only``; of each family the first alone, when asked."""
    seen: set[str] = set()
    found = []
    for model in package.models:
        if re.search(only, model.label) and not (first and model.family in seen):
            seen.add(model.family)
            found.append(model)
    return found


def table(outcomes: list[Outcome]) -> str:
    """Return the table: one line a family, and the sum."""
    families: dict[str, Counter[str]] = {}
    for outcome in outcomes:
        families.setdefault(outcome.family, Counter())[outcome.state] += 1
    families["all"] = sum(families.values(), Counter())
    width = max(map(len, families))
    lines = [f"{'':{width}} " + "".join(f"{state:>10}" for state in STATES)]
    lines += [f"{name:{width}} " + "".join(f"{count[s]:10}" for s in STATES) for name, count in families.items()]
    return "\n".join(lines)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lists", nargs="*", help="names of model_lists/*.toml; all when none is given")
    parser.add_argument(
        "--corpus", type=Path, action="append", help="where sources are (else TORCH2MS_CORPUS, else .venv/corpus)"
    )
    parser.add_argument("--only", default="", help="a regular expression for entries")
    parser.add_argument("--first", action="store_true", help="the first model of each family")
    parser.add_argument("--quick", action="store_true", help="outputs only, one seed")
    parser.add_argument("--steps", action="store_true", help="build and train for one step only")
    parser.add_argument("--limit", type=float, default=240.0, help="seconds for one step of one model")
    parser.add_argument("--keep", type=Path, help="a folder for sources and translations, found again the next time")
    parser.add_argument("--json", type=Path, help="where to write what was found")
    return parser.parse_args(arguments)


def main() -> int:
    options = parse()
    options.corpus = options.corpus or [Path(os.environ.get("TORCH2MS_CORPUS", ROOT / ".venv" / "corpus"))]
    outcomes: list[Outcome] = []
    for name in options.lists or sorted(path.stem for path in LISTS.glob("*.toml")):
        package = load(name)
        absent = missing(package, options.corpus)
        if absent:
            print(f"{name}: no {' and no '.join(absent)} in the corpus")
            continue
        with tempfile.TemporaryDirectory() as temporary:
            folder = (options.keep or Path(temporary)) / name
            outcomes += run_package(package, folder, options)
    if options.json:
        options.json.write_text(json.dumps([asdict(outcome) for outcome in outcomes], indent=1) + "\n")
    print(table(outcomes))
    return 1 if any(outcome.state == "silent" for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
