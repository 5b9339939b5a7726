"""Functions that MindSpore's CPU kernels approximate in float32: there they are computed in float64 and rounded.

Measured in MindSpore 2.10 against float64, over [-8, 8]: ``ops.exp`` is off by up to 5e-6 of its value, ``ops.tanh`` by
1e-4, ``ops.log`` by 2e-4 of its value near 1, log2 and log10 by 2e-3, log1p and expm1 by all of it near 0,
``ops.erfinv`` by 0.3 near 1; PyTorch by 1e-7. On other devices the kernels are used as they are.
"""

from __future__ import annotations

import math
from typing import Any, Callable

import mindspore as ms
from mindspore import Tensor, ops

__all__ = ["erfinv", "exp", "expm1", "log", "log1p", "log2", "log10", "tanh"]


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


def log1p(input: Tensor) -> Tensor:
    """Return the natural logarithm of each element and 1."""
    return _rounded(ops.log1p, input)


def log2(input: Tensor) -> Tensor:
    """Return the logarithm to the base 2 of each element."""
    return _rounded(ops.log2, input)


def log10(input: Tensor) -> Tensor:
    """Return the logarithm to the base 10 of each element."""
    return _rounded(ops.log10, input)


def erfinv(input: Tensor) -> Tensor:
    """Return where the error function has the value of each element."""
    if not _is_cpu():
        return ops.erfinv(input)
    dtype = input.dtype if input.is_floating_point() else ms.float32
    return _inverse_of_erf(input.astype(ms.float64)).astype(dtype)


# M. Giles, "Approximating the erfinv function", 2010: polynomials of w = -log(1 - x * x), for w below 5 and above
_CENTRE = (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503,
           -0.00417768164, 0.246640727, 1.50140941)  # fmt: skip
_TAIL = (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047,
         1.00167406, 2.83297682)  # fmt: skip


def _inverse_of_erf(input: Tensor) -> Tensor:
    x = ops.stop_gradient(input)
    is_end = ops.abs(x) == 1
    held = x.masked_fill(is_end, 0.0)
    w = -ops.log((1 - held) * (1 + held))
    below, above = w - 2.5, ops.sqrt(w) - 3
    centre, tail = ops.zeros_like(w), ops.zeros_like(w)
    for one, other in zip(_CENTRE, _TAIL):
        centre = one + centre * below
        tail = other + tail * above
    found = ops.where(w < 5, centre, tail) * held
    for _ in range(2):  # Newton's steps
        found = found - (ops.erf(found) - held) * (math.sqrt(math.pi) / 2) * ops.exp(found * found)
    slope = (math.sqrt(math.pi) / 2) * ops.exp(found * found)
    found = ops.where(is_end, x * float("inf"), found)
    return found + (input - x) * slope


def tanh(input: Tensor) -> Tensor:
    """Return the hyperbolic tangent of each element."""
    return _rounded(ops.tanh, input)
