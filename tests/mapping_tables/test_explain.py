from __future__ import annotations

from collections.abc import Callable

import pytest

from torch2ms.diagnostics import CODES
from torch2ms.errors import UsageError
from torch2ms.mapping_tables import checks
from torch2ms.mapping_tables.coverage import coverage, dump
from torch2ms.mapping_tables.explain import explain, new_row
from torch2ms.mapping_tables.lookup import Tables
from torch2ms.mapping_tables.proofs import Proof

Only = Callable[[str], Tables]

ROWS = """
namespace = "torch.nn"
[Conv2d]
[[Conv2d.to]]
target = "mindspore.mint.nn.Conv2d"
mindspore = ">=2.5"
device = ["ascend"]
[[Conv2d.to]]
target = "mindspore.nn.Conv2d"
when = { padding_mode = "'zeros'" }
rename = { groups = "group", bias = "has_bias" }
transform = { padding = "pair_to_tblr" }
write_default = ["bias"]
add = { pad_mode = "'pad'" }
drop = ["padding_mode"]
reject = { device = "place it yourself" }
state = { weight = "w", bias = "" }
fidelity = "approximate"
notes = "differs in the last digit"
[[Conv2d.example]]
before = "torch.nn.Conv2d(3, 8, 3)"
after = "mindspore.nn.Conv2d(3, 8, 3, has_bias=True, pad_mode='pad')"
[Fold]
unsupported = "write it with slices"
[Identity]
keep = "because"
"""


