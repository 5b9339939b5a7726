"""Where checkpoints keep their weights: shards with an index, dictionaries in dictionaries, prefixes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mindspore
import numpy as np
import pytest
import torch

from torch2ms.runtime import weight_files
from torch2ms.runtime.weight_files import Value, WeightsError

VALUES = {name: Value(np.full((2, 3), number, np.float32), "float32") for number, name in enumerate("abcd")}


def sharded(folder: Path, files: dict[str, str]) -> Path:
    for name in set(files.values()):
        own = {key: value for key, value in VALUES.items() if files.get(key) == name}
        weight_files.write_safetensors(own, folder / name, "pt")
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {"total_size": 96}, "weight_map": files}))
    return index


def test_an_index_stands_for_its_shards(tmp_path: Path) -> None:
    first, second = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
    values, notes = weight_files.read_torch(sharded(tmp_path, {"a": first, "b": first, "c": second, "d": second}))
    assert {key: value.array.tolist() for key, value in values.items()} == {
        key: value.array.tolist() for key, value in VALUES.items()
    }
    assert notes == ["read 2 files"]


def test_shards_may_be_pytorch_files(tmp_path: Path) -> None:
    torch.save({"module.a": torch.ones(2)}, tmp_path / "pytorch_model-1.bin")
    torch.save({"module.b": torch.zeros(3)}, tmp_path / "pytorch_model-2.bin")
    index = tmp_path / "pytorch_model.bin.index.json"
    files = {"module.a": "pytorch_model-1.bin", "module.b": "pytorch_model-2.bin"}
    index.write_text(json.dumps({"weight_map": files}))
    values, notes = weight_files.read_torch(index)
    assert list(values) == ["a", "b"]
    assert notes == ["read 2 files", "took off DataParallel's prefix 'module.'"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[1]", "no index of shards"),
        ("{", "no index of shards"),
        ('{"weight_map": 3}', "no index of shards"),
        ('{"weight_map": {}}', "names no weights"),
        ('{"weight_map": {"a": "../x.safetensors"}}', "no file beside it"),
        ('{"weight_map": {"a": "/x.safetensors"}}', "no file beside it"),
        ('{"weight_map": {"a": "x.index.json"}}', "no file beside it"),
        ('{"weight_map": {"a": "x.safetensors"}}', r"x\.safetensors cannot be read"),
        ('{"weight_map": {"a": "y.safetensors", "z": "y.safetensors"}}', r"y\.safetensors lacks .*: z"),
    ],
)
def test_an_index_that_does_not_fit_its_files_is_refused(content: str, said: str, tmp_path: Path) -> None:
    weight_files.write_safetensors({"a": VALUES["a"]}, tmp_path / "y.safetensors", "pt")
    index = tmp_path / "x.index.json"
    index.write_text(content)
    with pytest.raises(WeightsError, match=said):
        weight_files.read_torch(index)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"ema": {"a": torch.ones(2)}, "epoch": 3}, "took the weights under 'ema'; passed over epoch"),
        (
            {"generator": {"a": torch.ones(2)}, "optimizer": {"state": {0: {"m": torch.ones(2)}}, "param_groups": []}},
            "took the weights under 'generator'; passed over optimizer",
        ),
        (
            {"model": {"a": torch.ones(2)}, "ema": {"a": torch.ones(2)}},
            "took the weights under 'model'; passed over ema",
        ),
        ({"_orig_mod.a": torch.ones(2)}, "took off torch.compile's prefix '_orig_mod.'"),
        ({"module._orig_mod.a": torch.ones(2)}, "took off DataParallel's prefix 'module.'"),
        ({"_orig_mod.module.a": torch.ones(2)}, "took off DataParallel's prefix 'module.'"),
    ],
)
def test_where_the_weights_lie(content: dict[str, Any], said: str, tmp_path: Path) -> None:
    torch.save(content, tmp_path / "x.pth")
    values, notes = weight_files.read_torch(tmp_path / "x.pth")
    assert list(values) == ["a"]
    assert said in notes


def test_several_networks_in_one_file_are_no_guess(tmp_path: Path) -> None:
    torch.save({"generator": {"a": torch.ones(2)}, "critic": {"a": torch.ones(2)}}, tmp_path / "x.pth")
    with pytest.raises(WeightsError, match=r"the file has generator, critic"):
        weight_files.read_torch(tmp_path / "x.pth")


@pytest.mark.parametrize(("kind", "other"), [("pth", "ckpt"), ("ckpt", "pth")])
def test_a_checksum_that_does_not_fit_leaves_nothing_written(kind: str, other: str, tmp_path: Path) -> None:
    source = tmp_path / f"x.{kind}"
    numbers = np.arange(4096, dtype=np.float32)
    if kind == "pth":
        weight_files.write_torch({"a": Value(numbers, "float32")}, source)
        (tmp_path / "x.pth.sha256").unlink()
    else:
        mindspore.save_checkpoint([{"name": "a", "data": mindspore.Tensor(numbers)}], str(source), crc_check=True)
        source.chmod(0o600)
    content = bytearray(source.read_bytes())
    content[content.index(numbers[2049:2050].tobytes())] ^= 1
    source.write_bytes(content)
    found, _ = (weight_files.read_torch if kind == "pth" else weight_files.read_mindspore)(source)
    with pytest.raises(WeightsError, match=rf"x\.{kind} is damaged: the checksum of"):
        (weight_files.write_mindspore if kind == "pth" else weight_files.write_torch)(found, tmp_path / f"y.{other}")
    assert [path.name for path in tmp_path.iterdir()] == [source.name]
    with pytest.raises(WeightsError, match="the checksum of"):
        _ = found["a"].array
