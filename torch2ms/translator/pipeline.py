"""The pipeline: read -> index -> translate each file -> generate -> emit -> report."""

from __future__ import annotations

import ast
import gc
import re
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from torch2ms.config import Options
from torch2ms.diagnostics import CODES, Diagnostic
from torch2ms.mapping_tables.loader import load
from torch2ms.reports.model import Report, Script
from torch2ms.translator.context import Use
from torch2ms.translator.effects.backward_calls import read_as
from torch2ms.translator.effects.file_summary import index_file
from torch2ms.translator.file_translation import in_cells, translate_file
from torch2ms.translator.output import cache
from torch2ms.translator.output.file_result import FileResult
from torch2ms.translator.project.directives import is_skipped
from torch2ms.translator.project.file_index import FileIndex
from torch2ms.translator.project.notebooks import NotebookText
from torch2ms.translator.project.out_names import runtime_name
from torch2ms.translator.project.package_sources import opened_packages
from torch2ms.translator.project.package_view import library_table, view_text
from torch2ms.translator.project.packages import compiled_modules, torch_package
from torch2ms.translator.project.selection import check_entry, imported_aside
from torch2ms.translator.project.source_text import SourceText, decode
from torch2ms.translator.project.source_tree import Project, SourceFile, read_project, with_imported
from torch2ms.translator.project.symbol_table import SymbolTable
from torch2ms.translator.project.taken_along import with_packages
from torch2ms.translator.syntax.nesting import many_frames
from torch2ms.translator.values.world import World

__all__ = ["SourceResult", "translate_project", "translate_source"]

SECONDS_PER_FILE = 600.0  # of CPU time, where counting the work did not help
COLLECTIONS = (20_000_000, 50, 1000)  # thresholds of the garbage collector
LINES_KEPT = 5_000  # of the first files: these are not parsed again
SMALL_PROJECT = 20  # files that fit into memory with all their garbage
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class SourceResult:
    """The translation of one text."""

    text: str
    diagnostics: tuple[Diagnostic, ...]
    uses: tuple[Use, ...] = ()
    silenced: tuple[Diagnostic, ...] = ()  # by comments in the text, or by the settings


def translate_source(text: str, *, filename: str = "<string>", options: Options | None = None) -> SourceResult:
    """Translate one text that stands alone. Raises SyntaxError when it does not parse."""
    options = options or Options()
    path = filename if filename.endswith(".py") else "source.py"
    if "\r" in text:  # which ends a line for Python wherever it stands
        source = decode(text.encode("utf-8", "replace"), path)
        made = translate_source(source.text or text.replace("\r", "\n"), filename=filename, options=options)
        return replace(made, text=source.restore(made.text)) if source.text is not None else made
    tree = ast.parse(text)
    with many_frames():
        return _translated_source(text, tree, path, options)


def _translated_source(text: str, tree: ast.Module, path: str, options: Options) -> SourceResult:
    if is_skipped(text):
        return SourceResult(text, ())
    asked = read_as(text)
    if asked is not None:
        text, tree = asked, ast.parse(asked)
    index = index_file(path, tree)
    symbols = SymbolTable.build([index])
    if not _uses_torch(index, symbols) and not _asks_by_name(index, lambda _: text):
        return SourceResult(text, ())
    world = World(lambda p: tree if p == path else None, symbols, load(options.mappings))
    result = translate_file(path, text, world, options)
    made = result.text if result.text is not None else text
    return SourceResult(made, result.diagnostics, result.uses, result.silenced)


def translate_project(
    src: Path,
    out: Path | None,
    options: Options | None = None,
    *,
    progress: Progress | None = None,
    force: bool = False,
    dry_run: bool = False,
) -> Report:
    """Translate ``src`` into ``out`` and return the report; with ``dry_run`` or without ``out`` nothing is written.

    Raises UsageError, InputError, OutputError or TableError; what is wrong with single files is in the report.
    """
    from torch2ms.translator.output.emit import check_out

    options = options or Options()
    project = read_project(src, out=out, exclude=options.exclude, data_limit=options.data_limit)
    if out is not None and not dry_run:
        check_out(out, force=force)
    with opened_packages(options.packages) as packages:
        project = with_packages(project, packages)
        check_entry(project, options.entry)
        with many_frames(), _rare_collections(len(project.files)):  # none before what was needed meanwhile is let go
            return _translated_project(project, None if dry_run else out, options, progress, force=force)


