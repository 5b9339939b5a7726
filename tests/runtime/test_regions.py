"""Regions of feature maps against loops over their samples, as the papers and torchvision have them."""

from __future__ import annotations

import math

import mindspore as ms
import numpy as np
import pytest

from torch2ms.runtime import regions

RANDOM = np.random.RandomState(3)
MAPS = RANDOM.randn(2, 8, 9, 12).astype(np.float32)
CORNERS = np.array(
    [
        [1.3, 0.2, 8.9, 6.1],
        [-3.0, -2.0, 4.5, 5.0],
        [0.1, 0.3, 30.7, 25.9],
        [5.0, 4.0, 5.2, 4.1],
        [20.0, 20.3, 24.7, 29.0],
    ],
    np.float32,
)
ROWS = np.concatenate([np.array([[1], [0], [1], [0], [1]], np.float32), CORNERS], 1)


def sample(plane: np.ndarray, y: float, x: float) -> float:
    """Return one bilinear sample; what is more than one place outside is 0."""
    height, width = plane.shape
    if not (-1 <= y <= height and -1 <= x <= width):
        return 0.0
    y, x = (min(max(place, 0.0), size - 1.0) for place, size in ((y, height), (x, width)))
    top, left = int(y), int(x)
    bottom, right = min(top + 1, height - 1), min(left + 1, width - 1)
    down, across = y - top, x - left
    upper = plane[top, left] * (1 - across) + plane[top, right] * across
    return float(upper * (1 - down) + (plane[bottom, left] * (1 - across) + plane[bottom, right] * across) * down)


def mean_of_samples(
    row: np.ndarray, plane: np.ndarray, place: tuple[int, int], size: tuple[int, int], options: dict
) -> float:
    scale, ratio, aligned, least = (options[name] for name in ("scale", "ratio", "aligned", "least"))
    left, top, right, bottom = row[1:] * scale - (0.5 if aligned else 0)
    steps = [max(float(side), least) / bins for side, bins in zip((bottom - top, right - left), size, strict=True)]
    counts = [ratio if ratio > 0 else math.ceil(step) for step in steps]
    total = 0.0
    for i in range(counts[0]):
        for j in range(counts[1]):
            y = top + (place[0] + (i + 0.5) / counts[0]) * steps[0]
            x = left + (place[1] + (j + 0.5) / counts[1]) * steps[1]
            total += sample(plane, float(y), float(x))
    return total / max(counts[0] * counts[1], 1)


@pytest.mark.parametrize(
    ("ratio", "aligned", "scale"), [(2, False, 1.0), (-1, True, 0.4), (0, False, 0.5), (3, True, 1)]
)
def test_means_of_samples(ratio: int, aligned: bool, scale: float) -> None:
    size = (3, 2)
    found = regions.roi_align(ms.Tensor(MAPS), ms.Tensor(ROWS), size, scale, ratio, aligned).asnumpy()
    options = {"scale": scale, "ratio": ratio, "aligned": aligned, "least": 0.0 if aligned else 1.0}
    wanted = [
        [
            [[mean_of_samples(row, plane, (i, j), size, options) for j in range(2)] for i in range(3)]
            for plane in MAPS[int(row[0])]
        ]
        for row in ROWS
    ]
    np.testing.assert_allclose(found, np.array(wanted), atol=2e-5)
    own = regions.ps_roi_align(ms.Tensor(MAPS[:, :6]), ms.Tensor(ROWS), size, scale, ratio).asnumpy()
    options |= {"aligned": True, "least": -np.inf}
    wanted = [
        [
            [mean_of_samples(row, MAPS[int(row[0])][2 * i + j], (i, j), size, options) for j in range(2)]
            for i in range(3)
        ]
        for row in ROWS
    ]
    np.testing.assert_allclose(own[:, 0], np.array(wanted), atol=2e-5)


def test_boxes_of_each_image_are_a_list() -> None:
    rows = ms.Tensor(np.concatenate([np.array([[0], [0], [1]], np.float32), CORNERS[:3]], 1))
    listed = [ms.Tensor(CORNERS[:2]), ms.Tensor(CORNERS[2:3])]
    maps = ms.Tensor(MAPS)
    for function, options in (
        (regions.roi_align, (2, 0.5, 2)),
        (regions.roi_pool, (2, 0.5)),
        (regions.ps_roi_pool, (2, 0.5)),
    ):
        assert np.array_equal(function(maps, rows, *options).asnumpy(), function(maps, listed, *options).asnumpy())
    with pytest.raises(AssertionError, match=r"Tensor\[K, 5\]"):
        regions.roi_align(maps, ms.Tensor(CORNERS), 2)
    assert regions.roi_align(maps, [ms.Tensor(CORNERS[:0]), ms.Tensor(CORNERS[:0])], (2, 3)).shape == (0, 8, 2, 3)


def test_the_gradient_of_a_maximum_goes_to_one_place() -> None:
    maps = ms.Tensor(np.ones((1, 1, 4, 4), np.float32))
    row = ms.Tensor(np.array([[0, 0, 0, 3, 3], [0, 8, 8, 9, 9]], np.float32))
    grads = ms.grad(lambda x: regions.roi_pool(x, row, 2).sum())(maps).asnumpy()[0, 0]
    assert grads.tolist() == [[1, 0, 1, 0], [0] * 4, [1, 0, 1, 0], [0] * 4]  # the second region is outside: zeros


def test_a_box_is_pooled_from_its_level() -> None:
    names = {"a": ms.Tensor(MAPS), "b": ms.Tensor(MAPS[..., ::2, ::2].copy()), "unused": ms.Tensor(MAPS)}
    pooling = regions.MultiScaleRoIAlign(["a", "b"], 2, 2, canonical_scale=8, canonical_level=1)
    assert pooling.training
    boxes = [ms.Tensor(CORNERS[[2, 0]]), ms.Tensor(CORNERS[[3]])]
    found = pooling(names, boxes, [(18, 24), (16, 20)]).asnumpy()
    assert pooling.scales == [0.5, 0.25]
    large = regions.roi_align(names["b"], [boxes[0][:1]], 2, 0.25, 2).asnumpy()
    np.testing.assert_allclose(found[0], large[0], atol=1e-6)
    small = regions.roi_align(names["a"], [boxes[0][:0], boxes[1]], 2, 0.5, 2).asnumpy()
    np.testing.assert_allclose(found[2], small[0], atol=1e-6)
