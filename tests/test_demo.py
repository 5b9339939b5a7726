from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from torch2ms import demo
from torch2ms.errors import UsageError, VerificationError


def console() -> tuple[Console, io.StringIO]:
    stream = io.StringIO()
    return Console(file=stream, width=160), stream


def test_the_example_is_found() -> None:
    assert (demo._example() / "main.py").is_file()


def test_a_folder_with_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("all of it", encoding="utf-8")
    with pytest.raises(UsageError, match="is no demo folder"):
        demo.run_demo(tmp_path, console=console()[0])
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_an_earlier_demo_makes_room(tmp_path: Path) -> None:
    demo._prepare(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old.py").touch()
    demo._prepare(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["demo.json", "weights"]


def test_one_line_that_does_not_hold_fails_the_demo(tmp_path: Path) -> None:
    own, stream = console()
    run = demo.Demo(tmp_path, demo._SHORT, own, seconds={"verify": 1.0, "train": 2.0})
    run.add("verify", "outputs", "1.0e-05", "1.0e-06", False)
    run.add("train", "mean loss", "2.3", "finite", True)
    demo._show(run, 3.0)
    assert "FAILED" in stream.getvalue()
    assert "--full" in stream.getvalue()
    assert "documented, not executed" in stream.getvalue()
    content = json.loads((tmp_path / "demo.json").read_text(encoding="utf-8"))
    assert content["passed"] is False
    assert content["rows"][1] == {
        "step": "train", "what": "mean loss", "measured": "2.3", "limit": "finite", "passed": True, "noise": "",
    }  # fmt: skip


def test_a_step_that_fails_says_where_to_look(tmp_path: Path) -> None:
    run = demo.Demo(tmp_path, demo._SHORT, console()[0])
    with pytest.raises(VerificationError, match=r"train failed with exit code 3; see .*train\.log") as caught:
        run.run("train", "-c", "print('last words'); raise SystemExit(3)", cwd=tmp_path)
    assert caught.value.advice == "last words"


@pytest.mark.slow
def test_the_demo_holds_in_every_line(tmp_path: Path) -> None:
    own, stream = console()
    assert demo.run_demo(tmp_path / "demo", console=own) == 0, stream.getvalue()
    assert max(map(len, stream.getvalue().splitlines()[:-1])) <= 100
    content = json.loads((tmp_path / "demo" / "demo.json").read_text(encoding="utf-8"))
    steps = list(dict.fromkeys(row["step"] for row in content["rows"]))
    assert steps == ["translate", "convert weights", "first figure", "verify", "train", "resume", "evaluate"]
    assert (tmp_path / "demo" / "out" / "torch2ms_report" / "report.html").is_file()


def test_missing_packages_are_told_with_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="has no torch and no mindspore") as caught:
        demo.run_demo(tmp_path / "demo", console=console()[0])
    assert caught.value.advice == 'install it: pip install "torch2ms[torch,mindspore]"'
    assert not (tmp_path / "demo").exists()


def test_a_terminal_sees_what_is_being_done(tmp_path: Path) -> None:
    stream = io.StringIO()
    run = demo.Demo(tmp_path, demo._SHORT, Console(file=stream, width=100, force_terminal=True))
    with demo._bar(run, 2) as advance:
        advance("translate")
        advance("verify")
        run.progress("seed 1: outputs")
    assert "verify: seed 1: outputs" in stream.getvalue()
    assert "1/2" in stream.getvalue()


def test_a_step_that_is_done_is_told_at_once(tmp_path: Path) -> None:
    own, stream = console()
    run = demo.Demo(tmp_path, demo._SHORT, own)
    demo._tell_step(run, "first figure", [demo.Row("first figure", "outputs", "1e-7", "1e-6", True)], 40.0)
    demo._tell_step(run, "verify", [demo.Row("verify", "outputs", "1e-5", "1e-6", False)] * 3, 90.0)
    assert "40 s  first figure     outputs 1e-7\n" in stream.getvalue()
    assert "3 figures  3 FAILED" in stream.getvalue()
