"""The transforms of images that timm's training scripts ask for by their settings: ``create_transform``.

Results and random draws are timm's: windows and erasures draw from Python's ``random``, the rest as in torchvision.
"""

from __future__ import annotations

import math
import random
from typing import Any, List, Optional, Sequence, Tuple, Union

import numpy as np

from .. import augmentations, image_ops, transforms
from ..image_ops import InterpolationMode
from ..seed import default_generator
from .augment import rand_augment_transform
from .constants import DEFAULT_CROP_PCT, IMAGENET_DEFAULT_MEAN, IMAGENET_DEFAULT_STD

__all__ = ["RandomErasing", "RandomResizedCropAndInterpolation", "create_transform"]

Size = Union[int, Sequence[int]]


def _mode(name: str) -> InterpolationMode:
    return InterpolationMode(name.replace("_", "-"))


def _pair(size: Size) -> Tuple[int, int]:
    return (size, size) if isinstance(size, int) else (int(size[0]), int(size[1]))


class RandomResizedCropAndInterpolation(transforms.Transform):
    """Cut out a window of random area and aspect ratio and resize it, in a way that may be drawn as well."""

    def __init__(
        self,
        size: Size,
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: str = "bilinear",
    ) -> None:
        self.size, self.scale, self.ratio = _pair(size), tuple(scale), tuple(ratio)
        either = (InterpolationMode.BILINEAR, InterpolationMode.BICUBIC)
        self.interpolation: Any = either if interpolation == "random" else _mode(interpolation)

    @staticmethod
    def get_params(img: Any, scale: Sequence[float], ratio: Sequence[float]) -> Tuple[int, int, int, int]:
        """Return a random window (top, left, height, width); the middle where ten tries found none."""
        width, height = image_ops.image_size(img)
        for _ in range(10):
            area = random.uniform(*scale) * width * height
            aspect = math.exp(random.uniform(math.log(ratio[0]), math.log(ratio[1])))
            columns, rows = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
            if columns <= width and rows <= height:
                top = random.randint(0, height - rows)
                return top, random.randint(0, width - columns), rows, columns
        columns, rows = width, height
        if width / height < min(ratio):
            rows = round(width / min(ratio))
        elif width / height > max(ratio):
            columns = round(height * max(ratio))
        return (height - rows) // 2, (width - columns) // 2, rows, columns

    def _apply(self, image: Any) -> Any:
        window = self.get_params(image, self.scale, self.ratio)
        mode = random.choice(self.interpolation) if isinstance(self.interpolation, tuple) else self.interpolation
        return image_ops.resize(image_ops.crop(image, *window), self.size, mode)


class RandomErasing(transforms.Transform):
    """Overwrite windows of a normalised picture (C, H, W), or of each of a batch, with 0, colours or noise.

    Zhong et al., "Random Erasing Data Augmentation" (2017).
    """

    def __init__(
        self,
        probability: float = 0.5,
        min_area: float = 0.02,
        max_area: float = 1 / 3,
        min_aspect: float = 0.3,
        max_aspect: Optional[float] = None,
        mode: str = "const",
        min_count: int = 1,
        max_count: Optional[int] = None,
        num_splits: int = 0,
        device: Any = None,
    ) -> None:
        del device
        if mode.lower() not in ("", "const", "rand", "pixel"):
            raise AssertionError(f"no mode of erasing is called {mode}")
        self.probability, self.mode, self.num_splits = probability, mode.lower(), num_splits
        self.min_area, self.max_area = min_area, max_area
        self.log_aspect_ratio = (math.log(min_aspect), math.log(max_aspect or 1 / min_aspect))
        self.min_count, self.max_count = min_count, max_count or min_count

    def _apply(self, image: Any) -> Any:
        array = np.array(image_ops.to_array(image))
        pictures = array[None] if array.ndim == 3 else array
        first = len(pictures) // self.num_splits if array.ndim == 4 and self.num_splits > 1 else 0
        for picture in pictures[first:]:
            self._erase(picture)
        return image_ops.like(image, array)

    def _erase(self, picture: Any) -> None:
        if random.random() > self.probability:
            return
        channels, height, width = picture.shape
        count = self.min_count if self.min_count == self.max_count else random.randint(self.min_count, self.max_count)
        for _ in range(count):
            for _ in range(10):
                area = random.uniform(self.min_area, self.max_area) * height * width / count
                aspect = math.exp(random.uniform(*self.log_aspect_ratio))
                rows, columns = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
                if columns < width and rows < height:
                    top, left = random.randint(0, height - rows), random.randint(0, width - columns)
                    picture[:, top : top + rows, left : left + columns] = self._patch(channels, rows, columns)
                    break

    def _patch(self, channels: int, rows: int, columns: int) -> Any:
        shape = (channels, rows, columns) if self.mode == "pixel" else (channels, 1, 1)
        if self.mode in ("", "const"):
            return np.zeros(shape, np.float32)
        return np.asarray(default_generator().randns(int(np.prod(shape))), np.float32).reshape(shape)


