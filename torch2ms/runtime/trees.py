"""Tensors in nested dictionaries, lists and tuples: taken out in their order, and put back."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Iterator, List, Optional, Tuple

from mindspore import Parameter, Tensor, ops

__all__ = [
    "TreeSpec",
    "distinct",
    "is_tree",
    "leaves",
    "rebuilt",
    "tree_all",
    "tree_any",
    "tree_flatten",
    "tree_leaves",
    "tree_map",
    "tree_map_only",
    "tree_structure",
    "tree_unflatten",
]


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


class TreeSpec:
    """The containers of a tree, without what they hold: ``torch.utils._pytree.TreeSpec``."""

    def __init__(self, tree: Any, is_leaf: Optional[Callable[[Any], bool]] = None) -> None:
        """Take the containers of a tree; what ``is_leaf`` says yes to is none."""
        self._places = _marked(tree, is_leaf)
        self.num_leaves = len(leaves(self._places))

    def unflatten(self, values: Iterable[Any]) -> Any:
        """Return the containers with ``values``; ValueError where there are more, or fewer."""
        found = list(values)
        if len(found) != self.num_leaves:
            raise ValueError(f"{len(found)} leaves for a tree that has {self.num_leaves}")
        return rebuilt(self._places, iter(found))

    def is_leaf(self) -> bool:
        """Return whether there is no container at all."""
        return not is_tree(self._places)

    def __eq__(self, other: object) -> bool:
        """Whether both have the same containers, of the same types."""
        return isinstance(other, TreeSpec) and _types(self._places) == _types(other._places)

    __hash__ = None  # type: ignore[assignment]  # like a list

    def __repr__(self) -> str:
        """Return the containers with a star for each leaf."""
        return f"TreeSpec({_types(self._places)})"


def _marked(tree: Any, is_leaf: Optional[Callable[[Any], bool]]) -> Any:
    """Return the containers of a tree with None for each leaf."""
    if not is_tree(tree) or (is_leaf is not None and is_leaf(tree)):
        return None
    parts = [_marked(part, is_leaf) for part in (tree.values() if isinstance(tree, dict) else tree)]
    if isinstance(tree, dict):
        return type(tree)(zip(tree, parts))
    return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)


def _types(places: Any) -> Any:
    """Return what tells one structure from another: types, keys and lengths."""
    if isinstance(places, dict):
        return type(places).__name__, {key: _types(part) for key, part in places.items()}
    return (type(places).__name__, [_types(part) for part in places]) if is_tree(places) else "*"


def tree_leaves(tree: Any, is_leaf: Optional[Callable[[Any], bool]] = None) -> List[Any]:
    """Return what the containers hold, from left to right; None is held like anything else."""
    if not is_tree(tree) or (is_leaf is not None and is_leaf(tree)):
        return [tree]
    parts = tree.values() if isinstance(tree, dict) else tree
    return [leaf for part in parts for leaf in tree_leaves(part, is_leaf)]


def tree_structure(tree: Any, is_leaf: Optional[Callable[[Any], bool]] = None) -> TreeSpec:
    """Return the containers of a tree."""
    return TreeSpec(tree, is_leaf)


def tree_flatten(tree: Any, is_leaf: Optional[Callable[[Any], bool]] = None) -> Tuple[List[Any], TreeSpec]:
    """Return what the containers hold, and the containers."""
    return tree_leaves(tree, is_leaf), TreeSpec(tree, is_leaf)


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> Any:
    """Return the containers with ``leaves`` in them; ValueError where there are more, or fewer."""
    return treespec.unflatten(leaves)


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: Optional[Callable[[Any], bool]] = None) -> Any:
    """Return the containers of ``tree`` with what ``func`` gives for each leaf of it and of trees like it."""
    spec = TreeSpec(tree, is_leaf)
    return spec.unflatten(map(func, tree_leaves(tree, is_leaf), *(tree_leaves(rest, is_leaf) for rest in rests)))


def tree_map_only(kinds: Any, func: Callable[[Any], Any], tree: Any, is_leaf: Any = None) -> Any:
    """Return the containers of ``tree`` with what ``func`` gives for leaves of ``kinds``: types, or a test."""
    is_meant = kinds if callable(kinds) and not isinstance(kinds, type) else lambda leaf: isinstance(leaf, kinds)
    return tree_map(lambda leaf: func(leaf) if is_meant(leaf) else leaf, tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: Any, is_leaf: Optional[Callable[[Any], bool]] = None) -> bool:
    """Return whether ``pred`` holds for every leaf."""
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: Any, is_leaf: Optional[Callable[[Any], bool]] = None) -> bool:
    """Return whether ``pred`` holds for a leaf."""
    return any(map(pred, tree_leaves(tree, is_leaf)))


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
