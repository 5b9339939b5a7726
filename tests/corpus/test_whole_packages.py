"""Whole torchvision and timm, translated as they are: imported by their own ``__init__``, a ViT built and trained."""

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
WITHOUT_TORCH = "import runpy, sys; sys.modules['torch'] = None; sys.path[0] = '.'; runpy.run_path('train.py')"


def test_a_script_imports_both_and_trains(corpus: Callable[[str], Path], tmp_path: Path) -> None:
    source = tmp_path / "source"
    for name in ("timm", "torchvision"):
        shutil.copytree(corpus(name), source / name, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    (source / "train.py").write_text(TRAIN)
    translate_project(source, tmp_path / "out")
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "ONEDNN_MAX_CPU_ISA": "AVX2", "GLOG_v": "3"}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH],
        cwd=tmp_path / "out",
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "trained True True" in done.stdout