def _translated_project(
    project: Project, out: Path | None, options: Options, progress: Progress | None, *, force: bool
) -> Report:
    from torch2ms.translator.output.reporting import add_generated, make_report
    from torch2ms.translator.output.tree import generated_files, requirement_texts, write_output

    options = replace(options, package=runtime_name(project))
    load(options.mappings, store=options.cache)
    made = _translation(project, options, progress)
    project = with_imported(project, made.imported)
    results = {**made.results, **requirement_texts(project, made.results, options)}
    report, program = make_report(project, results, made, options)
    generated = generated_files(project, program, results, made.scripts, options)
    report = add_generated(report, project, generated, options)
    if out is not None:
        write_output(out, project, results, report, generated, made.scripts, options, force=force)
    return report


def _translation(project: Project, options: Options, progress: Progress | None) -> cache.Translation:
    """Return what becomes of the project's Python files: found in the cache, or worked out and kept there."""
    key = cache.key_of(project, options) if options.cache else None
    found = cache.read(key) if key is not None else None
    if found is not None:
        return found
    trees: dict[str, ast.Module] = {}
    seen = _index(project, options, trees)
    project = with_imported(project, seen.imported)
    symbols = seen.symbols
    taken = frozenset(path for package in project.packages for path in package.files)
    own = [path for path in seen.relevant if path not in taken]
    results = _library(project, seen, taken, options, progress)
    results |= _translate_all(project, symbols, own, options, progress, trees)
    programs = tuple(Script(path, symbols.reached(path)) for path in symbols.programs() if path not in seen.left)
    parsed = frozenset(symbols.files)
    made = cache.Translation(results, seen.problems, parsed, symbols.scripts(), programs, seen.imported, seen.left)
    if key is not None:
        cache.write(key, made)
    return made


def _library(
    project: Project, seen: _Seen, taken: frozenset[str], options: Options, progress: Progress | None
) -> dict[str, FileResult]:
    """Return what becomes of the packages that were taken along: the same for every project, and kept as such."""
    paths = [path for path in seen.relevant if path in taken]
    if not paths:
        return {}
    table = library_table(seen.symbols, taken)
    files = tuple(file for file in project.files if file.path in taken)
    alone = Project(Path("packages"), files, packages=project.packages)
    options = replace(options, entry=None, exclude=(), packages=())
    key = cache.key_of(alone, options, view_text(table)) if options.cache else None
    found = cache.read(key) if key is not None else None
    if found is None:
        results = _translate_all(alone, table, paths, options, progress, {})
        found = cache.Translation(results, (), frozenset(), frozenset(), ())
        if key is not None:
            cache.write(key, found)
    return dict(found.results)


@dataclass(frozen=True, slots=True)
class _Look:
    """What one cheap look at a file found; ``index`` is None when it cannot be parsed."""

    index: FileIndex | None
    diagnostics: tuple[Diagnostic, ...]
    repaired: bool
    lines: int = 0
    is_skipped: bool = False  # by a comment in the file


def _look(file: SourceFile, trees: dict[str, ast.Module] | None = None) -> _Look:
    """Read, parse and index a file; put its tree into ``trees``."""
    source = file.load()
    if source.tree is None:
        return _Look(None, source.diagnostics, source.repaired)
    if trees is not None:
        trees[file.path] = source.tree
    text = source.text or ""
    index = index_file(file.path, source.tree)
    return _Look(index, source.diagnostics, source.repaired, text.count("\n"), is_skipped(text))


