"""The texts of tensors in the translation: as PyTorch writes them where a program makes values of them, or is small."""

from __future__ import annotations

import pytest

from torch2ms import translate_source


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("print('x', x)", "print('x', functional.tensor_text(x))"),
        ("s = str(x)", "s = functional.tensor_text(x)"),
        ("s = repr([x.sum()])", "s = functional.tensor_text([x.sum()])"),
        ("s = f'{x} {x.sum()}'", "s = f'{functional.formatted_text(x)} {x.sum().item()}'"),
        ("s = f'{x!r}'", "s = f'{functional.tensor_text(x)}'"),
        ("print(x.max(0))", 'print(functional.tensor_text(ops.max(x, 0), "max"))'),
        ("y = torch.sort(x)\nprint(y)", 'print(functional.tensor_text(y, "sort"))'),
        ("s = '%s: %d' % (x, 3)", "s = '%s: %d' % (functional.tensor_text(x), 3)"),
        ("s = '{}'.format(x)", "s = '{}'.format(functional.formatted_text(x))"),
    ],
)
def test_become_those_of_pytorch(code: str, expected: str) -> None:
    assert expected in translate_source(f"import torch\nx = torch.arange(3.0)\n{code}\n").text


@pytest.mark.parametrize(
    "code",
    [
        "print(n, str(n), f'{n}')",
        "print(x.tolist(), x.sum().item())",
        "print(x)\nnet.named_parameters()",  # a network's program shows its losses to people
        "s = '%d' % n",
    ],
)
def test_stay(code: str) -> None:
    text = f"import torch\nx = torch.arange(3.0)\nn = x.shape[0]\n{code}\n"
    assert "_text" not in translate_source(text).text


def test_a_tensor_with_a_gradient_says_so_in_pytorch() -> None:
    text = "import torch\nx = torch.ones(2, requires_grad=True)\ny = torch.ones(2)\nprint({})\n"
    told = {
        name: translate_source(text.format(name)).text.count("TORCH2MS T2M303")
        for name in ("x", "x * 2", "y", "x.grad")
    }
    assert told == {"x": 1, "x * 2": 1, "y": 0, "x.grad": 0}


def test_expected_exceptions_are_told() -> None:
    text = "import pytest\nimport torch\nwith pytest.raises({}):\n    torch.ones(2) @ torch.ones(3)\n"
    assert "TORCH2MS T2M303" in translate_source(text.format("RuntimeError")).text
    assert "TORCH2MS T2M303" not in translate_source(text.format("KeyError")).text


def test_a_gradient_that_is_kept_with_its_weight_shows_its_values() -> None:
    source = (
        "import torch\nnet = torch.nn.Linear(2, 1)\nprint('none', net.weight.grad)\n"
        "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\nnet(torch.ones(1, 2)).sum().backward()\n"
        "print(f'first {net.weight.grad}')\nnet(torch.ones(1, 2)).sum().backward()\noptimizer.step()\n"
        "print('second', net.weight.grad)\n"
    )
    emitted = translate_source(source).text
    assert "print(f'first {functional.formatted_text(gradients.of(net.weight))}')\n" in emitted
    assert "print('second', functional.tensor_text(gradients.of(net.weight)))\n" in emitted


WEIGHTS = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3))

    def forward(self, x):
        print(self.w)
        return x * self.w


net = Net()
print(net.w, net(net.w))
for name, weight in net.named_parameters():
    print(name, weight)
"""


def test_weights_are_written_with_their_values_outside_of_networks() -> None:
    """MindSpore's own text of a Parameter has its name and shape alone."""
    result = translate_source(WEIGHTS)
    assert "print(functional.tensor_text(net.w), net(net.w))" in result.text
    assert "print(name, functional.tensor_text(weight))" in result.text
    assert "        print(self.w)\n" in result.text
    assert "warning" not in {str(found.severity) for found in result.diagnostics}
