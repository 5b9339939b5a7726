"""Convolutions as functions, with PyTorch's signatures, on primitives that every device has."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple, Union

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

__all__ = ["conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "transposed_to"]

IntOrInts = Union[int, Sequence[int]]


def _ints(value: IntOrInts, count: int) -> Tuple[int, ...]:
    """Return ``count`` ints from an int or a sequence of 1 or ``count``."""
    if isinstance(value, (int, np.integer)):
        return (int(value),) * count
    return tuple(value) * count if len(value) == 1 else tuple(value)


def _with_bias(output: Tensor, bias: Optional[Tensor]) -> Tensor:
    """Return ``output`` plus ``bias`` along the channels (axis 1)."""
    if bias is None:
        return output
    return output + bias.reshape((1, -1) + (1,) * (output.ndim - 2))


def _widths(padding: Any) -> Tuple[int, ...]:
    """Return (top, bottom, left, right) from PyTorch's padding, or from that of a MindSpore layer, which is just so."""
    if isinstance(padding, (tuple, list)) and len(padding) == 4:
        return tuple(int(width) for width in padding)
    top, left = _ints(padding, 2)
    return top, top, left, left


def _is_refused(x: Tensor) -> bool:
    """Whether a tensor has a dtype that MindSpore's convolutions refuse: float64 and ints."""
    return x.dtype == ms.float64 or not x.is_floating_point()


def _by_places(
    x: Tensor, weight: Tensor, stride: Tuple[int, ...], padding: Any, dilation: Tuple[int, ...], groups: int
) -> Tensor:
    """Return a convolution over any number of axes as a sum over the places of the kernel.

    For dtypes that MindSpore's convolutions refuse. ``padding`` is "same", "valid", or (before, after)
    of each axis in one row.
    """
    rank = x.ndim - 2
    reach = [gap * (size - 1) for gap, size in zip(dilation, weight.shape[2:])]
    if isinstance(padding, str):
        padding = sum(((r // 2, r - r // 2) if padding == "same" else (0, 0) for r in reach), ())
    for axis, (before, after) in enumerate(zip(padding[::2], padding[1::2]), 2):
        parts = [_zeros(x, axis, before), x, _zeros(x, axis, after)]
        x = ops.concat([part for part in parts if part.shape[axis]], axis)
    rows = weight.reshape((groups, -1, *weight.shape[1:]))
    x = x.reshape((x.shape[0], groups, -1, *x.shape[2:]))
    total: Any = 0
    for place in np.ndindex(*weight.shape[2:]):
        part = x
        for axis in range(rank):
            count = (x.shape[3 + axis] - reach[axis] - 1) // stride[axis] + 1
            first = place[axis] * dilation[axis]
            chosen = np.arange(first, first + count * stride[axis], stride[axis])
            part = ops.gather(part, Tensor(chosen.astype(np.int32)), 3 + axis)
        flat = part.reshape((*part.shape[:3], -1))
        row = rows[(slice(None),) * 3 + place]
        total = total + (row * flat if row.shape[2] == 1 else ops.matmul(row, flat))  # that has no gradient of one
    return total.reshape((x.shape[0], weight.shape[0], *part.shape[3:]))


def _zeros(x: Tensor, axis: int, count: int) -> Tensor:
    return ops.zeros((*x.shape[:axis], count, *x.shape[axis + 1 :]), x.dtype)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Optional[Tensor] = None,
    stride: IntOrInts = 1,
    padding: Any = 0,
    dilation: IntOrInts = 1,
    groups: int = 1,
) -> Tensor:
    """Return the convolution of (batch, channels, height, width) with ``weight`` (out, in / groups, height, width)."""
    unbatched = input.ndim == 3
    x = ops.expand_dims(input, 0) if unbatched else input
    if isinstance(padding, str):
        mode, widths = padding, _widths(0)
    else:
        mode, widths = "pad", _widths(padding)
    if _is_refused(x):
        around = padding if isinstance(padding, str) else widths
        output = _with_bias(_by_places(x, weight, _ints(stride, 2), around, _ints(dilation, 2), groups), bias)
        return ops.squeeze(output, 0) if unbatched else output
    convolve = ops.Conv2D(
        weight.shape[0],
        weight.shape[2:],
        pad_mode=mode,
        pad=widths,
        stride=_ints(stride, 2),
        dilation=_ints(dilation, 2),
        group=groups,
    )
    output = _with_bias(convolve(x, weight), bias)
    return ops.squeeze(output, 0) if unbatched else output


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Optional[Tensor] = None,
    stride: IntOrInts = 1,
    padding: Any = 0,
    dilation: IntOrInts = 1,
    groups: int = 1,
) -> Tensor:
    """Return the convolution of (batch, channels, length) with ``weight`` (out, in / groups, length).

    The weight of a layer of MindSpore's, (out, in / groups, 1, length), is taken as well.
    """
    widths = padding if isinstance(padding, str) else (0, _ints(padding, 1)[0])
    output = conv2d(
        ops.expand_dims(input, -2),
        weight if weight.ndim == 4 else ops.expand_dims(weight, -2),
        bias,
        (1, _ints(stride, 1)[0]),
        widths,
        (1, _ints(dilation, 1)[0]),
        groups,
    )
    return ops.squeeze(output, -2)


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Optional[Tensor] = None,
    stride: IntOrInts = 1,
    padding: Any = 0,
    dilation: IntOrInts = 1,
    groups: int = 1,
) -> Tensor:
    """Return the convolution of (batch, channels, depth, height, width)."""
    if input.ndim == 4:
        return ops.squeeze(conv3d(ops.expand_dims(input, 0), weight, bias, stride, padding, dilation, groups), 0)
    widths: Tuple[int, ...]
    if isinstance(padding, str):
        mode, widths = padding, (0,) * 6
    else:
        head, top, left = _ints(padding, 3)
        mode, widths = "pad", (head, head, top, top, left, left)
    if _is_refused(input):
        around = padding if isinstance(padding, str) else widths
        return _with_bias(_by_places(input, weight, _ints(stride, 3), around, _ints(dilation, 3), groups), bias)
    convolve = ops.Conv3D(
        weight.shape[0],
        weight.shape[2:],
        pad_mode=mode,
        pad=widths,
        stride=_ints(stride, 3),
        dilation=_ints(dilation, 3),
        group=groups,
    )
    return _with_bias(convolve(input, weight), bias)


