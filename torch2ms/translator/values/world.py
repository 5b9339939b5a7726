"""The project as inference sees it: files, classes and functions, analysed when first asked for.

Every question is asked with a depth: a function run at depth n asks about others at depth n - 1, and at depth 0 only
what annotations say is known. So recursion ends by itself, and an answer depends on its question alone: neither the
order of files nor the number of processes shows in the output. ``World`` keeps few trees in memory (the least recently
used go), and small answers (a module's names, a function's result) for good.
"""

from __future__ import annotations

import ast
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from torch2ms.mapping_tables.lookup import Tables
from torch2ms.translator.project.symbol_table import SymbolTable
from torch2ms.translator.values.abstract_methods import overridden
from torch2ms.translator.values.blocks import At, Holding
from torch2ms.translator.values.budget import Work
from torch2ms.translator.values.call_arguments import Handed, completed, handed_by, joined, lacks_results
from torch2ms.translator.values.declarations import ClassInfo, FileAnalysis, FunctionInfo, declare, is_abstract
from torch2ms.translator.values.families import instance_of
from torch2ms.translator.values.flow import Flow
from torch2ms.translator.values.inplace_layers import Starts
from torch2ms.translator.values.kinds import UNKNOWN, Kind, join
from torch2ms.translator.values.method_evidence import Evidence
from torch2ms.translator.values.self_attributes import made_of_themselves, stores

__all__ = ["ClassInfo", "FileAnalysis", "FunctionInfo", "World"]

# Memory is shared by the files kept (about 2 kB a source line) and the libcst trees of the file that is translated.
LINES = 55_000  # that fit, counted in lines of files kept
LINES_KEPT = 5_000  # at least
LINES_IDLE = 20_000  # at least, of files that no question being answered needs
LINES_OF_TREES = 4  # lines of files kept that one line of the translated file displaces
CALLERS_READ = 3  # files looked at for the arguments a function is called with
DEPTH = 3  # functions entered from one another for the kind of a result, an argument or an attribute


T = TypeVar("T")
_PROPERTIES = frozenset({"property", "cached_property", "lazy_property"})
_NOTHING: Mapping[str, list[tuple[str, int]]] = {}


