"""Render the program that goes beside a translated project: train.py, eval.py, config.yaml and what belongs to them.

``generate`` is pure: the facts that static analysis found go in, the texts of the files come out. What is written where
is the emitter's business, except that ``ProgramFacts`` holds the file names, because a project may own a train.py.
"""

from __future__ import annotations

import contextlib
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, Protocol

import jinja2

from torch2ms.errors import InternalError
from torch2ms.mapping_tables.loader import cache_directory
from torch2ms.reports.escape import one_line

__all__ = ["DATASETS", "LAUNCHER", "SCRIPTS", "Named", "ProgramFacts", "generate", "launcher", "rename_taken"]


_WIDTH = 120
LAUNCHER = "run_distribute_train.sh"
SCRIPTS = ("run_standalone_train.sh", LAUNCHER, "run_eval.sh")


@dataclass(frozen=True, slots=True)
class DatasetFacts:
    """A dataset that the generated program can read: title, class, and the synthetic images that stand in for it."""

    title: str
    kind: str  # the class of the runtime's datasets
    classes: int
    image_size: int
    channels: int = 3


DATASETS: Mapping[str, DatasetFacts] = MappingProxyType(
    {
        "cifar10": DatasetFacts("CIFAR-10", "CIFAR10", 10, 32),
        "cifar100": DatasetFacts("CIFAR-100", "CIFAR100", 100, 32),
        "mnist": DatasetFacts("MNIST", "MNIST", 10, 28, 1),
        "fashion_mnist": DatasetFacts("Fashion-MNIST", "FashionMNIST", 10, 28, 1),
        "image_folder": DatasetFacts("a folder of images", "ImageFolder", 10, 64),
        "synthetic": DatasetFacts("synthetic images", "", 10, 32),
    }
)


@dataclass(frozen=True, slots=True)
class Named:
    """A class by its name, with the keyword arguments it is built with (numbers, strings, booleans, lists, None)."""

    name: str
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    module: str = "transforms"  # of the runtime, where it is a transform; "" where the runtime has none of the name


@dataclass(frozen=True, slots=True)
class ProgramFacts:
    """What the generated program needs to know, all of it found statically in the source.

    Names are MindSpore's: ``loss`` is a class of ``mindspore.nn``, ``optimizer`` and ``schedule`` are classes of
    ``mindspore.experimental.optim`` (``.lr_scheduler``), or of the runtime (OneCycleLR). Transforms are those of the
    runtime; an argument equal to ``image_size`` in Resize, CenterCrop or RandomResizedCrop follows --image-size.
    """

    network_module: str  # as imported in OUT, such as "resnet" or "models.resnet"
    network_callable: str
    network_kwargs: Mapping[str, Any] = field(default_factory=dict)
    loss: Named = field(default_factory=lambda: Named("CrossEntropyLoss"))
    optimizer: Named = field(default_factory=lambda: Named("SGD", {"lr": 0.01}))
    schedule: Named | None = None
    schedule_per: Literal["epoch", "step"] = "epoch"
    dataset: str = "cifar10"  # a key of DATASETS
    data_path: str = "data"
    train_transforms: Sequence[Named] = field(default_factory=lambda: (Named("ToTensor"),))
    eval_transforms: Sequence[Named] = field(default_factory=lambda: (Named("ToTensor"),))
    image_size: int = 32
    batch_size: int = 32
    epochs: int = 10
    seed: int = 0
    num_workers: int = 1
    num_classes: int | None = None  # of the network's output; by default the dataset's
    origin: str = ""  # the source file the facts come from, relative to SRC
    has_training: bool = True  # False: only convert_weights.py and requirements.txt
    device_target: str = "CPU"
    mode: str = "pynative"  # or "graph"
    mindspore: tuple[int, int] = (2, 10)
    runtime: str = "torch2ms_runtime"
    train_file: str = "train.py"
    eval_file: str = "eval.py"
    config_file: str = "config.yaml"
    convert_file: str = "convert_weights.py"
    requirements_file: str = "requirements.txt"
    scripts_folder: str = "scripts"
    state_rules: Mapping[str, Mapping[str, Any]] | None = None  # of torch2ms.weights.table_rules(), the default
    assumed: Mapping[str, str] = field(default_factory=dict)  # field of config.yaml -> what the source does not say


