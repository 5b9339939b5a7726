"""Layers in groups, layers that are fused, statistics that are made anew, and draws that leave no trace."""

from __future__ import annotations

import mindspore as ms
import numpy as np
import pytest
from mindspore import nn, ops

from torch2ms.runtime import functional, layers, seed, swa


def test_an_adaptive_softmax_gives_probabilities() -> None:
    layer = layers.AdaptiveLogSoftmaxWithLoss(16, 7, [2, 4], div_value=2.0)
    assert [name for name, _ in layer.parameters_and_names()] == [
        "head.weight",
        "tail.0.0.weight",
        "tail.0.1.weight",
        "tail.1.0.weight",
        "tail.1.1.weight",
    ]
    x = ops.randn(3, 16)
    scores = layer.log_prob(x).asnumpy()
    assert np.exp(scores).sum(1) == pytest.approx(np.ones(3), abs=1e-5)
    output, loss = layer(x, ms.tensor([0, 3, 6]))
    assert output.asnumpy() == pytest.approx(scores[[0, 1, 2], [0, 3, 6]])
    assert float(loss) == pytest.approx(-output.asnumpy().mean())
    assert layer.predict(x).asnumpy().tolist() == scores.argmax(1).tolist()
    assert layer(x[1], ms.tensor(3)).output.shape == ()
    with pytest.raises(RuntimeError, match="in range"):
        layer(x, ms.tensor([0, 3, 7]))
    with pytest.raises(ValueError, match="unique, positive"):
        layers.AdaptiveLogSoftmaxWithLoss(16, 7, [4, 2])


@pytest.mark.parametrize("has_bias", [True, False])
def test_a_fused_layer_computes_both(has_bias: bool) -> None:
    layer, norm = nn.Dense(3, 2, has_bias=has_bias), nn.BatchNorm1d(2)
    norm.moving_mean.set_data(ms.tensor([0.5, -1.0]))
    norm.moving_variance.set_data(ms.tensor([4.0, 0.25]))
    layer.set_train(False), norm.set_train(False)
    x = ops.randn(4, 3)
    expected = norm(layer(x)).asnumpy()
    assert layers.fuse_linear_bn_eval(layer, norm)(x).asnumpy() == pytest.approx(expected, abs=1e-5)
    norm.set_train()
    with pytest.raises(AssertionError):
        layers.fuse_linear_bn_eval(layer, norm)


def test_statistics_are_means_over_the_batches() -> None:
    net = nn.SequentialCell(nn.Dense(2, 2), layers.BatchNorm1d(2, momentum=0.2), layers.BatchNorm1d(2, momentum=None))
    net.set_train(False)
    batches = [ops.randn(6, 2) for _ in range(3)]
    swa.update_bn([(batch, "label") for batch in batches], net)
    assert not net.training
    means = np.stack([net[0](batch).asnumpy().mean(0) for batch in batches])
    assert net[1].moving_mean.asnumpy() == pytest.approx(means.mean(0), abs=1e-5)
    spread = np.stack([net[0](batch).asnumpy().var(0, ddof=1) for batch in batches])
    assert net[1].moving_variance.asnumpy() == pytest.approx(spread.mean(0), abs=1e-4)
    assert net[2].moving_mean.asnumpy() == pytest.approx(np.zeros(2), abs=1e-5)


def test_draws_inside_a_fork_leave_no_trace() -> None:
    def draw() -> list[float]:
        return seed.default_generator().rands(2, False).tolist()

    seed.manual_seed(3)
    whole = [draw(), draw()]
    seed.manual_seed(3)
    first = draw()
    with seed.fork_rng():
        seed.manual_seed(9)
        assert draw() != whole[1]
    assert [first, draw()] == whole
    with seed.fork_rng(enabled=False):
        seed.manual_seed(3)
    assert draw() == first


def test_tensors_for_tests_lie_between_bounds() -> None:
    ints = functional.make_tensor((50, 4), dtype=ms.int32, low=1, high=3)
    assert ints.dtype == ms.int32
    assert set(ints.asnumpy().ravel().tolist()) == {1, 2}
    assert functional.make_tensor(3, dtype=ms.bool_).dtype == ms.bool_
    floats = functional.make_tensor(100, dtype=ms.float64).asnumpy()
    assert floats.dtype == np.float64
    assert np.abs(floats).max() <= 9
