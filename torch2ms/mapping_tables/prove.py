"""Prove the tables: run every row's examples with PyTorch and with MindSpore, in separate processes, and compare.

    python -m torch2ms.mapping_tables.prove [--only GLOB]... [--missing] [--python PATH]... [--device GPU] [--no-write]

``--python`` is the interpreter of an environment with another MindSpore; PyTorch always runs in this one, and on CPU,
whatever ``--device`` MindSpore computes on. NVIDIA_TF32_OVERRIDE=0 keeps a GPU's convolutions in float32. The results
go to ``proofs.json`` beside this file: one line an example and release, with a digest of the example, so that a proof
of what has changed since counts for nothing. Exit code 1 when an example fails.
"""

from __future__ import annotations

import argparse
import ast
import fnmatch
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from torch2ms.config import Version, parse_version
from torch2ms.errors import TableError, Torch2msError
from torch2ms.mapping_tables.call_shapes import LETTERS, call_shapes
from torch2ms.mapping_tables.checks import holds_for
from torch2ms.mapping_tables.compare import Verdict, judge
from torch2ms.mapping_tables.example_calls import producer
from torch2ms.mapping_tables.execution import Answers, Case, Workplace, release_of, workplace
from torch2ms.mapping_tables.inputs import evaluate
from torch2ms.mapping_tables.loader import load
from torch2ms.mapping_tables.lookup import Tables
from torch2ms.mapping_tables.proofs import PROOFS, PROVED_ON, Proof, digest_of, read_proofs, write_proofs
from torch2ms.mapping_tables.schema import Example, Row
from torch2ms.mapping_tables.trials import translated
from torch2ms.weights import rules_from_rows

__all__ = ["case_of", "main", "prove"]

GRAPH_PATIENCE = 120  # seconds until a graph that does not compile counts as failing


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
        "steps": int(run.get("steps", 5 if check in ("optimizer", "closure") else 12)),
        "rules": rules,
    }


def _given(text: Any, name: str) -> Any:
    return evaluate(text, name) if isinstance(text, str) else text


@dataclass(slots=True)
class _Job:
    """One example that is executed: its case, the cases of the other ways of writing its call, what came out."""

    row: Row
    index: int
    example: Example
    case: Case
    shapes: list[tuple[str, Case]] = field(default_factory=list)  # with their letters
    own: str = ""  # the letters of the example's own text
    marked: str = ""  # the letters of the shapes that are marked instead of translated


def prove(
    tables: Tables,
    only: Sequence[str] = (),
    python: str = sys.executable,
    known: Iterable[Proof] = (),
    references: Answers | None = None,
    graph: bool = False,
    device: str = "CPU",
) -> list[Proof]:
    """Run the examples of the rows that ``only`` matches; return their proofs for the MindSpore of ``python``.

    Every call is also run in the other shapes it can be written in (``call_shapes``); with ``graph``, functions and
    layers are run under ``mindspore.jit`` as well. An example that has not changed since one of the ``known`` proofs
    found it right is not run again. ``references`` collects PyTorch's answers, for the next release.

    Raises VerificationError when a side cannot be started.
    """
    python = str(Path(python).absolute()) if os.sep in python else python  # the sides run in another folder
    release = release_of(python)
    version = parse_version(release)
    rules = rules_from_rows(tables.rows())
    proofs: list[Proof] = []
    jobs: list[_Job] = []
    made = partial(_proof, tables, release, device)
    here = (p for p in known if p.mindspore == release and p.device == device)
    done = {(p.row, p.example, p.digest) for p in here if not p.failed}
    for row, index, example in _examples(tables, only):
        if (row.name, index, digest_of(tables, row, example)) in done:
            continue
        reason = _not_here(tables, row, example, version, device)
        if reason:
            proofs.append(made(row, index, Verdict("skipped", reason)))
            continue
        try:
            jobs.append(_Job(row, index, example, case_of(row.name, index, example, rules)))
        except TableError as error:
            proofs.append(made(row, index, Verdict("error", str(error))))
    for job in jobs:
        _add_shapes(tables, job, version)
    if jobs:
        with workplace(device) as place:
            runner = _Runner(place, python, {} if references is None else references)
            runner.run([case for job in jobs for case in (job.case, *(case for _, case in job.shapes))])
            judged = [(job, *_judged(job, runner)) for job in jobs]
            columns = runner.in_graph([job for job, verdict, _ in judged if _has_graph(job, verdict)]) if graph else {}
        for job, verdict, calls in judged:
            column = columns.get(job.case["id"], "")
            proofs.append(made(job.row, job.index, verdict, calls, column))
    return proofs


