"""What is no number, infinite, or close to none: norms, reductions into places, rows with a share, pseudo-inverses."""

from __future__ import annotations

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from torch2ms.runtime import functional, linalg, swa
from torch2ms.runtime.distributions import LowerCholeskyTransform


def test_norms_by_the_largest_keep_what_is_no_number() -> None:
    x = ms.Tensor([[1.0, np.nan], [3.0, -1.0]])
    assert np.isnan(functional.norm(x, np.inf).asnumpy())
    np.testing.assert_array_equal(functional.vector_norm(x, -np.inf, 1).asnumpy(), [np.nan, 1.0])
    assert np.isnan(linalg.matrix_norm(x, 1).asnumpy())
    assert float(functional.norm(ops.abs(x[1]), np.inf)) == 3.0


def test_what_is_no_number_is_the_largest_of_a_place() -> None:
    values, index = ms.Tensor([np.nan, 1.0, 5.0, np.nan, 2.0]), ms.Tensor([0, 2, 2, 2, 1])
    for reduce, last in (("amax", 2.0), ("amin", 0.0)):
        found = functional.index_reduce(ops.zeros(4), 0, index, values, reduce)
        np.testing.assert_array_equal(found.asnumpy(), [np.nan, last, np.nan, 0.0])
    found = functional.scatter_reduce(ops.zeros(2), 0, ms.Tensor([0, 0, 1]), ms.Tensor([1.0, 7.0, -1.0]), "amax")
    assert found.asnumpy().tolist() == [7.0, 0.0]


def test_a_zero_keeps_its_sign_in_rows_whose_gradient_is_shared() -> None:
    weight = ms.Tensor([[-0.0, np.inf], [1.1, 2.3]])
    found = functional.embedding(ms.Tensor([0, 1, 1]), weight, scale_grad_by_freq=True).asnumpy()
    np.testing.assert_array_equal(np.signbit(found[0]), [True, False])
    np.testing.assert_array_equal(found, weight.asnumpy()[[0, 1, 1]])

    def total(w: ms.Tensor) -> ms.Tensor:
        return functional.embedding(ms.Tensor([0, 1, 1]), w, scale_grad_by_freq=True).sum()

    assert ms.grad(total)(ms.Tensor([[1.0], [2.0]])).asnumpy().tolist() == [[1.0], [1.0]]


def test_a_pseudo_inverse_is_as_exact_as_its_matrix_allows() -> None:
    matrix = np.diag([1.0, 2e-3]).astype(np.float32) + 0.5e-3
    found = linalg.pinv(ms.Tensor(matrix)).asnumpy()
    np.testing.assert_allclose(found, np.linalg.pinv(matrix.astype(np.float64)), rtol=1e-4)
    assert np.abs(ms.grad(lambda x: linalg.pinv(x).sum())(ops.ones((2, 3)) + ops.eye(2, 3)).asnumpy()).max() > 0.1


def test_products_into_places_beside_infinity() -> None:
    found = functional.index_reduce(
        ms.Tensor([-1.5, 0.25, 2.0]), 0, ms.Tensor([0, 2]), ms.Tensor([np.inf, 3.0]), "prod"
    ).asnumpy()
    assert found.tolist() == [-np.inf, 0.25, 6.0]


def test_max_pooling_hands_on_what_is_no_number_with_its_place() -> None:
    x = np.array([[0.5, np.nan, -np.inf, -np.inf], [np.nan, 1.0, -np.inf, -np.inf]], np.float32)[None, None]
    values, places = functional.nan_pools.max_pool2d(ms.Tensor(x), 2, return_indices=True)
    np.testing.assert_array_equal(values.asnumpy().ravel(), [np.nan, -np.inf])
    assert places.asnumpy().ravel().tolist() == [4, 2]  # of NaN the last, of equals the first
    values, places = functional.nan_pools.adaptive_max_pool2d(ms.Tensor(x), (1, 2), True)
    np.testing.assert_array_equal(values.asnumpy().ravel(), [np.nan, -np.inf])
    assert places.asnumpy().ravel().tolist() == [4, 2]
    plain = ms.Tensor(np.arange(16).reshape(1, 1, 4, 4), ms.float32)
    found, expected = functional.nan_pools.max_pool2d(plain, 2), functional.max_pool2d(plain, 2)
    assert found.asnumpy().tolist() == expected.asnumpy().tolist()
    drawn = functional.nan_pools.fractional_max_pool2d(plain, 2, 2).asnumpy()
    assert np.isfinite(drawn).all()


