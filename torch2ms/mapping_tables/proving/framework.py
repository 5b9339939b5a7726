"""What both sides of a proof share: executing an example, making its inputs, turning its results into plain data."""

# Copied to another place to run, by a Python as old as 3.9: relative imports.
# ruff: noqa: TID252

from __future__ import annotations

import ast
import importlib
import itertools
import sys
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from .files import write_files

TAG = "__made__"
Case = Mapping[str, Any]


def run_source(source: str, scope: dict[str, Any]) -> Any:
    """Execute an example; return its last expression, or the variable that its last line assigns."""
    tree = ast.parse(source)
    import_names(tree, scope)
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        body = ast.Module(tree.body[:-1], [])
        exec(compile(body, "<example>", "exec"), scope)
        return eval(compile(ast.Expression(last.value), "<example>", "eval"), scope)
    exec(compile(tree, "<example>", "exec"), scope)
    target = last.targets[0] if isinstance(last, ast.Assign) else getattr(last, "target", None)
    while isinstance(target, (ast.Subscript, ast.Attribute)):
        target = target.value
    return scope[target.id] if isinstance(target, ast.Name) else scope.get("result")


def import_names(tree: ast.AST, scope: dict[str, Any]) -> None:
    """Import every module that a dotted name of the example goes through."""
    for node in ast.walk(tree):
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or scope.get(node.id, sys.modules.get(node.id)) is not sys.modules.get(
            node.id
        ):
            continue  # a variable of that name
        root = node.id
        if root not in ("torch", "mindspore", "torch2ms", "numpy", "math", "PIL", "copy", "random", "functools"):
            continue
        name = root
        importlib.import_module(root)
        for part in parts:
            name = f"{name}.{part}"
            try:
                importlib.import_module(name)
            except ImportError:
                break
    for root in ("torch", "mindspore", "torch2ms", "numpy", "math", "PIL", "copy", "random", "functools"):
        if root in sys.modules and root not in scope:
            scope[root] = sys.modules[root]


def cotangent(index: int, shape: tuple[int, ...]) -> Any:
    """Return the fixed weights of one output in the scalar whose gradient is taken."""
    count = int(np.prod(shape, dtype=np.int64))
    return np.cos(np.arange(count) * 0.7 + index).astype(np.float32).reshape(shape)


class Framework:
    """What the two sides do differently."""

    name = ""

    def tensor(self, array: Any) -> Any:
        """Return a tensor."""
        raise NotImplementedError

    def bfloat16(self, array: Any) -> Any:
        """Return a tensor of bfloat16, a dtype that numpy does not have."""
        raise NotImplementedError

    def parameter(self, array: Any, name: str) -> Any:
        """Return a parameter."""
        raise NotImplementedError

    def is_tensor(self, value: Any) -> bool:
        """Whether a value is a tensor."""
        raise NotImplementedError

    def is_layer(self, value: Any) -> bool:
        """Whether a value is a Module or Cell."""
        raise NotImplementedError

    def array(self, value: Any) -> tuple[str, Any]:
        """Return dtype name and numpy array of a tensor."""
        raise NotImplementedError

    def is_dtype(self, value: Any) -> bool:
        """Whether a value is a dtype."""
        raise NotImplementedError

    def make(self, value: Any, name: str = "parameter") -> Any:
        """Return the framework's object for an input."""
        if isinstance(value, np.ndarray):
            return self.tensor(value)
        if isinstance(value, dict) and TAG in value:
            if value[TAG] == "param":
                return self.parameter(value["value"], name)
            if value[TAG] == "bfloat16":
                return self.bfloat16(value["value"])
            if value[TAG] == "array":
                return value["value"]
            if value[TAG] == "files":
                folder = tempfile.mkdtemp(dir=".")  # in the folder of the proof, which goes with it
                write_files(folder, value["value"])
                return folder
            from PIL import Image

            return Image.fromarray(value["value"], value["mode"])
        if isinstance(value, (list, tuple)):
            return type(value)(self.make(item, f"{name}_{index}") for index, item in enumerate(value))
        if isinstance(value, dict):
            return {key: self.make(item, f"{name}_{key}") for key, item in value.items()}
        return value

    def plain(self, value: Any) -> Any:
        """Return a result as plain data: tensors as ("tensor", dtype, array)."""
        if self.is_tensor(value):
            return ("tensor", *self.array(value))
        if self.is_dtype(value):
            return ("dtype", str(value).split(".")[-1].lower())
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
            return ("value", value)
        if isinstance(value, (np.ndarray, np.generic)):
            return ("array", str(value.dtype), np.asarray(value))
        if isinstance(value, dict):
            return ("dict", {str(key): self.plain(item) for key, item in value.items()})
        if isinstance(value, (list, tuple)):
            return ("sequence", [self.plain(item) for item in value])
        if type(value).__module__.startswith("PIL."):
            return ("array", "uint8", np.asarray(value))
        return ("object", type(value).__name__)

    def tensors_in(self, value: Any) -> list[Any]:
        """Return the floating-point tensors of a result, in order."""
        if self.is_tensor(value):
            return [value] if np.issubdtype(self.array(value)[1].dtype, np.floating) else []
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, (list, tuple)):
            return [item for part in value for item in self.tensors_in(part)]
        return []


def use(value: Any, case: Case, inputs: list[Any]) -> Any:
    """Use the value of an example as ``check`` says."""
    if case["check"] in ("layer", "transform"):
        return value(*inputs)
    if case["check"] == "iterate":
        return list(itertools.islice(iter(value), 50))
    return value


def scope_of(case: Case, framework: Framework) -> tuple[dict[str, Any], list[Any]]:
    """Return the variables of an example and the inputs of its layer."""
    scope: dict[str, Any] = {"__name__": "example"}  # functions and classes that an example defines want a module
    scope.update((name, framework.make(value, name)) for name, value in case["args"].items())
    return scope, [framework.make(value, f"input_{index}") for index, value in enumerate(case["inputs"])]


def fixed_parameters(count: int = 2) -> list[Any]:
    """Return the arrays of the parameters that an optimizer's example optimises."""
    random = np.random.RandomState(7)
    return [random.standard_normal(shape).astype(np.float32) for shape in ((4, 3), (3,))[:count]]


def fixed_gradients(step: int) -> list[Any]:
    """Return the gradients of one step."""
    random = np.random.RandomState(100 + step)
    return [random.standard_normal(shape).astype(np.float32) for shape in ((4, 3), (3,))]


def fixed_loss(arrays: list[Any]) -> tuple[float, list[Any]]:
    """Return a loss of parameters with a minimum, and its gradients, for optimizers that evaluate a closure."""
    parts = [(array - 1.0, np.arange(1.0, array.size + 1.0, dtype=np.float32).reshape(array.shape)) for array in arrays]
    loss = sum(float((stiffness * (gap**2 + gap**4)).sum()) for gap, stiffness in parts)
    return loss, [(stiffness * (2 * gap + 4 * gap**3)).astype(np.float32) for gap, stiffness in parts]
