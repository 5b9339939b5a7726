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
