"""PyTorch's half of a comparison from a file: the same figures, the same verdicts, and damaged files refused."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.verify.test_verification import ADAM, PAIR, RULES, failed, planted, verified
from torch2ms.cli import command
from torch2ms.errors import InputError, VerificationError
from torch2ms.verify import VerifyReport
from torch2ms.verify.process import WorkerError
from torch2ms.verify.recording import Recording
from torch2ms.verify.verification import record_torch, replay

SETTINGS: dict[str, Any] = {"entry": "net:Net", "inputs": ["4x3x16x16"], "seeds": (1,), "train_steps": 2}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("recording") / "net.rec"
    record_torch(PAIR / "torch", file, **SETTINGS)
    return file


def replayed(recorded: Path, output: Path = PAIR / "mindspore") -> VerifyReport:
    # a Python without PyTorch is the rule there: the worker of the MindSpore side has none either
    return replay(output, recorded, rules=RULES, optimizer_target=ADAM, graph=False)


@pytest.mark.slow
def test_a_recording_gives_the_figures_of_a_run_with_both(recorded: Path) -> None:
    live = verified(train_steps=2, layers=False)
    report = replayed(recorded)
    assert report.passed, report.to_text()
    assert [figure for figure in report.figures if "dropout rates" not in figure.name] == [
        figure for figure in live.figures if "dropout rates" not in figure.name
    ]
    assert report.curves == live.curves
    assert [path.name for path in recorded.parent.iterdir()] == ["net.rec"]


@pytest.mark.slow
def test_a_planted_mistake_fails_against_a_recording(recorded: Path, tmp_path: Path) -> None:
    report = replayed(recorded, planted(tmp_path, "return self.fc(x)\n", "return 1.01 * self.fc(x)\n"))
    assert not report.passed
    assert "outputs: output" in failed(report)


def written(path: Path, index: Any, members: dict[str, bytes] | None = None) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("recording.json", json.dumps(index))
        for name, data in (members or {}).items():
            archive.writestr(name, data)
    return path


def test_a_recording_answers_each_request_once_and_in_order(tmp_path: Path) -> None:
    calls = [
        {"key": json.dumps(["step", {"path": "a.npz", "slot": "x"}]), "reply": {"loss": loss}, "files": {}}
        for loss in (1, 2)
    ]
    path = written(tmp_path / "a.rec", {"version": 1, "settings": {}, "calls": calls})
    with Recording(path) as recording:
        answers = [recording.call("step", slot="x", path="/elsewhere/a.npz")["loss"] for _ in range(2)]
        assert answers == [1, 2]
        with pytest.raises(WorkerError, match="no answer to this request"):
            recording.call("step", slot="x", path="/elsewhere/a.npz")


def test_what_failed_in_pytorch_fails_again(tmp_path: Path) -> None:
    call = {"key": json.dumps(["outputs", {}]), "error": "PyTorch, outputs: no float64 here"}
    recording = Recording(written(tmp_path / "a.rec", {"version": 1, "settings": {}, "calls": [call]}))
    with recording, pytest.raises(VerificationError, match="no float64 here"):
        recording.call("outputs")


@pytest.mark.parametrize("index", [[], {}, {"version": 1, "settings": {}, "calls": [3]}, {"version": 7}])
def test_other_files_are_refused(tmp_path: Path, index: Any) -> None:
    with pytest.raises(InputError, match=r"a\.rec: (not a recording|a recording of another version)"):
        Recording(written(tmp_path / "a.rec", index))


def test_damaged_arrays_are_refused(tmp_path: Path) -> None:
    call = {"key": json.dumps(["step", {"path": "a.npz"}]), "reply": {}, "files": {"a.npz": "0" * 64}}
    index = {"version": 1, "settings": {}, "calls": [call, call]}
    for members in ({}, {"0" * 64: b"other bytes"}):
        recording = Recording(written(tmp_path / "a.rec", index, members))
        with recording, pytest.raises(InputError, match="damaged"):
            recording.call("step", path=str(tmp_path / "a.npz"))


def test_the_command_line_says_what_it_cannot_use(tmp_path: Path) -> None:
    plain = tmp_path / "plain.rec"
    plain.write_text("no archive")
    result = CliRunner().invoke(command, ["verify", "src", str(tmp_path), "--replay", str(plain)])
    assert "not a recording of torch2ms verify --record" in str(result.exception)
    result = CliRunner().invoke(command, ["verify", "src", str(tmp_path), "--replay", str(plain), "--input", "2x3"])
    assert "--replay has entry, inputs and steps from its file" in str(result.exception)
