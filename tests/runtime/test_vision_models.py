"""Classifiers asked for by name: their size, their parts by torchvision's names, and where trained weights are."""

from __future__ import annotations

from collections import OrderedDict

import mindspore as ms
import numpy as np
import pytest

from torch2ms.runtime import vision_models


def size(network: ms.nn.Cell) -> int:
    return sum(weight.size for weight in network.trainable_params())


@pytest.mark.parametrize(
    ("name", "weights"), [("resnet18", 11_689_512), ("resnet50", 25_557_032), ("resnext50_32x4d", 25_028_904)]
)
def test_sizes_are_those_of_the_papers_code(name: str, weights: int) -> None:
    assert size(vision_models.MODELS[name]()) == weights


def test_parts_have_the_usual_names_and_can_be_replaced() -> None:
    network = vision_models.resnet18(num_classes=5)
    assert network.training
    assert network.fc.in_features == 512
    network.fc = ms.nn.Dense(network.fc.in_features, 2)
    network.conv1 = ms.nn.Conv2d(1, 64, 7, 2, pad_mode="pad", padding=3)
    assert network(ms.Tensor(np.zeros((2, 1, 32, 32), np.float32))).shape == (2, 2)
    names = {weight.name for weight in network.get_parameters()}
    assert {"layer2.0.downsample.0.weight", "layer4.1.bn2.moving_mean"} <= names


@pytest.mark.parametrize(("name", "last"), [("resnet18", "bn2"), ("resnet50", "bn3")])
def test_blocks_may_start_as_their_shortcuts(name: str, last: str) -> None:
    network = vision_models.MODELS[name](zero_init_residual=True)
    assert not getattr(network.layer3[0], last).gamma.asnumpy().any()
    assert network.layer3[0].bn1.gamma.asnumpy().all()


def test_plain_networks() -> None:
    network = vision_models.VGG((8, 0, 512, 0), True, num_classes=3)
    assert network(ms.Tensor(np.zeros((1, 3, 16, 16), np.float32))).shape == (1, 3)
    assert [type(cell).__name__ for cell in network.features][:4] == ["Conv2d", "BatchNorm2d", "ReLU", "MaxPool2d"]


def test_trained_weights_are_read_not_downloaded(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("TORCH2MS_WEIGHTS", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"resnet18\.ckpt"):
        vision_models.resnet18(pretrained=True)
    network = vision_models.resnet18(num_classes=2)
    ms.save_checkpoint(network, str(tmp_path / "resnet18.ckpt"))
    again = vision_models.resnet18(weights=vision_models.TRAINED, num_classes=2)
    assert np.array_equal(again.fc.weight.asnumpy(), network.fc.weight.asnumpy())


def test_the_outputs_of_some_children() -> None:
    network = ms.nn.SequentialCell(
        OrderedDict(a=ms.nn.Dense(3, 4), b=ms.nn.ReLU(), c=ms.nn.Dense(4, 2), d=ms.nn.Dense(2, 2))
    )
    stages = vision_models.IntermediateLayerGetter(network, {"a": "first", "c": 2})
    x = ms.Tensor(np.ones((2, 3), np.float32))
    found = stages(x)
    assert list(found) == ["first", 2]
    assert found["first"].shape == (2, 4)
    assert np.array_equal(found[2].asnumpy(), network.c(network.b(network.a(x))).asnumpy())
    assert {weight.name for weight in stages.trainable_params()} == {"a.weight", "a.bias", "c.weight", "c.bias"}
    with pytest.raises(ValueError, match="not present in model: e"):
        vision_models.IntermediateLayerGetter(network, {"e": 1})
