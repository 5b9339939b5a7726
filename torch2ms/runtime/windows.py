"""Windows of signals with the names and arguments of ``torch.signal.windows``: symmetric unless ``sym=False``."""

from __future__ import annotations

import math
from typing import Any, Optional, Sequence

import mindspore as ms
import numpy as np
from mindspore import Tensor

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]


def _last(M: int, sym: bool) -> int:
    """Return the place at which a window is as at its start; one that is to be repeated leaves that place out."""
    return M - 1 if sym or M < 2 else M


def _window(values: Any, dtype: Any) -> Tensor:
    return Tensor(np.asarray(values), ms.float32 if dtype is None else dtype)


def general_cosine(M: int, *, a: Sequence[float], sym: bool = True, dtype: Any = None, **options: Any) -> Tensor:
    """Return a sum of cosines whose weights are ``a``, with alternating signs."""
    angles = 2 * np.pi * np.arange(M) / max(_last(M, sym), 1)
    waves = [(-1) ** order * weight * np.cos(order * angles) for order, weight in enumerate(a)]
    return _window(np.ones(1) if M == 1 else np.sum(waves, 0), dtype)


def general_hamming(M: int, *, alpha: float = 0.54, sym: bool = True, dtype: Any = None, **options: Any) -> Tensor:
    """Return a raised cosine: ``alpha`` is its mean."""
    return general_cosine(M, a=[alpha, 1 - alpha], sym=sym, dtype=dtype)


def hamming(M: int, *, sym: bool = True, dtype: Any = None, **options: Any) -> Tensor:
    """Return a Hamming window."""
    return general_hamming(M, sym=sym, dtype=dtype)


def hann(M: int, *, sym: bool = True, dtype: Any = None, **options: Any) -> Tensor:
    """Return a Hann window."""
    return general_hamming(M, alpha=0.5, sym=sym, dtype=dtype)


def blackman(M: int, *, sym: bool = True, dtype: Any = None, **options: Any) -> Tensor:
    """Return a Blackman window."""
    return general_cosine(M, a=[0.42, 0.5, 0.08], sym=sym, dtype=dtype)


def nuttall(M: int, *, sym: bool = True, dtype: Any = None, **options: Any) -> Tensor:
    """Return the window of four cosines with the lowest side lobes (Nuttall, 1981)."""
    return general_cosine(M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], sym=sym, dtype=dtype)


def bartlett(M: int, *, sym: bool = True, dtype: Any = None, **options: Any) -> Tensor:
    """Return a triangular window."""
    values = 1 - np.abs(2 * np.arange(M) / max(_last(M, sym), 1) - 1)
    return _window(np.ones(1) if M == 1 else values, dtype)


def cosine(M: int, *, sym: bool = True, dtype: Any = None, **options: Any) -> Tensor:
    """Return the half of a sine that is positive."""
    return _window(np.sin(np.pi * (np.arange(M) + 0.5) / (_last(M, sym) + 1)), dtype)


def exponential(
    M: int, *, center: Optional[float] = None, tau: float = 1.0, sym: bool = True, dtype: Any = None, **options: Any
) -> Tensor:
    """Return a window that falls to both sides of ``center`` by e in ``tau`` places."""
    middle = _last(M, sym) / 2 if center is None else center
    return _window(np.exp(-np.abs(np.arange(M) - middle) / tau), dtype)


def gaussian(M: int, *, std: float = 1.0, sym: bool = True, dtype: Any = None, **options: Any) -> Tensor:
    """Return a bell of standard deviation ``std``, in places."""
    return _window(np.exp(-(((np.arange(M) - _last(M, sym) / 2) / (std * math.sqrt(2))) ** 2)), dtype)


def kaiser(M: int, *, beta: float = 12.0, sym: bool = True, dtype: Any = None, **options: Any) -> Tensor:
    """Return a Kaiser window: the larger ``beta``, the narrower."""
    places = beta * (2 * np.arange(M) / max(_last(M, sym), 1) - 1)
    values = np.i0(np.sqrt(np.maximum(beta**2 - places**2, 0))) / np.i0(beta)
    return _window(np.ones(1) if M == 1 else values, dtype)
