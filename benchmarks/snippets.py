"""Acceptance by snippets: small pieces of torch code are translated, both sides run, and the results are compared.

    python benchmarks/snippets.py                        # every template in every call shape
    python benchmarks/snippets.py --only 'torch.max'     # templates that hold a text
    python benchmarks/snippets.py --plain                # each template once, as it is written
    python benchmarks/snippets.py --show 20              # print that many of the worst, with their translations
    python benchmarks/snippets.py --from-docstrings      # the examples in torch's own docstrings instead
    python benchmarks/snippets.py --from-opinfo          # the samples of torch's own tests (needs expecttest)
    python benchmarks/snippets.py --from-file F          # the programs of a file in the format of the templates instead
    python benchmarks/snippets.py --from-code DIR        # the notebooks and scripts of a folder (or one) instead
    python benchmarks/snippets.py --every 5              # one snippet of five
    python benchmarks/snippets.py --strict               # a warning is no mark: it must be an error

The templates are in ``snippet_templates/``, one expression a line or one program a paragraph (in files whose names
start with "programs"); inputs are added by name (``x`` is 3 x 4, ``img`` 2 x 3 x 8 x 8, see ``INPUTS``) where a program
does not bind the name itself. An expression is tried in several shapes: as it is, with every
argument named, the names reversed, as method or as function, inside a function with and without annotations. What torch
itself rejects is left out. A result is

- *right*: value, shape and family of the dtype agree;
- *marked*: it is not right, and the translation says so at a place of the snippet (a warning or an error; with
  ``--strict`` an error);
- *loud*: it is not right, unmarked, and fails when it runs;
- *silent*: it is not right, and nothing says so.

Marks on right snippets are false alarms: the report counts them by code, and lists them. What torch itself answers
differently with another seed is random: there shape and dtype are compared.

Every framework runs in a process of its own, which is started again when a snippet kills it.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TEMPLATES = ROOT / "benchmarks" / "snippet_templates"
sys.path.insert(0, str(ROOT))

INPUTS = {
    "x": "torch.tensor([[0.5, -1.25, 2.0, -0.3], [1.5, 0.1, -2.2, 0.7], [-0.6, 1.1, 0.9, -1.7]])",
    "y": "torch.tensor([[1.0, 0.25, -0.5, 0.8], [-1.5, 2.1, 0.3, -0.7], [0.4, -1.2, 1.9, 0.6]])",
    "p": "torch.tensor([[0.5, 1.25, 2.0, 0.3], [1.5, 0.1, 2.2, 0.7], [0.6, 1.1, 0.9, 1.7]])",
    "u": "torch.tensor([[0.5, -0.25, 0.2, -0.3], [0.15, 0.1, -0.22, 0.7], [-0.6, 0.11, 0.9, -0.7]])",
    "r": "torch.tensor([[0.5, 0.25, 0.2, 0.3], [0.15, 0.1, 0.22, 0.7], [0.6, 0.11, 0.9, 0.7]])",
    "z": "torch.tensor([[0.5, float('nan'), 2.0], [float('inf'), -1.0, float('-inf')]])",
    "v": "torch.tensor([0.5, 2.0, -1.0, 3.5])",
    "w": "torch.tensor([1.0, -2.0, 0.5])",
    "m": "torch.linspace(-1, 1, 20).reshape(4, 5)",
    "q": "torch.tensor([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 5.0]])",
    "s": "torch.tensor(2.5)",
    "c": "torch.complex(torch.tensor([1.0, -2.0]), torch.tensor([0.5, 3.0]))",
    "i": "torch.tensor([[1, 2, 3, 4], [4, 3, 2, 1], [0, 2, 2, 5]])",
    "k": "torch.tensor([2, 0, 1])",
    "t": "torch.tensor([1, 0, 3])",
    "tok": "torch.tensor([[1, 2, 0, 3], [3, 0, 1, 2]])",
    "b": "torch.tensor([[True, False, True, False], [False, True, True, False], [True, True, False, False]])",
    "a": "torch.sin(torch.arange(24, dtype=torch.float32)).reshape(2, 3, 4)",
    "img": "torch.sin(torch.arange(384, dtype=torch.float32)).reshape(2, 3, 8, 8)",
    "seq": "torch.sin(torch.arange(60, dtype=torch.float32)).reshape(2, 3, 10)",
    "vol": "torch.cos(torch.arange(256, dtype=torch.float32)).reshape(2, 2, 4, 4, 4)",
    "ker": "torch.cos(torch.arange(108, dtype=torch.float32)).reshape(4, 3, 3, 3)",
    "ker1": "torch.cos(torch.arange(18, dtype=torch.float32)).reshape(2, 3, 3)",
}
IMPORTS = {
    "torch": "import torch",
    "nn": "import torch.nn as nn",
    "F": "import torch.nn.functional as F",
    "optim": "import torch.optim as optim",
    "np": "import numpy as np",
    "math": "import math",
    "copy": "import copy",
    "OrderedDict": "from collections import OrderedDict",
}
FULL_NAMES = {"F": "torch.nn.functional", "nn": "torch.nn", "torch": "torch"}


@dataclass
class Snippet:
    """One piece of torch code; its value is the variable ``out``."""

    family: str
    shape: str
    text: str
    translation: str = ""
    marks: list[str] = field(default_factory=list)
    is_random: bool = False


def templates(paths: Sequence[Path]) -> Iterator[tuple[str, str, bool]]:
    """Yield family, text and whether it is an expression (files whose names start with "programs" hold programs)."""
    for path in paths:
        separator = "\n\n" if path.stem.startswith("programs") else "\n"
        for part in path.read_text(encoding="utf-8").split("\n## "):
            family, _, rest = part.removeprefix("## ").partition("\n")
            for text in rest.split(separator):
                if text.strip():
                    yield family, text.strip("\n"), separator == "\n"


def complete(body: str) -> str:
    """Return ``body`` with the imports and the inputs it needs in front."""
    needed = _names(body)
    wanted = needed - _bound_first(body)
    inputs = [f"{name} = {text}" for name, text in INPUTS.items() if name in wanted]
    needed |= _names("\n".join(inputs))
    if not inputs and "torch" not in needed and not needed & {"nn", "F", "optim"}:
        needed.add("torch")
    return "\n".join([*(text for name, text in IMPORTS.items() if name in needed), *inputs, body]) + "\n"


def _names(text: str) -> set[str]:
    bound = {"self"}
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom | ast.Import):
            bound |= {alias.asname or alias.name for alias in node.names}
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return found - bound


def _bound_first(body: str) -> set[str]:
    """Return the names that a program binds before it reads them: no input of that name is put in front of it."""
    events: dict[str, tuple[int, int, int]] = {}
    for statement in ast.parse(body).body:
        inner = [node for node in ast.walk(statement) if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda)]
        hidden = {id(part) for node in inner for part in ast.walk(node) if part is not node}
        value = getattr(statement, "value", None) or getattr(statement, "iter", None)
        early = {id(part) for part in ast.walk(value)} if isinstance(value, ast.AST) else set()
        for node in ast.walk(statement):
            if not isinstance(node, ast.Name) or id(node) in hidden:
                continue
            stored = isinstance(node.ctx, ast.Store) and not isinstance(statement, ast.AugAssign)
            place = (statement.lineno, 0 if id(node) in early else 1 if stored else 2, stored)
            events[node.id] = min(events.get(node.id, place), place)
    return {name for name, (_, _, stored) in events.items() if stored}


def shapes(expression: str) -> Iterator[tuple[str, str]]:
    """Yield the ways of writing an expression, each with its name."""
    if expression.startswith("fill("):
        yield from _layer_shapes(expression)
        return
    yield "plain", f"out = {expression}"
    tree = ast.parse(expression, mode="eval").body
    if isinstance(tree, ast.Call):
        names = _parameters(tree)
        if (
            names
            and tree.args
            and len(tree.args) <= len(names)
            and not any(isinstance(a, ast.Starred) for a in tree.args)
        ):
            named = [ast.keyword(name, value) for name, value in zip(names, tree.args, strict=False)] + tree.keywords
            yield "named", f"out = {ast.unparse(ast.Call(tree.func, [], named))}"
            if len(named) > 1:
                yield "reversed", f"out = {ast.unparse(ast.Call(tree.func, [], named[::-1]))}"
                yield "mixed", f"out = {ast.unparse(ast.Call(tree.func, tree.args[:1], named[1:][::-1]))}"
        yield from _swapped(tree)
    arguments = sorted(_names(expression) & set(INPUTS))
    if arguments:
        call = f"out = f({', '.join(arguments)})"
        annotated = ", ".join(f"{name}: torch.Tensor" for name in arguments)
        yield "annotated", f"def f({annotated}):\n    return {expression}\n{call}"
        yield "unannotated", f"def f({', '.join(arguments)}):\n    result = {expression}\n    return result\n{call}"


def _layer_shapes(expression: str) -> Iterator[tuple[str, str]]:
    """Yield ``fill(layer)(input)`` as a program: built, filled, called; and with every argument of the layer named."""
    tree = ast.parse(expression, mode="eval").body
    fill = next(
        n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "fill"
    )
    layer = fill.args[0]
    rest = expression.removeprefix(ast.get_source_segment(expression, fill) or "")
    yield "plain", f"layer = {ast.unparse(layer)}\nfill(layer)\nout = layer{rest}"
    names = _parameters(layer) if isinstance(layer, ast.Call) else []
    if isinstance(layer, ast.Call) and names and layer.args and len(layer.args) <= len(names):
        named = [ast.keyword(name, value) for name, value in zip(names, layer.args, strict=False)] + layer.keywords
        text = ast.unparse(ast.Call(layer.func, [], named[::-1]))
        yield "reversed", f"layer = {text}\nfill(layer)\nout = layer{rest}"


def _parameters(call: ast.Call) -> list[str]:
    from torch2ms.mapping_tables.catalogue import torch_catalogue

    name = ast.unparse(call.func)
    head, _, rest = name.partition(".")
    full = f"{FULL_NAMES[head]}.{rest}" if head in FULL_NAMES else f"torch.Tensor.{name.rpartition('.')[2]}"
    signature = torch_catalogue().signature(full)
    return [p.name for p in signature.parameters if not p.name.startswith("*")] if signature else []


def _swapped(call: ast.Call) -> Iterator[tuple[str, str]]:
    if not isinstance(call.func, ast.Attribute):
        return
    owner, name = call.func.value, call.func.attr
    if isinstance(owner, ast.Name) and owner.id == "torch" and call.args and isinstance(call.args[0], ast.Name):
        if call.args[0].id in INPUTS:
            method = ast.Call(ast.Attribute(call.args[0], name), call.args[1:], call.keywords)
            yield "method", f"out = {ast.unparse(method)}"
    elif isinstance(owner, ast.Name) and owner.id in INPUTS:
        function = ast.Call(ast.Attribute(ast.Name("torch"), name), [owner, *call.args], call.keywords)
        yield "function", f"out = {ast.unparse(function)}"


def from_docstrings(only: str) -> list[Snippet]:
    """Return the examples in torch's own docstrings."""
    from docstring_snippets import docstring_programs

    return [Snippet(space, "program", text) for space, text in docstring_programs() if only in text]


