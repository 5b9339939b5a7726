"""Gradients that a program asks for itself: the plans of ``training.leaves``, written on the rewritten statements."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.effects.differentiated_arguments import handed
from torch2ms.translator.effects.gradient_hooks import hooked, is_retained
from torch2ms.translator.rules.calls.input_gradients import NetworkInput, network_input
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.syntax.cst_builders import code_of, parenthesised, parse_expression
from torch2ms.translator.training.leaf_model import LeafPlan, LeafUnit
from torch2ms.translator.training.plan.leaf_loops import Updater
from torch2ms.translator.training.write.outputs import is_no_output

__all__ = ["LeafWriter", "over_gradients", "with_gradients"]

Statement = Any


class LeafWriter:
    """Writes the functions and the gradient calls of a plan where it wants them."""

    def __init__(self, plan: LeafPlan, rewritten: Mapping[ast.stmt, list[Statement]], ctx: Context) -> None:
        self.plan, self.rewritten, self.ctx = plan, rewritten, ctx

    def before(self, tree: ast.stmt, *, first: bool) -> list[Statement]:
        """Return what stands in front of a statement."""
        made: list[Statement] = []
        for unit in self.plan.units:
            if unit.at is tree:
                made.extend(self._definition(unit, at_start=first and not made))
                if unit.is_backward and unit.at is not unit.statement:
                    made.extend(self._spaced(unit, self._gradient(unit)))
        return made

    def _spaced(self, unit: LeafUnit, lines: list[Statement]) -> list[Statement]:
        """Return lines that follow a function, with blank ones between."""
        top = unit.block is self.ctx.analysis.tree.body
        own = list(lines[0].leading_lines)
        while own and own[0].comment is None:
            own.pop(0)
        blank = [cst.EmptyLine(indent=False)] * (2 if top else 1)
        return [lines[0].with_changes(leading_lines=[*blank, *own]), *lines[1:]]

    def own(self, tree: ast.stmt, updated: list[Statement], gone: Callable[[list[Statement]], list[Statement]],
            like: Callable[[list[Statement], list[Statement]], list[Statement]]) -> list[Statement] | None:  # fmt: skip
        """Return what a statement becomes, None for one that the plan does not touch."""
        units = [unit for unit in self.plan.units if unit.statement is tree]
        if units:
            unit = units[0]
            if unit.is_backward and unit.at is not tree:
                return gone(updated)
            lines = like(self._here(units, updated), updated)
            if updated and any(
                one.call in self.plan.lossy or one.call in self.plan.noted for one in units
            ):  # converted, and to be looked at
                lines[0] = lines[0].with_changes(leading_lines=updated[0].leading_lines)
            alone = network_input(unit, self.ctx) is not None  # no function stands in front of it
            return self._spaced(unit, lines) if unit.at is tree and not alone else lines
        if tree in self.plan.gone:
            taken = any(tree in other.body for other in self.plan.units)
            return [] if taken else gone(updated)
        if tree in self.plan.cleared:
            return like(self._cleared(tree, self.plan.cleared[tree]), updated)
        if tree in self.plan.clips:
            return like(self._clip(tree, self.plan.clips[tree]), updated)
        if tree in self.plan.resets:
            name = self.plan.resets[tree]
            zeros = code_of(self.ctx.reference("mindspore.ops.zeros_like"))
            return like(_lines(f"{name} = {zeros}({name})"), updated)
        if tree in self.plan.handing:
            updater, grads = self.plan.handing[tree]
            return [_handing(line, updater, grads, self.plan.taking[updater]) for line in updated]
        if tree in self.plan.starts:
            return [*updated, *(line for name in self.plan.starts[tree] for line in _lines(f"{name} = None"))]
        return None

    def _definition(self, unit: LeafUnit, *, at_start: bool) -> list[Statement]:
        if network_input(unit, self.ctx) is not None:
            self._account(unit)
            return []
        body = [s.deep_clone() for tree in unit.body for s in self._inside(tree, unit)]
        body = [s for s in body if not (isinstance(s, cst.SimpleStatementLine) and not s.body)]
        if body:
            lines = list(body[0].leading_lines)
            while lines and lines[0].comment is None:
                lines.pop(0)
            body[0] = body[0].with_changes(leading_lines=lines)
        body.extend(_lines(f"return {', '.join([self._value(unit), *_returned(unit, self.ctx)])}"))
        head = f"def {unit.forward_name}({_given(unit)}): pass\n"
        made = cst.ensure_type(cst.parse_statement(head), cst.FunctionDef)
        top = unit.block is self.ctx.analysis.tree.body
        blank = [] if at_start else [cst.EmptyLine(indent=False)] * (2 if top else 1)
        self._account(unit)
        whole = made.with_changes(body=cst.IndentedBlock(body), leading_lines=blank)
        return [*(line for _, kept in unit.kept.values() for line in _lines(f"{kept} = []")), whole]

    def _inside(self, tree: ast.stmt, unit: LeafUnit) -> Sequence[Statement]:
        """Return what a statement becomes inside of a function; it may be a gradient itself, or a hook."""
        hook = hooked(tree)
        if hook is not None and is_retained(tree):
            name = ast.unparse(hook.value)
            return _lines(f"{name}.register_hook({unit.kept[name][1]}.append)") if name in unit.kept else []
        units = [unit for unit in self.plan.units if unit.statement is tree]
        before = self.rewritten.get(tree, ())
        made = self._here(units, before)
        if made and before and units:  # the comments in front of the statement
            made[0] = made[0].with_changes(leading_lines=before[0].leading_lines)
        return made

    def _here(self, units: Sequence[LeafUnit], updated: Sequence[Statement]) -> list[Statement]:
        """Return the gradients that a statement asks for, and the statement where it does more than that."""
        lines = [line for unit in units for line in self._gradient(unit)]
        return lines if units and units[0].inner is None else [*lines, *updated]

    def _account(self, unit: LeafUnit) -> None:
        func = unit.call.func
        name = "torch.Tensor.backward" if unit.is_backward else "torch.autograd.grad"
        self.ctx.account(func, name, "mapped", "mindspore.grad")

    def _value(self, unit: LeafUnit) -> str:
        """Return what is differentiated: the loss, or its product with the seed, summed."""
        loss = self._code(unit.loss)
        if unit.seed is None:
            return code_of(loss)
        return f"({code_of(parenthesised(loss))} * {code_of(parenthesised(self._code(unit.seed)))}).sum()"

    def _code(self, tree: ast.expr) -> cst.BaseExpression:
        code = self.ctx.alignment.code(tree)
        if code is None:
            return parse_expression(ast.unparse(tree))
        made = self.ctx.visit_apart(code)
        assert isinstance(made, cst.BaseExpression)
        return made

    def _by_input(self, unit: LeafUnit, found: NetworkInput) -> list[Statement]:
        """Return the gradient of a network by its input, which is differentiated again."""
        parts = [code_of(self._code(part)) for part in (found.call.func, *found.call.args)]
        if found.place:
            parts.append(f"place={found.place}")
        if unit.seed is not None:
            seed = code_of(self._code(unit.seed))
            parts += [] if found.seed is None else [f"seed={seed}"]
        function = code_of(self.ctx.reference("torch2ms.runtime.derivatives.by_input"))
        return self._asked(unit, f"{function}({', '.join(parts)})", "")

    def _gradient(self, unit: LeafUnit) -> list[Statement]:
        found = network_input(unit, self.ctx)
        if found is not None:
            return self._by_input(unit, found)
        extra = _extra(unit)
        wanted = _is_kept(unit)
        name = "value_and_grad" if extra or wanted else "grad"
        parts = [unit.forward_name]
        if unit.is_spread:
            parts.append(f"tuple(range(len({unit.tensors[0]})))")
        elif unit.weights or unit.network or len(unit.tensors) > 1:
            places = (
                "None" if not unit.tensors else "0" if len(unit.tensors) == 1 else str(tuple(range(len(unit.tensors))))
            )
            parts.append(places)
        if unit.network:
            parts.append(self._network_weights(unit))
        elif unit.weights:
            parts.append("[" + ", ".join(self._path(unit, path) for path in unit.weights) + "]")
        if extra:
            parts.append("has_aux=True")
        call = f"{code_of(self.ctx.reference(f'mindspore.{name}'))}({', '.join(parts)})({self._arguments(unit)})"
        loss = unit.loss.id if wanted and isinstance(unit.loss, ast.Name) else "_"
        outputs = f"({', '.join([loss, *_returned(unit, self.ctx)])})" if extra else loss
        if not unit.is_backward:
            return self._asked(unit, call, outputs if name != "grad" else "")
        scope = self.plan.scope_of[id(unit)]
        if unit.network:
            return self._of_network(unit, self.plan.grad_names[(scope, unit.network)], call, outputs, name)
        grads = [self.plan.grad_names[(scope, path)] for path in unit.leaves]
        added = [unit.accumulates and path not in unit.fresh for path in unit.leaves]
        new = [f"new_{grad}" if adds else grad for grad, adds in zip(grads, added, strict=True)]
        targets = _targets(new[: len(unit.tensors)], new[len(unit.tensors) :])
        cut = self._leaves_function(scope, grads)
        stop = code_of(self.ctx.reference("mindspore.ops.stop_gradient")) if cut else ""
        if cut and name == "grad" and len(new) == 1:
            call, cut = f"{stop}({call})", False
        text = f"{outputs}, {_whole(targets)} = {call}\n" if name != "grad" else f"{targets} = {call}\n"
        text += "".join(f"{grad} = {stop}({grad})\n" for grad in new if cut)
        text += "".join(f"{grad} = {kept}[-1]\n" for grad, kept in unit.kept.values())
        pairs = [(g, n) for g, n in zip(grads, new, strict=True) if g != n]
        text += "".join(f"{g} = {n} if {g} is None else {g} + {n}\n" for g, n in pairs)
        return _lines(text)

    def _arguments(self, unit: LeafUnit) -> str:
        """Return what a unit's function is called with."""
        return _given(unit) if unit.is_spread else handed(unit.tensors, self.plan.scope_of[id(unit)], self.ctx)

    def _network_weights(self, unit: LeafUnit) -> str:
        """Return the code of the weights of a network that are differentiated by."""
        if isinstance(unit.asked, (ast.List, ast.Tuple)):
            return code_of(self._code(unit.asked))
        return f"{unit.network}.trainable_params()"

    def _of_network(self, unit: LeafUnit, grads: str, call: str, outputs: str, name: str) -> list[Statement]:
        """Return the gradient call for all the weights of a network."""
        target = f"new_{grads}" if unit.accumulates else grads
        if unit.tensors:
            scope = self.plan.scope_of[id(unit)]
            own = [self.plan.grad_names[(scope, path)] for path in unit.tensors]
            target = f"{own[0] if len(own) == 1 else '(' + ', '.join(own) + ')'}, {target}"
            target = f"({target})" if name != "grad" else target
        text = f"{outputs}, {target} = {call}\n" if name != "grad" else f"{target} = {call}\n"
        if unit.accumulates:
            add = code_of(self.ctx.reference("torch2ms.runtime.autograd.accumulate"))
            text += f"{grads} = {add}({grads}, {target})\n"
        return _lines(text)

    def _cleared(self, tree: ast.stmt, grads: str) -> list[Statement]:
        """Return ``zero_grad()`` of a network: its gradients are None, or zeros where the call asks for them."""
        call = tree.value if isinstance(tree, ast.Expr) else None
        kept = isinstance(call, ast.Call) and "set_to_none=False" in ast.unparse(call)
        if not kept:
            return _lines(f"{grads} = None")
        return _lines(f"{grads} = {code_of(self.ctx.reference('torch2ms.runtime.autograd.zeroed'))}({grads})")

    def _clip(self, tree: ast.stmt, grads: str) -> list[Statement]:
        """Return the clipping of a network's gradients, which are bound anew."""
        assert isinstance(tree, (ast.Expr, ast.Assign))
        assert isinstance(tree.value, ast.Call)
        call = tree.value
        name = "clip_grad_norm" if ast.unparse(call.func).endswith("norm_") else "clip_grad_value"
        self.ctx.account(call.func, f"torch.nn.utils.{name}_", "mapped", f"torch2ms.runtime.autograd.{name}")
        rest = [code_of(self._code(arg)) for arg in call.args[1:]]
        rest += [f"{keyword.arg}={code_of(self._code(keyword.value))}" for keyword in call.keywords]
        made = f"{code_of(self.ctx.reference(f'torch2ms.runtime.autograd.{name}'))}({', '.join([grads, *rest])})"
        norm = ast.unparse(tree.targets[0]) if isinstance(tree, ast.Assign) else "_"
        return _lines(f"{grads}, {norm} = {made}" if name == "clip_grad_norm" else f"{grads} = {made}")

    def _target(self, unit: LeafUnit) -> tuple[ast.expr, ast.expr]:
        """Return what the gradient is assigned to, and the call, with an index behind it."""
        if unit.inner is not None:
            return ast.Name(unit.name), unit.inner
        assert isinstance(unit.statement, ast.Assign)
        return unit.statement.targets[0], unit.statement.value

    def _asked(self, unit: LeafUnit, call: str, outputs: str) -> list[Statement]:
        """Return the assignment of ``autograd.grad``, whose result is a tuple even of one gradient."""
        target, value = self._target(unit)
        text = ", ".join(map(ast.unparse, target.elts)) if isinstance(target, ast.Tuple) else ast.unparse(target)
        single = _is_single(unit)
        if single and isinstance(target, (ast.Tuple, ast.List)):
            text, single = ast.unparse(target.elts[0]), False
        elif isinstance(value, ast.Subscript):
            single = False
        cut = self._is_constant(unit)
        none = _missing(unit, target, text)
        stop = code_of(self.ctx.reference("mindspore.ops.stop_gradient")) if cut else ""
        if not outputs:
            if cut:
                call = f"{stop}({call})" if _is_single(unit) else f"tuple(map({stop}, {call}))"
            return _lines((f"{text} = ({call},)" if single else f"{text} = {call}") + none)
        if cut:
            several = f"{text} = map({stop}, {text if isinstance(target, ast.Name) else f'({text})'})"
            after = f"{text} = {stop}({text})\n" if _is_single(unit) else f"{several}\n"
        else:
            after = ""
        if isinstance(target, ast.Tuple) and len(target.elts) > 1:
            text = f"({text})"
        lines = f"{outputs}, {text} = {call}\n"
        return _lines(lines + after + (f"{text} = ({text},)\n" if single else "") + none)

    def _is_constant(self, unit: LeafUnit) -> bool:
        """Whether the gradient must be cut off: PyTorch's is a constant, unless it is asked for a graph of it.

        At the top of a script nothing differentiates it; a function may be called in somebody's forward pass.
        """
        if unit.call.keywords and any(k.arg == "create_graph" for k in unit.call.keywords):
            return False
        scope = self.plan.scope_of[id(unit)]
        if unit.inner is not None:
            return isinstance(scope, ast.FunctionDef) and not self._is_cut(unit.inner)
        assert isinstance(unit.statement, ast.Assign)
        names = {node.id for target in unit.statement.targets for node in walk(target) if isinstance(node, ast.Name)}
        return isinstance(scope, ast.FunctionDef) and not all(
            self._is_cut(node) for node in walk(scope)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names
        )  # fmt: skip

    def _leaves_function(self, scope: ast.AST, grads: list[str]) -> bool:
        """Whether a caller of the function may differentiate what it computes of gradients, which are constants."""
        if not isinstance(scope, ast.FunctionDef) or not _gives_back(scope):
            return False
        names = self.plan.names
        return not all(self._is_cut(node) for node in walk(scope) if node in names and names[node] in grads)

    def _is_cut(self, node: ast.AST) -> bool:
        """Whether a use of a gradient lets none through: ``g.detach()``, ``g.sign()``, ``torch.sign(g)``."""
        parent = self.ctx.parent(node)
        words = ("detach", "data", "sign", "numpy", "item")
        if isinstance(parent, ast.Attribute):
            return parent.attr in words
        return isinstance(parent, ast.Call) and ast.unparse(parent.func).rpartition(".")[2] == "sign"

    def _path(self, unit: LeafUnit, path: str) -> str:
        """Return the translated path of a weight."""
        for node in self.plan.names:
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == path:
                return code_of(self._code(node.value))
        return path


