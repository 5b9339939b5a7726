"""Gradients that can be differentiated again."""

from __future__ import annotations

import mindspore as ms
import numpy as np
import pytest
from mindspore import nn, ops

from torch2ms.runtime import autograd, derivatives


class Critic(nn.Cell):
    """Changes the shape between two layers, which PyNative forgets when it differentiates the gradient again."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Dense(3, 4), nn.Dense(8, 1)

    def construct(self, x):
        return self.last(ops.tanh(self.first(x)).reshape(x.shape[0], 8))


def made(kind=Critic):
    network = kind()
    for index, weight in enumerate(network.get_parameters()):
        values = np.sin(np.arange(weight.size) * 1.7 + index).reshape(weight.shape)
        weight.set_data(ms.Tensor(values.astype(np.float32)))
    return network, ms.Tensor(np.cos(np.arange(30)).reshape(5, 2, 3).astype(np.float32))


def penalty(network, x, **options):
    return ops.square(derivatives.by_input(network, x, **options)).sum()


@pytest.mark.parametrize("weighed", [False, True])
def test_its_own_gradient_is_that_of_finite_differences(weighed):
    network, x = made()
    options = {"seed": ms.Tensor(np.arange(5, dtype=np.float32).reshape(5, 1))} if weighed else {}
    weights = network.trainable_params()
    gradients = ms.grad(lambda: penalty(network, x, **options), None, weights)()
    for weight, gradient in zip(weights[:3], gradients[:3], strict=True):  # the last bias has no part in it
        before, direction = weight.asnumpy().copy(), np.cos(np.arange(weight.size)).reshape(weight.shape)
        values = []
        for step in (0.01, -0.01):
            weight.set_data(ms.Tensor((before + step * direction).astype(np.float32)))
            values.append(float(penalty(network, x, **options)))
        weight.set_data(ms.Tensor(before))
        expected = (values[0] - values[1]) / 0.02
        assert float((gradient.asnumpy() * direction).sum()) == pytest.approx(expected, rel=5e-3, abs=1e-3)
        assert expected != pytest.approx(0, abs=1e-2)


def test_it_is_compiled_once_for_each_mode():
    network, x = made()
    network.set_train()
    for _ in range(3):
        ms.ops.assign(network.last.weight, network.last.weight * 2)
        derivatives.by_input(network, x)
    compiled = dict(network.__dict__["_torch2ms_gradients"])
    network.set_train(False)
    derivatives.by_input(network, x)
    assert network.__dict__["_torch2ms_gradients"].items() > compiled.items()
    assert len(network.__dict__["_torch2ms_gradients"]) == 2


def test_a_layer_in_another_mode_is_seen():
    network, x = made()
    network.last = nn.SequentialCell(nn.Dropout(p=1 - 1e-9), network.last)
    network.set_train(False)
    assert np.abs(derivatives.by_input(network, x).asnumpy()).sum() > 0
    network.last.set_train()
    assert np.abs(derivatives.by_input(network, x).asnumpy()).sum() == 0


def test_a_number_that_a_layer_keeps_is_seen():
    """Networks that grow fade their layers in: ``self.alpha`` changes from step to step."""

    class Fading(Critic):
        alpha = 1.0

        def construct(self, x):
            return super().construct(x) * self.alpha

    network, x = made(Fading)
    network.alpha = 1.0
    first = derivatives.by_input(network, x).asnumpy()
    network.alpha = 0.5
    np.testing.assert_allclose(derivatives.by_input(network, x).asnumpy(), first / 2, rtol=1e-5)


def replaced(weight):
    weight.set_data(weight * 2)


def loaded(weight):
    weight.assign_value(ms.Tensor(weight.asnumpy() * 2))


def written(weight):
    weight[...] = weight * 2


def assigned(weight):
    ops.assign(weight, weight * 2)


@pytest.mark.parametrize("change", [replaced, loaded, written, assigned])
def test_it_sees_what_became_of_a_weight(change):
    """A compiled function of MindSpore's goes on with the memory that a replaced weight had."""
    network, x = made()
    first = derivatives.by_input(network, x).asnumpy()
    change(network.last.weight)
    np.testing.assert_allclose(derivatives.by_input(network, x).asnumpy(), 2 * first, rtol=1e-5)


def test_what_cannot_be_compiled_says_so():
    class Stubborn(nn.Cell):
        def construct(self, x):
            yield x

    with pytest.raises(RuntimeError, match="the gradient of Stubborn by its input is differentiated again, which only"):
        derivatives.by_input(Stubborn(), ms.Tensor([1.0]))


def test_gradients_by_dictionaries_and_lists_come_as_such():
    held = {"a": ms.Tensor([1.0, 2.0]), "b": ms.Tensor([3.0, 4.0])}
    found = derivatives.grad(lambda p: (p["a"] * p["b"]).sum())(held)
    assert {name: value.asnumpy().tolist() for name, value in found.items()} == {"a": [3.0, 4.0], "b": [1.0, 2.0]}
    slopes, value = derivatives.grad_and_value(lambda p, k: (p[0] * k).sum())([held["a"]], 2.0)
    assert [slope.asnumpy().tolist() for slope in slopes] == [[2.0, 2.0]]
    assert float(value) == 6.0
    assert float(derivatives.grad(lambda x: x * x)(ms.Tensor(3.0))) == 6.0


