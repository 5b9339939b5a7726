"""Files of ``torch.save`` are read without PyTorch, and nothing in them is run."""

from __future__ import annotations

import argparse
import collections
import io
import pathlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
import pytest
import torch

from torch2ms.runtime import (
    checkpoint,
    hub,
    modules,
    optim,
    optimizer_state,
    optimizers,
    schedulers,
    schedules,
    torch_files,
)
from torch2ms.runtime.budget import Budget
from torch2ms.runtime.plain_pickles import PickleError

BASE = torch.arange(20.0).reshape(4, 5)
OBJECT = {
    "state_dict": torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4)).state_dict(),
    "epoch": 3,
    "best": np.float64(0.5),
    "array": np.arange(6).reshape(2, 3),
    "args": argparse.Namespace(lr=0.1, device=torch.device("cpu")),
    "transposed": BASE.t(),
    "part": BASE[1:3, ::2],
    "weight": torch.nn.Parameter(torch.ones(2)),
    "size": torch.Size([2, 3]),
    "list": [torch.tensor(1.5), (torch.tensor([True]), None)],
    "set": {1, 2},
    5: collections.deque([1]),
    "path": pathlib.Path("a/b"),
    "keys": {np.int64(3): 1, (1, (2, "a")): 2, frozenset([1]): 3, b"x": 4, None: 5, 1.5: 6},
    "counted": collections.Counter("aab"),
    "default": collections.defaultdict(list, a=[torch.ones(1)]),
    "texts": np.array(["a", "bc"]),
    "records": np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]),
    "bytes": [b"\0\xff", bytearray(b"x"), slice(1, None), range(3), 1 << 70, complex(1, 2)],
    "ordered": collections.OrderedDict(a=torch.zeros(0, 3)),
    **{str(dtype): torch.tensor([1, 0, 1]).to(dtype) for dtype in (
        torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8,
        torch.bool, torch.complex64, torch.complex128)},
}  # fmt: skip


def _saved(value: Any, *, is_archive: bool = True) -> bytes:
    stream = io.BytesIO()
    torch.save(value, stream, _use_new_zipfile_serialization=is_archive)
    return stream.getvalue()


def _compare(saved: Any, read: Any, place: str = "") -> None:
    if isinstance(saved, torch.Tensor):
        assert isinstance(read, ms.Tensor), place
        assert str(read.dtype).lower().rstrip("_") == str(saved.dtype).removeprefix("torch."), place
        as_float = saved.dtype == torch.bfloat16
        ours = (read.astype(ms.float32) if as_float else read).asnumpy()
        np.testing.assert_array_equal(ours, (saved.float() if as_float else saved.detach()).numpy(), place)
    elif isinstance(saved, dict):
        assert list(saved) == list(read), place
        for key in saved:
            _compare(saved[key], read[key], f"{place}.{key}")
    elif isinstance(saved, (list, tuple)):
        assert len(saved) == len(read), place
        for index, item in enumerate(saved):
            _compare(item, read[index], f"{place}.{index}")
    elif isinstance(saved, argparse.Namespace):
        assert read == argparse.Namespace(lr=0.1, device="cpu")
    else:
        np.testing.assert_array_equal(saved, read, place)


@pytest.mark.parametrize("is_archive", [True, False])
def test_all_that_checkpoints_hold_is_read(is_archive: bool) -> None:
    _compare(OBJECT, torch_files.read(_saved(OBJECT, is_archive=is_archive)))


@pytest.mark.parametrize("is_archive", [True, False])
@pytest.mark.parametrize("kept", [5, 100, 0.5, 0.999])
def test_files_that_are_cut_off_are_refused(is_archive: bool, kept: float) -> None:
    content = _saved(OBJECT, is_archive=is_archive)
    with pytest.raises(torch_files.TorchFileError):
        torch_files.read(content[: kept if isinstance(kept, int) else int(kept * len(content))])


class Own:
    """A class that a file may name."""

    def __reduce__(self) -> Any:
        """Run a command when it is read, as a malicious file would."""
        return subprocess.check_call, (["false"],)


