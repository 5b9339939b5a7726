"""Functions that are computed in float64 on a CPU, and gradients that a kernel's first call would spoil."""

from __future__ import annotations

import math

import mindspore as ms
import numpy as np
import pytest

from torch2ms.runtime import functional as F
from torch2ms.runtime import layers

POINTS = np.linspace(-9, 9, 257, dtype=np.float32)


@pytest.mark.parametrize("name", ["exp", "expm1", "log", "log1p", "log2", "log10", "tanh"])
def test_values_and_gradients_are_rounded_once(name: str) -> None:
    points = np.abs(POINTS) + 0.5 if name.startswith("log") else POINTS
    wide = points.astype(np.float64)
    exact = getattr(np, name)(wide)
    slope = {"exp": exact, "expm1": exact + 1, "tanh": 1 - exact**2, "log1p": 1 / (1 + wide)}.get(name)
    slope = 1 / (wide * np.log({"log2": 2, "log10": 10}.get(name, np.e))) if slope is None else slope
    value, gradient = ms.value_and_grad(lambda x: getattr(F, name)(x).sum())(ms.Tensor(points))
    assert value.dtype == gradient.dtype == ms.float32
    np.testing.assert_allclose(getattr(F, name)(ms.Tensor(points)).asnumpy(), exact, rtol=2e-7, atol=1e-12)
    np.testing.assert_allclose(gradient.asnumpy(), slope, rtol=3e-7, atol=1e-12)


def test_integers_give_floats_and_other_floats_stay() -> None:
    assert F.exp(ms.Tensor([1, 2])).dtype == ms.float32
    assert F.tanh(ms.Tensor(np.ones(2, np.float64))).dtype == ms.float64
    assert F.log(ms.Tensor(np.ones(2, np.float16))).dtype == ms.float16


def test_graph_mode_computes_the_same() -> None:
    x = ms.Tensor(POINTS)
    np.testing.assert_array_equal(ms.jit(F.tanh)(x).asnumpy(), F.tanh(x).asnumpy())


def test_a_softmax_along_one_place_leaves_later_gradients_right() -> None:
    """The first gradient of a number of axes makes the kernel of all later ones: MindSpore's own is wrong then."""

    def gradient(x: np.ndarray) -> np.ndarray:
        weights = ms.Tensor(np.arange(x.size, dtype=np.float32).reshape(x.shape))
        return ms.grad(lambda t: (layers.Softmax(-1)(t) * weights).sum())(ms.Tensor(x)).asnumpy()

    assert not gradient(np.ones((2, 1, 1, 2, 1), np.float32)).any()
    x = np.random.default_rng(0).standard_normal((2, 1, 3, 2, 4)).astype(np.float32)
    soft = np.exp(x.astype(np.float64)) / np.exp(x.astype(np.float64)).sum(-1, keepdims=True)
    weights = np.arange(x.size, dtype=np.float64).reshape(x.shape)
    np.testing.assert_allclose(gradient(x), soft * (weights - (weights * soft).sum(-1, keepdims=True)), atol=1e-5)


def test_a_softmax_along_one_place_is_one_and_keeps_what_is_no_number() -> None:
    assert F.softmax(ms.Tensor([[3.0], [np.nan]]), -1).asnumpy().tolist()[0] == [1.0]
    assert np.isnan(F.softmax(ms.Tensor([[3.0], [np.nan]]), -1).asnumpy()[1, 0])


