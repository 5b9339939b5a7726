"""Where gradients come from: which expressions may reach weights, and which statements the gradient flows through."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import replace

from torch2ms.translator.effects.dataflow import certain_binds, child_blocks, live_in
from torch2ms.translator.effects.reads_and_writes import Effects, base_path, dotted_path, effects, overlaps, root
from torch2ms.translator.effects.trained_tensors import listed_weights
from torch2ms.translator.syntax.ast_walk import children, walk
from torch2ms.translator.training.find.callees import WITHOUT_GRADIENT, Callees, LookUp
from torch2ms.translator.training.find.differentiable import (
    differentiable_nodes,
    differentiable_reads,
    gives_cut_values,
    is_no_grad,
    walk_executed,
)
from torch2ms.translator.training.find.narrowed_lists import trains_a_part
from torch2ms.translator.training.find.scope import FunctionNode, ProjectFile, Scope
from torch2ms.translator.training.find.vocabulary import BUILTINS, MUTATORS, QUIET_METHODS, STATELESS, VALUE_METHODS
from torch2ms.translator.values.kinds import Kind, Oracle
from torch2ms.translator.values.use_evidence import is_environment, is_network, place_of, uses

__all__ = ["GradientFlow"]


class GradientFlow:
    """Answers, for one file, where weights enter a computation."""

    def __init__(self, file: ProjectFile, oracle: Oracle, callees: Callees | LookUp = lambda _: None) -> None:
        self._file = file
        self._oracle = oracle
        self._callees = callees if isinstance(callees, Callees) else Callees(callees, GradientFlow)
        self._known: dict[int, bool] = {}
        self._computed: dict[int, set[str]] = {}
        self.backward_calls = 0  # in the whole file
        self.settled: set[int] = set()  # ids of statements that give data, though they might compute with weights
        self.updated_by_hand: set[str] = set()  # paths of modules that loops update without an optimizer

    def has_source(self, node: ast.AST | Sequence[ast.AST]) -> bool:
        """Whether the code may compute with trainable weights. In doubt it may."""
        nodes = [node] if isinstance(node, ast.AST) else node
        return any(self._is_source(item) for top in nodes for item in walk_executed(top))

    def source_paths(self, nodes: Sequence[ast.AST]) -> set[str]:
        """Return the paths of the callees through which weights enter the nodes; "" for one without a path."""
        return {dotted_path(node.func) or "" for node in self.sources(nodes) if isinstance(node, ast.Call)}

    def sources(self, nodes: Sequence[ast.AST]) -> list[ast.AST]:
        """Return the calls and parameters through which weights enter the nodes."""
        return [node for top in nodes for node in walk_executed(top) if self._is_source(node)]

    def has_sure_source(self, nodes: Sequence[ast.AST]) -> bool:
        """Whether a module is called, or something that holds one.

        A function from elsewhere that only gets data is not counted: it may just as well be a loss on predictions
        that somebody else computed.
        """
        for top in nodes:
            for node in walk_executed(top):
                if not self._is_source(node):
                    continue
                if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                    return True
                name, kind = node.func.id, self._oracle.kind(node.func)
                own = name in self._file.functions or name in self._file.nested
                foreign = name in self._file.inert or kind.name == "function"
                if own or not foreign or self._is_given_module(node) or self._callees.calls_module(kind):
                    return True
        return False

    def _is_source(self, node: ast.AST) -> bool:
        if isinstance(node, (ast.Name, ast.Attribute)):
            return isinstance(node.ctx, ast.Load) and self._oracle.kind(node).name == "Parameter"
        if not isinstance(node, ast.Call) or id(node) in self._file.machinery:
            return False
        if any(self._file_function_has_source(value.id) for value in node.args if isinstance(value, ast.Name)):
            return True  # map(evaluate, batches)
        func = node.func
        kind = self._oracle.kind(func)
        if self._is_loss(func, kind) and not self._is_given_module(node):
            return isinstance(func, ast.Name) and self._file_function_has_source(func.id)
        if kind.name == "Module":
            return True
        if kind.name in ("api", "dtype", "class", "Transform") or _is_class_like(func, kind.name):
            return False
        if isinstance(func, ast.Name):
            function = self._file.functions.get(func.id) or self._file.nested.get(func.id)
            if function is not None:
                return self._function_has_source(function)
            is_own = func.id not in BUILTINS or uses(self._file.tree).binds(func)
            return is_own and kind.name != "python" and self._gives_gradient(node, kind)
        if not isinstance(func, ast.Attribute):
            return True
        owner = self._oracle.kind(func.value).name
        own = self._file.methods(func.attr) if isinstance(func.value, ast.Name) and func.value.id == "self" else []
        if own and not any(isinstance(method.body[-1], (ast.Raise, ast.Pass)) for method in own):  # none is abstract
            return any(map(self._function_has_source, own))
        if owner == "Module":
            return func.attr not in QUIET_METHODS
        if owner == "module" and (kind.name == "function" or self._is_given_module(node)):
            return True  # penalties.gradient_penalty(net, x): as where it is imported by its name
        if owner in STATELESS or owner in ("Tensor", "Parameter", "str", "list", "dict", "tuple", "int", "float"):
            return False
        if isinstance(func.value, ast.Name) and func.value.id == "self":
            return True
        if is_environment(uses(self._file.tree).of(func.value)):
            method = self._file.functions.get("." + func.attr)  # else gym's env.step(action), env.reset()
            return method is not None and self._function_has_source(method)
        if func.attr in VALUE_METHODS | MUTATORS or root(base_path(func) or "") in ("np", "numpy", "random", "math"):
            return False
        return self._gives_gradient(node, kind)

    def _gives_gradient(self, call: ast.Call, kind: Kind) -> bool:
        """Whether a function of another file, or a method of an object, may give values that carry gradients."""
        if self._is_given_module(call) or self._callees.may_carry(kind):
            return True
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        kinds = (self._oracle.kind(value).name for value in given)  # what is not known may be weights
        return self._callees.passes_on(kind) and any(name not in {"Tensor", *WITHOUT_GRADIENT} for name in kinds)

    def is_in_doubt(self, statement: ast.stmt) -> bool:
        """Whether a statement binds names to what methods of unknown objects give, and computes with no weights."""
        sources = [node for node in walk_executed(statement) if self._is_source(node)]
        return isinstance(statement, ast.Assign) and all(self._is_unknown(node) for node in sources)

    def _is_unknown(self, node: ast.AST) -> bool:
        """Whether a source is one because nothing is known of a method that is called, or not all of it."""
        func = node.func if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or not isinstance(func, ast.Attribute) or self._is_given_module(node):
            return False
        return self._oracle.kind(func.value).name in ("unknown", "instance") and ast.unparse(func.value) != "self"

    def _is_loss(self, func: ast.expr, kind: Kind) -> bool:
        """Whether a callee is a loss function without weights of its own: by its class, else by its use.

        What nothing is known of is one when it is called with several things, the first of which a call computes, when
        it gives one thing, and when nobody asks it for weights or a mode.
        """
        if kind.name == "Module" and kind.of:
            return kind.of.startswith("torch.nn.") and kind.of.endswith("Loss")
        path = dotted_path(func) or ""
        if kind.name not in ("Module", "unknown") or not path or ("." in path and not path.startswith("self.")):
            return False  # model.loss(x)
        found = uses(self._file.tree)
        calls = found.of(func).called
        return bool(calls) and not is_network(found.of(func)) and all(self._compares(call) for call in calls)

    def _compares(self, call: ast.Call) -> bool:
        """Whether a call is given several things, the first of which a call computes: ``criterion(net(x), y)``."""
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        parts = id(call) in uses(self._file.tree).taken_apart
        return len(given) > 1 and not parts and self._is_computed(given[0])

    def _is_computed(self, value: ast.expr) -> bool:
        found = uses(self._file.tree).of(value)
        called = [part.func for top in (value, *found.values) for part in walk(top) if isinstance(part, ast.Call)]
        return found.is_part or any(place_of(func) for func in called)

    def _is_given_module(self, call: ast.Call) -> bool:
        values = [*call.args, *(keyword.value for keyword in call.keywords)]
        return any(self._oracle.kind(value).name == "Module" for value in values)

    def _file_function_has_source(self, name: str) -> bool:
        return name in self._file.functions and self._function_has_source(self._file.functions[name])

    def _function_has_source(self, function: FunctionNode) -> bool:
        if id(function) not in self._known:
            self._known[id(function)] = False  # for recursion
            if not gives_cut_values(function, self._is_own):
                self._known[id(function)] = any(self.has_source(statement) for statement in function.body)
        return self._known[id(function)]

    def differentiable_reads(self, node: ast.AST) -> set[str]:
        """Return the paths that a node of the file reads in a way that lets gradients through."""
        return differentiable_reads(node, self._is_own)

    def values_read(self, node: ast.AST) -> set[str]:
        """Return those paths; what is called is ``net.__call__``: the values it keeps for others are no part of it."""
        calls = [call.func for call in walk(node) if isinstance(call, ast.Call)]
        called = {id(func) for func in calls if self._oracle.kind(func).name in ("Module", "function")}
        nodes = differentiable_nodes(node, self._is_own)
        return {(dotted_path(item) or "") + ".__call__" * (id(item) in called) for item in nodes}

    def _is_own(self, func: ast.expr) -> bool:
        """Whether a callee is a function or a layer of the program, whatever its name."""
        bound = isinstance(func, ast.Name) and uses(self._file.tree).binds(func)
        return bound or self._oracle.kind(func).name in ("Module", "function", "class")

    def demanded(self, statements: Sequence[ast.stmt], chosen: Collection[int], needed: set[str]) -> set[int]:
        """Return those of the ``chosen`` statements the gradient of ``needed`` (paths, updated) flows through."""
        found: set[int] = set()
        for position in sorted(chosen, reverse=True):
            statement = statements[position]
            here = self.effects(statement)
            if overlaps(here.changes, needed):
                found.add(position)
                if _is_plain(statement):
                    needed.difference_update({path for path in needed if _is_stored(path, here.binds | here.mutates)})
                else:
                    certain = certain_binds([statement])
                    needed.difference_update({path for path in needed if root(path) in certain})
                if not self.makes_module(statement):
                    entering = live_in([statement])
                    needed.update(path for path in self.values_read(statement) if root(path) in entering)
        return found

    def carrying(
        self, statements: Sequence[ast.stmt], demanded: Collection[int], wanted: Collection[str] | None = None
    ) -> set[int]:
        """Return those of the ``demanded`` statements whose results depend on weights.

        ``wanted`` are the paths for which they are demanded: what carries gradients and leads to none of them is none.
        """
        carried: dict[int, set[str]] = {}
        paths: set[str] = set()
        for position in sorted(demanded):
            statement = statements[position]
            if found := self._carried(statement, paths):
                carried[position] = found
                paths |= found
            elif _is_plain(statement):
                paths -= self._file.effects(statement).binds
        if wanted is None:
            return set(carried)
        leading: set[int] = set()
        needed = set(wanted)
        for position in sorted(demanded, reverse=True):
            if overlaps(carried.get(position, set()), needed):
                leading.add(position)
            if overlaps(self.effects(statements[position]).changes, needed):
                needed |= self.values_read(statements[position])
        return leading

    def effects(self, node: ast.AST | Sequence[ast.AST]) -> Effects:
        """Return the effects of code; networks that go on from what their last call left in them are changed by one."""
        found = self._file.effects(node)
        nodes = [node] if isinstance(node, ast.AST) else node
        calls = [item for top in nodes for item in walk_executed(top) if isinstance(item, ast.Call)]
        kept = {dotted_path(c.func) or "" for c in calls if self._callees.goes_on(self._oracle.kind(c.func))} - {""}
        return replace(found, touches=found.touches | kept) if kept else found

    def _carried(self, statement: ast.stmt, paths: set[str]) -> set[str]:
        """Return what carries gradients behind a statement, of what it changes; ``paths`` carry some before it."""
        blocks = list(child_blocks(statement))
        if id(statement) in self.settled or (isinstance(statement, ast.With) and is_no_grad(statement)):
            return set()
        if not blocks or isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Match)):
            entered = self.has_source(statement) and not (self.makes_module(statement) or self._prepares(statement))
            if not entered and not overlaps(self.differentiable_reads(statement), paths):
                return set()
            value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
            is_plain = value is not None and self._oracle.kind(value).name in WITHOUT_GRADIENT
            here = self.effects(statement)
            return set(here.changes - here.binds if is_plain else here.changes)
        found: set[str] = set()
        heads = [node for node in children(statement) if not isinstance(node, (ast.stmt, ast.ExceptHandler))]
        if any(self.has_source(head) or overlaps(self.differentiable_reads(head), paths) for head in heads):
            found |= effects(heads).binds
        for _ in range(2 if isinstance(statement, (ast.For, ast.AsyncFor, ast.While)) else 1):
            found = found.union(*[self._carried_in(block, paths | found) for block in blocks])
        return found

    def _carried_in(self, block: Sequence[ast.stmt], paths: set[str]) -> set[str]:
        """Return what carries gradients behind a block."""
        found: set[str] = set()
        for statement in block:
            if _is_plain(statement):
                given = self._carried(statement, paths | found)
                found = (found - self._file.effects(statement).binds) | given
            else:
                found |= self._carried(statement, paths | found)
        return found

    def _prepares(self, statement: ast.stmt) -> bool:
        """Whether the statement only sets weights, with no value but constants: ``nn.init.zeros_(net.weight)``."""
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call) or self._oracle.kind(call.func).name in ("Module", "function"):
            return False
        if isinstance(call.func, ast.Name) and call.func.id in self._file.functions:
            return False
        values = [*call.args, *(keyword.value for keyword in call.keywords)]
        weights = [value for value in values if self._oracle.kind(value).name in ("Module", "Parameter")]
        return bool(weights) and all(value in weights or isinstance(value, ast.Constant) for value in values)

    def makes_module(self, statement: ast.stmt) -> bool:
        """Whether the statement binds a Module, an Optimizer or a class rather than a computed value."""
        value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
        if value is None:
            return False
        if self.is_module_value(value):
            return True
        while (
            isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in QUIET_METHODS
        ):
            value = value.func.value
        if not isinstance(value, ast.Call):
            return False
        kind = self._oracle.kind(value.func)
        if kind.name == "api" and kind.of.startswith("torch.distributions."):
            return False  # it holds what it is given
        if any(self.has_source(item) for item in (*value.args, *(keyword.value for keyword in value.keywords))):
            return False
        name, known = (dotted_path(value.func) or "").rpartition(".")[2], kind.name
        return _is_class_like(value.func, "unknown" if known in ("api", "class") else known) and not (
            name.endswith("Tensor") or name == "Variable"
        )

    def kept_values(self, needed: set[str], scope: Scope) -> str | None:
        """Return a needed attribute that another function fills with values that carry gradients, if there is one."""
        for path in sorted(needed):
            if "." not in path:
                continue
            for item in (*self._file.stores, *self._file.assignments):
                if item.owner is None or item.owner is scope.node or item.owner.name == "__init__":
                    continue
                tail = item.path.partition(".")[2]
                if tail and tail == path.partition(".")[2] and self.gives_gradient(item.value, item.owner):
                    return path
        return None

    def gives_gradient(self, value: ast.expr, owner: FunctionNode) -> bool:
        """Whether a function computes a value with weights."""
        if self.is_module_value(value):
            return False
        return self.has_source(value) or overlaps(self.differentiable_reads(value), self._computed_in(owner))

    def _computed_in(self, function: FunctionNode) -> set[str]:
        """Return the paths that hold values computed with weights somewhere in ``function``, whatever the order."""
        if id(function) in self._computed:
            return self._computed[id(function)]
        found = self._computed[id(function)] = set()
        simple = [node for node in walk(function) if isinstance(node, (ast.Assign, ast.AugAssign, ast.For))]
        for _ in range(3):
            for node in simple:
                value = node.iter if isinstance(node, ast.For) else node.value
                if self.is_module_value(value):
                    continue
                if self.has_source(value) or overlaps(self.differentiable_reads(value), found):
                    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                    stored = effects(list(targets))
                    found |= stored.binds | stored.mutates
        return found

    def origins(self, scope: Scope, path: str) -> set[str]:
        """Return the paths that one of a scope may be, itself included."""
        return self._file.origins(scope.node, path)

    def modules_of(self, optimizer: str, scope: Scope) -> frozenset[str] | None:
        """Return the paths the optimizer's weights are taken from, as its constructor shows; None when it does not."""
        if optimizer in self.updated_by_hand:
            return frozenset({optimizer} | self._wrappers({optimizer}))
        paths = self._given_weights(optimizer, scope)
        return frozenset(paths | self._wrappers(paths)) if paths else None

    def _given_weights(self, optimizer: str, scope: Scope) -> set[str]:
        """Return the paths that the calls which make an optimizer take weights from."""
        found: set[str] = set()
        for item in self._file.assigned_to(optimizer, scope):
            if isinstance(item.value, ast.Call) and item.value.args:
                found |= self._weights(item.value.args[0], self._file.scope_of(item, scope), 3)
        return found

    def trains_a_part(self, optimizer: str, clipped: ast.expr, scope: Scope) -> bool:
        """Whether an optimizer certainly has fewer weights than a clipped list, whose others have gradients too."""
        made = [item for item in self._file.assigned_to(optimizer, scope) if isinstance(item.value, ast.Call)]
        given: list[ast.expr] = []
        for item in made:
            assert isinstance(item.value, ast.Call)
            given += self._followed(item.value.args[:1], self._file.scope_of(item, scope))
        return len(made) == 1 and trains_a_part(given, self._followed([clipped], scope), self._file.tree)

    def _followed(self, nodes: Sequence[ast.expr], scope: Scope) -> list[ast.expr]:
        """Return expressions, and what their names were bound to."""
        found = list(nodes)
        for node in nodes:
            for name in {n.id for n in walk(node) if isinstance(n, ast.Name)}:
                found += [item.value for item in self._file.bindings_of(name, scope)]
        return found

    def resets(self, call: ast.Call) -> dict[str, bool]:
        """Return what a call resets the gradients of, in the functions that it runs: see :meth:`Callees.resets`."""
        return self._callees.resets(call, self._oracle)

    def is_reset_by(self, optimizer: str, zeroed: Collection[str], scope: Scope) -> bool:
        """Whether ``zero_grad`` of the modules ``zeroed`` reaches all weights the optimizer is known to have."""
        own = {optimizer} if optimizer in self.updated_by_hand else self._given_weights(optimizer, scope)
        covered = {path for path in own if any(_is_stored(name, zeroed) for name in {path} | self._wrappers({path}))}
        return bool(own) and covered == own

    def weights_of(self, node: ast.expr, scope: Scope) -> frozenset[str]:
        """Return the paths whose ``.parameters()`` make up the list ``node``."""
        return frozenset(self._weights(node, scope, 2))

    def _weights(self, node: ast.expr, scope: Scope, depth: int) -> set[str]:
        """The receivers of .parameters() inside ``node``, names followed through their assignments."""
        found: set[str] = set()
        for part in walk(node):
            if isinstance(part, ast.Attribute) and part.attr in ("parameters", "named_parameters"):
                path = base_path(part.value)
                if path:
                    found.add(path)
        if found:
            return found
        listed = listed_weights(node)
        for path in listed or (effects(node).reads if depth else ()):
            # A name in the list is a list of a network's weights, or a tensor that is trained itself.
            taken: set[str] = set()
            for item in self._file.bindings_of(path, scope) if depth else ():
                taken |= self._weights(item.value, self._file.scope_of(item, scope), depth - 1)
            found |= taken or ({path} if path in listed else set())
        return found

    def _wrappers(self, paths: set[str]) -> set[str]:
        """Other names of the same modules: ``ddp_model = DDP(model)``, ``self.model = model.to(d)``, ``m = model``."""
        found: set[str] = set()
        for _ in range(3):
            for item in self._file.assignments:
                target, value = item.path, item.value
                inner = value
                if isinstance(value, ast.Call):
                    class_like = (dotted_path(value.func) or "").rpartition(".")[2][:1].isupper()
                    moved = isinstance(value.func, ast.Attribute) and value.func.attr in ("to", "cuda", "train", "half")
                    if class_like and value.args:
                        inner = value.args[0]
                    elif moved and isinstance(value.func, ast.Attribute):
                        inner = value.func.value
                    else:
                        compiled = (dotted_path(value.func) or "").endswith(("compile", "prepare", "prepare_model"))
                        inner = value.args[0] if compiled and value.args else value
                path = dotted_path(inner)
                if path is None:
                    continue
                if path in paths | found:
                    found.add(target)
                elif target in paths | found:
                    found.add(path)
        return found

    def is_module_value(self, value: ast.expr) -> bool:
        """Whether the expression gives a Module, not a value computed by one."""
        return self._oracle.kind(value).name in ("Module", "Optimizer", "class", "function")

    def called_modules(self, node: ast.AST) -> set[str]:
        """Return the paths of the Modules and functions that ``node`` calls."""
        calls = [item for item in walk(node) if isinstance(item, ast.Call)]
        return {path for call in calls if (path := dotted_path(call.func)) is not None}

    def reaches(self, nodes: Sequence[ast.AST], modules: frozenset[str] | None) -> bool:
        """Whether the gradient may reach weights of ``modules`` (None: unknown, then it may)."""
        if modules is None:
            return True
        for top in nodes:
            if overlaps(self.differentiable_reads(top), modules):
                return True
            for node in walk_executed(top):
                if isinstance(node, ast.Call) and (self._is_opaque(node) or self._asks_whole(node, modules)):
                    return True
        return False

    def _asks_whole(self, call: ast.Call, modules: frozenset[str]) -> bool:
        """Whether a call asks a network, by a method of its own, that some of the modules are parts of."""
        func = call.func
        if not isinstance(func, ast.Attribute) or self._oracle.kind(func.value).name != "Module":
            return False
        path = dotted_path(func.value)
        return path not in (None, "self") and self._is_source(call) and overlaps({str(path)}, modules)

    def _is_opaque(self, call: ast.Call) -> bool:
        """Whether a call may use modules that the text at hand does not name."""
        if not self._is_source(call):
            return False
        func = call.func
        return self._oracle.kind(func).name != "Module" and not (
            isinstance(func, ast.Attribute)
            and self._oracle.kind(func.value).name == "Module"
            and dotted_path(func) != "self"
        )


def _is_class_like(func: ast.expr, kind: str) -> bool:
    """Whether an untyped callee from another package is named like a class."""
    last = (dotted_path(func) or "").rpartition(".")[2].lstrip("_")
    return kind == "unknown" and last[:1].isupper() and len(last) > 2


def _is_stored(path: str, stores: Collection[str]) -> bool:
    return any(path == store or path.startswith(store + ".") for store in stores)


def _is_plain(statement: ast.stmt) -> bool:
    return isinstance(statement, (ast.Assign, ast.AnnAssign))
