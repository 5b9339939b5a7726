"""Regions of feature maps in one size: torchvision's ``ops`` that pool boxes.

Boxes are rows (image, x1, y1, x2, y2), or a list with the boxes (x1, y1, x2, y2) of each image. As in torchvision no
gradient goes to the boxes: where they lie is decided in numpy, and a bilinear sample, being a product of what a row
and a column give, becomes two matrix products.
"""

from __future__ import annotations

import math
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np
from mindspore import Tensor, nn, ops
from numpy.typing import NDArray

from .kinds import Kind

__all__ = [
    "LevelMapper",
    "MultiScaleRoIAlign",
    "PSRoIAlign",
    "PSRoIPool",
    "RoIAlign",
    "RoIPool",
    "ps_roi_align",
    "ps_roi_pool",
    "roi_align",
    "roi_pool",
]

Boxes = Union[Tensor, Sequence[Tensor]]
Size = Union[int, Sequence[int]]
Array = NDArray[Any]


def _rows(boxes: Boxes) -> Array:
    """Return the boxes as rows with the number of their image. Raises AssertionError for other shapes."""
    if isinstance(boxes, Tensor):
        if boxes.shape[1] != 5:
            raise AssertionError("The boxes tensor shape is not correct as Tensor[K, 5]")
        return np.asarray(boxes.asnumpy(), np.float32)
    found = [np.zeros((0, 5), np.float32)]
    for number, one in enumerate(boxes):
        if one.shape[1] != 4:
            raise AssertionError("The shape of the tensor in the boxes list is not correct as List[Tensor[L, 4]]")
        corners = np.asarray(one.asnumpy(), np.float32)
        found.append(np.concatenate([np.full((len(corners), 1), number, np.float32), corners], 1))
    return np.concatenate(found)


def _pair(size: Size) -> Tuple[int, int]:
    if isinstance(size, (int, np.integer)):
        return int(size), int(size)
    return (int(size[0]), int(size[0])) if len(size) == 1 else (int(size[0]), int(size[1]))


def _samples(starts: Array, sides: Array, bins: int, size: int, ratio: int) -> Array:
    """Return how much each place along one axis counts in each bin (regions, bins, size): bilinear samples, averaged.

    A region has ``ratio`` samples a bin, or as many as it is longer than the output.
    """
    weights = np.zeros((len(starts), bins, size), np.float32)
    for number, (start, side) in enumerate(zip(starts, sides)):
        step = np.float32(side) / np.float32(bins)
        count = ratio if ratio > 0 else math.ceil(step)
        if count <= 0:
            continue
        inside = (np.arange(count, dtype=np.float32) + np.float32(0.5)) * (step / np.float32(count))
        places = np.float32(start) + np.arange(bins, dtype=np.float32)[:, None] * step + inside
        valid = (places >= -1.0) & (places <= size)
        places = np.maximum(places, 0)
        low = np.minimum(places.astype(np.int64), size - 1)
        high = np.minimum(low + 1, size - 1)
        share = np.where(low >= size - 1, np.float32(0), places - low).astype(np.float32)
        rows = np.broadcast_to(np.arange(bins)[:, None], places.shape)
        np.add.at(weights[number], (rows, low), (1 - share) * valid / np.float32(count))
        np.add.at(weights[number], (rows, high), share * valid / np.float32(count))
    return weights


def _by_image(input: Tensor, rows: Array, shape: Tuple[int, ...], pooled: Any) -> Tensor:
    """Return what ``pooled(features of an image, places of its rows)`` gives, in the order of the rows."""
    numbers = rows[:, 0].astype(np.int64)
    if not len(rows):
        return ops.zeros((0, *shape), input.dtype)
    places = [np.flatnonzero(numbers == number) for number in np.unique(numbers)]
    parts = [pooled(input[int(numbers[inside[0]])], inside) for inside in places]
    joined = parts[0] if len(parts) == 1 else ops.cat(parts, 0)
    order = np.argsort(np.concatenate(places), kind="stable")
    if np.array_equal(order, np.arange(len(order))):
        return joined
    return ops.gather(joined, Tensor(order.astype(np.int32)), 0)


