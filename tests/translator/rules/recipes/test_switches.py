"""Switches that MindSpore lacks: dropped where nothing reads them, kept by the runtime where the program does."""

from __future__ import annotations

from pathlib import Path

import pytest

from torch2ms import translate_project, translate_source


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("import torch\ntorch.backends.cudnn.benchmark = True\nx = 1\n", "x = 1\n"),
        ("from torch.backends import cudnn\ncudnn.deterministic = True\nx = 1\n", "x = 1\n"),
        ("import torch\nprint(torch.backends.cudnn.benchmark)\n", "print(False)\n"),
        ("import torch\ntorch.set_float32_matmul_precision('high')\nx = 1\n", "x = 1\n"),
        ("import torch\nprint(torch.get_float32_matmul_precision())\n", "print('highest')\n"),
        ("import torch\nprint(torch.get_num_threads())\n", "print(os.cpu_count())\n"),
        ("class Args:\n    benchmark = False\n\n\nArgs.benchmark = True\nprint(Args.benchmark)\n", None),
    ],
)
def test_a_switch_that_is_only_set_or_only_read(source: str, wanted: str | None) -> None:
    text = translate_source(source).text
    assert text == source if wanted is None else text.endswith(wanted) and "switches" not in text


def test_a_switch_that_is_set_and_read() -> None:
    source = (
        "import torch\n\ntorch.backends.cudnn.benchmark = not torch.backends.cudnn.deterministic\n"
        "print(torch.backends.cudnn.benchmark)\ntorch.set_num_threads(2)\nprint(torch.get_num_threads())\n"
    )
    assert translate_source(source).text == (
        "from torch2ms_runtime import switches\n\n"
        'switches.put("torch.backends.cudnn.benchmark", True)\n'
        'print(switches.get("torch.backends.cudnn.benchmark", False))\n'
        'switches.put("torch.get_num_threads", 2)\n'
        'print(switches.get("torch.get_num_threads", 1))\n'
    )


def test_a_switch_that_another_file_reads(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "setup.py").write_text("from torch.backends import cudnn\n\n\ndef fast():\n    cudnn.benchmark = True\n")
    (source / "main.py").write_text(
        "import torch\nfrom setup import fast\n\nfast()\nprint(torch.backends.cudnn.benchmark)\n"
    )
    translate_project(source, tmp_path / "out")
    assert (
        (tmp_path / "out" / "setup.py")
        .read_text()
        .endswith('def fast():\n    switches.put("torch.backends.cudnn.benchmark", True)\n')
    )
    assert (
        (tmp_path / "out" / "main.py")
        .read_text()
        .endswith('print(switches.get("torch.backends.cudnn.benchmark", False))\n')
    )
