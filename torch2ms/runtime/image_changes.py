"""Further functions on images: warps, blur, changes of tone, several crops (torchvision's ``functional``).

Pillow computes on PIL images, so that pixels are torchvision's. What only PIL images can be given says so; blur, crops
and changes of type also take tensors and arrays of shape (..., C, H, W).
"""

from __future__ import annotations

import math
from typing import Any, List, Optional, Sequence, Tuple, Union

import mindspore as ms
import numpy as np
from PIL import Image, ImageEnhance, ImageOps

from .image_ops import (
    InterpolationMode,
    as_pil,
    center_crop,
    crop,
    hflip,
    image_size,
    is_pil,
    like,
    pil_fill,
    resample,
    resize,
    to_array,
    to_pil_image,
    vflip,
)

__all__ = [
    "adjust_gamma",
    "adjust_sharpness",
    "affine",
    "autocontrast",
    "convert_image_dtype",
    "equalize",
    "five_crop",
    "gaussian_blur",
    "invert",
    "perspective",
    "pil_to_tensor",
    "posterize",
    "resized_crop",
    "solarize",
    "ten_crop",
    "to_dtype",
    "to_image",
]

Size = Union[int, Sequence[int]]
Points = Sequence[Sequence[int]]


def _inverse_affine(
    center: Sequence[float], angle: float, translate: Sequence[float], scale: float, shear: Sequence[float]
) -> List[float]:
    """Return the first two rows of the matrix that takes a place of the result to one of the image.

    The image is sheared along x and y, scaled, and turned by ``angle`` round ``center``, then moved by ``translate``;
    angles are in degrees.
    """
    turn, shear_x, shear_y = (math.radians(value) for value in (angle, shear[0], shear[1]))
    a = math.cos(turn - shear_y) / math.cos(shear_y)
    b = -a * math.tan(shear_x) - math.sin(turn)
    c = math.sin(turn - shear_y) / math.cos(shear_y)
    d = -c * math.tan(shear_x) + math.cos(turn)
    rows = [[d / scale, -b / scale], [-c / scale, a / scale]]
    x, y = -center[0] - translate[0], -center[1] - translate[1]
    offsets = [row[0] * x + row[1] * y + middle for row, middle in zip(rows, center)]
    return [*rows[0], offsets[0], *rows[1], offsets[1]]


def affine(
    image: Any,
    angle: float,
    translate: Sequence[int],
    scale: float,
    shear: Union[float, Sequence[float]],
    interpolation: Any = InterpolationMode.NEAREST,
    fill: Any = None,
    center: Optional[Sequence[float]] = None,
) -> Any:
    """Turn by ``angle`` degrees clockwise, move by ``translate`` pixels, scale and shear (degrees) a PIL image."""
    picture = as_pil(image)
    if scale <= 0:
        raise ValueError(f"affine: the scale {scale} is not positive")
    slants = [shear, 0.0] if isinstance(shear, (int, float)) else list(shear)
    slants = slants * 2 if len(slants) == 1 else slants
    width, height = picture.size
    middle = [width * 0.5, height * 0.5] if center is None else list(center)
    matrix = _inverse_affine(middle, angle, translate, scale, slants)
    affine_data: Any = matrix
    return picture.transform(
        picture.size, Image.Transform.AFFINE, affine_data, resample(interpolation), fillcolor=pil_fill(fill, picture)
    )


def perspective(
    image: Any,
    startpoints: Points,
    endpoints: Points,
    interpolation: Any = InterpolationMode.BILINEAR,
    fill: Any = None,
) -> Any:
    """Distort a PIL image so that the four ``startpoints`` (x, y) come to stand at the ``endpoints``."""
    picture = as_pil(image)
    equations, places = [], []
    for (x, y), (u, v) in zip(endpoints, startpoints):
        equations += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        places += [u, v]
    solved = np.linalg.lstsq(np.array(equations, np.float64), np.array(places, np.float64), rcond=None)[0]
    data: Any = solved.astype(np.float32).astype(float).tolist()
    return picture.transform(
        picture.size, Image.Transform.PERSPECTIVE, data, resample(interpolation), fillcolor=pil_fill(fill, picture)
    )


