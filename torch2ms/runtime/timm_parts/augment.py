"""RandAugment in timm's way: ``rand-m9-mstd0.5-inc1``, on PIL images.

Cubuk et al., "RandAugment" (2020). Magnitudes go from 0 to 10; each operation turns one into its own argument. The
random numbers are those of Python's ``random`` and of NumPy, drawn in timm's order.
"""

from __future__ import annotations

import random
import re
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np
from PIL import Image, ImageEnhance, ImageFilter, ImageOps

__all__ = ["RandAugment", "rand_augment_transform"]

_TOP = 10.0  # the magnitude at which an operation does all that it does
_GREY = (128, 128, 128)
_EITHER = (Image.Resampling.BILINEAR, Image.Resampling.BICUBIC)
Settings = Mapping[str, Any]


def _signed(value: float) -> float:
    return -value if random.random() > 0.5 else value


def _farther(share: float) -> float:
    """Return a factor around 1 that changes more with a larger magnitude."""
    return max(0.1, 1.0 + _signed(share * 0.9))


def _between(share: float, low: float, high: float) -> float:
    return max(low, min(high, low + (high - low) * share))


_PLAIN: Dict[str, Callable[[Any], Any]] = {
    "AutoContrast": ImageOps.autocontrast,
    "Equalize": ImageOps.equalize,
    "Invert": ImageOps.invert,
}
_ENHANCERS: Dict[str, Any] = {
    "Brightness": ImageEnhance.Brightness,
    "Color": ImageEnhance.Color,
    "Contrast": ImageEnhance.Contrast,
    "Sharpness": ImageEnhance.Sharpness,
}


def _posterized(image: Any, bits: int) -> Any:
    return image if bits >= 8 else ImageOps.posterize(image, bits)


def _solarize_added(image: Any, added: int) -> Any:
    if image.mode not in ("L", "RGB"):
        return image
    table = [min(255, value + added) if value < 128 else value for value in range(256)]
    return image.point(table * len(image.getbands()))


class _Operation:
    """One operation, done with a chance, at a magnitude."""

    def __init__(self, name: str, chance: float, magnitude: float, settings: Settings) -> None:
        self.name, self.chance, self.magnitude, self.settings = name, chance, magnitude, settings

    def __call__(self, image: Any) -> Any:
        """Return the image, changed or not."""
        if self.chance < 1.0 and random.random() > self.chance:
            return image
        spread, magnitude = self.settings.get("magnitude_std", 0), self.magnitude
        if spread == float("inf"):
            magnitude = random.uniform(0, magnitude)
        elif spread > 0:
            magnitude = random.gauss(magnitude, spread)
        share = max(0.0, min(magnitude, self.settings.get("magnitude_max") or _TOP)) / _TOP
        return self._changed(image, share)

    def _changed(self, image: Any, share: float) -> Any:
        name = self.name.replace("Increasing", "")
        increasing = name != self.name
        if name in _PLAIN:
            return _PLAIN[name](image)
        if name in _ENHANCERS:
            return _ENHANCERS[name](image).enhance(_farther(share) if increasing else share * 1.8 + 0.1)
        if name == "Posterize":
            return _posterized(image, 4 - int(share * 4) if increasing else int(share * 4))
        if name == "Solarize":
            limit = min(256, int(share * 256))
            return ImageOps.solarize(image, 256 - limit if increasing else limit)
        if name == "SolarizeAdd":
            return _solarize_added(image, min(128, int(share * 110)))
        if name == "Desaturate":
            return ImageEnhance.Color(image).enhance(min(1.0, max(0.0, 1.0 - _between(share, 0.5, 1.0))))
        if name == "GaussianBlur":
            return image.filter(ImageFilter.GaussianBlur(radius=_between(share, 0.1, 2.0)))
        return self._moved(image, name, share)

    def _moved(self, image: Any, name: str, share: float) -> Any:
        """Return the image turned, sheared or moved."""
        moves = {"Rotate": 30.0, "ShearX": 0.3, "ShearY": 0.3}
        top = self.settings.get("translate_pct", 0.45) if name.endswith("Rel") else self.settings["translate_const"]
        value = _signed(share * moves.get(name, float(top)))
        if name.endswith("Rel"):
            value *= image.size[0] if "X" in name else image.size[1]
        resample = self.settings.get("interpolation", _EITHER)
        resample = random.choice(resample) if isinstance(resample, (list, tuple)) else resample
        fill = self.settings.get("img_mean", _GREY)
        if name == "Rotate":
            return image.rotate(value, resample=resample, fillcolor=fill)
        matrix = [1, 0, 0, 0, 1, 0]
        matrix[_PLACES[name]] = value  # type: ignore[call-overload]
        return image.transform(image.size, Image.Transform.AFFINE, tuple(matrix), resample=resample, fillcolor=fill)