def test_explains_targets_arguments_weights_and_examples(only: Only, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch2ms.mapping_tables.explain.proofs_of", lambda row, device: [])
    text = explain(only(ROWS), "torch.nn.modules.conv.Conv2d")
    for part in (
        "torch.nn.Conv2d(in_channels, out_channels, kernel_size",
        "2. mindspore.nn.Conv2d  [MindSpore >=2.0; every device, when padding_mode is 'zeros']",
        "groups: becomes group",
        "bias: becomes has_bias, True is written out (the target defaults to False)",
        "padding: changed by pair_to_tblr",
        "padding_mode: must be 'zeros' for this target",
        "device: cannot be expressed (T2M203): place it yourself",
        "pad_mode='pad' is added",
        "weight weight -> w",
        "weight bias -> no counterpart",
        "approximate: differs in the last digit",
        "ascend   2.5 to 2.10",
        "Documented, not executed.",
        "torch.nn.Conv2d(3, 8, 3)",
    ):
        assert part in text, part


def test_explains_where_it_was_executed(only: Only, monkeypatch: pytest.MonkeyPatch) -> None:
    proofs = [
        Proof("torch.nn.Conv2d", 0, "2.10.0", "CPU", "equal", 2e-7, "digest"),
        Proof("torch.nn.Conv2d", 0, "2.9.0", "CPU", "equal", 0.0, "digest"),
        Proof("torch.nn.Conv2d", 0, "2.0.0", "CPU", "skipped", None, "digest", "the target needs MindSpore >=2.7"),
    ]
    proofs.append(Proof("torch.nn.Conv2d", 0, "2.10.0", "GPU", "equal", 3e-7, "digest"))
    found = "torch2ms.mapping_tables.explain.proofs_of"
    monkeypatch.setattr(found, lambda row, device="CPU": [proof for proof in proofs if proof.device == device])
    text = explain(only(ROWS), "torch.nn.Conv2d")
    assert "Executed on CPU with 2.9.0, 2.10.0 and on GPU with 2.10.0; the rest is documented, not executed." in text
    assert "MindSpore 2.10.0 on GPU: equal, largest difference 3e-07" in text
    assert "MindSpore 2.10.0 on CPU: equal, largest difference 2e-07" in text
    assert "MindSpore 2.0.0 on CPU: not executed: the target needs MindSpore >=2.7" in text


def test_explains_what_has_no_target(only: Only) -> None:
    tables = only(ROWS)
    assert "unsupported: write it with slices (T2M201)" in explain(tables, "torch.nn.Fold")
    assert "kept: because" in explain(tables, "torch.nn.Identity")
    assert "torch2ms tables new torch.nn.Linear" in explain(tables, "torch.nn.Linear")


@pytest.mark.parametrize("code", CODES)
def test_explains_codes(only: Only, code: str) -> None:
    text = explain(only(""), code.lower())
    assert CODES[code].meaning in text
    assert CODES[code].name in text
    assert explain(only(""), CODES[code].name) == text


def test_explains_a_package_that_the_to_do_list_names(only: Only) -> None:
    text = explain(only(""), "pytorch_lightning")
    assert "built on PyTorch" in text
    assert "What to do: mindspore.train.Model" in text


def test_a_mistyped_name_is_met_with_the_nearest(only: Only) -> None:
    text = explain(only(ROWS), "torch.nn.Conv2")
    assert "unknown: no public name of the PyTorch release" in text
    assert "did you mean torch.nn.Conv2d" in text
    with pytest.raises(UsageError) as caught:
        explain(only(ROWS), "Conv2dd")
    assert "Conv2d" in caught.value.advice


def test_a_private_name_is_said_to_be_one(only: Only) -> None:
    text = explain(only(ROWS), "torch.jit._flatten")
    assert "unknown: _flatten is private" in text
    assert "torch2ms tables new torch.jit._flatten" in text
    assert 'namespace = "torch.jit"\n\n[_flatten]\n' in new_row(only(ROWS), "torch.jit._flatten")


@pytest.mark.parametrize(
    "name", ["torch.nn.LeakyReLU", "torch.Tensor.softmax", "torch.nn.functional.grid_sample", "torch.cuda.synchronize"]
)
def test_a_proposed_row_is_a_valid_table(only: Only, name: str) -> None:
    try:
        import tomllib
    except ImportError:  # Python 3.10
        import tomli as tomllib
    rows = checks.rows_of_file("new.toml", tomllib.loads(new_row(only(""), name)))
    assert list(rows) == [name]


def test_a_proposed_row_has_renames_and_defaults(only: Only) -> None:
    text = new_row(only(""), "torch.nn.LeakyReLU")
    assert 'target = "mindspore.nn.LeakyReLU"' in text
    assert 'rename = { negative_slope = "alpha" }' in text
    assert 'write_default = ["negative_slope"]' in text
    assert "# without counterpart: inplace" in text


def test_no_row_is_proposed_twice_or_for_nothing(only: Only) -> None:
    tables = only(ROWS)
    with pytest.raises(UsageError, match="has a row already"):
        new_row(tables, "torch.nn.Conv2d")
    with pytest.raises(UsageError, match="torch has no"):
        new_row(tables, "numpy.zeros")


def test_coverage_counts(only: Only) -> None:
    found = coverage(only(ROWS))
    assert (found["accounted"], found["mapped"], found["kept"], found["unsupported"]) == (3, 1, 1, 1)
    assert found["versions"] == {"2.0": 1, "2.7": 1, "2.8": 1, "2.9": 1, "2.10": 1}
    assert found["fidelity"] == {"exact": 1, "approximate": 1, "partial": 0}
    assert found["namespaces"]["torch.nn"]["accounted"] == 3
    assert found["namespaces"]["torch.nn"]["names"] > 100
    assert found["examples"]["written"] == 1


def test_dump_is_plain_data(only: Only) -> None:
    import json

    rows = dump(only(ROWS))
    json.dumps(rows)
    (conv, fold, identity) = rows
    assert conv["emitted"]["2.10"]["ascend"] == "mindspore.mint.nn.Conv2d"
    assert conv["emitted"]["2.10"]["portable"] == "mindspore.nn.Conv2d"
    assert conv["emitted"]["2.4"]["ascend"] == "mindspore.nn.Conv2d"
    assert (conv["status"], fold["status"], identity["status"]) == ("mapped", "unsupported", "kept")
