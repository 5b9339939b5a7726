"""The generated configuration states what the source states."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from torch2ms import translate_project
from torch2ms.runtime.config import load_config
from torch2ms.translator.output.program import is_importable

PROGRAM = """
import argparse

import torch
from torch import nn
from torchvision import datasets, transforms


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    train_kwargs = {"batch_size": args.batch_size}
    data = datasets.MNIST("../data", train=True, transform=transforms.ToTensor())
    train_loader = torch.utils.data.DataLoader(data, **train_kwargs)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for epoch in range(1, 4):
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = nn.functional.nll_loss(model(x), y)
            loss.backward()
            optimizer.step()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(784, 10)

    def forward(self, x):
        return self.fc(torch.flatten(x, 1)).log_softmax(1)
"""


def test_options_behind_a_splat_and_the_seed_reach_the_configuration(
    make_tree: Callable[..., Path], tmp_path: Path
) -> None:
    translate_project(make_tree({"main.py": PROGRAM}), tmp_path / "out")
    lines = (tmp_path / "out" / "config.yaml").read_text().splitlines()
    assert "seed: 7" in lines
    assert "batch_size: 64" in lines
    assert "epochs: 3" in lines


VAGUE = """
import sys

import torch
import torchvision
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x)


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=float(sys.argv[1]), weight_decay=1e-4)
loss_fn = nn.CrossEntropyLoss()
data = torchvision.datasets.MNIST(sys.argv[2])
for x, y in load(data):
    optimizer.zero_grad()
    loss = loss_fn(net(x), y)
    loss.backward()
    optimizer.step()
"""


def test_what_the_source_does_not_say_is_marked(make_tree: Callable[..., Path], tmp_path: Path) -> None:
    report = translate_project(make_tree({"main.py": VAGUE}), tmp_path / "out")
    path = tmp_path / "out" / "config.yaml"
    lines = path.read_text().splitlines()
    default = "not found in the source; torch2ms's default"
    assert f"batch_size: 32  # {default}" in lines
    assert f"epochs: 10  # {default}" in lines
    assert f"train_transforms:  # {default}" in lines
    unread = "lr: no constant in the source; left at the default"
    assert f"optimizer: {{name: Adam, weight_decay: 0.0001}}  # {unread}" in lines
    notes = {(item.topic, item.note) for item in report.checklist if item.note}
    assert ("batch size", f"config.yaml, batch_size: {default}") in notes
    assert ("optimizer", f"config.yaml, optimizer: {unread}") in notes
    read = load_config(path)
    assert read["batch_size"] == 32
    assert read["train_transforms"] == ["ToTensor"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("nn.CrossEntropyLoss()", "nn.BCELoss()"),  # its target is no class
        ("torchvision.datasets.MNIST(sys.argv[2])", "sys.argv[2]"),
    ],
)
def test_other_programs_than_classification_get_no_training_program(
    make_tree: Callable[..., Path], tmp_path: Path, before: str, after: str
) -> None:
    assert before in VAGUE
    report = translate_project(make_tree({"main.py": VAGUE.replace(before, after)}), tmp_path / "out")
    assert report.facts["training"] is False
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert "convert_weights.py" in written
    assert not written & {"train.py", "eval.py", "config.yaml"}


def test_what_the_source_says_is_not_marked(make_tree: Callable[..., Path], tmp_path: Path) -> None:
    report = translate_project(make_tree({"main.py": PROGRAM}), tmp_path / "out")
    text = (tmp_path / "out" / "config.yaml").read_text()
    assert [line.split(":")[0] for line in text.splitlines() if "not found in the source" in line] == [
        "train_transforms",
        "eval_transforms",
    ]
    assert {item.topic for item in report.checklist if item.note} == {"transforms"}


@pytest.mark.parametrize(
    ("path", "importable"),
    [
        ("models/resnet.py", True),
        ("models/__init__.py", True),
        ("01-basics/main.py", False),
        ("3d/net.py", False),
        ("a/class/net.py", False),
    ],
)
def test_only_what_can_be_imported_becomes_the_entry(path: str, importable: bool) -> None:
    assert is_importable(path) is importable


def test_the_entry_is_no_part_of_another_network(make_tree: Callable[..., Path], tmp_path: Path) -> None:
    head = "from torch import nn\n"
    parts = (
        "class {name}(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.body = {body}\n"
    )
    tree = make_tree(
        {
            "net.py": head + "from parts import Block\n" + parts.format(name="Net", body="Block()"),
            "parts.py": head + parts.format(name="Block", body="nn.Linear(2, 2)"),
        }
    )
    assert translate_project(tree, tmp_path / "out").facts["entry"] == "net:Net"


ZOO = """
import torch
from torch import nn

