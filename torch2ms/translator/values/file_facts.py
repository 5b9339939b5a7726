"""The facts of one file: its analysis, and questions about its expressions that need no more than that."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import libcst as cst

from torch2ms.config import Options, Target
from torch2ms.mapping_tables.lookup import Tables
from torch2ms.reports.model import Place
from torch2ms.translator.syntax.alignment import Alignment
from torch2ms.translator.syntax.ast_walk import children
from torch2ms.translator.values.families import BASE_ROWS
from torch2ms.translator.values.kinds import Kind
from torch2ms.translator.values.world import FileAnalysis, FunctionInfo, World

__all__ = ["FileFacts"]

Found = TypeVar("Found")
Facts = TypeVar("Facts", bound="FileFacts")


class BoundNames(Protocol):
    """Whoever knows which names the imports of a file bind."""

    def is_import(self, name: str) -> bool:
        """Whether an import statement binds ``name``."""


class FileFacts:
    """Everything a query may ask about the file that is translated."""

    imports: BoundNames

    def __init__(self, analysis: FileAnalysis, alignment: Alignment, world: World, options: Options) -> None:
        self.analysis = analysis
        self.alignment = alignment
        self.world = world
        self.options = options
        self.tables: Tables = world.tables
        self.target: Target = options.target
        self.path = analysis.path
        self.functions: list[FunctionInfo | None] = [None]
        self._parents: dict[ast.AST, ast.AST] | None = None
        self._found: dict[Callable[[Any], Any], Any] = {}
        self.small: ast.AST | None = None  # the small statement being rewritten
        self.training: Any = None  # training.plan.file_plan.TrainingPlan, made before the walk

    def kind(self, tree: ast.AST | None) -> Kind:
        """Return the kind of an expression."""
        return self.analysis.kind(tree) if tree is not None else Kind()

    def place(self, tree: ast.AST) -> Place:
        """Return where a node stands."""
        return Place(self.path, getattr(tree, "lineno", 1), getattr(tree, "col_offset", 0) + 1)

    def world_owners(self, base: Kind) -> list[str]:
        """Return the torch classes whose rows answer for members of a value, nearest first."""
        found: list[str] = []
        if base.name not in ("Tensor", "dtype", "module"):
            for key in base.of.split("|") if base.of else ():
                found.extend(self.world.torch_bases(key) if ":" in key else [key])
        if base.name in BASE_ROWS:
            found.append(BASE_ROWS[base.name])
        return found

    @property
    def newest_portable(self) -> Target:
        """The target with the most APIs, to tell "not in this version" from "not on this device"."""
        return Target()

    def statement_tree(self, code: cst.CSTNode) -> ast.stmt | None:
        """Return the analysed statement of a libcst statement that holds just one."""
        if isinstance(code, cst.SimpleStatementLine):
            if len(code.body) != 1:
                return None
            code = code.body[0]
        tree = self.alignment.tree(code)
        return tree if isinstance(tree, ast.stmt) else None

    def parent(self, tree: ast.AST) -> ast.AST | None:
        """Return the node that holds a node."""
        if self._parents is None:
            self._parents = {child: node for node in self.analysis.nodes for child in children(node)}
        return self._parents.get(tree)

    def use_of(self, tree: ast.AST) -> str:
        """Return what a reference is for: ``base``, ``type`` (annotation, isinstance), ``decorator`` or ``value``."""
        child, parent = tree, self.parent(tree)
        while isinstance(parent, (ast.Tuple, ast.Subscript, ast.BinOp, ast.List, ast.Set, ast.Attribute)):
            if isinstance(parent, ast.Subscript) and child is parent.slice and _is_generic(parent.value):
                return "type"  # Images = List[torch.Tensor]
            child, parent = parent, self.parent(parent)
        if isinstance(parent, ast.ClassDef):
            return "base" if child in parent.bases else "decorator" if child in parent.decorator_list else "value"
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return "type" if child is parent.returns else "decorator"
        if isinstance(parent, ast.arg) or (isinstance(parent, ast.AnnAssign) and child is parent.annotation):
            return "type"
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name):
            if parent.func.id in ("isinstance", "issubclass") and child in parent.args[1:]:
                return "type"
            if parent.func.id == "cast" and child in parent.args[:1]:
                return "type"
        if (
            isinstance(parent, ast.Call)
            and getattr(parent.func, "attr", "") == "isinstance"
            and child in parent.args[1:]
        ):
            return "type"  # torch.jit.isinstance
        if isinstance(parent, (ast.Compare, ast.ExceptHandler, ast.MatchClass)):
            return "type"
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr == "type":
            return "type" if child in parent.args else "value"  # x.type(torch.FloatTensor)
        if isinstance(parent, ast.Dict) and child in parent.keys:
            return "type"  # handlers[type(layer)]
        return "type" if self._is_for_tests(_bound(parent, child)) else "value"

    def _is_for_tests(self, names: frozenset[str]) -> bool:
        """Whether the value of some names is only what others are tested for: ``isinstance(m, layers)``."""
        loads = [node for name in names for node in self.once(_reads).get(name, ())]
        return bool(loads) and all(self._is_test(node) for node in loads)

    def once(self: Facts, find: Callable[[Facts], Found]) -> Found:
        """Return what a function finds out about the file, asked once."""
        if find not in self._found:
            self._found[find] = find(self)
        found: Found = self._found[find]
        return found

    def _is_test(self, node: ast.AST) -> bool:
        """Whether a value is only what another is tested for: ``isinstance(m, kinds)``, ``type(m) in kinds``."""
        child, parent = node, self.parent(node)
        while isinstance(parent, (ast.Tuple, ast.List, ast.BinOp)):
            child, parent = parent, self.parent(parent)
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name):
            return parent.func.id in ("isinstance", "issubclass") and child in parent.args[1:]
        return isinstance(parent, ast.Compare) and _is_type(parent.left) and child is not parent.left

    def value_names(self, tree: ast.AST) -> frozenset[str]:
        """Return the names a value is first bound to (targets, parameter, keyword); empty when that is not certain."""
        child, parent = tree, self.parent(tree)
        while isinstance(parent, (ast.IfExp, ast.BoolOp)):
            child, parent = parent, self.parent(parent)
        return _bound(parent, child)

    def is_import_root(self, tree: ast.AST) -> bool:
        """Whether a reference starts at a name that an import binds (not at a local alias)."""
        whole = tree
        while isinstance(tree, ast.Attribute):
            tree = tree.value
            if isinstance(tree, ast.Attribute) and self._holds_module(tree):
                return True
        if not isinstance(tree, ast.Name):
            return False
        if self.imports.is_import(tree.id):
            return True
        # A local alias of a module (``layers = torch.nn``) is as good as an import: what follows it is certain.
        return tree is not whole and self._holds_module(tree)

    def _holds_module(self, tree: ast.expr) -> bool:
        """Whether a name or an attribute (``self.lib = torch``) stands for a module of torch's."""
        kind = self.kind(tree)
        return kind.name == "api" and self.tables.is_module(kind.of)


