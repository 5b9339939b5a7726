"""Reporting: one Report from the results of all files, and the facts of the generated program."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import cast

import torch2ms
from torch2ms.config import Options
from torch2ms.diagnostics import CODES, Diagnostic, Severity
from torch2ms.generate import DATASETS, Named, ProgramFacts, rename_taken
from torch2ms.mapping_tables.loader import load
from torch2ms.mapping_tables.lookup import Tables
from torch2ms.reports.model import (
    ApiStatus,
    ApiUse,
    ChecklistItem,
    FileReport,
    FileStatus,
    PackageReport,
    Place,
    Report,
)
from torch2ms.translator.context import Use
from torch2ms.translator.output.cache import Translation
from torch2ms.translator.output.file_result import FileResult
from torch2ms.translator.output.program import Finding, Network, is_importable, module_name
from torch2ms.translator.project.directives import silence
from torch2ms.translator.project.out_names import REPORT_NAME, RUNTIME_NAME, TakenNames, report_name
from torch2ms.translator.project.source_tree import PackageFiles, Project, SourceFile, mentions_torch
from torch2ms.translator.syntax.names import is_torch_name
from torch2ms.translator.values.constants import NOT_CONSTANT

__all__ = ["add_generated", "make_report"]

_RANK = {"unknown": 4, "unsupported": 3, "mapped": 2, "kept": 1, "removed": 0}


def make_report(
    project: Project,
    results: Mapping[str, FileResult],
    made: Translation,
    options: Options,
) -> tuple[Report, ProgramFacts | None]:
    """Return the report of a translation, and what the generated program needs (None: there is no network)."""
    taken = frozenset(path for package in project.packages for path in package.files)
    own = {path: result for path, result in results.items() if path not in taken}
    part = _part(project, results, made, options, lambda path: path not in taken)
    program = _program(results, options, TakenNames(file.path for file in project.files), taken)
    facts: dict[str, object] = {"networks": sorted(c.key for r in own.values() for c in r.program.classes)}
    if program is not None:
        facts.update(_entry(program, results, options, taken))
        facts["training"] = program.has_training
    checklist = [item for result in own.values() for item in result.program.checklist]
    report = Report(
        tool=f"torch2ms {torch2ms.__version__}",
        target=options.target,
        files=part.files,
        apis=part.apis,
        checklist=(*_items(checklist, own), *_assumed_items(program)),
        diagnostics=part.diagnostics,
        facts=facts,
        scripts=tuple(script for script in made.programs if script.path not in taken),
        left_out=project.left_out,
        silenced=part.silenced,
        packages=tuple(
            _part(project, results, made, options, package.files.__contains__, package) for package in project.packages
        ),
    )
    return report, program


def _part(
    project: Project,
    results: Mapping[str, FileResult],
    made: Translation,
    options: Options,
    is_part: Callable[[str], bool],
    package: PackageFiles | None = None,
) -> PackageReport:
    """Return what was found in the files of one package, or in those of SRC itself."""
    own = [result for path, result in results.items() if is_part(path)]
    diagnostics = [found for found in (*project.diagnostics, *made.problems) if is_part(found.file)]
    diagnostics += [found for result in own for found in result.diagnostics]
    files = []
    for file in project.files:
        if is_part(file.path):
            entry, found = _file(file, results.get(file.path), file.path in made.parsed, made.left.get(file.path, ""))
            files.append(entry)
            diagnostics += found if package is None or file.kind != "other" else ()
    told, silenced = _silenced(diagnostics, own, options)
    name, version = (package.name, package.version) if package is not None else ("", "")
    apis = tuple(_apis([use for result in own for use in result.uses]))
    on_import = _on_import(files, told) if package is not None else ()
    return PackageReport(name, version, tuple(files), apis, told, silenced, on_import)


def _on_import(files: Iterable[FileReport], diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the errors that stand outside of functions: whoever imports the file meets them."""
    texts = {file.path: file.source for file in files if file.source is not None}
    found = []
    for path, group in groupby((d for d in diagnostics if d.severity == Severity.ERROR), key=lambda d: d.file):
        tree = ast.parse(texts.get(path, ""))
        functions = [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
        bodies = [(n.body[0].lineno, n.end_lineno or n.lineno) for n in functions]
        found += [error for error in group if not any(start <= error.line <= end for start, end in bodies)]
    return tuple(found)


def _silenced(
    diagnostics: Iterable[Diagnostic], results: Iterable[FileResult], options: Options
) -> tuple[tuple[Diagnostic, ...], tuple[Diagnostic, ...]]:
    """Return what is told, and what comments and settings silence, each in the order of places."""
    told: list[Diagnostic] = []
    silenced = {found for result in results for found in result.silenced}
    for path, group in groupby(sorted(set(diagnostics)), key=lambda found: found.file):
        kept, others = silence(path, "", options.ignores).split(group)  # what has no text of its own: links, names
        told += kept
        silenced |= set(others)
    return tuple(told), tuple(sorted(silenced))


def add_generated(report: Report, project: Project, generated: Mapping[str, str], options: Options) -> Report:
    """Return the report with what OUT gets besides, and what of it stepped aside for a name of SRC's."""
    aside = TakenNames(file.path for file in project.files).displaced(generated)
    notes = {path: f"SRC has its own {name}" for path, name in aside.items()}
    new = [
        FileReport(path, "generated", None, text, notes.get(path, ""), executable=path.endswith(".sh"))
        for path, text in sorted(generated.items())
    ]
    folders = {options.package: RUNTIME_NAME, report_name(project): REPORT_NAME}
    moved = {**aside, **{name: plain for name, plain in folders.items() if name != plain}}
    facts = dict(report.facts)
    if moved:
        facts["other names"] = [f"{path}, because SRC has its own {name}" for path, name in sorted(moved.items())]
    return replace(report, files=(*report.files, *new), facts=facts)


def _file(
    file: SourceFile, result: FileResult | None, is_parsed: bool, left: str
) -> tuple[FileReport, list[Diagnostic]]:
    """Return the report of one file; other files that mention torch get a note, and those ``left`` as they are."""
    if left or file.is_excluded:
        reason = left or "excluded"
        return FileReport(file.path, "copied", note=reason), [_left(file, reason)] if left else []
    if file.link is not None:
        return FileReport(file.path, "copied", note=f"a link to {file.link}"), []
    if file.kind == "other" and (result is None or result.text is None):
        return FileReport(file.path, "copied"), list(_mention(file))
    is_parsed = is_parsed or file.kind == "other"
    source = file.load(is_parsed=is_parsed)
    if file.kind == "notebook" and source.text is None:
        return FileReport(file.path, "copied"), list(_mention(file))
    original = source.original if source.text is not None else None
    if not is_parsed or source.text is None:
        return FileReport(file.path, "failed", original, None, "copied as it is", encoding=source.encoding), []
    if result is None or result.text is None:
        status: FileStatus = "failed" if result is not None and result.failed else "unchanged"
        return FileReport(file.path, status, original, original, encoding=source.encoding), []
    output = source.restore(result.text)
    return FileReport(file.path, "translated", original, output, encoding=source.encoding), []


def _left(file: SourceFile, reason: str) -> Diagnostic:
    """Return the note of a file that uses torch and stays as it is because the user said so."""
    entry = CODES["T2M107"]
    severity = Severity.WARNING if file.is_excluded else entry.severity
    message = f"uses torch and stays as it is: {reason}" + (", but the program imports it" if file.is_excluded else "")
    return Diagnostic(file.path, 1, 1, "T2M107", severity, "", message, entry.advice)


def _mention(file: SourceFile) -> Iterable[Diagnostic]:
    try:
        data = file.data
    except OSError:
        return
    if b"\0" not in data[:4096] and mentions_torch(data):
        line = data[: data.index(b"torch")].count(b"\n") + 1
        entry = CODES["T2M802"]
        yield Diagnostic(
            file.path, line, 1, "T2M802", entry.severity, "", "mentions torch; copied as it is", entry.advice
        )


def _apis(uses: Sequence[Use]) -> Iterable[ApiUse]:
    """Yield one entry an API, the worst first, then by name."""
    grouped: dict[tuple[int, str], list[Use]] = defaultdict(list)
    for use in uses:
        grouped[-_RANK[use.status], use.name].append(use)
    for (_, name), group in sorted(grouped.items()):
        worst = group[0]
        yield ApiUse(
            name,
            cast(ApiStatus, worst.status),
            tuple(sorted({use.target for use in group if use.target})),
            worst.fidelity,
            worst.advice,
            tuple(sorted({use.place for use in group})),
        )


def _items(checklist: Sequence[ChecklistItem], results: Mapping[str, FileResult]) -> Iterable[ChecklistItem]:
    """Yield the checklist with what each entry became, and the hyperparameters spelled out."""
    targets: dict[tuple[str, Place], str] = {}
    for result in results.values():
        for use in result.uses:
            targets[use.name, Place(use.place.file, use.place.line, use.place.column)] = use.target
    for result in results.values():
        program = result.program
        if program.network is not None:
            yield program.checklist[0]
        for finding in program.findings:
            target = targets.get((finding.name, finding.place), "")
            yield ChecklistItem(finding.topic, finding.text, finding.place, target)
            yield from _details(finding)
        if program.epochs is not NOT_CONSTANT:
            yield ChecklistItem("epochs", str(program.epochs), None)


_DETAILS = (("lr", "learning rate"), ("weight_decay", "weight decay"), ("batch_size", "batch size"))


def _details(finding: Finding) -> Iterable[ChecklistItem]:
    if finding.topic in ("optimizer", "data"):
        for key, topic in _DETAILS:
            if key in finding.kwargs:
                yield ChecklistItem(topic, str(finding.kwargs[key]), finding.place)


# ---- the generated program


def _program(
    results: Mapping[str, FileResult], options: Options, names: TakenNames, taken: Collection[str]
) -> ProgramFacts | None:
    """Return the facts of the generated program: of the training script if there is one, else of the first network.

    What is ``taken`` along is no program of SRC.
    """
    own = [result for path, result in results.items() if path not in taken]
    trained = [r for r in own if r.program.network is not None and r.program.trains]
    script = next((r for r in trained if r.program.network is not None and is_importable(r.program.network.path)), None)
    if script is None or script.program.network is None:
        return _network_only(results, options, names, taken)
    network = script.program.network
    found = _facts(script, network, options)
    is_recognised = _is_classification(script.program.findings, found)
    facts = ProgramFacts(**found, has_training=is_recognised)  # type: ignore[arg-type]
    return rename_taken(facts, names)


def _is_classification(findings: Sequence[Finding], facts: Mapping[str, object]) -> bool:
    """Whether a program does what the generated one does: one network, images, classes, one of the known losses.

    Another program (an autoencoder, a policy, a pair of images) would get a train.py that trains something else.
    """
    losses = [f.name.rpartition(".")[2] for f in findings if f.topic == "loss"]
    return "dataset" in facts and bool(losses) and all(name in _CLASSIFICATION for name in losses)


def _network_only(
    results: Mapping[str, FileResult], options: Options, names: TakenNames, taken: Collection[str]
) -> ProgramFacts | None:
    module, _, name = (options.entry or "").partition(":")
    kwargs: Mapping[str, object] = {}
    if not module:
        found = _networks(results, taken)
        if not found:
            return None
        module, name, kwargs = module_name(found[0].path), found[0].callable, found[0].kwargs
    facts = ProgramFacts(
        network_module=module,
        network_callable=name,
        network_kwargs=dict(kwargs),
        has_training=False,
        mindspore=options.target.mindspore,
        runtime=_runtime(options),
    )
    return rename_taken(facts, names)


def _networks(results: Mapping[str, FileResult], taken: Collection[str]) -> list[Network]:
    """Return the networks of SRC that nothing trains, the likeliest first.

    Those come first that a script makes, then those that can be built without arguments, as classes or by functions. A
    network has weights, which transforms, activations and most losses do not have; a block is a part of another
    network, whose class makes it or is handed its class.
    """
    classes = {c.key: c for r in results.values() for c in r.program.classes}
    for key, part in sorted({pair for r in results.values() for pair in r.program.given}):
        if key in classes:
            classes[key] = replace(classes[key], makes=(*classes[key].makes, part))

    def has_weights(key: str, above: tuple[str, ...] = ()) -> bool:
        own = classes.get(key)
        if own is None or key in above:
            return False
        return own.has_weights or any(has_weights(part, (*above, key)) for part in own.makes)

    parts = {part for key, own in classes.items() for part in own.makes if part != key}
    made = [n for path, r in results.items() if path not in taken for n in r.program.made]
    keys = {key for key in classes if is_importable(key.rpartition(":")[0]) and "." not in key.rpartition(":")[2]}
    networks = {key for key in keys - parts if has_weights(key)} or {key for key in keys if has_weights(key)}
    found = [network for network in made if f"{network.path}:{network.callable}" in networks]
    own = [key for key in sorted(networks or keys - parts or keys) if key.rpartition(":")[0] not in taken]
    whole = [key for key in own if not classes[key].needs_arguments]
    rest = [key for key in own if classes[key].needs_arguments]
    builders = [b for r in results.values() for b in r.program.builders if b.builds in rest and is_importable(b.path)]
    built = {builder.builds for builder in builders}

    def alone(key: str) -> Network:
        path, _, name = key.rpartition(":")
        return Network(path, name, {}, Place(path, 1, 1))

    return [*found, *map(alone, whole), *builders, *(alone(key) for key in rest if key not in built)]


def _entry(
    program: ProgramFacts, results: Mapping[str, FileResult], options: Options, taken: Collection[str]
) -> Iterable[tuple[str, object]]:
    """Yield what ``verify`` compares by itself: the entry, its arguments and inputs, and the other networks."""
    entry = f"{program.network_module}:{program.network_callable}"
    yield "entry", entry
    if program.network_kwargs:
        yield "entry_kwargs", dict(program.network_kwargs)
    inputs = [r.program.inputs.get(program.network_callable, ()) for r in results.values()]
    shown = next((list(texts) for texts in inputs if texts), [])
    if shown:
        yield "entry_inputs", shown
    others = [f"{module_name(network.path)}:{network.callable}" for network in _networks(results, taken)]
    is_certain = bool(options.entry or program.origin) or len(set(others)) < 2
    if not is_certain:
        yield "entries", list(dict.fromkeys((entry, *others)))[:_ENTRIES]


def _runtime(options: Options) -> str:
    return options.package if options.runtime == "copied" else "torch2ms.runtime"


def _facts(script: FileResult, network: Network, options: Options) -> dict[str, object]:
    findings = script.program.findings
    first = {topic: next((f for f in findings if f.topic == topic), None) for topic in ("optimizer", "schedule")}
    losses = [f for f in findings if f.topic == "loss"]
    # A loss object is made for training; functions are as often called to evaluate.
    first["loss"] = min(losses, key=lambda f: f.name.startswith("torch.nn.functional."), default=None)
    facts: dict[str, object] = {
        "network_module": module_name(network.path),
        "network_callable": network.callable,
        "network_kwargs": dict(network.kwargs),
        "origin": script.path,
        "mindspore": options.target.mindspore,
        "runtime": _runtime(options),
        "device_target": _DEVICE_TARGETS.get(options.target.device, "CPU"),
        "mode": options.mode,
    }
    if options.entry:
        facts["network_module"], _, facts["network_callable"] = options.entry.partition(":")
    optimizer, loss, schedule = first["optimizer"], first["loss"], first["schedule"]
    if optimizer is not None and not optimizer.name.startswith("torch.nn"):
        facts["optimizer"] = Named(optimizer.name.rpartition(".")[2], dict(optimizer.kwargs))
    if loss is not None:
        facts["loss"] = Named(
            _loss_class(loss.name), {k: v for k, v in loss.kwargs.items() if k in ("reduction", "label_smoothing")}
        )
    if schedule is not None:
        facts["schedule"] = Named(schedule.name.rpartition(".")[2], dict(schedule.kwargs))
    if script.program.epochs is not NOT_CONSTANT:
        facts["epochs"] = script.program.epochs
    facts.update(_data_facts(findings, load(options.mappings)))
    facts["assumed"] = _assumed(facts, {"optimizer": optimizer, "loss": loss, "schedule": schedule})
    return facts


# What config.yaml states and the source should: fact -> topic of the checklist.
_STATED = {
    "seed": "seed",
    "loss": "loss",
    "dataset": "data",
    "data_path": "data",
    "batch_size": "batch size",
    "image_size": "data",
    "train_transforms": "transforms",
    "eval_transforms": "transforms",
    "epochs": "epochs",
    "optimizer": "optimizer",
}
# Arguments that are objects of the program itself, which the generated one makes its own way.
_OBJECTS = frozenset({"params", "optimizer", "input", "target", "last_epoch"})


def _assumed(facts: Mapping[str, object], read: Mapping[str, Finding | None]) -> dict[str, str]:
    """Return, for each fact that is not (all) the source's, what was not found there."""
    assumed = {name: "not found in the source; torch2ms's default" for name in _STATED if name not in facts}
    for name, finding in read.items():
        unread = [key for key in finding.unread if key not in _OBJECTS] if finding is not None else []
        if unread and name in facts:
            assumed[name] = f"{', '.join(unread)}: no constant in the source; left at the default"
    return assumed


def _assumed_items(program: ProgramFacts | None) -> Iterable[ChecklistItem]:
    """Yield what of the generated configuration is not the source's."""
    if program is None or not program.has_training:
        return
    for name, reason in program.assumed.items():
        value = getattr(program, name)
        shown = value.name if isinstance(value, Named) else value
        if isinstance(shown, (list, tuple)):
            shown = ", ".join(spec.name for spec in shown)
        note = f"{program.config_file}, {name}: {reason}"
        yield ChecklistItem(_STATED.get(name, name), str(shown), None, note=note)


_ENTRIES = 10
_DEVICE_TARGETS = {"ascend": "Ascend", "gpu": "GPU"}  # config.yaml's word; it may be changed there
_CLASSIFICATION = frozenset({"CrossEntropyLoss", "NLLLoss", "cross_entropy", "nll_loss"})
_RUNTIME = "torch2ms.runtime."
_LOSSES = {"cross_entropy": "CrossEntropyLoss", "nll_loss": "NLLLoss", "mse_loss": "MSELoss", "l1_loss": "L1Loss"}


def _loss_class(name: str) -> str:
    last = name.rpartition(".")[2]
    return _LOSSES.get(last, last if last[:1].isupper() else "CrossEntropyLoss")


def _data_facts(findings: Sequence[Finding], tables: Tables) -> dict[str, object]:
    facts: dict[str, object] = {}
    datasets = {d.title.replace("-", "").replace(" ", "").upper(): key for key, d in DATASETS.items()}
    for finding in findings:
        last = finding.name.rpartition(".")[2]
        if finding.name.startswith("torchvision.datasets."):
            key = {**datasets, "IMAGEFOLDER": "image_folder"}.get(last.upper())
            if key is not None and "dataset" not in facts:
                facts["dataset"] = key
                facts["image_size"] = DATASETS[key].image_size
                if isinstance(finding.kwargs.get("root"), str):
                    facts["data_path"] = finding.kwargs["root"]
        elif finding.topic == "seed" and isinstance(finding.kwargs.get("seed"), int):
            facts.setdefault("seed", finding.kwargs["seed"])
        elif last == "DataLoader" and isinstance(finding.kwargs.get("batch_size"), int) and finding.role != "eval":
            facts.setdefault("batch_size", finding.kwargs["batch_size"])
    composes = [f for f in findings if f.name.endswith(".Compose")]
    if composes:
        train = next((f for f in composes if f.role == "train"), composes[0])
        held_out = next((f for f in composes if f.role == "eval"), composes[-1])
        facts["train_transforms"] = tuple(_named(train.children, tables))
        facts["eval_transforms"] = tuple(_named(held_out.children, tables))
        sizes = [c.kwargs.get("size") for c in train.children if c.name.endswith(("Resize", "RandomResizedCrop"))]
        if sizes and isinstance(sizes[-1], int):
            facts["image_size"] = sizes[-1]
    return facts


def _named(children: Sequence[Finding], tables: Tables) -> Iterable[Named]:
    for child in children:
        if is_torch_name(child.name):
            name, row = child.name.rpartition(".")[2], tables.row(child.name)
            homes = [option.target.rpartition(".")[0] for option in row.to] if row is not None else []
            module = homes[0].removeprefix(_RUNTIME) if homes and homes[0].startswith(_RUNTIME) else ""
            yield Named(name, {k: _plain(v) for k, v in child.kwargs.items()}, module)


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
