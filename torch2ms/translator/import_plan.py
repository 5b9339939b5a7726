"""References: how emitted code names an API, and the imports that takes.

Modules come in under the names MindSpore's own code uses (``nn``, ``ops``, ``ms``); a name that the file binds
otherwise is never taken. Classes and functions that the source imported bare stay bare.
"""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass

import libcst as cst

from torch2ms.config import Options
from torch2ms.mapping_tables.counterparts import is_staying, moved, target_package
from torch2ms.translator.syntax.cst_builders import dotted_name
from torch2ms.translator.syntax.names import imported
from torch2ms.translator.values.kinds import UNKNOWN
from torch2ms.translator.values.world import FileAnalysis, World

__all__ = ["GUARD", "ImportPlan", "Needed", "hands_on"]

GUARD = "try:  # only for what is marked TORCH2MS below"  # before the imports of torch that stay

RUNTIME = "torch2ms.runtime"
_BUILTINS = frozenset(dir(builtins))

# module -> (module imported from, name imported, alias); "import a.b as c" when nothing is imported from.
_HOMES: tuple[tuple[str, str, str, str], ...] = (
    ("mindspore.common.initializer", "", "mindspore.common.initializer", "init"),
    ("mindspore.experimental.optim.lr_scheduler", "mindspore.experimental.optim", "lr_scheduler", "lr_scheduler"),
    ("mindspore.experimental.optim", "mindspore.experimental", "optim", "optim"),
    ("mindspore.dataset.vision", "mindspore.dataset", "vision", "vision"),
    ("mindspore.dataset.transforms", "mindspore.dataset", "transforms", "transforms"),
    ("mindspore.dataset", "", "mindspore.dataset", "ds"),
    ("mindspore.numpy", "", "mindspore.numpy", "mnp"),
    ("mindspore.mint", "mindspore", "mint", "mint"),
    ("mindspore.nn", "mindspore", "nn", "nn"),
    ("mindspore.ops", "mindspore", "ops", "ops"),
    ("mindspore.amp", "mindspore", "amp", "amp"),
    ("mindspore", "", "mindspore", "ms"),
    ("numpy", "", "numpy", "np"),
    ("math", "", "math", "math"),
    ("collections.abc", "collections", "abc", "abc"),
)


@dataclass(frozen=True, slots=True, order=True)
class Needed:
    """One name to import: ``from module import name as alias``, or ``import name as alias`` without module."""

    module: str
    name: str
    alias: str


def hands_on(world: World, path: str, module: str, level: int, name: str) -> bool:
    """Say whether ``from module import name``, written in ``path``, gets a name of torch's from a project file.

    Such a file has the name no longer once it is translated.
    """
    if world.symbols.is_torch(path, module, level) or takes_variable(world, path, module, level, name):
        return False
    found = world.symbols.find_module(path, module, level)
    return found is not None and world.export(found, name).name == "api"


def takes_variable(world: World, path: str, module: str, level: int, name: str) -> bool:
    """Say whether ``from module import name`` gets a variable of a project file that may hold one of several names.

    Such a file has the variable still when it is translated: ``DTYPE = ms.float16 if fast else ms.float32``.
    """
    found = world.symbols.find_module(path, module, level)
    kind = world.export(found, name) if found is not None else UNKNOWN
    if found is None or found.endswith("/") or kind.name != "api" or "|" not in kind.of:
        return False
    analysis = world.file(found)
    body = analysis.tree.body if analysis is not None else []
    targets = (target for node in body if isinstance(node, ast.Assign) for target in node.targets)
    return any(isinstance(part, ast.Name) and part.id == name for target in targets for part in ast.walk(target))


