"""Calls that are spelled as older releases had it."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source


def _translated(body: str) -> str:
    return translate_source(f"import torch\n{body}").text


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "def f(x):\n    kind = type(x)\n    return kind(x.size(0), 1)\n",
            "return functional.typed_tensor(x.shape[0], 1)",
        ),
        ("def f(x: torch.Tensor):\n    return type(x)([1.0, 2.0])\n", "return functional.typed_tensor([1.0, 2.0])"),
    ],
)
def test_the_class_of_a_tensor_makes_tensors_by_their_sizes(body: str, expected: str) -> None:
    assert expected in _translated(body)


@pytest.mark.parametrize(
    "made",
    [
        "def f(x):\n    kind = type(x)\n    if kind is None:\n        kind = list\n    x.dim()\n    return kind(2)\n",
        "def f(x, device):\n    if isinstance(x, torch.Tensor):\n        return x.to(device)\n    return type(x)(2)\n",
        "def f(x, device):\n    try:\n        return x.to(device)\n    except AttributeError:\n"
        "        return type(x)(f(part, device) for part in x)\n",
        "class A:\n    def copy(self):\n        return type(self)(2)\n",
    ],
)
def test_other_classes_are_called_as_they_are(made: str) -> None:
    assert made.splitlines()[-1] in _translated(made)
    assert "typed_tensor" not in _translated(made)


def test_copies_of_attention_ask_for_names_of_several_releases() -> None:
    text = (
        "import torch\nfrom torch import nn\nfrom torch._jit_internal import Optional\n"
        "if float(torch.__version__.split('.')[1]) < 9:\n"
        "    from torch.nn.modules.linear import _LinearWithBias\n"
        "    from torch._overrides import has_torch_function\n"
        "else:\n"
        "    from torch.nn.modules.linear import NonDynamicallyQuantizableLinear as _LinearWithBias\n"
        "    from torch.overrides import has_torch_function\n\n\n"
        "class Attention(nn.Module):\n    bias: Optional[torch.Tensor]\n\n    def __init__(self):\n"
        "        super().__init__()\n        self.out = _LinearWithBias(4, 4)\n\n"
        "    def forward(self, x):\n        return self.out(x) if not has_torch_function((x,)) else None\n"
    )
    result = translate_source(text)
    assert not [found for found in result.diagnostics if str(found.severity) != "note"]
    assert "import torch\n" not in result.text
    assert "self.out = Dense(4, 4)" in result.text
    assert "bias: Optional[ms.Tensor]" in result.text or "bias: typing.Optional[ms.Tensor]" in result.text


LOSSES = """
import torch
import torch.nn as nn
import torch.nn.functional as F
criterion = nn.CrossEntropyLoss()


def run(net, loader, x, y, optimizer):
    for images, labels in loader:
        loss = criterion(net(images), labels){more}
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        correct = (y == x).sum()
        print({read})
"""


@pytest.mark.parametrize(
    ("read", "more", "now"),
    [
        ("loss.data[0]", "", "print(ops.stop_gradient(loss))"),
        ("loss.data[0]", " + 0.1 * F.mse_loss(x, y)", "print(ops.stop_gradient(loss))"),
        ("loss.cpu().data[0]", "", "print(ops.stop_gradient(loss))"),
        ("loss.data.cpu().numpy()[0]", "", "print(ops.stop_gradient(loss).asnumpy())"),
        ("correct.data[0]", "", "print(correct.data)"),
        ("torch.zeros(3).data[0]", "", "print(ops.stop_gradient(ops.zeros(3))[0])"),  # has an axis
        ("torch.mm(x, y).data[0]", "", "print(ops.stop_gradient(ops.mm(x, y))[0])"),
        ("loss.data[1]", "", "print(ops.stop_gradient(loss)[1])"),
    ],
)
def test_the_number_of_a_loss_was_its_first_element(read: str, more: str, now: str) -> None:
    assert now in translate_source(LOSSES.format(read=read, more=more)).text


def test_what_is_no_loss_keeps_its_index() -> None:
    text = translate_source(LOSSES.format(read="loss.data[0]", more="\n        loss = torch.mm(x, y)")).text
    assert "print(ops.stop_gradient(loss)[0])" in text


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("loss = torch.nn.MSELoss(reduction='elementwise_mean')\n", "nn.MSELoss(reduction='mean')"),
        ("loss = torch.nn.functional.mse_loss(x, y, reduction='elementwise_mean')\n", "reduction='mean')"),
        ("def f(w, init=torch.nn.init.xavier_uniform):\n    init(w)\n", "init=initializers.xavier_uniform_)"),
    ],
)
def test_names_of_pytorch_04(body: str, expected: str) -> None:
    assert expected in _translated(body)