def roi_align(
    input: Tensor,
    boxes: Boxes,
    output_size: Size,
    spatial_scale: float = 1.0,
    sampling_ratio: int = -1,
    aligned: bool = False,
) -> Tensor:
    """Return (boxes, channels, *output_size): means of bilinear samples (He et al., "Mask R-CNN", 2017)."""
    rows, (high, wide) = _rows(boxes), _pair(output_size)
    channels, height, width = input.shape[1:]
    corners = rows[:, 1:] * np.float32(spatial_scale) - np.float32(0.5 if aligned else 0)
    sides = corners[:, 2:] - corners[:, :2]
    if not aligned:
        sides = np.maximum(sides, 1)
    down = _samples(corners[:, 1], sides[:, 1], high, height, sampling_ratio)
    across = _samples(corners[:, 0], sides[:, 0], wide, width, sampling_ratio)

    def pooled(features: Tensor, inside: Array) -> Tensor:
        columns = Tensor(across[inside]).astype(input.dtype).transpose(0, 2, 1).expand_dims(1)
        lines = Tensor(down[inside]).astype(input.dtype).expand_dims(1)
        return ops.matmul(lines, ops.matmul(features.expand_dims(0), columns))

    return _by_image(input, rows, (channels, high, wide), pooled)


def ps_roi_align(
    input: Tensor, boxes: Boxes, output_size: Size, spatial_scale: float = 1.0, sampling_ratio: int = -1
) -> Tensor:
    """Return means of samples where each bin has channels of its own (Li et al., "Light-Head R-CNN", 2017)."""
    rows, (high, wide) = _rows(boxes), _pair(output_size)
    corners = rows[:, 1:] * np.float32(spatial_scale) - np.float32(0.5)
    sides = corners[:, 2:] - corners[:, :2]
    down = _samples(corners[:, 1], sides[:, 1], high, input.shape[2], sampling_ratio)
    across = _samples(corners[:, 0], sides[:, 0], wide, input.shape[3], sampling_ratio)
    return _own_channels(input, rows, down, across)


def _own_channels(input: Tensor, rows: Array, down: Array, across: Array) -> Tensor:
    """Return (boxes, channels / bins, bins down, bins across): each bin from its own channels, with such weights."""
    (high, height), (wide, width) = down.shape[1:], across.shape[1:]
    if input.shape[1] % (high * wide):
        raise RuntimeError("input channels must be a multiple of pooling height * pooling width")
    channels = input.shape[1] // (high * wide)

    def pooled(features: Tensor, inside: Array) -> Tensor:
        count = len(inside)
        maps = features.reshape((channels, high, wide, height, width)).transpose(2, 1, 0, 3, 4)
        columns = Tensor(across[inside]).astype(input.dtype).transpose(1, 2, 0)  # bins, width, boxes
        found = ops.matmul(maps.reshape((wide, high * channels * height, width)), columns)
        found = found.reshape((wide, high, channels, height, count)).transpose(1, 4, 2, 0, 3)
        lines = Tensor(down[inside]).astype(input.dtype).transpose(1, 0, 2)  # bins, boxes, height
        found = found * lines.reshape((high, count, 1, 1, height))
        return found.sum(-1).transpose(1, 2, 0, 3)

    return _by_image(input, rows, (channels, high, wide), pooled)


def _rounded(values: Array, spatial_scale: float) -> Array:
    """Return places as whole numbers, halves away from zero, as C rounds."""
    scaled = values * np.float32(spatial_scale)
    whole: Array = np.sign(scaled) * np.floor(np.abs(scaled) + 0.5)
    return whole.astype(np.int64)


def _bins(start: int, side: int, bins: int, last: int) -> List[Tuple[int, int]]:
    """Return first and end of each bin of a region that is ``side`` long, within 0 and ``last``."""
    step = np.float32(side) / np.float32(bins)
    found = []
    for place in range(bins):
        first = math.floor(np.float32(place) * step) + start
        end = math.ceil(np.float32(place + 1) * step) + start
        found.append((min(max(first, 0), last), min(max(end, 0), last)))
    return found


def roi_pool(input: Tensor, boxes: Boxes, output_size: Size, spatial_scale: float = 1.0) -> Tensor:
    """Return (boxes, channels, *output_size): the largest value of each bin (Girshick, "Fast R-CNN", 2015)."""
    flat = ops.cat((input.reshape((-1,)), ops.zeros((1,), input.dtype)), 0)
    places = largest_places(input, _rows(boxes), _pair(output_size), spatial_scale)
    return ops.gather(flat, Tensor(places.reshape(-1).astype(np.int32)), 0).reshape(places.shape)


