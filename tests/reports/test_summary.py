"""The figures that every report shows."""

from __future__ import annotations

import dataclasses

import pytest

from torch2ms.config import Device, Target
from torch2ms.reports.model import Report
from torch2ms.reports.summary import proof, summarize


def test_counts(report: Report) -> None:
    summary = summarize(report)
    assert sum(summary.files.values()) == len(report.files)
    assert sum(summary.uses.values()) == sum(len(api.places) for api in report.apis)
    assert sum(sum(counts.values()) for counts in summary.by_file.values()) == len(report.diagnostics)
    assert summary.unmapped[0].name == "torch.special.bessel_j0", "most used first"
    assert summary.satisfied == pytest.approx(6 / 9)


def test_nothing_found_satisfies_nothing(empty_report: Report) -> None:
    assert summarize(empty_report).satisfied is None


@pytest.mark.parametrize(
    ("version", "device", "level"),
    [
        ((2, 10), "portable", "partly executed"),
        ((2, 10), "cpu", "partly executed"),
        ((2, 9), "cpu", "partly executed"),
        ((2, 1), "cpu", "documented only"),
        ((2, 10), "ascend", "documented only"),
        ((2, 10), "gpu", "documented only"),
    ],
)
def test_the_level_of_proof_is_that_of_the_target(
    report: Report, version: tuple[int, int], device: Device, level: str
) -> None:
    standing = proof(dataclasses.replace(report, target=Target(version, device)))
    assert standing.level == level
    assert ("documented" in standing.text) == (level != "executed")


def test_all_executed_is_executed(report: Report) -> None:
    apis = tuple(api for api in report.apis if api.name in {"torch.nn.Conv2d", "torch.compile"})
    assert proof(dataclasses.replace(report, apis=apis, target=Target(device="cpu"))).level == "executed"


def test_what_was_executed_on_gpu_stands_beside_what_was_on_cpu(report: Report) -> None:
    text = proof(dataclasses.replace(report, target=Target((2, 8), "portable"))).text
    assert text.startswith("MindSpore 2.8 on CPU: 1 of 5 mapped APIs")
    assert "On GPU: 1 of 5, the others are documented only; an example fails there of: torch.nn.BatchNorm2d." in text
    assert text.endswith("On Ascend: documented, not executed.")
    standing = proof(dataclasses.replace(report, target=Target((2, 8), "gpu")))
    assert standing.executed == {"torch.nn.Conv2d"}
    assert "torch.nn.BatchNorm2d" in standing.text
    assert standing.level == "partly executed"