def from_opinfo(only: str) -> list[Snippet]:
    """Return the samples that torch's own tests make of its operators, layers and optimizers."""
    from opinfo_snippets import opinfo_programs

    return [Snippet(family, "program", text) for family, text in opinfo_programs() if only in text]


def from_code(only: str, paths: Sequence[Path]) -> list[Snippet]:
    """Return the expressions of notebooks and scripts, each with the statements that it needs."""
    from docstring_snippets import file_programs

    found = {text: Snippet(name, "program", text) for name, text in file_programs(paths) if only in text}
    return list(found.values())


def generate(only: str, *, is_plain: bool, paths: Sequence[Path] = ()) -> list[Snippet]:
    """Return all snippets of the templates, or of the files ``paths``, no text twice."""
    found: dict[str, Snippet] = {}
    for family, text, is_expression in templates(paths or sorted(TEMPLATES.glob("*.txt"))):
        if only not in text:
            continue
        for shape, body in shapes(text) if is_expression else (("program", text),):
            if shape not in ("plain", "program") and is_plain:
                continue
            whole = complete(body)
            found.setdefault(whole, Snippet(family, shape, whole))
    return list(found.values())


def translate(snippets: list[Snippet], *, is_strict: bool) -> None:
    """Fill in the translation and the marks of each snippet: of errors, and unless ``is_strict`` of warnings."""
    from torch2ms import translate_source
    from torch2ms.diagnostics import Severity

    least = Severity.ERROR if is_strict else Severity.WARNING
    for snippet in snippets:
        result = translate_source(snippet.text)
        snippet.translation = result.text
        snippet.marks = [f"{d.code} {d.message}" for d in result.diagnostics if d.severity >= least]


