"""timm's small parts are the runtime's, whichever way they are spelled; its networks are left, and say so."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("from timm.layers import DropPath", "DropPath"),
        ("from timm.models.layers import DropPath as Drop", "DropPath"),
        ("from timm.models.layers.drop import DropPath", "DropPath"),
        ("from timm.layers.helpers import to_2tuple", "to_2tuple"),
        ("from timm.models.layers import trunc_normal_", "trunc_normal_"),
        ("from timm.layers.weight_init import trunc_normal_", "trunc_normal_"),
        ("from timm.models.vision_transformer import Block", "Block"),
        ("from timm.models.registry import register_model", "register_model"),
        ("from timm.loss import SoftTargetCrossEntropy", "SoftTargetCrossEntropy"),
        ("from timm.data.constants import IMAGENET_DEFAULT_MEAN", "IMAGENET_DEFAULT_MEAN"),
        ("from timm.scheduler.cosine_lr import CosineLRScheduler", "CosineLRScheduler"),
    ],
)
def test_every_spelling(line: str, name: str) -> None:
    used = line.rpartition(" ")[2]
    result = translate_source(f"import torch\n{line}\n\n\ndef f():\n    return {used}\n")
    assert not result.diagnostics
    assert "from torch2ms_runtime.timm_parts import" in result.text
    assert name in result.text
    assert "timm." not in result.text.replace("timm_parts", "")


MODEL = """import timm.models.vision_transformer
import torch
from timm.models.layers import LayerNorm2d, trunc_normal_
from torch import nn


class ViT(timm.models.vision_transformer.VisionTransformer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.token = nn.Parameter(torch.zeros(1, 1, self.embed_dim))
        trunc_normal_(self.token, std=0.02)

    def forward(self, x):
        return self.forward_features(x)[:, 0]


def start(m):
    if isinstance(m, LayerNorm2d):
        nn.init.ones_(m.weight)
"""


def test_classes_are_bases_and_have_their_weights() -> None:
    result = translate_source(MODEL)
    assert not [d for d in result.diagnostics if d.severity.name == "ERROR"]
    assert "VisionTransformer)" in result.text
    assert "def construct(self, x):" in result.text
    assert "m.gamma" in result.text


def test_networks_are_found_where_the_program_enters_them() -> None:
    source = "import timm\nfrom timm.models import register_model\n\n\ndef make(name):\n"
    result = translate_source(f"{source}    return timm.create_model(name, num_classes=3)\n")
    assert [d.code for d in result.diagnostics] == ["T2M303"]
    assert "timm_parts.create_model(name, num_classes=3)" in result.text


@pytest.mark.parametrize(
    ("line", "use", "code"),
    [
        ("from timm.models.resnet import resnet50", "resnet50()", "T2M202"),
        ("from timm.data import create_dataset", "create_dataset('a', 'b')", "T2M201"),
    ],
)
def test_what_has_no_counterpart_is_marked_and_stays(line: str, use: str, code: str) -> None:
    result = translate_source(f"import torch\n{line}\n\n\ndef f():\n    return {use}\n")
    assert [d.code for d in result.diagnostics] == [code]
    assert f"import {line.split()[1]}\n" in result.text
    assert f"return {line.split()[1]}.{use}" in result.text


def test_a_module_of_the_project_by_that_name_is_no_package() -> None:
    source = "import torch\nfrom .timm import DropPath\n\n\ndef f():\n    return DropPath(torch.zeros(1))\n"
    assert "from .timm import DropPath" in translate_source(source).text


STEP = """import torch
from timm.utils import NativeScaler
from torch import nn


def train(model: nn.Module, loader, optimizer: torch.optim.Optimizer, loss_scaler, criterion):
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss_scaler(loss, optimizer, clip_grad=1.0, parameters=model.parameters())


def main(model: nn.Module, loader):
    train(model, loader, torch.optim.SGD(model.parameters(), lr=0.1), NativeScaler(), nn.CrossEntropyLoss())
"""


def test_a_scaler_of_timm_is_handed_the_gradients() -> None:
    result = translate_source(STEP)
    assert not [d for d in result.diagnostics if d.severity.name == "ERROR"]
    assert "gradients.hand_over(optimizer.parameters, grads)" in result.text
    assert "loss_scaler(loss, optimizer, clip_grad=1.0, parameters=modules.parameters(model))" in result.text
    plain = translate_source(STEP.replace("timm.utils", "timm.other"))
    assert "hand_over" not in plain.text


def test_transforms_are_made_by_their_settings() -> None:
    source = (
        "import torchvision\nfrom timm.data import create_transform\n\ntorchvision.set_image_backend('PIL')\n"
        "t = create_transform(224, is_training=True, auto_augment=args.aa, re_prob=args.reprob)\n"
        "print(torchvision.get_image_backend(), getattr(torchvision.models, args.arch)(num_classes=10))\n"
    )
    assert translate_source(source).text == (
        "from torch2ms_runtime import vision_models\nfrom torch2ms_runtime.timm_parts import create_transform\n\n"
        "t = create_transform(224, is_training=True, auto_augment=args.aa, re_prob=args.reprob)\n"
        "print('PIL', getattr(vision_models, args.arch)(num_classes=10))\n"
    )