def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Optional[Tensor] = None,
    stride: IntOrInts = 1,
    padding: IntOrInts = 0,
    output_padding: IntOrInts = 0,
    groups: int = 1,
    dilation: IntOrInts = 1,
) -> Tensor:
    """Return the transposed convolution of (batch, channels, height, width): spread out, then convolved."""
    if input.ndim == 3:
        batch = ops.expand_dims(input, 0)
        return ops.squeeze(conv_transpose2d(batch, weight, bias, stride, padding, output_padding, groups, dilation), 0)
    dilations = _ints(dilation, 2)
    x, flipped, widths = _turned(
        input, weight, _ints(stride, 2), _ints(padding, 2), _ints(output_padding, 2), groups, dilations
    )
    if _is_refused(x):
        return _with_bias(_by_places(x, flipped, (1, 1), widths, dilations, groups), bias)
    convolve = ops.Conv2D(
        flipped.shape[0], weight.shape[2:], pad_mode="pad", pad=widths, stride=1, dilation=dilations, group=groups
    )
    return _with_bias(convolve(x, flipped), bias)


def _turned(
    x: Tensor,
    weight: Tensor,
    stride: Tuple[int, ...],
    padding: Tuple[int, ...],
    extra: Tuple[int, ...],
    groups: int,
    dilation: Tuple[int, ...],
) -> Tuple[Tensor, Tensor, Tuple[int, ...]]:
    """Return the input, the weight and the widths of the convolution that a transposed one is."""
    kernel = weight.shape[2:]
    widths: Tuple[int, ...] = ()
    for axis, size in enumerate(kernel):
        x = _spread(x, 2 + axis, stride[axis])
        before = dilation[axis] * (size - 1) - padding[axis]
        after = before + extra[axis]
        if before < 0 or after < 0:  # more padding than the kernel reaches takes something away
            x = x[(slice(None),) * (2 + axis) + (slice(max(-before, 0), x.shape[2 + axis] + min(after, 0)),)]
        widths = (*widths, max(before, 0), max(after, 0))
    rows = weight.shape[0] // groups
    flipped = ops.flip(weight, tuple(range(2, weight.ndim))).reshape((groups, rows, weight.shape[1], *kernel))
    return x, ops.swapaxes(flipped, 1, 2).reshape((groups * weight.shape[1], rows, *kernel)), widths


def _spread(x: Tensor, axis: int, step: int) -> Tensor:
    """Return ``x`` with ``step - 1`` zeros between neighbours along ``axis``."""
    if step == 1:
        return x
    size = x.shape[axis]
    parts = [ops.expand_dims(x, axis + 1)]
    parts += [ops.zeros_like(parts[0])] * (step - 1)
    shape = (*x.shape[:axis], size * step, *x.shape[axis + 1 :])
    spread = ops.concat(parts, axis + 1).reshape(shape)
    return spread[(slice(None),) * axis + (slice(0, (size - 1) * step + 1),)]


