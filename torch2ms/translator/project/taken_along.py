"""Take a package along: the files of its source that a project reaches become part of the project (``--with timm``).

``with_packages(project, sources)`` gives the project with ``timm/models/resnet.py`` and so on, under the package's own
name. Reached is what imports lead to from SRC, statically: import statements anywhere in a file, the ``__init__`` of
each package on the way, ``import_module("shown.name")``, and where a module imports others by names that it computes,
every module that one of its strings names, or else all that stand beside it. Data that lies beside reached modules
comes along, compiled parts do not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from torch2ms.errors import UsageError
from torch2ms.translator.project.package_sources import COMPILED_SUFFIXES, PackageSource
from torch2ms.translator.project.source_tree import PackageFiles, Project, SourceFile, kind_of
from torch2ms.translator.syntax.ast_walk import walk

__all__ = ["with_packages"]

_LEFT = (".pyc", ".pyo", ".pyi", *COMPILED_SUFFIXES)
_IMPORTERS = frozenset({"import_module", "__import__"})


def with_packages(project: Project, sources: Sequence[PackageSource]) -> Project:
    """Return the project with what it reaches of these packages; UsageError where SRC has a module of that name."""
    if not sources:
        return project
    tops = {file.path.partition("/")[0].removesuffix(".py") for file in project.files}
    for source in sources:
        if tops.issuperset(source.modules):
            advice = "it is translated as it is: leave --with out, or move it away"
            raise UsageError(f"--with {source.name}: SRC has its own {source.modules[0]}", advice=advice)
    reach = _Reach([replace(source, modules=tuple(n for n in source.modules if n not in tops)) for source in sources])
    reach.follow(project)
    found = [reach.taken(source) for source in sources]
    files = {file.path: file for taken, own in found for file in own} | {file.path: file for file in project.files}
    return replace(
        project,
        files=tuple(files[path] for path in sorted(files)),
        packages=tuple(taken for taken, _ in found),
    )


@dataclass(frozen=True, slots=True)
class _Module:
    """One module of a package: its file, its path in OUT, and the package that relative imports start from."""

    location: Path
    path: str
    name: str  # dotted

    @property
    def package(self) -> str:
        return self.name if self.path.endswith("/__init__.py") else self.name.rpartition(".")[0]


class _Reach:
    """The modules that imports lead to, from one to the next."""

    def __init__(self, sources: Sequence[PackageSource]) -> None:
        self._homes = {name: source for source in sources for name in source.modules}
        self.modules: dict[str, _Module] = {}
        self.compiled: set[str] = set()

    def follow(self, project: Project) -> None:
        """Follow the imports of the project's files, and of every file that they reach."""
        roots = [name.encode() for name in self._homes]
        queue: list[str] = []
        for file in project.python_files:
            if any(root in file.data for root in roots) and (tree := file.load().tree) is not None:
                queue += [name for name, level in _imported(tree, "") if not level]
        starts = [name for source in set(self._homes.values()) for name in source.starts]
        while queue:
            new = [module for name in queue for module in self._found(name)]
            queue = [name for module in new for name in self._names(module)]
            if not queue:
                used = {module.partition(".")[0] for module in self.modules}
                queue, starts = [name for name in starts if name.partition(".")[0] in used], []

    def _found(self, name: str) -> Iterator[_Module]:
        """Yield the modules, not seen before, that importing a dotted name runs."""
        source = self._homes.get(name.partition(".")[0])
        parts = name.split(".")
        for end in range(1, len(parts) + 1 if source is not None else 0):
            own = ".".join(parts[:end])
            if own in self.modules or source is None:
                continue
            place = source.folder.joinpath(*parts[:end])
            for location in (place / "__init__.py", place.with_name(f"{place.name}.py")):
                if location.is_file():
                    path = location.relative_to(source.folder).as_posix()
                    self.modules[own] = _Module(location, path, own)
                    yield self.modules[own]
                    break
            else:
                if place.parent.is_dir() and any(_is_compiled(file, place.name) for file in place.parent.iterdir()):
                    self.compiled.add(own.replace(".", "/"))

    def _names(self, module: _Module) -> Iterator[str]:
        """Yield the dotted names that a module imports, or may import by name."""
        try:
            tree = ast.parse(module.location.read_bytes())
        except (OSError, SyntaxError, ValueError, RecursionError):
            return
        for name, level in _imported(tree, module.name):
            base = module.package.split(".")
            start = base[: len(base) - level + 1] if level else []
            if level <= len(base):
                yield ".".join([*start, *([name] if name else [])])
        named = self._named(tree, module)
        yield from named
        for package in _packages_looked_through(tree, module.package, is_listed=bool(named)):
            yield from (f"{package}.{name}" for name in self._modules_of(package))

    def _modules_of(self, package: str) -> list[str]:
        """Return the names of the modules in a package."""
        source = self._homes.get(package.partition(".")[0])
        folder = source.folder.joinpath(*package.split(".")) if source is not None else None
        return sorted(_names_in(folder) - {"__main__"}) if folder is not None and folder.is_dir() else []

    def _named(self, tree: ast.Module, module: _Module) -> list[str]:
        """Return the modules that strings name, of a file that imports others by name."""
        if not _imports_by_name(tree):
            return []
        texts = {node.value for node in walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
        names = {text.lstrip(".") for text in texts if text.lstrip(".").replace(".", "").isidentifier()}
        beside = _names_in(module.location.parent)
        below = [f"{module.package}.{name}" for name in names if name.partition(".")[0] in beside]
        return [*below, *(name for name in names if name.partition(".")[0] in self._homes and "." in name)]

    def taken(self, source: PackageSource) -> tuple[PackageFiles, list[SourceFile]]:
        """Return what comes along of one package, and its files."""
        own = [module for name, module in self.modules.items() if name.partition(".")[0] in source.modules]
        places = {module.path: module.location for module in own}
        for folder in {module.location.parent for module in own} - {source.folder}:
            places |= {file.relative_to(source.folder).as_posix(): file for file in _data(folder)}
        if own:
            places = dict(source.about) | places
        files = [_file(path, location) for path, location in sorted(places.items())]
        compiled = frozenset(name for name in self.compiled if name.partition("/")[0] in source.modules)
        about = PackageFiles(source.name, source.version, source.modules, frozenset(places), compiled, source.requires)
        return about, files


def _imported(tree: ast.Module, own: str) -> Iterator[tuple[str, int]]:
    """Yield the modules that the statements of a file may load, each with its level."""
    for node in walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, 0) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            yield module, node.level
            yield from ((f"{module}.{alias.name}".lstrip("."), node.level) for alias in node.names)
        elif isinstance(node, ast.Call) and _last(node.func) in _IMPORTERS and node.args:
            text = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
            if isinstance(text, str):
                name = text.lstrip(".")
                yield name, len(text) - len(name)


