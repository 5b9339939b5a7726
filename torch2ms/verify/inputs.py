"""The data of a check: inputs, targets and batches, from seeds, by NumPy alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torch2ms.errors import UsageError
from torch2ms.verify.workers.channel import pack, save_arrays

__all__ = [
    "Argument",
    "InputSpec",
    "OptimizerSpec",
    "add_targets",
    "choose_loss",
    "make_batch",
    "parse_argument",
    "parse_input",
    "parse_optimizer",
    "write_values",
]

_SPEC = re.compile(r"(?P<shape>\d+(?:x\d+)*|scalar)(?::(?P<dtype>float32|int64|int32|bool))?(?:<(?P<high>\d+))?")


@dataclass(frozen=True, slots=True)
class InputSpec:
    """One tensor: integers from 0 up to ``high`` (exclusive), or normal numbers; with ``high``, equally spread ones."""

    shape: tuple[int, ...]
    dtype: str = "float32"
    high: int | None = None  # 2 for integers

    def __str__(self) -> str:
        shape = "x".join(map(str, self.shape)) or "scalar"
        if self.dtype == "float32":
            return shape if self.high is None else f"{shape}:float32<{self.high}"
        return f"{shape}:{self.dtype}" + (f"<{self._below}" if self.dtype != "bool" else "")

    @property
    def _below(self) -> int:
        return 2 if self.high is None else self.high

    def draw(self, generator: np.random.Generator) -> NDArray[Any]:
        """Return one random array."""
        if self.dtype == "float32":
            drawn = generator.standard_normal(self.shape) if self.high is None else generator.random(self.shape)
            return np.asarray(drawn if self.high is None else self.high * drawn, np.float32)
        return np.asarray(generator.integers(0, self._below, self.shape), self.dtype)


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of the network, given by ``name`` where there is one: a tensor, or a dictionary of some."""

    spec: InputSpec | Mapping[str, InputSpec]
    name: str = ""

    def __str__(self) -> str:
        inner = self.spec
        text = str(inner) if isinstance(inner, InputSpec) else f"{{{', '.join(f'{k}: {v}' for k, v in inner.items())}}}"
        return f"{self.name}={text}" if self.name else text

    def draw(self, generator: np.random.Generator) -> Any:
        """Return random arrays for it."""
        if isinstance(self.spec, InputSpec):
            return self.spec.draw(generator)
        return {key: spec.draw(generator) for key, spec in self.spec.items()}


@dataclass(frozen=True, slots=True)
class OptimizerSpec:
    """An optimizer of torch.optim, its arguments, and the class that stands for it in MindSpore (canonical name)."""

    name: str
    settings: Mapping[str, Any]
    target: str = ""

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{key}={value!r}' for key, value in self.settings.items())})"


def parse_input(text: str) -> InputSpec:
    """Parse ``2x3x224x224``, ``2x16:int64<1000`` (integers below 1000) or ``2x8:bool``; raises UsageError."""
    found = _SPEC.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"not an input: {text!r}", advice="write it like 2x3x224x224 or 2x16:int64<1000")
    shape = () if found["shape"] == "scalar" else tuple(int(number) for number in found["shape"].split("x"))
    dtype = found["dtype"] or ("int64" if found["high"] else "float32")
    high = int(found["high"]) if found["high"] else None
    if high == 0:
        raise UsageError(f"not an input: {text!r}, no number is in that range", advice="write it like 2x16:int64<1000")
    return InputSpec(shape, dtype, high)


def parse_argument(text: str) -> Argument:
    """Parse a tensor as :func:`parse_input` does, ``{image: 2x3x8x8, mask: 2x8:bool}``, or ``name=`` and one of both.

    Raises UsageError.
    """
    name, has_name, rest = text.strip().rpartition("=")
    rest = rest.strip()
    if has_name and not name.strip().isidentifier():
        raise UsageError(f"not an input: {text!r}", advice="write it like mask=2x8:bool, with the argument's name")
    if not (rest.startswith("{") and rest.endswith("}")):
        return Argument(parse_input(rest), name.strip())
    pairs = [item.partition(":") for item in rest[1:-1].split(",") if item.strip()]
    if not pairs or not all(between for _, between, _ in pairs):
        raise UsageError(f"not an input: {text!r}", advice="write a dictionary like {image: 2x3x8x8, mask: 2x8:bool}")
    return Argument({key.strip(): parse_input(spec) for key, _, spec in pairs}, name.strip())


def parse_optimizer(text: str) -> OptimizerSpec:
    """Parse ``Adam(lr=0.001, weight_decay=1e-5)``: a name and literal keyword arguments; raises UsageError."""
    try:
        node = ast.parse(text.strip(), mode="eval").body
        if isinstance(node, ast.Name):
            return OptimizerSpec(node.id, {})
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args:
            pairs = {keyword.arg: ast.literal_eval(keyword.value) for keyword in node.keywords}
            if None not in pairs:
                return OptimizerSpec(node.func.id, {str(key): value for key, value in pairs.items()})
    except (SyntaxError, ValueError):
        pass
    raise UsageError(f"not an optimizer: {text!r}", advice="write it like Adam(lr=0.001, weight_decay=1e-5)")


def choose_loss(asked: str, places: Mapping[str, Sequence[int]]) -> str:
    """Return ``cross_entropy`` where every result looks like logits (N, C), else ``mse``; ``auto`` leaves it to us."""
    if asked in ("cross_entropy", "mse"):
        return asked
    if asked != "auto":
        raise UsageError(f"not a loss: {asked!r}", advice="choose auto, cross_entropy or mse")
    logits = all(len(shape) == 2 and shape[1] > 1 for shape in places.values())
    return "cross_entropy" if places and logits else "mse"


def make_batch(arguments: Sequence[Argument], seed: tuple[int, ...]) -> dict[str, NDArray[Any]]:
    """Return the arguments of a call of the network, as both sides unpack them."""
    generator = np.random.default_rng(seed)
    drawn = [(argument.name, argument.draw(generator)) for argument in arguments]
    return pack([value for name, value in drawn if not name], {name: value for name, value in drawn if name})


def add_targets(
    batch: Mapping[str, NDArray[Any]], places: Mapping[str, Sequence[int]], loss: str, seed: tuple[int, ...]
) -> dict[str, NDArray[Any]]:
    """Return the batch with targets for every place of a result (``target:output``, ...)."""
    generator = np.random.default_rng((*seed, len(places)))
    targets: dict[str, NDArray[Any]] = {}
    for place, shape in places.items():
        if loss == "cross_entropy":
            targets[f"target:{place}"] = generator.integers(0, shape[1], shape[0]).astype(np.int64)
        else:
            targets[f"target:{place}"] = generator.standard_normal(tuple(shape)).astype(np.float32)
    return {**batch, **targets}


def write_values(path: Path, values: Any) -> str:
    """Write arguments of a network, as values, to a file that ``--input-from`` takes; return its name.

    ``values``: a tuple of arguments, a dictionary of arguments by name, or the only argument. Raises UsageError.
    """
    args = values if isinstance(values, tuple) else () if isinstance(values, Mapping) else (values,)
    try:
        save_arrays(str(path), pack(args, values if isinstance(values, Mapping) else {}))
    except TypeError as error:
        raise UsageError(f"the inputs cannot be given: {error}", advice="give tensors, arrays, or texts") from error
    return str(path)
