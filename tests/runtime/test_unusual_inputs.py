"""Inputs that samples of torch's own tests hold: close float64 values, axes of one, negative places, nothing at all."""

from __future__ import annotations

import mindspore as ms
import numpy as np
import pytest
from mindspore import nn, ops

from torch2ms.runtime import functional, layers, linalg, modules

BYTES = [
    ({"mode": "bilinear"}, [[9, 18, 29, 39, 48], [78, 87, 98, 108, 117], [147, 156, 167, 177, 186]]),
    ({"mode": "bicubic"}, [[6, 15, 27, 38, 47], [77, 86, 98, 109, 118], [148, 157, 169, 180, 189]]),
    (
        {"mode": "bilinear", "align_corners": True},
        [[0, 10, 20, 29, 39], [78, 88, 98, 107, 117], [156, 166, 176, 185, 195]],
    ),
    ({"mode": "bicubic", "antialias": True}, [[10, 18, 30, 41, 50], [77, 86, 98, 109, 118], [145, 154, 166, 177, 186]]),
]
CLOSE = [1.000000003, 1.000000001, 1.000000002]


def gradient(function: object, values: object) -> list[float]:
    return ms.grad(function)(ms.tensor(values)).asnumpy().tolist()


def test_float64_is_put_in_order_by_all_its_digits() -> None:
    x = ms.Tensor(np.array(CLOSE))
    values, places = functional.sort(x, descending=True)
    assert values.asnumpy().tolist() == sorted(CLOSE, reverse=True)
    assert places.asnumpy().tolist() == [0, 2, 1]
    assert functional.argsort(x).asnumpy().tolist() == [1, 2, 0]
    assert functional.msort(x).asnumpy().tolist() == sorted(CLOSE)
    assert float(functional.median(x).asnumpy()) == CLOSE[2]
    assert float(functional.kthvalue(x, 3)[0].asnumpy()) == CLOSE[0]


def test_a_cosine_along_an_axis_that_one_side_has_once() -> None:
    x, y = ms.tensor([[[3.0, 4.0], [1.0, 0.0]]]), ms.tensor([[[2.0, 1.0]]])
    found = functional.cosine_similarity(x, y, dim=1).asnumpy()
    assert found == pytest.approx(np.array([[8 / np.sqrt(10 * 8), 4 / np.sqrt(16 * 2)]]))


def test_polygamma_of_negative_values() -> None:
    # By torch 2.13; psi_1(-0.5) = pi ** 2 / 2 + 4
    found = functional.polygamma(1, ms.tensor([-0.5, -2.0, 3.0])).asnumpy()
    assert found == pytest.approx([np.pi**2 / 2 + 4, np.inf, np.pi**2 / 6 - 1.25], rel=1e-6)
    assert functional.polygamma(2, ms.tensor([-8.4784])).asnumpy() == pytest.approx([4.2216], rel=1e-3)
    assert np.isnan(functional.digamma(ms.tensor([-3.0])).asnumpy()).all()
    exact = functional.lgamma(ms.Tensor(np.array([0.5, 30.3]))).asnumpy()
    assert exact == pytest.approx([np.log(np.pi) / 2, 72.2738905413649], rel=1e-12)


def test_products_that_are_gathered_have_a_gradient() -> None:
    places = ms.tensor([0, 0, 1])
    source = ms.tensor([2.0, 3.0, 0.0])

    def product(x: ms.Tensor) -> ms.Tensor:
        return functional.index_reduce(x, 0, places, source, "prod").sum()

    assert gradient(product, [5.0, 7.0]) == [6.0, 0.0]
    into = ms.tensor([5.0, 7.0])
    by_source = gradient(lambda s: functional.index_reduce(into, 0, places, s, "prod").sum(), [2.0, 3.0, 0.0])
    assert by_source == [15.0, 10.0, 7.0]


