from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from torch2ms.errors import TableError
from torch2ms.mapping_tables import loader
from torch2ms.mapping_tables.lookup import Tables

Only = Callable[[str], Tables]

CONV = """
namespace = "torch.nn"
[Conv2d]
returns = "Module"
[[Conv2d.to]]
target = "mindspore.nn.Conv2d"
when = { padding_mode = "'zeros'" }
rename = { groups = "group", bias = "has_bias" }
write_default = ["bias"]
add = { pad_mode = "'pad'" }
state = "same"
device = ["ascend", "cpu"]
[[Conv2d.example]]
before = "torch.nn.Conv2d(3, 8, 3)"
after = "mindspore.nn.Conv2d(3, 8, 3, has_bias=True, pad_mode='pad')"
run = { input = "randn(1, 3, 8, 8)" }
"""


def test_row_has_every_field(only: Only) -> None:
    row = only(CONV).row("torch.nn.Conv2d")
    assert row is not None
    assert (row.kind, row.returns, row.file) == ("class", "Module", "rows.toml")
    (option,) = row.to
    assert option.target == "mindspore.nn.Conv2d"
    assert option.rename == {"groups": "group", "bias": "has_bias"}
    assert option.device == {"ascend", "cpu"}
    assert option.write_default == ("bias",)
    assert option.state == "same"
    assert row.examples[0].run == {"input": "randn(1, 3, 8, 8)"}


def test_short_forms(only: Only) -> None:
    tables = only(
        'namespace = "torch"\nabs = "mindspore.ops.abs"\n[compile]\nunsupported = "advice"\n[Size]\nkeep = "rule"\n'
        '[relu]\nto = "mindspore.ops.relu"\n["utils.data.DataLoader"]\nto = "torch2ms.runtime.data.DataLoader"\n'
        '[[unsupported]]\nnames = ["vmap", "jit.script"]\nadvice = "other advice"\n'
        '[[kept]]\nnames = ["version"]\nrule = "other rule"\n'
    )
    rows = {row.name: row for row in tables.rows()}
    assert rows["torch.abs"].to[0].target == "mindspore.ops.abs"
    assert rows["torch.relu"].to[0].target == "mindspore.ops.relu"
    assert rows["torch.compile"].unsupported == "advice"
    assert rows["torch.Size"].keep == "rule"
    assert rows["torch.jit.script"].unsupported == "other advice"
    assert rows["torch.version"].keep == "other rule"
    assert "torch.utils.data.DataLoader" in rows


def test_identical_expands_names_renames_and_examples(only: Only) -> None:
    tables = only(
        'namespace = "torch"\n[[identical]]\nto = "mindspore.ops"\nnames = ["abs"]\nrename = { arccos = "acos" }\n'
        'returns = "Tensor"\nexample = "{name}(x)"\nrun = { args = { x = "randn(2)" } }\n'
    )
    row = tables.row("torch.arccos")
    assert row is not None
    assert row.to[0].target == "mindspore.ops.acos"
    assert row.examples[0].before == "torch.arccos(x)"
    assert row.examples[0].after == "mindspore.ops.acos(x)"
    assert row.examples[0].run == {"args": {"x": "randn(2)"}}
    assert row.returns == "Tensor"


FAMILY = """
namespace = "torch"
[[family]]
names = ["a.b", "c"]
rename = { c = "d" }
returns = "Module"
adapter = "mindspore.{last}"
[[family.to]]
target = "mindspore.{last}"
notes = "as {name}"
[[family.example]]
before = "{name}()"
after = "mindspore.{last}()"
run = { args = { x = "{last}" } }
"""


def test_a_family_is_one_row_for_several_names(only: Only) -> None:
    tables = only(FAMILY)
    assert [(row.name, row.to[0].target, row.adapter, row.to[0].notes, row.returns) for row in tables.rows()] == [
        ("torch.a.b", "mindspore.b", "mindspore.b", "as torch.a.b", "Module"),
        ("torch.c", "mindspore.d", "mindspore.d", "as torch.c", "Module"),
    ]
    example = tables.row("torch.c").examples[0]
    assert (example.before, example.after, example.run) == ("torch.c()", "mindspore.d()", {"args": {"x": "d"}})


def test_the_members_of_a_family_s_names(only: Only) -> None:
    text = 'namespace = "torch"\n[[family]]\nnames = ["A", "B"]\nmembers = ["X", "Y"]\nkeep = "{last}"\n'
    assert {row.name: row.keep for row in only(text).rows()} == {
        "torch.A.X": "X", "torch.A.Y": "Y", "torch.B.X": "X", "torch.B.Y": "Y",
    }  # fmt: skip


def test_the_example_of_an_older_identical_name_is_written_for_its_release(only: Only) -> None:
    text = (
        'namespace = "torch"\n[[identical]]\nto = "mindspore.ops"\nmindspore = "RANGE"\nnames = ["abs"]\n'
        'example = "{name}(x)"\nrun = { args = { x = "randn(2)" } }\n'
    )
    for versions, newest in ((">=2.3", "2.10"), ("<2.7", "2.6"), (">=2.0,<2.5", "2.4")):
        row = only(text.replace("RANGE", versions)).row("torch.abs")
        assert row is not None
        assert row.examples[0].mindspore == newest


