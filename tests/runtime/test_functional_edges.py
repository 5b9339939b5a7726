"""Gradients at the edges: zeros in running products, ties of a median, places from the end."""

from __future__ import annotations

import mindspore as ms
import numpy as np
import pytest
from mindspore import ops

from torch2ms.runtime import aten, functional, layers, linalg, unbatched


def gradient(function: object, values: object) -> list[float]:
    return ms.grad(function)(ms.tensor(values)).asnumpy().tolist()


def test_a_running_product_with_a_zero() -> None:
    assert gradient(lambda x: functional.cumprod(x, 0).sum(), [2.0, 0.0, 3.0]) == [1.0, 8.0, 0.0]


def test_a_median_shares_its_gradient_among_its_equals() -> None:
    assert gradient(functional.median, [3.0, 3.0, 0.0, 7.0, 3.0]) == pytest.approx([1 / 3, 1 / 3, 0.0, 0.0, 1 / 3])
    assert float(functional.median(ms.tensor([np.inf, 1.0, np.inf]))) == np.inf


def test_places_from_the_end() -> None:
    places = ms.tensor([0, -1])
    assert gradient(lambda x: functional.take(x, places).sum(), [1.0, 2.0, 3.0]) == [1.0, 0.0, 1.0]
    assert gradient(lambda x: functional.rows(x, places).sum(), [1.0, 2.0, 3.0]) == [1.0, 0.0, 1.0]
    mask = ms.tensor([True, False, True])
    assert gradient(lambda x: functional.rows(x, mask).sum(), [1.0, 2.0, 3.0]) == [1.0, 0.0, 1.0]


@pytest.mark.parametrize("place", [ms.tensor(1), ms.tensor(-1), 1])
def test_one_element_of_several_axes(place: object) -> None:
    def picked(x: ms.Tensor) -> ms.Tensor:
        return functional.element(x.reshape(2, 2), place, ms.tensor(0))

    assert picked(ms.tensor([1.0, 2.0, 3.0, 4.0])).shape == ()
    assert gradient(picked, [1.0, 2.0, 3.0, 4.0]) == [0.0, 0.0, 1.0, 0.0]
    pairs = functional.element(ms.tensor([[1.0, 2.0], [3.0, 4.0]]), ms.tensor([0, 1]), ms.tensor([1, 0]))
    assert pairs.asnumpy().tolist() == [2.0, 3.0]


def test_numbers_that_an_annotation_calls_tensors_are_divided() -> None:
    assert functional.floor_divide(7, 2) == 3


def test_what_is_copied_takes_the_shape_and_the_dtype_of_what_it_is_copied_into() -> None:
    made = functional.copied_into(ops.zeros((2, 3), dtype=ms.int64), ms.Tensor([1.5, 2.5, 3.5]))
    assert made.dtype == ms.int64
    assert made.asnumpy().tolist() == [[1, 2, 3], [1, 2, 3]]


def test_filled_changes_the_tensor_itself() -> None:
    tensor = ms.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert functional.filled(tensor, tensor * 2) is tensor
    functional.filled(tensor[0], 0)
    assert tensor.asnumpy().tolist() == [[0.0, 0.0], [6.0, 8.0]]
    weight = ms.Parameter(ops.ones(2))
    functional.filled(weight, weight * 2)
    ops.assign(weight, weight + 1)  # refused after ``weight[()] = ...``
    assert weight.asnumpy().tolist() == [3.0, 3.0]


def test_half_precision_is_summed_in_single() -> None:
    values = np.array([[1.0, -2.0, 3.5], [0.5, 4.0, -1.0]])
    expected = values.var(1, ddof=1).astype(np.float16)
    assert functional.var(ms.tensor(values, ms.float16), dim=1).asnumpy().tolist() == expected.tolist()


def test_counts_are_repeated() -> None:
    assert functional.repeat_interleave(ms.tensor([2, 0, 1])).asnumpy().tolist() == [0, 0, 2]


def test_the_norm_of_complex_numbers_is_real() -> None:
    found = functional.norm(ms.Tensor(np.array([3 + 4j, 0], np.complex64)))
    assert found.dtype == ms.float32
    assert float(found) == pytest.approx(5.0)


