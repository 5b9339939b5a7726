"""The training machinery in a scope: backward, zero_grad, step, clipping, GradScaler, and reads of gradients."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from torch2ms.translator.effects.gradient_hooks import names_weight
from torch2ms.translator.effects.gradient_uses import CLIPS
from torch2ms.translator.effects.loss_arguments import given_loss, hands_over
from torch2ms.translator.effects.reads_and_writes import dotted_path
from torch2ms.translator.training.find.gradient_reads import clamping_call
from torch2ms.translator.training.find.gradient_targets import always_makes
from torch2ms.translator.training.find.manual_updates import gradients_of, updated_module
from torch2ms.translator.training.find.scope import ProjectFile, Scope
from torch2ms.translator.training.find.untyped_steps import first_steps, own_expressions
from torch2ms.translator.training.find.vocabulary import RETAINING
from torch2ms.translator.values.kinds import Oracle, candidates
from torch2ms.translator.values.use_evidence import FileUses, is_optimizer, is_scaler, uses

__all__ = [
    "HANDED_ON", "MAY_CREATE", "NO_NAME", "Event", "EventKind", "Wrappers", "find_events", "find_obstacle",
    "own_expressions", "placed_gradients", "weighted",
]  # fmt: skip

Wrappers = Mapping[str, frozenset[str]]  # keys of classes that hold an optimizer -> their methods that take a step
EventKind = Literal["backward", "leaf", "zero", "step", "clip", "unscale", "update", "closure", "wrapper"]

MAY_CREATE = "backward(create_graph=...) differentiates through the gradient, if the value is true when it runs"
_OF_STEPS = ("closure", "grad_scaler", None)
HANDED_ON = "the step is handed a closure that the caller may have given"
NO_NAME = "the optimizer is no plain name"  # nothing else keeps the call from being rewritten
_NO_OPTIMIZER = frozenset(
    {
        "Scheduler",
        "Module",
        "Tensor",
        "Parameter",
        "GradScaler",
        "DataLoader",
        "Dataset",
        "instance",
        "module",
        "python",
        "ndarray",
        "function",
        "class",
        "int",
        "float",
        "bool",
        "str",
        "list",
        "tuple",
        "dict",
        "none",
        "iterator",
        "api",
    }
)
_OF_ENGINES = frozenset({"prepare", "accumulate", "unwrap_model", "gather_for_metrics", "wait_for_everyone"})


@dataclass(frozen=True, slots=True)
class Event:
    """One call of the machinery. ``path`` is the optimizer's (step, zero: also a module's), or the scaler's."""

    kind: EventKind
    statement: ast.stmt
    call: ast.Call
    order: int
    path: str = ""
    target: ast.expr | None = None  # the optimizer, the zeroed object, the loss, the clipped weights
    scaler: ast.expr | None = None
    problem: str = ""  # why the call cannot be rewritten
    on_module: bool = False  # zero_grad of a module
    of_all: bool = False  # zero_grad of every optimizer that ``path`` holds
    inside: bool = False  # zero_grad in a function that ``call`` runs
    returned: bool = False  # the return of a closure that a step calls; ``call`` is that step's
    by_hand: bool = False  # a loop over a module's parameters that updates them without an optimizer
    is_handed: bool = False  # the call hands a loss and its optimizer to an object that takes the step
    is_wrapped: bool = False  # a method of an object that holds the optimizer, or may do so
    stays: bool = False  # such a method, which does by itself what is to be done
    engine: ast.expr | None = None  # the accelerator that is handed the loss


def _is_super(receiver: ast.expr) -> bool:
    """Whether a method is called on ``super()``."""
    return isinstance(receiver, ast.Call) and isinstance(receiver.func, ast.Name) and receiver.func.id == "super"


def weighted(loss: ast.expr, seed: ast.expr) -> ast.expr:
    """Return what ``loss.backward(seed)`` differentiates: their product, summed."""
    product = ast.BinOp(loss, ast.Mult(), seed)
    made = ast.Call(ast.Attribute(product, "sum", ast.Load()), [], [])
    return ast.fix_missing_locations(ast.copy_location(made, loss))


def _held_by(looped: ast.expr) -> str:
    """Return the path of the container that a loop goes over: ``self.optims`` of ``self.optims.values()``."""
    func = looped.func if isinstance(looped, ast.Call) and not looped.args else None
    values = func.value if isinstance(func, ast.Attribute) and func.attr == "values" else looped
    return dotted_path(values) or ""


