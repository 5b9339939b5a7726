"""report.json follows its published schema and says what the report says."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import jsonschema
import pytest

from torch2ms.errors import InternalError
from torch2ms.reports import json as report_json
from torch2ms.reports.model import Report

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs" / "report.schema.json").read_text(encoding="utf-8"))


def test_follows_the_schema(report: Report, empty_report: Report) -> None:
    for each in (report, empty_report):
        jsonschema.validate(json.loads(report_json.to_json(each)), SCHEMA, cls=jsonschema.Draft202012Validator)


def test_the_packaged_schema_is_the_published_one() -> None:
    packaged = Path(report_json.__file__).with_name("report.schema.json")
    assert packaged.read_bytes() == (ROOT / "docs" / "report.schema.json").read_bytes()


def test_the_schema_is_a_schema_and_can_fail(report: Report) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    document = json.loads(report_json.to_json(report))
    document["diagnostics"][0]["file"] = "/home/someone/net.py"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, SCHEMA, cls=jsonschema.Draft202012Validator)


def test_holds_the_counts_and_the_order(report: Report) -> None:
    document = json.loads(report_json.to_json(report))
    assert document["schema"] == 1
    assert document["target"]["mindspore"] == "2.10"
    assert document["summary"]["files"]["translated"] == 5
    assert document["summary"]["apis"] == {
        "total": 9,
        "mapped": 5,
        "kept": 0,
        "removed": 1,
        "unsupported": 2,
        "unknown": 1,
    }
    assert document["summary"]["diagnostics"] == {"error": 5, "warning": 2, "note": 2}
    assert document["summary"]["worst"] == "error"
    assert [entry["file"] for entry in document["diagnostics"]] == [entry.file for entry in report.diagnostics]
    counts = {entry["path"]: entry["diagnostics"] for entry in document["files"]}
    assert counts["train.py"] == {"error": 1, "warning": 1, "note": 2}


def test_says_which_mappings_were_executed(report: Report, empty_report: Report) -> None:
    document = json.loads(report_json.to_json(report))
    assert document["proof"]["level"] == "partly executed"
    assert (document["proof"]["executed"], document["proof"]["mapped"]) == (1, 5)
    executed = {api["name"] for api in document["apis"] if api["executed"]}
    assert executed == {"torch.nn.Conv2d"}, "another release, a failure, or that it ran, proves nothing"
    proof = json.loads(report_json.to_json(empty_report))["proof"]
    assert proof["level"] == "documented only"
    assert "documented, not executed" in proof["text"]


def test_spells_out_control_characters_and_lone_surrogates(report: Report) -> None:
    file = dataclasses.replace(report.files[0], path="caf\udce9.py")
    text = report_json.to_json(dataclasses.replace(report, files=(file,)))
    assert "\x1b" not in text
    assert json.loads(text)["files"][0]["path"] == "caf\\udce9.py"
    text.encode("utf-8")


def test_facts_become_plain_data(report: Report) -> None:
    facts: dict[str, object] = {"names": {"b", "a"}, "nested": ({"x": None},), "share": 0.5}
    document = json.loads(report_json.to_json(dataclasses.replace(report, facts=facts)))
    assert document["facts"] == {"names": ["a", "b"], "nested": [{"x": None}], "share": 0.5}


@pytest.mark.parametrize("value", [Path("/tmp"), object(), b"bytes"])
def test_facts_that_json_cannot_say_are_refused(report: Report, value: object) -> None:
    with pytest.raises(InternalError, match=r"facts\.thing"):
        report_json.to_json(dataclasses.replace(report, facts={"thing": value}))