def requirement_entries(mindspore: tuple[int, int]) -> dict[str, str]:
    """Return what OUT needs, package -> line of a requirements file."""
    numpy = "1.25" if mindspore > (2, 6) else "1.20"
    return {
        "mindspore": f"mindspore>={mindspore[0]}.{mindspore[1]}",
        "numpy": f"numpy>={numpy},<2",  # MindSpore up to 2.10 does not work with numpy 2
        "pillow": "pillow",
    }


class FreeNames(Protocol):
    """Knows the names that a project has already."""

    def aside(self, paths: Sequence[str], /) -> tuple[str, ...]:
        """Return names for files that belong together: those given where all are free, else others."""
        ...


def rename_taken(facts: ProgramFacts, taken: FreeNames) -> ProgramFacts:
    """Return ``facts`` with other names (``ms_`` in front) for the generated files whose names the project has."""
    from dataclasses import replace

    names = ("train_file", "eval_file", "config_file", "convert_file", "requirements_file")
    scripts = taken.aside([f"{facts.scripts_folder}/{name}" for name in SCRIPTS])
    changed = {name: taken.aside([getattr(facts, name)])[0] for name in names}
    return replace(facts, **changed, scripts_folder=scripts[0].partition("/")[0])  # type: ignore[arg-type]


@lru_cache(maxsize=2)
def _environment(store: bool) -> jinja2.Environment:
    """Return what compiles the templates, once a process, or once and for all in the cache directory."""
    compiled = None
    if store:
        folder = cache_directory() / "templates"
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            compiled = jinja2.FileSystemBytecodeCache(str(folder))
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("torch2ms", "templates"),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        bytecode_cache=compiled,
    )
    environment.globals.update(flow=flow, scalar=scalar, python=_python, imports=_imports, one_line=one_line)
    return environment


def generate(facts: ProgramFacts, *, store: bool = False) -> dict[str, str]:
    """Return the generated files, path in OUT -> text; scripts are those that end in ``.sh`` (to be made executable).

    With ``store`` the compiled templates are kept in the user's cache directory.
    Raises InternalError for facts that no program can be made of (an unknown dataset, a value YAML cannot hold).
    """
    if facts.dataset not in DATASETS:
        raise InternalError(f"no generated program for the dataset {facts.dataset!r}")
    environment = _environment(store)
    context = _context(facts)
    files = {facts.convert_file: "convert_weights.py.j2", facts.requirements_file: "requirements.txt.j2"}
    if facts.has_training:
        files |= {
            facts.train_file: "train.py.j2",
            facts.eval_file: "eval.py.j2",
            facts.config_file: "config.yaml.j2",
            **{f"{facts.scripts_folder}/{name}": f"scripts/{name}.j2" for name in SCRIPTS},
        }
    return {path: environment.get_template(name).render(context) for path, name in sorted(files.items())}


def launcher(program: str, path: str, *, store: bool = False) -> dict[str, str]:
    """Return the launch script of a project whose own program trains data parallel; without one, the user names it."""
    template = _environment(store).get_template(f"scripts/{LAUNCHER}.j2")
    usage = f"[options of {one_line(program)}]" if program else "PROGRAM.py [its options]"
    context = {"program": program and _below_root(program), "usage": usage, "flags": "", "path": path}
    return {path: template.render(context)}


def _below_root(path: str) -> str:
    """Return a path below the shell variable ``root`` as one word of a shell command."""
    return f'"$root/{path}"' if re.fullmatch(r"[\w./-]+", path) else f'"$root"/{shlex.quote(path)}'


