"""Parameters in the place of others: under MindSpore's name, with the path of the old one."""

from __future__ import annotations

import mindspore as ms
import numpy as np
import pytest
from mindspore import nn, ops

from torch2ms.runtime import layers, modules, parts, swa


class _Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(2)
        self.fc = nn.Dense(2, 2, has_bias=False)
        self.other = nn.Dense(2, 2)
        self.table = layers.Embedding(3, 2)


@pytest.mark.parametrize(
    ("part", "name", "path"),
    [("norm", "weight", "norm.gamma"), ("norm", "bias", "norm.beta"), ("table", "weight", "table.embedding_table"),
     ("other", "bias", "other.bias"), ("fc", "weight", "fc.weight"), ("fc", "bias", "fc.bias")],
)  # fmt: skip
def test_the_layer_has_it_under_the_path_of_the_old_one(part: str, name: str, path: str) -> None:
    net = _Net()
    made = ms.Parameter(ops.ones((3, 2) if part == "table" else (2,)))
    parts.set_parameter(getattr(net, part), name, made)
    assert dict(net.parameters_and_names())[path] is made
    assert made.name == path


def test_a_layer_without_a_bias_computes_with_the_one_it_gets() -> None:
    layer = nn.Dense(2, 2, has_bias=False)
    x = ms.Tensor(np.ones((1, 2), np.float32))
    before = layer(x).asnumpy()
    parts.set_parameter(layer, "bias", ms.Parameter(ms.Tensor(np.array([1, 2], np.float32))))
    np.testing.assert_allclose(layer(x).asnumpy(), before + np.array([1, 2]), rtol=1e-6)


def test_what_is_no_layer_just_gets_it() -> None:
    class Plain:
        weight = None

    holder = Plain()
    made = ms.Parameter(ops.ones(2))
    parts.set_parameter(holder, "weight", made)
    assert holder.weight is made


def test_averages_of_counts_are_written_as_integers() -> None:
    """PyTorch's AveragedModel with use_buffers gives 1 for the counts 1, 2, 3: each mean is cut off as it is stored."""
    network = nn.SequentialCell([nn.Dense(2, 2)])
    modules.register_buffer(network, "seen", ms.Tensor(0, ms.int64))
    average = swa.AveragedModel(network, use_buffers=True)
    for count in (1, 2, 3):
        modules.write_into(network.seen, ms.Tensor(count, ms.int64))
        average.update_parameters(network)
    assert (int(average.module.seen), int(average.n_averaged)) == (1, 3)


def test_statistics_of_another_size() -> None:
    norm = ms.nn.BatchNorm2d(4)
    parts.set_statistic(norm, "running_mean", ms.Tensor([1.0, 2.0]))
    assert isinstance(norm.moving_mean, ms.Parameter)
    assert norm.moving_mean.asnumpy().tolist() == [1.0, 2.0]
    deep = layers.BatchNorm3d(2)
    parts.set_statistic(deep, "running_var", ms.Tensor([3.0, 4.0]))
    assert deep.bn2d.moving_variance.asnumpy().tolist() == [3.0, 4.0]
    other = ms.nn.Dense(2, 2)
    parts.set_statistic(other, "running_mean", 5)
    assert other.running_mean == 5
