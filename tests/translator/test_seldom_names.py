"""Names of PyTorch that are seldom written, in the ways that programs write them."""

from __future__ import annotations

import pytest

from torch2ms import translate_source


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "from torch.signal import windows\nw = windows.hann(5)",
            "from torch2ms_runtime import windows\nw = windows.hann(5)",
        ),
        ("import torch\ny = torch.kl_div(torch.ones(2), torch.ones(2))", "y = aten.kl_div(ops.ones(2), ops.ones(2))"),
        ("import torch\ny = torch.squeeze_copy(torch.ones(1, 2), 0)", "functional.squeeze_copy(ops.ones((1, 2)), 0)"),
        ("import torch\ndef f(n: torch.SymInt): return n", "def f(n: absent.SymInt): return n"),
        ("import torch\nprint(torch.ones(2).is_cpu)", "print(device.is_on_cpu())"),
        ("import torch\nx = torch.ones(2)\ntorch.nan_to_num_(x)", "functional.nan_to_num(x)"),
        ("import torch\nx = torch.ones(2)[:, torch.newaxis]", "[:, np.newaxis]"),
    ],
)
def test_is_translated(source: str, expected: str) -> None:
    result = translate_source(source + "\n")
    assert expected in result.text
    assert not [d for d in result.diagnostics if d.code in ("T2M201", "T2M202")]


@pytest.mark.parametrize(
    ("source", "advice"),
    [
        ("torch.symeig(torch.eye(2))", "torch.linalg.eigvalsh(A, UPLO='U')"),
        ("torch.ones(2, 2).lstsq(torch.eye(2))", "torch.linalg.lstsq(A, B).solution"),
        ("torch.cudnn_convolution", "torch.nn.functional"),
        ("torch.FloatStorage(3)", "asnumpy()"),
    ],
)
def test_is_known_and_said_what_to_do(source: str, advice: str) -> None:
    result = translate_source(f"import torch\nx = {source}\n")
    (found,) = [d for d in result.diagnostics if d.code in ("T2M201", "T2M202")]
    assert found.code == "T2M201"
    assert advice in found.advice + found.message
