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
from torch2ms.translator.syntax.import_names import ImportNames, import_names

__all__ = ["with_packages"]

_LEFT = COMPILED_SUFFIXES | {".py", ".pyc", ".pyo", ".pyi"}


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
                queue += [name for level, name in import_names(tree).modules if not level]
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
        found = import_names(tree)
        yield from (self._dotted(module, *given) for given in found.modules)
        named = list(self._named(found, module))
        yield from named
        for package in {self._dotted(module, *given) for given in found.searched}:
            if package != module.package or found.is_searching or not named:  # else it lists what it means
                yield from (f"{package}.{name}" for name in self._modules_of(package))

    def _dotted(self, module: _Module, level: int, name: str) -> str:
        """Return the dotted name of what a module imports; "" where its package has no such parent."""
        base = module.package.split(".")
        if level > len(base):
            return ""
        return ".".join([*(base[: len(base) - level + 1] if level else []), *([name] if name else [])])

    def _modules_of(self, package: str) -> list[str]:
        """Return the names of the modules in a package."""
        source = self._homes.get(package.partition(".")[0])
        folder = source.folder.joinpath(*package.split(".")) if source is not None else None
        return sorted(_names_in(folder) - {"__main__"}) if folder is not None and folder.is_dir() else []

    def _named(self, found: ImportNames, module: _Module) -> Iterator[str]:
        """Yield the modules that strings of a module name: beside it, or with the name of a package in front."""
        beside = _names_in(module.location.parent) if found.strings else set()
        for text in found.strings:
            name = text.lstrip(".")
            first = name.partition(".")[0]
            if first in beside:
                yield f"{module.package}.{name}"
            elif first in self._homes and first != name:
                yield name

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


def _names_in(folder: Path) -> set[str]:
    """Return the modules and packages in a folder."""
    entries = [entry for entry in folder.iterdir() if entry.suffix == ".py" or (entry / "__init__.py").is_file()]
    return {entry.stem for entry in entries} - {"__init__"}


def _is_compiled(file: Path, name: str) -> bool:
    return file.suffix in COMPILED_SUFFIXES and str(file.relative_to(file.parent)).partition(".")[0] == name


def _data(folder: Path) -> Iterator[Path]:
    """Yield the data beside a module, and in folders below that hold no Python."""
    for entry in sorted(folder.iterdir()):
        if entry.is_dir():
            if not any(entry.rglob("*.py")) and entry.name != "__pycache__":
                yield from _data(entry)
        elif entry.is_file() and entry.suffix not in _LEFT:
            yield entry


def _file(path: str, location: Path) -> SourceFile:
    info = location.stat()
    return SourceFile(
        path, kind_of(location.name, location, info.st_mode), location, info.st_mode & 0o777, size=info.st_size
    )
