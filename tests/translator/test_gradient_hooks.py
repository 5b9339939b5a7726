"""Hooks on gradients: MindSpore's weights, and what a network computes in its forward pass, have them as well."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from torch2ms import translate_project, translate_source
from torch2ms.config import Options, Target

PROGRAM = """
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self, scaled=False):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.fc = nn.Linear(8, 3)
        self.scaled = scaled
        self.seen = None
    def keep(self, grad):
        self.seen = grad
    def forward(self, x):
        h = torch.tanh(self.body(x))
        if self.scaled:
            h.register_hook(lambda grad: grad * 0.5)
            h.register_hook(self.keep)
        return self.fc(h)

def made(**kw):
    r = np.random.RandomState(0)
    net = Net(**kw)
    for p in net.parameters():
        p.data.copy_(torch.from_numpy(r.randn(*p.shape).astype("float32")))
    batches = [(r.randn(6, 4).astype("float32"), r.randint(0, 3, 6)) for _ in range(5)]
    return net, [(torch.from_numpy(x), torch.from_numpy(y)) for x, y in batches]

def train(model: nn.Module, loader, optimizer: torch.optim.Optimizer, mask):
    model.fc.weight.register_hook(lambda grad: grad * mask)
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()

def train2(model: nn.Module, loader, optimizer: torch.optim.Optimizer, clip_value):
    for p in model.parameters():
        p.register_hook(lambda grad: torch.clamp(grad, -clip_value, clip_value))
    for epoch in range(2):
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()

def train3(model: nn.Module, loader, optimizer: torch.optim.Optimizer):
    handle = model.fc.bias.register_hook(lambda grad: torch.zeros_like(grad))
    for i, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        if i == 2:
            handle.remove()

runs = [(train, [torch.arange(8.) % 2], {}), (train2, [0.05], {}), (train3, [], {}), (train3, [], {"scaled": True})]
for f, a, kw in runs:
    net, loader = made(**kw)
    opt = torch.optim.SGD(net.parameters(), lr=0.5)
    f(net, loader, opt, *a)
    seen = None if net.seen is None else round(net.seen.abs().sum().item(), 4)
    print([round(p.abs().sum().item(), 3) for p in net.parameters()], seen)
"""

STEP = """
import torch
import torch.nn as nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        y = self.fc(x)
        {forward}
        return y

def train(model: nn.Module, net: Net, loader, optimizer: torch.optim.Optimizer, f):
    {before}
    for x, y in loader:
        optimizer.zero_grad()
        h = net(x)
        {inside}
        loss = F.cross_entropy(h, y)
        loss.backward()
        optimizer.step()
"""


def translated(
    before: str = "pass", inside: str = "pass", forward: str = "pass", **options: object
) -> tuple[str, set[str]]:
    parts = {"{before}": before, "{inside}": inside, "{forward}": forward}
    source = STEP
    for place, code in parts.items():
        source = source.replace(place, code)
    made = translate_source(source, options=Options(**options))
    return made.text, {item.code for item in made.diagnostics if item.severity != "note"}


@pytest.mark.parametrize(
    ("part", "code"),
    [
        ("before", "net.fc.weight.register_hook(f)"),
        ("before", "for p in model.parameters():\n        p.register_hook(f)"),
        ("before", "handle = net.fc.bias.register_hook(f)"),
        ("forward", "y.register_hook(lambda grad: grad * 2)"),
        ("before", "net.fc.register_full_backward_hook(f)"),
        ("inside", "handle = net.fc.register_full_backward_hook(f)"),
    ],
)
def test_hooks_that_stay(part: str, code: str) -> None:
    text, codes = translated(**{part: code})
    assert "grad_fn(x, y)" in text
    assert ".register_hook(" in text or "net.fc.register_backward_hook(f)" in text
    assert not codes & {"T2M201", "T2M203", "T2M402", "T2M404"}


@pytest.mark.parametrize(
    ("part", "code"),
    [
        ("before", "net.fc.weight.register_post_accumulate_grad_hook(f)"),
        ("before", "net.fc.weight.retain_grad()"),
    ],
)
def test_hooks_that_are_marked(part: str, code: str) -> None:
    _, codes = translated(**{part: code})
    assert "T2M404" in codes


@pytest.mark.parametrize(
    "code",
    [
        "h.register_hook(f)",  # computed in a function of the gradient, which would not call it
        "net.fc.weight.register_hook(f)",  # behind the forward pass, in front of the backward pass
    ],
)
def test_hooks_for_which_the_step_is_recorded(code: str) -> None:
    text, codes = translated(inside=code)
    assert "recording.backward(loss)" in text
    assert f"        {code}\n" in text
    assert "T2M404" not in codes


@pytest.mark.parametrize(
    "options",
    [{"mode": "graph"}, {"target": Target(mindspore=(2, 0))}],
    ids=["in graph mode", "before MindSpore 2.7"],
)
def test_where_mindspore_calls_none(options: dict[str, object]) -> None:
    _, codes = translated(before="net.fc.weight.register_hook(f)", **options)
    assert codes & {"T2M201", "T2M203"}


RECORDED = """import torch
from torch import nn

net = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
seen = []

def cam(model: nn.Module, x, k):
    h = model[0](x)
    h.register_hook(seen.append)
    y = model[1](h)
    model.zero_grad()
    y[0, k].backward()
    return seen[0]
"""


def test_hooks_are_called_where_all_is_recorded() -> None:
    made = translate_source(RECORDED)
    assert "    h.register_hook(seen.append)\n" in made.text
    assert "recording.backward(y[0, k])" in made.text
    assert not {d.code for d in made.diagnostics} & {"T2M203", "T2M404"}
    old = translate_source(RECORDED, options=Options(target=Target(mindspore=(2, 7))))
    assert {d.code for d in old.diagnostics} & {"T2M203", "T2M404"}
    kept = RECORDED.replace("y[0, k].backward()", "model[0].weight.grad = torch.ones(4, 3)")
    assert "T2M203" in {d.code for d in translate_source(kept).diagnostics}  # nothing is recorded


def test_hooks_on_leaves_come_and_go() -> None:
    source = (
        "import torch\nw = torch.ones(2, requires_grad=True)\nhandle = w.register_hook(lambda g: g * 10)\n"
        "(w * 2).sum().backward()\nhandle.remove()\nprint(w.grad)\n"
    )
    made = translate_source(source)
    assert "handle = w.register_hook(lambda g: g * 10)" in made.text
    assert not {d.code for d in made.diagnostics} & {"T2M203", "T2M404"}
    between = source.replace("w.register_hook(", "(w * 3).register_hook(")
    assert "w = ms.Parameter(" in translate_source(between).text  # MindSpore refuses hooks on what needs no gradient


def test_a_hook_that_is_removed_from_a_record_is_marked() -> None:
    removed = RECORDED.replace("    h.register_hook", "    handle = h.register_hook").replace(
        "    return seen[0]", "    handle.remove()\n    return seen[0]"
    )
    assert "T2M203" not in {d.code for d in translate_source(removed).diagnostics}
    twice = removed.replace("backward()", "backward(retain_graph=True)")
    assert "T2M203" in {d.code for d in translate_source(twice).diagnostics}


def test_a_hook_of_a_layer_reads_gradients() -> None:
    source = "import torch\nfrom torch import nn\nnet = nn.Linear(4, 3)\nseen = []\n"
    hook = "net.register_full_backward_hook(lambda m, gi, go: seen.append(go[0]))\n"
    step = "out = net(torch.ones(2, 4))\nout.sum().backward()\n"
    assert "recording.backward(out.sum())" in translate_source(source + hook + step).text
    assert "recording.backward" not in translate_source(source + step).text


def test_a_layer_without_weights_is_given_a_parameter() -> None:
    source = "import torch\nlayer = torch.nn.Sigmoid()\n{hook}\nx = torch.ones(2, requires_grad=True)\n"
    source += "layer(x).sum().backward()\n"
    hooked = source.format(hook="layer.register_full_backward_hook(print)")
    assert "x = ms.Parameter(ops.ones(2))" in translate_source(hooked).text  # else nothing calls the hook
    assert "Parameter" not in translate_source(source.format(hook="print(layer)")).text


@pytest.mark.slow
def test_the_gradients_are_pytorchs(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "main.py").write_text(PROGRAM)
    translate_project(source, tmp_path / "out", Options(cache=False))
    printed = []
    for folder in (source, tmp_path / "out"):
        done = subprocess.run([sys.executable, "main.py"], cwd=folder, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr[-2000:]
        words = done.stdout.replace("[", " ").replace("]", " ").replace(",", " ").split()
        printed.append([word if word == "None" else float(word) for word in words])
    assert len(printed[0]) == 20
    assert printed[1] == pytest.approx(printed[0], abs=0.002)