def test_attention_to_one_key_takes_no_softmax_of_mindspores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its gradient along one place would spoil those of all attention after it."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a softmax along one place")

    monkeypatch.setattr(ms.ops, "softmax", refuse)
    random = np.random.default_rng(0)
    query, key = (ms.Tensor(random.standard_normal((n, 2, 8)).astype(np.float32)) for n in (5, 1))
    for options in ({}, {"batch_first": True}, {"bias": False}, {"kdim": 8, "vdim": 4}):
        turned = bool(options.get("batch_first"))
        layer = layers.MultiheadAttention(8, 2, **options)
        q, k = (x.swapaxes(0, 1) for x in (query, key)) if turned else (query, key)
        v = k[..., : layer.vdim]
        found, weights = layer(q, k, v)
        values = layer.in_proj_weight[16:] if layer.v_proj_weight is None else layer.v_proj_weight
        expected = v.asnumpy() @ values.asnumpy().T
        expected = expected if options.get("bias") is False else expected + layer.in_proj_bias.asnumpy()[16:]
        np.testing.assert_allclose(
            found.asnumpy(), np.broadcast_to(layer.out_proj(ms.Tensor(expected)).asnumpy(), found.shape), atol=1e-5
        )
        assert weights.shape == (2, 5, 1)
        assert (weights.asnumpy() == 1).all()
        assert layer(q, k, v, need_weights=False)[1] is None
    one = ms.Tensor(np.ones((2, 1, 4), np.float32))
    np.testing.assert_array_equal(F.scaled_dot_product_attention(one * 3, one, one * 2).asnumpy(), 2)


def test_attention_to_nothing_is_the_bias() -> None:
    layer = layers.MultiheadAttention(8, 2)
    found, weights = layer(ms.Tensor(np.ones((5, 2, 8), np.float32)), *[ms.ops.zeros((0, 2, 8))] * 2)
    np.testing.assert_array_equal(found.asnumpy(), np.broadcast_to(layer.out_proj.bias.asnumpy(), (5, 2, 8)))
    assert weights.shape == (2, 5, 0)
    empty = ms.ops.zeros((2, 0, 4))
    assert not F.scaled_dot_product_attention(ms.ops.ones((2, 3, 4)), empty, empty).asnumpy().any()


def test_the_product_of_complex_numbers_has_a_gradient() -> None:
    rng = np.random.default_rng(1)
    a, b, c, d = (rng.standard_normal(4).astype(np.float32) for _ in range(4))

    def real_part(x: ms.Tensor) -> ms.Tensor:
        left, right = F.complex(x, ms.Tensor(b)), F.complex(ms.Tensor(c), ms.Tensor(d))
        return (F.complex_product(left, right).real() + F.complex_product(ms.Tensor(c), left).imag()).sum()

    value, gradient = ms.value_and_grad(real_part)(ms.Tensor(a))
    np.testing.assert_allclose(value.asnumpy(), (a * c - b * d + b * c).sum(), rtol=1e-5)
    np.testing.assert_allclose(gradient.asnumpy(), c, rtol=1e-6)


@pytest.mark.parametrize("kinds", ["cc", "rc", "cr", "nr", "nc", "rn", "cn"])
def test_products_and_quotients_of_complex_and_real_numbers(kinds: str) -> None:
    rng = np.random.default_rng(2)
    plain = [rng.standard_normal(3).astype(np.float32) for _ in range(4)]
    both = {"c": [plain[0] + 1j * plain[1], plain[2] + 1j * plain[3]], "r": [plain[0], plain[2]], "n": [2 - 3j, 1j]}
    a, b = both[kinds[0]][0], both[kinds[1]][1]
    given = [value if isinstance(value, complex) else ms.Tensor(value.astype(_NARROW[kind]))
             for value, kind in zip((a, b), kinds, strict=True)]  # fmt: skip
    np.testing.assert_allclose(F.complex_product(*given).asnumpy(), a * b, rtol=1e-5)
    np.testing.assert_allclose(F.complex_quotient(*given).asnumpy(), a / b, rtol=1e-5)


def test_a_complex_quotient_by_zero_and_by_small_numbers() -> None:
    a = np.asarray([1 + 1j, -2j, 3, 1 + 1j], np.complex64)
    b = np.asarray([0, 0, 0, 1e-25 - 2e-25j], np.complex64)
    found = F.complex_quotient(ms.Tensor(a), ms.Tensor(b)).asnumpy()
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(found, a / b, rtol=1e-5)
    assert np.isnan(F.complex_quotient(2, ms.Tensor(b)).asnumpy()[:3]).all()  # PyTorch's: 2 times the reciprocal