@pytest.mark.parametrize("is_archive", [True, False])
@pytest.mark.parametrize(("value", "name"), [(Own(), "check_call"), (torch.nn.Linear(1, 1), "Linear")])
def test_what_names_other_classes_is_refused_and_not_run(is_archive: bool, value: Any, name: str) -> None:
    with pytest.raises(torch_files.TorchFileError, match=name):
        torch_files.read(_saved(value, is_archive=is_archive))


def test_a_tensor_beyond_its_storage_is_refused() -> None:
    storage = torch_files._Storage("float32", np.zeros(3, np.float32))
    for offset, shape, strides in ((0, (2, 2), (2, 1)), (-1, (1,), (1,)), (0, (2,), (-1,)), (0, (2, 2), (1,))):
        with pytest.raises(PickleError, match=r"beyond|negative"):
            torch_files._Tensor(torch_files._tensor, storage, offset, shape, strides).made(Budget(100), lambda x: x)


def test_weights_from_the_web_are_fetched_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "home"))
    (tmp_path / "net.pth").write_bytes(_saved({"w": torch.ones(2)}, is_archive=False))
    url = (tmp_path / "net.pth").as_uri()
    assert hub.load_state_dict_from_url(url)["w"].asnumpy().tolist() == [1, 1]
    (tmp_path / "net.pth").unlink()
    assert hub.load_state_dict_from_url(url, map_location="cpu", progress=False)["w"].shape == (2,)
    assert [file.name for file in (tmp_path / "home/hub/checkpoints").iterdir()] == ["net.pth"]


