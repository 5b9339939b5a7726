"""Which backward calls are left and why, and what is no training step at all."""

from __future__ import annotations

import ast
import textwrap

import pytest

from tests.translator.simulated_training import NameOracle
from torch2ms import translate_source
from torch2ms.config import Options, Target
from torch2ms.translator.training.model import TrainingUnit, UnitLeft
from torch2ms.translator.training.plan.steps import find_units


def units_of(source: str) -> list[TrainingUnit | UnitLeft]:
    return find_units(ast.parse(textwrap.dedent(source)), NameOracle())


def loop(body: str, before: str = "optimizer = SGD(model.parameters())") -> str:
    return before + "\nfor data, target in loader:\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")


LEFT = {
    "create_graph": ("create_graph", "T2M402", """
        optimizer.zero_grad()
        loss = criterion(model(data), target)
        loss.backward(create_graph=True)
        optimizer.step()
     """),
    "gradient read": (".grad", "T2M404", """
        optimizer.zero_grad()
        loss = criterion(model(data), target)
        print(data.grad)
        loss.backward()
        optimizer.step()
     """),
    "manual update": (".grad", "T2M404", """
        model.zero_grad()
        loss = criterion(model(data), target)
        loss.backward()
        for p in model.parameters():
            p.grad.clamp_(-1, 1)
            p.data.add_(p.grad, alpha=-0.1)
     """),
    "gradient hook": ("register_hook", "T2M404", """
        optimizer.zero_grad()
        out = model(data)
        out.register_hook(print)
        loss = criterion(out, target)
        loss.backward()
        optimizer.step()
     """),
    "no zero_grad": ("no zero_grad", "T2M402", """
        loss = criterion(model(data), target)
        loss.backward()
        optimizer.step()
        if target:
            loss = model(data)
            loss.backward()
     """),
    "no step": ("no optimizer step", "T2M402", """
        optimizer.zero_grad()
        loss = criterion(model(data), target)
        loss.backward()
     """),
    "loss from elsewhere": ("computed elsewhere", "T2M402", """
        optimizer.zero_grad()
        loss = target * 2
        loss.backward()
        optimizer.step()
     """),
    "prediction from elsewhere": ("no optimizer step in this function uses its gradients", "T2M402", """
        optimizer.zero_grad()
        loss = criterion(data, target)
        loss.backward()
        optimizer.step()
     """),
    "backward through a wrapper": ("wrapper", "T2M402", """
        optimizer.zero_grad()
        loss = criterion(model(data), target)
        fabric.backward(loss)
        optimizer.step()
     """),
    "branches that differentiate different things": ("another branch", "T2M402", """
        loss = criterion(model(data), target)
        optimizer.zero_grad()
        if sparse:
            (loss + model.fc.weight.abs().sum()).backward()
        else:
            loss.backward()
        optimizer.step()
     """),
    "optimizers in a loop": ("loop of their own", "T2M403", """
        for opt in optimizers:
            opt.zero_grad()
        loss = criterion(model(data), target)
        loss.backward()
        for opt in optimizers:
            opt.step()
     """),
    "optimizers in a dictionary": ("no plain name", "T2M403", """
        optimizers['a'].zero_grad()
        loss = criterion(model(data), target)
        loss.backward()
        optimizers['a'].step()
     """),
    "continue before the loss": ("cannot be moved", "T2M402", """
        optimizer.zero_grad()
        out = model(data)
        if target is None:
            continue
        loss = criterion(out, target)
        loss.backward()
        optimizer.step()
     """),
    "forward and loss in different blocks": ("spread", "T2M402", """
        optimizer.zero_grad()
        out = model(data)
        if target is not None:
            loss = criterion(model(out), target)
            loss.backward()
            optimizer.step()
     """),
    "truncated backpropagation over iterations": ("carries gradients over", "T2M402", """
        total_loss = total_loss + criterion(model(data), target)
        if data > 3:
            optimizer.zero_grad()
            total_loss.backward()
            optimizer.step()
            total_loss = 0
     """),
    "super() in the forward pass": ("super", "T2M402", """
        optimizer.zero_grad()
        loss = criterion(super().forward(data), model(target))
        loss.backward()
        optimizer.step()
     """),
    "gradient penalty": ("takes a gradient itself", "T2M402", """
        optimizer.zero_grad()
        out = model(data)
        penalty = torch.autograd.grad(out, data, create_graph=True)[0]
        loss = criterion(out, target) + penalty.norm()
        loss.backward()
        optimizer.step()
     """),
    "backward inside an expression": ("larger expression", "T2M402", """
        optimizer.zero_grad()
        loss = criterion(model(data), target)
        result = loss.backward()
        optimizer.step()
     """),
    "name bound on some paths": ("bound on some paths", "T2M402", """
        optimizer.zero_grad()
        out = model(data)
        if target:
            note = 1
            out = out * 2
        loss = criterion(out, target)
        loss.backward()
        optimizer.step()
        print(note)
     """),
    "clipping another module": ("not those of the optimizer", "T2M403", """
        optimizer.zero_grad()
        loss = criterion(model(net(data)), target)
        loss.backward()
        clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
     """),
    "norm inside an expression": ("larger expression", "T2M403", """
        optimizer.zero_grad()
        loss = criterion(model(data), target)
        loss.backward()
        clipped = target and clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
     """),
}  # fmt: skip


