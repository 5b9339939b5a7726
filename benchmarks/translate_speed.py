"""Speed and memory of the translator, beside what any codemod on libcst must spend.

    python benchmarks/translate_speed.py examples/resnet50_cifar10 [more folders]

For each folder, every measurement in a process of its own and the median of ``--repeat`` runs:

- *libcst*: user CPU seconds to parse and generate again every Python file of the folder, and nothing else;
- *torch2ms*: user CPU seconds of ``translate_project`` with one process and without cache, OUT written;
- *ratio*: torch2ms over libcst, which shall be at most 3;
- *peak*: largest resident memory of the torch2ms process, which shall be under 250 MB.

Both times leave out the start of the interpreter and the imports; those are in the last line: wall seconds of
``torch2ms --help``, which shall be under 0.3 s. Exits with 1 when a bound is not kept, unless ``--report-only``.
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

# Both programs print {"user": seconds, "peak": MB, "files": n}.
_LIBCST = """
import json, resource, sys
from pathlib import Path
import libcst
libcst.parse_module("x = 1\\n")
files = sorted(Path(sys.argv[1]).rglob("*.py"))
done, failed = 0, 0
before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
for file in files:
    try:
        libcst.parse_module(file.read_bytes()).bytes
        done += 1
    except Exception:
        failed += 1
usage = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({"user": usage.ru_utime - before, "peak": usage.ru_maxrss / 1024, "files": done, "failed": failed}))
"""
_TORCH2MS = """
import json, resource, sys
from pathlib import Path
import libcst
from torch2ms.config import Options
from torch2ms.translator.pipeline import translate_project
before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
report = translate_project(Path(sys.argv[1]), Path(sys.argv[2]), Options(jobs=1, cache=False))
usage = resource.getrusage(resource.RUSAGE_SELF)
changed = sum(file.changed for file in report.files)
print(json.dumps({"user": usage.ru_utime - before, "peak": usage.ru_maxrss / 1024, "files": changed}))
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
    baseline = [measure(_LIBCST, str(folder)) for _ in range(repeat)]
    with tempfile.TemporaryDirectory() as scratch:
        runs = [measure(_TORCH2MS, str(folder), f"{scratch}/{number}/out") for number in range(repeat)]
    libcst, torch2ms, peak = median(baseline, "user"), median(runs, "user"), max(run["peak"] for run in runs)
    ratio = torch2ms / libcst if libcst else float("inf")
    lines = sum(path.read_bytes().count(b"\n") for path in folder.rglob("*.py"))
    print(f"{folder.name:20}{lines:>9}{libcst:>11.2f}{torch2ms:>11.2f}{ratio:>8.2f}{peak:>9.0f}")
    return ratio <= MAX_RATIO and peak <= MAX_PEAK_MB


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
    parser.add_argument("--report-only", action="store_true", help="exit with 0 whatever was measured")
    arguments = parser.parse_args()
    print(f"{'folder':20}{'lines':>9}{'libcst s':>11}{'torch2ms s':>11}{'ratio':>8}{'peak MB':>9}")
    kept = [measure_folder(folder.resolve(), arguments.repeat) for folder in arguments.folders]
    seconds = measure_help(arguments.repeat)
    print(f"torch2ms --help: {seconds:.2f} s (at most {MAX_HELP_SECONDS}); ratio at most {MAX_RATIO:.0f}, ", end="")
    print(f"peak at most {MAX_PEAK_MB:.0f} MB")
    is_kept = all(kept) and seconds <= MAX_HELP_SECONDS
    return 0 if is_kept or arguments.report_only else 1


if __name__ == "__main__":
    sys.exit(main())
