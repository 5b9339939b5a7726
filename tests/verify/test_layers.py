"""The layer that departs is named: defects planted into a translation, and none where there is no defect."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.sampling import sampled
from torch2ms import translate_project
from torch2ms.verify.process import Worker
from torch2ms.verify.report import VerifyReport
from torch2ms.verify.verification import compare, make_plan
from torch2ms.weights import table_rules

NETWORKS = Path(__file__).with_name("networks")
INPUTS = {"resnet:Net": "4x3x32x32", "gpt:GPT": "2x8:int64<17"}

# name: text of the translation, what is planted, the layer that departs
RESNET = {
    "momentum": ("momentum=0.8", "momentum=0.2", "layer1.bn2"),
    "eps": ("eps=1e-3", "eps=1e-5", "stem.1"),
    "padding": ("8, 5, stride=2, padding=2", "8, 5, stride=2, padding=(1, 3, 2, 2)", "stem.0"),
    "stride": ("MaxPool2d(3, stride=2, padding=1", "MaxPool2d(3, stride=3, padding=1", "stem.3"),
    "dilation": ("padding=2, dilation=2", "padding=1, dilation=1", "layer1.conv2"),
    "slope": ("LeakyReLU(0.1)", "LeakyReLU(0.2)", "stem.2"),
    "wrong activation": ("self.relu = nn.ReLU()", "self.relu = nn.ELU()", "layer1.relu"),
    "last activation": ("return ops.relu(out)", "return ops.elu(out)", "layer1"),
    "missing residual": ("out += identity\n", "out = out\n", "layer1"),
    "missing shortcut": ("identity = self.downsample(x)", "identity = self.downsample(x) * 0", "layer2"),
    "swapped layers": ("self.bn1(out)\n", "self.bn2(out)\n", "layer1"),
    "order of layers": (
        "out = self.bn1(out)\n        out = self.relu(out)\n", "out = self.relu(out)\n        out = self.bn1(out)\n",
        "layer1",
    ),
    "tanh GELU": ("GELU(approximate=False)", "GELU(approximate=True)", "gate.act"),
    "biased std": ("functional.std(x.flatten(2), dim=2)", "functional.std(x.flatten(2), dim=2, correction=0)", "gate"),
    "wrong axis": ("x.mean(dim=(2, 3))", "x.mean(dim=(1, 3)).repeat(4, 1)[:, :16]", "gate"),
    "missing scale": (" * self.scale", "", "gate"),
    "other scale": ("self.scale = 2.0", "self.scale = 1.5", "gate"),
    "stale buffer": ("linspace(-1.0, 1.0, channels)", "linspace(-1.0, 0.9, channels)", "gate"),
    "missing bias": ("self.act(self.down(mean + std))", "self.act(self.down(mean + std) - self.down.bias)", "gate"),
    "dropout left on": ("self.fc(self.drop(x))", "self.fc(ops.dropout(x, p=0.25, training=True))", ""),
    "dropout rate": ("nn.Dropout(p=0.25)", "nn.Dropout(p=0.5)", "drop"),
    "stopped gradient": ("self.gate(x)", "self.gate(ops.stop_gradient(x))", ""),
    "pooling": ("nn.AdaptiveAvgPool2d(1)", "nn.AdaptiveMaxPool2d(1)", "pool"),
}  # fmt: skip
GPT = {
    "missing scale": (" * (1.0 / math.sqrt(k.shape[-1]))", "", "h.0.attn"),
    "softmax axis": ("softmax(att, dim=-1)", "softmax(att, dim=-2)", "h.0.attn"),
    "mask sign": ("== 0, float(", "!= 0, float(", "h.0.attn"),
    "mask buffer": ("ops.tril(ops.ones(", "ops.triu(ops.ones(", "h.0.attn"),
    "transposed weight": ("ops.t(self.mix)", "self.mix", "h.0.attn"),
    "biased std": ("functional.std(x, -1, keepdim=True)", "functional.std(x, -1, 0, keepdim=True)", "h.0.ln_2"),
    "eps": ("LayerNorm((width,), epsilon=1e-6)", "LayerNorm((width,), epsilon=1e-3)", "ln_f"),
    "tanh GELU": ("GELU(approximate=False)", "GELU(approximate=True)", "h.0.mlp.gelu"),
    "missing residual": ("x = x + self.mlp", "x = self.mlp", "h.0"),
    "norm order": ("self.mlp(self.ln_2(x))", "self.ln_2(self.mlp(x))", "h.0"),
    "swapped norms": (
        "self.attn(self.ln_1(x))\n        x = x + self.mlp(self.ln_2(x))",
        "self.attn(self.ln_2(x))\n        x = x + self.mlp(self.ln_1(x))", "h.0",
    ),
    "positions": ("self.wpe(position)", "self.wpe(position * 0)", ""),
    "missing dropout": ("self.drop(att) @ v", "att @ v", "h.0.attn"),
}  # fmt: skip
EVERY = [("resnet:Net", name) for name in RESNET] + [("gpt:GPT", name) for name in GPT]
CASES = sampled(EVERY, 2, name=" ".join)


@pytest.fixture(scope="module")
def translation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("networks") / "out"
    translate_project(NETWORKS, folder)
    return folder


def run(output: Path, entry: str, workers: tuple[Worker, Worker]) -> VerifyReport:
    plan = make_plan(entry=entry, inputs=[INPUTS[entry]], layers=True, graph=False, seeds=(1,))
    return compare(NETWORKS, output, plan, table_rules(), workers)


@pytest.mark.slow
@pytest.mark.parametrize("entry", INPUTS)
def test_no_layer_of_a_faithful_translation_departs(
    entry: str, translation: Path, workers: tuple[Worker, Worker]
) -> None:
    report = run(translation, entry, workers)
    assert not report.departures, report.to_text()
    assert not report.settings, report.to_text()
    assert {layer.verdict for layer in report.layers} == {"ok"}, report.to_text()
    assert {layer.mode for layer in report.layers} == {"eval", "train"}


@pytest.mark.slow
@pytest.mark.parametrize(("entry", "name"), CASES, ids=[f"{entry.partition(':')[0]}-{name}" for entry, name in CASES])
def test_the_layer_of_a_planted_defect_is_named(
    entry: str, name: str, translation: Path, workers: tuple[Worker, Worker], tmp_path: Path
) -> None:
    right, wrong, layer = (RESNET if entry == "resnet:Net" else GPT)[name]
    module = entry.partition(":")[0] + ".py"
    output = tmp_path / "out"
    shutil.copytree(translation, output)
    text = (output / module).read_text(encoding="utf-8")
    assert right in text
    (output / module).write_text(text.replace(right, wrong, 1), encoding="utf-8")
    report = run(output, entry, workers)
    assert not report.passed
    assert [departure.layer for departure in report.departures[:1]] == [layer], report.to_text()
    assert all(same_code(departure.layer, layer) for departure in report.departures), report.to_text()
    planted = text[: text.index(right)].count("\n") + 1
    lines = range(planted, planted + right.rstrip().count("\n") + 1)
    first = report.departures[0]
    told = re.fullmatch(rf"{module}:(\d+)(?:-(\d+))?", first.output)
    assert told is not None, first
    span = range(int(told[1]), int(told[2] or told[1]) + 1)
    shown = bool(set(lines) & set(span)) or any("tensor" in detail or " is " in detail for detail in first.details)
    assert shown, report.to_text()


def same_code(layer: str, other: str) -> bool:
    """Whether two layers are made by the same lines: those of blocks of one class."""
    return re.sub(r"^(h\.|layer)\d", "", layer) == re.sub(r"^(h\.|layer)\d", "", other)


@pytest.mark.slow
def test_the_example_of_the_documentation_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[2] / "docs" / "parity.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "src").mkdir()
    shutil.copy(NETWORKS / "resnet.py", tmp_path / "src" / "net.py")
    translate_project(tmp_path / "src", tmp_path / "out")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(example, names)
    names["test_translation_computes_the_same"]()
