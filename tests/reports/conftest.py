"""A report made by hand, as a translation of a small but nasty project would give it."""

from __future__ import annotations

import pytest

from torch2ms.config import Target
from torch2ms.diagnostics import CODES, Diagnostic, Severity
from torch2ms.mapping_tables.proofs import Proof
from torch2ms.reports.model import ApiUse, ChecklistItem, FileReport, Place, Report, Script

NET = '''"""A small network."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    """Two convolutions and a shortcut."""

    def __init__(self, planes: int) -> None:
        super(Block, self).__init__()
        self.conv1 = nn.Conv2d(planes, planes, kernel_size=3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, kernel_size=3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return F.relu(out + x)


# A long stretch that stays as it is, so that the report has something to fold.
DEPTHS = {
    18: (2, 2, 2, 2),
    34: (3, 4, 6, 3),
    50: (3, 4, 6, 3),
    101: (3, 4, 23, 3),
    152: (3, 8, 36, 3),
}
WIDTHS = (64, 128, 256, 512)
NAMES = [f"resnet{depth}" for depth in DEPTHS]
LIMIT = 1_000.5e-3


def depth_of(name: str) -> int:
    """Return the number behind the name."""
    return int(name.removeprefix("resnet"))


def widths() -> tuple[int, ...]:
    return WIDTHS


class Net(nn.Module):
    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        self.body = nn.Sequential(*[Block(64) for _ in range(4)])
        self.head = nn.Linear(64, classes)

    def forward(self, x):
        x = self.body(x)
        x = x.mean((2, 3))
        x = torch.special.bessel_j0(x)  # </script><script>alert("no")</script> & <b>
        return self.head(x)
'''
NET_OUT = (
    NET.replace(
        "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n",
        "import mindspore as ms\nfrom mindspore import nn, ops\n\nimport torch\n",
    )
    .replace("nn.Module", "nn.Cell")
    .replace("def forward(self, x: torch.Tensor) -> torch.Tensor", "def construct(self, x: ms.Tensor) -> ms.Tensor")
    .replace("def forward", "def construct")
    .replace("padding=1, bias=False", "padding=1, pad_mode='pad'")
    .replace("F.relu", "ops.relu")
    .replace("nn.Sequential(*[", "nn.SequentialCell(*[")
    .replace("nn.Linear(", "nn.Dense(")
    .replace(
        "        x = torch.special",
        "        # TORCH2MS T2M201: torch.special.bessel_j0 has no MindSpore equivalent\n        x = torch.special",
    )
)

TRAIN = """import torch\r
from net import Net\r
\r
model = Net()\r
optimizer = torch.optim.Adam(model.parameters(), lr=0.001, weight_decay=1e-05)\r
for data, target in loader:\r
    optimizer.zero_grad()\r
    loss = criterion(model(data.cuda()), target)\r
    loss.backward()\r
    optimizer.step()\r
torch.save(model.state_dict(), "netz-größe.pth")"""
TRAIN_OUT = """import mindspore as ms\r
from mindspore.experimental import optim\r
from net import Net\r
\r
model = Net()\r
optimizer = optim.Adam(model.trainable_params(), lr=0.001, weight_decay=1e-05)\r
\r
\r
def forward_fn(data, target):\r
    return criterion(model(data), target)\r
\r
\r
grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters)\r
for data, target in loader:\r
    loss, grads = grad_fn(data, target)\r
    optimizer(grads)\r
checkpoint.save(model, "netz-größe.pth")"""

WIDE = "import torch\nTABLE = [" + ", ".join(str(number * number) for number in range(900)) + "]\nx = torch.ones(3)"
LATIN = "# -*- coding: latin-1 -*-\n# Maße\nimport torch\n\nx = torch.zeros(2)\n"


def diagnostic(code: str, file: str, line: int, column: int, symbol: str, message: str) -> Diagnostic:
    entry = CODES[code]
    return Diagnostic(file, line, column, code, entry.severity, symbol, message, entry.advice)