def test_products_and_quotients_without_a_tensor_are_numpys() -> None:
    assert F.complex_product(1j, 2.0) == 2j
    np.testing.assert_array_equal(F.complex_quotient(np.arange(3), 1j), np.arange(3) / 1j)
    real = ms.Tensor([1.0, 2.0])
    np.testing.assert_array_equal(F.complex_quotient(real, real).asnumpy(), [1, 1])
    np.testing.assert_array_equal(F.complex_product(real, real).asnumpy(), [1, 4])


def test_products_and_quotients_of_real_tensors_and_real_numbers_are_real() -> None:
    real = ms.Tensor([1.0, 2.0])
    for found, expected in (
        (F.complex_product(real, 2), [2, 4]),
        (F.complex_product(0.5, real), [0.5, 1]),
        (F.complex_quotient(real, 2), [0.5, 1]),
        (F.complex_quotient(2.0, real), [2, 1]),
    ):
        assert found.dtype == ms.float32
        np.testing.assert_array_equal(found.asnumpy(), expected)


_NARROW = {"c": np.complex64, "r": np.float32}


def test_the_variance_of_one_infinity_is_no_number() -> None:
    assert np.isnan(float(F.var(ms.tensor([np.inf]))))
    assert float(F.var(ms.tensor([1.0, 3.0]), correction=2)) == np.inf


@pytest.mark.parametrize("name", ["expm1", "log1p"])
def test_digits_near_zero_stay(name: str) -> None:
    points = np.array([-3e-7, 1e-8, 2e-5], np.float32)
    exact = getattr(np, name)(points.astype(np.float64))
    assert getattr(F, name)(ms.Tensor(points)).asnumpy() == pytest.approx(exact, rel=1e-6, abs=0)


def test_the_inverse_of_the_error_function_up_to_its_ends() -> None:
    points = np.array([-0.999999, -0.9, 0.0, 0.5, 0.999], np.float32)
    found = F.erfinv(ms.Tensor(points)).asnumpy()
    assert [math.erf(value) for value in found] == pytest.approx(points.tolist(), abs=1e-7)
    slopes = ms.grad(lambda x: F.erfinv(x).sum())(ms.Tensor(points)).asnumpy()
    assert slopes == pytest.approx(math.sqrt(math.pi) / 2 * np.exp(found.astype(np.float64) ** 2), rel=1e-5)
    assert np.isposinf(F.erfinv(ms.Tensor([1.0])).asnumpy()).all()
    assert np.isnan(F.erfinv(ms.Tensor([1.5])).asnumpy()).all()
    assert F.erfinv(ms.Tensor([0.5], ms.float16)).dtype == ms.float16


def test_numbers_beside_float64_keep_their_digits() -> None:
    x = ms.Tensor(np.full(2, -0.1))
    assert F.leaky_relu(x, 0.1).asnumpy()[0] == -0.1 * 0.1
    assert F.rrelu(x, 0.1, 0.3).asnumpy()[0] == -0.1 * 0.2
    normal = F.layer_norm(ms.Tensor([0.1, 0.3], ms.float64), (2,), eps=1e-3).asnumpy()
    np.testing.assert_allclose(normal, np.array([-0.1, 0.1]) / np.sqrt(0.01 + 1e-3), rtol=1e-14)
    counted = F.arange(0.1, 1.0, 0.3, dtype=ms.float64).asnumpy()
    np.testing.assert_allclose(counted, [0.1, 0.4, 0.7], rtol=1e-15)
    assert F.arange(0.1, -7.9, -4.0, dtype=ms.int64).asnumpy().tolist() == [0, -4]
    assert F.arange(3, 1.5, dtype=ms.float32).shape == (0,)
