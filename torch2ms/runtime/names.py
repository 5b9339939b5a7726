"""PyTorch's names of the weights of MindSpore's layers, and PyTorch's order of them.

Programs ask for names: ``if name.endswith(".bias")``, ``"bn" in name``, ``state["norm.weight"]``. MindSpore calls the
weights of some layers otherwise (``gamma``, ``beta``, ``embedding_table``). A network's own parameter of such a name
keeps it: what counts is the layer that holds it.
"""

from __future__ import annotations

import re
from typing import Any, Dict, Iterator, List, Tuple

from mindspore import nn

from .reserved import source_name

__all__ = ["holds", "other_names", "parts", "torch_names", "torch_order"]

_NAMES = {
    "gamma": "weight",
    "beta": "bias",
    "embedding_table": "weight",
    "moving_mean": "running_mean",
    "moving_variance": "running_var",
}
_LAYERS = frozenset(["_BatchNorm", "BatchNorm3d", "LayerNorm", "GroupNorm", "_InstanceNorm", "Embedding", "_Table"])
_INNER_LAYERS = {"dense1": "linear1", "dense2": "linear2"}  # of a transformer's layers
_RECURRENT = re.compile(r"(weight_ih|weight_hh|bias_ih|bias_hh|weight_hr)_l(\d+)(_reverse)?$")
_KINDS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")


def _is_layer(cell: Any) -> bool:
    """Whether a cell is a layer of MindSpore or of this package whose weights have names of their own."""
    return any(
        base.__name__ in _LAYERS and (base.__module__.startswith("mindspore.") or ".layers." in base.__module__)
        for base in type(cell).__mro__
    )


def torch_names(cell: Any) -> Dict[str, str]:
    """Return PyTorch's path of every parameter of a network whose path differs, by MindSpore's path."""
    found: Dict[str, str] = {}
    for path, holder, part in _paths(cell, "", ""):
        names = {"w": "weight"} if isinstance(part, nn.PReLU) else _NAMES if _is_layer(part) else {}
        for name in part._params:
            own, torch_name = _join(path, name), _join(holder, names.get(name, source_name(name)))
            if own != torch_name:
                found[own] = torch_name
    return found


# What else a layer of MindSpore may call what PyTorch calls so; BatchNorm3d keeps what it has in ``bn2d``
_OTHER_NAMES: Dict[str, Tuple[str, ...]] = {
    "weight": ("gamma", "embedding_table", "bn2d.gamma"),
    "bias": ("beta", "bn2d.beta"),
    "running_mean": ("moving_mean", "bn2d.moving_mean"),
    "running_var": ("moving_variance", "bn2d.moving_variance"),
    "num_embeddings": ("vocab_size",),
    "embedding_dim": ("embedding_size",),
}
_OF_OTHERS: Tuple[Tuple[type, Dict[str, Tuple[str, ...]]], ...] = (
    (nn.Dense, {"in_features": ("in_channels",), "out_features": ("out_channels",)}),
    (nn.PReLU, {"weight": ("w",), "num_parameters": ("w.size",)}),
    (nn.Cell, {"groups": ("group",)}),
)


def other_names(layer: Any, name: str) -> Tuple[str, ...]:
    """Return the paths at which a layer may have what PyTorch calls ``name``, besides that name.

    A network's own ``gamma`` or ``in_channels`` is not meant: it is called so in PyTorch as well.
    """
    found = next((names[name] for kind, names in _OF_OTHERS if isinstance(layer, kind) and name in names), ())
    return found or (_OTHER_NAMES.get(name, ()) if _is_layer(layer) else ())


def holds(layer: Any, path: str) -> bool:
    """Whether there is something at a path."""
    holder, _, last = path.rpartition(".")
    return hasattr(getattr(layer, holder, None) if holder else layer, last)


def parts(cell: Any) -> Iterator[Tuple[str, Any]]:
    """Yield every part of a network with the path it has in PyTorch, the network first."""
    for _, path, part in _paths(cell, "", ""):
        yield path, part


def _paths(cell: Any, path: str, torch_path: str) -> Iterator[Tuple[str, str, Any]]:
    """Yield every part of a network with its path and the path it has in PyTorch."""
    yield path, torch_path, cell
    is_transformer = isinstance(cell, (nn.TransformerEncoderLayer, nn.TransformerDecoderLayer))
    for name, child in cell._cells.items():
        if child is None:
            continue
        if name == "bn2d" and isinstance(cell, nn.BatchNorm3d):  # which keeps its parameters in an inner layer
            holder = torch_path
        else:
            holder = _join(torch_path, _INNER_LAYERS.get(name, name) if is_transformer else source_name(name))
        yield from _paths(child, _join(path, name), holder)


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def torch_order(entries: List[Tuple[str, Any]]) -> List[Tuple[str, Any]]:
    """Return the parameters of one cell in PyTorch's order: those of recurrent layers go layer by layer."""
    if not entries or not all(_RECURRENT.match(name) for name, _ in entries):
        return entries

    def place(entry: Tuple[str, Any]) -> Tuple[int, bool, int]:
        found = _RECURRENT.match(entry[0])
        assert found is not None
        return int(found[2]), bool(found[3]), _KINDS.index(found[1])

    return sorted(entries, key=place)
