"""Train programs of public repositories beside their translations, and print how far apart they are.

    python benchmarks/parity.py --repos FOLDER [--only NAME ...] [--steps 20] [--seeds 1 2 3] [--markdown FILE]

What is trained stands in ``parity.toml``; a repository is looked for as ``FOLDER/owner+name``. Each program is
translated, and then its own loop and the emitted one make the same steps (torch2ms.verify.rehearsal): equal weights,
batches and random numbers, no dropout; step by step from PyTorch's own states, and in free run. With several seeds each
figure is the median of theirs, and so is its floor. Exit code 1 if a figure is beyond its limit.
"""

from __future__ import annotations

import argparse
import json
import pickle
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from torch2ms import Options, translate_project
from torch2ms.errors import Torch2msError
from torch2ms.verify import VerifyReport
from torch2ms.verify.rehearsal import Program, rehearse

LIST = Path(__file__).with_name("parity.toml")


def words(root: Path) -> None:
    """Write a small text in the format of WikiText-2."""
    generator = np.random.default_rng(0)
    folder = root / "data" / "wikitext-2"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("train", "valid", "test"):
        lines = [" ".join(f"w{number}" for number in generator.integers(0, 60, 20)) for _ in range(150)]
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def characters(root: Path) -> None:
    """Write tokens as nanoGPT's prepare.py does."""
    folder = root / "data" / "shakespeare_char"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("train", "val"):
        np.random.default_rng(0).integers(0, 65, 5000).astype(np.uint16).tofile(folder / f"{name}.bin")
    (folder / "meta.pkl").write_bytes(pickle.dumps({"vocab_size": 65, "itos": {}, "stoi": {}}))


PREPARATIONS = {"words": words, "characters": characters}


def load(path: Path = LIST) -> dict[str, Mapping[str, Any]]:
    """Return the programs of the list by name."""
    return {entry["name"]: entry for entry in tomllib.loads(path.read_text(encoding="utf-8"))["program"]}


def folder_of(entry: Mapping[str, Any], repos: Path) -> Path:
    """Return where a program's sources are."""
    return repos / entry["repo"].replace("/", "+") / entry.get("folder", "")


def program_of(entry: Mapping[str, Any]) -> Program:
    """Return the program of an entry."""
    script, *arguments = shlex.split(entry["run"])
    return Program(
        script,
        tuple(arguments),
        tuple(entry.get("batch", ())),
        entry.get("scale", "normal"),
        tuple(entry.get("stubs", ("torchvision",))),
    )


def compare(entry: Mapping[str, Any], repos: Path, folder: Path, steps: int, seeds: Sequence[int]) -> VerifyReport:
    """Translate a program and rehearse it."""
    source, output = folder / "source", folder / "output"
    shutil.copytree(folder_of(entry, repos), source, ignore=shutil.ignore_patterns(".git"))
    if "prepare" in entry:
        PREPARATIONS[entry["prepare"]](source)
    if "edit" in entry:
        edited = source / entry["edit"]["file"]
        text = edited.read_text(encoding="utf-8")
        edited.write_text(text.replace(entry["edit"]["from"], entry["edit"]["to"]), encoding="utf-8")
    translate_project(source, output, Options())
    return rehearse(source, output, program_of(entry), steps=steps, seeds=seeds)


def worst(report: VerifyReport, group: str, word: str) -> str:
    """Return, for a table, error and floor of the figure of ``group`` that comes closest to its limit."""
    found = [figure for figure in report.figures if figure.group == group and word in figure.name]
    if not found:
        return "-"
    figure = max(found, key=lambda figure: figure.ours / figure.limit)
    return f"{figure.ours:.1e} ({figure.floor:.1e})" + ("" if figure.passed else " **beyond**")


def main() -> int:
    """Compare the programs that are asked for."""
    programs = load()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--only", action="append", choices=programs, default=[])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--markdown", type=Path, help="write the table there as well")
    arguments = parser.parse_args()
    rows, failed = [], 0
    for name in arguments.only or programs:
        start = time.perf_counter()
        entry = programs[name]
        if not folder_of(entry, arguments.repos).is_dir():
            print(f"== {name}: no {entry['repo']} in {arguments.repos}", flush=True)
            failed += 1
            continue
        try:
            with tempfile.TemporaryDirectory(prefix="parity-") as folder:
                report = compare(entry, arguments.repos, Path(folder), arguments.steps, arguments.seeds)
        except Torch2msError as error:
            print(f"== {name}: {error}\n{error.advice or ''}", flush=True)
            failed += 1
            continue
        print(
            f"== {name}, {json.dumps(report.facts)}, {time.perf_counter() - start:.0f} s\n{report.to_text()}",
            flush=True,
        )
        failed += not report.passed
        cells = [worst(report, "step by step", word) for word in ("loss", "gradient", "update")]
        rows.append(f"| {name} | {' | '.join(cells)} | {worst(report, 'free run', 'loss')} |")
    head = "| program | loss | gradient | update and statistics | loss in free run |\n|---|--:|--:|--:|--:|\n"
    table = head + "\n".join(rows) + "\n"
    if arguments.markdown:
        arguments.markdown.write_text(table, encoding="utf-8")
    print(f"{table}{len(rows)} programs compared, {failed} not at parity")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
