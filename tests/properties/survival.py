"""Calls of a project that its translation no longer makes, and that nothing accounts for.

``lost_calls(report)`` compares, by the text of the callee (``meter.update``), how often each file calls before and
after what is none of PyTorch's: functions and methods of the project, and names that PyTorch does not have. A call is
accounted for where a diagnostic names its line, where the report says which API its callee is, or where it is part of
a training step that a diagnostic of its function names and the call is still made there.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from tests.properties.renaming import api_members, imported
from torch2ms.reports.model import FileReport, Report

__all__ = ["Lost", "lost_calls"]

Lost = tuple[str, int, str]  # file, line, callee
_OF_STEPS = frozenset({"step", "zero_grad"})


@dataclass(frozen=True)
class _Told:
    """What a report says of one file."""

    apis: Collection[tuple[int, int]]  # lines and columns
    settled: Collection[tuple[int, int]]  # of questions that have one answer in the translation
    lines: Collection[int]  # of diagnostics
    steps: Collection[int]  # of diagnostics of training


def _dotted(node: ast.expr) -> str:
    """Return ``a.b.c``; empty for anything else."""
    if isinstance(node, ast.Attribute):
        start = _dotted(node.value)
        return start and f"{start}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    yield from (node for node in ast.walk(tree) if isinstance(node, ast.Call) and _dotted(node.func))


def _handed(tree: ast.AST) -> Iterator[str]:
    """Yield what is handed to calls, which may call it: ``derivatives.by_input(net, x)``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from filter(None, map(_dotted, [*node.args, *(word.value for word in node.keywords)]))
            if node.args and _dotted(node.args[0]):  # states.state_dict(opt) for opt.state_dict()
                yield f"{_dotted(node.args[0])}.{getattr(node.func, 'attr', '')}"


def _settled(tree: ast.AST, places: Collection[tuple[int, int]]) -> set[int]:
    """Return the calls in conditionals that ask what is settled: ``if torch.jit.is_scripting(): ...``."""
    tests = [node for node in ast.walk(tree) if isinstance(node, (ast.If, ast.IfExp))]
    asked = [n for n in tests if any((getattr(p, "lineno", 0), getattr(p, "col_offset", 0) + 1) in places
                                     for p in ast.walk(n.test))]  # fmt: skip
    tried = [node for node in ast.walk(tree) if isinstance(node, ast.Try) and _only_imports(node)]
    handlers = [handler for node in tried for handler in node.handlers]
    return {id(call) for node in (*asked, *handlers) for call in _calls(node)}


def _only_imports(node: ast.Try) -> bool:
    """Whether a ``try`` only imports names of PyTorch, which are there: what handles their absence never runs."""
    modules = [str(item.module) for item in node.body if isinstance(item, ast.ImportFrom)]
    return len(modules) == len(node.body) and all(module.split(".")[0] == "torch" for module in modules)


def _stdlib(tree: ast.AST) -> set[str]:
    """Return the names that are imported from Python's own modules: some have a counterpart in MindSpore's world."""
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level)
    own = (node for node in imports if str(node.module).partition(".")[0] in sys.stdlib_module_names)
    return {alias.asname or alias.name for node in own for alias in node.names}


def _only_resets(function: ast.FunctionDef) -> bool:
    """Whether a function does nothing but reset gradients, which a call of a gradient function needs not."""
    values = [statement.value for statement in function.body if isinstance(statement, ast.Expr)]
    calls = [value for value in values if isinstance(value, ast.Call)]
    resets = [call for call in calls if getattr(call.func, "attr", "") == "zero_grad"]
    return bool(resets) and len(resets) == len(calls) and len(values) == len(function.body)


