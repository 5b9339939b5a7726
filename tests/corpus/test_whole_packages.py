"""Whole torchvision and timm, translated as they are: imported by their own ``__init__``, a ViT built and trained.

torchvision's compiled library is there, as it is where the package is installed: its operators are the runtime's.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from torch2ms import translate_project

pytestmark = [pytest.mark.corpus, pytest.mark.slow]

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
WITHOUT_TORCH = "import runpy, sys; sys.modules['torch'] = None; sys.path[0] = '.'; runpy.run_path(sys.argv[1])"


def test_scripts_import_both_train_and_detect(corpus: Callable[[str], Path], tmp_path: Path) -> None:
    source = tmp_path / "source"
    for name in ("timm", "torchvision"):
        shutil.copytree(corpus(name), source / name, ignore=shutil.ignore_patterns("__pycache__"))
    (source / "train.py").write_text(TRAIN)
    (source / "detect.py").write_text(DETECT)
    translate_project(source, tmp_path / "out")
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "ONEDNN_MAX_CPU_ISA": "AVX2", "GLOG_v": "3"}
    for script, printed in (("train.py", "trained True True"), ("detect.py", "detected PIL resnet18")):
        done = subprocess.run(
            [sys.executable, "-c", WITHOUT_TORCH, script],
            cwd=tmp_path / "out",
            env=environment,
            capture_output=True,
            text=True,
            timeout=900,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        assert printed in done.stdout
