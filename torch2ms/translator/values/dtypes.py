"""Dtypes of tensors, as far as the code shows them: what a call makes of its arguments, what an operator gives.

An empty answer means that the dtype is not known; nobody acts on a guess.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from torch2ms.mapping_tables.facts import Fact, load_facts
from torch2ms.translator.values.kinds import Kind

__all__ = ["COMPLEX", "dtype_of_operator", "family", "is_dtype", "with_dtype"]

_BOOL, _INT, _FLOAT, _COMPLEX = "torch.bool", "torch.int64", "torch.float32", "torch.complex64"
_FAMILIES = {
    "bool": ["bool"],
    "int": ["uint8", "int8", "int16", "int32", "int64", "short", "int", "long", "uint16", "uint32", "uint64"],
    "float": ["float16", "bfloat16", "float32", "float64", "half", "float", "double"],
    "complex": ["complex32", "complex64", "complex128", "cfloat", "cdouble"],
}
_FAMILY = {f"torch.{name}": family for family, names in _FAMILIES.items() for name in names}
_TYPES = {
    "FloatTensor": _FLOAT,
    "DoubleTensor": "torch.float64",
    "HalfTensor": "torch.float16",
    "LongTensor": _INT,
    "IntTensor": "torch.int32",
    "ShortTensor": "torch.int16",
    "CharTensor": "torch.int8",
    "ByteTensor": "torch.uint8",
    "BoolTensor": _BOOL,
}
_REARRANGED = frozenset({"einops.rearrange", "einops.repeat"})


def family(dtype: str) -> str:
    """Return ``bool``, ``int``, ``float`` or ``complex`` for a dtype's name; empty when it is none."""
    return _FAMILY.get(dtype, "")


def is_dtype(kind: Kind) -> bool:
    """Whether a value is a dtype, also one of several."""
    return kind.name == "dtype" or (kind.name == "api" and all(family(name) for name in kind.of.split("|")))


def with_dtype(
    result: Kind, node: ast.Call, callee: Kind, base: Kind, arguments: list[Kind], keywords: dict[str | None, Kind]
) -> Kind:
    """Return the kind ``result`` of a torch call with the dtype that its arguments show.

    ``callee`` is the kind of what is called, ``base`` that of the receiver (UNKNOWN without one).
    """
    method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    casts = method in ("to", "type") or (method == "view" and any(map(is_dtype, arguments)))
    if result.name != "Tensor" or (result.of and "dtype" not in keywords and not casts):
        return result
    if callee.name == "api":
        if callee.of in _REARRANGED and arguments and arguments[0].is_tensor:
            return replace(result, of=arguments[0].of)
        if not callee.of.startswith("torch.") or "|" in callee.of:
            return result
        return replace(result, of=_dtype_of_call(callee.of[len("torch.") :], None, node, arguments, keywords))
    if not isinstance(node.func, ast.Attribute) or not base.is_tensor:
        return result
    return replace(result, of=_dtype_of_call(node.func.attr, base, node, arguments, keywords))


def _dtype_of_call(
    name: str, receiver: Kind | None, node: ast.Call, arguments: list[Kind], keywords: dict[str | None, Kind]
) -> str:
    """Return the dtype of what ``torch.name(...)`` or ``receiver.name(...)`` gives, empty when it is not known."""
    if "dtype" in keywords:
        return _named(keywords["dtype"])
    if receiver is not None and name in ("to", "type"):
        return _cast(receiver, node, arguments)
    if receiver is not None and name == "view" and any(map(is_dtype, arguments)):
        return _named(arguments[0])
    if receiver is None and name in _TYPES:
        return _TYPES[name]
    first = receiver if receiver is not None else arguments[0] if arguments else None
    if receiver is None:
        made = _created(name, node, arguments, keywords)
        if made is not None:
            return made
    if name == "where":
        chosen = arguments[1:] if receiver is None else [receiver, *arguments[1:]]
        is_clear = len(chosen) == 2 and any(kind.is_tensor for kind in chosen)
        return dtype_of_operator(chosen[0], chosen[1], ast.Add()) if is_clear else ""
    fact = load_facts().of(f"torch.Tensor.{name}" if receiver is not None else f"torch.{name}")
    others = [*arguments[0 if receiver is not None else 1 :], *keywords.values()]
    return _by_fact(fact, first, others) if fact is not None else ""


