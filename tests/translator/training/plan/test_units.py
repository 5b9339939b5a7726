"""What the plan of a training unit says."""

from __future__ import annotations

import ast
import textwrap

import pytest

from tests.translator.simulated_training import NameOracle
from torch2ms import translate_source
from torch2ms.translator.training.model import TrainingUnit, UnitLeft
from torch2ms.translator.training.plan.steps import find_units


def units_of(source: str) -> list[TrainingUnit | UnitLeft]:
    return find_units(ast.parse(textwrap.dedent(source)), NameOracle())


def unit_of(source: str) -> TrainingUnit:
    [unit] = units_of(source)
    assert isinstance(unit, TrainingUnit), unit
    return unit


def loop(body: str, before: str = "optimizer = SGD(model.parameters())") -> str:
    return before + "\nfor data, target in loader:\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")


def test_canonical_plan() -> None:
    unit = unit_of("""
        def train(model, loader, optimizer, epoch):
            model.train()
            for i, (data, target) in enumerate(loader):
                data, target = data.cuda(), target.cuda()
                optimizer.zero_grad()
                output = model(data)
                loss = criterion(output, target)
                loss.backward()
                optimizer.step()
                correct = output.argmax()
    """)
    assert unit.parameters == ("data", "target")
    assert unit.captures == ("model",)
    assert unit.outputs == ("loss", "output")
    assert [ast.unparse(s) for s in unit.body] == ["output = model(data)", "loss = criterion(output, target)"]
    assert unit.removed == unit.body
    assert unit.moved == ()
    assert [ast.unparse(s) for s in unit.dropped] == ["optimizer.zero_grad()", "loss.backward()"]
    assert isinstance(unit.hoist.statement, ast.For)
    assert (unit.forward_name, unit.grad_name, unit.grads_name) == ("forward_fn", "grad_fn", "grads")
    assert [ast.unparse(node) for node in unit.optimizers] == ["optimizer"]
    assert unit.gradient == "assign"
    assert (unit.guard, unit.scaler, unit.accumulator, unit.notes) == (None, None, None, ())


def test_hoisted_out_of_all_loops() -> None:
    unit = unit_of("optimizer = SGD(model.parameters())\nfor epoch in range(3):\n"
                   + textwrap.indent(loop("""
                       optimizer.zero_grad()
                       loss = criterion(model(data), target)
                       loss.backward()
                       optimizer.step()
                   """, "pass"), "    "))  # fmt: skip
    assert unit.hoist.index == 1
    assert ast.unparse(unit.hoist.statement).startswith("for epoch")


def test_not_hoisted_past_the_definition_of_the_optimizer() -> None:
    unit = unit_of("for fold in range(3):\n"
                   + textwrap.indent(loop("""
                       optimizer.zero_grad()
                       loss = criterion(model(data), target)
                       loss.backward()
                       optimizer.step()
                   """), "    "))  # fmt: skip
    assert ast.unparse(unit.hoist.statement.iter) == "loader"


def test_in_place_without_a_loop() -> None:
    unit = unit_of("""
        class Trainer:
            def step(self, source, targets):
                self.optimizer.zero_grad()
                output = self.model(source)
                loss = criterion(output, targets)
                loss.backward()
                self.optimizer.step()
    """)
    assert unit.hoist.statement is unit.body[0]
    assert unit.parameters == ("source", "targets")
    assert unit.captures == ("self",)


def test_metrics_move_behind_in_order() -> None:
    unit = unit_of(
        loop("""
        optimizer.zero_grad()
        output = model(data)
        print(data)
        meter.update(output.item())
        loss = criterion(output, target)
        loss.backward()
        optimizer.step()
    """)
    )
    assert [ast.unparse(s) for s in unit.moved] == ["print(data)", "meter.update(output.item())"]
    assert unit.aux == ("output",)


