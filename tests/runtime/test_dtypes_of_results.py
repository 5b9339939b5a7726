"""Results have the dtype that PyTorch gives them, also where the arguments have several."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

ms = pytest.importorskip("mindspore")

from mindspore import ops  # noqa: E402

from torch2ms.runtime import aten, boxes, functional, layers, linalg, seed, twice  # noqa: E402
from torch2ms.runtime.distributions import Exponential, HalfCauchy, Normal, transforms  # noqa: E402

ROW = np.array([[1.0, 2.0, -3.0, 4.0]], np.float32)


def _of(values: Any, dtype: Any = ms.float32) -> Any:
    return ms.Tensor(values, dtype)


@pytest.mark.parametrize("weight", [ms.float16, ms.float32, ms.float64])
@pytest.mark.parametrize("dtype", [ms.float16, ms.float32, ms.float64])
def test_rms_norm_has_that_of_the_input(dtype: Any, weight: Any) -> None:
    found = functional.rms_norm(_of(ROW, dtype), (4,), ops.ones(4, dtype=weight))
    assert found.dtype == dtype
    assert np.allclose(found.asnumpy(), ROW / np.sqrt(7.5), atol=1e-3)


def test_rms_norm_squares_halves_in_float32() -> None:
    assert np.isfinite(layers.RMSNorm(4)(_of(ROW * 300, ms.float16)).asnumpy()).all()


def test_rms_norm_takes_the_epsilon_of_the_dtype() -> None:
    tiny = functional.rms_norm(_of(ROW * 1e-6, ms.float64), (4,))
    assert np.allclose(tiny.asnumpy(), ROW / np.sqrt(7.5), atol=1e-3)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_huber_loss_has_that_of_the_input(reduction: str) -> None:
    assert layers.HuberLoss(reduction)(_of(ROW), _of(ROW * 2, ms.float64)).dtype == ms.float32
    assert functional.huber_loss(_of(ROW, ms.float64), _of(ROW * 2), reduction).dtype == ms.float64


def test_a_convolution_takes_the_bias_as_the_input_is() -> None:
    found = aten.conv_tbc(ops.ones((3, 1, 2)), ops.ones((1, 2, 1)), ops.ones(1, dtype=ms.float64))
    assert found.dtype == ms.float32


def test_small_ints_stay_small() -> None:
    ints = ops.ones((2, 3, 3), dtype=ms.int32)
    assert functional.addbmm(ints[0], ints, ints).dtype == ms.int32


def test_a_norm_of_halves() -> None:
    assert layers.RMSNorm(4, dtype=ms.float16).weight.dtype == ms.float16


def test_an_embedding_of_doubles() -> None:
    assert layers.Embedding(3, 2, padding_idx=1, dtype=ms.float64).embedding_table.dtype == ms.float64
    assert layers.EmbeddingBag(3, 2, dtype=ms.float64).embedding_table.dtype == ms.float64


def test_the_average_of_ints_is_an_int() -> None:
    ints = ms.Tensor(np.arange(8).reshape(1, 4, 2), ms.int64)
    squares = np.arange(8).reshape(4, 2) ** 2
    means = np.stack([squares[max(0, row - 1) : row + 2].sum(0) // 3 for row in range(4)])
    expected = np.arange(8).reshape(4, 2) / (1 + means)
    for found in (functional.local_response_norm(ints, 3, 1.0, 1.0), layers.LocalResponseNorm(3, 1.0, 1.0)(ints)):
        assert np.allclose(found.asnumpy()[0], expected)


def test_halves_of_a_generator() -> None:
    drawn = functional.randn(20, generator=seed.Generator().manual_seed(3), dtype=ms.float16).asnumpy()
    # torch.randn(20, generator=torch.Generator().manual_seed(3), dtype=torch.float16)[[0, 4, 8, 19]]
    assert drawn[[0, 4, 8, 19]].tolist() == pytest.approx([-0.07666, 0.26147, 1.0459, -0.14685], abs=1e-4)


def test_the_loss_of_logits_has_that_of_the_targets() -> None:
    logits, targets = _of(ROW), _of(np.ones((1, 4)), ms.float16)
    for loss in (layers.BCEWithLogitsLoss(), twice.BCEWithLogitsLoss()):
        assert loss(logits, targets).dtype == ms.float16


def test_an_embedding_of_ints_stays_one() -> None:
    assert aten.embedding(ops.ones((3, 2), dtype=ms.int64), ms.Tensor([0, 0]), 1, True).dtype == ms.int64


def test_losses_and_averages_keep_the_dtype_of_what_they_are_given() -> None:
    half = ms.Tensor(np.ones((4, 3)), ms.float16)
    assert functional.soft_margin_loss(half, ms.Tensor(np.ones((4, 3), np.float32))).dtype == ms.float16
    mean, variance = ms.Tensor(np.zeros(3, np.float32)), ms.Tensor(np.ones(3, np.float32))
    for training in (True, False):
        assert functional.batch_norm(half, mean, variance, training=training).dtype == ms.float16


DOUBLE = np.random.default_rng(0).standard_normal((3, 4))


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: functional.add(x, x, alpha=0.1), DOUBLE + 0.1 * DOUBLE),
        (lambda x: functional.sub(x, x, alpha=0.3), DOUBLE - 0.3 * DOUBLE),
        (lambda x: functional.rsub(x, 0.1), 0.1 - DOUBLE),
        (lambda x: functional.addcmul(x, x, x, value=0.1), DOUBLE + 0.1 * DOUBLE**2),
        (lambda x: functional.elu(x, 0.3), np.where(DOUBLE > 0, DOUBLE, 0.3 * np.expm1(DOUBLE))),
        (lambda x: functional.celu(x, 0.3), np.where(DOUBLE > 0, DOUBLE, 0.3 * np.expm1(DOUBLE / 0.3))),
        (lambda x: functional.softplus(x, 1.3), np.log1p(np.exp(1.3 * DOUBLE)) / 1.3),
        (
            lambda x: functional.addmm(x[:, :3], x, x.T, beta=0.1, alpha=0.3),
            0.1 * DOUBLE[:, :3] + 0.3 * DOUBLE @ DOUBLE.T,
        ),
        (lambda x: functional.xlogy(ops.abs(x), 0.1), np.abs(DOUBLE) * np.log(0.1)),
    ],
)
def test_numbers_beside_float64_are_not_rounded_to_float32(function: Any, expected: Any) -> None:
    found = function(ms.Tensor(DOUBLE))
    assert found.dtype == ms.float64
    np.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("layer", [layers.Hardshrink(0.3), layers.Softshrink(0.3), layers.Threshold(0.3, 0.0)])
def test_shrinking_layers_take_float64_and_keep_what_is_no_number(layer: Any) -> None:
    for dtype in (ms.float32, ms.float64):
        found = layer(ms.Tensor([np.nan, 0.1, 2.0], dtype))
        assert found.dtype == dtype
        assert np.isnan(found.asnumpy()[0])
        assert found.asnumpy()[1] == 0
        assert found.asnumpy()[2] > 1


def test_bounds_of_one_side_keep_what_is_no_number() -> None:
    given = ms.Tensor([np.nan, -1.0, 2.0])
    np.testing.assert_array_equal(functional.nans.clamp_min(given, 0.5).asnumpy(), [np.nan, 0.5, 2.0])
    np.testing.assert_array_equal(functional.nans.clamp_max(given, 0.5).asnumpy(), [np.nan, -1.0, 0.5])


def test_rows_of_an_embedding_keep_its_dtype() -> None:
    weight = ms.Tensor(np.ones((5, 2)), ms.float16)
    assert functional.embedding(ms.Tensor([[1, 1], [2, 0]]), weight, scale_grad_by_freq=True).dtype == ms.float16


def test_draws_have_the_dtype_of_what_they_are_drawn_like() -> None:
    half, single = (ms.Tensor(np.ones((2, 3)), dtype) for dtype in (ms.float16, ms.float32))
    assert functional.gumbel_softmax(half, hard=True).dtype == ms.float16
    assert functional.normal(half, single).dtype == ms.float16
    assert functional.normal(0.0, half).dtype == ms.float16
    assert functional.normal(single, 2.0).dtype == ms.float32
    assert functional.normal(0.0, 1.0, (2, 3)).dtype == ms.float32
    assert functional.randn_like(half).dtype == ms.float16
    assert functional.randn_like(half, dtype=ms.float64).dtype == ms.float64


def test_a_number_widens_no_values_of_its_kind() -> None:
    number = ms.Tensor(0.5, ms.float64)
    assert functional.margin_ranking_loss(number, number, ms.Tensor([1.0, -1.0]), reduction="none").dtype == ms.float32
    assert transforms.PowerTransform(number).forward(ms.Tensor([1.0, 2.0])).dtype == ms.float32
    assert transforms.PowerTransform(number).forward(ms.Tensor([4, 9])).asnumpy().tolist() == [2.0, 3.0]


def test_powers_as_rows_are_exact() -> None:
    found = linalg.old_vander(ms.Tensor([301, 2], ms.int32), 4)
    assert found.dtype == ms.int64
    assert found.asnumpy().tolist() == [[301**3, 301**2, 301, 1], [8, 4, 2, 1]]
    double = linalg.vander(ms.Tensor(np.array([1.1, 0.3]))).asnumpy()
    np.testing.assert_array_equal(double, np.vander(np.array([1.1, 0.3]), increasing=True))
    assert linalg.old_vander(ms.Tensor([1.0, 2.0]), 0).shape == (2, 0)


def test_power_averages_of_whole_numbers_are_floats() -> None:
    pooled = functional.lp_pool2d(_of([[[[1, -2], [0, 2]]]], ms.int64), 2, 2)
    assert pooled.dtype == ms.float32
    assert float(pooled) == 3.0


def test_norms_and_losses_of_nothing() -> None:
    assert linalg.matrix_norm(ops.zeros((2, 0, 4)), float("inf"), keepdim=True).asnumpy().tolist() == [[[0.0]]] * 2
    nothing = ops.zeros((0, 4))
    assert np.isnan(boxes.sigmoid_focal_loss(nothing, nothing, reduction="mean").asnumpy())
    assert float(boxes.sigmoid_focal_loss(nothing, nothing, reduction="sum")) == 0.0
    assert float(boxes.generalized_box_iou_loss(nothing, nothing, reduction="mean")) == 0.0


def test_running_statistics_of_nothing_stay() -> None:
    layer = layers.InstanceNorm2d(3, track_running_stats=True).set_train()
    assert layer(ops.zeros((2, 3, 0, 0))).shape == (2, 3, 0, 0)
    assert layer.moving_mean.asnumpy().tolist() == [0.0, 0.0, 0.0]
    assert layer.moving_variance.asnumpy().tolist() == [1.0, 1.0, 1.0]


def test_a_sum_has_the_dtype_that_is_asked_for() -> None:
    for dtype, expected in ((ms.bool_, True), (ms.float64, 0.5), (None, 0.5)):
        found = functional.sum(_of([1.5, -1.0, 0.0]), dtype=dtype)
        assert found.dtype == (ms.float32 if dtype is None else dtype)
        assert found.asnumpy() == expected
    assert functional.sum(_of([1, -2, 0], ms.int64), dtype=ms.int32).dtype == ms.int32


@pytest.mark.parametrize("name", ["sum", "prod"])
def test_what_is_made_of_nothing_has_the_dtype_that_is_asked_for(name: str) -> None:
    for dtype in (ms.bool_, ms.int32, ms.float16):
        assert getattr(functional, name)(_of([]), dtype=dtype).dtype == dtype


def test_weights_and_places_that_are_wider_widen_the_result() -> None:
    halves = _of([[1.0, 2.0, 4.0], [3.0, 1.0, 2.0]], ms.float16)
    assert functional.cov(halves, aweights=_of([1.0, 2.0, 1.0])).dtype == ms.float32
    assert functional.cov(halves, fweights=_of([1, 2, 1], ms.int64)).dtype == ms.float16
    assert functional.gradient(halves, spacing=(_of([0.0, 1.0, 3.0]),), dim=1)[0].dtype == ms.float32
    assert functional.gradient(halves, spacing=2.0, dim=1)[0].dtype == ms.float16


@pytest.mark.parametrize("name", ["dropout", "dropout2d", "alpha_dropout"])
def test_bools_that_are_all_dropped_stay_bools(name: str) -> None:
    found = getattr(functional, name)(_of(np.ones((2, 3, 1, 1), np.bool_), ms.bool_), 1.0, True)
    assert found.dtype == ms.bool_
    assert not found.asnumpy().any()


def test_running_sums_of_bytes_are_bytes() -> None:
    found = functional.cumsum(_of([200, 100]), 0, dtype=ms.uint8)
    assert found.dtype == ms.uint8
    assert found.asnumpy().tolist() == [200, 44]


def test_a_likeliest_class_is_found_beside_infinity() -> None:
    layer = layers.AdaptiveLogSoftmaxWithLoss(2, 4, [2], div_value=1.0)
    layer.head.weight.set_data(_of([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]]))
    found = layer.predict(_of([[np.inf, 1.0], [-np.inf, np.inf], [1.0, 0.0], [0.0, 1.0]])).asnumpy()
    assert found[:3].tolist() == [0, 0, 1]
    assert found[3] >= 2


def test_sums_of_sparse_tensors_keep_the_dtype_along_an_axis() -> None:
    flags = _of([[True, True, False], [True, False, False]], ms.bool_)
    along = functional.sparse_sum(flags, dim=0)
    assert along.dtype == ms.bool_
    assert along.asnumpy().tolist() == [True, True, False]
    ints = functional.sparse_sum(flags.astype(ms.int32), [1])
    assert (ints.dtype, ints.asnumpy().tolist()) == (ms.int32, [2, 1])
    for whole in (functional.sparse_sum(flags), functional.sparse_sum(flags, (0, 1))):
        assert (whole.dtype, int(whole)) == (ms.int64, 3)
    assert functional.sparse_sum(flags, 0, ms.float32).asnumpy().tolist() == [2.0, 1.0, 0.0]


def test_sinc_of_bools() -> None:
    found = functional.sinc(_of([True, False], ms.bool_))
    assert np.allclose(found.asnumpy(), [0.0, 1.0], atol=1e-6)


@pytest.mark.parametrize("size", [0, 1, 3])
def test_logarithms_of_complex_determinants_are_real(size: int) -> None:
    sign, logarithm = functional.slogdet(_of(np.eye(size) * 2j, ms.complex64))
    assert (sign.dtype, logarithm.dtype) == (ms.complex64, ms.float32)
    assert np.allclose([sign.asnumpy(), logarithm.asnumpy()], [1j**size, size * np.log(2)], atol=1e-6)


def test_a_negative_determinant_has_no_logarithm_and_no_slope() -> None:
    below = _of([[0.0, 1.0], [1.0, 0.0]])
    assert np.isnan(functional.logdet(below).asnumpy())
    assert ms.grad(functional.logdet)(below).asnumpy().tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert ms.grad(functional.logdet)(_of([[2.0, 0.0], [0.0, 1.0]])).asnumpy().tolist() == [[0.5, 0.0], [0.0, 1.0]]


def test_shifted_numbers_without_axes_keep_their_dtype() -> None:
    for dtype in (ms.int32, ms.int64):
        for found in (
            functional.bitwise_right_shift(_of(4, dtype), 1),
            functional.bitwise_left_shift(1, _of(1, dtype)),
        ):
            assert (found.dtype, int(found)) == (dtype, 2)
    assert functional.bitwise_left_shift(_of([True], ms.bool_), 1).dtype == ms.int64


def test_halves_stay_halves_beside_distributions_of_numbers() -> None:
    halves = _of([0.25, 0.5], ms.float16)
    for found in (Normal(0.0, 1.0).cdf(halves), Normal(0.0, 1.0).log_prob(halves), Exponential(1.0).icdf(halves)):
        assert found.dtype == ms.float16
    assert np.allclose(Normal(0.0, 1.0).icdf(halves).asnumpy(), [-0.6745, 0.0], atol=1e-3)
    assert HalfCauchy(1.0).log_prob(halves).dtype == ms.float32
    assert Normal(_of([0.0, 0.0]), 1.0).log_prob(halves).dtype == ms.float32
    assert Normal(0.0, 1.0).log_prob(halves.astype(ms.float64)).dtype == ms.float64


def test_norms_along_no_axis_are_magnitudes() -> None:
    assert aten.norm_except_dim(_of([3.0, -4.0]), 2, 0).asnumpy().tolist() == [3.0, 4.0]
    assert aten.norm_except_dim(_of([[3.0, -4.0]]), 2, 0).asnumpy().tolist() == [[5.0]]


@pytest.mark.parametrize(
    ("wide", "alone", "expected"),
    [
        (ms.float32, ms.float64, ms.float32),
        (ms.float16, ms.float32, ms.float16),
        (ms.int32, ms.int64, ms.int32),
        (ms.int32, ms.float64, ms.float64),
        (ms.bool_, ms.int32, ms.int32),
        (ms.float64, ms.complex64, ms.complex128),
        (ms.float64, ms.float32, ms.float64),
    ],
)
def test_what_has_no_axes_widens_only_another_kind(wide: Any, alone: Any, expected: Any) -> None:
    row, single = ops.ones(2, dtype=ms.float32).astype(wide), _of(1.0).astype(alone)
    assert {value.dtype for value in functional.promoted((row, single))} == {expected}
    assert {value.dtype for value in functional.promoted((single, row))} == {expected}
    assert functional.promoted((single, single))[0].dtype == alone


def test_of_nothing_none_holds_and_nothing_is_in_it() -> None:
    nothing = ms.Tensor(np.zeros(0, np.float32))
    assert not bool(functional.any(nothing > 0))
    assert functional.any(ms.Tensor(np.zeros((0, 3), bool)), 0).asnumpy().tolist() == [False] * 3
    x = ms.Tensor([1.0, 2.0])
    assert functional.isin(x, nothing).asnumpy().tolist() == [False, False]
    assert functional.isin(x, nothing, invert=True).asnumpy().tolist() == [True, True]


def test_running_products_of_bools_count() -> None:
    found = functional.cumprod(ms.Tensor([[True, True, False], [True, False, True]]), 1)
    assert found.dtype == ms.int64
    assert found.asnumpy().tolist() == [[1, 1, 0], [1, 0, 0]]
