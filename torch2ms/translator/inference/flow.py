"""Flow: the kinds of names through the statements of one function or one module, in order."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from torch2ms.translator.inference.annotations import annotated
from torch2ms.translator.inference.expressions import Expressions, element_of
from torch2ms.translator.inference.scopes import as_load, leaves, local_names, members_used
from torch2ms.translator.kinds import UNKNOWN, Kind, KindName, join
from torch2ms.translator.names import imported
from torch2ms.translator.trees import children

if TYPE_CHECKING:
    from torch2ms.translator.inference.world import ClassInfo, FileAnalysis, FunctionInfo, World

__all__ = ["Flow", "is_inplace"]

Env = dict[str, Kind]


class Flow(Expressions):
    """Runs statements in order, keeping the kind of every name; branches are joined, loops are run twice."""

    def __init__(
        self, world: World, analysis: FileAnalysis, info: FunctionInfo | None, outer: Flow | None = None
    ) -> None:
        self.world = world
        self.analysis = analysis
        self.info = info
        self.outer = outer
        self.env: Env = {}
        self.seen: Env = {} if info is not None else analysis.names
        self.owner: ClassInfo | None = info.owner if info is not None else None
        self.result: Kind = UNKNOWN
        self.kinds: dict[ast.AST, Kind] = {}  # of every expression looked at
        self.stored: Env = {}  # what is set on self
        self._returned: list[Kind] = []
        self._jumps: list[list[Env]] = []  # of each loop being run: what held at its breaks and continues
        self.locals: frozenset[str] = frozenset()
        if info is not None:
            if info.locals is None:
                info.locals = local_names(info.node)
            self.locals = info.locals

    # ---- names

    def lookup(self, name: str) -> Kind:
        """Return the kind of a name at this point."""
        if name in self.env:
            return self.env[name]
        if name in self.locals:
            return UNKNOWN
        if self.outer is not None and (name in self.outer.seen or name in self.outer.locals):
            return self.outer.seen.get(name, UNKNOWN)
        if self.outer is not None and self.outer.outer is not None:
            found = self.outer.lookup(name)
            if found.known:
                return found
        return self.analysis.names.get(name, UNKNOWN)

    def bind(self, name: str, kind: Kind) -> None:
        """Bind a name in this scope."""
        self.env[name] = kind
        before = self.seen.get(name)
        self.seen[name] = join(before, kind) if before is not None else kind
        if self.info is None and self.seen[name] != before:
            self.world.forget(self.analysis)

    # ---- running

    def run_function(self) -> None:
        """Run the body of this flow's function with what is known of its parameters."""
        assert self.info is not None
        node = self.info.node
        self._bind_parameters(node.args)
        if isinstance(node, ast.Lambda):
            self._returned.append(self.expr(node.body))
        else:
            self.run(node.body)
        if self._returned:
            result = self._returned[0]
            for kind in self._returned[1:]:
                result = join(result, kind)
            self.result = result
        if not isinstance(node, ast.Lambda) and node.returns is not None and not self.result.known:
            self.result = annotated(node.returns, self.expr, self.world.family)

    def run(self, body: Sequence[ast.stmt]) -> None:
        """Run statements in order."""
        for statement in body:
            method = getattr(self, f"_{type(statement).__name__}", None)
            if method is not None:
                method(statement)
            else:
                for child in children(statement):
                    if isinstance(child, ast.expr):
                        self.expr(child)

    def _bind_parameters(self, arguments: ast.arguments) -> None:
        assert self.info is not None
        positional = [*arguments.posonlyargs, *arguments.args]
        defaults: dict[str, ast.expr] = {}
        for arg, value in zip(reversed(positional), reversed(arguments.defaults), strict=False):
            defaults[arg.arg] = value
        for arg, kw_default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            if kw_default is not None:
                defaults[arg.arg] = kw_default
        static = any(getattr(d, "id", "") == "staticmethod" for d in getattr(self.info.node, "decorator_list", ()))
        is_method = self.owner is not None and not static
        evidence: dict[str, Kind] | None = None
        for index, arg in enumerate([*positional, *arguments.kwonlyargs]):
            if index == 0 and is_method and positional:
                self.bind(arg.arg, self._self_kind())
                continue
            kind = annotated(arg.annotation, self.expr, self.world.family)
            if arg.annotation is not None:
                self.expr(arg.annotation)
            default = defaults.get(arg.arg)
            if not kind.known or kind.name == "none":
                kind = join(kind, self._from_default(default))
            if not kind.known or kind.name == "none" or (kind.name == "list" and not kind.items):
                if evidence is None:
                    evidence = self.world.parameters(self.info)
                called = evidence.get(arg.arg, UNKNOWN)
                if called.known and called.name not in ("api", "class", "function"):
                    kind = called.because(f"called with {called.evidence or called.name}")
            if not kind.known or kind.name == "none":
                kind = self._from_role(arg.arg, kind)
            self.bind(arg.arg, kind)
        if arguments.vararg is not None:
            tensor = self._is_forward()
            self.bind(arguments.vararg.arg, Kind("list", items=(Kind("Tensor"),) if tensor else ()))
        if arguments.kwarg is not None:
            self.bind(arguments.kwarg.arg, Kind("dict"))

    def _self_kind(self) -> Kind:
        assert self.owner is not None
        decorators = getattr(self.info.node, "decorator_list", ()) if self.info is not None else ()
        if any(getattr(d, "id", "") == "classmethod" for d in decorators):
            return Kind("class", self.owner.key)
        return self.world.family(self.owner.key).because("self")

    def _from_default(self, default: ast.expr | None) -> Kind:
        if default is None:
            return UNKNOWN
        kind = self.outer.expr(default) if self.outer is not None else self.expr(default)
        # A class or function as default is one of many that may be passed: its name is no fact about the parameter.
        if kind.name in ("api", "class", "function"):
            return join(UNKNOWN, kind) if kind.name != "function" else UNKNOWN
        return kind

    def _is_forward(self) -> bool:
        return (
            self.info is not None
            and self.owner is not None
            and self.info.name in ("forward", "forward_features", "forward_head", "_forward_impl")
            and self.world.family(self.owner.key).name == "Module"
        )

    def _from_role(self, name: str, kind: Kind) -> Kind:
        """Guess a parameter's kind from its role: inputs of a network are tensors; some methods tell the receiver."""
        if self._is_forward():
            return Kind("Tensor", evidence="input of a network")
        assert self.info is not None
        if self.info.used is None:
            self.info.used = members_used(self.info.node)
        called, read = self.info.used.get(name, ((), frozenset()))
        told = self.world.evidence.of_calls(called)
        for attribute in sorted(read) if not told.known else ():
            told = self.world.evidence.of_attribute(attribute)
            if told.known:
                break
        return told if told.known else kind

    # ---- statements

    def _Import(self, node: ast.Import) -> None:
        for name, module, _ in imported(node):
            self.bind(name, self._module(module, 0))

    def _ImportFrom(self, node: ast.ImportFrom) -> None:
        for name, module, attribute in imported(node):
            if attribute == "*":
                for public, kind in self._star(module, node.level).items():
                    self.bind(public, kind)
                continue
            assert attribute is not None
            if self.world.symbols.is_torch(self.analysis.path, module, node.level):
                self.bind(name, Kind("api", self.world.tables.canonical(f"{module}.{attribute}"), evidence="import"))
                continue
            path = self.world.symbols.find_module(self.analysis.path, module, node.level)
            if path is not None:
                self.bind(name, self.world.export(path, attribute))
            else:
                self.bind(name, Kind("module", f"{module}.{attribute}", evidence="import"))

    def _module(self, module: str, level: int) -> Kind:
        if self.world.symbols.is_torch(self.analysis.path, module, level):
            return Kind("api", self.world.tables.canonical(module), evidence="import")
        path = self.world.symbols.find_module(self.analysis.path, module, level)
        if path is not None:
            return Kind("module", f"project:{path}")
        return Kind("module", module, evidence="import")

    def _star(self, module: str, level: int) -> Env:
        if self.world.symbols.is_torch(self.analysis.path, module, level):
            names = self.world.tables.star(module)
            return {name: Kind("api", self.world.tables.canonical(f"{module}.{name}")) for name in names}
        path = self.world.symbols.find_module(self.analysis.path, module, level)
        return self.world.star(path) if path is not None else {}

    def _FunctionDef(self, node: ast.FunctionDef) -> None:
        for decorator in node.decorator_list:
            self.expr(decorator)
        for default in [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]:
            self.expr(default)
        for arg in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]:
            if arg.annotation is not None:
                self.expr(arg.annotation)
        if node.returns is not None:
            self.expr(node.returns)
        info = self.analysis.function_of.get(node)
        if info is not None and info.owner is None:
            self.bind(node.name, Kind("function", info.key))

    _AsyncFunctionDef = _FunctionDef

    def _ClassDef(self, node: ast.ClassDef) -> None:
        for decorator in node.decorator_list:
            self.expr(decorator)
        info = self.analysis.class_of[node]
        info.bases = tuple(self.expr(base) for base in node.bases)
        for keyword in node.keywords:
            self.expr(keyword.value)
        self.bind(node.name, Kind("class", info.key))
        inner = Flow(self.world, self.analysis, self.info, self.outer)
        inner.env, inner.seen, inner.locals = dict(self.env), {}, frozenset()
        inner.owner, inner.kinds = info, self.kinds
        inner.run(node.body)
        for name, kind in inner.seen.items():
            info.constants.setdefault(name, kind)

    def _Assign(self, node: ast.Assign) -> None:
        kind = self.expr(node.value)
        for target in node.targets:
            self.assign(target, kind)
            if self.owner is not None and isinstance(target, ast.Attribute) and is_inplace(node.value):
                self.owner.inplace.add(target.attr)

    def _AnnAssign(self, node: ast.AnnAssign) -> None:
        kind = annotated(node.annotation, self.expr, self.world.family)
        self.expr(node.annotation)
        if node.value is not None:
            value = self.expr(node.value)
            kind = value if value.known and value.name != "none" else kind
        self.assign(node.target, kind)

    def _AugAssign(self, node: ast.AugAssign) -> None:
        value = self.expr(node.value)
        load = as_load(node.target)
        kind = self.expr(load)
        self.kinds[node.target] = kind
        if isinstance(node.target, ast.Name):
            self.assign(node.target, value if value.is_tensor and not kind.known else kind)
        elif isinstance(node.target, ast.Subscript):
            self.expr(node.target.value)
            self.expr(node.target.slice)

    def _Expr(self, node: ast.Expr) -> None:
        kind = self.expr(node.value)
        if isinstance(node.value, ast.Call):
            self._registered(node.value)
        if isinstance(node.value, (ast.Yield, ast.YieldFrom)):
            self._returned.append(Kind("iterator", items=(kind,)))

    def _Return(self, node: ast.Return) -> None:
        self._returned.append(self.expr(node.value) if node.value is not None else Kind("none"))

    def _If(self, node: ast.If) -> None:
        self.expr(node.test)
        before = dict(self.env)
        self.narrow(node.test, True)
        self.run(node.body)
        after_body = self.env
        self.env = dict(before)
        self.narrow(node.test, False)
        self.run(node.orelse)
        if node.orelse and leaves(node.orelse):
            self.env = after_body
        elif not leaves(node.body):
            self.env = _join_env(after_body, self.env)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While) -> None:
        before = dict(self.env)
        for _ in range(2):
            self._jumps.append([])
            if isinstance(node, ast.While):
                self.expr(node.test)
            else:
                self.assign(node.target, element_of(self.expr(node.iter)))
            self.run(node.body)
            self.env = _join_env(before, self.env)
            for env in self._jumps.pop():
                self.env = _join_env(self.env, env)
        self.run(node.orelse)

    _For = _AsyncFor = _While = _loop

    def _Break(self, node: ast.Break | ast.Continue) -> None:
        if self._jumps:
            self._jumps[-1].append(dict(self.env))

    _Continue = _Break

    def _With(self, node: ast.With) -> None:
        for item in node.items:
            kind = self.expr(item.context_expr)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, kind)
        self.run(node.body)

    _AsyncWith = _With

    def _Try(self, node: ast.Try) -> None:
        before = dict(self.env)
        self.run(node.body)
        self.run(node.orelse)
        joined = self.env
        for handler in node.handlers:
            self.env = dict(before)
            if handler.type is not None:
                self.expr(handler.type)
            if handler.name:
                self.env[handler.name] = Kind("python")
            self.run(handler.body)
            if not leaves(handler.body):
                joined = _join_env(joined, self.env)
        self.env = joined
        self.run(node.finalbody)

    _TryStar = _Try

    def _Match(self, node: ast.Match) -> None:
        self.expr(node.subject)
        before = dict(self.env)
        joined: Env | None = None
        for case in node.cases:
            self.env = dict(before)
            self._pattern(case.pattern)
            if case.guard is not None:
                self.expr(case.guard)
            self.run(case.body)
            joined = self.env if joined is None else _join_env(joined, self.env)
        self.env = joined or before

    def _pattern(self, pattern: ast.pattern) -> None:
        for node in ast.walk(pattern):
            if isinstance(node, ast.MatchClass):
                self.expr(node.cls)
            elif isinstance(node, ast.MatchValue):
                self.expr(node.value)
            elif isinstance(node, ast.MatchMapping):
                for key in node.keys:
                    self.expr(key)
            elif isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name is not None:
                self.bind(node.name, UNKNOWN)

    def _Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            self.expr(target)

    # ---- targets

    def assign(self, target: ast.expr, kind: Kind) -> None:
        """Give a target (name, attribute, subscript, tuple of those) a kind."""
        self.kinds[target] = kind
        if isinstance(target, ast.Name):
            self.bind(target.id, kind)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for index, element in enumerate(target.elts):
                if isinstance(element, ast.Starred):
                    self.assign(element.value, Kind("list", items=(element_of(kind),)))
                else:
                    self.assign(element, _item(kind, index, len(target.elts)))
        elif isinstance(target, ast.Attribute):
            base = self.expr(target.value)
            self._store(base, target, kind)
        elif isinstance(target, ast.Subscript):
            self.expr(target.value)
            self.expr(target.slice)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, kind)

    def _store(self, base: Kind, target: ast.Attribute, kind: Kind) -> None:
        """Record ``self.name = value`` for the class, however often it is set."""
        if base.evidence != "self" or self.owner is None:
            return
        if target.attr in self.stored:
            kind = join(self.stored[target.attr], kind)
        self.stored[target.attr] = kind

    def _registered(self, call: ast.Call) -> None:
        """Record what ``self.register_buffer("name", value)`` and its relatives set."""
        function = call.func
        if not isinstance(function, ast.Attribute) or function.attr not in _REGISTERING or len(call.args) < 2:
            return
        name = call.args[0]
        if (
            isinstance(name, ast.Constant)
            and isinstance(name.value, str)
            and self.kinds[function.value].evidence == "self"
        ):
            kind = self.kinds.get(call.args[1], UNKNOWN)
            promised = Kind(_REGISTERING[function.attr], evidence=function.attr)
            self.stored[name.value] = kind if kind.name == promised.name else promised

    def narrow(self, test: ast.expr, holds: bool) -> None:
        """Learn from a condition: isinstance and None guards on plain names."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self.narrow(test.operand, not holds)
        elif isinstance(test, ast.BoolOp):
            if isinstance(test.op, ast.And) == holds:
                for value in test.values:
                    self.narrow(value, holds)
        elif (
            holds
            and isinstance(test, ast.Call)
            and getattr(test.func, "id", "") == "isinstance"
            and len(test.args) == 2
        ):
            subject, classes = test.args
            if isinstance(subject, ast.Name):
                kind = self.instance(classes)
                if kind.known:
                    self.env[subject.id] = kind.because("isinstance")


_REGISTERING: dict[str, KindName] = {
    "register_buffer": "Tensor",
    "register_parameter": "Parameter",
    "add_module": "Module",
    "register_module": "Module",
}


def is_inplace(value: ast.expr) -> bool:
    """Whether an expression makes a layer that changes its input: ``nn.ReLU(inplace=True)``, ``nn.ReLU(True)``."""
    if not isinstance(value, ast.Call):
        return False
    name = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
    if any(k.arg == "inplace" and isinstance(k.value, ast.Constant) and k.value.value is True for k in value.keywords):
        return True
    first = value.args[0] if value.args else None
    return name in ("ReLU", "ReLU6", "SiLU", "Hardswish") and isinstance(first, ast.Constant) and first.value is True


def _item(kind: Kind, index: int, count: int) -> Kind:
    """Return the kind of one element of an unpacked value."""
    if kind.name == "tuple" and len(kind.items) == count:
        return kind.items[index]
    return element_of(kind)


def _join_env(a: Env, b: Env) -> Env:
    """Join two environments; a name only one path binds keeps what it has there."""
    joined = dict(a)
    for name, kind in b.items():
        joined[name] = join(a[name], kind) if name in a else kind
    return joined