def test_what_cannot_move_joins_the_body() -> None:
    unit = unit_of(
        loop("""
        optimizer.zero_grad()
        loss = criterion(model(data), target)
        print(loss.item())
        loss = loss / 2
        loss.backward()
        optimizer.step()
    """)
    )
    assert len(unit.body) == 3
    assert unit.moved == ()


def test_clip_with_its_norm() -> None:
    unit = unit_of(
        loop("""
        optimizer.zero_grad()
        loss = criterion(model(data), target)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, norm_type=2)
        optimizer.step()
    """)
    )
    [clip] = unit.clips
    assert (clip.kind, ast.unparse(clip.limit), clip.whole) == ("norm", "1.0", True)
    assert clip.result is not None
    assert ast.unparse(clip.result) == "norm"
    assert [keyword.arg for keyword in clip.extra] == ["norm_type"]


def test_clip_by_value() -> None:
    unit = unit_of(
        loop("""
        optimizer.zero_grad()
        loss = criterion(model(data), target)
        loss.backward()
        nn.utils.clip_grad_value_(model.parameters(), clip_value=args.clip)
        optimizer.step()
    """)
    )
    assert [(clip.kind, ast.unparse(clip.limit)) for clip in unit.clips] == [("value", "args.clip")]


def test_accumulation_plan() -> None:
    unit = unit_of(
        loop("""
        loss = criterion(model(data), target) / 4
        loss.backward()
        if data % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()
    """)
    )
    assert (unit.shape, unit.gradient) == ("D", "accumulate")
    assert [ast.unparse(s) for s in unit.resets] == ["optimizer.zero_grad()"]
    assert unit.accumulator is not None
    assert isinstance(unit.accumulator.statement, ast.For)
    assert [ast.unparse(s) for s in unit.dropped] == ["loss.backward()"]


def test_accumulation_left_over_in_a_function_is_noted() -> None:
    unit = unit_of("def train(model, optimizer, loader):\n" + textwrap.indent(loop("""
        loss = criterion(model(data), target) / 4
        loss.backward()
        if data % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()
    """, "pass"), "    "))  # fmt: skip
    assert any("left over" in note for note in unit.notes)


def test_guarded_forward_pass() -> None:
    unit = unit_of(
        loop("""
        out = model(data)
        loss = criterion(out, target)
        if train:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """)
    )
    assert unit.guard is not None
    assert ast.unparse(unit.guard) == "train"
    assert unit.block[unit.start] is unit.body[0]


def test_guard_on_the_loss_is_no_guard_of_the_forward_pass() -> None:
    unit = unit_of(
        loop("""
        loss = criterion(model(data), target)
        if loss > 0:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """)
    )
    assert unit.guard is None


def test_missing_optimizer_is_asked_for_late() -> None:
    unit = unit_of("def run(loader, optimizer=None):\n" + textwrap.indent(loop("""
        loss = criterion(model(data), target)
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """, "pass"), "    "))  # fmt: skip
    assert unit.inline_grad


def test_scaler_plan() -> None:
    unit = unit_of(
        loop("""
        optimizer.zero_grad(set_to_none=True)
        with autocast():
            output = model(data)
            loss = criterion(output, target)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
    """)
    )
    assert unit.shape == "C1"
    assert isinstance(unit.body[0], ast.With)
    assert unit.scaler is not None
    assert unit.steps[0].scaler is not None
    assert ast.unparse(unit.loss) == "loss"
    assert [ast.unparse(s).partition("(")[0] for s in unit.dropped] == ["optimizer.zero_grad", "scaler.scale"]
    assert [ast.unparse(call.call) for call in unit.scaling] == ["scaler.unscale_(optimizer)", "scaler.update()"]
    assert [call.optimizer is not None for call in unit.scaling] == [True, False]


