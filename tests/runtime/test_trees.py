"""Trees of containers: taken apart, put together, mapped."""

from __future__ import annotations

from collections import OrderedDict, namedtuple

import pytest

pytest.importorskip("mindspore")

from torch2ms.runtime import trees

Pair = namedtuple("Pair", "left right")
TREE = OrderedDict(b=Pair(1, [2, None]), a=(3,))


def test_a_tree_comes_back_as_it_was() -> None:
    found, spec = trees.tree_flatten(TREE)
    assert found == [1, 2, None, 3]
    assert (spec.num_leaves, spec.is_leaf()) == (4, False)
    back = trees.tree_unflatten([5, 6, 7, 8], spec)
    assert back == OrderedDict(b=Pair(5, [6, 7]), a=(8,))
    assert [type(back), type(back["b"]), type(back["a"])] == [OrderedDict, Pair, tuple]


def test_the_number_of_leaves_is_checked() -> None:
    with pytest.raises(ValueError, match="3 leaves for a tree that has 4"):
        trees.tree_structure(TREE).unflatten([1, 2, 3])


def test_trees_of_one_structure_are_equal() -> None:
    assert trees.tree_structure([1, (2,)]) == trees.tree_structure(["x", (None,)])
    assert trees.tree_structure([1, (2,)]) != trees.tree_structure([1, [2]])
    assert trees.tree_structure({"a": 1}) != trees.tree_structure({"b": 1})
    assert repr(trees.tree_structure((1, [2]))) == "TreeSpec(('tuple', ['*', ('list', ['*'])]))"


def test_what_is_said_to_be_a_leaf_is_not_opened() -> None:
    found = trees.tree_map(len, [(1, 2), {"k": (3,)}], is_leaf=lambda part: isinstance(part, tuple))
    assert found == [2, {"k": 1}]
    assert trees.tree_leaves(5) == [5]
    assert trees.tree_map_only((int, str), str, [1, "a", 2.0]) == ["1", "a", 2.0]
