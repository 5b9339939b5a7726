"""The promises on the sources of real packages (``make corpus`` unpacks them; TORCH2MS_CORPUS names another folder).

Entire packages are translated as they are: imported by their own ``__init__``, networks are built and trained. Each by
itself, where imports of the other are the tables' business, is a sample of its files.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.properties.promises import lost_comments, torch_imports
from tests.sampling import sampled
from torch2ms.diagnostics import Diagnostic, Severity
from torch2ms.reports.model import FileReport, Report
from torch2ms.translator.pipeline import translate_project

pytestmark = [pytest.mark.corpus, pytest.mark.slow]


ENTIRE = ("torchvision", "timm")
TRAIN = """
import numpy as np
import timm
import torch
import torchvision

model = timm.create_model("test_vit", num_classes=3, img_size=32)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
x = torch.from_numpy(np.random.RandomState(0).randn(4, 3, 32, 32).astype(np.float32))
y = torch.tensor([0, 1, 2, 0])
losses = []
for _ in range(4):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0], losses
net = torchvision.models.resnet18(num_classes=3)
assert net(x).shape == (4, 3)
print("trained", len(timm.list_models()) > 1000, len(torchvision.models.list_models()) > 100)
"""
DETECT = """
import numpy as np
import torch
import torchvision
from torch import nn
from torchvision.models.detection import FasterRCNN
from torchvision.models.detection.anchor_utils import AnchorGenerator

torch.manual_seed(0)
backbone = nn.Sequential(nn.Conv2d(3, 8, 3, 4, 1), nn.ReLU())
backbone.out_channels = 8
anchors = AnchorGenerator(sizes=((16, 32),), aspect_ratios=((0.5, 1.0),))
pooler = torchvision.ops.MultiScaleRoIAlign(featmap_names=["0"], output_size=3, sampling_ratio=2)
model = FasterRCNN(backbone, num_classes=3, rpn_anchor_generator=anchors, box_roi_pool=pooler, min_size=48, max_size=64)
model.eval()
with torch.no_grad():
    found = model([torch.rand(3, 40, 50), torch.rand(3, 48, 48)])
for item in found:
    assert item["boxes"].shape[1] == 4 and len(item["labels"]) == len(item["scores"]) == len(item["boxes"])
    assert len(item["boxes"]) and np.isfinite(item["boxes"].numpy()).all()

