"""Parts of a network that a program exchanges or takes away after the network was made; buffers that it binds anew.

A ``SequentialCell`` runs what it was made of: it keeps a list beside the dictionary of its parts, and neither
``setattr``, ``del`` nor a change of the dictionary reaches that list. PyTorch's Sequential runs what it holds.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, Union

import mindspore as ms
from mindspore import nn, ops

from .modules import _refill
from .names import holds, other_names

__all__ = [
    "begun",
    "behind",
    "delete_at",
    "delete_part",
    "set_buffer",
    "set_parameter",
    "set_part",
    "set_statistic",
    "sliced",
    "take_part",
]


def set_part(cell: Any, name: Any, value: Any) -> None:
    """Set an attribute; a Sequential whose part it is runs the new one in the place of the old.

    What is no name (``net._modules[layer] = layer``) is counted, as the parts of a Sequential are.
    """
    name = name if isinstance(name, str) else str(len(cell._cells))
    setattr(cell, name, value)
    if isinstance(cell, nn.SequentialCell) and name in cell._cells:
        while len(cell._is_dynamic_name) < len(cell._cells):
            cell._is_dynamic_name.append(name.isdigit())
        _run_all(cell)


def set_buffer(cell: nn.Cell, name: str, value: ms.Tensor) -> None:
    """Bind a buffer of ``cell.register_buffer`` anew, with the gradient that flows through ``value``.

    Cell refuses ``cell.name = value`` for its buffers.
    """
    cell._buffers[name] = value


def set_parameter(layer: Any, name: str, parameter: Any) -> None:
    """Set what PyTorch calls ``weight`` or ``bias`` of a layer: under MindSpore's name, with the path of the old one.

    A parameter that is set in the place of another would only be called "weight", and optimizers refuse two of that
    name. A layer that was made without a bias computes with one from then on.
    """
    held = [path for path in (name, *other_names(layer, name)) if isinstance(layer, nn.Cell) and holds(layer, path)]
    holder, _, last = (held[0] if held else name).rpartition(".")
    owner = getattr(layer, holder) if holder else layer
    old = getattr(owner, last, None)
    beside = next((p for p in owner.get_parameters(expand=False) if "." in p.name), None) if held else None
    if isinstance(old, ms.Parameter):
        parameter.name = old.name
    elif beside is not None:
        parameter.name = f"{beside.name.rpartition('.')[0]}.{last}"
    setattr(owner, last, parameter)
    if name == "bias" and hasattr(owner, "has_bias"):
        owner.has_bias = True
        if not hasattr(owner, "bias_add"):
            owner.bias_add = ops.BiasAdd()


def set_statistic(layer: Any, name: str, value: Any) -> None:
    """Set what PyTorch calls ``running_mean`` or ``running_var`` of a layer, of another size as well.

    Where there is none, it becomes an attribute, as in PyTorch.
    """
    held = [path for path in other_names(layer, name) if isinstance(layer, nn.Cell) and holds(layer, path)]
    old = attrgetter(held[0])(layer) if held else None
    if isinstance(old, ms.Parameter):
        old.set_data(ms.Tensor(value).astype(old.dtype))
    else:
        setattr(layer, name, value)


def delete_part(cell: Any, name: str) -> None:
    """Delete an attribute; a Sequential whose part it was runs without it, the others keep their names."""
    place = list(cell._cells).index(name) if isinstance(cell, nn.SequentialCell) and name in cell._cells else None
    delattr(cell, name)
    if place is not None:
        del cell._is_dynamic_name[place]
        _run_all(cell)


def take_part(cell: Any, name: str) -> Any:
    """Delete a part and return it: ``net._modules.pop("head")``."""
    taken = cell._cells[name]
    delete_part(cell, name)
    return taken


def delete_at(cells: nn.SequentialCell, index: Union[int, slice]) -> None:
    """``del cells[index]``: the parts that are left are numbered anew, as PyTorch's are, whatever they were called."""
    order = list(cells)
    del order[index]
    _refill(cells, order)


def sliced(cells: Any, index: slice) -> Any:
    """Return ``cells[index]``; MindSpore alone would name the parameters after their places there."""
    names = [(parameter, parameter.name) for parameter in cells.get_parameters()]
    made = cells[index]
    for parameter, name in names:
        parameter.name = name
    return made


def begun(cells: nn.SequentialCell, value: ms.Tensor, kind: str) -> ms.Tensor:
    """Return what the first layer of a Sequential makes of a value, where that is an activation of class ``kind``.

    PyTorch's, made with ``inplace=True``, changes the value itself, and everybody who reads it later sees that;
    :func:`behind` is the rest of the Sequential. Where another layer is the first, the value stays what it is.
    """
    first = _first(cells)
    return first(value) if type(first).__name__ == kind else value


def behind(cells: nn.SequentialCell, value: ms.Tensor, kind: str) -> ms.Tensor:
    """Return what a Sequential makes of a value that :func:`begun` has taken through its first layer.

    Raises:
        RuntimeError: the Sequential has hooks, which run when it is called as a whole.
    """
    if type(_first(cells)).__name__ != kind:
        return cells(value)
    if cells._forward_hook or cells._forward_pre_hook:
        raise RuntimeError(
            f"{cells.cls_name}: its first layer works in place in PyTorch; hooks of the whole would not run"
        )
    first, *others = cells
    if isinstance(first, nn.SequentialCell):
        value = behind(first, value, kind)
    for cell in others:
        value = cell(value)
    return value


def _first(cells: nn.Cell) -> nn.Cell:
    """Return the layer that gets what a Sequential gets, also where the first of it is a Sequential."""
    while isinstance(cells, nn.SequentialCell) and len(cells):
        cells = cells[0]
    return cells


def _run_all(cell: nn.SequentialCell) -> None:
    object.__setattr__(cell, "cell_list", list(cell._cells.values()))