def _is_single(unit: LeafUnit) -> bool:
    return len(unit.tensors) == 1 and not unit.is_spread


def _given(unit: LeafUnit) -> str:
    """Return the parameters of a unit's function."""
    return f"*{unit.tensors[0]}" if unit.is_spread else ", ".join(unit.tensors)


def _missing(unit: LeafUnit, target: ast.expr, text: str) -> str:
    """Return the lines that make None of gradients by tensors that the output does not depend on."""
    if not unit.missing:
        return ""
    if isinstance(target, (ast.Tuple, ast.List)):
        return "".join(f"\n{ast.unparse(target.elts[place])} = None" for place in unit.missing)
    count = range(len(unit.tensors))
    return f"\n{text} = ({', '.join('None' if place in unit.missing else f'{text}[{place}]' for place in count)})"


def _is_kept(unit: LeafUnit) -> bool:
    """Whether the value of what is differentiated is used afterwards."""
    return isinstance(unit.loss, ast.Name) and unit.loss.id in unit.aux and unit.seed is None


def _extra(unit: LeafUnit) -> list[str]:
    """Return the names of the body that are needed besides the value."""
    if _is_kept(unit) and isinstance(unit.loss, ast.Name):
        return [name for name in unit.aux if name != unit.loss.id]
    return unit.aux


