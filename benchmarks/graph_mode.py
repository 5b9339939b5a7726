"""Which networks compile in graph mode, translated with ``--mode graph``: the table of docs/graph-mode.md.

    python benchmarks/graph_mode.py                       # the lists of the issue: see LISTS
    python benchmarks/graph_mode.py timm --only 'vit|swin'
    python benchmarks/graph_mode.py --keep DIR --json FILE --markdown FILE

The lists are those of ``models.py``; of each family the first model is taken, or all with ``--all``. Each network is
built in a process of its own (``graph_worker.py``) and run in PyNative mode, then compiled: its outputs in eval mode,
then loss, gradients and statistics in train mode. Results are held against PyNative mode's own: the floor is the median
of two twins whose weights are off by 1e-7, and the compiled network may be 4 times as far off, or 1e-6. Where train
mode draws random numbers it is compiled all the same, and the gradients of eval mode are compared.

A network is

- *compiled*: both compile, and agree with PyNative mode;
- *differs*: both compile, and one is beyond its limit;
- *failed*: MindSpore does not compile it; its error is given, and the line of the translation it names;
- *slow*: it was not done within the limit of CPU time;
- *not run*: it does not run in PyNative mode.

``noted`` says whether T2M601 or T2M701 stands in the functions that the network runs. Exit code 1: a network failed or
differs and is not noted.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from models import ROOT, Model, chosen, load, missing, translated

from torch2ms.config import Options
from torch2ms.verify.figures import judge
from torch2ms.verify.inputs import make_batch, parse_argument
from torch2ms.verify.process import environment
from torch2ms.verify.workers.channel import save_arrays

WORKER = Path(__file__).with_name("graph_worker.py")
LISTS = ("pytorch_cifar", "pytorch_examples", "unet", "nanogpt", "torchvision", "timm")
PATIENCE = 10  # times the limit: seconds after which a process that waits is ended
STATES = ("compiled", "differs", "failed", "slow", "not run")
_MARK = re.compile(r"# TORCH2MS (T2M[67]01): (.*)")
_PLACE = re.compile(r"(?:In file |File \")([^\s\",]+?)\"?[:,](?: line )?(\d+)")


@dataclass
class Outcome:
    """What became of one network."""

    package: str
    family: str
    entry: str
    kwargs: dict[str, Any]
    state: str = "not run"
    stage: str = "build"  # that was not passed: build, forward or gradient
    noted: list[str] = field(default_factory=list)
    reason: str = ""  # MindSpore's error and the line of the translation it names, or the figure
    text: str = ""  # the whole error
    figures: dict[str, tuple[float, float]] = field(default_factory=dict)  # stage: error, limit
    random: bool = False  # train mode draws random numbers
    seconds: float = 0.0


def run(package: str, model: Model, output: Path, limit: int) -> Outcome:
    """Compile one network."""
    outcome = Outcome(package, model.family, model.label, model.kwargs)
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        request: dict[str, Any] = {
            "root": str(output), "entry": model.entry, "kwargs": model.kwargs, "gradients": model.gradients,
        }  # fmt: skip
        for name, specs in (("inputs", model.inputs), ("train_inputs", model.train_inputs or model.inputs)):
            request[name] = f"{folder}/{name}.npz"
            save_arrays(request[name], make_batch([parse_argument(text) for text in specs], (1, 0)))
        command = [sys.executable, str(WORKER), json.dumps(request)]
        with open(f"{folder}/log", "w+") as log:
            process = subprocess.Popen(
                command,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment(),
                cwd=folder,
                # of CPU time: what else the machine does is no matter of the network
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)),
            )
            try:
                process.wait(limit * PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            log.seek(0)
            lines = log.read().splitlines()
    if process.returncode in (-signal.SIGKILL, -signal.SIGXCPU):
        outcome.state = "slow"
    said = [json.loads(line.removeprefix("GRAPH ")) for line in lines if line.startswith("GRAPH {")]
    _judge(outcome, said, output, process.returncode)
    outcome.seconds = round(time.monotonic() - start, 1)
    return outcome


def _judge(outcome: Outcome, said: list[dict[str, Any]], output: Path, code: int) -> None:
    mode = ""
    for line in said:
        outcome.stage, mode = line.get("stage", outcome.stage), line.get("mode", mode)
        outcome.random |= line.get("random", False)
        if "functions" in line:
            outcome.noted = notes(line["functions"])
        if "floors" in line:
            figure = judge("graph", outcome.stage, [line["error"]], line["floors"])
            outcome.figures[outcome.stage] = (figure.ours, figure.limit)
        if "failed" in line:
            outcome.text = line["failed"]
    wrong = [f"{stage} {ours:.1e} > {limit:.1e}" for stage, (ours, limit) in outcome.figures.items() if ours > limit]
    if outcome.stage == "done":
        outcome.state, outcome.reason = ("differs", "; ".join(wrong)) if wrong else ("compiled", "")
        return
    if outcome.state != "slow":
        outcome.state = "failed" if mode == "graph" else "not run"
        outcome.text = outcome.text or f"the process ended with {code}"
    elif mode != "graph":
        outcome.reason = "in PyNative mode"
    if outcome.text:
        outcome.reason = reason(outcome.text, output)


def reason(text: str, output: Path) -> str:
    """Return what an error of MindSpore says first, and the last line of the translation that it names."""
    said = [line.strip() for line in text.splitlines() if line.strip(" -") and not line.startswith("- ")] or [""]
    first = " ".join(said[:2]) if said[0].endswith("Error:") else said[0]
    places = [(file, line) for file, line in _PLACE.findall(text) if str(output) in file]
    return first[:300] + (f" ({os.path.relpath(places[-1][0], output)}:{places[-1][1]})" if places else "")


def notes(functions: list[list[Any]]) -> list[str]:
    """Return the marks on graph mode in these functions: code and message."""
    found = set()
    for file, first, last in functions:
        lines = Path(file).read_text().splitlines()[first - 1 : last]
        found.update(": ".join(match.groups()) for match in map(_MARK.search, lines) if match)
    return sorted(found)


def table(outcomes: list[Outcome]) -> str:
    """Return the sums: one line a package."""
    counts: dict[str, Counter[str]] = {}
    for outcome in outcomes:
        counts.setdefault(outcome.package, Counter())[outcome.state] += 1
    counts["all"] = sum(counts.values(), Counter())
    rows = [f"| {name} | " + " | ".join(str(count[s]) for s in STATES) + " |" for name, count in counts.items()]
    return "\n".join([f"| | {' | '.join(STATES)} |", "|---|" + "--:|" * len(STATES), *rows])


def markdown(outcomes: list[Outcome]) -> str:
    """Return the sums and a line for each network."""
    lines = [table(outcomes), "", "| network | state | noted | outputs, limit | gradients, limit | why |", "|---|" * 6]
    lines[-1] = "|---" * 6 + "|"
    names = Counter(outcome.entry for outcome in outcomes)
    for outcome in outcomes:
        given = ", ".join(f"{key}={value}" for key, value in outcome.kwargs.items()) if names[outcome.entry] > 1 else ""
        figures = [
            f"{ours:.0e}, {limit:.0e}"
            for ours, limit in (outcome.figures.get(stage, (0.0, 0.0)) for stage in ("forward", "gradient"))
            if limit
        ]
        figures += [""] * (2 - len(figures))
        why = outcome.reason.replace("|", "\\|").replace("`", "'")
        noted = "yes" if outcome.noted else "no"
        lines.append(
            f"| {outcome.package} {outcome.entry} {given} | {outcome.state} | {noted} | {' | '.join(figures)} | {why} |"
        )
    return "\n".join(lines) + "\n"


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lists", nargs="*", default=LISTS, help="names of model_lists/*.toml")
    parser.add_argument(
        "--corpus", type=Path, action="append", help="where sources are (else TORCH2MS_CORPUS, else .venv/corpus)"
    )
    parser.add_argument("--only", default="", help="a regular expression for entries")
    parser.add_argument("--all", action="store_true", help="every model, not the first of each family")
    parser.add_argument("--limit", type=int, default=150, help="seconds of CPU time for one network")
    parser.add_argument("--keep", type=Path, help="a folder for sources and translations, found again the next time")
    parser.add_argument("--json", type=Path, help="where to write what was found; what stands there is not run again")
    parser.add_argument("--markdown", type=Path, help="where to write the table by network")
    return parser.parse_args(arguments)


def main() -> int:
    options = parse()
    corpora = options.corpus or [Path(os.environ.get("TORCH2MS_CORPUS", ROOT / ".venv" / "corpus"))]
    outcomes: list[Outcome] = []
    if options.json and options.json.exists():
        outcomes = [Outcome(**found) for found in json.loads(options.json.read_text())]
    with tempfile.TemporaryDirectory() as temporary:
        for name in options.lists:
            package = load(name)
            absent = missing(package, corpora)
            if absent:
                print(f"{name}: no {' and no '.join(absent)} in the corpus")
                continue
            folder = (options.keep or Path(temporary)) / name
            _, output = translated(package, folder, corpora, Options(mode="graph"))
            for model in chosen(package, options.only, not options.all):
                if any((name, model.label, model.kwargs) == (o.package, o.entry, o.kwargs) for o in outcomes):
                    continue
                outcomes.append(run(name, model, output.resolve(), options.limit))
                last = outcomes[-1]
                print(
                    f"{last.state:8} {last.seconds:6.1f} s  {last.entry}  {'noted' if last.noted else 'no note'}  "
                    f"{last.stage if last.state not in ('compiled', 'differs') else ''}  {last.reason}",
                    flush=True,
                )
                if options.json:
                    options.json.write_text(json.dumps([asdict(outcome) for outcome in outcomes], indent=1) + "\n")
    if options.markdown:
        options.markdown.write_text(markdown(outcomes))
    print(table(outcomes))
    return 1 if any(found.state in ("failed", "differs") and not found.noted for found in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
