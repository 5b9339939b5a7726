"""Gradients that a program asks for itself: ``y.backward()`` with ``x.grad``, and ``torch.autograd.grad(y, x)``.

No optimizer takes part. The statements of the same block that lead from the *leaves*, whose gradients are read, to what
is differentiated become a function, and ``mindspore.grad`` of it gives the gradients. Where the text does not show that
this computes the same, nothing is planned.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property

from torch2ms.translator.effects.aliases import Aliases
from torch2ms.translator.effects.dataflow import certain_binds, effects, live_in
from torch2ms.translator.effects.gradient_hooks import hooked_tensors, is_retained, with_hooks
from torch2ms.translator.effects.gradient_marks import frozen, handed_in, marks, may_be_marked, named_twice
from torch2ms.translator.effects.names_used import FUNCTIONS, binds, blocks, is_enable_grad, is_no_grad, own, reads
from torch2ms.translator.effects.reads_and_writes import dotted_path, root
from torch2ms.translator.effects.repeatability import gives_the_same
from torch2ms.translator.syntax.ast_walk import children, walk
from torch2ms.translator.training.find.attached import attached
from torch2ms.translator.training.find.gradient_inputs import AskedInputs, allows_unused, fills_unused
from torch2ms.translator.training.find.gradient_reads import asks_whether, zeroed
from torch2ms.translator.training.find.vocabulary import RETAINING
from torch2ms.translator.training.leaf_model import LeafPlan, LeafUnit, Refused
from torch2ms.translator.training.naming import Names
from torch2ms.translator.training.plan.leaf_loops import LoopedLeaves
from torch2ms.translator.training.plan.rebound_leaves import RemadeLeaves
from torch2ms.translator.training.plan.unread_gradients import kept_tensors
from torch2ms.translator.values.kinds import Oracle

__all__ = ["LeafScope", "Refused", "is_gradient"]

_OF_ALL = frozenset({"zero_grad", "clip_grad_norm_", "clip_grad_value_"})
_GRADS = frozenset({"torch.autograd.grad"})
_JUMPS = (ast.Break, ast.Continue, ast.Return, ast.Yield)


def is_gradient(call: ast.Call, oracle: Oracle) -> bool:
    """Whether a call asks for gradients: ``y.backward()``, ``torch.autograd.grad(y, x)``."""
    kind = oracle.kind(call.func)
    if isinstance(call.func, ast.Attribute) and call.func.attr == "backward":
        return kind.name != "api"
    return kind.name == "api" and kind.of in _GRADS


class LeafScope(AskedInputs, LoopedLeaves, RemadeLeaves):
    """Plans the gradients by tensors and by single weights in one scope."""

    def __init__(self, scope: ast.AST, oracle: Oracle, names: Names, plan: LeafPlan, modules: set[str]) -> None:
        self.modules = modules
        self.scope, self.oracle, self.names, self.plan = scope, oracle, names, plan
        self.nodes = list(own(scope))
        self.looped = self._find_loops()
        inner = {id(n) for loop in self.looped for n in loop.own_gradients()}
        self.grads = [n for n in self.nodes if isinstance(n, ast.Attribute) and n.attr == "grad" and id(n) not in inner]
        self.aliases = Aliases(self.nodes, oracle)
        self.hooks: dict[ast.stmt, str] = {}
        self.marks, self.frozen = marks(self.nodes), frozen(self.nodes)

    @cached_property
    def parents(self) -> dict[int, ast.AST]:
        """What each node stands in."""
        return {id(child): node for node in [self.scope, *self.nodes] for child in children(node)}

    @cached_property
    def blocks(self) -> dict[int, list[ast.stmt]]:
        """The block that each statement stands in."""
        return blocks([self.scope, *(node for node in self.nodes if not isinstance(node, FUNCTIONS))])

    def _binds(self, node: ast.AST) -> set[str]:
        """Return what a statement binds or changes; ``nn.init.zeros_(w)`` does not change the module ``nn``."""
        written = self.aliases.of(effects(node).mutates) if self.aliases else set()
        return (binds(node) | {root(path) for path in written}) - self.modules

    # ---- the whole scope

    def plan_all(self) -> None:
        """Plan every gradient of the scope, or none."""
        with suppress(Refused):
            units = self._units()
            if units and (self.plan.is_again or not any(unit.keeps_graph for unit in units)):
                self._enter(units)

    def _units(self) -> list[LeafUnit]:
        hooks = hooked_tensors(self.nodes, self.oracle)
        is_step = any(isinstance(n, ast.Attribute) and n.attr == "step" for n in self.nodes)
        if hooks is None or (is_step and hooks):
            return []
        self.hooks = hooks
        calls = [n for n in self.nodes if isinstance(n, ast.Call) and self._is_gradient(n)]
        if is_step:  # what autograd.grad gives is kept nowhere: steps have nothing to do with it
            apart = [call for call in calls if self.parents[id(call)] in self.plan.apart]
            calls = [call for call in calls if self._is_constant(call) or call in apart]
            self.grads = self.grads if apart else []
        if not calls:
            return []
        leaves = {path for n in self.grads if self._is_tensor_path(n.value) and (path := dotted_path(n.value))}
        leaves = leaves.union(*(one.leaves for one in self.looped))
        if self.plan.is_unread:
            leaves = {leaf for leaf in kept_tensors(self.nodes, self.marks) if self._requires_grad(leaf)}
        if any(not self._is_leafs_own(n) for n in self.grads if self.oracle.kind(n).name != "api"):
            raise Refused
        kept = self.plan.is_keeping and not all(map(self._is_constant, calls))  # other functions look for them
        kept = kept or (self.plan.may_record and asks_whether(self.nodes))
        if any(self._is_weight(leaf) for leaf in leaves) and (kept or self._handles_all()):
            raise Refused
        units = [self._unit(call, leaves) for call in calls]
        own = {path for unit in units if unit.is_backward for path in unit.leaves}
        self._check({path for unit in units for path in unit.leaves}, own)
        if any(s in self.plan.held for unit in units for s in (*unit.body, unit.statement)):
            raise Refused
        self._check_loops(self.looped, units)
        shared = [s for unit in units for s in unit.body]
        for unit in units:
            if any(shared.count(statement) > 1 for statement in unit.body):
                self._stay(unit)
            inner = [other for other in units if other.statement in unit.body]
            if any(not other.keeps_graph for other in inner) or self._asks_inside(unit, units):
                raise Refused
            if inner:
                self._stay(unit)  # the gradient of a gradient, whose value is wanted as well
        if self.hooks:
            self._hook(units)
        return units

    def _hook(self, units: list[LeafUnit]) -> None:
        """Take the hooks into the function of the one gradient that they can belong to."""
        unit = units[0]
        made = with_hooks(unit.body, self.hooks, unit.tensors, self._binds)
        in_place = unit.is_moved and unit.is_backward and not self._loops(unit.statement)
        early = any(statement not in unit.block or statement.lineno > unit.statement.lineno for statement in self.hooks)
        if made is None or len(units) > 1 or not in_place or early:
            raise Refused
        unit.body = made
        for name in dict.fromkeys(name for node, name in self.hooks.items() if is_retained(node)):
            if name in unit.tensors:
                continue  # a leaf keeps its gradient anyway
            kept = self.names.fresh(f"{name}_grads", f"{name}_gradients")
            unit.kept[name] = (self.names.fresh(f"{name}_grad", f"{name}_gradient"), kept)
            if any(dotted_path(n.value) == name and n.lineno <= unit.statement.lineno for n in self.grads):
                raise Refused

    def _handles_all(self) -> bool:
        """Whether the gradients of a whole network are reset or clipped."""
        return any(isinstance(n, ast.Attribute) and n.attr in _OF_ALL for n in self.nodes)

    def _check(self, leaves: set[str], kept: set[str]) -> None:
        """Refuse leaves with two names, those a function reads from outside, and ``kept`` ones that are replaced."""
        if named_twice(self.nodes, self.grads):
            raise Refused
        roots = {root(path) for path in leaves}
        derived = self._derived(roots)
        leaf_roots = {root(path) for path in kept}
        for node in self.nodes:
            if isinstance(node, FUNCTIONS):
                given = getattr(node, "args", None)
                own_names = {a.arg for a in walk(given) if isinstance(a, ast.arg)} if given is not None else set()
                if (reads(node) & (roots | derived)) - own_names - self._binds(node):
                    raise Refused
            targets = node.targets if isinstance(node, ast.Assign) else []
            targets = [node.target] if isinstance(node, ast.AugAssign) else targets
            named = {target.id for target in targets if isinstance(target, ast.Name)}
            computed = (
                named & leaf_roots and reads(node) & self._computed_at(node, roots) and not self._is_network(node)
            )
            if computed and not self._is_remade(node, named):
                raise Refused

    def _computed_at(self, node: ast.AST, roots: set[str]) -> set[str]:
        """Return the leaves that are there when a statement runs, and what may be computed from them by then."""
        if self._loops(node):
            return roots | self._derived(roots)
        line = getattr(node, "lineno", 0)
        made = {name for name in roots if self.marks.get(name, 0) < line}
        return made | self._derived(made, line)

    def _is_network(self, node: ast.AST) -> bool:
        """Whether a statement binds a network: ``net = net.to(device)``."""
        return isinstance(node, ast.Assign) and self.oracle.kind(node.value).name == "Module"

    def _is_gradient(self, node: ast.Call) -> bool:
        return is_gradient(node, self.oracle)

    def _is_tensor_path(self, node: ast.expr) -> bool:
        return dotted_path(node) is not None and self.oracle.kind(node).name in ("Tensor", "Parameter")

    # ---- one gradient

    def _unit(self, call: ast.Call, leaves: set[str]) -> LeafUnit:
        statement, inner = self.parents[id(call)], None
        keywords = {keyword.arg: keyword.value for keyword in call.keywords}
        is_backward = isinstance(call.func, ast.Attribute) and call.func.attr == "backward"
        if is_backward and isinstance(call.func, ast.Attribute):
            if not isinstance(statement, ast.Expr) or set(keywords) - {"gradient", *RETAINING}:
                raise Refused
            loss, seed = call.func.value, keywords.get("gradient", call.args[0] if call.args else None)
            unmarked = {leaf for leaf in leaves if self._is_unmarked(leaf, statement)}
            wanted = {leaf for leaf in leaves - unmarked if self._requires_grad(leaf)}
            if not all(self._has_none(leaf, wanted) for leaf in leaves - wanted - unmarked) or len(call.args) > 1:
                raise Refused
        else:
            statement, inner, loss, seed, wanted = self._asked(call, keywords)
        assert isinstance(statement, ast.stmt)
        if isinstance(seed, ast.Constant) and seed.value is None:
            seed = None
        block = self.blocks[id(statement)]
        body = self._body(block, block.index(statement), loss, wanted)
        used = live_in([*body, ast.Expr(loss)]) & attached(body, loss)
        weights = [path for path in self._in_order(wanted) if self._is_weight(path) and root(path) in used]
        tensors = [path for path in self._in_order(wanted) if path not in weights and path in used]
        if not is_backward:  # asked for by name: in that order
            tensors = [path for path in self._asked_paths(call) if path not in weights]
            unused = [path for path in tensors if path not in used]
            if weights or (unused and (len(unused) == len(tensors) or not allows_unused(call))):
                raise Refused
        if not tensors and not weights:
            raise Refused
        unit = LeafUnit(statement, call, block, body, statement, loss, seed, tensors, weights, True)
        unit.inner, unit.is_spread = inner, not is_backward and self._is_list(call)
        if not is_backward and not fills_unused(call):
            unit.missing = [tensors.index(path) for path in unused]
        self._place(unit)
        return unit

    def _is_weight(self, path: str) -> bool:
        return any(
            dotted_path(n) == path and self.oracle.kind(n).name == "Parameter"
            for n in self.nodes
            if isinstance(n, (ast.Name, ast.Attribute)) and isinstance(n.ctx, ast.Load)
        ) or ("." in path)

    def _in_order(self, paths: set[str]) -> list[str]:
        named = [n for n in self.nodes if isinstance(n, (ast.Name, ast.Attribute)) and dotted_path(n) in paths]
        named.sort(key=lambda n: (n.lineno, n.col_offset))
        return list(dict.fromkeys(path for n in named if (path := dotted_path(n)) is not None))

    def _requires_grad(self, path: str) -> bool:
        """Whether the scope itself makes the leaf, and says that its gradient is wanted."""
        if "." in path or self._is_weight(path):
            return path not in self.frozen
        made, is_marked_here = self._definitions(path), path in self.marks
        if not made:
            return is_marked_here and handed_in(path, self.scope, self.nodes) is not None
        return is_marked_here or any(may_be_marked(node) for node in made)

    def _has_none(self, path: str, leaves: set[str]) -> bool:
        """Whether a tensor certainly gets no gradient: nobody asked for one, or it was computed and is no leaf."""
        if path in self.frozen:
            return True
        made = self._definitions(path)
        calls = [n.value for n in made if isinstance(n.value, ast.Call)]
        plain = len(calls) == len(made) and all(self.oracle.kind(call.func).name == "api" for call in calls)
        return bool(made) and (plain or path in self._derived({root(leaf) for leaf in leaves}))

    def _body(self, block: list[ast.stmt], index: int, loss: ast.expr, leaves: set[str]) -> list[ast.stmt]:
        """Return the statements before ``index`` that lead from the leaves to the loss."""
        roots = {root(path) for path in leaves}
        derived = self._derived(roots)
        needed = reads(loss)
        body: list[ast.stmt] = []
        bound: set[str] = set()
        for statement in reversed(block[:index]):
            here = self._binds(statement)
            if statement in self.hooks:
                continue
            if not here & needed or is_no_grad(statement) or (here & roots and not here & derived):
                continue
            if not reads(statement) & (roots | derived) and not here & bound:
                continue
            simple = isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr))
            if not simple and not isinstance(statement, (ast.For, ast.While, ast.If)) and not is_enable_grad(statement):
                raise Refused
            if not simple and any(
                isinstance(n, _JUMPS) or (isinstance(n, ast.Call) and self._is_gradient(n)) for n in walk(statement)
            ):
                raise Refused
            if here & roots:
                raise Refused
            body.insert(0, statement)
            bound |= here
            needed = (needed - certain_binds([statement])) | reads(statement)
        entering = live_in([*body, ast.Expr(loss)])
        if entering & derived or entering & bound:
            raise Refused
        return body

    def _derived(self, roots: set[str], line: float = math.inf) -> set[str]:
        """Return the names that may hold values computed from the leaves, wherever in the scope above a line."""
        found: set[str] = set()
        kinds = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.Expr)
        simple = [n for n in self.nodes if isinstance(n, kinds) and n.lineno < line]
        simple = [n for n in simple if not any(map(is_no_grad, self._around(n)))]
        for _ in range(len(simple) + 1):
            before = len(found)
            for node in simple:
                value = node.iter if isinstance(node, ast.For) else node
                if reads(value) & (roots | found):
                    targets = self._binds(node.target) if isinstance(node, ast.For) else self._binds(node)
                    found |= targets - roots
            if len(found) == before:
                break
        return found

    def _place(self, unit: LeafUnit) -> None:
        """Decide where the gradient is computed, and whether the body leaves its place."""
        block = unit.block
        end = block.index(unit.statement)
        carried = set().union(*(self._binds(statement) for statement in unit.body)) if unit.body else set()
        entering = set(live_in([*unit.body, ast.Expr(unit.loss)])) | {root(path) for path in unit.leaves}
        if unit.body:
            first, last = block.index(unit.body[0]), block.index(unit.body[-1])
            others = [i for i in range(first, end) if block[i] not in unit.body and block[i] not in self.hooks]
            if any(self._binds(block[i]) & entering & self._read_before(i, unit) for i in others):
                raise Refused
            touching = [i for i in others if (reads(block[i]) | self._binds(block[i])) & carried]
            if self._can_rise(unit, touching, [i for i in others if touching and i >= touching[0]], carried | entering):
                unit.at = block[touching[0]]
            elif any(i < last for i in touching) or any(self._binds(block[i]) & carried for i in touching):
                self._stay(unit)
            elif touching:
                unit.at = block[last + 1]
                in_place = unit.seed is not None or not unit.is_backward  # autograd.grad stays in its statement
                if in_place or any(n in self.grads for i in touching for n in walk(block[i])):
                    self._stay(unit)
        if unit.is_moved:
            inside = {id(n) for s in [*unit.body, unit.inner or unit.statement] for n in walk(s)}
            if unit.body and not self._loops(unit.statement):  # what the scope itself reads above is another value
                inside |= {id(n) for n in self.nodes if getattr(n, "lineno", 0) < unit.body[0].lineno}
            read = {n.id for n in walk(self.scope) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Store)
                    and id(n) not in inside}  # fmt: skip
            if isinstance(self.scope, ast.Module):
                read |= certain_binds(unit.body)  # a name of the module, which others may read
            unit.aux = self._in_order(carried & read)

    def _can_rise(self, unit: LeafUnit, touching: list[int], others: list[int], names: set[str]) -> bool:
        """Whether the gradient may be computed before what reads a part of the body in between, a prediction say."""
        block, last = unit.block, unit.block.index(unit.body[-1])
        between = [i for i in touching if i < last]
        if not between or unit.seed or not unit.is_backward or any(self._binds(block[i]) & names for i in others):
            return False
        if any(n in self.grads for i in touching for n in walk(block[i])):
            return False
        later = [s for s in unit.body if block.index(s) > between[0]]
        made = set().union(*(self._binds(s) for s in later))
        return all(isinstance(s, ast.Assign) for s in later) and not any(reads(block[i]) & made for i in between)

    def _read_before(self, place: int, unit: LeafUnit) -> set[str]:
        """Return the names that the body reads in front of a place of its block: it runs behind that, once moved."""
        return set().union(*(reads(s) | self._binds(s) for s in unit.body if unit.block.index(s) < place))

    def _stay(self, unit: LeafUnit) -> None:
        """Compute the body twice, where that gives the same twice."""
        if not all(gives_the_same(statement, self.nodes, self.oracle) for statement in unit.body):
            raise Refused
        unit.is_moved, unit.aux, unit.at = False, [], unit.statement

    # ---- names, accumulation, what goes

    def _enter(self, units: list[LeafUnit]) -> None:
        backwards = [unit for unit in units if unit.is_backward]
        starts: dict[ast.stmt, list[str]] = {}
        names: dict[str, str] = {}
        without: set[ast.Attribute] = set()
        for path in dict.fromkeys(path for unit in backwards for path in unit.leaves):
            names[path] = self.names.fresh(path.replace(".", "_") + "_grad", path.replace(".", "_") + "_gradient")
            own = [unit for unit in backwards if path in unit.leaves]
            repeated = self._is_repeated(own[0], path)
            for unit in own:
                is_added = not self.plan.is_unread and not self._is_clear(unit, path, own, repeated=repeated)
                unit.accumulates = unit.accumulates or is_added
                unit.fresh |= set() if is_added else {path}
            places = [n for n in self.grads if dotted_path(n.value) == path]
            anew = {n for n in places if self._is_anew(n, path, own)}
            without |= anew
            early = any(n.lineno < own[0].statement.lineno for n in places) or self._is_uncertain(own[0], places)
            if (early and "." in path) or any(self._is_uncertainly_anew(n, path) for n in anew):
                raise Refused  # nothing is seen to come before the first read
            if early or any(unit.accumulates for unit in own):
                starts.setdefault(self._start(path, own[0]), []).append(names[path])
        kept = {path: grad for unit in units for path, (grad, _) in unit.kept.items()}
        for node in self.grads:
            path = dotted_path(node.value) or ""
            if path in kept:
                self.plan.names[node] = kept[path]
                continue
            if self.oracle.kind(node).name != "api" and path not in names:
                known = self._definitions(path) or path in self.frozen
                if not known or not isinstance(node.ctx, ast.Load):
                    raise Refused
                self.plan.names[node] = "None"  # a tensor that nothing differentiated depends on
        for unit in units:
            unit.forward_name = self.names.fresh("forward_fn")
            self.plan.scope_of[id(unit)] = self.scope
            if unit.inner is not None:
                stem = f"{unit.tensors[0]}_grad" if len(unit.tensors) == 1 else "grad"
                unit.name = self.names.fresh(stem, f"{stem}s", f"{stem}ients")
                self.plan.inner[unit.inner] = unit.name
        self.plan.units.extend(units)
        self.plan.starts.update(starts)
        self.plan.grad_names.update(((self.scope, path), name) for path, name in names.items())
        for node in self.grads:
            if dotted_path(node.value) in names:
                self.plan.names[node] = "None" if node in without else names[dotted_path(node.value) or ""]
        for unit in units:
            self.plan.gone.update(unit.body if unit.is_moved else ())
        self._enter_loops(self.looped, names, units)
        self._marks({path for unit in units for path in unit.leaves})

    def _marks(self, leaves: set[str]) -> None:
        """Note what only says that gradients are wanted, and what sets them to zero."""
        for node in self.nodes:
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                func = node.value.func
                if (
                    isinstance(func, ast.Attribute)
                    and func.attr == "requires_grad_"
                    and dotted_path(func.value) in leaves
                ):
                    self.plan.gone.add(node)
                else:
                    self._reset(node, zeroed(node, self.plan.names))
            elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Attribute):
                target = node.targets[0]
                if target.attr == "requires_grad" and dotted_path(target.value) in leaves:
                    self.plan.gone.add(node)
                elif isinstance(node.value, ast.Constant) and target in self.plan.names:
                    self._reset(node, target)
            called = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
            if called == "requires_grad_" and not isinstance(self.parents[id(node)], ast.Expr):
                self.plan.plain.add(node)

    def _reset(self, node: ast.stmt, gradient: ast.Attribute | None) -> None:
        """Note a statement that sets a gradient to nothing; it goes where nobody looks until the next one comes."""
        if gradient is None or node in self.plan.gone:
            return
        name = self.plan.names[gradient]
        own = [unit for unit in self.plan.units if dotted_path(gradient.value) in unit.leaves]
        read = [n for n, other in self.plan.names.items() if other == name and n is not gradient]
        first = min(unit.statement.lineno for unit in own)
        unseen = all(first < n.lineno < node.lineno for n in read if isinstance(n, ast.Attribute))
        if unseen and not any(unit.accumulates for unit in own):
            self.plan.gone.add(node)
        elif isinstance(node, ast.Expr):
            self.plan.resets[node] = name

    def _is_repeated(self, unit: LeafUnit, path: str) -> bool:
        """Whether the gradient is computed again and again for the same leaf."""
        loops, made = self._loops(unit.statement), self._definitions(path)
        giver = None if made else handed_in(path, self.scope, self.nodes)
        loops = loops[: loops.index(giver)] if giver in loops else loops
        return any(not any(loop in self._loops(node) for node in made) for loop in loops)

    def _is_uncertain(self, unit: LeafUnit, places: Sequence[ast.AST]) -> bool:
        """Whether a gradient is read where the backward call may not have run."""
        parent = self.parents.get(id(unit.statement))
        if isinstance(parent, (ast.For, ast.While)):
            end = parent.end_lineno or 0
            return any(isinstance(node, ast.Attribute) and node.lineno > end for node in places)
        return isinstance(parent, (ast.If, ast.Try))

    def _is_clear(self, unit: LeafUnit, path: str, own: list[LeafUnit], *, repeated: bool) -> bool:
        """Whether there is certainly no gradient yet, or none any more, when the backward call runs."""
        block, place = unit.block, unit.block.index(unit.statement)
        if unit is own[0] and not repeated:
            return True
        if any(other.block is not block for other in own):
            return False
        places = sorted(block.index(other.statement) for other in own)
        earlier = [other for other in places if other < place]
        between = block[earlier[-1] + 1 : place] if earlier else [*block[places[-1] + 1 :], *block[:place]]
        return any(self._clears(statement, path) for statement in between)

    def _start(self, path: str, unit: LeafUnit) -> ast.stmt:
        """Return the statement behind which the gradient is nothing yet."""
        made = self._definitions(path)
        if "." in path or not made:
            loops = self._loops(unit.statement)
            place = loops[-1] if loops else unit.statement
            block = self.blocks.get(id(place), [])
            index = block.index(place) if place in block else 0
            if index == 0:
                raise Refused
            return block[index - 1]
        before = [node for node in made if node.lineno < unit.statement.lineno]
        around = [unit.statement, *self._around(unit.statement)]
        if not before or not any(node in around for node in self.blocks[id(before[-1])]):
            raise Refused
        return before[-1]

    def _around(self, node: ast.AST) -> list[ast.AST]:
        found: list[ast.AST] = []
        while id(node) in self.parents:
            node = self.parents[id(node)]
            found.append(node)
        return found