@pytest.mark.parametrize("name", LEFT)
def test_left(name: str) -> None:
    words, code, body = LEFT[name]
    found = units_of(loop(body))
    assert found
    assert all(isinstance(unit, UnitLeft) for unit in found), found
    first = found[0]
    assert isinstance(first, UnitLeft)
    assert words in first.reason
    assert first.code == code


CLOSURE = """
    def closure(ARGUMENTS):
        RESET
        loss = criterion(model(data), target)
        loss.backward()
        return loss
    optimizer.step(closure)
"""
_CALL, _RESET = "optimizer.step(closure)", {"RESET": "optimizer.zero_grad()"}
CLOSURES_LEFT = {
    "no reset": ({"RESET": "pass"}, "no zero_grad"),
    "arguments": ({"ARGUMENTS": "batch", **_RESET}, "takes arguments"),
    "handed on": ({_CALL: f"run(closure); {_CALL}", **_RESET}, "hands"),
    "two optimizers": ({_CALL: f"{_CALL}; opt.step(closure)", **_RESET}, "several optimizers"),
    "no loss": ({"return loss": "pass", **_RESET}, "only return"),
    "early return": ({"RESET": "optimizer.zero_grad()\n        if data is None: return 0"}, "only return"),
    "conditional": ({"loss.backward()": "if data is None: loss.backward()", **_RESET}, "some paths"),
    "own optimizer": ({"RESET": "optimizer = make(); optimizer.zero_grad()"}, "binds optimizer"),
    "unknown function": ({"step(closure)": "step(partial(closure))", **_RESET}, "no function"),
}


@pytest.mark.parametrize("name", CLOSURES_LEFT)
def test_closure_is_left_with_its_backward(name: str) -> None:
    changes, words = CLOSURES_LEFT[name]
    source = CLOSURE
    for old, new in {"ARGUMENTS": "", **changes}.items():
        source = source.replace(old, new)
    found = units_of(source)
    assert all(isinstance(unit, UnitLeft) for unit in found), found
    assert {unit.code for unit in found if isinstance(unit, UnitLeft)} == {"T2M402", "T2M403"}
    assert any(words in unit.reason for unit in found if isinstance(unit, UnitLeft)), found


@pytest.mark.parametrize("optimizer", ["optimizer", "self.optimizer"])
def test_closure_gives_its_gradients_back(optimizer: str) -> None:
    source = CLOSURE.replace("ARGUMENTS", "").replace("RESET", "optimizer.zero_grad()")
    source = "def train(self, data, target):\n" + textwrap.indent(textwrap.dedent(source), "    ")
    [unit] = units_of(source.replace("optimizer", optimizer))
    assert isinstance(unit, TrainingUnit)
    assert unit.closure is not None
    assert [step.returned for step in unit.steps] == [True]
    assert len(unit.closure.calls) == 1


def test_guards_that_every_step_passes_go() -> None:
    source = """
        def closure():
            if torch.is_grad_enabled():
                optimizer.zero_grad()
            loss = criterion(model(data), target)
            if loss.requires_grad:
                loss.backward()
            return loss
        optimizer.step(closure)
    """
    [unit] = units_of(source)
    assert isinstance(unit, TrainingUnit)
    assert (unit.guard, unit.gradient) == (None, "assign")
    for guard in ("other.requires_grad", "not loss.requires_grad", "training"):
        assert not any(isinstance(unit, TrainingUnit) for unit in units_of(source.replace("loss.requires_grad", guard)))


def test_accumulation_beside_a_closure_is_left() -> None:
    found = units_of("""
        optimizer = SGD(model.parameters())
        def closure():
            optimizer.zero_grad()
            loss = criterion(model(data), target)
            loss.backward()
            return loss
        opt.zero_grad()
        for i, (x, y) in enumerate(loader):
            loss = criterion(model(x), y)
            loss.backward()
            if i % 2:
                opt.step()
                opt.zero_grad()
                optimizer.step(closure)
    """)
    assert [type(unit) for unit in found] == [TrainingUnit, UnitLeft]


def test_stored_log_probabilities_are_left() -> None:
    [unit] = units_of("""
        def select(state):
            probs = model(state)
            model.saved.append(probs.log())
        def finish():
            total = []
            for value in model.saved:
                total.append(-value * net(value))
            optimizer.zero_grad()
            loss = sum(total)
            loss.backward()
            optimizer.step()
    """)
    assert isinstance(unit, UnitLeft)
    assert "model.saved" in unit.reason


