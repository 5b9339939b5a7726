"""What commands print with ``--format json`` follows the schemas that docs/ publishes."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest

from torch2ms.cli import run

DOCS = Path(__file__).resolve().parent.parent / "docs"
BEFORE = "import torch\n\n\ndef f(x: torch.Tensor):\n    return torch.linalg.ldl_factor(x)\n"
AFTER = "import torch\n\n\ndef f(x: torch.Tensor):\n    return torch.linalg.inv(x)\n"


def schema(name: str) -> Any:
    return json.loads((DOCS / f"{name}.schema.json").read_text(encoding="utf-8"))


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    code = run([*arguments, "--format", "json"])
    return code, json.loads(capsys.readouterr().out)


def reports(tmp_path: Path) -> tuple[str, str]:
    """Write the reports of two states of a project."""
    names = []
    for name, text in (("old", BEFORE), ("new", AFTER)):
        source = tmp_path / name / "src"
        source.mkdir(parents=True)
        (source / "net.py").write_text(text, encoding="utf-8")
        names.append(str(tmp_path / name / "report"))
        run(["scan", str(source), "--report", names[-1], "--fail-on", "never", "--no-cache"])
    return names[0], names[1]


@pytest.mark.parametrize("path", sorted(DOCS.glob("*.schema.json")), ids=lambda path: path.name)
def test_every_schema_is_one(path: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(path.read_text(encoding="utf-8")))


def test_every_command_that_prints_json_is_named_with_its_schema() -> None:
    page = (DOCS / "howto" / "scripts.md").read_text(encoding="utf-8")
    for path in DOCS.glob("*.schema.json"):
        assert f"{path.name}](" in page


@pytest.mark.parametrize(
    "name",
    ["torch.nn.Conv2d", "torch.Tensor.view", "torch.linalg.ldl_factor", "torch._C.anything", "T2M201", "torch.float32"],
)
def test_explain(capsys: pytest.CaptureFixture[str], name: str) -> None:
    code, found = printed(capsys, "explain", name)
    assert code == 0
    jsonschema.validate(found, schema("explain"), cls=jsonschema.Draft202012Validator)


def test_scan_and_comparison(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    old, new = reports(tmp_path)
    capsys.readouterr()
    code, better = printed(capsys, "scan", "--compare", old, new)
    assert (code, better["worse"], better["apis_gained"]) == (0, False, ["torch.linalg.inv"])
    assert better["fixed"] == ["net.py: T2M201 torch.linalg.ldl_factor"]
    code, worse = printed(capsys, "scan", "--compare", new, old)
    assert (code, worse["worse"], worse["apis_lost"]) == (1, True, ["torch.linalg.ldl_factor"])
    for found in (better, worse):
        jsonschema.validate(found, schema("compare"), cls=jsonschema.Draft202012Validator)
    _, report = printed(capsys, "scan", str(tmp_path / "old" / "src"), "--no-cache")
    jsonschema.validate(report, schema("report"), cls=jsonschema.Draft202012Validator)


def test_equal_reports_are_no_worse(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    old, _ = reports(tmp_path)
    capsys.readouterr()
    assert run(["scan", "--compare", old, f"{old}/report.json"]) == 0
    assert capsys.readouterr().out.endswith("no worse\n")


def test_comparison_of_what_is_no_report_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text("[]", encoding="utf-8")
    assert run(["scan", "--compare", str(tmp_path), str(tmp_path)]) == 2
    assert "is no report of torch2ms" in capsys.readouterr().err
    assert run(["scan", "--compare", str(tmp_path / "none"), str(tmp_path)]) == 2
    assert run(["scan", str(tmp_path), "--compare", str(tmp_path), str(tmp_path)]) == 2


def test_lines_are_what_the_problem_matcher_reads(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    import re

    page = (DOCS / "howto" / "ci-and-editors.md").read_text(encoding="utf-8")
    (task,) = re.findall(r"^```json\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    pattern = json.loads(task)["tasks"][0]["problemMatcher"]["pattern"]
    (tmp_path / "net.py").write_text(BEFORE, encoding="utf-8")
    assert run(["scan", str(tmp_path), "--format", "lines", "--no-cache"]) == 1
    (line,) = capsys.readouterr().out.splitlines()
    found = re.match(pattern["regexp"], line)
    assert found is not None
    named = {key: found[pattern[key]] for key in ("file", "line", "column", "code", "severity")}
    assert named == {"file": "net.py", "line": "5", "column": "12", "code": "T2M201", "severity": "error"}


def test_coverage(capsys: pytest.CaptureFixture[str]) -> None:
    _, found = printed(capsys, "tables", "coverage")
    jsonschema.validate(found, schema("coverage"), cls=jsonschema.Draft202012Validator)


def test_conversion_of_weights(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from torch2ms import weights

    done = SimpleNamespace(parameters=8, dropped=("norm.num_batches_tracked",), notes=("keys began with module.",))
    monkeypatch.setattr(weights, "convert_weights", lambda *paths, **options: done)
    code, found = printed(capsys, "convert-weights", "a.pth", "a.ckpt", "--project", "out", "--entry", "net:Net")
    assert (code, found["arrays"], found["dropped"]) == (0, 8, ["norm.num_batches_tracked"])
    jsonschema.validate(found, schema("convert"), cls=jsonschema.Draft202012Validator)
