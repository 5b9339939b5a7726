"""Counts, medians, slopes, parts of numbers with PyTorch's signatures; by numpy where said, then without a gradient."""

from __future__ import annotations

from typing import Any, List, NamedTuple, Optional, Sequence, Tuple

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from . import selections
from .algebra import _from, _upto, diff
from .dtypes import number, promoted
from .kernels import tensor_split

__all__ = [
    "atleast_3d",
    "broadcast_shapes",
    "combinations",
    "cumulative_trapezoid",
    "dsplit",
    "frexp",
    "gradient",
    "histogram",
    "histogramdd",
    "kaiser_window",
    "ldexp",
    "nanmedian",
    "nanquantile",
    "nextafter",
    "randint_like",
    "range_",
]


class Histogram(NamedTuple):
    """Counts and the edges of the bins."""

    hist: Tensor
    bin_edges: Tensor


class Grid(NamedTuple):
    """Counts, and the edges of the bins of each axis."""

    hist: Tensor
    bin_edges: Tuple[Tensor, ...]


class Parts(NamedTuple):
    """``mantissa * 2 ** exponent``."""

    mantissa: Tensor
    exponent: Tensor


class Found(NamedTuple):
    """Values and their int64 indices."""

    values: Tensor
    indices: Tensor


def histogram(
    input: Tensor, bins: Any, *, range: Any = None, weight: Optional[Tensor] = None, density: bool = False
) -> Histogram:
    """Return counts and edges; by numpy."""
    values = input.asnumpy().reshape(-1)
    edges = bins.asnumpy() if isinstance(bins, Tensor) else bins
    weights = None if weight is None else weight.asnumpy().reshape(-1)
    counts, found = np.histogram(values, edges, range=range, weights=weights, density=density)
    return Histogram(Tensor(counts.astype(values.dtype)), Tensor(found.astype(values.dtype)))


def histogramdd(
    input: Tensor, bins: Any, *, range: Any = None, weight: Optional[Tensor] = None, density: bool = False
) -> Grid:
    """Return the counts of rows in a grid, and the edges of each axis; by numpy."""
    values = input.asnumpy().reshape((-1, input.shape[-1]))
    edges = [part.asnumpy() for part in bins] if not isinstance(bins, int) and isinstance(bins[0], Tensor) else bins
    limits: Any = None if range is None else np.asarray(range, np.float64).reshape((-1, 2)).tolist()
    weights = None if weight is None else weight.asnumpy().reshape(-1)
    counts, found = np.histogramdd(values, edges, range=limits, weights=weights, density=density)
    return Grid(Tensor(counts.astype(values.dtype)), tuple(Tensor(edge.astype(values.dtype)) for edge in found))


def frexp(input: Tensor) -> Parts:
    """Return mantissas (0.5 to 1) and int32 exponents; by numpy."""
    mantissa, exponent = np.frexp(input.asnumpy())
    return Parts(Tensor(mantissa), Tensor(exponent.astype(np.int32)))


def ldexp(input: Tensor, other: Tensor) -> Tensor:
    """Return ``input * 2 ** other``; of floats, of the dtype of ``input`` where ``other`` holds ints."""
    found = input * ops.pow(2.0, other.astype(ms.float32))
    return found.astype(input.dtype) if input.is_floating_point() and not other.is_floating_point() else found


def nextafter(input: Tensor, other: Tensor) -> Tensor:
    """Return the next number towards ``other``; by numpy. The gradient is that of ``input``, as in PyTorch."""
    input, other = promoted((input, other)) if input.dtype != other.dtype else (input, other)
    values = input.asnumpy()
    found = np.nextafter(values, other.asnumpy())
    if not np.isfinite(values).all():
        return Tensor(found)
    return input + Tensor(found - values)  # what lies between neighbours is exact, and so is the sum with it


