"""The index of one file: what the rest of its project needs to know of it without reading it again."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator

from torch2ms.translator.effects.freezing import thaws
from torch2ms.translator.effects.gradient_uses import asks_apart, clips_apart, resets_apart
from torch2ms.translator.effects.loss_arguments import differentiates, steps_for_others
from torch2ms.translator.effects.optimizer_wrappers import stepping_methods
from torch2ms.translator.effects.output_arguments import asks_for_given
from torch2ms.translator.effects.search_paths import added_folders
from torch2ms.translator.project.file_index import CallShape, Definition, FileIndex
from torch2ms.translator.project.optional_imports import optional_imports
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.values.containers import OF_NETWORKS

__all__ = ["index_file", "is_main_guard", "loaded_modules"]


def index_file(path: str, tree: ast.Module) -> FileIndex:
    """Return the index of one parsed file."""
    imports: set[tuple[int, str]] = set()
    values, attributes, calls = _Values(), _Attributes(), _Calls()
    classes: dict[str, set[str]] = {}
    methods: dict[str, set[str]] = {}
    parameters: dict[str, set[tuple[str, ...]]] = {}
    for node in walk(tree):
        if node.__class__ is not ast.Constant:
            values.see(node)
        if node.__class__ in (ast.Constant, ast.Name):
            continue
        attributes.see(node)
        if isinstance(node, ast.Call):
            values.followed.update(calls.see(node))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            parameters.setdefault(node.name, set()).add(_parameter_names(node))
        elif isinstance(node, ast.ClassDef):
            classes.setdefault(node.name, set()).update(_last(base) for base in node.bases)
            for method in _methods(node.body):
                methods.setdefault(method, set()).add(node.name)
            parameters.setdefault(node.name, set()).update(_starting_names(node))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            imports.update(loaded_modules(node))
    return FileIndex(
        path,
        frozenset(imports),
        {name: frozenset(found) for name, found in calls.shapes.items()},
        frozenset(calls.passed),
        frozenset(values.flows),
        frozenset(calls.handed),
        values.escaped(),
        {name: frozenset(found) for name, found in parameters.items()},
        _declared_all(tree),
        {name: frozenset(found) for name, found in classes.items()},
        {name: frozenset(found) for name, found in methods.items()},
        attributes.callable(),
        frozenset(calls.roots),
        (attributes.has_gradients and asks_apart(tree)) or _clips(calls.shapes, tree),
        "zero_grad" in calls.shapes and resets_apart(tree),
        steps_for_others(tree, "backward" in calls.shapes),
        stepping_methods(tree) if "step" in calls.shapes else {},
        optional_imports(tree, imports),
        attributes.has_marks and thaws(tree),
        attributes.has_marks or any("requires_grad" in s.keywords for shapes in calls.shapes.values() for s in shapes),
        _definitions(tree),
        frozenset(attributes.set_on_others),
        attributes.kept(classes),
        attributes.has_gradients or "grad" in calls.shapes,
        frozenset(attributes.answers),
        frozenset(differentiates(tree)) if "backward" in calls.shapes else frozenset(),
        values.read(),
        any("create_graph" in shape.keywords for shape in calls.shapes.get("grad", ())) and asks_for_given(tree),
        any(map(is_main_guard, tree.body)),
        any(map(_has_effect, tree.body)),
        attributes.has_groups,
        _runs(tree),
    )


def _runs(tree: ast.Module) -> dict[str, frozenset[str]]:
    """Return the last identifiers of what each function calls, and the names that it hands on."""
    found: dict[str, set[str]] = {}
    for node in walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            calls = [part for part in walk(node) if isinstance(part, ast.Call)]
            names = found.setdefault(node.name, set())
            names.update(_last(call.func) for call in calls)
            given = (value for call in calls for value in [*call.args, *(word.value for word in call.keywords)])
            names.update(value.id for value in given if isinstance(value, ast.Name))
    return {name: frozenset(names) for name, names in found.items()}


def loaded_modules(node: ast.Import | ast.ImportFrom) -> set[tuple[int, str]]:
    """Return the modules that an import may load, each with its level."""
    if isinstance(node, ast.Import):
        return {(0, alias.name) for alias in node.names}
    module = node.module or ""
    return {(node.level, module), *((node.level, f"{module}.{alias.name}".lstrip(".")) for alias in node.names)}


def is_main_guard(statement: ast.AST) -> bool:
    """Whether a statement is ``if __name__ == "__main__":``."""
    test = statement.test if isinstance(statement, ast.If) else None
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


def _has_effect(statement: ast.stmt) -> bool:
    """Whether a statement of a module calls something for what it does: a print, a loop, a ``with``."""
    is_call = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    return is_call or isinstance(statement, (ast.For, ast.While, ast.With))


def _clips(called: Collection[str], tree: ast.Module) -> bool:
    """Whether a function clips gradients that another one computes."""
    return any(name.startswith("clip_grad_") for name in called) and any(clips_apart(tree))


class _Calls:
    """What a file calls, and what it hands over."""

    def __init__(self) -> None:
        self.shapes: dict[str, set[CallShape]] = {}
        self.passed: set[str] = set()
        self.handed: set[tuple[str, str, int]] = set()
        self.roots: set[str] = set()  # folders put on sys.path

    def see(self, node: ast.Call) -> list[ast.expr]:
        """Take in one call; return the arguments whose parameters are known."""
        name = _last(node.func)
        starred = any(isinstance(a, ast.Starred) for a in node.args)
        if name:
            keywords = tuple(sorted(k.arg for k in node.keywords if k.arg))
            splat = starred or any(k.arg is None for k in node.keywords)
            self.shapes.setdefault(name, set()).add(CallShape(len(node.args), keywords, splat))
        self.roots.update(added_folders(node) if name in ("append", "insert") else ())
        self.passed.update(a.id for a in node.args if isinstance(a, ast.Name))
        if starred:
            return []
        self.handed.update((_last(a), name, i) for i, a in enumerate(node.args) if _last(a))
        return node.args


def _definitions(tree: ast.Module) -> dict[str, Definition]:
    """Return the functions and classes of a module whose names nothing else in it binds."""
    found: dict[str, Definition] = {}
    other = {name for node in walk(tree) if isinstance(node, ast.Global) for name in node.names}
    for statement in tree.body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if statement.name in found:
                other.add(statement.name)
            found[statement.name] = "class" if isinstance(statement, ast.ClassDef) else "function"
            continue
        for node in walk(statement):
            if isinstance(node, ast.Name):
                if not isinstance(node.ctx, ast.Load):
                    other.add(node.id)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                other.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
            elif isinstance(node, _NAMED):
                other.add(node.name or "")
            elif isinstance(node, ast.MatchMapping):
                other.add(node.rest or "")
    return {} if "*" in other else {name: kind for name, kind in found.items() if name not in other}


_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
_PLAIN_MAKERS = frozenset({"int", "float", "bool", "str", "len", "tuple", "list", "dict", "set", "min", "max", "sum"})


class _Attributes:
    """The attributes that a file's classes set on ``self`` and that may be called: layers, functions."""

    def __init__(self) -> None:
        self._set: set[str] = set()
        self._made: set[str] = set()
        self._called: set[str] = set()
        self.has_marks = False  # whether anything is asked for, or given, an attribute called ``requires_grad``
        self.has_gradients = False  # whether anything is asked for an attribute called ``grad``
        self.has_groups = False  # whether anything is asked for an attribute called ``param_groups``
        self.set_on_others: set[str] = set()
        self._kept: list[tuple[str, str]] = []  # where values are stored, and what is called to make them
        self._initial: set[int] = set()  # ids of the attributes that an object has before it is called
        self.answers: set[str] = set()

    def see(self, node: ast.AST) -> None:
        """Take in one node."""
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and _last(node.func.value) == "self":
                self._called.add(node.func.attr)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = {t.attr for t in targets if isinstance(t, ast.Attribute) and _last(t.value) == "self"}
            self._set |= names
            made = _last(node.value.func) if isinstance(node.value, ast.Call) else ""
            if not isinstance(node.value, ast.Constant) and not made[:1].isupper():
                stored = (name for t in targets if id(t) not in self._initial and (name := _stored_name(t)))
                self._kept.extend((name, made) for name in stored)
            is_made = isinstance(node.value, ast.Call) and _last(node.value.func) not in _PLAIN_MAKERS
            if is_made or isinstance(node.value, ast.Lambda):
                self._made |= names
        elif isinstance(node, ast.FunctionDef) and node.name == "__init__" and node.args.args:
            own = node.args.args[0].arg
            self._initial.update(id(t) for t in walk(node) if isinstance(t, ast.Attribute) and _last(t.value) == own)
        elif isinstance(node, ast.Attribute):
            self.has_gradients = self.has_gradients or node.attr == "grad"
            self.has_groups = self.has_groups or node.attr == "param_groups"
            self.has_marks = self.has_marks or node.attr in ("requires_grad", "requires_grad_")
            if isinstance(node.ctx, ast.Store):
                self._stored(node)

    def _stored(self, node: ast.Attribute) -> None:
        if _last(node.value) != "self":
            self.set_on_others.add(node.attr)
        if node.attr.startswith("is_"):
            self.answers.add(node.attr)

    def kept(self, classes: Collection[str]) -> frozenset[str]:
        """Return what values are stored under that are not made by a class: of the file, or called like one."""
        return frozenset(name for name, made in self._kept if made not in classes)

    def callable(self) -> frozenset[str]:
        """Return those that are set to something that may be called, or set and called, or called like a network's."""
        return frozenset(self._made | (self._set & (self._called | OF_NETWORKS)))


