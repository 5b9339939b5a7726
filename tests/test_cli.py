"""The contract of the command line: options, streams, exit codes, and errors in one line."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import torch2ms
from torch2ms.cli import command, run
from torch2ms.config import Options, Target
from torch2ms.diagnostics import CODES, Diagnostic
from torch2ms.errors import InputError, InternalError, OutputError, TableError, UsageError, VerificationError
from torch2ms.reports.model import FileReport, Report

ROOT = Path(__file__).resolve().parent.parent
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def invoke(capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Run the command line in this process; return exit code, stdout and stderr."""

    def call(*arguments: str) -> tuple[int, str, str]:
        code = run(arguments)
        captured = capsysbinary.readouterr()
        return code, captured.out.decode(), captured.err.decode()

    return call


@dataclass
class Translator:
    """Stands in for the API: keeps what it was asked and answers with ``report``."""

    report: Report
    asked: list[dict[str, Any]] = field(default_factory=list)
    error: BaseException | None = None

    def translate_project(self, src: Path, out: Path | None, options: Options, **others: Any) -> Report:
        self.asked.append({"src": src, "out": out, "options": options, **others})
        if self.error is not None:
            raise self.error
        return self.report


def diagnostic(code: str) -> Diagnostic:
    return Diagnostic("a.py", 1, 1, code, CODES[code].severity, "torch.x", "message", "advice")


def make_report(*codes: str) -> Report:
    file = FileReport("a.py", "translated", "import torch\n", "import mindspore as ms\n")
    return Report("torch2ms 0", Target(), (file,), (), (), tuple(diagnostic(code) for code in codes))


@pytest.fixture
def translator(monkeypatch: pytest.MonkeyPatch) -> Translator:
    stand_in = Translator(make_report())
    monkeypatch.setitem(torch2ms.__dict__, "translate_project", stand_in.translate_project)
    return stand_in


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], [], ["translate", "--help"], ["tables", "--help"]])
def test_help(invoke: Run, arguments: list[str]) -> None:
    code, out, err = invoke(*arguments)
    assert code == (0 if arguments else 2)
    assert "Usage: torch2ms" in out + err


def test_every_command_and_option_has_help() -> None:
    commands = [(name, entry) for name, entry in command.commands.items()]
    commands += [(f"tables {name}", entry) for name, entry in command.commands["tables"].commands.items()]  # type: ignore[attr-defined]
    for name, entry in commands:
        assert entry.help, name
        for parameter in entry.params:
            if parameter.param_type_name == "option" and parameter.name not in ("form",):
                assert parameter.help, f"{name} {parameter.name}"  # type: ignore[attr-defined]


def test_commands_are_those_of_the_design() -> None:
    names = {"translate", "update", "scan", "explain", "tables", "convert-weights", "verify", "demo"}
    assert set(command.commands) == names
    assert set(command.commands["tables"].commands) == {"lint", "coverage", "dump", "new"}  # type: ignore[attr-defined]


def test_version(invoke: Run) -> None:
    code, out, _ = invoke("--version")
    assert code == 0
    assert torch2ms.__version__ in out


def test_module_and_script_are_the_same() -> None:
    done = subprocess.run([sys.executable, "-m", "torch2ms", "--version"], capture_output=True, text=True, cwd=ROOT)
    lines = done.stdout.splitlines()
    assert lines[0] == f"torch2ms, version {torch2ms.__version__}"
    assert lines[1:3] == ["tables   of torch 2.13.0 and torchvision 0.29.2", "targets  MindSpore 2.0 to 2.10"]


def test_translate_passes_all_options(invoke: Run, translator: Translator, tmp_path: Path) -> None:
    table = tmp_path / "my.toml"
    table.write_text("")
    code, _, err = invoke(
        "translate", "src", "out", "--mindspore", "2.7", "--device", "ascend", "--api", "classic",
        "--entry", "net:build", "--mapping", str(table), "--on-unsupported", "raise", "--fail-on", "never",
        "--runtime", "installed", "--jobs", "4", "--no-cache", "--force", "--exclude", "a", "--exclude", "b/*.py",
        "--data-limit", "1",
    )  # fmt: skip
    assert (code, err) == (0, "")
    asked = translator.asked[0]
    assert (asked["src"], asked["out"], asked["force"], asked["dry_run"]) == (Path("src"), Path("out"), True, False)
    assert asked["options"] == Options(
        target=Target((2, 7), "ascend", "classic"),
        entry="net:build",
        mappings=(str(table),),
        on_unsupported="raise",
        runtime="installed",
        jobs=4,
        cache=False,
        exclude=("a", "b/*.py"),
        data_limit=1 << 20,
    )
    said = dict(asked["options"].asked)
    assert (said["device"], said["exclude"], "jobs" in said) == ("ascend", ("a", "b/*.py"), False)


