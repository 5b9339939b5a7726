"""The contract of every shipped row: it loads, the catalogues agree with it, and its examples were executed."""

from __future__ import annotations

import pytest

from tests.sampling import sampled
from torch2ms.config import NEWEST
from torch2ms.mapping_tables.checks import holds_for
from torch2ms.mapping_tables.emission_check import mismatches
from torch2ms.mapping_tables.example_calls import producer
from torch2ms.mapping_tables.lint import lint
from torch2ms.mapping_tables.loader import load
from torch2ms.mapping_tables.lookup import Tables
from torch2ms.mapping_tables.proofs import Proof, digest_of, read_proofs
from torch2ms.mapping_tables.prove import prove
from torch2ms.mapping_tables.schema import Row

NEWEST_RELEASE = f"{NEWEST[0]}.{NEWEST[1]}.0"


@pytest.fixture(scope="module")
def tables() -> Tables:
    return load()


@pytest.fixture(scope="module")
def proofs() -> dict[tuple[str, int], Proof]:
    own = (item for item in read_proofs() if item.mindspore == NEWEST_RELEASE and item.device == "CPU")
    return {(item.row, item.example): item for item in own}


def runs_on_cpu(tables: Tables, row: Row) -> bool:
    """Whether a row has a target that CPU and the newest release hold for, shown by an example that may be executed."""
    shown = [producer(tables, row, example) for example in row.examples if not example.run.get("skip")]
    return any(option and "cpu" in option.device and holds_for(option.mindspore, NEWEST) for option in shown)


def test_rows_build(tables: Tables) -> None:
    assert sum(1 for _ in tables.rows()) == len(tables) > 100


def test_the_catalogues_and_the_facts_agree(tables: Tables) -> None:
    from torch2ms.translator.rules.recipes import RECIPES

    assert [str(problem) for problem in lint(tables, list(RECIPES))] == []


def test_every_mapped_row_has_an_example(tables: Tables) -> None:
    assert [row.name for row in tables.rows() if row.to and not row.examples] == []


def test_every_example_has_a_proof_of_its_present_text(tables: Tables, proofs: dict[tuple[str, int], Proof]) -> None:
    missing = [
        f"{row.name} example {index}"
        for row in tables.rows()
        for index, example in enumerate(row.examples)
        if (row.name, index) not in proofs or proofs[row.name, index].digest != digest_of(tables, row, example)
    ]
    assert missing == [], "run: python -m torch2ms.mapping_tables.prove"


def test_no_example_failed() -> None:
    on_cpu = [item for item in read_proofs() if item.device == "CPU"]  # on a GPU some do, and the pages say so
    assert [f"{item.row}: {item.result}: {item.detail}" for item in on_cpu if item.failed] == []


def test_every_row_that_can_be_executed_was(tables: Tables, proofs: dict[tuple[str, int], Proof]) -> None:
    executed = {name for (name, _), proof in proofs.items() if proof.executed or proof.result == "ran"}
    assert [row.name for row in tables.rows() if row.name not in executed and runs_on_cpu(tables, row)] == []


@pytest.mark.slow
def test_the_translator_emits_what_the_examples_say(tables: Tables) -> None:
    assert [str(mismatch) for mismatch in mismatches(tables)] == []


@pytest.mark.slow
def test_the_examples_of_a_sample_of_the_rows_still_hold(tables: Tables) -> None:
    sample = sampled([row.name for row in tables.rows()], one_in=6)
    assert len(sample) > 500
    assert [f"{item.row}: {item.result}: {item.detail}" for item in prove(tables, sample) if item.failed] == []
