"""Output: everything that goes into OUT - the mirrored tree, the generated program, the runtime, the report."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from torch2ms.config import Options
from torch2ms.generate import ProgramFacts, generate
from torch2ms.reports.model import FileReport, Report
from torch2ms.translator.emit import OutFile, emit
from torch2ms.translator.file_translation import FileResult
from torch2ms.translator.project import Project

__all__ = ["write_output"]

RUNTIME_NAME = "torch2ms_runtime"
REPORT_NAME = "torch2ms_report"
_RUNTIME = Path(__file__).resolve().parent.parent / "runtime"


def write_output(
    out: Path,
    project: Project,
    results: Mapping[str, FileResult],
    report: Report,
    program: ProgramFacts | None,
    options: Options,
    *,
    force: bool,
) -> None:
    """Write OUT whole or not at all (OutputError)."""
    from torch2ms.reports.write import write_reports

    taken = {file.path for file in project.files}
    generated = {} if program is None else {p: t for p, t in generate(program).items() if p not in taken}
    if program is None:
        generated = {}
    with tempfile.TemporaryDirectory(prefix="torch2ms-report-") as folder:
        entries = [FileReport(path, "generated", None, text) for path, text in sorted(generated.items())]
        paths = write_reports(replace(report, files=(*report.files, *entries)), Path(folder))
        reports = [OutFile(f"{REPORT_NAME}/{path.name}", copy_of=path) for path in paths]
        files = [*_tree(project, results), *_generated(generated), *_runtime(options, taken), *reports]
        emitted = emit(out, files, force=force)
    if emitted.backup is not None:
        report.facts["backup"] = str(emitted.backup)


def _tree(project: Project, results: Mapping[str, FileResult]) -> Iterator[OutFile]:
    for file in project.files:
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
