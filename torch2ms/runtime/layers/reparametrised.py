"""Layers whose weight is computed from other parameters: weight and spectral normalisation, and a program's own.

The parameters are called as torch calls them (``weight_g``, ``weight_v``), so that checkpoints carry over. The layer
keeps its class for ``isinstance``: it becomes an instance of a class derived from its own. What computes a weight is
a ``functools.partial`` that holds the layer, no closure: a copy of a network computes its weights from its own
parameters, and a network that is saved whole takes it along.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Dict, Optional, Tuple, Union

from mindspore import Parameter, Tensor, nn, ops

from .. import MADE_BY
from ..modules import register_buffer

__all__ = [
    "is_parametrised",
    "parametrised_spectral_norm",
    "parametrised_weight_norm",
    "register_parametrisation",
    "remove_parametrisations",
    "remove_spectral_norm",
    "remove_weight_norm",
    "spectral_norm",
    "weight_norm",
]

_TRANSPOSED = (nn.Conv1dTranspose, nn.Conv2dTranspose, nn.Conv3dTranspose)


class Reparametrised:
    """Comes before a layer's class: computes the weights anew, then calls the layer."""

    def construct(self, *inputs: Any, **options: Any) -> Any:
        """Return what the layer computes with weights of now."""
        for name, compute in self._torch2ms_weights.items():  # type: ignore[attr-defined]
            self.__dict__[name] = compute()  # no parameter: Cell.__setattr__ would take it for one
        return super(Reparametrised, self).construct(*inputs, **options)  # type: ignore[misc]


class _Holder(nn.Cell):
    """Holds parameters under a name of its own, and parts by name or number; never called."""

    def __contains__(self, name: str) -> bool:
        return name in self._cells

    def __getitem__(self, name: Union[str, int]) -> Any:
        return self._cells[str(name)]

    def __len__(self) -> int:
        return len(self._cells)


def weight_norm(module: Any, name: str = "weight", dim: Optional[int] = 0) -> Any:
    """Let ``module`` compute ``name`` as ``g * v / |v|``, with a norm for each place along ``dim`` (None: one norm)."""
    _split(module, module, name, f"{name}_g", f"{name}_v", dim)
    return module


def parametrised_weight_norm(module: Any, name: str = "weight", dim: Optional[int] = 0) -> Any:
    """Do the same under the names of ``torch.nn.utils.parametrizations``."""
    _split(module, _holder(module, name), name, "original0", "original1", dim)
    return module


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: Optional[int] = None
) -> Any:
    """Let ``module`` divide ``name`` by its largest singular value, found by iterations while it trains."""
    names = (f"{name}_orig", f"{name}_u", f"{name}_v")
    _divide(module, (module, module), name, names, (n_power_iterations, eps, dim), ("v", "u"))
    return module


def parametrised_spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: Optional[int] = None
) -> Any:
    """Do the same under the names of ``torch.nn.utils.parametrizations``."""
    holder, vectors = _holder(module, name), _Holder()
    holder.insert_child_to_cell("0", vectors)
    settings = (n_power_iterations, eps, dim)
    _divide(module, (holder, vectors), name, ("original", "_u", "_v"), settings, ("u", "v"))
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Make ``name`` a parameter again, with the value it has."""
    own = _own_name(module, name)
    computed: Dict[str, Any] = module.__dict__.get("_torch2ms_computed", {})
    compute = {**getattr(module, "_torch2ms_weights", {}), **computed}.get(own)
    if compute is None:
        raise ValueError(f"no normalisation of '{name}' in {module}")
    value = compute()
    for part in (f"{name}_g", f"{name}_v", f"{name}_orig", f"{name}_u"):
        module._params.pop(part, None)
    holder = module._cells.get("parametrizations")
    if holder is not None:
        holder._cells.pop(name, None)
        if not holder._cells:
            module._cells.pop("parametrizations")
    module.__dict__.pop(own, None)
    if computed.pop(own, None) is not None:
        module.__class__ = type(module).__mro__[1]
    elif not _without(module._torch2ms_weights, own):
        module.__class__ = type(module).__mro__[2]
    setattr(module, own, Parameter(value.copy(), name=own))
    return module


def _without(weights: Dict[str, Any], name: str) -> Dict[str, Any]:
    del weights[name]
    return weights


remove_spectral_norm = remove_weight_norm


def register_parametrisation(module: Any, tensor_name: str, parametrization: Any, unsafe: bool = False) -> Any:
    """Let ``module`` compute a weight as ``parametrization(original)``, whenever it is asked for.

    The first parametrization's ``right_inverse`` gives the original where it has one: one tensor, or a sequence of
    them, ``original0`` and so on, which it is called with. Later ones are applied to what the earlier ones give.
    """
    del unsafe  # PyTorch's checks of shape and dtype
    if is_parametrised(module, tensor_name):
        holder = module._cells["parametrizations"]._cells[tensor_name]
        holder.insert_child_to_cell(str(len(holder._cells)), parametrization)
        return module
    weight = take_parameter(module, tensor_name)
    holder = _holder(module, tensor_name)
    originals = {"original": weight}
    if hasattr(parametrization, "right_inverse"):
        found = parametrization.right_inverse(weight.value())
        parts = enumerate(found) if isinstance(found, (tuple, list)) else ()
        originals = {f"original{number}": part for number, part in parts} or {"original": found}
    for name, value in originals.items():
        place_parameter(holder, name, value, module, weight.requires_grad)
    holder.insert_child_to_cell("0", parametrization)

    own = _own_name(module, tensor_name)
    module.__dict__.setdefault("_torch2ms_computed", {})[own] = functools.partial(_chained, holder, tuple(originals))
    del module.__dict__[own]
    _name_by_path(module)
    cls: Any = type(module)
    module.__class__ = _asked(cls, own)
    return module


def _chained(holder: Any, names: Tuple[str, ...]) -> Any:
    """Return what the parametrizations of a holder make of its parameters ``names``."""
    first, *others = holder._cells.values()
    value = first(*(getattr(holder, name) for name in names))
    for other in others:
        value = other(value)
    return value


def _asked(cls: Any, name: str) -> Any:
    """Return a class derived from a layer's, which computes ``name`` whenever it is asked for."""
    return _asked_once(id(cls), cls, name)