def _context(facts: ProgramFacts) -> dict[str, Any]:
    data = DATASETS[facts.dataset]
    choices = [facts.dataset] if facts.dataset == "synthetic" else [facts.dataset, "synthetic"]
    synthetic = {
        "size": 512,
        "num_classes": facts.num_classes or data.classes,
        "image_size": data.image_size,
        "channels": data.channels,
    }
    schedule = facts.schedule
    specs, folder = (*facts.train_transforms, *facts.eval_transforms), data.kind == "ImageFolder"
    return {
        "facts": facts,
        "entry": f"{facts.network_module}:{facts.network_callable}",
        "note": lambda name: f"  # {facts.assumed[name]}" if name in facts.assumed else "",
        "transform_list": lambda specs: _transform_list(specs, facts),
        "target": facts.mindspore,
        "requirements": requirement_entries(facts.mindspore),
        "dataset_title": data.title,
        "dataset_choices": ", ".join(f'"{choice}"' for choice in choices) + ("," if len(choices) == 1 else ""),
        "dataset_kind": data.kind,
        "dataset_root": 'Path(args.data_path) / ("train" if train else "val")' if folder else "args.data_path",
        "transform_table": _table(sorted({(spec.name, spec.module) for spec in specs if spec.module})),
        "transform_modules": sorted({"transforms", *(spec.module for spec in specs if spec.module)}),
        "synthetic": synthetic,
        "optimizer": {"name": facts.optimizer.name, **facts.optimizer.kwargs},
        "schedule": {"name": None} if schedule is None else {"name": schedule.name, **schedule.kwargs},
        "program": _below_root(facts.train_file),
        "path": f"{facts.scripts_folder}/{LAUNCHER}",
        "usage": f"[options of {facts.train_file}]",
        "flags": "--distributed ",
        "train_module": facts.train_file.removesuffix(".py"),
        "kwargs": _python(facts.network_kwargs),
        **_state_rules(facts),
    }


def _state_rules(facts: ProgramFacts) -> dict[str, Any]:
    """Return the rules for weights: the layers that need none by name, the others as (layer, state, reshape)."""
    rules = facts.state_rules
    if rules is None:
        from torch2ms.weights import table_rules

        rules = table_rules()
    same = sorted(layer for layer, rule in rules.items() if rule["state"] == "same" and not rule.get("reshape"))
    others = [
        (layer, rules[layer]["state"], rules[layer].get("reshape", {})) for layer in sorted(set(rules) - set(same))
    ]
    return {"same_rules": same, "other_rules": others}


def _imports(*lines: str) -> str:
    """Return import lines as isort has them: other packages first, then the project's own modules, each sorted."""
    lines = tuple(filter(None, lines))
    own = [line for line in lines if line.split()[1].split(".")[0] not in ("mindspore", "torch2ms")]
    others = [line for line in lines if line not in own]
    return "\n\n".join("\n".join(sorted(group, key=str.lower)) for group in (others, own) if group)


def _table(members: Sequence[tuple[str, str]]) -> str:
    """Return the text of a dictionary of members of modules by their names."""
    items = [f'"{name}": {module}.{name}' for name, module in members]
    line = "{" + ", ".join(items) + "}"
    return line if len(line) <= _WIDTH - len("TRANSFORMS = ") else "{\n    " + ",\n    ".join(items) + ",\n}"


def _transform_list(specs: Sequence[Named], facts: ProgramFacts) -> str:
    """Return the transforms as a YAML list behind its key."""
    lines = []
    for spec in specs:
        kwargs = dict(spec.kwargs)
        sized = spec.name in ("Resize", "CenterCrop", "RandomResizedCrop")
        if sized and kwargs.get("size") in (facts.image_size, [facts.image_size] * 2, (facts.image_size,) * 2):
            pair = not isinstance(kwargs["size"], int)
            kwargs["size"] = ["image_size", "image_size"] if pair else "image_size"
        lines.append(f"\n  - {spec.name}: {flow(kwargs)}" if kwargs else f"\n  - {spec.name}")
    return "".join(lines) or " []"


def flow(value: Any) -> str:
    """Return a value as YAML on one line.

    Raises InternalError for a value that is no number, string, boolean, None, list, tuple or mapping of such.
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    return scalar(value)


def scalar(value: Any) -> str:
    """Return a number, string, boolean or None as YAML 1.1 and 1.2 both read it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        text = repr(value)
        if "e" in text and "." not in text:
            text = text.replace("e", ".0e")
        return text
    if isinstance(value, str):
        plain = re.fullmatch(r"[A-Za-z_][\w./-]*", value) and value.lower() not in _RESERVED
        return value if plain else json.dumps(value)
    raise InternalError(f"no YAML for {value!r}")


_RESERVED = frozenset(["true", "false", "yes", "no", "on", "off", "null", "y", "n", "none"])


def _python(value: Any) -> str:
    """Return a value as a Python literal, with double quotes where strings allow it."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_python(key)}: {_python(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        body = ", ".join(_python(item) for item in value)
        return f"[{body}]" if isinstance(value, list) else f"({body},)" if len(value) == 1 else f"({body})"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False) if value.isprintable() else ascii(value)
    return repr(value)
