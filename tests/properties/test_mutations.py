"""Mutated programs: a sample of them is run on both sides; all of them, and every golden input, keep the promises."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

from tests.golden.snapshots import CASES, read_case
from tests.properties import mutation_run
from tests.properties.executable import PROGRAMS
from tests.properties.mutation_run import compare, mutated
from tests.properties.mutations import MUTATIONS, mutants
from tests.properties.two_files import MOVES, moves, translated
from torch2ms.config import Options
from torch2ms.diagnostics import Severity
from torch2ms.translator.pipeline import translate_source

GOLDEN = sorted(path.stem for path in CASES.glob("*.txt"))
MUTATED = mutated(1)
SAMPLE = sorted(MUTATED)[::6]


def keeps_promises(source: str) -> None:
    result = translate_source(source)
    ast.parse(result.text)
    assert not [d for d in result.diagnostics if d.code == "T2M900"]
    assert translate_source(result.text).text == result.text


@pytest.mark.parametrize("name", PROGRAMS)
def test_mutants_keep_all_promises(name: str) -> None:
    for _, text in mutants(PROGRAMS[name], 1):
        keeps_promises(text)


@pytest.mark.parametrize("name", PROGRAMS)
def test_moving_code_to_another_file_loses_nothing(name: str, tmp_path: Path) -> None:
    for move, text in moves(PROGRAMS[name]):
        new, diagnostics = translated(text, Options(cache=False), tmp_path / move)
        assert not [d for d in diagnostics if d.severity is Severity.ERROR], move
        assert "import torch\n" not in new


@pytest.mark.parametrize("name", GOLDEN[::6])
def test_mutants_of_golden_inputs_keep_all_promises(name: str) -> None:
    for path, source in read_case(CASES / f"{name}.txt").inputs.items():
        if not path.endswith(".py"):
            continue
        try:
            ast.parse(source)
        except SyntaxError:
            continue
        for mutation in ("delete_keyword", "swap_arguments", "rename_alias", "conditional_import"):
            for _, text in [found for found in mutants(source, 0) if found[0] == mutation]:
                keeps_promises(text)


def test_every_mutation_changes_some_program() -> None:
    assert {name.split(".")[1] for name in MUTATED if "." in name} == {*MUTATIONS, *MOVES}


@pytest.mark.slow
def test_a_sample_differs_nowhere_without_a_word() -> None:
    outcome = compare({name: MUTATED[name] for name in SAMPLE})
    assert not outcome.silent, str(outcome)
    assert not outcome.loud, str(outcome)
    assert len(outcome.equal) > len(SAMPLE) // 2


def test_a_wrong_translation_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = {"p#0": np.array([1.0])}, {"p#0": np.array([1.001])}
    monkeypatch.setattr(mutation_run, "_run_all", lambda programs, folder, side: one if side == "torch" else two)
    outcome = compare({"p": "import torch\n\n\ndef result():\n    return [torch.ones(1)]\n"})
    assert list(outcome.silent) == ["p"]
