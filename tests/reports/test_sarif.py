"""report.sarif is SARIF 2.1.0, as far as its rules that matter here go."""

from __future__ import annotations

import dataclasses
import json
from typing import Any
from urllib.parse import unquote

from torch2ms.diagnostics import CODES
from torch2ms.reports.model import Report
from torch2ms.reports.sarif import to_sarif


def run_of(report: Report) -> Any:
    document = json.loads(to_sarif(report))
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    return run


def test_every_code_is_a_rule(report: Report) -> None:
    driver = run_of(report)["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("torch2ms", "0.1.0")
    assert [rule["id"] for rule in driver["rules"]] == list(CODES)
    assert all(rule["shortDescription"]["text"] for rule in driver["rules"])


def test_every_diagnostic_is_a_result_of_its_rule(report: Report) -> None:
    run = run_of(report)
    assert len(run["results"]) == len(report.diagnostics)
    for result, diagnostic in zip(run["results"], report.diagnostics, strict=True):
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == diagnostic.code
        assert result["level"] in {"error", "warning", "note"}
        assert result["message"]["text"].startswith(diagnostic.message[:10])
        region = result["locations"][0]["physicalLocation"]["region"]
        assert (region["startLine"], region["startColumn"]) == (diagnostic.line, diagnostic.column)


def test_paths_are_relative_uris(report: Report) -> None:
    uris = [result["locations"][0]["physicalLocation"]["artifactLocation"] for result in run_of(report)["results"]]
    assert {uri["uriBaseId"] for uri in uris} == {"SRCROOT"}
    assert "tools/na%C3%AFve%20donn%C3%A9es.py" in {uri["uri"] for uri in uris}
    assert {unquote(uri["uri"]) for uri in uris} == {diagnostic.file for diagnostic in report.diagnostics}


def test_fingerprints_are_unique_and_outlive_a_shift_of_lines(report: Report) -> None:
    shifted = tuple(dataclasses.replace(entry, line=entry.line + 7) for entry in report.diagnostics)
    both = [
        [result["partialFingerprints"]["torch2ms/v1"] for result in run_of(each)["results"]]
        for each in (report, dataclasses.replace(report, diagnostics=shifted))
    ]
    assert both[0] == both[1]
    assert len(set(both[0])) == len(both[0])


def test_control_characters_are_spelled_out_and_a_missing_line_has_no_region(report: Report) -> None:
    bad = dataclasses.replace(report.diagnostics[0], line=0, message="\x1b[31m\ud800")
    text = to_sarif(dataclasses.replace(report, diagnostics=(bad,)))
    text.encode("utf-8")
    (result,) = json.loads(text)["runs"][0]["results"]
    assert "\x1b" not in result["message"]["text"]
    assert "region" not in result["locations"][0]["physicalLocation"]
