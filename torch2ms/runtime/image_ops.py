"""Functions on images: what :mod:`.transforms` is built from, usable on their own (torchvision's ``functional``).

An image is a PIL image, or a tensor or array of shape (..., C, H, W). On PIL images Pillow computes; on tensors the
same is done in NumPy, and resizing in Pillow's float mode (antialiased, as torchvision's default).
"""

from __future__ import annotations

import enum
import math
from typing import Any, List, Optional, Sequence, Tuple, Union

import mindspore as ms
import numpy as np
from PIL import Image, ImageEnhance, ImageOps

__all__ = [
    "InterpolationMode",
    "adjust_brightness",
    "adjust_contrast",
    "adjust_hue",
    "adjust_saturation",
    "as_pil",
    "center_crop",
    "channels_of",
    "crop",
    "dimensions_of",
    "hflip",
    "image_size",
    "is_pil",
    "like",
    "normalize",
    "pad",
    "pil_fill",
    "resample",
    "resize",
    "rotate",
    "size_of",
    "to_array",
    "to_grayscale",
    "to_pil_image",
    "to_tensor",
    "vflip",
]

Size = Union[int, Sequence[int]]


class InterpolationMode(enum.Enum):
    """How pixels between pixels are computed."""

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


_PIL_MODES = {"nearest": 0, "nearest-exact": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3, "box": 4, "hamming": 5}


def resample(mode: Any) -> Any:
    """Return Pillow's constant for an InterpolationMode, its name, or that constant."""
    if isinstance(mode, int):
        return mode
    name = mode.value if isinstance(mode, InterpolationMode) else str(mode).lower()
    if name not in _PIL_MODES:
        raise ValueError(f"unknown interpolation {mode!r}")
    return _PIL_MODES[name]


def is_pil(image: Any) -> bool:
    """Return whether ``image`` is a PIL image."""
    return isinstance(image, Image.Image)


def to_array(image: Any) -> np.ndarray[Any, Any]:
    """Return a tensor's or array's content as an array."""
    return image.asnumpy() if isinstance(image, ms.Tensor) else np.asarray(image)


def like(image: Any, array: np.ndarray[Any, Any]) -> Any:
    """Return ``array`` as the kind (tensor or array) that ``image`` is."""
    return ms.Tensor(np.ascontiguousarray(array)) if isinstance(image, ms.Tensor) else array


def image_size(image: Any) -> Tuple[int, int]:
    """Return (width, height)."""
    return (int(image.size[0]), int(image.size[1])) if is_pil(image) else (image.shape[-1], image.shape[-2])


def channels_of(image: Any) -> int:
    """Return the number of channels."""
    return len(image.getbands()) if is_pil(image) else int(image.shape[-3])


def size_of(image: Any) -> List[int]:
    """Return [width, height], as torchvision's function does."""
    return list(image_size(image))


def dimensions_of(image: Any) -> List[int]:
    """Return [channels, height, width]."""
    return [channels_of(image), *reversed(image_size(image))]


def to_tensor(image: Any) -> ms.Tensor:
    """Return a tensor (C, H, W); 8-bit images become float32 in [0, 1]."""
    if is_pil(image):
        array = np.array(image, copy=True)
        if image.mode == "1":
            array = array.astype(np.uint8) * 255
        elif image.mode == "I":
            array = array.astype(np.int32)
        elif image.mode.startswith("I;16"):
            array = array.astype(np.int16)
    else:
        array = np.asarray(image)
        if array.ndim not in (2, 3):
            raise ValueError(f"an image has 2 or 3 dimensions, not {array.ndim}")
    if array.ndim == 2:
        array = array[:, :, None]
    array = np.ascontiguousarray(array.transpose(2, 0, 1))
    if array.dtype == np.uint8:
        array = array.astype(np.float32) / np.float32(255)
    return ms.Tensor(array)


def to_pil_image(image: Any, mode: Optional[str] = None) -> Image.Image:
    """Return a PIL image of a tensor (C, H, W) or (H, W), or of an array (H, W, C) or (H, W)."""
    array = to_array(image)
    if isinstance(image, ms.Tensor):
        if array.dtype.kind == "f" and mode != "F":
            array = (array * 255).astype(np.uint8)  # cut off, not rounded, as torchvision does
        array = array.transpose(1, 2, 0) if array.ndim == 3 else array
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    if array.ndim not in (2, 3):
        raise ValueError(f"an image has 2 or 3 dimensions, not {array.ndim}")
    picture = Image.fromarray(np.ascontiguousarray(array))
    return picture if mode is None or mode == picture.mode else picture.convert(mode)


