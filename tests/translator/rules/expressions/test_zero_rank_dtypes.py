"""Operands without axes that are wider than what they meet, and layers that are handed one sample."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

NET = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"


def translated(source: str) -> str:
    return translate_source(f"import torch\nimport numpy as np\nfrom torch import nn\n{source}\n").text


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("torch.ones(3)", "torch.tensor(1.0, dtype=torch.float64)", "a * b.astype(ms.float32)"),
        ("torch.ones(3, dtype=torch.uint8)", "torch.tensor(300)", "a * b.astype(ms.uint8)"),
        ("torch.ones(2, dtype=torch.half)", "torch.ones(3).mean()", "a * b.astype(ms.float16)"),
        ("torch.tensor(2.0, dtype=torch.float64)", "torch.ones(3)", "a.astype(ms.float32) * b"),
        ("torch.ones(3)", "torch.tensor(2)", "a * b"),  # of another kind: the same dtype in both
        ("torch.ones(3)", "torch.ones(1, dtype=torch.float64)", "a * b"),  # it has an axis
        ("torch.tensor(1.0)", "torch.tensor(1.0, dtype=torch.float64)", "a * b"),  # neither has
    ],
)
def test_a_wider_tensor_without_axes_takes_the_dtype(left: str, right: str, expected: str) -> None:
    assert f"c = {expected}\n" in translated(f"a = {left}\nb = {right}\nc = a * b")


@pytest.mark.parametrize(
    ("made", "change", "expected"),
    [
        ("torch.zeros(3)", "y.add_(z)", "y = (y + z).astype(y.dtype)"),
        ("torch.zeros(3)", "y.mul_(z).sub_(1)", "y = (y * z).astype(y.dtype) - 1"),
        ("torch.zeros(3)", "y.mul_(2).add_(z, alpha=0.1)", "y = (y * 2 + 0.1 * z).astype(ms.float32)"),
        ("torch.zeros(3)", "y.lerp_(z, 0.5)", "y = y.lerp(z, 0.5).astype(y.dtype)"),
        ("torch.zeros(3, dtype=torch.double)", "y.add_(z)", "y = y + z"),
        ("torch.zeros(3)", "y.add_(2.0)", "y = y + 2.0"),
        ("torch.zeros(3)", "y.add_(torch.ones(3))", "y = y + ops.ones(3)"),
        ("torch.zeros(3)", "y.add_(torch.arange(3))", "y = y + ops.arange(3)"),  # ints widen no floats
    ],
)
def test_what_changes_in_place_keeps_its_dtype(made: str, change: str, expected: str) -> None:
    assert f"{expected}\n" in translated(f"y = {made}\nz = torch.ones(3, dtype=torch.float64)\n{change}")


def test_a_layer_within_a_network_may_be_handed_one_sample() -> None:
    net = (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.rnn = nn.GRU(4, 2)\n"
    )
    net += "    def forward(self, x):\n        return self.rnn(x)\n"
    assert "unbatched.run(self.rnn, x)" in translated(f"{net}y = Net()(torch.ones(3, 4))")
    assert "unbatched" not in translated(f"{net}y = Net()(torch.ones(3, 1, 4))")


def test_the_axes_of_an_array_are_known() -> None:
    array = "np.arange(12.0).reshape(3, 4).astype(np.float32)"
    assert "unbatched.run(rnn, x)" in translated(f"rnn = nn.LSTM(4, 2)\nx = torch.from_numpy({array})\ny, _ = rnn(x)")


def test_a_sequence_that_begins_with_a_convolution_may_be_handed_one_sample() -> None:
    net = "net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU())\n"
    assert "unbatched.run(net, x)" in translated(f"{net}x = torch.ones(1, 6, 6)\ny = net(x)")
    assert "unbatched" not in translated(f"{net}x = torch.ones(2, 1, 6, 6)\ny = net(x)")


def test_a_change_of_data_that_is_differentiated_is_told_of() -> None:
    source = "import torch\nw = torch.ones(2, requires_grad=True)\ny = w * 2\ny.data[0] = 3\n(y * y).sum().backward()\n"
    assert "T2M305" in [d.code for d in translate_source(source + "print(w.grad)\n").diagnostics]


def test_the_gradients_of_a_part_of_a_network_by_a_name_that_the_file_has_too() -> None:
    net = (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = nn.Linear(2, 2)\n"
    )
    net += "    def forward(self, x):\n        return self.a(x)\n"
    rest = "p = torch.ones(2)\nnet = Net()\nnet(p).sum().backward()\n"
    text = translated(f"{net}{rest}found = {{n: p.grad for n, p in net.a.named_parameters()}}")
    assert "gradient_of(p, net.trainable_params(), grads)" in text