@functools.cache
def _asked_once(number: int, cls: Any, name: str) -> Any:
    # ``number`` tells apart what counts as equal: this package's Embedding and MindSpore's (``Kind``)
    asked = property(lambda layer: layer._torch2ms_computed[name]())
    return type(cls.__name__, (cls,), {"__module__": __name__, MADE_BY: (_asked, (cls, name)), name: asked})


def _reparametrised(cls: Any) -> Any:
    """Return a class derived from a layer's, which computes weights before each call."""
    return _reparametrised_once(id(cls), cls)


@functools.cache
def _reparametrised_once(number: int, cls: Any) -> Any:
    made = (_reparametrised, (cls,))
    return type(cls.__name__, (Reparametrised, cls), {"__module__": __name__, MADE_BY: made})


def is_parametrised(module: Any, tensor_name: Optional[str] = None) -> bool:
    """Whether a layer computes a weight from others, under the names of ``torch.nn.utils.parametrizations``."""
    held = module._cells.get("parametrizations")
    return held is not None and (tensor_name is None or tensor_name in held._cells)


def remove_parametrisations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Make ``tensor_name`` a parameter again: with the value it has, or else the original."""
    held = module._cells.get("parametrizations")
    original = None if leave_parametrized or held is None else held._cells[tensor_name]._params.get("original")
    if not leave_parametrized and original is None:
        raise ValueError(f"{tensor_name} has no original of its own: remove it with leave_parametrized=True")
    module = remove_weight_norm(module, tensor_name)
    if original is not None:
        getattr(module, _own_name(module, tensor_name)).set_data(original)
    return module


def _holder(module: Any, name: str) -> Any:
    """Return a new cell ``parametrizations.NAME`` of a layer."""
    above = module._cells.get("parametrizations")
    if above is None:
        above = _Holder()
        module.insert_child_to_cell("parametrizations", above)
    made = _Holder()
    above.insert_child_to_cell(name, made)
    return made


def take_parameter(module: Any, name: str) -> Any:
    """Take a parameter out of a layer; it stays as a plain attribute until the first call computes it."""
    own = _own_name(module, name)
    weight = module._params.pop(own, None)
    if weight is None:
        raise ValueError(f"{type(module).__name__} has no parameter called {name!r} to normalise")
    module.__dict__[own] = weight
    module.__dict__["_torch2ms_path"] = weight.name[: -len(own)] if weight.name.endswith(own) else ""
    return weight


def _name_by_path(module: Any) -> None:
    """Name the parameters of a layer that a network has already: no optimizer takes two called ``original``."""
    path = module.__dict__.pop("_torch2ms_path", "")
    if path:
        module.update_parameters_name(path)


def _own_name(module: Any, name: str) -> str:
    """Return what MindSpore calls a parameter of a layer."""
    return "embedding_table" if name == "weight" and hasattr(module, "embedding_table") else name


def place_parameter(holder: Any, name: str, value: Tensor, layer: Any, trained: bool = True) -> Any:
    """Give ``holder`` a parameter; those of MindSpore's own Conv1d are converted."""
    shared = isinstance(value, Parameter)
    parameter = value if shared else Parameter(value, name=name, requires_grad=trained)
    holder.insert_param_to_cell(name, parameter)
    if _is_wide(layer, value):
        holder.__dict__.setdefault("_torch2ms_reshape", {})[name] = "conv1d"
    return parameter


