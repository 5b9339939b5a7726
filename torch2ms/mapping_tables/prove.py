"""Prove the tables: run every row's examples with PyTorch and with MindSpore, in separate processes, and compare.

    python -m torch2ms.mapping_tables.prove [--only GLOB]... [--missing] [--python PATH]... [--no-write]

``--python`` is the interpreter of an environment with another MindSpore; PyTorch always runs in this one. The results
go to ``proofs.json`` beside this file: one line an example and release, with a digest of the example, so that a proof
of what has changed since counts for nothing. Exit code 1 when an example fails.
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from torch2ms.config import Version, parse_version
from torch2ms.errors import TableError, Torch2msError, VerificationError
from torch2ms.mapping_tables.checks import holds_for
from torch2ms.mapping_tables.compare import Verdict, judge
from torch2ms.mapping_tables.example_calls import producer
from torch2ms.mapping_tables.inputs import evaluate
from torch2ms.mapping_tables.loader import load
from torch2ms.mapping_tables.lookup import Tables
from torch2ms.mapping_tables.proofs import PROOFS, Proof, digest_of, read_proofs, write_proofs
from torch2ms.mapping_tables.schema import Example, Row
from torch2ms.weights import rules_from_rows

__all__ = ["case_of", "main", "prove"]

BATCH = 150  # examples a process: importing a framework takes seconds, and a crash costs one restart
PATIENCE = 240  # seconds without a new result until a process counts as hung


def case_of(name: str, index: int, example: Example, rules: Mapping[str, Any]) -> dict[str, Any]:
    """Return an example as both sides need it: its inputs as numbers, every default spelled out.

    Raises TableError when ``run`` says something that makes no sense.
    """
    run = dict(example.run)
    where = f"{name}: example {index}"
    given = run.get("input")
    texts = [] if given is None else given if isinstance(given, list) else [given]
    try:
        args = {key: _given(text, key) for key, text in run.get("args", {}).items()}
        inputs = [_given(text, f"input {place}") for place, text in enumerate(texts)]
    except ValueError as error:
        raise TableError(f"{where}: run: {error}") from error
    check = run.get("check") or ("layer" if given is not None else "value")
    return {
        "id": f"{name}#{index}",
        "before": run.get("reference", example.before),
        "after": example.after,
        "args": args,
        "inputs": inputs,
        "objects": run.get("objects", {}),
        "check": "value" if check == "initializer" else check,
        "compare": "distribution" if check == "initializer" else run.get("compare", "value"),
        "grad": run.get("grad", False),
        "train": run.get("train", False),
        "graph": run.get("graph", False),
        "copy_weights": run.get("copy_weights", True),
        "names": run.get("state", True),
        "dtype": run.get("dtype", True),
        "tolerance": float(run.get("tolerance", 1e-5)),
        "raises": run.get("raises", ""),
        "steps": int(run.get("steps", 5 if check == "optimizer" else 12)),
        "rules": rules,
    }


def _given(text: Any, name: str) -> Any:
    return evaluate(text, name) if isinstance(text, str) else text


def prove(
    tables: Tables, only: Sequence[str] = (), python: str = sys.executable, known: Iterable[Proof] = ()
) -> list[Proof]:
    """Run the examples of the rows that ``only`` matches; return their proofs for the MindSpore of ``python``.

    An example that has not changed since one of the ``known`` proofs found it right is not run again.

    Raises VerificationError when a side cannot be started.
    """
    python = str(Path(python).absolute()) if os.sep in python else python  # the sides run in another folder
    release = _release(python)
    version = parse_version(release)
    rules = rules_from_rows(tables.rows())
    proofs: list[Proof] = []
    cases: dict[str, tuple[dict[str, Any], Example]] = {}
    done = {(p.row, p.example, p.digest) for p in known if p.mindspore == release and not p.failed}
    for row, index, example in _examples(tables, only):
        if (row.name, index, digest_of(example)) in done:
            continue
        reason = _not_here(tables, row, example, version)
        if reason:
            proofs.append(_proof(row.name, index, example, release, Verdict("skipped", reason)))
            continue
        try:
            case = case_of(row.name, index, example, rules)
            cases[case["id"]] = (case, example)
        except TableError as error:
            proofs.append(_proof(row.name, index, example, release, Verdict("error", str(error))))
    with tempfile.TemporaryDirectory(prefix="torch2ms-prove-") as folder:
        here = _workplace(Path(folder))
        queue = [case for case, _ in cases.values()]
        for start in range(0, len(queue), BATCH):
            batch = queue[start : start + BATCH]
            expected = _run("torch", sys.executable, batch, here)
            for case in batch:
                case["state"] = expected[case["id"]].get("ok", {}).get("state", {})
            found = _run("mindspore", python, batch, here)
            for case in batch:
                verdict = judge(case, expected[case["id"]], found[case["id"]])
                name, _, index_text = case["id"].rpartition("#")
                proofs.append(_proof(name, int(index_text), cases[case["id"]][1], release, verdict))
    return proofs


def _examples(tables: Tables, only: Sequence[str]) -> Iterator[tuple[Row, int, Example]]:
    for row in tables.rows():
        if not only or any(fnmatch.fnmatchcase(row.name, pattern) for pattern in only):
            for index, example in enumerate(row.examples):
                yield row, index, example


def _not_here(tables: Tables, row: Row, example: Example, version: Version) -> str:
    """Return why an example cannot be executed with a release on CPU, empty when it can."""
    if skip := example.run.get("skip"):
        return str(skip)
    option = producer(tables, row, example)
    if option is None:
        return "" if row.keep else "no target of the row holds for the example's release and device"
    if "cpu" not in option.device:
        return "documented for " + ", ".join(sorted(option.device)) + " only"
    if not holds_for(option.mindspore, version):
        return f"the target needs MindSpore {option.mindspore}"
    return ""


def _proof(name: str, index: int, example: Example, release: str, verdict: Verdict) -> Proof:
    return Proof(name, index, release, "CPU", verdict.result, verdict.difference, digest_of(example), verdict.detail)


def _release(python: str) -> str:
    code = "import importlib.metadata as m; print(m.version('mindspore'))"
    try:
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    except OSError as error:
        raise VerificationError(f"{python} cannot be started: {error.strerror}") from error
    if done.returncode:
        raise VerificationError(f"{python} has no MindSpore", advice="name the Python of an environment that has it")
    return done.stdout.strip()


def _workplace(folder: Path) -> Path:
    """Make a folder where the sides and the runtime can be imported, whatever torch2ms itself needs."""
    ignored = shutil.ignore_patterns("__pycache__")
    (folder / "torch2ms").mkdir()
    (folder / "torch2ms" / "__init__.py").touch()
    shutil.copytree(Path(__file__).parent.parent / "runtime", folder / "torch2ms" / "runtime", ignore=ignored)
    shutil.copytree(Path(__file__).with_name("proving"), folder / "proving", ignore=ignored)
    return folder


def _run(side: str, python: str, cases: Sequence[Mapping[str, Any]], here: Path) -> dict[str, dict[str, Any]]:
    """Return what one side answers, by case; a case that kills or hangs its process is answered by an error."""
    answers: dict[str, dict[str, Any]] = {}
    results = here / f"{side}.results"
    while left := [case for case in cases if case["id"] not in answers]:
        results.unlink(missing_ok=True)
        (here / "cases").write_bytes(pickle.dumps(left, protocol=4))
        failure = _supervise([python, "-W", "ignore", "-m", "proving", side, "cases", results.name], here, results)
        started = _collect(results, answers)
        if started is not None:
            answers[started] = {"error": failure or "the process ended", "type": "Crash"}
        elif not any(case["id"] in answers for case in left):
            raise VerificationError(f"the {side} side does not start: {failure}")
    return answers


def _supervise(command: Sequence[str], here: Path, results: Path) -> str:
    """Run a side; return how it failed, empty when it did not."""
    environment = {**os.environ, "PYTHONPATH": str(here), "OMP_NUM_THREADS": "2", "ONEDNN_MAX_CPU_ISA": "AVX2"}
    with (here / "errors").open("wb") as errors:
        process = subprocess.Popen(command, cwd=here, env=environment, stdout=errors, stderr=errors)
        size = -1
        while True:
            try:
                code = process.wait(PATIENCE)
                break
            except subprocess.TimeoutExpired:
                now = results.stat().st_size if results.exists() else 0
                if now == size:
                    process.kill()
                    process.wait()
                    return f"no result for {PATIENCE} s"
                size = now
    if code == 0:
        return ""
    tail = (here / "errors").read_text(encoding="utf-8", errors="replace").strip().splitlines()[-3:]
    return f"exit code {code}: {' | '.join(tail)}"


def _collect(results: Path, answers: dict[str, dict[str, Any]]) -> str | None:
    """Read the results so far into ``answers``; return the case that was started and not finished."""
    started: str | None = None
    if results.exists():
        with results.open("rb") as stream:
            while True:
                try:
                    record = pickle.load(stream)
                except (EOFError, pickle.UnpicklingError):
                    break
                if record[0] == "start":
                    started = record[1]
                else:
                    answers[record[1]] = record[2]
                    started = None
    return started


def main(arguments: Sequence[str] | None = None) -> int:
    """Prove, print what fails, and write ``proofs.json``; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m torch2ms.mapping_tables.prove", description="Prove the tables.")
    parser.add_argument("--only", action="append", default=[], metavar="GLOB", help="rows whose name matches")
    parser.add_argument("--python", action="append", default=[], help="Python of an environment with a MindSpore")
    parser.add_argument("--mapping", action="append", default=[], help="further table; proofs are not written")
    parser.add_argument("--missing", action="store_true", help="only examples without a proof of their present text")
    parser.add_argument("--no-write", action="store_true", help="leave proofs.json as it is")
    options = parser.parse_args(arguments)
    tables = load(tuple(options.mapping))
    failed = 0
    for python in options.python or [sys.executable]:
        proofs = prove(tables, options.only, python, read_proofs() if options.missing else ())
        for proof in proofs:
            if proof.failed:
                failed += 1
                print(
                    f"{proof.row} example {proof.example} (MindSpore {proof.mindspore}): {proof.result}: {proof.detail}"
                )
        counts = {result: sum(proof.result == result for proof in proofs) for result in {p.result for p in proofs}}
        print(f"{len(proofs)} examples:", ", ".join(f"{count} {result}" for result, count in sorted(counts.items())))
        if not (options.no_write or options.mapping):
            write_proofs(PROOFS, [*read_proofs(PROOFS), *proofs], tables)
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Torch2msError as failure:
        print(f"{failure} {failure.advice}".rstrip(), file=sys.stderr)
        sys.exit(2)
