"""Tensors that an optimizer trains become parameters; steps whose gradients nothing resets."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

HEAD = "import torch\nfrom torch import nn, optim\n"
STEP = "loss = (w ** 2).sum()\nloss.backward()\nopt.step()\n"


def translated(source: str) -> str:
    return translate_source(HEAD + source).text


@pytest.mark.parametrize("made", ["torch.tensor([1.0], requires_grad=True)", "torch.zeros(3).requires_grad_()"])
def test_a_trained_tensor_is_a_parameter(made: str) -> None:
    found = translated(f"w = {made}\nopt = optim.SGD([w], lr=0.1)\n{STEP}")
    assert "w = ms.Parameter(" in found
    assert "loss, grads = grad_fn()\nopt(grads)" in found


def test_groups_and_several_tensors_are_named_apart() -> None:
    found = translated(
        "a, w = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)\n"
        f"opt = optim.SGD([{{'params': [a]}}, {{'params': w}}], lr=0.1)\n{STEP}"
    )
    assert "a, w = ms.Parameter(ops.ones(1)), ms.Parameter(ops.ones(1))" in found
    assert "modules.distinct(" in found


@pytest.mark.parametrize(
    "source",
    [
        "w = torch.ones(3, requires_grad=True)\n(w * 2).sum().backward()\nprint(w.grad)\n",
        "w = nn.Parameter(torch.ones(3))\nopt = optim.SGD([w], lr=0.1)\n",
        "x = torch.ones(3, requires_grad=True)\nopt = optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1)\n",
        "def f(w):\n    return optim.SGD([w], lr=0.1)\n",
    ],
)
def test_other_tensors_stay_what_they_are(source: str) -> None:
    assert translated(source).count("ms.Parameter(") == source.count("nn.Parameter(")


def test_gradients_that_nothing_resets_add_up() -> None:
    made = "net = nn.Linear(1, 1)\nopt = optim.SGD(net.parameters(), lr=0.1)\n"
    step = "loss = net(torch.ones(1, 1)).sum()\nloss.backward()\nopt.step()\n"
    once = translated(made + step)
    assert "loss, grads = grad_fn()\nopt(grads)\n" in once
    looped = translated(made + "for _ in range(3):\n    " + step.replace("\n", "\n    "))
    assert "grads = autograd.accumulate(grads, new_grads)" in looped
    anew = translated("for _ in range(3):\n    " + (made + step).replace("\n", "\n    "))
    assert "accumulate" not in anew
    assert "T2M402" not in anew


def test_an_optimizer_from_elsewhere_may_hold_gradients() -> None:
    found = translated("def f(net, opt, x):\n    loss = net(x).sum()\n    loss.backward()\n    opt.step()\n")
    assert "recording.backward(loss)\n    recording.update(opt)\n" in found


def test_a_gradient_is_read_behind_the_loop_that_computes_it() -> None:
    loop = (
        "w = torch.ones(1, requires_grad=True)\nopt = optim.SGD([w], lr=0.1)\nfor _ in {}:\n    opt.zero_grad()\n    "
    )
    read = STEP.replace("\n", "\n    ") + "\nprint(w.grad)\n"
    assert "print(autograd.gradient_of(w, opt.parameters, grads))" in translated(loop.format("range(3)") + read)
    assert "print(functional.tensor_text(gradients.of(w)))" in translated(loop.format("batches") + read)


FILL = "for name, p in net.named_parameters():\n            "


@pytest.mark.parametrize(
    "filled",
    [
        f"{FILL}if p.ndim == 1:\n                plain.append(p)\n            else:\n                decayed.append(p)",
        f"{FILL}(plain if p.ndim == 1 else decayed).append(p)",
    ],
)
def test_lists_filled_where_the_optimizer_is_made_are_a_networks(filled: str) -> None:
    found = translated(
        "class Trainer:\n    def __init__(self, net: nn.Module):\n        self.net = net\n"
        f"        decayed, plain = [], []\n        {filled}\n"
        "        groups = [{'params': decayed}, {'params': plain, 'weight_decay': 0.0}]\n"
        "        self.opt = optim.AdamW(groups, lr=0.1)\n\n"
        "    def step(self, x):\n        self.opt.zero_grad()\n        loss = self.net(x).sum()\n"
        "        loss.backward()\n        nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)\n"
        "        self.opt.step()\n"
    )
    assert "grads, _ = autograd.clip_grad_norm(grads, 1.0)\n        self.opt(grads)" in found


def test_a_trained_tensor_of_a_network_is_none_of_its_parameters() -> None:
    network = (
        "class Policy(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.line = nn.Linear(2, 1)\n"
        "        self.log_alpha = torch.zeros(1, requires_grad=True)\n"
    )
    own = "        self.log_alpha.requires_grad = True\n        self.second = optim.SGD([self.log_alpha], lr=0.1)\n"
    for source in (network + own, network + "\nnet = Policy()\nopt = optim.SGD([net.log_alpha], lr=0.1)\n"):
        found = translated(source)
        assert "object.__setattr__(self, 'log_alpha', ms.Parameter(" in found.replace('"', "'")
        assert "# TORCH2MS T2M2" not in found


def test_a_tensor_of_a_group_that_is_added_later_is_trained() -> None:
    source = "w = torch.ones(2, requires_grad=True)\nv = torch.ones(2, requires_grad=True)\n"
    made = "opt = torch.optim.SGD([w], lr=0.1)\nopt.add_param_group({'params': [v], 'lr': 0.01})\n"
    text = translate_source(f"import torch\n{source}{made}").text
    assert "v = ms.Parameter(ops.ones(2))" in text
