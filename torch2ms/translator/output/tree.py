"""Output: everything that goes into OUT - the mirrored tree, the generated program, the runtime, the report."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path, PurePosixPath

from torch2ms.config import Options
from torch2ms.generate import LAUNCHER, ProgramFacts, generate, launcher, requirement_entries
from torch2ms.mapping_tables.counterparts import PACKAGES, needed_by
from torch2ms.reports.model import Report
from torch2ms.translator.output.emit import MANIFEST_NAME, OutFile, emit
from torch2ms.translator.output.file_result import FileResult
from torch2ms.translator.output.runtime_closure import carried_files, reached_names, used_names
from torch2ms.translator.project.out_names import RUNTIME_NAME, SIGNPOST_START, TakenNames, report_name
from torch2ms.translator.project.package_sources import is_place
from torch2ms.translator.project.packages import requires_torch
from torch2ms.translator.project.requirement_files import (
    is_requirement_file,
    translate_requirements,
    with_counterparts,
    with_taken_along,
)
from torch2ms.translator.project.source_tree import Project, SourceFile
from torch2ms.weights import Rules, table_rules

__all__ = ["generated_files", "requirement_texts", "script_folders", "write_output"]

_INSTALLED = "torch2ms.runtime."
_WORD = re.compile(r"\w+")


def generated_files(
    project: Project,
    program: ProgramFacts | None,
    results: Mapping[str, FileResult],
    scripts: Collection[str],
    options: Options,
) -> dict[str, str]:
    """Return the texts that OUT gets besides the mirrored tree, by path; what SRC has of a name is never replaced."""
    taken = TakenNames(file.path for file in project.files)
    made = {}
    if program is not None:
        made = generate(replace(program, state_rules=_rules_of_layers(results, options)), store=options.cache)
    if program is not None and any(file.path == "requirements.txt" and file.link is None for file in project.files):
        del made[program.requirements_file]  # SRC's own is translated
    elif program is not None:
        name = program.requirements_file
        made[name] = with_taken_along(name, made[name], _required(project), add=True)
        made[name] = with_counterparts(name, made[name], needed_by(_code(results)), PACKAGES)
    if program is None or not program.has_training:
        joining = [path for path, result in results.items() if _is_data_parallel(result)]
        own = [path for path in joining if _is_script(results[path], scripts)]
        if joining:
            (path,) = taken.aside([f"scripts/{LAUNCHER}"])
            made |= launcher(own[0] if len(own) == 1 else "", path, store=options.cache)
    return made


def _rules_of_layers(results: Mapping[str, FileResult], options: Options) -> Rules:
    """Return how weights are converted, for those layers that the translated code, or what it runs, names."""
    texts = _code(results)
    runtime, mentioned = reached_names(used_names(texts, options.package))
    mentioned |= {"mindspore", *(word for text in texts for word in _WORD.findall(text))}
    return {
        layer: rule
        for layer, rule in table_rules(options.mappings).items()
        if (layer in runtime if layer.startswith(_INSTALLED) else mentioned.issuperset(layer.split(".")))
    }


def _code(results: Mapping[str, FileResult]) -> list[str]:
    """Return the translated Python texts; a notebook's is the code of its cells."""
    return [result.text for result in results.values() if result.text is not None]


def _is_data_parallel(result: FileResult) -> bool:
    """Whether a file joins a group of processes, or trains in one: MindSpore's launcher must start the program."""
    names = {finding.name for finding in result.program.findings if finding.topic == "distribution"}
    return any(name.endswith((".init_process_group", ".DistributedDataParallel", ".Accelerator")) for name in names)


def _is_script(result: FileResult, scripts: Container[str]) -> bool:
    """Whether a translated file says itself that it can be run, or is one of ``scripts``."""
    return result.text is not None and ("__main__" in result.text or result.path in scripts)


def _text(file: SourceFile) -> str:
    try:
        return file.data.decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _required(project: Project) -> dict[str, list[str]]:
    """Return what the packages that were taken along require, but for what is built on PyTorch."""
    return {
        package.name: [entry for entry in package.requires if not requires_torch(entry)]
        for package in project.packages
        if package.files
    }


def requirement_texts(project: Project, results: Mapping[str, FileResult], options: Options) -> dict[str, FileResult]:
    """Return the translations of the files of SRC that state requirements and change."""
    needs = requirement_entries(options.target.mindspore)
    translated = any(result.text is not None for result in results.values())
    made: dict[str, FileResult] = {}
    for file in project.files:
        if file.link is None and is_requirement_file(file.path):
            result = results.get(file.path, FileResult(file.path, None))
            text = _text(file).replace("\r\n", "\n") if result.text is None else result.text
            new = translate_requirements(file.path, text, needs, add=translated and file.path == "requirements.txt")
            new = with_taken_along(file.path, new, _required(project))
            if file.path == "requirements.txt":
                new = with_counterparts(file.path, new, needed_by(_code(results)), PACKAGES)
            if new != text:
                made[file.path] = replace(result, text=new)
    return made