def test_a_network_computes_with_other_weights_for_one_call():
    network = nn.SequentialCell(nn.Dense(2, 2), nn.LayerNorm([2], 1, 1, epsilon=1e-5))
    x = ms.Tensor([[1.0, 2.0]])
    before = network(x).asnumpy()
    given = {"0.weight": ops.eye(2), "1.bias": ops.full((2,), 5.0, dtype=ms.float32)}  # PyTorch's names
    found = derivatives.functional_call(network, given, x).asnumpy()
    assert not np.allclose(found, before)
    assert np.array_equal(network(x).asnumpy(), before)

    def loss(parameters):
        return derivatives.functional_call(network, (parameters,), (x,)).sum()

    slopes = derivatives.grad(loss)(given)
    assert slopes["1.bias"].asnumpy().tolist() == [1.0, 1.0]
    with pytest.raises(KeyError):
        derivatives.functional_call(network, {"7.weight": x}, x)
    assert np.array_equal(network(x).asnumpy(), before)


def test_an_argument_is_counted_from_the_end_as_well():
    x, y = ms.Tensor([1.0, 2.0]), ms.Tensor([3.0, 5.0])
    by_last = derivatives.hessian_of(lambda a, b: (a * b**2).sum(), argnums=-1)(x, y)
    np.testing.assert_allclose(by_last.asnumpy(), [[2.0, 0.0], [0.0, 4.0]])
    slopes = derivatives.jacobian_of(lambda a: a**2, argnums=-1)(x)
    np.testing.assert_allclose(slopes.asnumpy(), [[2.0, 0.0], [0.0, 4.0]])


def test_one_tensor_in_several_places_is_several_arguments():
    x = ms.Tensor(2.0)

    def weighed(a, b):
        return 1 * a[0] + 2 * a[1] + 3 * b["foo"]

    (first, second), third = derivatives.grad(weighed, argnums=(0, 1))((x, x), {"foo": x})
    assert [float(first), float(second), float(third["foo"])] == [1.0, 2.0, 3.0]
    value, pull = derivatives.vjp_of(lambda a: a[0] * a[1][0], (x, (x, x)))
    ((by_first, (by_second, by_third)),) = pull(ms.Tensor(1.0))
    assert [float(value), float(by_first), float(by_second), float(by_third)] == [4.0, 2.0, 2.0, 0.0]


def test_what_comes_beside_the_value_stays_as_it_is():
    x = ms.Tensor([1.0, 2.0])
    slope, beside = derivatives.grad(lambda a, k=1: (k * (a * a).sum(), {"twice": a * 2}), has_aux=True)(x, k=3)
    assert slope.asnumpy().tolist() == [6.0, 12.0]
    assert beside["twice"].asnumpy().tolist() == [2.0, 4.0]
    slope, (value, beside) = derivatives.grad_and_value(lambda a: ((a * a).sum(), a * 3), has_aux=True)(x)
    assert (slope.asnumpy().tolist(), float(value), beside.asnumpy().tolist()) == ([2.0, 4.0], 5.0, [3.0, 6.0])


def test_one_argument_in_a_tuple_gives_a_tuple():
    x, y = ms.Tensor([1.0, 2.0]), ms.Tensor([3.0, 5.0])
    (slope,) = derivatives.grad(lambda a, b: (a * b).sum(), argnums=(1,))(x, y)
    assert slope.asnumpy().tolist() == [1.0, 2.0]
    first, last = derivatives.jacobian_of(lambda a, b: a * b, argnums=(0, 1))(x, y)
    assert first.asnumpy().tolist() == [[3.0, 0.0], [0.0, 5.0]]
    assert last.asnumpy().tolist() == [[1.0, 0.0], [0.0, 2.0]]
    ((second,),) = derivatives.hessian_of(lambda a: (a**3).sum(), argnums=(0,))(x)
    np.testing.assert_allclose(second.asnumpy(), [[6.0, 0.0], [0.0, 12.0]])


def test_derivatives_in_a_direction_have_the_shape_of_the_value():
    x = ms.Tensor(2.0)

    def parts(a, b):
        return [a[0] * b, {"square": a[1] ** 2}]

    value, slopes = derivatives.jvp_of(parts, ((x, x), x), ((ms.Tensor(1.0), ms.Tensor(1.0)), ms.Tensor(0.0)))
    assert isinstance(value, list)
    assert [float(value[0]), float(value[1]["square"])] == [4.0, 4.0]
    assert [float(slopes[0]), float(slopes[1]["square"])] == [2.0, 4.0]
    value, slope, beside = derivatives.jvp_of(lambda a: (a * 3, "beside"), (x,), (ms.Tensor(1.0),), has_aux=True)
    assert (float(value), float(slope), beside) == (6.0, 3.0, "beside")
    value, along = derivatives.linearize(lambda a: {"cube": a["x"] ** 3}, {"x": x})
    assert [float(value["cube"]), float(along({"x": ms.Tensor(1.0)})["cube"])] == [8.0, 12.0]


def test_containers_of_weights_and_a_mode_without_gradients():
    x = ms.Tensor(2.0)
    with autograd.no_grad():
        value, pull = derivatives.vjp_of(lambda a: {"x": a, "twice": [a * 2]}, x)
        assert [float(value["x"]), float(value["twice"][0])] == [2.0, 4.0]
        assert float(pull({"x": ms.Tensor(1.0), "twice": [ms.Tensor(10.0)]})[0]) == 21.0
        assert float(derivatives.grad(lambda a: a**2)(x)) == 4.0
        assert not autograd.is_grad_enabled()


def test_a_gradient_in_no_grad_is_a_constant_of_the_function_around_it():
    def around(a):
        cube = a**3
        with autograd.no_grad():
            inner = derivatives.grad(lambda b: 0.25 * b**4)(a) + derivatives.grad(lambda b, c: b * c["x"])(a, {"x": a})
            value, pull = derivatives.vjp_of(ops.sin, a)
            inner = inner + value + pull(ms.Tensor(1.0))[0]
        return cube - inner

    assert float(derivatives.grad(around)(ms.Tensor(1.5))) == 6.75
