"""Vary the arguments of random rows within their declared domain, and compare PyTorch with what is emitted.

    python benchmarks/fuzz.py                        # 300 rows, seed 1, 8 variants each
    python benchmarks/fuzz.py --seed 7 --rows 100    # others
    python benchmarks/fuzz.py --only 'torch.nn.*'    # rows whose name matches
    python benchmarks/fuzz.py --sweep float64        # every row with one kind of input

Each variant is translated as a user's code would be, both sides run in processes of their own, and value, shape, dtype
and, where the example has it, gradient are compared. A variant is

- *outside*: PyTorch itself rejects it, so that it is not in the domain;
- *marked*: the translation says that it cannot do it (a warning or an error that the example itself does not have);
- *right*: both sides agree;
- *loud*: MindSpore raises where PyTorch computes;
- *unnamed*: infinities are among the numbers, or a tensor has no elements, and the text does not show it; the row has a
  target of its own for programs that do (``edge``), and that target is right, but the one that others get is not;
- *told*: something is divided by -0.0, which MindSpore's kernel takes for 0.0, as docs/limits.md says; the variant is
  right when its zeros have no sign;
- *noise*: a decomposition of a matrix close to singular: PyTorch's or MindSpore's own moves a tenth as far when the
  matrix's last bits do (``conditioned`` in fuzz_domains.toml);
- *silent*: both compute, and the results differ. Exit code 1 when there is one.

PyTorch runs each variant with two seeds, and what differs with six more. Where its own answers differ (dropout in
training, a few draws, less than the rank of a matrix), the numbers are random, and shape and dtype are compared.
"""

from __future__ import annotations

import argparse
import fnmatch
import random
import re
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
from hypothesis import HealthCheck, Phase

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from variation import DOMAINS, SWEEPS, Variant, swept, variants  # noqa: E402

from torch2ms.errors import TableError  # noqa: E402
from torch2ms.mapping_tables.compare import Verdict, judge  # noqa: E402
from torch2ms.mapping_tables.execution import Answers, Case, Workplace, workplace  # noqa: E402
from torch2ms.mapping_tables.loader import load  # noqa: E402
from torch2ms.mapping_tables.lookup import Tables  # noqa: E402
from torch2ms.mapping_tables.prove import case_of  # noqa: E402
from torch2ms.mapping_tables.schema import Example, Row  # noqa: E402
from torch2ms.mapping_tables.trials import translated  # noqa: E402
from torch2ms.weights import rules_from_rows  # noqa: E402

# Values are larger than in the examples, and MindSpore's tanh on CPU is off by 1e-4: figures like the acceptance's
TOLERANCE = 2e-4
# Rounding of the coarser of the dtypes in play
ROUGH = {"float16": 1e-2, "bfloat16": 3e-2}
# What a program with infinities and NaN writes down: rows have targets of their own for it (queries/edge_cases.py)
_EDGES = "SPECIALS = (float('inf'), float('nan'))\n"
# and one whose tensor may have no elements; the line is not executed
_SELECTED = "{0} = {0}[torch.ones(1, dtype=torch.bool)]\n"
_HANDED = "print(torch.ones(1)[torch.ones(1) > 9])\n"
_NOTHING = re.compile(r"[(,] ?0[,)]")
VERDICTS = ("right", "marked", "outside", "loud", "unnamed", "told", "noise", "silent")


@dataclass(frozen=True, slots=True)
class Finding:
    """What came out of one variant."""

    row: str
    verdict: str
    before: str
    given: str
    after: str
    detail: str

    def __str__(self) -> str:
        """Return a few lines that show the variant."""
        lines = [f"{self.verdict} {self.row}: {self.before.strip()}", f"    with  {self.given}"]
        lines += [f"    gives {self.after.strip()}"] if self.after else []
        return "\n".join([*lines, f"    {self.detail[:400]}"]).replace("\n\n", "\n")


def is_executed_here(example: Example) -> bool:
    """Whether an example is executed by the newest release on CPU, and what it gives is compared."""
    if {"skip", "raises"} & set(example.run) or example.run.get("compare", "value") == "none":
        return False
    return example.mindspore == "2.10" and example.device in ("portable", "cpu") and ".mint." not in example.after


