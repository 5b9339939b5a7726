"""Imports in a ``try``, and behind a test of PyTorch's release: what is always there means PyTorch's."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source

FALLBACK = """import torch

try:
    from torch.nn import SiLU
except {caught}:

    class SiLU(torch.nn.Module):
        def forward(self, x):
            return x * torch.sigmoid(x)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.act = SiLU(inplace=True)
"""

EXPECTED = """from mindspore import nn
from mindspore.nn import SiLU as ms_SiLU


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.act = ms_SiLU()
"""


@pytest.mark.parametrize("caught", ["ImportError", "ModuleNotFoundError", "(ImportError, AttributeError)", "Exception"])
def test_fallback_of_a_name_that_is_there_is_never_reached(caught: str) -> None:
    assert translate_source(FALLBACK.format(caught=caught)).text == EXPECTED


def test_flag_beside_the_name_stays() -> None:
    source = """try:
    from torch import lerp
    HAS = True
except ImportError:
    lerp = None
    HAS = False
y = lerp(x, x, 0.5) if HAS else x
"""
    assert translate_source(source).text == (
        "from mindspore.ops import lerp as ms_lerp\n"
        "try:\n    HAS = True\nexcept ImportError:\n    lerp = None\n    HAS = False\n"
        "y = ms_lerp(x, x, 0.5) if HAS else x\n"
    )


def test_branch_of_an_older_release_is_never_reached() -> None:
    source = """import torch
if torch.__version__ {test}:
    from torch.fft import irfft
else:
    def irfft(x, n=None):
        return n
y = irfft(x)
"""
    for test, expected in ((">= '1.8'", "y = t2m_irfft(x)"), ("< '1.8'", "y = irfft(x)")):
        text = translate_source(source.format(test=test)).text
        assert text.rpartition("\n\n")[2].splitlines()[-1] == expected, text


@pytest.mark.parametrize(
    "body",
    [
        "from torch import no_such_name",  # the fallback is what PyTorch takes as well
        "import bitsandbytes\n    from torch import lerp",  # the first import may fail
        "from torch import lerp\n    lerp(x, x, 0.5)",  # so may a call
    ],
)
def test_other_handlers_may_be_reached(body: str) -> None:
    name = body.rpartition("import ")[2].split()[0]
    source = f"try:\n    {body}\nexcept ImportError:\n    def {name}(*a):\n        return 7\ny = {name}(x, x, 0.5)\n"
    assert f"y = {name}(x, x, 0.5)\n" in translate_source(source).text


def test_another_binding_of_the_name_counts() -> None:
    source = """try:
    from torch import lerp
except ImportError:
    lerp = None
if x:
    lerp = max
y = lerp(a, b, 0.5)
"""
    assert "y = lerp(a, b, 0.5)\n" in translate_source(source).text
