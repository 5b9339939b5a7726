"""Leaves whose names are bound anew: to another leaf, which has no gradient yet, or to what is computed of them."""

from __future__ import annotations

import ast
from functools import cached_property

from torch2ms.translator.effects import dotted_path
from torch2ms.translator.training.leaf_plan import LeafUnit
from torch2ms.translator.training.marks import is_cut
from torch2ms.translator.training.names_used import is_no_grad
from torch2ms.translator.trees import walk

__all__ = ["RemadeLeaves"]


class RemadeLeaves:
    """The part of a scope's planning that tells one tensor of a name from the next."""

    grads: list[ast.Attribute]

    @cached_property
    def blocks(self) -> dict[int, list[ast.stmt]]:
        """The block that each statement stands in."""
        raise NotImplementedError

    def _around(self, node: ast.AST) -> list[ast.AST]:
        raise NotImplementedError

    def _binds(self, node: ast.AST) -> set[str]:
        raise NotImplementedError

    def _definitions(self, path: str) -> list[ast.Assign | ast.AnnAssign]:
        raise NotImplementedError

    def _loops(self, node: ast.AST) -> list[ast.AST]:
        raise NotImplementedError

    def _is_remade(self, node: ast.AST, named: set[str]) -> bool:
        """Whether a leaf's name is bound to what is none, or to a new leaf, and nobody takes it for the old one.

        A loop may make its leaf anew each time: ``x = x.detach().requires_grad_()``, and at its end ``x = x + step``.
        """
        if any(is_no_grad(parent) for parent in self._around(node)) or is_cut(node):
            return True
        if self._is_of_gradients(node, named):
            end = (getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0))
            return not any((n.lineno, n.col_offset) > end and dotted_path(n.value) in named for n in self.grads)
        block = self.blocks.get(id(node), [])
        inner = self._loops(node)[:1]
        if not inner or getattr(inner[0], "body", None) is not block or not isinstance(node, ast.stmt):
            return False
        first = next((s for s in block if self._binds(s) & named), None)
        late = any(n.lineno > node.lineno and dotted_path(n.value) in named for n in self.grads)
        return first is not None and is_cut(first) and not late

    def _is_of_gradients(self, node: ast.AST, named: set[str]) -> bool:
        """Whether a statement binds a leaf's name to what it computes of the gradient alone: ``d = unit(d.grad)``."""
        if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
            return False
        gradients = {id(n.value) for n in self.grads}
        read = [n for n in walk(node.value) if isinstance(n, ast.Name) and n.id in named]
        return bool(read) and all(id(n) in gradients for n in read)

    def _is_anew(self, read: ast.Attribute, path: str, own: list[LeafUnit]) -> bool:
        """Whether a gradient is read of a tensor that took the name since the last backward call: it has none."""
        before = [unit.statement.lineno for unit in own if unit.statement.lineno < read.lineno]
        made = [node.lineno for node in self._definitions(path) if node.lineno < read.lineno]
        return bool(before and made) and max(made) > max(before)
