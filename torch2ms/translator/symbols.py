"""The index of a project: its modules, how imports find them, and who calls what.

Built once from one cheap look at every file; small enough to be handed to worker processes. What a name *means* is the
business of ``inference``, which reads the files it needs on demand.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from torch2ms.translator.asked_gradients import asks_apart, connected
from torch2ms.translator.handed_losses import steps_for_others
from torch2ms.translator.names import is_torch_name
from torch2ms.translator.optional_imports import optional_imports
from torch2ms.translator.search_paths import added_folders
from torch2ms.translator.trees import walk
from torch2ms.translator.wrapped_optimizers import stepping_methods

__all__ = ["CallShape", "FileIndex", "SymbolTable", "index_file"]

SOURCE_ROOTS = ("", "src", "lib", "python", "source", "code")


@dataclass(frozen=True, slots=True)
class CallShape:
    """How a callee of some name is called somewhere: number of positional arguments, keywords, splats."""

    positional: int
    keywords: tuple[str, ...]
    splat: bool


@dataclass(frozen=True, slots=True)
class FileIndex:
    """What the rest of the project needs to know of one Python file without reading it again."""

    path: str
    imports: frozenset[tuple[int, str]]  # (level, dotted module)
    calls: Mapping[str, frozenset[CallShape]]  # last identifier of the callee -> shapes
    passed: frozenset[str]  # names handed on as arguments: callbacks such as model.apply(init_weights)
    flows: frozenset[tuple[str, str]]  # (from, to): plain copies between names, ``self._norm = norm_layer``
    handed: frozenset[tuple[str, str, int]]  # (name, callee, position): plain names as positional arguments
    escaped: frozenset[str]  # names whose value goes where it cannot be followed: results, containers, other libraries
    parameters: Mapping[str, frozenset[tuple[str, ...]]]  # function or class -> names of its parameters, without self
    public: tuple[str, ...] | None  # the literal ``__all__``
    classes: Mapping[str, frozenset[str]]  # name of a class -> last identifiers of its bases
    methods: Mapping[str, frozenset[str]]  # name of a method -> names of the classes of the file that define it
    stored: frozenset[str]  # attributes set on ``self`` that may be called: layers, functions
    roots: frozenset[str] = frozenset()  # folders that the file puts on sys.path, as far as it writes them out
    asks_for_gradients: bool = False  # whether a function asks weights for gradients that another one computes
    takes_losses: bool = False  # whether an object of the file is handed losses and takes the steps for them
    wrappers: Mapping[str, frozenset[str]] = field(default_factory=dict)  # classes that step an optimizer -> methods
    optional: frozenset[str] = frozenset()  # packages that the file can do without


@dataclass(slots=True)
class _Memory:
    """Answers about the whole project that are asked again and again; they never change."""

    flows: tuple[_Edges, set[str]] | None = None
    callers: dict[str, list[str]] | None = None
    defined: frozenset[str] | None = None
    roots: tuple[PurePosixPath, ...] | None = None
    heirs: dict[str, set[str]] | None = None
    near: dict[str, frozenset[str]] = field(default_factory=dict)
    aliases: dict[frozenset[str], frozenset[str]] = field(default_factory=dict)
    shapes: dict[frozenset[str], frozenset[CallShape]] = field(default_factory=dict)
    modules: dict[tuple[str, str, int], str | None] = field(default_factory=dict)


_NETWORKS = frozenset({"Module", "ModuleList", "ModuleDict", "Sequential"})
_Edges = dict[str | int, set[str | int]]  # name -> names that get its value; a number stands for a position, see _flows
_NOTHING: frozenset[str | int] = frozenset()


@dataclass(frozen=True, slots=True)
class SymbolTable:
    """All Python files of the project, by path relative to SRC."""

    files: Mapping[str, FileIndex]
    folders: frozenset[str] = field(default_factory=frozenset)
    package: str = ""  # the name of SRC's folder when SRC itself is a package
    _memory: _Memory = field(default_factory=lambda: _Memory(), compare=False, repr=False)

    @staticmethod
    def build(files: Iterable[FileIndex], root: str = "") -> SymbolTable:
        """Return the table of these files; ``root`` is the name of the folder they stand in."""
        table = {file.path: file for file in files}
        folders = {str(parent) for path in table for parent in PurePosixPath(path).parents}
        return SymbolTable(table, frozenset(folders), root if "__init__.py" in table else "")

    @property
    def defined(self) -> frozenset[str]:
        """The names of all functions and classes of the project."""
        if self._memory.defined is None:
            self._memory.defined = frozenset(name for file in self.files.values() for name in file.parameters)
        return self._memory.defined

    def callers(self, name: str) -> list[str]:
        """Return the files that call something named ``name`` or hand it on, in order."""
        found = self._memory.callers
        if found is None:
            found = self._memory.callers = {}
            for path in sorted(self.files):
                file = self.files[path]
                for called in file.calls.keys() | file.passed:
                    found.setdefault(called, []).append(path)
        return found.get(name, [])

    def definers(self, name: str) -> frozenset[str]:
        """Return the names of the project's classes that define a method called ``name``."""
        return frozenset(c for file in self.files.values() for c in file.methods.get(name, ()))

    def stores(self, name: str) -> bool:
        """Whether a class of the project has an attribute called ``name`` that may be called."""
        return any(name in file.stored for file in self.files.values())

    def classes_called(self, name: str) -> list[frozenset[str]]:
        """Return the bases of every class of this name, file by file; none where a function has the name as well."""
        files = [file for file in self.files.values() if name in file.parameters]
        return [file.classes[name] for file in files] if all(name in file.classes for file in files) else []

    def bases(self, name: str) -> frozenset[str]:
        """Return the names of all that the project's classes called ``name`` descend from, by identifiers alone."""
        found: set[str] = set()
        queue = [name]
        while queue:
            current = queue.pop()
            new = {base for file in self.files.values() for base in file.classes.get(current, ())} - found
            found |= new
            queue.extend(new)
        return frozenset(found)

    def is_network_mixin(self, name: str) -> bool:
        """Whether every class that descends from those called ``name`` descends from a network as well."""
        heirs = self._memory.heirs
        if heirs is None:
            heirs = self._memory.heirs = {}
            for file in self.files.values():
                for heir, bases in file.classes.items():
                    for base in bases:
                        heirs.setdefault(base, set()).add(heir)
        return bool(heirs.get(name)) and self._mixes(name, heirs, frozenset())

    def _mixes(self, name: str, heirs: Mapping[str, set[str]], asked: frozenset[str]) -> bool:
        return bool(heirs.get(name)) and all(
            heir not in asked and (_NETWORKS & self.bases(heir) or self._mixes(heir, heirs, asked | {name}))
            for heir in heirs[name]
        )

    def shapes(self, names: frozenset[str]) -> frozenset[CallShape]:
        """Return every way in which something named like one of ``names`` is called anywhere in the project."""
        known = self._memory.shapes
        if names not in known:
            found: set[CallShape] = set()
            for file in self.files.values():
                for name in names & file.calls.keys():
                    found |= file.calls[name]
            known[names] = frozenset(found)
        return known[names]

    def calls_any(self, path: str, names: frozenset[str]) -> bool:
        """Whether a file calls something by one of ``names``, the last part of the callee."""
        return path in self.files and not names.isdisjoint(self.files[path].calls)

    def escapes(self, names: frozenset[str]) -> bool:
        """Whether the value of one of ``names`` goes where nobody can say how it will be called."""
        return not self._flows()[1].isdisjoint(names)

    def aliases(self, names: frozenset[str]) -> frozenset[str]:
        """Return ``names`` and every name that a plain copy or an argument gives their value to."""
        known = self._memory.aliases
        if names not in known:
            edges = self._flows()[0]
            reached: set[str | int] = set(names)
            queue: list[str | int] = list(names)
            while queue:
                new = edges.get(queue.pop(), _NOTHING) - reached
                reached |= new
                queue.extend(new)
            known[names] = frozenset(name for name in reached if isinstance(name, str))
        return known[names]

    def _flows(self) -> tuple[_Edges, set[str]]:
        """Return where the values of names go: to other names, or out of sight; found once."""
        if self._memory.flows is None:
            self._memory.flows = _flows(self.files.values())
        return self._memory.flows

    @property
    def is_data_parallel(self) -> bool:
        """Whether the project wraps a network in DistributedDataParallel: its steps must average the gradients."""
        return any("DistributedDataParallel" in file.calls or "DDP" in file.calls for file in self.files.values())

    def is_near(self, fact: str, path: str) -> bool:
        """Whether imports connect a file with one of which a fact holds: ``"asks_for_gradients"``, ``"wrappers"``."""
        if fact not in self._memory.near:
            start = frozenset(path for path, file in self.files.items() if getattr(file, fact))
            self._memory.near[fact] = connected(start, self.files, self.find_module)
        return path in self._memory.near[fact]

    @property
    def takes_losses(self) -> bool:
        """Whether an object that the project defines is handed losses and takes the steps for them."""
        return any(file.takes_losses for file in self.files.values())

    @property
    def wraps_networks(self) -> bool:
        """Whether the project wraps a network for several devices: the wrapper goes, and its ``.module`` with it."""
        return self.is_data_parallel or any("DataParallel" in file.calls for file in self.files.values())

    def find_module(self, importer: str, module: str, level: int) -> str | None:
        """Return the path an import names: a ``.py`` file, or a folder with a trailing ``/``; None outside the project.

        Python looks beside the script first, so the importer's own folder and its parents come before the root.
        """
        question = (importer, module, level)
        known = self._memory.modules
        if question not in known:
            known[question] = self._find_module(importer, module, level)
        return known[question]

    def _find_module(self, importer: str, module: str, level: int) -> str | None:
        parts = [part for part in module.split(".") if part]
        here = PurePosixPath(importer).parent
        if level:
            for _ in range(level - 1):
                here = here.parent
            return self._at(here, parts)
        if self.package and parts and parts[0] == self.package:
            return self._at(PurePosixPath("."), parts[1:])
        for base in [here, *here.parents, *(PurePosixPath(root) for root in SOURCE_ROOTS), *self._roots()]:
            found = self._at(base, parts)
            if found is not None and found != importer:
                return found
        return None

    def _roots(self) -> tuple[PurePosixPath, ...]:
        """Return the folders of the project that its scripts put on ``sys.path``; found once."""
        if self._memory.roots is None:
            said = {name for file in self.files.values() for name in file.roots}
            found = (f for f in sorted(self.folders) if any(f == name or f.endswith(f"/{name}") for name in said))
            self._memory.roots = tuple(map(PurePosixPath, found))
        return self._memory.roots

    def is_torch(self, importer: str, module: str, level: int = 0) -> bool:
        """Whether an import is torch's or torchvision's, and not the project's own (SRC may be torchvision itself)."""
        root = module.partition(".")[0]
        if level or not is_torch_name(module) or (importer in self.files and root in self.files[importer].optional):
            return False
        found = self.find_module(importer, root, level)
        return found is None or found.endswith("/")  # a folder that is no package does not hide the installed one

    def scripts(self) -> frozenset[str]:
        """Return the files that no file imports and that stand in no package."""
        imported = {
            self.find_module(path, module, level) for path, file in self.files.items() for level, module in file.imports
        }
        outside = (p for p in self.files if str(PurePosixPath(p).parent / "__init__.py") not in self.files)
        return frozenset(path for path in outside if path not in imported)

    def _at(self, base: PurePosixPath, parts: list[str]) -> str | None:
        name = str(base.joinpath(*parts))
        if f"{name}.py" in self.files:
            return f"{name}.py"
        init = "__init__.py" if name == "." else f"{name}/__init__.py"
        if init in self.files:
            return init
        return f"{name}/" if name in self.folders and name != "." else None


