"""Frequencies, windows and short-time spectra with PyTorch's signatures."""

from __future__ import annotations

from typing import Any, Optional

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from .image import pad
from .tensor import roll

__all__ = [
    "bartlett_window",
    "blackman_window",
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hamming_window",
    "hann_window",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "istft",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
    "stft",
]


def _floats(values: Any, dtype: Any) -> Tensor:
    """Return numbers as a tensor, float32 unless ``dtype`` is given."""
    return Tensor(np.asarray(values), ms.float32 if dtype is None else dtype)


def fftfreq(n: int, d: float = 1.0, *, dtype: Any = None, **options: Any) -> Tensor:
    """Return the frequencies of a discrete Fourier transform of ``n`` samples ``d`` apart."""
    return _floats(np.fft.fftfreq(n, d), dtype)


def rfftfreq(n: int, d: float = 1.0, *, dtype: Any = None, **options: Any) -> Tensor:
    """Return the frequencies of the transform of ``n`` real samples ``d`` apart."""
    return _floats(np.fft.rfftfreq(n, d), dtype)


def _cosines(window_length: int, periodic: bool, *weights: float) -> Any:
    """Return ``sum of weights[k] * cos(2 pi k i / n)``."""
    if window_length == 1:
        return np.ones(1)
    angles = 2 * np.pi * np.arange(window_length) / (window_length if periodic else window_length - 1)
    return sum(weight * np.cos(order * angles) for order, weight in enumerate(weights))


def hann_window(window_length: int, periodic: bool = True, *, dtype: Any = None, **options: Any) -> Tensor:
    """Return a Hann window."""
    return _floats(_cosines(window_length, periodic, 0.5, -0.5), dtype)


def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: Any = None,
    **options: Any,
) -> Tensor:
    """Return a Hamming window."""
    return _floats(_cosines(window_length, periodic, alpha, -beta), dtype)


def blackman_window(window_length: int, periodic: bool = True, *, dtype: Any = None, **options: Any) -> Tensor:
    """Return a Blackman window."""
    return _floats(_cosines(window_length, periodic, 0.42, -0.5, 0.08), dtype)


def bartlett_window(window_length: int, periodic: bool = True, *, dtype: Any = None, **options: Any) -> Tensor:
    """Return a triangular window."""
    if window_length == 1:
        return _floats(np.ones(1), dtype)
    last = window_length if periodic else window_length - 1
    return _floats(1 - np.abs(2 * np.arange(window_length) / last - 1), dtype)