def find_events(
    scope: Scope, file: ProjectFile, oracle: Oracle, *, handing: bool = False, wrappers: Wrappers | None = None
) -> list[Event]:
    """Return the machinery of ``scope`` in source order.

    ``handing``: whether the project has objects that are handed losses and take the steps for them. ``wrappers``: its
    classes that hold optimizers.
    """
    finder = _Finder(oracle, uses(file.tree), wrappers or {}, _optional(scope.node))
    finder.functions = file.functions
    finder.first_steps = first_steps(scope, oracle, finder.uses)
    given = given_loss(scope.node)
    scaled = _scaled_losses(scope)
    found: list[Event] = []
    for order, statement in enumerate(scope.statements):
        update = updated_module(statement, oracle)
        if update is not None and isinstance(update.func, ast.Attribute):
            module = update.func.value
            path = dotted_path(module) or ""
            found.append(Event("step", statement, update, order, path, module, by_hand=True))
        clamp = clamping_call(statement)
        if clamp is not None and isinstance(statement, ast.For):
            found.append(Event("clip", statement, clamp, order, "", statement.iter))
        calls = [node for node in own_expressions(statement, scope) if isinstance(node, ast.Call)]
        for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
            event = finder.event(statement, call, order)
            if event is not None and event.kind == "backward" and (given or id(statement) in scaled):
                event = _of_given(event) if given else scaled[id(statement)].start(event, scope)
            if handing and hands_over(call, oracle, finder.uses):
                found.extend(finder.handed_over(statement, call, order))
            elif event is not None:
                found.append(event)
            elif isinstance(statement, ast.Expr) and statement.value is call:
                found.extend(finder.reset_by_helper(statement, call, order, file))
    return found