def _apis() -> tuple[ApiUse, ...]:
    net = "models/net.py"
    return (
        ApiUse("torch.Tensor.cuda", "removed", (), "exact", "", (Place("train.py", 8, 28),)),
        ApiUse(
            "torch.compile",
            "unsupported",
            (),
            "",
            "Run the network with jit instead; it is no part of the numbers.",
            (Place("tools/wide table.py", 2, 1),),
        ),
        ApiUse("torch.hypothetical", "unknown", (), "", "", (Place("tools/naïve données.py", 3, 5),)),
        ApiUse(
            "torch.nn.BatchNorm2d",
            "mapped",
            ("mindspore.nn.BatchNorm2d",),
            "exact",
            "",
            (Place(net, 14, 20), Place(net, 16, 20)),
        ),
        ApiUse(
            "torch.nn.Conv2d", "mapped", ("mindspore.nn.Conv2d",), "exact", "", (Place(net, 13, 22), Place(net, 15, 22))
        ),
        ApiUse(
            "torch.nn.Module", "mapped", ("mindspore.nn.Cell",), "exact", "", (Place(net, 8, 13), Place(net, 46, 11))
        ),
        ApiUse(
            "torch.nn.functional.relu",
            "mapped",
            ("mindspore.ops.relu",),
            "exact",
            "",
            tuple(Place(net, line, 15) for line in (19, 21)),
        ),
        ApiUse(
            "torch.optim.Adam",
            "mapped",
            ("mindspore.experimental.optim.Adam",),
            "approximate",
            "",
            (Place("train.py", 5, 13),),
        ),
        ApiUse(
            "torch.special.bessel_j0",
            "unsupported",
            (),
            "",
            "Compute it with scipy outside the network | or not.",
            tuple(Place(net, 55, column) for column in (13, 14, 15, 16, 17)),
        ),
    )


def _checklist() -> tuple[ChecklistItem, ...]:
    return (
        ChecklistItem("network", "Net(classes=10)", Place("train.py", 4, 9), "Net(classes=10)"),
        ChecklistItem(
            "optimizer",
            "Adam(lr=0.001, weight_decay=1e-05)",
            Place("train.py", 5, 13),
            "mindspore.experimental.optim.Adam",
            "the same update rule",
        ),
        ChecklistItem("learning rate", "0.001", Place("train.py", 5, 50), "config.yaml: learning_rate"),
        ChecklistItem("epochs", "90 | not bound to an option", None, "config.yaml: epochs"),
    )


def _files() -> tuple[FileReport, ...]:
    return (
        FileReport("README.md", "copied"),
        FileReport("legacy/py2.py", "failed", source='print "hello"\n', note="line 1: Missing parentheses"),
        FileReport("models/net.py", "translated", source=NET, output=NET_OUT),
        FileReport("plain.py", "unchanged", source="x = 1\n", output="x = 1\n"),
        FileReport(
            "tools/latin.py", "translated", source=LATIN, output=LATIN.replace("torch", "mindspore"), encoding="latin-1"
        ),
        FileReport(
            "tools/naïve données.py",
            "translated",
            source="import torch\n\ny = torch.hypothetical()\n",
            output="import torch\n\n# TORCH2MS T2M202: not in the tables\ny = torch.hypothetical()\n",
        ),
        FileReport("tools/wide table.py", "translated", source=WIDE, output=WIDE.replace("torch", "ms") + "\n"),
        FileReport("train.py", "translated", source=TRAIN, output=TRAIN_OUT),
        FileReport("weights.bin", "copied"),
        FileReport("config.yaml", "generated", output="epochs: 90\nlearning_rate: 0.001\n"),
        FileReport("scripts/run_eval.sh", "generated", output='#!/bin/bash\npython eval.py "$@"\n', executable=True),
        FileReport("torch2ms_runtime/__init__.py", "generated", output=""),
    )


