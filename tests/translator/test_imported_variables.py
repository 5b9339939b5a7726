"""Variables of other files that hold one of several names of torch's: imported, and read as variables."""

from __future__ import annotations

from pathlib import Path

from torch2ms import translate_project, translate_source
from torch2ms.diagnostics import Severity

COMMON = """import os
import torch

_TYPES = {"float16": torch.float16, "float32": torch.float32}


def _detect():
    given = os.environ.get("TYPE")
    if given is not None:
        return _TYPES[given], f"given as {given}"
    return torch.float32, "none given"


COMPUTE, REASON = _detect()
ACT = torch.relu if COMPUTE == torch.float32 else torch.tanh
FIXED = torch.int64
"""
MAIN = """import torch
from common import ACT, COMPUTE, FIXED, REASON

x = torch.zeros(3, dtype=COMPUTE)
print(ACT(x).shape, REASON, x.to(COMPUTE).dtype == COMPUTE)
index = torch.zeros(3, dtype=FIXED)
"""


def test_they_are_read_as_what_the_other_file_chose(tmp_path: Path) -> None:
    source = tmp_path / "src"
    source.mkdir()
    (source / "common.py").write_text(COMMON)
    (source / "main.py").write_text(MAIN)
    report = translate_project(source, tmp_path / "out")
    text = (tmp_path / "out" / "main.py").read_text()
    assert "from common import ACT, COMPUTE, REASON\n" in text
    assert "x = ops.zeros(3, dtype=COMPUTE)\n" in text
    assert "print(ACT(x).shape, REASON, x.astype(COMPUTE).dtype == COMPUTE)\n" in text
    assert [d for d in report.diagnostics if d.severity >= Severity.ERROR] == []


def test_the_forward_of_any_network_takes_any_argument() -> None:
    text = translate_source(
        "from torch import nn\n\n\ndef ask(model: nn.Module, ids, cache):\n    return model.forward(ids, cache=cache)\n"
    ).text
    assert "return model.construct(ids, cache=cache)\n" in text
