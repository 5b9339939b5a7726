"""Hold the translator against the tables: what it emits for ``before`` must be what ``after`` says and ``prove`` ran.

    python -m torch2ms.mapping_tables.emission_check [--only GLOB]...

Each example becomes a function whose parameters are annotated with what their inputs are; what comes out is compared as
syntax, with the names that imports bind written out in full.
"""

from __future__ import annotations

import argparse
import ast
import fnmatch
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from torch2ms import translate_source
from torch2ms.config import Options, Target, parse_version
from torch2ms.mapping_tables.inputs import TAG, evaluate
from torch2ms.mapping_tables.loader import load
from torch2ms.mapping_tables.lookup import Tables
from torch2ms.mapping_tables.schema import Example

__all__ = ["Mismatch", "canonical_body", "main", "mismatches", "source_of"]

_IMPORTS = (ast.Import, ast.ImportFrom)

_KNOWN = frozenset(
    """torchvision numpy math copy random PIL functools einops apex tensorboardX accelerate timm safetensors
    transformers diffusers peft""".split()
)


_MADE = {"param": "torch.nn.Parameter", "array": "numpy.ndarray", "bfloat16": "torch.Tensor", "files": "str"}


@dataclass(frozen=True, slots=True)
class Mismatch:
    """An example whose ``before`` is not translated into its ``after``."""

    row: str
    example: int
    before: str
    expected: str
    emitted: str
    diagnostics: tuple[str, ...]

    def __str__(self) -> str:
        """Return a few lines that show the difference."""
        marks = "".join(f"\n    {text}" for text in self.diagnostics)
        before = self.before.replace("\n", "\n             ")
        emitted = self.emitted.replace("\n", "\n             ")
        expected = self.expected.replace("\n", "\n             ")
        head = f"{self.row} example {self.example}:\n    before   {before}\n"
        return f"{head}    expected {expected}\n    emitted  {emitted}{marks}"


def source_of(example: Example) -> str:
    """Return the program that is translated: a function of the example's variables, with ``before`` as its body."""
    tree = ast.parse(example.before)
    modules = {"torch"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            root = ast.unparse(node).split(".")[0]
            if root in _KNOWN:
                modules.add(root)
    lines = [f"import {name}" for name in sorted(modules)]
    lines += [f"import {name}" for name in ("torchvision.transforms", "torchvision.datasets") if name in example.before]
    given = [f"{name}: {_annotation(text)}" for name, text in dict(example.run.get("args", {})).items()]
    if example.run.get("check") in ("optimizer", "closure", "scheduler"):
        given += ["parameters: list[torch.nn.Parameter]", "optimizer: torch.optim.SGD"]
    lines += ["", "", f"def example({', '.join(given)}):"]
    lines += [f"    {name} = {code['torch']}" for name, code in dict(example.run.get("objects", {})).items()]
    lines += [f"    {line}" for line in example.before.strip().splitlines()]
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        at = len(lines) - (last.end_lineno or last.lineno) + last.lineno - 1
        lines[at] = f"    return {lines[at].strip()}"
    return "\n".join(lines) + "\n"


def _annotation(text: Any) -> str:
    """Return the annotation of a variable with this input."""
    try:
        return _type(evaluate(text) if isinstance(text, str) else text)
    except ValueError:
        return "object"


def _type(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return "torch.Tensor"
    if isinstance(value, dict) and TAG in value:
        return _MADE.get(value[TAG], "object")
    if isinstance(value, (list, tuple)):
        inner = {_type(item) for item in value}
        return (
            f"{type(value).__name__}[{inner.pop()}{', ...' if isinstance(value, tuple) else ''}]"
            if len(inner) == 1
            else "object"
        )
    return "None" if value is None else type(value).__name__


class _FullNames(ast.NodeTransformer):
    """Write out the names that imports bind."""

    def __init__(self, bound: dict[str, str]) -> None:
        self.bound = bound

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Replace a name that an import binds."""
        full = self.bound.get(node.id)
        return ast.parse(full, mode="eval").body if full and isinstance(node.ctx, ast.Load) else node


def canonical_body(source: str, objects: Collection[str] = ()) -> str:
    """Return the body of ``example`` in a module, as normalised text with the names of imports written out.

    The first statements that bind ``objects`` are left out: each side may make the example's objects in its own way.
    """
    tree = ast.parse(source)
    bound: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            bound.update((item.asname, item.name) for item in node.names if item.asname)
        elif isinstance(node, ast.ImportFrom) and node.module:
            module = node.module.replace("torch2ms_runtime", "torch2ms.runtime")
            bound.update((item.asname or item.name, f"{module}.{item.name}") for item in node.names)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "example":
            made = {name: next((item for item in node.body if _makes(item, name)), None) for name in objects}
            skipped = [item for item in made.values() if item is not None]
            body = [item for item in node.body if item not in skipped and not isinstance(item, _IMPORTS)]
            text = "\n".join(ast.unparse(_FullNames(bound).visit(item)) for item in body)
            return text.replace("torch2ms_runtime.", "torch2ms.runtime.")
    raise ValueError("there is no function called example")


def _makes(statement: ast.stmt, name: str) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


def mismatches(tables: Tables, only: Sequence[str] = ()) -> Iterator[Mismatch]:
    """Give every example that is translated into something else than its ``after``."""
    for row in tables.rows():
        if only and not any(fnmatch.fnmatchcase(row.name, pattern) for pattern in only):
            continue
        for index, example in enumerate(row.examples):
            device: Any = example.device
            api: Any = "mint" if ".mint." in example.after else "auto"
            options = Options(
                target=Target(parse_version(example.mindspore), device, api, example.exact, example.graph)
            )
            result = translate_source(source_of(example), options=options)
            emitted = canonical_body(result.text, example.run.get("objects", {}))
            expected = _expected(example)
            if emitted != expected:
                said = tuple(f"{item.code} {item.message}" for item in result.diagnostics)
                yield Mismatch(row.name, index, example.before.strip(), expected, emitted, said)


def _expected(example: Example) -> str:
    tree = ast.parse(example.after)
    lines = [ast.unparse(node) for node in tree.body[:-1]]
    last = ast.unparse(tree.body[-1])
    lines.append(f"return {last}" if isinstance(tree.body[-1], ast.Expr) else last)
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print every mismatch and their number; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m torch2ms.mapping_tables.emission_check")
    parser.add_argument("--only", action="append", default=[], metavar="GLOB", help="rows whose name matches")
    options = parser.parse_args(arguments)
    tables = load()
    count = 0
    for mismatch in mismatches(tables, options.only):
        count += 1
        print(mismatch)
    print(f"{count} of {sum(len(row.examples) for row in tables.rows())} examples are translated into something else")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
