"""Gradients that are kept with the weights between the backward pass and the update.

``mindspore.value_and_grad`` hands the gradients over as a tuple, and that is the best way for a step that stands in one
function. Some programs read or change the gradient of a weight elsewhere: a function of another file logs their norms,
an optimizer of the program's own asks each weight for it. They find it here:

    loss, grads = grad_fn(x, y)
    gradients.reset(optimizer)                     # forget what was kept so far
    gradients.keep(optimizer.parameters, grads)    # add to what is kept
    gradients.of(weight)                           # the gradient of a weight, or None
    gradients.put(weight, value)                   # another one in its place; None forgets it
    gradients.update(optimizer)                    # let the optimizer use what is kept

What a program gets to see is a Parameter that no optimizer trains, so that ``mindspore.ops.assign`` can change it in
place.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

import mindspore as ms
from mindspore import ops

from . import autograd

try:
    from mindspore.experimental.optim import Optimizer as _Base
except ImportError:  # MindSpore 2.0: nothing is translated to what stands on it
    from mindspore.nn import Cell as _Base

__all__ = [
    "Holder",
    "Optimizer",
    "clip_norm",
    "clip_value",
    "expect",
    "hand_over",
    "keep",
    "kept_of",
    "of",
    "parameters_of",
    "put",
    "required",
    "reset",
    "take_over",
    "update",
    "weight",
    "weights_of",
]

_OPTIMIZERS = (_Base, ms.nn.Optimizer)
# By the identity of the weight, which is held on to. A gradient that nobody has asked for is no Parameter yet.
_kept: Dict[int, Tuple[ms.Parameter, ms.Tensor]] = {}
_known: Dict[int, ms.Parameter] = {}  # every weight that had one
_is_complete = False  # gradients are those of all weights that a loss reaches
_handed: List[Tuple[Iterable[ms.Parameter], Iterable[ms.Tensor]]] = []  # weights and gradients, or nothing


def weights_of(owners: Iterable[Any]) -> List[ms.Parameter]:
    """Return the trained weights of optimizers, networks, and lists of weights, each once."""
    found: Dict[int, ms.Parameter] = {}
    for owner in map(_held, owners):
        if isinstance(owner, ms.Parameter):
            found[id(owner)] = owner
            continue
        # An optimizer is a Cell as well; of the two only an optimizer has the attribute.
        weights = getattr(owner, "parameters", None)
        if weights is None:
            weights = owner.trainable_params() if hasattr(owner, "trainable_params") else owner
        found.update((id(weight), weight) for weight in weights)
    return [weight for weight in found.values() if weight.requires_grad]


def expect(weights: Optional[Iterable[ms.Parameter]]) -> None:
    """Let :func:`of` answer None for those of these weights that no loss reaches; None: of all there are."""
    global _is_complete
    _is_complete = _is_complete or weights is None
    _known.update((id(weight), weight) for weight in weights or ())


def parameters_of(*owners: Any) -> List[ms.Parameter]:
    """Return the weights of optimizers, and of objects that hold one: ``NoamOpt(..., optimizer)``, in its order.

    Raises AttributeError for an object that holds none.
    """
    return [weight for owner in owners for weight in _held(owner).parameters]


def _held(owner: Any) -> Any:
    """Return the optimizer in an object of the program's own; anything else as it is."""
    if isinstance(owner, ms.nn.Cell) or not hasattr(owner, "__dict__"):
        return owner
    return next((value for value in vars(owner).values() if isinstance(value, _OPTIMIZERS)), owner)


def weight(tensor: ms.Tensor) -> ms.Parameter:
    """Return a tensor as something that has a gradient: itself where it is a parameter, else one of its value."""
    if isinstance(tensor, ms.Parameter):
        tensor.requires_grad = True
        return tensor
    return ms.Parameter(ops.stop_gradient(tensor).copy())  # of a view nothing could be changed in place


def of(weight: ms.Parameter) -> Optional[ms.Tensor]:
    """Return the gradient kept for a weight, None where there is none.

    Raises TypeError for what is no weight, and ValueError for a weight that is trained, but has never been one of those
    whose gradients are kept: no optimizer has it.
    """
    found = _kept.get(id(weight))
    if found is not None:
        if not isinstance(found[1], ms.Parameter):
            _kept[id(weight)] = found = (weight, _parameter(found[1]))
        return found[1]
    if not isinstance(weight, ms.Parameter):
        raise TypeError(f"only weights have gradients that are kept, not {type(weight).__name__}")
    if _kept and weight.requires_grad and id(weight) not in _known and not _is_complete:
        raise ValueError(f"the gradient of {weight.name} was not computed: the optimizer does not train it")
    return None


