"""Run training scripts of public repositories unedited after translation, on synthetic data.

    python benchmarks/scripts.py --repos FOLDER [--only NAME ...] [--json FILE]

What is run, with which command lines, stands in ``scripts.toml``. A repository is looked for as ``FOLDER/owner+name``;
one that is not there is fetched with ``git clone`` if ``--fetch`` is given, else its scripts are skipped, with a
message. A script passes when all its commands exit with 0, its loss falls where it is expected to, and its checkpoints
are there and can be read.
"""

from __future__ import annotations

import argparse
import ast
import fcntl
import json
import os
import pty
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from script_data import make  # noqa: E402

LOSS = r"[Ll]oss\w*[:=)]*\s*(-?[\d.]+(?:e[-+]?\d+)?)"
LIMIT_S = 240.0


@dataclass
class Script:
    """One training script: where it is, what it needs, how it is called, and how to tell that it trains."""

    name: str
    repo: str
    run: list[str]
    folder: str = "."  # what is translated, below the repository
    cwd: str = "."  # where the commands run, below OUT
    data: list[dict[str, Any]] = field(default_factory=list)
    loss: str = LOSS
    falls: bool = True
    checkpoint: list[str] = field(default_factory=list)
    stop_after: int = 0  # losses after which a script that would run for hours is stopped; 0: never
    left: str = ""  # why it is expected to stay, marked
    env: dict[str, str] = field(default_factory=dict)
    limit: float = LIMIT_S


@dataclass
class Result:
    """What became of one script."""

    name: str
    repo: str
    command: str = ""
    status: str = "passed"  # passed, failed, left (marked, as expected), skipped
    exit: int | None = None
    losses: int = 0
    first: float | None = None
    last: float | None = None
    checkpoint: str = ""
    seconds: float = 0.0
    why: str = ""


def read_scripts(path: Path) -> list[Script]:
    """Return the scripts of a TOML file; ``[repository."owner/name"]`` holds what its scripts share."""
    found = tomllib.loads(path.read_text())
    return [Script(**{**found.get("shared", {}).get(entry["repo"], {}), **entry}) for entry in found["script"]]


def find_repository(name: str, folder: Path, *, fetch: bool) -> Path | None:
    """Return the folder of a repository, fetched if that is allowed; None when there is none."""
    place = folder / name.replace("/", "+")
    if not place.is_dir() and fetch:
        folder.mkdir(parents=True, exist_ok=True)
        url = f"https://github.com/{name}.git"
        subprocess.run(["git", "clone", "--quiet", "--depth", "1", url, str(place)], check=False, timeout=600)
    return place if place.is_dir() else None


def environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a command: few threads, no display, no network services."""
    found = dict(os.environ, PYTHONUNBUFFERED="1", MPLBACKEND="Agg", WANDB_MODE="offline", WANDB_SILENT="true")
    found.setdefault("OMP_NUM_THREADS", "2")
    found.setdefault("ONEDNN_MAX_CPU_ISA", "AVX2")
    found["PYTHONPATH"] = os.pathsep.join(p for p in (os.environ.get("TORCH2MS_SITE", ""),) if p)
    return {**found, **extra}


def translate(source: Path, out: Path) -> str:
    """Translate a folder; return what went wrong."""
    command = [sys.executable, "-m", "torch2ms", "translate", str(source), str(out), "--force", "--fail-on", "never"]
    place = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600, env=place)
    return "" if done.returncode == 0 else (done.stderr or done.stdout)[-800:]


def execute(command: str, script: Script, out: Path, log: Path) -> tuple[int, list[float], bool]:
    """Run one command; return its exit code, the losses it printed, and whether it was stopped after enough of them."""
    pattern = re.compile(script.loss)
    losses: list[float] = []
    arguments = [sys.executable, *shlex.split(command)]
    terminal, keyboard = _terminal()
    with log.open("a") as record:
        record.write(f"$ python {command}\n")
        process = subprocess.Popen(
            arguments, cwd=out / script.cwd, env=environment(script.env), text=True, errors="replace",
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=keyboard,
        )  # fmt: skip
        assert process.stdout is not None
        stopped = False
        watch = threading.Timer(script.limit, process.kill)  # a script may be silent for long
        watch.start()
        for line in process.stdout:
            record.write(line)
            found = (match.group(1).rstrip(".") for match in pattern.finditer(line))
            losses.extend(float(number) for number in found if any(map(str.isdigit, number)))
            stopped = bool(script.stop_after) and len(losses) >= script.stop_after
            if stopped:
                process.kill()
                break
        code = process.wait()
        watch.cancel()
        os.close(terminal)
        os.close(keyboard)
        record.write(f"exit {code}\n")
    return (0 if stopped else code), losses, stopped


def _terminal() -> tuple[int, int]:
    """Return both ends of a terminal of 24 lines: some scripts ask how wide theirs is."""
    terminal, keyboard = pty.openpty()
    fcntl.ioctl(keyboard, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    return terminal, keyboard


def falls(losses: Sequence[float]) -> bool:
    """Whether the mean of the last third lies below that of the first third."""
    third = max(1, len(losses) // 3)
    return len(losses) > 1 and sum(losses[-third:]) < sum(losses[:third])


_READ = """
import pathlib, sys
from torch2ms.runtime import checkpoint  # OUT carries what its program uses, and it may not read
for path in sys.argv[1:]:
    print(path, type(checkpoint.load(path)).__name__)
