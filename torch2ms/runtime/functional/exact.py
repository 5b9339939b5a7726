"""Functions that MindSpore's CPU kernels approximate in float32: there they are computed in float64 and rounded.

Measured in MindSpore 2.10 against float64, over [-8, 8]: ``ops.exp`` is off by up to 5e-6 of its value, ``ops.tanh`` by
1e-4, ``ops.log`` by 2e-4 of its value near 1; PyTorch by 1e-7. On other devices the kernels are used as they are.
"""

from __future__ import annotations

from typing import Any, Callable

import mindspore as ms
from mindspore import Tensor, ops

__all__ = ["exp", "expm1", "log", "tanh"]


@ops.constexpr
def _is_cpu() -> bool:
    return str(ms.get_context("device_target")) == "CPU"


def _rounded(function: Callable[[Tensor], Tensor], x: Any) -> Tensor:
    """Return ``function(x)``, computed in float64 where x is a float32 on a CPU; integers count as float32."""
    if not _is_cpu():
        return function(x)
    if x.dtype == ms.float32 or not (x.is_floating_point() or x.is_complex()):
        return function(x.astype(ms.float64)).astype(ms.float32)
    return function(x)


def exp(input: Tensor) -> Tensor:
    """Return e to the power of each element."""
    return _rounded(ops.exp, input)


def expm1(input: Tensor) -> Tensor:
    """Return e to the power of each element, less 1."""
    return _rounded(ops.expm1, input)


def log(input: Tensor) -> Tensor:
    """Return the natural logarithm of each element."""
    return _rounded(ops.log, input)


def tanh(input: Tensor) -> Tensor:
    """Return the hyperbolic tangent of each element."""
    return _rounded(ops.tanh, input)
