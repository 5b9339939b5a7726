"""Time of one training step: PyTorch, its translation, and the same network written for MindSpore by hand.

    python benchmarks/step_time.py [--only resnet50 ...] [--steps 8] [--rounds 3] [--clock process_time]

The networks of benchmarks/networks/ (and the example's ResNet-50) and their training loop are translated; what comes
out is timed as it stands, beside benchmarks/by_hand/, which is what a MindSpore engineer writes, and beside PyTorch.
Equal batches, Adam, equal threads, PyNative mode, each in a process of its own; they take turns for ``--rounds``
rounds, because a machine's other load comes and goes. Printed is the fastest step (the one that load disturbed least)
and the median. The emitted program over the hand-written one is measured apart, since two processes differ by a tenth
for no reason of ours: both train in one process, a step each in turn, and the ratio is the median of those of two
neighbouring steps; beside it stand the lowest and the highest of the rounds. Steps one and two, which compile, are not
counted. ``--clock process_time`` counts the CPU time of all threads instead, for a machine that does something else.

What the numbers say holds for the CPU they were taken on. What a translated program gets from its runtime on a CPU is
set for the hand-written one too, so that the ratio is that of the code: ``ONEDNN_MAX_CPU_ISA=AVX2`` (without it
MindSpore 2.9 and 2.10 convolve with a reference kernel on AVX-512 machines) and ``launch_blocking``. *Queued* is the
hand-written one without ``launch_blocking``, as MindSpore runs by default.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch2ms import Options, translate_project

ROOT = Path(__file__).resolve().parent.parent
WARM_UP = 2


@dataclass(frozen=True)
class Network:
    """Where a network is built, and what it takes: images, or indices of words."""

    module: str
    builder: str
    shape: tuple[int, ...]
    words: int = 0


NETWORKS: Mapping[str, Network] = {
    "resnet50": Network("resnet", "resnet50", (4, 3, 32, 32)),
    "digits": Network("digits", "DigitNet", (32, 1, 28, 28)),
    "lstm": Network("lstm", "LSTMClassifier", (16, 32), words=2000),
    "transformer": Network("transformer", "Transformer", (8, 64), words=2000),
}
_PROGRAM = """
import importlib, json, sys, time
framework, module, builder, shape, words, steps, clock = sys.argv[1:8]
sys.path.insert(0, ".")
import numpy as np
shape, words, steps = tuple(json.loads(shape)), int(words), int(steps)
random = np.random.default_rng(0)
inputs = random.integers(0, words, shape) if words else random.standard_normal(shape).astype("float32")
targets = random.integers(0, 10, shape[0])
if framework == "torch":
    import torch
    torch.manual_seed(0)
    batch = torch.from_numpy(inputs), torch.from_numpy(targets)
else:
    import mindspore as ms
    ms.set_device("CPU")
    ms.set_seed(0)
    batch = ms.Tensor(inputs), ms.Tensor(targets)
    if framework.startswith("by hand"):
        if framework == "by hand":
            ms.runtime.launch_blocking()
        batch = ms.Tensor(inputs, ms.int32) if words else batch[0], ms.Tensor(targets, ms.int32)
network = getattr(importlib.import_module(module), builder)(num_classes=10)
times, losses = [], []
importlib.import_module("train").train_with_adam(network, [batch] * steps, times, losses, getattr(time, clock))
print(json.dumps({"times": times, "losses": losses}))
"""
# Two programs train in threads of their own that wait for each other: a batch is what lets one take its step.
_IN_TURN = """
import importlib, json, os, sys, threading, time, traceback
folders, (module, builder, shape, words, steps, clock) = sys.argv[1:3], sys.argv[3:9]
import mindspore as ms
import numpy as np
shape, words, steps = tuple(json.loads(shape)), int(words), int(steps)
random = np.random.default_rng(0)
inputs = random.integers(0, words, shape) if words else random.standard_normal(shape).astype("float32")
targets = random.integers(0, 10, shape[0])
ms.set_device("CPU")
ms.set_seed(0)
ms.runtime.launch_blocking()
whole = ms.Tensor(inputs, ms.int32) if words else ms.Tensor(inputs)
batches = [(ms.Tensor(inputs), ms.Tensor(targets)), (whole, ms.Tensor(targets, ms.int32))]
programs, found = [], []
for folder in folders:
    sys.path.insert(0, folder)
    network = getattr(importlib.import_module(module), builder)(num_classes=10)
    programs.append((network, importlib.import_module("train").train_with_adam))
    sys.path.remove(folder)
    del sys.modules[module], sys.modules["train"]
    found.append(([], []))
