"""``Variable(x)`` cuts a gradient off where ``x`` may carry one, and is ``x`` where it is data."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source

_HEAD = "import torch\nfrom torch.autograd import Variable\n"


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    return Variable(x)\n",
        "def f(net, x):\n    y = net(x)\n    return Variable(y)\n",
        "def f(outputs):\n    return [Variable(output) for output in outputs]\n",
        "def f(net, x):\n    y = torch.zeros(2)\n    if x is not None:\n        y = net(x)\n    return Variable(y)\n",
        "w = torch.ones(2, requires_grad=True)\ny = Variable(w * 2)\n",
    ],
)
def test_what_may_carry_a_gradient_is_cut_off(source: str) -> None:
    assert "ops.stop_gradient(" in translate_source(_HEAD + source).text


@pytest.mark.parametrize(
    "source",
    [
        "def f(train_loader):\n    for x, y in train_loader:\n        x, y = Variable(x.cuda()), Variable(y)\n",
        "def f(loader):\n    for i, b in enumerate(loader):\n        x = Variable(b['x'].float(), volatile=True)\n",
        "def f(n):\n    noise = torch.randn(n, 3)\n    return Variable(noise.cuda())\n",
        "def f(a):\n    return Variable(torch.from_numpy(a))\n",
        "def f(x):\n    return Variable(torch.FloatTensor(x.size(0), 1).fill_(1.0), requires_grad=False)\n",
        "it = iter(loader)\nx, y = next(it)\nx = Variable(x)\n",
    ],
)
def test_data_is_itself(source: str) -> None:
    text = translate_source(_HEAD + source).text
    assert "stop_gradient" not in text
    assert "Variable" not in text


def test_it_is_cut_off_once() -> None:
    text = translate_source(f"{_HEAD}def f(x):\n    return Variable(x.data), Variable(x.detach())\n").text
    assert text.count("stop_gradient(") == 2


@pytest.mark.parametrize(
    ("source", "is_cut"),
    [
        ("def f(x: torch.Tensor):\n    return torch.tensor(x)\n", True),
        ("def f(x: torch.Tensor):\n    return x.new_tensor(x)\n", True),
        ("def f(x: torch.Tensor):\n    return torch.as_tensor(x)\n", False),
        ("def f(rewards):\n    return torch.tensor(rewards)\n", False),
        ("x = torch.tensor(torch.zeros(3))\n", False),
        (
            "class D:\n    def __getitem__(self, i):\n        return torch.tensor(self.y[i])\n",
            False,
        ),
        ("class N(torch.nn.Module):\n    def forward(self, x):\n        return torch.tensor(self.net(x))\n", True),
    ],
)
def test_copies_have_no_gradient(source: str, is_cut: bool) -> None:
    assert ("stop_gradient(" in translate_source(_HEAD + source).text) == is_cut
