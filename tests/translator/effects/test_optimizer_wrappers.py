"""Classes of a project that hold an optimizer and take its steps for whoever called backward."""

from __future__ import annotations

from pathlib import Path

import pytest

from torch2ms import translate_project, translate_source

WRAPPER = """
class Scheduled:
    def __init__(self, optimizer, width):
        self._optimizer = optimizer
        self.width = width

    def step_and_update_lr(self):
        self.adjust()
        self._optimizer.step()

    def zero_grad(self):
        self._optimizer.zero_grad()

    def adjust(self):
        for group in self._optimizer.param_groups:
            group["lr"] = self.width
"""
TRAIN = """
import torch
from tools.schedule import Scheduled

def train(model: torch.nn.Module, loader, criterion, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step_and_update_lr()

def main(model: torch.nn.Module, loader, criterion):
    train(model, loader, criterion, Scheduled(torch.optim.Adam(model.parameters()), 0.1))
"""
OTHER = """
import torch

def train(model: torch.nn.Module, loader, criterion, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
"""


def codes(source: str) -> set[str]:
    return {item.code for item in translate_source(source).diagnostics}


def test_the_gradients_wait_where_the_class_finds_them(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "tools").mkdir(parents=True)
    (source / "tools" / "schedule.py").write_text(WRAPPER)  # names nothing of torch
    (source / "engine.py").write_text(TRAIN)
    (source / "other.py").write_text(OTHER)
    report = translate_project(source, tmp_path / "out")
    assert not {item.code for item in report.diagnostics} & {"T2M201", "T2M207", "T2M402", "T2M403", "T2M900"}
    engine = (tmp_path / "out" / "engine.py").read_text()
    assert "grad_fn = ms.value_and_grad(forward_fn, None, gradients.parameters_of(optimizer))" in engine
    assert "optimizer.zero_grad()\n" in engine
    assert (
        "gradients.keep(gradients.parameters_of(optimizer), grads)\n        optimizer.step_and_update_lr()\n" in engine
    )
    schedule = (tmp_path / "out" / "tools" / "schedule.py").read_text()
    assert "gradients.update(self._optimizer)" in schedule
    assert "gradients.reset(self._optimizer)" in schedule
    other = (tmp_path / "out" / "other.py").read_text()  # no import connects it with the class
    assert "gradients" not in other
    assert "optimizer(grads)" in other


def test_one_that_may_be_such_an_object_is_asked_when_it_runs() -> None:
    solver = """
import torch
class Solver:
    def __init__(self, model: torch.nn.Module, optimizer):
        self.model, self.optimizer = model, optimizer
    def train(self, loader):
        for x in loader:
            self.optimizer.zero_grad()
            loss = self.model(x).sum()
            loss.backward()
            self.optimizer.step()
"""
    found = translate_source(WRAPPER.replace("step_and_update_lr", "step") + solver)
    assert "gradients.reset(self.optimizer)" in found.text
    assert "gradients.update(self.optimizer)" in found.text
    assert "value_and_grad(forward_fn, None, gradients.parameters_of(self.optimizer))" in found.text


@pytest.mark.parametrize(
    ("line", "other", "is_recorded"),
    [
        ("self._optimizer.step()", "self.scaler.scale(self.loss()).backward()\n        self._optimizer.step()", True),
        ("self._optimizer.step()", "self._optimizer.step(self.closure)", False),
        ("class Scheduled:", "class Scheduled(Base):", True),
    ],
)
def test_what_is_no_plain_wrapper_is_recorded_or_marked(line: str, other: str, is_recorded: bool) -> None:
    source = TRAIN.replace("from tools.schedule import Scheduled", WRAPPER.replace(line, other))
    assert is_recorded != bool(codes(source) & {"T2M402", "T2M403"})
    assert ("recording.update(self._optimizer)" in translate_source(source).text) == is_recorded


def test_a_step_that_is_recorded_for_a_wrapper() -> None:
    """The predictions come from another function: no function holds the forward pass."""
    loop = """
import torch
net = torch.nn.Linear(4, 2)
opt = Scheduled(torch.optim.Adam(net.parameters()), 0.1)
saved = []
def act(x):
    saved.append(net(x)[0])
def finish():
    loss = torch.stack(saved).sum()
    opt.zero_grad()
    loss.backward()
    opt.step_and_update_lr()
"""
    found = translate_source(WRAPPER + loop)
    assert not {"T2M402", "T2M403"} & {item.code for item in found.diagnostics}
    assert "    opt.zero_grad()\n    recording.backward(loss)\n    opt.step_and_update_lr()" in found.text


LOOKAHEAD = """
from torch.optim import Optimizer
class Lookahead(Optimizer):
    def __init__(self, optimizer, k=5):
        self.optimizer = optimizer
        self.param_groups = optimizer.param_groups
    def step(self, closure=None):
        loss = self.optimizer.step(closure)
        return loss
    def zero_grad(self):
        self.optimizer.zero_grad()
"""


def test_an_optimizer_that_only_holds_another() -> None:
    found = translate_source(LOOKAHEAD)
    assert "class Lookahead(gradients.Holder):" in found.text
    assert "loss = gradients.update(self.optimizer, closure)" in found.text
    assert "gradients.reset(self.optimizer)" in found.text
    assert not {"T2M402", "T2M403"} & {item.code for item in found.diagnostics}
    made = translate_source(
        LOOKAHEAD.replace("        self.optimizer = ", "        super().__init__([], {})\n        self.optimizer = ")
    )
    assert "class Lookahead(Optimizer):" in made.text


def test_a_closure_that_may_not_be_missing_stays_marked() -> None:
    found = translate_source(LOOKAHEAD.replace("closure=None", "closure"))
    assert "T2M403" in {item.code for item in found.diagnostics}
