from __future__ import annotations

import mindspore as ms
import numpy as np
import pytest
from mindspore import Tensor

from torch2ms.runtime import functional as F
from torch2ms.runtime import linalg, seed

RANDOM = np.random.RandomState(5)


def normal(*shape):
    return RANDOM.randn(*shape).astype(np.float32)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("ij,jk", [(2, 3), (3, 4)]),
        ("ij,kj->", [(2, 3), (4, 3)]),
        ("bi,bj->bij", [(5, 2), (5, 3)]),
        ("i->", [(4,)]),
        ("ijk->kji", [(2, 3, 4)]),
        ("iij->ij", [(3, 3, 2)]),
        ("...ij,...jk->...ik", [(2, 1, 3, 4), (5, 4, 2)]),
        ("b...c,cd->b...d", [(2, 3, 4, 5), (5, 6)]),
        ("a,b,c->abc", [(2,), (3,), (4,)]),
        ("ijk,jk->i", [(2, 3, 4), (3, 4)]),
        ("ab,bc,cd,de->ae", [(2, 3), (3, 4), (4, 5), (5, 2)]),
        ("i,i->i", [(4,), (4,)]),
        ("ij,j->ij", [(2, 3), (3,)]),
    ],
)
def test_einsum(equation, shapes):
    arrays = [normal(*shape) for shape in shapes]
    result = F.einsum(equation, *(Tensor(array) for array in arrays))
    np.testing.assert_allclose(result.asnumpy(), np.einsum(equation, *arrays), rtol=1e-4, atol=1e-5)


def test_einsum_counts_its_operands():
    with pytest.raises(ValueError, match="2 operands"):
        F.einsum("ij,jk->ik", Tensor(normal(2, 3)))


def test_interpolation_that_would_be_wrong_is_refused():
    with pytest.raises(ValueError, match="should be defined"):
        F.interpolate(Tensor(normal(1, 1, 4, 4)))


def test_cubic_interpolation_keeps_constants_and_places():
    constant = F.interpolate(Tensor(np.full((1, 1, 5, 6), 3.0, np.float32)), size=(9, 4), mode="bicubic")
    np.testing.assert_allclose(constant.asnumpy(), 3.0, rtol=1e-6)
    x = normal(1, 2, 5, 6)
    np.testing.assert_allclose(F.interpolate(Tensor(x), size=(5, 6), mode="bicubic").asnumpy(), x, atol=1e-6)


@pytest.mark.parametrize("sizes", [(8, 8), (2, 3), (7, 5), (12, 4)])
def test_nearest(sizes):
    x = normal(1, 2, 4, 6)
    rows = [int(index * 4 / sizes[0]) for index in range(sizes[0])]
    columns = [int(index * 6 / sizes[1]) for index in range(sizes[1])]
    result = F.interpolate(Tensor(x), size=sizes)
    np.testing.assert_array_equal(result.asnumpy(), x[:, :, rows][:, :, :, columns])


