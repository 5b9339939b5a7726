"""``torch.autograd.grad`` of what other functions computed, which MindSpore records."""

from __future__ import annotations

from pathlib import Path

import pytest

from torch2ms import translate_project, translate_source
from torch2ms.config import Options
from torch2ms.mapping_tables.lookup import Target


def translated(source: str) -> tuple[str, list[str]]:
    result = translate_source("import torch\nfrom torch import nn\n" + source)
    return result.text, [found.code for found in result.diagnostics]


FLAT = (
    "def flat(net, loss):\n    g = torch.autograd.grad(loss, net.parameters())\n"
    "    return torch.cat([v.view(-1) for v in g])\n"
)


def test_gradients_by_weights_of_a_loss_that_is_handed_in() -> None:
    text, codes = translated(FLAT)
    assert "g = recording.grad(loss, net.trainable_params())" in text
    assert codes == []


def test_tensors_keep_their_marks() -> None:
    text, _ = translated(
        "def f(net, x, v, flag):\n    x.requires_grad = True\n    y = x.detach().clone().requires_grad_(flag)\n"
        "    w = torch.zeros(2, requires_grad=True)\n    y.requires_grad_()\n"
        "    u = torch.autograd.Variable(v, requires_grad=True)\n"
        "    return [torch.autograd.grad(net(t), t, retain_graph=True) for t in (x, y, w, u)]\n"
    )
    assert "    x.requires_grad_()\n    y = recording.leaf(ops.stop_gradient(x).copy(), flag)\n" in text
    assert "    w = recording.leaf(ops.zeros(2))\n    y.requires_grad_()\n" in text
    assert "    u = recording.leaf(ops.stop_gradient(v))\n" in text


def test_gradients_that_are_differentiated_again_are_recorded_themselves() -> None:
    sure = FLAT.replace("parameters()", "parameters(), create_graph=True")
    text, codes = translated(sure)
    assert "higher.grad(loss" in text
    assert not codes
    perhaps = FLAT.replace("net.parameters()", "net.parameters(), create_graph=again")
    text, codes = translated(perhaps)
    assert "higher.grad(loss" in text
    assert not codes
    never = FLAT.replace("net.parameters()", "net.parameters(), create_graph=False")
    assert "recording.grad(loss" in translated(never)[0]


def test_before_2_9_they_stay_and_are_marked() -> None:
    older = Options(target=Target(mindspore=(2, 8)))
    sure = translate_source("import torch\n" + FLAT.replace("rs()", "rs(), create_graph=True"), options=older)
    assert "torch.autograd.grad(loss" in sure.text
    assert "T2M203" in {found.code for found in sure.diagnostics}
    perhaps = translate_source(
        "import torch\n" + FLAT.replace("net.parameters()", "net.parameters(), create_graph=again"), options=older
    )
    assert "recording.grad(loss" in perhaps.text
    assert "T2M303" in {found.code for found in perhaps.diagnostics}


def test_older_versions_and_graph_mode_have_no_such_record() -> None:
    for options in (Options(target=Target(mindspore=(2, 7))), Options(mode="graph")):
        result = translate_source("import torch\n" + FLAT, options=options)
        assert "torch.autograd.grad(loss" in result.text
        assert {found.code for found in result.diagnostics} & {"T2M203", "T2M204"}


def test_a_step_around_such_a_gradient_is_recorded() -> None:
    text, codes = translated(
        "def step(net, x, y, opt, losses):\n    out = net(x)\n    total = 0\n    for loss in losses:\n"
        "        g = torch.autograd.grad(loss(out, y), list(net.parameters()), retain_graph=True)[0]\n"
        "        total = total + g.norm().detach() * loss(out, y)\n"
        "    opt.zero_grad()\n    total.backward()\n    opt.step()\n"
    )
    assert "g = recording.grad(loss(out, y), list(" in text
    assert "    recording.reset(opt)\n    recording.backward(total)\n    recording.update(opt)\n" in text
    assert codes == ["T2M405"]