def _flows(files: Iterable[FileIndex]) -> tuple[_Edges, set[str]]:
    """Return where the values of names go in these files: name -> other names, and the names that go out of sight.

    A callee that is itself a variable may be any function of the project: what it is handed goes to every parameter at
    that position, and the position stands for all of them.
    """
    files = list(files)
    own: dict[str, set[tuple[str, ...]]] = {}
    for file in files:
        for name, lists in file.parameters.items():
            own.setdefault(name, set()).update(lists)
    every = _by_position({parameters for lists in own.values() for parameters in lists})
    slots = {name: _by_position(lists) for name, lists in own.items()}
    variables = {name for names in every for name in names}
    edges: _Edges = {position: set(names) for position, names in enumerate(every)}
    escaped: set[str] = set()
    for file in files:
        escaped |= file.escaped
        for name, to in file.flows:
            edges.setdefault(name, set()).add(to)
        for name, callee, position in file.handed:
            targets = slots.get(callee)
            if targets is None:
                edges.setdefault(name, set()).add(position)
                if callee not in variables:
                    escaped.add(name)
            elif position < len(targets):
                edges.setdefault(name, set()).update(targets[position])
    return edges, escaped


def _by_position(lists: Iterable[tuple[str, ...]]) -> list[set[str]]:
    """Return for each position the names that parameters have there."""
    slots: list[set[str]] = []
    for names in lists:
        for position, name in enumerate(names):
            if position == len(slots):
                slots.append(set())
            slots[position].add(name)
    return slots


