"""Gradients that a function of its own clips: they are kept with the weights, where it finds them."""

from __future__ import annotations

from pathlib import Path

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