def test_generator_reached_through_an_argument_is_left() -> None:
    [unit] = units_of("""
        optimizerG = SGD(netG.parameters())
        def update(fake):
            optimizerG.zero_grad()
            loss = criterion(netD(fake), 1)
            loss.backward()
            optimizerG.step()
    """)
    assert isinstance(unit, UnitLeft)


def test_function_from_elsewhere_on_given_predictions_is_left() -> None:
    [unit] = units_of("""
        from losses import focal
        def step(predictions, target, optimizer):
            optimizer.zero_grad()
            value = focal(predictions, target)
            value.backward()
            optimizer.step()
    """)
    assert isinstance(unit, UnitLeft)
    assert "may come from elsewhere" in unit.reason


def test_argument_changed_in_place_and_bound_anew_is_left() -> None:
    [unit] = units_of(
        loop("""
        optimizer.zero_grad()
        out = model(data)
        data[0] = out
        data = data * 2
        loss = criterion(model(data), target)
        loss.backward()
        optimizer.step()
    """)
    )
    assert isinstance(unit, UnitLeft)
    assert "in place" in unit.reason


def test_step_in_another_function_is_left() -> None:
    found = units_of("""
        def compute(data, target):
            loss = criterion(model(data), target)
            loss.backward()
        def update():
            optimizer.step()
            optimizer.zero_grad()
    """)
    assert [unit.code for unit in found if isinstance(unit, UnitLeft)] == ["T2M402", "T2M403"]


def test_a_loop_is_never_half_converted() -> None:
    found = units_of(
        loop("""
        optimizer.zero_grad()
        loss_a = criterion(model(data), target)
        loss_a.backward()
        optimizer.step()
        opt.zero_grad()
        loss_b = criterion(net(data), target)
        loss_b.backward(create_graph=True)
        opt.step()
    """)
    )
    assert len(found) == 2
    assert all(isinstance(unit, UnitLeft) for unit in found)


def test_a_backward_call_without_step_keeps_its_loop_as_it_is() -> None:
    found = units_of(
        loop("""
        optimizer.zero_grad()
        loss = criterion(model(data), target)
        loss.backward()
        optimizer.step()
        other = criterion(net(data), target)
        other.backward()
    """)
    )
    assert [type(unit) for unit in found] == [UnitLeft, UnitLeft]


def test_accumulation_over_calls_of_a_function_is_left() -> None:
    [unit] = units_of("""
        def step(data, target, i):
            loss = criterion(model(data), target)
            loss.backward()
            if i % 4 == 3:
                optimizer.step()
                optimizer.zero_grad()
    """)
    assert isinstance(unit, UnitLeft)
    assert "over calls" in unit.reason


NOOPS = {
    "environment step": "state, reward = env.step(action)",
    "environment step without result": "env.step(action)",
    "scheduler step": "scheduler.step()",
    "numpy only": "for x in np.arange(3):\n    total += x.mean()",
    "inference": "model.eval()\nwith torch.no_grad():\n    out = model(data)\n    loss = criterion(out, target)",
    "a method called backward": "class Layer:\n    def backward(self, x):\n        return x\nenv.backward(x)",
    "definition only": "def backward(loss):\n    return loss",
    "iterator step": "for it in walker:\n    it.step(3)",
    "parameter groups": "for group in optimizer.param_groups:\n    group['lr'] = 0.1",
    "state of an optimizer": "state = optimizer.state_dict()\noptimizer.load_state_dict(state)",
    "zero_grad alone": "model.zero_grad()",
    "strings": "text = 'loss.backward()'\nprint(text)",
    "attribute named backward": "backward = engine.backward",
    "undo": "history.step(-1)",
    "progress bar": "with progress as bar:\n    bar.update(1)",
}


@pytest.mark.parametrize("name", NOOPS)
def test_noop(name: str) -> None:
    assert units_of(NOOPS[name]) == []


def test_every_backward_call_is_accounted_for() -> None:
    for _, _, body in LEFT.values():
        source = loop(body)
        reported = {unit.node.lineno for unit in units_of(source) if isinstance(unit, UnitLeft)}
        calls = [number for number, line in enumerate(source.splitlines(), 1) if ".backward(" in line]
        assert set(calls) <= reported


@pytest.mark.parametrize("network", ["net: nn.Module", "net"])
def test_what_resets_the_gradients_of_a_step_that_stays_is_marked_too(network: str) -> None:
    source = (
        f"import torch\nfrom torch import nn\n\n\ndef train({network}, wrapped, x, y):\n    net.zero_grad()\n"
        "    loss = nn.functional.mse_loss(net(x), y)\n    loss.backward()\n    wrapped.step_and_update()\n"
    )
    lines = translate_source(source, options=Options(target=Target(mindspore=(2, 8)))).text.splitlines()
    assert "T2M402" in lines[lines.index("    net.zero_grad()") - 1]
    assert "T2M402" in lines[lines.index("    loss.backward()") - 1]