def stft(
    input: Tensor,
    n_fft: int,
    hop_length: Optional[int] = None,
    win_length: Optional[int] = None,
    window: Optional[Tensor] = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: Optional[bool] = None,
    return_complex: Optional[bool] = None,
) -> Tensor:
    """Return the spectra of overlapping windows of (length) or (batch, length): (..., frequencies, frames).

    Of complex input all frequencies, of real input half of them unless told. Without ``return_complex=True`` the real
    and imaginary parts stand in a new last axis, as programs that do not say it expect. PyTorch 2 refuses to guess.
    """
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    shape = ops.ones((width,), input.dtype) if window is None else window
    left = (n_fft - width) // 2
    shape = pad(shape, (left, n_fft - width - left))
    signal = input if input.ndim == 2 else ops.expand_dims(input, 0)
    if center:
        signal = ops.squeeze(ops.pad(ops.expand_dims(signal, 1), (n_fft // 2, n_fft // 2), mode=pad_mode), 1)
    count = (signal.shape[1] - n_fft) // hop + 1
    places = np.arange(count)[:, None] * hop + np.arange(n_fft)[None, :]
    frames = ops.gather(signal, Tensor(places.reshape(-1), ms.int32), 1).reshape((-1, count, n_fft)) * shape
    if normalized:  # the real numbers: a product of complex ones has no gradient
        frames = frames * n_fft**-0.5
    is_half = not input.is_complex() if onesided is None else onesided
    spectra = ops.rfft(frames) if is_half else ops.fft(frames)
    spectra = ops.swapaxes(spectra, 1, 2)
    if input.ndim == 1:
        spectra = spectra[0]
    if not return_complex:
        return ops.stack((ops.real(spectra), ops.imag(spectra)), -1)
    return spectra


def _overlapped(frames: Tensor, hop: int) -> Tensor:
    """Return the sum of windows (batch, frames, width), each ``hop`` behind the one before: (batch, length)."""
    batch, count, width = frames.shape
    parts = -(-width // hop)
    pieces = pad(frames, (0, parts * hop - width)).reshape((batch, count, parts, hop))
    total = pad(pieces[:, :, 0], (0, 0, 0, parts - 1))
    for part in range(1, parts):
        total = total + pad(pieces[:, :, part], (0, 0, part, parts - 1 - part))
    return total.reshape((batch, -1))[:, : hop * (count - 1) + width]


def istft(
    input: Tensor,
    n_fft: int,
    hop_length: Optional[int] = None,
    win_length: Optional[int] = None,
    window: Optional[Tensor] = None,
    center: bool = True,
    normalized: bool = False,
    onesided: Optional[bool] = None,
    length: Optional[int] = None,
    return_complex: bool = False,
) -> Tensor:
    """Return the signal whose spectra (frequencies, frames) or (batch, frequencies, frames) :func:`stft` gives.

    Of all signals it is the one whose spectra come closest (Griffin and Lim, 1984). PyTorch refuses windows whose sum
    has a zero; here the signal is not finite there. Of two-sided spectra, a real signal needs the first half.
    """
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    shape = ops.ones((width,), ms.float32) if window is None else window
    if not shape.is_floating_point():  # squares of bools are bools, and their sum is no count
        shape = shape.astype(ms.float32)
    left = (n_fft - width) // 2
    shape = pad(shape, (left, n_fft - width - left))
    spectra = ops.swapaxes(input if input.ndim == 3 else ops.expand_dims(input, 0), 1, 2)
    weight = _overlapped(ops.broadcast_to(shape * shape, (1, spectra.shape[1], n_fft)), hop)
    start = n_fft // 2 if center else 0
    end = weight.shape[1] - start if length is None else start + length
    scale = n_fft**0.5 if normalized else 1.0

    def joined(frames: Tensor) -> Tensor:
        signal = _overlapped(frames * shape, hop)[:, start:end] / weight[:, start:end] * scale
        signal = pad(signal, (0, max(end - weight.shape[1], 0)))
        return signal if input.ndim == 3 else signal[0]

    if return_complex:
        frames = ops.ifft(spectra)
        return ops.Complex()(joined(ops.real(frames)), joined(ops.imag(frames)))
    return joined(ops.irfft(spectra[:, :, : n_fft // 2 + 1], n_fft))


def _norm(norm: Optional[str]) -> str:
    """Return the normalisation; torch's default is "backward"."""
    return "backward" if norm is None else norm


def _floating(input: Tensor) -> Tensor:
    """Return numbers that every kernel transforms: MindSpore refuses booleans, and some integers."""
    return input if input.is_floating_point() or input.is_complex() else input.astype(ms.float32)


def fft(input: Tensor, n: Optional[int] = None, dim: int = -1, norm: Optional[str] = None) -> Tensor:
    """Return the discrete Fourier transform along ``dim``."""
    return ops.fft(_floating(input), n, dim, _norm(norm))


def ifft(input: Tensor, n: Optional[int] = None, dim: int = -1, norm: Optional[str] = None) -> Tensor:
    """Return the inverse discrete Fourier transform along ``dim``."""
    return ops.ifft(_floating(input), n, dim, _norm(norm))


def rfft(input: Tensor, n: Optional[int] = None, dim: int = -1, norm: Optional[str] = None) -> Tensor:
    """Return the Fourier transform of real values along ``dim``."""
    return ops.rfft(_floating(input), n, dim, _norm(norm))


def irfft(input: Tensor, n: Optional[int] = None, dim: int = -1, norm: Optional[str] = None) -> Tensor:
    """Return the real values whose Fourier transform is ``input``."""
    return ops.irfft(input, n, dim, _norm(norm))


_SWAPPED = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def _conjugated(input: Tensor) -> Tensor:
    if not input.is_complex():
        return input.astype(ms.complex128 if input.dtype == ms.float64 else ms.complex64)
    return ops.conj(input)


def hfft(input: Tensor, n: Optional[int] = None, dim: int = -1, norm: Optional[str] = None) -> Tensor:
    """Return the Fourier transform of a signal whose half is given, symmetric in time: it is real."""
    return irfft(_conjugated(input), n, dim, _SWAPPED[_norm(norm)])


def ihfft(input: Tensor, n: Optional[int] = None, dim: int = -1, norm: Optional[str] = None) -> Tensor:
    """Return the half of the signal whose Fourier transform is the real ``input``."""
    return ops.conj(rfft(input, n, dim, _SWAPPED[_norm(norm)]))


def _listed(value: Any) -> Any:
    return (value,) if isinstance(value, int) else value


def fft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: Optional[str] = None) -> Tensor:
    """Return the two-dimensional discrete Fourier transform."""
    return ops.fft2(_floating(input), _listed(s), _listed(dim), _norm(norm))


def ifft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: Optional[str] = None) -> Tensor:
    """Return the inverse of the two-dimensional discrete Fourier transform."""
    return ops.ifft2(_floating(input), _listed(s), _listed(dim), _norm(norm))


def rfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: Optional[str] = None) -> Tensor:
    """Return the two-dimensional Fourier transform of real values."""
    return ops.rfft2(_floating(input), _listed(s), _listed(dim), _norm(norm))


def irfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: Optional[str] = None) -> Tensor:
    """Return the real values whose two-dimensional Fourier transform is ``input``."""
    return ops.irfft2(_floating(input), _listed(s), _listed(dim), _norm(norm))


def fftshift(input: Tensor, dim: Any = None) -> Tensor:
    """Return ``input`` with frequency 0 in the middle."""
    axes = tuple(range(input.ndim)) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    return roll(input, tuple(input.shape[axis] // 2 for axis in axes), axes)


def ifftshift(input: Tensor, dim: Any = None) -> Tensor:
    """Return ``input`` with frequency 0 first again."""
    axes = tuple(range(input.ndim)) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    return roll(input, tuple(-(input.shape[axis] // 2) for axis in axes), axes)


def fftn(input: Tensor, s: Any = None, dim: Any = None, norm: Optional[str] = None) -> Tensor:
    """Return the discrete Fourier transform over several axes, all by default."""
    return ops.fftn(_floating(input), _listed(s), _listed(dim), _norm(norm))


def ifftn(input: Tensor, s: Any = None, dim: Any = None, norm: Optional[str] = None) -> Tensor:
    """Return the inverse of the Fourier transform over several axes, all by default."""
    return ops.ifftn(_floating(input), _listed(s), _listed(dim), _norm(norm))


def rfftn(input: Tensor, s: Any = None, dim: Any = None, norm: Optional[str] = None) -> Tensor:
    """Return the Fourier transform of real values over several axes, all by default."""
    return ops.rfftn(_floating(input), _listed(s), _listed(dim), _norm(norm))


def irfftn(input: Tensor, s: Any = None, dim: Any = None, norm: Optional[str] = None) -> Tensor:
    """Return the inverse of ``rfftn``, all by default."""
    return ops.irfftn(_floating(input), _listed(s), _listed(dim), _norm(norm))


def hfftn(input: Tensor, s: Any = None, dim: Any = None, norm: Optional[str] = None) -> Tensor:
    """Return the Fourier transform over several axes of a signal that is symmetric in time: it is real."""
    return irfftn(_conjugated(input), s, dim, _SWAPPED[_norm(norm)])


def ihfftn(input: Tensor, s: Any = None, dim: Any = None, norm: Optional[str] = None) -> Tensor:
    """Return the half of the signal whose Fourier transform over several axes is the real ``input``."""
    return ops.conj(rfftn(input, s, dim, _SWAPPED[_norm(norm)]))


def hfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: Optional[str] = None) -> Tensor:
    """Return the two-dimensional Fourier transform of a signal that is symmetric in time: it is real."""
    return hfftn(input, s, dim, norm)


def ihfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: Optional[str] = None) -> Tensor:
    """Return the half of the signal whose two-dimensional Fourier transform is the real ``input``."""
    return ihfftn(input, s, dim, norm)
