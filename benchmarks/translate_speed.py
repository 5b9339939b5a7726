"""Speed and memory of the translator, beside what any codemod on libcst must spend.

    python benchmarks/translate_speed.py examples/resnet50_cifar10 [more folders]

For each folder, every measurement in a process of its own, libcst's and ours in turn, and the median of ``--repeat``
runs:

- *libcst*: user CPU seconds to parse and generate again every Python file of the folder, and nothing else;
- *first*: user CPU seconds of the first ``translate_project`` of a process, with one process, without any cache, OUT
  written: it also reads the mapping tables from their TOML files, some 0.3 s that a cache spares later processes;
- *OUT*: the same with the tables in memory;
- *files*: the same with nothing written (``--dry-run``): the translation of the files alone, to compare with libcst,
  which makes no reports, no runtime and no ``train.py`` either;
- *ratio*: OUT and files over the libcst run before; the latter shall be at most 3;
- *peak*: largest resident memory of the torch2ms process, which shall be under 250 MB.

What takes less than a second is done over and over for a second, and divided.

``--more`` adds a line for each folder: by how much two processes shorten the wall time (at least 1.7 times, on a
machine that does nothing else), and by how much the cache shortens a second run (at least 10 times). In CPU seconds,
which other work on the machine changes little, the former is (all) / (own + half of the workers').

All times leave out the start of the interpreter and the imports. The last line is the wall time of ``torch2ms
--help``, which shall be under 0.3 s. Exits with 1 when a bound is not kept, unless ``--report-only``.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_RATIO, MAX_PEAK_MB, MAX_HELP_SECONDS = 3.0, 250.0, 0.3
MIN_PARALLEL, MIN_CACHED = 1.7, 10.0

# Both programs print what they measured as JSON.
_LIBCST = """
import json, resource, sys
from pathlib import Path
import libcst
libcst.parse_module("x = 1\\n")
files = sorted(Path(sys.argv[1]).rglob("*.py"))
def user():
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime
rounds, before = 0, user()
while not rounds or user() - before < 1:
    for file in files:
        try:
            libcst.parse_module(file.read_bytes()).bytes
        except Exception:
            pass
    rounds += 1
print(json.dumps({"user": (user() - before) / rounds}))
"""
_TORCH2MS = """
import gc, json, resource, sys
from pathlib import Path
import libcst
from torch2ms.config import Options
from torch2ms.reports import diff, html, json as report_json, markdown, sarif
from torch2ms.translator import pipeline
from torch2ms.translator.output import emit
def user():
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime
found = {}
for call in ("first", "out", "files"):
    gc.collect()  # what came before is not looked through in the time of what follows
    rounds, before = 0, user()
    while not rounds or (call != "first" and user() - before < 1):
        out = Path(sys.argv[2], f"{call}{rounds}")
        pipeline.translate_project(Path(sys.argv[1]), out, Options(jobs=1, cache=False), dry_run=call == "files")
        rounds += 1
    found[call] = (user() - before) / rounds
    if call == "first":
        found["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps(found))
"""

_MORE = """
import json, os, resource, sys, time
from pathlib import Path
os.environ["TORCH2MS_CACHE_DIR"] = sys.argv[2] + "/cache"
import libcst
from torch2ms.config import Options
from torch2ms.reports import diff, html, json as report_json, markdown, sarif
from torch2ms.translator import pipeline
from torch2ms.translator.output import emit
def spent():
    own, workers = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return time.perf_counter(), own.ru_utime + own.ru_stime, workers.ru_utime + workers.ru_stime
found = {}
runs = {"one": Options(jobs=1, cache=False), "two": Options(jobs=2, cache=False), "cold": Options(), "warm": Options()}
pipeline.load()
for name, options in runs.items():
    before = spent()
    pipeline.translate_project(Path(sys.argv[1]), Path(sys.argv[2], name), options)
    wall, own, workers = (after - start for after, start in zip(spent(), before))
    found.update({name: wall, name + " own": own, name + " workers": workers})
print(json.dumps(found))
"""


def measure(program: str, *arguments: str) -> dict[str, float]:
    """Run a measuring program in a fresh interpreter and return what it printed."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False, env=environment
    )
    if done.returncode:
        sys.exit(f"the measurement of {arguments[0]} failed:\n{done.stderr[-3000:]}")
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def median(runs: list[dict[str, float]], key: str) -> float:
    return statistics.median(run[key] for run in runs)


def measure_folder(folder: Path, repeat: int) -> bool:
    """Print one line of the table; return whether its bounds are kept."""
    baseline, runs = [], []
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(repeat):  # in turn: a machine's speed changes by the minute
            baseline.append(measure(_LIBCST, str(folder)))
            runs.append(measure(_TORCH2MS, str(folder), f"{scratch}/{number}"))
    libcst, (first, out, files) = median(baseline, "user"), (median(runs, key) for key in ("first", "out", "files"))
    ratios = [
        statistics.median(run[key] / base["user"] for run, base in zip(runs, baseline, strict=True))
        for key in ("out", "files")
    ]
    peak = max(run["peak"] for run in runs)
    lines = sum(path.read_bytes().count(b"\n") for path in folder.rglob("*.py"))
    times = f"{libcst:>10.3f}{first:>9.2f}{out:>9.2f}{files:>9.2f}{ratios[0]:>11.2f}{ratios[1]:>13.2f}"
    print(f"{folder.name:20}{lines:>9}{times}{peak:>9.0f}", flush=True)
    return ratios[1] <= MAX_RATIO and peak <= MAX_PEAK_MB


def measure_more(folder: Path) -> bool:
    """Print what two processes and the cache bring; return whether the bounds are kept."""
    with tempfile.TemporaryDirectory() as scratch:
        run = measure(_MORE, str(folder), scratch)
    wall, cached = run["one"] / run["two"], run["cold"] / run["warm"]
    cpu = run["one own"] / (run["two own"] + run["two workers"] / 2)
    print(f"{folder.name}: two processes {run['one']:.2f} s -> {run['two']:.2f} s, {wall:.2f} times ", end="")
    print(f"({cpu:.2f} by CPU seconds); ", end="")
    print(f"cache {run['cold']:.2f} s -> {run['warm']:.2f} s, {cached:.1f} times", flush=True)
    return wall >= MIN_PARALLEL and cached >= MIN_CACHED


def measure_help(repeat: int) -> float:
    """Return the median wall seconds of ``torch2ms --help``."""
    seconds = []
    for _ in range(max(repeat, 5)):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "torch2ms", "--help"], check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--more", action="store_true", help="also measure two processes, and a second run with cache")
    parser.add_argument("--report-only", action="store_true", help="exit with 0 whatever was measured")
    arguments = parser.parse_args()
    heads = f"{'libcst s':>10}{'first s':>9}{'OUT s':>9}{'files s':>9}{'OUT/libcst':>11}{'files/libcst':>13}"
    print(f"{'folder':20}{'lines':>9}{heads}{'peak MB':>9}")
    kept = [measure_folder(folder.resolve(), arguments.repeat) for folder in arguments.folders]
    if arguments.more:
        kept += [measure_more(folder.resolve()) for folder in arguments.folders]
    seconds = measure_help(arguments.repeat)
    print(f"torch2ms --help: {seconds:.2f} s (at most {MAX_HELP_SECONDS}); ratio at most {MAX_RATIO:.0f}, ", end="")
    print(f"peak at most {MAX_PEAK_MB:.0f} MB")
    is_kept = all(kept) and seconds <= MAX_HELP_SECONDS
    return 0 if is_kept or arguments.report_only else 1


if __name__ == "__main__":
    sys.exit(main())
