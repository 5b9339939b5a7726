"""Comments and settings that silence diagnostics: of which lines, which codes, and that they are counted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from torch2ms.config import Options
from torch2ms.translator.pipeline import translate_project, translate_source
from torch2ms.translator.project.directives import silence

BEGIN = "import torch\n"


@pytest.mark.parametrize(
    "text",
    [
        "x = torch.bogus(1)  # torch2ms: ignore[T2M202]\n",
        "x = torch.bogus(1)  # noqa  # torch2ms: ignore[T2M401, T2M202]\n",
        "# torch2ms: ignore[T2M202]\nx = torch.bogus(1)\n",
        "x = torch.bogus(\n    1,\n)  # torch2ms: ignore[T2M202]\n",
        "x = torch.bogus(  # torch2ms: ignore[t2m202]\n    1,\n)\n",
        "def f():\n    # torch2ms: ignore[T2M202]\n    return torch.bogus(1)\n",
    ],
)
def test_a_comment_silences_its_statement_and_is_counted(text: str) -> None:
    result = translate_source(BEGIN + text)
    assert result.diagnostics == ()
    assert [found.code for found in result.silenced] == ["T2M202"]
    assert "# TORCH2MS " not in result.text.replace("# TORCH2MS below", "").replace("marked TORCH2MS", "")
    assert text.splitlines()[0] in result.text


@pytest.mark.parametrize(
    "text",
    [
        "x = torch.bogus(1)  # torch2ms: ignore[T2M203]\n",
        "x = torch.bogus(1)  # torch2ms: ignore\n",
        "y = 1  # torch2ms: ignore[T2M202]\nx = torch.bogus(1)\n",
        "x = torch.bogus('# torch2ms: ignore[T2M202]')\n",
    ],
)
def test_other_codes_other_lines_and_texts_silence_nothing(text: str) -> None:
    result = translate_source(BEGIN + text)
    assert [found.code for found in result.diagnostics] == ["T2M202"]
    assert result.silenced == ()


def test_a_fault_of_ours_is_never_silenced() -> None:
    assert not silence("a.py", "x = 1  # torch2ms: ignore[T2M900]\n", (("*", ("T2M",)),)).hides("T2M900", 1)


def test_settings_silence_codes_by_file(make_tree: Callable[..., Path], tmp_path: Path) -> None:
    text = BEGIN + "torch.bogus()\n"
    src = make_tree({"a.py": text, "tests/a.py": text, "tests/run.sh": "python -m torch.distributed.launch\n"})
    report = translate_project(src, tmp_path / "out", Options(ignores=(("tests/**", ("T2M2", "T2M802")),)))
    assert [(found.code, found.file) for found in report.diagnostics] == [("T2M202", "a.py")]
    assert [(found.code, found.file) for found in report.silenced] == [
        ("T2M202", "tests/a.py"),
        ("T2M802", "tests/run.sh"),
    ]
    assert "TORCH2MS T2M202" not in (tmp_path / "out/tests/a.py").read_text()
