"""Weights: rules from the tables, files of both sides, pairing by the type of the cell, and the whole way round."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from torch2ms import weights
from torch2ms.errors import InputError, TableError, UsageError, VerificationError
from torch2ms.mapping_tables import loader
from torch2ms.mapping_tables.schema import MappedTo, Row
from torch2ms.runtime import weight_files
from torch2ms.runtime.weight_files import Value, WeightsError

PAIR = Path(__file__).parent / "verify" / "pair"
BATCH_NORM = {
    "weight": "gamma",
    "bias": "beta",
    "running_mean": "moving_mean",
    "running_var": "moving_variance",
    "num_batches_tracked": "",
}


def row(name: str, **target: Any) -> Row:
    return Row(name, "class", (MappedTo(**target),), file="x.toml")


def test_rules_come_from_the_rows() -> None:
    rows = [
        row("torch.nn.Conv1d", target="mindspore.nn.Conv1d", state="same", reshape={"weight": "conv1d"}),
        row("torch.nn.BatchNorm2d", target="mindspore.nn.BatchNorm2d", state=BATCH_NORM),
        row("torch.nn.ReLU", target="mindspore.nn.ReLU"),
    ]
    assert weights.rules_from_rows(rows) == {
        "mindspore.nn.BatchNorm2d": {"state": BATCH_NORM, "reshape": {}},
        "mindspore.nn.Conv1d": {"state": "same", "reshape": {"weight": "conv1d"}},
    }


def test_two_meanings_of_one_layer_are_a_mistake_of_the_tables() -> None:
    rows = [
        row("torch.nn.A", target="mindspore.nn.A", state="same"),
        row("torch.nn.B", target="mindspore.nn.A", state={"weight": "gamma"}),
    ]
    with pytest.raises(TableError, match=r"torch\.nn\.B"):
        weights.rules_from_rows(rows)


def test_the_shipped_tables_agree_and_know_the_common_layers() -> None:
    rules = weights.table_rules()
    assert rules["mindspore.nn.BatchNorm2d"]["state"] == BATCH_NORM
    assert rules["mindspore.nn.Conv2d"]["state"] == "same"
    json.dumps(rules)


VALUES = {
    "a": Value(np.arange(6, dtype=np.float32).reshape(2, 3), "float32"),
    "half": Value(np.array([1.5, -2.0], np.float16), "float16"),
    "bf": Value(np.array([1.0, -3.140625], np.float32), "bfloat16"),
    "zero": Value(np.array(7, np.int64), "int64"),
    "flags": Value(np.array([True, False]), "bool"),
    "none": Value(np.zeros((0, 4), np.float32), "float32"),
}


def test_safetensors_there_and_back(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    weight_files.write_safetensors(VALUES, path, "pt")
    loaded = weight_files.read_safetensors(path)
    assert list(loaded) == list(VALUES)
    for name, value in VALUES.items():
        assert loaded[name].dtype == value.dtype
        assert loaded[name].array.dtype == value.array.dtype
        assert loaded[name].array.shape == value.array.shape
        assert np.array_equal(loaded[name].array, value.array)
    assert [item.name for item in tmp_path.iterdir()] == ["x.safetensors"]


def test_safetensors_are_those_of_others(tmp_path: Path) -> None:
    reader = pytest.importorskip("safetensors.numpy")
    plain = {name: value for name, value in VALUES.items() if name != "bf"}
    weight_files.write_safetensors(plain, tmp_path / "ours.safetensors", "pt")
    theirs = reader.load_file(tmp_path / "ours.safetensors")
    assert all(np.array_equal(theirs[name], value.array) for name, value in plain.items())
    reader.save_file({name: np.asarray(value.array) for name, value in plain.items()}, tmp_path / "theirs.safetensors")
    ours = weight_files.read_safetensors(tmp_path / "theirs.safetensors")
    assert all(np.array_equal(ours[name].array, value.array) for name, value in plain.items())


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\x08\0\0\0\0\0\0\0notjson!", b"\xff" * 40])
def test_a_damaged_file_is_said_to_be_one(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(content)
    with pytest.raises(WeightsError, match=r"x\.safetensors"):
        weight_files.read_torch(path)


def test_a_cut_off_file_is_said_to_be_one(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    weight_files.write_safetensors(VALUES, path, "pt")
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(WeightsError, match="damaged"):
        weight_files.read_torch(path)


def test_data_parallel_prefix_is_taken_off_and_reported(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    weight_files.write_safetensors({f"module.{name}": value for name, value in VALUES.items()}, path, "pt")
    values, notes = weight_files.read_torch(path)
    assert list(values) == list(VALUES)
    assert notes == ["took off DataParallel's prefix 'module.'"]


def test_names_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "x.pth"
    options: dict[str, Any] = {"project": tmp_path, "entry": "net:Net", "rules": {}}
    with pytest.raises(InputError, match="no such file"):
        weights.convert_weights(source, tmp_path / "x.ckpt", **options)
    source.write_bytes(b"")
    with pytest.raises(UsageError, match="cannot write"):
        weights.convert_weights(source, tmp_path / "y.pth", **options)
    with pytest.raises(UsageError, match="cannot read"):
        weights.convert_weights(source.rename(tmp_path / "x.onnx"), tmp_path / "x.ckpt", **options)


# --- with MindSpore ---------------------------------------------------------------------------------------------------

RULES: dict[str, dict[str, Any]] = {
    "mindspore.nn.BatchNorm1d": {"state": BATCH_NORM, "reshape": {}},
    "mindspore.nn.BatchNorm2d": {"state": BATCH_NORM, "reshape": {}},
    "mindspore.nn.BatchNorm3d": {
        "state": {key: f"bn2d.{name}" if name else "" for key, name in BATCH_NORM.items()},
        "reshape": {},
    },
    "mindspore.nn.Conv1d": {"state": "same", "reshape": {"weight": "conv1d"}},
    "mindspore.nn.Conv2d": {"state": "same", "reshape": {}},
    "mindspore.nn.Dense": {"state": "same", "reshape": {}},
    "mindspore.nn.Embedding": {"state": {"weight": "embedding_table"}, "reshape": {}},
    "mindspore.nn.LayerNorm": {"state": {"weight": "gamma", "bias": "beta"}, "reshape": {}},
    "torch2ms.runtime.layers.LayerNorm": {"state": {"weight": "gamma", "bias": "beta"}, "reshape": {}},
}


@pytest.fixture(scope="module")
def keys_of() -> Any:
    """Return a function from a cell to its key map."""
    pytest.importorskip("mindspore")
    from torch2ms.runtime.weights import key_map

    return lambda cell, rules=RULES: key_map(cell, rules)


def pairs(keys: Any) -> dict[str, str]:
    return {entry.torch: entry.mindspore for entry in keys.entries}


def test_the_type_of_the_cell_decides(keys_of: Any) -> None:
    from mindspore import nn

    from torch2ms.runtime.layers import LayerNorm

    class Own(nn.BatchNorm2d):
        pass

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.SequentialCell(nn.Conv2d(3, 4, 3), Own(4), nn.ReLU())
            self.volume = nn.BatchNorm3d(2)
            self.norm = LayerNorm(4)

    keys = keys_of(Net())
    assert keys.problems == []
    found = pairs(keys)
    assert found["body.0.weight"] == "body.0.weight"
    assert found["body.1.weight"] == "body.1.gamma"
    assert found["volume.running_var"] == "volume.bn2d.moving_variance"
    assert found["norm.bias"] == "norm.beta"
    assert sorted(keys.dropped) == ["body.1.num_batches_tracked", "volume.num_batches_tracked"]


def test_parts_in_a_data_parallel_have_their_names_in_the_file(keys_of: Any) -> None:
    import mindspore as ms

    from torch2ms.runtime import weights as conversion

    keys = keys_of(ms.nn.SequentialCell(ms.nn.Dense(3, 2), ms.nn.BatchNorm2d(2)))
    norm = {f"1.{name}": np.ones(2) for name in ("weight", "bias", "running_mean", "running_var")}
    arrays = {"0.module.weight": np.ones((2, 3)), "0.module.bias": np.zeros(2), **norm}
    values = {key: Value(array.astype(np.float32), "float32") for key, array in arrays.items()}
    assert not conversion.match(keys, values)
    assert set(conversion.from_torch(keys, values)[0]) >= {"0.weight", "0.bias", "1.gamma"}
    assert conversion.match(keys, {**values, "0.module.other": values["0.module.bias"]})
    assert conversion.match(keys, {"0.other.weight": values["0.module.weight"]})


def test_a_layer_without_rule_is_a_problem(keys_of: Any) -> None:
    from mindspore import nn

    keys = keys_of(nn.SequentialCell(nn.PReLU(), nn.Dense(2, 2)))
    assert keys.problems == ["0.w: no rule for this parameter of mindspore.nn.PReLU"]


def test_cells_that_are_met_twice_have_all_their_names(keys_of: Any) -> None:
    from mindspore import nn

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.one = nn.Dense(2, 2)
            self.two = self.one
            self.three = nn.Dense(2, 2)
            self.three.weight = self.one.weight

    keys = keys_of(Net())
    assert list(pairs(keys)) == ["one.weight", "one.bias", "two.weight", "two.bias", "three.weight", "three.bias"]
    assert keys.entries[0].tensor is keys.entries[2].tensor is keys.entries[4].tensor


def test_whatever_is_left_over_is_named(keys_of: Any) -> None:
    from mindspore import nn

    from torch2ms.runtime import weights as conversion

    keys = keys_of(nn.SequentialCell(nn.Dense(2, 3)))
    good = {
        "0.weight": Value(np.ones((3, 2), np.float32), "float32"),
        "0.bias": Value(np.ones(3, np.float32), "float32"),
    }
    placed, notes = conversion.from_torch(keys, good)
    assert set(placed) == {"0.weight", "0.bias"}
    assert notes == []
    with pytest.raises(WeightsError, match=r"0\.bias: the PyTorch file has no 0\.bias"):
        conversion.from_torch(keys, {"0.weight": good["0.weight"]})
    with pytest.raises(WeightsError, match=r"1\.weight: the MindSpore network has no parameter for it"):
        conversion.from_torch(keys, {**good, "1.weight": good["0.bias"]})
    with pytest.raises(WeightsError, match=r"0\.weight: shape \(2, 3\) does not fit 0\.weight \(3, 2\)"):
        conversion.from_torch(keys, {**good, "0.weight": Value(np.ones((2, 3), np.float32), "float32")})
    with pytest.raises(WeightsError, match=r"T2M801.*\n.*9\.weight: the network has no such parameter"):
        conversion.to_torch(keys, {**good, "9.weight": good["0.bias"]})


def test_a_buffer_that_two_cells_hold_is_filled_once(keys_of: Any) -> None:
    import mindspore as ms
    from mindspore import nn

    from torch2ms.runtime import weights as conversion

    class Holder(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Cell()
            self.inner.register_buffer("mask", ms.Tensor([1.0, 2.0]))
            self.mask = self.inner.mask  # MindSpore registers it here, too; PyTorch does not

    value = Value(np.ones(2, np.float32), "float32")
    keys = keys_of(Holder())
    assert set(pairs(keys)) == {"mask", "inner.mask"}
    assert conversion.from_torch(keys, {"inner.mask": value})[0].keys() == {"mask", "inner.mask"}
    with pytest.raises(WeightsError, match=r"the PyTorch file has no inner\.mask"):
        conversion.from_torch(keys, {})


def test_other_element_types_are_cast_and_reported(keys_of: Any) -> None:
    from mindspore import nn

    from torch2ms.runtime import weights as conversion

    keys = keys_of(nn.SequentialCell(nn.Dense(2, 2, has_bias=False)))
    for dtype, array, note in (
        ("float16", np.ones((2, 2), np.float16), ["float16 became float32"]),
        ("bfloat16", np.ones((2, 2), np.float32), ["bfloat16 became float32"]),
        ("float64", np.full((2, 2), 0.1), ["float64 became float32, rounded"]),
    ):
        placed, notes = conversion.from_torch(keys, {"0.weight": Value(array, dtype)})
        assert placed["0.weight"].array.dtype == np.float32
        assert notes == note


def test_tied_parameters_must_agree(keys_of: Any) -> None:
    from mindspore import nn

    from torch2ms.runtime import weights as conversion

    net = nn.SequentialCell(nn.Dense(1, 1, has_bias=False), nn.Dense(1, 1, has_bias=False))
    net[1].weight = net[0].weight
    one, two = (Value(np.full((1, 1), number, np.float32), "float32") for number in (1, 2))
    conversion.from_torch(keys_of(net), {"0.weight": one, "1.weight": one})
    with pytest.raises(WeightsError, match="are one parameter"):
        conversion.from_torch(keys_of(net), {"0.weight": one, "1.weight": two})


def test_the_map_is_listed_and_held_against_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("mindspore")
    from torch2ms.runtime import weights as conversion

    module = "import mindspore as ms\nfrom mindspore import nn\n\n\nclass Net(nn.Cell):\n"
    module += "    def __init__(self):\n        super().__init__()\n        self.norm = nn.BatchNorm2d(3)\n"
    module += "        self.fc = nn.Dense(2, 3)\n        self.tied = nn.Dense(2, 3)\n"
    module += "        self.tied.weight = self.fc.weight\n        self.scale = ms.Parameter(ms.Tensor([1.0]))\n"
    (tmp_path / "listed_network.py").write_text(module)
    sys.path.insert(0, str(tmp_path))
    try:
        assert conversion.main(RULES, "listed_network:Net", argv=["--list"]) == 0
        lines = [line.split("  ") for line in capsys.readouterr().out.splitlines()]
        cells = [[cell.strip() for cell in line if cell.strip()] for line in lines]
        found = {line[0]: line[1:] for line in cells}
        assert found["scale"] == ["scale", "(1,)", "float32", "its own name"]
        assert found["norm.running_var"] == [
            "norm.moving_variance", "(3,)", "float32", "mindspore.nn.BatchNorm2d",
        ]  # fmt: skip
        assert found["tied.weight"][-1] == "mindspore.nn.Dense; the same array as fc.weight"
        assert found["norm.num_batches_tracked"] == ["-", "not in MindSpore"]
        values = {
            key: Value(np.zeros([int(n) for n in line[1].strip("(),").split(",")], np.float32), "float32")
            for key, line in found.items()
            if line[1].startswith("(")
        }
        weight_files.write_torch(values, tmp_path / "x.pth")
        assert conversion.main(RULES, "listed_network:Net", argv=["--list", str(tmp_path / "x.pth")]) == 0
        assert "x.pth: 9 arrays, each has its place" in capsys.readouterr().out
        del values["scale"]
        weight_files.write_torch(values, tmp_path / "x.pth")
        assert conversion.main(RULES, "listed_network:Net", argv=["--list", str(tmp_path / "x.pth")]) == 1
        assert "the PyTorch file has no scale" in capsys.readouterr().err
        with pytest.raises(SystemExit):
            conversion.main(RULES, "listed_network:Net", argv=["x.pth"])
    finally:
        sys.path.remove(str(tmp_path))
    assert sorted(path.name for path in tmp_path.glob("x*")) == ["x.pth", "x.pth.sha256"]


def test_layers_that_pytorch_keeps_without_parameters(keys_of: Any) -> None:
    from mindspore import nn

    from torch2ms.runtime import weights as conversion

    keys = keys_of(nn.SequentialCell(nn.BatchNorm2d(2, affine=False), nn.BatchNorm2d(2, use_batch_statistics=True)))
    ones = Value(np.ones(2, np.float32), "float32")
    given = {"0.running_mean": ones, "0.running_var": ones, "1.weight": ones, "1.bias": ones}
    placed, notes = conversion.from_torch(keys, given)
    assert len(placed) == 8
    assert len(notes) == 4
    back, _ = conversion.to_torch(keys, placed)
    assert set(back) == {*given, "0.num_batches_tracked"}
    with pytest.raises(WeightsError, match="running_mean"):
        conversion.from_torch(keys, {key: value for key, value in given.items() if key != "0.running_mean"})


def test_weights_that_a_translated_program_saved_go_back(keys_of: Any) -> None:
    """Its checkpoints have PyTorch's names, and the count of batches."""
    from mindspore import nn

    from torch2ms.runtime import weights as conversion

    keys = keys_of(nn.SequentialCell(nn.BatchNorm2d(2)))
    values = {
        name: np.full(2, float(i), np.float32)
        for i, name in enumerate(("weight", "bias", "running_mean", "running_var"))
    }
    given = {f"0.{name}": Value(array, "float32") for name, array in values.items()}
    given["0.num_batches_tracked"] = Value(np.array(7, np.int64), "int64")
    back, _ = conversion.to_torch(keys, given)
    assert {name: value.array.tolist() for name, value in back.items()} == {
        name: value.array.tolist() for name, value in given.items()
    }