def _returned(unit: LeafUnit, ctx: Context) -> list[str]:
    """Return what the function returns besides the value; in a tuple what MindSpore would not take for an output."""
    names = _extra(unit)
    if not names or not all(is_no_output(name, unit.body, ctx) for name in names):
        return list(names)
    return [f"({', '.join(names)}{',' if len(names) == 1 else ''})"]


def _targets(tensors: Sequence[str], weights: Sequence[str]) -> str:
    """Return the targets of the gradients as MindSpore nests them."""
    inner = ", ".join(weights) + ("," if len(weights) == 1 else "")
    if not tensors:
        return f"({inner})" if len(weights) == 1 else inner
    outer = tensors[0] if len(tensors) == 1 else ", ".join(tensors)
    if not weights:
        return outer
    return f"{outer}, ({inner})" if len(tensors) == 1 else f"({outer}), ({inner})"


def _whole(targets: str) -> str:
    return targets if targets.isidentifier() or (targets.startswith("(") and targets.endswith(")")) else f"({targets})"


def _lines(text: str) -> list[Statement]:
    return list(cst.parse_module(text).body)


def _gives_back(scope: ast.AST) -> bool:
    """Whether a function returns a value, in which its caller may differentiate."""
    return any(isinstance(node, ast.Return) and node.value is not None for node in walk(scope))