def execute(texts: list[str], framework: str, scratch: Path, seed: int = 0) -> list[Any]:
    """Return ``("value", plain)`` or ``("error", text)`` of each text, run in one process (more if it dies)."""
    jobs, results = scratch / f"{framework}.jobs", scratch / f"{framework}.results"
    jobs.write_text(json.dumps(texts), encoding="utf-8")
    results.write_bytes(b"")
    environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2", "OMP_NUM_THREADS": "2", "GLOG_v": "4"}
    environment["PYTHONPATH"] = str(scratch)
    done: list[Any] = []
    while len(done) < len(texts):
        worker = Path(__file__).with_name("snippet_worker.py")
        command = [sys.executable, str(worker), framework, str(jobs), str(results)]
        log = (scratch / f"{framework}.log").open("ab")
        ended = subprocess.run(
            [*command, str(len(done)), str(seed)], env=environment, cwd=scratch, stdout=log, stderr=log, check=False
        )
        done = _read(results)
        if len(done) < len(texts):
            with results.open("ab") as stream:
                pickle.dump(("error", f"the process died ({ended.returncode})"), stream)
            done = _read(results)
    return done


def _read(path: Path) -> list[Any]:
    found = []
    with path.open("rb") as stream:
        while True:
            try:
                found.append(pickle.load(stream))
            except EOFError:
                return found


