"""Output: everything that goes into OUT - the mirrored tree, the generated program, the runtime, the report."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from torch2ms.config import Options
from torch2ms.generate import LAUNCHER, ProgramFacts, generate, launcher, requirement_entries
from torch2ms.reports.model import Report
from torch2ms.translator.emit import OutFile, emit
from torch2ms.translator.file_translation import FileResult
from torch2ms.translator.project import Project, SourceFile
from torch2ms.translator.requirement_files import is_requirement_file, translate_requirements
from torch2ms.translator.runtime_closure import carried_files, reached_names, used_names
from torch2ms.weights import Rules, table_rules

__all__ = ["generated_files", "requirement_texts", "script_folders", "write_output"]

RUNTIME_NAME = "torch2ms_runtime"
_INSTALLED = "torch2ms.runtime."
_WORD = re.compile(r"\w+")
REPORT_NAME = "torch2ms_report"


def generated_files(
    project: Project,
    program: ProgramFacts | None,
    results: Mapping[str, FileResult],
    scripts: Collection[str],
    options: Options,
) -> dict[str, str]:
    """Return the texts that OUT gets besides the mirrored tree, by path; a file of SRC is never overwritten."""
    taken = {file.path for file in project.files}
    made = {}
    if program is not None:
        made = generate(replace(program, state_rules=_rules_of_layers(results, options)), store=options.cache)
    if LAUNCHER not in made:
        joining = [path for path, result in results.items() if _is_data_parallel(result)]
        own = [path for path in joining if _is_script(results[path], scripts)]
        if joining:
            made |= launcher(own[0] if len(own) == 1 else "", store=options.cache)
    return {path: text for path, text in made.items() if path not in taken}


def _rules_of_layers(results: Mapping[str, FileResult], options: Options) -> Rules:
    """Return how weights are converted, for those layers that the translated code, or what it runs, names."""
    texts = _code(results)
    runtime, mentioned = reached_names(used_names(texts, RUNTIME_NAME))
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
    from torch2ms.reports.write import write_reports

    taken = {file.path for file in project.files}
    with tempfile.TemporaryDirectory(prefix="torch2ms-report-") as folder:
        paths = write_reports(report, Path(folder))
        reports = [OutFile(f"{REPORT_NAME}/{path.name}", copy_of=path) for path in paths]
        tree = [file for file in _tree(project, results) if file.path not in generated]
        code = [*_code(results), *(text for path, text in generated.items() if path.endswith(".py"))]
        files = [*tree, *_generated(generated), *_runtime(code, options, taken), *reports]
        if options.runtime == "copied":
            files.extend(_signposts(script_folders(results, scripts), taken))
        emitted = emit(out, files, force=force)
    if emitted.backup is not None:
        report.facts["backup"] = str(emitted.backup)


def _tree(project: Project, results: Mapping[str, FileResult]) -> Iterator[OutFile]:
    for file in project.files:
        if file.path.startswith(f"{REPORT_NAME}/"):
            continue  # the report of an earlier translation: this one has its own
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


def _runtime(texts: Sequence[str], options: Options, taken: set[str]) -> Iterator[OutFile]:
    """Yield the runtime's files, with what ``texts`` reach and no more, so that OUT needs no torch2ms."""
    used = used_names(texts, RUNTIME_NAME) if options.runtime == "copied" else set()
    for path, text in carried_files(used).items() if used else ():
        name = f"{RUNTIME_NAME}/{path}"
        if name not in taken:
            yield OutFile(name, data=text.encode())


def script_folders(results: Mapping[str, FileResult], scripts: Collection[str]) -> list[str]:
    """Return the folders below the root with scripts of a project that uses the runtime.

    Python looks for modules beside the script, not in the project's root. A script is a file that says itself that it
    can be run, or one of ``scripts``: outside packages, and imported by no other.
    """
    if not any(map(_uses_runtime, results.values())):
        return []
    found = {PurePosixPath(path).parent for path, result in results.items() if _is_script(result, scripts)}
    # A script that names no torch itself is copied, and the modules beside it are those that it runs
    copied = {PurePosixPath(path).parent for path in scripts if _is_copied(results.get(path))}
    found |= {folder for folder in copied if any(_uses_runtime(x) and _is_below(x, folder) for x in results.values())}
    return sorted(str(folder) for folder in found if folder != PurePosixPath("."))


def _is_copied(result: FileResult | None) -> bool:
    return result is None or result.text is None


def _uses_runtime(result: FileResult) -> bool:
    return result.text is not None and RUNTIME_NAME in result.text


def _is_below(result: FileResult, folder: PurePosixPath) -> bool:
    return folder in PurePosixPath(result.path).parents


_SIGNPOST = '''\
"""Leads the scripts of this folder to the project's {name}: Python looks for modules beside the script."""

import importlib.util
import sys
from pathlib import Path

_folder = Path(__file__).resolve().parents[{levels}] / "{name}"
_spec = importlib.util.spec_from_file_location(
    __name__, _folder / "__init__.py", submodule_search_locations=[str(_folder)]
)
sys.modules[__name__] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(sys.modules[__name__])
'''


def _signposts(folders: Sequence[str], taken: set[str]) -> Iterator[OutFile]:
    for folder in folders:
        path = f"{folder}/{RUNTIME_NAME}.py"
        if path not in taken:
            levels = len(PurePosixPath(folder).parts)
            yield OutFile(path, data=_SIGNPOST.format(name=RUNTIME_NAME, levels=levels).encode())
