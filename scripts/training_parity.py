"""Train real programs and their translations side by side, and print how far apart they are.

    python scripts/training_parity.py --sources DIR [--only NAME]... [--steps 20] [--seed 1] [--markdown FILE]

DIR holds unpacked sources under the names below (owner+name). Each program is translated, and then its own loop and the
emitted one make the same steps (torch2ms.verify.rehearsal): equal weights, batches and random numbers, no dropout; step
by step from PyTorch's own states, and in free run. What a program has but does not need here (torchvision, progress
bars) is replaced by something that takes every call. Exit code 1 if a figure is beyond its limit.
"""

from __future__ import annotations

import argparse
import json
import pickle
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from torch2ms import Options, translate_project
from torch2ms.errors import Torch2msError
from torch2ms.verify import VerifyReport
from torch2ms.verify.rehearsal import Program, rehearse

EXAMPLES = "pytorch+examples"
IMAGES = ("16x1x28x28", "16:int64<10")
CIFAR = ("8x3x32x32", "8:int64<10")


@dataclass(frozen=True)
class Entry:
    """A program, the folder that holds it, and what has to be there before it starts."""

    folder: str
    program: Program
    prepare: Callable[[Path], None] = lambda root: None


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


def citations(root: Path) -> None:
    """Write a citation graph in the format of Cora: number, words and class of each paper; pairs of numbers."""
    generator = np.random.default_rng(0)
    folder = root / "cora"
    folder.mkdir(exist_ok=True)
    words = generator.random((2000, 40)) < 0.1
    words[:, 0] = True  # no paper without a word
    kinds = generator.integers(0, 7, len(words))
    lines = [f"{number} {' '.join(map(str, row.astype(int)))} kind{kinds[number]}" for number, row in enumerate(words)]
    (folder / "cora.content").write_text("\n".join(lines) + "\n", encoding="utf-8")
    pairs = [f"{one} {other}" for one, other in generator.integers(0, len(words), (3000, 2)) if one != other]
    (folder / "cora.cites").write_text("\n".join(pairs) + "\n", encoding="utf-8")


def network(name: str) -> Callable[[Path], None]:
    """Return a preparation that makes kuangliu's main.py build the network ``name``, as its comments invite to."""

    def choose(root: Path) -> None:
        script = root / "main.py"
        text = script.read_text(encoding="utf-8")
        script.write_text(text.replace("\nnet = SimpleDLA()\n", f"\nnet = {name}()\n"), encoding="utf-8")

    return choose


LANGUAGE = ("--dropout", "0", "--emsize", "32", "--nhid", "32", "--nlayers", "2", "--bptt", "12", "--batch_size", "8")
PROGRAMS = {
    "mnist": Entry(f"{EXAMPLES}/mnist", Program("main.py", ("--log-interval", "1"), IMAGES)),
    "vae": Entry(f"{EXAMPLES}/vae", Program("main.py", ("--batch-size", "16"), IMAGES, scale="unit")),
    "dcgan": Entry(
        f"{EXAMPLES}/dcgan",
        Program(
            "main.py",
            ("--dataset", "fake", "--ngf", "16", "--ndf", "16", "--batchSize", "16"),
            ("16x3x64x64", "16:int64<10"),
            scale="unit",
        ),
    ),
    "mnist_rnn": Entry(f"{EXAMPLES}/mnist_rnn", Program("main.py", (), IMAGES)),
    "regression": Entry(f"{EXAMPLES}/regression", Program("main.py")),
    "word_language_model, LSTM": Entry(
        f"{EXAMPLES}/word_language_model", Program("main.py", (*LANGUAGE, "--model", "LSTM", "--lr", "1")), words
    ),
    "word_language_model, Transformer": Entry(
        f"{EXAMPLES}/word_language_model",
        Program("main.py", (*LANGUAGE, "--model", "Transformer", "--nhead", "4", "--lr", "1")),
        words,
    ),
    "super_resolution": Entry(
        f"{EXAMPLES}/super_resolution",
        Program(
            "main.py",
            ("--upscale_factor", "2", "--batchSize", "4"),
            ("4x1x24x24", "4x1x48x48"),
            scale="unit",
            stubs=("torchvision", "data"),
        ),
    ),
    "pytorch-cifar, ResNet18": Entry(
        "kuangliu+pytorch-cifar",
        Program("main.py", ("--lr", "0.01"), CIFAR, stubs=("torchvision", "utils")),
        network("ResNet18"),
    ),
    "pytorch-cifar, MobileNet": Entry(
        "kuangliu+pytorch-cifar",
        Program("main.py", ("--lr", "0.01"), CIFAR, stubs=("torchvision", "utils")),
        network("MobileNet"),
    ),
    "nanoGPT": Entry(
        "karpathy+nanoGPT",
        Program(
            "train.py",
            (
                "--device=cpu", "--compile=False", "--eval_interval=1000", "--eval_iters=1", "--block_size=32",
                "--batch_size=4", "--n_layer=2", "--n_head=4", "--n_embd=64", "--dropout=0.0", "--dtype=float32",
                "--dataset=shakespeare_char", "--gradient_accumulation_steps=2", "--warmup_iters=5",
            ),
        ),
        characters,
    ),
    "gat": Entry(
        f"{EXAMPLES}/gat", Program("main.py", ("--dropout-p", "0"), stubs=("requests", "tarfile")), citations
    ),
}  # fmt: skip


def compare(entry: Entry, sources: Path, folder: Path, steps: int, seed: int) -> VerifyReport:
    """Translate a program and rehearse it."""
    source, output = folder / "source", folder / "output"
    shutil.copytree(sources / entry.folder, source)
    entry.prepare(source)
    translate_project(source, output, Options())
    return rehearse(source, output, entry.program, steps=steps, seed=seed)


def worst(report: VerifyReport, group: str, word: str) -> str:
    """Return, for a table, error and floor of the figure of ``group`` that comes closest to its limit."""
    found = [figure for figure in report.figures if figure.group == group and word in figure.name]
    if not found:
        return "-"
    figure = max(found, key=lambda figure: figure.ours / figure.limit)
    return f"{figure.ours:.1e} ({figure.floor:.1e})" + ("" if figure.passed else " **beyond**")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sources", type=Path, required=True)
    parser.add_argument("--only", action="append", choices=PROGRAMS, default=[])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--markdown", type=Path, help="write the table of docs/parity.md there")
    arguments = parser.parse_args()
    rows, failed = [], 0
    for name in arguments.only or PROGRAMS:
        start = time.perf_counter()
        entry = PROGRAMS[name]
        if not (arguments.sources / entry.folder).is_dir():
            print(f"== {name}: no {entry.folder} in {arguments.sources}", flush=True)
            failed += 1
            continue
        try:
            with tempfile.TemporaryDirectory(prefix="training-parity-") as folder:
                report = compare(entry, arguments.sources, Path(folder), arguments.steps, arguments.seed)
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
    if arguments.markdown:
        head = "| program | loss | gradient | update and statistics | loss in free run |\n|---|--:|--:|--:|--:|\n"
        arguments.markdown.write_text(head + "\n".join(rows) + "\n", encoding="utf-8")
    print(f"{len(rows)} programs compared, {failed} not at parity")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
