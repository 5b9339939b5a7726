"""Outputs: what networks and tokenizers of Hugging Face's packages give, tensors by name.

``model(**batch).logits`` is a Tensor because the outputs of all networks that have logits say so
(``counterparts/transformers.toml``); ``tokenizer(text, return_tensors="pt")`` is a batch because of that keyword.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from torch2ms.mapping_tables.counterparts import MAKERS, place_of
from torch2ms.translator.values.kinds import UNKNOWN, Kind

__all__ = ["asks_for_tensors", "encoded_result", "makes_own", "part_of"]

_BATCH = "transformers.BatchEncoding"
_SINGLE = frozenset({"encode", "apply_chat_template", "decode"})  # methods of tokenizers that give one array


def encoded_result(node: ast.Call, callee: Kind) -> Kind | None:
    """Return what a tokenizer or a processor gives that is asked for torch's tensors, as a keyword of its API says."""
    if not asks_for_tensors(node) or callee.name in ("function", "class"):
        return None
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    whole = any(word.arg == "return_dict" for word in node.keywords)
    if name in _SINGLE and not whole:
        return Kind("Tensor", evidence="of a tokenizer")
    return Kind("Outputs", _BATCH, evidence="of a tokenizer")


def asks_for_tensors(node: ast.Call) -> bool:
    """Whether a call says ``return_tensors="pt"``."""
    return any(
        word.arg == "return_tensors" and isinstance(word.value, ast.Constant) and word.value.value == "pt"
        for word in node.keywords
    )


def part_of(outputs: Kind, key: object, attribute: Callable[[Kind, str], Kind]) -> Kind:
    """Return the kind of one of the values by its key: that of the attribute of the same name."""
    if isinstance(key, str):
        found = attribute(outputs, key)
        return found if found.known or outputs.of != _BATCH else Kind("Tensor", evidence="of a tokenizer")
    return Kind("Tensor", evidence="the first of a network's outputs") if key == 0 else UNKNOWN


def makes_own(name: str, bases: tuple[str, ...]) -> bool:
    """Whether a class method of a network's base makes a network of the class it is called on."""
    return name in MAKERS and any(place_of(base) is not None for base in bases)
