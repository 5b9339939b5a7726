"""Moves between devices go; casts stay; what cannot be told is decided at run time."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source

HEAD = (
    "import torch\nimport torch.nn as nn\n\n\ndef run(x: torch.Tensor, net: nn.Linear, device, dtype, other, args):\n"
    "    torch.cuda.set_device(device)\n    torch.zeros(1, dtype=dtype)\n"
)


def translated(line: str) -> tuple[str, list[str]]:
    """Return the last line of the translated function, and the codes given."""
    result = translate_source(f"{HEAD}    a = 1\n    {line}\n")
    return result.text.rstrip().rsplit("\n", 1)[-1].strip(), [diagnostic.code for diagnostic in result.diagnostics]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("y = x.to(device)", "y = x"),
        ("y = x.to('cuda:0', non_blocking=True)", "y = x"),
        ("y = x.to(args.device)", "y = t2m_device.to(x, args.device)"),
        ("y = x.cuda()", "y = x"),
        ("y = x.to(torch.float16)", "y = x.astype(ms.float16)"),
        ("y = x.to(device, torch.float16)", "y = x.astype(ms.float16)"),
        ("y = x.to(device=device, dtype=dtype)", "y = x.astype(dtype)"),
        ("y = x.to(x)", "y = x.astype(x.dtype)"),
        ("y = x.to(other)", "y = t2m_device.to(x, other)"),
        ("y = net.to(device)", "y = net"),
        ("y = net.to(torch.float16)", "y = modules.cast(net, ms.float16)"),
        ("return nn.Linear(2, 3).to(device).eval()", "return nn.Dense(2, 3).set_train(False)"),
    ],
)
def test_a_move_becomes_its_receiver_and_a_cast_stays(line: str, expected: str) -> None:
    assert translated(line)[0] == expected


@pytest.mark.parametrize("line", ["net.to(device)", "net.cuda()", "x = x.to(device)"])
def test_a_statement_that_only_moves_goes(line: str) -> None:
    text, codes = translated(line)
    assert text == "a = 1"
    assert "T2M301" in codes


def test_a_device_lives_on_as_a_value() -> None:
    source = 'import torch\ndevice = torch.device("cuda" if torch.cuda.is_available() else "cpu")\nprint(device)\n'
    result = translate_source(source)
    assert 't2m_device.Device("cuda" if ms.get_context("device_target") != "CPU" else "cpu")' in result.text
    assert "print(device)" in result.text
    assert "import torch\n" not in result.text


def test_arguments_that_are_starred_are_left() -> None:
    text, codes = translated("y = x.to(*args)")
    assert text == "y = x.to(*args)"
    assert "T2M203" in codes
