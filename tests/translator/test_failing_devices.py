"""With ``--device gpu``, a call whose examples failed on a GPU says so where it stands."""

from __future__ import annotations

import pytest

from torch2ms.config import Options, Target
from torch2ms.mapping_tables import proofs
from torch2ms.mapping_tables.proofs import Proof
from torch2ms.translator.pipeline import translate_source

SOURCE = "import torch\n\n\ndef f(x: torch.Tensor):\n    return torch.abs(x)\n"
FAILED = Proof("torch.abs", 0, "2.10.0", "GPU", "error", None, "", "mindspore: RuntimeError: Unsupported op [Abs]")
AGREED = Proof("torch.abs", 1, "2.10.0", "GPU", "equal", 0.0, "")


@pytest.mark.parametrize(
    ("found", "device", "told"),
    [
        ([FAILED], "gpu", True),
        ([FAILED], "portable", False),
        ([FAILED], "cpu", False),
        ([FAILED, AGREED], "gpu", False),
        ([AGREED], "gpu", False),
        ([], "gpu", False),
    ],
)
def test_what_failed_in_every_example_is_told(
    found: list[Proof], device: str, told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proofs, "_shipped", lambda: {"torch.abs": found})
    result = translate_source(SOURCE, options=Options(target=Target((2, 10), device)))  # type: ignore[arg-type]
    assert ("T2M204" in [item.code for item in result.diagnostics]) is told
    assert ("# TORCH2MS T2M204: torch.abs failed on GPU" in result.text) is told
    assert "ops.abs(x)" in result.text


def test_another_release_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proofs, "_shipped", lambda: {"torch.abs": [FAILED]})
    result = translate_source(SOURCE, options=Options(target=Target((2, 9), "gpu")))
    assert "T2M204" not in [item.code for item in result.diagnostics]
