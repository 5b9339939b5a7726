"""Gradients that are recorded and differentiated again, held against finite differences; in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

PROGRAM = """
import json

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from torch2ms.runtime import functional, higher, recording

X, W = (np.random.RandomState(seed).uniform(-1, 1, (3, 4)).astype(np.float32) for seed in (0, 1))
dense, norm, conv = nn.Dense(4, 3), nn.LayerNorm((4,)), nn.Conv2d(1, 2, 2, has_bias=True)
index = ms.Tensor([[0, 1], [1, 1], [3, 0]], ms.int32)
FUNCTIONS = {
    "sum": lambda x, w: (x * w).sum(0) * x,
    "sum of all": lambda x, w: (x * w).sum() * x,
    "mean": lambda x, w: ops.tanh(x * w).mean(1, True) - x.mean(),
    "matmul": lambda x, w: ops.sin(x @ w.T) @ w,
    "vectors": lambda x, w: ops.matmul(ops.sin(x), w[0]),
    "batched": lambda x, w: ops.matmul(ops.stack([x, w]), ops.sin(w).T),
    "dense": lambda x, w: dense(ops.sin(x * w)),
    "dense of three axes": lambda x, w: dense(ops.sin(x * w)[None]),
    "cat": lambda x, w: ops.cat([ops.sin(x), x * w], 1) ** 2,
    "stack": lambda x, w: ops.stack([ops.sin(x), x * w], 1) ** 3,
    "unstack": lambda x, w: ops.sin(x).unbind(1)[1] * w.unbind(1)[0],
    "column": lambda x, w: ops.sin(x)[:, 0] * w[:, 1],
    "part": lambda x, w: ops.sin(x)[..., 1:3] ** 2 * w[..., :1],
    "several places": lambda x, w: ops.sin(x)[:, [0, 2]] * w[:, :2],
    "transpose": lambda x, w: ops.sin(x).T * w.swapaxes(0, 1) * x.T,
    "reshape": lambda x, w: (ops.sin(x) * w).reshape(-1) ** 2,
    "tile": lambda x, w: ops.tile(ops.sin(x) * w, (2, 1)) ** 2,
    "expand": lambda x, w: (ops.sin(x) * w)[:, None].expand((3, 2, 4)) ** 2,
    "broadcast": lambda x, w: x / (w[:1] ** 2 + 1) + (x - w[:, :1]) * w[0, 0],
    "softmax": lambda x, w: ops.softmax(x * w, 1) * x,
    "log softmax": lambda x, w: ops.log_softmax(x * w, 1) * w,
    "largest": lambda x, w: ops.amax(x * w, 1) ** 2,
    "gather": lambda x, w: ops.gather_elements(x * w, 1, index) ** 2,
    "powers": lambda x, w: (x * w + 2) ** -1.5 + ops.square(x) * w,
    "norm": lambda x, w: functional.norm(x * w + 1, 2, dim=1) ** 3 / 20,
    "layer norm": lambda x, w: ops.tanh(norm(ops.sin(x) * w)),
    "group norm": lambda x, w: ops.tanh(functional.group_norm(ops.sin(x) * w, 2, eps=0.5)),
    "convolution": lambda x, w: ops.tanh(conv(ops.sin(x * w)[None, None])),
}


def asked(function, x, w):
    # something that depends on a first derivative, and on a second
    y = function(x, w)
    factors = ms.Tensor(np.cos(np.arange(y.size, dtype=np.float32)).reshape(y.shape))
    slope, = higher.grad((ops.tanh(y) * factors).sum(), x, create_graph=True)
    first = (slope * slope).sum() + slope.sum()
    bend, = higher.grad(first, x, create_graph=True, allow_unused=True, materialize_grads=True)
    return first, (bend * ops.sin(x)).sum()


def difference(function, place, order):
    found = []
    for sign in (1, -1):
        values = [X.copy(), W.copy()]
        values[place] += sign * 1e-2 * np.cos(np.arange(12, dtype=np.float32)).reshape(3, 4)
        x, w = (recording.leaf(ms.Tensor(value)) for value in values)
        found.append(asked(function, x, w)[order].item())
    return (found[0] - found[1]) / 2e-2


results = {}
for name, function in FUNCTIONS.items():
    x, w = recording.leaf(ms.Tensor(X)), recording.leaf(ms.Tensor(W))
    pairs = []
    for order, value in enumerate(asked(function, x, w)):
        grads = recording.grad(value, [x, w], allow_unused=True, materialize_grads=True)
        for place, grad in enumerate(grads):
            along = (grad.asnumpy() * np.cos(np.arange(12)).reshape(3, 4)).sum()
            pairs.append([float(along), difference(function, place, order)])
    results[name] = pairs

inside = ms.Parameter(ms.Tensor(W), name="inside")


def loss(x):
    slope, = higher.grad(ops.sin(x @ inside.T).sum(), x, create_graph=True)
    return (slope * slope).sum()


x = recording.leaf(ms.Tensor(X))
record = recording.grad(loss(x), inside)[0].asnumpy()
function = ms.value_and_grad(loss, None, [inside])(x)[1][0].asnumpy()
results["inside of a gradient function"] = [[float(a), float(b)] for a, b in zip(record.ravel(), function.ravel())]
refused = ""
try:
    higher.grad(ops.prod(x * x, 1).sum(), x, create_graph=True)
except NotImplementedError as error:
    refused = str(error)
results["refused"] = refused
plain = ms.Tensor(X)
both = (plain @ plain.T).sum().item()
results["without gradients"] = [[plain.sum().item(), float(X.sum())], [both, float((X @ X.T).sum())]]
print(json.dumps(results))
"""
NAMES = """sum, sum of all, mean, matmul, vectors, batched, dense, dense of three axes, cat, stack, unstack, column
part, several places, transpose, reshape, tile, expand, broadcast, softmax, log softmax, largest, gather, powers, norm
layer norm, group norm, convolution, inside of a gradient function, without gradients""".replace("\n", ", ").split(", ")


@pytest.fixture(scope="module")
def results() -> dict[str, list[list[float]]]:
    """What the program found: pairs of numbers that are to agree."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, list[list[float]]] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


@pytest.mark.parametrize("name", NAMES)
def test_second_and_third_derivatives(name: str, results: dict[str, list[list[float]]]) -> None:
    pairs = results[name.strip()]
    assert any(abs(expected) > 1e-3 for _, expected in pairs)
    for actual, expected in pairs:
        assert actual == pytest.approx(expected, rel=0.02, abs=0.02)


def test_what_would_lose_a_part_is_refused(results: dict[str, str]) -> None:
    assert "ProdExt" in results["refused"]
