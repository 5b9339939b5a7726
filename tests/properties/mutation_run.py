"""Translate mutated programs, run both sides, and say which differ without a word of the translator.

python -m tests.properties.mutation_run [--seeds N]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tests.properties.executable import PROGRAMS
from tests.properties.mutations import mutants
from tests.properties.two_files import moves, translated
from torch2ms.config import Options
from torch2ms.diagnostics import Severity

__all__ = ["Outcome", "compare", "main", "mutated"]

TOLERANCE = 2e-4


@dataclass(slots=True)
class Outcome:
    """What a run found, by the names of the programs."""

    equal: list[str] = field(default_factory=list)
    reported: list[str] = field(default_factory=list)  # they differ or fail, and the translation said so
    invalid: list[str] = field(default_factory=list)  # torch itself refuses the program
    loud: dict[str, str] = field(default_factory=dict)  # fails in MindSpore without a mark: never silent, not good
    silent: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [f"equal {len(self.equal)}, reported {len(self.reported)}, refused by torch {len(self.invalid)}"]
        lines += [f"FAILS WITHOUT A MARK {name}: {why}" for name, why in self.loud.items()]
        lines += [f"SILENT {name}: {why}" for name, why in self.silent.items()]
        return "\n".join(lines)


def mutated(seeds: int) -> dict[str, str]:
    """Return every program, and its mutants for each of the first ``seeds`` seeds."""
    found = dict(PROGRAMS)
    for name, source in PROGRAMS.items():
        for seed in range(seeds):
            for mutation, text in mutants(source, seed):
                if text not in found.values():
                    found[f"{name}.{mutation}.{seed}"] = text
        found.update((f"{name}.{move}.0", text) for move, text in moves(source))
    return found


def _run_all(programs: Mapping[str, str], folder: Path, side: str) -> Mapping[str, np.ndarray]:
    """Return the results of all programs; where one ended the process, a fresh one goes on with the rest."""
    found: dict[str, np.ndarray] = {}
    left = dict(programs)
    while left:
        found.update(_run(left, folder, side))
        names = list(left)
        ran = [place for place, name in enumerate(names) if f"{name}!" in found or f"{name}#0" in found]
        left = {name: left[name] for name in names[max(ran, default=len(names)) + 1 :]}
    return found


def _run(programs: Mapping[str, str], folder: Path, side: str) -> Mapping[str, np.ndarray]:
    given, made = folder / f"{side}.json", folder / f"{side}.npz"
    given.write_text(json.dumps(programs), encoding="utf-8")
    root = Path(__file__).parents[2]
    path = os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "2"}
    command = [sys.executable, "-m", "tests.properties.program_worker", str(given), str(made)]
    subprocess.run(command, check=True, env=env, cwd=folder, capture_output=True, timeout=1500)
    with np.load(made) as data:
        return dict(data)


def compare(programs: Mapping[str, str]) -> Outcome:
    """Translate programs, run the originals in PyTorch and the translations in MindSpore, and sort the outcomes."""
    options = Options(runtime="installed", cache=False)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        results = {name: translated(text, options, folder / name) for name, text in programs.items()}
        torch = _run_all(programs, folder, "torch")
        runs = {name: text for name, (text, _) in results.items() if f"{name}!" not in torch}
        mindspore = _run_all(runs, folder, "mindspore")
    outcome = Outcome()
    for name, (_, diagnostics) in results.items():
        said = any(d.severity > Severity.NOTE for d in diagnostics)
        if f"{name}!" in torch:
            outcome.invalid.append(name)
            continue
        why = _difference(name, torch, mindspore)
        if not why:
            outcome.equal.append(name)
        elif said:
            outcome.reported.append(name)
        elif f"{name}!" in mindspore:
            outcome.loud[name] = why
        else:
            outcome.silent[name] = why
    return outcome


def _difference(name: str, torch: Mapping[str, np.ndarray], mindspore: Mapping[str, np.ndarray]) -> str:
    if f"{name}!" in mindspore:
        return str(mindspore[f"{name}!"])
    keys = [key for key in torch if key.startswith(f"{name}#")]
    if sorted(keys) != sorted(key for key in mindspore if key.startswith(f"{name}#")):
        return "another number of results"
    for key in keys:
        a, b = torch[key], mindspore[key]
        if a.shape != b.shape:
            return f"result {key.rpartition('#')[2]}: shape {a.shape} became {b.shape}"
        if not np.allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True):
            return f"result {key.rpartition('#')[2]}: differs by {np.abs(a.astype(float) - b.astype(float)).max():.3g}"
    return ""


def main() -> None:
    """Run everything and exit with 1 when anything differs silently."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=3, help="mutants of each kind for each program")
    outcome = compare(mutated(parser.parse_args().seeds))
    print(outcome)
    sys.exit(1 if outcome.silent else 0)


if __name__ == "__main__":
    main()