@pytest.mark.parametrize(
    "function",
    [
        functional.std,
        lambda x: functional.std_mean(x)[0],
        lambda x: functional.pdist(x.reshape((2, 2))).sum(),
        functional.norm,
    ],
)
def test_what_does_not_differ_has_no_slope(function: object) -> None:
    values = [0.0] * 4 if function is functional.norm else [2.0] * 4
    assert gradient(function, values) == [0.0] * 4


def test_a_mode_has_a_gradient() -> None:
    assert gradient(lambda x: functional.mode(x)[0], [1.0, 2.0, 2.0]) == [0.0, 0.0, 1.0]
    values, places = functional.mode(ms.tensor([[1.0, 2.0], [1.0, 0.0]]), 0, True)
    assert values.asnumpy().tolist() == [[1.0, 0.0]]
    assert places.asnumpy().tolist() == [[1, 1]]


def test_the_correlation_with_a_constant_is_nan() -> None:
    assert np.isnan(functional.corrcoef(ops.zeros((2, 3))).asnumpy()).all()


def test_margins_have_a_slope_where_they_are_met() -> None:
    other, target = ms.tensor([0.5, 1.0]), ms.tensor([1.0, 1.0])
    found = gradient(lambda x: functional.margin_ranking_loss(x, other, target, 0.5), [1.0, 0.0])
    assert found == [-0.5, -0.5]
    assert np.isnan(float(functional.margin_ranking_loss(ms.tensor([np.nan, 1.0]), other, target)))


@pytest.mark.parametrize("name", ["batch_norm", "instance_norm"])
def test_statistics_may_be_a_part_of_a_layers(name):
    mean = ms.Parameter(ops.zeros(5, ms.float32), requires_grad=False)
    spread = ms.Parameter(ops.ones(5, ms.float32), requires_grad=False)
    x = ms.Tensor(np.random.RandomState(0).randn(4, 3, 6).astype(np.float32) + 2)
    getattr(functional, name)(x, mean[:3], spread[:3], None, None, True)
    np.testing.assert_allclose(mean.asnumpy()[:3], 0.1 * x.asnumpy().mean((0, 2)), atol=1e-6)
    assert (mean.asnumpy()[3:] == 0).all()
    assert (spread.asnumpy()[:3] != 1).all()


def test_windows_of_an_empty_batch_keep_their_channels() -> None:
    assert functional.fold(ops.zeros((0, 4, 4)), (3, 3), 2).shape == (0, 1, 3, 3)


def test_extremes_of_truth_values() -> None:
    low, high = functional.aminmax(ms.tensor([True, False]))
    assert (bool(low), bool(high)) == (False, True)
    assert low.dtype == ms.bool_


def test_a_projected_memory_without_a_batch() -> None:
    layer = layers.ProjectedLSTM(4, 3, proj_size=2)
    output, (hidden, cell) = unbatched.run(layer, ops.ones((3, 4)))
    assert (output.shape, hidden.shape, cell.shape) == ((3, 2), (1, 2), (1, 3))


def test_slopes_at_zero_are_those_below_it() -> None:
    assert gradient(lambda x: functional.prelu(x, ms.tensor([0.25])).sum(), [0.0, 1.0]) == [0.25, 1.0]
    assert gradient(lambda x: functional.rrelu(x, 0.1, 0.3).sum(), [0.0, 1.0]) == pytest.approx([0.2, 1.0])


def test_a_median_of_numbers_has_a_gradient() -> None:
    nan = float("nan")
    assert gradient(functional.nanmedian, [1.0, nan, 3.0, 2.0]) == [0.0, 0.0, 0.0, 1.0]
    assert gradient(functional.nanmedian, [3.0, nan, 3.0]) == [0.5, 0.0, 0.5]
    assert gradient(lambda x: functional.nanmedian(x, 0)[0], [1.0, nan, 3.0, 2.0]) == [0.0, 0.0, 0.0, 1.0]
    assert np.isnan(float(functional.nanmedian(ms.tensor([nan]))))


def test_norms_of_zeros_have_a_slope_of_zero() -> None:
    assert gradient(lambda x: functional.norm(x, 3), [0.0, 0.0]) == [0.0, 0.0]
    assert gradient(lambda x: functional.norm(x, 3, dim=1).sum(), [[0.0], [2.0]]) == [[0.0], [pytest.approx(1.0)]]