@pytest.mark.parametrize("widths", [(1, 2), (0, 0, 1, 0), (-1, 1), (2, -1, -1, 2), (0, 0)])
def test_constant_padding_and_cropping(widths):
    x = normal(3, 4)
    pairs = [(0, 0)] * (2 - len(widths) // 2) + [tuple(widths[i : i + 2]) for i in range(0, len(widths), 2)][::-1]
    expected = np.pad(x, [(max(a, 0), max(b, 0)) for a, b in pairs], constant_values=1.5)
    for axis, (a, b) in enumerate(pairs):
        stop = expected.shape[axis] + min(b, 0)
        expected = np.take(expected, range(max(-a, 0), stop), axis)
    np.testing.assert_array_equal(F.pad(Tensor(x), widths, value=1.5).asnumpy(), expected)


@pytest.mark.parametrize(("kernel", "stride", "padding", "dilation"), [(3, 2, 1, 1), ((2, 3), 1, 0, 2), (2, 2, 0, 1)])
def test_fold_is_the_adjoint_of_unfold(kernel, stride, padding, dilation):
    x = Tensor(normal(2, 3, 7, 8))
    columns = F.unfold(x, kernel, dilation, padding, stride)
    y = Tensor(normal(*columns.shape))
    image = F.fold(y, (7, 8), kernel, dilation, padding, stride)
    np.testing.assert_allclose((columns * y).sum().asnumpy(), (x * image).sum().asnumpy(), rtol=1e-4)


@pytest.mark.parametrize(
    ("call", "dtype"),
    [
        (lambda x: F.sort(x)[1], ms.int64),
        (lambda x: F.topk(x, 2)[1], ms.int64),
        (lambda x: F.argsort(x), ms.int64),
        (lambda x: F.argmin(x), ms.int64),
        (lambda x: F.median(x, 1)[1], ms.int64),
        (lambda x: F.sum(x > 0), ms.int64),
        (lambda x: F.cumsum(x > 0, 1), ms.int64),
        (lambda x: F.prod((x > 0).astype(ms.int32)), ms.int64),
        (lambda x: F.count_nonzero(x), ms.int64),
        (lambda x: F.one_hot(Tensor([1, 0])), ms.int64),
        (lambda x: F.full((2,), 0.5), ms.float32),
        (lambda x: F.full((2,), 3), ms.int64),
        (lambda x: F.full((2,), True), ms.bool_),
        (lambda x: F.zeros(2, 3), ms.float32),
        (lambda x: F.randint(5, (2,)), ms.int64),
        (lambda x: F.typed_tensor([1.5], dtype=ms.int64), ms.int64),
        (lambda x: F.div(Tensor([1]), Tensor([2])), ms.float32),
    ],
)
def test_dtypes_are_torchs(call, dtype):
    assert call(Tensor(normal(3, 4))).dtype == dtype


@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 4)])
@pytest.mark.parametrize("dim", [None, 0, -1, (0, 1)])
def test_variance_has_bessels_correction(shape, dim):
    x = normal(*shape)
    np.testing.assert_allclose(F.var(Tensor(x), dim).asnumpy(), x.var(dim, ddof=1), rtol=1e-5)
    np.testing.assert_allclose(F.std(Tensor(x), dim, unbiased=False).asnumpy(), x.std(dim), rtol=1e-5)


def test_one_value_has_no_variance():
    assert np.isnan(F.var(Tensor([1.0])).asnumpy())


@pytest.mark.parametrize("dim", [1, -1, (0, 1), None])
def test_norms_over_an_axis_are_compiled_as_they_are_run(dim):
    """A generator expression with a condition is empty in graph mode, and an empty tuple of axes means all of them."""
    x = Tensor(np.arange(12, dtype=np.float32).reshape(3, 4))

    def norm(x):
        return F.norm(x, 2, dim=dim)

    np.testing.assert_allclose(ms.jit(norm)(x).asnumpy(), norm(x).asnumpy(), rtol=1e-6)


def test_the_norm_of_zero_has_slope_zero():
    gradient = ms.grad(lambda x: F.norm(x))(Tensor(np.zeros(3, np.float32)))
    np.testing.assert_array_equal(gradient.asnumpy(), 0)
    gradient = ms.grad(lambda x: F.cdist(x, x).sum())(Tensor(normal(3, 2)))
    assert np.isfinite(gradient.asnumpy()).all()


def test_draws_without_replacement_are_different():
    weights = Tensor(np.tile([0.1, 0.2, 0.3, 0.4, 0.0], (50, 1)).astype(np.float32))
    drawn = F.multinomial(weights, 3).asnumpy()
    assert drawn.dtype == np.int64
    assert all(len(set(row)) == 3 for row in drawn.tolist())
    assert (drawn != 4).all()
    assert F.multinomial(weights[0], 2, replacement=True).shape == (2,)


def test_random_order_follows_the_seed():
    seed.manual_seed(3)
    first = F.randperm(20).asnumpy()
    seed.manual_seed(3)
    np.testing.assert_array_equal(F.randperm(20).asnumpy(), first)
    assert sorted(first.tolist()) == list(range(20))


def test_dropout_of_everything():
    np.testing.assert_array_equal(F.dropout(Tensor(normal(3, 4)), 1.0).asnumpy(), 0)
    x = Tensor(normal(3, 4))
    np.testing.assert_array_equal(F.dropout(x, 0.5, training=False).asnumpy(), x.asnumpy())


