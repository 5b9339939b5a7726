"""Resizing, padding and rearranging images with PyTorch's signatures."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple, Union

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

__all__ = [
    "affine_grid",
    "channel_shuffle",
    "fold",
    "interpolate",
    "pad",
    "pixel_shuffle",
    "pixel_unshuffle",
    "unfold",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]


Taps = List[Tuple[Any, Any]]  # (index of the source, weight) of each place, as arrays; weight None is 1


def _output_size(input: Tensor, size: Any, scale_factor: Any) -> Tuple[int, ...]:
    """Return the spatial size that ``size`` or ``scale_factor`` asks for."""
    rank = input.ndim - 2
    if (size is None) == (scale_factor is None):
        raise ValueError("either size or scale_factor should be defined, and not both")
    if size is not None:
        return (int(size),) * rank if isinstance(size, (int, float)) else tuple(int(value) for value in size)
    scales = (scale_factor,) * rank if isinstance(scale_factor, (int, float)) else tuple(scale_factor)
    return tuple(int(have * scale) for have, scale in zip(input.shape[2:], scales))


def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: Optional[bool] = None,
    recompute_scale_factor: Optional[bool] = None,
    antialias: bool = False,
) -> Tensor:
    """Return ``input`` (batch, channels, ...) resized."""
    if input.dtype == ms.uint8 and mode not in ("nearest", "nearest-exact", "bilinear", "bicubic"):
        whole = input.astype(ms.float32)
        found = interpolate(whole, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias)
        return ops.clamp(ops.floor(found + 0.5), 0, 255).astype(ms.uint8)
    sizes = _output_size(input, size, scale_factor)
    if mode == "area":
        return _means(input, sizes)
    taps = {"nearest": _nearest, "nearest-exact": _nearest_exact, "bicubic": _cubic}.get(mode, _linear)
    scales: Any = (None,) * len(sizes)
    if scale_factor is not None and not recompute_scale_factor:
        scales = (scale_factor,) * len(sizes) if isinstance(scale_factor, (int, float)) else tuple(scale_factor)
    even = _is_even(sizes, input.shape[2:], scales)
    is_bytes = input.dtype == ms.uint8 and "nearest" not in mode
    if mode == "bilinear" and even and not antialias and not is_bytes:
        return ops.interpolate(input, sizes, mode=mode, align_corners=bool(align_corners))
    steps = []
    for axis, (new, old, scale) in enumerate(zip(sizes, input.shape[2:], scales), start=2):
        if align_corners:
            ratio = (old - 1) / (new - 1) if new > 1 else 0.0
        else:
            ratio = old / new if scale is None else 1 / scale
        if antialias:
            steps.append((axis, _antialiased(new, old, ratio, mode)))
        else:
            steps.append((axis, taps(new, old, np.float32(ratio), bool(align_corners))))
    if is_bytes:
        return _bytes_resampled(input, steps, sizes)
    for axis, found_taps in steps:
        input = _resampled(input, axis, found_taps)
    return input


@ops.constexpr  # what all() says is no constant of a graph
def _is_even(sizes: Sequence[int], given: Sequence[int], scales: Sequence[Any]) -> bool:
    """Whether the scales are those of the sizes."""
    return all(scale is None or new == old * scale for new, old, scale in zip(sizes, given, scales))


def _bytes_resampled(input: Tensor, steps: Sequence[Tuple[int, Taps]], sizes: Sequence[int]) -> Tensor:
    """Return bytes resized as PyTorch does: the width first, each axis with weights of 15 bits, and rounded."""
    for axis, taps in reversed(steps):
        have = input.shape[axis]
        if sizes[axis - 2] == have:
            continue
        weights = np.zeros((sizes[axis - 2], have))
        for places, part in taps:
            np.add.at(weights, (np.arange(len(places)), places.astype(np.int64)), part)
        bits = next(bits for bits in range(23) if bits == 22 or int(0.5 + weights.max() * 2 ** (bits + 1)) >= 2**15)
        whole = np.trunc(weights * 2**bits + np.copysign(0.5, weights))
        total = _resampled(input.astype(ms.float64), axis, _taps_of(whole))
        input = ops.clamp(ops.floor((total + 2 ** (bits - 1)) / 2**bits), 0, 255).astype(ms.uint8)
    return input


def _means(input: Tensor, sizes: Tuple[int, ...]) -> Tensor:
    """Return the means of as many windows as asked for along each axis, which may lie over each other."""
    if len(sizes) == 2:
        return ops.adaptive_avg_pool2d(input, sizes)
    for axis, count in enumerate(sizes, start=2):
        have = input.shape[axis]
        bounds = [(index * have // count, -((-(index + 1) * have) // count)) for index in range(count)]
        places = [slice(None)] * input.ndim
        parts = []
        for start, stop in bounds:
            places[axis] = slice(start, stop)
            parts.append(input[tuple(places)].mean(axis, True))
        input = ops.concat(parts, axis)
    return input


def _resampled(x: Tensor, axis: int, taps: Taps) -> Tensor:
    """Return the weighted sum of the places that ``taps`` name along ``axis``."""
    total: Any = None
    for places, weights in taps:
        part = ops.gather(x, Tensor(places.astype(np.int32)), axis)
        if weights is not None:
            shape = (-1,) + (1,) * (x.ndim - 1 - axis)
            part = part * Tensor(weights.astype(np.float32).reshape(shape)).astype(x.dtype)
        total = part if total is None else total + part
    return total


def _nearest(new: int, old: int, ratio: Any, align_corners: bool) -> Taps:
    """Return the taps of nearest interpolation: ``floor(i * ratio)``."""
    return [(np.minimum(np.floor(np.arange(new, dtype=np.float32) * ratio), old - 1), None)]


def _nearest_exact(new: int, old: int, ratio: Any, align_corners: bool) -> Taps:
    """Return the taps of nearest interpolation from the centres of pixels."""
    return [(np.minimum(np.floor((np.arange(new, dtype=np.float32) + 0.5) * ratio), old - 1), None)]


def _linear(new: int, old: int, ratio: Any, align_corners: bool) -> Taps:
    """Return the two taps of linear interpolation."""
    places = np.arange(new, dtype=np.float32)
    source = places * ratio if align_corners else np.maximum((places + 0.5) * ratio - 0.5, 0)
    first = np.minimum(np.floor(source), old - 1)
    part = np.clip(source - first, 0, 1)
    return [(first, 1 - part), (np.minimum(first + 1, old - 1), part)]


def _cubic(new: int, old: int, ratio: Any, align_corners: bool) -> Taps:
    """Return the four taps of cubic convolution with a = -0.75 (Keys 1981), as torch and OpenCV use."""
    places = np.arange(new, dtype=np.float32)
    source = places * ratio if align_corners else (places + 0.5) * ratio - 0.5
    first = np.floor(source)
    t, a = source - first, -0.75

    def near(x: Any) -> Any:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Any) -> Any:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    weights = (far(t + 1), near(t), near(1 - t), far(2 - t))
    return [(np.clip(first + shift, 0, old - 1), weight) for shift, weight in zip((-1, 0, 1, 2), weights)]


def _antialiased(new: int, old: int, ratio: float, mode: str) -> Taps:
    """Return the taps of linear or cubic (a = -0.5) interpolation with a filter as wide as it shrinks."""
    if mode not in ("bilinear", "bicubic"):
        raise ValueError("Anti-alias option is restricted to bilinear and bicubic modes")
    stretch, reach = max(ratio, 1.0), 1.0 if mode == "bilinear" else 2.0
    places = np.arange(old, dtype=np.float64)
    weights = np.zeros((new, old))
    for index in range(new):
        centre = ratio * (index + 0.5)
        first, last = int(max(centre - reach * stretch + 0.5, 0)), int(min(centre + reach * stretch + 0.5, old))
        distance = np.abs(places[first:last] - centre + 0.5) / stretch
        if mode == "bilinear":
            values = np.maximum(1 - distance, 0)
        else:
            near = (1.5 * distance - 2.5) * distance * distance + 1
            far = ((-0.5 * distance + 2.5) * distance - 4) * distance + 2
            values = np.where(distance < 1, near, np.where(distance < 2, far, 0))
        weights[index, first:last] = values / values.sum()
    return _taps_of(weights)


def _taps_of(weights: Any) -> Taps:
    """Return the taps of a matrix of weights (new, old), whose rows are 0 but for a few neighbours."""
    rows, old = np.arange(len(weights)), weights.shape[1]
    used = weights != 0
    first = used.argmax(1)
    width = int((old - used[:, ::-1].argmax(1) - first).max())
    taps = []
    for shift in range(width):
        places = np.minimum(first + shift, old - 1)
        taps.append((places, weights[rows, places] * (first + shift < old)))
    return taps


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """Return ``interpolate`` of the nearest places (torch's older name)."""
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """Return linear ``interpolate`` with aligned corners (torch's older name)."""
    return interpolate(input, size, scale_factor, "bilinear", True)


def upsample(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: Optional[bool] = None,
) -> Tensor:
    """Return ``interpolate`` (torch's older name)."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: Optional[float] = None) -> Tensor:
    """Return ``input`` padded, or cropped where a width is negative; ``pad`` counts from the last axis."""
    widths = [int(width) for width in pad]
    if all(width == 0 for width in widths):
        return input.copy()
    if mode != "constant":
        by_kernel = mode == "replicate" or (input.ndim < 5 and len(widths) < 6)
        if by_kernel and input.dtype != ms.bool_ and 0 not in input.shape:
            return ops.pad(input, tuple(widths), mode=mode)
        return _padded_by_places(input, widths, mode)
    crop = [slice(None)] * input.ndim
    for index in range(len(widths) // 2):
        before, after = widths[2 * index], widths[2 * index + 1]
        stop = input.shape[-1 - index] + min(after, 0)
        crop[-1 - index] = slice(max(-before, 0), stop)
    if any(width < 0 for width in widths):
        input = input[tuple(crop)].copy()  # a view otherwise
    for index in range(len(widths) // 2):
        axis = input.ndim - 1 - index
        parts = [
            _filled(input, axis, widths[2 * index], value),
            input,
            _filled(input, axis, widths[2 * index + 1], value),
        ]
        kept = [part for part in parts if part is not None]
        input = kept[0] if len(kept) == 1 else ops.concat(kept, axis)
    return input


def _padded_by_places(input: Tensor, widths: Sequence[int], mode: str) -> Tensor:
    """Return what :func:`pad` does, one axis after the other: kernels reflect two at most, and know no bools."""
    numpy_mode: Any = {"reflect": "reflect", "circular": "wrap", "replicate": "edge"}[mode]
    for index in range(len(widths) // 2):
        axis = input.ndim - 1 - index
        before, after = widths[2 * index], widths[2 * index + 1]
        places = np.pad(np.arange(input.shape[axis]), (max(before, 0), max(after, 0)), numpy_mode)
        places = places[max(-before, 0) : len(places) + min(after, 0)]
        if 0 in input.shape:
            input = ops.zeros((*input.shape[:axis], len(places), *input.shape[axis + 1 :]), input.dtype)
        else:
            input = ops.gather(input, Tensor(places.astype(np.int32)), axis)
    return input


def _filled(input: Tensor, axis: int, width: int, value: Optional[float]) -> Any:
    """Return ``width`` places of ``value`` along ``axis``, or None."""
    if width <= 0:
        return None
    shape = list(input.shape)
    shape[axis] = width
    block = ops.zeros(tuple(shape), input.dtype)
    return block if not value else block + Tensor(value, input.dtype)


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: Optional[bool] = None) -> Tensor:
    """Return the sampling grid of the affine maps ``theta`` (batch, n, n + 1) for pictures of ``size``, n axes each."""
    spatial = tuple(int(value) for value in size[2:])
    rank = len(spatial)
    parts = []
    for axis in range(rank - 1, -1, -1):  # x first
        places = _centres(spatial[axis], bool(align_corners))
        shape = tuple(-1 if place == axis else 1 for place in range(rank))
        parts.append(ops.broadcast_to(places.reshape(shape), spatial))
    count = int(np.prod(spatial))
    base = ops.stack((*parts, ops.ones_like(parts[0])), -1).reshape((1, count, rank + 1)).astype(theta.dtype)
    base = ops.broadcast_to(base, (theta.shape[0], count, rank + 1))
    return ops.matmul(base, theta.swapaxes(1, 2)).reshape((theta.shape[0], *spatial, rank))


def _centres(count: int, align_corners: bool) -> Tensor:
    """Return ``count`` places from -1 to 1: the ends themselves, or the centres of pixels."""
    if align_corners:
        places = [-1 + 2 * index / (count - 1) if count > 1 else 0.0 for index in range(count)]
    else:
        places = [(2 * index + 1) / count - 1 for index in range(count)]
    return Tensor(places, ms.float32)


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Return (..., c, h*r, w*r) from (..., c*r*r, h, w)."""
    *lead, channels, height, width = input.shape
    factor = upscale_factor
    count, rank = channels // factor**2, len(lead)
    x = input.reshape((*lead, count, factor, factor, height, width))
    axes = tuple(range(rank)) + tuple(rank + axis for axis in (0, 3, 1, 4, 2))
    return ops.transpose(x, axes).reshape((*lead, count, height * factor, width * factor))


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """Return (..., c*r*r, h, w) from (..., c, h*r, w*r); nothing in its own shape, as PyTorch."""
    if 0 in input.shape:
        return input.copy()
    *lead, channels, height, width = input.shape
    factor, rank = downscale_factor, len(lead)
    x = input.reshape((*lead, channels, height // factor, factor, width // factor, factor))
    axes = tuple(range(rank)) + tuple(rank + axis for axis in (0, 2, 4, 1, 3))
    return ops.transpose(x, axes).reshape((*lead, channels * factor**2, height // factor, width // factor))


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Return ``input`` with the channels (axis 1) of its groups interleaved."""
    shape = input.shape
    x = input.reshape((shape[0], groups, shape[1] // groups, -1))
    return ops.swapaxes(x, 1, 2).reshape(shape)


IntOrInts = Union[int, Sequence[int]]


def _pair(value: IntOrInts) -> Tuple[int, int]:
    """Return two ints from an int or a sequence."""
    return (value, value) if isinstance(value, int) else (value[0], value[-1])


def unfold(
    input: Tensor, kernel_size: IntOrInts, dilation: IntOrInts = 1, padding: IntOrInts = 0, stride: IntOrInts = 1
) -> Tensor:
    """Return the windows of (batch, channels, height, width) as columns: (batch, channels * kernel, windows)."""
    if input.ndim == 3:
        return ops.squeeze(unfold(ops.expand_dims(input, 0), kernel_size, dilation, padding, stride), 0)
    (kh, kw), (dh, dw), (ph, pw), (sh, sw) = _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride)
    x = pad(input, (pw, pw, ph, ph))
    batch, channels, height, width = x.shape
    rows, columns = (height - dh * (kh - 1) - 1) // sh + 1, (width - dw * (kw - 1) - 1) // sw + 1
    # gather, not x[..., ::step]: the gradient of a strided slice is broken on CPU (2.10)
    parts = []
    for i in range(kh):
        line = ops.gather(x, _places(i * dh, sh, rows), 2)
        for j in range(kw):
            parts.append(ops.gather(line, _places(j * dw, sw, columns), 3))
    return ops.stack(parts, 2).reshape((batch, channels * kh * kw, rows * columns))


def _places(start: int, step: int, count: int) -> Tensor:
    """Return ``count`` indices from ``start`` on, ``step`` apart."""
    return Tensor([start + step * index for index in range(count)], ms.int32)


def fold(
    input: Tensor,
    output_size: IntOrInts,
    kernel_size: IntOrInts,
    dilation: IntOrInts = 1,
    padding: IntOrInts = 0,
    stride: IntOrInts = 1,
) -> Tensor:
    """Return the sum of the windows at their places: the adjoint of ``unfold``."""
    if input.ndim == 2:
        whole = fold(ops.expand_dims(input, 0), output_size, kernel_size, dilation, padding, stride)
        return ops.squeeze(whole, 0)
    (kh, kw), (dh, dw), (ph, pw), (sh, sw) = _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride)
    height, width = _pair(output_size)
    full_h, full_w = height + 2 * ph, width + 2 * pw
    rows, columns = (full_h - dh * (kh - 1) - 1) // sh + 1, (full_w - dw * (kw - 1) - 1) // sw + 1
    batch = input.shape[0]
    windows = input.reshape((batch, input.shape[1] // (kh * kw), kh, kw, rows, columns))  # -1 of an empty batch is 0
    total = ops.zeros((batch, windows.shape[1], full_h, full_w), input.dtype)
    for i in range(kh):
        for j in range(kw):
            row = _placed(windows[:, :, i, j], -2, i * dh, sh, full_h)
            total = total + _placed(row, -1, j * dw, sw, full_w)
    return total[:, :, ph : ph + height, pw : pw + width]


def _placed(x: Tensor, axis: int, start: int, step: int, size: int) -> Tensor:
    """Return zeros of ``size`` along ``axis`` (-1 or -2) that hold ``x`` at ``start``, ``start + step``, ..."""
    moved = x if axis == -1 else ops.swapaxes(x, -1, -2)
    if step > 1:
        spread = ops.expand_dims(moved, -1)
        spread = pad(spread, (0, step - 1))
        moved = spread.reshape((*moved.shape[:-1], moved.shape[-1] * step))[..., : (moved.shape[-1] - 1) * step + 1]
    moved = pad(moved, (start, size - start - moved.shape[-1]))
    return moved if axis == -1 else ops.swapaxes(moved, -1, -2)
