"""Containers: of parameters, which MindSpore registers only as attributes, and Sequential as a base class."""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple

from mindspore import Parameter, Tensor, nn

from ..kinds import Kind

__all__ = ["ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


def _parameter(value: Any, name: str) -> Optional[Parameter]:
    """Return ``value`` as a parameter called ``name``; None, which a list may hold in the place of one, as it is."""
    if value is None:
        return None
    if isinstance(value, Parameter):
        value.name = name
        return value
    return Parameter(value if isinstance(value, Tensor) else Tensor(value), name=name)


def _in_place_of(old: Optional[Parameter], value: Any, name: str) -> Optional[Parameter]:
    """Return ``value`` as a parameter called what the one is whose place it takes, with the path in front."""
    made = _parameter(value, name)
    if made is not None and old is not None:
        made.name = old.name
    return made


class ParameterList(nn.Cell):
    """A list of parameters, registered as "0", "1", ... as in torch."""

    def __init__(self, values: Optional[Iterable[Any]] = None) -> None:
        super().__init__()
        self.count = 0
        self.extend(values or ())

    def append(self, value: Any) -> ParameterList:
        """Add a parameter (or a tensor, which becomes one) at the end."""
        name = str(self.count)
        self.insert_param_to_cell(name, _parameter(value, name), check_name_contain_dot=False)
        self.count += 1
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Add several parameters at the end."""
        for value in values:
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[Any]) -> ParameterList:
        return self.extend(values)

    def __len__(self) -> int:
        return int(self.count)

    def __iter__(self) -> Iterator[Parameter]:
        return iter([self[index] for index in range(self.count)])

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(self.count))]
        return self._params[self._name(index)]

    def __setitem__(self, index: int, value: Any) -> None:
        name = self._name(index)
        self._params[name] = _in_place_of(self._params[name], value, name)

    def _name(self, index: Any) -> str:
        position = int(index) + self.count if index < 0 else int(index)
        if not 0 <= position < self.count:
            raise IndexError(f"index {index} is out of range for {self.count} parameters")
        return str(position)


class ParameterDict(nn.Cell):
    """A dictionary of parameters, registered under its keys as in torch."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self.names: List[str] = []
        self.update(parameters or {})

    def update(self, parameters: Any) -> None:
        """Add the parameters of a dictionary, in the order of its names as torch does, or of (name, value) pairs."""
        pairs = list(parameters.items() if hasattr(parameters, "items") else parameters)
        if isinstance(parameters, dict) and not isinstance(parameters, OrderedDict):
            pairs.sort(key=lambda pair: pair[0])
        for name, value in pairs:
            self[name] = value

    def __setitem__(self, name: str, value: Any) -> None:
        if name in self.names:
            self._params[name] = _in_place_of(self._params[name], value, name)
            return
        self.insert_param_to_cell(name, _parameter(value, name))
        self.names = [*self.names, name]

    def __getitem__(self, name: str) -> Parameter:
        return self._params[name]

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def keys(self) -> List[str]:
        """Return the names in order of insertion."""
        return list(self.names)

    def values(self) -> List[Parameter]:
        """Return the parameters in order of insertion."""
        return [self._params[name] for name in self.names]

    def items(self) -> List[Tuple[str, Parameter]]:
        """Return (name, parameter) pairs in order of insertion."""
        return list(zip(self.names, self.values()))

    def get(self, name: str, default: Any = None) -> Any:
        """Return the parameter of a name, or ``default`` where there is none."""
        return self._params[name] if name in self.names else default

    def setdefault(self, name: str, default: Any = None) -> Parameter:
        """Return the parameter of a name; ``default`` becomes it where there is none."""
        if name not in self.names:
            self[name] = default
        return self[name]

    def pop(self, name: str) -> Parameter:
        """Take a parameter out and return it."""
        taken = self[name]
        del self[name]
        return taken

    def popitem(self) -> Tuple[str, Parameter]:
        """Take the parameter out that was put in last, and return its name and it."""
        name = self.names[-1]
        return name, self.pop(name)

    def clear(self) -> None:
        """Take all parameters out."""
        for name in list(self.names):
            del self[name]

    def __delitem__(self, name: str) -> None:
        del self._params[name]
        self.names = [other for other in self.names if other != name]

    def __reversed__(self) -> Iterator[str]:
        return reversed(self.names)

    def as_dict(self) -> Dict[str, Parameter]:
        """Return a plain dictionary of the parameters."""
        return dict(self.items())


_CellDict: Any = getattr(nn, "CellDict", nn.Cell)  # MindSpore 2.0 has none


class _Placed(nn.Cell, metaclass=Kind):
    """A container that knows under which name it was put into a network, for what it is given later.

    MindSpore names the parameters of a part when the part is added, and a container that was empty until then knows no
    name of its own: those of two lists would be the same, which an optimizer refuses.
    """

    place = ""

    def update_parameters_name(self, prefix: str = "", recurse: bool = True) -> None:
        """Put ``prefix`` in front of the names of all parameters, and of those that come later."""
        object.__setattr__(self, "place", prefix + self.place)
        super().update_parameters_name(prefix, recurse)

    def rename_parts(self, *keys: str) -> None:
        """Name the parameters of some parts after their keys."""
        for key in keys:
            for path, parameter in self._cells[key].parameters_and_names():
                parameter.name = f"{self.place}{key}.{path}"


class ModuleDict(_Placed, _CellDict):
    """``mindspore.nn.CellDict`` that holds networks of any kind: CellDict refuses lists and sequences of layers.

    ``modules``: a mapping, or pairs of names and networks. (CellDict ignores keywords silently.)
    """

    def __init__(self, modules: Optional[Any] = None) -> None:
        super().__init__()
        # graph mode takes what is marked so for a dictionary, which has no attributes and is not called
        self.__dict__.pop("__cell_as_dict__", None)
        if modules is not None:
            self.update(modules)

    def __setitem__(self, key: str, cell: nn.Cell) -> None:
        super().__setitem__(key, cell)
        self.rename_parts(key)

    def update(self, cells: Any) -> None:
        """Add the networks of a mapping, or of pairs of names and networks."""
        super().update(cells)
        self.rename_parts(*self._cells)

    def _validate_key(self, key: Any) -> None:
        """Refuse what PyTorch refuses; CellDict refuses the names of a Cell's own attributes as well."""
        if not isinstance(key, str) or not key or "." in key:
            raise KeyError(f"the name of a network is a text without dots, not {key!r}")

    def _update_cell_para_name(self, key: str, cell: nn.Cell) -> None:
        """Put the key in front of the names of parameters, in letters that MindSpore takes; they are named later."""
        cell.update_parameters_name(re.sub(r"[^\w.-]", "_", key, flags=re.ASCII) + ".")

    def _validate_cell_type(self, cell: Any) -> None:
        if not isinstance(cell, nn.Cell):
            raise TypeError(f"{type(cell).__name__} is not a network")


class _Nothing(nn.Cell):
    """What a list of layers holds in the place of None: MindSpore walks through all that it holds."""


class ModuleList(_Placed, nn.CellList):
    """``mindspore.nn.CellList`` for lists that begin empty, or hold None in the place of a layer, as torch's do."""

    def __init__(self, modules: Optional[Iterable[Optional[nn.Cell]]] = None) -> None:
        super().__init__()
        self.extend(modules or ())

    def append(self, cell: Optional[nn.Cell]) -> ModuleList:
        """Add a layer, or None, at the end."""
        super().append(_Nothing() if cell is None else cell)
        self.rename_parts(str(len(self) - 1))
        return self

    def extend(self, cells: Iterable[Optional[nn.Cell]]) -> ModuleList:
        """Add several at the end."""
        for cell in cells:
            self.append(cell)
        return self

    def insert(self, index: int, cell: Optional[nn.Cell]) -> None:
        """Add a layer, or None, before the one at ``index``."""
        super().insert(index, _Nothing() if cell is None else cell)
        self.rename_parts(*self._cells)

    def __iter__(self) -> Iterator[Optional[nn.Cell]]:
        return (None if isinstance(cell, _Nothing) else cell for cell in super().__iter__())

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return None if isinstance(found, _Nothing) else found


class Sequential(nn.SequentialCell, metaclass=Kind):
    """``mindspore.nn.SequentialCell`` for subclasses that set their layers as attributes.

    SequentialCell runs the layers that its constructor was given and ignores those that are set later, which
    torch.nn.Sequential runs like all others.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if isinstance(value, nn.Cell):
            self._collect()

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        self._collect()

    def insert_child_to_cell(self, child_name: str, child_cell: nn.Cell) -> None:
        """Add a layer under a name; it runs last."""
        super().insert_child_to_cell(child_name, child_cell)
        self._collect()

    def _collect(self) -> None:
        object.__setattr__(self, "cell_list", tuple(self._cells.values()))
