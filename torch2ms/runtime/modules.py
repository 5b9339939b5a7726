"""What PyTorch's Module can say of its parts and MindSpore's Cell cannot.

A Cell keeps running statistics (BatchNorm's ``moving_mean``) and other buffers as parameters that need no gradient, and
``get_parameters`` lists them with the weights. PyTorch's ``parameters`` are the weights, frozen ones included, without
any buffer: that is what the functions here give.
"""

from __future__ import annotations

import re
import warnings
from operator import attrgetter
from types import MethodType
from typing import Any, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Set, Tuple, Union

import mindspore as ms
from mindspore import nn, ops

from .kinds import MINDSPORE_NAMES, kind_of
from .names import holds, other_names, torch_names, torch_order
from .state_hooks import run_load_hooks

__all__ = [
    "LoadResult",
    "add_module",
    "bias",
    "buffers",
    "cast",
    "class_name",
    "distinct",
    "extend",
    "get",
    "get_buffer",
    "get_parameter",
    "has",
    "insert",
    "is_exactly",
    "load_state_dict",
    "modules",
    "named_buffers",
    "named_parameters",
    "padding",
    "parameters",
    "pop",
    "register_buffer",
    "register_parameter",
    "requires_grad_",
    "saved_state",
    "state_dict",
    "weight",
    "write_into",
]

_WITH_INNER_CELLS = (nn.RNN, nn.GRU, nn.LSTM, nn.BatchNorm3d)
_STATISTICS = frozenset(["moving_mean", "moving_variance"])
_ABSENT = "_torch2ms_absent"  # attribute of a layer: parameters that MindSpore's has and PyTorch's has not (no affine)
# Attribute of a Cell: names of those of its parameters that are buffers, with how many of its own buffers it had before
_BUFFERS = "_torch2ms_buffers"
_UNSAVED = "_torch2ms_unsaved"  # of those, the names that no file of weights holds (persistent=False)


def _own(cell: nn.Cell, wanted: str) -> List[Tuple[str, Any]]:
    """Return the name and value of a Cell's own weights or buffers (``wanted``), without those of its children."""
    marked = cell.__dict__.get(_BUFFERS, {})
    absent = cell.__dict__.get(_ABSENT, ())
    found: List[Tuple[str, Any]] = []
    for name, value in cell._params.items():
        is_buffer = name in marked or (name in _STATISTICS and not value.requires_grad)
        if value is not None and name not in absent and is_buffer == (wanted == "buffers"):
            found.append((name, value))
    if wanted == "buffers":
        own = {name: value for name, value in getattr(cell, "_buffers", {}).items() if value is not None}
        found.extend((*own.items(), *_late_buffers(cell)))
        places = {name: (place, 1, 0) for place, name in enumerate(own)}
        places.update({name: (before, 0, place) for place, (name, before) in enumerate(marked.items())})
        found.sort(key=lambda entry: places.get(entry[0], (-1, 0, 0)))
    return torch_order(found)


def _late_buffers(cell: nn.Cell) -> List[Tuple[str, ms.Tensor]]:
    """Return the buffers that were registered as None, and are tensors now."""
    late = [name for name in cell.__dict__.get(_BUFFERS, ()) if name not in cell._params]
    found = [(name, getattr(cell, name, None)) for name in late]
    return [(name, value) for name, value in found if isinstance(value, ms.Tensor)]


def _walk(cell: nn.Cell, wanted: str, prefix: str, recurse: bool) -> Iterator[Tuple[str, Any]]:
    seen = set()
    for path, part in cell.cells_and_names() if recurse else [("", cell)]:
        start = ".".join(word for word in (prefix, path) if word)
        for name, value in _own(part, wanted):
            if id(value) not in seen:
                seen.add(id(value))
                yield (f"{start}.{name}" if start else name), value


def parameters(cell: nn.Cell, recurse: bool = True) -> Iterator[ms.Parameter]:
    """Yield the weights of a network, frozen ones included, buffers and running statistics not.

    A class of the program that has a method of this name is asked for its own.
    """
    if own := getattr(cell, "parameters", None):  # of super(): of the classes behind it
        return own() if recurse else own(recurse)  # type: ignore[no-any-return]
    return (value for _, value in _walk(cell, "parameters", "", recurse))


