"""What all tests share: bounded threads, the example, sources of real packages, and trees of files."""

from __future__ import annotations

import os

# Before anything imports torch or mindspore: few threads, and no reference convolutions of oneDNN on AVX-512 machines.
os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX2")

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import hypothesis
import pytest

# The same examples in every run, and no clock: a slow machine is no failure.
hypothesis.settings.register_profile("torch2ms", derandomize=True, deadline=None)
hypothesis.settings.load_profile("torch2ms")

ROOT = Path(__file__).resolve().parent.parent
Tree = Mapping[str, "str | bytes"]


@pytest.fixture(scope="session", autouse=True)
def _no_translation_is_kept() -> Iterator[None]:
    """Have every test translate anew; those of the cache itself turn it on."""
    from torch2ms.translator.output import cache

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "key_of", lambda *given: None)
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files with most slow tests first: the last ones are short, and no process waits long for another."""
    slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
    items.sort(key=lambda item: -slow[item.path])


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def example() -> Path:
    """The PyTorch program that the main job translates."""
    return ROOT / "examples" / "resnet50_cifar10"


@pytest.fixture(scope="session")
def corpus() -> Callable[[str], Path]:
    """Return the folder of an unpacked package ("torchvision", "timm"), or skip the test."""

    def find(name: str) -> Path:
        given = os.environ.get("TORCH2MS_CORPUS")
        for folder in (Path(given) if given else None, ROOT / ".venv" / "corpus"):
            if folder is not None and (folder / name).is_dir():
                return folder / name
        pytest.skip(f"the source of {name} is not here; `make corpus` unpacks it")

    return find


@pytest.fixture
def make_tree(tmp_path: Path) -> Callable[..., Path]:
    """Write files below a new folder of the test's own and return the folder."""

    def make(files: Tree, name: str = "src") -> Path:
        root = tmp_path / name
        root.mkdir()
        for path, content in files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)
        return root

    return make
