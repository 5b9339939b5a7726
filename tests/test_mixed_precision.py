"""Mixed precision: what autocast computes in which type, and training, beside PyTorch's.

PyTorch's CPUs cast by a list of their own, which runs here. The list of accelerators is held against the types that
PyTorch's operators give on a device that is only pretended to be there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from torch2ms import translate_project

HERE = Path(__file__).parent / "mixed_precision"
PROGRAMS = sorted(path.stem for path in (HERE / "programs").glob("*.py") if path.stem != "begin")

# Where the type is another than PyTorch's, by docs/training.md: the type that MindSpore's has
WIDER = {
    "cpu": "exp log log_softmax square softmax F.softmax softplus logsumexp cosine normalize mha".split(),
    "cuda": "lstm cell elu".split(),
}
NARROWER = {"cpu": ["nll_loss", "mv"], "cuda": ["nll_loss", "norm", "norm_dim", "linalg_norm"]}


def run(script: str, *arguments: str | Path) -> None:
    """Run one of the scripts beside the programs in a process of its own."""
    place = {**os.environ, "OMP_NUM_THREADS": "2", "PYTHONPATH": ""}
    command = [sys.executable, str(HERE / script), *map(str, arguments)]
    done = subprocess.run(command, env=place, timeout=900, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.fixture(scope="module")
def dtypes(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any]]:
    """The type of every operation's result, by device type: PyTorch's and MindSpore's."""
    folder = tmp_path_factory.mktemp("dtypes")
    translate_project(HERE / "operations", folder / "out")
    run("torch_dtypes.py", HERE / "operations", folder / "torch.json")
    run("mindspore_dtypes.py", folder / "out", folder / "mindspore.json")
    return json.loads((folder / "torch.json").read_text()), json.loads((folder / "mindspore.json").read_text())


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_dtype_of_every_operation(device: str, dtypes: tuple[dict[str, Any], dict[str, Any]]) -> None:
    theirs, ours = (side[device] for side in dtypes)
    assert len(theirs) > 90
    known = dict.fromkeys(WIDER[device], "float32") | dict.fromkeys(NARROWER[device], "float16")
    told = {name: dtype for name, dtype in theirs.items() if dtype is not None}  # the others need the device itself
    assert len(told) > 85
    assert {name: ours[name] for name in told} == told | {name: known[name] for name in known if name in told}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """What the programs computed in PyTorch (mixed, its twin, float32) and in MindSpore (mixed)."""
    folder = tmp_path_factory.mktemp("mixed")
    translate_project(HERE / "programs", folder / "out")
    run("run.py", HERE / "programs", folder / "torch.npz", "mixed", "twin", "full")
    run("run.py", folder / "out", folder / "mindspore.npz", "mixed")
    return np.load(folder / "torch.npz"), np.load(folder / "mindspore.npz")


def distance(one: Any, other: Any) -> float:
    """Return how far weights are from others, in parts of their norm."""
    return float(np.linalg.norm(one - other) / np.linalg.norm(one))


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_twenty_steps_in_half_precision(name: str, trained: tuple[Mapping[str, Any], Mapping[str, Any]]) -> None:
    """The weights are as near to PyTorch's as those of its own run that began 1e-7 beside: within 10 times that."""
    theirs, ours = trained
    assert f"{name} mixed error" not in ours, ours[f"{name} mixed error"]
    weights = {key: theirs[f"{name} {key} weights"] for key in ("mixed", "twin", "full")}
    found = distance(weights["mixed"], ours[f"{name} mixed weights"])
    assert found <= 10 * distance(weights["mixed"], weights["twin"])
    assert ours[f"{name} mixed scale"] == theirs[f"{name} mixed scale"]  # the same steps were left out
    if name in ("conv_net", "two_scalers"):  # where steps are left out, float32 is somewhere else
        assert found < distance(weights["mixed"], weights["full"]) / 10
