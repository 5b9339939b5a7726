"""The data of a check: inputs, targets and batches, from seeds, by NumPy alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torch2ms.errors import UsageError

__all__ = ["InputSpec", "OptimizerSpec", "choose_loss", "make_batch", "parse_input", "parse_optimizer"]

_SPEC = re.compile(r"(?P<shape>\d+(?:x\d+)*|scalar)(?::(?P<dtype>float32|int64|int32|bool))?(?:<(?P<high>\d+))?")


@dataclass(frozen=True, slots=True)
class InputSpec:
    """One argument of the network: normal numbers, or integers from 0 up to ``high`` (exclusive)."""

    shape: tuple[int, ...]
    dtype: str = "float32"
    high: int = 2

    def __str__(self) -> str:
        shape = "x".join(map(str, self.shape)) or "scalar"
        if self.dtype == "float32":
            return shape
        return f"{shape}:{self.dtype}" + (f"<{self.high}" if self.dtype != "bool" else "")

    def draw(self, generator: np.random.Generator) -> NDArray[Any]:
        """Return one random array."""
        if self.dtype == "float32":
            return generator.standard_normal(self.shape).astype(np.float32)
        return generator.integers(0, self.high, self.shape).astype(self.dtype)


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
    return InputSpec(shape, dtype, int(found["high"] or 2))


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


def make_batch(
    specs: Sequence[InputSpec], places: Mapping[str, Sequence[int]], loss: str, seed: tuple[int, ...]
) -> dict[str, NDArray[Any]]:
    """Return inputs (``input:0``, ...) and, for every place of a result, its targets (``target:output``, ...)."""
    generator = np.random.default_rng(seed)
    batch: dict[str, NDArray[Any]] = {f"input:{number}": spec.draw(generator) for number, spec in enumerate(specs)}
    for place, shape in places.items():
        if loss == "cross_entropy":
            batch[f"target:{place}"] = generator.integers(0, shape[1], shape[0]).astype(np.int64)
        else:
            batch[f"target:{place}"] = generator.standard_normal(tuple(shape)).astype(np.float32)
    return batch