def _add_shapes(tables: Tables, job: _Job, version: Version) -> None:
    """Translate the other ways of writing the example's call, and make their cases."""
    own = ast.unparse(ast.parse(job.example.before))
    wanted = job.example.run.get("calls", "".join(LETTERS))
    if job.case["raises"]:
        return
    allowed: tuple[str, ...] | None = None
    for shape in call_shapes(tables, job.row, job.example):
        if shape.before == own:
            job.own += shape.letters
            continue
        if not set(shape.letters) <= set(wanted):
            continue
        trial = translated(job.example, shape.before, version)
        if trial.marks and allowed is None:
            allowed = translated(job.example, own, version).marks
        if set(trial.marks) - set(allowed or ()) or "torch2ms.runtime.missing." in trial.after:
            job.marked += shape.letters
            continue
        case = {**job.case, "id": f"{job.case['id']} as {shape.before}", "after": trial.after}
        if "reference" not in job.example.run:
            case["before"] = shape.before
        job.shapes.append((shape.letters, case))


class _Runner:
    """Runs cases on both sides and remembers the answers."""

    def __init__(self, place: Workplace, python: str, references: Answers) -> None:
        self._place = place
        self._python = python
        self.expected = references
        self.found: Answers = {}

    def run(self, cases: Sequence[Case]) -> None:
        """Run cases: PyTorch first, whose weights MindSpore's layers get."""
        self.expected.update(
            self._place.run("torch", sys.executable, [case for case in cases if case["id"] not in self.expected])
        )
        for case in cases:
            case["state"] = self.expected[case["id"]].get("ok", {}).get("state", {})
        able = [case for case in cases if "ok" in self.expected[case["id"]] or case["raises"]]
        self.found.update(self._place.run("mindspore", self._python, able))

    def verdict(self, case: Case) -> Verdict:
        """Return the verdict on a case that was run."""
        return judge(case, self.expected[case["id"]], self.found.get(case["id"], {"error": "not run", "type": ""}))

    def in_graph(self, jobs: Sequence[_Job]) -> dict[str, str]:
        """Run examples under ``mindspore.jit``; return by case "equal", or how it fails."""
        cases = [{**job.case, "graph": "only", "grad": False} for job in jobs]
        answers = self._place.run("mindspore", self._python, cases, GRAPH_PATIENCE)
        found = {}
        for case in cases:
            verdict = judge(case, self.expected[case["id"]], answers[case["id"]])
            found[case["id"]] = "fails" if verdict.result == "error" else verdict.result
        return found


def _judged(job: _Job, runner: _Runner) -> tuple[Verdict, str]:
    """Return the verdict on an example, all shapes of its call included, and the letters of the shapes."""
    verdict = runner.verdict(job.case)
    if verdict.failed:
        return verdict, ""
    agreed = job.own
    for letters, case in job.shapes:
        if "ok" not in runner.expected[case["id"]]:
            continue  # torch cannot be called like this
        other = runner.verdict(case)
        if other.failed:
            detail = f"{LETTERS[letters[0]]}: {case['before'].strip()} -> {case['after'].strip()}: {other.detail}"
            return Verdict(other.result, detail), ""
        agreed += letters
        verdict = Verdict(verdict.result, verdict.detail, max_of(verdict.difference, other.difference))
    marked = "".join(letter for letter in LETTERS if letter in job.marked and letter not in agreed)
    calls = "".join(letter for letter in LETTERS if letter in agreed)
    return verdict, f"{calls}/{marked}" if marked else calls


