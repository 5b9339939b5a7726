"""Backward calls whose gradients nobody reads: ``loss = criterion(x, y); loss.backward()``, and no more.

A script that shows a loss, or tries a layer, ends like that. The gradients are then those of the tensors that it marks
with ``requires_grad``, or of the one network that the loss is computed with.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Sequence

from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.training.find.events import Event
from torch2ms.translator.training.find.gradient_flow import GradientFlow
from torch2ms.translator.training.find.scope import ProjectFile, Scope
from torch2ms.translator.training.plan.forward import Forward
from torch2ms.translator.training.plan.ownership import Ownership
from torch2ms.translator.values.families import PARTS, WEIGHTS
from torch2ms.translator.values.kinds import Oracle

__all__ = ["is_unread", "kept_tensors", "networks_of", "unused_gradients", "weights_of_all"]

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


def unused_gradients(
    scope: Scope, file: ProjectFile, events: Sequence[Event], flow: GradientFlow, forward: Forward, oracle: Oracle
) -> Ownership | None:
    """Return what a backward call has whose gradients end with the function: of a network that nothing else sees.

    A test that calls ``loss.backward()`` asks whether it runs.
    """
    if scope.is_module or any(event.kind != "backward" for event in events):
        return None
    sources = flow.sources(forward.flow_nodes)
    called = [node.func for node in sources if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    networks = [func for func in called if oracle.kind(func).name == "Module"]
    if len(networks) < len(sources) or len({func.id for func in networks}) != 1:
        return None
    network, backward = networks[0], forward.backward
    if not _ends_with(scope, file, oracle, network.id):
        return None
    flow.updated_by_hand.add(network.id)
    return Ownership(backward, (network.id,), (), (), (), (), (backward,), "assign", network=network)


def _ends_with(scope: Scope, file: ProjectFile, oracle: Oracle, network: str) -> bool:
    """Whether a function makes a network itself, of parts that it makes, and only calls it, and its methods."""
    users = [node for statement in scope.body for node in walk(statement)]
    calls = [node for node in users if isinstance(node, ast.Call)]
    funcs = [call.func for call in calls]
    plain = {id(func) for func in funcs}
    plain |= {id(func.value) for func in funcs if isinstance(func, ast.Attribute) and func.attr not in WEIGHTS | PARTS}
    makers = [call for call in calls if oracle.kind(call).name == "Module"]
    plain |= {id(value) for call in makers for value in (*call.args, *(word.value for word in call.keywords))}
    named = sum(getattr(node, "id", "") == getattr(scope.node, "name", None) for node in walk(file.tree))
    is_given = not named and bool(getattr(scope.node, "decorator_list", ()))  # pytest.mark.parametrize
    foreign = frozenset() if is_given else scope.parameters
    queue, seen = [network], set[str]()
    while queue:
        name = queue.pop()
        seen.add(name)
        made = [item.value for item in file.assigned_to(name, scope) if item.owner is scope.node]
        names = [node for node in users if isinstance(node, ast.Name) and node.id == name]
        if not made or any(value not in makers for value in made):
            return False
        if any(isinstance(node.ctx, ast.Load) and id(node) not in plain for node in names):
            return False
        given = [node for value in made for node in walk(value) if isinstance(node, ast.Name)]
        if any(node.id in foreign and oracle.kind(node).name in ("unknown", "Module") for node in given):
            return False
        queue += {node.id for node in given if oracle.kind(node).name == "Module"} - seen
    return True