_GENERICS = frozenset(
    {"Callable", "ClassVar", "Collection", "Dict", "Final", "Generator", "Iterable", "Iterator", "List", "Mapping",
     "Optional", "Sequence", "Set", "Tuple", "Type", "Union", "dict", "list", "set", "tuple", "type"}
)  # fmt: skip


def _is_generic(node: ast.expr) -> bool:
    """Whether what is subscripted is a type with parameters: ``List``, ``typing.Union``."""
    return getattr(node, "attr", getattr(node, "id", "")) in _GENERICS


def _is_type(node: ast.expr) -> bool:
    """Whether an expression is the class of a value: ``type(m)``, ``m.__class__``."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "type"
    return isinstance(node, ast.Attribute) and node.attr == "__class__"


def _reads(ctx: FileFacts) -> dict[str, list[ast.AST]]:
    """Return every place of the file that reads a name or an attribute, by its identifier."""
    found: dict[str, list[ast.AST]] = {}
    for node in ctx.analysis.nodes:
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            found.setdefault(node.id if isinstance(node, ast.Name) else node.attr, []).append(node)
    return found


def _bound(parent: ast.AST | None, child: ast.AST) -> frozenset[str]:
    """Return the names that a statement, keyword or default binds a value to; empty when that is not certain."""
    if isinstance(parent, (ast.Assign, ast.AnnAssign)):
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
        names = {getattr(t, "id", "") or getattr(t, "attr", "") for t in targets}
        return frozenset(names) if "" not in names else frozenset()
    if isinstance(parent, ast.keyword) and parent.arg:
        return frozenset({parent.arg})
    if isinstance(parent, ast.arguments):
        return _default_of(parent, child)
    return frozenset()


def _default_of(arguments: ast.arguments, default: ast.AST) -> frozenset[str]:
    """Return the parameter that a default belongs to."""
    positional = [*arguments.posonlyargs, *arguments.args]
    for arg, value in zip(reversed(positional), reversed(arguments.defaults), strict=False):
        if value is default:
            return frozenset({arg.arg})
    for arg, kw_value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if kw_value is default:
            return frozenset({arg.arg})
    return frozenset()