def test_a_limit_that_is_no_number_is_handed_on() -> None:
    x, limit = ms.Tensor([1.0, 2.0, np.nan]), ms.Tensor([2.0, np.nan, 1.0])
    np.testing.assert_array_equal(functional.clamp_min(x, limit).asnumpy(), [2.0, np.nan, np.nan])
    np.testing.assert_array_equal(functional.clamp_max(x, limit).asnumpy(), [1.0, np.nan, np.nan])
    assert functional.clamp_min(ms.Tensor([1, 5]), ms.Tensor([3, 3])).asnumpy().tolist() == [3, 5]


def test_norms_of_a_negative_order_beside_zero_have_no_slope() -> None:
    def slope(values: list[float]) -> list[float]:
        found: list[float] = ms.grad(lambda x: functional.norm(x, -2))(ms.Tensor(values)).asnumpy().tolist()
        return found

    assert slope([0.0, 1.0, 2.0]) == [0.0, 0.0, 0.0]
    np.testing.assert_allclose(slope([1.0, 2.0]), [0.715542, 0.0894427], rtol=1e-5)


def test_nuclear_norms_and_complex_numbers() -> None:
    x = ms.Tensor([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_allclose(functional.norm(x, "nuc").asnumpy(), 5.830952, rtol=1e-5)
    assert functional.norm(x[None], "nuc", (1, 2), True).shape == (1, 1, 1)
    a, b = (ms.Tensor(np.array(values, np.complex64)) for values in ([1 + 2j, 3.0, np.inf], [1 + 2.1j, 3.0, np.inf]))
    assert functional.isclose(a, b).asnumpy().tolist() == [False, True, True]
    assert functional.isclose(a, b, 0.1).asnumpy().tolist() == [True, True, True]
    np.testing.assert_allclose(functional.lerp(a[:2], b[:2], 0.5).asnumpy(), [1 + 2.05j, 3.0], rtol=1e-6)
    expected = np.log(np.exp(a.asnumpy()[:2]) + np.exp(b.asnumpy()[:2]))
    np.testing.assert_allclose(functional.nans.logaddexp(a[:2], b[:2]).asnumpy(), expected, rtol=1e-5)
    expected = np.log(np.exp(a.asnumpy()[:2]).sum())
    np.testing.assert_allclose(functional.nans.logsumexp(a[:2], 0).asnumpy(), expected, rtol=1e-5)


def test_what_is_left_over_infinity() -> None:
    x = ms.Tensor([1.0, -2.0, 0.0, np.inf, np.nan])
    np.testing.assert_array_equal(functional.remainder(x, np.inf).asnumpy(), [1.0, np.inf, 0.0, np.nan, np.nan])
    limits = ms.Tensor([-np.inf, -np.inf, np.inf, np.inf, 2.0])
    np.testing.assert_array_equal(functional.remainder(x, limits).asnumpy(), [-np.inf, -2.0, 0.0, np.nan, np.nan])
    np.testing.assert_array_equal(functional.remainder(3, limits[1:3]).asnumpy(), [-np.inf, 3.0])
    assert functional.remainder(x[:2], 1.5).asnumpy().tolist() == [1.0, 1.0]


def test_infinite_matrices_have_exponentials_that_are_no_numbers() -> None:
    x = ms.Tensor([[[0.0, np.inf], [0.0, 0.0]], [[0.0, 1.0], [0.0, 0.0]]])
    found = linalg.matrix_exp(x).asnumpy()
    assert np.isnan(found[0]).all()
    assert found[1].tolist() == [[1.0, 1.0], [0.0, 1.0]]
    assert linalg.matrix_exp(x[:0]).shape == (0, 2, 2)


def test_an_infinite_diagonal_leaves_the_triangle_alone() -> None:
    found = LowerCholeskyTransform()(ms.Tensor([[0.0, 5.0], [2.0, 200.0]]))
    assert found.asnumpy().tolist() == [[1.0, 0.0], [2.0, np.inf]]


def test_an_infinite_mean_of_a_batch_stays_beside_finite_ones() -> None:
    norm = nn.BatchNorm1d(2)
    swa.update_bn([ms.Tensor([[np.inf, 1.0], [0.0, 3.0]]), ms.Tensor([[1.0, 2.0], [3.0, 2.0]])], norm)
    assert norm.moving_mean.asnumpy().tolist() == [np.inf, 2.0]


def test_norms_that_count_are_numbers_beside_what_is_none() -> None:
    x = ms.Tensor([[np.nan, 2.0, 0.0], [1.0, 2.0, 0.0]])
    np.testing.assert_array_equal(functional.nans.normalize(x, 0.0).asnumpy(), [[np.nan, 1.0, 0.0], [0.5, 1.0, 0.0]])
    assert np.isnan(functional.nans.normalize(x).asnumpy()[0]).all()


def test_limits_with_more_axes_than_the_values() -> None:
    values, limit = ms.Tensor([0.5, np.nan]), ms.Tensor([[0.0], [1.0]])
    for clamp in (functional.clamp, functional.nans.clamp):
        np.testing.assert_array_equal(clamp(values, limit).asnumpy(), [[0.5, np.nan], [1.0, np.nan]])
        np.testing.assert_array_equal(clamp(values, max=limit).asnumpy(), [[0.0, np.nan], [0.5, np.nan]])
    np.testing.assert_array_equal(functional.nans.clamp(values, 0.6, 1.0).asnumpy(), np.float32([0.6, np.nan]))


def test_complex_factors_keep_both_parts() -> None:
    one = ms.Tensor(np.array([1 + 1j], np.complex64))
    assert functional.add(one, one, alpha=2j).asnumpy().tolist() == [-1 + 3j]
    assert functional.sub(one, one, alpha=1j).asnumpy().tolist() == [2 + 0j]


def test_bags_end_with_the_indices_where_a_place_is_left_out() -> None:
    table, places, starts = ms.tensor([[0.0], [1.0], [2.0], [3.0]]), ms.tensor([0, 1, 2, 3]), ms.tensor([0, 3, 3])
    options = {"mode": "sum", "include_last_offset": True}
    assert functional.embedding_bag(places, table, starts, padding_idx=1, **options).asnumpy().tolist() == [
        [2.0],
        [3.0],
    ]
    assert functional.embedding_bag(places, table, starts, **options).asnumpy().tolist() == [[3.0], [0.0]]


def test_the_slope_of_the_power_0_is_0() -> None:
    x = ms.Tensor([0.0, 2.0])
    assert ms.grad(lambda a: functional.power(a, 0).sum())(x).asnumpy().tolist() == [0.0, 0.0]
    assert functional.power(x, 0).asnumpy().tolist() == [1.0, 1.0]
    assert ms.grad(lambda a: functional.power(a, 2).sum())(x).asnumpy().tolist() == [0.0, 4.0]


def test_the_nuclear_norm_of_nothing_is_zero() -> None:
    for shape in ((3, 0), (0, 3), (2, 3, 0)):
        none = ms.Tensor(np.zeros(shape, np.float32))
        assert functional.norm(none, "nuc", (-2, -1)).asnumpy().tolist() == np.zeros(shape[:-2]).tolist()
