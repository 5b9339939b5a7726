"""Layers whose gradients can be differentiated again: held against finite differences of a gradient penalty."""

from __future__ import annotations

import mindspore as ms
import numpy as np
import pytest
from mindspore import nn, ops

from torch2ms.runtime import derivatives, layers, twice


class Critic(nn.Cell):
    """A convolution, the layer, and a sum that weighs all places differently."""

    def __init__(self, layer):
        super().__init__()
        self.first, self.layer = nn.Conv2d(2, 4, 3, pad_mode="pad", padding=1, has_bias=True), layer

    def construct(self, x):
        y = self.layer(ops.tanh(self.first(x))).reshape(x.shape[0], -1)
        return (y * ops.cos(ops.arange(y.shape[1]).astype(ms.float32))).sum(1)


LAYERS = {
    "average": lambda: twice.AvgPool2d(2),
    "average with padding": lambda: twice.AvgPool2d(3, 2, 1, count_include_pad=False),
    "adaptive": lambda: twice.AdaptiveAvgPool2d((1, 3)),
    "largest": lambda: twice.MaxPool2d(2),
    "largest with padding": lambda: twice.MaxPool2d(3, 2, 1),
    "groups": lambda: twice.GroupNorm(2, 4),
    "layers": lambda: twice.LayerNorm([4, 6, 6], eps=0.1),
    "prelu": lambda: twice.PReLU(4),
    "hardswish": lambda: twice.Hardswish(),
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_penalty_on_its_gradient_has_the_gradient_of_finite_differences(name: str) -> None:
    network = Critic(LAYERS[name]())
    weight = network.first.weight
    ops.assign(weight, ms.Tensor(np.sin(np.arange(72) * 1.7).reshape(4, 2, 3, 3).astype(np.float32)))
    ops.assign(network.first.bias, ms.Tensor(np.array([0.1, -0.2, 0.3, -0.1], np.float32)))
    x = ms.Tensor(np.cos(np.arange(144) * 0.9).reshape(2, 2, 6, 6).astype(np.float32))

    def penalty() -> ms.Tensor:
        return ops.square(derivatives.by_input(network, x)).sum()

    (gradient,) = ms.grad(penalty, None, [weight])()
    before, direction = weight.asnumpy().copy(), np.cos(np.arange(72)).reshape(weight.shape)
    values = []
    for step in (0.002, -0.002):
        ops.assign(weight, ms.Tensor((before + step * direction).astype(np.float32)))
        values.append(float(penalty()))
    expected = (values[0] - values[1]) / 0.004
    assert abs(expected) > 0.01
    assert float((gradient.asnumpy() * direction).sum()) == pytest.approx(expected, rel=2e-2)


def test_they_are_the_layers_whose_names_they_have() -> None:
    for name, make in LAYERS.items():
        layer = make()
        assert isinstance(layer, getattr(layers, type(layer).__name__)), name


TARGETS = {
    "labels": np.array([0, 2, 1, 2]),
    "one that is ignored": np.array([0, -100, 1, 2]),
    "probabilities": np.full((4, 3), 1 / 3, np.float32),
}


def test_cross_entropies_are_those_of_the_layers() -> None:
    x = ms.Tensor(np.sin(np.arange(12) * 1.7).reshape(4, 3).astype(np.float32) * 3)
    weight = ms.Tensor([0.5, 1.0, 2.0])
    for target in map(ms.Tensor, TARGETS.values()):
        for options in ({}, {"weight": weight}, {"label_smoothing": 0.1}, {"reduction": "sum"}):
            ours, theirs = twice.CrossEntropyLoss(**options), layers.CrossEntropyLoss(**options)
            assert float(ours(x, target)) == pytest.approx(float(theirs(x, target)), rel=1e-5)
    y = (x > 0).astype(ms.float32)
    for options in ({}, {"pos_weight": weight}, {"reduction": "sum"}):
        ours, theirs = twice.BCEWithLogitsLoss(**options), layers.BCEWithLogitsLoss(**options)
        assert float(ours(x, y)) == pytest.approx(float(theirs(x, y)), rel=1e-5)
        assert float(ours(x * 1e4, y)) == pytest.approx(float(theirs(x * 1e4, y)), rel=1e-5)


@pytest.mark.parametrize("name", [*TARGETS, "binary"])
def test_penalties_on_the_scale_of_logits_have_the_gradients_of_finite_differences(name: str) -> None:
    x = ms.Tensor(np.sin(np.arange(12) * 1.7).reshape(4, 3).astype(np.float32))
    weight = ms.Parameter(ms.Tensor(np.cos(np.arange(9)).reshape(3, 3).astype(np.float32)), name="weight")
    target = (x > 0).astype(ms.float32) if name == "binary" else ms.Tensor(TARGETS[name])
    loss = twice.binary_cross_entropy_with_logits if name == "binary" else twice.cross_entropy

    def penalty() -> ms.Tensor:
        logits = ops.matmul(x, weight)
        return ops.square(ms.grad(lambda scale: loss(logits * scale, target))(ms.Tensor(1.0)))

    (gradient,) = ms.grad(penalty, None, [weight])()
    before, direction = weight.asnumpy().copy(), np.sin(np.arange(9)).reshape(3, 3)
    values = []
    for step in (0.01, -0.01):
        ops.assign(weight, ms.Tensor((before + step * direction).astype(np.float32)))
        values.append(float(penalty()))
    expected = (values[0] - values[1]) / 0.02
    assert abs(expected) > 0.001
    assert float((gradient.asnumpy() * direction).sum()) == pytest.approx(expected, rel=2e-2, abs=1e-4)


def test_padding_of_half_precision_is_no_infinity() -> None:
    x = ms.ops.arange(16).reshape((1, 1, 4, 4)).astype(ms.float16)
    found = twice.max_pool2d(x, 3, stride=2, padding=1)
    assert found.asnumpy().tolist() == [[[[5.0, 7.0], [13.0, 15.0]]]]