def test_a_bool_mask_says_where_attention_is_allowed():
    q, k, v = (Tensor(normal(1, 2, 4)) for _ in range(3))
    mask = Tensor([[True, False], [True, True]])
    result = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    np.testing.assert_allclose(result.asnumpy()[0, 0], v.asnumpy()[0, 0], rtol=1e-6)


@pytest.mark.parametrize(("shifts", "dims"), [(1, 0), (-3, 1), ((1, 2), (0, 1)), (5, None), (0, 0)])
def test_roll(shifts, dims):
    x = normal(3, 4)
    np.testing.assert_array_equal(F.roll(Tensor(x), shifts, dims).asnumpy(), np.roll(x, shifts, dims))


def test_scatter_needs_no_full_source():
    x, index, source = np.zeros((3, 4), np.float32), np.array([[0, 2]]), normal(2, 4)
    result = F.scatter(Tensor(x), 0, Tensor(index), Tensor(source)).asnumpy()
    expected = x.copy()
    expected[0, 0], expected[2, 1] = source[0, 0], source[0, 1]
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(F.scatter(Tensor(x), 1, Tensor(index), 2.0).asnumpy()[0], [2, 0, 2, 0])
    one = F.scatter(Tensor(x), 1, Tensor(index), Tensor(2.0))  # the one value as a tensor
    np.testing.assert_array_equal(one.asnumpy()[0], [2, 0, 2, 0])


@pytest.mark.parametrize(
    ("name", "value"), [("relu", np.sqrt(2)), ("tanh", 5 / 3), ("linear", 1), ("leaky_relu", np.sqrt(2 / 1.0001))]
)
def test_gains(name, value):
    assert F.calculate_gain(name) == pytest.approx(value)


def test_an_unknown_gain_is_an_error():
    with pytest.raises(ValueError, match="nope"):
        F.calculate_gain("nope")


def test_cholesky_has_a_gradient():
    a = normal(3, 3)
    spd = (a @ a.T + 3 * np.eye(3)).astype(np.float32)
    np.testing.assert_allclose(F.cholesky(Tensor(spd)).asnumpy(), np.linalg.cholesky(spd), rtol=1e-4, atol=1e-5)
    gradient = ms.grad(lambda x: F.cholesky(x)[2, 2])(Tensor(spd)).asnumpy()
    step = np.zeros((3, 3))
    step[2, 2] = 1e-3
    slope = (np.linalg.cholesky(spd.astype(float) + step) - np.linalg.cholesky(spd.astype(float) - step))[2, 2] / 2e-3
    np.testing.assert_allclose(gradient[2, 2], slope, rtol=1e-3)


def test_ctc_of_joined_targets():
    logits = Tensor(normal(8, 2, 4))
    log_probs = F.log_softmax(logits, 2)
    rows = Tensor([[1, 2, 3], [3, 1, 0]], ms.int64)
    joined = Tensor([1, 2, 3, 3, 1], ms.int64)
    lengths = Tensor([8, 7]), Tensor([3, 2])
    np.testing.assert_allclose(
        F.ctc_loss(log_probs, joined, *lengths).asnumpy(), F.ctc_loss(log_probs, rows, *lengths).asnumpy(), rtol=1e-6
    )


def test_what_torch_makes_anew_has_memory_of_its_own():
    x = F.full((2, 3), 1.5)
    x[0] = 3.0
    np.testing.assert_array_equal(x.asnumpy(), [[3.0] * 3, [1.5] * 3])
    square = Tensor(normal(3, 3))
    before = square.asnumpy().copy()
    F.diag(square)[0] = 9.0
    np.testing.assert_array_equal(square.asnumpy(), before)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_take_every_has_a_gradient(axis):
    x = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
    value, gradient = ms.value_and_grad(lambda t: (F.take_every(t, 2, axis, 1, 4) * 3).sum())(ms.Tensor(x))
    expected = np.zeros_like(x)
    np.moveaxis(expected, axis, 0)[1:4:2] = 3
    np.testing.assert_array_equal(gradient.asnumpy(), expected)
    assert float(value) == float((x * expected).sum())


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize(("start", "stop"), [(0, 0), (None, 0), (0, 2), (1, -1), (-5, -4)])
def test_parts_that_may_hold_nothing_have_a_gradient(axis, start, stop):
    x = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
    expected = 2 * x
    np.moveaxis(expected, axis, 0)[start:stop] += 3
    gradient = ms.grad(lambda t: (F.span(t, axis, stop, start) * 3).sum() + (t * t).sum())(ms.Tensor(x))
    np.testing.assert_array_equal(gradient.asnumpy(), expected)
    expected = 2 * x
    np.moveaxis(expected, axis, 0)[start:stop:2] += 3
    gradient = ms.grad(lambda t: (F.take_every(t, 2, axis, start, stop) * 3).sum() + (t * t).sum())(ms.Tensor(x))
    np.testing.assert_array_equal(gradient.asnumpy(), expected)


