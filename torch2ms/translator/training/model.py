"""What the analysis of a training program hands to the emitter: units, and backward calls that stay as they are."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Literal

__all__ = [
    "Clip",
    "Closure",
    "GradientMode",
    "Place",
    "RecordedCall",
    "Shape",
    "Step",
    "TrainingUnit",
    "UnitLeft",
]

GradientMode = Literal["assign", "add", "accumulate"]
Shape = Literal["A", "B1", "B3", "C1", "D", "E", "F"]


@dataclass(frozen=True, slots=True)
class Place:
    """The place in front of ``statements[index]``; ``statements`` is the very list of the tree."""

    statements: list[ast.stmt]
    index: int

    @property
    def statement(self) -> ast.stmt:
        """The statement the place stands in front of."""
        return self.statements[self.index]


@dataclass(frozen=True, slots=True)
class Step:
    """An update, replaced where it stands by ``optimizer(grads)``, or ``scaler.step(optimizer, grads)``.

    ``by_hand``: a loop over the parameters of a module, which is the ``optimizer`` then; the loop goes over the
    gradients besides. ``returned``: the statement is the return of a closure, which gives its gradients back besides.
    """

    statement: ast.stmt
    call: ast.Call
    optimizer: ast.expr
    scaler: ast.expr | None = None
    by_hand: bool = False
    returned: bool = False


@dataclass(frozen=True, slots=True)
class ScalerCall:
    """``scaler.unscale_(optimizer)``, which is given the gradients; ``scaler.update()`` has no optimizer, and stays."""

    statement: ast.stmt
    call: ast.Call
    optimizer: ast.expr | None


@dataclass(frozen=True, slots=True)
class Clip:
    """A clipping call, replaced where it stands by one that binds the clipped gradients.

    ``limit`` is max_norm or clip_value; ``extra`` are the other keywords (norm_type, foreach, ...). ``result`` is the
    target the total norm is assigned to, or None. ``whole`` says whether the clipped list is known to be the
    optimizer's own (False: the text does not show it). ``is_inside``: the norm is used within the statement, as in
    ``norms.append(clip_grad_norm_(...).item())``, which then stands behind the clipping.
    """

    statement: ast.stmt
    call: ast.Call
    kind: Literal["norm", "value"]
    weights: ast.expr
    limit: ast.expr
    extra: tuple[ast.keyword, ...]
    result: ast.expr | None
    whole: bool
    is_inside: bool = False


@dataclass(frozen=True, slots=True)
class Closure:
    """A function that ``optimizer.step(function)`` calls; its last statement returns the loss."""

    function: ast.FunctionDef
    result: ast.Return
    path: str  # the optimizer's, the same where the function stands and where it is handed over
    optimizer: ast.expr
    calls: tuple[ast.Call, ...]  # every optimizer.step(function)
    asked: tuple[ast.Call, ...]  # every plain call of it, which wants the loss alone


@dataclass(frozen=True, slots=True)
class TrainingUnit:
    """One backward statement, its backward slice and the statements that update from it.

    The emitter puts the definition of ``forward_fn`` (and ``grad_fn``) at ``hoist``, the gradient call in front of
    ``block[start]``, removes ``removed`` and ``dropped``, and replaces ``steps``, ``clips`` and (when accumulating)
    ``resets`` where they stand. All other statements stay where they are, so their order does not change.

    Units may share statements: a reset dropped by two of them is dropped once. A list that loses all its statements
    needs a `pass`. Accumulated gradients can be None at a step (torch's step then does nothing) and at a clip. When
    ``hoist`` is the place of the gradient call itself, later statements of the body stand behind it in the same list.
    """

    shape: Shape
    scope: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef
    backward: ast.stmt
    call: ast.Call  # the X.backward() call itself
    block: list[ast.stmt]  # the list the gradient call goes into
    start: int  # the gradient call stands in front of block[start]
    body: tuple[ast.stmt, ...]  # the body of forward_fn, in order, without its return
    removed: tuple[ast.stmt, ...]  # of the body, those that leave their place; the others are also computed there
    moved: tuple[ast.stmt, ...]  # stood before a statement of the body, now stand behind the gradient call, in order
    dropped: tuple[ast.stmt, ...]  # zero_grad, backward
    loss: ast.expr  # what forward_fn returns first
    loss_name: str  # the name the gradient call binds it to
    aux: tuple[str, ...]  # what forward_fn returns besides, by name; has_aux when there are any
    parameters: tuple[str, ...]  # of forward_fn, and the arguments of the gradient call, by the same names
    captures: tuple[str, ...]  # free names of forward_fn that the scope itself binds
    optimizers: tuple[ast.expr, ...]  # whose .parameters are differentiated, in order; several: split the gradients
    steps: tuple[Step, ...]
    clips: tuple[Clip, ...]
    gradient: GradientMode  # assign: grads = ...; add: added to grads; accumulate: added to grads, which may be None
    resets: tuple[ast.stmt, ...]  # accumulate: zero_grad statements, each becomes `grads = None`
    accumulator: Place | None  # accumulate: where `grads = None` goes; None when a reset or another unit does it
    guard: ast.expr | None  # gradient only when it holds, else only the forward pass
    scaler: ast.expr | None  # the GradScaler whose scale() wraps the loss
    forward_name: str
    grad_name: str
    grads_name: str
    hoist: Place
    inline_grad: bool  # the optimizer may be missing: build grad_fn in the guarded gradient call itself
    unset: tuple[tuple[str, ast.stmt], ...] = ()  # parameters some paths leave unbound; `name = ()` goes in front of
    notes: tuple[str, ...] = ()  # when the result may differ; each a warning
    closure: Closure | None = None  # the scope, when it is a function that optimizer.step is given
    reads: tuple[ast.Attribute, ...] = ()  # every `p.grad` that this unit's gradients answer
    is_kept: bool = False  # the gradients are kept with the weights; RecordedCalls stand for the machinery
    leaves: tuple[ast.expr, ...] = ()  # tensors of the forward pass that no optimizer trains, asked for `.grad`
    is_wrapped: bool = False  # an object of the program's own holds, or may hold, the optimizer
    scaling: tuple[ScalerCall, ...] = ()  # scaler.unscale_, scaler.update
    is_late: bool = False  # a reset stands behind the gradient call: what builds up is added where backward() stands

    @property
    def outputs(self) -> tuple[str, ...]:
        """All names the gradient call binds from forward_fn, the loss first."""
        return (self.loss_name, *self.aux)


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call of the machinery that keeps its place: what it needs was recorded as it ran, or is kept with the weights.

    ``target`` is the loss, or the optimizer or network; ``optimizers`` are those whose weights a backward call
    differentiates by. ``unit`` has the gradients that a call of kind "keep" is to keep, and one of kind "hand" to hand
    over to the statement, which stays behind it: without a unit those of the record; "take" keeps those that were
    handed over.
    """

    statement: ast.stmt
    call: ast.Call
    kind: str  # backward, zero, step, clip, keep, hand, take
    target: ast.expr
    optimizers: tuple[ast.expr, ...]
    clip: Clip | None = None
    unit: TrainingUnit | None = None
    is_kept: bool = False
    engine: ast.expr | None = None  # the accelerator that knows when gradients that are kept are complete
    reads: tuple[ast.Attribute, ...] = ()  # every `p.grad` of the scope, which finds what is kept
    reason: str = ""  # why the step is no function
    scaler: ast.expr | None = None  # of kinds backward and hand: the GradScaler whose scale() wraps the loss
    is_spread: bool = False  # of kind zero: ``target`` holds the optimizers or networks, which are all reset


@dataclass(frozen=True, slots=True)
class UnitLeft:
    """A statement of the training machinery that stays as it is, and why."""

    node: ast.stmt
    reason: str
    code: Literal["T2M402", "T2M403", "T2M404"] = "T2M402"