class ImportPlan:
    """The imports that the emitted file needs, and the torch imports that must stay."""

    def __init__(self, analysis: FileAnalysis, world: World, options: Options) -> None:
        self.runtime = options.package if options.runtime == "copied" else RUNTIME
        self.needed: dict[Needed, None] = {}
        self.kept: set[str] = set()  # modules of torch that are still needed
        self._modules: set[str] = set()  # modules that the file itself imports or imports from
        self._imports: dict[str, list[tuple[str, str | None]]] = {}  # bound name -> (module, attribute)
        self._local: set[tuple[str, str, str]] = set()  # alias, module, attribute of imports that stay in their blocks
        self._stars = False
        self._variables: set[str] = set()  # of other files, imported
        self._bound: set[str] = set()
        self._torch: set[str] = set()
        self._taken: dict[str, str] = {}  # alias -> what it stands for
        self._scan(analysis, world)

    def imports(self, module: str) -> bool:
        """Whether the source itself imports a module, or something from it."""
        return module in self._modules

    def _scan(self, analysis: FileAnalysis, world: World) -> None:
        path = analysis.path
        first = frozenset(map(id, analysis.tree.body))
        for node in analysis.nodes:
            if isinstance(node, ast.Name):  # most nodes are names
                if node.ctx.__class__ is not ast.Load:
                    self._bound.add(node.id)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                dotted = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
                self._modules.update(dotted)
                for name, module, attribute in imported(node):
                    if name == "*":
                        self._stars = True
                        continue
                    level = getattr(node, "level", 0)
                    if level == 0 and id(node) not in first and (new := moved(module, attribute)) is not None:
                        self._imports.setdefault(name, []).append(new)
                        self._local.add((name, *new))
                        self._bound.add(name)
                        continue
                    from_torch = (
                        world.symbols.is_torch(path, module, level) and not is_staying(module, attribute)
                    ) or (attribute is not None and hands_on(world, path, module, level, attribute))
                    self._imports.setdefault(name, []).append(("." * level + module, attribute))
                    (self._torch if from_torch else self._bound).add(name)
                    if attribute is not None and takes_variable(world, path, module, level, attribute):
                        self._variables.add(name)
            elif isinstance(node, ast.arg):
                self._bound.add(node.arg)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self._bound.add(node.name)

    def state(self) -> tuple[dict[Needed, None], set[str], dict[str, str]]:
        """Return what is planned so far, for ``restore``."""
        return dict(self.needed), set(self.kept), dict(self._taken)

    def restore(self, state: tuple[dict[Needed, None], set[str], dict[str, str]]) -> None:
        """Go back to an earlier plan."""
        self.needed, self.kept, self._taken = state

    def is_import(self, name: str) -> bool:
        """Whether an import statement binds ``name`` (a star import binds what nothing else does).

        To a function, a class or a module: a variable of another file, which may be one of several, is none of these.
        """
        return (name in self._imports and name not in self._variables) or (self._stars and name not in self._bound)

    def keep(self, name: str) -> None:
        """Have the file import what a reference to ``name`` needs: torch, and the module the file took it from."""
        self.kept.add(name.partition(".")[0])
        self.kept.update(module for module in self._modules if name.startswith(f"{module}."))

    def reference(self, name: str, like: ast.AST | None = None) -> cst.BaseExpression:
        """Return an expression for a canonical name and plan its import."""
        if name.startswith(f"{RUNTIME}."):
            return self._runtime(name, like)
        for module, source, imported_name, alias in _HOMES:
            if name == module or name.startswith(f"{module}."):
                rest = name[len(module) + 1 :]
                if isinstance(like, ast.Name) and rest and "." not in rest:
                    return self._bare(module, rest, like.id)
                root = self._alias(Needed(source, imported_name, alias))
                return dotted_name(f"{root}.{rest}" if rest else root)
        if (package := target_package(name)) is not None:
            return self._of_package(name, package, like)
        module, _, _last = name.rpartition(".")
        if not module:
            return cst.Name(name)
        if isinstance(like, ast.Name):
            return self._bare(module, _last, like.id)
        root = self._alias(Needed("", module, module))
        return dotted_name(f"{root}.{_last}")

    def _of_package(self, name: str, package: str, like: ast.AST | None) -> cst.BaseExpression:
        """Name what another package has, or the package itself, as the source names what it stands for."""
        parent, _, last = name.rpartition(".")
        if name == package:
            return cst.Name(self._alias(Needed(parent, last, last)))
        if isinstance(like, ast.Attribute):
            return cst.Attribute(self._of_package(parent, package, like.value), cst.Name(last))
        return self._bare(parent, last, like.id if isinstance(like, ast.Name) else last)

    def _runtime(self, name: str, like: ast.AST | None) -> cst.BaseExpression:
        path = name[len(RUNTIME) + 1 :]
        module, _, rest = path.partition(".")
        if isinstance(like, ast.Name) and rest and "." not in rest:
            return self._bare(f"{self.runtime}.{module}", rest, like.id)
        root = self._alias(Needed(self.runtime, module, module))
        return dotted_name(f"{root}.{rest}" if rest else root)

    def _bare(self, module: str, name: str, written: str) -> cst.Name:
        """Keep a bare name bare: under its own new name, or under the alias the source gave it."""
        if (written, module, name) in self._local:
            return cst.Name(written)
        original = next((attribute for _, attribute in self._imports.get(written, ()) if attribute), written)
        alias = name if written == original else written
        return cst.Name(self._alias(Needed(module, name, alias)))

    def _alias(self, wanted: Needed) -> str:
        """Return the name under which something is imported, evading every name the file binds otherwise."""
        existing = self._already(wanted)
        if existing is not None:
            return existing
        alias = wanted.alias
        prefix = "t2m_" if wanted.module.startswith(self.runtime) else "ms_"
        meaning = f"{wanted.module}:{wanted.name}"
        while self._clashes(alias, meaning):
            alias = f"{prefix}{alias}"
        self._taken[alias] = meaning
        self.needed[Needed(wanted.module, wanted.name, alias)] = None
        return alias

    def _clashes(self, alias: str, meaning: str) -> bool:
        if alias in self._taken:
            return self._taken[alias] != meaning
        if alias in self._bound:
            return True
        return alias in _BUILTINS and alias not in self._torch

    def _already(self, wanted: Needed) -> str | None:
        """Return the name under which the file itself imports something, at any level but only once."""
        for alias, origins in self._imports.items():
            if len(origins) == 1 and alias in self._bound:
                module, attribute = origins[0]
                if attribute is None and not wanted.module and module == wanted.name:
                    return alias
                is_same = module == wanted.module and attribute == wanted.name
                if attribute is not None and is_same and (alias, module, attribute) not in self._local:
                    return alias
        return None
