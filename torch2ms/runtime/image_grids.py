"""Batches of images as one picture: ``make_grid`` and ``save_image`` with torchvision's arguments and pixels."""

from __future__ import annotations

import math
from typing import Any, BinaryIO, List, Optional, Sequence, Tuple, Union

import mindspore as ms
import numpy as np
from PIL import Image

__all__ = ["make_grid", "save_image"]

Images = Union[ms.Tensor, Sequence[ms.Tensor]]


def _batch(tensor: Images) -> np.ndarray[Any, Any]:
    """Return images as an array (N, 3 or more, H, W); grey ones get three channels."""
    if isinstance(tensor, (list, tuple)):
        array = np.stack([image.asnumpy() for image in tensor])
    elif isinstance(tensor, ms.Tensor):
        array = tensor.asnumpy()
    else:
        raise TypeError(f"expected a tensor or a list of tensors, got {type(tensor).__name__}")
    if array.ndim == 2:
        array = array[None]
    if array.ndim == 3:
        array = array[None]
    return np.concatenate([array] * 3, axis=1) if array.shape[1] == 1 else array


def make_grid(
    tensor: Images,
    nrow: int = 8,
    padding: int = 2,
    normalize: bool = False,
    value_range: Optional[Tuple[float, float]] = None,
    scale_each: bool = False,
    pad_value: float = 0.0,
    **older: Tuple[float, float],
) -> ms.Tensor:
    """Return images (N, C, H, W), (C, H, W) or (H, W) as one image (C, height, width), ``nrow`` in a row.

    ``normalize`` maps ``value_range`` (by default the smallest and largest value) to 0 to 1, with ``scale_each`` in
    every image on its own. ``older``: ``range``, as ``value_range`` was called before torchvision 0.9.
    """
    value_range = older.pop("range", value_range)
    if older:
        raise TypeError(f"make_grid() got an unexpected keyword argument {next(iter(older))!r}")
    array = _batch(tensor)
    if normalize:
        array = array.astype(np.float32)
        parts: List[np.ndarray[Any, Any]] = list(array) if scale_each else [array]
        scaled = [_scaled(part, value_range) for part in parts]
        array = np.stack(scaled) if scale_each else scaled[0]
    if array.shape[0] == 1:
        return ms.Tensor(array[0])
    count, channels = array.shape[:2]
    columns = min(nrow, count)
    rows = math.ceil(count / columns)
    height, width = array.shape[2] + padding, array.shape[3] + padding
    grid = np.full((channels, height * rows + padding, width * columns + padding), pad_value, array.dtype)
    for index, image in enumerate(array):
        top, left = index // columns * height + padding, index % columns * width + padding
        grid[:, top : top + height - padding, left : left + width - padding] = image
    return ms.Tensor(grid)


def _scaled(array: np.ndarray[Any, Any], value_range: Optional[Tuple[float, float]]) -> np.ndarray[Any, Any]:
    low, high = value_range if value_range is not None else (float(array.min()), float(array.max()))
    clipped = np.clip(array, low, high)
    return ((clipped - np.float32(low)) / np.float32(max(high - low, 1e-5))).astype(np.float32)


def save_image(tensor: Images, fp: Union[str, BinaryIO], format: Optional[str] = None, **options: Any) -> None:
    """Write :func:`make_grid` of the images (values from 0 to 1; ``options`` are its arguments) to a picture file."""
    grid = make_grid(tensor, **options).asnumpy()
    pixels = np.clip(grid * 255 + 0.5, 0, 255).transpose(1, 2, 0).astype(np.uint8)
    Image.fromarray(pixels).save(fp, format=format)
