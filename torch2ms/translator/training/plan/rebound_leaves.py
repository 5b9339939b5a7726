"""Leaves whose names are bound anew: to another leaf, which has no gradient yet, or to what is computed of them."""

from __future__ import annotations

import ast
from functools import cached_property

from torch2ms.translator.effects.gradient_marks import is_cut, is_marked, may_be_marked
from torch2ms.translator.effects.names_used import is_no_grad, reads
from torch2ms.translator.effects.reads_and_writes import dotted_path
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.training.leaf_model import LeafUnit

__all__ = ["RemadeLeaves"]


class RemadeLeaves:
    """The part of a scope's planning that tells one tensor of a name from the next."""

    grads: list[ast.Attribute]
    nodes: list[ast.AST]
    marks: dict[str, int]

    @cached_property
    def blocks(self) -> dict[int, list[ast.stmt]]:
        """The block that each statement stands in."""
        raise NotImplementedError

    def _around(self, node: ast.AST) -> list[ast.AST]:
        raise NotImplementedError

    def _binds(self, node: ast.AST) -> set[str]:
        raise NotImplementedError

    def _loops(self, node: ast.AST) -> list[ast.AST]:
        raise NotImplementedError

    def _definitions(self, path: str) -> list[ast.Assign | ast.AnnAssign]:
        """Return what binds a name, but for what changes the tensor it holds."""
        return [
            n
            for n in self.nodes
            if isinstance(n, (ast.Assign, ast.AnnAssign))
            and path in self._binds(n)
            and (path not in reads(n) or (n.value is not None and is_marked(n.value)))
        ]

    def _is_unmarked(self, path: str, statement: ast.stmt) -> bool:
        """Whether a name that holds a leaf before, or later, is bound to a plain tensor when a backward call runs."""
        before = [node for node in self._definitions(path) if node.lineno < statement.lineno]
        if path not in self.marks or not before or self._loops(statement):
            return False
        last = max(before, key=lambda node: node.lineno)
        if not isinstance(last.value, ast.Call) or may_be_marked(last) or reads(last) & set(self.marks):
            return False
        if self.blocks.get(id(last)) is not self.blocks.get(id(statement)):
            return False
        marked = (
            n for n in self.nodes if isinstance(n, ast.Attribute) and n.attr in ("requires_grad", "requires_grad_")
        )
        return not any(last.lineno < n.lineno < statement.lineno and dotted_path(n.value) == path for n in marked)

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

    def _is_uncertainly_anew(self, read: ast.Attribute, path: str) -> bool:
        """Whether what took the name may not have run when the gradient is read, or a backward call after it has."""
        if self._loops(read) or not isinstance(read.ctx, ast.Load):
            return True
        last = max((n for n in self._definitions(path) if n.lineno < read.lineno), key=lambda node: node.lineno)
        return not any(isinstance(n, ast.stmt) and n in self.blocks[id(last)] for n in self._around(read))