def _by_fact(fact: Fact, first: Kind | None, others: list[Kind]) -> str:
    """Return the dtype of what an operation gives by its facts, for its argument and what else it is given."""
    if fact.fixed_dtype or fact.dtype == "default":
        return fact.fixed_dtype or _FLOAT
    held = _held(first) if first is not None else ""
    if fact.dtype == "same" or fact.memory == "self":
        return held
    if fact.dtype == "complex":
        return "torch.complex128" if held in ("torch.float64", "torch.double") else _COMPLEX
    if fact.dtype in ("real", "real float") and family(held) == "complex":
        return "torch.float64" if held in ("torch.complex128", "torch.cdouble") else _FLOAT
    if fact.dtype in ("float", "real float", "sum") and family(held) in ("bool", "int"):
        return _INT if fact.dtype == "sum" else _FLOAT
    if fact.dtype in ("common", "quotient") and first is not None:
        return _common(first, others, ast.Div() if fact.dtype == "quotient" else ast.Add(), fact.axes == "same")
    return held if fact.dtype in ("real", "real float", "float", "sum") else ""


def _common(first: Kind, others: list[Kind], op: ast.operator, is_bounded: bool) -> str:
    """Return the dtype of what is computed of a tensor and others, or of the tensors of a list.

    Where the others are bounds alone, ``x.clamp(low, high)``, those of floats that nothing is known of are numbers.
    """
    found, others = first, [kind for kind in others if kind.name != "none"]
    if not found.is_tensor and (not others or found.name in ("list", "tuple")):
        return _held(found)
    for other in others:
        if is_bounded and not other.known and family(found.of) == "float":
            continue
        if not found.is_tensor and not other.is_tensor:
            return ""
        found = Kind("Tensor", dtype_of_operator(found, other, op))
    return found.of if others or family(found.of) != "bool" else ""


def _created(name: str, node: ast.Call, arguments: list[Kind], keywords: dict[str | None, Kind]) -> str | None:
    """Return the dtype of what a function of torch makes from other things than tensors; None where it does not."""
    if name in ("tensor", "as_tensor"):
        data = [*node.args[:1], *(keyword.value for keyword in node.keywords if keyword.arg == "data")]
        given = arguments[0] if arguments else keywords.get("data")
        if not data or given is None:
            return ""
        return _of_literal(data[0]) or _of_numbers(given, 1 if isinstance(data[0], ast.Name) else 9)
    if name == "arange":
        kinds = [kind.name for kind in (*arguments, *(keywords[k] for k in ("start", "end", "step") if k in keywords))]
        return _INT if kinds and set(kinds) <= {"int"} else _FLOAT if "float" in kinds else ""
    if name == "full":
        filled = arguments[1] if len(arguments) > 1 else keywords.get("fill_value")
        value = filled.name if filled is not None else ""
        return {"bool": _BOOL, "int": _INT, "float": _FLOAT}.get(value, "")
    return None


def _cast(receiver: Kind, node: ast.Call, arguments: list[Kind]) -> str:
    is_move = isinstance(node.func, ast.Attribute) and node.func.attr == "to"
    text = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else ""
    if not is_move and isinstance(text, str) and text.rpartition(".")[2] in _TYPES:
        return _TYPES[text.rpartition(".")[2]]
    for kind in arguments[: len(node.args)]:
        if _named(kind):
            return _named(kind)
        if kind.name == "api" and kind.of.rpartition(".")[2] in _TYPES:
            return _TYPES[kind.of.rpartition(".")[2]]
        # ``to`` reads each text as a device, ``type`` as a dtype
        if kind.name not in ("device", "str", "bool") or (kind.name == "str" and not is_move):
            return ""
    return receiver.of if node.args or node.keywords else ""


