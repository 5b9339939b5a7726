"""Conditionals that only chose devices go with what they did."""

from __future__ import annotations

import pytest

from torch2ms import translate_source

MOVE = "import torch\nx = torch.ones(3)\n{}y = x + 1\n"


def translated(code: str) -> str:
    return translate_source(MOVE.format(code)).text.partition("x = ops.ones(3)\n")[2]


@pytest.mark.parametrize(
    "code",
    [
        "if torch.cuda.is_available():\n    x = x.cuda()\n",
        "if args.cuda and torch.cuda.device_count() > 1:\n    x = x.cuda()\n    torch.backends.cudnn.enabled = True\n",
        "if use_cuda:\n    if len(gpus) > 1:\n        x = x.cuda()\n",
        "if use_cuda:\n    x = x.cuda()\nelse:\n    x = x.cpu()\n",
    ],
)
def test_nothing_is_left_of_it(code: str) -> None:
    assert translated(code) == "y = x + 1\n"


def test_what_else_it_does_stays() -> None:
    assert translated("if ready():\n    x = x.cuda()\n") == "if ready():\n    pass\ny = x + 1\n"
    assert translated("if cuda:\n    pass\n") == "if cuda:\n    pass\ny = x + 1\n"
    assert translated("if cuda:\n    # to the device\n    x = x.cuda()\n") == (
        "if cuda:\n    # to the device\n    pass\ny = x + 1\n"
    )
    assert translated("if cuda:\n    x = x.cuda()\nelse:\n    print(1)\n") == (
        "if cuda:\n    pass\nelse:\n    print(1)\ny = x + 1\n"
    )
    assert translated("if cuda:\n    print(1)\nelse:\n    x = x.cpu()\n") == "if cuda:\n    print(1)\ny = x + 1\n"
