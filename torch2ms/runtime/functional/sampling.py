"""Sampling of pictures at given places: ``grid_sample`` with PyTorch's rounding and its bicubic mode."""

from __future__ import annotations

from typing import List, Optional

import mindspore as ms
from mindspore import Tensor, ops

from .image import IntOrInts, _pair

__all__ = ["deform_conv2d", "grid_sample"]

_CUBIC = -0.75  # the parameter of the cubic convolution (Keys 1981) in PyTorch


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: Optional[bool] = None,
) -> Tensor:
    """Return ``input`` (batch, channels, height, width) sampled at ``grid`` (batch, rows, columns, 2), or a depth more.

    MindSpore rounds halves up in the mode "nearest", PyTorch to even; the mode "bicubic" MindSpore does not have.
    """
    aligned = bool(align_corners)
    if input.ndim != 4 or mode not in ("nearest", "bicubic"):
        return ops.grid_sample(input, grid, mode, padding_mode, aligned)
    height, width = input.shape[2:]
    across, down = _place(grid[..., 0], width, aligned), _place(grid[..., 1], height, aligned)
    if mode == "nearest":
        across, down = (_held(x, n, padding_mode, aligned) for x, n in ((across, width), (down, height)))
        return _picked(input, ops.round(across), ops.round(down))
    left, top = ops.floor(across), ops.floor(down)
    columns, rows = _weights(across - left), _weights(down - top)
    total = ops.zeros((*input.shape[:2], *grid.shape[1:3]), input.dtype)
    for row, share in enumerate(rows):
        y = _held(top + (row - 1), height, padding_mode, aligned)
        for column, part in enumerate(columns):
            x = _held(left + (column - 1), width, padding_mode, aligned)
            total = total + _picked(input, x, y) * (share * part).expand_dims(1)
    return total


def deform_conv2d(
    input: Tensor,
    offset: Tensor,
    weight: Tensor,
    bias: Optional[Tensor] = None,
    stride: IntOrInts = (1, 1),
    padding: IntOrInts = (0, 0),
    dilation: IntOrInts = (1, 1),
    mask: Optional[Tensor] = None,
) -> Tensor:
    """Return the convolution whose kernel reads ``input`` at places moved by ``offset``, times ``mask``.

    ``offset`` is (batch, groups * height * width * 2, rows, columns), ``y`` before ``x`` (Dai et al. 2017).
    """
    step, edge, spread = (_pair(value) for value in (stride, padding, dilation))
    (batch, channels, height, width), (outputs, depth, tall, wide) = input.shape, weight.shape
    rows, columns = offset.shape[2:]
    places = tall * wide
    moves = offset.reshape((-1, tall, wide, 2, rows, columns))
    groups = moves.shape[0] // batch
    down = _steps(rows, step[0], -edge[0], offset).reshape((1, 1, 1, rows, 1))
    across = _steps(columns, step[1], -edge[1], offset).reshape((1, 1, 1, 1, columns))
    y = moves[:, :, :, 0] + down + _steps(tall, spread[0], 0, offset).reshape((1, tall, 1, 1, 1))
    x = moves[:, :, :, 1] + across + _steps(wide, spread[1], 0, offset).reshape((1, 1, wide, 1, 1))
    x, y = (value.reshape((batch * groups, places * rows, columns)) for value in (x, y))
    found = _between(input.reshape((batch * groups, channels // groups, height, width)), x, y)
    found = found.reshape((batch, groups, channels // groups, places, rows, columns))
    if mask is not None:
        found = found * mask.reshape((batch, groups, 1, places, rows, columns))
    parts = channels // depth
    found = found.reshape((batch, parts, depth * places, rows * columns))
    total = ops.matmul(weight.reshape((1, parts, outputs // parts, depth * places)), found)
    total = total.reshape((batch, outputs, rows, columns))
    return total if bias is None else total + bias.reshape((1, -1, 1, 1))


def _steps(count: int, step: int, start: int, like: Tensor) -> Tensor:
    return ms.Tensor([start + i * step for i in range(count)], like.dtype)


def _between(input: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Return what lies at ``x`` and ``y`` between the pixels, where outside of the picture all is 0."""
    left, top = ops.floor(x), ops.floor(y)
    right, low = (x - left).expand_dims(1), (y - top).expand_dims(1)
    above = _picked(input, left, top) * (1 - right) + _picked(input, left + 1, top) * right
    below = _picked(input, left, top + 1) * (1 - right) + _picked(input, left + 1, top + 1) * right
    return above * (1 - low) + below * low


def _place(value: Tensor, size: int, aligned: bool) -> Tensor:
    """Return places from -1 to 1 as numbers of pixels."""
    return (value + 1) * ((size - 1) / 2) if aligned else ((value + 1) * size - 1) / 2


def _held(value: Tensor, size: int, padding_mode: str, aligned: bool) -> Tensor:
    """Return places held inside of the picture, as the padding says."""
    if padding_mode == "zeros":
        return value
    if padding_mode == "reflection":
        low, span = (0.0, float(size - 1)) if aligned else (-0.5, float(size))
        if span == 0:
            return ops.zeros_like(value)
        away = ops.abs(value - low)
        flips = ops.floor(away / span)
        rest = away - flips * span
        is_even = flips - 2 * ops.floor(flips / 2) == 0
        value = ops.where(is_even, rest + low, span - rest + low)
    return ops.clamp(value, 0, size - 1)


def _picked(input: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Return the pixels at whole numbers ``x`` and ``y`` (batch, rows, columns), 0 outside of the picture."""
    batch, channels, height, width = input.shape
    inside = (x >= 0) & (x <= width - 1) & (y >= 0) & (y <= height - 1)
    index = ops.clamp(y, 0, height - 1) * width + ops.clamp(x, 0, width - 1)
    flat = index.astype(ms.int32).reshape((batch, 1, -1))
    found = ops.gather_elements(
        input.reshape((batch, channels, -1)), 2, ops.broadcast_to(flat, (batch, channels, flat.shape[2]))
    )
    return found.reshape((batch, channels, *x.shape[1:])) * inside.expand_dims(1).astype(input.dtype)


def _weights(part: Tensor) -> List[Tensor]:
    """Return the weights of the four pixels around a place that lies ``part`` behind the second."""
    return [_outer(part + 1), _inner(part), _inner(1 - part), _outer(2 - part)]


def _inner(distance: Tensor) -> Tensor:
    return ((_CUBIC + 2) * distance - (_CUBIC + 3)) * distance * distance + 1


def _outer(distance: Tensor) -> Tensor:
    return ((_CUBIC * distance - 5 * _CUBIC) * distance + 8 * _CUBIC) * distance - 4 * _CUBIC
