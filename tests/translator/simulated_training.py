"""Plans of training units, applied and run: the rewritten program must do exactly what the original does.

A scalar autograd engine stands in for torch and for MindSpore. In the original it records everywhere, as torch does;
in the rewritten program only inside ``value_and_grad``, as MindSpore does: a gradient that a plan loses, an update that
comes too early or a line printed out of order shows up as a different trace or different weights.
"""

from __future__ import annotations

import ast
import contextlib
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from torch2ms.translator.effects.reads_and_writes import dotted_path
from torch2ms.translator.training.model import TrainingUnit, UnitLeft
from torch2ms.translator.training.plan.steps import find_units
from torch2ms.translator.values.kinds import UNKNOWN, Kind

KINDS = {
    "Module": ["model", "net", "criterion", "netD", "netG", "encoder", "decoder", "rnn", "netD", "netG", "mse"],
    "Optimizer": ["optimizer", "optimizerD", "optimizerG", "enc_opt", "dec_opt", "opt"],
    "Scheduler": ("scheduler",),
    "GradScaler": ("scaler",),
    "instance": ["env", "meter"],
}


class NameOracle:
    """Types expressions by the last part of their path."""

    def kind(self, node: ast.expr) -> Kind:
        if isinstance(node, ast.Call):
            return Kind("Tensor") if self.kind(node.func).name == "Module" else UNKNOWN
        last = (dotted_path(node) or "").rpartition(".")[2]
        for name, words in KINDS.items():
            if last in words:
                return Kind(name)  # type: ignore[arg-type]
        return Kind("Tensor") if "loss" in last or last.startswith("err") else UNKNOWN


class Tape:
    """Whether operations are recorded, and what the program printed."""

    recording = True
    trace: list[str] = []  # noqa: RUF012 (reset by each run)


class Tensor:
    """A scalar with the operations it came from."""

    def __init__(self, value: float, parents: Sequence[tuple[Tensor, float]] = ()) -> None:
        self.value = float(value)
        self.parents = list(parents) if Tape.recording else []
        self.freed = False

    def _with(self, other: Any, value: float, mine: float, theirs: float) -> Tensor:
        parents = [(self, mine)] + ([(other, theirs)] if isinstance(other, Tensor) else [])
        return Tensor(value, parents)

    def __add__(self, other: Any) -> Tensor:
        return self._with(other, self.value + number(other), 1.0, 1.0)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Tensor:
        return self._with(other, self.value - number(other), 1.0, -1.0)

    def __mul__(self, other: Any) -> Tensor:
        return self._with(other, self.value * number(other), number(other), self.value)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Tensor:
        return self * (1.0 / number(other))

    def detach(self) -> Tensor:
        return Tensor(self.value)

    def sum(self) -> Tensor:
        return self * 1.0

    mean = sum

    def item(self) -> float:
        return self.value

    def fill_(self, value: float) -> Tensor:
        self.value = value
        return self

    def gradients(self) -> dict[int, tuple[Tensor, float]]:
        """Gradient of this scalar for every leaf, by id; each recorded node may be used once."""
        found: dict[int, tuple[Tensor, float]] = {}
        pending: list[tuple[Tensor, float]] = [(self, 1.0)]
        used: list[Tensor] = []
        while pending:
            node, seed = pending.pop()
            if not node.parents:
                found[id(node)] = (node, found.get(id(node), (node, 0.0))[1] + seed)
                continue
            assert not node.freed, "backward through a graph a second time"
            used.append(node)
            pending.extend((parent, seed * factor) for parent, factor in node.parents)
        for node in used:
            node.freed = True
        return found

    def backward(self) -> None:
        for leaf, gradient in self.gradients().values():
            if isinstance(leaf, Weight):
                leaf.grad = (leaf.grad or 0.0) + gradient


class Weight(Tensor):
    grad: float | None = None


def number(value: Any) -> float:
    return value.value if isinstance(value, Tensor) else float(value)


class Net:
    """y = w * x + b; counts its calls, as BatchNorm would."""

    def __init__(self, weight: float) -> None:
        self.w, self.b = Weight(weight), Weight(0.1)
        self.training = True
        self.calls = 0

    def __call__(self, *inputs: Any) -> Any:
        self.calls += 1
        out = self.w * inputs[0] + self.b
        if len(inputs) == 1:
            return out
        state = inputs[1] * 0.5 + out
        return out + state, state

    def parameters(self) -> list[Weight]:
        return [self.w, self.b]

    def zero_grad(self) -> None:
        for weight in self.parameters():
            weight.grad = None

    def train(self) -> None:
        self.training = True


class SGD:
    """torch's optimizer and MindSpore's in one."""

    def __init__(self, parameters: Sequence[Weight], lr: float = 0.1) -> None:
        self.parameters = list(parameters)
        self.param_groups = [{"lr": lr}]

    def zero_grad(self, set_to_none: bool = True) -> None:
        for weight in self.parameters:
            weight.grad = None

    def step(self) -> None:
        self([weight.grad for weight in self.parameters])

    def __call__(self, gradients: Sequence[float | None]) -> None:
        for weight, gradient in zip(self.parameters, gradients, strict=True):
            if gradient is not None:
                weight.value -= self.param_groups[0]["lr"] * gradient


