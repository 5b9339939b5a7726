"""States of what may be a network, an optimizer, a schedule or an object of the program's own."""

from __future__ import annotations

from typing import Any

import mindspore as ms
import numpy as np
import pytest
from mindspore import nn
from mindspore.experimental import optim

from torch2ms.runtime import modules, states


def network() -> nn.SequentialCell:
    return nn.SequentialCell(nn.Dense(2, 2), nn.BatchNorm1d(2))


def test_a_network_has_the_names_of_pytorch() -> None:
    net, other = network(), network()
    found = states.state_dict(net)
    assert list(found)[2:] == ["1.weight", "1.bias", "1.running_mean", "1.running_var", "1.num_batches_tracked"]
    states.load_state_dict(other, found)
    np.testing.assert_array_equal(other[0].weight.asnumpy(), net[0].weight.asnumpy())


def test_buffers_come_as_they_were_registered() -> None:
    cell = nn.Cell()
    cell.register_buffer("mean", ms.Tensor([0.0]))
    modules.register_buffer(cell, "count", ms.Tensor(0))
    cell.register_buffer("scale", ms.Tensor([1.0]))
    modules.register_buffer(cell, "late", None)
    cell.late = ms.Tensor([2.0])
    modules.register_buffer(cell, "age", ms.Tensor(0))
    assert list(modules.state_dict(cell)) == ["mean", "count", "scale", "late", "age"]
    assert [name for name, _ in modules.named_buffers(cell)] == ["mean", "count", "scale", "late", "age"]


def test_the_names_of_layers_are_not_those_of_networks() -> None:
    class Scaled(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.gamma = ms.Parameter(ms.Tensor([1.0]))
            self.in_channels = 3

    slope = nn.PReLU()
    assert modules.weight(slope) is slope.w
    assert not modules.has(Scaled(), "weight")
    assert not modules.has(Scaled(), "in_features")
    assert modules.get(nn.Dense(2, 3), "in_features") == 2
    assert not modules.has(nn.Conv2d(2, 3, 1), "in_features")
    assert modules.get_parameter(nn.SequentialCell(slope), "0.weight") is slope.w
    volume = nn.BatchNorm3d(2)
    assert modules.weight(volume) is volume.bn2d.gamma


def test_optimizers_and_schedules() -> None:
    optimizer = optim.SGD(network().trainable_params(), lr=0.1, momentum=0.9)
    schedule = optim.lr_scheduler.StepLR(optimizer, 2)
    kept, place = states.state_dict(optimizer), states.state_dict(schedule)
    for _ in range(3):
        schedule.step()
    states.load_state_dict(schedule, place)
    states.load_state_dict(optimizer, kept)
    assert int(schedule.last_epoch) == 0
    assert abs(float(optimizer.param_groups[0]["lr"]) - 0.1) < 1e-6


def test_what_has_methods_of_its_own_is_asked() -> None:
    class Average(nn.Cell):
        def __init__(self, module: nn.Cell) -> None:
            super().__init__()
            self.module = module

        def state_dict(self) -> Any:
            return states.state_dict(self.module)

        def load_state_dict(self, state: Any) -> None:
            states.load_state_dict(self.module, state)

    class Counter:
        count = 1

        def state_dict(self) -> int:
            return self.count

        def load_state_dict(self, state: int) -> None:
            self.count = state

    average, counter, other = Average(network()), Counter(), network()
    assert next(iter(states.state_dict(average))) == "0.weight"
    states.load_state_dict(average, states.state_dict(other))
    np.testing.assert_array_equal(average.module[0].weight.asnumpy(), other[0].weight.asnumpy())
    states.load_state_dict(counter, states.state_dict(counter) + 1)
    assert counter.count == 2


@pytest.mark.parametrize(("first", "wider"), [([True, False], ms.int64), ([1, 2], ms.float32)])
def test_a_buffer_takes_what_it_is_bound_to(first: Any, wider: Any) -> None:
    cell = nn.Cell()
    buffer = modules.register_buffer(cell, "held", ms.Tensor(first))
    cell.held = ms.Tensor([3, 4], wider) * 1
    assert cell.held is buffer
    assert buffer.dtype == wider
    assert cell.held.asnumpy().tolist() == [3, 4]


def test_a_buffer_of_floats_keeps_its_dtype() -> None:
    cell = nn.Cell()
    modules.register_buffer(cell, "held", ms.Tensor([1.0, 2.0]))
    cell.held = ms.Tensor([3, 4])
    assert cell.held.dtype == ms.float32
