"""Cells: what those of one's own are derived from, and those under torch's own name."""

from __future__ import annotations

import mindspore as ms
import numpy as np
import pytest
from mindspore import ops

from torch2ms.runtime import aten, functional
from torch2ms.runtime.layers import RNNCellBase


class Own(RNNCellBase):
    def __init__(self, inputs: int, hidden: int, bias: bool = True) -> None:
        super().__init__(inputs, hidden, bias, num_chunks=2)

    def construct(self, x: ms.Tensor, h: ms.Tensor) -> ms.Tensor:
        total = ops.matmul(x, self.weight_ih.T) + ops.matmul(h, self.weight_hh.T)
        return total if self.bias_ih is None else total + self.bias_ih + self.bias_hh


@pytest.mark.parametrize("bias", [True, False])
def test_weights_have_pytorchs_names_shapes_and_range(bias: bool) -> None:
    cell = Own(50, 25, bias)
    shapes = {name: value.shape for name, value in cell.parameters_dict().items()}
    expected = {"weight_ih": (50, 50), "weight_hh": (50, 25)}
    assert shapes == ({**expected, "bias_ih": (50,), "bias_hh": (50,)} if bias else expected)
    values = np.concatenate([value.asnumpy().ravel() for value in cell.parameters_dict().values()])
    assert 0.19 < np.abs(values).max() <= 0.2
    assert abs(values.mean()) < 0.01
    assert cell(ops.ones((2, 50)), ops.ones((2, 25))).shape == (2, 50)


def test_products_over_no_columns_are_zero() -> None:
    none, weight, bias = ops.zeros((2, 0)), ops.zeros((3, 0)), ms.tensor([1.0, 2.0, 3.0])
    ops.ones((2, 3))  # what memory may hold
    assert functional.linear(none, weight, bias).asnumpy().tolist() == [[1.0, 2.0, 3.0]] * 2
    assert functional.linear(none[0], weight).asnumpy().tolist() == [0.0] * 3
    state = ops.zeros((2, 3))
    assert aten.rnn_tanh_cell(none, state, weight, ops.ones((3, 3))).asnumpy().tolist() == [[0.0] * 3] * 2
    found = ms.grad(lambda b: functional.linear(none, weight, b).sum())(bias)
    assert found.asnumpy().tolist() == [2.0] * 3
