"""Gradients of a network's weights without an optimizer's step: ``loss.backward()`` and ``p.grad`` of its parameters.

What :mod:`.leaves` does for tensors and single weights, for all the weights of one network: they are differentiated by
as a whole, and a read of one gradient picks it out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from torch2ms.translator.effects.gradient_uses import CLIPS
from torch2ms.translator.effects.names_used import reads
from torch2ms.translator.effects.reads_and_writes import dotted_path
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.training.find.gradient_reads import asks_whether, changed_parts
from torch2ms.translator.training.find.vocabulary import RETAINING
from torch2ms.translator.training.leaf_model import LeafUnit, Refused
from torch2ms.translator.training.plan.leaves import LeafScope
from torch2ms.translator.training.plan.unread_gradients import networks_of, weights_of_all
from torch2ms.translator.values.families import WEIGHTS

__all__ = ["NetworkScope"]


class NetworkScope(LeafScope):
    """Plans the gradients of one network in one scope."""

    network = ""
    networks: Sequence[str] = ()  # several, where nobody reads their gradients

    def _units(self) -> list[LeafUnit]:
        if self.looped:
            raise Refused
        names = {n.attr for n in self.nodes if isinstance(n, ast.Attribute)}
        calls = [n for n in self.nodes if isinstance(n, ast.Call) and self._is_gradient(n)]
        if not calls or names & {"step", "retain_grad", "register_hook"}:
            return []
        apart = self.plan.is_keeping or (self.plan.may_record and asks_whether(self.nodes))
        if apart and any(map(self._is_backward, calls)):
            raise Refused  # what other functions ask for is kept with the weights; the record knows what has none
        self.clips = [n for n in self.nodes if isinstance(n, (ast.Expr, ast.Assign)) and self._clipped(n)]
        reads = [n for n in self.grads if self.oracle.kind(n).name != "api"]
        changed = {id(part) for part in changed_parts(self.nodes)}
        if any(id(read) in changed or not isinstance(read.ctx, ast.Load) for read in reads):
            raise Refused  # what a gradient becomes in place would be lost
        read = sorted(reads, key=lambda n: (n.lineno, n.col_offset))
        graded = [n.value.id for n in read if isinstance(n.value, ast.Name) and self._is_leaf(n.value)]
        self.tensors = list(dict.fromkeys(graded))
        if self.tensors and len(calls) > 1:
            raise Refused
        found = {self._network_of(n.value, n) for n in reads if getattr(n.value, "id", "") not in self.tensors}
        found |= {self._clipped(n) for n in self.clips}
        found |= {self._network_of_asked(call) for call in calls if not self._is_backward(call)}
        if self.plan.is_unread and not found and len(calls) == 1:
            self.networks = networks_of(self.scope, self.nodes, self.oracle)
            found = set(self.networks[:1])
        if len(found) != 1 or not (network := found.pop()):
            raise Refused
        self.network, self.networks = network, self.networks or [network]
        self.reads = reads
        leaves = {*self.networks, *self.tensors}
        self._check(leaves, leaves)
        units = [self._network_unit(call) for call in calls]
        shared = [statement for unit in units for statement in unit.body]
        for unit in units:
            if any(shared.count(statement) > 1 for statement in unit.body):
                self._stay(unit)
            if any(other.statement in unit.body for other in units):
                raise Refused
        return units

    def _is_leaf(self, node: ast.Name) -> bool:
        """Whether a name is a tensor of the scope's own whose gradient is wanted, beside those of a network."""
        return self.oracle.kind(node).name == "Tensor" and self._requires_grad(node.id)

    def _is_backward(self, call: ast.Call) -> bool:
        return isinstance(call.func, ast.Attribute) and call.func.attr == "backward"

    # ---- whose weights

    def _network(self, node: ast.expr) -> str:
        """Return the name of a network that is a variable; "" for anything else."""
        is_network = isinstance(node, ast.Name) and node.id != "self" and self.oracle.kind(node).name == "Module"
        return node.id if is_network and isinstance(node, ast.Name) else ""

    def _weights_of(self, tree: ast.AST, *, of_part: bool = False) -> str:
        """Return the network whose ``parameters()`` an expression goes over; ``of_part``: or those of a part of it."""
        for node in walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in WEIGHTS:
                owner = node.func.value
                while of_part and isinstance(owner, (ast.Attribute, ast.Subscript)):
                    owner = owner.value
                return self._network(owner)
        return ""

    def _network_of(self, value: ast.expr, place: ast.AST) -> str:
        """Return the network that a weight belongs to: a loop's variable, or a path from the network."""
        if isinstance(value, ast.Name):
            for node in self._around(place):
                for target, source in _loops(node):
                    if any(isinstance(n, ast.Name) and n.id == value.id for n in walk(target)):
                        return self._weights_of(source, of_part=True)
            return ""
        while isinstance(value, (ast.Attribute, ast.Subscript)):
            value = value.value
        return self._network(value)

    def _clipped(self, statement: ast.stmt) -> str:
        """Return the network whose gradients a statement clips; "" for other statements."""
        call = statement.value if isinstance(statement, (ast.Expr, ast.Assign)) else None
        if not isinstance(call, ast.Call) or (len(call.args) != 2 and not call.keywords):
            return ""
        name = (dotted_path(call.func) or "").rpartition(".")[2]
        return self._weights_of(call.args[0]) if name in CLIPS and call.args else ""

    def _network_of_asked(self, call: ast.Call) -> str:
        wanted = self._asked_for(call)
        if isinstance(wanted, (ast.List, ast.Tuple)):
            found = {self._network_of(item, call) for item in wanted.elts if not isinstance(item, ast.Name)}
            return found.pop() if len(found) == 1 and len(wanted.elts) else ""
        return self._weights_of(wanted)

    def _asked_for(self, call: ast.Call) -> ast.expr:
        """Return what ``autograd.grad`` is asked for."""
        found = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "inputs")]
        if len(found) != 1:
            raise Refused
        return found[0]

    # ---- the plan

    def _network_unit(self, call: ast.Call) -> LeafUnit:
        statement = self.parents[id(call)]
        keywords = {keyword.arg: keyword.value for keyword in call.keywords}
        weights: ast.expr | None = None
        if self._is_backward(call) and isinstance(call.func, ast.Attribute):
            if not isinstance(statement, ast.Expr) or set(keywords) - {"gradient", *RETAINING}:
                raise Refused
            loss, seed = call.func.value, keywords.get("gradient", call.args[0] if call.args else None)
        else:
            if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or len(call.args) > 2:
                raise Refused
            if not call.args or set(keywords) - {"inputs", "grad_outputs", "only_inputs", *RETAINING}:
                raise Refused
            loss, seed, weights = call.args[0], keywords.get("grad_outputs"), self._asked_for(call)
            if isinstance(loss, (ast.List, ast.Tuple)):
                raise Refused
        if isinstance(seed, ast.Constant) and seed.value is None:
            seed = None
        block = self.blocks[id(statement)]
        body = self._body(block, block.index(statement), loss, {*self.networks, *self.tensors})
        named = {n.id for s in [*body, loss] for n in walk(s) if isinstance(n, ast.Name)}
        if not named.issuperset([*self.networks, *self.tensors]):
            raise Refused
        if self.tensors and (weights is not None or self._loops(statement)):
            raise Refused
        tensors = self._in_order(set(self.tensors))
        unit = LeafUnit(statement, call, block, body, statement, loss, seed, tensors, [], is_moved=True)
        several = weights_of_all(self.networks) if len(self.networks) > 1 else None
        unit.network, unit.asked = self.network, several or weights
        self._place(unit)
        return unit

    def _enter(self, units: list[LeafUnit]) -> None:
        backwards = [unit for unit in units if unit.is_backward]
        name = self.names.fresh("grads", "gradients")
        zeros = [n for n in self.nodes if isinstance(n, ast.Expr) and self._clears(n, self.network)]
        if backwards:
            first = backwards[0]
            repeated = self._is_repeated(first, self.network)
            for unit in backwards:
                is_clear = self._is_clear(unit, self.network, backwards, repeated=repeated)
                unit.accumulates = not is_clear and not self.plan.is_unread
            early = any(n.lineno < first.statement.lineno for n in self.reads)
            if self.tensors and (early or self._is_uncertain(first, self.reads)):
                raise Refused
            if early or self._is_uncertain(first, self.reads) or any(unit.accumulates for unit in backwards):
                self.plan.starts.setdefault(self._start(self.network, first), []).append(name)
            for zero in zeros:
                self._enter_reset(zero, name, backwards)
        elif self.reads or self.clips:
            raise Refused
        for unit in units:
            unit.forward_name = self.names.fresh("forward_fn")
            self.plan.scope_of[id(unit)] = self.scope
            self.plan.gone.update(unit.body if unit.is_moved else ())
        self.plan.units.extend(units)
        self.plan.grad_names[(self.scope, self.network)] = name
        for path in self.tensors:
            self.plan.grad_names[(self.scope, path)] = own = self.names.fresh(f"{path}_grad", f"{path}_gradient")
            self.plan.names.update((n, own) for n in self.reads if getattr(n.value, "id", "") == path)
        self._marks(set(self.tensors))
        rest = (node for node in self.reads if node not in self.plan.names)
        self.plan.network_reads.update((node, (self.network, name)) for node in rest)
        self.plan.clips.update((statement, name) for statement in self.clips)

    def _enter_reset(self, zero: ast.stmt, name: str, backwards: list[LeafUnit]) -> None:
        """A reset binds None where somebody may see it, else it goes."""
        later = [unit.statement.lineno for unit in backwards if unit.statement.lineno > zero.lineno]
        seen = any(zero.lineno < n.lineno < min(later, default=n.lineno + 1) for n in self.reads)
        looped = bool(self._loops(zero)) and any(unit.accumulates for unit in backwards)
        needed = seen or looped or any(unit.accumulates and unit.statement.lineno > zero.lineno for unit in backwards)
        if needed and zero.lineno > backwards[0].statement.lineno:
            self.plan.cleared[zero] = name

    def _clears(self, statement: ast.stmt, path: str) -> bool:
        if isinstance(statement, ast.Assign) and path in self._binds(statement) and path not in reads(statement):
            return True  # another network of that name
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "zero_grad":
            return False
        return dotted_path(call.func.value) == path or self.oracle.kind(call.func.value).name == "Optimizer"


def _loops(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield target and source of every loop that a node is."""
    if isinstance(node, ast.For):
        yield node.target, node.iter
    elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
        for clause in node.generators:
            yield clause.target, clause.iter
