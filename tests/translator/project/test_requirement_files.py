"""Files that state requirements: torch's entries become those of OUT, everything else stays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from torch2ms.translator.pipeline import translate_project
from torch2ms.translator.project.requirement_files import is_requirement_file, translate_requirements

MakeTree = Callable[..., Path]
NEEDS = {"mindspore": "mindspore>=2.10", "numpy": "numpy>=1.25,<2", "pillow": "pillow"}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("requirements.txt", True),
        ("a/requirements-dev.txt", True),
        ("requirements/base.txt", True),
        ("test_requirements.txt", True),
        ("setup.py", True),
        ("pyproject.toml", True),
        ("notes.txt", False),
        ("requirements.md", False),
    ],
)
def test_names(path: str, expected: bool) -> None:
    assert is_requirement_file(path) is expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("torch\n", "mindspore>=2.10\nnumpy>=1.25,<2\npillow\n"),
        (
            "# needs torch\ntorch>=1.0,<2  # CUDA\ntorchvision==0.8\ntqdm\nnumpy\n",
            "# needs torch\nmindspore>=2.10  # CUDA\npillow\ntqdm\nnumpy>=1.25,<2\n",
        ),
        ("torch\ntorchvision\nPillow>=8\n", "mindspore>=2.10\nPillow>=8\nnumpy>=1.25,<2\n"),
        ("torchtext\ntorch\n", "torchtext\nmindspore>=2.10\nnumpy>=1.25,<2\npillow\n"),
        ("tqdm\nnumpy\n", "tqdm\nnumpy\n"),
        ("-e git+https://x/torch\n", "-e git+https://x/torch\n"),
    ],
)
def test_lines(before: str, after: str) -> None:
    assert translate_requirements("requirements.txt", before, NEEDS) == after
    assert translate_requirements("requirements.txt", after, NEEDS) == after


def test_the_requirements_of_the_root_name_all_that_is_needed() -> None:
    text = translate_requirements("requirements.txt", "tqdm\n", NEEDS, add=True)
    assert text == "tqdm\nmindspore>=2.10\nnumpy>=1.25,<2\npillow\n"
    assert translate_requirements("requirements.txt", text, NEEDS, add=True) == text


SETUP = """\
from setuptools import setup

NAMES = ["torch"]
REQUIRED = [
    "torch>=1.0",  # é
    'numpy', "torchvision", "tqdm",
]
setup(name="torch", packages=["torch"], install_requires=REQUIRED, extras_require={"dev": ["pytest", "torch==1.1"]})
"""


def test_setup() -> None:
    expected = SETUP.replace('"torch>=1.0"', '"mindspore>=2.10"').replace("'numpy'", "'numpy>=1.25,<2'")
    expected = expected.replace('"torchvision"', '"pillow"').replace('"torch==1.1"', '"mindspore>=2.10"')
    assert translate_requirements("setup.py", SETUP, NEEDS) == expected


def test_pyproject() -> None:
    text = (
        '[project]\nname = "torch"\ndependencies = [\n  "torch[opt]>=2",  # why\n  "tqdm",\n]\nkeywords = ["torch"]\n'
    )
    after = text.replace('"torch[opt]>=2"', '"mindspore>=2.10"')
    assert translate_requirements("pyproject.toml", text, NEEDS) == after


def test_setup_cfg() -> None:
    text = "[options]\ninstall_requires =\n    torch>=1\n    tqdm\n[x]\ntorch = 1\n"
    assert translate_requirements("setup.cfg", text, NEEDS) == text.replace("torch>=1", "mindspore>=2.10")


def test_a_project(make_tree: MakeTree, tmp_path: Path) -> None:
    tree = {
        "requirements.txt": "tqdm\r\ntorch\r\n",
        "a/setup.py": SETUP,
        "main.py": "import torch\n\nx = torch.ones(2)\n",
    }
    report = translate_project(make_tree(tree), tmp_path / "out")
    assert (
        tmp_path / "out/requirements.txt"
    ).read_bytes() == b"tqdm\r\nmindspore>=2.10\r\nnumpy>=1.25,<2\r\npillow\r\n"
    assert '"mindspore>=2.10",  # é' in (tmp_path / "out/a/setup.py").read_text(encoding="utf-8")
    status = {file.path: file.status for file in report.files}
    assert (status["requirements.txt"], status["a/setup.py"]) == ("translated", "translated")