def _stored_name(target: ast.expr) -> str:
    """Return the attribute or the literal key that a target is; else ""."""
    if isinstance(target, ast.Attribute):
        return target.attr
    key = target.slice.value if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant) else None
    return key if isinstance(key, str) else ""


def _methods(body: Iterable[ast.stmt]) -> Iterator[str]:
    """Yield the names that the body of a class gives to methods and attributes."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        elif isinstance(node, (ast.If, ast.Try)):
            yield from _methods([*node.body, *node.orelse])


class _Values:
    """Where the values of plain names go: to other names, to nothing that matters, or out of sight."""

    def __init__(self) -> None:
        self.flows: set[tuple[str, str]] = set()
        self.followed: set[ast.AST] = set()
        self.imported: set[str] = set()
        self._called: set[ast.AST] = set()
        self._loads: list[ast.Name | ast.Attribute] = []

    def see(self, node: ast.AST) -> None:
        """Take in one node; parents come before their children."""
        if isinstance(node, (ast.Name, ast.Attribute)):
            if isinstance(node.ctx, ast.Load):
                self._loads.append(node)
            if isinstance(node, ast.Attribute):
                self.followed.add(node.value)
        elif isinstance(node, ast.Call):
            self.followed.add(node.func)
            self._called.add(node.func)
            for keyword in node.keywords:
                if keyword.arg:
                    self._flow(keyword.value, [keyword.arg])
        elif isinstance(node, ast.Assign):
            self._flow(node.value, [target for t in node.targets if (target := _last(t))])
        elif isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert)):
            self._tested(node.test)
        elif isinstance(node, ast.Compare):
            self.followed.update((node.left, *node.comparators))
        elif isinstance(node, ast.FormattedValue):
            self.followed.add(node.value)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            self.imported.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)

    def _flow(self, value: ast.expr, targets: list[str]) -> None:
        """Follow a value, or each of several it may be, to the names it goes to."""
        if isinstance(value, ast.BoolOp):
            for part in value.values:
                self._flow(part, targets)
        elif isinstance(value, ast.IfExp):
            self._flow(value.body, targets)
            self._flow(value.orelse, targets)
        elif _last(value) and targets:
            self.flows.update((_last(value), target) for target in targets)
            self.followed.add(value)

    def _tested(self, test: ast.expr) -> None:
        if isinstance(test, ast.BoolOp):
            for part in test.values:
                self._tested(part)
        elif isinstance(test, ast.UnaryOp):
            self._tested(test.operand)
        else:
            self.followed.add(test)

    def escaped(self) -> frozenset[str]:
        """Return the names whose value went out of sight somewhere."""
        return frozenset(_last(node) for node in self._loads if node not in self.followed)

    def read(self) -> frozenset[str]:
        """Return the attributes of modules, and of their parts, that are read and not called."""
        loads = (node for node in self._loads if isinstance(node, ast.Attribute) and node not in self._called)
        return frozenset(node.attr for node in loads if _root(node) in self.imported)


def _root(node: ast.expr) -> str:
    """Return the name that a chain of attributes starts with, or ""."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _parameter_names(node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ...]:
    names = [arg.arg for arg in [*node.args.posonlyargs, *node.args.args]]
    return tuple(names[1:] if names[:1] in (["self"], ["cls"]) else names)


def _starting_names(node: ast.ClassDef) -> list[tuple[str, ...]]:
    return [_parameter_names(n) for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]


def _declared_all(tree: ast.Module) -> tuple[str, ...] | None:
    """Return the literal names of ``__all__``, or None when there is none or it cannot be read."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            try:
                return tuple(str(name) for name in ast.literal_eval(node.value))
            except ValueError:
                return None
    return None


def _last(node: ast.expr) -> str:
    """Return the last identifier of a name or attribute chain, else an empty string."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
