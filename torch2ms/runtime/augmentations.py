"""Further image transforms with torchvision's names, arguments and draws: warps, blur, tones, learned policies.

They take PIL images; behind :class:`.transforms.ToTensor` only GaussianBlur, FiveCrop, TenCrop and the changes of type
do. From equal seeds they draw as torchvision does.
"""

from __future__ import annotations

import enum
import math
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import mindspore as ms
import numpy as np

from . import image_changes as changes
from . import image_ops as ops
from .image_ops import InterpolationMode
from .seed import default_generator
from .transforms import Transform

__all__ = [
    "AutoAugment",
    "AutoAugmentPolicy",
    "ConvertImageDtype",
    "FiveCrop",
    "GaussianBlur",
    "PILToTensor",
    "RandAugment",
    "RandomAdjustSharpness",
    "RandomAffine",
    "RandomAutocontrast",
    "RandomEqualize",
    "RandomInvert",
    "RandomPerspective",
    "RandomPosterize",
    "RandomSolarize",
    "TenCrop",
    "ToDtype",
    "ToImage",
    "TrivialAugmentWide",
]

Range = Union[float, Sequence[float]]
Size = Union[int, Sequence[int]]


def _span(value: Range) -> Tuple[float, ...]:
    if isinstance(value, (int, float)):
        if value < 0:
            raise ValueError(f"a single number must not be negative: {value}")
        return -float(value), float(value)
    return tuple(float(part) for part in value)


