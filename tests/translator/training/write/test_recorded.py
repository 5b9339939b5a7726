"""Steps without a forward pass of their own: recorded as they run, or left as they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from torch2ms import translate_project, translate_source
from torch2ms.config import Options, Target
from torch2ms.diagnostics import Severity

HEAD = """
import torch
from torch import nn
net = nn.Linear(3, 2)
other = nn.Linear(2, 1)
optimizer = torch.optim.Adam(net.parameters())
stored = []
"""
AGENT = """
class Agent:
    def __init__(self):
        self.net = nn.Linear(3, 2)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        self.losses = []

    def act(self, x):
        out = self.net(x)
        self.losses.append(out.mean())
        return out.argmax().item()
"""
FINISH = """
def finish():
    optimizer.zero_grad()
    loss = torch.stack(stored).sum()
    loss.backward()
    optimizer.step()
"""


def text(source: str, **options: object) -> str:
    return translate_source(HEAD + source, options=Options(**options)).text  # type: ignore[arg-type]


def codes(source: str, **options: object) -> set[str]:
    found = translate_source(HEAD + source, options=Options(**options))  # type: ignore[arg-type]
    return {item.code for item in found.diagnostics}


def test_what_was_stored_elsewhere() -> None:
    emitted = text(FINISH)
    assert "recording.reset(optimizer)\n" in emitted
    assert "recording.backward(loss)\n" in emitted
    assert "recording.update(optimizer)\n" in emitted
    assert not codes(FINISH) & {"T2M402", "T2M403", "T2M900"}


def test_parts_in_several_methods() -> None:
    source = AGENT + (
        "    def learn(self):\n        loss = sum(self.losses)\n        loss.backward()\n        self.losses = []\n\n"
        "    def step(self):\n        nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)\n"
        "        self.optimizer.step()\n        self.optimizer.zero_grad()\n"
    )
    emitted = text(source)
    assert "recording.backward(loss)" in emitted
    assert "recording.clip_norm(modules.parameters(self.net), 1.0)" in emitted
    assert "recording.update(self.optimizer)" in emitted
    assert "recording.reset(self.optimizer)" in emitted
    assert "T2M402" not in emitted


def test_a_gradient_that_is_handed_to_backward_weights_the_loss() -> None:
    emitted = text(FINISH.replace("backward()", "backward(torch.ones(()))"))
    assert "recording.backward((loss * ops.stop_gradient(ops.ones((), dtype=ms.float32))).sum())" in emitted


def test_backward_in_a_loop_over_stored_values() -> None:
    source = AGENT + (
        "    def learn(self):\n        self.optimizer.zero_grad()\n        for loss in self.losses:\n"
        "            loss.backward()\n        self.optimizer.step()\n"
    )
    assert "            recording.backward(loss)\n        recording.update(self.optimizer)" in text(source)


@pytest.mark.parametrize(
    "source",
    [
        # a function can hold the step: nothing is recorded
        FINISH.replace("torch.stack(stored).sum()", "net(torch.ones(3)).mean()"),
        # a closure
        FINISH.replace("optimizer.step()", "optimizer.step(lambda: loss)"),
        # the gradient of a tensor that is no weight
        FINISH.replace("    optimizer.step()", "    print(torch.ones(2).grad)\n    optimizer.step()"),
        # a gradient that is itself differentiated
        FINISH.replace("backward()", "backward(create_graph=True)"),
    ],
)
def test_left_or_a_function(source: str) -> None:
    assert "recording" not in text(source)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            FINISH.replace("    optimizer.step()", "    print(net.weight.grad.norm())\n    optimizer.step()"),
            "functional.norm(gradients.of(net.weight))",
        ),
        # whoever calls it resets the gradients, or lets them add up
        (FINISH.replace("    optimizer.zero_grad()\n", ""), "recording.update(optimizer)"),
        (
            "def finish(opt_list):\n    stored[0].backward()\n    for opt in opt_list:\n        opt.step()\n",
            "        recording.update(opt)",
        ),
        (
            "def finish(optimizers):\n    stored[0].backward()\n    optimizers['net'].step()\n"
            "def forget(optimizers):\n    for one in optimizers.values():\n        one.zero_grad()\n",
            "    recording.update(optimizers['net'])\ndef forget(optimizers):\n    for one in optimizers.values():\n"
            "        gradients.reset(one)",
        ),
    ],
)
def test_by_the_weights_that_a_loss_reaches(source: str, expected: str) -> None:
    emitted = text(source)
    assert expected in emitted
    assert re.search(r"recording\.backward\([^,]*\)\n", emitted)
    assert not codes(source) & {"T2M402", "T2M403", "T2M404", "T2M900"}
    assert codes(source, target=Target(mindspore=(2, 8))) & {"T2M402", "T2M404"}


def test_gradients_that_are_perhaps_differentiated_again_are_refused_when_it_runs() -> None:
    source = FINISH.replace("def finish():", "def finish(second_order):").replace(
        "loss.backward()", "loss.backward(retain_graph=False, create_graph=second_order)"
    )
    assert "    recording.backward(loss, create_graph=second_order)\n" in text(source)
    assert "T2M402" in text(source.replace("=second_order", "=True"))


def test_a_file_that_resets_gradients_elsewhere(tmp_path: Path) -> None:
    """Its resets would be taken for those of steps that are functions, and vanish."""
    source = tmp_path / "src"
    source.mkdir()
    (source / "tools.py").write_text("def forget(optimizer):\n    optimizer.zero_grad()\n")
    step = "from tools import forget\n" + FINISH.replace("optimizer.zero_grad()", "forget(optimizer)")
    (source / "train.py").write_text(HEAD + step)
    report = translate_project(source, tmp_path / "out")
    assert "T2M402" in {item.code for item in report.diagnostics}
    assert "recording" not in (tmp_path / "out" / "train.py").read_text()


@pytest.mark.parametrize("is_imported", [True, False])
def test_what_an_imported_file_tries_out_does_not_record_the_program(tmp_path: Path, is_imported: bool) -> None:
    source = tmp_path / "src"
    source.mkdir()
    trial = "if __name__ == '__main__':\n    stored[0].backward()\n    print(net.weight.grad)\n"
    (source / "model.py").write_text(HEAD + trial)
    (source / "train.py").write_text("from model import net\n" if is_imported else "net = None\n")
    translate_project(source, tmp_path / "out")
    assert ("recording" in (tmp_path / "out" / "model.py").read_text()) is not is_imported


@pytest.mark.parametrize("layer", ["nn.LayerNorm(3)", "nn.LSTM(3, 2)", "nn.TransformerEncoderLayer(4, 2)"])
def test_layers_that_are_recorded_too(layer: str) -> None:
    assert "recording.backward(loss)" in text(f"layer = {layer}\n" + FINISH)


def test_gradients_that_are_differentiated_again_are_no_constants_of_a_record() -> None:
    energy = (
        "def energy(w, x):\n    x = x.detach().requires_grad_(True)\n    y = (w * x ** 3).sum()\n"
        "    g = torch.autograd.grad(y, x, create_graph=True)[0]\n    return (g ** 2).sum()\n"
    )
    assert "recording" not in text(energy + FINISH)
    assert "T2M402" in text(energy + FINISH)
    penalty = (
        "def penalty(net: nn.Module, x):\n    x.requires_grad_(True)\n    out = net(x)\n"
        "    g = torch.autograd.grad(out.sum(), x, create_graph=True)[0]\n    return (g ** 2).sum()\n"
    )
    assert "recording.backward(loss)" in text(penalty + FINISH)  # derivatives.by_input is recorded


def test_graph_mode_and_old_releases_leave_it() -> None:
    assert "T2M402" in text(FINISH, mode="graph")
    assert "recording" not in text(FINISH, mode="graph")
    assert "T2M402" in text(FINISH, target=Target(mindspore=(2, 0)))


def test_recorded_gradients_are_averaged_in_a_data_parallel_program() -> None:
    source = "from torch.nn.parallel import DistributedDataParallel\nnet = DistributedDataParallel(net)\n" + FINISH
    assert "recording.backward(loss, average=distributed.average_gradients)\n" in text(source)
    assert "recording.backward(loss)\n" in text(FINISH)


def test_the_calls_of_a_gradient_scaler_stay() -> None:
    source = (
        "def finish(opt, scaler: torch.cuda.amp.GradScaler, amp):\n    opt.zero_grad()\n"
        "    scaler.scale(stored[0]).backward()\n    if amp:\n        scaler.unscale_(opt)\n"
        "    scaler.step(opt)\n    scaler.update()\n"
    )
    emitted = text(source)
    compile(emitted, "train.py", "exec")
    assert emitted[emitted.index("    recording.reset(opt)") :] == (
        "    recording.reset(opt)\n    recording.backward(stored[0], scaler=scaler)\n    if amp:\n"
        "        scaler.unscale_(opt)\n"
        "    scaler.step(opt)\n    scaler.update()\n"
    )


@pytest.mark.parametrize("asks", ["optimizer is None", "not optimizer"])
def test_a_step_that_is_taken_by_hand_where_there_is_no_optimizer(asks: str) -> None:
    source = (
        "def train(batches, loss_of, weights=None, optimizer=None):\n    for x, y in batches:\n"
        "        loss = loss_of(net(x), y)\n        if optimizer is not None:\n            optimizer.zero_grad()\n"
        f"        loss.backward()\n        if {asks}:\n            descend(weights)\n"
        "        else:\n            optimizer.step()\n"
    )
    emitted = text(source)
    assert "recording.backward(loss)\n" in emitted
    assert "optimizer.parameters" not in emitted  # None has none


def test_a_missing_optimizer_that_is_stepped_anyway_is_there() -> None:
    source = (
        "def train(batches, loss_of, optimizer=None):\n    for x, y in batches:\n        optimizer.zero_grad()\n"
        "        loss_of(net(x), y).backward()\n        optimizer.step()\n"
    )
    assert "ms.value_and_grad(forward_fn, None, optimizer.parameters)" in text(source)


NAMED = """
class Learner(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
        self.optimizer = None
"""


def test_an_optimizer_that_its_class_only_names_is_set_by_others() -> None:
    source = NAMED + (
        "    def learn(self, x):\n        self.optimizer.zero_grad()\n        loss = self.fc(x).sum()\n"
        "        loss.backward()\n        self.optimizer.step()\n"
    )
    assert "ms.value_and_grad(forward_fn, None, self.optimizer.parameters)" in text(source)


def test_an_optimizer_that_a_base_class_only_names_takes_recorded_steps() -> None:
    source = NAMED + (
        "class Net(Learner):\n    def learn(self, x, again):\n        self.optimizer.zero_grad()\n"
        "        loss = self.fc(x).sum()\n        if again is not None:\n            self.fc(again).sum().backward()\n"
        "        loss.backward()\n        self.optimizer.step()\n        return loss\n"
    )
    emitted = text(source)
    assert "recording.reset(self.optimizer)" in emitted
    assert "recording.update(self.optimizer)" in emitted


@pytest.mark.parametrize(
    "source",
    [
        FINISH,
        "def step(x, y):\n    optimizer.zero_grad()\n    loss = (net(x) - y).pow(2).mean()\n    loss.backward()\n"
        "    optimizer.step()\n",
        "x = torch.ones(2, requires_grad=True)\nz = (x * x).sum()\nz.backward()\nprint(x.grad)\n",
        "x = torch.ones(2, requires_grad=True)\ny = x * torch.rand(2)\nprint(y)\nz = y.sum()\nz.backward()\n"
        "y.mean().backward()\nprint(x.grad)\n",
    ],
)
def test_retain_variables_is_the_old_name_of_retain_graph(source: str) -> None:
    present, former = (
        source.replace(".backward()", f".backward({word}=True)", 1) for word in ("retain_graph", "retain_variables")
    )
    assert text(former) == text(present)
    assert "variables" not in text(former)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("", ""),
        ("True", ""),
        ("set_to_none=True", ""),
        ("set_to_none=False", ", set_to_none=False"),
        ("False", ", set_to_none=False"),
    ],
)
def test_gradients_that_become_zeros_do_so(given: str, wanted: str) -> None:
    source = FINISH.replace("zero_grad()", f"zero_grad({given})")
    assert f"recording.reset(optimizer{wanted})\n" in text(source)


def test_a_recorded_step_is_told_as_such_with_the_reason() -> None:
    result = translate_source(HEAD + FINISH)
    told = [(d.code, d.severity, d.message) for d in result.diagnostics if d.code.startswith("T2M4")]
    reason = "the loss is computed elsewhere: no module is called before it in this function"
    assert told == [("T2M405", Severity.WARNING, f"this step is recorded as it runs (no graph mode, slower): {reason}")]
    assert "T2M405: this step is recorded as it runs" in result.text