def largest_places(input: Tensor, rows: Array, sizes: Tuple[int, int], spatial_scale: float) -> Array:
    """Return where the largest value of each bin lies among all of ``input``; behind its end for a bin of nothing."""
    high, wide = sizes
    values = input.asnumpy()
    channels, height, width = values.shape[1:]
    # Where the first of the largest values lies: its gradient goes to that place alone; one place is kept for nothing
    nothing = values.size
    places = np.full((len(rows), channels, high, wide), nothing, np.int64)
    starts = (np.arange(channels) * height * width)[:, None]
    for number, (image, *corners) in enumerate(rows):
        left, top, right, bottom = _rounded(np.asarray(corners), spatial_scale).tolist()
        columns = _bins(left, max(right - left + 1, 1), wide, width)
        for row, (first, end) in enumerate(_bins(top, max(bottom - top + 1, 1), high, height)):
            for column, (begin, stop) in enumerate(columns):
                if end <= first or stop <= begin:
                    continue
                part = values[int(image), :, first:end, begin:stop].reshape(channels, -1)
                best = part.argmax(1)
                y, x = first + best // (stop - begin), begin + best % (stop - begin)
                offset = int(image) * channels * height * width
                places[number, :, row, column] = offset + starts[:, 0] + y * width + x
    return places


def ps_roi_pool(input: Tensor, boxes: Boxes, output_size: Size, spatial_scale: float = 1.0) -> Tensor:
    """Return means of bins that have channels of their own each (Dai et al., "R-FCN", 2016).

    torchvision's values leave the last row and column out, its gradients do not: both are as there.
    """
    rows, sizes = _rows(boxes), _pair(output_size)
    inner = _own_channels(input, rows, *_means(rows, sizes, input.shape[2:], spatial_scale, 1))
    whole = _own_channels(input, rows, *_means(rows, sizes, input.shape[2:], spatial_scale, 0))
    return whole + ops.stop_gradient(inner - whole)


def _means(rows: Array, sizes: Tuple[int, int], sides: Any, scale: float, short: int) -> Tuple[Array, Array]:
    """Return how much each row and each column counts in each bin, where the last ``short`` of them belong to none."""
    down, across = (np.zeros((len(rows), bins, side), np.float32) for bins, side in zip(sizes, sides))
    for number, corners in enumerate(rows[:, 1:]):
        left, top, right, bottom = _rounded(corners, scale).tolist()
        for weights, start, side in ((down[number], top, bottom - top), (across[number], left, right - left)):
            for place, (first, end) in enumerate(_bins(start, max(side, 1), len(weights), weights.shape[1] - short)):
                weights[place, first:end] = 1 / max(end - first, 1)
    return down, across


class _Pooling(nn.Cell, metaclass=Kind):
    """A function above with its settings."""

    def extend_repr(self) -> str:
        """Return what ``repr`` shows of the layer."""
        return ", ".join(f"{name}={value}" for name, value in self.settings.items())

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self.settings = settings
        for name, value in settings.items():
            setattr(self, name, value)


class RoIAlign(_Pooling):
    """``roi_align`` of a size."""

    def __init__(self, output_size: Size, spatial_scale: float, sampling_ratio: int, aligned: bool = False) -> None:
        super().__init__(
            output_size=output_size, spatial_scale=spatial_scale, sampling_ratio=sampling_ratio, aligned=aligned
        )

    def construct(self, input: Tensor, rois: Boxes) -> Tensor:
        """Return (boxes, channels, *output_size)."""
        return roi_align(input, rois, **self.settings)


class RoIPool(_Pooling):
    """``roi_pool`` of a size."""

    def __init__(self, output_size: Size, spatial_scale: float) -> None:
        super().__init__(output_size=output_size, spatial_scale=spatial_scale)

    def construct(self, input: Tensor, rois: Boxes) -> Tensor:
        """Return (boxes, channels, *output_size)."""
        return roi_pool(input, rois, **self.settings)


class PSRoIAlign(_Pooling):
    """``ps_roi_align`` of a size."""

    def __init__(self, output_size: Size, spatial_scale: float, sampling_ratio: int) -> None:
        super().__init__(output_size=output_size, spatial_scale=spatial_scale, sampling_ratio=sampling_ratio)

    def construct(self, input: Tensor, rois: Boxes) -> Tensor:
        """Return (boxes, channels / bins, *output_size)."""
        return ps_roi_align(input, rois, **self.settings)