class World:
    """Answers questions about the project's names, classes and functions."""

    def __init__(self, parse: Callable[[str], ast.Module | None], symbols: SymbolTable, tables: Tables) -> None:
        self.parse = parse
        self.symbols = symbols
        self.tables = tables
        self.evidence = Evidence(tables, symbols)
        self._files: OrderedDict[str, FileAnalysis | None] = OrderedDict()
        self._lines = 0  # of the files kept
        self.depth = DEPTH
        self.work = Work()
        self._names: dict[str, dict[str, Kind]] = {}
        self.starts: dict[str, dict[str, Starts]] = {}  # of classes, by attribute: kept for ``own_starts``
        self.layers_by_name: dict[str, Kind] = {}  # kept for ``layer_by_name``
        self._ancestry: dict[str, tuple[str, ...]] = {}
        self._families: dict[tuple[str, tuple[str, ...]], Kind] = {}
        self._methods: dict[str, dict[str, str]] = {}
        self._attributes: dict[tuple[str, int], dict[str, Kind]] = {}
        self._returns: dict[tuple[str, int], Kind] = {}
        self._parameters: dict[tuple[str, int], dict[str, Kind]] = {}
        self._sites: dict[str, Mapping[str, list[tuple[str, int]]]] = {}
        self._applied: dict[str, set[str]] = {}
        self._handed: dict[tuple[str, int], dict[str, list[Handed | None]]] = {}
        self.trains_all = ""  # the file whose tensors with gradients are all parameters
        self._pinned = ""
        self._running: list[str] = []  # files whose functions are being run
        self._held: Counter[str] = Counter()  # files that a question being answered still needs
        self._loading: list[str] = []  # files whose module level is being run, each asked for by the one before
        self._nothing: dict[str, Any] = {}  # all answers that say nothing
        self._doubtful: dict[str, None] = {}  # those that asked one of them for what it had not bound yet
        self._doubted: list[tuple[dict[Any, Any], object]] = []  # answers given meanwhile

    # ---- files

    def file(self, path: str) -> FileAnalysis | None:
        """Return the analysis of a file with its module level run; None when it does not parse."""
        if path in self._files:
            self._files.move_to_end(path)
            return self._files[path]
        tree = self.parse(path)
        analysis = None if tree is None else FileAnalysis(path, tree, trains_all=path == self.trains_all)
        self._files[path] = analysis
        if analysis is not None:
            analysis.is_trained_elsewhere = self.symbols.is_trained_elsewhere(path)
            analysis.marks = self.symbols.marks(path)
            self._lines += analysis.lines
            self.work.spend(analysis.lines)
            declare(analysis, self.symbols.defined)
            self._sites[path] = analysis.sites
            self._applied[path] = analysis.applied
            self._loading.append(path)
            with At(self, DEPTH):
                for _ in range(2):
                    (flow := Flow(self, analysis, None)).run_module(analysis.tree.body)
                    analysis.kinds.update(flow.kinds)
                    self.forget(analysis)
                    while analysis.early:
                        self._parameters.pop(analysis.early.pop(), None)
                    if not lacks_results(analysis):
                        break
            self._loading.pop()
            analysis.complete = path not in self._doubtful
            self._names[path] = analysis.names
            if self._doubtful and not self._loading:
                return self._settled(path)
            with Holding(self._held, path):
                self._evict()
        return analysis

    def tree(self, path: str) -> ast.Module | None:
        """Return the syntax tree of a file; None when it does not parse."""
        kept = self._files.get(path)
        return kept.tree if kept is not None else self.parse(path)

    def is_at_hand(self, path: str) -> bool:
        """Whether the analysis of a file is in memory."""
        return path in self._files

    def _doubt(self, path: str) -> None:
        """Note that a file lacks a name; while it is being run (import cycles), who asks gets too little."""
        if path in self._loading:
            self._doubtful.update(dict.fromkeys(self._loading[self._loading.index(path) + 1 :]))

    def _settled(self, path: str) -> FileAnalysis | None:
        """Run the files of an import cycle again, now that the names of all are known; return the first."""
        again = [*reversed(self._doubtful), path]
        self._doubtful.clear()
        for answers, question in self._doubted:
            answers.pop(question, None)
        self._doubted.clear()
        for doubtful in again:
            found = self._files.pop(doubtful, None)
            if found is not None:
                found.complete = False
                self.forget(found)
                self._lines -= found.lines
                found.close()
            found = self.file(doubtful)
        return found

    def forget(self, analysis: FileAnalysis) -> None:
        """Drop what was found out about a file whose module level is being run: it may say more from here on."""
        if analysis.complete or not analysis.provisional:
            return
        for answers, question in analysis.provisional:
            answers.pop(question, None)
        analysis.provisional.clear()

    def _remember(self, analysis: FileAnalysis, answers: dict[Any, Any], question: object, answer: object) -> None:
        """Keep an answer: for good, or until the module level of an unfinished file binds another name."""
        answers[question] = answer
        if self._doubtful:
            self._doubted.append((answers, question))
        if not analysis.complete:
            analysis.provisional.append((answers, question))

    def _shared(self, answers: Mapping[tuple[str, int], dict[str, T]], key: str, found: dict[str, T]) -> dict[str, T]:
        """Return an answer as it is kept of another depth, where it is the same: most are."""
        if not found:
            return self._nothing
        others = (answers.get((key, depth)) for depth in range(DEPTH + 1))
        return next((other for other in others if other == found), found)

    def _evict(self) -> None:
        """Let go of files, those not asked about for longest first, until few enough lines are kept."""
        pinned = self._files.get(self._pinned)
        room = LINES - LINES_OF_TREES * (pinned.lines if pinned is not None else 0)
        limit = max(LINES_KEPT, room)
        if self._lines <= limit:
            return
        idle = {
            path: found
            for path, found in self._files.items()
            if found is not None and found.complete and path != self._pinned and not self._held[path]
        }
        # Where files that import one another hold all the room, those asked about again and again stay none the less.
        limit = max(limit, self._lines - sum(found.lines for found in idle.values()) + LINES_IDLE)
        for path, found in idle.items():
            if self._lines <= limit:
                break
            self._lines -= found.lines
            del self._files[path]
            found.close()

    def close(self) -> None:
        """Let go of all files at once."""
        for found in self._files.values():
            if found is not None:
                found.close()
        self._files.clear()
        self._lines = 0

    def analyse(self, path: str) -> FileAnalysis | None:
        """Return the analysis of a file with every function in it run."""
        self._pinned = path
        analysis = self.file(path)
        self._evict()  # a large file needs room, also when it was known already
        if analysis is not None:
            analysis.open()
            for function in list(analysis.functions.values()):
                flow = self.flow(analysis, function)
                analysis.kinds.update(flow.kinds)
                flow.kinds = analysis.kinds
        return analysis

    def running(self, path: str) -> str:
        """Return the file whose function is being run; when none is, ``path``."""
        return self._running[-1] if self._running else path

    def release(self, analysis: FileAnalysis) -> None:
        """Forget what only the translation of a file needed; what others ask about it stays."""
        analysis.release(DEPTH)

    def export(self, path: str, name: str) -> Kind:
        """Return the kind of ``name`` in the module at ``path`` (a folder ends in ``/``)."""
        if path.endswith("/"):
            return self._submodule(path, name)
        if path not in self._names and path not in self._loading:  # what is bound only once needs no look at the file
            index = self.symbols.files.get(path)
            defined = index.definitions.get(name) if index is not None else None
            if defined is not None:
                return Kind(defined, f"{path}:{name}")
        names = self.names(path)
        if name in names:
            return names[name]
        self._doubt(path)
        if path.endswith("__init__.py"):
            return self._submodule(path[: -len("__init__.py")], name)
        return UNKNOWN

    def names(self, path: str) -> dict[str, Kind]:
        """Return the names of the module at ``path``; those known so far while it is being run (import cycles)."""
        if path in self._names:
            return self._names[path]
        analysis = self.file(path)
        return analysis.names if analysis is not None else {}

    def _submodule(self, folder: str, name: str) -> Kind:
        for found in (f"{folder}{name}.py", f"{folder}{name}/__init__.py"):
            if found in self.symbols.files:
                return Kind("module", f"project:{found}")
        if f"{folder}{name}" in self.symbols.folders:
            return Kind("module", f"project:{folder}{name}/")
        return UNKNOWN

    def star(self, path: str) -> dict[str, Kind]:
        """Return the names a star import of the module at ``path`` binds."""
        self._doubt(path)
        public = self.symbols.files[path].public if path in self.symbols.files else None
        if public is not None:
            return {name: self.export(path, name) for name in public}
        names = {} if path.endswith("/") else self.names(path)
        return {name: kind for name, kind in names.items() if not name.startswith("_")}

    # ---- classes

    def class_info(self, key: str) -> ClassInfo | None:
        """Return the class ``path:Qualname``, or None."""
        path, _, name = key.rpartition(":")
        analysis = self.file(path) if path else None
        return analysis.classes.get(name) if analysis is not None else None

    def family(self, key: str) -> Kind:
        """Return the kind of an instance of a project class, by the torch class it descends from."""
        bases = self.torch_bases(key)
        found = self._families.get((key, bases))
        if found is None:
            found = self._families[key, bases] = self._family(key, bases)
        return found

    def _family(self, key: str, bases: tuple[str, ...]) -> Kind:
        for base in bases:
            found = instance_of(base)
            if found.known:
                return Kind(found.name, key, evidence=f"{key.rpartition(':')[2]} derives from {base}")
        if self.symbols.is_network_mixin(key.rpartition(":")[2].rpartition(".")[2]):
            return Kind("Module", key, evidence="is mixed into networks")
        return Kind("instance", key)

    def ancestry(self, key: str) -> tuple[str, ...]:
        """Return the class and its bases, nearest first: keys of project classes (with ``:``), names of torch's."""
        if key in self._ancestry:
            return self._ancestry[key]
        found: list[str] = []
        complete = True
        queue = [key]
        while queue:
            current = queue.pop(0)
            if current in found:
                continue
            info = self.class_info(current)
            if info is None:
                complete = False
                continue
            found.append(current)
            self._methods.setdefault(current, {name: method.key for name, method in info.methods.items()})
            for base in info.bases:
                if base.name == "api" and base.of:
                    found.extend(base.of.split("|"))
                elif base.name == "class":
                    queue.extend(base.of.split("|"))
            complete = complete and bool(info.bases or not info.node.bases)
        if complete:
            self._ancestry[key] = tuple(found)
            if self._doubtful:
                self._doubted.append((self._ancestry, key))
        return tuple(found)

    def torch_bases(self, key: str) -> tuple[str, ...]:
        """Return the canonical torch classes a project class descends from."""
        return tuple(base for base in self.ancestry(key) if ":" not in base)

    def method(self, key: str, name: str) -> str | None:
        """Return the key of the method a project class answers ``name`` with, its own or inherited from the project."""
        for base in self.ancestry(key):
            found = self._methods.get(base, {}).get(name)
            if found is not None:
                return found
        return None

    def attributes(self, key: str) -> dict[str, Kind]:
        """Return the kinds of the attributes that the methods of a class set on ``self``, ``__init__`` first."""
        question = (key, self.depth)
        if question in self._attributes:
            return self._attributes[question]
        info = self.class_info(key)
        if info is None:
            return {}
        found = self._attributes[question] = dict(info.constants)
        analysis = self.file(info.path)
        if analysis is not None and self.depth > 0:
            first = info.methods.get("__init__")
            rest = [m for name, m in info.methods.items() if name != "__init__" and stores(m)]
            with Holding(self._held, info.path), At(self, self.depth - 1):
                for method in ([first] if first else []) + rest:
                    stored = self.flow(analysis, method).stored
                    doubtful = any(not kind.known and name in found for name, kind in stored.items())
                    kept = made_of_themselves(method.node) if doubtful else frozenset()
                    for name, kind in stored.items():
                        if name not in found or kind.known or name not in kept:
                            found[name] = join(found[name], kind) if name in found else kind
            self._remember(analysis, self._attributes, question, found)
        return found

    def attribute(self, key: str, name: str) -> Kind:
        """Return the kind of an attribute of an instance of a project class."""
        for base in self.ancestry(key):
            if ":" in base:
                found = self.attributes(base).get(name)
                if found is not None:
                    return found
                if name in self._methods.get(base, {}):
                    return self._method(self._methods[base][name])
        return UNKNOWN

    def _method(self, key: str) -> Kind:
        """Return the kind of a method read from an object: a property is what it returns."""
        info = self.function(key)
        decorators = getattr(info.node, "decorator_list", ()) if info is not None else ()
        if any(getattr(d, "attr", getattr(d, "id", "")) in _PROPERTIES for d in decorators):
            return self.returns(key)
        return Kind("function", key)

    def constant(self, key: str, name: str) -> Kind:
        """Return the kind of what the body of a class, or of a base of the project, binds to a name."""
        infos = (self.class_info(base) for base in self.ancestry(key) if ":" in base)
        return next((info.constants[name] for info in infos if info is not None and name in info.constants), UNKNOWN)

    def sets(self, key: str, name: str) -> bool:
        """Whether the project gives the class an attribute or a method of this name."""
        return any(
            ":" in base and (name in self._methods.get(base, {}) or name in self.attributes(base))
            for base in self.ancestry(key)
        )

    # ---- functions

    def function(self, key: str) -> FunctionInfo | None:
        """Return the function ``path:Qualname``."""
        path, _, name = key.rpartition(":")
        analysis = self.file(path)
        return analysis.functions.get(name) if analysis is not None else None

    def flow(self, analysis: FileAnalysis, info: FunctionInfo) -> Flow:
        """Return the flow of a function at the present depth; its body is run once."""
        flow = info.flows.get(self.depth)
        if flow is None:
            with Holding(self._held, analysis.path):
                self._running.append(analysis.path)
                outer = self.flow(analysis, info.outer) if info.outer is not None else None
                flow = Flow(self, analysis, info, outer)
                flow.run_function()
                self._running.pop()
            if self.depth < DEPTH:  # of other files' functions, only what they hand over is asked
                calls = analysis.calls.get(info.key, {})
                made = self._shared(self._handed, info.key, handed_by(calls, flow.kinds, info.node) if calls else {})
                self._remember(analysis, self._handed, (info.key, self.depth), made)
                flow.close(is_outer=info.has_inner)
            self._remember(analysis, info.flows, self.depth, flow)
        return flow

    def returns(self, key: str) -> Kind:
        """Return the kind of a project function's result."""
        question = (key, self.depth)
        if question in self._returns:
            return self._returns[question]
        info = self.function(key)
        analysis = self.file(key.rpartition(":")[0])
        if info is None or analysis is None or isinstance(info.node, ast.Lambda):
            return UNKNOWN
        result = UNKNOWN
        if self.depth > 0:
            with At(self, self.depth - 1), Holding(self._held, analysis.path):
                result = overridden(info, self) if is_abstract(info.node) else self.flow(analysis, info).result
        result = completed(result, info, analysis, self.family)
        self._remember(analysis, self._returns, question, result)
        return result

    def parameters(self, info: FunctionInfo) -> dict[str, Kind]:
        """Return what the project's calls of a function say of its parameters."""
        question = (info.key, self.depth)
        if question in self._parameters:
            return self._parameters[question]
        found: dict[str, Kind] = {}
        if self.depth > 0 and not isinstance(info.node, ast.Lambda):
            with At(self, self.depth - 1):
                found = joined(self._calls(info), info)
        found = self._parameters[question] = self._shared(self._parameters, info.key, found)
        if self._doubtful:
            self._doubted.append((self._parameters, question))
        own = self._files.get(info.key.rpartition(":")[0])
        if own is not None and not own.complete:
            own.early.append(question)  # once the module level has run, its calls say more
        return found

    def handed_over(self, info: FunctionInfo, name: str, *, beyond: bool = False) -> list[Kind]:
        """Return what each of the project's calls of a function hands over for a parameter; ``beyond``: see _calls."""
        with At(self, self.depth - 1):
            calls = self._calls(info, beyond=beyond)
            return [kind for handed in calls for found, kind in handed.parameters(info) if found == name]

    def is_handed_view(self, info: FunctionInfo, name: str) -> bool:
        """Whether one of the project's calls of a function hands over a view of another tensor for a parameter."""
        with At(self, self.depth - 1):
            return any(name in handed.views_of(info) for handed in self._calls(info))

    def applied(self, info: FunctionInfo) -> bool:
        """Whether a function is handed to ``network.apply``: then its parameter is a layer."""
        if info.owner is not None or len(info.node.args.args) != 1:
            return False
        for path in self.symbols.callers(info.name)[:CALLERS_READ]:
            if path not in self._applied:
                self.file(path)
            if info.name in self._applied.get(path, ()):
                return True
        return False

    def _calls(self, info: FunctionInfo, *, beyond: bool = False) -> Iterator[Handed]:
        """Yield the project's calls of a function, of few files; of a layer those of its file alone, or ``beyond``."""
        name, own = info.name, info.key.rpartition(":")[0]
        is_layer = False
        if info.owner is not None and info.name == "__init__":
            name = info.owner.node.name
            is_layer = self.family(info.owner.key).name == "Module"
        # Layers are made all over a project, with numbers mostly: their own file says enough.
        for path in ([own] if is_layer and not beyond else self.symbols.likely_callers(name, own))[:CALLERS_READ]:
            if path not in self._sites:
                self.file(path)
            for function, position in self._sites.get(path, _NOTHING).get(name, ()):
                found = self._handed_by(path, function).get(name, ())
                handed = found[position] if position < len(found) else None
                if handed is not None and handed.reaches(info):
                    yield handed

    def _handed_by(self, path: str, function: str) -> dict[str, list[Handed | None]]:
        """Return what the calls in a function, or at module level (""), hand over."""
        question = (function or path, self.depth if function else DEPTH)
        if question in self._handed:
            return self._handed[question]
        analysis = self.file(path)
        if analysis is None:
            return {}
        if not function:
            made = handed_by(analysis.calls.get("", {}), analysis.kinds, analysis.tree)
            self._remember(analysis, self._handed, question, made)
            return made
        self.flow(analysis, analysis.functions[function.rpartition(":")[2]])
        return self._handed[question]