def named_parameters(cell: nn.Cell, prefix: str = "", recurse: bool = True) -> Iterator[Tuple[str, ms.Parameter]]:
    """Yield path and value of the weights of a network, frozen ones included, buffers and running statistics not.

    The paths are PyTorch's (``norm.weight``, not ``norm.gamma``): programs choose weights by them. As above otherwise.
    """
    if own := getattr(cell, "named_parameters", None):
        return own() if recurse and not prefix else own(prefix, recurse)  # type: ignore[no-any-return]
    return _named(cell, "parameters", prefix, recurse)


def _named(cell: nn.Cell, wanted: str, prefix: str, recurse: bool) -> Iterator[Tuple[str, Any]]:
    """Yield what :func:`_walk` does under PyTorch's paths."""
    names = torch_names(cell)
    for path, value in _walk(cell, wanted, "", recurse):
        path = names.get(path, path)
        yield (f"{prefix}.{path}" if prefix else path), value


def buffers(cell: nn.Cell, recurse: bool = True) -> Iterator[Any]:
    """Yield the buffers of a network: what it registered as such, and running statistics."""
    for _, value in named_buffers(cell, "", recurse):
        yield value


def named_buffers(cell: nn.Cell, prefix: str = "", recurse: bool = True) -> Iterator[Tuple[str, Any]]:
    """Yield path (PyTorch's) and value of the buffers of a network, counts of batches as :func:`state_dict` does."""
    counts, names = _counts(cell), torch_names(cell)
    for place, value in _walk(cell, "buffers", "", recurse):
        path = names.get(place, place)
        yield (f"{prefix}.{path}" if prefix else path), value
        if place.endswith("moving_variance") and path.endswith("running_var"):  # not a buffer of a program's own
            holder = path[: -len("running_var")]
            name = f"{holder}num_batches_tracked"
            yield (f"{prefix}.{name}" if prefix else name), counts.get(holder, ms.Tensor(0, ms.int64))


def modules(cell: nn.Cell) -> Iterator[nn.Cell]:
    """Yield a network and all its parts, every one once; what PyTorch's layers have no parts for is left out."""
    inner: Set[int] = set()
    for _, part in cell.cells_and_names():
        if isinstance(part, _WITH_INNER_CELLS):
            inner.update(id(child) for _, child in part.cells_and_names() if child is not part)
        if id(part) not in inner:
            yield part


def requires_grad_(cell: nn.Cell, requires_grad: bool = True) -> nn.Cell:
    """Freeze the weights of a network, or free them; return it."""
    for parameter in parameters(cell):
        parameter.requires_grad = requires_grad
    return cell


def cast(cell: nn.Cell, dtype: Any) -> nn.Cell:
    """Give the weights and buffers of a network another floating type, as ``net.double()`` does; return the network.

    MindSpore has no kernels of bfloat16 on CPU for products of matrices and nearly all else (2.7 to 2.10): there the
    values are rounded to bfloat16 and held in float32, and a warning says so.
    """
    if dtype == getattr(ms, "bfloat16", "") and ms.get_context("device_target") == "CPU":
        warnings.warn(
            "MindSpore cannot compute in bfloat16 on CPU: weights are rounded to it, and used in float32", stacklevel=2
        )
        cell, dtype = _given(cell, dtype), ms.float32
    return _given(cell, dtype)


def _given(cell: nn.Cell, dtype: Any) -> nn.Cell:
    for _, parameter in cell.parameters_and_names():
        if parameter.is_floating_point():
            parameter.set_dtype(dtype)
    for _, part in cell.cells_and_names():
        own = getattr(part, "_buffers", {})
        own.update({name: value.astype(dtype) for name, value in own.items() if _is_floating(value)})
    return cell


def _is_floating(value: Any) -> bool:
    return isinstance(value, ms.Tensor) and bool(value.is_floating_point())


def register_buffer(cell: nn.Cell, name: str, tensor: Any, persistent: bool = True) -> Any:
    """Give ``cell`` a buffer that may be assigned to later, and return it: a parameter that needs no gradient.

    Files of weights hold it unless ``persistent`` is False. ``None`` becomes a plain attribute.
    """
    before = len(getattr(cell, "_buffers", ()))
    cell.__dict__[_BUFFERS] = {**cell.__dict__.get(_BUFFERS, {}), name: before}
    unsaved = frozenset(cell.__dict__.get(_UNSAVED, ())) - {name}
    cell.__dict__[_UNSAVED] = unsaved if persistent else unsaved | {name}
    if tensor is None:
        return setattr(cell, name, None)
    made = ms.Parameter(tensor if isinstance(tensor, ms.Tensor) else ms.Tensor(tensor), requires_grad=False)
    for held in (name, *(other for other in other_names(cell, name) if other in cell._params)):
        setattr(cell, held, made)  # in place of what a normalisation of MindSpore has under its own name
    if not made.is_floating_point() and not made.is_complex():
        made.set_data = MethodType(_take, made)
    return made


