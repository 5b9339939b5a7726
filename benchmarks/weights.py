"""Weights both ways: whole packages of networks bit by bit, and files of gigabytes in bounded memory and time.

    python benchmarks/weights.py models                        # torchvision's networks, timm's first of each family
    python benchmarks/weights.py models torchvision --only resnet
    python benchmarks/weights.py models timm --keep DIR        # translations as benchmarks/models.py --keep leaves them
    python benchmarks/weights.py size --gigabytes 4            # .pth, .ckpt, .safetensors and shards of this size

*models*: PyTorch builds a network of the package, fills its parameters and buffers with random bits of their type, and
saves it; the conversion writes a ``.ckpt`` or ``.safetensors`` (in turn) for the translated network, without PyTorch,
and a ``.pth`` from that; PyTorch loads it strictly and compares every key. ``num_batches_tracked`` is no parameter of
MindSpore's, and 0 on both sides.

*size*: a network of 64 MiB layers, one of 1 GiB among them. For each conversion the memory beside the network (its own
parameters, and what MindSpore takes when it is imported) and the time, held against a copy of the same file that
reaches the disk as well: the mean of one made just before and one made just after. All read from the disk. The limits:
the largest array and 200 MB; 1.2 times the copy.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import models
from models import ROOT, Model

from torch2ms.verify.process import environment
from torch2ms.weights import table_rules

MEMORY = 200e6  # bytes beside the largest array
TIME = 1.2  # copies of the same size

_TORCH = """
import importlib, json, sys
import torch
sys.path[0] = sys.argv[1]

def save(module, name, kwargs, path):
    torch.manual_seed(0)
    net = getattr(importlib.import_module(module), name)(**kwargs)
    state = net.state_dict()
    for key, value in state.items():
        if value.is_floating_point():
            value.copy_(torch.rand(value.shape) - 0.5)
    torch.save(state, path)
    return [len(state), sum(value.nbytes for value in state.values())]

def compare(one, other):
    first, second = (torch.load(path, weights_only=True) for path in (one, other))
    odd = sorted(set(first) ^ set(second))
    def bits(tensor):
        return tensor.contiguous().reshape(-1).view(torch.uint8)
    odd += [key for key in first if key in second and not (
        first[key].dtype == second[key].dtype and first[key].shape == second[key].shape
        and torch.equal(bits(first[key]), bits(second[key])))]
    return odd
"""
_MINDSPORE = """
import importlib, json, os, pathlib, resource, sys, time

class NoTorch:  # conversion must do without, both ways
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, NoTorch)
sys.path[0] = sys.argv[1]
sys.path.insert(1, sys.argv[2])
from torch2ms.runtime import weights
rules = json.load(open(sys.argv[3]))

def both(module, name, kwargs, source, between, back):
    net = weights.build(f"{module}:{name}", kwargs)
    weights.convert(pathlib.Path(source), pathlib.Path(between), net, rules)
    return weights.convert(pathlib.Path(between), pathlib.Path(back), net, rules, True)["parameters"]

def memory(what):
    return next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith(what))

def measured(module, name, kwargs, source, destination, reverse):
    net = weights.build(f"{module}:{name}", kwargs)
    weights.key_map(net, rules)
    open("/proc/self/clear_refs", "w").write("5")  # the peak begins anew
    before, started, used = memory("VmRSS"), time.monotonic(), time.process_time()
    weights.convert(pathlib.Path(source), pathlib.Path(destination), net, rules, reverse)
    return [memory("VmHWM") - before, time.monotonic() - started, time.process_time() - used]
"""
_SERVE = """
for line in sys.stdin:
    command, arguments = json.loads(line)
    try:
        told = globals()[command](*arguments)
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
    print("TOLD", json.dumps(told), flush=True)
"""
_LARGE_TORCH = """
import torch

