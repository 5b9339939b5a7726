"""Image transforms on PIL images, with torchvision's names, arguments and results.

Deterministic transforms give the same pixels as torchvision on PIL images, because both let Pillow compute them. Random
ones draw from :func:`.seed.default_generator` with the same draws in the same order. :class:`ToTensor` gives a float32
tensor (C, H, W) in [0, 1]; transforms behind it (Normalize, RandomErasing, ...) take tensors or arrays of that shape
and return the same kind.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import mindspore as ms
import numpy as np
from PIL import Image

from . import image_ops as functional
from .image_ops import InterpolationMode
from .seed import default_generator

__all__ = [
    "CenterCrop",
    "ColorJitter",
    "Compose",
    "Grayscale",
    "InterpolationMode",
    "Lambda",
    "Normalize",
    "Pad",
    "RandomApply",
    "RandomChoice",
    "RandomCrop",
    "RandomErasing",
    "RandomGrayscale",
    "RandomHorizontalFlip",
    "RandomOrder",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomVerticalFlip",
    "Resize",
    "ToPILImage",
    "ToTensor",
    "Transform",
    "build",
    "functional",
]

Size = Union[int, Sequence[int]]
Range = Union[float, Sequence[float]]


def _pair(size: Size) -> Tuple[int, int]:
    if isinstance(size, int):
        return size, size
    return (int(size[0]), int(size[0])) if len(size) == 1 else (int(size[0]), int(size[1]))


class Transform:
    """Base of the transforms: called with an image, they return an image."""

    def __call__(self, image: Any) -> Any:
        """Return the transformed image."""
        return self._apply(image)

    def _apply(self, image: Any) -> Any:
        raise NotImplementedError

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({arguments})"


class Compose(Transform):
    """Apply transforms (any callables) one after the other."""

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        self.transforms = list(transforms)

    def _apply(self, image: Any) -> Any:
        for transform in self.transforms:
            image = transform(image)
        return image


class Lambda(Transform):
    """Apply a function."""

    def __init__(self, lambd: Callable[[Any], Any]) -> None:
        self.lambd = lambd

    def _apply(self, image: Any) -> Any:
        return self.lambd(image)


class ToTensor(Transform):
    """PIL image or array (H, W, C) to a tensor (C, H, W): uint8 becomes float32 in [0, 1], other types stay."""

    def _apply(self, image: Any) -> ms.Tensor:
        return functional.to_tensor(image)


class ToPILImage(Transform):
    """Tensor (C, H, W) or array (H, W, C) to a PIL image; floats are taken as [0, 1]."""

    def __init__(self, mode: Optional[str] = None) -> None:
        self.mode = mode

    def _apply(self, image: Any) -> Image.Image:
        return functional.to_pil_image(image, self.mode)


class Normalize(Transform):
    """Subtract ``mean`` and divide by ``std``, channel by channel, on (..., C, H, W)."""

    def __init__(self, mean: Sequence[float], std: Sequence[float], inplace: bool = False) -> None:
        self.mean, self.std, self.inplace = mean, std, inplace

    def _apply(self, image: Any) -> Any:
        return functional.normalize(image, self.mean, self.std)


class Resize(Transform):
    """Resize to (height, width), or the shorter side to an int; bilinear with antialiasing, as Pillow does."""

    def __init__(
        self,
        size: Size,
        interpolation: Any = InterpolationMode.BILINEAR,
        max_size: Optional[int] = None,
        antialias: Optional[bool] = True,
    ) -> None:
        self.size, self.interpolation, self.max_size, self.antialias = size, interpolation, max_size, antialias

    def _apply(self, image: Any) -> Any:
        return functional.resize(image, self.size, self.interpolation, self.max_size, self.antialias)


class CenterCrop(Transform):
    """Cut the middle out; smaller images are padded with 0."""

    def __init__(self, size: Size) -> None:
        self.size = _pair(size)

    def _apply(self, image: Any) -> Any:
        return functional.center_crop(image, self.size)


class Pad(Transform):
    """Pad by ``padding``: all sides, (left/right, top/bottom), or (left, top, right, bottom)."""

    def __init__(self, padding: Size, fill: Any = 0, padding_mode: str = "constant") -> None:
        self.padding, self.fill, self.padding_mode = padding, fill, padding_mode

    def _apply(self, image: Any) -> Any:
        return functional.pad(image, self.padding, self.fill, self.padding_mode)


class RandomCrop(Transform):
    """Cut a random window out, after padding."""

    def __init__(
        self,
        size: Size,
        padding: Optional[Size] = None,
        pad_if_needed: bool = False,
        fill: Any = 0,
        padding_mode: str = "constant",
    ) -> None:
        self.size, self.padding, self.pad_if_needed = _pair(size), padding, pad_if_needed
        self.fill, self.padding_mode = fill, padding_mode

    def _apply(self, image: Any) -> Any:
        if self.padding is not None:
            image = functional.pad(image, self.padding, self.fill, self.padding_mode)
        width, height = functional.image_size(image)
        rows, columns = self.size
        if self.pad_if_needed and width < columns:
            image = functional.pad(image, [columns - width, 0], self.fill, self.padding_mode)
        if self.pad_if_needed and height < rows:
            image = functional.pad(image, [0, rows - height], self.fill, self.padding_mode)
        return functional.crop(image, *self.get_params(image, (rows, columns)))

    @staticmethod
    def get_params(img: Any, output_size: Sequence[int]) -> Tuple[int, int, int, int]:
        """Return a random window (top, left, height, width) of an image. Raises ValueError where none fits."""
        width, height = functional.image_size(img)
        rows, columns = output_size
        if height < rows or width < columns:
            raise ValueError(f"RandomCrop: {rows} x {columns} does not fit into an image of {height} x {width}")
        top = left = 0
        if (width, height) != (columns, rows):
            top = default_generator().randint(0, height - rows + 1)
            left = default_generator().randint(0, width - columns + 1)
        return top, left, rows, columns


class RandomHorizontalFlip(Transform):
    """Mirror left to right with probability ``p``."""

    def __init__(self, p: float = 0.5) -> None:
        self.p = p

    def _apply(self, image: Any) -> Any:
        return functional.hflip(image) if default_generator().rand() < self.p else image


class RandomVerticalFlip(Transform):
    """Mirror top to bottom with probability ``p``."""

    def __init__(self, p: float = 0.5) -> None:
        self.p = p

    def _apply(self, image: Any) -> Any:
        return functional.vflip(image) if default_generator().rand() < self.p else image


class RandomResizedCrop(Transform):
    """Cut out a window of random area and aspect ratio and resize it (the Inception crop)."""

    def __init__(
        self,
        size: Size,
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: Any = InterpolationMode.BILINEAR,
        antialias: Optional[bool] = True,
    ) -> None:
        self.size, self.scale, self.ratio = _pair(size), scale, ratio
        self.interpolation, self.antialias = interpolation, antialias

    def window(self, width: int, height: int) -> Tuple[int, int, int, int]:
        """Return a random (top, left, height, width); the middle where ten tries found none."""
        return _window(width, height, self.scale, self.ratio)

    @staticmethod
    def get_params(img: Any, scale: Sequence[float], ratio: Sequence[float]) -> Tuple[int, int, int, int]:
        """Return a random window (top, left, height, width) of an image."""
        return _window(*functional.image_size(img), scale, ratio)

    def _apply(self, image: Any) -> Any:
        window = self.window(*functional.image_size(image))
        return functional.resize(functional.crop(image, *window), self.size, self.interpolation)


def _window(width: int, height: int, scale: Sequence[float], ratio: Sequence[float]) -> Tuple[int, int, int, int]:
    draw, area = default_generator(), width * height
    for _ in range(10):
        target = area * draw.uniform(scale[0], scale[1])
        aspect = _exp32(draw.uniform(math.log(ratio[0]), math.log(ratio[1])))
        columns, rows = round(math.sqrt(target * aspect)), round(math.sqrt(target / aspect))
        if 0 < columns <= width and 0 < rows <= height:
            return draw.randint(0, height - rows + 1), draw.randint(0, width - columns + 1), rows, columns
    rows, columns = height, width
    if width / height < min(ratio):
        rows = round(width / min(ratio))
    elif width / height > max(ratio):
        columns = round(height * max(ratio))
    return (height - rows) // 2, (width - columns) // 2, rows, columns


def _exp32(value: float) -> float:
    return float(np.exp(np.float32(value)))


class RandomRotation(Transform):
    """Rotate by a random angle from ``degrees`` (a range, or -d to d), counter-clockwise."""

    def __init__(
        self,
        degrees: Range,
        interpolation: Any = InterpolationMode.NEAREST,
        expand: bool = False,
        center: Optional[Sequence[float]] = None,
        fill: Any = 0,
    ) -> None:
        self.degrees = (-float(degrees), float(degrees)) if isinstance(degrees, (int, float)) else tuple(degrees)
        self.interpolation, self.expand, self.center, self.fill = interpolation, expand, center, fill

    @staticmethod
    def get_params(degrees: Sequence[float]) -> float:
        """Return a random angle from a range."""
        return default_generator().uniform(float(degrees[0]), float(degrees[1]))

    def _apply(self, image: Any) -> Any:
        angle = self.get_params(self.degrees)
        return functional.rotate(image, angle, self.interpolation, self.expand, self.center, self.fill)


class ColorJitter(Transform):
    """Change brightness, contrast, saturation and hue by random factors, in random order."""

    def __init__(self, brightness: Range = 0, contrast: Range = 0, saturation: Range = 0, hue: Range = 0) -> None:
        self.ranges = (
            _factors("brightness", brightness),
            _factors("contrast", contrast),
            _factors("saturation", saturation),
            _factors("hue", hue, center=0.0, bound=(-0.5, 0.5)),
        )

    def _apply(self, image: Any) -> Any:
        draw = default_generator()
        order = draw.randperm(4)
        factors = [None if span is None else draw.uniform(*span) for span in self.ranges]
        change = (
            functional.adjust_brightness,
            functional.adjust_contrast,
            functional.adjust_saturation,
            functional.adjust_hue,
        )
        for index in order:
            factor = factors[index]
            if factor is not None:
                image = change[index](image, factor)
        return image


def _factors(
    name: str, value: Range, center: float = 1.0, bound: Tuple[float, float] = (0.0, math.inf)
) -> Optional[Tuple[float, float]]:
    if isinstance(value, (int, float)):
        if value < 0:
            raise ValueError(f"ColorJitter: {name} must not be negative")
        low, high = center - value, center + value
        if center == 1.0:
            low = max(low, 0.0)
    else:
        low, high = float(value[0]), float(value[1])
    if not bound[0] <= low <= high <= bound[1]:
        raise ValueError(f"ColorJitter: {name} {value} lies outside {bound}")
    return None if low == high == center else (float(low), float(high))


class Grayscale(Transform):
    """Take the colours out; 1 or 3 channels come back."""

    def __init__(self, num_output_channels: int = 1) -> None:
        self.num_output_channels = num_output_channels

    def _apply(self, image: Any) -> Any:
        return functional.to_grayscale(image, self.num_output_channels)


class RandomGrayscale(Transform):
    """Take the colours out with probability ``p``; the number of channels stays."""

    def __init__(self, p: float = 0.1) -> None:
        self.p = p

    def _apply(self, image: Any) -> Any:
        channels = functional.channels_of(image)
        return functional.to_grayscale(image, channels) if default_generator().rand() < self.p else image


class RandomErasing(Transform):
    """Overwrite a random window of a tensor (C, H, W) with probability ``p`` (Zhong et al., 2017).

    ``value``: a number, one a channel, or "random" (normal noise, whose stream differs from PyTorch's).
    """

    def __init__(
        self,
        p: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: Any = 0,
        inplace: bool = False,
    ) -> None:
        self.p, self.scale, self.ratio, self.value, self.inplace = p, scale, ratio, value, inplace

    def _apply(self, image: Any) -> Any:
        draw = default_generator()
        if draw.rand() >= self.p:
            return image
        array = functional.to_array(image)
        channels, height, width = array.shape[-3:]
        for _ in range(10):
            area = height * width * draw.uniform(self.scale[0], self.scale[1])
            aspect = _exp32(draw.uniform(math.log(self.ratio[0]), math.log(self.ratio[1])))
            rows, columns = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
            if rows >= height or columns >= width:
                continue
            if self.value == "random":
                patch = draw.numpy().standard_normal((channels, rows, columns)).astype(array.dtype)
            else:
                patch = np.asarray(self.value, dtype=array.dtype).reshape(-1, 1, 1)
            top, left = draw.randint(0, height - rows + 1), draw.randint(0, width - columns + 1)
            array = array.copy()
            array[..., top : top + rows, left : left + columns] = patch
            return functional.like(image, array)
        return image


class RandomApply(Transform):
    """Apply all of ``transforms`` with probability ``p``, or none."""

    def __init__(self, transforms: Sequence[Callable[[Any], Any]], p: float = 0.5) -> None:
        self.transforms, self.p = transforms, p

    def _apply(self, image: Any) -> Any:
        if default_generator().rand() <= self.p:
            for transform in self.transforms:
                image = transform(image)
        return image


class RandomChoice(Transform):
    """Apply one of ``transforms``, chosen by the weights ``p``."""

    def __init__(self, transforms: Sequence[Callable[[Any], Any]], p: Optional[Sequence[float]] = None) -> None:
        self.transforms = list(transforms)
        weights = list(p) if p is not None else [1.0] * len(self.transforms)
        self.bounds = np.cumsum(weights) / sum(weights)

    def _apply(self, image: Any) -> Any:
        index = int(np.searchsorted(self.bounds, default_generator().rand(), side="right"))
        return self.transforms[min(index, len(self.transforms) - 1)](image)


class RandomOrder(Transform):
    """Apply ``transforms`` in random order."""

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        self.transforms = list(transforms)

    def _apply(self, image: Any) -> Any:
        for index in default_generator().randperm(len(self.transforms)):
            image = self.transforms[index](image)
        return image


def build(
    specs: Sequence[Union[str, Mapping[str, Any]]],
    known: Mapping[str, Callable[..., Any]],
    image_size: Optional[int] = None,
) -> Compose:
    """Return the transforms that a configuration lists: names of ``known``, or ``{name: {argument: value}}``.

    The value ``image_size`` stands for the argument ``image_size``. Raises ValueError for an unknown name.
    """
    transforms: List[Callable[[Any], Any]] = []
    for spec in specs:
        name, arguments = (spec, None) if isinstance(spec, str) else next(iter(spec.items()))
        if name not in known:
            raise ValueError(f"unknown transform {name!r}: choose one of {', '.join(sorted(known))}")
        keywords: Dict[str, Any] = {key: _sized(value, image_size) for key, value in (arguments or {}).items()}
        transforms.append(known[name](**keywords))
    return Compose(transforms)


def _sized(value: Any, image_size: Optional[int]) -> Any:
    if isinstance(value, list):
        return [_sized(item, image_size) for item in value]
    return image_size if value == "image_size" else value