def test_quantiles_of_what_is_a_number_have_a_gradient() -> None:
    x = [[4.0, float("nan"), 1.0], [2.0, 3.0, 7.0]]
    assert functional.nanquantile(ms.tensor(x), 0.25, 1).asnumpy().tolist() == [1.75, 2.5]
    slopes = gradient(lambda x: functional.nanquantile(x, 0.25, 1).sum(), x)
    assert slopes == [[0.25, 0.0, 0.75], [0.5, 0.5, 0.0]]
    both = functional.nanquantile(ms.tensor(x), ms.tensor([0.0, 1.0]), 1, True)
    assert both.asnumpy().tolist() == [[[1.0], [2.0]], [[4.0], [7.0]]]


def test_no_gradient_flows_through_what_is_drawn() -> None:
    assert gradient(lambda m: (functional.normal(m, 2.0) * 3).sum(), [0.5, 1.5]) == [0.0, 0.0]


def test_no_columns_to_sum_over() -> None:
    left, right = ops.zeros((2, 0)), ops.zeros((0, 3))
    assert functional.selections.matmul(left, right).asnumpy().tolist() == [[0.0] * 3] * 2
    assert functional.addmm(ops.ones((2, 3)), left, right).asnumpy().tolist() == [[1.0] * 3] * 2
    assert functional.selections.bmm(ops.zeros((1, 2, 0)), ops.zeros((1, 0, 3))).shape == (1, 2, 3)


def test_whole_numbers_under_a_curve_wrap_around() -> None:
    y, x = ms.Tensor([[5, 6, 4]], ms.uint8), ms.Tensor([[9, 3, 1]], ms.uint8)
    assert functional.trapezoid(y, x).asnumpy().tolist() == [213.0]  # 250 * 11 and 254 * 10, modulo 256
    assert functional.cumulative_trapezoid(y, x).asnumpy().tolist() == [[95.0, 213.0]]


def test_bools_stay_bools_in_an_outer_product() -> None:
    kept, column, row = (ms.tensor(values) for values in ([[True, False]], [True], [False, False]))
    found = functional.addr(kept, column, row, beta=3, alpha=2)
    assert found.dtype == ms.bool_
    assert found.asnumpy().tolist() == [[True, False]]
    assert functional.sum_to_size(ms.tensor(True), ()).dtype == ms.int64


def test_complex_numbers() -> None:
    x = functional.complex(ms.tensor([3.0, 0.0, 1.0, 2.0]), ms.tensor([4.0, 0.0, 1.0, 0.0]))
    assert functional.stft(x, 4, center=False, return_complex=True).shape == (4, 1)  # not half of them
    distance = functional.l1_loss(x, ops.zeros_like(x))
    assert distance.dtype == ms.float32
    assert float(distance) == pytest.approx((5 + np.sqrt(2) + 2) / 4)
    assert functional.pairwise_distance(x, x * 2).dtype == ms.float32
    assert functional.float_power(x, 2.0).dtype == ms.complex128
    assert functional.bincount(ms.tensor([0, 1, 1]), ms.tensor([1, 2, 3])).dtype == ms.float64


def test_images_of_bytes_are_rounded() -> None:
    image = ms.Tensor([[[[0, 255], [255, 0]]]], ms.uint8)
    found = functional.interpolate(image, (3, 3), mode="bilinear", align_corners=True)
    assert found.asnumpy().tolist() == [[[[0, 128, 255], [128, 128, 128], [255, 128, 0]]]]


def test_images_of_bytes_are_rounded_along_each_axis() -> None:
    # By torch 2.13, which resizes the width first and rounds what is between
    image = ms.Tensor(np.arange(16, dtype=np.uint8).reshape(1, 1, 4, 4) * np.uint8(13))
    for options, rows in BYTES:
        found = functional.interpolate(image, (3, 5), **options).asnumpy()
        assert found[0, 0].tolist() == rows, options