def _optional(function: ast.AST) -> frozenset[str]:
    """Return the parameters of a ``step`` that are None unless they are given: ``def step(self, closure=None)``."""
    if not isinstance(function, ast.FunctionDef) or function.name != "step":
        return frozenset()
    given = function.args
    last = [*given.posonlyargs, *given.args][-len(given.defaults) :] if given.defaults else []
    pairs = [*zip(last, given.defaults, strict=True), *zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    return frozenset(arg.arg for arg, value in pairs if isinstance(value, ast.Constant) and value.value is None)


def _of_given(event: Event) -> Event:
    """Return the backward call of a loss that the function was handed: whoever handed it over has its gradients."""
    wanted = [keyword.arg for keyword in event.call.keywords if keyword.arg != "create_graph"]
    problem = "backward() of the loss that is handed in takes arguments" if wanted or event.call.args else ""
    return replace(event, problem=problem)


@dataclass(frozen=True, slots=True)
class _ScaledLoss:
    """``with amp.scale_loss(loss, optimizer) as scaled_loss: scaled_loss.backward()``, as apex wants it."""

    statement: ast.With
    loss: ast.expr

    def start(self, event: Event, scope: Scope) -> Event:
        """Return the backward call that the whole statement is."""
        order = scope.location(self.statement).order
        path = dotted_path(self.loss) or ""
        return replace(event, statement=self.statement, order=order, path=path, target=self.loss)


def _scaled_losses(scope: Scope) -> dict[int, _ScaledLoss]:
    """Return apex's scaled losses by the id of the one statement inside that calls backward."""
    found: dict[int, _ScaledLoss] = {}
    for statement in scope.statements:
        if not isinstance(statement, ast.With) or len(statement.items) != 1 or len(statement.body) != 1:
            continue
        call, name, only = statement.items[0].context_expr, statement.items[0].optional_vars, statement.body[0]
        if not isinstance(call, ast.Call) or not isinstance(name, ast.Name) or not call.args:
            continue
        started = only.value.func if isinstance(only, ast.Expr) and isinstance(only.value, ast.Call) else None
        path = dotted_path(started) if started is not None else None
        if (dotted_path(call.func) or "").endswith("scale_loss") and path == f"{name.id}.backward":
            found[id(only)] = _ScaledLoss(statement, call.args[0])
    return found


class _Finder:
    """Recognises single calls."""

    def __init__(
        self, oracle: Oracle, found: FileUses, wrappers: Wrappers, optional: frozenset[str] = frozenset()
    ) -> None:
        self.oracle = oracle
        self.optional = optional
        self.uses = found
        self.wrappers = wrappers
        self.first_steps: Collection[int] = ()
        self.functions: Collection[str] = ()

    def _is_function(self, value: ast.expr) -> bool:
        """Whether a value is a function or a method of the file: ``opt.step(net.closure)``."""
        name = f".{value.attr}" if isinstance(value, ast.Attribute) else getattr(value, "id", "")
        return self.oracle.kind(value).name == "function" or name in self.functions

    def event(self, statement: ast.stmt, call: ast.Call, order: int) -> Event | None:
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name in CLIPS:
            return self._clip(statement, call, order)
        if not isinstance(call.func, ast.Attribute):
            return None
        receiver = call.func.value
        path = dotted_path(receiver) or ""
        kind = self.oracle.kind(receiver).name
        if name == "backward":
            return self._backward(statement, call, order)
        if self.wrappers and isinstance(statement, (ast.Expr, ast.Assign)) and statement.value is call:
            wrapped = self._wrapped(statement, call, order, path)
            if wrapped is not None:
                return wrapped
        if name == "zero_grad" and kind in ("Optimizer", "Module", "unknown"):
            if not isinstance(statement, ast.Expr) or statement.value is not call:
                return None
            module = kind == "Module" or (kind == "unknown" and not self._is_reset(receiver))
            return Event("zero", statement, call, order, path, receiver, on_module=module)
        if name == "step" and (kind == "GradScaler" or self._is_scaler(receiver, call)):
            target = call.args[0] if call.args else None
            path = (dotted_path(target) if target is not None else None) or ""
            problem = (
                "" if path and isinstance(statement, ast.Expr) else "the optimizer given to the scaler is no plain name"
            )
            return Event("step", statement, call, order, path, target, receiver, problem)
        if name == "step" and _is_super(receiver):
            return None  # of the base, which finds the gradients with the weights
        if name == "step" and (
            kind == "Optimizer" or (kind == "unknown" and (call.args or self._plausible(receiver, call)))
        ):
            return self._step(statement, call, order, path)
        if name in ("unscale_", "update") and kind in ("GradScaler", "unknown") and self._looks_scaler(receiver):
            return Event("unscale" if name == "unscale_" else "update", statement, call, order, path, receiver)
        return None

    def _wrapped(self, statement: ast.stmt, call: ast.Call, order: int, path: str) -> Event | None:
        """Return the step or the reset that a method of an object takes which holds the optimizer."""
        assert isinstance(call.func, ast.Attribute)
        receiver, name = call.func.value, call.func.attr
        kind = self.oracle.kind(receiver)
        is_optimizer = kind.name == "Optimizer"  # of the program's own, which has another one
        known = [key for key in candidates(kind) if key in self.wrappers and (is_optimizer or kind.name == "instance")]
        steps = known or (self._wrappers_by_use(receiver, call) if kind.name == "unknown" else [])
        if not path or not any(name in self.wrappers[key] or (known and name == "zero_grad") for key in steps):
            return None
        event: EventKind = "zero" if name == "zero_grad" else "step"
        stays = bool(known) or name != "step" or not isinstance(statement, ast.Expr)
        stays = stays and not (is_optimizer and event == "zero")  # the base has none
        return Event(event, statement, call, order, path, receiver, is_wrapped=True, stays=stays)

    def handed_over(self, statement: ast.stmt, call: ast.Call, order: int) -> list[Event]:
        """Return the backward call and the step of ``norm = loss_scaler(loss, optimizer, parameters=...)``."""
        loss, optimizer = call.args[:2]
        alone = isinstance(statement, (ast.Expr, ast.Assign)) and statement.value is call
        path = dotted_path(optimizer) or ""
        problem = "" if alone and path else "a loss is handed to what takes the step inside of a larger expression"
        start = Event("backward", statement, call, order, dotted_path(loss) or "", loss, problem=problem)
        step = Event("step", statement, call, order, path, optimizer, problem=problem)
        return [replace(start, is_handed=True), replace(step, is_handed=True)]

    def reset_by_helper(self, statement: ast.stmt, call: ast.Call, order: int, file: ProjectFile) -> list[Event]:
        """The resets of a function of the file that does nothing else: ``def reset_grad(): optimizer.zero_grad()``."""
        path = dotted_path(call.func) or ""
        function = file.functions.get(path.removeprefix("self") if path.startswith("self.") else path)
        if function is None or call.args or call.keywords:
            return []
        events: list[Event] = []
        for part in function.body:
            if isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant):
                continue  # a docstring
            holder = part.iter if isinstance(part, ast.For) and len(part.body) == 1 and not part.orelse else None
            part = part if holder is None or not isinstance(part, ast.For) else part.body[0]
            inner = part.value if isinstance(part, ast.Expr) else None
            event = self.event(part, inner, order) if isinstance(inner, ast.Call) else None
            if event is None or event.kind != "zero" or not event.path:
                return []
            if holder is not None:
                # the variable of the loop is the helper's own: who calls it sees what the loop goes over
                event = replace(event, path=_held_by(holder), target=holder, of_all=True)
            events.append(replace(event, statement=statement, call=call))
        return events

    def _plausible(self, receiver: ast.expr, call: ast.Call) -> bool:
        """Whether an untyped receiver is an optimizer: on some path, or by its use, behind a backward call or reset."""
        found = self.uses.of(receiver)
        is_used = is_optimizer(found) or "zero_grad" in found.methods or id(call) in self.first_steps
        return is_used or self.oracle.kind(receiver).may_be("Optimizer")

    def _is_reset(self, receiver: ast.expr) -> bool:
        """Whether what is reset and untyped is an optimizer: it steps as well, or a loss is handed over with it."""
        found = self.uses.of(receiver)
        handed = any(place == 1 and hands_over(call, self.oracle, self.uses) for call, place in found.given)
        return handed or is_optimizer(found)

    def _wrappers_by_use(self, receiver: ast.expr, call: ast.Call) -> list[str]:
        """Return the classes that hold optimizers of which an untyped receiver may be: by two of their methods."""
        methods = self.uses.of(receiver).methods.keys()
        if self._plausible(receiver, call):
            return [*self.wrappers]
        return [key for key, steps in self.wrappers.items() if len(steps & methods) > 1]

    def _looks_scaler(self, receiver: ast.expr) -> bool:
        kind = self.oracle.kind(receiver).name
        return kind == "GradScaler" or (kind == "unknown" and is_scaler(self.uses.of(receiver)))

    def _is_scaler(self, receiver: ast.expr, call: ast.Call) -> bool:
        if self.oracle.kind(receiver).name != "unknown" or len(call.args) != 1:
            return False
        return self._looks_scaler(receiver) and dotted_path(call.args[0]) is not None

    def _step(self, statement: ast.stmt, call: ast.Call, order: int, path: str) -> Event | None:
        assert isinstance(call.func, ast.Attribute)
        if call.args or call.keywords:
            reset = "zero_grad" in self.uses.of(call.func.value).methods
            is_closure = any(map(self._is_function, call.args))
            if self.oracle.kind(call.func.value).name == "unknown" and not (reset or is_closure):
                return None  # env.step(action)
            given = [*call.args, *(keyword.value for keyword in call.keywords)]
            if path and (len(given) > 1 or any(keyword.arg not in _OF_STEPS for keyword in call.keywords)):
                # torch's own take a closure alone: an optimizer of the program's, which reads the gradients itself
                return Event("step", statement, call, order, path, call.func.value, is_wrapped=True, stays=True)
            alone = isinstance(statement, (ast.Expr, ast.Assign, ast.Return)) and statement.value is call
            if path and alone and len(given) == 1 and getattr(given[0], "id", "") in self.optional:
                return Event("step", statement, call, order, path, call.func.value, problem=HANDED_ON)
            return Event("closure", statement, call, order, path, call.func.value)
        problem = "" if isinstance(statement, ast.Expr) and statement.value is call else "the result of step() is used"
        if not path:
            problem = NO_NAME
        return Event("step", statement, call, order, path, call.func.value, problem=problem)

    def _backward(self, statement: ast.stmt, call: ast.Call, order: int) -> Event | None:
        assert isinstance(call.func, ast.Attribute)
        receiver = call.func.value
        kind = self.oracle.kind(receiver).name
        if kind in ("Module", "instance", "function", "class"):
            return None  # a method of the project that happens to have this name
        if self._is_engine(receiver, kind):
            return _through_engine(statement, call, order)
        scaler: ast.expr | None = None
        loss = receiver
        if (
            isinstance(receiver, ast.Call)
            and isinstance(receiver.func, ast.Attribute)
            and receiver.func.attr == "scale"
            and len(receiver.args) == 1
            and self._looks_scaler(receiver.func.value)
        ):
            scaler, loss = receiver.func.value, receiver.args[0]
        problem = ""
        keywords = {keyword.arg: keyword.value for keyword in call.keywords}
        seed = keywords.get("gradient", call.args[0] if len(call.args) == 1 else None)
        if isinstance(seed, ast.Constant) and seed.value is None:
            seed = None
        is_seeded = seed is not None and scaler is None and kind in ("Tensor", "Parameter")
        if not isinstance(statement, ast.Expr) or statement.value is not call:
            problem = "backward() is part of a larger expression"
        elif seed is not None and is_seeded:
            loss = weighted(loss, seed)
        elif kind in ("api", "module", "Optimizer", "GradScaler"):
            problem = "backward is called through a wrapper, not on the loss"
        elif call.args and kind == "unknown":
            problem = "backward is called on an untyped object with arguments, perhaps through a wrapper"
        elif call.args:
            problem = "backward(gradient) is a vector-Jacobian product"
        for keyword in call.keywords:
            if isinstance(keyword.value, ast.Constant) and keyword.value.value in (False, None):
                continue
            if keyword.arg == "create_graph" and not isinstance(keyword.value, ast.Constant):
                problem = problem or MAY_CREATE
                continue
            if keyword.arg not in RETAINING and not (keyword.arg == "gradient" and is_seeded):
                problem = problem or f"backward({keyword.arg}=...) differentiates through the gradient"
        return Event("backward", statement, call, order, dotted_path(loss) or "", loss, scaler, problem)

    def _is_engine(self, receiver: ast.expr, kind: str) -> bool:
        """Whether an object is accelerate's, by its kind or, where it came from elsewhere, by its methods."""
        return kind == "Accelerator" or (
            kind == "unknown" and not _OF_ENGINES.isdisjoint(self.uses.of(receiver).methods)
        )

    def _clip(self, statement: ast.stmt, call: ast.Call, order: int) -> Event:
        weights = call.args[0] if call.args else None
        for keyword in call.keywords:
            if keyword.arg == "parameters":
                weights = keyword.value
        problem = "" if weights is not None else "the clipped parameters are not written out"
        plain = isinstance(statement, ast.Expr) and statement.value is call
        assigned = isinstance(statement, ast.Assign) and statement.value is call and len(statement.targets) == 1
        if not plain and not assigned and not always_makes(statement, call):
            problem = "the norm of the gradients is used inside a larger expression"
        return Event("clip", statement, call, order, "", weights, problem=problem)