def _diagnostics() -> tuple[Diagnostic, ...]:
    return tuple(
        sorted(
            (
                diagnostic("T2M101", "legacy/py2.py", 1, 7, "", "Missing parentheses in call to 'print'"),
                diagnostic(
                    "T2M201",
                    "models/net.py",
                    55,
                    13,
                    "torch.special.bessel_j0",
                    "torch.special.bessel_j0 has no MindSpore equivalent",
                ),
                diagnostic(
                    "T2M202",
                    "tools/naïve données.py",
                    3,
                    5,
                    "torch.hypothetical",
                    "torch.hypothetical is not in the tables",
                ),
                diagnostic(
                    "T2M201", "tools/wide table.py", 2, 1, "torch.compile", "torch.compile has no MindSpore equivalent"
                ),
                diagnostic("T2M301", "train.py", 8, 28, "torch.Tensor.cuda", "the device move was dropped"),
                diagnostic("T2M401", "train.py", 9, 5, "torch.Tensor.backward", "the training step was rewritten"),
                diagnostic(
                    "T2M303",
                    "train.py",
                    5,
                    13,
                    "torch.optim.Adam",
                    "equal up to rounding \x1b[31mnot red\x1b[0m <img src=x onerror=alert(1)> `tick` | pipe",
                ),
                diagnostic("T2M207", "models/net.py", 54, 13, "mean", "the receiver of .mean could not be typed"),
                diagnostic(
                    "T2M402", "train.py", 9, 5, "torch.Tensor.backward", "the loss is read before it is computed"
                ),
            )
        )
    )


def sample_report() -> Report:
    """Return the report; every call returns an equal one."""
    return Report(
        tool="torch2ms 0.1.0",
        target=Target(),
        files=_files(),
        apis=_apis(),
        checklist=_checklist(),
        diagnostics=_diagnostics(),
        facts={"networks": ["models/net.py:Block", "models/net.py:Net"], "entry": "models.net:Net", "training": True},
        scripts=(Script("plain.py", ("plain.py",)), Script("train.py", ("models/net.py", "train.py"))),
    )


_PROOFS = [
    Proof("torch.nn.Conv2d", 0, "2.10.0", "CPU", "equal", 1e-7, ""),
    Proof("torch.nn.Conv2d", 1, "2.10.0", "CPU", "skipped", None, "", "documented for ascend only"),
    Proof("torch.nn.Module", 0, "2.10.0", "CPU", "ran", None, ""),
    Proof("torch.nn.BatchNorm2d", 0, "2.9.0", "CPU", "equal", 0.0, ""),
    Proof("torch.optim.Adam", 0, "2.10.0", "CPU", "equal", 0.0, ""),
    Proof("torch.optim.Adam", 1, "2.10.0", "CPU", "different", 0.5, ""),
    Proof("torch.nn.Conv2d", 0, "2.8.0", "GPU", "equal", 1e-7, ""),
    Proof("torch.nn.BatchNorm2d", 0, "2.8.0", "GPU", "error", None, ""),
    Proof("torch.nn.BatchNorm2d", 0, "2.8.0", "CPU", "equal", 0.0, ""),
]


@pytest.fixture(autouse=True)
def proofs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put known proofs in the place of the shipped ones."""
    found = {entry.row: [each for each in _PROOFS if each.row == entry.row] for entry in _PROOFS}
    monkeypatch.setattr(
        "torch2ms.mapping_tables.proofs.proofs_of",
        lambda row, device="CPU": [each for each in found.get(row, []) if each.device == device],
    )


@pytest.fixture
def report() -> Report:
    return sample_report()


@pytest.fixture
def empty_report() -> Report:
    return Report("torch2ms 0.1.0", Target(mindspore=(2, 5), device="ascend"), (), (), (), ())


@pytest.fixture
def severities() -> tuple[Severity, ...]:
    return (Severity.ERROR, Severity.WARNING, Severity.NOTE)