def invert(image: Any) -> Any:
    """Turn the colours of a PIL image into their opposites."""
    return ImageOps.invert(as_pil(image))


def posterize(image: Any, bits: int) -> Any:
    """Keep the upper ``bits`` of every channel of a PIL image."""
    return ImageOps.posterize(as_pil(image), bits)


def solarize(image: Any, threshold: float) -> Any:
    """Invert the pixels of a PIL image that are at least ``threshold``."""
    return ImageOps.solarize(as_pil(image), threshold)  # type: ignore[arg-type]


def autocontrast(image: Any) -> Any:
    """Stretch every channel of a PIL image from black to white."""
    return ImageOps.autocontrast(as_pil(image))


def equalize(image: Any) -> Any:
    """Flatten the histogram of every channel of a PIL image."""
    return ImageOps.equalize(as_pil(image))


def adjust_sharpness(image: Any, sharpness_factor: float) -> Any:
    """Sharpen a PIL image: 0 is blurred, 1 the image itself."""
    return ImageEnhance.Sharpness(as_pil(image)).enhance(sharpness_factor)


def adjust_gamma(image: Any, gamma: float, gain: float = 1) -> Any:
    """Return ``gain * image ** gamma`` of a PIL image, channel values taken from 0 to 1."""
    picture = as_pil(image)
    if gamma < 0:
        raise ValueError(f"adjust_gamma: {gamma} is negative")
    mode = picture.mode
    curve = [int((255 + 1 - 1e-3) * gain * pow(value / 255.0, gamma)) for value in range(256)]
    colours = picture.convert("RGB")
    return colours.point(curve * 3).convert(mode)


def _kernel(size: int, sigma: float) -> np.ndarray[Any, Any]:
    half = (size - 1) * 0.5
    places = np.linspace(-half, half, size, dtype=np.float32)
    bell = np.exp(np.float32(-0.5) * (places / np.float32(sigma)) ** 2)
    return np.asarray(bell / bell.sum())