def recompute(module: Any, name: str, compute: Callable[[], Tensor]) -> None:
    """Have ``module`` set ``name`` to ``compute()`` before each call."""
    weights: Dict[str, Callable[[], Tensor]] = module.__dict__.setdefault("_torch2ms_weights", {})
    weights[_own_name(module, name)] = compute
    _name_by_path(module)
    if not isinstance(module, Reparametrised):
        cls: Any = type(module)
        module.__class__ = _reparametrised(cls)


def _is_wide(module: Any, weight: Any) -> bool:
    """Whether a weight is one of MindSpore's own one-dimensional convolutions, which have a height of 1."""
    return isinstance(module, (nn.Conv1d, nn.Conv1dTranspose)) and weight.ndim == 4


def _axis(module: Any, weight: Any, dim: int) -> int:
    """Return torch's axis of a weight in MindSpore's; a negative one counts from torch's last."""
    if dim < 0:
        dim += weight.ndim - _is_wide(module, weight)
    return dim + 1 if dim >= 2 and _is_wide(module, weight) else dim


def _split(module: Any, holder: Any, name: str, length: str, direction: str, dim: Optional[int]) -> None:
    """Split a weight into length and direction, two parameters of ``holder``."""
    weight = take_parameter(module, name)
    kept = None if dim is None or dim == -1 else _axis(module, weight, dim)
    axes = tuple(axis for axis in range(weight.ndim) if axis != kept)

    settings = (axes, kept is not None)
    value = weight.value().copy()
    trained = weight.requires_grad
    place_parameter(holder, length, _norm(value, *settings), module, trained)
    place_parameter(holder, direction, value, module, trained)
    recompute(module, name, functools.partial(_joined, holder, length, direction, settings))


def _norm(tensor: Tensor, axes: Tuple[int, ...], keepdims: bool) -> Tensor:
    return ops.sqrt(ops.square(tensor).sum(axes, keepdims=keepdims))


def _joined(holder: Any, length: str, direction: str, settings: Tuple[Tuple[int, ...], bool]) -> Tensor:
    """Return the weight of which ``holder`` has length and direction."""
    v = getattr(holder, direction)
    return v * (getattr(holder, length) / _norm(v, *settings))


def _divide(
    module: Any,
    holders: Tuple[Any, Any],
    name: str,
    names: Tuple[str, str, str],
    settings: Tuple[int, float, Optional[int]],
    turns: Tuple[str, str],
) -> None:
    """Divide a weight by its largest singular value; ``turns``: which vector an iteration improves first."""
    weight = take_parameter(module, name)
    iterations, eps, dim = settings
    axis = _axis(module, weight, (1 if isinstance(module, _TRANSPOSED) else 0) if dim is None else dim)
    holder, vectors = holders
    original, left, right = names
    order = (axis, *(other for other in range(weight.ndim) if other != axis))

    value = weight.value().copy()
    height, width = _matrix(value, order).shape
    if holder is module:  # torch shares the numbers: who draws ``layer.weight`` anew before a call draws the original
        weight.name = original
    place_parameter(holder, original, weight if holder is module else value, module, weight.requires_grad)
    register_buffer(vectors, left, _unit(ops.randn(height), eps))
    register_buffer(vectors, right, _unit(ops.randn(width), eps))
    found = functools.partial(_divided, (module, holder, vectors), names, order, eps, turns * iterations)
    recompute(module, name, found)


def _matrix(tensor: Tensor, order: Tuple[int, ...]) -> Tensor:
    return tensor.transpose(order).reshape((tensor.shape[order[0]], -1))


def _unit(tensor: Tensor, eps: float) -> Tensor:
    return tensor / ops.sqrt(ops.square(tensor).sum()).clamp(eps, None)


def _divided(
    cells: Tuple[Any, Any, Any], names: Tuple[str, str, str], order: Tuple[int, ...], eps: float, turns: Tuple[str, ...]
) -> Tensor:
    """Return a weight over its largest singular value; ``cells``: the layer, who holds the weight, who the vectors."""
    module, holder, vectors = cells
    original, left, right = names
    tensor = getattr(holder, original)
    flat, u, v = _matrix(tensor, order), getattr(vectors, left), getattr(vectors, right)
    if module.training:
        fixed = ops.stop_gradient(flat)
        for turn in turns:
            if turn == "v":
                v.set_data(_unit((fixed * u.expand_dims(1)).sum(0), eps))
            else:
                u.set_data(_unit((fixed * v).sum(1), eps))
    u, v = ops.stop_gradient(u.value().copy()), ops.stop_gradient(v.value().copy())
    return tensor / (u * (flat * v).sum(1)).sum()