# --- the whole way, torch and mindspore in processes of their own ---------------------------------------------------

SAVE = """
import sys, torch
sys.path.insert(0, sys.argv[1])
import net
torch.manual_seed(1)
made = net.Parts()
for buffer in made.buffers():
    if buffer.is_floating_point():
        buffer.add_(torch.rand(buffer.shape))
state = made.state_dict()
torch.save(state, sys.argv[2] + "/plain.pth")
parallel = {"module." + key: value for key, value in state.items()}
torch.save({"epoch": 3, "state_dict": parallel}, sys.argv[2] + "/nested.pt")
torch.save(torch.nn.DataParallel(made), sys.argv[2] + "/whole.pth")
torch.save({key: value for key, value in state.items() if key != "conv.bias"}, sys.argv[2] + "/missing.pth")
"""
CHECK = """
import sys, torch
sys.path.insert(0, sys.argv[1])
import net
made = net.Parts()
first, second = (torch.load(path, weights_only=True) for path in sys.argv[2:4])
print(made.load_state_dict(second, strict=True))
print(all(torch.equal(first[key], second[key]) and first[key].dtype == second[key].dtype for key in first))
"""


def python(code: str, *arguments: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], check=True, capture_output=True, text=True
    ).stdout  # fmt: skip


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with files that torch wrote."""
    pytest.importorskip("mindspore")
    folder = tmp_path_factory.mktemp("weights")
    python(SAVE, str(PAIR / "torch"), str(folder))
    return folder


def convert(source: Path, destination: Path, **options: Any) -> weights.Conversion:
    return weights.convert_weights(
        source, destination, project=PAIR / "mindspore", entry="net:Parts", rules=RULES, **options
    )


@pytest.mark.slow
@pytest.mark.parametrize("between", ["x.ckpt", "x.safetensors"])
def test_pth_to_mindspore_and_back_is_the_same(saved: Path, between: str, tmp_path: Path) -> None:
    there = convert(saved / "plain.pth", tmp_path / between)
    assert set(there.dropped) == {"norm.num_batches_tracked", "plain.num_batches_tracked"}
    convert(tmp_path / between, tmp_path / "back.pth", reverse=True)
    said = python(CHECK, str(PAIR / "torch"), str(saved / "plain.pth"), str(tmp_path / "back.pth"))
    assert said.splitlines() == ["<All keys matched successfully>", "True"]


@pytest.mark.slow
def test_nested_weights_of_data_parallel(saved: Path, tmp_path: Path) -> None:
    done = convert(saved / "nested.pt", tmp_path / "x.ckpt")
    assert "took the weights under 'state_dict'; passed over epoch" in done.notes
    assert "took off DataParallel's prefix 'module.'" in done.notes


@pytest.mark.slow
def test_a_file_with_code_or_without_a_key_writes_nothing(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(VerificationError, match=r"DataParallel: only tensors.* save the state_dict"):
        convert(saved / "whole.pth", tmp_path / "x.ckpt")
    with pytest.raises(VerificationError, match=r"conv\.bias: the PyTorch file has no conv\.bias"):
        convert(saved / "missing.pth", tmp_path / "x.ckpt")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_network_that_cannot_be_built_says_why(saved: Path, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("def Net():\n    raise RuntimeError('no such luck')\n", encoding="utf-8")
    with pytest.raises(VerificationError, match="could not be built") as caught:
        weights.convert_weights(
            saved / "plain.pth", tmp_path / "x.ckpt", project=tmp_path, entry="net:Net", rules=RULES
        )
    assert "no such luck" in caught.value.advice


def test_layers_that_are_handed_on_have_the_names_of_those_that_are_made_on_the_spot() -> None:
    """``act=nn.PReLU`` becomes the runtime's class: a weight with another name there would pair up with nothing."""
    rows = loader.load(()).layers()
    runtime = pytest.importorskip("torch2ms.runtime.weights")
    rules = weights.table_rules()
    for row in rows:
        renamed = [option.target for option in row.to if option.state not in (None, "same")]
        if row.adapter and renamed:
            module, _, name = row.adapter.rpartition(".")
            cls = getattr(pytest.importorskip(module), name)
            names = {name for base in cls.__mro__ for name in runtime._canonical(base)}
            assert names & set(rules), row.adapter
