from __future__ import annotations

import argparse
import io
import json
import os
from collections import OrderedDict

import mindspore as ms
import numpy as np
import pytest
import safetensors.numpy
from mindspore import nn, ops

from torch2ms.runtime import checkpoint, modules
from torch2ms.runtime.checkpoint import CheckpointError, CheckpointStore


def small_network():
    return nn.SequentialCell(nn.Dense(3, 4), nn.BatchNorm1d(4))


def same(first, second):
    return all(np.array_equal(first[name].asnumpy(), second[name].asnumpy()) for name in first) and list(first) == list(
        second
    )


def test_a_state_dict_under_exactly_the_given_name(tmp_path):
    network = small_network()
    checkpoint.save(network.state_dict(), tmp_path / "net.pth")
    assert os.listdir(tmp_path) == ["net.pth"]
    back = checkpoint.load(str(tmp_path / "net.pth"), map_location="cpu")
    assert same(network.state_dict(), back)
    other = small_network()
    other.load_state_dict(back)
    assert same(network.state_dict(), other.state_dict())


def test_nested_objects_come_back_as_they_were(tmp_path):
    state = {
        "net": OrderedDict(w=ms.Tensor([1.5, 2.5]), b=ms.Tensor(np.zeros((0, 3), np.int64))),
        "acc": 93.5,
        "epoch": 7,
        1: [None, True, "text", (1, 2.0)],
        "array": np.arange(4, dtype=np.uint8),
        "scalar": np.float64(0.25),
        "nan": float("inf"),
        "args": argparse.Namespace(lr=0.1, layers=[1, 2]),
        "half": ms.Tensor([1.5], ms.bfloat16),
        "same.name": ms.Tensor([1]),
        "same": {"name": ms.Tensor([2])},
    }
    checkpoint.save(state, tmp_path / "all")
    back = checkpoint.load(tmp_path / "all")
    assert list(back) == list(state)
    assert back["net"]["w"].asnumpy().tolist() == [1.5, 2.5]
    assert back["net"]["b"].shape == (0, 3)
    assert (back["acc"], back["epoch"], back["nan"], back[1]) == (93.5, 7, float("inf"), state[1])
    assert isinstance(back[1][3], tuple)
    assert isinstance(back["array"], np.ndarray)
    assert back["scalar"] == 0.25
    assert back["args"] == state["args"]
    assert back["half"].dtype == ms.bfloat16
    assert back["same.name"].asnumpy().tolist() == [1]
    assert back["same"]["name"].asnumpy().tolist() == [2]


def test_streams_work_too():
    stream = io.BytesIO()
    checkpoint.save({"a": ms.Tensor([1.0])}, stream)
    stream.seek(0)
    assert checkpoint.load(stream)["a"].asnumpy().tolist() == [1.0]


def test_other_tools_read_it(tmp_path):
    network = small_network()
    path = tmp_path / "weights.safetensors"
    checkpoint.save(network.state_dict(), path)
    assert set(safetensors.numpy.load_file(path)) == set(network.state_dict())
    assert set(ms.load_checkpoint(str(path), format="safetensors")) == set(network.state_dict())


def test_it_reads_what_other_tools_write(tmp_path):
    network = small_network()
    ms.save_checkpoint(network, str(tmp_path / "a.ckpt"))
    assert set(checkpoint.load(tmp_path / "a.ckpt")) == set(network.state_dict())
    safetensors.numpy.save_file({"x": np.ones(3, np.float32)}, tmp_path / "b.safetensors")
    assert checkpoint.load(tmp_path / "b.safetensors")["x"].asnumpy().tolist() == [1, 1, 1]


def test_what_cannot_be_saved_is_named(tmp_path):
    with pytest.raises(TypeError, match=r"cannot save function.*, at 'f'"):
        checkpoint.save({"f": lambda: 0}, tmp_path / "x")
    assert os.listdir(tmp_path) == []