def max_of(a: float | None, b: float | None) -> float | None:
    """Return the larger of two differences, None standing for one that was not measured."""
    return b if a is None else a if b is None else max(a, b)


def _has_graph(job: _Job, verdict: Verdict) -> bool:
    """Whether graph mode is a question for an example: a function of tensors, a method or a layer."""
    tensors = job.case["inputs"] or any(hasattr(value, "dtype") for value in job.case["args"].values())
    return bool(verdict.result == "equal" and job.case["check"] in ("value", "layer") and tensors)


def _examples(tables: Tables, only: Sequence[str]) -> Iterator[tuple[Row, int, Example]]:
    for row in tables.rows():
        if not only or any(fnmatch.fnmatchcase(row.name, pattern) for pattern in only):
            for index, example in enumerate(row.examples):
                yield row, index, example


def _not_here(tables: Tables, row: Row, example: Example, version: Version, device: str) -> str:
    """Return why an example cannot be executed with a release on a device, empty when it can."""
    if device != "CPU" and "torch2ms.runtime.device." in example.after:
        return "it asks for the device, which is CPU on PyTorch's side"
    if skip := example.run.get("skip"):
        return str(skip)
    releases = str(example.run.get("releases", ">=2.0"))
    if not holds_for(releases, version):
        return f"the call needs MindSpore {releases}"
    option = producer(tables, row, example)
    if option is None:
        return "" if row.keep else "no target of the row holds for the example's release and device"
    if device.lower() not in option.device:
        return "documented for " + ", ".join(sorted(option.device)) + " only"
    if not holds_for(option.mindspore, version):
        return f"the target needs MindSpore {option.mindspore}"
    return ""


def _proof(
    tables: Tables, release: str, device: str, row: Row, index: int, verdict: Verdict, calls: str = "", graph: str = ""
) -> Proof:
    digest = digest_of(tables, row, row.examples[index])
    return Proof(
        row.name, index, release, device, verdict.result, verdict.difference, digest, verdict.detail, calls, graph
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Prove, print what fails, and write ``proofs.json``; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m torch2ms.mapping_tables.prove", description="Prove the tables.")
    parser.add_argument("--only", action="append", default=[], metavar="GLOB", help="rows whose name matches")
    parser.add_argument("--python", action="append", default=[], help="Python of an environment with a MindSpore")
    parser.add_argument("--mapping", action="append", default=[], help="further table; proofs are not written")
    parser.add_argument("--missing", action="store_true", help="only examples without a proof of their present text")
    parser.add_argument("--graph", action="store_true", help="also run functions and layers under mindspore.jit")
    parser.add_argument("--device", choices=PROVED_ON, default="CPU", help="where MindSpore computes")
    parser.add_argument("--no-write", action="store_true", help="leave proofs.json as it is")
    options = parser.parse_args(arguments)
    tables = load(tuple(options.mapping))
    failed = 0
    references: Answers = {}
    for python in options.python or [sys.executable]:
        known = read_proofs() if options.missing else ()
        proofs = prove(tables, options.only, python, known, references, options.graph, options.device)
        for proof in proofs:
            if proof.failed:
                failed += 1
                where = f"MindSpore {proof.mindspore} on {proof.device}"
                print(f"{proof.row} example {proof.example} ({where}): {proof.result}: {proof.detail}")
        counts = {result: sum(proof.result == result for proof in proofs) for result in {p.result for p in proofs}}
        print(f"{len(proofs)} examples:", ", ".join(f"{count} {result}" for result, count in sorted(counts.items())))
        sys.stdout.flush()
        if not (options.no_write or options.mapping):
            write_proofs(PROOFS, [*read_proofs(PROOFS), *proofs], tables)
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Torch2msError as failure:
        print(f"{failure} {failure.advice}".rstrip(), file=sys.stderr)
        sys.exit(2)
