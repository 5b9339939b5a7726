"""Indices of parts along an axis that only the running program names."""

from __future__ import annotations

import mindspore as ms
import numpy as np
from mindspore import Tensor

from torch2ms.runtime import functional


def test_a_part_along_an_axis_is_seen_by_gradients() -> None:
    def loss(x: Tensor) -> Tensor:
        y = x * 1
        y[functional.along(y, -1, 1, 2)] = 0.0
        y[functional.along(y, 0, -1)] = 5.0
        return y.sum()

    value, grad = ms.value_and_grad(loss)(Tensor(np.ones((3, 4), np.float32)))
    assert float(value) == 24.0
    assert grad.asnumpy().tolist() == [[1, 0, 0, 1], [1, 0, 0, 1], [0, 0, 0, 0]]
