"""Cells: what those of one's own are derived from, and those under torch's own name."""

from __future__ import annotations

import mindspore as ms
import numpy as np
import pytest
from mindspore import ops

from torch2ms.runtime import aten, functional
from torch2ms.runtime.layers import GRUCell, LSTMCell, RNNCell, RNNCellBase, exact


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


@pytest.mark.parametrize("make", [GRUCell, RNNCell])
def test_cells_take_one_sample(make: type) -> None:
    cell, x, h = make(4, 3), ops.randn(4), ops.randn(3)
    np.testing.assert_array_equal(cell(x, h).asnumpy(), cell(x[None], h[None]).asnumpy()[0])
    np.testing.assert_array_equal(cell(x).asnumpy(), cell(x[None]).asnumpy()[0])
    assert ms.grad(lambda x: cell(x, h).sum())(x).shape == (4,)


def test_an_lstm_cell_takes_one_sample() -> None:
    cell, x, h = LSTMCell(4, 3), ops.randn(4), ops.randn(3)
    one, batch = cell(x, (h, 2 * h)), cell(x[None], (h[None], 2 * h[None]))
    for found, expected in zip(one, batch, strict=True):
        np.testing.assert_array_equal(found.asnumpy(), expected.asnumpy()[0])
    assert [part.shape for part in cell(x)] == [(3,), (3,)]


def test_networks_of_rectified_units_keep_what_is_no_number() -> None:
    plain = exact.RNN(4, 3, 1, nonlinearity="relu")
    x = np.random.default_rng(0).standard_normal((5, 2, 4)).astype(np.float32)
    assert np.isfinite(plain(ms.Tensor(x))[0].asnumpy()).all()
    x[2, 1] = np.nan
    found = plain(ms.Tensor(x))[0].asnumpy()
    assert np.isnan(found[2:, 1]).all()
    assert np.isfinite(found[:, 0]).all()
    assert np.isnan(RNNCell(4, 3, nonlinearity="relu")(ms.Tensor(x[2])).asnumpy()[1]).all()


def test_the_convolution_over_time_multiplies_nothing_that_is_added_around() -> None:
    random = np.random.default_rng(0)
    x, w, b = (random.standard_normal(shape).astype(np.float32) for shape in ((6, 2, 3), (3, 3, 4), (4,)))
    for pad in (0, 1, 2):
        around = np.pad(x, ((pad, pad), (0, 0), (0, 0)))
        expected = sum(around[tap : tap + len(around) - 2] @ w[tap] for tap in range(3)) + b
        np.testing.assert_allclose(aten.conv_tbc(*map(ms.Tensor, (x, w, b)), pad).asnumpy(), expected, atol=1e-5)
    w[0] = np.inf
    assert np.isfinite(aten.conv_tbc(*map(ms.Tensor, (x, w, b)), 1).asnumpy()[0]).all()
