"""Special functions with PyTorch's signatures, on portable operators or, where said, on MindSpore's own kernels."""

from __future__ import annotations

import math
from typing import Any, Callable

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from .dtypes import number, promoted
from .exact import erfinv

__all__ = [
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "digamma",
    "entr",
    "erfcx",
    "heaviside",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "igamma",
    "igammac",
    "lgamma",
    "log_ndtr",
    "multigammaln",
    "ndtr",
    "ndtri",
    "polygamma",
    "sinc",
    "xlog1py",
    "xlogy",
    "zeta",
]

# Lanczos' approximation with g = 7 and nine terms (Godfrey's coefficients).
_LANCZOS = (
    0.99999999999980993,
    676.5203681218851,
    -1259.1392167224028,
    771.32342877765313,
    -176.61502916214059,
    12.507343278686905,
    -0.13857109526572012,
    9.9843695780195716e-6,
    1.5056327351493116e-7,
)


def _wide(input: Any) -> Tensor:
    tensor = input if isinstance(input, Tensor) else Tensor(input, ms.float32)
    return tensor if tensor.is_floating_point() else tensor.astype(ms.float32)


def _lgamma_positive(x: Tensor) -> Tensor:
    """Return the logarithm of gamma(x) for x >= 0.5."""
    shifted = x - 1
    total = ops.full_like(x, _LANCZOS[0])
    for place, coefficient in enumerate(_LANCZOS[1:], 1):
        total = total + number(coefficient, x) / (shifted + place)
    base = shifted + 7.5
    return number(0.5 * math.log(2 * math.pi), x) + (shifted + 0.5) * ops.log(base) - base + ops.log(total)


def sinc(input: Tensor) -> Tensor:
    """Return ``sin(pi * x) / (pi * x)``, 1 at 0; of bools MindSpore's own is NaN."""
    return ops.sinc(input if input.is_complex() else _wide(input))


def lgamma(input: Tensor) -> Tensor:
    """Return the logarithm of the magnitude of gamma, in the precision of the input; it has a gradient."""
    x = _wide(input)
    exact = x.astype(ms.float64)
    small = exact < 0.5
    reflected = ops.where(small, 1 - exact, exact)
    positive = _lgamma_positive(reflected)
    sine = ops.abs(ops.sin(number(math.pi, exact) * (exact - ops.floor(exact))))
    safe = ops.where(small, sine, ops.ones_like(sine))
    return ops.where(small, number(math.log(math.pi), exact) - ops.log(safe) - positive, positive).astype(x.dtype)


def digamma(input: Tensor) -> Tensor:
    """Return the derivative of ``lgamma``, by recurrence and an asymptotic series (Abramowitz and Stegun 6.3.18)."""
    return polygamma(0, input)


def polygamma(n: int, input: Tensor) -> Tensor:
    """Return the ``n``-th derivative of ``digamma``, of negative values by reflection (Abramowitz and Stegun 6.4.7)."""
    x = _wide(input)
    exact = x.astype(ms.float64)
    negative = exact < 0
    found = _polygamma_positive(n, ops.where(negative, 1 - exact, exact))
    fraction = exact - ops.floor(exact)
    pi = number(math.pi, exact)
    cotangent = 1 / ops.tan(ops.where(negative & (fraction > 0), pi * fraction, ops.ones_like(exact)))
    slope = ops.zeros_like(exact)  # pi times the n-th derivative of cot(pi x), in powers of that cotangent
    for coefficient in _cotangent_slope(n):
        slope = slope * cotangent + float(coefficient)
    reflected = (found if n % 2 == 0 else -found) - number(math.pi ** (n + 1), exact) * slope
    pole = ops.full_like(exact, math.inf if n % 2 else -math.inf if n else math.nan)
    return ops.where(negative, ops.where(fraction > 0, reflected, pole), found).astype(x.dtype)