def test_slopes_have_a_gradient_and_keep_infinity_where_it_is() -> None:
    x = ms.tensor([1.0, float("inf"), 4.0, 9.0, 16.0])
    assert functional.gradient(x)[0].asnumpy().tolist() == [float("inf"), 1.5, -float("inf"), 6.0, 7.0]
    assert gradient(lambda x: functional.gradient(x, spacing=None)[0][1], [1.0, 5.0, 4.0]) == [-0.5, 0.0, 0.5]


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (lambda: layers.lazy.LazyLinear(4), (2, 3)),
        (lambda: layers.lazy.LazyConv2d(4, 3, groups=2), (2, 6, 5, 5)),
        (lambda: layers.lazy.LazyConvTranspose2d(4, 3), (2, 6, 5, 5)),
        (lambda: layers.lazy.LazyBatchNorm1d(), (2, 3)),
    ],
)
def test_a_lazy_layer_takes_a_state_before_it_sees_an_input(make: object, shape: tuple[int, ...]) -> None:
    x = ops.ones(shape)
    first, second = nn.SequentialCell(make()), nn.SequentialCell(make())
    assert repr(modules.weight(second[0])) == "<UninitializedParameter>"
    expected = first(x).asnumpy()
    modules.load_state_dict(second, modules.state_dict(first))
    assert second(x).asnumpy().tolist() == expected.tolist()
    modules.load_state_dict(second, modules.state_dict(first))
    assert modules.weight(second[0]).shape == modules.weight(first[0]).shape


def test_least_squares_tell_what_their_driver_tells() -> None:
    a, b = ms.tensor([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]]), ms.tensor([[1.0], [2.0], [3.0]])
    shapes = {}
    for driver in (None, "gels", "gelsd", "gelss"):
        found = linalg.lstsq(a, b, driver=driver)
        assert found.solution.asnumpy().tolist() == [[1.0], [1.0]]
        shapes[driver] = [part.shape for part in found[1:]]
    assert shapes == {  # by torch 2.13
        None: [(0,), (), (0,)],
        "gels": [(1,), (0,), (0,)],
        "gelsd": [(1,), (), (2,)],
        "gelss": [(1,), (), (2,)],
    }
    assert found.residuals.asnumpy().tolist() == [9.0]
    assert (int(found.rank), found.singular_values.asnumpy().tolist()) == (2, [2.0, 1.0])
    low = linalg.lstsq(ms.tensor([[1.0, 1.0]] * 3), b, driver="gelsd")
    assert (int(low.rank), low.residuals.shape) == (1, (0,))
    numbers = ms.Tensor(np.array([[1j, 0], [0, 2]], np.complex64))
    assert linalg.lstsq(numbers, numbers).solution.asnumpy() == pytest.approx(np.eye(2))


def test_pivots_of_complex_matrices() -> None:
    matrix = ms.Tensor(np.array([[1.2, 1], [0.8 + 0.8j, 2]], np.complex64))  # 1.2 is longer, not the sum of the parts
    factors, pivots, info = linalg.old_lu(matrix, get_infos=True)
    assert pivots.asnumpy().tolist() == [2, 2]
    assert int(info) == 0
    assert factors.asnumpy()[0].tolist() == pytest.approx([0.8 + 0.8j, 2])
    assert linalg.old_lu(ops.zeros((0, 3, 3)))[1].shape == (0, 3)


def test_logarithms_of_sums_of_complex_exponentials() -> None:
    # By torch 2.13: beyond half a turn, and beyond what an exponential holds
    x = ms.Tensor(np.array([-1.4 + 6.6j, 2 - 8j, 100 + 1j], np.complex64))
    y = ms.Tensor(np.array([-9.0 + 1j, 4 + 7j, 99 - 2j], np.complex64))
    assert functional.nans.logaddexp(x, y).asnumpy() == pytest.approx(
        np.array([(-1.39961 + 6.60032j), (3.8963 + 6.90222j), (99.55045 + 0.91853j)]), rel=1e-5
    )
    found = functional.nans.logsumexp(ms.Tensor(np.array([[1000 + 2j, 999 - 1j]], np.complex64)), 1)
    assert found.asnumpy() == pytest.approx(np.array([(999.5505 + 1.91853j)]), rel=1e-5)


def test_ints_like_a_tensor_are_drawn_below_a_named_bound() -> None:
    x = ops.zeros((40,), ms.int32)
    for drawn in (functional.randint_like(x, high=3), functional.randint_like(x, 3), functional.randint_like(x, 0, 3)):
        assert drawn.dtype == ms.int32
        assert set(drawn.asnumpy().tolist()) == {0, 1, 2}