def test_the_angle_of_the_origin_has_a_slope_of_zero() -> None:
    slopes = ms.grad(lambda y, x: functional.atan2(y, x).sum(), (0, 1))(ms.tensor([0.0, 1.0]), ms.tensor([0.0, 2.0]))
    assert [slope.asnumpy().tolist() for slope in slopes] == [[0.0, pytest.approx(0.4)], [0.0, pytest.approx(-0.2)]]
    assert functional.atan2(ms.tensor([0.0]), ms.tensor([-1.0])).asnumpy().tolist() == [pytest.approx(np.pi)]


def test_equals_that_are_scattered_share_the_gradient() -> None:
    """The numbers are PyTorch's."""
    places, base = ms.tensor([0, 0, 1, 1]), ms.tensor([2.0, 5.0])

    def least(base, x):
        return (functional.scatter_reduce(base, 0, places, x, "amin") ** 2).sum()

    slopes = ms.grad(least, (0, 1))(base, ms.tensor([2.0, 2.0, 3.0, 4.0]))
    third = pytest.approx(4 / 3)
    assert [slope.asnumpy().tolist() for slope in slopes] == [[third, 0.0], [third, third, 6.0, 0.0]]
    without = gradient(
        lambda x: functional.scatter_reduce(ops.zeros(2), 0, ms.tensor([0, 0, 1]), x, "amax", include_self=False).sum(),
        [1.0, 1.0, 0.0],
    )
    assert without == [0.5, 0.5, 0.5]


def test_too_few_values_have_no_combinations_of_that_many() -> None:
    assert functional.combinations(ms.tensor([1, 2]), 3).shape == (0, 3)
    assert functional.combinations(ops.zeros(0)).shape == (0, 2)


def test_nothing_has_no_elements_that_are_not_zero() -> None:
    assert int(functional.count_nonzero(ops.zeros((0, 3)))) == 0
    assert functional.count_nonzero(ops.zeros((0, 3)), 0).asnumpy().tolist() == [0, 0, 0]


def test_the_variance_of_complex_numbers_is_real() -> None:
    numbers = ms.Tensor(np.array([1 + 2j, -3j, 0.5]).astype(np.complex64))
    assert functional.var(numbers).dtype == ms.float32
    assert float(functional.var(numbers)) == pytest.approx(np.var(numbers.asnumpy(), ddof=1), rel=1e-5)
    assert functional.std(numbers).dtype == ms.float32


def test_the_smallest_value_beside_nan_is_a_number() -> None:
    values, places = functional.nans.kthvalue(ms.tensor([float("nan"), 2.0, 1.0]), 1)
    assert (float(values), int(places)) == (1.0, 2)


@pytest.mark.parametrize("add", [
    lambda x, i, y: functional.index_add(x, 0, i, y),
    lambda x, i, y: functional.scatter_add(x, 0, ms.ops.broadcast_to(i.reshape((-1, 1)), y.shape), y),
    lambda x, i, y: functional.index_put(x, (i,), y, accumulate=True),
])  # fmt: skip
def test_sums_of_equal_places_are_whole(add: object) -> None:
    """Threads of MindSpore's own kernel lost some of them in nearly every second call."""
    numbers = np.random.RandomState(0)
    for _ in range(40):
        rows, values = numbers.randint(0, 5, 1000), numbers.randint(-3, 4, (1000, 16)).astype(np.float32)
        expected = np.zeros((5, 16), np.float32)
        np.add.at(expected, rows, values)
        found = add(ms.ops.zeros((5, 16)), ms.Tensor(rows), ms.Tensor(values))  # type: ignore[operator]
        np.testing.assert_array_equal(found.asnumpy(), expected)


def test_there_are_no_combinations_of_too_few() -> None:
    assert functional.combinations(ms.tensor([1.0, 2.0]), r=3).shape == (0, 3)


def test_divisions_of_and_by_infinity() -> None:
    x = ms.tensor([np.inf, -np.inf, 1.0, -1.0])
    halves = functional.floor_divide(x, 2).asnumpy()
    assert np.isnan(halves[:2]).all()
    assert halves[2:].tolist() == [0.0, -1.0]
    assert functional.floor_divide(x, np.inf).asnumpy()[2:].tolist() == [0.0, -1.0]
    assert functional.div(ms.tensor([1.0]), 0.0, rounding_mode="floor").asnumpy().tolist() == [np.inf]


