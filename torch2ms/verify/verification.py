"""Verify a translation: outputs, gradients and training of the network in SRC and of its translation in OUT."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch2ms.config import Target
from torch2ms.errors import InputError, UsageError
from torch2ms.mapping_tables import loader
from torch2ms.verify.comparison import Comparison, Plan, Prepared
from torch2ms.verify.figures import MANY
from torch2ms.verify.gradients import GradientCheck, check_trainable
from torch2ms.verify.inputs import OptimizerSpec, parse_argument, parse_optimizer
from torch2ms.verify.layers import LayerCheck
from torch2ms.verify.outputs import RANDOM, OutputCheck
from torch2ms.verify.process import Answers, Worker, WorkerError
from torch2ms.verify.recording import Recording, record
from torch2ms.verify.report import VerifyReport
from torch2ms.verify.training import TrainingCheck
from torch2ms.weights import Rules, table_rules

__all__ = ["compare", "make_plan", "record_torch", "replay", "verify"]


def verify(
    source: Path,
    output: Path,
    *,
    entry: str,
    inputs: Sequence[str] = (),
    input_from: str = "",
    kwargs: Mapping[str, Any] | None = None,
    train_steps: int = 0,
    train_inputs: Sequence[str] = (),
    optimizer: str = "Adam(lr=0.001)",
    optimizer_target: str = "",
    loss: str = "auto",
    seeds: Sequence[int] = (1, 2, 3),
    gradients: bool = True,
    graph: bool = True,
    tolerance: float | None = None,
    layers: bool | None = None,
    torch_python: str | None = None,
    mindspore_python: str | None = None,
    rules: Rules | None = None,
    mappings: tuple[str, ...] = (),
    progress: Callable[[str], None] = lambda message: None,
) -> VerifyReport:
    """Compare the network that ``entry`` (``module:callable``) builds in ``source`` with that in ``output``.

    ``inputs``: one text for each argument of the network, ``2x3x224x224``, ``2x16:int64<1000``, ``mask=2x8:bool`` or
    ``{image: 2x3x8x8, mask: 2x8:bool}``; ``train_inputs``: the same for gradients and training steps, where smaller
    ones will do. ``input_from``, in the place of ``inputs``: ``FILE.npz``, ``FILE.py:CALLABLE`` or ``MODULE:CALLABLE``
    of ``source``; see docs/parity.md. ``optimizer`` is one of torch.optim with its arguments; MindSpore trains with
    what the tables put in its place, or with the class ``optimizer_target`` (a canonical name). ``tolerance``: largest
    allowed difference of the outputs from PyTorch's float32, over the largest magnitude, in every seed; besides the
    floor. ``rules`` replace the mapping tables' state maps.

    Raises UsageError and InputError for what makes no sense, VerificationError where one side cannot be run.
    """
    plan = make_plan(
        entry=entry,
        inputs=inputs,
        input_from=input_from,
        kwargs=kwargs,
        optimizer=_with_target(parse_optimizer(optimizer), optimizer_target, mappings),
        seeds=seeds,
        loss=loss,
        train_steps=train_steps,
        train_inputs=train_inputs,
        gradients=gradients,
        graph=graph,
        tolerance=tolerance,
        layers=layers,
    )
    _check(source, output, plan)
    own_rules = rules if rules is not None else table_rules(mappings)
    with Worker("torch_side", torch_python) as torch, Worker("mindspore_side", mindspore_python) as mindspore:
        return compare(source, output, plan, own_rules, (torch, mindspore), progress, mappings)


def record_torch(
    source: Path,
    file: Path,
    *,
    optimizer: str = "Adam(lr=0.001)",
    torch_python: str | None = None,
    progress: Callable[[str], None] = lambda message: None,
    **settings: Any,
) -> None:
    """Run PyTorch's half of :func:`verify` and write it to ``file``, for :func:`replay` on a machine without PyTorch.

    ``settings`` are those of :func:`make_plan`; raises as :func:`verify` does.
    """
    plan = make_plan(optimizer=parse_optimizer(optimizer), **settings)
    _check(source, source, plan)
    with Worker("torch_side", torch_python) as worker:
        record(source, file, plan, {**settings, "optimizer": optimizer}, worker, progress)


def replay(
    output: Path,
    file: Path,
    *,
    optimizer_target: str = "",
    graph: bool = True,
    mindspore_python: str | None = None,
    rules: Rules | None = None,
    mappings: tuple[str, ...] = (),
    progress: Callable[[str], None] = lambda message: None,
) -> VerifyReport:
    """Compare the translation in ``output`` with PyTorch's half that :func:`record_torch` wrote to ``file``.

    Layers are not compared one by one: that asks PyTorch for each. Raises as :func:`verify` does.
    """
    with Recording(file) as recorded:
        settings = recorded.settings
        optimizer = _with_target(parse_optimizer(str(settings.pop("optimizer"))), optimizer_target, mappings)
        plan = make_plan(optimizer=optimizer, graph=graph, layers=False, **settings)
        _check(output, output, plan)
        own_rules = rules if rules is not None else table_rules(mappings)
        with Worker("mindspore_side", mindspore_python) as mindspore:
            return compare(output, output, plan, own_rules, (recorded, mindspore), progress, mappings)


def make_plan(
    *,
    entry: str,
    inputs: Sequence[str] = (),
    input_from: str = "",
    kwargs: Mapping[str, Any] | None = None,
    optimizer: OptimizerSpec | None = None,
    seeds: Sequence[int] = (1, 2, 3),
    loss: str = "auto",
    train_steps: int = 0,
    train_inputs: Sequence[str] = (),
    gradients: bool = True,
    graph: bool = True,
    tolerance: float | None = None,
    layers: bool | None = None,
) -> Plan:
    """Return the plan of a comparison from the texts of :func:`verify`; raises UsageError for what makes no sense."""
    return Plan(
        entry=entry,
        inputs=tuple(parse_argument(text) for text in inputs),
        input_from=input_from,
        kwargs=dict(kwargs or {}),
        optimizer=optimizer or parse_optimizer("SGD(lr=0.1)"),
        seeds=tuple(seeds),
        loss=loss,
        train_steps=train_steps,
        train_inputs=tuple(parse_argument(text) for text in train_inputs),
        gradients=gradients,
        graph=graph,
        tolerance=tolerance,
        layers=layers,
    )


def compare(
    source: Path,
    output: Path,
    plan: Plan,
    rules: Rules,
    workers: tuple[Answers, Worker],
    progress: Callable[[str], None] = lambda message: None,
    mappings: tuple[str, ...] = (),
) -> VerifyReport:
    """Run every check of a plan with what answers for PyTorch and a running worker, which can be used again afterwards.

    Raises VerificationError where one side cannot be run.
    """
    with tempfile.TemporaryDirectory(prefix="torch2ms-verify-") as folder:
        comparison = Comparison(plan, *workers, Path(folder), progress)
        root = {"entry": plan.entry, "kwargs": dict(plan.kwargs)}
        folders = str(source.resolve()), str(output.resolve())
        facts = _run(comparison, folders, root, rules, workers[1].python, mappings)
    return VerifyReport(
        plan.entry,
        tuple(comparison.figures),
        tuple(comparison.problems),
        tuple(comparison.notes),
        {
            "inputs": [str(argument) for argument in plan.inputs] or [Path(plan.input_from).name],
            "optimizer": str(plan.optimizer),
            "seeds": list(plan.seeds),
            **facts,
        },
        comparison.curves,
        tuple(comparison.layers),
        tuple(comparison.departures),
        tuple(comparison.settings),
    )


def _with_target(optimizer: OptimizerSpec, target: str, mappings: tuple[str, ...]) -> OptimizerSpec:
    """Return the optimizer with the class that is emitted for it."""
    if not target:
        tables = loader.load(mappings)
        row = tables.row(f"torch.optim.{optimizer.name}")
        options = tables.select(row, Target()) if row is not None else ()
        target = options[0].target if options else f"mindspore.experimental.optim.{optimizer.name}"
    return replace(optimizer, target=target)


def _check(source: Path, output: Path, plan: Plan) -> None:
    for path in (source, output):
        if not path.is_dir():
            raise InputError(f"{path}: no such folder")
    if ":" not in plan.entry:
        raise UsageError(f"not an entry: {plan.entry!r}", advice="write it like module:callable")
    if not plan.inputs and not plan.input_from:
        raise UsageError("no input given", advice="add --input, for example --input 2x3x224x224, or --input-from")
    if plan.inputs and plan.input_from:
        raise UsageError("inputs are given twice", advice="leave out --input or --input-from")
    if plan.input_from and not plan.input_from.endswith(".npz") and ":" not in plan.input_from:
        raise UsageError(
            f"not a source of inputs: {plan.input_from!r}",
            advice="name FILE.npz, FILE.py:CALLABLE, or MODULE:CALLABLE of SRC",
        )
    if not plan.seeds:
        raise UsageError("no seed given")


def _run(
    comparison: Comparison,
    folders: tuple[str, str],
    root: dict[str, Any],
    rules: Rules,
    python: str | None,
    mappings: tuple[str, ...],
) -> dict[str, Any]:
    """Run every check; return the facts of the report. Nothing is compared when the weights do not pair up."""
    plan = comparison.plan
    source, output = folders
    torch = comparison.torch.call("build", root=source, **root)
    prepared, reply = comparison.prepare(plan.seeds[0])
    build = {"root": output, **root, "rules": rules, "keys": reply["keys"]}
    mindspore = comparison.mindspore.call("build", graph=False, **build)
    facts = {
        "torch": torch["version"],
        "mindspore": mindspore["version"],
        "parameters": reply["numbers"],
        "reference": prepared.reference,
    }
    comparison.problems += [f"T2M801: {problem}" for problem in mindspore["problems"]]
    check_trainable(comparison, reply["trainable"], mindspore)
    if reply["trainable_numbers"] != mindspore["trainable_numbers"]:
        ours, theirs = mindspore["trainable_numbers"], reply["trainable_numbers"]
        comparison.problems.append(f"PyTorch trains {theirs} numbers, MindSpore {ours}")
    if mindspore["problems"]:
        return facts
    try:
        seeds = _pynative(comparison, prepared)
    except WorkerError as error:
        if plan.layers is False or error.side == "torch_side" or not error.trace:
            raise
        comparison.problems.append(str(error))
        seeds = []
    if plan.layers or (plan.layers is None and not _holds(comparison)):
        _layers(comparison, prepared, folders, mappings)
    if plan.graph and not comparison.problems:
        _graph(comparison, seeds, build, python)
    return facts


def _holds(comparison: Comparison) -> bool:
    return not comparison.problems and all(figure.passed for figure in comparison.figures)


def _layers(comparison: Comparison, first: Prepared, folders: tuple[str, str], mappings: tuple[str, ...]) -> None:
    """Find the layer that departs, with the first seed: in eval mode, and where nothing is found, in train mode."""
    if RANDOM in comparison.problems:
        return
    try:
        prepared = comparison.prepare(first.seed)[0]
        for train in (False, True):
            if train and (comparison.departures or comparison.random_training or not comparison.plan.gradients):
                break
            check = LayerCheck(comparison, prepared, train=train)
            comparison.progress(f"layers, {check.mode} mode")
            check.run(*folders, mappings)
    except WorkerError as error:  # the figures stand without them
        comparison.notes.append(f"layers were not compared: {error}")
        return
    if not comparison.departures and not _holds(comparison):
        comparison.notes.append(
            "no layer departs by itself: the difference is in how errors add up, or in training; a translation with "
            "--exact has the runtime's functions where MindSpore's kernels round more"
        )


def _graph(comparison: Comparison, seeds: Sequence[Prepared], build: dict[str, Any], python: str | None) -> None:
    """Run the outputs once more with the network compiled; where MindSpore does not compile it, a note says so.

    Translated networks are made for PyNative mode: what does not compile is told, and is no difference in value.
    """
    comparison.progress("outputs in graph mode")
    check = OutputCheck(comparison, "outputs, graph mode")
    try:
        with Worker("mindspore_side", python) as worker:
            worker.call("build", graph=True, **build)
            for seed in seeds:
                check.add(seed, worker)
    except WorkerError as error:
        reason = str(error).partition("\n")[0].removeprefix("MindSpore, outputs: ")
        comparison.notes.append(f"graph mode was not compared, MindSpore does not compile the network: {reason}")
        return
    check.finish()


def _pynative(comparison: Comparison, first: Prepared) -> list[Prepared]:
    """Run the checks of every seed, one network at a time; return the seeds for the graph mode."""
    plan = comparison.plan
    outputs = OutputCheck(comparison, "outputs")
    checks = [GradientCheck(comparison, train=train) for train in (False, True)] if plan.gradients else []
    training = TrainingCheck(comparison) if plan.train_steps else None
    seeds = []
    for seed in plan.seeds:
        prepared = first if seed == first.seed else comparison.prepare(seed)[0]
        seeds.append(prepared)
        comparison.progress(f"seed {seed}: outputs")
        outputs.add(prepared, comparison.mindspore)
        for check in checks:
            comparison.progress(f"seed {seed}: {check.group}")
            check.add(prepared)
        if training is not None:
            comparison.progress(f"seed {seed}: {plan.train_steps} training steps")
            training.add(prepared)
    outputs.finish()
    for seed in _more_seeds(comparison, checks):
        comparison.progress(f"seed {seed}: gradients")
        prepared = comparison.prepare(seed)[0]
        for check in checks:
            check.add(prepared)
    for check in checks:
        check.finish()
    if training is not None:
        training.finish()
    return seeds


def _more_seeds(comparison: Comparison, checks: Sequence[GradientCheck]) -> range:
    """Return the seeds that the gradients need besides the plan's: none where all is within its limits, or all is said.

    Of three seeds, two with a flipped ReLU beside none in PyTorch are no rarity; nine tell how often each side has one
    (see :func:`judge_many`). Where fewer than three were asked for, or the outputs are wrong, nothing is in doubt.
    """
    seeds = comparison.plan.seeds
    in_doubt = any(not figure.passed for check in checks for figure in check.figures())
    if not comparison.torch.is_live or not 3 <= len(seeds) < MANY or comparison.problems or not in_doubt:
        return range(0)
    if not all(figure.passed for figure in comparison.figures):
        return range(0)
    more = range(max(seeds) + 1, max(seeds) + 1 + MANY - len(seeds))
    comparison.notes.append(f"gradients beyond a limit with {len(seeds)} seeds: {len(more)} more were run")
    return more