def _take(buffer: ms.Parameter, data: Any, slice_shape: bool = False) -> Any:
    """Take what is assigned to a buffer of ints or bools, floats as well: in PyTorch the attribute is bound anew."""
    if isinstance(data, ms.Tensor) and (_is_floating(data) or buffer.dtype == ms.bool_) and data.dtype != buffer.dtype:
        buffer.set_dtype(data.dtype)
    return ms.Parameter.set_data(buffer, data, slice_shape)


def distinct(parameters: Iterable[Any]) -> List[Any]:
    """Return parameters, or groups of them, as a list an optimizer takes: no two with one name.

    An optimizer tells parameters apart by name. Those of two networks often share names; the later ones get a number
    after theirs, as those without a name do, which it would name by their places. Paths in a ``state_dict`` stay.
    """
    taken: Dict[str, ms.Parameter] = {}

    def named(parameter: ms.Parameter) -> ms.Parameter:
        name, number = parameter.name, 1
        own = name.partition("#")[0] == "Parameter"  # MindSpore's: an optimizer replaces it
        given = "Parameter" if own else name
        while own or taken.setdefault(name, parameter) is not parameter:
            number += 1
            name, own = f"{given}.{number}", False
        if name != parameter.name:
            parameter.name = name
        return parameter

    found: List[Any] = []
    for item in parameters:
        if isinstance(item, dict):
            inner = item["params"]
            group = [inner] if isinstance(inner, ms.Parameter) else list(inner)
            found.append({**item, "params": [named(parameter) for parameter in group]})
        else:
            found.append(named(item))
    return found


def add_module(cell: nn.Cell, name: str, module: Union[nn.Cell, None]) -> None:
    """Give ``cell`` a child; a SequentialCell also runs it last.

    The names of parameters may hold letters, digits, dots and dashes; what else is in ``name`` is an underscore there.
    """
    if module is not None:
        prefix = re.sub(r"[^\w.-]", "_", name, flags=re.ASCII)
        module.update_parameters_name(f"{prefix}.")
    cell.insert_child_to_cell(name, module)
    if isinstance(cell, nn.SequentialCell) and module is not None:
        cell._is_dynamic_name.append(name.isdigit())
        cell.cell_list = list(cell._cells.values())


def extend(cells: nn.SequentialCell, others: Iterable[nn.Cell]) -> nn.SequentialCell:
    """Run the cells of ``others`` after those that are there; return the first container."""
    for other in others:
        cells.append(other)
    return cells


def insert(cells: nn.SequentialCell, index: int, module: nn.Cell) -> nn.SequentialCell:
    """Run ``module`` before the cell number ``index`` (negative: from the end); return the container."""
    order = list(cells)
    order.insert(index, module)
    return _refill(cells, order)


def pop(cells: nn.SequentialCell, key: int) -> nn.Cell:
    """Take the cell number ``key`` out and return it."""
    order = list(cells)
    taken = order.pop(key)
    _refill(cells, order)
    return taken


def _refill(cells: nn.SequentialCell, order: List[nn.Cell]) -> nn.SequentialCell:
    """Let a container run the cells in ``order``, which it numbers anew."""
    cells._cells.clear()
    cells._is_dynamic_name = [True] * len(order)
    for index, part in enumerate(order):
        cells._cells[str(index)] = part
        for path, parameter in part.parameters_and_names():
            parameter.name = f"{index}.{path}"
    cells.cell_list = order
    return cells


def register_parameter(cell: nn.Cell, name: str, param: Union[ms.Parameter, None]) -> None:
    """Give ``cell`` a parameter, or None in the place of one; a layer whose bias is None computes without."""
    setattr(cell, name, param)
    if name == "bias" and param is None and hasattr(cell, "has_bias"):
        cell.has_bias = False


def _get(cell: nn.Cell, target: str, wanted: str) -> Any:
    """Return what stands at a path, whose last part may be PyTorch's name of it."""
    names = torch_names(cell)
    for name, value in _walk(cell, wanted, "", True):
        if target in (name, names.get(name)):
            return value
    raise AttributeError(f"{type(cell).__name__} has no {wanted[:-1]} {target!r}")


def get_parameter(cell: nn.Cell, target: str) -> ms.Parameter:
    """Return the weight at a path such as ``"layers.0.weight"``. Raises AttributeError where there is none."""
    return _get(cell, target, "parameters")


