"""Gradients that are kept with the weights."""

from __future__ import annotations

import mindspore as ms
import numpy as np
import pytest
from mindspore.experimental import optim

from torch2ms.runtime import autograd, functional, gradients
from torch2ms.runtime import optim as t2m_optim

pytestmark = pytest.mark.slow


def weights() -> list[ms.Parameter]:
    return [ms.Parameter(ms.Tensor([1.0, 2.0], ms.float32), name=name) for name in "ab"]


def grads(*values: float) -> list[ms.Tensor]:
    return [ms.Tensor([value, value], ms.float32) for value in values]


class Plain(gradients.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    def step(self):
        for group in self.param_groups:
            for weight in group["params"]:
                grad = gradients.of(weight)
                if grad is not None:
                    self.state[weight]["steps"] = self.state[weight].get("steps", 0) + 1
                    self.state[weight]["last"] = grad.value().copy()
                    ms.ops.assign(weight, weight - group["lr"] * grad)


def test_gradients_add_up_until_they_are_forgotten() -> None:
    first, second = weights()
    gradients.keep([first, second], grads(1, 2))
    gradients.keep([first], grads(3))
    assert gradients.of(first).asnumpy().tolist() == [4, 4]
    ms.ops.assign(gradients.of(first), gradients.of(first) * 2)
    assert gradients.of(first).asnumpy().tolist() == [8, 8]
    gradients.put(second, None)
    assert gradients.of(second) is None
    gradients.reset([first])
    assert gradients.of(first) is None


def test_gradients_become_zeros_where_that_is_asked_for() -> None:
    first, second = weights()
    gradients.keep([first, second], grads(1, 2))
    gradients.put(second, None)
    gradients.reset([first, second], set_to_none=False)
    assert gradients.of(first).asnumpy().tolist() == [0, 0]
    assert gradients.of(second) is None
    gradients.reset([first])
    assert gradients.of(first) is None


def test_what_has_no_gradient_is_told_apart() -> None:
    trained, other = weights()
    gradients.keep([trained], grads(1))
    with pytest.raises(ValueError, match="the optimizer does not train it"):
        gradients.of(other)
    with pytest.raises(TypeError, match="only weights"):
        gradients.of(ms.Tensor(1.0))
    gradients.reset([trained])


def test_a_weight_without_a_gradient_stays_and_so_do_its_moments() -> None:
    pair = weights()
    optimizer = optim.SGD(pair, lr=0.5, momentum=0.9, weight_decay=0.1)
    gradients.keep(pair, grads(1, 1))
    gradients.update(optimizer)
    before = [pair[1].asnumpy().copy(), optimizer.accum[1].asnumpy().copy()]
    gradients.put(pair[1], None)
    gradients.update(optimizer)
    assert np.array_equal(pair[1].asnumpy(), before[0])
    assert np.array_equal(optimizer.accum[1].asnumpy(), before[1])
    gradients.reset(optimizer)


def test_an_optimizer_of_ones_own_goes_on_from_its_state() -> None:
    pair = weights()
    optimizer = Plain(pair, lr=0.5)
    optimizer(grads(1, 2))
    assert pair[1].asnumpy().tolist() == [0, 1]
    assert gradients.of(pair[0]) is None
    saved = t2m_optim.state_dict(optimizer)
    other = Plain(pair, lr=0.5)
    t2m_optim.load_state_dict(other, saved)
    assert other.state[pair[1]]["steps"] == 1
    assert other.state[pair[1]]["last"].asnumpy().tolist() == [2, 2]


def test_norms_of_what_is_kept() -> None:
    pair = weights()
    gradients.keep(pair, grads(3, 4))
    assert float(gradients.clip_norm(pair, 1.0)) == pytest.approx(50**0.5)
    assert float(gradients.clip_norm(pair, 9.0)) == pytest.approx(1.0, abs=1e-5)
    gradients.clip_value(pair, 0.1)
    assert max(abs(gradients.of(pair[1]).asnumpy())) == pytest.approx(0.1)
    gradients.reset(pair)


def test_gradients_that_go_with_a_loss() -> None:
    held = weights()
    gradients.hand_over(held, grads(1.0, 2.0))
    with pytest.raises(NotImplementedError):
        gradients.take_over(create_graph=True)
    gradients.take_over()
    np.testing.assert_array_equal(gradients.of(held[1]).asnumpy(), [2.0, 2.0])
    with pytest.raises(RuntimeError, match="hand_over"):
        gradients.take_over()
    gradients.reset(held)


def test_options_that_every_group_must_give() -> None:
    class Descent(gradients.Optimizer):
        def __init__(self, params: object, lr: object = gradients.required) -> None:
            super().__init__(params, {"lr": lr, "weight_decay": 0.0})

    weight = ms.Parameter(ms.Tensor([1.0]), name="w")
    assert repr(gradients.required) == "<required parameter>"
    assert float(Descent([{"params": [weight], "lr": 0.5}]).param_groups[0]["lr"]) == 0.5
    with pytest.raises(ValueError, match="required optimization parameter lr"):
        Descent([weight])


def test_modes_of_recording_nest():
    x = ms.tensor([1.0, 2.0])

    def loss(x):
        with autograd.no_grad():
            frozen = x * 10
            with autograd.enable_grad():
                kept = x * 2
            inner = autograd.is_grad_enabled()
        with autograd.set_grad_enabled(False):
            frozen = frozen + x * 10
        assert not inner
        assert autograd.is_grad_enabled()
        return (frozen + kept).sum()

    assert ms.grad(loss)(x).asnumpy().tolist() == [2.0, 2.0]
    autograd.set_grad_enabled(False)
    assert not autograd.is_grad_enabled()
    autograd.set_grad_enabled(True)
    assert autograd.is_grad_enabled()


def test_whether_a_gradient_may_be_asked_for_is_told_while_a_gradient_function_runs():
    weight, frozen = ms.Parameter(ms.tensor([2.0]), name="w"), ms.Parameter(ms.tensor([2.0]), requires_grad=False)
    told = {}

    def loss(x):
        y = x * weight
        cut = ms.ops.stop_gradient(y)
        told.update(y=autograd.requires_grad(y), inside=autograd.records(), cut=autograd.requires_grad(cut))
        with autograd.no_grad():
            told.update(off=autograd.records())
        return y.sum()

    ms.value_and_grad(loss, None, [weight])(ms.tensor([3.0]))
    knows = getattr(ms.tensor([1.0]), "_requires_grad", None) is not None  # from 2.9 on
    assert told == {"y": True, "inside": True, "cut": not knows, "off": False}
    assert autograd.requires_grad(weight)
    assert not autograd.requires_grad(frozen)
    assert not autograd.records()
    assert not autograd.requires_grad(ms.tensor([1.0]) * weight)


def test_gradients_are_asked_for_inside_of_no_grad():
    @autograd.no_grad()
    def sample(x):
        with autograd.enable_grad():
            return ms.grad(lambda x: (x * x).sum())(x)

    assert sample(ms.tensor([3.0])).asnumpy().tolist() == [6.0]


def test_the_text_of_a_gradient_is_that_of_a_tensor() -> None:
    weight = ms.Parameter(ms.tensor([1.0, 2.0]), name="w")
    gradients.put(weight, ms.tensor([3.0, 4.0]))
    assert functional.tensor_text(gradients.of(weight)) == "tensor([3., 4.])"
    assert functional.tensor_text(weight).startswith("Parameter containing:\n")


def test_a_tensor_becomes_a_weight_once_and_keeps_what_it_held() -> None:
    base = ms.Tensor([1.0, 2.0, 3.0, 4.0], ms.float32)
    made = gradients.weight(base.view(2, 2))
    functional_sum = made + 1
    made[0] = 7.0
    assert isinstance(made, ms.Parameter)
    assert functional_sum.asnumpy().tolist() == [[2.0, 3.0], [4.0, 5.0]]
    assert base.asnumpy().tolist() == [1.0, 2.0, 3.0, 4.0]
    made.requires_grad = False
    assert gradients.weight(made) is made
    assert made.requires_grad


def test_a_step_of_the_programs_own_changes_the_gradients_of_torchs() -> None:
    from torch2ms.runtime import optimizers

    class Halved(optimizers.SGD):
        def step(self, closure=None):
            for weight in self.param_groups[0]["params"]:
                gradients.put(weight, gradients.of(weight) * 0.5)
            return super().step(closure)

    weight = ms.Parameter(ms.ops.ones((2,)), name="w")
    optimizer = Halved([weight], lr=1.0)
    optimizer((ms.ops.ones((2,)),))
    assert weight.asnumpy().tolist() == [0.5, 0.5]
    gradients.keep([weight], (ms.ops.ones((2,)),))
    gradients.update(optimizer)
    assert weight.asnumpy().tolist() == [0.0, 0.0]
