"""Dtypes of tensors, as far as the code shows them: what a call makes of its arguments, what an operator gives.

An empty answer means that the dtype is not known; nobody acts on a guess.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from torch2ms.translator.values.kinds import Kind

__all__ = ["CASTS", "COMPLEX", "dtype_of_operator", "family", "is_dtype", "with_dtype"]

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
CASTS = {
    "double": "torch.float64", "float": _FLOAT, "half": "torch.float16", "bfloat16": "torch.bfloat16", "long": _INT,
    "int": "torch.int32", "short": "torch.int16", "char": "torch.int8", "byte": "torch.uint8", "bool": _BOOL,
}  # fmt: skip
_SAME_SHAPE = frozenset(
    {"zeros_like", "ones_like", "full_like", "empty_like", "rand_like", "randn_like", "randint_like"}
)
_FLOATS = frozenset({"zeros", "ones", "empty", "rand", "randn", "linspace", "logspace", "eye"})
_TO_COMPLEX = frozenset({"torch.complex", "torch.polar", "torch.view_as_complex", "torch.stft"})
_REAL_FFT = frozenset({"irfft", "irfft2", "irfftn", "hfft", "hfft2", "hfftn", "fftfreq", "rfftfreq"})
_KEEPS = frozenset(
    """clone detach contiguous view reshape flatten ravel squeeze unsqueeze transpose permute t swapaxes movedim expand
    repeat tile flip roll narrow select index_select gather take masked_select masked_fill where tril triu diag diagonal
    unfold view_as expand_as reshape_as repeat_interleave cpu cuda to requires_grad_ conj abs neg clamp_ fill_ zero_
    square positive unflatten chunk split unbind cat concat stack hstack vstack sort flatten
    fft.fftshift fft.ifftshift""".split()
)
# What keeps the dtype of floats, alone or beside numbers, and float64 beside any real tensor
_OF_FLOATS = frozenset(
    """sum mean std var prod norm exp log sqrt sin cos tan tanh sigmoid cumsum cumprod round floor ceil trunc amax amin
    logsumexp softmax log_softmax relu log2 log10 log1p expm1 rsqrt reciprocal median clip clamp nansum
    nanmean""".split()
)
_OF_COMPLEX = frozenset("sum mean prod exp log sqrt sin cos tan tanh sigmoid cumsum cumprod rsqrt reciprocal".split())
_SUMS = frozenset({"sum", "prod", "cumsum", "cumprod"})  # of ints and bools, without another dtype
_OF_INTS = frozenset({"amax", "amin", "median", "relu", "floor", "ceil", "round", "trunc", "sign"})
_OF_DOUBLES = frozenset("add sub mul div pow maximum minimum dot matmul mm true_divide multiply subtract".split())
_REARRANGED = frozenset({"einops.rearrange", "einops.repeat"})
_LOSES_COMPLEX = frozenset({"abs", "absolute", "angle", "real", "imag"})


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
    if receiver is not None and name in CASTS:
        return CASTS[name]
    if receiver is None and name in _TYPES:
        return _TYPES[name]
    first = receiver if receiver is not None else arguments[0] if arguments else None
    if receiver is None:
        made = _created(name, node, arguments, keywords)
        if made is not None:
            return made
    if receiver is None and name == "where" and len(arguments) == 3 and any(kind.is_tensor for kind in arguments[1:]):
        return dtype_of_operator(arguments[1], arguments[2], ast.Add())
    if name in _LOSES_COMPLEX and first is not None and family(first.of) == "complex":
        return _FLOAT
    if (name in _KEEPS or name in _SAME_SHAPE) and first is not None:
        return _held(first)
    if name in _OF_FLOATS and first is not None and family(first.of) == "float":
        return first.of
    if name in _OF_COMPLEX and first is not None and family(first.of) == "complex":
        return first.of
    if first is not None and family(first.of) in ("int", "bool") and name in _SUMS:
        return _INT
    if first is not None and family(first.of) == "int" and name in _OF_INTS:
        return first.of
    others = [kind for kind in (*arguments, *keywords.values()) if kind.is_tensor]
    if name in _OF_DOUBLES and first is not None and first.of in ("torch.float64", "torch.double"):
        return first.of if all(family(kind.of) in ("bool", "int", "float") for kind in others) else ""
    return ""


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
    if name in _FLOATS:
        return _FLOAT
    if f"torch.{name}" in _TO_COMPLEX:
        return _COMPLEX
    if name.startswith("fft.") and not name.endswith("shift"):
        return _FLOAT if name.removeprefix("fft.") in _REAL_FFT else _COMPLEX
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