def test_a_failed_download_says_where_the_file_belongs(tmp_path: Path) -> None:
    with pytest.raises(hub.DownloadError, match=str(tmp_path / "net.pth")):
        hub.load_state_dict_from_url((tmp_path / "absent.pth").as_uri(), tmp_path, file_name="net.pth")
    (tmp_path / "other-0123abcd.pth").write_bytes(b"another file")
    with pytest.raises(hub.DownloadError, match="another file than its name says"):
        hub.load_state_dict_from_url((tmp_path / "other-0123abcd.pth").as_uri(), tmp_path / "x", check_hash=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other-0123abcd.pth", "x"]
    assert list((tmp_path / "x").iterdir()) == []


def test_reading_imports_no_torch(tmp_path: Path) -> None:
    (tmp_path / "a.pth").write_bytes(_saved({"w": torch.ones(2)}))
    code = (
        "import sys; from torch2ms.runtime import checkpoint; checkpoint.load(sys.argv[1]);"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a.pth")], capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stdout.split() == ["False"]


X = np.linspace(-1, 1, 20, dtype=np.float32).reshape(5, 4)
Y = np.array([0, 1, 2, 0, 1])


def _torch_run(name: str, schedule: str, path: Path) -> list[float]:
    """Train three steps, save, and return the losses of three more."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.BatchNorm1d(6), torch.nn.ReLU(), torch.nn.Linear(6, 3))
    optimizer = getattr(torch.optim, name)(model.parameters(), **OPTIMIZERS[name])
    scheduler = getattr(torch.optim.lr_scheduler, schedule)(optimizer, **SCHEDULES[schedule])
    losses = []
    for step in range(6):
        if step == 3:
            saved = {"m": model.state_dict(), "o": optimizer.state_dict(), "s": scheduler.state_dict()}
            torch.save(saved, path)
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(torch.tensor(X)), torch.tensor(Y))
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
    return losses[3:]


OPTIMIZERS: dict[str, dict[str, Any]] = {
    "SGD": {"lr": 0.05, "momentum": 0.9, "nesterov": True},
    "AdamW": {"lr": 0.01, "amsgrad": True},
    "RMSprop": {"lr": 0.01, "momentum": 0.5, "centered": True},
    "Adam": {"lr": 0.02, "betas": (0.8, 0.9), "eps": 1e-4, "weight_decay": 0.1},
    "Adagrad": {"lr": 0.05, "lr_decay": 0.1, "eps": 1e-3},
    "Adadelta": {"lr": 0.5, "rho": 0.7, "eps": 1e-4},
    "Adamax": {"lr": 0.05, "betas": (0.7, 0.9)},
    "NAdam": {"lr": 0.02, "momentum_decay": 0.1, "weight_decay": 0.3, "decoupled_weight_decay": True},
    "RAdam": {"lr": 0.02, "betas": (0.7, 0.9), "maximize": True},
    "ASGD": {"lr": 0.05, "lambd": 0.1, "alpha": 0.6, "t0": 1.0},
    "Rprop": {"lr": 0.01, "etas": (0.4, 1.3)},
}
SCHEDULES: dict[str, dict[str, Any]] = {
    "StepLR": {"step_size": 2},
    "CosineAnnealingLR": {"T_max": 8},
    "OneCycleLR": {"max_lr": 0.2, "total_steps": 8},
}
RUNS = [(name, "StepLR") for name in OPTIMIZERS] + [
    (name, schedule) for name in ("SGD", "AdamW") for schedule in ("CosineAnnealingLR", "OneCycleLR")
]


@pytest.mark.parametrize(("name", "schedule"), RUNS)
def test_training_goes_on_from_a_checkpoint_of_pytorchs(name: str, schedule: str, tmp_path: Path) -> None:
    """The optimizer was made with other settings: those of the checkpoint hold."""
    from mindspore.experimental.optim import lr_scheduler

    expected = _torch_run(name, schedule, tmp_path / "a.pth")
    saved = checkpoint.load(tmp_path / "a.pth")
    model = ms.nn.SequentialCell(ms.nn.Dense(4, 6), ms.nn.BatchNorm1d(6), ms.nn.ReLU(), ms.nn.Dense(6, 3)).set_train()
    optimizer = getattr(optimizers, name)(model.trainable_params(), lr=0.5)
    made = schedulers if schedule == "OneCycleLR" else lr_scheduler
    scheduler = getattr(made, schedule)(optimizer, **SCHEDULES[schedule])
    modules.load_state_dict(model, saved["m"])
    optim.load_state_dict(optimizer, saved["o"])
    schedules.load_state_dict(scheduler, saved["s"])
    grad = ms.value_and_grad(lambda x, y: ms.ops.cross_entropy(model(x), y), None, model.trainable_params())
    losses = []
    for _ in range(3):
        loss, grads = grad(ms.Tensor(X), ms.Tensor(Y.astype(np.int32)))
        optimizer(grads)
        scheduler.step()
        losses.append(float(loss.asnumpy()))
    np.testing.assert_allclose(losses, expected, rtol=2e-5)


def test_numbers_of_recurrent_weights_are_pytorchs() -> None:
    expected = [name for name, _ in torch.nn.LSTM(3, 4, num_layers=3, bidirectional=True).named_parameters()]
    layer = ms.nn.LSTM(3, 4, num_layers=3, bidirectional=True)
    names = [weight.name for weight in layer.trainable_params()]
    assert names != expected
    assert [names[place] for place in optimizer_state._in_torch_order(names)] == expected
    numbered = [f"{name}.2" for name in names]
    order = optimizer_state._in_torch_order(["a", *names, *numbered, "b"])
    assert [order[0], order[-1]] == [0, len(order) - 1]
    assert [["a", *names, *numbered, "b"][place] for place in order[1:-1]] == [*expected, *(f"{n}.2" for n in expected)]


@pytest.mark.parametrize("is_archive", [True, False])
def test_weights_are_converted_without_pytorch(is_archive: bool, tmp_path: Path) -> None:
    state = {"module.w": torch.tensor([[1.0, 2.0]]), "module.b": torch.tensor([1.5]).bfloat16()}
    path = tmp_path / "x.pth"
    path.write_bytes(_saved({"state_dict": state, "epoch": 3}, is_archive=is_archive))
    script = "import sys; sys.modules['torch'] = None\nfrom pathlib import Path\n"
    script += "from torch2ms.runtime.weight_files import read_torch\n"
    script += f"print({{k: (v.dtype, v.array.tolist()) for k, v in read_torch(Path({str(path)!r}))[0].items()}})"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "{'w': ('float32', [[1.0, 2.0]]), 'b': ('bfloat16', [1.5])}"