def get_buffer(cell: nn.Cell, target: str) -> Any:
    """Return the buffer at a path. Raises AttributeError where there is none."""
    return _get(cell, target, "buffers")


class LoadResult(NamedTuple):
    """What ``load_state_dict`` did not find on either side."""

    missing_keys: List[str]
    unexpected_keys: List[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


def saved_state(cell: nn.Cell) -> Dict[str, Any]:
    """Return what a file of weights holds of a network: every parameter, every buffer that is not left out."""
    state = dict(cell.state_dict() if hasattr(cell, "state_dict") else cell.parameters_and_names())
    for path, part in cell.cells_and_names():
        state.update((f"{path}.{name}" if path else name, value) for name, value in _late_buffers(part))
        for name in part.__dict__.get(_UNSAVED, ()):
            state.pop(f"{path}.{name}" if path else name, None)
    return state


def state_dict(cell: nn.Cell, prefix: str = "") -> Dict[str, Any]:
    """Return weights and saved buffers of a network under PyTorch's names, in PyTorch's order.

    The values are the network's own parameters. For programs that read, count or choose by the names; files of weights
    keep MindSpore's (:func:`saved_state`), and :func:`load_state_dict` takes both. MindSpore's BatchNorm counts no
    batches: its ``num_batches_tracked`` is 0, as in converted weights (those of ``layers.counted`` have their count).
    """
    found: Dict[str, Any] = {}
    for path, part in _in_torch_order(cell, ""):
        unsaved = {*getattr(part, "_non_persistent_buffers_set", ()), *part.__dict__.get(_UNSAVED, ())}
        for name, value in [*_own(part, "parameters"), *_own(part, "buffers")]:
            if name not in unsaved:
                found[f"{path}.{name}" if path else name] = value
    names = torch_names(cell)
    counts = _counts(cell)
    result: Dict[str, Any] = {}
    for place, value in found.items():
        path = prefix + names.get(place, place)
        result[path] = value
        if place.endswith("moving_variance") and path.endswith("running_var"):  # not a buffer of a program's own
            holder = path[len(prefix) : -len("running_var")]
            result[f"{prefix}{holder}num_batches_tracked"] = counts.get(holder, ms.Tensor(0, ms.int64))
    return result


def _counts(cell: nn.Cell) -> Dict[str, Any]:
    """Return the counts of batches by the place of the normalisation, with the dot behind it."""
    return {f"{path}." if path else "": part.num_batches_tracked for path, part in _counting(cell)}


def _counting(cell: nn.Cell) -> List[Tuple[str, Any]]:
    """Return the normalisations of a network that count their batches, with their places."""
    parts = list(cell.cells_and_names())
    return [(path, part) for path, part in parts if part.__dict__.get("num_batches_tracked") is not None]


def _in_torch_order(cell: nn.Cell, path: str) -> Iterator[Tuple[str, nn.Cell]]:
    """Yield a network and its parts, a part that has two places under both, as PyTorch's state_dict does."""
    yield path, cell
    for name, child in cell._cells.items():
        if child is not None:
            yield from _in_torch_order(child, f"{path}.{name}" if path else name)


def write_into(target: ms.Tensor, value: ms.Tensor) -> None:
    """Copy ``value`` into a parameter or a buffer, in the dtype that this has.

    Not with ``set_data``: a parameter set after the first step of an optimizer trains no more (MindSpore 2.10). What
    was made as a view (``ops.tril(x).view(1, 1, n, n)``), or filled by ``target[:] = value``, refuses ``assign``.
    """
    try:
        ops.assign(target, value.astype(target.dtype))  # averages of integers are none; Assign refuses them
    except RuntimeError as error:
        if "view" not in str(error):
            raise
        target.copy_(value)  # not assign_value: what was computed just before may see the new values


def load_state_dict(cell: nn.Cell, state_dict: Mapping[str, Any], strict: bool = True) -> LoadResult:
    """Copy ``state_dict`` into the parameters and buffers of ``cell``, under PyTorch's names or MindSpore's.

    ``Cell.load_state_dict`` of MindSpore 2.10 replaces the data of the parameters, and an optimizer that has stepped
    before then changes them no more; here the values are assigned. Raises RuntimeError for names that are missing or
    unexpected when ``strict``, and for shapes that differ always.
    """
    state_dict = dict(state_dict)
    told = run_load_hooks(cell, state_dict, strict)
    absent = {f"{path}.{name}" if path else name for path, part in cell.cells_and_names()
              for name in part.__dict__.get(_ABSENT, ())}  # fmt: skip
    own = {name: value for name, value in saved_state(cell).items() if name not in absent}
    names = torch_names(cell)
    source = {name: names.get(name, name) if names.get(name, name) in state_dict else name for name in own}
    means = [path for path in names.values() if path.rpartition(".")[2] == "running_mean"]
    counters = {f"{path[: -len('running_mean')]}num_batches_tracked" for path in means}
    missing: List[str] = [names.get(name, name) for name in own if source[name] not in state_dict]
    used = {*source.values(), *own, *counters}
    unexpected = [name for name in state_dict if name not in used]
    found = {name: _fitting(state_dict[source[name]], own[name]) for name in own if source[name] in state_dict}
    wrong = [source[name] for name, value in found.items() if value is None]
    problems = [*told, *([f"size mismatch for {', '.join(wrong)}"] if wrong else [])]
    if strict and missing:
        problems.append(f"missing: {', '.join(missing)}")
    if strict and unexpected:
        problems.append(f"unexpected: {', '.join(unexpected)}")
    if problems:
        raise RuntimeError(f"cannot load the state of {type(cell).__name__}: {'; '.join(problems)}")
    for name, value in found.items():
        write_into(own[name], value)
    for path, part in _counting(cell):
        count = state_dict.get(f"{path}.num_batches_tracked" if path else "num_batches_tracked")
        part.num_batches_tracked = part.num_batches_tracked if count is None else count
    return LoadResult(missing, unexpected)


def _fitting(value: Any, own: Any) -> Any:
    """Return ``value`` as a tensor like ``own``, None where the shapes differ.

    PyTorch's one-dimensional convolutions have three axes, MindSpore's a fourth of size 1.
    """
    value = ms.Tensor(value)
    if value.ndim == 3 and tuple(own.shape) == (*value.shape[:2], 1, value.shape[2]):
        value = ops.expand_dims(value, 2)
    return value.astype(own.dtype) if tuple(value.shape) == tuple(own.shape) else None


def weight(layer: nn.Cell) -> Any:
    """Return the parameter of a layer that PyTorch calls ``weight``: ``gamma`` of a normalisation layer, for example.

    Raises AttributeError where the layer has none.
    """
    return _member(layer, "weight")


def bias(layer: nn.Cell) -> Any:
    """Return the parameter of a layer that PyTorch calls ``bias``, or None. Raises AttributeError as :func:`weight`."""
    return _member(layer, "bias")


def has(layer: Any, name: str) -> bool:
    """Whether a layer has what PyTorch calls ``name``: ``weight``, ``running_mean``."""
    return any(holds(layer, candidate) for candidate in (name, *other_names(layer, name)))


def get(layer: Any, name: str, *default: Any) -> Any:
    """Return what PyTorch calls ``name`` of a layer, or ``default``, as ``getattr`` does."""
    for candidate in (name, *other_names(layer, name)):
        if holds(layer, candidate):
            absent = getattr(layer, "__dict__", {}).get(_ABSENT, ())
            return None if candidate in absent else attrgetter(candidate)(layer)
    return getattr(layer, name, *default)


def _member(layer: nn.Cell, name: str) -> Any:
    if not has(layer, name):
        raise AttributeError(f"{type(layer).__name__} has no {name}")
    return get(layer, name)


def class_name(value: Any) -> str:
    """Return the name of a value's class; of MindSpore's layers that which PyTorch's have."""
    name = type(value).__name__
    is_layer = isinstance(value, nn.Cell) and type(value).__module__.startswith("mindspore.")
    return MINDSPORE_NAMES.get(name, name) if is_layer else name


def is_exactly(value: Any, classes: Any) -> bool:
    """``type(value) in classes`` as PyTorch has it: a layer of this package counts as MindSpore's of its kind."""
    listed = classes if isinstance(classes, tuple) else (classes,)
    return kind_of(type(value)) in [kind_of(item) for item in listed]


def padding(layer: nn.Cell) -> Any:
    """Return the padding of a convolution as PyTorch has it: one int an axis, or "same"."""
    known = getattr(layer, "torch_padding", None)
    if known is not None:
        return known
    if layer.pad_mode != "pad":
        return layer.pad_mode
    value = layer.padding
    axes = len(layer.kernel_size) if not isinstance(layer, (nn.Conv1d, nn.Conv1dTranspose)) else 1
    return (value,) * axes if isinstance(value, int) else tuple(value[::2])