def _looks(paths: Sequence[SourceFile], options: Options, trees: dict[str, ast.Module]) -> Iterator[_Look]:
    """Look at every file, in order; keep the trees of the first ones when they are translated in this process."""
    if options.jobs > 1 and len(paths) > SMALL_PROJECT:
        with ProcessPoolExecutor(options.jobs, initializer=gc.set_threshold, initargs=COLLECTIONS) as pool:
            yield from pool.map(_look, paths, chunksize=8)
        return
    room = LINES_KEPT
    for file in paths:
        look = _look(file, trees if room > 0 else None)
        room -= look.lines
        yield look


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a look at all files of a project found."""

    symbols: SymbolTable
    relevant: list[str]  # the files worth translating
    problems: tuple[Diagnostic, ...]
    imported: frozenset[str]  # files that were left out of SRC, but that the program imports
    left: Mapping[str, str]  # files that use torch and stay as they are, each with the reason


def _index(project: Project, options: Options, trees: dict[str, ast.Module]) -> _Seen:
    """Look at all files; keep a few trees."""
    looks = list(_looks(project.python_files, options, trees))
    aside = {look.index.path: look for look in _looks(project.aside, options, {}) if look.index is not None}
    files = [look.index for look in looks if look.index is not None]
    name = project.root.name
    compiled = frozenset(path for package in project.packages for path in package.compiled)
    symbols = SymbolTable.build(files, name, compiled)
    imported: frozenset[str] = frozenset()
    if aside:
        others = [look.index for look in aside.values() if look.index is not None]
        imported = imported_aside(symbols, SymbolTable.build([*files, *others], name))
        looks += [aside[path] for path in sorted(imported)]
        symbols = SymbolTable.build([look.index for look in looks if look.index is not None], name, compiled)
    project = with_imported(project, imported)
    excluded = {file.path for file in project.files if file.is_excluded}
    problems = [problem for look in looks for problem in look.diagnostics if problem.file not in excluded]
    repaired = {look.index.path for look in looks if look.index is not None and look.repaired}
    reached = _relevant(project, symbols, repaired, options)
    skipped = {look.index.path for look in looks if look.index is not None and look.is_skipped}
    left = dict.fromkeys(skipped & reached, "torch2ms: skip-file") | dict.fromkeys(excluded & reached, "excluded")
    return _Seen(symbols, sorted(reached - left.keys()), tuple(problems), imported, left)


def _relevant(project: Project, symbols: SymbolTable, repaired: set[str], options: Options) -> set[str]:
    """Return the files that have to do with torch, or that cannot be copied as they are."""
    sources = {file.path: file for file in project.python_files}
    files = symbols.files.values()
    users = {f.path for f in files if _uses_torch(f, symbols) or _asks_by_name(f, lambda p: sources[p].load().text)}
    # The runtime of an earlier translation reads torch's files on purpose.
    own = [path for path in users if not path.startswith(f"{options.package}/")]
    reached = users | repaired | symbols.importers(own)
    reached |= _helpers(symbols, reached)
    return {path for path in reached if not path.startswith(f"{options.package}/")}


_MODULE_IN_QUOTES = re.compile(r"""["']torch(vision)?\.""")


def _asks_by_name(file: FileIndex, text_of: Callable[[str], str | None]) -> bool:
    """Whether a file may import modules of torch by name: ``import_module("torch.utils.tensorboard")``."""
    return (0, "importlib") in file.imports and _MODULE_IN_QUOTES.search(text_of(file.path) or "") is not None


def _uses_torch(file: FileIndex, symbols: SymbolTable) -> bool:
    """Whether a file imports torch, a package that is built on it, or a compiled part that stays behind."""
    return bool(compiled_modules(symbols, file.path, file.imports)) or any(
        symbols.is_torch(file.path, module, level) or torch_package(symbols, file.path, module, level)
        for level, module in file.imports
    )


# Methods that hardly anything but a tensor, an optimizer or a schedule has, and MindSpore has not, or otherwise
_TOLD_BY = frozenset(
    "add_ backward clone contiguous cpu detach dim div_ eq expand_as gather get_last_lr masked_fill mul_ numel numpy "
    "scatter_ size sub_ topk unsqueeze view".split()
)


def _helpers(symbols: SymbolTable, reached: set[str]) -> set[str]:
    """Return the files that users of torch import, and that treat what they are given as tensors without naming torch.

    ``def accuracy(output, target)`` needs no import to call ``output.topk(5)``, nor does a class that is given an
    optimizer to step it.
    """
    found: set[str] = set()
    seen = set(reached)
    queue = sorted(reached)
    while queue:
        path = queue.pop()
        for level, module in symbols.files[path].imports if path in symbols.files else ():
            other = symbols.find_module(path, module, level)
            if other is None or other in seen:
                continue
            seen.add(other)
            queue.append(other)
            index = symbols.files.get(other)
            is_asking = index is not None and (index.has_gradients or index.has_groups)
            if index is not None and (is_asking or index.wrappers or not _TOLD_BY.isdisjoint(index.calls)):
                found.add(other)
    return found


class _Trees:
    """Parses files when they are asked for; apart from who asks, so that no cycle keeps either."""

    def __init__(self, files: Mapping[str, SourceFile], trees: dict[str, ast.Module]) -> None:
        self._files = files
        self._trees = trees  # of files parsed already, until they are asked for
        self.given_up: set[str] = set()  # files that took too long: nobody asks about them again

    def __call__(self, path: str) -> ast.Module | None:
        file = self._files.get(path)
        if file is None or path in self.given_up:
            return None
        return self._trees.pop(path, None) or file.load().tree