def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Optional[Tensor] = None,
    stride: IntOrInts = 1,
    padding: IntOrInts = 0,
    output_padding: IntOrInts = 0,
    groups: int = 1,
    dilation: IntOrInts = 1,
) -> Tensor:
    """Return the transposed convolution of (batch, channels, length)."""
    output = conv_transpose2d(
        ops.expand_dims(input, -2),
        weight if weight.ndim == 4 else ops.expand_dims(weight, -2),
        bias,
        (1, _ints(stride, 1)[0]),
        (0, _ints(padding, 1)[0]),
        (0, _ints(output_padding, 1)[0]),
        groups,
        (1, _ints(dilation, 1)[0]),
    )
    return ops.squeeze(output, -2)


def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Optional[Tensor] = None,
    stride: IntOrInts = 1,
    padding: IntOrInts = 0,
    output_padding: IntOrInts = 0,
    groups: int = 1,
    dilation: IntOrInts = 1,
) -> Tensor:
    """Return the transposed convolution of (batch, channels, depth, height, width)."""
    if input.ndim == 4:
        batch = ops.expand_dims(input, 0)
        return ops.squeeze(conv_transpose3d(batch, weight, bias, stride, padding, output_padding, groups, dilation), 0)
    dilations = _ints(dilation, 3)
    if _is_refused(input):
        sizes = (_ints(stride, 3), _ints(padding, 3), _ints(output_padding, 3))
        x, flipped, widths = _turned(input, weight, *sizes, groups, dilations)
        return _with_bias(_by_places(x, flipped, (1, 1, 1), widths, dilations, groups), bias)
    head, top, left = _ints(padding, 3)
    for axis, step in enumerate(dilations, start=2):  # MindSpore's kernel takes none along the depth
        weight = weight if step == 1 else _dilated(weight, axis, step)
    convolve = ops.Conv3DTranspose(
        weight.shape[0],
        weight.shape[1] * groups,
        weight.shape[2:],
        pad_mode="pad",
        pad=(head, head, top, top, left, left),
        stride=_ints(stride, 3),
        group=groups,
        output_padding=_ints(output_padding, 3),
    )
    return _with_bias(convolve(input, weight), bias)


def _dilated(weight: Tensor, axis: int, step: int) -> Tensor:
    """Return the weight of a dilated convolution as that of another: with zeros between its places."""
    size = weight.shape[axis]
    column = ops.expand_dims(weight, axis + 1)
    gap = ops.zeros((*weight.shape[: axis + 1], step - 1, *weight.shape[axis + 1 :]), weight.dtype)
    wide = ops.concat((column, gap), axis + 1).reshape((*weight.shape[:axis], size * step, *weight.shape[axis + 1 :]))
    return wide[(slice(None),) * axis + (slice(0, (size - 1) * step + 1),)]


def transposed_to(layer: Any, input: Tensor, output_size: Any = None) -> Tensor:
    """Return what a layer with a transposed convolution makes of ``input``, of the size asked for.

    ``output_size`` holds the places alone, or the whole shape. Raises ValueError for a size that is out of reach.
    """
    if output_size is None:
        return layer(input)
    rank = input.ndim - 2
    wanted = tuple(int(size) for size in output_size)[-rank:]
    stride, dilation = _ints(layer.stride, rank)[-rank:], _ints(layer.dilation, rank)[-rank:]
    padding = getattr(layer, "torch_padding", None)
    if padding is None:
        padding = layer.padding if isinstance(layer.padding, int) else tuple(layer.padding)[::2]
    padding = _ints(padding, rank)[-rank:]
    weight = layer.weight.reshape((*layer.weight.shape[:2], *layer.weight.shape[-rank:]))
    extra = tuple(
        wanted[axis] - (input.shape[2 + axis] - 1) * stride[axis] + 2 * padding[axis]
        - dilation[axis] * (weight.shape[2 + axis] - 1) - 1
        for axis in range(rank)
    )  # fmt: skip
    if any(more < 0 or more >= max(step, gap) for more, step, gap in zip(extra, stride, dilation)):
        raise ValueError(f"an output of {wanted} is out of reach from {tuple(input.shape[2:])}")
    function = {1: conv_transpose1d, 2: conv_transpose2d, 3: conv_transpose3d}[rank]
    return function(
        input, weight, layer.bias if layer.has_bias else None, stride, padding, extra, layer.group, dilation
    )
