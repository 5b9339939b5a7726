"""Gradients of values that were computed before anyone asked for them, where no single function holds the forward pass.

``mindspore.value_and_grad`` wants the whole forward pass as a function. Some programs have none: an agent plays a game
and stores what it will need, a discriminator is trained with three losses of which two share a network's output. From
:func:`start` on, MindSpore records every operation as it runs (not inside ``_no_grad``), and :func:`backward` asks for
the gradients afterwards, as ``mindspore.grad`` of a function that only hands the finished loss over. They are kept
until the update (:mod:`.gradients`). Importing the module records nothing.

    recording.start()                         # before the forward pass: once, a second call does nothing
    recording.reset(optimizer)                # forget the gradients kept so far
    loss = sum(losses_of_the_episode)
    recording.backward(loss, optimizer)       # add the gradients by the weights of the optimizer to what is kept
    recording.update(optimizer)               # let the optimizer use them

Without owners :func:`backward` differentiates by every weight that the loss was computed from. One that a loss does not
reach gets no gradient, not one of zeros: momentum and decay leave it alone. MindSpore 2.9 and newer tell so; before, a
weight of the owners gets zeros.

What a program asks for itself, ``torch.autograd.grad(loss, inputs)``, is :func:`grad`: by weights, by tensors that
:func:`leaf` marks, and by what was computed from those. It runs inside of gradient functions as well.

It needs PyNative mode and MindSpore 2.7 or newer (2.7 to 2.10 were run), 2.9 without owners, 2.8 for :func:`grad`.
Prefer ``value_and_grad`` where one function can hold the step: nothing is recorded then that is not needed.
"""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Iterator
from typing import Any, List, Optional, Set, Tuple

import mindspore as ms
from mindspore import nn, ops

from . import gradients
from .gradients import clip_norm, clip_value, reset, update

try:
    from mindspore.graph.api import _pynative_executor
except ImportError:  # MindSpore before 2.10
    from mindspore.common.api import _pynative_executor

try:
    from mindspore._c_expression import run_backward as _run_backward
except ImportError:  # MindSpore before 2.8
    _run_backward = None

__all__ = ["backward", "clip_norm", "clip_value", "grad", "hand_over", "leaf", "reset", "start", "update"]


def _everything() -> None:
    """Stand for the program as a whole, which MindSpore wants to know whose operations it records."""


class _Pauses:
    """Puts the record of the program aside while a gradient function of its own runs.

    MindSpore 2.8 to 2.10 take such a function for a second derivative when it runs inside of a record, and there
    ``x[0]`` and LayerNorm fail. The tensors recorded so far keep what is known of them.
    """

    def __init__(self) -> None:
        self.depth = 0  # of gradient functions inside of each other
        self.is_wanted = False  # the program has started its record
        self.is_own = False  # the gradient that is asked for is that of the record
        self._check_run, self._grad = _pynative_executor.check_run, _pynative_executor.grad
        _pynative_executor.check_run, _pynative_executor.grad = self.check_run, self.grad
        ms.grad, ms.value_and_grad = self.going_on(ms.grad), self.going_on(_apart(ms.value_and_grad))

    def check_run(self, *args: Any, **kwargs: Any) -> Any:
        """Stand for what every gradient function calls first."""
        if not self.is_own:
            self.depth += 1
            if self.depth == 1 and self.is_wanted:
                _stop()
        return self._check_run(*args, **kwargs)

    def grad(self, *args: Any, **kwargs: Any) -> Any:
        """Stand for what it calls last."""
        try:
            return self._grad(*args, **kwargs)
        finally:
            if not self.is_own:
                self.depth -= 1
                if self.depth == 0 and self.is_wanted:
                    _go_on()

    def going_on(self, make: Callable[..., Any]) -> Callable[..., Any]:
        """Return ``make``, whose gradient functions let the record go on when they raise: the program may catch it."""

        @functools.wraps(make)
        def making(*args: Any, **kwargs: Any) -> Any:
            function = make(*args, **kwargs)

            @functools.wraps(function)
            def running(*given: Any, **named: Any) -> Any:
                depth = self.depth
                try:
                    return function(*given, **named)
                except BaseException:
                    if not self.is_own and self.depth > depth:
                        self.depth = depth
                        if depth == 0 and self.is_wanted:
                            _go_on()
                    raise

            return running

        return making


