"""The index of a project: its modules, how imports find them, and who calls what.

Built once from one cheap look at every file; small enough to be handed to worker processes. What a name *means* is the
business of ``inference``, which reads the files it needs on demand.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from torch2ms.translator.project.file_index import CallShape, FileIndex
from torch2ms.translator.syntax.names import is_torch_name

__all__ = ["SymbolTable"]

SOURCE_ROOTS = ("", "src", "lib", "python", "source", "code")


@dataclass(slots=True)
class _Memory:
    """Answers about the whole project that are asked again and again; they never change."""

    flows: tuple[_Edges, set[str]] | None = None
    callers: dict[str, list[str]] | None = None
    likely: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    users: tuple[str, frozenset[str]] | None = None
    imports: tuple[_Graph, _Graph] | None = None
    defined: frozenset[str] | None = None
    roots: tuple[PurePosixPath, ...] | None = None
    heirs: dict[str, set[str]] | None = None
    near: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    aliases: dict[frozenset[str], frozenset[str]] = field(default_factory=dict)
    shapes: dict[frozenset[str], frozenset[CallShape]] = field(default_factory=dict)
    modules: dict[tuple[str, str, int], str | None] = field(default_factory=dict)
    found: dict[str, frozenset[tuple[str, str]]] = field(default_factory=dict)
    by_method: dict[str, set[str]] | None = None
    by_name: dict[str, list[FileIndex]] | None = None
    bases: dict[str, frozenset[str]] = field(default_factory=dict)
    anywhere: dict[str, frozenset[str]] = field(default_factory=dict)
    run: frozenset[str] | None = None
    forward: frozenset[str] | None = None


_NETWORKS = frozenset({"Module", "ModuleList", "ModuleDict", "Sequential"})
_PARALLEL = frozenset({"DistributedDataParallel", "DDP", "Accelerator"})
_PACKERS = frozenset({"pack_padded_sequence", "pack_sequence", "PackedSequence"})
_Graph = Mapping[str, set[str]]
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

    def remembered(self, question: str, find: Callable[[], frozenset[tuple[str, str]]]) -> frozenset[tuple[str, str]]:
        """Return what a function finds out about the whole project, (name, file) by (name, file); asked once."""
        if question not in self._memory.found:
            self._memory.found[question] = find()
        return self._memory.found[question]

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

    def likely_callers(self, name: str, path: str) -> list[str]:
        """Return the files whose calls of something named ``name`` may mean the one of a file: the nearest first.

        A file that imports that one, directly or not, may; another only if it has nothing of that name itself, and was
        handed the object that it calls.
        """
        known = self._memory.likely
        if (name, path) not in known:
            users = self._users(path)
            likely = (p for p in self.callers(name) if p == path or p in users or name not in self.files[p].parameters)
            known[name, path] = sorted(likely, key=lambda p: (p != path, p not in users))
        return known[name, path]

    def _users(self, path: str) -> frozenset[str]:
        """Return a file and all that import it; of the file asked about last they are known."""
        if self._memory.users is None or self._memory.users[0] != path:
            self._memory.users = path, self.importers((path,))
        return self._memory.users[1]

    def importers(self, paths: Iterable[str]) -> frozenset[str]:
        """Return some files and all that import one of them, directly or not."""
        return _reached(paths, self._imports()[1])

    def reaches_package(self, path: str, package: str) -> bool:
        """Whether a file, or one of the project that it imports, directly or not, imports a package."""
        reached = (self.files[each] for each in _reached((path,), self._imports()[0]) if each in self.files)
        names = (module for file in reached for level, module in file.imports if not level)
        return any(module.partition(".")[0] == package for module in names)

    def meets(self, path: str, other: str) -> bool:
        """Whether one of two files imports the other, directly or not, or they are one."""
        return path == other or path in self.importers([other]) or other in self.importers([path])

    def _imports(self) -> tuple[_Graph, _Graph]:
        """Return which files each file imports, and which import it; found once."""
        if self._memory.imports is None:
            imports: dict[str, set[str]] = {}
            importers: dict[str, set[str]] = {}
            for path, file in self.files.items():
                for level, module in file.imports:
                    found = self.find_module(path, module, level)
                    if found is not None:
                        imports.setdefault(path, set()).add(found)
                        importers.setdefault(found, set()).add(path)
            self._memory.imports = imports, importers
        return self._memory.imports

    def is_imported(self, path: str) -> bool:
        """Whether another file of the project imports a file."""
        return bool(self._imports()[1].get(path, set()) - {path})

    def is_program_alone(self, path: str) -> bool:
        """Whether a file is run and never imported, so that nothing else sees its names: a library's may be."""
        return not self.is_imported(path) and self.is_run(path)

    def packages(self, besides: Collection[str]) -> frozenset[str]:
        """Return the roots of what the files import from elsewhere, but for those in ``besides``."""
        named = (
            (p, module.partition(".")[0]) for p, f in self.files.items() for level, module in f.imports if not level
        )
        found = {(path, root) for path, root in named if root and root not in besides}
        return frozenset(root for path, root in found if not self.find_module(path, root, 0))

    def definers(self, name: str) -> frozenset[str]:
        """Return the names of the project's classes that define a method called ``name``."""
        found = self._memory.by_method
        if found is None:
            found = self._memory.by_method = {}
            for file in self.files.values():
                for method, classes in file.methods.items():
                    found.setdefault(method, set()).update(classes)
        return frozenset(found.get(name, ()))

    def sets_on_others(self, name: str) -> bool:
        """Whether a file binds an attribute of anything but ``self``: ``head.anchors /= stride``."""
        return name in self._anywhere("set_on_others")

    def answers(self, name: str) -> bool:
        """Whether the project gives objects an attribute ``is_...`` of this name, which no tensor lets be written."""
        return name in self._anywhere("answers")

    @property
    def kept(self) -> frozenset[str]:
        """The attributes and literal keys that anything but layers is stored under, anywhere in the project."""
        return self._anywhere("kept")

    def _anywhere(self, fact: str) -> frozenset[str]:
        """Return the names of which a fact holds in any file; put together once."""
        known = self._memory.anywhere
        if fact not in known:
            known[fact] = frozenset().union(*(getattr(file, fact) for file in self.files.values()))
        return known[fact]

    def stores(self, name: str) -> bool:
        """Whether a class of the project has an attribute called ``name`` that may be called."""
        return name in self._anywhere("stored")

    def classes_called(self, name: str) -> list[frozenset[str]]:
        """Return the bases of every class of this name, file by file; none where a function has the name as well."""
        known = self._memory.by_name
        if known is None:
            known = self._memory.by_name = {}
            for file in self.files.values():
                for defined in file.parameters:
                    known.setdefault(defined, []).append(file)
        files = known.get(name, [])
        return [file.classes[name] for file in files] if all(name in file.classes for file in files) else []

    def bases(self, name: str) -> frozenset[str]:
        """Return the names of all that the project's classes called ``name`` descend from, by identifiers alone."""
        known = self._memory.bases
        if name not in known:
            found: set[str] = set()
            queue = [name]
            while queue:
                current = queue.pop()
                new = {base for file in self.files.values() for base in file.classes.get(current, ())} - found
                found |= new
                queue.extend(new)
            known[name] = frozenset(found)
        return known[name]

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

    def runs_in_forward(self, name: str) -> bool:
        """Whether the ``forward`` of a class may run a function of this name, in any file and depth."""
        if self._memory.forward is None:
            edges: dict[str, set[str]] = {}
            for file in self.files.values():
                for runner, names in file.runs.items():
                    edges.setdefault(runner, set()).update(names)
            self._memory.forward = _reached(["forward"], edges)
        return name in self._memory.forward

    def calls_any(self, path: str, names: frozenset[str]) -> bool:
        """Whether a file calls something by one of ``names``, the last part of the callee."""
        return path in self.files and not names.isdisjoint(self.files[path].calls)

    @property
    def packs(self) -> bool:
        """Whether a file of the project packs sequences for recurrent layers."""
        return any(not file.calls.keys().isdisjoint(_PACKERS) for file in self.files.values())

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
        return any(not _PARALLEL.isdisjoint(file.calls) for file in self.files.values())

    def is_near(self, fact: str, path: str, *, besides: bool = False) -> bool:
        """Whether imports connect a file with one of which a fact holds: ``"asks_for_gradients"``, ``"wrappers"``.

        ``besides``: with one of the others.
        """
        key = (fact, path if besides else "")
        if key not in self._memory.near:
            start = frozenset(name for name, file in self.files.items() if name != key[1] and getattr(file, fact))
            imports, importers = self._imports()
            self._memory.near[key] = _reached(start, imports) | _reached(start, importers)
        return path in self._memory.near[key]

    def is_used_beside(self, fact: str, path: str) -> bool:
        """Whether a program uses a file and one of which a fact holds: a network, and the penalty it is handed to."""
        key = (f"beside {fact}", "")
        if key not in self._memory.near:
            start = frozenset(name for name, file in self.files.items() if getattr(file, fact))
            imports, importers = self._imports()
            self._memory.near[key] = _reached(_reached(start, importers), imports)
        return path in self._memory.near[key]

    def is_trained_elsewhere(self, path: str) -> bool:
        """Whether a file takes no gradients itself, and one that it imports asks weights for theirs."""
        file = self.files.get(path)
        return file is not None and "backward" not in file.calls and self.is_near("asks_for_gradients", path)

    def marks(self, path: str) -> bool:
        """Whether a file speaks of ``requires_grad``."""
        file = self.files.get(path)
        return file is None or file.marks

    @property
    def reads_gradients(self) -> bool:
        """Whether anything in the project may look at the gradient of a tensor."""
        return any(file.has_gradients for file in self.files.values())

    @property
    def adds_gradients(self) -> bool:
        """Whether an accelerator of the project adds up the gradients of several passes."""
        shapes = self.shapes(frozenset({"Accelerator"}))
        return any("gradient_accumulation_steps" in shape.keywords or shape.splat for shape in shapes)

    @property
    def takes_losses(self) -> bool:
        """Whether an object that the project defines is handed losses and takes the steps for them."""
        return any(file.takes_losses for file in self.files.values())

    def has_losses_differentiated(self, path: str) -> bool:
        """Whether a script uses files of which one calls a function of another that differentiates what it is given."""
        near = _reached((path,), self._imports()[0]) & self.files.keys()
        named = {(name, other) for other in near - {path} for name in self.files[other].differentiates}
        return any(name in self.files[caller].calls for name, other in named for caller in near - {other})

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
            is_own = importer.endswith("__init__.py") and self._is_top(base)
            is_own = is_own or (base == here and self.files[importer].is_guarded)  # a script finds itself first
            if found is not None and (found != importer or is_own):
                return found
        return None

    def _is_top(self, base: PurePosixPath) -> bool:
        """Whether packages of a folder are imported by their own names: ``timm/__init__.py`` imports from ``timm``."""
        return base in (*map(PurePosixPath, SOURCE_ROOTS), *self._roots())

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
        if found is None or found.endswith("/"):  # a folder that is no package does not hide the installed one
            return True
        return root == "torch" and self._is_part(found)

    def _is_part(self, found: str) -> bool:
        """Whether a module is a part of a package, ``layers/torch/__init__.py``: not what a plain import means."""
        holder = PurePosixPath(found).parent if found.endswith("/__init__.py") else PurePosixPath(found)
        return not self._is_top(holder.parent)

    def scripts(self) -> frozenset[str]:
        """Return the files that no file imports and that stand in no package."""
        imported = {
            self.find_module(path, module, level) for path, file in self.files.items() for level, module in file.imports
        }
        outside = (p for p in self.files if str(PurePosixPath(p).parent / "__init__.py") not in self.files)
        return frozenset(path for path in outside if path not in imported)

    def programs(self) -> tuple[str, ...]:
        """Return the files that are run: those that say so, and those that nothing imports and that do something."""
        alone = self.scripts()
        return tuple(p for p, f in sorted(self.files.items()) if f.is_guarded or (p in alone and f.has_effects))

    def reached(self, path: str) -> tuple[str, ...]:
        """Return the files of the project that running a file imports: itself and their packages included."""
        return tuple(sorted(self._reach([path])))

    def is_run(self, path: str) -> bool:
        """Whether a program of the project is this file, or imports it."""
        if self._memory.run is None:
            self._memory.run = frozenset(self._reach(self.programs()))
        return path in self._memory.run

    def _reach(self, starts: Collection[str]) -> set[str]:
        edges = self._imports()[0]
        found: set[str] = set()
        queue = list(starts)
        while queue:
            current = queue.pop()
            if current in found or current not in self.files:
                continue
            found.add(current)
            packages = (str(parent / "__init__.py") for parent in PurePosixPath(current).parents)
            queue += [*edges.get(current, ()), *(packages if current not in starts else ())]
        return found

    def _at(self, base: PurePosixPath, parts: list[str]) -> str | None:
        name = str(base.joinpath(*parts))
        if f"{name}.py" in self.files:
            return f"{name}.py"
        init = "__init__.py" if name == "." else f"{name}/__init__.py"
        if init in self.files:
            return init
        return f"{name}/" if name in self.folders and name != "." else None


def _reached(start: Iterable[str], edges: _Graph) -> frozenset[str]:
    found, queue = set(start), list(start)
    while queue:
        new = edges.get(queue.pop(), set()) - found
        found |= new
        queue.extend(new)
    return frozenset(found)


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
