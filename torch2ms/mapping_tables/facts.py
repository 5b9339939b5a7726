"""What each operation of PyTorch does: what its result shares, what it writes into, what the result is.

``data/facts/*.toml`` has one line for each mapped operation, in one file for each namespace::

    namespace = "torch.Tensor"

    add_ = { memory = "self", writes = ["self"] }
    reshape = { memory = "maybe", mindspore = ">=2.7", dtype = "same" }
    argmax = { memory = "fresh", dtype = "torch.int64", axes = "none", grad = "none" }

=============  =========================================================================================================
``memory``     ``fresh``: memory of its own; ``view``: another tensor on the memory of the argument; ``self``: the
               argument itself; ``maybe``: the argument, a view of it, or a copy, as shapes and dtypes ask for;
               ``held``: a tensor that the receiver keeps (``x.grad``); ``none``: no tensor; ``any``: what functions
               or layers that it is given return
``writes``     the parameters that are written into, ``self`` for a method's receiver; ``out`` goes without saying
``when``       the flag under which it writes into its input and returns it: ``inplace``
``alone``      true where the result shares memory with a single operand alone: ``einsum("ij->ji", x)``
``real``       what a real tensor gets instead: ``conj`` gives it itself
``shape``      true where writing gives the very tensor another shape: ``squeeze_``
``dtype``      of the result: ``same`` as the argument's; ``float``: the same, float32 for ints and bools; ``sum``:
               the same, int64 for ints and bools; ``common``: that of all operands; ``quotient``: the same, float32
               for ints and bools; ``real``: the same, of complex numbers that of their parts; ``real float``: the
               same, float32 for ints and bools; ``complex``: complex numbers of the argument's width; ``default``:
               float32; ``told``: one that is given; or one by its name, ``torch.bool``
``axes``       of the result: ``same``: of the argument's shape; ``common``: of all operands together; ``sizes``: as
               many as sizes are given; ``one``: a row; ``none`` unless an axis is named
``grad``       ``none``: no gradient flows from the result to any argument; ``zero``: one of zeros does
``mindspore``  the releases in which what is emitted for a view shares the memory as well; without it, it is a copy
=============  =========================================================================================================

The argument is the receiver of a method, and the first one of a function; ``of`` names another. What schemas say, and
what calls do, is held against the lines by ``scripts/harvest_facts.py`` and the tests.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, cast, get_args

from torch2ms.config import Version
from torch2ms.errors import TableError
from torch2ms.mapping_tables.checks import holds_for

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover - same code under its older name
    import tomli as tomllib

__all__ = ["FACTS", "Fact", "Facts", "Memory", "load_facts"]

FACTS = Path(__file__).with_name("data") / "facts"
Memory = Literal["fresh", "view", "self", "maybe", "held", "none", "any"]
_DTYPES = frozenset(
    {"", "same", "float", "sum", "common", "quotient", "real", "real float", "complex", "default", "told"}
)
_AXES = frozenset({"", "same", "common", "sizes", "one", "none"})
_GRADIENTS = frozenset({"", "none", "zero"})
_KEYS = frozenset({"memory", "writes", "when", "of", "alone", "real", "shape", "mindspore", "dtype", "axes", "grad"})


@dataclass(frozen=True, slots=True)
class Fact:
    """What one operation does; see the module for the fields."""

    memory: Memory
    writes: tuple[str, ...] = ()
    when: str = ""
    of: str = ""
    alone: bool = False
    real: Memory | Literal[""] = ""
    shape: bool = False
    mindspore: str = ""
    dtype: str = ""
    axes: str = ""
    grad: str = ""

    @property
    def fixed_dtype(self) -> str:
        """The dtype of the result where it is one by name, whatever is given; else empty."""
        return self.dtype if self.dtype.startswith("torch.") else ""

    @property
    def form(self) -> str:
        """The axes of the result; of the argument itself, where its shape stays."""
        return self.axes or ("same" if self.memory == "self" and not self.shape else "")

    @property
    def is_cast(self) -> bool:
        """Whether the operation gives its very argument in a dtype that its name tells: ``x.long()``."""
        return bool(self.fixed_dtype) and self.memory == "maybe"

    @property
    def shares(self) -> bool:
        """Whether the result may be the argument, or share its memory."""
        return self.memory not in ("fresh", "none")

    @property
    def is_alias(self) -> bool:
        """Whether a call makes another name of the argument's memory, and is not made for what it writes there."""
        return self.shares and self.memory != "any" and (not self.writes or self.shape or bool(self.when))

    def shares_since(self, release: Version) -> bool:
        """Whether the result shares the argument's memory in a MindSpore release, too."""
        return bool(self.mindspore) and holds_for(self.mindspore, release)