def normalize(image: Any, mean: Sequence[float], std: Sequence[float], inplace: bool = False) -> Any:
    """Return ``(image - mean) / std`` by channel. Raises TypeError for a PIL image, ValueError for a std of 0."""
    del inplace
    if is_pil(image):
        raise TypeError("normalize takes a tensor: put ToTensor in front")
    array = to_array(image)
    dtype = array.dtype if array.dtype.kind == "f" else np.dtype(np.float32)
    center, spread = np.asarray(mean, dtype).reshape(-1, 1, 1), np.asarray(std, dtype).reshape(-1, 1, 1)
    if not np.all(spread):
        raise ValueError(f"normalize: std {std} holds a 0")
    return like(image, (array - center) / spread)


def resize(
    image: Any,
    size: Size,
    interpolation: Any = InterpolationMode.BILINEAR,
    max_size: Optional[int] = None,
    antialias: Optional[bool] = True,
) -> Any:
    """Resize to (height, width), or the shorter side to an int (the longer one at most ``max_size``)."""
    del antialias  # Pillow always does
    width, height = image_size(image)
    rows, columns = _target_size(size, width, height, max_size)
    if (rows, columns) == (height, width):
        return image
    mode = resample(interpolation)
    if is_pil(image):
        return image.resize((columns, rows), mode)
    array = to_array(image)
    planes = array.reshape((-1, height, width)).astype(np.float32)
    done = np.stack([np.asarray(Image.fromarray(plane).resize((columns, rows), mode)) for plane in planes])
    if array.dtype.kind in "iu":
        info = np.iinfo(array.dtype)
        done = np.clip(np.rint(done), info.min, info.max)
    return like(image, done.astype(array.dtype).reshape((*array.shape[:-2], rows, columns)))


def _target_size(size: Size, width: int, height: int, max_size: Optional[int]) -> Tuple[int, int]:
    if not isinstance(size, int) and len(size) == 2:
        return int(size[0]), int(size[1])
    short_side = size if isinstance(size, int) else int(size[0])
    short, long = min(width, height), max(width, height)
    new_short, new_long = short_side, int(short_side * long / short)
    if max_size is not None and new_long > max_size:
        new_short, new_long = int(max_size * new_short / new_long), max_size
    return (new_long, new_short) if width <= height else (new_short, new_long)


def crop(image: Any, top: int, left: int, height: int, width: int) -> Any:
    """Cut a window out; what lies outside the image is 0."""
    if is_pil(image):
        return image.crop((left, top, left + width, top + height))
    own_width, own_height = image_size(image)
    if top < 0 or left < 0 or top + height > own_height or left + width > own_width:
        sides = [max(-left, 0), max(-top, 0), max(left + width - own_width, 0), max(top + height - own_height, 0)]
        image = pad(image, sides)
        top, left = max(top, 0), max(left, 0)
    return like(image, to_array(image)[..., top : top + height, left : left + width])


def center_crop(image: Any, size: Size) -> Any:
    """Cut the middle out; a smaller image is padded with 0 first."""
    rows, columns = (size, size) if isinstance(size, int) else (int(size[0]), int(size[-1]))
    width, height = image_size(image)
    if columns > width or rows > height:
        sides = [
            (columns - width) // 2 if columns > width else 0,
            (rows - height) // 2 if rows > height else 0,
            (columns - width + 1) // 2 if columns > width else 0,
            (rows - height + 1) // 2 if rows > height else 0,
        ]
        image = pad(image, sides)
        width, height = image_size(image)
    return crop(image, round((height - rows) / 2.0), round((width - columns) / 2.0), rows, columns)


def _sides(padding: Size) -> List[int]:
    if isinstance(padding, int):
        return [padding] * 4
    values = [int(value) for value in padding]
    if len(values) == 1:
        return values * 4
    return values * 2 if len(values) == 2 else values


def pad(image: Any, padding: Size, fill: Any = 0, padding_mode: str = "constant") -> Any:
    """Pad (left, top, right, bottom) with ``fill``, or by "edge", "reflect", "symmetric"."""
    left, top, right, bottom = _sides(padding)
    if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
        raise ValueError(f"unknown padding_mode {padding_mode!r}")
    if is_pil(image):
        if padding_mode == "constant":
            return ImageOps.expand(image, border=(left, top, right, bottom), fill=pil_fill(fill, image))
        array = np.asarray(image)
        widths = [(top, bottom), (left, right), (0, 0)][: array.ndim]
        done = Image.fromarray(np.pad(array, widths, mode=padding_mode))  # type: ignore[call-overload]
        if image.mode == "P":
            done.putpalette(image.getpalette())
        return done
    array = to_array(image)
    widths = [(0, 0)] * (array.ndim - 2) + [(top, bottom), (left, right)]
    options = {"constant_values": fill} if padding_mode == "constant" else {}
    return like(image, np.pad(array, widths, mode=padding_mode, **options))  # type: ignore[call-overload]