def _imports_by_name(tree: ast.Module) -> bool:
    """Whether a module may import others by names that no import statement shows.

    It computes what it imports, has an ``__all__`` for star imports or a ``__getattr__``, or hands its own name to a
    helper that imports for it.
    """
    bound = [node for node in tree.body if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign))]
    if any("__all__" in _targets(node) for node in bound):
        return True
    if any(isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in tree.body):
        return True
    calls = [node for node in walk(tree) if isinstance(node, ast.Call)]
    own = any(isinstance(arg, ast.Name) and arg.id == "__name__" for call in calls for arg in call.args)
    return own or any(_computed(call) is not None for call in calls)


def _packages_looked_through(tree: ast.Module, own: str, *, is_listed: bool) -> set[str]:
    """Return the packages of which a module imports whatever it finds.

    ``import_module(f"{__name__}.{name}")`` and ``import_module("." + name, __name__)`` are about its own package,
    unless it lists the names; ``import_module(f"box.models.{name}")`` is about another. A module that asks for its
    ``__path__`` or ``__file__`` and computes what it imports looks through its own folder.
    """
    names = {node.id for node in walk(tree) if isinstance(node, ast.Name)}
    found: set[str] = set()
    is_searching = bool(names & {"__path__", "__file__"})
    for node in walk(tree):
        start = _computed(node) if isinstance(node, ast.Call) else None
        if start is None:
            continue
        if isinstance(start, ast.Name) and start.id in ("__name__", "__package__"):
            found.add(own)
        elif isinstance(start, ast.Constant) and isinstance(start.value, str):
            level = len(start.value) - len(start.value.lstrip("."))
            parts = own.split(".")[: len(own.split(".")) - level + 1] if level else []
            found.add(".".join([*parts, *filter(None, start.value.split(".")[:-1])]))
        elif is_searching:
            found.add(own)
    return found - {own} if is_listed and not is_searching else found


def _computed(call: ast.Call) -> ast.expr | None:
    """Return how the name that a call imports begins, where the call does not show all of it; None for other calls."""
    if _last(call.func) not in _IMPORTERS or not call.args:
        return None
    start, is_shown = call.args[0], isinstance(call.args[0], ast.Constant)
    while not isinstance(start, (ast.Name, ast.Constant)):
        if isinstance(start, ast.BinOp):
            start = start.left
        elif isinstance(start, ast.JoinedStr) and start.values:
            start = start.values[0]
        elif isinstance(start, ast.FormattedValue):
            start = start.value
        elif isinstance(start, ast.Call) and isinstance(start.func, ast.Attribute):
            start = start.func.value  # "...".format(name)
        else:
            break
    return None if is_shown else start


def _targets(node: ast.Assign | ast.AugAssign | ast.AnnAssign) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _names_in(folder: Path) -> set[str]:
    """Return the modules and packages in a folder."""
    entries = [entry for entry in folder.iterdir() if entry.suffix == ".py" or (entry / "__init__.py").is_file()]
    return {entry.stem for entry in entries} - {"__init__"}


def _last(func: ast.expr) -> str:
    return func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""


def _is_compiled(file: Path, name: str) -> bool:
    return file.name.partition(".")[0] == name and file.name.endswith(COMPILED_SUFFIXES)


def _data(folder: Path) -> Iterator[Path]:
    """Yield the data beside a module, and in folders below that hold no Python."""
    for entry in sorted(folder.iterdir()):
        if entry.is_dir():
            if not any(entry.rglob("*.py")) and entry.name != "__pycache__":
                yield from _data(entry)
        elif entry.is_file() and not entry.name.endswith((".py", *_LEFT)):
            yield entry


def _file(path: str, location: Path) -> SourceFile:
    info = location.stat()
    return SourceFile(
        path, kind_of(location.name, location, info.st_mode), location, info.st_mode & 0o777, size=info.st_size
    )
