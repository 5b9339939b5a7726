"""The parts of the workers that need neither torch nor mindspore."""

from __future__ import annotations

import sys
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from torch2ms.errors import VerificationError
from torch2ms.verify.process import Worker, environment
from torch2ms.verify.workers import channel
from torch2ms.verify.workers.counters import counters_kept
from torch2ms.verify.workers.dropout import Switch
from torch2ms.verify.workers.entries import load_entry


@pytest.mark.parametrize(("side", "package"), [("torch_side", "torch"), ("mindspore_side", "mindspore")])
def test_a_missing_framework_is_told_with_what_to_install(tmp_path: Path, side: Any, package: str) -> None:
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\necho \"ModuleNotFoundError: No module named '{package}'\" >&2\nexit 1\n")
    python.chmod(0o755)
    with Worker(side, str(python)) as worker, pytest.raises(VerificationError, match=f"has no {package}$") as caught:
        worker.call("load")
    assert f'-m pip install "torch2ms[{package}]"' in caught.value.advice
    assert "Traceback" not in caught.value.advice


@dataclass
class Result:
    loss: Any
    rest: Any = None


def test_flatten_names_every_place() -> None:
    one = np.ones(1)
    nested = (one, [one, None], OrderedDict(logits=one), Result(one, {"a": (one,)}), 3.5, True, "text")
    found = channel.flatten(nested, lambda value: isinstance(value, np.ndarray))
    assert list(found) == [
        "output[0]", "output[1][0]", "output[2]['logits']", "output[3].loss", "output[3].rest['a'][0]", "output[4]",
    ]  # fmt: skip


def test_arrays_survive_under_any_name(tmp_path: Path) -> None:
    arrays = {"a/b:c": np.arange(3), "": np.float32(2.5), "output['x']": np.zeros((0, 2), bool)}
    channel.save_arrays(str(tmp_path / "x.npz"), arrays)
    loaded = channel.load_arrays(str(tmp_path / "x.npz"))
    assert list(loaded) == list(arrays)
    for name, array in arrays.items():
        assert np.array_equal(loaded[name], array)
        assert loaded[name].dtype == np.asarray(array).dtype


def test_a_switch_takes_calls_out_and_notes_their_rates() -> None:
    holder = SimpleNamespace(drop=lambda x, p=0.5: f"dropped {x}")
    switch = Switch()
    switch.wrap(holder, "drop", lambda original, x, p=0.5: p)
    switch.wrap(holder, "absent", lambda original: 0.0)
    assert holder.drop("x") == "dropped x"
    with switch:
        assert holder.drop("x", p=0.2) == "x"
        assert holder.drop(x="y") == "y"
    assert switch.rates == [0.2, 0.5]
    assert holder.drop("x") == "dropped x"


def test_workers_run_with_bounded_threads_and_without_our_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "somewhere")
    monkeypatch.delenv("ONEDNN_MAX_CPU_ISA", raising=False)
    own = environment()
    assert "PYTHONPATH" not in own
    assert own["OMP_NUM_THREADS"] == "2"
    assert own["ONEDNN_MAX_CPU_ISA"] == "AVX2"


def test_a_worker_that_dies_is_reported_with_its_last_words(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'no torch here' >&2\nexit 3\n", encoding="utf-8")
    python.chmod(0o755)
    with Worker("torch_side", str(python)) as worker, pytest.raises(VerificationError, match="exit code 3") as caught:
        worker.call("build")
    assert "no torch here" in caught.value.advice


@pytest.mark.parametrize("line", ["from ..layers import size", "from entry_package.layers import size"])
def test_the_entry_of_a_project_that_is_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    root = tmp_path / "entry_package"
    (root / "models").mkdir(parents=True)
    for name in ("__init__.py", "models/__init__.py"):
        (root / name).write_text("")
    (root / "layers.py").write_text("size = 3\n")
    (root / "models" / "net.py").write_text(f"{line}\n\n\ndef make():\n    return size\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in [name for name in sys.modules if name.partition(".")[0] in ("models", "entry_package")]:
        monkeypatch.delitem(sys.modules, name)
    assert load_entry(str(root), "models.net:make")() == 3


def test_what_a_network_counts_begins_anew_with_each_check() -> None:
    part = SimpleNamespace(calls=0, rate=0.5, name="a", phase=1, later=3)
    with counters_kept([part], ("phase",)):
        part.calls, part.rate, part.name, part.phase, part.later, part.new = 1, 0.25, "b", 2, None, 7
    assert vars(part) == {"calls": 0, "rate": 0.5, "name": "b", "phase": 2, "later": None, "new": 7}
