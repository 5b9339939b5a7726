"""Tensors in nested dictionaries, lists and tuples: taken out in their order, and put back."""

from __future__ import annotations

from typing import Any, Iterator, List

from mindspore import Parameter, Tensor, ops

__all__ = ["distinct", "is_tree", "leaves", "rebuilt"]


def is_tree(value: Any) -> bool:
    """Whether a value is a container that tensors are looked for in."""
    return isinstance(value, (dict, list, tuple))


def leaves(tree: Any) -> List[Any]:
    """Return what the containers hold, from left to right; a dictionary in the order of its keys."""
    if not is_tree(tree):
        return [tree]
    return [leaf for part in (tree.values() if isinstance(tree, dict) else tree) for leaf in leaves(part)]


def rebuilt(tree: Any, values: Iterator[Any]) -> Any:
    """Return containers like those of ``tree`` that hold ``values`` instead."""
    if isinstance(tree, dict):
        return type(tree)((key, rebuilt(part, values)) for key, part in tree.items())
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(rebuilt(part, values) for part in tree))
    return type(tree)(rebuilt(part, values) for part in tree) if is_tree(tree) else next(values)


def distinct(values: List[Any], given: List[Any]) -> List[Any]:
    """Return ``values`` as a gradient can be taken by each of them, where a function is given ``given``.

    MindSpore takes one tensor in two places for one, and no gradient by a parameter that is an argument.
    """
    places = [id(value) for value in given]
    return [
        ops.stop_gradient(value)
        if isinstance(value, Parameter)
        else value.copy()
        if isinstance(value, Tensor) and places.count(id(value)) > 1
        else value
        for value in values
    ]