def test_computed_twice_is_noted() -> None:
    units = units_of(
        loop(
            """
        optimizerD.zero_grad()
        fake = netG(data)
        loss_d = criterion(netD(target), 1) + criterion(netD(fake.detach()), 0)
        loss_d.backward()
        optimizerD.step()
        optimizerG.zero_grad()
        loss_g = criterion(netD(fake), 1)
        loss_g.backward()
        optimizerG.step()
    """,
            "optimizerD = SGD(netD.parameters())\noptimizerG = SGD(netG.parameters())",
        )
    )
    first, second = units
    assert isinstance(first, TrainingUnit)
    assert isinstance(second, TrainingUnit)
    assert [ast.unparse(s) for s in second.body] == ["fake = netG(data)", "loss_g = criterion(netD(fake), 1)"]
    assert [ast.unparse(s) for s in second.removed] == ["loss_g = criterion(netD(fake), 1)"]
    assert any("second time" in note for note in second.notes)
    assert (first.forward_name, second.forward_name) == ("forward_fn_d", "forward_fn_g")
    assert first.grads_name != second.grads_name


def test_untyped_names_are_recognised_by_their_use() -> None:
    unit = unit_of("""
        def train(m, adam, batches):
            for x, y in batches:
                adam.zero_grad()
                value = compare(m(x), y)
                value.backward()
                adam.step()
    """)
    assert unit.parameters == ("x", "y")
    assert unit.loss_name == "value"


def test_function_body_may_be_given() -> None:
    tree = ast.parse(
        loop("""
        optimizer.zero_grad()
        loss = criterion(model(data), target)
        loss.backward()
        optimizer.step()
    """)
    )
    [unit] = find_units(tree.body, NameOracle())
    assert isinstance(unit, TrainingUnit)


def test_not_hoisted_past_a_call_that_makes_the_optimizer_anew() -> None:
    unit = unit_of("""
        class Trainer:
            def restart(self):
                self.optimizer = SGD(self.model.parameters())
            def train(self):
                for epoch in range(3):
                    self.restart()
                    for data, target in loader:
                        self.optimizer.zero_grad()
                        loss = criterion(self.model(data), target)
                        loss.backward()
                        self.optimizer.step()
    """)
    assert ast.unparse(unit.hoist.statement.iter) == "loader"


def test_not_hoisted_when_parameter_groups_are_added() -> None:
    unit = unit_of(
        loop("""
        if data == 3:
            optimizer.add_param_group({'params': net.parameters()})
        optimizer.zero_grad()
        loss = criterion(model(data), target)
        loss.backward()
        optimizer.step()
    """)
    )
    assert unit.hoist.statement is unit.body[0]


def test_what_the_body_changes_in_place_is_captured() -> None:
    unit = unit_of(
        loop("""
        optimizer.zero_grad()
        out = model(data)
        data[0] = out
        history.append(out)
        loss = criterion(model(data), target) + sum(history)
        loss.backward()
        optimizer.step()
    """)
    )
    assert unit.parameters == ("target",)
    assert {"data"} <= set(unit.captures)


CLIPPED = """
def train(model, net, optimizer, loader):
    for data, target in loader:
        optimizer.zero_grad()
        loss = criterion({forward}, target)
        loss.backward()
        clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
"""


def test_clipping_less_than_is_trained_perhaps_is_noted() -> None:
    assert unit_of(CLIPPED.format(forward="model(data)")).notes == ()
    assert any("clipped" in note for note in unit_of(CLIPPED.format(forward="model(net(data))")).notes)


EVALUATED = """
offset = 0

def batch():
    global offset
    offset += 1
    return data[offset], labels[offset]

{decorator}
def evaluate():
    return model(batch()[0]).mean()

optimizer = SGD(model.parameters())
for it in range(10):
    if it % 5 == 0:
        print(evaluate())
    x, y = batch()
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_an_evaluation_without_gradients_stays_outside() -> None:
    assert unit_of(EVALUATED.format(decorator="@torch.no_grad()")).parameters == ("x", "y")
    assert unit_of(EVALUATED.format(decorator="@torch.inference_mode")).parameters == ("x", "y")


DECAYED = """
decay = [p for n, p in model.named_parameters() if p.dim() >= 2]
rest = [p for n, p in model.named_parameters() if p.dim() < 2]
optimizer = AdamW([{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}])
for data, target in loader:
    optimizer.zero_grad()
    loss = criterion(model(data), target)
    loss.backward()
    clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