def _cotangent_slope(n: int) -> Any:
    """Return the ``n``-th derivative of the cotangent as a polynomial in it, the highest power first."""
    slope = np.poly1d([1, 0])
    for _ in range(n):
        slope = slope.deriv() * np.poly1d([-1, 0, -1])
    return slope.coefficients.tolist()


def _polygamma_positive(n: int, x: Tensor) -> Tensor:
    sign = 1.0 if n % 2 else -1.0
    total = ops.zeros_like(x)
    for _ in range(8):  # psi_n(x) = psi_n(x + 1) - (-1)**n n! / x**(n + 1)
        total = total + sign * math.factorial(n) * x ** (-(n + 1.0))
        x = x + 1
    if n == 0:
        series = ops.log(x) - 0.5 / x
    else:
        series = sign * (math.factorial(n - 1) * x ** float(-n) + math.factorial(n) / 2 * x ** (-(n + 1.0)))
    bernoulli = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730)
    for k, coefficient in enumerate(bernoulli, 1):
        factor = math.factorial(2 * k + n - 1) / math.factorial(2 * k)
        series = series + number(sign * coefficient * factor, x) * x ** (-(2.0 * k + n))
    return total + series


def multigammaln(input: Tensor, p: int) -> Tensor:
    """Return the logarithm of the multivariate gamma function of dimension ``p``."""
    x = _wide(input)
    total = lgamma(x)
    for place in range(1, p):
        total = total + lgamma(x - place / 2)
    return total + p * (p - 1) / 4 * math.log(math.pi)


def entr(input: Tensor) -> Tensor:
    """Return ``-x log(x)``: 0 at 0, minus infinity below."""
    x = _wide(input)
    positive = x > 0
    inside = -x * ops.log(ops.where(positive, x, ops.ones_like(x)))
    return ops.where(positive, inside, ops.where(x == 0, ops.zeros_like(x), ops.full_like(x, -math.inf)))


def xlog1py(input: Any, other: Any) -> Tensor:
    """Return ``input * log1p(other)``, 0 where ``input`` is 0."""
    x, y = _wide(input), _wide(other)
    product = x * ops.log1p(y)
    return ops.where(ops.logical_and(x == 0, ops.logical_not(ops.isnan(y))), ops.zeros_like(product), product)


def xlogy(input: Any, other: Any) -> Tensor:
    """Return ``input * log(other)``, 0 where ``input`` is 0, unless ``other`` is NaN there."""
    x, y = _wide(number(input, other)), _wide(number(other, input))
    return x * ops.log(ops.where(ops.logical_and(x == 0, y == y), ops.ones_like(y), y))


def ndtr(input: Tensor) -> Tensor:
    """Return the distribution function of the standard normal distribution."""
    x = _wide(input)
    return 0.5 * ops.erfc(-x / math.sqrt(2))


def ndtri(input: Tensor) -> Tensor:
    """Return the quantiles of the standard normal distribution."""
    x = _wide(input)
    return (math.sqrt(2) * erfinv(2 * x.astype(ms.float64) - 1)).astype(x.dtype)


def log_ndtr(input: Tensor) -> Tensor:
    """Return the logarithm of ``ndtr``, by an asymptotic series far below zero."""
    x = _wide(input)
    far = x < -5
    near = ops.log(ndtr(ops.where(far, ops.zeros_like(x), x)))
    low = ops.where(far, x, ops.full_like(x, -6.0))
    inverse = 1 / ops.square(low)
    series = 1 - inverse * (1 - 3 * inverse * (1 - 5 * inverse * (1 - 7 * inverse * (1 - 9 * inverse))))
    tail = -0.5 * ops.square(low) - ops.log(-low) - 0.5 * math.log(2 * math.pi) + ops.log(series)
    return ops.where(far, tail, near)