def kept_of(optimizer: Any) -> List[ms.Tensor]:
    """Return the gradients that are kept for the weights of an optimizer, those that there are."""
    return [_value(weight) for weight in parameters_of(optimizer) if id(weight) in _kept]


def put(weight: ms.Parameter, value: Optional[ms.Tensor]) -> None:
    """Keep ``value``, of the shape of the weight, as its gradient; None forgets the one that is kept."""
    if value is None:
        _kept.pop(id(weight), None)
        return
    _known[id(weight)] = weight
    old = of(weight)
    if old is None or old.dtype != value.dtype:
        _kept[id(weight)] = (weight, _parameter(value))
    elif old is not value:
        ops.assign(old, value)


def _parameter(value: ms.Tensor) -> ms.Parameter:
    made = ms.Parameter(ops.stop_gradient(value).copy(), requires_grad=False)
    made.is_gradient = True  # its text is that of a tensor
    return made


def _replace(weight: ms.Parameter, value: ms.Tensor) -> None:
    """Keep a gradient that nothing else holds in place of another one, if there is one."""
    old = _kept.get(id(weight), (weight, None))[1]
    if isinstance(old, ms.Parameter):
        put(weight, value)
    else:
        _known[id(weight)] = weight
        _kept[id(weight)] = (weight, value)


def reset(*owners: Any, set_to_none: bool = True) -> None:
    """Forget the gradients kept for the weights of optimizers or networks, or make them zeros."""
    weights = weights_of(owners)
    expect(weights)
    for weight in weights:
        if not set_to_none and id(weight) in _kept:
            put(weight, ops.zeros_like(_value(weight)))
        else:
            _kept.pop(id(weight), None)


def keep(weights: Iterable[ms.Parameter], grads: Iterable[ms.Tensor]) -> None:
    """Add gradients, one for each weight, to those that are kept."""
    for weight, grad in zip(weights, grads):
        old = _kept.get(id(weight))
        _replace(weight, grad if old is None else old[1] + grad)


def hand_over(weights: Iterable[ms.Parameter], grads: Iterable[ms.Tensor]) -> None:
    """Let the function that is given the loss next, and takes the step for it, have its gradients.

    loss, grads = grad_fn(x, y)
    gradients.hand_over(optimizer.parameters, grads)
    loss_scaler(loss, optimizer)                       # calls take_over() where PyTorch's calls loss.backward()
    """
    _handed[:] = [(weights, grads)]


def take_over(create_graph: bool = False) -> None:
    """Add the gradients that were handed over with a loss to those that are kept.

    Raises RuntimeError where none were, and NotImplementedError for gradients that are to be differentiated again.
    """
    if create_graph:
        raise NotImplementedError("the gradients of a loss that is handed over cannot be differentiated again")
    if not _handed:
        raise RuntimeError("the loss came without its gradients: call gradients.hand_over(weights, grads) before")
    keep(*_handed.pop())


def update(optimizer: Any, closure: Optional[Callable[[], Any]] = None) -> Any:
    """Let an optimizer use the gradients kept for its weights; without any it does nothing.

    ``closure`` computes the gradients anew, and returns the loss, or the loss and the gradients in the order of the
    weights. The loss is returned here.

    A weight without a gradient beside others that have one stays as it is, and so do its moments; only the steps are
    counted for all weights together by MindSpore's optimizers. An :class:`Optimizer` asks for the gradients itself, and
    so does an object that holds an optimizer, in a ``step`` of its own.
    """
    if (
        isinstance(optimizer, _Stepping)
        or _held(optimizer) is not optimizer
        or getattr(optimizer, "has_own_step", False)
    ):
        return optimizer.step() if closure is None else optimizer.step(closure)
    return update_by(optimizer, optimizer, closure)


def update_by(optimizer: Any, take: Callable[[Any], Any], closure: Optional[Callable[[], Any]] = None) -> Any:
    """Do what :func:`update` does for an optimizer whose ``take`` uses the gradients of all its weights."""
    loss = None if closure is None else closure()
    if isinstance(loss, tuple):
        take(loss[1])
        return loss[0]
    weights = optimizer.parameters
    found = [_kept.get(id(weight)) for weight in weights]
    if all(kept is None for kept in found):
        return loss
    left = [index for index, kept in enumerate(found) if kept is None]
    saved = [(slot[index], slot[index].value().copy()) for slot in _slots(optimizer) for index in left] if left else []
    take(tuple(ops.zeros_like(w) if kept is None else _value(w) for w, kept in zip(weights, found)))
    for parameter, value in saved:
        ops.assign(parameter, value)
    return loss


