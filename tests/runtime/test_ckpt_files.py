"""MindSpore's own files: what it writes is read, what is written it reads, tensors in several slices included."""

from __future__ import annotations

from pathlib import Path

import mindspore as ms
import numpy as np
import pytest

from torch2ms.runtime import ckpt_files, weight_files
from torch2ms.runtime.file_bytes import FileBytes
from torch2ms.runtime.tensor_values import Value

ARRAYS = {
    "a": np.arange(24, dtype=np.float32).reshape(4, 6),
    "half": np.array([1.5, -2.0], np.float16),
    "number": np.array(7, np.int64),
    "flags": np.array([True, False]),
}


def test_what_mindspore_writes_is_read(tmp_path: Path) -> None:
    items = [{"name": name, "data": ms.Tensor(array)} for name, array in ARRAYS.items()]
    ms.save_checkpoint(items, str(tmp_path / "x.ckpt"), append_dict={"epoch": 3, "note": "hi"})
    found = ckpt_files.read(FileBytes.of(tmp_path / "x.ckpt"))
    assert found.pop("note") == "hi"
    assert int(found.pop("epoch").array) == 3  # type: ignore[union-attr]
    for name, array in ARRAYS.items():
        value = found[name]
        assert isinstance(value, Value)
        assert (value.dtype, value.shape) == (str(array.dtype), array.shape)
        assert np.array_equal(value.array, array)


def test_slices_are_joined_and_their_hash_lies_beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ckpt_files, "_SLICE", 64)
    monkeypatch.setattr("torch2ms.runtime.tensor_values.PIECE", 8)
    values = {name: Value(array, str(array.dtype)) for name, array in ARRAYS.items()}
    values["bf"] = Value(np.array([1.0, -3.140625], np.float32), "bfloat16")
    weight_files.write_mindspore(values, tmp_path / "x.ckpt")
    theirs = ms.load_checkpoint(str(tmp_path / "x.ckpt"))
    ours, _ = weight_files.read_mindspore(tmp_path / "x.ckpt")
    for name, value in values.items():
        assert np.array_equal(theirs[name].astype(ms.float32).asnumpy(), value.array.astype(np.float32))
        assert np.array_equal(ours[name].array, value.array)
        assert ours[name].dtype == value.dtype
    digest, name = (tmp_path / "x.ckpt.sha256").read_text().split()
    assert (len(digest), name) == (64, "x.ckpt")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.ckpt", "x.ckpt.sha256"]
