"""A training program and its translation make the same steps; a translation with a mistake in its loop does not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from torch2ms import Options, translate_project
from torch2ms.verify import VerifyReport
from torch2ms.verify.rehearsal import Program, rehearse
from torch2ms.verify.workers.rehearsal import Draws, Finished, sampled

PROGRAM = Program("two_networks.py", ("--width", "6"), ("8x1x8x8", "8:int64<8"), stubs=())
STEPS = 8  # of both optimizers together: two epochs, between which the schedule moves


def programs(folder: Path) -> tuple[Path, Path]:
    source, output = folder / "source", folder / "output"
    shutil.copytree(Path(__file__).with_name("programs"), source)
    translate_project(source, output, Options())
    return source, output


def figures(report: VerifyReport) -> set[str]:
    return {f"{figure.group}: {figure.name.partition(',')[0]}" for figure in report.figures}


@pytest.mark.slow
def test_the_emitted_loop_makes_the_steps_of_the_source(tmp_path: Path) -> None:
    report = rehearse(*programs(tmp_path), PROGRAM, steps=STEPS)
    assert report.passed, report.to_text()
    assert report.facts["steps"] == STEPS
    assert report.facts["reference"] == "float64"
    # the first optimizer takes two losses a step, the second one
    kinds = {"step by step: gradient", "step by step: update and statistics"}
    assert figures(report) == kinds | {
        f"{group}: loss {label}" for group in ("step by step", "free run") for label in ("1.0", "1.1", "0.0")
    }


@pytest.mark.slow
def test_a_mistake_in_the_emitted_loop_is_found(tmp_path: Path) -> None:
    source, output = programs(tmp_path)
    script = output / PROGRAM.script
    text = script.read_text(encoding="utf-8")
    assert "momentum=0.9" in text
    script.write_text(text.replace("momentum=0.9", "momentum=0.8"), encoding="utf-8")
    report = rehearse(source, output, PROGRAM, steps=4)
    failed = {figure.name for figure in report.figures if not figure.passed}
    assert "update and statistics, worst step" in failed, report.to_text()
    assert not any(name.startswith("gradient, median") for name in failed)


def test_draws_depend_on_the_kind_and_the_count_alone() -> None:
    first, second = Draws(1), Draws(1)
    second.uniform((3,))
    assert (first.normal((2, 2)) == second.normal((2, 2))).all()
    assert (first.normal((2, 2)) != second.normal((2, 2, 1)).reshape(2, 2)).sum() == 0
    assert sorted(first.permutation(5)) == [0, 1, 2, 3, 4]


def test_large_arrays_are_sampled_always_at_the_same_places() -> None:
    array = Draws(0).normal((300, 301))
    assert 4000 < sampled(array).size < 9000
    assert (sampled(array) == sampled(array.copy())).all()
    assert sampled(array[:2]).size == 602


def test_no_handler_of_a_program_takes_the_end_of_a_rehearsal() -> None:
    assert not issubclass(Finished, Exception)