def difference(expected: Any, found: Any) -> str:
    """Return what differs between two plain values, empty when nothing does."""
    import numpy as np

    if isinstance(expected, tuple | list) and isinstance(found, tuple | list):
        if len(expected) != len(found):
            return f"{len(expected)} items, {len(found)} found"
        return next((d for d in map(difference, expected, found) if d), "")
    if isinstance(expected, dict) and isinstance(found, dict):
        if list(expected) != list(found):
            return f"keys {list(expected)}, {list(found)} found"
        return next((d for d in map(difference, expected.values(), found.values()) if d), "")
    if isinstance(expected, np.ndarray) != isinstance(found, np.ndarray):
        return f"{expected!r:.80}, {found!r:.80} found"
    if not isinstance(expected, np.ndarray | int | float | complex):
        return "" if expected == found else f"{expected!r:.80}, {found!r:.80} found"
    if not isinstance(found, np.ndarray | int | float | complex):
        return f"{expected!r:.80}, {found!r:.80} found"
    left, right = np.asarray(expected), np.asarray(found)
    family = {"u": "i"}
    kinds = [family.get(array.dtype.kind, array.dtype.kind) for array in (left, right)]
    if left.shape != right.shape:
        return f"shape {left.shape}, {right.shape} found"
    if kinds[0] != kinds[1]:
        return f"dtype {left.dtype}, {right.dtype} found"
    # float16 holds three digits: sums of a few products differ in the last of them
    near = 5e-3 if np.float16 in (left.dtype, right.dtype) else 1e-4
    if np.allclose(left, right, rtol=near, atol=near, equal_nan=True):
        return ""
    return f"values {left.ravel()[:5]}, {right.ravel()[:5]} found"


