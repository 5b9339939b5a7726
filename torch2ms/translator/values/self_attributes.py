"""What the methods of a class do with the attributes of ``self``."""

from __future__ import annotations

import ast

from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.containers import PUTTING
from torch2ms.translator.values.declarations import FunctionInfo

__all__ = ["INPLACE_AT", "is_inplace", "made_of_themselves", "stores", "targets_made_of_themselves"]


def made_of_themselves(node: ast.AST) -> frozenset[str]:
    """Return the attributes that a method sets to nothing but what their own methods give: ``self.m = self.m.to(d)``.

    Or to what they were, counted on: ``self.place = (self.place + 1) % self.size``.

    Nothing is known of such a value before the attribute itself is known: it says nothing against what others say.
    """
    stored: dict[str, bool] = {}
    for item in walk(node):
        for target in item.targets if isinstance(item, ast.Assign) else ():
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
                value = getattr(item, "value", None)
                stored[target.attr] = stored.get(target.attr, True) and _is_made_of(value, target.attr)
    return frozenset(name for name, itself in stored.items() if itself)


def targets_made_of_themselves(info: FunctionInfo) -> frozenset[ast.AST]:
    """Return the targets ``self.m`` that a method gives a value of their own, as ``self.m = self.m.to(d)`` does."""
    if info.renewed is None:
        found = [
            target
            for item in walk(info.node)
            for target in (item.targets if isinstance(item, ast.Assign) else ())
            if isinstance(target, ast.Attribute)
            and isinstance(item, ast.Assign)
            and isinstance(item.value, ast.Call)
            and _is_made_of(item.value, target.attr)
        ]
        info.renewed = frozenset(found)
    return info.renewed


def _is_made_of(value: ast.AST | None, name: str) -> bool:
    if isinstance(value, ast.IfExp):
        return all(_is_made_of(part, name) for part in (value.body, value.orelse))
    if isinstance(value, ast.Constant):
        return value.value is None
    if isinstance(value, ast.BinOp):
        return _counts(value, name)
    if not isinstance(value, ast.Call):
        return False
    inner: ast.AST = value
    if _called(value) in _GIVING_BACK and value.args:
        inner = ast.Call(value.args[0], [], [])  # as if it were a method of what it is handed
    while isinstance(inner, (ast.Call, ast.Attribute)):
        if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name):
            return inner.value.id == "self" and inner.attr == name
        inner = inner.func if isinstance(inner, ast.Call) else inner.value
    return False


def _counts(value: ast.expr, name: str) -> bool:
    """Whether a value is what the attribute was, counted on: ``(self.place + 1) % self.size``."""
    if isinstance(value, ast.BinOp):
        step = value.right
        is_int = isinstance(step, ast.Constant) and type(step.value) is int
        is_size = isinstance(value.op, ast.Mod) and isinstance(step, (ast.Name, ast.Attribute))
        return (is_int or is_size) and isinstance(value.op, _COUNTING) and _counts(value.left, name)
    return (
        isinstance(value, ast.Attribute)
        and value.attr == name
        and isinstance(value.value, ast.Name)
        and value.value.id == "self"
    )


_COUNTING = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)

# Functions of torch.nn.utils that change a layer and give it back: ``self.conv = remove_weight_norm(self.conv)``
_GIVING_BACK = frozenset(
    "weight_norm spectral_norm register_parametrization remove_parametrizations remove_weight_norm "
    "remove_spectral_norm".split()
)


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def stores(info: FunctionInfo) -> bool:
    """Whether a method sets attributes of ``self``, or puts something into them."""
    if info.stores is None:
        info.stores = _stores_on_self(info.node)
    return info.stores


def _stores_on_self(node: ast.AST) -> bool:
    for child in walk(node):
        target: ast.expr | None = None
        if isinstance(child, ast.Attribute) and isinstance(child.ctx, ast.Store):
            target = child
        elif isinstance(child, ast.Subscript) and isinstance(child.ctx, ast.Store):
            target = child.value
        elif isinstance(child, ast.Call) and isinstance(child.func, ast.Attribute) and child.func.attr in PUTTING:
            target = child.func.value
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
            return True
    return False


# Where layers take ``inplace`` by position: ``nn.ReLU(True)``, ``nn.LeakyReLU(0.2, True)``
INPLACE_AT = {
    **dict.fromkeys(("ReLU", "ReLU6", "SELU", "SiLU", "Mish", "Hardswish", "Hardsigmoid"), 0),
    **dict.fromkeys(("LeakyReLU", "ELU", "CELU", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout"), 1),
    **dict.fromkeys(("Threshold", "RReLU", "Hardtanh"), 2),
}


def _is_norm(made: ast.Call) -> bool:
    """Whether a layer that is none of torch's is made of sizes: ``inplace`` is its activation's, behind its norm."""
    return bool(made.args) and _called(made) not in INPLACE_AT


def is_inplace(value: ast.expr, *, is_layer: bool = True) -> bool:
    """Whether an expression makes a layer that changes its input: ``nn.ReLU(inplace=True)``, ``nn.ReLU(True)``.

    Or, where it is no layer, changes its first argument itself.
    """
    if not isinstance(value, ast.Call):
        return False
    name = _called(value)
    if any(k.arg == "inplace" and isinstance(k.value, ast.Constant) and k.value.value is True for k in value.keywords):
        return not (is_layer and _is_norm(value))
    place = INPLACE_AT.get(name)
    given = value.args[place] if place is not None and len(value.args) > place else None
    return isinstance(given, ast.Constant) and given.value is True