def test_mint_comes_first_wherever_it_is_written(only: Only) -> None:
    row = only(
        'namespace = "torch"\nabs = "mindspore.ops.abs"\n[[identical]]\nto = "mindspore.mint"\n'
        'names = ["abs"]\nmindspore = ">=2.3"\n'
    ).row("torch.abs")
    assert row is not None
    assert [option.target for option in row.to] == ["mindspore.mint.abs", "mindspore.ops.abs"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[X]\ntarget = 'y'\n", "unknown key 'target'"),
        ("[X]\nto = 3\n", "expected a target"),
        ("[X]\n", "exactly one of 'to', 'keep' and 'unsupported'"),
        ("[X]\nto = 'a.b'\nkeep = 'rule'\n", "exactly one of"),
        ("[[X.to]]\nrecipe = 'r'\n", "'target' is missing"),
        ("[[X.to]]\ntarget = 'a'\nwhen = { p = \"is not python\" }\n", "Python source of one expression"),
        ("[[X.to]]\ntarget = 'a'\nmindspore = '2.3+'\n", "a range of releases"),
        ("[[X.to]]\ntarget = 'a'\nmindspore = '<2.0,rubbish'\n", "a range of releases"),
        ("[[X.to]]\ntarget = 'a'\ndevice = ['tpu']\n", "a list of ascend, gpu, cpu"),
        ("[[X.to]]\ntarget = 'a'\nfidelity = 'partial'\n", "needs notes"),
        ("[[X.to]]\ntarget = 'a'\nfidelity = 'good'\n", "one of exact, approximate, partial"),
        ("[[X.to]]\ntarget = 'a'\ndrop = 'device'\n", "a list of strings"),
        ("[X]\nto = 'a'\nsignature = 'a, b'\n", "a signature such as"),
        ("[X]\nto = 'a'\n[[X.example]]\nbefore = 'a'\n", "'after' is missing"),
        ("[X]\nto = 'a'\n[[X.example]]\nbefore = 'a'\nafter = 'b'\nrun = { inputs = 1 }\n", "unknown key 'inputs'"),
        ("[[identical]]\nto = 'a'\n", "'names' is missing"),
        ("[[family]]\nto = 'a'\n", "'names' is missing"),
        ("[[family]]\nnames = ['x']\n", "exactly one of"),
        ("[[family]]\nnames = ['x', 'x']\nto = 'a'\n", "x has a row already"),
        ("[[identical]]\nto = 'a'\nnames = ['x']\nmindspore = '>=3.0'\nexample = 'x'\n", "no release fulfils '>=3.0'"),
        ("[[identical]]\nto = 'a'\nnames = ['x', 'x']\n[[identical]]\nto = 'a'\nnames = ['x']\n", "already"),
        ("x = 'a'\n[[unsupported]]\nnames = ['x']\nadvice = 'b'\n", "has a row already"),
        ("[X\n", "no TOML"),
    ],
)
def test_mistakes_name_file_key_and_what_was_expected(only: Only, text: str, said: str) -> None:
    with pytest.raises(TableError) as caught:
        only(text)
    assert said in str(caught.value)
    assert str(caught.value).startswith("rows.toml")


def test_the_same_row_in_two_files_is_a_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.toml").write_text('"torch.abs" = "mindspore.ops.abs"\n', encoding="utf-8")
    monkeypatch.setattr(loader, "DATA", tmp_path)
    with pytest.raises(TableError, match=r"b\.toml: torch\.abs: the row is also in a\.toml"):
        loader.load()


def test_users_rows_win_and_later_files_win(only: Only, tmp_path: Path) -> None:
    only('"torch.nn.Linear" = "mindspore.nn.Dense"\n')
    first, second = tmp_path / "1.toml", tmp_path / "2.toml"
    first.write_text('"torch.nn.Linear" = "mine.Linear"\n"torch.mine" = "a.b"\n', encoding="utf-8")
    second.write_text('"torch.mine" = "c.d"\n', encoding="utf-8")
    tables = loader.load((str(first), str(second)))
    linear, mine = tables.row("torch.nn.Linear"), tables.row("torch.mine")
    assert linear is not None
    assert mine is not None
    assert linear.to[0].target == "mine.Linear"
    assert mine.to[0].target == "c.d"
    assert mine.file == str(second)


def test_missing_mapping_file(only: Only, tmp_path: Path) -> None:
    only("")
    with pytest.raises(TableError, match="cannot be read"):
        loader.load((str(tmp_path / "none.toml"),))


def test_cache_is_used_rebuilt_and_never_needed(only: Only, tmp_path: Path) -> None:
    assert "torch.abs" in only('"torch.abs" = "mindspore.ops.abs"\n')
    store = tmp_path / "cache" / "tables.json"
    kept = json.loads(store.read_text())
    kept["rows"]["torch.abs"]["to"][0]["target"] = "from.the.cache"
    store.write_text(json.dumps(kept))
    loader._loaded.clear()
    row = loader.load().row("torch.abs")
    assert row is not None
    assert row.to[0].target == "from.the.cache"
    changed = only('"torch.abs" = "mindspore.ops.Abs"\n').row("torch.abs")
    assert changed is not None
    assert changed.to[0].target == "mindspore.ops.Abs"
    store.write_text("no json")
    loader._loaded.clear()
    assert "torch.abs" in loader.load()


def test_unwritable_cache_directory_is_no_error(only: Only, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TORCH2MS_CACHE_DIR", str(tmp_path / "file" / "below"))
    assert "torch.abs" in only('"torch.abs" = "mindspore.ops.abs"\n')


def test_loading_imports_neither_framework(tmp_path: Path) -> None:
    code = (
        "import sys; from torch2ms.mapping_tables.loader import load; t = load(); list(t.rows()); "
        "t.canonical('torch.nn.modules.conv.Conv2d'); t.target_signature('mindspore.nn.Dense', (2, 10)); "
        "sys.exit(bool({'torch', 'mindspore', 'numpy', 'libcst'} & set(sys.modules)))"
    )
    environment = {**os.environ, "TORCH2MS_CACHE_DIR": str(tmp_path)}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0
