"""How much of the emitted code refers to MindSpore, and how much to torch2ms's own runtime.

    python benchmarks/nativeness.py examples/resnet50_cifar10 [more folders] [--device ascend] [--exact] [--json]

Each folder is translated as a project into a temporary directory. A line says, of its translated files:

- *mindspore*, *runtime*: references to names of either, imports not counted: ``ops.relu(x)`` is one reference to
  MindSpore, ``functional.softmax(x)`` one to the runtime. Methods of tensors and layers are no references;
- *share*: runtime / (runtime + mindspore), at most 12% for ``portable`` and 6% for ``--device ascend``;
- *records*: references to the run-time record (``recording.*``);
- *carried*: lines of the runtime that OUT holds;
- *long*: lines beyond ``--width`` characters that the source does not have.

The most frequent runtime names of all folders follow.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torch2ms import Options, Target, translate_project
from torch2ms.config import DEVICES

RUNTIME, RECORD = "torch2ms_runtime", "torch2ms_runtime.recording."


@dataclass
class Figures:
    """What was counted in the translation of one folder, or of several."""

    mindspore: Counter[str] = field(default_factory=Counter)
    runtime: Counter[str] = field(default_factory=Counter)
    files: int = 0
    carried: int = 0
    long: int = 0

    @property
    def share(self) -> float:
        """References to the runtime among those to it and to MindSpore."""
        return self.runtime.total() / max(1, self.runtime.total() + self.mindspore.total())

    @property
    def records(self) -> int:
        """References to the run-time record."""
        return sum(count for name, count in self.runtime.items() if name.startswith(RECORD))

    def as_data(self) -> dict[str, Any]:
        """Return what JSON can hold, with the shares."""
        counts = {"mindspore": dict(self.mindspore.most_common()), "runtime": dict(self.runtime.most_common())}
        rest = {"files": self.files, "carried": self.carried, "long": self.long}
        return {"share": self.share, "records": self.records, **rest, **counts}

    def add(self, other: Figures) -> None:
        """Add the figures of another folder."""
        self.mindspore += other.mindspore
        self.runtime += other.runtime
        self.files += other.files
        self.carried += other.carried
        self.long += other.long


def references(text: str) -> Iterator[str]:
    """Give the full name of each reference to MindSpore or the runtime in a module, once for each use.

    >>> list(references("from mindspore import ops as o\\ny = o.relu(o.abs(x))"))
    ['mindspore.ops.relu', 'mindspore.ops.abs']
    """
    tree = ast.parse(text)
    bound: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            bound.update(
                (item.asname or item.name.split(".")[0], (item.asname and item.name) or "") for item in node.names
            )
        elif isinstance(node, ast.ImportFrom) and node.module:
            bound.update((item.asname or item.name, f"{_home(node)}.{item.name}") for item in node.names)
    for node in _chains(tree):
        root, _, rest = ast.unparse(node).partition(".")
        name = ".".join(filter(None, (bound.get(root, "") or root, rest)))
        if root in bound and name.startswith(("mindspore.", f"{RUNTIME}.")):
            yield name


def _home(node: ast.ImportFrom) -> str:
    """Return the module of an import; the runtime is imported relatively in packages."""
    module = node.module or ""
    return module[module.index(RUNTIME) :] if RUNTIME in module.split(".") else module


def _chains(tree: ast.AST) -> Iterator[ast.expr]:
    """Give the outermost of each dotted name, outside imports."""
    if isinstance(tree, (ast.Name, ast.Attribute)):
        inner: ast.expr = tree
        while isinstance(inner, ast.Attribute):
            inner = inner.value
        if isinstance(inner, ast.Name):
            yield tree
            return
    for child in ast.iter_child_nodes(tree):
        yield from _chains(child)


def measure(folder: Path, options: Options, width: int = 120) -> Figures:
    """Translate a folder and count."""
    figures = Figures()
    with tempfile.TemporaryDirectory() as temporary:
        out = Path(temporary) / "out"
        report = translate_project(folder, out, options)
        for file in report.files:
            if file.source is None or not file.changed or not file.path.endswith(".py"):
                continue
            emitted = str(file.output)
            figures.files += 1
            for name in references(emitted):
                (figures.runtime if name.startswith(RUNTIME) else figures.mindspore)[name] += 1
            known = set(file.source.splitlines())
            figures.long += sum(len(line) > width and line not in known for line in emitted.splitlines())
        for path in (out / RUNTIME).rglob("*.py"):
            figures.carried += len(path.read_text(encoding="utf-8").splitlines())
    return figures


def _line(name: str, figures: Figures) -> str:
    counts = (figures.files, figures.mindspore.total(), figures.runtime.total())
    rest = (figures.records, figures.carried, figures.long)
    shown = "".join(f"{count:>10}" for count in counts) + f"{figures.share:>9.1%}"
    return f"{name[-30:]:<30}" + shown + "".join(f"{count:>9}" for count in rest)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the folders that are named; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--device", choices=DEVICES, default="portable")
    parser.add_argument("--exact", action="store_true", help="as torch2ms translate --exact")
    parser.add_argument("--width", type=int, default=120, help="characters of a line")
    parser.add_argument("--names", type=int, default=40, help="how many runtime names are shown")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    options = Options(target=Target(device=given.device, exact=given.exact), jobs=given.jobs, cache=False)
    found = {str(folder): measure(folder, options, given.width) for folder in given.folders}
    total = Figures()
    for figures in found.values():
        total.add(figures)
    if given.json:
        json.dump({name: f.as_data() for name, f in {**found, "total": total}.items()}, sys.stdout, indent=1)
        return 0
    heads = "".join(f"{head:>10}" for head in ("files", "mindspore", "runtime")) + f"{'share':>9}"
    print(f"{'folder':<30}" + heads + "".join(f"{head:>9}" for head in ("records", "carried", "long")))
    for name, figures in found.items():
        print(_line(name, figures))
    print(_line("total", total))
    for name, count in total.runtime.most_common(given.names):
        print(f"{count:>7}  {name.removeprefix(RUNTIME + '.')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