class WholeNetwork(nn.Cell):
    """Layers of the kinds that hold operators, a parameter, a buffer-like tensor and something of Python's own."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 3, 3, pad_mode="pad", padding=1, has_bias=True)
        self.body = nn.SequentialCell(nn.BatchNorm2d(3), nn.ReLU(), nn.Dropout(p=0.1), nn.MaxPool2d(2, 2))
        self.rnn = nn.LSTM(12, 5, batch_first=True, bidirectional=True)
        self.heads = nn.CellList([nn.Dense(10, 4), nn.Dense(4, 4)])
        self.norm = nn.LayerNorm((4,))
        self.scale = ms.Parameter(ms.Tensor(np.float32([2, 1, 1, 1])))
        self.frozen = nn.Embedding(3, 4)
        self.frozen.embedding_table.requires_grad = False
        self.names = {"a": (1, 2)}

    def construct(self, x):
        x, _ = self.rnn(self.body(self.conv(x)).reshape(2, 4, 12))
        for head in self.heads:
            x = head(x)
        return self.norm(x) * self.scale


def test_a_network_is_kept_whole(tmp_path):
    network = WholeNetwork()
    x = ms.Tensor(np.random.RandomState(0).randn(2, 1, 8, 8).astype(np.float32))
    network.set_train()
    network(x)
    network.set_train(False)
    checkpoint.save({"net": network, "epoch": 3, "words": Words()}, tmp_path / "whole.pt")
    content = checkpoint.load(tmp_path / "whole.pt", weights_only=False)
    again = content["net"]
    assert (again(x).asnumpy() == network(x).asnumpy()).all()
    assert (again.training, again.names, content["epoch"]) == (False, {"a": (1, 2)}, 3)
    assert content["words"].index == {"the": 0}
    assert [p.name for p in again.trainable_params()] == [p.name for p in network.trainable_params()]
    again.conv.weight.set_data(again.conv.weight * 2)
    assert (again(x).asnumpy() != network(x).asnumpy()).any()
    with pytest.raises(checkpoint.CheckpointError, match="weights_only=False"):
        checkpoint.load(tmp_path / "whole.pt", weights_only=True)


class Words:
    """An object of a class of the program."""

    def __init__(self):
        self.index = {"the": 0}


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "net.pth"
    checkpoint.save({"a": 1}, path)

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match="No space"):
        checkpoint.save({"a": 2}, path)
    assert os.listdir(tmp_path) == ["net.pth"]
    assert checkpoint.load(path) == {"a": 1}


def test_damage_is_recognised_everywhere(tmp_path):
    path = tmp_path / "x"
    checkpoint.save({"a": ms.Tensor(np.arange(100, dtype=np.float32)), "n": 3}, path)
    content = path.read_bytes()
    for place in range(0, len(content), 37):
        path.write_bytes(content[:place])
        with pytest.raises(CheckpointError):
            checkpoint.load(path)
    for place in range(int.from_bytes(content[:8], "little") + 8, len(content), 41):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(CheckpointError, match="checksum"):
            checkpoint.load(path)


def test_a_changed_header_is_recognised(tmp_path):
    path = tmp_path / "x"
    checkpoint.save({"lr": 0.125}, path)
    path.write_bytes(path.read_bytes().replace(b"0.125", b"0.625"))
    with pytest.raises(CheckpointError, match="checksum"):
        checkpoint.load(path)


def test_nothing_is_executed(tmp_path):
    (tmp_path / "evil.pth").write_bytes(b"\x80\x02cos\nsystem\n(S'touch x'\ntR.")
    with pytest.raises(CheckpointError, match=r"holds an object of os\.system"):
        checkpoint.load(tmp_path / "evil.pth")
    with pytest.raises(FileNotFoundError):
        checkpoint.load(tmp_path / "nowhere")


def test_weights_that_do_not_fit_are_named(tmp_path):
    network = small_network()
    state = dict(network.state_dict())
    state["0.bias"] = ms.Tensor(np.zeros(9, np.float32))
    state["extra"] = state.pop("1.gamma")
    checkpoint.save(state, tmp_path / "x")
    with pytest.raises(CheckpointError, match=r"missing: 1.gamma .*not in the network: extra .*other shape: 0.bias"):
        checkpoint.load_network(network, tmp_path / "x")


def test_the_store_keeps_the_newest_and_the_best(tmp_path):
    store = CheckpointStore(tmp_path / "run", keep=2)
    assert store.load_latest() is None
    for step in (5, 10, 15, 200):
        store.save({"step": step}, step, is_best=step == 10)
    assert [path.name for path in store.paths()] == [
        "checkpoint-00000200.safetensors",
        "checkpoint-00000015.safetensors",
    ]
    assert checkpoint.load(store.best_path) == {"step": 10}
    newest = store.paths()[0]
    newest.write_bytes(newest.read_bytes()[:-3])
    path, state = store.load_latest()
    assert state == {"step": 15}
    assert path == store.paths()[1]


def test_leftovers_of_killed_writers_are_removed(tmp_path):
    store = CheckpointStore(tmp_path)
    leftover = tmp_path / ".checkpoint-00000001.safetensors.abc.tmp"
    leftover.write_bytes(b"half")
    store.save({}, 2)
    assert not leftover.exists()


def test_the_header_is_plain_json(tmp_path):
    checkpoint.save({"a": ms.Tensor([1.0])}, tmp_path / "x")
    content = (tmp_path / "x").read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    assert header["a"]["dtype"] == "F32"


@pytest.mark.parametrize("kind", ["SGD", "Adam", "AdamW", "Adagrad"])
def test_an_optimizer_that_is_kept_whole_goes_on_with_the_network_beside_it(tmp_path, kind):
    optim = pytest.importorskip("mindspore.experimental.optim")

    def losses(network, optimizer):
        grad_fn = ms.value_and_grad(lambda: (network(ms.ops.ones((4, 3))) ** 2).mean(), None, optimizer.parameters)
        found = []
        for _ in range(3):
            loss, grads = grad_fn()
            optimizer(grads)
            found.append(float(loss.asnumpy()))
        return found

    network = ms.nn.Dense(3, 2)
    optimizer = getattr(optim, kind)(network.trainable_params(), lr=0.05)
    losses(network, optimizer)
    checkpoint.save({"epoch": 1, "model": network, "nets": [network], "optimizer": optimizer}, tmp_path / "state.tar")
    kept = checkpoint.load(tmp_path / "state.tar")
    assert kept["nets"][0] is kept["model"]
    expected = losses(network, optimizer)
    assert losses(kept["model"], kept["optimizer"]) == pytest.approx(expected)
    assert expected[2] != expected[0]


def test_a_network_is_loaded_from_a_file_with_pytorchs_names(tmp_path):
    def build():
        return nn.SequentialCell(nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2), nn.Embedding(3, 2))

    first, second = build(), build()
    first[1].moving_mean.set_data(ops.full((2,), 0.5))
    checkpoint.save(modules.state_dict(first), tmp_path / "best.pth")
    assert "1.running_mean" in checkpoint.load(tmp_path / "best.pth")
    checkpoint.load_network(second, tmp_path / "best.pth")
    for name, value in checkpoint.weights_of(first).items():
        np.testing.assert_array_equal(checkpoint.weights_of(second)[name].asnumpy(), value.asnumpy())
    state = modules.state_dict(first)
    del state["1.weight"]
    checkpoint.save(state, tmp_path / "part.pth")
    with pytest.raises(checkpoint.CheckpointError, match=r"missing: 1\.gamma"):
        checkpoint.load_network(second, tmp_path / "part.pth")
