"""Shapes and dtypes that few programs have: numbers without axes, complex numbers, limits that are broadcast."""

from __future__ import annotations

import mindspore as ms
import numpy as np
from mindspore import ops

from torch2ms.runtime import functional


def test_numbers_alone_have_places_too() -> None:
    one, places = ms.tensor(2.0), ms.tensor([0])
    for made, wanted in (
        (functional.index_fill(one, 0, places, 5.0), 5.0),
        (functional.index_copy(one, 0, places, ms.tensor(7.0)), 7.0),
        (functional.scatter(one, 0, ms.tensor(0), ms.tensor(8.0)), 8.0),
        (functional.scatter_reduce(one, 0, ms.tensor(0), ms.tensor(8.0), "mean"), 5.0),
        (functional.index_reduce(one, 0, places, ms.tensor(8.0), "amax"), 8.0),
        (functional.gather(one, 0, ms.tensor(0)), 2.0),
    ):
        assert made.shape == ()
        assert float(made) == wanted
    assert functional.unfold_dimension(one, 0, 1, 1).asnumpy().tolist() == [2.0]
    assert functional.gather(one, 0, ms.tensor([0, 0])).asnumpy().tolist() == [2.0, 2.0]


def test_complex_numbers_are_written_part_by_part() -> None:
    zeros, places = ms.Tensor([0j, 0j], ms.complex64), ms.tensor([1, 1])
    source = ms.Tensor([1 + 2j, 3 - 1j], ms.complex64)
    assert functional.index_add(zeros, 0, places, source).asnumpy().tolist() == [0j, 4 + 1j]
    assert functional.index_copy(zeros, 0, ms.tensor([1, 0]), source).asnumpy().tolist() == [3 - 1j, 1 + 2j]
    assert functional.index_fill(zeros, 0, ms.tensor([1]), 2j).asnumpy().tolist() == [0j, 2j]


def test_limits_that_are_tensors_widen_the_values() -> None:
    column, row = ms.tensor([[1.0], [3.0]]), ms.tensor([2.0, 0.0])
    assert functional.clamp_min(column, row).asnumpy().tolist() == [[2.0, 1.0], [3.0, 3.0]]
    assert functional.clamp_max(column, row).asnumpy().tolist() == [[1.0, 0.0], [2.0, 0.0]]
    flags = functional.clamp_max(ms.tensor([True, False]), ms.tensor([False, True]))
    assert flags.asnumpy().tolist() == [False, False]


def test_complex_numbers_of_parts_of_different_shapes() -> None:
    made = functional.polar(ms.tensor([[1.0], [2.0]]), ms.tensor([0.0, np.pi]))
    assert np.allclose(made.asnumpy(), [[1, -1], [2, -2]], atol=1e-6)
    made = functional.complex(ms.tensor([[1.0], [2.0]]), ms.tensor([3.0, 4.0]))
    assert made.asnumpy().tolist() == [[1 + 3j, 1 + 4j], [2 + 3j, 2 + 4j]]


def test_an_axis_of_one_place_is_contracted_with_many() -> None:
    a, b = ops.ones((1, 2)), ms.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert functional.tensordot(a, b, dims=([0, 1], [0, 1])).asnumpy().tolist() == 10.0


def test_fill_leaves_what_it_is_given() -> None:
    tensor = ms.tensor([1.0, 2.0])
    assert functional.fill(tensor, 5).asnumpy().tolist() == [5.0, 5.0]
    assert tensor.asnumpy().tolist() == [1.0, 2.0]