"""


def test_groups_in_lists_of_their_own_are_the_network_s() -> None:
    [clip] = unit_of(DECAYED).clips
    assert clip.whole


def test_a_batch_that_the_forward_pass_cuts_is_new_in_every_iteration() -> None:
    source = (
        "import torch\nfrom torch import nn, optim\n\n\ndef train(model: nn.Module, loader, half):\n"
        "    opt = optim.Adam(model.parameters())\n    criterion = nn.MSELoss()\n"
        "    scaler = torch.cuda.amp.GradScaler()\n"
        "    for i, (x, y) in enumerate(loader):\n        opt.zero_grad()\n        y = y.float()\n        if half:\n"
        "            with torch.cuda.amp.autocast():\n                out = model(x)\n                y = y[:, -3:]\n"
        "                loss = criterion(out, y)\n        else:\n"
        "            out = model(x)\n            y = y[:, -3:]\n"
        "            loss = criterion(out, y)\n        if half:\n            scaler.scale(loss).backward()\n"
        "            scaler.step(opt)\n            scaler.update()\n        else:\n            loss.backward()\n"
        "            opt.step()\n"
    )
    emitted = translate_source(source).text
    assert "T2M402" not in emitted
    assert emitted.count("value_and_grad") == 1


@pytest.mark.parametrize(
    "lines",
    [
        ["dist = torch.distributions.Categorical(logits=net(x))"],
        ["logits = net(x)", "dist = torch.distributions.Categorical(logits=logits)"],
        ["dist = Head(inputs=net(x))"],
    ],
)
def test_what_is_built_from_outputs_belongs_to_the_forward_pass(lines: list[str]) -> None:
    body = [*lines, "loss = -dist.log_prob(y).mean()", "opt.zero_grad()", "loss.backward()", "opt.step()"]
    source = (
        "import torch\nfrom heads import Head\nnet = torch.nn.Linear(2, 2)\nx, y = torch.eye(2), torch.tensor([0, 1])"
    )
    source += "\n"
    source += "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor _ in range(2):\n    " + "\n    ".join(body) + "\n"
    text = translate_source(source).text
    assert "def forward_fn():\n" in text
    assert text.index("def forward_fn():") < text.index("net(x)") < text.index("return loss")


AGENT = """
import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Linear(3, 2)
        self.critic = nn.Linear(3, 1)

    def evaluate(self, state):
        return self.actor(state), self.critic(state)


class Agent:
    def __init__(self):
        self.policy = Policy()
        self.optimizer = torch.optim.Adam([
            {"params": self.policy.actor.parameters(), "lr": 0.1},
            {"params": self.policy.critic.parameters(), "lr": 0.2},
        ])

    def update(self, state):
        action, value = self.policy.evaluate(state)
        loss = action.mean() + value.mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
"""


def test_a_method_of_a_network_reaches_the_weights_of_its_parts() -> None:
    found = translate_source(AGENT).text
    assert "action, value = self.policy.evaluate(state)\n            loss = " in found
    assert "ms.value_and_grad(forward_fn, None, self.optimizer.parameters)" in found


def test_a_step_in_a_context_that_goes_keeps_its_distance() -> None:
    source = (
        "def run(model, loader, optimizer, criterion):\n"
        "    losses = []\n"
        "    with torch.set_grad_enabled(True):\n"
        "        for x, y in loader:\n"
        "            optimizer.zero_grad()\n"
        "            loss = criterion(model(x), y)\n"
        "            loss.backward()\n"
        "            optimizer.step()\n"
        "    return losses\n"
    )
    assert "    losses = []\n\n    def forward_fn(x, y):\n" in translate_source(f"import torch\n\n\n{source}").text
