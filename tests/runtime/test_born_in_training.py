"""Layers that stand in for PyTorch's classes are born in train mode, as PyTorch's are."""

from __future__ import annotations

import pytest

ms = pytest.importorskip("mindspore")

from mindspore import nn  # noqa: E402

from torch2ms.runtime import layers  # noqa: E402


@pytest.mark.parametrize("made", ["BatchNorm1d(3)", "Dropout(0.5)", "RReLU()", "AlphaDropout(0.5)", "LSTM(2, 3)"])
def test_a_layer_trains_at_first(made: str) -> None:
    layer = eval(f"layers.{made}", {"layers": layers})
    assert layer.training
    assert not layer.set_train(False).training


def test_parts_of_a_layer_train_too() -> None:
    layer = layers.TransformerEncoderLayer(4, 2, 8, 0.5)
    assert all(cell.training for _, cell in layer.cells_and_names())


def test_a_container_leaves_its_layers_as_they_are() -> None:
    norm = nn.BatchNorm1d(3).set_train(False)
    assert not layers.Sequential(norm)[0].training
