"""Types by PyTorch's old names, for networks and for what could be either."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source

_HEAD = (
    "import torch\nfrom torch import nn\nuse_cuda = torch.cuda.is_available()\n"
    "dtype = torch.cuda.FloatTensor if use_cuda else torch.FloatTensor\n"
)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("net = nn.Linear(3, 2).type(dtype)\n", "net = modules.cast(nn.Dense(3, 2), ms.float32)"),
        ("net = nn.Linear(3, 2).type(torch.FloatTensor)\n", "net = modules.cast(nn.Dense(3, 2), ms.float32)"),
        ("net = nn.Linear(3, 2).type('torch.FloatTensor')\n", "net = modules.cast(nn.Dense(3, 2), ms.float32)"),
        ("def f(make):\n    q = make(3).type(dtype)\n    return q\n", "q = states.of_type(make(3), ms.float32)"),
        ("def f(x):\n    return x.type(torch.float64)\n", "states.of_type(x, ms.float64)"),
    ],
)
def test_networks_take_types(source: str, expected: str) -> None:
    result = translate_source(_HEAD + source)
    assert expected in result.text
    assert not [found for found in result.diagnostics if found.code in ("T2M207", "T2M303", "T2M900")]


@pytest.mark.parametrize("given", ["make()", "torch.LongTensor", "x.type()"])
def test_others_stay_as_they_were(given: str) -> None:
    source = f"def f(x, make):\n    return x.type({given})\n"
    assert "of_type(x, ms" not in translate_source(_HEAD + source).text
