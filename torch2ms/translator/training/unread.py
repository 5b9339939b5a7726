"""Backward calls whose gradients nobody reads: ``loss = criterion(x, y); loss.backward()``, and no more.

A script that shows a loss, or tries a layer, ends like that. The gradients are then those of the tensors that it marks
with ``requires_grad``, or of the one network that the loss is computed with.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection

from torch2ms.translator.training.plan import Oracle
from torch2ms.translator.trees import walk

__all__ = ["is_unread", "kept_tensors", "networks_of", "weights_of_all"]

# Whoever steps, clips, hooks or hands on gradients reads them.
_READERS = frozenset(
    "step retain_grad register_hook clip_grad_norm_ clip_grad_value_ unscale_ register_backward_hook "
    "register_full_backward_hook register_full_backward_pre_hook".split()
)
_WEIGHTED = re.compile(
    r"torch\.nn\.((Bi)?[lL]inear|Lazy\w+|Conv\w+|\w+Norm(\dd)?|Embedding(Bag)?|RNN|LSTM|GRU|\w+Cell|PReLU|Sequential"
    r"|MultiheadAttention|Transformer\w*)"
)


def is_unread(tree: ast.Module, oracle: Oracle) -> bool:
    """Whether nothing in a file looks at gradients, and nothing of it is imported relatively."""
    for node in walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in _READERS:
            return False
        if isinstance(node, ast.Attribute) and node.attr == "grad" and oracle.kind(node).name != "api":
            return False
        if isinstance(node, (ast.Name, ast.alias)) and getattr(node, "id", getattr(node, "name", "")) in _READERS:
            return False
        if isinstance(node, ast.ImportFrom) and node.level > 0:
            return False
    return True


def kept_tensors(nodes: Collection[ast.AST], marked: Collection[str]) -> set[str]:
    """Return those of the ``marked`` variables of a scope that it does not hand out."""
    returned = [node for node in nodes if isinstance(node, (ast.Return, ast.Yield))]
    return set(marked) - {part.id for node in returned for part in walk(node) if isinstance(part, ast.Name)}


def networks_of(scope: ast.AST, nodes: Collection[ast.AST], oracle: Oracle) -> list[str]:
    """Return the variables of the networks with weights that a script calls; none where one is no variable."""
    found: set[str] = set()
    for node in nodes if isinstance(scope, ast.Module) else ():
        kind = oracle.kind(node.func) if isinstance(node, ast.Call) else None
        if kind is None or kind.name != "Module" or (kind.of.startswith("torch.") and not _WEIGHTED.fullmatch(kind.of)):
            continue
        assert isinstance(node, ast.Call)
        found.add(node.func.id if isinstance(node.func, ast.Name) else "")
    order = [node.id for node in nodes if isinstance(node, ast.Name)]
    return [] if "" in found else sorted(found, key=order.index)


def weights_of_all(networks: Collection[str]) -> ast.expr:
    """Return the expression, in MindSpore's words, of the weights of several networks."""
    parts = ", ".join(f"*{name}.trainable_params()" for name in networks)
    return ast.parse(f"[{parts}]", mode="eval").body
