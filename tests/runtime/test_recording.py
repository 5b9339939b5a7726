"""Gradient functions in a program that also records its steps, in a process of its own: recording never ends."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys

import mindspore as ms
import numpy as np
from mindspore import nn

from torch2ms.runtime import recording

ms.set_seed(1)
first, second, norm, steps = nn.Dense(5, 3), nn.Dense(5, 3), nn.LayerNorm((5,)), nn.GRU(5, 4)
x = ms.Tensor(np.random.RandomState(0).randn(4, 5).astype(np.float32))


def asked(function, net):
    weights = list(net.trainable_params())
    return [value.asnumpy() for value in ms.value_and_grad(function, None, weights)()[1]]


def recorded(function, net):
    recording.reset(net)
    recording.backward(function(), net)
    return [kept(weight) for weight in net.trainable_params()]


def kept(weight):
    return recording.gradients.of(weight).asnumpy()


def squares(net, *places):
    out = net(x[None])[0] if isinstance(net, nn.GRU) else net(x)
    for place in places:
        out = out[place]
    return (out * out).sum()
"""


def run(body: str) -> str:
    done = subprocess.run([sys.executable, "-c", PROGRAM + body], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.slow
def test_a_gradient_function_runs_beside_the_record() -> None:
    body = """
for net, places in ((first, (0,)), (first, (0, -1)), (norm, ()), (steps, (0,))):
    found = asked(lambda: squares(net, *places), net)
    assert any(np.abs(value).max() > 0 for value in found), type(net)
print("ok")
"""
    assert "ok" in run(body)


@pytest.mark.slow
def test_what_was_recorded_before_a_gradient_function_is_still_known_after_it() -> None:
    body = """
loss = squares(first)
asked(lambda: squares(second, 0), second)
recording.backward(loss, first)
late = [kept(weight) for weight in first.trainable_params()]
alone = asked(lambda: squares(first), first)
assert all(np.allclose(a, b, atol=1e-6) for a, b in zip(late, alone)), (late, alone)
again = recorded(lambda: squares(first), first)
assert all(np.allclose(a, b, atol=1e-6) for a, b in zip(again, alone)), (again, alone)
print("ok")
"""
    assert "ok" in run(body)


@pytest.mark.slow
def test_a_record_that_an_error_ended_is_told() -> None:
    body = """
def broken():
    raise ValueError("x")


try:
    asked(broken, first)
except ValueError:
    pass
try:
    recording.backward(squares(first), first)
except RuntimeError as error:
    assert "nothing is recorded" in str(error)
    recording.start()
    recording.backward(squares(first), first)
    print("ok")
"""
    assert "ok" in run(body)


@pytest.mark.slow
def test_without_owners_it_is_by_the_weights_that_a_loss_reaches() -> None:
    body = """
if tuple(map(int, ms.__version__.split(".")[:2])) >= (2, 9):
    optimizer = nn.Adam(nn.CellList([first, second]).trainable_params(), 0.1, weight_decay=0.5)
    before = second.weight.asnumpy().copy()
    recording.reset(optimizer)
    recording.backward(squares(first))
    alone = asked(lambda: squares(first), first)
    assert all(np.allclose(kept(w), g, atol=1e-6) for w, g in zip(first.trainable_params(), alone))
    assert all(recording.gradients.of(w) is None for w in second.trainable_params())
    moved = first.weight.asnumpy().copy()
    recording.update(optimizer)
    assert np.array_equal(second.weight.asnumpy(), before)  # no decay without a gradient
    assert not np.array_equal(first.weight.asnumpy(), moved)
print("ok")
"""
    assert "ok" in run(body)


@pytest.mark.slow
def test_layers_without_second_derivatives_and_losses_that_share_a_part() -> None:
    body = """
for net, places in ((norm, ()), (steps, (0,))):
    found = recorded(lambda: squares(net, *places), net)
    assert all(np.allclose(a, b, atol=1e-5) for a, b in zip(found, asked(lambda: squares(net, *places), net)))
out = squares(first)
recording.reset(first)
try:
    recording.backward(out, first, create_graph=True)
    raise SystemExit("differentiated again")
except NotImplementedError:
    pass
recording.backward(out, first, retain_graph=True)
recording.backward(2 * out, first)
alone = asked(lambda: squares(first), first)
assert all(np.allclose(kept(w), 3 * g, atol=1e-5) for w, g in zip(first.trainable_params(), alone))
try:
    recording.backward(3 * out, first)
except RuntimeError as error:
    assert "twice" in str(error)
    print("ok")
"""
    assert "ok" in run(body)
