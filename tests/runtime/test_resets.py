"""Statistics that a network keeps while it runs a batch for the second time."""

from __future__ import annotations

import pytest

ms = pytest.importorskip("mindspore")

from mindspore import nn, ops  # noqa: E402

from torch2ms.runtime import layers, resets  # noqa: E402


@pytest.mark.parametrize("norm", [nn.BatchNorm2d, layers.BatchNorm2d])
def test_a_second_run_moves_no_statistics_and_has_the_same_gradient(norm: type[nn.Cell]) -> None:
    network = nn.SequentialCell(nn.Conv2d(1, 2, 1, has_bias=True), norm(2)).set_train()
    x = ops.arange(16).reshape(2, 1, 2, 4).astype(ms.float32)
    weights = network.trainable_params()

    def plain(x: ms.Tensor) -> ms.Tensor:
        return (network(x) ** 3).sum()

    def again(x: ms.Tensor) -> ms.Tensor:
        with resets.kept_statistics(network):
            y = network(x)
        return (y**3).sum()

    _, first = ms.value_and_grad(plain, None, weights)(x)
    moved = [network[1].moving_mean.asnumpy().copy(), network[1].moving_variance.asnumpy().copy()]
    _, second = ms.value_and_grad(again, None, weights)(x)
    assert moved[0].any()
    assert (network[1].moving_mean.asnumpy() == moved[0]).all()
    assert (network[1].moving_variance.asnumpy() == moved[1]).all()
    assert all((one.asnumpy() == other.asnumpy()).all() for one, other in zip(first, second, strict=True))