def test_a_part_of_an_array_is_read_as_one_of_a_tensor():
    np.testing.assert_array_equal(F.span(np.arange(6).reshape(2, 3), axis=-1, stop=2), [[0, 1], [3, 4]])
    assert F.span(np.ones((2, 3)), axis=1, stop=0).shape == (2, 0)


@pytest.mark.parametrize("dim", [0, -1])
def test_reductions_of_a_number(dim):
    number = Tensor(2.5, ms.float32)
    for result in (
        F.cumsum(number, dim), *F.kthvalue(number, 1, dim)[:1], *F.median(number, dim)[:1], F.cummin(number, dim)[0],
        F.mode(number, dim)[0],
    ):  # fmt: skip
        assert result.shape == ()
        assert float(result) == 2.5
    assert F.softmax(number, dim).shape == ()
    assert float(F.softmax(number, dim)) == 1
    for places in (F.kthvalue(number, 1, dim)[1], F.cummin(number, dim)[1], F.mode(number, dim)[1]):
        assert places.shape == ()
        assert int(places) == 0
    assert float(ms.grad(lambda x: F.cumsum(x, dim) * 3)(number)) == 3


def test_places_of_a_number():
    assert F.nonzero(Tensor(2.5)).shape == (1, 0)
    assert F.nonzero(Tensor(2.5), as_tuple=True)[0].asnumpy().tolist() == [0]


def test_extrema_of_bools():
    bools = Tensor([[True, False], [True, True]])
    assert bool(F.max(bools))
    assert not bool(F.min(bools))
    values, places = F.min(bools, 1)
    assert values.dtype == ms.bool_
    assert values.asnumpy().tolist() == [False, True]
    assert places.asnumpy().tolist() == [1, 0]
    assert F.max(bools, 0)[1].asnumpy().tolist() == [0, 1]


@pytest.mark.skipif(not hasattr(ms, "bfloat16"), reason="MindSpore 2.0 has no bfloat16")
def test_what_a_bfloat16_holds():
    info = F.finfo(ms.bfloat16)
    assert (info.bits, info.eps, info.tiny) == (16, 0.0078125, 1.1754943508222875e-38)
    assert info.max == -info.min == 3.3895313892515355e38
    assert F.finfo(ms.float16).max == 65504


def test_the_gradients_of_symmetric_matrices_are_symmetric():
    spd = np.array([[3.0, 1.0], [1.0, 2.0]], np.float32)
    for function in (lambda x: F.cholesky(x).sum(), lambda x: linalg.eigvalsh(x).max()):
        gradient = ms.grad(function)(Tensor(spd)).asnumpy()
        np.testing.assert_allclose(gradient, gradient.T, rtol=1e-5)
        assert gradient[0, 1] != 0
    upper = np.array([[3.0, 1.0], [9.0, 2.0]], np.float32)
    np.testing.assert_allclose(F.cholesky(Tensor(upper), upper=True).asnumpy(), np.linalg.cholesky(spd).T, rtol=1e-5)


def test_quantiles_have_a_gradient():
    x = Tensor(np.array([4.0, 1.0, 3.0], np.float32))
    gradient = ms.grad(lambda x: (F.quantile(x, Tensor([0.25, 0.5])) * Tensor([1.0, 10.0])).sum())(x)
    np.testing.assert_allclose(gradient.asnumpy(), [0, 0.5, 10.5])
    assert np.isnan(F.quantile(Tensor([1.0, float("nan")]), 0.5).asnumpy())


