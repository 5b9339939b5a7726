"""``timm.data.create_transform`` against timm's own: the same pixels from the same random numbers."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from torch2ms.runtime import seed
from torch2ms.runtime.timm_parts.augment import rand_augment_transform
from torch2ms.runtime.timm_parts.transforms import RandomErasing, create_transform

SETTINGS: dict[str, dict[str, Any]] = {
    "evaluation": {"input_size": 32, "interpolation": "bicubic"},
    "squashed": {"input_size": (3, 24, 32), "crop_mode": "squash", "crop_pct": 0.9},
    "plain": {"input_size": 32, "is_training": True, "no_aug": True},
    "training": {"input_size": 32, "is_training": True, "interpolation": "random", "vflip": 0.5},
    "deit": {
        "input_size": 32,
        "is_training": True,
        "color_jitter": 0.3,
        "auto_augment": "rand-m9-mstd0.5-inc1",
        "interpolation": "bicubic",
        "re_prob": 0.5,
        "re_count": 2,
    },
    "weighted": {"input_size": 32, "is_training": True, "auto_augment": "rand-m7-n3-p0.7-tweights"},
    "usual": {"is_training": True, "auto_augment": "rand-m12-mmax15-mstd101", "interpolation": "random"},
    "3a": {"input_size": 32, "is_training": True, "auto_augment": "rand-m6-t3aw", "color_jitter": 0.2},
    "raw": {"input_size": 32, "is_training": True, "normalize": False, "color_jitter": None},
}
TRIES = 12

THEIRS = """
import random, sys
import numpy as np, torch
from PIL import Image
library = torch.library.Library("torchvision", "DEF")  # its compiled operators are not there
for name in ("nms", "qnms"):
    library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
from timm.data import create_transform
from timm.data.random_erasing import RandomErasing
settings, tries, path = eval(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
picture = Image.fromarray(np.random.RandomState(5).randint(0, 256, (48, 60, 3), np.uint8).repeat(2, 0))
found = {}
for name, chosen in settings.items():
    random.seed(3); np.random.seed(4); torch.manual_seed(5)
    transform = create_transform(**chosen)
    found[name] = np.stack([transform(picture).numpy() for _ in range(tries)])
random.seed(1)
batch = torch.arange(4 * 3 * 16 * 16, dtype=torch.float32).reshape(4, 3, 16, 16)
RandomErasing(0.9, max_count=3, num_splits=2, device="cpu")(batch)
np.savez(path, erased=batch.numpy(), **found)
"""


def picture() -> Image.Image:
    return Image.fromarray(np.random.RandomState(5).randint(0, 256, (48, 60, 3), np.uint8).repeat(2, 0))


@pytest.mark.corpus
@pytest.mark.slow
def test_pixels_are_timms(corpus: Callable[[str], Path], tmp_path: Path) -> None:
    path = tmp_path / "theirs.npz"
    folders = os.pathsep.join(str(corpus(name).parent) for name in ("timm", "torchvision"))
    command = [sys.executable, "-c", THEIRS, repr(SETTINGS), str(TRIES), str(path)]
    environment = {**os.environ, "PYTHONPATH": folders}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    theirs = np.load(path)
    for name, chosen in SETTINGS.items():
        random.seed(3)
        np.random.seed(4)
        seed.manual_seed(5)
        transform = create_transform(**chosen)
        ours = np.stack([transform(picture()).asnumpy() for _ in range(TRIES)])
        np.testing.assert_allclose(ours, theirs[name], atol=2e-6, err_msg=name)
    random.seed(1)
    batch = np.arange(4 * 3 * 16 * 16, dtype=np.float32).reshape(4, 3, 16, 16)
    np.testing.assert_array_equal(RandomErasing(0.9, max_count=3, num_splits=2)(batch), theirs["erased"])


def test_parts_are_returned_apart_and_can_be_exchanged() -> None:
    first, second, last = create_transform(32, is_training=True, separate=True)
    assert [type(part).__name__ for part in first.transforms] == [
        "RandomResizedCropAndInterpolation",
        "RandomHorizontalFlip",
    ]
    assert [type(part).__name__ for part in (*second.transforms, *last.transforms)] == [
        "ColorJitter",
        "ToTensor",
        "Normalize",
    ]


@pytest.mark.parametrize(
    "chosen", [{"auto_augment": "augmix-m5-w4-d2"}, {"train_crop_mode": "rkrr"}, {"auto_augment": "original-mstd0.5"}]
)
def test_other_policies_are_refused(chosen: dict[str, Any]) -> None:
    with pytest.raises(NotImplementedError):
        create_transform(32, is_training=True, **chosen)


@pytest.mark.parametrize("text", ["rand-m9-x3", "rand-m", "original"])
def test_texts_that_describe_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"RandAugment"):
        rand_augment_transform(text)
