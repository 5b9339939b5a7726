"""L-BFGS against PyTorch's, in float64, where the course of both is the same to the last figures."""

from __future__ import annotations

import mindspore as ms
import numpy as np
import pytest
from mindspore import nn

from torch2ms.runtime import optim
from torch2ms.runtime.lbfgs import LBFGS

START = [1.5, -0.75, 0.5, 2.0, -1.25]
OPTIONS = [
    {"lr": 0.0078125, "max_iter": 4},
    {"lr": 1.0, "history_size": 2, "line_search_fn": "strong_wolfe"},
    {"lr": 32.0, "max_iter": 5, "max_eval": 15, "line_search_fn": "strong_wolfe"},
    {"lr": 0.0625, "max_iter": 3, "max_eval": 4, "line_search_fn": "strong_wolfe"},
]


def rosenbrock(x):
    return ((1 - x[:-1]) ** 2).sum() + 20 * ((x[1:] - x[:-1] ** 2) ** 2).sum()


def problem(options):
    """Return the point, the optimizer and the closure, which counts its calls in ``calls``."""
    point = ms.Parameter(ms.Tensor(np.array(START)), name="x")
    optimizer = LBFGS([point], **options)
    gradient = ms.value_and_grad(lambda: rosenbrock(point), None, optimizer.parameters)
    calls = []

    def closure():
        calls.append(1)
        return gradient()

    return point, optimizer, closure, calls


def test_course_is_pytorchs(run_torch):
    theirs = run_torch(f"""
def run(options):
    x = torch.nn.Parameter(torch.tensor({START}, dtype=torch.float64))
    optimizer, calls, course = torch.optim.LBFGS([x], **options), [], []
    def closure():
        calls.append(1)
        optimizer.zero_grad()
        loss = ((1 - x[:-1]) ** 2).sum() + 20 * ((x[1:] - x[:-1] ** 2) ** 2).sum()
        loss.backward()
        return loss
    for _ in range(10):
        course.append([float(optimizer.step(closure)), len(calls), *x.tolist()])
    return course
result = [run(options) for options in {OPTIONS}]
""")
    for options, expected in zip(OPTIONS, theirs, strict=True):
        point, optimizer, closure, calls = problem(options)
        course = [[float(optimizer.step(closure)), len(calls), *point.asnumpy().tolist()] for _ in range(10)]
        assert np.allclose(course, expected, rtol=1e-9, atol=1e-9), options


@pytest.mark.parametrize("options", OPTIONS[:2])
def test_state_goes_on_exactly(options):
    point, optimizer, closure, _ = problem(options)
    for _ in range(3):
        optimizer.step(closure)
    state, place = optim.state_dict(optimizer), point.asnumpy().copy()
    expected = [float(optimizer.step(closure)) for _ in range(3)]
    point, optimizer, closure, _ = problem({**options, "lr": 0.5})
    ms.ops.assign(point, ms.Tensor(place))
    optim.load_state_dict(optimizer, state)
    assert [float(optimizer.step(closure)) for _ in range(3)] == pytest.approx(expected, rel=1e-12)


def test_any_optimizer_steps_with_a_closure():
    layer = nn.Dense(2, 1)
    plain = optim.create_optimizer("SGD", layer.trainable_params(), lr=0.5)
    before = layer.bias.asnumpy().copy()
    grads = tuple(ms.ops.ones_like(parameter) for parameter in plain.parameters)
    assert optim.step(plain, lambda: (3.0, grads)) == 3.0
    assert layer.bias.asnumpy() == pytest.approx(before - 0.5)
    _, optimizer, closure, calls = problem(OPTIONS[0])
    optim.step(optimizer, closure)
    assert len(calls) == 4


def test_what_is_refused():
    layer = nn.Dense(2, 1)
    with pytest.raises(ValueError, match="strong_wolfe"):
        LBFGS(layer.trainable_params(), line_search_fn="backtracking")
    with pytest.raises(ValueError, match="one group"):
        LBFGS([{"params": [layer.weight]}, {"params": [layer.bias]}])
    optimizer = LBFGS(layer.trainable_params())
    with pytest.raises(TypeError, match="step"):
        optimizer(())
    other = optim.create_optimizer("SGD", layer.trainable_params(), lr=0.1)
    with pytest.raises(ValueError, match="does not fit LBFGS"):
        optim.load_state_dict(optimizer, optim.state_dict(other))
