"""No call of a project's own goes: what is called before is called after, or a diagnostic names it."""

from __future__ import annotations

from dataclasses import replace
from operator import itemgetter

import pytest

from tests.golden.snapshots import translate_files
from tests.properties.sources import PACKAGES, package_files, python_of, sources
from tests.properties.survival import lost_calls
from tests.sampling import sampled

GOLDENS = dict(sources("golden"))


@pytest.mark.parametrize("name", GOLDENS)
def test_goldens_lose_no_call(name: str) -> None:
    assert not lost_calls(translate_files(python_of(GOLDENS[name])))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["programs", "cases"])
def test_programs_lose_no_call(kind: str) -> None:
    for name, files in sampled(sources(kind), 3, name=itemgetter(0)):
        assert not lost_calls(translate_files(files)), name


@pytest.mark.slow
@pytest.mark.parametrize("package", ["timm", "torchvision"])
def test_packages_lose_no_call(package: str) -> None:
    if not (PACKAGES / package).is_dir():
        pytest.skip(f"the source of {package} is not unpacked")
    for name, files in package_files(package, 15, 2):
        assert not lost_calls(translate_files(files)), name


SOURCE = """import torch


def train(net: torch.nn.Module, batches, opt: torch.optim.Optimizer, meter, log):
    for x, y in batches:
        opt.zero_grad()
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        opt.step()
        meter.note(loss.item())
        log(meter)


class Meter:
    def update(self, value):
        print(value)


def show(meter, x):
    meter.update(x)
    x.contiguous()
"""


@pytest.mark.parametrize("lost", ["        meter.note(loss.item())\n", "        log(meter)\n", "    meter.update(x)\n"])
def test_a_lost_call_is_found(lost: str) -> None:
    report = translate_files({"a.py": SOURCE})
    assert not lost_calls(report)
    file = report.files[0]
    assert lost in (file.output or "")
    without = replace(report, files=(replace(file, output=(file.output or "").replace(lost, "")),))
    assert [name for _, _, name in lost_calls(without)] == [lost.strip().partition("(")[0]]
