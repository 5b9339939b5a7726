"""What the analysis of gradients that are asked for by hand hands to the emitter."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch2ms.translator.effects.recordability import keeps_graph
from torch2ms.translator.syntax.ast_walk import walk

__all__ = ["LeafPlan", "LeafUnit", "Refused", "is_kept_twice"]

# Functions whose second derivatives MindSpore keeps: they work on each element alone, or come last
_KEPT = frozenset(
    "abs add clamp clone cos cosh div elu erf exp expm1 gelu leaky_relu log log1p mul neg ones_like pow reciprocal "
    "relu requires_grad_ rsqrt sigmoid silu sin sinh softplus sqrt square sub tan tanh zeros_like".split()
)
_LAST = _KEPT | {"sum", "mean", "cross_entropy", "binary_cross_entropy_with_logits"}


class Refused(Exception):
    """The text does not show that a function would compute the same."""


@dataclass(slots=True)
class LeafUnit:
    """One gradient: of ``loss`` (times ``seed``) by the leaves, computed in front of ``at``."""

    statement: ast.stmt  # the backward call, or what holds autograd.grad
    call: ast.Call
    block: Sequence[ast.stmt]
    body: list[ast.stmt]  # the function's body, without its return
    at: ast.stmt
    loss: ast.expr
    seed: ast.expr | None
    tensors: list[str]  # leaves that are names: parameters of the function
    weights: list[str]  # leaves that are Parameters, by their paths
    is_moved: bool  # the body leaves its place (else it is also computed there)
    aux: list[str] = field(default_factory=list)  # names of the body that are read elsewhere
    accumulates: bool = False
    fresh: set[str] = field(default_factory=set)  # leaves that have no gradient yet, though others may
    forward_name: str = "forward_fn"
    kept: dict[str, tuple[str, str]] = field(default_factory=dict)  # y.retain_grad(): y -> (gradient, list of a hook)
    is_spread: bool = False  # the one leaf is a list of tensors, which the function takes one by one
    missing: list[int] = field(default_factory=list)  # which of the gradients asked for are None
    network: str = ""  # whose weights are the leaves, all of them
    asked: ast.expr | None = None  # of them, those that autograd.grad is asked for
    inner: ast.expr | None = (
        None  # autograd.grad inside of an expression, with the [0] behind it: a name takes its place
    )
    name: str = ""  # that name

    @property
    def is_backward(self) -> bool:
        """Whether the gradients are those of a backward call, which stay with the leaves."""
        return isinstance(self.call.func, ast.Attribute) and self.call.func.attr == "backward"

    @property
    def keeps_graph(self) -> bool:
        """Whether ``autograd.grad`` may be asked for a gradient that is differentiated once more."""
        return keeps_graph(self.call)

    @property
    def loses_second_derivatives(self) -> bool:
        """Whether it is differentiated once more, through what MindSpore may lose parts of then, without a word.

        Since 2.7 PyNative forgets what stands before a change of shape when it differentiates a gradient (2.10, CPU,
        compared with PyTorch): ``reshape``, ``flatten``, ``transpose``, sums and means over an axis, ``cat``, products
        of matrices, linear layers over more than two axes, nearest upsampling, instance normalization. What a
        network does inside is not looked at: convolutions and linear layers over two axes alone are kept.
        """
        if not self.keeps_graph:
            return False
        last: ast.expr | None = self.loss
        if isinstance(last, ast.Name):
            name = last.id
            made = [s.value for s in self.body if isinstance(s, ast.Assign) and ast.unparse(s.targets[0]) == name]
            last = made[-1] if made else None
        nodes = [node for part in [*self.body, self.loss] for node in walk(part) if node is not self.call]
        return not is_kept_twice(nodes, last)

    @property
    def leaves(self) -> list[str]:
        """The paths of all leaves, tensors first."""
        return [*self.tensors, *self.weights, *([self.network] if self.network else [])]


def is_kept_twice(nodes: Iterable[ast.AST], last: ast.expr | None) -> bool:
    """Whether MindSpore has all parts of the second derivatives of a computation; ``last`` is its last step."""
    for node in nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            return False
        if isinstance(node, ast.Subscript) and not isinstance(node.value, ast.Call):  # x[None]; grad(y, x)[0] is a part
            return False
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func).rpartition(".")[2]
            if name not in (_LAST if node is last else _KEPT):
                return False
    return True


@dataclass(slots=True)
class LeafPlan:
    """The units of a file and what else changes for them."""

    is_unread: bool = False  # nothing in the file looks at gradients

    is_again: bool = True  # functions give gradients that are differentiated again; else the record does
    held: frozenset[ast.stmt] = frozenset()  # statements that functions of training steps take in
    apart: frozenset[ast.stmt] = frozenset()  # backward calls beside training steps, which those do not concern
    is_keeping: bool = False  # functions elsewhere ask weights for the gradients of these calls
    may_record: bool = False  # what functions cannot tell is recorded as it runs
    units: list[LeafUnit] = field(default_factory=list)
    names: dict[ast.AST, str] = field(default_factory=dict)  # x.grad -> the name that holds it
    grad_names: dict[tuple[ast.AST, str], str] = field(default_factory=dict)  # (scope, leaf) -> that name
    scope_of: dict[int, ast.AST] = field(default_factory=dict)
    starts: dict[ast.stmt, list[str]] = field(default_factory=dict)  # behind it: name = None
    resets: dict[ast.stmt, str] = field(default_factory=dict)  # x.grad.zero_() -> the name that becomes zeros
    gone: set[ast.stmt] = field(default_factory=set)  # x.requires_grad_() and what the functions take in
    network_reads: dict[ast.AST, tuple[str, str]] = field(default_factory=dict)  # p.grad -> (network, its gradients)
    cleared: dict[ast.stmt, str] = field(default_factory=dict)  # net.zero_grad() -> the gradients that become None
    clips: dict[ast.stmt, str] = field(default_factory=dict)  # clip_grad_norm_(net.parameters(), 1) -> the gradients
    inner: dict[ast.AST, str] = field(default_factory=dict)  # autograd.grad(...)[0] in an expression -> its name
    lossy: dict[ast.AST, LeafUnit] = field(default_factory=dict)  # calls: MindSpore differentiates them wrongly again
    noted: set[ast.AST] = field(default_factory=set)  # backward calls that have a mark, though they were rewritten
    zipped: dict[ast.AST, tuple[str, str]] = field(default_factory=dict)  # a loop -> its other variable, the gradients
    updaters: dict[str, Any] = field(default_factory=dict)  # functions that may take gradients (looped_leaves)
    taking: dict[Any, str] = field(default_factory=dict)  # of them, those that do, with the name of the parameter
    handing: dict[ast.stmt, tuple[Any, str]] = field(default_factory=dict)  # calls of those, with the gradients
    plain: set[ast.AST] = field(default_factory=set)  # x.requires_grad_() in an expression: its receiver stays

    @property
    def statements(self) -> set[ast.AST]:
        """The statements that become, or go with, a gradient that is asked for by hand."""
        units = {unit.statement for unit in self.units}
        return {*units, *self.cleared, *self.clips, *self.resets, *self.gone, *self.starts, *self.handing}

    def concerns(self, tree: ast.stmt) -> bool:
        """Whether the plan moves, replaces or drops a statement, or puts one beside it."""
        if any(tree is unit.statement or tree is unit.at or tree in unit.body for unit in self.units):
            return True
        return any(
            tree in table for table in (self.starts, self.resets, self.gone, self.cleared, self.clips, self.handing)
        )