def test_the_rest_beside_a_multiple_is_not_the_divisor() -> None:
    found = functional.fmod(ms.tensor([3.0, -3.0, 2.5]), 0.3)
    assert found.asnumpy() == pytest.approx(np.fmod(np.array([3.0, -3.0, 2.5], np.float32), np.float32(0.3)), abs=1e-6)


def test_short_ints_and_bools_have_signs_and_squares() -> None:
    small = ms.tensor([3, 0, 200], ms.uint8)
    assert functional.sign(small).dtype == ms.uint8
    assert functional.sign(small).asnumpy().tolist() == [1, 0, 1]
    flags = ms.tensor([True, False, True])
    assert functional.square(flags).dtype == ms.int64
    assert functional.cummax(flags, 0)[0].dtype == ms.bool_
    assert functional.add(flags, flags, alpha=2).dtype == ms.bool_
    assert functional.bitwise_not(small).asnumpy().tolist() == [252, 255, 55]
    assert functional.bitwise_not(5) == ~5


def test_what_has_no_elements_has_parts_all_the_same() -> None:
    nothing = ops.zeros((0, 3))
    assert [part.shape for part in functional.chunk(nothing, 2)] == [(0, 3), (0, 3)]
    assert [part.shape for part in functional.tensor_split(nothing, [1, 2])] == [(0, 3)] * 3
    assert functional.tile(nothing, 2).shape == (0, 6)
    assert functional.tril(nothing).shape == (0, 3)
    assert functional.diff(nothing, dim=0).shape == (0, 3)
    assert functional.diff(ms.tensor([1.0])).shape == (0,)


def test_what_has_no_axes_counts_as_a_number() -> None:
    double = ms.tensor(2.0, ms.float64)
    assert functional.result_type(double, ops.ones(2)) == ms.float32
    assert functional.result_type(double, ops.ones(2, ms.int32)) == ms.float32
    assert functional.result_type(double, ops.ones((), ms.float32)) == ms.float64


def test_complex_numbers_hold_where_either_part_does() -> None:
    numbers = functional.complex(ms.tensor([0.0, 0.0]), ms.tensor([2.0, 0.0]))
    assert bool(functional.any(numbers))
    assert not bool(functional.all(numbers))


def test_least_squares_of_dependent_columns_are_the_shortest() -> None:
    matrix = ops.linspace(-1.0, 1.0, 20).reshape((4, 5)).T  # of rank 2
    found = linalg.lstsq(matrix, ops.ones((5, 1))).solution
    assert found.asnumpy().ravel() == pytest.approx([-0.57, -0.19, 0.19, 0.57], abs=1e-3)


def test_matrices_of_one_element_have_inverses() -> None:
    from torch2ms.runtime import functional, linalg
    from torch2ms.runtime.distributions import MultivariateNormal

    four = ms.Tensor([[[4.0]], [[2.0]]])
    assert functional.inverse(four).asnumpy().tolist() == [[[0.25]], [[0.5]]]
    assert functional.linalg_solve(four[0], ms.Tensor([2.0])).asnumpy().tolist() == [0.5]
    assert linalg.inv_ex(four).inverse.asnumpy().tolist() == [[[0.25]], [[0.5]]]
    normal = MultivariateNormal(ms.Tensor([0.5]), ms.Tensor([[2.0]]))
    assert float(normal.log_prob(ms.Tensor([1.0]))) == pytest.approx(-1.3280121)


def test_a_mask_of_several_axes_at_the_end() -> None:
    x = ms.Tensor(np.arange(18, dtype=np.float32).reshape(2, 3, 3))
    mask = ms.Tensor(~np.eye(3, dtype=bool))
    assert functional.picked_at_end(x, mask).asnumpy().tolist() == x.asnumpy()[..., mask.asnumpy()].tolist()
    slope = ms.grad(lambda x: functional.picked_at_end(x, mask).sum())(x).asnumpy()
    assert slope.tolist() == [mask.asnumpy().astype(np.float32).tolist()] * 2


def test_the_activations_of_transformers_have_names() -> None:
    assert layers.activation_called("relu")(ms.Tensor([-1.0, 2.0])).asnumpy().tolist() == [0.0, 2.0]
    with pytest.raises(RuntimeError, match="relu/gelu"):
        layers.activation_called("tanh")


