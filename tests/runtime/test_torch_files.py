"""Data that torch.save wrote: read without PyTorch; weights and classes of a program are refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import mindspore as ms
import numpy as np
import pytest

from torch2ms.runtime import checkpoint
from torch2ms.runtime.checkpoint import CheckpointError

_WRITTEN = """
import argparse, collections, numpy, torch
from torch import nn

class Own:
    pass

x = torch.arange(12.0).reshape(3, 4)
data = {
    "samples": x, "turned": x.t(), "part": x[1:, ::2], "small": torch.tensor([1.5, 2.0]).bfloat16(),
    "one": torch.tensor(3), "all": [torch.tensor([True]), "s", 2], "array": numpy.arange(3), 5: {1, 2},
    "number": numpy.float64(2.5), "ordered": collections.OrderedDict(a=torch.ones(2)), "none": torch.zeros(0, 3),
    "options": argparse.Namespace(lr=0.1), "dtype": torch.float32, "size": x.shape, "half": torch.ones(2).half(),
    "weight": nn.Parameter(torch.ones(2)),
}
net = nn.Linear(2, 2)
weights = {"model": net.state_dict()}
for name, value in (("data", data), ("tensor", x), ("weights", weights), ("network", net), ("own", Own())):
    torch.save(value, f"{name}.new.pt")
    torch.save(value, f"{name}.old.pt", _use_new_zipfile_serialization=False)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("files")
    subprocess.run([sys.executable, "-c", _WRITTEN], cwd=place, check=True, capture_output=True)
    return place


@pytest.mark.parametrize("age", ["new", "old"])
def test_data_is_read(folder: Path, age: str) -> None:
    found = checkpoint.load(folder / f"data.{age}.pt")
    whole = np.arange(12, dtype=np.float32).reshape(3, 4)
    for key, expected in (("samples", whole), ("turned", whole.T), ("part", whole[1:, ::2]), ("half", np.ones(2))):
        np.testing.assert_array_equal(found[key].asnumpy(), expected)
    assert found["half"].dtype == ms.float16
    assert found["small"].dtype == ms.bfloat16
    assert found["small"].astype(ms.float32).asnumpy().tolist() == [1.5, 2.0]
    assert (found["one"].shape, int(found["one"]), found["one"].dtype) == ((), 3, ms.int64)
    assert found["all"][0].asnumpy().tolist() == [True]
    assert found["all"][1:] == ["s", 2]
    assert found["array"].tolist() == [0, 1, 2]
    assert (found["number"], found["options"].lr, found[5]) == (2.5, 0.1, {1, 2})
    assert list(found["ordered"]) == ["a"]
    assert found["none"].shape == (0, 3)
    assert (found["dtype"], found["size"]) == (ms.float32, (3, 4))
    np.testing.assert_array_equal(checkpoint.load(folder / f"tensor.{age}.pt").asnumpy(), whole)
    with open(folder / f"tensor.{age}.pt", "rb") as stream:
        np.testing.assert_array_equal(checkpoint.load(stream).asnumpy(), whole)


@pytest.mark.parametrize("age", ["new", "old"])
@pytest.mark.parametrize(
    ("name", "why"), [("weights", "the weights of a network"), ("network", "Linear"), ("own", "Own")]
)
def test_weights_and_classes_are_refused(folder: Path, name: str, why: str, age: str) -> None:
    with pytest.raises(CheckpointError, match=rf"is a PyTorch file, and it holds .*{why}.*convert it first"):
        checkpoint.load(folder / f"{name}.{age}.pt")


@pytest.mark.parametrize("age", ["new", "old"])
def test_what_is_cut_off_is_refused(folder: Path, age: str) -> None:
    content = (folder / f"data.{age}.pt").read_bytes()
    (folder / "cut.pt").write_bytes(content[: len(content) // 2])
    with pytest.raises(CheckpointError, match="damaged"):
        checkpoint.load(folder / "cut.pt")
