"""Evidence: what the name of a method says of a receiver that nothing else is known of.

Derived from the catalogues: a method that torch's tensors have, and neither networks nor optimizers nor any other type
that the program may handle (arrays, strings, containers, frames, pictures), tells a tensor; likewise for networks and
optimizers. A name that the project itself gives to a method or an attribute tells nothing, unless every class that
defines it is of one family.
"""

from __future__ import annotations

import ast
import re
import sys
from functools import lru_cache

from torch2ms.mapping_tables.catalogue import Catalogue, shared_members
from torch2ms.mapping_tables.lookup import Tables
from torch2ms.translator.project.symbol_table import SymbolTable
from torch2ms.translator.syntax.argument_binding import accepts
from torch2ms.translator.values.containers import OF_NETWORKS
from torch2ms.translator.values.families import BASE_ROWS, MODULE_BARE, instance_of
from torch2ms.translator.values.kinds import UNKNOWN, Kind, KindName
from torch2ms.translator.values.scopes import Uses, links

__all__ = ["Evidence", "members_of"]

_FAMILIES: tuple[KindName, ...] = ("Tensor", "Module", "Optimizer")
_WORDS: dict[str, str] = {"Tensor": "tensors", "Module": "networks", "Optimizer": "optimizers"}


def members_of(catalogue: Catalogue, owner: str) -> dict[str, str]:
    """Return the public members of a torch class with their kinds: ``method``, ``attribute``."""
    prefix = f"{owner}."
    found: dict[str, str] = {}
    for name, record in catalogue.names.items():
        if name.startswith(prefix) and "." not in (last := name[len(prefix) :]) and not last.startswith("_"):
            found[last] = str(record["k"])
    return found


_WORD = re.compile(r"[a-z_]\w*")
_Told = dict[str, KindName]


# What brings no sparse matrices and the like into a program: with these packages and Python's own alone, a
# method that only such things share with tensors tells a tensor.
_PLAIN = frozenset(
    """torch torchvision torchaudio numpy tqdm PIL matplotlib cv2 einops timm imageio skimage yaml tensorboard
    tensorboardX visdom wandb torchsummary torchinfo thop fvcore apex six easydict colorama termcolor""".split()
)
_FOREIGN = frozenset({"scipy", "h5py", "networkx", "gymnasium"})
_DECIMAL = frozenset({"decimal"})


def _absent(symbols: SymbolTable) -> frozenset[str]:
    """Return the packages whose objects the project does not handle, by what its files import."""
    others = symbols.packages(_PLAIN | (sys.stdlib_module_names - _DECIMAL))
    return (_DECIMAL - others) | (frozenset() if others - _DECIMAL else _FOREIGN)


@lru_cache(maxsize=2)
def _telling_members(tables: Tables, absent: frozenset[str]) -> tuple[frozenset[str], _Told, _Told, _Told]:
    """Return the members of tensors, and which family a call and a read attribute tell.

    The last are the methods of several families that become the same on each.
    """
    calls: _Told = {}
    attributes: _Told = {}
    alike: _Told = {}
    members = {family: members_of(tables.catalogue, BASE_ROWS[family]) for family in _FAMILIES}
    shared_methods, shared_attributes = shared_members(absent)
    shared_methods |= members_of(tables.catalogue, "torch.Size").keys()
    for name in {name for found in members.values() for name in found}:
        families = [family for family in _FAMILIES if name in members[family]]
        if len(families) > 1:
            if name not in shared_methods and _agree(name, families, tables):
                alike[name] = families[0]
            continue
        kind = members[families[0]][name]
        if kind in ("method", "function"):
            if name not in shared_methods:
                calls[name] = families[0]
        elif name not in shared_methods and name not in shared_attributes and _is_telling(name):
            attributes[name] = families[0]
    attributes.setdefault("param_groups", "Optimizer")  # set by its __init__, which no catalogue shows; so are these
    attributes.update(dict.fromkeys(OF_NETWORKS, "Module"))
    return frozenset(members["Tensor"]), calls, attributes, alike


@lru_cache(maxsize=2)
def _members_of_torch(tables: Tables) -> frozenset[str]:
    """Return the members that objects of torch may have: those of its classes, and what its layers are made with."""
    names = tables.catalogue.names
    made_with = (word for name, record in names.items() if name.startswith("torch.nn.")
                 for word in _WORD.findall(str(record.get("s", ""))))  # fmt: skip
    return frozenset({*(name.rpartition(".")[2] for name in names), *made_with})