def test_a_sparse_tensor_stores_its_zeros() -> None:
    places = ms.tensor([[1, 0, 1], [2, 0, 2]])
    sparse = functional.sparse_coo_tensor(places, ms.tensor([0.0, 3.0, 0.0]), (2, 3))
    assert functional.sparse_indices(sparse).asnumpy().tolist() == places.asnumpy().tolist()
    assert functional.sparse_values(sparse).asnumpy().tolist() == [0.0, 3.0, 0.0]
    once = functional.coalesced(sparse)
    assert functional.sparse_indices(once).asnumpy().tolist() == [[0, 1], [0, 2]]
    assert functional.sparse_values(once).asnumpy().tolist() == [3.0, 0.0]
    assert functional.sparse_indices(functional.coalesced(once * 1)).asnumpy().tolist() == [[0], [0]]


def test_numbers_of_numpy_keep_their_dtype() -> None:
    assert functional.of_numbers([np.float64(1), 2]).dtype == ms.float64
    assert functional.of_numbers([1.0, np.float32(2)]).dtype == ms.float32
    assert functional.of_numbers([[np.int32(1)], [np.int32(2)]]).dtype == ms.int32
    assert functional.of_numbers([np.bool_(True), False]).dtype == ms.bool_


def test_covariances_of_nothing_of_one_and_of_complex_numbers() -> None:
    assert np.isnan(functional.cov(ops.zeros((3, 0))).asnumpy()).all()
    assert functional.corrcoef(ms.tensor([[1.0, 2.0, 4.0]])).shape == ()
    pair = ms.tensor(np.array([[1 + 1j, 2 - 1j], [0j, 1j]], np.complex64))
    assert functional.cov(pair).asnumpy()[0, 1] == pytest.approx(np.cov(pair.asnumpy())[0, 1])
    assert linalg.vander(pair[0], N=3).asnumpy()[0].tolist() == [1, 1 + 1j, 2j]