def nanmedian(input: Tensor, dim: Optional[int] = None, keepdim: bool = False) -> Any:
    """Return the lower median of what is a number; along an axis with int64 indices; numpy finds its place."""
    values = input.asnumpy()
    if dim is None:
        kept = np.sort(values[~np.isnan(values)])
        found = Tensor(np.asarray(kept[(kept.size - 1) // 2] if kept.size else np.nan, values.dtype))
        return selections.shared(found, input.reshape((-1,))) if kept.size else found
    if not input.ndim:
        return Found(input.copy(), Tensor(0, ms.int64))
    order = np.argsort(values, axis=dim, kind="stable")
    count = np.maximum((~np.isnan(values)).sum(dim, keepdims=True), 1)
    index = np.take_along_axis(order, (count - 1) // 2, dim)
    places = Tensor(np.asarray(index, np.int64))
    found = ops.gather_elements(input, dim, places)
    return Found(found, places) if keepdim else Found(ops.squeeze(found, dim), ops.squeeze(places, dim))


def nanquantile(
    input: Tensor, q: Any, dim: Optional[int] = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """Return quantiles of what is a number.

    The numbers are numpy's; the gradient is that of the sorted values they lie between.
    """
    values = input.asnumpy()
    points = q.asnumpy() if isinstance(q, Tensor) else np.asarray(q, values.dtype)
    exact = np.asarray(np.nanquantile(values, points, axis=dim, keepdims=keepdim, method=interpolation), values.dtype)
    places = np.arange(values.size).reshape(values.shape if dim is not None else (-1,))
    rows, flat = (np.moveaxis(part.reshape(places.shape), dim or 0, -1) for part in (values, places))
    last = np.maximum((~np.isnan(rows)).sum(-1) - 1, 0)
    rank = points.reshape((-1,) + (1,) * last.ndim) * last.astype(values.dtype)
    share = {"lower": 0.0, "higher": 1.0, "midpoint": 0.5, "nearest": np.rint(rank) - np.floor(rank)}
    part = Tensor(np.asarray(share.get(interpolation, rank - np.floor(rank)), values.dtype))
    order = np.take_along_axis(flat, np.argsort(rows, -1, kind="stable"), -1)
    ends = (
        np.take_along_axis(order, np.moveaxis(end(rank), 0, -1).astype(np.int64), -1) for end in (np.floor, np.ceil)
    )
    low, high = (ops.gather(input.reshape((-1,)), Tensor(np.moveaxis(end, -1, 0)), 0) for end in ends)
    between, told = (low + (high - low) * part).reshape((-1,)), Tensor(exact.reshape(-1))  # 2.0 selects along an axis
    rest = ops.stop_gradient(told - between)  # rounding, and what is no number
    return ops.where(ops.isfinite(rest), between + rest, told).reshape(exact.shape)


def gradient(input: Tensor, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> Tuple[Tensor, ...]:
    """Return the slopes along each axis, or each of ``dim``: central differences inside, one-sided ones at the ends.

    ``spacing`` is a step, one step for each axis, or the coordinates along each axis.
    """
    axes = tuple(range(input.ndim)) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    values = input if input.is_floating_point() or input.is_complex() else input.astype(ms.float32)
    steps = spacing if isinstance(spacing, (list, tuple)) else [1 if spacing is None else spacing] * len(axes)
    places = [step for step in steps if isinstance(step, Tensor) and step.ndim and step.is_floating_point()]
    values = promoted([values, *places])[0] if places else values
    return tuple([_slopes(values, axis % input.ndim, step, edge_order) for axis, step in zip(axes, steps)])


def _slopes(values: Tensor, axis: int, step: Any, edge_order: int) -> Tensor:
    """Return the slopes along one axis, whose places lie ``step`` apart, or at these coordinates."""
    size = values.shape[axis]
    places = step.asnumpy() if isinstance(step, Tensor) else np.asarray(step)
    gaps = np.full(size - 1, places, np.float64) if places.ndim == 0 else np.diff(places.astype(np.float64))

    def weighted(start: int, count: int, weights: Sequence[Any]) -> Tensor:
        """Return the sum over neighbours of ``count`` places from ``start`` on."""
        total: Any = None
        for shift, weight in enumerate(weights):
            if np.any(weight):  # 0 times infinity is NaN
                shape = (-1,) + (1,) * (values.ndim - 1 - axis)
                part = _upto(_from(values, axis, start + shift), axis, count)
                part = part * Tensor(np.reshape(weight, shape), values.dtype)
                total = part if total is None else total + part
        return total

    if edge_order == 1:
        first, last = [-1 / gaps[0], 1 / gaps[0]], [-1 / gaps[-1], 1 / gaps[-1]]
    else:
        (a, b), (c, d) = gaps[:2], gaps[-2:]
        first = [-(2 * a + b) / (a * (a + b)), (a + b) / (a * b), -a / (b * (a + b))]
        last = [d / (c * (c + d)), -(c + d) / (c * d), (2 * d + c) / (d * (c + d))]
    parts = [weighted(0, 1, first), weighted(size - len(last), 1, last)]
    if size > 2:
        e, f = gaps[:-1], gaps[1:]
        parts.insert(1, weighted(0, size - 2, [-f / (e * (e + f)), (f - e) / (e * f), e / (f * (e + f))]))
    return ops.concat(parts, axis)


def cumulative_trapezoid(y: Tensor, x: Optional[Tensor] = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    """Return the running integral along ``dim`` by the trapezoidal rule."""
    axis = dim % y.ndim
    size = y.shape[axis]
    heights = _from(y, axis, 1) + _upto(y, axis, size - 1)
    if x is None:
        heights = heights if y.is_floating_point() else heights.astype(ms.float32)
        return ops.cumsum(heights * number((1 if dx is None else dx) / 2, heights), axis)
    steps = diff(x, dim=-1 if x.ndim == 1 else dim)
    if x.ndim == 1:
        steps = steps.reshape((-1,) + (1,) * (y.ndim - 1 - axis))
    areas = heights * steps  # whole numbers wrap around here, as PyTorch's do
    areas = areas if areas.is_floating_point() or areas.is_complex() else areas.astype(ms.int64)
    return ops.cumsum(areas, axis) / 2


def atleast_3d(*tensors: Any) -> Any:
    """Return tensors with three axes at least: (1, n, 1) for vectors, (m, n, 1) for matrices."""
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    shapes = {0: (1, 1, 1), 1: (1, -1, 1)}
    made: List[Tensor] = []
    for tensor in given:
        if tensor.ndim < 2:
            made.append(tensor.reshape(shapes[tensor.ndim]))
        else:
            made.append(ops.expand_dims(tensor, -1) if tensor.ndim == 2 else tensor)
    return made[0] if given is tensors and len(made) == 1 else tuple(made)


def broadcast_shapes(*shapes: Any) -> Tuple[int, ...]:
    """Return the shape that shapes (or single sizes) have together."""
    return tuple(int(size) for size in np.broadcast_shapes(*shapes))


def dsplit(input: Tensor, indices_or_sections: Any) -> Tuple[Tensor, ...]:
    """Return parts along the third axis: so many equal ones, or cut at indices."""
    return tensor_split(input, indices_or_sections, 2)


def kaiser_window(
    window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: Any = None, **options: Any
) -> Tensor:
    """Return Kaiser's window."""
    if window_length == 1:
        values = np.ones(1)
    else:
        values = np.kaiser(window_length + 1, beta)[:-1] if periodic else np.kaiser(window_length, beta)
    return Tensor(values, ms.float32 if dtype is None else dtype)


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Return all choices of ``r`` values, one a row."""
    import itertools

    chosen = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = np.asarray(list(chosen(range(input.shape[0]), r)), np.int32).reshape(-1, r)
    if 0 in places.shape:  # MindSpore's own has no second axis then
        return ops.zeros(places.shape, input.dtype)
    return ops.gather(input, Tensor(places), 0)


def randint_like(input: Tensor, low: Any = None, high: Any = None, *, dtype: Any = None, **options: Any) -> Tensor:
    """Return random integers from ``low`` on, 0 without it, and below ``high``, in the shape and dtype of ``input``."""
    bounds = (0, low) if high is None else (0 if low is None else low, high)
    drawn = ops.randint(int(bounds[0]), int(bounds[1]), input.shape)
    return drawn.astype(input.dtype if dtype is None else dtype)


def range_(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None, **options: Any) -> Tensor:
    """Return float32 numbers from ``start`` to ``end``, the end included, as ``torch.range`` does."""
    low, high = (0, start) if end is None else (start, end)
    count = int(np.floor((high - low) / step)) + 1
    return Tensor(low + step * np.arange(count), ms.float32 if dtype is None else dtype)