class Scaler:
    def scale(self, loss: Tensor) -> Tensor:
        return loss

    def unscale_(self, optimizer: SGD) -> None:
        pass

    def step(self, optimizer: SGD) -> None:
        optimizer.step()

    def update(self) -> None:
        pass


class Meter:
    def __init__(self) -> None:
        self.total = 0.0

    def update(self, value: float, n: int = 1) -> None:
        self.total += value * n
        Tape.trace.append(f"meter {self.total:.9f}")


def clip_grad_norm_(weights: Sequence[Weight], max_norm: float) -> float:
    clipped, norm = clip_norm([weight.grad or 0.0 for weight in weights], max_norm)
    for weight, gradient in zip(weights, clipped, strict=True):
        weight.grad = gradient
    return norm


def clip_norm(gradients: Sequence[float], max_norm: float) -> tuple[list[float], float]:
    norm = sum(gradient * gradient for gradient in gradients) ** 0.5
    return [gradient * min(1.0, max_norm / (norm + 1e-6)) for gradient in gradients], norm


def frozen(value: Any) -> Any:
    """A copy without its history, as MindSpore returns values from value_and_grad."""
    if isinstance(value, Tensor):
        return Tensor(value.value) if not isinstance(value, Weight) else value
    if isinstance(value, tuple | list):
        return type(value)(frozen(item) for item in value)
    return {key: frozen(item) for key, item in value.items()} if isinstance(value, dict) else value


def snapshot(value: Any) -> Any:
    """What MindSpore does not allow a differentiated function to change in its arguments."""
    if isinstance(value, Tensor):
        return value.value
    if isinstance(value, dict):
        return sorted(value)
    return len(value) if isinstance(value, list) else value


def value_and_grad(function: Callable[..., Any], position: None, weights: Sequence[Weight], has_aux: bool) -> Any:
    def run(*arguments: Any) -> tuple[Any, list[float]]:
        Tape.recording = True
        given = [snapshot(argument) for argument in arguments]
        try:
            result = function(*arguments)
            loss = result[0] if has_aux else result
            gradients = loss.gradients()
        finally:
            Tape.recording = False
        assert given == [snapshot(argument) for argument in arguments], "an argument was changed in place"
        return frozen(result), [gradients.get(id(weight), (weight, 0.0))[1] for weight in weights]

    return run


def added(old: Sequence[float] | None, new: Sequence[float]) -> list[float]:
    return list(new) if old is None else [a + b for a, b in zip(old, new, strict=True)]


def lines(text: str) -> list[ast.stmt]:
    return ast.parse(textwrap.dedent(text)).body