def _apart(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``make``, for whose functions of weights what was computed before is a constant, recorded or not.

    A function that holds the whole step says so; the record, which is the program's, would lead on from what it is
    given, or what it finds around itself, to the same weights, and add gradients that are not the function's.
    """

    @functools.wraps(make)
    def making(fn: Any, grad_position: Any = 0, weights: Any = None, *args: Any, **kwargs: Any) -> Any:
        function = make(fn, grad_position, weights, *args, **kwargs)
        if grad_position is not None or weights is None:
            return function
        trained = [weights] if isinstance(weights, ms.Parameter) else list(weights)

        @functools.wraps(function)
        def running(*given: Any, **named: Any) -> Any:
            # Nothing is recorded, or another function differentiates what this one gives
            if _pauses is None or not _pauses.is_wanted or _pauses.depth:
                return function(*given, **named)
            closure = getattr(inspect.unwrap(fn), "__closure__", None) or ()
            around = [(cell, cell.cell_contents) for cell in closure if _is_set(cell)]
            around = [(cell, value) for cell, value in around if _settled(value, trained) is not value]
            for cell, value in around:
                cell.cell_contents = _settled(value, trained)
            try:
                return function(*(_settled(value, trained) for value in given), **named)
            finally:
                for cell, value in around:
                    cell.cell_contents = value

        return running

    return making


def _is_set(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:  # a name that is bound later
        return False


def _settled(value: Any, weights: List[ms.Parameter]) -> Any:
    """Return a value without its record where that leads to one of the weights, the value itself elsewhere."""
    if type(value) in (list, tuple):
        parts = [_settled(part, weights) for part in value]
        return value if all(part is own for part, own in zip(parts, value)) else type(value)(parts)
    is_computed = isinstance(value, ms.Tensor) and not isinstance(value, ms.Parameter)
    if not is_computed or not getattr(value, "_requires_grad", False) or getattr(value, "_is_leaf", True):
        return value
    return ops.stop_gradient(value) if _reached(value, weights) else value


_pauses: Optional[_Pauses] = None
_weights: List[Callable[[], Any]] = []  # weak references to all parameters, in the order in which they were made


def _remember() -> None:
    """Let every parameter that is made from here on be known to :func:`backward`."""
    make = ms.Parameter.__init__

    @functools.wraps(make)
    def remembering(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        _weights.append(weakref.ref(self))

    ms.Parameter.__init__ = remembering


def start() -> None:
    """Record from here on; a second call does nothing, nor does one inside of a gradient function.

    MindSpore 2.0 keeps no record outside of a gradient function: there is nothing to start, RuntimeError says so.
    """
    if _pauses is None:
        raise RuntimeError("MindSpore 2.7 or newer is needed to ask for gradients of what was computed before")
    if not _pauses.is_wanted and not _pauses.depth:
        _pauses.is_wanted = True
        _go_on()


def _go_on() -> None:
    """Begin a record, the first or the one behind a gradient function."""
    _pynative_executor.set_grad_flag(True)
    _pynative_executor.new_graph(_everything)


def _stop() -> None:
    """End the record; what was recorded stays known with the tensors."""
    _pynative_executor.end_graph(_everything, ms.Tensor(0.0))
    _pynative_executor.set_grad_flag(False)


def backward(
    loss: ms.Tensor,
    *owners: Any,
    retain_graph: Optional[bool] = False,
    create_graph: bool = False,
    average: Optional[Callable[[Any], Any]] = None,
    scaler: Any = None,
) -> None:
    """Add the gradients of ``loss`` to those kept for the weights of ``owners``: optimizers, networks, weights.

    ``loss``: a tensor computed since the recording began; one with several elements counts as their sum. Without
    owners it is every weight that it was computed from. ``retain_graph``: whether another loss will ask for gradients
    of what was computed for this one; else that is forgotten, and MindSpore raises RuntimeError. ``average``: what
    makes one process's gradients those of all, :func:`.distributed.average_gradients`, in a data-parallel program.
    ``scaler``: an :class:`.amp.GradScaler`, whose scale is on the loss while it is differentiated.
    Raises NotImplementedError for ``create_graph=True``: what is kept cannot be differentiated again.
    """
    if create_graph:
        raise NotImplementedError("the gradients of what was recorded cannot be differentiated again")
    unscaled = getattr(scaler, "unscaled", None)  # a program's own scaler has none
    weights, grads = _by_weights(scaler.scale(loss) if unscaled else loss, owners, retain_graph, average)
    gradients.keep(weights, unscaled(grads) if unscaled else grads)


def hand_over(loss: ms.Tensor, *owners: Any, average: Optional[Callable[[Any], Any]] = None) -> None:
    """Let the function that is given the loss next, and takes the step for it, have its gradients.

    The arguments are those of :func:`backward`; see :func:`.gradients.hand_over`.
    """
    gradients.hand_over(*_by_weights(loss, owners, False, average))


def _by_weights(
    loss: ms.Tensor, owners: Tuple[Any, ...], retain_graph: Optional[bool], average: Optional[Callable[[Any], Any]]
) -> Tuple[List[ms.Parameter], Any]:
    """Return the weights that a loss was computed from, and its gradients by them."""
    weights = gradients.weights_of(owners) if owners else _known()

    def finished() -> ms.Tensor:
        return loss

    if _pauses is None or not (_pauses.is_wanted or _pauses.depth):
        raise RuntimeError("nothing is recorded: recording.start() has to run before the forward pass")
    if _pauses.depth:
        raise RuntimeError("nothing is recorded: a gradient function raised before, or this is called inside of one")
    if owners and getattr(loss, "_requires_grad", True) is False:  # without owners it may be of leaves that nobody asks
        raise RuntimeError("the loss was not recorded: recording.start() has to run before the forward pass")
    gradients.expect(weights if owners else None)
    weights = _reached(loss, weights)
    if retain_graph and _run_backward is not None and weights:
        # ms.grad inside of the record would have the gradient recorded itself, and LayerNorm has no second derivative
        found = _run_backward((loss,), (ops.ones_like(loss),), True, False, tuple(weights), True, accumulate_grad=False)
        pairs = [(weight, grad) for weight, grad in zip(weights, found) if grad is not None]
        weights, grads = [weight for weight, _ in pairs], tuple(grad for _, grad in pairs)
        return weights, grads if average is None else average(grads)
    _pauses.is_own = True
    if not retain_graph:
        _stop()  # inside of the record it would be a gradient that is recorded itself, and LayerNorm has none such
    try:
        grads = ms.grad(finished, None, weights)() if weights else ()
    finally:
        _pauses.is_own = False
        if not retain_graph:
            _go_on()
    return weights, grads if average is None else average(grads)


def leaf(tensor: Any, requires_grad: bool = True) -> Any:
    """Return a tensor (or a network), of which is said from here on whether what is computed from it is recorded."""
    if isinstance(tensor, nn.Cell):
        for weight in tensor.get_parameters():
            weight.requires_grad = requires_grad
    elif isinstance(tensor, ms.Parameter):
        tensor.requires_grad = requires_grad
    else:
        if requires_grad and _pauses is not None:
            start()
        tensor.requires_grad_(requires_grad)
    return tensor


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: Optional[bool] = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: Optional[bool] = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Tuple[Optional[ms.Tensor], ...]:
    """Return the gradients of the sum of ``outputs`` by each of ``inputs``: torch.autograd.grad.

    ``outputs``, ``inputs``: a tensor or several, computed since the recording began; inputs may be weights, tensors
    that :func:`leaf` marked before they were used, and what was computed from either. ``grad_outputs``: one for each
    output, what its elements count; an output of one element needs none. The gradients are constants, and what was
    recorded stays known, so that ``retain_graph`` says nothing. An input that the outputs do not depend on has None,
    or zeros with ``materialize_grads``; RuntimeError where neither that nor ``allow_unused`` allows it.
    Raises NotImplementedError for ``create_graph=True``: that is :func:`.higher.grad`.
    """
    if create_graph or is_grads_batched:
        raise NotImplementedError("gradients that are differentiated again, or several at once, are not recorded")
    given, asked = listed(outputs), listed(inputs)
    found = [None if value is None else ops.stop_gradient(value) for value in asked_of(given, asked, grad_outputs)]
    return checked(asked, found, allow_unused=allow_unused, materialize_grads=materialize_grads)


def asked_of(
    outputs: List[ms.Tensor], inputs: List[ms.Tensor], grad_outputs: Any, *, is_kept: bool = False
) -> List[Optional[ms.Tensor]]:
    """Return the gradient by each input, None where there is none; ``is_kept``: its computation is recorded as well."""
    if _run_backward is None:
        raise RuntimeError("MindSpore 2.8 or newer is needed to ask for gradients by tensors of a record")
    seeds = _seeds(outputs, [None] * len(outputs) if grad_outputs is None else listed(grad_outputs))
    found: List[Optional[ms.Tensor]] = [None] * len(inputs)
    for places in _runs(inputs):
        wanted = tuple(inputs[place] for place in places)
        grads = _run_backward(tuple(outputs), seeds, True, is_kept, wanted, True, accumulate_grad=False)
        for place, value in zip(places, grads):
            found[place] = value
    return found


def checked(
    inputs: List[ms.Tensor], found: List[Optional[ms.Tensor]], *, allow_unused: Optional[bool], materialize_grads: bool
) -> Tuple[Optional[ms.Tensor], ...]:
    """Return the gradients as they were asked for: zeros for those that are missing, or RuntimeError."""
    if materialize_grads:
        return tuple(ops.zeros_like(x) if value is None else value for x, value in zip(inputs, found))
    if not allow_unused and any(value is None for value in found):
        raise RuntimeError("the outputs do not depend on one of the inputs; allow_unused=True answers None for it")
    return tuple(found)


def listed(given: Any) -> List[Any]:
    """Return one tensor, or several, as a list."""
    return [given] if isinstance(given, ms.Tensor) else list(given)


def _seeds(outputs: List[ms.Tensor], given: List[Any]) -> Tuple[ms.Tensor, ...]:
    """Return what every element of the outputs counts."""
    for output, seed in zip(outputs, given):
        if seed is None and output.size != 1:
            raise RuntimeError("the gradient of an output of several elements needs grad_outputs, what each counts")
        if not output._requires_grad:
            raise RuntimeError("an output was computed from nothing that requires a gradient")
    return tuple(ops.ones_like(y) if seed is None else seed.astype(y.dtype) for y, seed in zip(outputs, given))


def _runs(inputs: List[ms.Tensor]) -> Iterator[List[int]]:
    """Yield the inputs, by their places, that one run gives the gradients of: those that were not computed together.

    A run of MindSpore stops at what was computed: what that was computed from has None there (2.8 to 2.10).
    """
    if not all(x._requires_grad for x in inputs):
        raise RuntimeError("one of the inputs does not require a gradient: recording.leaf(x) in front of its use")
    leaves = [place for place, x in enumerate(inputs) if x._is_leaf]
    if leaves:
        yield leaves
    for place, x in enumerate(inputs):
        if not x._is_leaf:
            yield [place]


def _known() -> List[ms.Parameter]:
    """Return the weights that are trained and in use."""
    if not hasattr(ms.Tensor, "_grad_node") or ms.__version__.startswith("2.8."):
        raise RuntimeError("name the optimizers: only MindSpore 2.9 and newer tell what a loss was computed from")
    _weights[:] = [made for made in _weights if made() is not None]
    found = [made() for made in _weights]
    return [weight for weight in found if weight is not None and weight.requires_grad]


def _reached(loss: ms.Tensor, weights: List[ms.Parameter]) -> List[ms.Parameter]:
    """Return the weights that a loss was computed from; all of them where MindSpore does not tell."""
    node = getattr(loss, "_grad_node", None)
    if node is None or not hasattr(node, "_unique_id"):
        return weights
    leaves = {leaf._unique_id() for leaf in _leaves(node)}
    return [weight for weight in weights if weight._grad_node._unique_id() in leaves]


def _leaves(node: Any) -> Iterator[Any]:
    """Yield the ends of what was recorded for a tensor."""
    seen: Set[int] = set()
    pending = [node]
    while pending:
        node = pending.pop()
        if node._unique_id() in seen:
            continue
        seen.add(node._unique_id())
        if node.is_leaf():
            yield node
        pending += [following for following, _ in node.next_functions or () if following is not None]


if hasattr(ms, "_no_grad"):
    _pauses = _Pauses()
    _remember()