def index_file(path: str, tree: ast.Module) -> FileIndex:
    """Return the index of one parsed file."""
    imports: set[tuple[int, str]] = set()
    calls: dict[str, set[CallShape]] = {}
    passed: set[str] = set()
    handed: set[tuple[str, str, int]] = set()
    values = _Values()
    attributes = _Attributes()
    classes: dict[str, set[str]] = {}
    methods: dict[str, set[str]] = {}
    parameters: dict[str, set[tuple[str, ...]]] = {}
    roots: set[str] = set()
    for node in walk(tree):
        if node.__class__ is not ast.Constant:
            values.see(node)
        if node.__class__ in (ast.Constant, ast.Name):
            continue
        attributes.see(node)
        if isinstance(node, ast.Call):
            name = _last(node.func)
            splat = any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords)
            if name:
                keywords = tuple(sorted(k.arg for k in node.keywords if k.arg))
                calls.setdefault(name, set()).add(CallShape(len(node.args), keywords, splat))
            roots.update(added_folders(node) if name in ("append", "insert") else ())
            passed.update(a.id for a in node.args if isinstance(a, ast.Name))
            if not any(isinstance(a, ast.Starred) for a in node.args):
                handed.update((_last(a), name, i) for i, a in enumerate(node.args) if _last(a))
                values.followed.update(node.args)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            parameters.setdefault(node.name, set()).add(_parameter_names(node))
        elif isinstance(node, ast.ClassDef):
            classes.setdefault(node.name, set()).update(_last(base) for base in node.bases)
            for method in _methods(node.body):
                methods.setdefault(method, set()).add(node.name)
            parameters.setdefault(node.name, set()).update(_starting_names(node))
        elif isinstance(node, ast.Import):
            imports.update((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            imports.add((node.level, node.module or ""))
            imports.update((node.level, f"{node.module or ''}.{a.name}".lstrip(".")) for a in node.names)
    return FileIndex(
        path,
        frozenset(imports),
        {name: frozenset(found) for name, found in calls.items()},
        frozenset(passed),
        frozenset(values.flows),
        frozenset(handed),
        values.escaped(),
        {name: frozenset(found) for name, found in parameters.items()},
        _declared_all(tree),
        {name: frozenset(found) for name, found in classes.items()},
        {name: frozenset(found) for name, found in methods.items()},
        attributes.callable(),
        frozenset(roots),
        attributes.has_gradients and asks_apart(tree),
        "backward" in calls and steps_for_others(tree),
        stepping_methods(tree) if "step" in calls else {},
        optional_imports(tree, imports),
    )


_PLAIN_MAKERS = frozenset({"int", "float", "bool", "str", "len", "tuple", "list", "dict", "set", "min", "max", "sum"})


class _Attributes:
    """The attributes that a file's classes set on ``self`` and that may be called: layers, functions."""

    def __init__(self) -> None:
        self._set: set[str] = set()
        self._made: set[str] = set()
        self._called: set[str] = set()
        self.has_gradients = False  # whether anything is asked for an attribute called ``grad``

    def see(self, node: ast.AST) -> None:
        """Take in one node."""
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and _last(node.func.value) == "self":
                self._called.add(node.func.attr)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = {t.attr for t in targets if isinstance(t, ast.Attribute) and _last(t.value) == "self"}
            self._set |= names
            made = isinstance(node.value, ast.Call) and _last(node.value.func) not in _PLAIN_MAKERS
            if made or isinstance(node.value, ast.Lambda):
                self._made |= names
        elif isinstance(node, ast.Attribute) and node.attr == "grad":
            self.has_gradients = True

    def callable(self) -> frozenset[str]:
        """Return those that are set to something that may be called, or set and called."""
        return frozenset(self._made | (self._set & self._called))


def _methods(body: Iterable[ast.stmt]) -> Iterator[str]:
    """Yield the names that the body of a class gives to methods and attributes."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        elif isinstance(node, (ast.If, ast.Try)):
            yield from _methods([*node.body, *node.orelse])


class _Values:
    """Where the values of plain names go: to other names, to nothing that matters, or out of sight."""

    def __init__(self) -> None:
        self.flows: set[tuple[str, str]] = set()
        self.followed: set[ast.AST] = set()
        self._loads: list[ast.Name | ast.Attribute] = []

    def see(self, node: ast.AST) -> None:
        """Take in one node; parents come before their children."""
        if isinstance(node, (ast.Name, ast.Attribute)):
            if isinstance(node.ctx, ast.Load):
                self._loads.append(node)
            if isinstance(node, ast.Attribute):
                self.followed.add(node.value)
        elif isinstance(node, ast.Call):
            self.followed.add(node.func)
            for keyword in node.keywords:
                if keyword.arg:
                    self._flow(keyword.value, [keyword.arg])
        elif isinstance(node, ast.Assign):
            self._flow(node.value, [target for t in node.targets if (target := _last(t))])
        elif isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert)):
            self._tested(node.test)
        elif isinstance(node, ast.Compare):
            self.followed.update((node.left, *node.comparators))
        elif isinstance(node, ast.FormattedValue):
            self.followed.add(node.value)

    def _flow(self, value: ast.expr, targets: list[str]) -> None:
        """Follow a value, or each of several it may be, to the names it goes to."""
        if isinstance(value, ast.BoolOp):
            for part in value.values:
                self._flow(part, targets)
        elif isinstance(value, ast.IfExp):
            self._flow(value.body, targets)
            self._flow(value.orelse, targets)
        elif _last(value) and targets:
            self.flows.update((_last(value), target) for target in targets)
            self.followed.add(value)

    def _tested(self, test: ast.expr) -> None:
        if isinstance(test, ast.BoolOp):
            for part in test.values:
                self._tested(part)
        elif isinstance(test, ast.UnaryOp):
            self._tested(test.operand)
        else:
            self.followed.add(test)

    def escaped(self) -> frozenset[str]:
        """Return the names whose value went out of sight somewhere."""
        return frozenset(_last(node) for node in self._loads if node not in self.followed)


def _parameter_names(node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ...]:
    names = [arg.arg for arg in [*node.args.posonlyargs, *node.args.args]]
    return tuple(names[1:] if names[:1] in (["self"], ["cls"]) else names)


def _starting_names(node: ast.ClassDef) -> list[tuple[str, ...]]:
    return [_parameter_names(n) for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]


def _declared_all(tree: ast.Module) -> tuple[str, ...] | None:
    """Return the literal names of ``__all__``, or None when there is none or it cannot be read."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            try:
                return tuple(str(name) for name in ast.literal_eval(node.value))
            except ValueError:
                return None
    return None


def _last(node: ast.expr) -> str:
    """Return the last identifier of a name or attribute chain, else an empty string."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
