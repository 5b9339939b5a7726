"""Snippets from the samples that torch's own test suite keeps of its operators, layers and optimizers (OpInfo).

``torch.testing._internal`` (in every wheel; it needs ``expecttest``) lists some 700 operators with functions that make
inputs: call shapes that nobody here thought of. Each becomes a program with its tensors written out, the call as a
function, as a method, or in place, at times with a gradient; ``out`` is the result. Samples are chosen evenly, those
whose tensors hold more than ``LARGEST`` numbers or whose arguments have no text (functions, generators) are left out.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

__all__ = ["opinfo_programs"]

LARGEST = 300
# How many samples of an operator are taken in each dtype, of the first that it makes
DTYPES = {"float32": 8, "int64": 3, "float64": 2, "bool": 2, "int32": 1, "uint8": 1, "float16": 1, "complex64": 2}
FIRST = 300


class NoText(Exception):
    """A value that cannot be written as a literal."""


class _Program:
    """The lines of one snippet and the names of its tensors."""

    def __init__(self) -> None:
        self.lines = ["import torch"]
        self.names: list[str] = []

    def text(self, value: Any) -> str:
        """Return the expression of ``value``; a tensor becomes a line of its own and is named."""
        import torch

        if isinstance(value, torch.Tensor):
            name = "abcdefghij"[len(self.names)] if len(self.names) < 10 else f"t{len(self.names)}"
            self.names.append(name)
            self.lines.append(f"{name} = {_tensor(value)}")
            return name
        if isinstance(value, torch.Size):
            value = tuple(value)
        if isinstance(value, list):
            return f"[{', '.join(map(self.text, value))}]"
        if isinstance(value, tuple):
            return f"({', '.join(map(self.text, value))}{',' if len(value) == 1 else ''})"
        if isinstance(value, dict):
            return "{" + ", ".join(f"{key!r}: {self.text(item)}" for key, item in value.items()) + "}"
        if isinstance(value, float):
            return repr(value) if value == value and abs(value) != float("inf") else f"float({str(value)!r})"
        if isinstance(value, torch.dtype | torch.memory_format | torch.layout):
            return str(value)
        if isinstance(value, torch.device):
            return f"torch.device({str(value)!r})"
        if value is None or value is Ellipsis or isinstance(value, bool | int | str | complex | slice):
            return "..." if value is Ellipsis else repr(value)
        raise NoText(type(value).__name__)

    def arguments(self, call: Any) -> list[str]:
        """Return the arguments of a call, an object with ``args`` and ``kwargs``, as texts."""
        return [*map(self.text, call.args), *(f"{key}={self.text(value)}" for key, value in call.kwargs.items())]


def _tensor(value: Any) -> str:
    import torch

    if value.layout != torch.strided or value.is_quantized or value.numel() > LARGEST:
        raise NoText("tensor")
    value = value.detach()
    kind = str(value.dtype)
    if value.numel() == 0:
        return f"torch.zeros({tuple(value.shape)}{'' if kind == 'torch.float32' else f', dtype={kind}'})"
    plain = kind in ("torch.float32", "torch.int64", "torch.bool")
    return f"torch.tensor({_numbers(value.tolist())}{'' if plain else f', dtype={kind}'})"


def _numbers(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_numbers, value))}]"
    if isinstance(value, complex):
        return f"complex({_numbers(value.real)}, {_numbers(value.imag)})"
    if isinstance(value, float):
        if value != value or abs(value) == float("inf"):
            return f"float({str(value)!r})"
        return repr(round(value, 4) if abs(value) > 0.01 else float(f"{value:.3g}"))
    return repr(value)


def opinfo_programs() -> Iterator[tuple[str, str]]:
    """Yield family and text of each snippet; the text sets ``out``."""
    warnings.simplefilter("ignore")
    seen: set[str] = set()
    for family, text in itertools.chain(_operators(), _modules(), _optimizers()):
        if text not in seen:
            seen.add(text)
            yield family, text


def _operators() -> Iterator[tuple[str, str]]:
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    for op in op_db:
        space = op.name.rpartition(".")[0] or "torch"
        for turn, (name, count) in enumerate(DTYPES.items()):
            dtype = getattr(torch, name)
            if dtype not in op.dtypes:
                continue
            torch.manual_seed(turn)
            samples = _samples(op, dtype, is_leaf=name == "float32" and op.supports_autograd)
            for number, sample in enumerate(_chosen(samples, count)):
                try:
                    yield f"{space} {name}", _call(op, sample, number, name)
                except NoText:
                    continue


def _samples(op: Any, dtype: Any, *, is_leaf: bool) -> list[Any]:
    """Return the first samples of an operator that can be written, empty where the operator makes none here."""
    found = []
    try:
        for sample in itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=is_leaf), FIRST):
            program = _Program()
            try:
                program.text([sample.input, list(sample.args), sample.kwargs])
            except NoText:
                continue
            found.append(sample)
    except Exception:  # a sample function may want a GPU, scipy or a package: what it made before counts
        return found
    return found


def _chosen(samples: Sequence[Any], count: int) -> list[Any]:
    step = max(len(samples) / count, 1.0)
    return [samples[int(place * step)] for place in range(min(count, len(samples)))]


def _call(op: Any, sample: Any, number: int, dtype: str) -> str:
    import torch

    program = _Program()
    first = program.text(sample.input)
    arguments = program.arguments(sample)
    owner: Any = torch
    for part in op.name.split("."):
        owner = getattr(owner, part, None)
    is_method = hasattr(torch.Tensor, op.name) and isinstance(sample.input, torch.Tensor)
    in_place = f"{op.name}_"
    if is_method and hasattr(torch.Tensor, in_place) and (owner is None or number % 4 == 3):
        return "\n".join([*program.lines, f"{first}.{in_place}({', '.join(arguments)})", f"out = {first}"]) + "\n"
    if is_method and (owner is None or number % 4 == 1):
        call = f"{first}.{op.name}({', '.join(arguments)})"
    else:
        call = f"torch.{op.name}({', '.join([first, *arguments])})"
    if number % 4 == 2 and dtype == "float32" and op.supports_autograd and isinstance(sample.input, torch.Tensor):
        lines = [f"{first}.requires_grad_()", f"result = {call}", "(result * result).sum().backward()"]
        return "\n".join([*program.lines, *lines, f"out = {first}.grad"]) + "\n"
    return "\n".join([*program.lines, f"out = {call}"]) + "\n"


def _modules() -> Iterator[tuple[str, str]]:
    import torch
    from torch.testing._internal.common_modules import module_db

    for info in module_db:
        name = info.module_cls.__name__
        for is_training in (False, True):
            torch.manual_seed(0)
            try:
                inputs = info.module_inputs_func(
                    info, device="cpu", dtype=torch.float32, requires_grad=False, training=is_training
                )
            except Exception:  # as above
                continue
            for sample in _chosen(inputs, 6):
                program = _Program()
                program.lines.append("import torch.nn as nn")
                try:
                    made, given = sample.constructor_input, sample.forward_input
                    build = [*map(program.text, made.args), *(f"{k}={program.text(v)}" for k, v in made.kwargs.items())]
                    call = [
                        *map(program.text, given.args),
                        *(f"{k}={program.text(v)}" for k, v in given.kwargs.items()),
                    ]
                except (NoText, AttributeError):
                    continue
                lines = [f"layer = nn.{name}({', '.join(build)})", "fill(layer)"]
                lines += [f"layer.{'train' if is_training else 'eval'}()", f"out = layer({', '.join(call)})"]
                yield "torch.nn", "\n".join([*program.lines, *lines]) + "\n"


_TRAINING = """\
import torch
import torch.nn as nn
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
fill(model)
inputs = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.3, -0.2]])
targets = torch.tensor([[1.0], [-1.0]])
optimizer = torch.optim.{name}({arguments})
losses = []
for step in range(4):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(inputs), targets)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
out = losses
"""


def _optimizers() -> Iterator[tuple[str, str]]:
    from torch.testing._internal.common_optimizers import optim_db

    for info in optim_db:
        for sample in info.optim_inputs_func(device="cpu"):
            program = _Program()
            try:
                kwargs = [f"{key}={program.text(value)}" for key, value in sample.kwargs.items()]
            except NoText:
                continue
            arguments = ", ".join(["model.parameters()", *kwargs])
            text = _TRAINING.format(name=info.optim_cls.__name__, arguments=arguments)
            yield "torch.optim", "\n".join([*program.lines[1:], text]) if program.names else text