def test_the_backward_pass_of_an_operation_is_not_recorded() -> None:
    text, codes = translated(
        """
class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, run, *given):
        ctx.run, ctx.given = run, given
        return run(*given)
    @staticmethod
    def backward(ctx, g):
        found = torch.autograd.grad(ctx.run(*ctx.given), ctx.given, g)
        return (None,) + tuple(-one for one in found)
"""
    )
    assert "recording" not in text
    assert "T2M203" in codes


def test_marks_stay_in_files_beside_the_one_that_asks(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "tools.py").write_text(
        "import torch\ndef influence(out, x):\n    return torch.autograd.grad(out.sum(), x)[0]\n"
    )
    (source / "main.py").write_text(
        "import torch\nfrom tools import influence\nx = torch.ones(3, requires_grad=True)\nprint(influence(x * 2, x))\n"
    )
    translate_project(source, tmp_path / "out")
    assert "x = recording.leaf(ops.ones(3))" in (tmp_path / "out" / "main.py").read_text()


def test_gradients_that_are_given_to_what_a_loop_goes_over_are_kept_with_the_weights() -> None:
    text, codes = translated(
        "def put(net, grads):\n    for alpha, g in zip(net.alphas(), grads):\n        alpha.grad = g\n"
        "def train(net, opt, x):\n    opt.zero_grad()\n    put(net, x)\n    opt.step()\n"
    )
    assert "gradients.put(alpha, g)" in text
    assert "T2M201" not in codes


@pytest.mark.parametrize("change", ["d.data[0] = g[0]", "d += g", "d.clamp_(0, 1)", "d.data.add_(g)"])
def test_tensors_that_are_changed_in_place_are_no_start_of_a_record(change: str) -> None:
    _, codes = translated(
        "def attack(net, x):\n    d = torch.zeros_like(x, requires_grad=True)\n    for _ in range(3):\n"
        "        out = net(x + d)\n        if out.sum() > 1:\n            break\n"
        "        g = [torch.autograd.grad(out.sum(), t)[0] for t in (d,)][0]\n"
        f"        with torch.no_grad():\n            {change}\n    return d.detach()\n"
    )
    assert "T2M203" in codes


STEP = """
import torch
import torch.nn.functional as F
from attack import {name}
def train(net, loader, opt):
    attack = {made}
    for x, y in loader:
        {early}
        z = attack(net, x, y)
        {late}
        loss = F.cross_entropy(net(z), y)
        loss.backward()
        opt.step()
"""
ATTACK = """
    x = x.clone().detach().requires_grad_(True)
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    return (x + 0.1 * x.grad.sign()).detach()
"""


@pytest.mark.parametrize("kind", ["function", "object"])
@pytest.mark.parametrize("order", [("opt.zero_grad()", ""), ("", "opt.zero_grad()")])
def test_an_attack_that_adds_to_the_step_of_another_file_is_reported(
    kind: str, order: tuple[str, str], tmp_path: Path
) -> None:
    source = tmp_path / "in"
    source.mkdir()
    head = "import torch\nimport torch.nn.functional as F\n"
    own = "class Attack:\n    def __call__(self, net, x, y):" + ATTACK.replace("\n    ", "\n        ")
    text = own if kind == "object" else "def attack(net, x, y):" + ATTACK
    (source / "attack.py").write_text(head + text)
    name = "Attack" if kind == "object" else "attack as attack"
    made = "Attack()" if kind == "object" else "None or attack"
    step = STEP.format(name=name, made=made, early=order[0], late=order[1])
    if kind == "function":
        step = step.replace("    attack = None or attack\n", "")
    (source / "train.py").write_text(step)
    report = translate_project(source, tmp_path / "out")
    found = [one.message for one in report.diagnostics if one.file == "attack.py" and "left out" in one.message]
    assert bool(found) == (order[0] != "")
    assert all("of train.py" in message for message in found)


def test_what_could_not_be_typed_is_marked_by_the_runtime() -> None:
    """It may be a tensor, a weight or a network."""
    source = (
        "def f(energy, samples):\n    samples.requires_grad_(True)\n    out = -energy(samples).sum()\n"
        "    return torch.autograd.grad(out, samples, create_graph=True)[0]\n"
    )
    text, codes = translated(source)
    assert "    recording.leaf(samples, True)\n" in text
    assert "T2M207" not in codes
