"""Output: everything that goes into OUT - the mirrored tree, the generated program, the runtime, the report."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from torch2ms.config import Options
from torch2ms.generate import ProgramFacts, generate
from torch2ms.reports.model import Report
from torch2ms.translator.emit import OutFile, emit
from torch2ms.translator.file_translation import FileResult
from torch2ms.translator.project import Project, SourceFile

__all__ = ["generated_files", "requirements", "write_output"]

RUNTIME_NAME = "torch2ms_runtime"
REPORT_NAME = "torch2ms_report"
_RUNTIME = Path(__file__).resolve().parent.parent / "runtime"


def generated_files(project: Project, program: ProgramFacts | None) -> dict[str, str]:
    """Return the texts that OUT gets besides the mirrored tree, by path; a file of SRC is never overwritten.

    A ``requirements.txt`` of SRC is the exception: it keeps its lines, with torch's replaced by what OUT needs.
    """
    files = {} if program is None else generate(program)
    taken = {file.path: file for file in project.files}
    needs = files.pop("requirements.txt", None)
    made = {path: text for path, text in files.items() if path not in taken}
    if needs is not None:
        source = taken.get("requirements.txt")
        made["requirements.txt"] = needs if source is None else requirements(_text(source), needs)
    return made


def _text(file: SourceFile) -> str:
    try:
        return file.data.decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


_PACKAGE = re.compile(r"^\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
_REPLACED = frozenset({"torch", "torchvision", "torchaudio", "torchtext", "numpy", "pytorch"})


def requirements(text: str, needs: str) -> str:
    """Return SRC's requirements with the lines of torch and numpy replaced by ``needs``; all others stay."""
    wanted = [line for line in needs.splitlines() if line and not line.startswith("#")]
    kept = [line for line in text.splitlines() if _package(line) not in _REPLACED]
    names = {_package(line) for line in kept}
    return "\n".join([*kept, *(line for line in wanted if _package(line) not in names)]) + "\n"


def _package(line: str) -> str:
    found = _PACKAGE.match(line)
    return found.group(1).lower() if found is not None else ""


def write_output(
    out: Path,
    project: Project,
    results: Mapping[str, FileResult],
    report: Report,
    generated: Mapping[str, str],
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
        files = [*tree, *_generated(generated), *_runtime(options, taken), *reports]
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


def _runtime(options: Options, taken: set[str]) -> Iterator[OutFile]:
    """Yield the runtime's files, so that OUT needs no torch2ms."""
    if options.runtime != "copied":
        return
    for path in sorted(_RUNTIME.rglob("*")):
        relative = path.relative_to(_RUNTIME)
        name = f"{RUNTIME_NAME}/{relative.as_posix()}"
        if path.is_file() and "__pycache__" not in relative.parts and name not in taken:
            yield OutFile(name, copy_of=path)