def _named(kind: Kind) -> str:
    """Return the dtype that an argument names."""
    return kind.of if kind.name in ("api", "dtype") and kind.of in _FAMILY else ""


def _held(kind: Kind) -> str:
    """Return the dtype of a tensor, or of the tensors of a list that agree."""
    if kind.is_tensor:
        return kind.of if kind.of in _FAMILY else ""
    found = {_held(item) for item in kind.items} if kind.name in ("list", "tuple") else set()
    return found.pop() if len(found) == 1 else ""


def _of_literal(tree: ast.expr) -> str:
    """Return the dtype that ``torch.tensor`` gives a literal: the widest of its numbers."""
    found: set[str] = set()
    for leaf in _leaves(tree):
        try:
            value = ast.literal_eval(leaf)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            is_float = isinstance(leaf, ast.Call) and isinstance(leaf.func, ast.Name) and leaf.func.id == "float"
            if not is_float:
                return ""
            value = 0.0
        found.add(type(value).__name__)
    for name, dtype in (("complex", _COMPLEX), ("float", _FLOAT), ("int", _INT), ("bool", _BOOL)):
        if name in found:
            return dtype if found <= {"complex", "float", "int", "bool"} else ""
    return _FLOAT if isinstance(tree, (ast.List, ast.Tuple)) and not found else ""


_NUMBERS = {"bool": _BOOL, "int": _INT, "float": _FLOAT}


def _of_numbers(kind: Kind, depth: int) -> str:
    """Return the dtype of a tensor made of numbers, of lists of them, or of another tensor.

    What lists inside of lists hold is only known where they are made: ``rows[1][2] = 0.5`` may have changed it later.
    """
    if kind.is_tensor:
        return kind.of if kind.of in _FAMILY else ""
    if kind.name in ("list", "tuple"):
        found = {_of_numbers(item, depth - 1) for item in kind.items} if depth else set()
        return found.pop() if len(found) == 1 else ""
    return _NUMBERS.get(kind.name, "")


def _leaves(tree: ast.expr) -> list[ast.expr]:
    if isinstance(tree, (ast.List, ast.Tuple)):
        return [leaf for element in tree.elts for leaf in _leaves(element)]
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, (ast.USub, ast.UAdd)):
        return _leaves(tree.operand)
    return [tree]


_ORDER = ("bool", "int", "float", "complex")
COMPLEX = Kind("python", "complex")  # a number of Python's: ``1j``


def dtype_of_operator(left: Kind, right: Kind, op: ast.operator) -> str:
    """Return the dtype of ``left op right``, where one is a tensor and the other a tensor or a number."""
    ours = [kind.of for kind in (left, right) if kind.is_tensor]
    numbers = [kind.name for kind in (left, right) if not kind.is_tensor]
    wide = [dtype for dtype in ours if _FAMILY.get(dtype) == "complex"]
    if len(wide) == 1:  # whatever the other is
        return wide[0]
    if COMPLEX in (left, right):
        return "torch.complex128" if ours[0] in ("torch.float64", "torch.double") else _COMPLEX
    if any(dtype not in _FAMILY for dtype in ours) or any(name not in _ORDER for name in numbers):
        return ""
    families = [_FAMILY[dtype] for dtype in ours]
    if isinstance(op, ast.Div) and {*families, *numbers} <= {"bool", "int"}:
        return _FLOAT
    if len(set(ours)) > 1:
        return _widest(ours)
    widest = max([*families, *numbers], key=_ORDER.index)
    if widest == families[0]:
        return ours[0]
    return {"int": _INT, "float": _FLOAT, "complex": _COMPLEX}[widest]


def _widest(dtypes: list[str]) -> str:
    """Return the dtype of two tensors of different dtypes, where their families differ."""
    first, second = sorted(dtypes, key=lambda dtype: _ORDER.index(_FAMILY[dtype]))
    return second if _FAMILY[first] != _FAMILY[second] else ""
