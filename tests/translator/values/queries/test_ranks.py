"""Ranks: a layer that is handed one sample without a batch is called through the runtime, all others as they are."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

HEAD = "import torch\nfrom torch import nn\n"


@pytest.mark.parametrize(
    "body",
    [
        "conv = nn.Conv2d(3, 6, 3)\nconv(torch.ones(3, 7, 7))\n",
        "conv = nn.Conv2d(3, 6, 3)\nx = torch.zeros((1, 3, 7, 7))[0]\nconv(input=x)\n",
        "rnn = nn.LSTM(3, 4)\nx = torch.arange(15.0).reshape(5, 3)\nrnn(x)\n",
        "cell = nn.GRUCell(3, 4)\ncell(torch.tensor([1.0, 2.0, 3.0]))\n",
    ],
)
def test_a_single_sample_gets_a_batch(body: str) -> None:
    assert "unbatched.run(" in translate_source(HEAD + body).text


@pytest.mark.parametrize(
    "body",
    [
        "conv = nn.Conv2d(3, 6, 3)\nconv(torch.ones(1, 3, 7, 7))\n",
        "conv = nn.Conv2d(3, 6, 3)\nconv(torch.ones(3, 7, 7).unsqueeze(0))\n",
        "conv = nn.Conv2d(3, 6, 3)\ndef f(x):\n    return conv(x)\n",
        "rnn = nn.LSTM(3, 4)\nrnn(torch.arange(15.0).view(5, 1, 3))\n",
        "fc = nn.Linear(3, 4)\nfc(torch.ones(3))\n",
    ],
)
def test_everything_else_is_called_as_it_is(body: str) -> None:
    assert "unbatched" not in translate_source(HEAD + body).text


AXES = "import torch\ndef f(x: torch.Tensor):\n    return x.flip(0)\n"


@pytest.mark.parametrize(
    "body",
    [
        "data = [[1, 2], [3, 4]]\nx = torch.tensor(data)\n",
        "x = torch.as_tensor(torch.ones(2, 3), dtype=torch.float64)\n",
        "row = [1.0, 2.0]\nx = torch.tensor(row)\n",
        "def make(values):\n    x = torch.tensor(values)\n    return x.flip(0)\n",
        "x = torch.tensor(2.5)\nx = torch.load('x.pt')\n",
        "for x in torch.ones(2, 3):\n    print(x.flip(0))\nx = torch.tensor(2.5)\n",
        "x, n = torch.load('x.pt')\nx = torch.tensor(2.5)\n",
        "x = torch.tensor(2.5)\nx = x.unsqueeze(0)\n",
    ],
)
def test_what_a_tensor_is_made_of_has_axes_too(body: str) -> None:
    assert ".copy()" not in translate_source(AXES + body + "print(x.flip(0))\n").text


@pytest.mark.parametrize(
    "body",
    [
        "x = torch.tensor(2.5)\n",
        f"{AXES}x = torch.tensor(2.5)\n",  # f has an x of its own
        "k = 2.5\nx = torch.tensor(k)\n",
        "x = torch.tensor(0.0)\nx = x + torch.tensor(1)\n",
    ],
)
def test_a_tensor_without_axes_is_copied_where_axes_change(body: str) -> None:
    assert "x.copy()" in translate_source(f"import torch\n{body}print(x.flip(0))\n").text


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("out[1] = torch.pow(rows, 2)", "out[1] = ops.pow(rows, 2).squeeze(0)"),
        ("out[1] = rows * 2 + 1", "out[1] = (rows * 2 + 1).squeeze(0)"),
        ("out[1, :] = rows.sqrt()", "out[1, :] = rows.sqrt().squeeze(0)"),
        ("out[1] = torch.pow(out[0], 2)", "out[1] = ops.pow(out[0], 2)"),
        ("out[1:2] = rows * 2", "out[1:2] = rows * 2"),
        ("out[1] = torch.pow(other, 2)", "out[1] = ops.pow(other, 2).reshape(-1)"),
        ("nn.Linear(4, 3).weight.data[1] = rows + 0", "nn.Dense(4, 3).weight[1] = (rows + 0).squeeze(0)"),
        ("nn.Linear(4, 3).bias.data[1] = rows.sum()", "nn.Dense(4, 3).bias[1] = rows.sum()"),
    ],
)
def test_a_value_of_more_axes_loses_those_of_one(line: str, expected: str) -> None:
    made = "import torch\nfrom torch import nn\nout = torch.zeros(3, 4)\nrows = torch.arange(4.0).reshape(1, -1)\n"
    made += "other = torch.load('x.pt')\n"
    assert f"\n{expected}\n" in translate_source(f"{made}{line}\n").text
