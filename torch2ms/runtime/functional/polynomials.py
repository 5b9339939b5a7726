"""Orthogonal polynomials and Bessel functions that PyTorch gives without a gradient, by numpy and scipy.

Each takes a tensor or a number for ``input`` and for the degree ``n``; below degree 0 there is nothing: 0.
"""

from __future__ import annotations

from typing import Any, Callable

import mindspore as ms
import numpy as np
from mindspore import Tensor

__all__ = [
    "airy_ai",
    "chebyshev_polynomial_t",
    "chebyshev_polynomial_u",
    "chebyshev_polynomial_v",
    "chebyshev_polynomial_w",
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
    "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
    "spherical_bessel_j0",
]

Array = Any  # of numpy


def _array(value: Any) -> Array:
    return np.asarray(value.asnumpy() if isinstance(value, Tensor) else value, np.float64)


def _like(values: Array, *given: Any) -> Tensor:
    """Return numbers in the float type of what was given, float32 where that is whole numbers."""
    floats = [value.dtype for value in given if isinstance(value, Tensor) and value.is_floating_point()]
    dtype = next((kind for kind in (ms.float64, ms.float32, *floats) if kind in floats), ms.float32)
    return Tensor(np.asarray(values), dtype)


def _polynomial(input: Any, n: Any, first: Callable[[Array], Array], following: Callable[..., Array]) -> Tensor:
    """Return the polynomial of each degree: ``following(x, k, q, p)`` is that of degree k + 1, after q and p."""
    x, degrees = np.broadcast_arrays(_array(input), np.trunc(_array(n)))
    before, now = np.ones_like(x), first(x)
    found = np.where(degrees == 0, before, np.where(degrees == 1, now, 0.0))
    for k in range(1, int(degrees.max(initial=0))):
        before, now = now, following(x, k, now, before)
        found = np.where(degrees == k + 1, now, found)
    return _like(found, input, n)


def _chebyshev(x: Array, k: int, q: Array, p: Array) -> Array:
    return 2 * x * q - p


def chebyshev_polynomial_t(input: Any, n: Any) -> Tensor:
    """Return the Chebyshev polynomial of the first kind."""
    return _polynomial(input, n, lambda x: x, _chebyshev)


def chebyshev_polynomial_u(input: Any, n: Any) -> Tensor:
    """Return the Chebyshev polynomial of the second kind."""
    return _polynomial(input, n, lambda x: 2 * x, _chebyshev)


def chebyshev_polynomial_v(input: Any, n: Any) -> Tensor:
    """Return the Chebyshev polynomial of the third kind."""
    return _polynomial(input, n, lambda x: 2 * x - 1, _chebyshev)


def chebyshev_polynomial_w(input: Any, n: Any) -> Tensor:
    """Return the Chebyshev polynomial of the fourth kind."""
    return _polynomial(input, n, lambda x: 2 * x + 1, _chebyshev)


def shifted_chebyshev_polynomial_t(input: Any, n: Any) -> Tensor:
    """Return the Chebyshev polynomial of the first kind at ``2 x - 1``."""
    return chebyshev_polynomial_t(2 * input - 1, n)


def shifted_chebyshev_polynomial_u(input: Any, n: Any) -> Tensor:
    """Return the Chebyshev polynomial of the second kind at ``2 x - 1``."""
    return chebyshev_polynomial_u(2 * input - 1, n)


def shifted_chebyshev_polynomial_v(input: Any, n: Any) -> Tensor:
    """Return the Chebyshev polynomial of the third kind at ``2 x - 1``."""
    return chebyshev_polynomial_v(2 * input - 1, n)


def shifted_chebyshev_polynomial_w(input: Any, n: Any) -> Tensor:
    """Return the Chebyshev polynomial of the fourth kind at ``2 x - 1``."""
    return chebyshev_polynomial_w(2 * input - 1, n)


def hermite_polynomial_h(input: Any, n: Any) -> Tensor:
    """Return the Hermite polynomial of physicists."""
    return _polynomial(input, n, lambda x: 2 * x, lambda x, k, q, p: 2 * x * q - 2 * k * p)


def hermite_polynomial_he(input: Any, n: Any) -> Tensor:
    """Return the Hermite polynomial of the theory of probability."""
    return _polynomial(input, n, lambda x: x, lambda x, k, q, p: x * q - k * p)


def laguerre_polynomial_l(input: Any, n: Any) -> Tensor:
    """Return the Laguerre polynomial."""
    return _polynomial(input, n, lambda x: 1 - x, lambda x, k, q, p: ((2 * k + 1 - x) * q - k * p) / (k + 1))


def legendre_polynomial_p(input: Any, n: Any) -> Tensor:
    """Return the Legendre polynomial."""
    return _polynomial(input, n, lambda x: x, lambda x, k, q, p: ((2 * k + 1) * x * q - k * p) / (k + 1))


def _by_scipy(name: str, input: Any) -> Array:
    from scipy import special

    return getattr(special, name)(_array(input))


def airy_ai(input: Tensor) -> Tensor:
    """Return the Airy function."""
    return _like(_by_scipy("airy", input)[0], input)


def modified_bessel_k0(input: Tensor) -> Tensor:
    """Return the modified Bessel function of the second kind of order 0."""
    return _like(_by_scipy("k0", input), input)


def modified_bessel_k1(input: Tensor) -> Tensor:
    """Return the modified Bessel function of the second kind of order 1."""
    return _like(_by_scipy("k1", input), input)


def scaled_modified_bessel_k0(input: Tensor) -> Tensor:
    """Return ``exp(x) * k0(x)``."""
    return _like(_by_scipy("k0e", input), input)


def scaled_modified_bessel_k1(input: Tensor) -> Tensor:
    """Return ``exp(x) * k1(x)``."""
    return _like(_by_scipy("k1e", input), input)


def spherical_bessel_j0(input: Tensor) -> Tensor:
    """Return ``sin(x) / x``, 1 at 0 and 0 at infinity."""
    x = _array(input)
    far = np.isinf(x)
    return _like(np.where(far, 0.0, np.sinc(np.where(far, 0.0, x) / np.pi)), input)
