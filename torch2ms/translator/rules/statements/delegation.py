"""Networks that hand unknown names on to a part: ``def __getattr__(self, name): ... return getattr(self.model, name)``.

``Cell.__init__`` asks for attributes before there is any part, where a look-up of the part would ask for itself.
"""

from __future__ import annotations

import ast

import libcst as cst

__all__ = ["guard_delegation"]


def guard_delegation(updated: cst.FunctionDef, tree: ast.FunctionDef | ast.AsyncFunctionDef) -> cst.FunctionDef:
    """Return a network's ``__getattr__`` that does not look the part up in itself."""
    names = [arg.arg for arg in tree.args.args]
    if tree.name != "__getattr__" or len(names) != 2:
        return updated
    guarded = updated.visit(_Guard(*names))
    assert isinstance(guarded, cst.FunctionDef)
    return guarded


class _Guard(cst.CSTTransformer):
    def __init__(self, owner: str, name: str) -> None:
        super().__init__()
        self.owner, self.name = owner, name

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine | cst.FlattenSentinel[cst.BaseStatement]:
        """Put the test in front of a statement that returns a member of a part."""
        part = self._part(updated_node)
        if part is None:
            return updated_node
        test = cst.parse_statement(f'if {self.name} == "{part}":\n    raise AttributeError({self.name})\n')
        assert isinstance(test, cst.If)
        test = test.with_changes(leading_lines=updated_node.leading_lines)
        return cst.FlattenSentinel([test, updated_node.with_changes(leading_lines=[])])

    def _part(self, node: cst.SimpleStatementLine) -> str | None:
        """Return the part whose member of the asked name a statement returns."""
        value = node.body[0].value if len(node.body) == 1 and isinstance(node.body[0], cst.Return) else None
        if not isinstance(value, cst.Call) or len(value.args) < 2 or not isinstance(value.args[0].value, cst.Attribute):
            return None
        part, asked = value.args[0].value, value.args[1].value
        is_own = isinstance(part.value, cst.Name) and part.value.value == self.owner
        return part.attr.value if is_own and isinstance(asked, cst.Name) and asked.value == self.name else None