def _handing(line: Statement, updater: Updater, grads: str, parameter: str) -> Statement:
    """Return a call of a function with the gradients of the leaves that it is handed."""
    call = cst.ensure_type(cst.ensure_type(line.body[0], cst.Expr).value, cst.Call)
    made = parse_expression(grads)
    plain = [arg for arg in call.args if arg.keyword is None]
    if len(plain) > updater.place:
        place = updater.place + 1
        args = [*call.args[:place], cst.Arg(made), *call.args[place:]]
    else:
        name = cst.Name(parameter)
        equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
        args = [*call.args, cst.Arg(made, keyword=name, equal=equal)]
    return line.with_changes(body=[cst.Expr(call.with_changes(args=args))])


def with_gradients(updated: cst.FunctionDef, tree: ast.AST, plan: LeafPlan) -> cst.FunctionDef:
    """Return a function with the parameter for the gradients of the leaves it goes over."""
    found = next(((one.place, name) for one, name in plan.taking.items() if one.node is tree), None)
    if found is None:
        return updated
    place, name = found
    given = updated.params.params
    new = [*given[: place + 1], cst.Param(cst.Name(name)), *given[place + 1 :]]
    return updated.with_changes(params=updated.params.with_changes(params=new))


def over_gradients(updated: cst.For, tree: ast.AST, plan: LeafPlan) -> cst.For:
    """Return a loop over leaves that goes over their gradients, too."""
    if tree not in plan.zipped:
        return updated
    name, grads = plan.zipped[tree]
    target = cst.Tuple([cst.Element(updated.target), cst.Element(cst.Name(name))], lpar=[], rpar=[])
    over = parse_expression(f"zip({code_of(updated.iter)}, {grads})")
    return updated.with_changes(target=target, iter=over)
