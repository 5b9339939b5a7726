"""Weights keep the memory that an optimizer has begun with, whatever changes them, views of them included."""

from __future__ import annotations

from collections.abc import Callable

import mindspore as ms
import numpy as np
import pytest
from mindspore import ops
from mindspore.common.api import _pynative_executor
from mindspore.experimental import optim

from torch2ms.runtime import initializers, modules, weight_data

CHANGES: dict[str, Callable[[ms.Parameter], object]] = {
    "a mask": lambda p: weight_data.put_at(p, p > -9, 1.0),
    "a list": lambda p: weight_data.put_at(p, [0, 1], 1.0),
    "all of it": lambda p: weight_data.put_at(p, ..., 1.0),
    "other data": lambda p: weight_data.put(p, ops.ones((2, 3))),
    "another name": lambda p: ops.stop_gradient(p).copy_(ops.ones((2, 3))),
    "an initializer": lambda p: initializers.ones_(p),
    "an initializer of another name": lambda p: initializers.ones_(ops.stop_gradient(p)),
    "an initializer of a view": lambda p: initializers.ones_(p.view(-1)),
    "an initializer of a transposed view": lambda p: initializers.ones_(ops.t(ops.stop_gradient(p))),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_training_goes_on_and_assign_takes_the_weight(change: Callable[[ms.Parameter], object]) -> None:
    weight = ms.Parameter(ms.Tensor(np.zeros((2, 3), np.float32)), name="weight")
    optimizer = optim.SGD([weight], lr=1.0)
    gradient = ms.value_and_grad(lambda: weight.sum(), None, optimizer.parameters)

    def step() -> None:
        optimizer(gradient()[1])

    step()
    for _ in range(2):
        change(weight)
        assert weight.asnumpy().sum() == 6
        step()
        assert weight.asnumpy().sum() == 0
        ops.assign(weight, ops.ones((2, 3)) * 2)
        assert weight.asnumpy().sum() == 12
        step()
        assert weight.asnumpy().sum() == 6


def test_what_a_slice_filled_is_written_all_the_same() -> None:
    weight = ms.Parameter(ms.Tensor(np.zeros((2, 3), np.float32)))
    weight[:] = ops.ones((2, 3))
    modules.write_into(weight, ops.ones((2, 3)) * 2)
    assert weight.asnumpy().sum() == 12


def test_elements_of_what_is_no_parameter_are_assigned() -> None:
    values = np.zeros(3)
    weight_data.put_at(values, values == 0, 2)
    assert values.tolist() == [2, 2, 2]
    tensor = ms.Tensor(np.zeros(3, np.float32))
    weight_data.put_at(tensor, [1], 2)
    assert tensor.asnumpy().tolist() == [0, 2, 0]


def test_initializers_fill_parts() -> None:
    bias = ms.Parameter(ms.Tensor(np.zeros(8, np.float32)))
    initializers.ones_(bias[2:4])
    initializers.constant_(ops.stop_gradient(bias)[6:], 2.0)
    for part in ops.stop_gradient(bias).chunk(4)[:1]:
        initializers.constant_(part, 3.0)
    assert bias.asnumpy().tolist() == [3, 3, 1, 1, 0, 0, 2, 2]


def test_initializers_fill_tensors_after_an_error_in_a_gradient_function() -> None:
    def fails(x: ms.Tensor) -> ms.Tensor:
        raise ValueError("no gradient")

    with pytest.raises(ValueError, match="no gradient"):
        ms.grad(fails)(ops.ones((2,)))
    made, number = ops.zeros((3, 4)), ms.Tensor(1.0)
    try:
        initializers.eye_(made)
        initializers.zeros_(number)
    finally:
        _pynative_executor.clear_res()  # for the tests that follow in this process
    assert made.asnumpy().sum() == 3
    assert number.asnumpy() == 0
