"""The prover must accept what is right and, above all, reject what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from torch2ms.errors import TableError, VerificationError
from torch2ms.mapping_tables.lookup import Tables
from torch2ms.mapping_tables.proofs import Proof, digest_of, read_proofs, write_proofs
from torch2ms.mapping_tables.prove import case_of, main, prove
from torch2ms.mapping_tables.schema import Example

Only = Callable[[str], Tables]


ROWS = Path(__file__).with_name("prover")
EXPECTED = {
    "abs": "equal",
    "neg": "different",
    "exp": "different",
    "sum": "different",
    "sin": "different",
    "sqrt": "error",
    "argmax": "equal",
    "rand": "same distribution",
    "randn": "different",
    "add_": "equal",
    "exit": "error",
    "raises": "both raise",
    "skip": "skipped",
    "nn.Linear": "equal",
    "nn.BatchNorm1d": "equal",
    "adam": "equal",
    "sgd": "different",
    "step": "equal",
    "image": "equal",
}
# Not equal although the values are: "sin" has another gradient. "exit" kills its process; the others go on.

ABS = """
["torch.abs"]
to = "mindspore.ops.abs"
[["torch.abs".example]]
before = "torch.abs(x)"
after = "mindspore.ops.abs(x)"
run = { args = { x = "randn(3, 4)" } }
"""
NORM = """
[["torch.nn.BatchNorm1d".to]]
target = "mindspore.nn.BatchNorm1d"
state = { STATE }
[["torch.nn.BatchNorm1d".example]]
before = "torch.nn.BatchNorm1d(4)"
after = "mindspore.nn.BatchNorm1d(4)"
run = { input = "randn(3, 4)", grad = true }
"""
RIGHT = (
    "weight = 'gamma', bias = 'beta', running_mean = 'moving_mean', running_var = 'moving_variance', "
    "num_batches_tracked = ''"
)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Proof]:
    """Prove all cases together: the frameworks start once (and once more after the example that kills its process)."""
    from torch2ms.mapping_tables import loader

    folder = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loader, "DATA", ROWS)
        patch.setenv("TORCH2MS_CACHE_DIR", str(folder / "cache"))
        return {proof.row.removeprefix("torch."): proof for proof in prove(loader.load())}


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPECTED)
def test_verdicts(outcome: dict[str, Proof], name: str) -> None:
    assert outcome[name].result == EXPECTED[name], outcome[name].detail


@pytest.mark.slow
def test_details_say_where(outcome: dict[str, Proof]) -> None:
    assert "gradient of x" in outcome["sin"].detail
    assert "dtype float32 in torch, float64 in mindspore" in outcome["exp"].detail
    assert "exit code 3" in outcome["exit"].detail
    assert outcome["skip"].detail == "because"
    difference = outcome["nn.Linear"].difference
    assert difference is not None
    assert difference < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize(
    "state",
    [
        RIGHT.replace("'gamma', bias = 'beta'", "'beta', bias = 'gamma'"),  # the values are unusual, so that this shows
        RIGHT.replace("running_mean = 'moving_mean', ", ""),
        RIGHT.replace("num_batches_tracked = ''", "nothing = ''"),
    ],
)
def test_a_wrong_state_map_is_found(only: Only, state: str) -> None:
    (proof,) = prove(only(NORM.replace("STATE", state)))
    assert proof.result == "different"


def test_a_python_without_mindspore(only: Only, tmp_path: Path) -> None:
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    with pytest.raises(VerificationError, match="has no MindSpore"):
        prove(only(""), python=str(fake))


def test_a_python_that_is_not_there(only: Only, tmp_path: Path) -> None:
    with pytest.raises(VerificationError, match="cannot be started"):
        prove(only(""), python=str(tmp_path / "none"))


def test_run_is_checked() -> None:
    with pytest.raises(TableError, match=r"torch\.abs: example 0: run: not in the language"):
        case_of("torch.abs", 0, Example("a", "b", {"args": {"x": "open('x')"}}), {})


def test_proofs_of_changed_examples_are_dropped(only: Only, tmp_path: Path) -> None:
    tables = only(ABS)
    row = tables.row("torch.abs")
    assert row is not None
    digest = digest_of(tables, row, row.examples[0])
    path = tmp_path / "proofs.json"
    good = Proof("torch.abs", 0, "2.10.0", "CPU", "equal", 1.234e-7, digest)
    stale = Proof("torch.abs", 0, "2.9.0", "CPU", "equal", 0.0, "other")
    gone = Proof("torch.gone", 0, "2.9.0", "CPU", "equal", 0.0, digest)
    write_proofs(path, [gone, stale, good], tables)
    assert read_proofs(path) == [Proof("torch.abs", 0, "2.10.0", "CPU", "equal", 1.2e-7, digest)]


def test_the_command_says_what_it_did(only: Only, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    only("")
    assert main(["--no-write", "--only", "torch.none"]) == 0
    assert "0 examples" in capsys.readouterr().out


def test_what_is_proved_is_not_run_again(only: Only, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = only(ABS)
    row = tables.row("torch.abs")
    assert row is not None
    monkeypatch.setattr("torch2ms.mapping_tables.prove.release_of", lambda python: "2.10.0")
    monkeypatch.setattr("torch2ms.mapping_tables.prove.workplace", lambda device: pytest.fail("a process was started"))
    good = Proof("torch.abs", 0, "2.10.0", "CPU", "equal", 0.0, digest_of(tables, row, row.examples[0]))
    assert prove(tables, known=[good]) == []


def test_an_example_that_asks_for_the_device_says_nothing_elsewhere(
    only: Only, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = only(DEVICE)
    monkeypatch.setattr("torch2ms.mapping_tables.prove.release_of", lambda python: "2.10.0")
    (proof,) = prove(tables, device="GPU")
    assert (proof.device, proof.result) == ("GPU", "skipped")
    assert "asks for the device" in proof.detail


@pytest.mark.slow
def test_a_device_that_is_not_there_fails_the_side(only: Only) -> None:
    with pytest.raises(VerificationError, match=r"the mindspore side does not start.*GPU"):
        prove(only(ABS), device="GPU")


DEVICE = """
["torch.cuda.is_available"]
to = "torch2ms.runtime.device.is_accelerated"
[["torch.cuda.is_available".example]]
before = "torch.cuda.is_available()"
after = "torch2ms.runtime.device.is_accelerated()"
"""
RUNTIME = """
["torch.nn.functional.softplus"]
to = "torch2ms.runtime.functional.softplus"
[["torch.nn.functional.softplus".example]]
before = "torch.nn.functional.softplus(x)"
after = "torch2ms.runtime.functional.softplus(x)"
run = { args = { x = "randn(3)" } }
"""


def digest(tables: Tables) -> str:
    (row,) = tables.rows()
    return digest_of(tables, row, row.examples[0])


def test_notes_are_no_part_of_a_proof(only: Only) -> None:
    before = digest(only(ABS))
    said = ABS.replace('to = "mindspore.ops.abs"', '[["torch.abs".to]]\ntarget = "mindspore.ops.abs"\nnotes = "new"')
    assert digest(only(said)) == before


@pytest.mark.parametrize(
    "key", ["mindspore = '>=2.7'", "rename = { input = 'x' }", "device = ['cpu', 'gpu', 'ascend']"]
)
def test_what_a_target_claims_is_part_of_a_proof(only: Only, key: str) -> None:
    before = digest(only(ABS))
    target = f'[["torch.abs".to]]\ntarget = "mindspore.ops.abs"\n{key}'
    changed = digest(only(ABS.replace('to = "mindspore.ops.abs"', target))) != before
    assert changed == ("device" not in key)  # the same three devices, written out


def test_the_runtime_behind_an_example_is_part_of_its_proof(only: Only, monkeypatch: pytest.MonkeyPatch) -> None:
    from torch2ms.mapping_tables import runtime_source

    tables = only(RUNTIME)
    before = digest(tables)
    read, module = runtime_source._source_lines, ("functional", "activation")
    lines = read(module)
    for old, new, changes in (
        ("scaled = input * beta", "scaled = beta * input", True),  # its code
        ('"""Return ``log(1 +', '"""The ``log(1 +', False),  # its docstring
    ):
        assert any(old in line for line in lines)
        other = [line.replace(old, new) for line in lines]
        with monkeypatch.context() as patch:
            changed = {module: other}
            patch.setattr(runtime_source, "_source_lines", lambda parts, of=changed: of.get(parts) or read(parts))
            runtime_source._definition.cache_clear()
            assert (digest(tables) != before) is changes, old
        runtime_source._definition.cache_clear()


def test_what_the_runtime_uses_is_reached() -> None:
    from torch2ms.mapping_tables.runtime_source import runtime_code

    code = runtime_code("torch2ms.runtime.layers.Conv2d(3, 4, 3)")
    assert "class Conv2d(" in code
    assert "def pair_to_tblr(" in code
    assert "class Conv3d(" not in code
    assert runtime_code("mindspore.ops.abs(x)") == ""