def create_transform(
    input_size: Size = 224,
    is_training: bool = False,
    no_aug: bool = False,
    train_crop_mode: Optional[str] = None,
    scale: Optional[Sequence[float]] = None,
    ratio: Optional[Sequence[float]] = None,
    hflip: float = 0.5,
    vflip: float = 0.0,
    color_jitter: Any = 0.4,
    color_jitter_prob: Optional[float] = None,
    grayscale_prob: float = 0.0,
    gaussian_blur_prob: float = 0.0,
    auto_augment: Optional[str] = None,
    interpolation: str = "bilinear",
    mean: Optional[Sequence[float]] = None,
    std: Optional[Sequence[float]] = None,
    re_prob: float = 0.0,
    re_mode: str = "const",
    re_count: int = 1,
    re_num_splits: int = 0,
    crop_pct: Optional[float] = None,
    crop_mode: Optional[str] = None,
    use_prefetcher: bool = False,
    normalize: bool = True,
    separate: bool = False,
) -> Any:
    """Return the transforms of a training or an evaluation; with ``separate`` the three parts of a training's.

    ``input_size``: a side, (height, width) or (channels, height, width). ``mean`` and ``std``: else those of ImageNet.
    Raises NotImplementedError for other policies than ``rand-...`` and for other crops than the usual ones.
    """
    mean, std = mean or IMAGENET_DEFAULT_MEAN, std or IMAGENET_DEFAULT_STD
    size = input_size if isinstance(input_size, int) else tuple(input_size)[-2:]
    if train_crop_mode not in (None, "rrc") or crop_mode not in (None, "center", "squash"):
        raise NotImplementedError(f"crops {train_crop_mode or crop_mode} are not there")
    to_tensor: List[Any] = [augmentations.PILToTensor()]
    if normalize and not use_prefetcher:
        to_tensor = [transforms.ToTensor(), transforms.Normalize(mean, std)]
    if not is_training or no_aug:
        mode = _mode("bilinear" if is_training and interpolation == "random" else interpolation)
        sizes = [transforms.Resize(size, mode), transforms.CenterCrop(size)]
        if not is_training:
            sizes = _evaluated(size, crop_pct or DEFAULT_CROP_PCT, crop_mode, mode)
        return transforms.Compose([*sizes, *to_tensor])
    window = RandomResizedCropAndInterpolation(
        size, scale or (0.08, 1.0), ratio or (3.0 / 4.0, 4.0 / 3.0), interpolation=interpolation
    )
    first: List[Any] = [window, *_flips(hflip, vflip)]
    second: List[Any] = [_policy(auto_augment, size, interpolation, mean)] if auto_augment else []
    if color_jitter is not None and (not auto_augment or "3a" in auto_augment):
        factors = color_jitter if isinstance(color_jitter, (list, tuple)) else (float(color_jitter),) * 3
        second += _sometimes(transforms.ColorJitter(*factors), color_jitter_prob)
    second += [transforms.RandomGrayscale(p=grayscale_prob)] if grayscale_prob else []
    second += _sometimes(augmentations.GaussianBlur(kernel_size=23), gaussian_blur_prob) if gaussian_blur_prob else []
    if normalize and not use_prefetcher and re_prob > 0:
        to_tensor.append(RandomErasing(re_prob, mode=re_mode, max_count=re_count, num_splits=re_num_splits))
    if separate:
        return transforms.Compose(first), transforms.Compose(second), transforms.Compose(to_tensor)
    return transforms.Compose([*first, *second, *to_tensor])


def _flips(hflip: float, vflip: float) -> List[Any]:
    across: List[Any] = [transforms.RandomHorizontalFlip(hflip)] if hflip > 0 else []
    return [*across, transforms.RandomVerticalFlip(vflip)] if vflip > 0 else across


def _sometimes(transform: Any, chance: Optional[float]) -> List[Any]:
    return [transform] if chance is None else [transforms.RandomApply([transform], p=chance)]


def _evaluated(size: Size, share: float, crop_mode: Optional[str], mode: InterpolationMode) -> List[Any]:
    """Return what makes a picture as large as an evaluation wants it."""
    height, width = (math.floor(side / share) for side in _pair(size))
    if crop_mode != "squash" and height != width:
        raise NotImplementedError("an evaluation on pictures that are not square needs crop_mode='squash'")
    resized = (height, width) if crop_mode == "squash" else height
    return [transforms.Resize(resized, mode), transforms.CenterCrop(size)]


def _policy(text: str, size: Size, interpolation: str, mean: Sequence[float]) -> Any:
    """Return the policy that a text describes."""
    if not text.startswith("rand"):
        raise NotImplementedError(f"of timm's policies only rand-... is there, not {text}")
    settings = {
        "translate_const": int(min(_pair(size)) * 0.45),
        "img_mean": tuple(min(255, round(255 * value)) for value in mean),
    }
    if interpolation and interpolation != "random":
        settings["interpolation"] = image_ops.resample(_mode(interpolation))
    return rand_augment_transform(text, settings)
