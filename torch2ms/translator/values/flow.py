"""Flow: the kinds of names through the statements of one function or one module, in order."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from torch2ms.translator.project.optional_imports import imports_for_sure, version_branch
from torch2ms.translator.syntax.ast_walk import children, walk
from torch2ms.translator.syntax.names import imported
from torch2ms.translator.values.annotations import annotated
from torch2ms.translator.values.containers import OF_NETWORKS, PUTTING, added, element_of, is_module_list, item_of
from torch2ms.translator.values.families import REGISTERING, may_be_set
from torch2ms.translator.values.kinds import UNKNOWN, Kind, join
from torch2ms.translator.values.parameters import Parameters
from torch2ms.translator.values.scopes import as_load, heading, join_environments, leaves
from torch2ms.translator.values.self_attributes import targets_made_of_themselves

if TYPE_CHECKING:
    from torch2ms.translator.values.world import ClassInfo, FileAnalysis, FunctionInfo, World

__all__ = ["Flow"]

_STAND_INS = ("torch2ms_runtime.missing", "torch2ms.runtime.missing")

Env = dict[str, Kind]


class Flow(Parameters):
    """Runs statements in order, keeping the kind of every name.

    Branches are joined. A loop is run again where it asked for a name that it bound to something else further down.
    """

    def __init__(
        self, world: World, analysis: FileAnalysis, info: FunctionInfo | None, outer: Flow | None = None
    ) -> None:
        self.world = world
        self.analysis = analysis
        self.info = info
        self.outer: Flow | None = outer
        self.env: Env = {}
        self.seen: Env = {} if info is not None else analysis.names
        self.owner: ClassInfo | None = info.owner if info is not None else None
        self.result: Kind = UNKNOWN
        self.kinds: dict[ast.AST, Kind] = {}  # of every expression looked at
        self.stored: Env = {}  # what is set on self
        self.placed: Env = {} if info is not None else analysis.placed  # on others: ``args.weight``
        self._returned: list[Kind] = []
        self.handed: dict[ast.Lambda, list[Kind]] = {}
        self.lambdas: dict[str, ast.Lambda] = {}
        self._jumps: list[list[Env]] = []  # of each loop being run: what held at its breaks and continues
        self._passes: list[tuple[Env, set[str]]] = []  # of each loop being run: what held before, the names asked of it
        self.locals: frozenset[str] = info.locals if info is not None else frozenset()
        self._anew = False  # whether what is bound stands for nothing that was bound before

    def close(self, *, is_outer: bool) -> None:
        """Let go of what nobody asks once the body has run; functions inside this one ask for its names."""
        self.kinds = {}
        if not is_outer:
            self.env = self.seen = {}

    # ---- names

    def lookup(self, name: str) -> Kind:
        """Return the kind of a name at this point."""
        here = self.env.get(name)
        for before, asked in self._passes:
            if before.get(name) is here:
                asked.add(name)
        if here is not None:
            return here
        if name in self.locals:
            return UNKNOWN
        if self.outer is not None and (name in self.outer.seen or name in self.outer.locals):
            return self.outer.seen.get(name, UNKNOWN)
        if self.outer is not None and self.outer.outer is not None and (found := self.outer.lookup(name)).known:
            return found
        kind = self.analysis.names.get(name, UNKNOWN)
        changes = self.info is not None and name in self.analysis.rebound  # a function says what None becomes
        return UNKNOWN if changes and kind.name == "none" else kind

    def bind(self, name: str, kind: Kind) -> None:
        """Bind a name in this scope."""
        if not kind.known and (told := self.told_of_variable(name)).known:
            kind = told
        self.env[name] = kind
        before = self.seen.get(name)
        self.seen[name] = join(before, kind) if before is not None and not self._anew else kind
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

    def run_module(self, body: Sequence[ast.stmt]) -> None:
        """Run a module; what its heading imports twice is the second: no function is there yet to see the first."""
        first = heading(body)
        for place, statement in enumerate(body):
            self._anew = place < first and isinstance(statement, (ast.Import, ast.ImportFrom))
            self.run([statement])

    def run(self, body: Sequence[ast.stmt]) -> None:
        """Run statements in order."""
        for statement in body:
            method = getattr(self, f"_{type(statement).__name__}", None)
            if method is not None:
                method(statement)
                if statement in self.analysis.remade:
                    self._remake(statement)
            else:
                for child in children(statement):
                    if isinstance(child, ast.expr):
                        self.expr(child)

    # ---- statements

    def _Import(self, node: ast.Import) -> None:
        for name, module, _ in imported(node):
            self.bind(name, self._module(module, 0))

    def _ImportFrom(self, node: ast.ImportFrom) -> None:
        for name, module, attribute in imported(node):
            if module in _STAND_INS:
                continue  # what a translated file puts in torch's place means torch
            if attribute == "*":
                for public, kind in self._star(module, node.level).items():
                    self.bind(public, kind)
                continue
            assert attribute is not None
            if self.world.symbols.is_torch(self.analysis.path, module, node.level):
                self.bind(name, Kind("api", self.world.tables.canonical(f"{module}.{attribute}"), evidence="import"))
                continue
            path = self.world.symbols.find_module(self.analysis.path, module, node.level)
            foreign = Kind("module", f"{module}.{attribute}", evidence="import")
            self.bind(name, foreign if path is None else self.world.export(path, attribute))

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
            if name not in OF_NETWORKS:  # ``_modules: dict[str, Layer]`` says what they hold, and makes none
                info.constants.setdefault(name, kind)

    def _Assign(self, node: ast.Assign) -> None:
        kind = self.expr(node.value)
        for target in node.targets:
            self.assign(target, kind)
            if isinstance(target, ast.Name) and isinstance(node.value, ast.Lambda):
                self.lambdas[target.id] = node.value

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
        if kind.name == "list" and isinstance(node.op, ast.Add) and isinstance(node.target, (ast.Name, ast.Attribute)):
            for item in value.items if value.name == "tuple" else (element_of(value),):
                self._hold(load, self.kinds.get(load, kind), item)
                kind = added(kind, item) if kind.items else kind
                self.kinds[load] = kind
        elif isinstance(node.target, ast.Name):
            if value.is_tensor and kind.is_number:  # ``score = 0``, ``score += layer(x)``
                kind = self._arithmetic(kind, value, node.op)
            self.assign(node.target, Kind("Tensor") if value.is_tensor and not kind.known else kind)
        elif isinstance(node.target, ast.Attribute) and kind.name in ("int", "float") and not value.is_number:
            self._store(self.kinds.get(node.target.value, UNKNOWN), node.target, UNKNOWN)  # ``self.total += loss``
        elif isinstance(node.target, ast.Subscript):
            self.expr(node.target.value)
            self.expr(node.target.slice)

    def _Expr(self, node: ast.Expr) -> None:
        kind = self.expr(node.value)
        if isinstance(node.value, ast.Call):
            self._registered(node.value)
            self._put(node.value)
        if isinstance(node.value, (ast.Yield, ast.YieldFrom)):
            self._returned.append(Kind("iterator", items=(kind,)))

    def _Return(self, node: ast.Return) -> None:
        self._returned.append(self.expr(node.value) if node.value is not None else Kind("none"))

    def _If(self, node: ast.If) -> None:
        self.expr(node.test)
        before = dict(self.env)
        self.narrow(node.test, True)
        taken = version_branch(node, lambda part: self.expr(part).of)
        self._run_if(taken is not node.orelse, node.body)
        after_body, self.env = self.env, before
        self.narrow(node.test, False)
        self._run_if(taken is not node.body, node.orelse)
        if node.orelse and (taken is node.body or leaves(node.orelse)):
            self.env = after_body
        elif taken is None and not leaves(node.body):
            self.env = join_environments(after_body, self.env)

    def _run_if(self, reached: bool, body: list[ast.stmt]) -> None:
        """Run statements; where they are never reached, nobody sees what they bind."""
        seen = self.seen
        if not reached:
            self.seen = dict(seen)
        self.run(body)
        self.seen = seen

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While) -> None:
        before, stored = dict(self.env), dict(self.stored)
        asked: set[str] = set()
        self._passes.append((before, asked))
        self._iterate(node, before)
        self._passes.pop()
        if stored != self.stored or any(before.get(name) != self.env.get(name) for name in asked):
            self._iterate(node, before)
        self.run(node.orelse)

    def _iterate(self, node: ast.For | ast.AsyncFor | ast.While, before: Env) -> None:
        self._jumps.append([])
        if isinstance(node, ast.While):
            self.expr(node.test)
        else:
            self.assign(node.target, self.iterated(self.expr(node.iter)))
        self.run(node.body)
        self.env = join_environments(before, self.env)
        for env in self._jumps.pop():
            self.env = join_environments(self.env, env)

    _For = _AsyncFor = _While = _loop

    def _Break(self, node: ast.Break | ast.Continue) -> None:
        if self._jumps:
            self._jumps[-1].append(dict(self.env))

    _Continue = _Break

    def _Assert(self, node: ast.Assert) -> None:
        for part in filter(None, (node.test, node.msg)):
            self.expr(part)
        self.narrow(node.test, True)

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
        is_sure = imports_for_sure(node, self.world.symbols, self.world.tables, self.analysis.path)
        for handler in node.handlers:
            self.env = dict(before)
            if handler.type is not None:
                self.expr(handler.type)
            if handler.name:
                self.env[handler.name] = Kind("python")
            self._run_if(not is_sure, handler.body)
            if not is_sure and not leaves(handler.body):
                joined = join_environments(joined, self.env)
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
            joined = self.env if joined is None else join_environments(joined, self.env)
        self.env = joined or before

    def _pattern(self, pattern: ast.pattern) -> None:
        for node in walk(pattern):
            if isinstance(node, ast.MatchClass):
                self.expr(node.cls)
            elif isinstance(node, ast.MatchValue):
                self.expr(node.value)
            elif isinstance(node, ast.MatchMapping):
                list(map(self.expr, node.keys))
            elif isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name is not None:
                self.bind(node.name, UNKNOWN)

    def _Delete(self, node: ast.Delete) -> None:
        list(map(self.expr, node.targets))

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
                    self.assign(element, self._part(kind, index, len(target.elts)))
        elif isinstance(target, ast.Attribute):
            base = self.expr(target.value)
            self._store(base, target, kind)
        elif isinstance(target, ast.Subscript):
            held = self.expr(target.value)
            self.expr(target.slice)
            if not isinstance(target.slice, ast.Slice):
                self._hold(target.value, held, kind)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, kind)

    def _put(self, call: ast.Call) -> None:
        """Learn from ``values.append(x)`` and its relatives what a list or a dictionary holds."""
        function = call.func
        if not isinstance(function, ast.Attribute) or not call.args:
            return
        held = self.kinds.get(function.value, UNKNOWN)
        last = self.kinds.get(call.args[-1], UNKNOWN)
        if function.attr in PUTTING:
            self._hold(function.value, held, element_of(last) if function.attr in ("extend", "update") else last)

    def _hold(self, container: ast.expr, held: Kind, value: Kind) -> None:
        """Record that a list or a dictionary holds a further value."""
        if (held.name not in ("list", "dict") and not is_module_list(held)) or not held.items:
            return
        new = added(held, value)
        if isinstance(container, ast.Name):
            self.env[container.id] = self.seen[container.id] = new
        elif isinstance(container, ast.Attribute) and container.attr not in OF_NETWORKS:
            self._store(self.kinds.get(container.value, UNKNOWN), container, new)

    def _part(self, kind: Kind, index: int, count: int) -> Kind:
        """Return the kind of one element of an unpacked value; a named tuple's are its fields."""
        if kind.name == "instance" and ":" in kind.of and "|" not in kind.of:
            info = self.world.class_info(kind.of)
            if info is not None and any(base.of.endswith("NamedTuple") for base in info.bases):
                declared = [node.target for node in info.node.body if isinstance(node, ast.AnnAssign)]
                fields = [target.id for target in declared if isinstance(target, ast.Name)]
                return self.world.attribute(kind.of, fields[index]) if len(fields) == count else UNKNOWN
        return item_of(kind, index, count)

    def _store(self, base: Kind, target: ast.Attribute, kind: Kind) -> None:
        """Record ``self.name = value`` for the class, however often it is set."""
        if base.is_tensor and target.attr == "grad":
            return  # ``x.grad = None`` clears it: what is read later is a gradient again
        if base.evidence != "self" or self.owner is None:
            if isinstance(target.value, ast.Name) and may_be_set(self.world.tables, base, target.attr):
                self._place(f"{target.value.id}.{target.attr}", kind)
            return
        before = self.stored.get(target.attr)
        if not kind.known and self.info is not None and target in targets_made_of_themselves(self.info):
            kind = before or Kind("unknown", evidence="itself")
        elif before is not None and before.evidence != "itself":
            kind = join(before, kind)
        self.stored[target.attr] = kind

    def _place(self, path: str, kind: Kind) -> None:
        """Record ``name.attribute = value``, however often it is set in this scope."""
        before = self.placed.get(path)
        self.placed[path] = join(before, kind) if before is not None else kind
        if self.info is None and self.placed[path] != before:
            self.world.forget(self.analysis)

    def placed_at(self, node: ast.Attribute) -> Kind:
        """Return the kind of what this scope, or the module, sets in an attribute of a plain name."""
        if not isinstance(node.value, ast.Name):
            return UNKNOWN
        path = f"{node.value.id}.{node.attr}"
        scope: Flow | None = self
        while scope is not None:
            if path in scope.placed or node.value.id in scope.locals:
                return scope.placed.get(path, UNKNOWN)
            scope = scope.outer
        return self.analysis.placed.get(path, UNKNOWN)

    def _registered(self, call: ast.Call) -> None:
        """Record what ``self.register_buffer("name", value)`` and its relatives set."""
        function = call.func
        if not isinstance(function, ast.Attribute) or function.attr not in REGISTERING or len(call.args) < 2:
            return
        name = call.args[0]
        if (
            isinstance(name, ast.Constant)
            and isinstance(name.value, str)
            and self.kinds[function.value].evidence == "self"
        ):
            kind = self.kinds.get(call.args[1], UNKNOWN)
            promised = Kind(REGISTERING[function.attr], evidence=function.attr)
            self.stored[name.value] = kind if kind.name == promised.name else promised

    def narrow(self, test: ast.expr, holds: bool) -> None:
        """Learn from a condition: isinstance and None guards on plain names."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self.narrow(test.operand, not holds)
        elif isinstance(test, ast.BoolOp):
            if isinstance(test.op, ast.And) == holds:
                for value in test.values:
                    self.narrow(value, holds)
        elif isinstance(test, (ast.Call, ast.Compare)):
            subject, kind = self._tested(test)
            if isinstance(subject, ast.Name) and kind.known:
                is_other = not holds and self.lookup(subject.id).is_tensor and kind.same(Kind("Tensor"))
                if holds or is_other:
                    self.env[subject.id] = UNKNOWN if is_other else kind.because("isinstance")

    def _tested(self, test: ast.Call | ast.Compare) -> tuple[ast.expr | None, Kind]:
        """Return what a test of a class is about, and the kind it proves."""
        if isinstance(test, ast.Compare):
            left = test.left
            is_type = isinstance(left, ast.Call) and getattr(left.func, "id", "") == "type" and len(left.args) == 1
            if not is_type or len(test.ops) != 1 or not isinstance(test.ops[0], (ast.Is, ast.Eq)):
                return None, UNKNOWN
            assert isinstance(left, ast.Call)
            return left.args[0], self.instance(test.comparators[0])
        if getattr(test.func, "id", "") == "isinstance" and len(test.args) == 2:
            return test.args[0], self.instance(test.args[1])
        if self.kinds.get(test.func, UNKNOWN).of == "torch.is_tensor" and len(test.args) == 1:
            return test.args[0], Kind("Tensor")
        return None, UNKNOWN