def _through_engine(statement: ast.stmt, call: ast.Call, order: int) -> Event:
    """Return the backward call of ``accelerator.backward(loss)``."""
    assert isinstance(call.func, ast.Attribute)
    plain = len(call.args) == 1 and not isinstance(call.args[0], ast.Starred)
    settings = [keyword.arg for keyword in call.keywords if keyword.arg not in RETAINING]
    problem = "" if plain and not settings else "backward of the accelerator takes more than the loss"
    if not isinstance(statement, ast.Expr) or statement.value is not call:
        problem = "backward() is part of a larger expression"
    loss = call.args[0] if plain else call.func.value
    path = dotted_path(loss) or ""
    return Event("backward", statement, call, order, path, loss, problem=problem, engine=call.func.value)


def placed_gradients(scope: Scope, oracle: Oracle) -> set[int]:
    """Return the ids of every ``.grad`` in loops that are rewritten whole: updates by hand, and clamping."""
    loops = [s for s in scope.statements if isinstance(s, ast.For)]
    whole = [loop for loop in loops if updated_module(loop, oracle) is not None or clamping_call(loop) is not None]
    return {id(node) for loop in whole for node in gradients_of(loop)}


_HOOKS = ("retain_grad", "register_hook", "register_post_accumulate_grad_hook")