class Rewriter:
    """The smallest emitter: applies plans to the tree they were made for."""

    def __init__(self, units: Sequence[TrainingUnit]) -> None:
        self.before: dict[tuple[int, int], list[ast.stmt]] = {}
        self.instead: dict[int, list[ast.stmt]] = {}
        for unit in units:
            self._plan(unit)

    def _insert(self, block: list[ast.stmt], index: int, statements: list[ast.stmt], first: bool = False) -> None:
        present = self.before.setdefault((id(block), index), [])
        present[:0] = statements if first else []
        present.extend([] if first else statements)

    def _plan(self, unit: TrainingUnit) -> None:
        for statement in (*unit.removed, *unit.dropped):
            self.instead[id(statement)] = []
        grads = unit.grads_name
        if unit.accumulator is not None and unit.gradient == "accumulate":
            self._insert(unit.accumulator.statements, unit.accumulator.index, lines(f"{grads} = None"), first=True)
        if unit.is_late:
            self.instead[id(unit.backward)] = lines(f"{grads} = added({grads}, new_{grads})")
        for statement in unit.resets:
            self.instead[id(statement)] = lines(f"{grads} = None")
        self._define(unit)
        self._insert(unit.block, unit.start, self._call(unit))
        offsets = [ast.unparse(node) for node in unit.optimizers]
        for step in unit.steps:
            position = offsets.index(ast.unparse(step.optimizer))
            start = " + ".join(f"len({name}.parameters)" for name in offsets[:position]) or "0"
            update = f"{offsets[position]}({grads}[{start}:][:len({offsets[position]}.parameters)])"
            guarded = f"if {grads} is not None:\n    {update}" if unit.gradient == "accumulate" else update
            self.instead[id(step.statement)] = lines(guarded)
        for clip in unit.clips:
            result = ast.unparse(clip.result) if clip.result is not None else "_"
            self.instead[id(clip.statement)] = lines(
                f"{grads}, {result} = clip_norm({grads}, {ast.unparse(clip.limit)})"
            )

    def _weights(self, unit: TrainingUnit) -> str:
        return " + ".join(f"{ast.unparse(node)}.parameters" for node in unit.optimizers)

    def _define(self, unit: TrainingUnit) -> None:
        [function] = lines(f"def {unit.forward_name}({', '.join(unit.parameters)}):\n    pass")
        assert isinstance(function, ast.FunctionDef)
        values = [ast.unparse(unit.loss), *unit.aux]
        result = ast.Return(ast.parse(", ".join(values)).body[0].value)  # type: ignore[attr-defined]
        function.body = [*unit.body, result]
        aux = bool(unit.aux)
        made = (
            []
            if unit.inline_grad
            else lines(f"{unit.grad_name} = value_and_grad({unit.forward_name}, None, {self._weights(unit)}, {aux})")
        )
        self._insert(unit.hoist.statements, unit.hoist.index, [function, *made])

    def _call(self, unit: TrainingUnit) -> list[ast.stmt]:
        function = unit.grad_name
        if unit.inline_grad:
            function = f"value_and_grad({unit.forward_name}, None, {self._weights(unit)}, {bool(unit.aux)})"
        target = ", ".join(unit.outputs)
        pair = f"({target})" if unit.aux else target
        arguments = ", ".join(unit.parameters)
        if unit.gradient == "assign":
            code = f"{pair}, {unit.grads_name} = {function}({arguments})"
        else:
            code = f"{pair}, new_{unit.grads_name} = {function}({arguments})"
            addition = f"{unit.grads_name} = added({unit.grads_name}, new_{unit.grads_name})"
            code += "" if unit.is_late else f"\n{addition}"
        if unit.guard is not None:
            plain = f"{target} = {unit.forward_name}({arguments})"
            code = f"if {ast.unparse(unit.guard)}:\n{textwrap.indent(code, '    ')}\nelse:\n    {plain}"
        return lines(code)

    def block(self, block: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for index, statement in enumerate(block):
            found.extend(self.before.get((id(block), index), []))
            if id(statement) in self.instead:
                found.extend(self.instead[id(statement)])
                continue
            for name in ("body", "orelse", "finalbody"):
                if getattr(statement, name, None):
                    setattr(statement, name, self.block(getattr(statement, name)))
            for handler in getattr(statement, "handlers", []):
                handler.body = self.block(handler.body)
            found.append(statement)
        return found or [ast.Pass()]


PRELUDE = """
model, net, rnn, encoder, decoder = Net(0.5), Net(-0.4), Net(0.3), Net(0.7), Net(0.2)
netD, netG = Net(0.6), Net(-0.3)
loader = [(1.0, 2.0), (2.0, 1.0), (3.0, 0.5), (0.5, 1.5)]
"""


def run(tree: ast.Module, recording: bool) -> tuple[list[str], list[float]]:
    """Execute and return what was printed and all weights, and how often each network ran."""
    Tape.recording, Tape.trace = recording, []

    def criterion(out: Tensor, target: Any) -> Tensor:
        return (out - target) * (out - target)

    def report(*values: Any) -> None:
        Tape.trace.append(" ".join(f"{number(v):.9f}" if isinstance(v, Tensor | float) else str(v) for v in values))

    space: dict[str, Any] = {
        "Net": Net, "SGD": SGD, "Meter": Meter, "Tensor": Tensor, "criterion": criterion, "print": report,
        "clip_grad_norm_": clip_grad_norm_, "clip_norm": clip_norm, "value_and_grad": value_and_grad, "added": added,
        "scaler": Scaler(), "autocast": contextlib.nullcontext,
        "scale_loss": lambda loss, optimizer: contextlib.nullcontext(loss),
    }  # fmt: skip
    exec(compile(ast.parse(PRELUDE), "prelude", "exec"), space)
    exec(compile(ast.fix_missing_locations(tree), "program", "exec"), space)
    nets = [space[name] for name in ("model", "net", "rnn", "encoder", "decoder", "netD", "netG")]
    Tape.recording = True
    return Tape.trace, [weight.value for one in nets for weight in one.parameters()]


def check(source: str) -> list[TrainingUnit]:
    """Plan, apply and run a program; every backward call must be planned."""
    source = textwrap.dedent(source)
    expected = run(ast.parse(source), recording=True)
    tree = ast.parse(source)
    found = find_units(tree, NameOracle())
    left = [unit for unit in found if isinstance(unit, UnitLeft)]
    assert not left, left
    units = [unit for unit in found if isinstance(unit, TrainingUnit)]
    gone = {id(statement) for unit in units for statement in unit.dropped}
    assert len(gone & {id(node) for node in ast.walk(tree)}) >= source.count(".backward()")
    tree.body = Rewriter(units).block(tree.body)
    text = ast.unparse(ast.fix_missing_locations(tree))
    assert ".backward(" not in text
    trace, weights = run(ast.parse(text), recording=False)
    assert trace == expected[0], text
    assert weights == pytest.approx(expected[1], rel=1e-12, abs=1e-12), text
    return units
