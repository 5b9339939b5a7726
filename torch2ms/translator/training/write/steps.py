"""Training steps: one backward statement and its slice become ``value_and_grad`` of a function.

``translator.training`` plans every unit on the analysed tree; this pass writes the plans on the rewritten statements.
Inner blocks are rewritten before outer ones, so that the statements of a slice are at hand when the function that takes
them in is written in front of the loop.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import libcst as cst

from torch2ms.translator.context import Context
from torch2ms.translator.effects.differentiated_arguments import handed
from torch2ms.translator.rules.statements.comment_lines import comments, like, spaced, without_blank, without_lines
from torch2ms.translator.rules.training_units import translated, weights_of
from torch2ms.translator.syntax.ast_walk import walk
from torch2ms.translator.syntax.cst_builders import code_of
from torch2ms.translator.training.find.manual_updates import gradients_of
from torch2ms.translator.training.find.scope import is_formal
from torch2ms.translator.training.model import Clip, ScalerCall, Step, TrainingUnit
from torch2ms.translator.training.plan.file_plan import TrainingPlan
from torch2ms.translator.training.write.leaf_gradients import LeafWriter
from torch2ms.translator.training.write.outputs import is_output
from torch2ms.translator.training.write.recorded import UNSCALED, write_recorded

__all__ = ["rewrite_block"]

Statement = Any  # a libcst statement; blocks hold simple and compound ones alike


def rewrite_block(
    results: Sequence[tuple[Statement, list[Statement]]], trees: Sequence[ast.stmt], ctx: Context
) -> list[Statement]:
    """Return the statements of a block, its training steps rewritten."""
    plan = ctx.training
    if not plan.changes and not plan.leaves.units and not plan.starts:
        return [new for _, updated in results for new in updated]
    writer = _Writer(plan, ctx)
    block: list[Statement] = []
    found = [(ctx.statement_tree(node), updated) for node, updated in results]
    # First all of them: a function written in front of a statement may take in statements that follow.
    plan.rewritten.update((tree, updated) for tree, updated in found if tree is not None)
    for tree, updated in found:
        block.extend(writer.statement(tree, updated, first=not block) if tree is not None else updated)
    return block


class _Writer:
    """Writes the parts of training units where the plan wants them."""

    def __init__(self, plan: TrainingPlan, ctx: Context) -> None:
        self.plan = plan
        self.ctx = ctx
        self.leaves = LeafWriter(plan.leaves, plan.rewritten, ctx)

    def statement(self, tree: ast.stmt, updated: list[Statement], *, first: bool) -> list[Statement]:
        """Return what stands in the place of one statement."""
        plan = self.plan
        before: list[Statement] = []
        if tree in plan.starts:
            start = self._lines(f"{code_of(self.ctx.reference('torch2ms.runtime.recording.start'))}()")
            before.append(spaced(start[0], int(tree in self.ctx.analysis.tree.body)))
        for name in plan.unset.get(tree, ()):
            # Not None: value_and_grad takes a function that returns a loss and None for one without aux.
            before.extend(self._lines(f"{name} = ()"))
        for unit in plan.accumulators.get(tree, ()):
            before.extend(self._lines(f"{unit.grads_name} = None"))
        for unit in plan.hoists.get(tree, ()):
            before.extend(self._definition(unit, at_start=first and not before))
        for unit in plan.calls.get(tree, ()):
            before.extend(self._gradient(unit))
        before.extend(self.leaves.before(tree, first=first and not before))
        own = self.leaves.own(tree, updated, comments, like)
        own = self._own(tree, updated) if own is None else own
        if before and own and plan.hoists.get(tree):
            own = [spaced(own[0], 1), *own[1:]]
        return [*before, *own]

    def _own(self, tree: ast.stmt, updated: list[Statement]) -> list[Statement]:
        plan = self.plan
        if tree in plan.recorded:
            made = write_recorded(plan.recorded[tree], self._code, self._weights, self.ctx)
            stays = any(c.kind == "hand" or (c.clip is not None and c.clip.is_inside) for c in plan.recorded[tree])
            return like([*made, *(without_lines(updated) if stays else ())], updated)
        if tree in plan.late:
            return like(self._lines(self._addition(plan.late[tree])), updated)
        if tree in plan.resets:
            return like(self._lines(f"{plan.resets[tree].grads_name} = None"), updated)
        if isinstance(tree, ast.If) and self._is_empty(tree, updated):
            return comments(updated)
        if tree in plan.gone:
            return [] if tree in plan.taken else comments(updated)
        if tree in plan.steps and plan.steps[tree][1].by_hand:
            return [self._by_hand(*plan.steps[tree], updated[-1])]
        if tree in plan.steps:
            return like(self._update(*plan.steps[tree]), updated)
        if tree in plan.unscaling:
            return like(self._unscaled(*plan.unscaling[tree]), updated)
        if tree in plan.clips:
            made = self._clip(*plan.clips[tree])
            return like([*made, *(without_lines(updated) if plan.clips[tree][1].is_inside else ())], updated)
        return updated

    def _is_empty(self, tree: ast.If, updated: list[Statement]) -> bool:
        """Whether a conditional loses all its statements, and asks nothing that could have an effect."""
        if not all(s in self.plan.gone for s in (*tree.body, *tree.orelse)) or len(updated) != 1:
            return False
        if is_formal(tree, tree.body):
            return True
        asks = any(isinstance(node, (ast.Call, ast.NamedExpr, ast.Await)) for node in walk(tree.test))
        return not asks and "#" not in code_of(updated[0].with_changes(leading_lines=[]))

    def _lines(self, text: str) -> list[Statement]:
        return list(cst.parse_module(text).body)

    # ---- the pieces

    def _code(self, tree: ast.expr) -> str:
        return translated(tree, self.ctx)

    def _weights(self, unit: TrainingUnit) -> str:
        return weights_of(unit, self.ctx)

    def _grad_fn(self, unit: TrainingUnit) -> str:
        aux = ", has_aux=True" if unit.aux else ""
        scaler = f", scaler={self._code(unit.scaler)}" if unit.scaler is not None else ""
        target = "mindspore.value_and_grad" if unit.scaler is None else "torch2ms.runtime.amp.value_and_grad"
        callee = code_of(self.ctx.reference(target))
        return f"{callee}({unit.forward_name}, None, {self._weights(unit)}{aux}{scaler})"

    def _definition(self, unit: TrainingUnit, *, at_start: bool) -> list[Statement]:
        body: list[Statement] = [s for tree in unit.body for s in self._in_body(tree, unit)]
        body = [s for s in body if not (isinstance(s, cst.SimpleStatementLine) and not s.body)]
        if body:
            body[0] = without_blank(body[0])
        values = ", ".join([self._code(unit.loss), *self._aux(unit)])
        body.extend(self._lines(f"return {values}"))
        made = cst.ensure_type(cst.parse_statement(f"def {unit.forward_name}({', '.join(unit.parameters)}): pass\n"),
                               cst.FunctionDef)  # fmt: skip
        top = unit.hoist.statements is self.ctx.analysis.tree.body
        lines = [] if at_start else [cst.EmptyLine(indent=False)] * (2 if top else 1)
        made = made.with_changes(body=cst.IndentedBlock(body), leading_lines=lines)
        self.ctx.report("T2M401", unit.backward, f"the training step became {unit.forward_name} and value_and_grad")
        self._account_scaling(unit)
        for note in unit.notes:
            self.ctx.report("T2M303", unit.backward, note)
        if unit.scaler is not None and unit.is_kept and unit.reads:
            self.ctx.report("T2M303", unit.backward, UNSCALED)
        if unit.inline_grad:
            return [made]
        grad = self._lines(f"{unit.grad_name} = {self._grad_fn(unit)}")
        return [made, spaced(grad[0], 2 if top else 1)]

    def _in_body(self, tree: ast.stmt, unit: TrainingUnit) -> Sequence[Statement]:
        """Return a statement of forward_fn; networks that it runs for the second time keep their statistics."""
        made = self.plan.rewritten.get(tree, ())
        if tree in unit.removed or not made:
            return made
        called = [node.func for node in walk(tree) if isinstance(node, ast.Call)]
        networks = dict.fromkeys(self._code(func) for func in called if self.ctx.kind(func).name == "Module")
        if not networks:
            return made
        keep = code_of(self.ctx.reference("torch2ms.runtime.resets.kept_statistics"))
        head = cst.ensure_type(cst.parse_statement(f"with {keep}({', '.join(networks)}): pass\n"), cst.With)
        return [head.with_changes(body=cst.IndentedBlock([without_blank(made[0]), *made[1:]]))]

    def _aux(self, unit: TrainingUnit) -> list[str]:
        """Return what forward_fn returns besides the loss; packed where MindSpore would not take it for an output.

        ``value_and_grad`` counts tensors and containers alone, and refuses a function that returns a loss and a number.
        """
        plain = unit.aux and not any(is_output(name, unit.body, unit.parameters, self.ctx) for name in unit.aux)
        return [f"({', '.join(unit.aux)}{',' if len(unit.aux) == 1 else ''})"] if plain else list(unit.aux)

    def _gradient(self, unit: TrainingUnit) -> list[Statement]:
        function = self._grad_fn(unit) if unit.inline_grad else unit.grad_name
        target = ", ".join([unit.loss_name, *self._aux(unit)])
        pair = f"({target})" if unit.aux else target
        arguments = handed(unit.parameters, unit.scope, self.ctx)
        if unit.gradient == "assign":
            code = f"{pair}, {unit.grads_name} = {function}({arguments})\n"
        else:
            code = f"{pair}, new_{unit.grads_name} = {function}({arguments})\n"
        builds_up = unit.gradient == "accumulate" and not unit.is_late
        if builds_up:
            code += self._addition(unit)
        if self.ctx.world.symbols.is_data_parallel:
            # the sum is averaged: what a pass within no_sync() has left of this process as well
            function = "average_accumulated" if builds_up else "average_gradients"
            average = code_of(self.ctx.reference(f"torch2ms.runtime.distributed.{function}"))
            name = unit.grads_name if unit.gradient == "assign" or builds_up else f"new_{unit.grads_name}"
            code += f"{name} = {average}({name})\n"
        if unit.gradient == "add" and not unit.is_late:
            code += self._addition(unit)
        if unit.guard is not None:
            inner = "".join(f"    {line}\n" for line in code.splitlines())
            code = f"if {self._code(unit.guard)}:\n{inner}else:\n    {target} = {unit.forward_name}({arguments})\n"
        return self._lines(code)

    def _account_scaling(self, unit: TrainingUnit) -> None:
        """Account for what a step asked of apex: the scaled loss, and the parameters that its gradients are of."""
        for statement in (unit.backward, *unit.dropped, *(clip.statement for clip in unit.clips)):
            for node in walk(statement):
                if self.ctx.kind(node).of in ("apex.amp.scale_loss", "apex.amp.master_params"):
                    self.ctx.account(node, self.ctx.kind(node).of, "removed")

    def _addition(self, unit: TrainingUnit) -> str:
        add = code_of(self.ctx.reference("torch2ms.runtime.autograd.accumulate"))
        return f"{unit.grads_name} = {add}({unit.grads_name}, new_{unit.grads_name})\n"

    def _update(self, unit: TrainingUnit, step: Step) -> list[Statement]:
        optimizer = self._code(step.optimizer)
        grads = self._grads_of(optimizer, unit)
        if step.returned:
            assert isinstance(step.statement, ast.Return)
            assert step.statement.value is not None
            return self._lines(f"return {self._code(step.statement.value)}, {grads}\n")
        if step.scaler is None:
            return self._where_there_are(unit, f"{optimizer}({grads})")
        self._account_scaler(step.call, "step")
        return self._where_there_are(unit, f"{self._code(step.scaler)}.step({optimizer}, {grads})")

    def _grads_of(self, optimizer: str, unit: TrainingUnit) -> str:
        """Return the gradients of the weights of one of the optimizers."""
        names = [self._code(node) for node in unit.optimizers]
        if len(names) == 1:
            return unit.grads_name
        position = names.index(optimizer)
        start = " + ".join(f"len({name}.parameters)" for name in names[:position])
        stop = " + ".join(f"len({name}.parameters)" for name in names[: position + 1])
        return f"{unit.grads_name}[{start}:{stop}]" if position < len(names) - 1 else f"{unit.grads_name}[{start}:]"

    def _where_there_are(self, unit: TrainingUnit, call: str) -> list[Statement]:
        """Return a call that takes the gradients, which may be None where they build up."""
        if unit.gradient == "accumulate":
            return self._lines(f"if {unit.grads_name} is not None:\n    {call}\n")
        return self._lines(f"{call}\n")

    def _unscaled(self, unit: TrainingUnit, call: ScalerCall) -> list[Statement]:
        """Let a gradient scaler see the gradients before they are clipped."""
        assert call.optimizer is not None
        assert isinstance(call.call.func, ast.Attribute)
        self._account_scaler(call.call, "unscale_")
        optimizer, scaler = self._code(call.optimizer), self._code(call.call.func.value)
        return self._where_there_are(unit, f"{scaler}.unscale_({optimizer}, {self._grads_of(optimizer, unit)})")

    def _account_scaler(self, call: ast.Call, method: str) -> None:
        target = f"torch2ms.runtime.amp.GradScaler.{method}"
        self.ctx.account(call.func, f"torch.amp.GradScaler.{method}", "mapped", target, "exact")

    def _by_hand(self, unit: TrainingUnit, step: Step, loop: Statement) -> Statement:
        """Let a loop over weights go over their gradients besides."""
        assert isinstance(step.statement, ast.For)
        name = next(self.plan.gradients[node] for node in gradients_of(step.statement))
        head = f"for {code_of(loop.target)}, {name} in zip({self._weights(unit)}, {unit.grads_name}): pass\n"
        made = cst.ensure_type(cst.parse_statement(head), cst.For)
        return loop.with_changes(target=made.target, iter=made.iter)

    def _clip(self, unit: TrainingUnit, clip: Clip) -> list[Statement]:
        self.ctx.account(clip.call.func, f"torch.nn.utils.clip_grad_{clip.kind}_", "mapped",
                         f"torch2ms.runtime.autograd.clip_grad_{clip.kind}", "exact")  # fmt: skip
        callee = code_of(self.ctx.reference(f"torch2ms.runtime.autograd.clip_grad_{clip.kind}"))
        extra = "".join(f", {k.arg}={self._code(k.value)}" for k in clip.extra if k.arg)
        call = f"{callee}({unit.grads_name}, {self._code(clip.limit)}{extra})"
        if clip.kind == "value":
            return self._lines(f"{unit.grads_name} = {call}")
        result = self._code(clip.result) if clip.result is not None else self.plan.leaves.inner.get(clip.call, "_")
        return self._lines(f"{unit.grads_name}, {result} = {call}")