def test_other_dtypes_than_those_of_layers() -> None:
    half = ms.tensor(np.ones((2, 3, 5), np.float16))
    assert functional.group_norm(half, 1, ops.ones(3), ops.ones(3)).dtype == ms.float16
    angle = functional.cosine_similarity(ms.tensor([[0, 0], [3, 4]]), ms.tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert angle.asnumpy().tolist() == pytest.approx([0.0, 1.0])
    counts = ms.tensor([[3, 4]])
    assert functional.addcmul(counts, counts, counts, value=2.5).asnumpy().tolist() == [[21, 36]]
    assert functional.nansum(ms.tensor([1.5, -1.5]), dtype=ms.bool_).dtype == ms.bool_
    assert functional.nextafter(ms.tensor([1.0]), ms.tensor([2], ms.int32)).dtype == ms.float32
    assert functional.embedding(ms.tensor([1]), ms.tensor([[True], [False]]), padding_idx=1).dtype == ms.bool_


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_convolutions_of_other_dtypes_than_mindspore_takes(dtype: type) -> None:
    dice = np.random.default_rng(0)
    x = dice.integers(-3, 4, (2, 4, 7, 6)).astype(dtype)
    w = dice.integers(-3, 4, (6, 2, 3, 2)).astype(dtype)
    settings = {"stride": 2, "padding": (1, 0), "groups": 2}
    found = functional.conv2d(ms.Tensor(x), ms.Tensor(w), None, **settings)
    single = (ms.Tensor(part.astype(np.float32)) for part in (x, w))
    assert found.dtype == ms.Tensor(x).dtype
    assert found.asnumpy() == pytest.approx(functional.conv2d(*single, None, **settings).asnumpy())
    back = functional.conv_transpose2d(found, ms.Tensor(w), None, stride=2, groups=2)
    assert back.shape == (2, 4, 9, 6)


def test_blocks_and_steps_of_other_dtypes() -> None:
    made = functional.block_diag(ms.tensor([[1, 2]]), ms.tensor([[1.5]]))
    assert made.asnumpy().tolist() == [[1.0, 2.0, 0.0], [0.0, 0.0, 1.5]]
    assert functional.heaviside(ms.tensor([True, False]), ms.tensor([False, True])).asnumpy().tolist() == [True, True]
    assert [part.shape for part in functional.hsplit(ops.ones(6), (1, 3))] == [(1,), (2,), (3,)]
    assert functional.igamma(ms.tensor([1.5]), ms.tensor([2])).dtype == ms.float32
    assert functional.slogdet(ms.tensor([[-2.0]]))[0].asnumpy().tolist() == -1.0


def test_variances_without_freedom_have_infinite_gradients() -> None:
    slopes = ms.grad(lambda x: functional.var(x, dim=0, correction=2).sum())(ms.tensor([[1.0], [2.0]]))
    assert slopes.asnumpy().ravel().tolist() == [-np.inf, np.inf]


def test_what_is_not_asked_of_a_decomposition_is_empty() -> None:
    factors = linalg.lu_factor(ms.tensor([[2.0, 1.0], [1.0, 3.0]]))
    assert [part.shape for part in linalg.lu_unpack(*factors, unpack_data=False)] == [(2, 2), (0,), (0,)]
    assert [part.shape for part in linalg.lu_unpack(*factors, unpack_pivots=False)] == [(0,), (2, 2), (2, 2)]


@pytest.mark.parametrize("first", [True, False])
def test_a_projected_lstm_takes_one_sequence(first: bool) -> None:
    layer = layers.ProjectedLSTM(4, 3, 2, batch_first=first, proj_size=2)
    sequence, states = ops.ones((5, 4)), (ops.ones((2, 2)), ops.ones((2, 3)))
    output, (hidden, cell) = layer(sequence, states)
    whole, _ = layer(sequence.expand_dims(0 if first else 1), tuple(state.expand_dims(1) for state in states))
    assert (hidden.shape, cell.shape) == ((2, 2), (2, 3))
    assert output.asnumpy() == pytest.approx(whole.asnumpy().reshape(5, 2))
    assert layer(sequence)[0].shape == (5, 2)


@pytest.mark.parametrize(
    ("reduce", "of_nothing"),
    [
        (functional.sum, 0.0),
        (functional.mean, np.nan),
        (functional.nanmean, np.nan),
        (functional.any, False),
        (lambda x: functional.norm(x, 1), 0.0),
        (lambda x: functional.norm(x, 3), 0.0),
        (lambda x: functional.norm(x, 0), 0.0),
        (lambda x: functional.vdot(x, x), 0.0),
        (lambda x: functional.cdist(x.reshape((1, 0)), x.reshape((1, 0))).reshape(()), 0.0),
        (lambda x: linalg.norm(x, 1), 0.0),
    ],
)
def test_reductions_of_nothing_are_not_what_the_memory_held(reduce: object, of_nothing: float) -> None:
    for value in (7.5, np.nan, -3e4):  # freed at once: the next small tensor lies where it lay
        (ms.tensor(np.full(4, value, np.float32)) + 1).asnumpy()
        found = reduce(ops.zeros((0,), ms.float32)).asnumpy()
        assert found.shape == ()
        assert np.array_equal(np.float64(found), np.float64(of_nothing), equal_nan=True)


def test_crossed_limits_give_the_upper_one_as_in_pytorch() -> None:
    x = ms.Tensor([-1.0, 1.0, 3.0], ms.float32)
    assert functional.hardtanh(x, 2.0, 0.5).asnumpy().tolist() == [0.5, 0.5, 0.5]
    assert functional.hardtanh(x, 0.0, 2.0).asnumpy().tolist() == [0.0, 1.0, 2.0]


def test_bessel_functions_of_the_second_kind_at_0_and_below() -> None:
    for function in (functional.bessel_y0, functional.bessel_y1):
        found = function(ms.tensor([0, -1, 1])).asnumpy()
        assert found[0] == -np.inf
        assert np.isnan(found[1])
        assert np.isfinite(found[2])


def test_a_weight_of_double_precision_leaves_the_losses_dtype() -> None:
    half = ms.tensor([0.5, 0.25])
    weight = ms.tensor([1.0, 2.0], ms.float64)
    assert functional.binary_cross_entropy(half, half, weight).dtype == ms.float32


def test_a_trapezoid_of_one_infinity_is_pytorchs() -> None:
    assert np.isnan(functional.trapezoid(ms.tensor([np.inf, 1.0, 2.0])).asnumpy())
    assert float(functional.trapezoid(ms.tensor([1.0, 3.0, 2.0]), dx=2)) == 9.0


def test_softmin_of_a_line_with_infinity_is_nan() -> None:
    found = layers.Softmin(-1)(ms.tensor([[1.0, -np.inf, 2.0], [1.0, 1.0, 1.0]])).asnumpy()
    assert np.isnan(found[0]).all()
    assert found[1] == pytest.approx([1 / 3] * 3)


def test_products_and_parts_of_nothing() -> None:
    none = ms.Tensor(np.zeros((2, 0), np.float32))
    assert functional.inner(none, none).asnumpy().tolist() == [[0, 0], [0, 0]]
    assert [part.shape for part in functional.vsplit(ms.Tensor(np.zeros((0, 6), np.float32)), 2)] == [(0, 6), (0, 6)]


def test_padding_holds_back_the_gradient_alone() -> None:
    table = ms.tensor([[np.inf, 1.0], [2.0, -np.inf]])
    assert functional.embedding(ms.tensor([0, 1]), table, 0).asnumpy().tolist() == table.asnumpy().tolist()
    assert gradient(lambda w: aten.embedding(w, ms.tensor([0, 1]), -2).sum(), [[1.0], [2.0]]) == [[1.0], [1.0]]
    assert gradient(lambda w: aten.embedding(w, ms.tensor([0, 1]), 0).sum(), [[1.0], [2.0]]) == [[0.0], [1.0]]


def test_a_loss_of_several_labels_leaves_out_what_is_no_number() -> None:
    scores, labels = ms.tensor([[np.inf, 0.0, np.inf]]), ms.tensor([[0, -1, 1]])
    assert float(functional.multilabel_margin_loss(scores, labels)) == 0.0
    assert float(functional.multilabel_margin_loss(ms.tensor([[0.5, 0.0, -np.inf]]), labels)) == pytest.approx(0.5 / 3)


def test_poles_of_the_hurwitz_zeta_function() -> None:
    found = functional.zeta(ms.tensor([1.5, 2.5, 2.0, 0.5]), ms.tensor([0, -1, -2, 0])).asnumpy()
    assert found[:3].tolist() == [np.inf] * 3
    assert np.isnan(found[3])


def test_distances_of_nothing() -> None:
    none = ops.zeros((2, 3, 0))
    assert functional.pairwise_distance(none, none).asnumpy().tolist() == [[0.0] * 3] * 2
    assert functional.cosine_similarity(none, none, -1).asnumpy().tolist() == [[0.0] * 3] * 2
    assert np.isnan(functional.kl_div(ops.zeros((0, 3)), ops.zeros((0, 3)), reduction="batchmean").asnumpy())


def test_the_sign_of_a_zero_that_is_divided_by() -> None:
    found = functional.floor_divide(ms.tensor([1.0, 1.0, -2.0]), ms.tensor([0.0, -0.0, -0.0]))
    assert found.asnumpy().tolist() == [np.inf, -np.inf, np.inf]


def test_bags_of_maxima_end_with_the_indices() -> None:
    found = functional.embedding_bag(
        ms.tensor([0, 1, 2, 3]), ms.tensor([[0.0], [1.0], [2.0], [3.0]]), ms.tensor([0, 1, 2]), mode="max",
        include_last_offset=True,
    )  # fmt: skip
    assert found.asnumpy().tolist() == [[0.0], [3.0]]


def test_a_factor_of_0_leaves_out_whatever_it_stands_before() -> None:
    ones, infinite = ops.ones((2, 2)), ops.full((2, 2), np.inf, dtype=ms.float32)
    assert functional.addmm(ones, ones, infinite, alpha=0).asnumpy().tolist() == [[1.0, 1.0]] * 2
    assert functional.addmm(infinite, ones, ones, beta=0).asnumpy().tolist() == [[2.0, 2.0]] * 2
    assert functional.baddbmm(infinite, ones[None], ones[None], beta=0).asnumpy().tolist() == [[[2.0, 2.0]] * 2]


def test_a_list_without_places_is_an_index_of_no_rows() -> None:
    x = ms.Tensor(np.arange(12, dtype=np.float32).reshape(4, 3))
    assert x[functional.as_index([])].shape == (0, 3)
    assert x[functional.as_index([]), :2].shape == (0, 2)
    assert np.array_equal(x[functional.as_index([2, 0])].asnumpy(), x.asnumpy()[[2, 0]])
