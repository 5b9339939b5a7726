"""The small language in which examples say their inputs: ``randn(2, 3) * 2``, ``param(ones(3))``, ``image(32, 32)``.

Evaluation is safe: literals, arithmetic, comparisons and the functions of ``FUNCTIONS``, nothing else. The numbers
come from numpy with a seed made of the text itself: both frameworks get the same, and a change elsewhere changes none.
"""

from __future__ import annotations

import ast
import operator
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

__all__ = ["FUNCTIONS", "evaluate"]

# What is not simply an array is a dictionary under this key; prove_worker turns it into the framework's object.
TAG = "__made__"
Make = Callable[..., Any]


def _uniform(random: np.random.RandomState, *shape: int) -> Any:
    return random.random_sample(shape).astype(np.float32)


def _normal(random: np.random.RandomState, *shape: int) -> Any:
    return np.asarray(random.standard_normal(shape), np.float32)


def _distinct(random: np.random.RandomState, *shape: int) -> Any:
    count = int(np.prod(shape, dtype=np.int64))
    # Steps of 0.25 around zero: exact in float32 and far enough apart for any kernel.
    return ((random.permutation(count) - count // 2) * 0.25).astype(np.float32).reshape(shape)


def _probabilities(random: np.random.RandomState, *shape: int) -> Any:
    values = random.random_sample(shape) + 0.1
    return (values / values.sum(-1, keepdims=True)).astype(np.float32)


def _spd(random: np.random.RandomState, size: int) -> Any:
    matrix = random.standard_normal((size, size))
    return (matrix @ matrix.T + size * np.eye(size)).astype(np.float32)


def _complex(random: np.random.RandomState, *shape: int) -> Any:
    return (random.standard_normal(shape) + 1j * random.standard_normal(shape)).astype(np.complex64)


def _tensor(random: np.random.RandomState, content: Any, dtype: str | None = None) -> Any:
    array = np.asarray(content)
    if dtype is None:
        dtype = {"f": "float32", "i": "int64", "u": "int64", "b": "bool", "c": "complex64"}[array.dtype.kind]
    return array.astype(dtype)


def _arange(random: np.random.RandomState, *bounds: float) -> Any:
    return np.arange(*bounds, dtype=np.int64 if all(isinstance(bound, int) for bound in bounds) else np.float32)


def _specials(random: np.random.RandomState, *shape: int) -> Any:
    values = _normal(random, *shape)
    places = random.permutation(values.size)[: max(1, values.size // 3)]
    values.flat[places] = np.resize(np.array([np.inf, -np.inf, 0.0, -0.0], np.float32), places.size)
    return values


def _image(random: np.random.RandomState, height: int, width: int, mode: str = "RGB") -> Any:
    shape = (height, width) if mode == "L" else (height, width, len(mode))
    return {TAG: "image", "value": random.randint(0, 256, shape).astype(np.uint8), "mode": mode}


def _cast(random: np.random.RandomState, value: Any, dtype: str) -> Any:
    if dtype == "bfloat16":  # numpy has none
        return {TAG: "bfloat16", "value": np.asarray(value, np.float32)}
    return np.asarray(value).astype(dtype)


FUNCTIONS: Mapping[str, Make] = {
    "randn": _normal,
    "rand": _uniform,
    "randint": lambda random, low, high, *shape: random.randint(low, high, shape).astype(np.int64),
    "arange": _arange,
    "ones": lambda random, *shape: np.ones(shape, np.float32),
    "zeros": lambda random, *shape: np.zeros(shape, np.float32),
    "eye": lambda random, size: np.eye(size, dtype=np.float32),
    "full": lambda random, shape, value: np.full(shape, value, np.float32),
    "linspace": lambda random, start, stop, count: np.linspace(start, stop, count).astype(np.float32),
    "tensor": _tensor,
    "bools": lambda random, *shape: random.random_sample(shape) < 0.5,
    "permutation": lambda random, count: random.permutation(count).astype(np.int64),
    "distinct": _distinct,
    "positive": lambda random, *shape: _uniform(random, *shape) + np.float32(0.1),
    "probabilities": _probabilities,
    "spd": _spd,
    "specials": _specials,
    "complex": _complex,
    "cast": _cast,
    "param": lambda random, value: {TAG: "param", "value": value},
    "array": lambda random, value: {TAG: "array", "value": value},
    "image": _image,
    "files": lambda random, content: {TAG: "files", "value": content},
}

_OPERATORS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow, ast.Mod: operator.mod, ast.USub: operator.neg, ast.UAdd: operator.pos,
    ast.Invert: operator.invert, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip


def evaluate(text: str, name: str = "") -> Any:
    """Return the value of the input called ``name``: numpy arrays stand for tensors, plain Python for itself.

    Raises ValueError for anything the language does not have.
    """
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"no expression: {text!r}") from error
    try:
        return _value(tree, np.random.RandomState(zlib.crc32(f"{name}={text}".encode())))
    except (TypeError, KeyError, IndexError, OverflowError) as error:
        raise ValueError(f"{text!r}: {error}") from error


def _value(node: ast.expr, random: np.random.RandomState) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, (ast.Tuple, ast.List)):
        items = [_value(item, random) for item in node.elts]
        return tuple(items) if isinstance(node, ast.Tuple) else items
    if isinstance(node, ast.Dict):
        keys = [_value(key, random) for key in node.keys if key is not None]
        return dict(zip(keys, [_value(value, random) for value in node.values], strict=True))
    if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
        return _operate(node.op, _value(node.operand, random))
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _operate(node.op, _value(node.left, random), _value(node.right, random))
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _OPERATORS:
        return _operate(node.ops[0], _value(node.left, random), _value(node.comparators[0], random))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
        positional = [_value(item, random) for item in node.args]
        named = {item.arg: _value(item.value, random) for item in node.keywords if item.arg}
        return FUNCTIONS[node.func.id](random, *positional, **named)
    raise ValueError(f"not in the language of inputs: {ast.unparse(node)!r}")


def _operate(symbol: ast.AST, *values: Any) -> Any:
    with np.errstate(all="ignore"):  # infinities and NaN are wanted where they are written
        result = _OPERATORS[type(symbol)](*values)
    # numpy makes float64 of an int array and a float; the frameworks make float32 of it.
    if isinstance(result, (np.ndarray, np.generic)) and result.dtype == np.float64:
        wide = any(isinstance(value, np.ndarray) and value.dtype == np.float64 for value in values)
        return result if wide else np.asarray(result, np.float32)
    return result