boxes = torch.tensor([[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.9], [5.0, 5.0, 6.0, 9.0]])
scores = torch.tensor([0.5, 0.9, 0.7])
assert torchvision.ops.nms(boxes, scores, 0.5).tolist() == [1, 2]
assert torchvision.ops.batched_nms(boxes, scores, torch.tensor([0, 1, 0]), 0.5).tolist() == [1, 2, 0]
x, rois = torch.arange(60.0).reshape(1, 2, 5, 6), torch.tensor([[0.0, 1.0, 1.0, 5.0, 4.0]])
plain = np.arange(60.0).reshape(2, 5, 6)
aligned = torchvision.ops.roi_align(x, rois, (1, 2), 1.0, 1, True).numpy()[0, :, 0]
assert np.allclose(aligned, [[plane[2, 1:3].mean(), plane[2, 3:5].mean()] for plane in plain])
pooled = torchvision.ops.roi_pool(x, rois, (1, 2)).numpy()[0, :, 0]
assert np.allclose(pooled, [[plane[1:5, 1:4].max(), plane[1:5, 3:6].max()] for plane in plain])
own = torchvision.ops.ps_roi_align(x, rois, (1, 2), 1.0, 1).numpy().ravel()
assert np.allclose(own, [plain[0, 2, 1:3].mean(), plain[1, 2, 3:5].mean()])
moved = torchvision.ops.deform_conv2d(x, torch.zeros(1, 18, 5, 6), torch.ones(1, 2, 3, 3), padding=1)
edge = np.pad(plain, ((0, 0), (1, 1), (1, 1)))
assert moved.sum().item() == sum(edge[:, i : i + 5, j : j + 6].sum() for i in range(3) for j in range(3))
print("detected", torchvision.get_image_backend(), getattr(torchvision.models, "resnet18").__name__)
"""
# name: the script, what it prints
SCRIPTS = {"train.py": (TRAIN, "trained True True"), "detect.py": (DETECT, "detected PIL resnet18")}
WITHOUT_TORCH = "import runpy, sys; sys.modules['torch'] = None; sys.path[0] = '.'; runpy.run_path(sys.argv[1])"


@pytest.fixture(scope="module", params=["entire", "torchvision", "timm", "pytorch+examples"])
def package(
    request: pytest.FixtureRequest, corpus: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The folder of one package, or of the entire ones, with scripts that use them."""
    if request.param == "entire":
        source = tmp_path_factory.mktemp("entire") / "torchvision"
        for name in ENTIRE:
            shutil.copytree(corpus(name), source / name, ignore=shutil.ignore_patterns("__pycache__"))
        for script, (text, _) in SCRIPTS.items():
            (source / script).write_text(text)
        return source
    source, part = corpus(request.param), tmp_path_factory.mktemp("part") / request.param
    for path in sampled(sorted(source.rglob("*.py")), 4, name=lambda path: path.relative_to(source).as_posix()):
        (part / path.relative_to(source)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, part / path.relative_to(source))
    return part


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the translation of the entire packages is written."""
    return tmp_path_factory.mktemp("entire") / "out"


@pytest.fixture(scope="module")
def report(package: Path, output: Path) -> Report:
    """The report of the package."""
    return translate_project(package, output if (package / ENTIRE[0]).is_dir() else None)


def outputs(report: Report) -> list[FileReport]:
    """Return the Python files that have both texts."""
    return [f for f in report.files if f.path.endswith(".py") and f.source is not None and f.output is not None]


def test_there_is_something_to_see(report: Report, package: Path) -> None:
    assert sum(file.changed for file in outputs(report)) > (50 if (package / ENTIRE[0]).is_dir() else 20)


def test_nothing_breaks(report: Report) -> None:
    faults: list[Diagnostic] = [d for d in report.diagnostics if d.code in ("T2M900", "T2M105")]
    assert not faults


def test_every_output_parses(report: Report) -> None:
    for file in outputs(report):
        ast.parse(file.output or "", file.path)


def test_every_comment_is_kept(report: Report) -> None:
    lost = {file.path: dict(lost_comments(file.source or "", file.output or "")) for file in outputs(report)}
    assert not {path: found for path, found in lost.items() if found}


def test_every_output_compiles(report: Report) -> None:
    for file in outputs(report):
        compile(file.output or "", file.path, "exec", dont_inherit=True)


def test_no_import_of_torch_stays_without_an_error(report: Report, package: Path) -> None:
    said = {d.file for d in report.diagnostics if d.severity is Severity.ERROR}
    quiet = [f for f in outputs(report) if f.changed and f.path not in said]
    assert not [f.path for f in quiet if torch_imports(f.output or "", package.name)]


def test_files_without_torch_come_back_as_they_are(report: Report) -> None:
    """Neither torch, nor a module of the project that uses it, nor what only tensors can do: byte for byte.

    timm/utils/metrics.py imports nothing, and calls ``topk`` of what it is given: copied, it would fail on MindSpore.
    """
    touched = re.compile(r"torch|^\s*(from|import) |\.(topk|expand_as)\(", re.MULTILINE)
    plain = [f for f in outputs(report) if not touched.search(f.source or "")]
    assert not [f.path for f in plain if f.source != f.output]


def test_no_file_takes_long(report: Report) -> None:
    """The limit of a file is 20 s; what takes longer is T2M105."""
    assert not [d.file for d in report.diagnostics if d.code == "T2M105"]


def test_a_second_translation_changes_nothing(report: Report, package: Path, tmp_path: Path) -> None:
    root = tmp_path / package.name  # a package may import itself by its own name
    for file in outputs(report):
        target = root / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((file.output or "").encode())
    again = {file.path: file for file in translate_project(root, None).files}
    changed = [f.path for f in outputs(report) if again[f.path].changed]
    assert not changed


@pytest.mark.parametrize("package", ["entire"], indirect=True)
def test_scripts_import_entire_packages(report: Report, output: Path) -> None:
    """torchvision's compiled library is there, as it is where it is installed: its operators are the runtime's."""
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "ONEDNN_MAX_CPU_ISA": "AVX2", "GLOG_v": "3"}
    for script, (_, printed) in SCRIPTS.items():
        done = subprocess.run(
            [sys.executable, "-c", WITHOUT_TORCH, script],
            cwd=output,
            env=environment,
            capture_output=True,
            text=True,
            timeout=900,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        assert printed in done.stdout
