"""Write into one of two names of a memory, in programs made from the facts: who sees it in PyTorch and in MindSpore?

    python benchmarks/alias_writes.py --count 2000 --seed 0
    python benchmarks/alias_writes.py --only hsplit

For each operation whose result may share memory (``mapping_tables/data/facts``) calls are found that PyTorch accepts.
A program makes a second name by such a call and writes in place into one of both: in a module, in a function, before a
forward pass, between it and the loss, or behind the backward call. It prints what all names hold, the loss and the
weights. A program is *right*, *marked* (the translation says so), *loud* (MindSpore raises) or *silent*; exit code 1
when one is silent. Many programs share a process; each is executed in a namespace of its own, and what seems silent
once more in a process of its own.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

BATCH = 250
PATIENCE = 600  # seconds of a batch
# What a call is given behind the tensor, of two rows and four columns
ARGUMENTS = ("", "0", "1", "2", "-1", "0, 1", "1, 0", "0, 0, 1", "x.shape", "x", "x.dtype", "x.device", "torch.float32",
             "(2, 4)", "2, 4", "1, (2, 2)", "[1, 1]", "0, 1, 1", "(2, 2), (4, 1)", "'cpu'", "0.0", "0.5, False",
             "False")  # fmt: skip
CALLS_EACH = 3
WRITES = (
    "{n}.add_(1)",
    "{n} += 1",
    "{n}[0] = 0",
    "{n}.zero_()",
    "{n}.mul_(2)",
    "{n}.copy_({n} * 3)",
    "{n}[...] = 1",
    "{n}.clamp_(max=0.5)",
    "{n}[{n} > 0.5] = 0",
    "torch.add({n}, 1, out={n})",
    "{n}.sub_(0.5).abs_()",
)
HEAD = """import torch
import torch.nn as nn
import torch.nn.functional as F

"""
TRAINING = """net = nn.Linear(3, 4)
with torch.no_grad():
    net.weight.copy_(torch.arange(12.0).reshape(4, 3) / 12)
    net.bias.fill_(0.25)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
