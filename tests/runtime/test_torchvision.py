"""Transforms and pictures against torchvision's own code: same pixels, and from equal seeds the same draws."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
import pytest
from PIL import Image

from tests.sampling import WHOLE
from torch2ms.runtime import augmentations, image_changes, image_grids, seed, transforms
from torch2ms.runtime.transforms import functional

# The images: RGB and grey of odd sizes, a tensor as ToTensor gives it
RANDOM = np.random.RandomState(5)
SMOOTH = (np.add.outer(np.arange(37) * 5, np.arange(52) * 2)[..., None] + np.array([0, 60, 120])) % 256
IMAGES = {
    "colour": ((SMOOTH + RANDOM.randint(0, 40, (37, 52, 3))) // 2).astype(np.uint8),
    "grey": RANDOM.randint(20, 200, (31, 26)).astype(np.uint8),
    "tensor": RANDOM.rand(3, 24, 30).astype(np.float32),
    "batch": (RANDOM.rand(5, 3, 8, 9) * 3 - 1).astype(np.float32),
    "digits": RANDOM.rand(7, 1, 6, 6).astype(np.float32),
}
PICTURES = ("colour", "grey")
BOTH = ("colour", "grey", "tensor")

# Expressions of x; T, V: transforms (V: torchvision.transforms.v2), A: augmentations, F, C: functions, U: grids
FIXED = {
    "T.Resize(20)(x)": PICTURES,
    "T.Resize((18, 40), T.InterpolationMode.BICUBIC)(x)": PICTURES,
    "T.Resize(30, max_size=40)(x)": PICTURES,
    "T.Resize(60, T.InterpolationMode.NEAREST)(x)": PICTURES,
    "T.CenterCrop(21)(x)": BOTH,
    "T.CenterCrop((50, 60))(x)": BOTH,
    "T.Pad((1, 2, 3, 4), fill=7)(x)": PICTURES,
    "T.Pad(3, padding_mode='reflect')(x)": BOTH,
    "T.Pad(2, padding_mode='edge')(x)": BOTH,
    "T.Pad([2, 3], padding_mode='symmetric')(x)": BOTH,
    "T.Grayscale()(x)": BOTH,
    "T.Grayscale(3)(x)": PICTURES,
    "T.ToTensor()(x)": PICTURES,
    "T.ToPILImage()(T.ToTensor()(x))": PICTURES,
    "T.ToPILImage()(x)": ("tensor",),
    "T.Normalize((0.4, 0.5, 0.6), (0.2, 0.3, 0.25))(x)": ("tensor",),
    "T.Compose([T.Resize(30), T.ToTensor(), T.Lambda(lambda t: t * 2), T.Normalize([0.5], [0.5])])(x)": PICTURES,
    "F.hflip(x)": BOTH,
    "F.vflip(x)": BOTH,
    "F.crop(x, 3, 4, 15, 12)": BOTH,
    "F.crop(x, -2, 5, 50, 40)": BOTH,
    "F.rotate(x, 33, expand=True, fill=9)": PICTURES,
    "F.rotate(x, -20.5, T.InterpolationMode.BILINEAR, center=(3, 7))": PICTURES,
    "F.adjust_brightness(x, 1.4)": PICTURES,
    "F.adjust_contrast(x, 0.3)": PICTURES,
    "F.adjust_saturation(x, 2.2)": PICTURES,
    "F.adjust_hue(x, 0.2)": PICTURES,
    "F.adjust_hue(x, -0.35)": PICTURES,
    "F.pad(x, [1, 2], 5)": PICTURES,
    "C.affine(x, 20.0, [3, -2], 1.2, [5.0, -8.0])": PICTURES,
    "C.affine(x, -70.0, [0, 0], 0.6, 12.0, T.InterpolationMode.BILINEAR, fill=100, center=[5, 6])": PICTURES,
    "C.perspective(x, [[0, 0], [25, 0], [25, 25], [0, 25]], [[2, 3], [20, 1], [24, 22], [1, 23]])": PICTURES,
    "C.invert(x)": PICTURES,
    "C.posterize(x, 3)": PICTURES,
    "C.solarize(x, 120)": PICTURES,
    "C.autocontrast(x)": PICTURES,
    "C.equalize(x)": PICTURES,
    "C.adjust_sharpness(x, 0.2)": PICTURES,
    "C.adjust_gamma(x, 1.7, 0.9)": PICTURES,
    "C.resized_crop(x, 2, 3, 20, 17, [12, 14])": PICTURES,
    "C.five_crop(x, 11)": BOTH,
    "C.ten_crop(x, (9, 12), vertical_flip=True)": BOTH,
    "C.pil_to_tensor(x)": PICTURES,
    "C.gaussian_blur(x, 5)": BOTH,
    "C.gaussian_blur(x, [3, 7], [0.7, 1.9])": BOTH,
    "C.convert_image_dtype(C.pil_to_tensor(x))": PICTURES,
    "C.convert_image_dtype(C.pil_to_tensor(x), torch.int32)": PICTURES,
    "C.convert_image_dtype(x, torch.uint8)": ("tensor",),
    "A.TenCrop(10)(x)": BOTH,
    "V.Compose([V2.ToImage(), V2.ToDtype(torch.float32, scale=True), V.Normalize([0.5], [0.2])])(x)": BOTH,
    "V.Compose([V2.ToImage(), V.RandomHorizontalFlip(1.0), V2.ToDtype(torch.float32)])(x)": PICTURES,
    "U.make_grid(x)": ("tensor", "batch", "digits"),
    "U.make_grid(x, nrow=3, padding=1, normalize=True, pad_value=0.5)": ("batch", "digits"),
    "U.make_grid(x, nrow=2, normalize=True, scale_each=True)": ("batch",),
    "U.make_grid(x, 4, normalize=True, value_range=(-1, 1))": ("batch",),
    "U.make_grid([x[0], x[1], x[2]])": ("batch", "digits"),
    "saved(U.save_image, x)": ("tensor", "batch", "digits"),
    "saved(U.save_image, x, nrow=3, normalize=True)": ("batch",),
}  # fmt: skip
DRAWN = {
    "T.RandomCrop(20, padding=4)(x)": BOTH,
    "T.RandomCrop((44, 60), pad_if_needed=True, padding_mode='reflect')(x)": PICTURES,
    "T.RandomHorizontalFlip()(x)": BOTH,
    "T.RandomVerticalFlip(0.3)(x)": BOTH,
    "T.RandomResizedCrop(16)(x)": PICTURES,
    "T.RandomResizedCrop((20, 12), (0.3, 1), (0.5, 2), T.InterpolationMode.BICUBIC)(x)": PICTURES,
    "T.RandomRotation(25)(x)": PICTURES,
    "T.RandomRotation((10, 80), T.InterpolationMode.BILINEAR, expand=True, fill=3)(x)": PICTURES,
    "T.ColorJitter(0.4, 0.3, 0.5, 0.2)(x)": PICTURES,
    "T.ColorJitter(brightness=(0.5, 0.9), hue=(-0.1, 0.3))(x)": PICTURES,
    "T.RandomGrayscale(0.5)(x)": PICTURES,
    "T.RandomErasing(0.8)(x)": ("tensor",),
    "T.RandomErasing(1.0, scale=(0.1, 0.2), value=(0.1, 0.2, 0.3))(x)": ("tensor",),
    "T.RandomApply([T.RandomRotation(90)], p=0.5)(x)": PICTURES,
    "A.RandomAffine(30)(x)": PICTURES,
    "F.crop(x, *T.RandomCrop.get_params(x, output_size=(9, 12)))": BOTH,
    "F.crop(x, *T.RandomResizedCrop.get_params(x, (0.3, 0.9), (0.5, 2.0)))": PICTURES,
    "F.rotate(x, T.RandomRotation.get_params([-30, 60]))": PICTURES,
    "C.affine(x, *A.RandomAffine.get_params((-5, 5), (0.2, 0.1), (0.8, 1.5), (-3, 9), x.size))": PICTURES,
    "A.RandomAffine((5, 40), (0.2, 0.3), (0.7, 1.4), 10, T.InterpolationMode.BILINEAR, fill=50)(x)": PICTURES,
    "A.RandomAffine(0, shear=(-5, 5, 10, 20), center=(4, 9))(x)": PICTURES,
    "A.RandomPerspective(0.6, p=0.7)(x)": PICTURES,
    "A.GaussianBlur(5)(x)": BOTH,
    "A.RandomInvert()(x)": PICTURES,
    "A.RandomPosterize(2)(x)": PICTURES,
    "A.RandomSolarize(100, 0.6)(x)": PICTURES,
    "A.RandomAutocontrast()(x)": PICTURES,
    "A.RandomEqualize()(x)": PICTURES,
    "A.RandomAdjustSharpness(3)(x)": PICTURES,
    "A.AutoAugment()(x)": PICTURES,
    "A.AutoAugment(A.AutoAugmentPolicy.CIFAR10, fill=20)(x)": PICTURES,
    "A.AutoAugment(A.AutoAugmentPolicy.SVHN, T.InterpolationMode.BILINEAR)(x)": PICTURES,
    "A.RandAugment()(x)": PICTURES,
    "A.RandAugment(3, 14, fill=8)(x)": PICTURES,
    "A.TrivialAugmentWide()(x)": PICTURES,
    "V.RandomResizedCrop(16)(x)": PICTURES,
    "V.RandomHorizontalFlip(0.4)(x)": PICTURES,
    "V.RandomRotation(30)(x)": PICTURES,
    "V.ColorJitter(0.4, 0.3, 0.5, 0.2)(x)": PICTURES,
    "V.RandomCrop(20, padding=2)(x)": PICTURES,
    "V.Compose([V.Resize(25), V.CenterCrop(20), V.RandomGrayscale(0.4), V.RandomVerticalFlip()])(x)": PICTURES,
}  # fmt: skip


def saved(function: Any, *args: Any, **options: Any) -> Image.Image:
    """Return the picture that a function writes."""
    stream = io.BytesIO()
    function(*args, stream, format="png", **options)
    return Image.open(stream)


SEEDS = range(12 if WHOLE else 5)
MINE: dict[str, Any] = {
    "T": transforms, "V": transforms, "V2": augmentations, "A": augmentations, "F": functional, "C": image_changes,
    "U": image_grids, "torch": ms, "saved": saved,
}  # fmt: skip
CASES = [(case, kind, 0) for case, kinds in FIXED.items() for kind in kinds]
CASES += [(case, kind, number) for case, kinds in DRAWN.items() for kind in kinds for number in SEEDS]


def arrays(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return [array for part in value for array in arrays(part)]
    return [value.asnumpy() if isinstance(value, ms.Tensor) else np.asarray(value)]


@pytest.fixture(scope="module")
def theirs(corpus: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("torchvision")
    np.savez(folder / "images.npz", **IMAGES)
    (folder / "cases.json").write_text(json.dumps(CASES))
    worker = Path(__file__).with_name("torchvision_side.py")
    source = corpus("torchvision")
    source = source / "torchvision" if (source / "torchvision").is_dir() else source
    command = [sys.executable, str(worker), str(source), str(folder)]
    place = {**os.environ, "OMP_NUM_THREADS": "2"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=place)
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(np.load(folder / "theirs.npz"))


@pytest.mark.slow
@pytest.mark.corpus
@pytest.mark.parametrize("case", [*FIXED, *DRAWN])
def test_pixels_are_torchvisions(case: str, theirs: dict[str, Any]) -> None:
    for number, (text, kind, first) in enumerate(CASES):
        if text != case:
            continue
        seed.set_seed(first)
        image = Image.fromarray(IMAGES[kind]) if kind in PICTURES else ms.Tensor(IMAGES[kind])
        ours = arrays(eval(case, {**MINE, "x": image}))
        assert f"{number}.{len(ours) - 1}" in theirs, "more results than torchvision's"
        assert f"{number}.{len(ours)}" not in theirs, "fewer results than torchvision's"
        for index, array in enumerate(ours):
            expected = theirs[f"{number}.{index}"]
            assert (array.shape, array.dtype) == (expected.shape, expected.dtype)
            exact = array.dtype.kind in "iu" and "blur" not in case.lower()
            np.testing.assert_allclose(
                array, expected, rtol=0, atol=0 if exact else 1 if array.dtype == np.uint8 else 2e-6
            )


def test_a_grid_takes_the_range_of_older_releases() -> None:
    images = ms.Tensor(np.linspace(-2, 2, 24, dtype=np.float32).reshape(2, 3, 2, 2))
    new = image_grids.make_grid(images, normalize=True, value_range=(-1, 1)).asnumpy()
    np.testing.assert_array_equal(image_grids.make_grid(images, normalize=True, range=(-1, 1)).asnumpy(), new)
    with pytest.raises(TypeError, match="scale"):
        image_grids.make_grid(images, scale=True)
