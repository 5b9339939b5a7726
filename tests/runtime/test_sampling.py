"""Convolutions at moved places, against a loop over all of them (torchvision's own needs its compiled part)."""

from __future__ import annotations

import itertools

import mindspore as ms
import numpy as np

from torch2ms.runtime import functional as F

Pair = tuple[int, int]


def between(picture: np.ndarray, y: float, x: float) -> float:
    """Return what lies between four pixels of a picture, 0 outside of it."""
    found = 0.0
    for row, column in itertools.product((np.floor(y), np.floor(y) + 1), (np.floor(x), np.floor(x) + 1)):
        if 0 <= row < picture.shape[0] and 0 <= column < picture.shape[1]:
            found += picture[int(row), int(column)] * (1 - abs(y - row)) * (1 - abs(x - column))
    return found


def expected(x: np.ndarray, moves: np.ndarray, w: np.ndarray, mask: np.ndarray, places: list[Pair]) -> np.ndarray:
    (outputs, depth, tall, wide), (rows, columns) = w.shape, moves.shape[2:]
    stride, padding, dilation = places
    groups = mask.shape[1] // (tall * wide)
    moves = moves.reshape(len(x), groups, tall, wide, 2, rows, columns)
    mask = mask.reshape(len(x), groups, tall, wide, rows, columns)
    out = np.zeros((len(x), outputs, rows, columns))
    part, group = outputs * depth // x.shape[1], x.shape[1] // groups
    for b, o, r, q, d, i, j in itertools.product(*map(range, (*out.shape, depth, tall, wide))):
        channel = o // part * depth + d
        y = r * stride[0] - padding[0] + i * dilation[0] + moves[b, channel // group, i, j, 0, r, q]
        across = q * stride[1] - padding[1] + j * dilation[1] + moves[b, channel // group, i, j, 1, r, q]
        out[b, o, r, q] += w[o, d, i, j] * between(x[b, channel], y, across) * mask[b, channel // group, i, j, r, q]
    return out


def test_a_kernel_of_several_places_in_groups() -> None:
    rng = np.random.default_rng(0)
    places = [(2, 1), (1, 0), (1, 2)]
    x, w = rng.standard_normal((2, 4, 5, 6)), rng.standard_normal((6, 2, 3, 2))
    moves, mask = rng.standard_normal((2, 24, 3, 4)), rng.random((2, 12, 3, 4))
    given = [ms.Tensor(value.astype(np.float32)) for value in (x, moves, w)]
    got = F.deform_conv2d(*given, None, *places, ms.Tensor(mask.astype(np.float32)))
    np.testing.assert_allclose(got.asnumpy(), expected(x, moves, w, mask, places), atol=1e-5)


def test_a_kernel_that_is_not_moved_is_a_convolution() -> None:
    rng = np.random.default_rng(1)
    x, w, b = (ms.Tensor(rng.standard_normal(shape).astype(np.float32)) for shape in ((1, 3, 5, 5), (2, 3, 3, 3), (2,)))
    got = F.deform_conv2d(x, ms.ops.zeros((1, 18, 5, 5)), w, b, padding=1)
    plain = ms.ops.conv2d(x, w, b, pad_mode="pad", padding=1)
    np.testing.assert_allclose(got.asnumpy(), plain.asnumpy(), atol=1e-5)