def pil_fill(fill: Any, image: Image.Image) -> Any:
    """Return a colour as Pillow wants it for an image: a number, or one a channel. None is black."""
    bands = len(image.getbands())
    if fill is None:
        fill = 0
    if isinstance(fill, (int, float)):
        return fill if bands == 1 else tuple([fill] * bands)
    return tuple(fill) if bands > 1 else fill[0]


def hflip(image: Any) -> Any:
    """Mirror left to right."""
    if is_pil(image):
        return image.transpose(Image.FLIP_LEFT_RIGHT if hasattr(Image, "FLIP_LEFT_RIGHT") else 0)
    return like(image, to_array(image)[..., ::-1])


def vflip(image: Any) -> Any:
    """Mirror top to bottom."""
    if is_pil(image):
        return image.transpose(Image.FLIP_TOP_BOTTOM if hasattr(Image, "FLIP_TOP_BOTTOM") else 1)
    return like(image, to_array(image)[..., ::-1, :])


def rotate(
    image: Any,
    angle: float,
    interpolation: Any = InterpolationMode.NEAREST,
    expand: bool = False,
    center: Optional[Sequence[float]] = None,
    fill: Any = 0,
) -> Any:
    """Rotate by ``angle`` degrees, counter-clockwise. Tensors go through Pillow channel by channel."""
    mode = resample(interpolation)
    middle = None if center is None else (float(center[0]), float(center[1]))
    if is_pil(image):
        return image.rotate(angle, mode, expand, middle, fillcolor=pil_fill(fill, image))
    array = to_array(image)
    planes = array.reshape((-1, *array.shape[-2:])).astype(np.float32)
    value = fill if isinstance(fill, (int, float)) else fill[0]
    done = np.stack(
        [np.asarray(Image.fromarray(plane).rotate(angle, mode, expand, middle, fillcolor=value)) for plane in planes]
    )
    return like(image, done.astype(array.dtype).reshape(array.shape[:-2] + done.shape[-2:]))


def as_pil(image: Any) -> Image.Image:
    """Return a PIL image as it is. Raises TypeError for tensors and arrays."""
    if not is_pil(image):
        raise TypeError("this transform takes PIL images: put it in front of ToTensor")
    return image  # type: ignore[no-any-return]


def adjust_brightness(image: Any, brightness_factor: float) -> Any:
    """Multiply the brightness: 0 is black, 1 the image itself."""
    return ImageEnhance.Brightness(as_pil(image)).enhance(brightness_factor)


def adjust_contrast(image: Any, contrast_factor: float) -> Any:
    """Change the contrast: 0 is grey, 1 the image itself."""
    return ImageEnhance.Contrast(as_pil(image)).enhance(contrast_factor)


def adjust_saturation(image: Any, saturation_factor: float) -> Any:
    """Change the saturation: 0 is black and white, 1 the image itself."""
    return ImageEnhance.Color(as_pil(image)).enhance(saturation_factor)


def adjust_hue(image: Any, hue_factor: float) -> Any:
    """Turn the colour wheel by ``hue_factor`` of a full turn, from -0.5 to 0.5."""
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"adjust_hue: {hue_factor} lies outside -0.5 to 0.5")
    picture = as_pil(image)
    if picture.mode in ("L", "1", "I", "F"):
        return picture
    hue, saturation, value = picture.convert("HSV").split()
    shifted = (np.asarray(hue, np.int32) + math.trunc(hue_factor * 255)) % 256
    hue = Image.fromarray(shifted.astype(np.uint8))
    return Image.merge("HSV", (hue, saturation, value)).convert(picture.mode)


def to_grayscale(image: Any, num_output_channels: int = 1) -> Any:
    """Return the image in grey, with 1 or 3 channels (ITU-R 601-2 weights)."""
    if num_output_channels not in (1, 3):
        raise ValueError("a grey image has 1 or 3 channels")
    if is_pil(image):
        grey = image.convert("L")
        return grey if num_output_channels == 1 else Image.merge("RGB", (grey, grey, grey))
    array = to_array(image)
    if array.shape[-3] == 3:
        weights = np.array([0.2989, 0.587, 0.114], np.float32).reshape(3, 1, 1)
        array = (array * weights).sum(axis=-3, keepdims=True).astype(array.dtype)
    return like(image, np.repeat(array, num_output_channels, axis=-3))
