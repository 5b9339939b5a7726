"""Kills at random moments: OUT is whole (the old or the new one) or absent, and the next run clears what was left.

python -m tests.properties.kills --kills 100 --seed 5
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.properties.taken_names import write

__all__ = ["campaign", "main"]


def _run(folder: Path, delay: float | None, number: signal.Signals = signal.SIGKILL) -> tuple[float, str]:
    """Translate over OUT, and kill it after ``delay`` seconds; return the seconds that it ran, and stderr."""
    command = [
        sys.executable,
        "-m",
        "torch2ms",
        "translate",
        "src",
        "out",
        "--force",
        "--no-cache",
        "--fail-on",
        "never",
    ]
    env = {**os.environ, "TMPDIR": str(folder / "tmp")}
    started = time.monotonic()
    done = subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        _, err = done.communicate(timeout=delay)
    except subprocess.TimeoutExpired:
        done.send_signal(number)
        _, err = done.communicate()
    return time.monotonic() - started, err


def _is_whole(out: Path) -> bool:
    """Whether OUT holds exactly what its manifest says."""
    manifest = out / "torch2ms_report" / "manifest.json"
    if not manifest.is_file():
        return False
    files = json.loads(manifest.read_text())["files"]
    there = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_symlink() or path.is_file()}
    if there != {*files, "torch2ms_report/manifest.json"}:
        return False
    return all(
        digest.startswith("link:") or hashlib.sha256((out / path).read_bytes()).hexdigest() == digest
        for path, digest in files.items()
    )


def campaign(kills: int, seed: int, folder: Path) -> list[str]:
    """Kill so many runs and return what is wrong."""
    write(folder / "src", {})
    (folder / "tmp").mkdir()
    faults = []
    whole, _ = _run(folder, None)
    rng = random.Random(seed)
    for number in range(kills):
        kind = rng.choice((signal.SIGKILL, signal.SIGTERM))
        delay = rng.uniform(0.6, 1.05) * whole  # what comes before writes nothing
        took, _ = _run(folder, delay, kind)
        whole = max(0.9 * whole, took if took < delay else 0.0)
        if (folder / "out").exists() and not _is_whole(folder / "out"):
            faults.append(f"kill {number} ({kind.name} after {delay:.2f} s): OUT is neither whole nor absent")
        if number % 10 == 9:
            faults += _after(folder, f"after {number + 1} kills")
    return faults


def _after(folder: Path, when: str) -> list[str]:
    """Run to the end and return what is left that should not be."""
    waiting = [path for path in folder.iterdir() if path.name.startswith(".out.")]
    for path in waiting:
        os.utime(path, (0, 0))  # not of this minute
    _, err = _run(folder, None)
    faults = [] if _is_whole(folder / "out") else [f"{when}: OUT is not whole"]
    left = sorted({path.name for path in folder.iterdir()} - {"src", "out", "tmp"})
    left += [path.name for path in (folder / "tmp").iterdir()]
    faults += [f"{when}: {left} is left"] if left else []
    faults += [f"{when}: {path.name} went without a word" for path in waiting if path.name not in err]
    return faults


def main() -> int:
    """Run a campaign; 1 when something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        faults = campaign(given.kills, given.seed, Path(folder))
    print("\n".join([*faults, f"{given.kills} kills: {len(faults)} failures"]))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