def find_obstacle(
    scope: Scope, oracle: Oracle, reads: Sequence[tuple[ast.stmt, ast.Attribute]] = (), *, hooks: bool = False
) -> tuple[ast.stmt, str] | None:
    """Return the first statement of the scope that uses gradients in a way no rewriting places, and what it does.

    ``reads``: the uses for which a place is looked for later. ``hooks``: whether hooks on tensors are called, as those
    of what is recorded are.
    """
    placed = {id(node) for _, node in reads} | placed_gradients(scope, oracle)
    for statement in scope.statements:
        for node in own_expressions(statement, scope):
            if id(node) in placed:
                continue
            if isinstance(node, ast.Attribute) and node.attr == "grad":
                kind = oracle.kind(node.value).name
                if kind in ("unknown", "Tensor", "Parameter") and dotted_path(node) not in (
                    "torch.autograd.grad",
                    "autograd.grad",
                ):
                    return statement, f"line {statement.lineno} uses .grad"
            elif (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in _HOOKS
                and not (hooks and node.func.attr == "register_hook")
                and not _is_set_before(statement, node.func, scope, oracle)
            ):
                return statement, f"line {statement.lineno} calls {node.func.attr}"
    return None


def _is_set_before(statement: ast.stmt, func: ast.Attribute, scope: Scope, oracle: Oracle) -> bool:
    """Whether a weight is given a hook in front of the loop that trains it: MindSpore's gradient functions call it."""
    if func.attr != "register_hook" or not names_weight(func.value, oracle):
        return False
    steps = [s for s in scope.statements for n in own_expressions(s, scope) if getattr(n, "attr", "") == "backward"]
    outer = [loops[-1] for loops in map(scope.loops, steps) if loops]
    return len(outer) == len(steps) and all(statement.lineno < loop.lineno for loop in outer)