def shapes(gigabytes):
    return [(16384, 16384)] + [(4096, 4096)] * ((int(gigabytes * (1 << 30)) - (1 << 30)) // (64 << 20))

class Net(torch.nn.Module):
    def __init__(self, gigabytes):
        super().__init__()
        self.layers = torch.nn.ParameterList(torch.zeros(shape) for shape in shapes(gigabytes))
"""
_LARGE_MINDSPORE = """
import mindspore as ms
import numpy as np

def shapes(gigabytes):
    return [(16384, 16384)] + [(4096, 4096)] * ((int(gigabytes * (1 << 30)) - (1 << 30)) // (64 << 20))

class Net(ms.nn.Cell):
    def __init__(self, gigabytes):
        super().__init__()
        self.layers = ms.ParameterTuple(
            [ms.Parameter(ms.Tensor(np.ones(shape, np.float32)), f"layers.{i}")
             for i, shape in enumerate(shapes(gigabytes))])
"""


class Side:
    """A process that answers commands, one line each."""

    def __init__(self, code: str, *arguments: str) -> None:
        self._start = [sys.executable, "-c", code + _SERVE, *arguments]
        self._process: subprocess.Popen[str] | None = None

    def ask(self, command: str, *arguments: Any) -> Any:
        """Return the answer: what the command returns, or a text that says why it failed."""
        if self._process is None:
            self._process = subprocess.Popen(
                self._start, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment()
            )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # it ended meanwhile
            process.stdin.write(json.dumps([command, arguments]) + "\n")
            process.stdin.flush()
        for line in process.stdout:
            if line.startswith("TOLD "):
                return json.loads(line[5:])
        self._process = None
        return f"the process ended with {process.wait()}"

    def stop(self) -> None:
        """End the process: its memory is not that of the next network."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def rules_file(folder: Path) -> str:
    """Write the rules of the tables for the conversion."""
    path = folder / "rules.json"
    path.write_text(json.dumps(table_rules()))
    return str(path)


def run_models(options: argparse.Namespace) -> int:
    """Take every network there and back; 1 when one does not come back as it was."""
    failures = total = 0
    for name in options.lists or ["torchvision", "timm"]:
        package = models.load(name)
        with tempfile.TemporaryDirectory() as temporary:
            work = Path(temporary)
            source, output = models.translated(package, (options.keep or work) / name, options.corpus)
            torch_side = Side(_TORCH, str(source))
            mindspore_side = Side(_MINDSPORE, str(output), str(ROOT), rules_file(work))
            chosen = models.chosen(package, options.only, name == "timm" and not options.all)
            for number, model in enumerate(chosen):
                started = time.monotonic()
                told = there_and_back(model, work, number, torch_side, mindspore_side)
                total, failures = total + 1, failures + (not told.startswith("same"))
                print(f"{time.monotonic() - started:6.1f} s  {model.label}: {told}", flush=True)
                if number % 10 == 9:
                    torch_side.stop()
                    mindspore_side.stop()
            torch_side.stop()
            mindspore_side.stop()
    print(f"{total - failures} of {total} networks come back bit by bit")
    return 1 if failures else 0


def there_and_back(model: Model, work: Path, number: int, torch_side: Side, mindspore_side: Side) -> str:
    """Return "same" with the size, or what went wrong."""
    between = work / ("x.ckpt" if number % 2 else "x.safetensors")
    module, _, name = model.entry.partition(":")
    saved = torch_side.ask("save", module, name, model.kwargs, str(work / "x.pth"))
    if isinstance(saved, str):
        return f"PyTorch: {saved}"
    written = mindspore_side.ask(
        "both", module, name, model.kwargs, *map(str, (work / "x.pth", between, work / "back.pth"))
    )
    if isinstance(written, str):
        return written
    odd = torch_side.ask("compare", str(work / "x.pth"), str(work / "back.pth"))
    if odd:
        return f"other after the way back: {odd if isinstance(odd, str) else odd[:5]}"
    return f"same, {saved[0]} arrays, {saved[1] / 1e6:.1f} MB, by {between.suffix}"


def copy(source: Path, destination: Path) -> float:
    """Return the seconds that a copy of a file takes until it is on the disk."""
    started = time.monotonic()
    with source.open("rb") as stream, destination.open("wb") as written:
        while piece := stream.read(16 << 20):
            written.write(piece)
        written.flush()
        os.fsync(written.fileno())
    seconds = time.monotonic() - started
    destination.unlink()
    return seconds


def forget(work: Path) -> None:
    """Let the system drop what it keeps of the files: each measurement reads from the disk, and none waits for that."""
    for path in work.iterdir():
        if path.is_file():
            handle = os.open(path, os.O_RDONLY)
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(handle)


def conversions(work: Path, gigabytes: float) -> Iterator[tuple[str, Path, Path, bool]]:
    """Yield what to convert: a title, the file, the file to write, and whether it goes back."""
    yield ".pth to .ckpt", work / "a.pth", work / "b.ckpt", False
    yield ".ckpt to .pth", work / "b.ckpt", work / "c.pth", True
    yield ".pth to .safetensors", work / "a.pth", work / "d.safetensors", False
    yield ".safetensors to .safetensors", work / "d.safetensors", work / "e.safetensors", True
    shard(work / "e.safetensors", work)
    yield "shards to .ckpt", work / "e.safetensors.index.json", work / "f.ckpt", False


def shard(path: Path, work: Path) -> None:
    """Write two shards and their index, of the arrays of a file."""
    from torch2ms.runtime.weight_files import read_safetensors, write_safetensors

    values = read_safetensors(path)
    names = {key: f"shard-{number % 2}.safetensors" for number, key in enumerate(values)}
    for name in set(names.values()):
        write_safetensors({key: value for key, value in values.items() if names[key] == name}, work / name, "pt")
    (work / f"{path.name}.index.json").write_text(json.dumps({"weight_map": names}))


def run_size(options: argparse.Namespace) -> int:
    """Print memory and time of each conversion; 1 where one is beyond its limit, or the weights come back changed."""
    beyond = 0
    with tempfile.TemporaryDirectory(dir=options.folder) as temporary:
        work = Path(temporary)
        for side, text in (("torch", _LARGE_TORCH), ("mindspore", _LARGE_MINDSPORE)):
            (work / side).mkdir()
            (work / side / "large.py").write_text(text)
        torch_side = Side(_TORCH, str(work / "torch"))
        kwargs = {"gigabytes": options.gigabytes}
        arrays, size = torch_side.ask("save", "large", "Net", kwargs, str(work / "a.pth"))
        torch_side.stop()
        print(f"{arrays} arrays, {size / 1e9:.2f} GB, the largest {(1 << 30) / 1e9:.2f} GB", flush=True)
        for title, source, destination, reverse in conversions(work, options.gigabytes):
            copied = source if source.suffix != ".json" else work / "e.safetensors"
            forget(work)
            copies = [copy(copied, work / "copy")]
            forget(work)
            mindspore_side = Side(_MINDSPORE, str(work / "mindspore"), str(ROOT), rules_file(work))
            told = mindspore_side.ask("measured", "large", "Net", kwargs, str(source), str(destination), reverse)
            mindspore_side.stop()
            if isinstance(told, str):
                print(f"{title}: {told}")
                beyond += 1
                continue
            memory, seconds, cpu = told
            forget(work)
            copies.append(copy(copied, work / "copy"))
            ratio = seconds / (sum(copies) / len(copies))
            fits = memory <= (1 << 30) + MEMORY and ratio <= TIME
            beyond += not fits
            print(
                f"{title:30} {memory / 1e6:7.0f} MB beside the network  {seconds:6.1f} s, {cpu:.1f} s computing; "
                f"copies {copies[0]:.1f} and {copies[1]:.1f} s: {ratio:.2f} times{'' if fits else '  BEYOND'}",
                flush=True,
            )
        odd = torch_side.ask("compare", str(work / "a.pth"), str(work / "c.pth"))
        print("the weights come back bit by bit" if odd == [] else f"other after the way back: {odd}")
        torch_side.stop()
    return 1 if beyond or odd else 0


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    many = commands.add_parser("models", help="networks of packages, both ways")
    many.add_argument("lists", nargs="*", help="names of model_lists/*.toml; torchvision and timm when none is given")
    many.add_argument("--corpus", type=Path, action="append", help="where sources are (else .venv/corpus)")
    many.add_argument("--only", default="", help="a regular expression for entries")
    many.add_argument("--all", action="store_true", help="of timm too, all that its list has")
    many.add_argument("--keep", type=Path, help="a folder for sources and translations, found again the next time")
    large = commands.add_parser("size", help="files of gigabytes")
    large.add_argument("--gigabytes", type=float, default=4.0)
    large.add_argument("--folder", type=Path, help="where to write them; seven times the size (else the system's)")
    found = parser.parse_args(arguments)
    if found.command == "models":
        found.corpus = found.corpus or [Path(os.environ.get("TORCH2MS_CORPUS", ROOT / ".venv" / "corpus"))]
    return found


def main() -> int:
    options = parse()
    return run_models(options) if options.command == "models" else run_size(options)


if __name__ == "__main__":
    sys.exit(main())