"""


def read_checkpoints(script: Script, out: Path, log: Path) -> str:
    """Return what is wrong with the checkpoints: missing, or not to be read by the whole runtime."""
    paths: list[str] = []
    for pattern in script.checkpoint:
        found = sorted((out / script.cwd).glob(pattern))
        if not found:
            return f"no {pattern}"
        paths.append(str(found[-1]))
    if not paths:
        return ""
    place = environment({})
    place["PYTHONPATH"] = os.pathsep.join([str(out / script.cwd), str(out), str(HERE.parent), place["PYTHONPATH"]])
    done = subprocess.run(
        [sys.executable, "-c", _READ, *paths],
        capture_output=True,
        text=True,
        check=False,
        env=place,
        cwd=out / script.cwd,
    )
    with log.open("a") as record:
        record.write(done.stdout + done.stderr)
    return "" if done.returncode == 0 else f"cannot be read: {done.stderr.strip().splitlines()[-1:]}"


def left_loops(out: Path, script: Script) -> int:
    """Return the number of training steps that stay as they are, in the files the commands name."""
    report = json.loads((out / "torch2ms_report" / "report.json").read_text())
    return sum(item["code"] in ("T2M402", "T2M403", "T2M404") for item in report["diagnostics"])


_FRAME = re.compile(r'^\s*File "(.+?)", line (\d+)', re.MULTILINE)
_MARK = re.compile(r"# TORCH2MS (T2M[24]\d\d\b.*)")


def mark_that_raised(log: str, out: Path) -> str:
    """Return the mark, T2M2xx or T2M4xx, of the statement that the last traceback of a log ends in; else nothing.

    That is the innermost statement of the translated program itself: what it calls, the runtime, is not marked.
    """
    trace = log.rpartition("Traceback (most recent call last)")[2] if "Traceback (most" in log else ""
    frames = [(Path(path).resolve(), int(line)) for path, line in _FRAME.findall(trace)]
    own = [
        (path, line)
        for path, line in frames
        if path.is_relative_to(out.resolve()) and "torch2ms_runtime" not in path.parts and path.is_file()
    ]
    if not own:
        return ""
    path, line = own[-1]
    text = path.read_text(errors="replace")
    lines = text.splitlines()
    first = _first_line(ast.parse(text), line)
    while first > 1 and lines[first - 2].lstrip().startswith("#"):
        first -= 1
        found = _MARK.search(lines[first - 1])
        if found:
            return found.group(1)
    return ""


def _first_line(tree: ast.AST, line: int) -> int:
    """Return the first line, decorators included, of the innermost statement around a line."""
    around = [n for n in ast.walk(tree) if isinstance(n, ast.stmt) and _start(n) <= line <= (n.end_lineno or n.lineno)]
    return max((_start(node) for node in around), default=line)


def _start(node: ast.stmt) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))])


def run_script(script: Script, repository: Path, work: Path) -> Result:
    """Translate and run one script."""
    result = Result(script.name, script.repo, command=script.run[0])
    # Two folders below its own: scripts that keep data in ../data or ../../data stay apart from one another.
    out, log = work / script.name / "run" / "out", work / f"{script.name}.log"
    log.unlink(missing_ok=True)
    started = time.monotonic()
    shutil.rmtree(work / script.name, ignore_errors=True)
    source = work / script.name / "source"
    shutil.copytree(repository / script.folder, source, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    problem = translate(source, out)
    if problem:
        log.write_text(problem)
        result.status, result.why = "failed", f"translation: {problem.strip().splitlines()[-1]}"
        return result
    for entry in script.data:
        make(out / script.cwd, **entry)
    losses: list[float] = []
    for command in script.run:
        code, found, stopped = execute(command, script, out, log)
        losses += found
        result.exit, result.command = code, command
        if code != 0:
            lines = [line for line in log.read_text().splitlines() if line.strip() and not line.startswith("exit ")]
            result.status, result.why = "failed", lines[-1][:160]
            break
        if stopped:
            result.why = f"stopped after {script.stop_after} losses"
    result.losses = len(losses)
    if losses:
        result.first, result.last = losses[0], losses[-1]
    if result.status == "passed":
        _judge(script, result, losses, out, log)
    elif script.left and left_loops(out, script):
        result.status, result.why = "left", script.left
    elif result.exit is not None and (mark := mark_that_raised(log.read_text(), out)):
        result.status, result.why = "left", mark[:160]
    result.seconds = round(time.monotonic() - started, 1)
    return result


def _judge(script: Script, result: Result, losses: Sequence[float], out: Path, log: Path) -> None:
    result.checkpoint = read_checkpoints(script, out, log)
    if result.checkpoint:
        result.status, result.why = "failed", f"checkpoint: {result.checkpoint}"
    elif any(loss != loss for loss in losses):
        result.status, result.why = "failed", "a loss is not a number"
    elif script.falls and not falls(losses):
        result.status, result.why = "failed", "the loss does not fall"
    result.checkpoint = result.checkpoint or ("read" if script.checkpoint else "-")


def table(results: Iterable[Result]) -> str:
    """Return the results as a table in Markdown."""
    lines = ["| script | command | result | exit | losses | checkpoint | s |", "|---|---|---|--:|---|---|--:|"]
    for item in results:
        span = f"{item.first:.4g} to {item.last:.4g} ({item.losses})" if item.first is not None else "-"
        status = item.status + (f": {item.why}" if item.why else "")
        code = "-" if item.exit is None else item.exit
        lines.append(
            f"| {item.name} | `{item.command}` | {status} | {code} | {span} | {item.checkpoint} | {item.seconds:.0f} |"
        )
    return "\n".join(lines)


def main() -> int:
    """Run the scripts; exit with 1 when one fails."""
    parser = argparse.ArgumentParser(description="run translated training scripts unedited")
    parser.add_argument(
        "--repos", type=Path, default=Path(os.environ.get("TORCH2MS_REPOS", HERE.parent / ".venv/repos"))
    )
    parser.add_argument("--fetch", action="store_true", help="clone repositories that are not there")
    parser.add_argument("--cases", type=Path, default=HERE / "scripts.toml")
    parser.add_argument("--only", nargs="*", default=[], help="names of scripts, or beginnings of them")
    parser.add_argument("--work", type=Path, help="keep what is written in this folder")
    parser.add_argument("--json", type=Path, help="write the results here")
    parser.add_argument("--patience", type=float, default=1.0, help="times each limit: for a machine with other work")
    args = parser.parse_args()
    work = args.work or Path(tempfile.mkdtemp(prefix="torch2ms-scripts-"))
    work.mkdir(parents=True, exist_ok=True)
    results = []
    for script in read_scripts(args.cases):
        if args.only and not script.name.startswith(tuple(args.only)):
            continue
        repository = find_repository(script.repo, args.repos, fetch=args.fetch)
        if repository is None:
            result = Result(script.name, script.repo, status="skipped", why=f"{script.repo} is not in {args.repos}")
        else:
            result = run_script(replace(script, limit=script.limit * args.patience), repository, work)
        results.append(result)
        print(f"{result.status:8} {result.name:32} {result.seconds:6.1f} s  {result.why}", file=sys.stderr, flush=True)
    print(table(results))
    if args.json:
        args.json.write_text(json.dumps([asdict(result) for result in results], indent=1) + "\n")
    if args.work is None:
        shutil.rmtree(work)
    return int(any(result.status == "failed" for result in results))


if __name__ == "__main__":
    sys.exit(main())
