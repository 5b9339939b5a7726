"""Translate the programs of ``tests/cases``, run both sides, and compare what they print.

python tests/run_cases.py [KIND | KIND/NAME ...]

``python tests/run_cases.py --run MODULE OUT.json PROGRAM.py ...`` is the part that runs in a process of its own: it
imports the framework once, and then forks for each program, so that none sees the settings of another.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import runpy
import signal
import subprocess
import sys
import tempfile
import traceback
from dataclasses import dataclass
from pathlib import Path

CASES = Path(__file__).resolve().parent / "cases"
_NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")
_SIZE = re.compile(r"torch\.Size\(\[((?:\d+(?:, )?)*)\]\)")
_SETTING = re.compile(r"^# (needs|marked|tolerance|hands on): (.*)$", re.MULTILINE)
TIMEOUT = 120


@dataclass(frozen=True)
class Printed:
    """What a program printed, and the end of its traceback if it raised."""

    output: str
    error: str


def programs(kind: Path) -> list[str]:
    """Return the names of the programs of a folder."""
    return sorted(path.stem for path in kind.glob("*.py") if not path.stem.endswith("_parts"))


def settings(path: Path) -> dict[str, str]:
    """Return what the comments of a program ask for: ``needs``, ``marked``, ``tolerance``."""
    return dict(_SETTING.findall(path.read_text("utf-8")))


def hand_on(program: Path, folder: Path) -> None:
    """Copy the files that a program makes with PyTorch, and its translation reads, into the translation's folder."""
    for name in settings(program).get("hands on", "").split():
        (folder / name).write_bytes((program.parent / name).read_bytes())


def missing_packages(path: Path) -> list[str]:
    """Return the packages that a program needs and that are not installed."""
    return [name for name in settings(path).get("needs", "").split() if importlib.util.find_spec(name) is None]


def _as_tuples(output: str) -> str:
    """Return an output with the shapes as MindSpore prints them: ``(2, 3)``, not ``torch.Size([2, 3])``."""
    return _SIZE.sub(lambda found: repr(tuple(map(int, filter(None, found[1].split(", "))))), output)


def difference(theirs: Printed, ours: Printed, tolerance: float = 2e-3) -> str:
    """Say how two outputs differ; an empty text if they do not."""
    if theirs.error:
        return f"PyTorch: {theirs.error}"
    if ours.error:
        return f"MindSpore: {ours.error}"
    theirs = Printed(_as_tuples(theirs.output), "")
    told = f"PyTorch prints\n{theirs.output}MindSpore prints\n{ours.output}"
    if _NUMBER.sub("#", theirs.output) != _NUMBER.sub("#", ours.output):
        return told
    pairs = zip(_NUMBER.findall(theirs.output), _NUMBER.findall(ours.output), strict=True)
    near = all(abs(float(a) - float(b)) <= tolerance * max(1.0, abs(float(a))) for a, b in pairs)
    return "" if near else told


def _run_forked(program: Path) -> Printed:
    """Run one program in a fork of this process; its working folder is its own."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as out, tempfile.TemporaryFile("w+", encoding="utf-8") as err:
        child = os.fork()
        if child == 0:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
            status = 0
            signal.alarm(TIMEOUT)
            try:
                os.chdir(program.parent)
                sys.path.insert(0, str(program.parent))
                sys.argv = [program.name]
                runpy.run_path(str(program), run_name="__main__")
            except BaseException:
                traceback.print_exc()
                status = 1
            sys.stdout.flush()
            os._exit(status)
        _, status = os.waitpid(child, 0)
        out.seek(0)
        err.seek(0)
        ended = os.waitstatus_to_exitcode(status)
        error = "" if ended == 0 else f"exit status {ended}\n{err.read()[-1500:]}"
        return Printed(out.read(), error)


def run(module: str, files: list[Path]) -> dict[Path, Printed]:
    """Run programs in a process of their own that has imported ``module``; what each printed, by its file."""
    place = {**os.environ, "OMP_NUM_THREADS": "2", "ONEDNN_MAX_CPU_ISA": "AVX2", "GLOG_v": "3", "MPLBACKEND": "Agg"}
    with tempfile.TemporaryDirectory() as temporary:
        told = Path(temporary) / "out.json"
        command = [sys.executable, __file__, "--run", module, str(told), *map(str, files)]
        subprocess.run(command, check=True, env=place, capture_output=True)
        printed = json.loads(told.read_text("utf-8"))
        return {path: Printed(*said) for path, said in zip(files, printed, strict=True)}


def main() -> int:
    """Translate and compare the programs that the command line names; all without one."""
    from torch2ms import translate_project

    wanted = [tuple(word.split("/")) for word in sys.argv[1:]] or [(kind.name,) for kind in sorted(CASES.glob("*/"))]
    failed = 0
    for kind, *only in wanted:
        folder = CASES / kind
        names = [n for n in programs(folder) if (not only or n in only) and not missing_packages(folder / f"{n}.py")]
        with tempfile.TemporaryDirectory() as temporary:
            source, out = Path(temporary) / "source", Path(temporary) / "out"
            source.mkdir()
            for path in folder.glob("*.py"):
                (source / path.name).write_bytes(path.read_bytes())
            report = translate_project(folder, out)
            sources, outs = ([side / f"{name}.py" for name in names] for side in (source, out))
            theirs = run("torch", sources)
            for path in sources:
                hand_on(path, out)
            ours = run("mindspore", outs)
        for name in names:
            asked = settings(folder / f"{name}.py")
            marks = sorted(
                {d.code for d in report.diagnostics if d.file == f"{name}.py" and str(d.severity) == "error"}
            )
            told = difference(
                theirs[source / f"{name}.py"], ours[out / f"{name}.py"], float(asked.get("tolerance", 2e-3))
            )
            if "marked" in asked:
                told = "" if marks == asked["marked"].split() else f"marked {marks} instead of {asked['marked']}"
            elif marks:
                told = f"needless marks {marks}\n{told}"
            failed += bool(told)
            print(f"{'DIFFERS' if told else 'same   '} {kind}/{name}" + (f"\n{told}" if told else ""))
    return 1 if failed else 0


def _run_and_tell() -> int:
    module, told, *files = sys.argv[2:]
    importlib.import_module(module)
    if module == "torch":
        importlib.import_module("torch._dynamo")  # which every optimizer imports, for seconds: once, not in each fork
    found = [_run_forked(Path(file)) for file in files]
    Path(told).write_text(json.dumps([[printed.output, printed.error] for printed in found]), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(_run_and_tell() if sys.argv[1:2] == ["--run"] else main())