def without_values(value: Any) -> Any:
    """Return a plain value with zeros for all numbers: what is left to compare of a random one."""
    import numpy as np

    if isinstance(value, dict):
        return {key: without_values(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [without_values(item) for item in value]
    return np.zeros_like(value) if isinstance(value, np.ndarray | int | float | complex) else ""


def judge(snippet: Snippet, expected: Any, found: Any) -> tuple[str, str]:
    """Return the verdict of a snippet and what is to be said about it."""
    if found[0] == "value":
        both = (expected[1], found[1])
        wrong = difference(*map(without_values, both)) if snippet.is_random else difference(*both)
        if not wrong:
            return "right", ""
        return ("marked" if snippet.marks else "silent"), wrong
    return ("marked" if snippet.marks else "loud"), found[1]


def report(judged: list[tuple[Snippet, str, str]], show: int) -> None:
    """Print the counts by family and the worst snippets."""
    families = list(dict.fromkeys(snippet.family for snippet, _, _ in judged))
    verdicts = ("right", "marked", "loud", "silent")
    print(f"{'family':22}" + "".join(f"{name:>9}" for name in verdicts))
    for family in [*families, "all"]:
        counts = Counter(verdict for s, verdict, _ in judged if family in (s.family, "all"))
        print(f"{family:22}" + "".join(f"{counts[name]:>9}" for name in verdicts))
        total = counts
    print("".join(f"{name} {total[name] / max(len(judged), 1):.2%}  " for name in verdicts), f"of {len(judged)}")
    for wanted in ("silent", "loud", "marked"):
        rest = [entry for entry in judged if entry[1] == wanted]
        print(f"\n{wanted}: {len(rest)}")
        for snippet, _, why in rest:
            body = "; ".join(snippet.text.strip().splitlines()[-3 if snippet.shape == "program" else -1 :])
            if snippet.shape.endswith("annotated"):
                body = snippet.text.strip().splitlines()[-2 if snippet.shape == "annotated" else -3]
            note = f" [{snippet.marks[0]:.110}]" if wanted == "marked" else ""
            print(f"  {snippet.shape:11} {body:.110} -> {why:.160}{note}")
        for snippet, _, why in rest[:show]:
            print(f"--- {why}\n{snippet.text}>>>\n{snippet.translation}")
    report_false_alarms([snippet for snippet, verdict, _ in judged if verdict == "right"], show)


def report_false_alarms(right: list[Snippet], show: int) -> None:
    """Print how many of the right snippets are marked all the same, by code and one by one."""
    marked = [snippet for snippet in right if snippet.marks]
    codes = Counter(code for snippet in marked for code in {mark.partition(" ")[0] for mark in snippet.marks})
    counts = ", ".join(f"{code} {count}" for code, count in codes.most_common())
    print(f"\nright, but marked: {len(marked)} of {len(right)} ({len(marked) / max(len(right), 1):.2%}) {counts}")
    for snippet in marked:
        body = "; ".join(snippet.text.strip().splitlines()[-2:])
        print(f"  {snippet.shape:11} {body:.110} [{'; '.join(mark[:110] for mark in snippet.marks)}]")
    for snippet in marked[:show]:
        print(f"---\n{snippet.text}>>>\n{snippet.translation}")


def main() -> int:
    """Run the benchmark; return 1 when the bounds (75 % right, at most 0.3 % silent) are not kept."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="templates that hold this text")
    parser.add_argument("--plain", action="store_true", help="each template once")
    parser.add_argument("--show", type=int, default=0, help="how many of each kind to print with their translation")
    parser.add_argument("--from-docstrings", action="store_true", help="the examples in torch's docstrings")
    parser.add_argument("--from-opinfo", action="store_true", help="the samples of torch's own tests")
    parser.add_argument("--from-code", type=Path, action="append", default=[], help="a notebook, script or folder")
    parser.add_argument("--from-file", type=Path, action="append", default=[], help="a file of templates")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="one of N snippets")
    parser.add_argument("--strict", action="store_true", help="count errors alone as marks, no warnings")
    arguments = parser.parse_args()
    if arguments.from_docstrings:
        snippets = from_docstrings(arguments.only)
    elif arguments.from_opinfo:
        snippets = from_opinfo(arguments.only)
    elif arguments.from_code:
        snippets = from_code(arguments.only, arguments.from_code)
    else:
        snippets = generate(arguments.only, is_plain=arguments.plain, paths=arguments.from_file)
    snippets = snippets[:: arguments.every]
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        shutil.copytree(ROOT / "torch2ms" / "runtime", scratch / "torch2ms_runtime")
        expected = execute([snippet.text for snippet in snippets], "torch", scratch)
        kept = [(snippet, value) for snippet, value in zip(snippets, expected, strict=True) if value[0] == "value"]
        rejected = [(s, v) for s, v in zip(snippets, expected, strict=True) if v[0] != "value"]
        again = execute([snippet.text for snippet, _ in kept], "torch", scratch, seed=1)
        for (snippet, value), other in zip(kept, again, strict=True):
            snippet.is_random = bool(difference(value[1], other[1]))
        translate([snippet for snippet, _ in kept], is_strict=arguments.strict)
        found = execute([snippet.translation for snippet, _ in kept], "mindspore", scratch)
    judged = [(s, *judge(s, value, got)) for (s, value), got in zip(kept, found, strict=True)]
    report(judged, arguments.show)
    mistakes = [(s, v) for s, v in rejected if s.shape in ("plain", "program")]
    print(f"\n{len(rejected)} left out, rejected by torch; of the plain ones:")
    for snippet, value in mistakes:
        print(f"  {snippet.text.strip().splitlines()[-1]:.90} -> {value[1]:.100}")
    counts = Counter(verdict for _, verdict, _ in judged)
    return 0 if counts["right"] >= 0.75 * len(judged) and counts["silent"] <= 0.003 * len(judged) else 1


if __name__ == "__main__":
    sys.exit(main())
