"""Renaming what a project names changes nothing but these names in its translation."""

from __future__ import annotations

from operator import itemgetter

import pytest

from tests.properties.renaming import changes_by_renaming, differences, own_names, renamed
from tests.properties.sources import PACKAGES, package_files, python_of, sources
from tests.sampling import sampled

SEED = "renaming"


def _check(files: dict[str, str], name: str) -> None:
    own = python_of(files)
    for misleading in (False, True):
        assert not changes_by_renaming(own, f"{SEED}{name}{misleading}", misleading=misleading)


GOLDENS = dict(sources("golden"))


@pytest.mark.parametrize("name", GOLDENS)
def test_names_in_goldens(name: str) -> None:
    _check(GOLDENS[name], name)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["programs", "cases"])
def test_names_in_programs(kind: str) -> None:
    for name, files in sampled(sources(kind), 4, name=itemgetter(0)):  # `make fuzz` renames more
        _check(files, name)


@pytest.mark.slow
@pytest.mark.parametrize("package", ["timm", "torchvision"])
def test_names_in_packages(package: str) -> None:
    if not (PACKAGES / package).is_dir():
        pytest.skip(f"the source of {package} is not unpacked")
    for name, files in package_files(package, 8, 1):
        _check(files, name)


def test_names_that_may_be_an_apis_are_let_alone() -> None:
    source = (
        "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self, width):\n"
        "        super().__init__()\n        self.fc = nn.Linear(width, bias=True)\n\n"
        "    def forward(self, x, weight):\n"
        "        return self.fc(x).sum(dim=0) + self.training\n\n\nnet = Net(width=3)\nprint('fc.weight', net.eval())\n"
    )
    assert own_names({"a.py": source}) == ["Net", "net", "width", "x"]


def test_names_change_in_strings_with_expressions_only() -> None:
    source = "x = 1\nprint(f'x is {x:>3}', 'x', x)\n"
    assert renamed(source, {"x": "long_name"}) == (
        "long_name = 1\nprint(f'long_name is {long_name:>3}', 'x', long_name)\n"
    )


def test_a_difference_is_found() -> None:
    before = "import torch\nmask = torch.ones(2)\nprint(mask)\n", "mask = ops.ones(2)\nprint(mask)\n"
    after = "import torch\nv1 = torch.ones(2)\nprint(v1)\n", "v1 = ops.ones(2)\nprint(v1)\n"
    assert not differences(before, after, {"mask": "v1"})
    assert differences(before, (after[0], "v1 = ops.zeros(2)\nprint(v1)\n"), {"mask": "v1"})
    assert differences(before, (after[0], "v1 = ops.ones(2)\n"), {"mask": "v1"})
