"""Training checkpoints of translated programs as PyTorch resumes from them: weights, optimizer, and what lies beside.

A translated program reads PyTorch's own checkpoints as they are; only the way back needs a conversion. The state of an
optimizer has PyTorch's names and numbers in both; what changes is the weights' names, and their moments' shapes where
a layer has another shape in MindSpore.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Sequence, Set, Tuple

import numpy as np

from .tensor_values import Value

__all__ = ["Reshape", "back_to_torch", "with_weights"]

Reshape = Callable[[Any], Any]


def with_weights(content: Any, places: Sequence[Any], weights: Mapping[str, Value]) -> Any:
    """Return ``content`` with ``weights`` as the dictionary that lies under the keys ``places``."""
    if not places:
        others = {key: value for key, value in content.items() if not isinstance(value, Value)}
        return {**weights, **others}
    return {**content, places[0]: with_weights(content[places[0]], places[1:], weights)}


def back_to_torch(content: Any, reshapes: Mapping[Tuple[int, ...], Reshape], plain: Set[Tuple[int, ...]]) -> Any:
    """Return ``content`` as PyTorch has it: moments in its shapes, arrays as tensors, single numbers as numbers.

    ``reshapes``: the shape of a MindSpore parameter to what makes PyTorch's of it; ``plain``: the shapes of those that
    keep theirs. Raises ValueError for a moment whose shape is one of both.
    """
    if isinstance(content, dict):
        found = {}
        for key, value in content.items():
            is_state = key == "state" and "param_groups" in content and isinstance(value, dict)  # of an optimizer
            found[key] = _states(value, reshapes, plain) if is_state else back_to_torch(value, reshapes, plain)
        return found
    if isinstance(content, (list, tuple)):
        return type(content)([back_to_torch(value, reshapes, plain) for value in content])
    if isinstance(content, np.ndarray):
        return Value(content, str(content.dtype)) if content.ndim else content.item()
    return content


def _states(kept: Any, reshapes: Mapping[Tuple[int, ...], Reshape], plain: Set[Tuple[int, ...]]) -> Any:
    return {number: _moments(moments, reshapes, plain) for number, moments in kept.items()}


def _moments(kept: Any, reshapes: Mapping[Tuple[int, ...], Reshape], plain: Set[Tuple[int, ...]]) -> Any:
    if not isinstance(kept, dict):
        return kept
    found: Dict[Any, Any] = {}
    ambiguous: List[Any] = []
    for name, value in kept.items():
        found[name] = value
        if isinstance(value, Value) and value.shape in reshapes:
            found[name] = value.reshaped(reshapes[value.shape])
            ambiguous += [name] if value.shape in plain else []
    if ambiguous:
        raise ValueError(f"{ambiguous[0]} may belong to layers of one or of two dimensions, which have the same shape")
    return found