class Facts:
    """The facts of all operations, by canonical name."""

    def __init__(self, facts: Mapping[str, Fact]) -> None:
        """Take the facts by canonical name: ``torch.Tensor.view``."""
        self._facts = dict(facts)

    def __iter__(self) -> Any:
        """Give the names that have facts."""
        return iter(self._facts)

    def of(self, name: str) -> Fact | None:
        """Return the facts of an operation by its canonical name, or None."""
        return self._facts.get(name)

    @cached_property
    def namespaces(self) -> frozenset[str]:
        """The namespaces whose operations have facts."""
        return frozenset(name.rpartition(".")[0] for name in self._facts)

    @cached_property
    def _members(self) -> dict[str, tuple[Fact, ...]]:
        found: dict[str, tuple[Fact, ...]] = {}
        for name, fact in self._facts.items():
            owner, _, member = name.rpartition(".")
            if owner in ("torch.Tensor", "torch"):
                found[member] = (*found.get(member, ()), fact)
        return found

    @cached_property
    def _named(self) -> dict[str, tuple[Fact, ...]]:
        found: dict[str, tuple[Fact, ...]] = {}
        for name, fact in self._facts.items():
            member = name.rpartition(".")[2]
            found[member] = (*found.get(member, ()), fact)
        return found

    def named(self, member: str) -> tuple[Fact, ...]:
        """Return the facts of all operations of this name, for places that know no more of a call than its name.

        Those of a tensor's methods and of ``torch`` itself, where there are any: ``torch.masked.argmax`` gives floats.
        """
        return self._members.get(member) or self._named.get(member, ())

    def has_gradient(self, member: str) -> bool:
        """Whether a gradient other than zeros may flow through an operation of this name; True where none is known."""
        facts = self.named(member)
        return not facts or any(not fact.grad for fact in facts)

    def detaches(self, member: str) -> bool:
        """Whether a method or attribute of a tensor gives what has no gradient: ``detach``, ``argmax``, ``shape``."""
        fact = self._facts.get(f"torch.Tensor.{member}")
        return fact is not None and fact.grad == "none"

    def cuts_off(self, member: str) -> bool:
        """Whether a method or attribute gives the very numbers of a tensor without a gradient: ``detach``, ``data``."""
        return self.detaches(member) and self.may_share(member) and not self.cast_of(member)

    def gives(self, member: str, *dtypes: str) -> bool:
        """Whether all operations of this name give one of these dtypes: ``same``, ``torch.bool``."""
        facts = self.named(member)
        return bool(facts) and all(fact.dtype in dtypes for fact in facts)

    def has_axes(self, member: str, *axes: str) -> bool:
        """Whether all operations of this name give a tensor with one of these: ``same``, ``sizes``."""
        facts = self.named(member)
        return bool(facts) and all(fact.form in axes for fact in facts)

    def cast_of(self, member: str) -> str:
        """Return the dtype that a method of this name casts a tensor to, ``torch.int64`` for ``long``; else empty."""
        fact = self._facts.get(f"torch.Tensor.{member}")
        return fact.fixed_dtype if fact is not None and fact.is_cast else ""

    def may_cast(self, member: str) -> bool:
        """Whether a method of this name may give a tensor in another dtype: ``to``, ``type_as``, ``long``."""
        fact = self._facts.get(f"torch.Tensor.{member}")
        return fact is not None and (fact.is_cast or fact.dtype == "told")

    def may_be_itself(self, member: str) -> bool:
        """Whether a method of this name gives the very tensor where there is nothing to do: ``float``, ``cpu``."""
        fact = self._facts.get(f"torch.Tensor.{member}")
        return fact is not None and fact.memory in ("maybe", "self") and fact.form == "same"

    def gives_form(self, member: str) -> bool:
        """Whether a method in place gives the tensor another shape, or cuts it off, which filling it cannot say."""
        fact = self._facts.get(f"torch.Tensor.{member}")
        return fact is not None and (fact.shape or fact.grad == "none")

    def may_share(self, member: str) -> bool:
        """Whether a method, attribute or function of this name may give what shares the memory of its argument.

        For places that know no more of a call than its name: ``x.view``, ``torch.view_as``.
        """
        return any(fact.is_alias for fact in self._members.get(member, ()))

    def may_share_since(self, member: str, release: Version) -> bool:
        """Whether what is emitted for a method, attribute or function of this name shares its memory in a release."""
        return any(fact.shares_since(release) for fact in self._members.get(member, ()))


@lru_cache(maxsize=1)
def load_facts() -> Facts:
    """Return the shipped facts.

    Raises TableError when a file is wrong.
    """
    found: dict[str, Fact] = {}
    for path in sorted(FACTS.glob("*.toml")):
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        namespace = table.pop("namespace", None)
        if not isinstance(namespace, str):
            raise TableError(f"{path.name}: namespace: a string is missing")
        for name, line in table.items():
            found[f"{namespace}.{name}"] = _fact(f"{path.name}: {name}", line)
    return Facts(found)


def _fact(where: str, line: Any) -> Fact:
    if not isinstance(line, dict) or line.get("memory") not in get_args(Memory) or set(line) - _KEYS:
        raise TableError(f"{where}: no line of facts: {line!r}")
    writes = line.get("writes", [])
    if not isinstance(writes, list) or not all(isinstance(word, str) for word in writes):
        raise TableError(f"{where}: writes: no list of names: {writes!r}")
    texts = {key: line.get(key, "") for key in ("when", "of", "real", "mindspore", "dtype", "axes", "grad")}
    flags = {key: line.get(key, False) for key in ("alone", "shape")}
    if not all(isinstance(text, str) for text in texts.values()) or texts["real"] not in ("", *get_args(Memory)):
        raise TableError(f"{where}: when, of, real, mindspore, dtype, axes and grad are texts: {line!r}")
    is_named = texts["dtype"].startswith("torch.") or texts["dtype"] in _DTYPES
    if not is_named or texts["axes"] not in _AXES or texts["grad"] not in _GRADIENTS:
        raise TableError(f"{where}: dtype, axes or grad: no such word: {line!r}")
    if not all(isinstance(flag, bool) for flag in flags.values()):
        raise TableError(f"{where}: alone and shape are true or false: {line!r}")
    try:
        holds_for(texts["mindspore"] or ">=2.0", (2, 0))
    except ValueError as error:
        raise TableError(f"{where}: mindspore: no comparison: {error}") from error
    return Fact(cast(Memory, line["memory"]), tuple(writes), **texts, **flags)