def _slots(optimizer: Any) -> List[Sequence[ms.Parameter]]:
    """Return the weights of an optimizer, and each list of what it keeps of them."""
    held = {**vars(optimizer), **getattr(optimizer, "_params_list", {})}
    lists = {id(value): value for value in held.values() if isinstance(value, (tuple, list))}
    rates = getattr(optimizer, "lrs", None)
    members = [value for value in lists.values() if value is not rates and len(value) == len(optimizer.parameters)]
    return [value for value in members if all(isinstance(one, ms.Parameter) for one in value)]


def clip_norm(weights: Any, max_norm: float, norm_type: float = 2.0, **_: Any) -> ms.Tensor:
    """Scale the gradients kept for ``weights`` so that their norm is at most ``max_norm``; return it as it was."""
    held = [weight for weight in weights_of([weights]) if id(weight) in _kept]
    if not held:
        return ms.Tensor(0.0)
    grads, norm = autograd.clip_grad_norm([_value(weight) for weight in held], max_norm, norm_type)
    for weight, grad in zip(held, grads):
        _replace(weight, grad)
    return norm


def clip_value(weights: Any, limit: float, **_: Any) -> None:
    """Hold every element of the gradients kept for ``weights`` between ``-limit`` and ``limit``."""
    held = [weight for weight in weights_of([weights]) if id(weight) in _kept]
    for weight, grad in zip(held, autograd.clip_grad_value([_value(weight) for weight in held], limit)):
        _replace(weight, grad)


def _value(weight: ms.Parameter) -> ms.Tensor:
    """The gradient kept for a weight, as a tensor that a later change of what is kept does not reach."""
    kept = _kept[id(weight)][1]
    return kept.value() if isinstance(kept, ms.Parameter) else kept


class _Required:
    """What an optimizer's option has for its default when every group of weights must give it."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


class _Stepping:
    """What takes its steps by the gradients that it finds with the weights, ``self.parameters``."""

    parameters: Any

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients kept for the weights, or make them zeros."""
        reset(self, set_to_none=set_to_none)

    def step(self) -> Any:
        """Change the weights."""
        raise NotImplementedError(f"{type(self).__name__} defines no step")

    def _step_by(self, gradients: Iterable[ms.Tensor]) -> Any:
        """Take one step with these gradients, in the order of the weights."""
        reset(self)
        keep(self.parameters, gradients)
        result = self.step()
        reset(self)
        return result


class Holder(_Stepping):
    """Base of objects that stand for the optimizer which they hold, and take its steps: Lookahead.

    They are called like MindSpore's, ``holder(grads)``, and their ``step`` finds the gradients with the weights.
    """

    @property
    def parameters(self) -> List[ms.Parameter]:
        """The weights of the optimizer that is held, or those of the object's own groups."""
        if _held(self) is not self:
            return parameters_of(self)
        return [weight for group in getattr(self, "param_groups", ()) for weight in group.get("params", ())]

    def __call__(self, gradients: Iterable[ms.Tensor]) -> Any:
        """Take one step with these gradients, in the order of the weights."""
        return self._step_by(gradients)


class Optimizer(_Stepping, _Base):
    """Base of optimizers whose ``step`` asks each weight for its gradient: ``gradients.of(weight)``.

    They are called like MindSpore's, ``optimizer(grads)``. ``self.state[weight]`` is a dictionary for what the step
    remembers. Raises NotImplementedError where a class defines no ``step``.
    """

    def __init__(self, params: Any, defaults: Dict[str, Any]) -> None:
        params = list(params)
        given = {name: value for name, value in defaults.items() if value is not required}
        groups = [group for group in params if isinstance(group, dict)] or [{}]
        for name in defaults:
            if name not in given and any(name not in group for group in groups):
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
        super().__init__(params, {"lr": 0.0, **given})
        self.defaults = defaults

    def construct(self, gradients: Iterable[ms.Tensor]) -> Any:
        """Take one step with these gradients, in the order of ``self.parameters``."""
        return self._step_by(gradients)

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__dict__.update(state)

    def numbered(self) -> Dict[Any, Any]:
        """Return what the steps remember by the number of the weight, or by a key of the program's own."""
        numbers = {id(weight): index for index, weight in enumerate(self.parameters)}
        own = {numbers.get(id(key), key): value for key, value in self.state.items() if value}
        return {key: {**value} if isinstance(value, dict) else value for key, value in own.items()}

    def load_numbered(self, numbered: Mapping[Any, Any]) -> None:
        """Go back to what :meth:`numbered` told, maybe in another process."""
        self.state.clear()
        for key, value in numbered.items():
            owner = self.parameters[key] if isinstance(key, int) else key
            self.state[owner] = {name: _own(one) for name, one in value.items()} if isinstance(value, dict) else value


def _own(value: Any) -> Any:
    """Return a copy of what a step may write into."""
    if isinstance(value, (list, tuple)):
        return type(value)(_own(one) for one in value)
    return value.copy() if isinstance(value, ms.Tensor) else value