def gaussian_blur(image: Any, kernel_size: Size, sigma: Union[float, Sequence[float], None] = None) -> Any:
    """Blur with a Gaussian of ``kernel_size`` (x, y) pixels and ``sigma`` (x, y); edges are mirrored."""
    sizes = [kernel_size] * 2 if isinstance(kernel_size, int) else list(kernel_size)
    if any(size <= 0 or size % 2 == 0 for size in sizes):
        raise ValueError(f"gaussian_blur: the kernel size {kernel_size} is not odd and positive")
    if sigma is None:
        sigma = [size * 0.15 + 0.35 for size in sizes]
    sigmas = [float(sigma)] * 2 if isinstance(sigma, (int, float)) else [float(value) for value in sigma]
    sigmas = sigmas * 2 if len(sigmas) == 1 else sigmas
    array = np.asarray(image)[..., None] if is_pil(image) else to_array(image)
    if is_pil(image):
        array = array.reshape(image.size[1], image.size[0], -1).transpose(2, 0, 1)
    halves = (sizes[1] // 2, sizes[0] // 2)
    widths = [(0, 0)] * (array.ndim - 2) + [(halves[0], halves[0]), (halves[1], halves[1])]
    wide = np.pad(array.astype(np.float32), widths, mode="reflect")
    height, width = array.shape[-2:]
    kernel = np.outer(_kernel(sizes[1], sigmas[1]), _kernel(sizes[0], sigmas[0]))
    done = np.zeros(array.shape, np.float32)
    for row in range(sizes[1]):
        for column in range(sizes[0]):
            done += kernel[row, column] * wide[..., row : row + height, column : column + width]
    done = (np.rint(done) if array.dtype.kind in "iu" else done).astype(array.dtype)
    if is_pil(image):
        return to_pil_image(done.transpose(1, 2, 0), image.mode)
    return like(image, done)


def resized_crop(
    image: Any,
    top: int,
    left: int,
    height: int,
    width: int,
    size: Size,
    interpolation: Any = InterpolationMode.BILINEAR,
    antialias: Optional[bool] = True,
) -> Any:
    """Cut a window out and resize it."""
    return resize(crop(image, top, left, height, width), size, interpolation, antialias=antialias)


def five_crop(image: Any, size: Size) -> Tuple[Any, ...]:
    """Return the four corners (top left, top right, bottom left, bottom right) and the middle."""
    rows, columns = (size, size) if isinstance(size, int) else (int(size[0]), int(size[-1]))
    width, height = image_size(image)
    if rows > height or columns > width:
        raise ValueError(f"five_crop: {rows} x {columns} does not fit into an image of {height} x {width}")
    corners = [(top, left) for top in (0, height - rows) for left in (0, width - columns)]
    cut = [crop(image, top, left, rows, columns) for top, left in corners]
    return (*cut, center_crop(image, (rows, columns)))


def ten_crop(image: Any, size: Size, vertical_flip: bool = False) -> Tuple[Any, ...]:
    """Return :func:`five_crop` of the image and of its mirror image."""
    mirrored = vflip(image) if vertical_flip else hflip(image)
    return five_crop(image, size) + five_crop(mirrored, size)


def pil_to_tensor(image: Any) -> ms.Tensor:
    """Return the pixels of a PIL image as a tensor (C, H, W) of the image's own type: nothing is scaled."""
    array = np.array(as_pil(image), copy=True)
    array = array[:, :, None] if array.ndim == 2 else array
    return ms.Tensor(np.ascontiguousarray(array.transpose(2, 0, 1)))


def to_image(image: Any) -> ms.Tensor:
    """Return a PIL image or array (H, W, C) as a tensor (C, H, W) of its own type; a tensor is returned as it is."""
    if is_pil(image):
        return pil_to_tensor(image)
    if isinstance(image, ms.Tensor):
        return image
    array = np.atleast_3d(np.asarray(image))
    return ms.Tensor(np.ascontiguousarray(array.transpose(2, 0, 1)))


def to_dtype(image: Any, dtype: Any = ms.float32, scale: bool = False) -> Any:
    """Return a tensor in another type, with ``scale`` as :func:`convert_image_dtype` does; other values stay."""
    if isinstance(dtype, dict):
        raise TypeError("to_dtype takes one type: types by class of input are for torchvision's own tensors")
    if not isinstance(image, ms.Tensor):
        return image
    return convert_image_dtype(image, dtype) if scale else image.astype(dtype)


def convert_image_dtype(image: Any, dtype: Any = ms.float32) -> Any:
    """Return a tensor in another type, its values scaled: integers fill their range, floats are from 0 to 1."""
    array = to_array(image)
    target = np.dtype(ms.dtype_to_nptype(dtype))
    if array.dtype == target:
        return image
    if array.dtype.kind == "f" and target.kind == "f":
        return like(image, array.astype(target))
    if array.dtype.kind == "f":
        if target.itemsize >= array.dtype.itemsize:
            raise ValueError(f"convert_image_dtype: {array.dtype} does not hold all values of {target}")
        return like(image, (array * array.dtype.type(np.iinfo(target).max + 1.0 - 1e-3)).astype(target))
    largest = int(np.iinfo(array.dtype).max)
    if target.kind == "f":
        return like(image, array.astype(target) / target.type(largest))
    aim = int(np.iinfo(target).max)
    if largest > aim:
        return like(image, (array // ((largest + 1) // (aim + 1))).astype(target))
    return like(image, array.astype(target) * target.type((aim + 1) // (largest + 1)))