class _Worker:
    """Translates files of one project; built once a process."""

    def __init__(
        self,
        files: Sequence[SourceFile],
        symbols: SymbolTable,
        options: Options,
        trees: dict[str, ast.Module] | None = None,
    ) -> None:
        self._files = {file.path: file for file in files}
        self._parse = _Trees(self._files, trees or {})
        self._symbols = symbols
        self._options = options
        self._world = self._new_world()

    def close(self) -> None:
        """Let go of every file, before reports need the memory."""
        self._world.close()

    def _new_world(self) -> World:
        return World(self._parse, self._symbols, load(self._options.mappings, store=self._options.cache))

    def nearest(self, left: Iterable[str]) -> str:
        """Return the file to translate next: the first whose analysis is at hand, or else the first."""
        return next((path for path in left if self._world.is_at_hand(path)), None) or next(iter(left))

    def translate(self, path: str) -> FileResult:
        """Return what becomes of a file; one that takes too long costs neither the others nor those that ask it."""
        source = self._files[path].load(is_parsed=True)
        if source.text is None:
            return FileResult(path, None)
        while path not in self._parse.given_up:
            try:
                self._world.work.begin()
                with _limit(SECONDS_PER_FILE):
                    return self._translated(path, source)
            except TimeoutError:
                # What was being worked out is half done: start anew, without the file that it was about.
                self._parse.given_up.add(self._world.running(path))
                self._world = self._new_world()
        entry = CODES["T2M105"]
        message = "more had to be found out for it than for a file of any real program; the file was copied as it is"
        found = Diagnostic(path, 1, 1, "T2M105", entry.severity, "", message, entry.advice)
        return FileResult(path, None, (found,), failed=True)

    def _translated(self, path: str, source: SourceText) -> FileResult:
        result = translate_file(path, source.text or "", self._world, self._options)
        if isinstance(source, NotebookText):
            result = in_cells(result, source)
        # A repaired file must not be copied as it is, even when nothing else of it changed.
        return replace(result, text=source.text) if source.repaired and result.text is None else result


@contextmanager
def _rare_collections(files: int) -> Iterator[None]:
    """Collect garbage rarely, for few files not at all: looking for cycles in syntax trees takes half the time."""
    before = gc.get_threshold()
    gc.set_threshold(*((0,) if files <= SMALL_PROJECT else COLLECTIONS))
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def _limit(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in the block after so many seconds of CPU time, which do not depend on what else runs.

    There is no limit outside the main thread or on Windows.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGPROF"):
        yield
        return

    def stop(number: int, frame: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


_worker: _Worker | None = None


def _start_worker(files: Sequence[SourceFile], symbols: SymbolTable, options: Options) -> None:
    global _worker
    gc.set_threshold(*COLLECTIONS)
    _worker = _Worker(files, symbols, options)


def _work(paths: Sequence[str]) -> list[FileResult]:
    if _worker is None:
        raise RuntimeError("the worker process was not started")
    worker, left, found = _worker, dict.fromkeys(paths), {}
    with many_frames():
        while left:
            del left[path := worker.nearest(left)]
            found[path] = worker.translate(path)
    return [found[path] for path in paths]


def _shares(paths: Sequence[str], jobs: int) -> Iterator[Sequence[str]]:
    """Split the work: large shares first, since neighbours ask for the same files; small ones, to end together."""
    start = 0
    while start < len(paths):
        size = max(2, (len(paths) - start) // (3 * jobs))
        yield paths[start : start + size]
        start += size


def _translate_all(
    project: Project,
    symbols: SymbolTable,
    paths: Sequence[str],
    options: Options,
    progress: Progress | None,
    trees: dict[str, ast.Module],
) -> dict[str, FileResult]:
    results: dict[str, FileResult] = {}
    paths = [path for path in paths if path in symbols.files]
    if options.jobs > 1 and len(paths) > 1:
        with ProcessPoolExecutor(
            options.jobs, initializer=_start_worker, initargs=(project.python_files, symbols, options)
        ) as pool:
            for found in pool.map(_work, _shares(paths, options.jobs)):
                for result in found:
                    results[result.path] = result
                    if progress is not None:
                        progress(f"{len(results)}/{len(paths)} {result.path}")
        return results
    worker = _Worker(project.python_files, symbols, options, trees)
    left = dict.fromkeys(paths)
    while left:
        path = worker.nearest(left)
        del left[path]
        if progress is not None:
            progress(f"{len(paths) - len(left)}/{len(paths)} {path}")
        results[path] = worker.translate(path)
    worker.close()
    return {path: results[path] for path in paths}