turns = [threading.Semaphore(1), threading.Semaphore(0)]
def taken(number):
    for _ in range(steps):
        turns[number].acquire()
        yield batches[number]
        turns[1 - number].release()
def run(number):
    network, train = programs[number]
    try:
        train(network, taken(number), *found[number], getattr(time, clock))
    except BaseException:  # the other one would wait for ever
        traceback.print_exc()
        os._exit(1)
threads = [threading.Thread(target=run, args=(number,)) for number in (0, 1)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps([{"times": times, "losses": losses} for times, losses in found]))
"""


Steps = dict[str, list[float]]  # "times": seconds of every step; "losses"


def measure(framework: str, folder: Path, network: Network, steps: int, clock: str) -> Steps:
    """Train in a process of its own; return seconds and loss of every step."""
    found: Steps = _run(_PROGRAM, [framework], folder, network, steps, clock)
    return found


def measure_in_turn(folders: Sequence[Path], network: Network, steps: int, clock: str) -> Sequence[Steps]:
    """Train two programs in one process, a step each in turn; return seconds and loss of every step of both."""
    found: Sequence[Steps] = _run(_IN_TURN, [*map(str, folders)], folders[0], network, steps, clock)
    return found


def _run(program: str, first: list[str], folder: Path, network: Network, steps: int, clock: str) -> Any:
    environment = {**os.environ}
    environment.setdefault("ONEDNN_MAX_CPU_ISA", "AVX2")
    environment.setdefault("OMP_NUM_THREADS", "2")
    environment.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    arguments = [
        network.module,
        network.builder,
        json.dumps(network.shape),
        str(network.words),
        str(steps + WARM_UP),
        clock,
    ]
    done = subprocess.run(
        [sys.executable, "-c", program, *first, *arguments],
        cwd=folder, capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip
    if done.returncode:
        sys.exit(f"{first}, {network.module}: the measurement failed:\n{done.stderr[-3000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def compare(name: str, folders: Mapping[str, Path], steps: int, rounds: int, clock: str) -> float:
    """Print a network's row; return the emitted step's time over the hand-written one's."""
    times: dict[str, list[float]] = {framework: [] for framework in folders}
    pairs: list[list[float]] = []
    for _ in range(rounds):
        for framework, folder in folders.items():
            found = measure(framework, folder, NETWORKS[name], steps, clock)
            if not found["losses"][-1] < found["losses"][0]:
                sys.exit(f"{framework}, {name}: the loss does not fall: {found['losses']}")
            times[framework] += found["times"][WARM_UP:]
        both = measure_in_turn([folders["emitted"], folders["by hand"]], NETWORKS[name], steps, clock)
        if any(not one["losses"][-1] < one["losses"][0] for one in both):
            sys.exit(f"{name}, in turn: the loss does not fall")
        pairs.append([x / y for x, y in zip(*(one["times"][WARM_UP:] for one in both), strict=True)])
    best = {framework: min(found) for framework, found in times.items()}
    cells = [f"{best[framework] * 1e3:.1f} ({statistics.median(times[framework]) * 1e3:.1f})" for framework in folders]
    ratio = statistics.median(pair for found in pairs for pair in found)
    medians = sorted(map(statistics.median, pairs))
    in_turn = f"{ratio:.2f} ({medians[0]:.2f} to {medians[-1]:.2f})"
    ratios = [in_turn, f"{best['emitted'] / best['torch']:.2f}"]
    print(f"| {name} | {' | '.join([*cells, *ratios])} |", flush=True)
    return ratio


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", nargs="+", choices=NETWORKS, default=list(NETWORKS))
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--clock", choices=("perf_counter", "process_time"), default="perf_counter")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="step-time-") as scratch:
        source, output = Path(scratch) / "source", Path(scratch) / "output"
        shutil.copytree(ROOT / "benchmarks" / "networks", source)
        shutil.copy(ROOT / "examples" / "resnet50_cifar10" / "resnet.py", source)
        translate_project(source, output, Options())
        if (output / "ms_train.py").exists():  # the generated program; ours keeps its name
            (output / "ms_train.py").unlink()
        by_hand = ROOT / "benchmarks" / "by_hand"
        folders = {"torch": source, "emitted": output, "by hand": by_hand, "by hand, queued": by_hand}
        print("| network | PyTorch, ms | emitted | by hand | by hand, queued | emitted / by hand | emitted / PyTorch |")
        print("|---|--:|--:|--:|--:|--:|--:|", flush=True)
        worst = max(
            compare(name, folders, arguments.steps, arguments.rounds, arguments.clock) for name in arguments.only
        )
    print(f"\nfastest step (median) in ms; the emitted step takes at most {worst:.2f} times the hand-written one")
    return 0


if __name__ == "__main__":
    sys.exit(main())
