"""Facts of operations: complete, without contradiction, and as PyTorch does it."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from torch2ms.errors import TableError
from torch2ms.mapping_tables import facts as facts_module
from torch2ms.mapping_tables.facts import Fact, load_facts
from torch2ms.mapping_tables.lint import lint
from torch2ms.mapping_tables.loader import load
from torch2ms.mapping_tables.lookup import Tables

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "scripts"


@pytest.fixture(scope="module")
def harvest() -> ModuleType:
    sys.path.insert(0, str(SCRIPTS))
    try:
        return importlib.import_module("harvest_facts")
    finally:
        sys.path.remove(str(SCRIPTS))


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        ("torch.Tensor.abs", Fact("fresh", dtype="real", axes="same")),
        ("torch.Tensor.argmax", Fact("fresh", dtype="torch.int64", axes="none", grad="none")),
        ("torch.Tensor.add_", Fact("self", ("self",))),
        ("torch.Tensor.item", Fact("none", grad="none")),
        ("torch.Tensor.view", Fact("view", mindspore=">=2.7", dtype="same", axes="sizes")),
        ("torch.Tensor.unfold", Fact("view", dtype="same")),
        ("torch.Tensor.squeeze_", Fact("self", ("self",), shape=True)),
        ("torch.nn.functional.relu", Fact("fresh", ("self",), when="inplace", dtype="same", axes="same")),
        ("torch.einsum", Fact("maybe", of="operands", alone=True)),
    ],
)
def test_a_line_is_read(name: str, fact: Fact) -> None:
    assert load_facts().of(name) == fact


@pytest.mark.parametrize(
    "line",
    [
        'view = "view"',
        'view = { memory = "borrowed" }',
        'view = { memory = "view", colour = "red" }',
        'view = { memory = "view", writes = "self" }',
        'view = { memory = "view", shape = "yes" }',
        'view = { memory = "view", mindspore = "2.7" }',
        'view = { memory = "view", dtype = "bool" }',
        'view = { memory = "view", axes = "two" }',
        'view = { memory = "view", grad = "no" }',
    ],
)
def test_a_wrong_line_is_refused(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tensor.toml").write_text(f'namespace = "torch.Tensor"\n{line}\n', encoding="utf-8")
    monkeypatch.setattr(facts_module, "FACTS", tmp_path)
    with pytest.raises(TableError, match=r"tensor\.toml: view"):
        load_facts.__wrapped__()


@pytest.mark.parametrize(("member", "shares"), [("view", True), ("relu", False), ("add_", False), ("squeeze_", True)])
def test_a_name_alone_says_whether_memory_may_be_shared(member: str, shares: bool) -> None:
    assert load_facts().may_share(member) is shares


@pytest.mark.parametrize(
    ("member", "flows", "detached", "cut", "cast"),
    [
        ("sin", True, False, False, ""),
        ("argmax", False, True, False, ""),
        ("floor", False, False, False, ""),
        ("detach", False, True, True, ""),
        ("long", False, True, False, "torch.int64"),
        ("rand", False, False, False, ""),
        ("no_such_name", True, False, False, ""),
    ],
)
def test_a_name_alone_tells_of_gradients_and_casts(
    member: str, flows: bool, detached: bool, cut: bool, cast: str
) -> None:
    facts = load_facts()
    found = (facts.has_gradient(member), facts.detaches(member), facts.cuts_off(member), facts.cast_of(member))
    assert found == (flows, detached, cut, cast)


@pytest.mark.parametrize(
    ("member", "dtype", "axes"),
    [("eq", "torch.bool", "common"), ("cumsum", "sum", "same"), ("add_", "", "same"), ("zeros", "default", "sizes")],
)
def test_a_name_alone_tells_dtype_and_axes(member: str, dtype: str, axes: str) -> None:
    assert load_facts().gives(member, dtype)
    assert load_facts().has_axes(member, axes)
    assert not load_facts().has_axes(member, "one")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ('[view]\nreturns = "int"\n[[view.to]]\ntarget = "mindspore.ops.abs"', "the result shares memory"),
        ('[item]\nreturns = "Tensor"\n[[item.to]]\ntarget = "mindspore.ops.abs"', "no tensor comes back"),
        ('[abs]\n[[abs.to]]\ntarget = "mindspore.ops.abs"\nrecipe = "inplace"', "what it writes"),
    ],
)
def test_lint_tells_of_contradictions(row: str, said: str, only: Callable[[str], Tables]) -> None:
    found = [
        problem.message for problem in lint(only(f'namespace = "torch.Tensor"\n{row}')) if problem.check == "facts"
    ]
    assert len(found) == 1
    assert said in found[0]


@pytest.mark.parametrize(("file", "count"), [("torch/tensor/view.toml", 1), ("my.toml", 0)])
def test_shipped_operations_need_facts(file: str, count: int, only: Callable[[str], Tables]) -> None:
    text = 'namespace = "torch.Tensor"\n[no_such_operation]\n[[no_such_operation.to]]\ntarget = "mindspore.ops.abs"'
    raw = {name: {**row, "file": file} for name, row in only(text).raw().items()}
    assert sum("no line in data/facts" in problem.message for problem in lint(Tables(raw))) == count


SAMPLE = (
    "torch.Tensor.reshape torch.Tensor.positive torch.conj torch.Tensor.add_ torch.Tensor.hsplit torch.nn.Dropout "
    "torch.Tensor.argmax torch.Tensor.long torch.abs"
).split()


@pytest.mark.parametrize("name", SAMPLE)
def test_calls_do_what_the_facts_say(name: str, harvest: ModuleType) -> None:
    row, fact = load().row(name), load_facts().of(name)
    assert row is not None
    assert fact is not None
    seen = harvest.seen_of(row)
    assert seen
    assert [told for one in seen if (told := harvest.contradiction(fact, one))] == []


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        ("torch.Tensor.reshape", Fact("view")),
        ("torch.Tensor.clone", Fact("self")),
        ("torch.Tensor.add_", Fact("self")),
    ],
)
def test_a_wrong_fact_is_contradicted(name: str, fact: Fact, harvest: ModuleType) -> None:
    row = load().row(name)
    assert row is not None
    assert any(harvest.contradiction(fact, seen) for seen in harvest.seen_of(row))


@pytest.mark.slow
def test_no_call_contradicts_any_fact() -> None:
    # in a process of its own, a small one: each operation is called in a fork of it; all of them without --part
    command = [sys.executable, "scripts/harvest_facts.py", "--check", "--part", "4"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
