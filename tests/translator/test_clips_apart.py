"""Clipping that stands apart from the step: in a function of its own, or within a larger expression."""

from __future__ import annotations

from pathlib import Path

import pytest

from torch2ms import translate_project, translate_source

CLIP = "def clip(net, limit):\n    return nn.utils.clip_grad_norm_(net.parameters(), limit)\n\n\n"
STEP = (
    "def train(net: nn.Module, opt: torch.optim.SGD, x):\n    opt.zero_grad()\n    loss = net(x).mean()\n"
    "    loss.backward()\n    norm = clip(net, 1.0)\n    opt.step()\n    return norm\n"
)
HEAD = "import torch\nfrom torch import nn\n\n\n"


def test_the_step_keeps_its_gradients_for_it() -> None:
    result = translate_source(HEAD + CLIP + STEP)
    assert "return gradients.clip_norm(modules.parameters(net), limit)" in result.text
    assert (
        "    gradients.keep(opt.parameters, grads)\n    norm = clip(net, 1.0)\n    gradients.update(opt)" in result.text
    )
    assert "TORCH2MS" not in result.text


def test_it_may_stand_in_another_file(tmp_path: Path) -> None:
    source = tmp_path / "src"
    source.mkdir()
    (source / "tools.py").write_text("import torch\nfrom torch import nn\n\n\n" + CLIP)
    (source / "main.py").write_text("import torch\nfrom torch import nn\nfrom tools import clip\n\n\n" + STEP)
    translate_project(source, tmp_path / "out")
    assert "gradients.clip_norm(" in (tmp_path / "out" / "tools.py").read_text()
    assert "gradients.keep(opt.parameters, grads)" in (tmp_path / "out" / "main.py").read_text()


def test_what_a_step_clips_itself_is_a_tuple_as_before() -> None:
    own = STEP.replace("clip(net, 1.0)", "nn.utils.clip_grad_norm_(net.parameters(), 1.0)")
    assert "grads, norm = autograd.clip_grad_norm(grads, 1.0)" in translate_source(HEAD + own).text


@pytest.mark.parametrize(
    "use",
    ["norms.append(NORM.item())", "total = total + float(NORM)", "logs['norm'] = NORM * 2", "print(NORM or x)"],
)
def test_a_norm_that_a_larger_expression_uses_is_computed_in_front_of_it(use: str) -> None:
    norm = "nn.utils.clip_grad_norm_(net.parameters(), 1.0)"
    text = translate_source(HEAD + STEP.replace("norm = clip(net, 1.0)", use.replace("NORM", norm))).text
    clipped = "    grads, grad_norm = autograd.clip_grad_norm(grads, 1.0)\n"
    assert f"{clipped}    {use.replace('NORM', 'grad_norm')}\n    opt(grads)\n" in text


@pytest.mark.parametrize("use", ["print(NORM if x else 0)", "ok = x and NORM", "norms = [NORM for _ in x]"])
def test_a_norm_that_may_not_be_computed_leaves_the_step(use: str) -> None:
    norm = "nn.utils.clip_grad_norm_(net.parameters(), 1.0)"
    result = translate_source(HEAD + STEP.replace("norm = clip(net, 1.0)", use.replace("NORM", norm)))
    assert "T2M403" in [found.code for found in result.diagnostics]


NORM = "def norm(net):\n    return sum(p.grad.norm() ** 2 for p in net.parameters())\n\n\n"
ALONE = "net = nn.Linear(2, 1)\nloss = net(torch.ones(4, 2)).sum()\nloss.backward()\n"


@pytest.mark.parametrize("read", ["g = net.weight.grad", "g = [p.grad for p in net.parameters()]"])
def test_gradients_that_another_function_asks_for_are_kept_where_it_finds_them(read: str) -> None:
    text = translate_source(f"{HEAD}{NORM}{ALONE}found = norm(net)\n{read}\n").text
    assert "recording.backward(loss)" in text
    assert "ms.grad(" not in text
    assert "gradients.of(" in text.rpartition("found =")[2]


def test_without_such_a_function_they_come_from_one() -> None:
    assert "ms.value_and_grad(forward_fn" in translate_source(f"{HEAD}{ALONE}g = net.weight.grad\n").text


def test_whether_a_weight_has_a_gradient_is_asked_of_the_record() -> None:
    text = translate_source(f"{HEAD}{ALONE}g = net.weight.grad\nempty = net.bias.grad is None\n").text
    assert "recording.backward(loss)" in text
    assert "empty = gradients.of(net.bias) is None" in text
