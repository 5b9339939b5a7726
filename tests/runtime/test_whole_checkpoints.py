"""Ten steps in PyTorch, ten in MindSpore from its checkpoint, ten more in PyTorch from the converted one: one run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
import pytest
import torch

from torch2ms.runtime import checkpoint, modules, optim, optimizers, weights
from torch2ms.runtime.weight_files import WeightsError

STEPS = 10
X = np.random.default_rng(0).normal(size=(3 * STEPS, 8, 2, 7)).astype(np.float32)
Y = np.random.default_rng(1).integers(0, 3, (3 * STEPS, 8))
RULES: dict[str, dict[str, Any]] = {
    "mindspore.nn.Conv1d": {"state": "same", "reshape": {"weight": "conv1d"}},
    "mindspore.nn.Dense": {"state": "same", "reshape": {}},
    "mindspore.nn.BatchNorm1d": {
        "state": {"weight": "gamma", "bias": "beta", "running_mean": "moving_mean", "running_var": "moving_variance"},
        "reshape": {},
    },
}
OPTIMIZERS: dict[str, dict[str, Any]] = {
    "Adam": {"lr": 0.01, "weight_decay": 0.01},
    "AdamW": {"lr": 0.01, "amsgrad": True},
    "SGD": {"lr": 0.05, "momentum": 0.9, "nesterov": True},
}


def torch_pair(name: str) -> tuple[torch.nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(0)
    layers = torch.nn.Conv1d(2, 4, 3), torch.nn.Flatten(), torch.nn.Linear(20, 5), torch.nn.BatchNorm1d(5)
    model = torch.nn.Sequential(*layers, torch.nn.Tanh(), torch.nn.Linear(5, 3))
    return model, getattr(torch.optim, name)(model.parameters(), **OPTIMIZERS[name])


def train_torch(model: torch.nn.Module, optimizer: torch.optim.Optimizer, steps: range) -> list[float]:
    losses = []
    for step in steps:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(torch.tensor(X[step])), torch.tensor(Y[step]))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


class Net(ms.nn.SequentialCell):
    def __init__(self) -> None:
        layers = ms.nn.Conv1d(2, 4, 3, pad_mode="valid", has_bias=True), ms.nn.Flatten(), ms.nn.Dense(20, 5)
        super().__init__(*layers, ms.nn.BatchNorm1d(5, momentum=0.9), ms.nn.Tanh(), ms.nn.Dense(5, 3))


def train_mindspore(source: Path, destination: Path, name: str, steps: range) -> list[float]:
    model = Net().set_train()
    optimizer = getattr(optimizers, name)(model.trainable_params(), lr=0.5)
    saved = checkpoint.load(source)
    modules.load_state_dict(model, saved["model"])
    optim.load_state_dict(optimizer, saved["optimizer"])
    grad = ms.value_and_grad(lambda x, y: ms.ops.cross_entropy(model(x), y), None, model.trainable_params())
    losses = []
    for step in steps:
        loss, grads = grad(ms.Tensor(X[step]), ms.Tensor(Y[step].astype(np.int32)))
        optimizer(grads)
        losses.append(float(loss.asnumpy()))
    state = {"model": modules.saved_state(model), "optimizer": optim.state_dict(optimizer), "epoch": saved["epoch"]}
    checkpoint.save(state, destination)
    return losses


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_goes_to_mindspore_and_back(name: str, tmp_path: Path) -> None:
    expected = train_torch(*torch_pair(name), range(3 * STEPS))
    model, optimizer = torch_pair(name)
    losses = train_torch(model, optimizer, range(STEPS))
    saved = {"epoch": 3, "model": model.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(saved, tmp_path / "one.pth")

    losses += train_mindspore(tmp_path / "one.pth", tmp_path / "two.pth", name, range(STEPS, 2 * STEPS))
    weights.convert(tmp_path / "two.pth", tmp_path / "three.pth", Net(), RULES, reverse=True, whole=True)

    model, optimizer = torch_pair(name)
    found = torch.load(tmp_path / "three.pth", weights_only=True)
    assert list(found) == ["model", "optimizer", "epoch"]
    model.load_state_dict(found["model"], strict=True)
    optimizer.load_state_dict(found["optimizer"])
    losses += train_torch(model, optimizer, range(2 * STEPS, 3 * STEPS))
    np.testing.assert_allclose(losses, expected, rtol=2e-5)
    assert expected[STEPS] != pytest.approx(expected[0], rel=1e-2)


def test_a_whole_checkpoint_goes_one_way_alone(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="translated programs read PyTorch's as they are"):
        weights.convert(tmp_path / "a.pth", tmp_path / "b.ckpt", Net(), RULES, whole=True)
