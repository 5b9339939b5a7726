"""Change what a result is made of, and the result itself: who sees it in PyTorch and in what is emitted?

    python benchmarks/aliasing.py                      # every row that has an example with tensors
    python benchmarks/aliasing.py --only 'torch.Tensor.*'

Of an example ``x.view(-1)`` these programs are made, translated and run on both sides::

    y = x.view(-1); x[...] = 1; y             y = x.view(-1); y[...] = 1; x
    y = x.view(-1); x[x == x] = 1; y

Where PyTorch's views share memory, MindSpore's may be copies, and the other way round. A program is *right*, *marked*
(the translation says so), *loud* (MindSpore raises) or *silent*. Exit code 1 when one is silent.
"""

from __future__ import annotations

import argparse
import ast
import fnmatch
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from fuzz import is_executed_here  # noqa: E402

from torch2ms.mapping_tables.compare import judge  # noqa: E402
from torch2ms.mapping_tables.execution import Case, workplace  # noqa: E402
from torch2ms.mapping_tables.loader import load  # noqa: E402
from torch2ms.mapping_tables.lookup import Tables  # noqa: E402
from torch2ms.mapping_tables.prove import case_of  # noqa: E402
from torch2ms.mapping_tables.schema import Example  # noqa: E402
from torch2ms.mapping_tables.trials import translated  # noqa: E402
from torch2ms.weights import rules_from_rows  # noqa: E402

TOLERANCE = 2e-4
MAX_EXAMPLES = 3  # of a row
# What runs something else than the text of the example, and what says nothing of memory
_OTHERWISE = frozenset({"input", "reference", "objects"})


@dataclass(frozen=True, slots=True)
class Program:
    """One program, and what came out of it."""

    name: str
    before: str
    verdict: str
    after: str = ""
    detail: str = ""


def programs_of(example: Example) -> Iterator[str]:
    """Yield the programs that are made of an example; none when its result is not one expression."""
    tree = ast.parse(example.before)
    last = tree.body[-1]
    if not isinstance(last, ast.Expr) or isinstance(last.value, ast.Tuple):
        return
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    first = "".join(f"{ast.unparse(statement)}\n" for statement in tree.body[:-1])
    for name in example.run.get("args", {}):
        if name in names:
            for change, asked in (
                (f"{name}[...] = 1", "_y"),
                ("_y[...] = 1", name),
                (f"{name}[{name} == {name}] = 1", "_y"),
            ):
                yield f"{first}_y = {ast.unparse(last.value)}\n{change}\n{asked}"


def cases_of(tables: Tables, only: Sequence[str]) -> Iterator[tuple[Example, str, Case]]:
    """Yield the programs of the rows as cases for both sides."""
    rules = rules_from_rows(tables.rows())
    for row in sorted(tables.rows(), key=lambda row: row.name):
        if only and not any(fnmatch.fnmatchcase(row.name, pattern) for pattern in only):
            continue
        able = [
            (index, example)
            for index, example in enumerate(row.examples)
            if is_executed_here(example)
            and not _OTHERWISE & set(example.run)
            and example.run.get("compare", "value") == "value"
        ]
        for index, example in able[:MAX_EXAMPLES]:
            plain = replace(example, run={**example.run, "grad": False, "tolerance": TOLERANCE})
            for number, text in enumerate(programs_of(example)):
                case = case_of(row.name, index, replace(plain, before=text), rules)
                yield plain, text, {**case, "id": f"{row.name}#{index}~{number}"}


def run(tables: Tables, only: Sequence[str] = ()) -> list[Program]:
    """Return what came out of the programs of the rows; without those that PyTorch rejects or answers at random."""
    drafted = list(cases_of(tables, only))
    found: list[Program] = []
    able: list[tuple[str, Case]] = []
    with workplace() as place:
        expected = place.run("torch", sys.executable, [case for *_, case in drafted])
        again = place.run("torch", sys.executable, [{**case, "seed": 1} for *_, case in drafted])
        for example, text, case in drafted:
            name = case["id"]
            if "error" in expected[name] or judge(case, expected[name], again[name]).failed:
                continue
            trial = translated(example, text)
            if set(trial.marks) - set(translated(example, example.before).marks):
                found.append(Program(name, text, "marked", trial.after))
            else:
                able.append((text, {**case, "after": trial.after, "state": expected[name]["ok"].get("state", {})}))
        answers = place.run("mindspore", sys.executable, [case for _, case in able])
    for text, case in able:
        verdict = judge(case, expected[case["id"]], answers[case["id"]])
        word = {"different": "silent", "error": "loud"}.get(verdict.result, "right")
        found.append(Program(case["id"], text, word, case["after"], verdict.detail))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the programs, print what is silent or loud and the counts; return 1 when something is silent."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", action="append", default=[], metavar="GLOB", help="rows whose name matches")
    options = parser.parse_args(arguments)
    found = run(load(), options.only)
    for program in found:
        if program.verdict in ("silent", "loud"):
            before, after = ("; ".join(text.strip().splitlines()) for text in (program.before, program.after))
            print(f"{program.verdict} {program.name}: {before}\n    gives {after}\n    {program.detail[:300]}")
    counts = Counter(program.verdict for program in found)
    print(", ".join(f"{counts[word]} {word}" for word in ("right", "marked", "loud", "silent")))
    return 1 if counts["silent"] else 0


if __name__ == "__main__":
    sys.exit(main())