_PLACES = {"ShearX": 1, "ShearY": 3, "TranslateX": 2, "TranslateY": 5, "TranslateXRel": 2, "TranslateYRel": 5}
_USUAL = (
    "AutoContrast Equalize Invert Rotate Posterize Solarize SolarizeAdd Color Contrast Brightness Sharpness ShearX "
    "ShearY TranslateXRel TranslateYRel"
).split()
_GROWING = [f"{name}Increasing" if name in _ENHANCERS or name in ("Posterize", "Solarize") else name for name in _USUAL]
_WEIGHTED = {
    "Rotate": 3.0, "ShearX": 2.0, "ShearY": 2.0, "TranslateXRel": 1.0, "TranslateYRel": 1.0, "ColorIncreasing": 0.25,
    "SharpnessIncreasing": 0.25, "AutoContrast": 0.25, "SolarizeIncreasing": 0.05, "SolarizeAdd": 0.05,
    "ContrastIncreasing": 0.05, "BrightnessIncreasing": 0.05, "Equalize": 0.05, "PosterizeIncreasing": 0.05,
    "Invert": 0.05,
}  # fmt: skip
_WEIGHTED_3A = {
    "SolarizeIncreasing": 6.0, "Desaturate": 6.0, "GaussianBlur": 6.0, "Rotate": 3.0, "ShearX": 2.0, "ShearY": 2.0,
    "PosterizeIncreasing": 1.0, "AutoContrast": 1.0, "ColorIncreasing": 1.0, "SharpnessIncreasing": 1.0,
    "ContrastIncreasing": 1.0, "BrightnessIncreasing": 1.0, "Equalize": 1.0, "Invert": 1.0,
}  # fmt: skip
_SETS: Dict[str, Union[Dict[str, float], List[str]]] = {
    "weights": _WEIGHTED,
    "3aw": _WEIGHTED_3A,
    "3a": ["SolarizeIncreasing", "Desaturate", "GaussianBlur"],
}


class RandAugment:
    """Do some operations that are chosen anew for each image; with weights, each at most once."""

    def __init__(
        self, ops: Sequence[Callable[[Any], Any]], num_layers: int = 2, choice_weights: Optional[Any] = None
    ) -> None:
        self.ops, self.num_layers, self.choice_weights = list(ops), num_layers, choice_weights

    def __call__(self, image: Any) -> Any:
        """Return the changed image."""
        is_free = self.choice_weights is None
        for place in np.random.choice(len(self.ops), self.num_layers, replace=is_free, p=self.choice_weights):
            image = self.ops[int(place)](image)
        return image


def rand_augment_transform(
    config_str: str, hparams: Optional[Dict[str, Any]] = None, transforms: Any = None
) -> RandAugment:
    """Return the RandAugment that a text describes: ``rand-m9-n3-mstd0.5-inc1``.

    ``m``: magnitude; ``n``: operations for an image; ``p``: the chance of each; ``mstd``: how far magnitudes spread,
    evenly from 0 above 100; ``mmax``: their limit; ``inc``: whether more is more for all operations; ``t``: which set.
    """
    settings = dict(hparams or {"translate_const": 250, "img_mean": _GREY})
    found = {"m": _TOP, "n": 2.0, "p": 0.5, "inc": 0.0}
    kind, *parts = config_str.split("-")
    if kind != "rand":
        raise ValueError(f"{config_str} does not describe a RandAugment")
    for part in parts:
        if part.startswith("t"):
            transforms = part[1:] if transforms is None else transforms
            continue
        key, value, *_ = [*re.split(r"(\d.*)", part), "", ""]
        if key not in (*found, "mstd", "mmax") or not value:
            raise ValueError(f"unknown part of a RandAugment: {part}")
        if key == "mstd":
            settings.setdefault("magnitude_std", float("inf") if float(value) > 100 else float(value))
        elif key == "mmax":
            settings.setdefault("magnitude_max", int(value))
        else:
            found[key] = float(value)
    usual = _GROWING if found["inc"] else _USUAL
    names = _SETS.get(transforms, usual) if isinstance(transforms, str) else transforms or usual
    weights = np.array(list(names.values())) if isinstance(names, dict) else None
    ops = [_Operation(name, found["p"], found["m"], settings) for name in names]
    return RandAugment(ops, int(found["n"]), None if weights is None else weights / weights.sum())