def test_spectra_are_real_and_imaginary_parts_unless_complex_ones_are_asked_for():
    x = Tensor(np.random.default_rng(0).standard_normal((2, 64)), ms.float32)
    whole = F.stft(x, 16, return_complex=True).asnumpy()
    parts = F.stft(x, 16).asnumpy()
    assert parts.shape == (*whole.shape, 2)
    np.testing.assert_array_equal(parts[..., 0] + 1j * parts[..., 1], whole)


def test_numbers_are_rounded_to_tens() -> None:
    values = ms.Tensor([5.0, -12.5, 26.0], ms.float64)
    assert F.round(values, decimals=-1).asnumpy().tolist() == [0.0, -10.0, 30.0]


def test_a_binary_cross_entropy_has_the_dtype_of_its_targets() -> None:
    logits, target = ms.Tensor([1.0], ms.float64), ms.Tensor([1.0], ms.float32)
    assert F.binary_cross_entropy_with_logits(logits, target).dtype == ms.float32
    assert F.binary_cross_entropy_with_logits(logits, target.astype(ms.float64)).dtype == ms.float64


def test_sums_of_bools_are_bools() -> None:
    flags = ms.Tensor([True, False])
    assert F.add(flags, flags).asnumpy().tolist() == [True, False]
    assert F.add(flags, ms.Tensor([1, 1]), alpha=2).asnumpy().tolist() == [3, 2]


@pytest.mark.parametrize("other", [np.int64(2), np.float32(2), np.array([1, 2, 5])])
def test_a_tensor_is_compared_with_what_numpy_holds(other):
    values = np.array([1, 2, 3])
    for found, expected in (
        (F.equals(Tensor(values), other), values == other),
        (F.equals(other, Tensor(values)), values == other),
        (F.differs(Tensor(values), other), values != other),
    ):
        assert isinstance(found, Tensor)
        assert found.asnumpy().tolist() == expected.tolist()
    assert F.equals("a", "a") is True


def test_what_numpy_holds_behind_a_tensor():
    x = Tensor(np.ones((2, 1), np.float32))
    assert (x * F.operand(np.full((2, 1), 3, np.float32))).asnumpy().tolist() == [[3.0], [3.0]]
    assert (x * F.operand(np.array(3.0))).dtype == x.dtype
    assert F.operand(2) == 2
    assert F.operand(x) is x


def test_tensors_in_lists_count_as_numbers():
    one = Tensor(np.ones((1, 1), np.float32))
    assert F.of_numbers([[[one], [2]]]).shape == (1, 2, 1)
    assert F.of_numbers([Tensor(np.array([1.0]))]).dtype == ms.float64
    assert F.of_numbers([]).shape == (0,)
    with pytest.raises(ValueError, match="one element"):
        F.numbers([Tensor(np.ones(2, np.float32))])


def test_ldexp_of_floats_keeps_their_dtype():
    powers = Tensor([1, 2])
    assert F.ldexp(Tensor([1.0, 2.0], ms.float16), powers).dtype == ms.float16
    assert F.ldexp(Tensor([1, 2]), powers).dtype == ms.float32


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.0, float("inf")])
def test_distances_from_what_is_no_number(p: float) -> None:
    x, y = Tensor([[1.0, np.nan], [1.0, 2.0]]), Tensor([[4.0, 2.0]])
    found = F.cdist(x, y, p).asnumpy()
    expected = 3.0 if p == float("inf") else np.nan  # PyTorch's largest difference passes it by
    np.testing.assert_array_equal(found[0, 0], np.float32(expected))
    assert found[1, 0] == (1.0 if p == 0 else 3.0)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: F.pad(x, (0, 0)),
        lambda x: F.pad(x, (0, -1)),
        lambda x: F.roll(x, 0, 0),
        lambda x: F.roll(x, 0),
        F.new_tensor,
    ],
)
def test_what_torch_copies_has_memory_of_its_own(function) -> None:
    x = ms.Tensor([1.0, 2.0, 3.0])
    function(x)[0] = 9
    assert x[0] == 1
