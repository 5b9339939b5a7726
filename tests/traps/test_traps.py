"""MindSpore's silent traps: no translation may fall into one. The cases, named after them, are in ``traps.toml``.

What is emitted must not hold the patterns of the trap, whatever the device. Executed, each program is marked, or it
gives PyTorch's value.
"""

from __future__ import annotations

import io
import re
import sys
import tokenize
from pathlib import Path
from typing import Any

import pytest

from torch2ms.mapping_tables import execution
from torch2ms.mapping_tables.compare import judge
from torch2ms.mapping_tables.loader import load
from torch2ms.mapping_tables.prove import case_of
from torch2ms.mapping_tables.schema import Example
from torch2ms.mapping_tables.trials import Trial, translated
from torch2ms.weights import rules_from_rows

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
TRAPS: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("traps.toml").read_text(encoding="utf-8"))
RUN_KEYS = ("args", "objects", "input", "grad", "check", "compare", "raises")


def examples(name: str) -> list[Example]:
    """Return the programs of a trap as examples, whose translation is not yet known."""
    trap = TRAPS[name]
    run = {key: trap[key] for key in RUN_KEYS if key in trap}
    return [Example(code, "", {**run, "state": False}) for code in trap["code"]]


def without_comments(code: str) -> str:
    """Return code without comments and the texts of marks in them."""
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    return tokenize.untokenize(token for token in tokens if token.type != tokenize.COMMENT)


@pytest.mark.parametrize("device", ["portable", "cpu", "gpu"])
@pytest.mark.parametrize("name", TRAPS)
def test_is_not_emitted(name: str, device: str) -> None:
    for example in examples(name):
        emitted = translated(Example(example.before, "", example.run, device=device), example.before)
        for pattern in TRAPS[name].get("never", []):
            assert emitted.marks or not re.search(pattern, without_comments(emitted.after)), emitted.after


@pytest.fixture(scope="module")
def outcomes() -> dict[str, list[tuple[Trial, str, str]]]:
    """Return for every trap the translations of its programs, the verdicts and their details."""
    rules = rules_from_rows(load().rows())
    cases: dict[str, list[tuple[Trial, dict[str, Any]]]] = {}
    for name in TRAPS:
        cases[name] = []
        for index, example in enumerate(examples(name)):
            trial = translated(example, example.before)
            case = {**case_of(name, index, example, rules), "after": trial.after}
            cases[name].append((trial, case))
    with execution.workplace() as place:
        every = [case for pairs in cases.values() for _, case in pairs]
        expected = place.run("torch", sys.executable, every)
        for case in every:
            case["state"] = expected[case["id"]].get("ok", {}).get("state", {})
        able = [case for pairs in cases.values() for trial, case in pairs if not trial.marks]
        found = place.run("mindspore", sys.executable, able)
    judged = {}
    for name, pairs in cases.items():
        judged[name] = []
        for trial, case in pairs:
            answer = found.get(case["id"], {"error": "not run", "type": ""})
            verdict = judge(case, expected[case["id"]], answer)
            judged[name].append((trial, "marked" if trial.marks else verdict.result, verdict.detail))
    return judged


@pytest.mark.slow
@pytest.mark.parametrize("name", TRAPS)
def test_computes_what_torch_computes(name: str, outcomes: dict[str, list[tuple[Trial, str, str]]]) -> None:
    wrong = [
        f"{example.before}\n->\n{trial.after}\n{result}: {detail}"
        for example, (trial, result, detail) in zip(examples(name), outcomes[name], strict=True)
        if result in ("different", "error")
    ]
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("name", TRAPS)
def test_something_of_it_is_translated(name: str, outcomes: dict[str, list[tuple[Trial, str, str]]]) -> None:
    allowed = TRAPS[name].get("may_be_marked", False)
    assert allowed or any(result != "marked" for _, result, _ in outcomes[name])


def test_late_errors_are_laid_to_the_right_call() -> None:
    for worker in ("mapping_tables/proving/mindspore_side.py", "verify/workers/mindspore_side.py"):
        assert "launch_blocking()" in (ROOT / "torch2ms" / worker).read_text(encoding="utf-8"), worker
