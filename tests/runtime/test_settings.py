"""Settings of layers that are changed after the layer was made."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from torch2ms.runtime import layers, settings

mindspore = pytest.importorskip("mindspore")
nn, ops = mindspore.nn, mindspore.ops


@pytest.mark.parametrize("made", [nn.BatchNorm2d, layers.BatchNorm2d])
def test_momentum_and_eps_of_a_batch_norm(made: type) -> None:
    layer = made(1).set_train()
    settings.change(layer, "momentum", 0.5)
    settings.change(layer, "eps", 1.0)
    y = layer(ops.arange(4.0).reshape((1, 1, 2, 2)))
    assert layer.moving_mean.asnumpy() == pytest.approx(0.75)
    assert y.asnumpy().max() == pytest.approx(1.5 / np.sqrt(1.25 + 1.0), abs=1e-5)
    assert settings.momentum(layer) == 0.5


def test_a_cumulative_average_stays_one() -> None:
    layer = layers.BatchNorm1d(2, momentum=None)
    assert settings.momentum(layer) is None
    with pytest.raises(NotImplementedError):
        settings.change(layer, "momentum", 0.1)


def test_dropout() -> None:
    layer = nn.Dropout(p=0.5).set_train()
    settings.change(layer, "p", 0.9)
    assert 0.05 < (layer(ops.ones(10000)).asnumpy() > 0).mean() < 0.15
    settings.change(layer, "p", 0.0)
    assert layer(ops.ones(10)).asnumpy().sum() == 10


def test_the_geometry_of_a_convolution() -> None:
    layer = nn.Conv2d(1, 1, 3, pad_mode="pad")
    settings.change(layer, "stride", 2)
    settings.change(layer, "padding", (1, 0))
    assert layer(ops.ones((1, 1, 7, 7))).shape == (1, 1, 4, 3)
    settings.change(layer, "dilation", (2, 2))
    assert layer(ops.ones((1, 1, 7, 7))).shape == (1, 1, 3, 2)


def test_what_is_no_layer_of_mindspores_is_set() -> None:
    class Own(nn.Cell):
        p = 0.5

    own = Own()
    settings.change(own, "p", 0.1)
    assert own.p == 0.1
    with pytest.raises(NotImplementedError, match="stride of AvgPool2d"):
        settings.change(nn.AvgPool2d(2, 2), "stride", 1)


def test_a_layer_that_is_deleted_runs_no_more() -> None:
    net = layers.Sequential(nn.Dense(2, 3))
    net.insert_child_to_cell("pool", nn.Dense(3, 4))
    del net.pool
    assert net(mindspore.Tensor(np.ones((1, 2), np.float32))).shape == (1, 3)


def test_classes_derived_from_the_base_of_batch_norms_are_none_of_mindspores() -> None:
    class Own(layers.families.BatchNorms):
        pass

    own, other = Own(2).set_train(), nn.BatchNorm2d(2)
    assert isinstance(own, layers.families.BatchNorms)
    assert isinstance(other, layers.families.BatchNorms)
    assert not isinstance(other, Own)
    x = ops.arange(8.0).reshape((2, 2, 2))
    assert own(x).asnumpy() == pytest.approx(layers.BatchNorm1d(2).set_train()(x).asnumpy(), abs=1e-6)
    assert own.running_mean.asnumpy() == pytest.approx(0.1 * x.asnumpy().mean((0, 2)))


@pytest.mark.parametrize("layer", [nn.Conv2d(2, 3, 1, has_bias=True), nn.Conv2dTranspose(2, 3, 1, has_bias=True)])
def test_a_layer_may_lose_its_bias(layer: object) -> None:
    settings.change(layer, "bias", None)
    assert layer(ops.zeros((1, 2, 1, 1))).asnumpy() == pytest.approx(0.0)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("layer", "wanted"),
    [
        (lambda: nn.Conv1d(2, 2, 3), (False, (0,))),
        (lambda: nn.Conv2d(2, 2, 3), (False, (0, 0))),
        (lambda: layers.ConvTranspose1d(2, 2, 3, 2, output_padding=1), (True, (1,))),
        (lambda: layers.ConvTranspose2d(2, 2, 3, 2, output_padding=(0, 1)), (True, (0, 1))),
        (lambda: layers.ConvTranspose3d(2, 2, 3, 2, output_padding=1), (True, (1, 1, 1))),
    ],
)
def test_what_blocks_copy_of_their_convolution(layer: Any, wanted: Any) -> None:
    made = layer()
    assert (settings.transposed(made), settings.output_padding(made)) == wanted


def test_a_bare_cell_takes_parts() -> None:
    cell = nn.Cell()
    settings.change(cell, "p", mindspore.Parameter(ops.zeros(3)))
    assert [parameter.name for parameter in cell.get_parameters()] == ["p"]