def test_translate_defaults(invoke: Run, translator: Translator) -> None:
    assert invoke("translate", "src", "out")[0] == 0
    assert translator.asked[0]["options"] == Options()
    assert translator.asked[0]["progress"] is None  # stderr is no terminal here


@pytest.mark.parametrize(
    ("codes", "fail_on", "expected"),
    [
        ((), "error", 0),
        (("T2M301",), "error", 0),
        (("T2M303",), "error", 0),
        (("T2M303", "T2M202"), "error", 1),
        (("T2M301",), "warning", 0),
        (("T2M303",), "warning", 1),
        (("T2M202",), "warning", 1),
        (("T2M202",), "never", 0),
    ],
)
def test_exit_code_follows_fail_on(
    invoke: Run, translator: Translator, codes: tuple[str, ...], fail_on: str, expected: int
) -> None:
    translator.report = make_report(*codes)
    assert invoke("translate", "src", "out", "--fail-on", fail_on)[0] == expected
    assert invoke("scan", "src", "--fail-on", fail_on)[0] == expected


def test_fail_on_defaults_to_error(invoke: Run, translator: Translator) -> None:
    translator.report = make_report("T2M202")
    assert invoke("translate", "src", "out")[0] == 1
    translator.report = make_report("T2M303")
    assert invoke("translate", "src", "out")[0] == 0


def test_json_is_the_whole_of_stdout(invoke: Run, translator: Translator) -> None:
    _, out, err = invoke("translate", "src", "out", "--format", "json")
    assert json.loads(out)["schema"] == 1
    assert err == ""


def test_diff_is_the_whole_of_stdout_and_writes_nothing(invoke: Run, translator: Translator) -> None:
    code, out, err = invoke("translate", "src", "--diff")
    assert code == 0
    assert "-import torch" in out
    assert "+import mindspore as ms" in out
    assert "would change" in err
    assert translator.asked[0]["dry_run"]


def test_dry_run_needs_no_out(invoke: Run, translator: Translator) -> None:
    assert invoke("translate", "src", "--dry-run")[0] == 0
    assert (translator.asked[0]["out"], translator.asked[0]["dry_run"]) == (None, True)


def test_scan_writes_only_the_report(invoke: Run, translator: Translator, tmp_path: Path) -> None:
    code, out, _ = invoke("scan", "src", "--report", str(tmp_path / "report"))
    assert code == 0
    assert out
    assert (translator.asked[0]["out"], translator.asked[0]["dry_run"]) == (None, True)
    assert (tmp_path / "report" / "report.json").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["translate"],
        ["translate", "src"],
        ["translate", "src", "out", "--no-such-option"],
        ["translate", "src", "out", "--device", "tpu"],
        ["translate", "src", "out", "--mindspore", "1.10"],
        ["translate", "src", "out", "--mindspore", "newest"],
        ["translate", "src", "out", "--mapping", "missing.toml"],
        ["translate", "src", "out", "--jobs", "-1"],
        ["translate", "-", "out"],
        ["explain", "T2M999"],
        ["verify", "src", "out"],
        ["verify", "src", "out", "--entry", "a:b", "--input", "1", "--kwargs", "{"],
        ["verify", "src", "out", "--entry", "a:b", "--input", "1", "--kwargs", "[]"],
        ["convert-weights", "a.pth", "b.ckpt"],
    ],
)
def test_wrong_usage_is_2_with_a_message(invoke: Run, translator: Translator, arguments: list[str]) -> None:
    code, out, err = invoke(*arguments)
    assert (code, out) == (2, "")
    assert "rror: " in err
    assert "Traceback" not in err
    assert translator.asked == []


@pytest.mark.parametrize("error", [InputError, InternalError, OutputError, TableError, UsageError, VerificationError])
def test_our_errors_are_one_line_and_the_advice(invoke: Run, translator: Translator, error: type[Exception]) -> None:
    translator.error = error("it went wrong", advice="do this")  # type: ignore[call-arg]
    assert invoke("translate", "src", "out") == (2, "", "error: it went wrong\n  do this\n")


