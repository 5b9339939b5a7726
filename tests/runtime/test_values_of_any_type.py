"""Functions of the runtime that take what is not known to be a tensor, and bases that programs make directly."""

from __future__ import annotations

from typing import Any

import mindspore as ms
import numpy as np
import pytest
from mindspore import nn, ops

from torch2ms.runtime import derivatives, functional
from torch2ms.runtime.distributions import Distribution
from torch2ms.runtime.layers.families import Recurrents


@pytest.mark.parametrize(
    "index",
    [np.int64(1), np.array([0, 2]), np.array([True, False, True]), [np.int64(2), 0], slice(np.int64(1), None),
     slice(None, np.int32(2)), (np.int64(1), slice(np.int64(1))), 1, slice(None), None, ...],
)  # fmt: skip
def test_an_index_of_numpy_reads_what_it_reads_of_an_array(index: Any) -> None:
    array = np.arange(12.0, dtype=np.float32).reshape(3, 4)
    found = ms.Tensor(array)[functional.as_index(index)]
    assert np.array_equal(found.asnumpy(), array[index])


def test_numel_of_tensors_and_sizes() -> None:
    assert functional.numel(ops.ones((2, 3))) == functional.numel((2, 3)) == 6
    assert functional.numel(()) == 1


def test_ints_become_floats() -> None:
    assert isinstance(functional.float_of_int(2), float)
    assert isinstance(functional.float_of_int(True), float)
    tensor = ops.ones(2)
    assert functional.float_of_int(tensor) is tensor


def test_vmap_of_trees() -> None:
    given = {"a": ms.Tensor([[1.0, 2.0], [3.0, 4.0]]), "b": (ms.Tensor([1.0, -1.0]),)}
    found = derivatives.vmap(lambda part, scale: {"sum": part["a"].sum() * scale, "b": part["b"]}, (0, None))(given, 2)
    assert found["sum"].tolist() == [6.0, 14.0]
    assert found["b"][0].tolist() == [1.0, -1.0]
    columns = derivatives.vmap(lambda part: part["a"], ({"a": 1},), out_dims=1)({"a": given["a"]})
    assert columns.tolist() == given["a"].tolist()


@pytest.mark.parametrize(("mode", "kind"), [("LSTM", nn.LSTM), ("GRU", nn.GRU), ("RNN_RELU", nn.RNN)])
def test_the_base_of_recurrent_layers_makes_one(mode: str, kind: type) -> None:
    layer = Recurrents(mode, 3, 4, 1, True, batch_first=True)
    assert isinstance(layer, kind)
    assert layer(ops.ones((2, 5, 3)))[0].shape == (2, 5, 4)
    with pytest.raises(KeyError):
        Recurrents("CNN", 3, 4)


def test_the_base_of_distributions_holds_its_shapes() -> None:
    plain = Distribution((2,), (3,), validate_args=False)
    assert (plain.batch_shape, plain.event_shape) == ((2,), (3,))