def chosen_examples(tables: Tables, rows: int, seed: int, only: Sequence[str]) -> list[tuple[Row, int, Example]]:
    """Return an example each of random rows that can be executed here."""
    found = []
    for row in tables.rows():
        able = [(row, index, example) for index, example in enumerate(row.examples) if is_executed_here(example)]
        if able and (row.to or row.keep) and (not only or any(fnmatch.fnmatchcase(row.name, p) for p in only)):
            found.append(able)
    dice = random.Random(seed)
    return [dice.choice(able) for able in dice.sample(found, min(rows, len(found)))]


def drawn(tables: Tables, row: Row, example: Example, count: int, seed: int, sweep: str) -> list[Variant]:
    """Return different variants of an example, as hypothesis draws them from the row's domain."""
    found: dict[str, Variant] = {}

    @hypothesis.seed(seed + zlib.crc32(row.name.encode()))  # one seed alone gives every row the same draws
    @hypothesis.settings(
        max_examples=count,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(variants(tables, row, example, sweep))
    def collect(variant: Variant) -> None:
        found.setdefault(repr(variant), variant)

    collect()
    return list(found.values())


def cases_of(
    tables: Tables, chosen: Sequence[tuple[Row, int, Example]], count: int, seed: int, sweep: str, tolerance: float
) -> Iterator[tuple[Row, Example, Variant, Case]]:
    """Give the variants of the examples as cases for both sides; MindSpore's code is still the example's."""
    rules = rules_from_rows(tables.rows())
    for row, index, example in chosen:
        is_drawn = sweep in ("", "arguments")
        found = drawn(tables, row, example, count, seed, sweep) if is_drawn else swept(tables, row, example, sweep)
        for number, variant in enumerate(found):
            run: dict[str, Any] = {**example.run, "args": dict(variant.args), "grad": bool(example.run.get("grad"))}
            if variant.inputs:
                run["input"] = list(variant.inputs)
            if not variant.smooth:
                run["grad"] = False
            rough = max((ROUGH[name] for name in ROUGH if name in f"{variant}"), default=0.0)
            if _is_among(row, "meeting") and "specials" in _texts(variant):
                continue
            if _is_among(row, "whole") and _NOTHING.search(_texts(variant)):
                continue
            run["tolerance"] = max(float(run.get("tolerance", 0.0)), tolerance, rough)
            try:
                case = case_of(row.name, index, replace(example, before=variant.before, run=run), rules)
            except TableError:
                continue  # no input of the language: a permutation of minus one things
            case["grad_tolerance"] = 10 * case["tolerance"]
            yield row, replace(example, run=run), variant, {**case, "id": f"{row.name}#{index}~{number}"}


def fuzz(
    tables: Tables,
    rows: int,
    count: int,
    seed: int,
    only: Sequence[str] = (),
    sweep: str = "",
    tolerance: float = TOLERANCE,
) -> list[Finding]:
    """Return what came out of ``count`` variants of each of ``rows`` random rows, or of those of a sweep."""
    chosen = chosen_examples(tables, rows, seed, only)
    drafted = list(cases_of(tables, chosen, count, seed, sweep, tolerance))
    findings: list[Finding] = []
    with workplace() as place:
        expected = place.run("torch", sys.executable, [case for *_, case in drafted])
        again = place.run("torch", sys.executable, [{**case, "seed": 1} for *_, case in drafted])
        able: list[_Trial] = []
        own: dict[int, tuple[str, ...]] = {}
        for row, example, variant, case in drafted:
            given = ", ".join(f"{name}={text}" for name, text in variant.args.items())
            given = "; ".join([given, *map(str, variant.inputs)]).strip("; ")
            if "error" in (answer := expected[case["id"]]):
                findings.append(Finding(row.name, "outside", variant.before, given, "", answer["error"]))
                continue
            if id(row) not in own:
                own[id(row)] = translated(example, example.before).marks
            trial = translated(example, variant.before)
            if new := set(trial.marks) - set(own[id(row)]):
                findings.append(Finding(row.name, "marked", variant.before, given, trial.after, sorted(new)[0]))
                continue
            if judge(case, answer, again[case["id"]]).failed:
                case |= {"compare": "shape", "grad": False}
            case |= {"after": trial.after, "state": answer["ok"].get("state", {})}
            case["grad"] = case["grad"] and not _is_empty(answer["ok"]["value"])
            able.append(_Trial(row, given, variant, example, case))
        found = place.run("mindspore", sys.executable, [trial.case for trial in able])
        verdicts = [judge(trial.case, expected[trial.case["id"]], found[trial.case["id"]]) for trial in able]
        failed = [trial for trial, verdict in zip(able, verdicts, strict=True) if verdict.failed]
        drawn = _drawn_at_random(place, failed, expected, found)
        verdicts = [drawn.get(trial.case["id"], verdict) for trial, verdict in zip(able, verdicts, strict=True)]
        failed = [trial for trial, verdict in zip(able, verdicts, strict=True) if verdict.failed]
        unnamed = _right_where_named(place, failed, expected)
        failed = [trial for trial in failed if trial.case["id"] not in unnamed]
        told = _right_without_signs(place, failed)
        noise = _within_noise(place, failed, expected, found)
    for trial, verdict in zip(able, verdicts, strict=True):
        word = {"different": "silent", "error": "loud"}.get(verdict.result, "right")
        for name, known in (("noise", noise), ("told", told), ("unnamed", unnamed)):
            word = name if trial.case["id"] in known else word
        findings.append(
            Finding(trial.row.name, word, trial.variant.before, trial.given, trial.case["after"], verdict.detail)
        )
    return findings


@dataclass(frozen=True, slots=True)
class _Trial:
    """A variant that both sides can run."""

    row: Row
    given: str
    variant: Variant
    example: Example
    case: Case


def _drawn_at_random(
    place: Workplace, failed: Sequence[_Trial], expected: Answers, found: Answers
) -> dict[str, Verdict]:
    """Return the verdict on shape and dtype alone of the variants that PyTorch answers otherwise with further seeds."""
    verdicts: dict[str, Verdict] = {}
    for seed in range(2, 8):
        left = [trial.case for trial in failed if trial.case["id"] not in verdicts]
        again = place.run("torch", sys.executable, [{**case, "seed": seed} for case in left])
        for case in left:
            name = case["id"]
            if judge(case, expected[name], again[name]).failed:
                verdicts[name] = judge({**case, "compare": "shape", "grad": False}, expected[name], found[name])
    return verdicts


def _right_where_named(place: Workplace, failed: Sequence[_Trial], expected: Answers) -> set[str]:
    """Return which of the variants are right in a program that shows infinities and tensors without elements."""
    cases = []
    for trial in failed:
        shown = [_EDGES] if "specials" in _texts(trial.variant) else []
        shown += [_SELECTED.format(name) for name, text in trial.variant.args.items() if _NOTHING.search(str(text))]
        shown += [_HANDED] if any(_NOTHING.search(str(text)) for text in trial.variant.inputs) else []
        if shown:
            text = translated(trial.example, "".join(shown) + trial.variant.before).after
            after = "\n".join(text.splitlines()[len(shown) :])
            if after != trial.case["after"]:
                cases.append({**trial.case, "after": after})
    found = place.run("mindspore", sys.executable, cases)
    return {case["id"] for case in cases if not judge(case, expected[case["id"]], found[case["id"]]).failed}


def _right_without_signs(place: Workplace, failed: Sequence[_Trial]) -> set[str]:
    """Return which of the variants that divide are right when no zero of their inputs is negative."""
    cases = []
    for trial in failed:
        if _is_among(trial.row, "divided") and "specials" in _texts(trial.variant):
            args = {name: _without_sign(value) for name, value in trial.case["args"].items()}
            cases.append({**trial.case, "args": args, "inputs": [_without_sign(x) for x in trial.case["inputs"]]})
    expected = place.run("torch", sys.executable, cases)
    found = place.run("mindspore", sys.executable, [case for case in cases if "ok" in expected[case["id"]]])
    known = [case for case in cases if case["id"] in found]
    return {case["id"] for case in known if not judge(case, expected[case["id"]], found[case["id"]]).failed}


def _within_noise(place: Workplace, failed: Sequence[_Trial], expected: Answers, found: Answers) -> set[str]:
    """Return which decompositions are at most ten times as far as a side's own moves with the matrix's last bits."""
    cases = [trial.case for trial in failed if _is_among(trial.row, "conditioned")]
    limits = dict.fromkeys((case["id"] for case in cases), 0.0)
    for seed in range(8 if cases else 0):
        for side, own in (("torch", expected), ("mindspore", found)):
            moved = place.run(side, sys.executable, [_moved_case(case, seed) for case in cases])
            for name, case in ((case["id"], case) for case in cases):
                free = {**case, "tolerance": float("inf"), "grad_tolerance": float("inf")}
                limits[name] = max(limits[name], 10 * (judge(free, own[name], moved[name]).difference or 0.0))
    held = [{**case, **{key: max(case[key], limits[case["id"]]) for key in _TOLERANCES}} for case in cases]
    return {case["id"] for case in held if not judge(case, expected[case["id"]], found[case["id"]]).failed}


_TOLERANCES = ("tolerance", "grad_tolerance")


def _moved_case(case: Case, seed: int) -> Case:
    """Return a case with the last bits of its inputs moved."""
    args = {name: _moved(value, seed) for name, value in case["args"].items()}
    return {**case, "args": args, "inputs": [_moved(value, seed) for value in case["inputs"]]}


def _moved(value: Any, seed: int) -> Any:
    """Return an input with its floats moved by last bits of the largest: that is how far a decomposition rounds."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fc" or not np.isfinite(value).all():
        return value
    signs = np.random.RandomState(seed).choice([-1.0, 1.0], value.shape)
    largest = np.abs(value).max(initial=0.0)
    return (value + 2 * np.finfo(value.dtype).eps * largest * signs).astype(value.dtype)


def _without_sign(value: Any) -> Any:
    """Return an input with 0.0 in the place of -0.0."""
    return np.where(value == 0, np.zeros_like(value), value) if isinstance(value, np.ndarray) else value


def _is_among(row: Row, domain: str) -> bool:
    """Whether a row's name is among those of a domain."""
    return any(fnmatch.fnmatchcase(row.name, pattern) for pattern in DOMAINS[domain]["names"])


def _texts(variant: Variant) -> str:
    return " ".join(map(str, [*variant.args.values(), *variant.inputs]))


def _is_empty(value: Any) -> bool:
    """Whether a plain result has a tensor without elements: its gradient is no question."""
    if value[0] == "sequence":
        return any(_is_empty(item) for item in value[1])
    return value[0] == "tensor" and not value[2].size


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz, print what is silent or loud and the counts; return 1 when something is silent."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, help="how many rows (300; of a sweep all)")
    parser.add_argument("--variants", type=int, default=8, help="how many variants of each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", default=[], metavar="GLOB", help="rows whose name matches")
    parser.add_argument("--show", action="append", default=[], choices=VERDICTS, help="print these as well")
    parser.add_argument("--sweep", choices=SWEEPS, default="", help="one kind of input instead of random ones")
    parser.add_argument("--tolerance", type=float, default=TOLERANCE)
    options = parser.parse_args(arguments)
    rows = options.rows or (sys.maxsize if options.sweep else 300)
    findings = fuzz(load(), rows, options.variants, options.seed, options.only, options.sweep, options.tolerance)
    for finding in findings:
        if finding.verdict in ("silent", *options.show):
            print(finding)
    counts = Counter(finding.verdict for finding in findings)
    rows = len({finding.row for finding in findings})
    print(f"{len(findings)} variants of {rows} rows:", ", ".join(f"{counts[name]} {name}" for name in VERDICTS))
    return 1 if counts["silent"] else 0


if __name__ == "__main__":
    sys.exit(main())