def _lines(tree: ast.AST) -> dict[int, range]:
    """Return the lines of the innermost simple statement, or of the heading, around each call."""
    found: dict[int, range] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt):
            continue
        body = getattr(node, "body", None)
        last = max(body[0].lineno - 1 if body else node.end_lineno or node.lineno, node.lineno)
        lines = range(node.lineno, last + 1)
        for call in _calls(node):
            if call.lineno in lines and len(lines) <= len(found.get(id(call), lines)):
                found[id(call)] = lines
    return found


def _functions(tree: ast.AST) -> dict[int, range]:
    """Return the lines of the outermost function around each call, of the file where there is none."""
    found: dict[int, range] = {}
    pending: list[tuple[ast.AST, range]] = [(tree, range(1, 1 << 30))]
    while pending:
        node, lines = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and lines.stop == 1 << 30:
            lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
        found[id(node)] = lines
        pending += [(child, lines) for child in ast.iter_child_nodes(node)]
    return found


def _runtime_calls(tree: ast.AST) -> Counter[str]:
    """Count the runtime's functions that are called, by name: ``functional.deepcopy`` for ``copy.deepcopy``."""
    imports = (
        node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "torch2ms_runtime"
    )
    modules = {alias.asname or alias.name for node in imports for alias in node.names}
    names = (_dotted(call.func).rpartition(".") for call in _calls(tree))
    return Counter(last for module, _, last in names if module in modules)


def _lost_in(file: FileReport, defined: set[str], told: _Told) -> Iterator[Lost]:
    before, after = ast.parse(str(file.source)), ast.parse(str(file.output))
    kept = Counter(_dotted(call.func) for call in _calls(after)) + Counter(_handed(after))
    resets = {node.name for node in ast.walk(before) if isinstance(node, ast.FunctionDef) and _only_resets(node)}
    lines, functions = _lines(before), _functions(before)
    own: dict[str, list[ast.Call]] = defaultdict(list)
    never = _settled(before, told.settled) | {
        id(call) for call in _calls(before) if _dotted(call.func) in _stdlib(before)
    }
    for call in _calls(before):
        if id(call) in never:
            continue
        name = _dotted(call.func)
        last = name.rpartition(".")[2]
        if last in _OF_STEPS and len(call.args) < 2 and name.rpartition(".")[0] in kept:
            continue  # gradients.update(self.optimizer), also where a closure may be given
        is_plain = name == last and last not in imported(str(file.source))
        is_own = last in defined or is_plain or last not in api_members()
        is_own = is_own and last not in resets and not hasattr(builtins, last)
        if is_own and (call.func.lineno, call.func.col_offset + 1) not in told.apis:
            own[name].append(call)
    runtime = _runtime_calls(after)
    for name, calls in own.items():
        silent = [c for c in calls if not set(lines.get(id(c), ())) & set(told.lines)]
        missing = len(calls) - kept[name] - runtime[name.rpartition(".")[2]] - (len(calls) - len(silent))
        for call in silent if missing > 0 else ():
            is_step = name.rpartition(".")[2] in _OF_STEPS and not call.args
            in_step = any(line in functions[id(call)] for line in told.steps)
            if not in_step or not (is_step or kept[name]):
                yield file.path, call.lineno, name


def lost_calls(report: Report) -> list[Lost]:
    """Return the calls that the files of a report have lost."""
    files = [f for f in report.files if f.path.endswith(".py") and f.source is not None and f.output is not None]
    trees = [ast.parse(str(file.source)) for file in files]
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    defined = {node.name for tree in trees for node in ast.walk(tree) if isinstance(node, kinds)} - {"forward"}
    found: list[Lost] = []
    for file in files:
        places = {(p.line, p.column) for use in report.apis for p in use.places if p.file == file.path}
        answers = [use for use in report.apis if use.targets in (("False",), ("True",))]
        settled = {(p.line, p.column) for use in answers for p in use.places if p.file == file.path}
        said = [d for d in report.diagnostics if d.file == file.path]
        steps = [d.line for d in said if d.code.startswith("T2M4")]
        found += _lost_in(file, defined, _Told(places, settled, [d.line for d in said], steps))
    return found