class Evidence:
    """Says which kind of receiver the names of members tell."""

    def __init__(self, tables: Tables, symbols: SymbolTable) -> None:
        """Take the tables and the index of the project."""
        self._tables = tables
        self._symbols = symbols
        self._project: dict[tuple[str, KindName], KindName] = {}
        self._members = _members_of_torch(tables)
        self._tensor, self._calls, self._attributes, self._alike = _telling_members(tables, _absent(symbols))

    def of_call(self, name: str) -> Kind:
        """Return the kind of ``x`` that a call ``x.name(...)`` tells; UNKNOWN when other things may answer to it."""
        return self._told(name, self._calls)

    def of_either(self, name: str) -> Kind:
        """Return a kind to translate a call by where several are possible and all agree: ``x.cuda()``."""
        return self._told(name, self._alike)

    def of_attribute(self, name: str) -> Kind:
        """Return the kind of ``x`` that reading ``x.name`` tells."""
        return UNKNOWN if self._symbols.answers(name) else self._told(name, self._attributes)

    def of_uses(self, uses: Uses) -> Kind:
        """Return the kind of ``x`` that what is done with it tells."""
        names = {call.func.attr: call for call in uses.calls if isinstance(call.func, ast.Attribute)}
        told = [self.of_call(name) for name in sorted(names) if self.takes(name, names[name])]
        told += [self.of_chain(links(chain)) for chain in uses.chains]
        if "view" in names and _names_size(names["view"]) and self.is_free("view", "Tensor"):
            told.append(Kind("Tensor", evidence="only tensors are viewed in a size"))  # numpy's view takes a dtype
        told += [self.of_attribute(name) for name in sorted({node.attr for node in uses.read} - names.keys())]
        found = {kind.name: kind for kind in reversed(told) if kind.known}
        if {"zero_grad", "step"} <= names.keys() and "Module" not in found:
            return Kind("Optimizer", evidence="has .zero_grad and .step")
        # A network's part may be called like a method of tensors; the other way round it does not happen.
        if "Module" not in found and uses.called and names.keys() & MODULE_BARE:
            return Kind("Module", evidence=f"is called, and has .{min(names.keys() & MODULE_BARE)}")
        return found.get("Module") or found.get("Optimizer") or found.get("Tensor") or UNKNOWN

    def is_of_torch(self, name: str) -> bool:
        """Whether tensors, networks or their parts have a member of this name."""
        return name in self._members

    def of_chain(self, chain: tuple[str, ...]) -> Kind:
        """Return the kind that a chain of methods tells of its start: ``x.transpose(1, 2).contiguous()``, a tensor."""
        if not all(name in self._tensor for name in chain) or not self.is_free(chain[0], "Tensor"):
            return UNKNOWN
        return next((told for name in chain[1:] if (told := self.of_call(name)).name == "Tensor"), UNKNOWN)

    def takes(self, name: str, call: ast.Call, family: KindName = "Tensor") -> bool:
        """Whether a method of this name of a tensor, if there is one, can be called with these arguments."""
        signatures = self._tables.overloads(f"{BASE_ROWS[family]}.{name}")
        return not signatures or any(accepts(signature, call) for signature in signatures)

    def is_free(self, name: str, family: KindName) -> bool:
        """Whether the project's own classes give the name to nothing but this family."""
        return self._project_family(name, family) == family

    def makes_network(self, base: Kind, name: str) -> bool:
        """Whether ``base.name(...)`` is a network: so are all the project's classes of this name."""
        unsure = base.name in ("unknown", "python") or (base.name == "module" and not base.of)  # one of many modules
        if not unsure and not base.of.startswith("project:"):
            return False
        classes = () if self._symbols.definers(name) else self._symbols.classes_called(name)
        return bool(classes) and all(
            any(base.endswith("Module") or self._family(base) == "Module" for base in bases) for bases in classes
        )

    def _told(self, name: str, table: dict[str, KindName]) -> Kind:
        family = table.get(name)
        if family is None or not self.is_free(name, family):
            return UNKNOWN
        return Kind(family, evidence=f"only {_WORDS[family]} have .{name}")

    def _project_family(self, name: str, family: KindName) -> KindName:
        question = (name, family)
        if question not in self._project:
            kinds = {self._family(owner) for owner in self._symbols.definers(name)}
            agrees = kinds <= {family} and (kinds or not self._symbols.stores(name))
            self._project[question] = family if agrees else "unknown"
        return self._project[question]

    def _family(self, owner: str) -> KindName:
        """Return what a class of the project is, by the identifiers of its bases."""
        for base in sorted(self._symbols.bases(owner)):
            for module in ("torch.nn", "torch.optim", "torch", "torch.autograd"):
                made = instance_of(f"{module}.{base}")
                if made.known and self._tables.kind_of_name(f"{module}.{base}") == "class":
                    return made.name
            if base.endswith("Module"):
                return "Module"  # a frame's own: LightningModule
            if base == "Function":
                return "Module"  # a gradient of its own: forward means what it means on a network
        return "instance"


# Attributes are common words (device, layout, stride of a configuration); only what no one else would say counts.
_TELLING = frozenset({"grad", "param_groups"})


def _is_telling(name: str) -> bool:
    return name.startswith(("is_", "grad_")) or name in _TELLING


def _agree(name: str, families: list[KindName], tables: Tables) -> bool:
    """Whether a member of several families becomes the same on each: ``x.cuda()`` goes on tensors and networks."""
    rows = [tables.row(f"{BASE_ROWS[family]}.{name}") for family in families]
    first = rows[0]
    if first is None or not first.to:
        return False
    return all(row is not None and [t.target for t in row.to] == [t.target for t in first.to] for row in rows) and all(
        row is not None and [t.recipe for t in row.to] == [t.recipe for t in first.to] for row in rows
    )


def _names_size(call: ast.Call) -> bool:
    """Whether a call begins with a number: ``view(-1)``."""
    first = call.args[0] if call.args else None
    first = first.operand if isinstance(first, ast.UnaryOp) else first
    return isinstance(first, ast.Constant) and type(first.value) is int
