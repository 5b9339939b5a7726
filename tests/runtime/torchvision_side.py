"""Torchvision's own transforms, from its unpacked source, on the images of ``cases.json``; run in a process of its own.

python torchvision_side.py SOURCE FOLDER

The package's ``__init__`` loads compiled operators that no build without CUDA has; transforms and utils do not need it.
"""

from __future__ import annotations

import io
import json
import random
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image


def load(source: str) -> dict[str, Any]:
    """Return the modules that the cases name."""
    package = types.ModuleType("torchvision")
    package.__path__ = [source]
    sys.modules["torchvision"] = package
    import torchvision.transforms
    import torchvision.transforms.functional
    import torchvision.transforms.v2
    import torchvision.utils

    return {
        "T": torchvision.transforms,
        "A": torchvision.transforms,
        "F": torchvision.transforms.functional,
        "C": torchvision.transforms.functional,
        "V": torchvision.transforms.v2,
        "V2": torchvision.transforms.v2,
        "U": torchvision.utils,
        "torch": torch,
        "saved": saved,
    }


def saved(function: Any, *args: Any, **options: Any) -> Image.Image:
    """Return the picture that a function writes."""
    stream = io.BytesIO()
    function(*args, stream, format="png", **options)
    return Image.open(stream)


def arrays(value: Any) -> list[np.ndarray[Any, Any]]:
    """Return a result as arrays."""
    if isinstance(value, tuple | list):
        return [array for part in value for array in arrays(part)]
    if isinstance(value, Image.Image):
        return [np.asarray(value)]
    return [value.numpy() if isinstance(value, torch.Tensor) else np.asarray(value)]


def main() -> None:
    folder = Path(sys.argv[2])
    scope = load(sys.argv[1])
    images = dict(np.load(folder / "images.npz"))
    found: dict[str, Any] = {}
    for number, (case, kind, seed) in enumerate(json.loads((folder / "cases.json").read_text())):
        array = images[kind]
        scope["x"] = Image.fromarray(array) if kind in ("colour", "grey") else torch.from_numpy(array.copy())
        torch.manual_seed(seed)
        random.seed(seed)
        try:
            results = arrays(eval(case, dict(scope)))
        except Exception as error:
            raise ValueError(f"{case} on {kind}") from error
        found.update((f"{number}.{index}", result) for index, result in enumerate(results))
    np.savez(folder / "theirs.npz", **found)


if __name__ == "__main__":
    main()