class Scale(nn.Module):
    def forward(self, x):
        return x / 255

class Distance(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.MSELoss()

    def forward(self, x, y):
        return self.inner(x, y)

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return self.fc(x)

class Alone(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        return self.fc(x)

class Wide(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = Block(width)

    def forward(self, x):
        return self.body(x)
"""


def test_the_entry_has_weights_and_is_made_with_constants(make_tree: Callable[..., Path], tmp_path: Path) -> None:
    library = make_tree({"zoo.py": ZOO}, "library")
    facts = translate_project(library, tmp_path / "out").facts
    assert (facts["entry"], facts["entries"]) == ("zoo:Alone", ["zoo:Alone", "zoo:Wide"])
    used = "\nnet = Wide(8)\nx = torch.randn(4, 8)\nprint(Scale()(x), net(x))\n"
    facts = translate_project(make_tree({"zoo.py": ZOO + used}), tmp_path / "out-2").facts
    assert (facts["entry"], facts["entry_kwargs"], facts["entry_inputs"]) == ("zoo:Wide", {"width": 8}, ["4x8"])


GAN = """
import torch
from torch import nn

class Judge(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 1)

    def forward(self, x):
        return self.fc(x)

class Maker(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.fc = nn.Linear(width, 8)

    def forward(self, z):
        return self.fc(z)

one, two = Judge(), Maker(4)
first, second = torch.optim.Adam(one.parameters()), torch.optim.Adam(two.parameters())
z = torch.randn(16, 4)
for step in range(3):
    made = two(z)
    loss = one(made).mean()
    first.zero_grad()
    second.zero_grad()
    loss.backward()
    second.step()
"""


def test_of_trained_networks_the_one_that_others_judge_is_the_entry(
    make_tree: Callable[..., Path], tmp_path: Path
) -> None:
    split = GAN.replace("one, two = Judge(), Maker(4)", "one = Judge()\ntwo = Maker(4)")
    facts = translate_project(make_tree({"train.py": split}), tmp_path / "out").facts
    assert (facts["entry"], facts["entry_inputs"]) == ("train:Maker", ["16x4"])
    groups = split.replace(
        "first, second = torch.optim.Adam(one.parameters()), torch.optim.Adam(two.parameters())",
        "first = second = torch.optim.Adam([*one.parameters(), *two.parameters()])",
    )
    facts = translate_project(make_tree({"train.py": groups}, "groups"), tmp_path / "out-2").facts
    assert facts["entry"] == "train:Maker"


FAMILY = """
from torch import nn

class Block(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return self.fc(x)

class Tall(nn.Module):
    def __init__(self, block, count):
        super().__init__()
        self.body = nn.Sequential(*[block(8) for _ in range(count)])

    def forward(self, x):
        return self.body(x)

def _tall(block, count, **options):
    return Tall(block, count, **options)

def two(**options):
    net = _tall(Block, 2, **options)
    return net
"""


def test_a_function_that_makes_the_network_is_the_entry_and_a_class_it_hands_over_a_part(
    make_tree: Callable[..., Path], tmp_path: Path
) -> None:
    facts = translate_project(make_tree({"family.py": FAMILY}), tmp_path / "out").facts
    assert facts["entry"] == "family:two"
    assert "entries" not in facts