def erfcx(input: Tensor) -> Tensor:
    """Return ``exp(x ** 2) * erfc(x)``, by a continued fraction above 4; by numpy, without a gradient."""
    values = _wide(input).asnumpy()
    x = values.astype(np.float64)
    fraction = np.zeros_like(x)
    high = np.maximum(x, 4.0)
    for step in range(60, 0, -1):
        fraction = (step / 2) / (high + fraction)
    large = 1 / (np.sqrt(np.pi) * (high + fraction))
    low = np.minimum(x, 4.0)
    small = np.exp(low**2) * np.vectorize(math.erfc, otypes=[float])(low)
    return Tensor(np.where(x > 4, large, small).astype(values.dtype))


def i0(input: Tensor) -> Tensor:
    """Return the modified Bessel function of the first kind of order 0; MindSpore has it on GPU and CPU."""
    return ops.bessel_i0(_wide(input))


def i0e(input: Tensor) -> Tensor:
    """Return ``exp(-|x|) * i0(x)``; MindSpore has it on GPU and CPU."""
    return ops.bessel_i0e(_wide(input))


def i1(input: Tensor) -> Tensor:
    """Return the modified Bessel function of the first kind of order 1; MindSpore has it on GPU and CPU."""
    return ops.bessel_i1(_wide(input))


def i1e(input: Tensor) -> Tensor:
    """Return ``exp(-|x|) * i1(x)``; MindSpore has it on GPU and CPU."""
    return ops.bessel_i1e(_wide(input))


def bessel_j0(input: Tensor) -> Tensor:
    """Return the Bessel function of the first kind of order 0; MindSpore has it on GPU and CPU."""
    return ops.bessel_j0(_wide(input))


def bessel_j1(input: Tensor) -> Tensor:
    """Return the Bessel function of the first kind of order 1; MindSpore has it on GPU and CPU."""
    return ops.bessel_j1(_wide(input))


def bessel_y0(input: Tensor) -> Tensor:
    """Return the Bessel function of the second kind of order 0; MindSpore has it on GPU and CPU."""
    return _of_positive(ops.bessel_y0, _wide(input))


def bessel_y1(input: Tensor) -> Tensor:
    """Return the Bessel function of the second kind of order 1; MindSpore has it on GPU and CPU."""
    return _of_positive(ops.bessel_y1, _wide(input))


def _of_positive(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Return a Bessel function of the second kind: -infinity at 0, and NaN below."""
    found = function(ops.where(x > 0, x, ops.ones_like(x)))
    edge = ops.where(x == 0, ops.full_like(x, -float("inf")), ops.full_like(x, float("nan")))
    return ops.where(x > 0, found, edge)


def igamma(input: Tensor, other: Tensor) -> Tensor:
    """Return the regularised lower incomplete gamma function."""
    return ops.igamma(*promoted((input, other)))


def igammac(input: Tensor, other: Tensor) -> Tensor:
    """Return the regularised upper incomplete gamma function."""
    return ops.igammac(*promoted((input, other)))


def zeta(input: Any, other: Any) -> Tensor:
    """Return the Hurwitz zeta function; either may be a number."""
    tensors = [_wide(value) if isinstance(value, Tensor) else Tensor(value, ms.float32) for value in (input, other)]
    power, start = promoted(tensors)
    shape = np.broadcast_shapes(power.shape, start.shape)
    power, start = ops.broadcast_to(power, shape), ops.broadcast_to(start, shape)
    # A term of the sum is 1 / 0; MindSpore has NaN where the power is no whole number
    is_pole = ops.logical_and(power > 1, ops.logical_and(start <= 0, start == ops.floor(start)))
    return ops.where(is_pole, ops.full_like(is_pole.astype(power.dtype), math.inf), ops.zeta(power, start))


def heaviside(input: Tensor, values: Tensor) -> Tensor:
    """Return 0 below zero, 1 above, and ``values`` at zero; of bools, bools."""
    if input.dtype == ms.bool_:
        return ops.logical_or(input, values)
    return ops.heaviside(input, values)