data, target = torch.arange(6.0).reshape(2, 3) / 6, torch.ones(2, 4)
opt.zero_grad()
"""
INPUT = "x = torch.arange(8.0).reshape(2, 4) / 8\n"
ENDING = "loss.backward()\nopt.step()\nprint(loss.item(), net.weight.tolist(), x.tolist())\n"
# Where the write stands: {a} makes y of x, {w} writes
PLACES = {
    "module": INPUT + "{a}\n{w}\nprint(x.tolist(), y.tolist())\n",
    "copied input": INPUT + "x = x * 1\n{a}\n{w}\nprint(x.tolist(), y.tolist())\n",
    "function": "def change(x):\n    {a}\n    {w}\n    return y\n\n\n" + INPUT
    + "made = change(x)\nprint(x.tolist(), made.tolist())\n",
    "before the forward pass": TRAINING + INPUT + "{a}\n{w}\nloss = ((net(data) - x) ** 2).mean()\n" + ENDING,
    "before the loss": TRAINING + "x = net(data)\n{a}\n{w}\nloss = ((x - target) ** 2).mean()\n" + ENDING,
    "behind a read": TRAINING + "x = net(data)\n{a}\nseen = x.sum().item()\n{w}\n"
    "loss = ((x - target) ** 2).mean()\n" + ENDING + "print(seen)\n",
    "before the loss of the other": TRAINING + "x = net(data)\n{a}\n{w}\nloss = (y * y).mean()\n" + ENDING,
    "behind the backward call": TRAINING + "x = net(data)\nloss = ((x - target) ** 2).mean()\nloss.backward()\n"
    "with torch.no_grad():\n    {a}\n    {w}\nopt.step()\nprint(loss.item(), x.tolist(), net.weight.tolist())\n",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Program:
    """One program and where it comes from."""

    name: str
    text: str


def calls_of(only: str = "") -> list[str]:
    """Return calls that make a second name of the memory of ``x``, by the facts and as PyTorch accepts them."""
    import torch

    from torch2ms.mapping_tables.facts import load_facts

    found = ["+x", "x[0]", "x[:, 1:3]", "x"]
    for name in load_facts():
        holder, _, member = name.rpartition(".")
        fact = load_facts().of(name)
        if fact is None or not fact.is_alias or fact.shape or fact.memory == "held" or only not in name:
            continue
        working: list[str] = []
        for given in ARGUMENTS:
            text = _call(holder, member, given)
            with contextlib.suppress(Exception), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made = eval(text, {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "x": _input(torch)})
                if isinstance(made, (tuple, list)):
                    text, made = f"{text}[0]", made[0]
                if isinstance(made, torch.Tensor) and made.layout is torch.strided and text not in working:
                    working.append(text)
        found += working[:CALLS_EACH]
    return found


def _input(torch: object) -> object:
    return torch.arange(8.0).reshape(2, 4) / 8  # type: ignore[attr-defined]


def _call(holder: str, member: str, given: str) -> str:
    if holder == "torch.Tensor":
        is_attribute = member in ("T", "H", "mT", "mH", "data", "real", "imag")
        return f"x.{member}" if is_attribute else f"x.{member}({given})"
    if holder == "torch.nn":
        return f"nn.{member}({given})(x)"
    short = "F" if holder == "torch.nn.functional" else holder
    if member == "einsum":
        return f"{short}.einsum('ij->ji', x)"
    return f"{short}.{member}(x{', ' if given else ''}{given})"


def programs_of(calls: Sequence[str], count: int, seed: int) -> list[Program]:
    """Return programs drawn from all calls, writes, names written to and places; all of them where they are fewer."""
    every = [
        (call, write, name, place) for call in calls for write in WRITES for name in ("x", "y") for place in PLACES
    ]
    drawn = random.Random(seed)
    chosen = drawn.sample(every, min(count, len(every)))
    return [
        Program(
            f"{place}: y = {call}; {write.format(n=name)}",
            HEAD + PLACES[place].format(a=f"y = {call}", w=write.format(n=name)),
        )
        for call, write, name, place in chosen
    ]


def run(programs: Sequence[Program]) -> Iterator[tuple[str, Program, str, str]]:
    """Yield what came out of each program that PyTorch accepts: a word, the program, its translation, what differs."""
    from run_cases import Printed, difference

    from torch2ms import translate_source

    for start in range(0, len(programs), BATCH):
        batch = programs[start : start + BATCH]
        texts = [program.text for program in batch]
        theirs = _printed("torch", texts)
        again = _printed("torch", texts[::-1])[::-1]  # in another order: what draws numbers prints others
        able = [i for i, (_, error) in enumerate(theirs) if not error and theirs[i] == again[i]]
        made = {i: translate_source(batch[i].text) for i in able}
        marked = {i for i in able if any(d.severity.name in ("ERROR", "WARNING") for d in made[i].diagnostics)}
        ours = dict(zip(able, _printed("mindspore", [made[i].text for i in able]), strict=True))
        for i in able:
            if i not in marked and difference(Printed(*theirs[i]), Printed(*ours[i])):
                ours[i] = _printed("mindspore", [made[i].text])[0]  # alone
            told = difference(Printed(*theirs[i]), Printed(*ours[i]))
            word = "right" if not told else "marked" if i in marked else "loud" if ours[i][1] else "silent"
            yield ("needlessly marked" if word == "right" and i in marked else word), batch[i], made[i].text, told


def _printed(module: str, texts: Sequence[str]) -> list[tuple[str, str]]:
    """Return what each text prints, and how it ends where it raises; a process that dies ends the rest of its batch."""
    settings = {"GLOG_v": "3", "OMP_NUM_THREADS": "1", "ONEDNN_MAX_CPU_ISA": "AVX2"}
    with tempfile.TemporaryDirectory() as folder:
        given, told = Path(folder) / "given.json", Path(folder) / "told.json"
        given.write_text(json.dumps(texts), "utf-8")
        shutil.copytree(ROOT / "torch2ms" / "runtime", Path(folder) / "torch2ms_runtime")
        command = [sys.executable, __file__, "--run", module, str(given), str(told)]
        place = {**os.environ, **settings, "PYTHONPATH": str(ROOT)}
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(command, check=False, env=place, timeout=PATIENCE, capture_output=True)
        found = [tuple(json.loads(line)) for line in told.read_text("utf-8").splitlines()] if told.exists() else []
    return [*found, *([("", "the process ended")] * (len(texts) - len(found)))]


def _run_here(module: str, given: str, told: str) -> None:
    importlib.import_module(module)
    if module == "mindspore":
        sys.path.insert(0, str(Path(given).parent))
    warnings.simplefilter("ignore")
    with Path(told).open("w", encoding="utf-8") as stream:
        for text in json.loads(Path(given).read_text("utf-8")):
            printed, error = io.StringIO(), ""
            try:
                with contextlib.redirect_stdout(printed):
                    exec(compile(text, "<program>", "exec"), {"__name__": "__main__"})
            except Exception:
                error = traceback.format_exc()[-400:]
                _forget(module)
            stream.write(json.dumps([printed.getvalue(), error]) + "\n")
            stream.flush()


def _forget(module: str) -> None:
    """Undo what a program that raised may leave: a forward pass that does so leaves MindSpore recording."""
    if module == "mindspore":
        from mindspore.common.api import _pynative_executor

        _pynative_executor.clear_res()
        _pynative_executor.set_grad_flag(False)
        for name in [name for name in sys.modules if name.partition(".")[0] == "torch2ms_runtime"]:
            del sys.modules[name]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the campaign; print what is silent or loud, and the counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=2000, help="programs to draw")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="operations whose name has this in it")
    options = parser.parse_args(arguments)
    counts: Counter[str] = Counter()
    for word, program, text, told in run(programs_of(calls_of(options.only), options.count, options.seed)):
        counts[word] += 1
        if word in ("silent", "loud"):
            print(f"{word} {program.name}\n{text}\n{told}", flush=True)
    words = ("right", "marked", "needlessly marked", "loud", "silent")
    print(", ".join(f"{counts[word]} {word}" for word in words))
    return 1 if counts["silent"] else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        _run_here(*sys.argv[2:5])
        os._exit(0)
    sys.exit(main())
