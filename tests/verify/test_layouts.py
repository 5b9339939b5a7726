"""Checkpoints with Hugging Face's keys, in its files: to MindSpore and back bit by bit, and the outputs agree."""

from __future__ import annotations

import importlib
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from torch2ms import translate_project
from torch2ms.weights import table_rules

SOURCE = Path(__file__).with_name("layouts")
TOKENS = np.random.default_rng(0).integers(1, 23, (2, 7))
IMAGES = np.random.default_rng(0).normal(size=(2, 3, 8, 8)).astype(np.float32)
# network: how its checkpoint is laid out
LAYOUTS = {
    "BertModel": "pytorch_model.bin",
    "GPT2LMHeadModel": "model.safetensors",
    "LlamaForCausalLM": "model.safetensors.index.json",
    "ViTModel": "pytorch_model.bin.index.json",
    "T5EncoderModel": "checkpoint.pth",
}


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Any]]:
    """Return the module of the networks in PyTorch, and its translation."""
    folder = tmp_path_factory.mktemp("layouts")
    shutil.copy(SOURCE / "hugging_face.py", folder / "hugging_face_torch.py")
    translate_project(SOURCE, folder / "out")
    (folder / "out" / "hugging_face.py").rename(folder / "out" / "hugging_face_mindspore.py")
    before = list(sys.path)
    sys.path[:0] = [str(folder), str(folder / "out")]
    yield importlib.import_module("hugging_face_torch"), importlib.import_module("hugging_face_mindspore")
    sys.path[:] = before


def write(state: dict[str, Any], folder: Path, name: str) -> Path:
    """Write a checkpoint in the layout that its file's name stands for."""
    import torch

    from torch2ms.runtime.weight_files import write_safetensors
    from torch2ms.runtime.weights import Value

    def save(part: dict[str, Any], path: Path) -> None:
        if path.suffix == ".safetensors":
            write_safetensors(
                {key: Value(value.numpy(), str(value.numpy().dtype)) for key, value in part.items()}, path, "pt"
            )
        else:
            torch.save(part, path)

    path = folder / name
    if name.endswith(".index.json"):
        suffix = ".safetensors" if "safetensors" in name else ".bin"
        files = {key: f"part-0000{number % 2}-of-00002{suffix}" for number, key in enumerate(state)}
        for file in set(files.values()):
            save({key: value for key, value in state.items() if files[key] == file}, folder / file)
        path.write_text(json.dumps({"metadata": {}, "weight_map": files}))
    elif name == "checkpoint.pth":
        save({"epoch": 3, "model": {f"module.{key}": value for key, value in state.items()}}, path)
    else:
        save(state, path)
    return path


@pytest.mark.parametrize("name", LAYOUTS)
def test_checkpoints_in_layouts_of_hugging_face(name: str, sides: tuple[Any, Any], tmp_path: Path) -> None:
    import mindspore as ms
    import torch

    from torch2ms.runtime import weights

    torch.manual_seed(1)
    theirs, ours = getattr(sides[0], name)().eval(), getattr(sides[1], name)().set_train(False)
    state = {key: value.detach() for key, value in theirs.state_dict().items()}
    source = write(state, tmp_path, LAYOUTS[name])
    weights.convert(source, tmp_path / "x.ckpt", ours, table_rules())
    weights.convert(tmp_path / "x.ckpt", tmp_path / "back.pth", ours, table_rules(), reverse=True)

    back = torch.load(tmp_path / "back.pth", weights_only=True)
    assert set(back) == set(state)
    assert all(torch.equal(back[key], state[key]) and back[key].dtype == state[key].dtype for key in state)
    missing, _ = ms.load_param_into_net(ours, ms.load_checkpoint(str(tmp_path / "x.ckpt")))  # which fills no buffers
    assert missing == []
    inputs = IMAGES if name == "ViTModel" else TOKENS
    with torch.no_grad():
        expected = theirs(torch.from_numpy(inputs)).numpy()
    np.testing.assert_allclose(ours(ms.Tensor(inputs)).asnumpy(), expected, rtol=1e-3, atol=1e-4)