def write_output(
    out: Path,
    project: Project,
    results: Mapping[str, FileResult],
    report: Report,
    generated: Mapping[str, str],
    scripts: Collection[str],
    options: Options,
    *,
    force: bool,
) -> None:
    """Write OUT whole or not at all (OutputError)."""
    from torch2ms.reports.write import rendered

    taken = TakenNames(file.path for file in project.files)
    folder_name = report_name(project)
    reports = (OutFile(f"{folder_name}/{name}", data=data) for name, data in rendered(report))  # one at a time
    runtime = _runtime(project, results, generated, options)
    tree = _tree(project, results, [folder_name, *([options.package] if runtime else [])])
    files = [*tree, *_generated(generated), *runtime]
    leading = [options.package] if options.runtime == "copied" else []
    leading += [module for package in project.packages if package.files for module in package.modules]
    for name in leading:
        files.extend(_signposts(script_folders(results, scripts, name), taken, name))
    about = {"tool": report.tool, "settings": _settings(options), "source": _digests(project, results)}
    if project.packages:
        about["packages"] = {
            package.name: {"version": package.version, "files": sorted(package.files)} for package in project.packages
        }
    manifest = f"{folder_name}/{MANIFEST_NAME}"
    emitted = emit(out, chain(files, reports), force=force, manifest=manifest, about=about)
    if emitted.cleared:
        report.facts["cleared"] = list(emitted.cleared)
    if emitted.backup is not None:
        report.facts["backup"] = str(emitted.backup)


def _settings(options: Options) -> dict[str, object]:
    """Return what the command line said, for `torch2ms update`; of mapping tables their digests, not their places."""
    settings = {key: value for key, value in options.asked if key not in ("mapping", "with")}
    packages = [text for key, found in options.asked if key == "with" and isinstance(found, tuple) for text in found]
    if packages:
        settings["with"] = [_PLACE if is_place(text) else text for text in packages]
    tables = [hashlib.sha256(Path(name).read_bytes()).hexdigest() for name in options.mappings]
    return {**settings, **({"mapping": tables} if tables else {})}


_PLACE = "."  # of a package that was given as a file or folder; where it lies is this machine's business


def _digests(project: Project, results: Mapping[str, FileResult]) -> dict[str, str]:
    """Return the digests of the files of SRC that OUT holds in another form; the others are copies."""
    files = (file for file in project.files if file.link is None)
    changed = (file for file in files if (found := results.get(file.path)) is not None and found.text is not None)
    return {file.path: hashlib.sha256(file.data).hexdigest() for file in changed}


def _tree(project: Project, results: Mapping[str, FileResult], made: Collection[str]) -> Iterator[OutFile]:
    """Yield the files of SRC, but for the folders ``made``: an earlier translation's report and runtime."""
    for file in project.files:
        if file.path.partition("/")[0] in made:
            continue
        executable = bool(file.mode & 0o111)
        result = results.get(file.path)
        if file.link is not None:
            yield OutFile(file.path, link=file.link)
        elif result is None or result.text is None:
            yield OutFile(file.path, copy_of=file.location, executable=executable)
        else:
            source = file.load(is_parsed=True)
            yield OutFile(file.path, data=source.encode(result.text), executable=executable, checked=True)


def _generated(files: Mapping[str, str]) -> Iterator[OutFile]:
    for path, text in sorted(files.items()):
        yield OutFile(path, data=text.encode(), executable=path.endswith(".sh"))


def _runtime(
    project: Project, results: Mapping[str, FileResult], generated: Mapping[str, str], options: Options
) -> list[OutFile]:
    """Return the runtime's files, with what the code of OUT reaches and no more, so that OUT needs no torch2ms."""
    if options.runtime != "copied":
        return []
    texts = [*_code(results), *(text for path, text in generated.items() if path.endswith(".py"))]
    own = f"{options.package}/"
    if any(file.path.startswith(own) for file in project.files):  # of an earlier translation, whose code uses it
        copied = (file for file in project.python_files if not file.path.startswith(own))
        texts += [_text(file) for file in copied if (found := results.get(file.path)) is None or found.text is None]
    used = used_names(texts, options.package)
    return [OutFile(own + path, data=text.encode()) for path, text in carried_files(used).items()] if used else []


def script_folders(
    results: Mapping[str, FileResult], scripts: Collection[str], package: str = RUNTIME_NAME
) -> list[str]:
    """Return the folders below the root with scripts of a project that uses the runtime.

    Python looks for modules beside the script, not in the project's root. A script is a file that says itself that it
    can be run, or one of ``scripts``: outside packages, and imported by no other.
    """
    users = [result for result in results.values() if result.text is not None and package in result.text]
    if not users:
        return []
    found = {PurePosixPath(path).parent for path, result in results.items() if _is_script(result, scripts)}
    # A script that names no torch itself is copied, and the modules beside it are those that it runs
    copied = {PurePosixPath(path).parent for path in scripts if _is_copied(results.get(path))}
    found |= {folder for folder in copied if any(_is_below(user, folder) for user in users)}
    return sorted(str(folder) for folder in found if folder != PurePosixPath("."))


def _is_copied(result: FileResult | None) -> bool:
    return result is None or result.text is None


def _is_below(result: FileResult, folder: PurePosixPath) -> bool:
    return folder in PurePosixPath(result.path).parents


_SIGNPOST = f'''\
{SIGNPOST_START}{{name}}: Python looks for modules beside the script."""

import importlib.util
import sys
from pathlib import Path

if __name__ == "{{name}}":  # packages that import all of their modules find this one under another name
    _folder = Path(__file__).resolve().parents[{{levels}}] / "{{name}}"
    _spec = importlib.util.spec_from_file_location(
        __name__, _folder / "__init__.py", submodule_search_locations=[str(_folder)]
    )
    sys.modules[__name__] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules[__name__])
'''


def _signposts(folders: Sequence[str], taken: TakenNames, package: str) -> Iterator[OutFile]:
    for folder in folders:
        path = f"{folder}/{package}.py"
        if taken.is_free(path):
            levels = len(PurePosixPath(folder).parts)
            yield OutFile(path, data=_SIGNPOST.format(name=package, levels=levels).encode())