def test_a_fault_of_ours_is_t2m900(invoke: Run, translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    translator.error = KeyError("oops")
    monkeypatch.delenv("TORCH2MS_TRACEBACK", raising=False)
    code, out, err = invoke("translate", "src", "out")
    assert (code, out) == (2, "")
    assert err.startswith("error: T2M900: KeyError: 'oops'\n")
    monkeypatch.setenv("TORCH2MS_TRACEBACK", "1")
    with pytest.raises(KeyError):
        run(["translate", "src", "out"])


@pytest.mark.parametrize("name", ["torch", "mindspore"])
def test_missing_framework_says_what_to_install(invoke: Run, translator: Translator, name: str) -> None:
    translator.error = ModuleNotFoundError(f"No module named {name!r}", name=name)
    code, _, err = invoke("translate", "src", "out")
    assert code == 2
    assert f"needs {name}" in err
    assert f"torch2ms[{name}]" in err


def test_interruption_is_130(invoke: Run, translator: Translator) -> None:
    translator.error = KeyboardInterrupt()
    code, out, err = invoke("translate", "src", "out")
    assert (code, out) == (130, "")
    assert "interrupted" in err


def test_explain_a_diagnostic(invoke: Run) -> None:
    for code in CODES:
        status, out, _ = invoke("explain", code.lower())
        assert status == 0
        assert out.startswith(f"{code} {CODES[code].name} ({CODES[code].severity})")


def test_settings_of_the_project(
    invoke: Run, translator: Translator, make_tree: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (
        '[tool.torch2ms]\nmindspore = "2.8"\ndevice = "gpu"\nmapping = ["rows.toml"]\nfail-on = "warning"\njobs = 2\n'
        'exclude = ["docs"]\ndata-limit = 3\n[tool.torch2ms.per-file-ignores]\n"tests/**" = ["t2m203", "T2M4"]\n'
    )
    src = make_tree({"pyproject.toml": text, "rows.toml": "", "a.py": ""})
    translator.report = make_report("T2M303")
    assert invoke("translate", str(src), "out")[0] == 1
    options = translator.asked[0]["options"]
    assert options.target == Target((2, 8), "gpu")
    assert (options.mappings, options.jobs) == ((str(src / "rows.toml"),), 2)
    assert (options.exclude, options.data_limit) == (("docs",), 3 << 20)
    assert options.ignores == (("tests/**", ("T2M203", "T2M4")),)
    # The command line wins, and excludes more.
    command = ("--device", "cpu", "--fail-on", "error", "--exclude", "a.py")
    assert invoke("translate", str(src), "out", *command)[0] == 0
    assert translator.asked[1]["options"].target == Target((2, 8), "cpu")
    assert translator.asked[1]["options"].exclude == ("docs", "a.py")


@pytest.mark.parametrize(
    "line",
    [
        'devise = "gpu"',
        'device = "tpu"',
        "mindspore = 2.1",
        "jobs = -1",
        "jobs = true",
        'mapping = "a"',
        "cache = 1",
        'exclude = "a"',
        "data-limit = -1",
        'per-file-ignores = ["T2M203"]',
        'per-file-ignores = {"a.py" = "T2M203"}',
        'per-file-ignores = {"a.py" = ["E501"]}',
        "x =",
    ],
)
def test_wrong_settings_name_their_place(
    invoke: Run, translator: Translator, make_tree: Callable[..., Path], line: str
) -> None:
    src = make_tree({"pyproject.toml": f"[tool.torch2ms]\n{line}\n", "a.py": ""})
    code, _, err = invoke("translate", str(src), "out")
    assert code == 2
    assert "pyproject.toml" in err
    assert translator.asked == []


def feed(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_stdin_to_stdout(invoke: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    feed(monkeypatch, b"import torch\r\nx = torch.abs(torch.zeros(2))\r\n")
    code, out, err = invoke("translate", "-")
    assert (code, err) == (0, "")
    assert "torch" not in out
    assert out.endswith("\r\n")
    assert "\n" not in out.replace("\r\n", "")


def test_torch_free_text_passes_through_unchanged(invoke: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"import os\r\nx  =  os.name # caf\xc3\xa9\n"
    feed(monkeypatch, text)
    assert invoke("translate", "-", "-") == (0, text.decode(), "")


def test_file_to_stdout(invoke: Run, make_tree: Callable[..., Path]) -> None:
    src = make_tree({"a.py": "import torch\nx = torch.no_such_thing()\n"})
    code, out, err = invoke("translate", str(src / "a.py"), "-")
    assert code == 1
    assert "torch.no_such_thing" in out
    assert "T2M202" in err
    assert invoke("translate", str(src), "-")[0] == 2


def test_broken_stdin_is_a_clear_error(invoke: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    feed(monkeypatch, b"x = (\n")
    code, out, err = invoke("translate", "-")
    assert (code, out) == (2, "")
    assert "T2M101" in err


def test_output_that_takes_only_ascii_is_no_failure(make_tree: Callable[..., Path]) -> None:
    src = make_tree({"a.py": "import torch\nx = torch.abs(torch.zeros(2))  # caf\u00e9\n"})
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    for options in (["--dry-run"], ["--diff"], ["--dry-run", "--format", "json"]):
        done = subprocess.run(
            [sys.executable, "-m", "torch2ms", "translate", str(src), *options, "--fail-on", "never"],
            capture_output=True,
            cwd=ROOT,
            env=environment,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout


def test_closed_pipe_is_quiet() -> None:
    script = f"{sys.executable} -m torch2ms explain T2M201 | true"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert "Traceback" not in done.stderr


@dataclass
class Verdict:
    """Stands in for the result of a verification."""

    passed: bool

    def to_text(self) -> str:
        return "table"

    def to_json(self) -> dict[str, bool]:
        return {"passed": self.passed}


@pytest.mark.parametrize("passed", [True, False])
def test_verify_passes_arguments_and_tells_the_verdict(
    invoke: Run, monkeypatch: pytest.MonkeyPatch, passed: bool
) -> None:
    from torch2ms.verify import verification

    asked: dict[str, Any] = {}

    def stand_in(source: Path, output: Path, **others: Any) -> Verdict:
        asked.update(others, source=source, output=output)
        return Verdict(passed)

    monkeypatch.setattr(verification, "verify", stand_in)
    given = ("verify", "src", "out", "--entry", "net:build", "--input", "2x3", "--input", "2x4", "--no-graph")
    code, out, _ = invoke(*given, "--kwargs", '{"n": 2}', "--train-steps", "3")
    assert (code, out) == (0 if passed else 1, "table\n")
    assert (asked["source"], asked["output"], asked["entry"]) == (Path("src"), Path("out"), "net:build")
    assert (asked["inputs"], asked["kwargs"]) == (("2x3", "2x4"), {"n": 2})
    assert (asked["train_steps"], asked["graph"]) == (3, False)
    _, out, _ = invoke(*given, "--format", "json")
    assert json.loads(out) == {"passed": passed}


def test_convert_weights_passes_arguments(invoke: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from torch2ms import weights

    asked: dict[str, Any] = {}

    def stand_in(source: Path, destination: Path, **others: Any) -> weights.Conversion:
        asked.update(others, source=source, destination=destination)
        return weights.Conversion(7, ("bn.num_batches_tracked",), ("a note",))

    monkeypatch.setattr(weights, "convert_weights", stand_in)
    code, out, err = invoke(
        "convert-weights", "a.pth", "b.ckpt", "--project", "out", "--entry", "net:build", "--reverse"
    )
    assert (code, out) == (0, "b.ckpt: 7 arrays written\n")
    assert "bn.num_batches_tracked" in err
    assert "a note" in err
    assert (asked["source"], asked["destination"], asked["project"]) == (Path("a.pth"), Path("b.ckpt"), Path("out"))
    assert (asked["entry"], asked["kwargs"], asked["reverse"]) == ("net:build", {}, True)


@pytest.mark.parametrize(
    "arguments",
    [
        ["convert-weights", "missing.pth", "b.ckpt", "--project", ".", "--entry", "net:build"],
        ["verify", "missing", "missing", "--entry", "net:build", "--input", "2x3"],
        ["verify", "tests", "tests", "--entry", "net", "--input", "2x3"],
        ["tables", "new", "numpy.no_such_thing"],
        ["tables", "dump", "tensorflow"],
        ["explain", "numpy.Conv2dd"],
    ],
)
def test_commands_complain_clearly(invoke: Run, arguments: list[str]) -> None:
    code, out, err = invoke(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert "T2M900" not in err


def test_tables_commands_print_what_they_are_for(invoke: Run) -> None:
    assert "torch.nn.Linear" in invoke("explain", "torch.nn.Linear")[1]
    assert json.loads(invoke("tables", "coverage", "--format", "json")[1])["mapped"] > 0
    assert "mapped" in invoke("tables", "coverage")[1]
    rows = json.loads(invoke("tables", "dump", "torch.nn.Linear")[1])
    assert rows[0]["name"] == "torch.nn.Linear"


@pytest.mark.parametrize(("number", "expected"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_leave_nothing_half_written(tmp_path: Path, number: int, expected: int) -> None:
    """A real process, interrupted while it writes OUT."""
    src = tmp_path / "src"
    src.mkdir()
    for index in range(400):
        (src / f"f{index}.txt").write_text("x")
    (src / "a.py").write_text("import torch\nx = torch.zeros(2)\n")
    code = (
        "import sys, time, torch2ms.translator.output.emit as emit\n"
        "write = emit._write_file\n"
        "def slow(target, file):\n"
        "    print('writing', file=sys.stderr, flush=True)\n"
        "    time.sleep(0.05)\n"
        "    return write(target, file)\n"
        "emit._write_file = slow\n"
        "from torch2ms.cli import main\n"
        "main()\n"
    )
    out = tmp_path / "deep" / "out"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "translate", str(src), str(out), "--no-cache"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "writing\n"
    time.sleep(0.2)
    process.send_signal(number)
    rest = process.stderr.read()
    assert process.wait() == expected
    assert "Traceback" not in rest
    assert os.listdir(tmp_path) == ["src"]
