"""The pipeline: one bad file is one reported file, and the order of work shows nowhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from torch2ms.config import Options
from torch2ms.diagnostics import Severity
from torch2ms.errors import OutputError
from torch2ms.translator import pipeline
from torch2ms.translator.output.file_result import FileResult
from torch2ms.translator.pipeline import translate_project, translate_source
from torch2ms.translator.values.flow import Flow

MakeTree = Callable[..., Path]
NET = "import torch.nn as nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return x.size(0)\n"
FILES = {
    "net.py": NET,
    "main.py": "from net import Net\n\nprint(Net()(3))\n",
    "bad.py": "import torch\nprint 'no'\n",
    "free.py": "x = 1\n",
    "data/a.bin": b"\0\1",
    "run.sh": "python -m torch.distributed.run main.py\n",
}


def test_source_needs_no_file() -> None:
    result = translate_source("import torch\nx = torch.ones(2)\n")
    assert result.text == "from mindspore import ops\nx = ops.ones(2)\n"
    assert [use.name for use in result.uses] == ["torch.ones"]


def test_source_that_does_not_parse_is_refused() -> None:
    with pytest.raises(SyntaxError):
        translate_source("def")


def test_a_bad_file_is_one_reported_file(make_tree: MakeTree) -> None:
    report = translate_project(make_tree(FILES), None)
    status = {file.path: file.status for file in report.files}
    assert status["bad.py"] == "failed"
    assert status["net.py"] == "translated"
    assert {d.file for d in report.diagnostics if d.severity == Severity.ERROR} == {"bad.py"}


def test_what_is_no_python_is_copied(make_tree: MakeTree, tmp_path: Path) -> None:
    source, out = make_tree(FILES), tmp_path / "out"
    report = translate_project(source, out)
    for path in ("data/a.bin", "run.sh", "bad.py", "free.py"):
        assert (out / path).read_bytes() == (source / path).read_bytes()
    assert "T2M802" in {d.code for d in report.diagnostics if d.file == "run.sh"}


def test_source_is_never_touched(make_tree: MakeTree, tmp_path: Path) -> None:
    source = make_tree(FILES)
    before = {path: path.read_bytes() for path in source.rglob("*") if path.is_file()}
    translate_project(source, tmp_path / "out")
    assert {path: path.read_bytes() for path in source.rglob("*") if path.is_file()} == before


def test_an_existing_out_is_refused_without_force(make_tree: MakeTree, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("x")
    with pytest.raises(OutputError):
        translate_project(make_tree(FILES), tmp_path / "out")
    assert (tmp_path / "out" / "mine").read_text() == "x"


def test_a_dry_run_writes_nothing(make_tree: MakeTree, tmp_path: Path) -> None:
    translate_project(make_tree(FILES), tmp_path / "out", dry_run=True)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_processes_change_nothing(make_tree: MakeTree) -> None:
    """Of a project of this size the index is made by several processes too."""
    many = {
        f"parts/layer{n}.py": f"import torch\n\n\ndef half{n}(x):\n    return torch.relu(x) / 2\n" for n in range(30)
    }
    source = make_tree(
        {**FILES, **many, "parts/broken.py": "def f(:\n", "parts/late.py": "from parts.layer7 import *\n"}
    )
    assert translate_project(source, None) == translate_project(source, None, Options(jobs=2))


def test_no_path_of_the_machine_is_written(make_tree: MakeTree, tmp_path: Path) -> None:
    source, out = make_tree(FILES), tmp_path / "out"
    translate_project(source, out)
    for path in out.rglob("*"):
        if path.is_file():
            assert str(tmp_path).encode() not in path.read_bytes(), path


def test_a_file_that_takes_too_long_costs_one_file(make_tree: MakeTree, monkeypatch: pytest.MonkeyPatch) -> None:
    original = pipeline.translate_file

    def slow(path: str, *rest: object) -> FileResult:
        if path == "net.py":
            raise TimeoutError
        return original(path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(pipeline, "translate_file", slow)
    report = translate_project(make_tree(FILES), None)
    status = {file.path: file.status for file in report.files}
    assert status["net.py"] == "failed"
    assert ("net.py", "T2M105") in {(d.file, d.code) for d in report.diagnostics}


def test_a_file_that_asks_one_that_takes_too_long_is_translated(
    make_tree: MakeTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Flow.run_function
    asked: list[str] = []

    def run(flow: Flow) -> None:
        if flow.analysis.path == "slow.py":
            asked.append(flow.analysis.path)
            raise TimeoutError
        original(flow)

    monkeypatch.setattr(Flow, "run_function", run)
    files = {
        "a.py": "import torch\nfrom slow import f\n\ny = f(torch.ones(2)).size(0)\n",
        "b.py": "import torch\nfrom slow import f\n\ny = f(torch.ones(2)), torch.ones(2).size(0)\n",
        "slow.py": "import torch\n\n\ndef f(x):\n    return x\n",
    }
    report = translate_project(make_tree(files), None)
    status = {file.path: file.status for file in report.files}
    assert status == {"a.py": "translated", "b.py": "translated", "slow.py": "failed"}
    assert [d.file for d in report.diagnostics if d.code == "T2M105"] == ["slow.py"]
    assert asked == ["slow.py"]  # the time was lost once


def test_the_report_counts_every_use(make_tree: MakeTree) -> None:
    report = translate_project(
        make_tree({"a.py": "import torch\nx = torch.ones(1), torch.ones(2)\ny = torch.nope()\n"}), None
    )
    uses = {use.name: use for use in report.apis}
    assert [place.column for place in uses["torch.ones"].places] == [5, 20]
    assert uses["torch.ones"].status == "mapped"
    assert uses["torch.nope"].status == "unknown"
    assert report.worst == Severity.ERROR


def test_helpers_that_do_not_name_torch_are_translated(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "utils").mkdir(parents=True)
    (source / "utils" / "__init__.py").write_text("from .metrics import *\nfrom .text import *\n")
    (source / "utils" / "metrics.py").write_text(
        "__all__ = ['accuracy']\n\n\ndef accuracy(output, target):\n    return output.topk(5)[1].size(0)\n"
    )
    (source / "utils" / "text.py").write_text("def shout(text):\n    return text.upper()\n")
    (source / "main.py").write_text(
        "import torch\nfrom utils import accuracy\n\nprint(accuracy(torch.rand(8, 10), torch.zeros(8)))\n"
    )
    out = tmp_path / "out"
    translate_project(source, out)
    assert "functional.topk(output, 5)[1].shape[0]" in (out / "utils" / "metrics.py").read_text()
    assert (out / "utils" / "text.py").read_bytes() == (source / "utils" / "text.py").read_bytes()


def test_a_helper_that_makes_arrays_of_tensors_is_translated(tmp_path: Path) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    source.mkdir()
    (source / "main.py").write_text("import torch\nfrom pairs import pick\n\nprint(pick(torch.ones(3)))\n")
    (source / "pairs.py").write_text("def pick(data):\n    return data[0].numpy()\n")
    translate_project(source, out)
    assert "data[0].asnumpy()" in (out / "pairs.py").read_text()