class RandomAffine(Transform):
    """Turn, move, scale and shear by random amounts; ``degrees`` and ``shear`` are ranges, or a bound for both signs.

    ``translate``: largest moves as shares of width and height; ``shear``: 2 numbers for x, 4 for x and y.
    """

    def __init__(
        self,
        degrees: Range,
        translate: Optional[Sequence[float]] = None,
        scale: Optional[Sequence[float]] = None,
        shear: Optional[Range] = None,
        interpolation: Any = InterpolationMode.NEAREST,
        fill: Any = 0,
        center: Optional[Sequence[float]] = None,
    ) -> None:
        self.degrees, self.shear = _span(degrees), None if shear is None else _span(shear)
        self.translate, self.scale = translate, scale
        self.interpolation, self.fill, self.center = interpolation, fill, center

    @staticmethod
    def get_params(
        degrees: Sequence[float],
        translate: Optional[Sequence[float]],
        scale_ranges: Optional[Sequence[float]],
        shears: Optional[Sequence[float]],
        img_size: Sequence[int],
    ) -> Tuple[float, Tuple[int, int], float, Tuple[float, float]]:
        """Return a random angle, move in pixels, scale, and shear along x and y; ``img_size`` is (width, height)."""
        draw = default_generator()
        angle = draw.uniform(float(degrees[0]), float(degrees[1]))
        move = (0, 0)
        if translate is not None:
            far = (float(translate[0] * img_size[0]), float(translate[1] * img_size[1]))
            move = (round(draw.uniform(-far[0], far[0])), round(draw.uniform(-far[1], far[1])))
        scale = 1.0 if scale_ranges is None else draw.uniform(scale_ranges[0], scale_ranges[1])
        slants = [0.0, 0.0]
        for axis in range(len(shears or ()) // 2):
            assert shears is not None
            slants[axis] = draw.uniform(shears[2 * axis], shears[2 * axis + 1])
        return angle, move, scale, (slants[0], slants[1])

    def _apply(self, image: Any) -> Any:
        size = ops.image_size(image)
        amounts = self.get_params(self.degrees, self.translate, self.scale, self.shear, size)
        return changes.affine(image, *amounts, self.interpolation, self.fill, self.center)


class RandomPerspective(Transform):
    """Move the corners inwards by random amounts, up to ``distortion_scale`` of half a side, with probability ``p``."""

    def __init__(
        self,
        distortion_scale: float = 0.5,
        p: float = 0.5,
        interpolation: Any = InterpolationMode.BILINEAR,
        fill: Any = 0,
    ) -> None:
        self.distortion_scale, self.p, self.interpolation, self.fill = distortion_scale, p, interpolation, fill

    def _apply(self, image: Any) -> Any:
        draw = default_generator()
        if draw.rand() >= self.p:
            return image
        width, height = ops.image_size(image)
        across, down = (int(self.distortion_scale * (side // 2)) for side in (width, height))
        start = [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]]
        end = []
        for x, y in start:
            columns = (0, across + 1) if x == 0 else (width - across - 1, width)
            rows = (0, down + 1) if y == 0 else (height - down - 1, height)
            end.append([draw.randint(*columns), draw.randint(*rows)])
        return changes.perspective(image, start, end, self.interpolation, self.fill)


class GaussianBlur(Transform):
    """Blur with a Gaussian of odd ``kernel_size`` and a ``sigma`` from a range."""

    def __init__(self, kernel_size: Size, sigma: Range = (0.1, 2.0)) -> None:
        self.kernel_size = (kernel_size, kernel_size) if isinstance(kernel_size, int) else tuple(kernel_size)
        self.sigma = (float(sigma), float(sigma)) if isinstance(sigma, (int, float)) else tuple(sigma)
        if any(size <= 0 or size % 2 == 0 for size in self.kernel_size):
            raise ValueError(f"GaussianBlur: the kernel size {kernel_size} is not odd and positive")
        if not 0 < self.sigma[0] <= self.sigma[1]:
            raise ValueError(f"GaussianBlur: sigma {sigma} is no range of positive numbers")

    def _apply(self, image: Any) -> Any:
        sigma = default_generator().uniform(self.sigma[0], self.sigma[1])
        return changes.gaussian_blur(image, self.kernel_size, sigma)


class _Chance(Transform):
    """A change that is made with probability ``p``."""

    def __init__(self, p: float = 0.5) -> None:
        self.p = p

    def _apply(self, image: Any) -> Any:
        return self._change(image) if default_generator().rand() < self.p else image

    def _change(self, image: Any) -> Any:
        raise NotImplementedError


class RandomInvert(_Chance):
    """Invert the colours with probability ``p``."""

    def _change(self, image: Any) -> Any:
        return changes.invert(image)


class RandomAutocontrast(_Chance):
    """Stretch the contrast with probability ``p``."""

    def _change(self, image: Any) -> Any:
        return changes.autocontrast(image)


class RandomEqualize(_Chance):
    """Flatten the histogram with probability ``p``."""

    def _change(self, image: Any) -> Any:
        return changes.equalize(image)


class RandomPosterize(_Chance):
    """Keep the upper ``bits`` of every channel with probability ``p``."""

    def __init__(self, bits: int, p: float = 0.5) -> None:
        super().__init__(p)
        self.bits = bits

    def _change(self, image: Any) -> Any:
        return changes.posterize(image, self.bits)


class RandomSolarize(_Chance):
    """Invert the pixels from ``threshold`` on with probability ``p``."""

    def __init__(self, threshold: float, p: float = 0.5) -> None:
        super().__init__(p)
        self.threshold = threshold

    def _change(self, image: Any) -> Any:
        return changes.solarize(image, self.threshold)


class RandomAdjustSharpness(_Chance):
    """Change the sharpness by a factor with probability ``p``."""

    def __init__(self, sharpness_factor: float, p: float = 0.5) -> None:
        super().__init__(p)
        self.sharpness_factor = sharpness_factor

    def _change(self, image: Any) -> Any:
        return changes.adjust_sharpness(image, self.sharpness_factor)


class FiveCrop(Transform):
    """Return the four corners and the middle as a tuple."""

    def __init__(self, size: Size) -> None:
        self.size = size

    def _apply(self, image: Any) -> Any:
        return changes.five_crop(image, self.size)


class TenCrop(Transform):
    """Return the four corners and the middle of the image and of its mirror image as a tuple."""

    def __init__(self, size: Size, vertical_flip: bool = False) -> None:
        self.size, self.vertical_flip = size, vertical_flip

    def _apply(self, image: Any) -> Any:
        return changes.ten_crop(image, self.size, self.vertical_flip)


class PILToTensor(Transform):
    """PIL image to a tensor (C, H, W) of the image's own type: nothing is scaled."""

    def _apply(self, image: Any) -> Any:
        return changes.pil_to_tensor(image)


class ToImage(Transform):
    """PIL image or array (H, W, C) to a tensor (C, H, W) of its own type."""

    def _apply(self, image: Any) -> Any:
        return changes.to_image(image)


class ToDtype(Transform):
    """Tensor to another type; with ``scale`` integers fill their range and floats are from 0 to 1."""

    def __init__(self, dtype: Any, scale: bool = False) -> None:
        self.dtype, self.scale = dtype, scale

    def _apply(self, image: Any) -> Any:
        return changes.to_dtype(image, self.dtype, self.scale)


class ConvertImageDtype(Transform):
    """Tensor to another type, its values scaled: integers fill their range, floats are from 0 to 1."""

    def __init__(self, dtype: Any = ms.float32) -> None:
        self.dtype = dtype

    def _apply(self, image: Any) -> Any:
        return changes.convert_image_dtype(image, self.dtype)


class AutoAugmentPolicy(enum.Enum):
    """The data set that a policy was learned on."""

    IMAGENET = "imagenet"
    CIFAR10 = "cifar10"
    SVHN = "svhn"


# Cubuk et al., 2019, appendix: pairs of operation, probability in tenths, strength from 0 to 9 (- where it has none).
# Sh: shear, Tr: translate along x or y; Ro: rotate, Br: brightness, Co: colour, Ct: contrast, Sp: sharpness,
# Po: posterize, So: solarize, Au: autocontrast, Eq: equalize, In: invert.
_POLICIES = {
    "imagenet": """
        Po48 Ro69|So65 Au6-|Eq8- Eq6-|Po67 Po66|Eq4- So24|Eq4- Ro88|So63 Eq6-|Po85 EqA-|Ro23 So68|Eq6- Po46|Ro88 Co40
        |Ro49 Eq6-|Eq0- Eq8-|In6- EqA-|Co64 CtA8|Ro88 CoA2|Co88 So87|Sp47 In6-|Sx65 EqA-|Co40 Eq6-|Eq4- So24|So65 Au6-
        |In6- EqA-|Co64 CtA8|Eq8- Eq6-
    """,
    "cifar10": """
        In1- Ct26|Ro72 Tx39|Sp81 Sp93|Sy58 Ty79|Au5- Eq9-|Sy27 Po37|Co43 Br67|Sp39 Br79|Eq6- Eq5-|Ct67 Sp65|Co77 Tx58
        |Eq3- Au4-|Ty43 Sp26|Br96 Co28|So52 In0-|Eq2- Au6-|Eq2- Eq6-|Co99 Eq6-|Au8- So28|Br13 Co70|So45 Au9-|Ty99 Ty79
        |Au9- So83|Eq8- In1-|Ty79 Au9-
    """,
    "svhn": """
        Sx94 In2-|Sy98 In7-|Eq6- So66|In9- Eq6-|Eq6- Ro93|Sx94 Au8-|Sy98 In4-|Sy95 So26|In9- Au8-|Eq6- Ro93|Sx94 So33
        |Sy88 In7-|Eq9- Ty66|In9- Eq6-|Ct33 Ro84|In8- Ty02|Sy76 So48|In6- Ro84|Sy37 Tx93|Sx16 In6-|So72 Ty67|Sy84 In8-
        |Sx79 Ty83|Sy85 Au7-|Sx72 In1-
    """,
}
_NAMES = {
    "Sx": "ShearX", "Sy": "ShearY", "Tx": "TranslateX", "Ty": "TranslateY", "Ro": "Rotate", "Br": "Brightness",
    "Co": "Color", "Ct": "Contrast", "Sp": "Sharpness", "Po": "Posterize", "So": "Solarize", "Au": "AutoContrast",
    "Eq": "Equalize", "In": "Invert",
}  # fmt: skip

_Step = Tuple[str, float, Optional[int]]


def _policy(text: str) -> List[List[_Step]]:
    """Return the pairs that a policy is written as above."""
    return [
        [
            (_NAMES[step[:2]], 1.0 if step[2] == "A" else int(step[2]) / 10, None if step[3] == "-" else int(step[3]))
            for step in pair.split()
        ]
        for pair in text.split("|")
    ]


def _steps(first: float, last: float, count: int) -> List[float]:
    """Return ``count`` float32 numbers at equal distances, rounded as PyTorch's linspace does."""
    width = (np.float32(last) - np.float32(first)) / np.float32(count - 1)
    half = count // 2
    rising = [np.float32(first) + width * np.float32(index) for index in range(half)]
    falling = [np.float32(last) - width * np.float32(count - 1 - index) for index in range(half, count)]
    return [float(value) for value in rising + falling]


_Space = Dict[str, Tuple[List[float], bool]]  # of each operation: its strengths, and whether their sign is drawn


def _space(
    bins: int, shear: float, move: Tuple[float, float], turn: float, change: float, bits: int, names: Sequence[str]
) -> _Space:
    """Return the operations ``names`` with their strengths; ``move``: the farthest along x and y, in pixels."""
    strengths: Dict[str, Tuple[List[float], bool]] = {
        "ShearX": (_steps(0.0, shear, bins), True),
        "ShearY": (_steps(0.0, shear, bins), True),
        "TranslateX": (_steps(0.0, move[0], bins), True),
        "TranslateY": (_steps(0.0, move[1], bins), True),
        "Rotate": (_steps(0.0, turn, bins), True),
        "Posterize": ([float(8 - round(index / ((bins - 1) / bits))) for index in range(bins)], False),
        "Solarize": (_steps(255.0, 0.0, bins), False),
    }
    for name in ("Brightness", "Color", "Contrast", "Sharpness"):
        strengths[name] = (_steps(0.0, change, bins), True)
    return {name: strengths.get(name, ([], False)) for name in names}


_ORDER = (
    "ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate", "Brightness", "Color", "Contrast", "Sharpness",
    "Posterize", "Solarize", "AutoContrast", "Equalize",
)  # fmt: skip


class _Policy(Transform):
    """Applies operations by name."""

    interpolation: Any
    fill: Any

    def _do(self, image: Any, name: str, strength: float) -> Any:
        if name.startswith(("Shear", "Translate")):
            slant = math.degrees(math.atan(strength)) if name.startswith("Shear") else 0.0
            move = 0 if name.startswith("Shear") else int(strength)
            shear, shift = ([slant, 0.0], [move, 0]) if name.endswith("X") else ([0.0, slant], [0, move])
            center = [0.0, 0.0] if name.startswith("Shear") else None
            return changes.affine(image, 0.0, shift, 1.0, shear, self.interpolation, self.fill, center)
        if name == "Rotate":
            return ops.rotate(image, strength, self.interpolation, fill=self.fill)
        by_factor = {
            "Brightness": ops.adjust_brightness,
            "Color": ops.adjust_saturation,
            "Contrast": ops.adjust_contrast,
            "Sharpness": changes.adjust_sharpness,
        }
        if name in by_factor:
            return by_factor[name](image, 1.0 + strength)
        if name == "Posterize":
            return changes.posterize(image, int(strength))
        if name == "Solarize":
            return changes.solarize(image, strength)
        plain = {"AutoContrast": changes.autocontrast, "Equalize": changes.equalize, "Invert": changes.invert}
        return plain[name](image) if name in plain else image


class AutoAugment(_Policy):
    """Apply two operations of a learned policy (Cubuk et al., 2019), for PIL images of mode L or RGB."""

    def __init__(
        self,
        policy: AutoAugmentPolicy = AutoAugmentPolicy.IMAGENET,
        interpolation: Any = InterpolationMode.NEAREST,
        fill: Any = None,
    ) -> None:
        self.policy, self.interpolation, self.fill = AutoAugmentPolicy(policy), interpolation, fill

    def _apply(self, image: Any) -> Any:
        draw = default_generator()
        pairs = _policy(_POLICIES[self.policy.value])
        chosen = pairs[draw.randint(0, len(pairs))]
        chances = [draw.rand(), draw.rand()]
        signs = [draw.randint(0, 2), draw.randint(0, 2)]
        width, height = ops.image_size(image)
        move = (150.0 / 331.0 * width, 150.0 / 331.0 * height)
        space = _space(10, 0.3, move, 30.0, 0.9, 4, (*_ORDER, "Invert"))
        for (name, chance, index), drawn, sign in zip(chosen, chances, signs):
            if drawn <= np.float32(chance):
                strengths, signed = space[name]
                strength = 0.0 if index is None else strengths[index]
                image = self._do(image, name, -strength if signed and sign == 0 else strength)
        return image


class RandAugment(_Policy):
    """Apply ``num_ops`` random operations of one strength (Cubuk et al., 2020), for PIL images of mode L or RGB."""

    def __init__(
        self,
        num_ops: int = 2,
        magnitude: int = 9,
        num_magnitude_bins: int = 31,
        interpolation: Any = InterpolationMode.NEAREST,
        fill: Any = None,
    ) -> None:
        self.num_ops, self.magnitude, self.num_magnitude_bins = num_ops, magnitude, num_magnitude_bins
        self.interpolation, self.fill = interpolation, fill

    def _apply(self, image: Any) -> Any:
        draw = default_generator()
        width, height = ops.image_size(image)
        move = (150.0 / 331.0 * width, 150.0 / 331.0 * height)
        space = _space(self.num_magnitude_bins, 0.3, move, 30.0, 0.9, 4, ("Identity", *_ORDER))
        for _ in range(self.num_ops):
            name = list(space)[draw.randint(0, len(space))]
            strengths, signed = space[name]
            strength = strengths[self.magnitude] if strengths else 0.0
            image = self._do(image, name, -strength if signed and draw.randint(0, 2) else strength)
        return image


class TrivialAugmentWide(_Policy):
    """Apply one random operation of a random strength (Müller and Hutter, 2021), for PIL images of mode L or RGB."""

    def __init__(
        self, num_magnitude_bins: int = 31, interpolation: Any = InterpolationMode.NEAREST, fill: Any = None
    ) -> None:
        self.num_magnitude_bins, self.interpolation, self.fill = num_magnitude_bins, interpolation, fill

    def _apply(self, image: Any) -> Any:
        draw = default_generator()
        space = _space(self.num_magnitude_bins, 0.99, (32.0, 32.0), 135.0, 0.99, 6, ("Identity", *_ORDER))
        name = list(space)[draw.randint(0, len(space))]
        strengths, signed = space[name]
        strength = strengths[draw.randint(0, len(strengths))] if strengths else 0.0
        return self._do(image, name, -strength if signed and draw.randint(0, 2) else strength)