class PSRoIPool(_Pooling):
    """``ps_roi_pool`` of a size."""

    def __init__(self, output_size: Size, spatial_scale: float) -> None:
        super().__init__(output_size=output_size, spatial_scale=spatial_scale)

    def construct(self, input: Tensor, rois: Boxes) -> Tensor:
        """Return (boxes, channels / bins, *output_size)."""
        return ps_roi_pool(input, rois, **self.settings)


class LevelMapper:
    """To which level of a pyramid a box belongs, by its size (Lin et al., "Feature Pyramid Networks", 2017)."""

    def __init__(
        self, k_min: int, k_max: int, canonical_scale: int = 224, canonical_level: int = 4, eps: float = 1e-6
    ) -> None:
        self.k_min, self.k_max, self.s0, self.lvl0, self.eps = k_min, k_max, canonical_scale, canonical_level, eps

    def __call__(self, boxlists: Sequence[Tensor]) -> Tensor:
        """Return the int64 level of each box, from 0."""
        corners = np.concatenate([boxes.asnumpy().reshape(-1, 4) for boxes in boxlists])
        sides = np.sqrt((corners[:, 2] - corners[:, 0]) * (corners[:, 3] - corners[:, 1]))
        with np.errstate(divide="ignore"):
            levels = np.floor(self.lvl0 + np.log2(sides / np.float32(self.s0)) + np.float32(self.eps))
        return Tensor((np.clip(levels, self.k_min, self.k_max).astype(np.int64) - self.k_min).astype(np.int64))


class MultiScaleRoIAlign(nn.Cell, metaclass=Kind):
    """``roi_align`` of boxes from several feature maps, each box from the one of its level."""

    def __init__(
        self,
        featmap_names: Sequence[str],
        output_size: Size,
        sampling_ratio: int,
        *,
        canonical_scale: int = 224,
        canonical_level: int = 4,
    ) -> None:
        super().__init__()
        self.featmap_names, self.sampling_ratio, self.output_size = featmap_names, sampling_ratio, _pair(output_size)
        self.canonical_scale, self.canonical_level = canonical_scale, canonical_level
        self.scales: Optional[List[float]] = None
        self.map_levels: Optional[LevelMapper] = None

    def _set_up(self, features: Sequence[Tensor], image_shapes: Sequence[Sequence[int]]) -> None:
        """Find by which power of two each feature map is smaller than the largest image."""
        if not image_shapes:
            raise ValueError("images list should not be empty")
        tallest = max(int(shape[0]) for shape in image_shapes)
        powers = [round(float(np.log2(np.float32(one.shape[-2] / tallest)))) for one in features]
        self.scales = [2.0**power for power in powers]
        self.map_levels = LevelMapper(-powers[0], -powers[-1], self.canonical_scale, self.canonical_level)

    def construct(self, x: Dict[str, Tensor], boxes: Sequence[Tensor], image_shapes: Sequence[Sequence[int]]) -> Tensor:
        """Return (boxes, channels, *output_size); boxes are in pixels of the images, whose sizes are given."""
        features = [one for name, one in x.items() if name in self.featmap_names]
        if self.scales is None or self.map_levels is None:
            self._set_up(features, image_shapes)
        scales: List[float] = self.scales or []
        rows = Tensor(_rows(list(boxes)))
        if len(features) == 1:
            return roi_align(features[0], rows, self.output_size, scales[0], self.sampling_ratio)
        levels = self.map_levels(boxes).asnumpy()  # type: ignore[misc]
        parts, order = [], []
        for level, (one, scale) in enumerate(zip(features, scales)):
            inside = np.flatnonzero(levels == level)
            if len(inside):
                own = Tensor(rows.asnumpy()[inside])
                parts.append(roi_align(one, own, self.output_size, scale, self.sampling_ratio))
                order.append(inside)
        if not parts:
            return ops.zeros((0, features[0].shape[1], *self.output_size), features[0].dtype)
        back = np.argsort(np.concatenate(order), kind="stable").astype(np.int32)
        return ops.gather(ops.cat(parts, 0), Tensor(back), 0)
