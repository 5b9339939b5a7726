"""torchvision's own models, translated from their source and compared with PyTorch: no line is edited by hand.

torchvision itself cannot be imported here. Its model files are, from a package that holds them and what they import;
three of those imports are stood in for, because they lead to code that no model's computation needs (presets of
transforms, downloads, a usage log). Both sides get the same stand-ins.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from torch2ms import translate_project
from torch2ms.verify import verify

pytestmark = [pytest.mark.corpus, pytest.mark.slow]

MODELS = ("resnet", "vgg", "alexnet", "squeezenet", "mobilenetv2", "densenet", "_api", "_meta", "_utils")
STAND_INS = {
    "__init__.py": "",
    "models/__init__.py": "",
    "transforms/__init__.py": "",
    "transforms/_presets.py": (
        "class ImageClassification:\n    def __init__(self, **kwargs):\n        self.kwargs = kwargs\n"
    ),
    "_internally_replaced_utils.py": (
        "def load_state_dict_from_url(url, *args, **kwargs):\n    raise RuntimeError('no downloads')\n"
    ),
    "utils.py": (
        "def _log_api_usage_once(obj):\n    return None\n\n\n"
        "def _make_ntuple(x, n):\n    return tuple(x) if isinstance(x, (tuple, list)) else (x,) * n\n"
    ),
    "ops/__init__.py": "",
}


@pytest.fixture(scope="module")
def translated(corpus: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a folder with the package ``vision`` and its translation."""
    found = corpus("torchvision")
    source = found / "torchvision" if (found / "torchvision").is_dir() else found
    folder = tmp_path_factory.mktemp("torchvision")
    package = folder / "src" / "vision"
    for path, text in STAND_INS.items():
        (package / path).parent.mkdir(parents=True, exist_ok=True)
        (package / path).write_text(text)
    for name in MODELS:
        shutil.copy(source / "models" / f"{name}.py", package / "models")
    shutil.copy(source / "ops" / "misc.py", package / "ops")
    shutil.copy(source / "_utils.py", package)
    translate_project(folder / "src", folder / "out")
    return folder / "src", folder / "out"


@pytest.mark.parametrize("model", ["resnet18", "resnet50", "resnext50_32x4d", "wide_resnet50_2"])
def test_resnets_compute_the_same(translated: tuple[Path, Path], model: str) -> None:
    source, output = translated
    report = verify(
        source,
        output,
        entry=f"vision.models.resnet:{model}",
        inputs=["2x3x64x64"],
        gradients=False,
        graph=False,
        seeds=(1,),
        tolerance=2e-6,
    )
    assert report.passed, report.to_text()


@pytest.mark.parametrize(
    "entry",
    ["vgg:vgg11_bn", "alexnet:alexnet", "squeezenet:squeezenet1_1", "mobilenetv2:mobilenet_v2", "densenet:densenet121"],
)
def test_other_families_compute_the_same(translated: tuple[Path, Path], entry: str) -> None:
    source, output = translated
    report = verify(
        source,
        output,
        entry=f"vision.models.{entry}",
        inputs=["1x3x64x64"],
        gradients=False,
        graph=False,
        seeds=(1,),
    )
    assert report.passed, report.to_text()
