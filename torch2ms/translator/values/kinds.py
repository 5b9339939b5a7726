"""Kinds: what torch2ms knows about the value of an expression.

A kind is a small immutable fact with its evidence. UNKNOWN is a fine answer: nothing is rewritten on a guess.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Literal, Protocol

__all__ = ["PRESUMED", "UNKNOWN", "Kind", "KindName", "Oracle", "candidates", "computed_of", "join", "parse_kind"]

MAX_ALTERNATIVES = 8

KindName = Literal[
    "unknown",
    "factory",  # likely the class ``of``, but it may be another: what it makes is typed, calls stay as they are
    "api",  # a reference to a torch (or torchvision) name itself: of = canonical name, "torch.nn.Linear"
    "Tensor",  # of = dtype when known, "torch.int64"
    "Parameter",  # a Tensor that is a Parameter
    "Module",  # an instance: of = canonical torch class or project class key, "" when the class is not known
    "Optimizer",  # an instance: of = canonical class
    "Scheduler",
    "DataLoader",
    "Dataset",
    "Sampler",
    "Transform",
    "GradScaler",
    "Accelerator",  # of accelerate
    "Generator",  # torch.Generator
    "Distribution",  # of torch.distributions: of = canonical class
    "Outputs",  # of a network or a tokenizer of transformers: tensors by name, by key and, of networks, by place
    "dtype",  # of = canonical name when known
    "device",
    "Size",
    "PackedSequence",  # of torch.nn.utils.rnn: recurrent layers take one, and give one back
    "class",  # a project class itself: of = its key
    "function",  # a project function or bound method: of = its key
    "instance",  # an instance of a project class that is none of the above: of = class key
    "module",  # an imported module that is not torch: of = dotted name ("numpy", "project:models/resnet.py")
    "ndarray",
    "image",  # a PIL image
    "int",
    "float",
    "bool",
    "str",
    "none",
    "tuple",  # items = kinds of the elements when known
    "list",  # items[0] = common kind of the elements when known
    "dict",  # items[0] = common kind of the values when known; with keys in ``of``, items = kinds of their values
    "iterator",  # items[0] = kind of what iteration gives
    "python",  # some other plain Python value, certainly no torch object
    "self",  # in table rows only: the kind of the receiver
    "argument",  # in table rows only: the kind of the first argument
    "arguments",  # in table rows only: a tuple of the kinds of the positional arguments; of one, its kind
]


@dataclass(frozen=True, slots=True)
class Kind:
    """What is known of a value; ``evidence`` says why, for the report.

    ``of`` may hold alternatives joined with ``|``: who acts on them must find that all agree. ``seen`` of an unknown
    kind names those that the value has on some paths; of the other paths it says nothing.
    """

    name: KindName = "unknown"
    of: str = ""
    items: tuple[Kind, ...] = ()
    evidence: str = ""
    seen: frozenset[str] = frozenset()

    @property
    def known(self) -> bool:
        """Whether anything is known at all."""
        return self.name != "unknown"

    def may_be(self, *names: str) -> bool:
        """Whether the value is of one of these kinds, on some path at least."""
        return self.name in names or not self.seen.isdisjoint(names)

    @property
    def is_number(self) -> bool:
        """Whether the value is a number of Python's, or a bool."""
        return self.name in ("int", "float", "bool")

    @property
    def is_tensor(self) -> bool:
        """Whether the value is a Tensor or a Parameter."""
        return self.name in ("Tensor", "Parameter")

    def because(self, evidence: str) -> Kind:
        """Return the same kind with other evidence."""
        return Kind(self.name, self.of, self.items, evidence, self.seen)

    def same(self, other: Kind) -> bool:
        """Whether both say the same, whatever their evidence."""
        if (self.name, self.of, self.seen) != (other.name, other.of, other.seen) or len(self.items) != len(other.items):
            return False
        return not self.items or all(a.same(b) for a, b in zip(self.items, other.items, strict=True))


UNKNOWN = Kind()
PRESUMED = "input of a network"  # evidence of a parameter that is taken for a tensor where no call says otherwise


def join(a: Kind, b: Kind) -> Kind:
    """Return what holds on both of two paths; None on one path does not hide the other (``x=None`` defaults)."""
    if a is b or a.same(b):
        return a
    if a.name == "none":
        return b
    if b.name == "none":
        return a
    likely = _likely(a, b) or _likely(b, a)
    if likely is not None:
        return likely
    if a.is_tensor and b.is_tensor:
        return Kind(a.name if a.name == b.name else "Tensor", a.of if a.of == b.of else "", evidence=a.evidence)
    if {a.name, b.name} == {"list", "tuple"} and a.items and b.items:
        held = join(_held(a), _held(b))
        # A function is handed the one or the other; of sizes and indices it matters which.
        return Kind("list", "", (held,), a.evidence) if held.name == "Parameter" else _one_of(a, b)
    if a.name == b.name == "dict" and a.of != b.of:
        return Kind("dict", "", (join(_held(a), _held(b)),), a.evidence)
    if a.name == b.name != "unknown":
        of = _union(a.of, b.of)
        if len(a.items) == len(b.items):
            items = tuple(join(x, y) for x, y in zip(a.items, b.items, strict=True))
            return Kind(a.name, of, items, a.evidence)
        return Kind(a.name, of, (), a.evidence)
    return _one_of(a, b)


def _one_of(a: Kind, b: Kind) -> Kind:
    """Return the kind of a value that is of different kinds on two paths."""
    return Kind(seen=a.seen | b.seen | {kind.name for kind in (a, b) if kind.known})


def computed_of(*kinds: Kind) -> Kind:
    """Return the unknown kind of a part of unknown values, or of what an operator makes of them: arrays make arrays."""
    return Kind(seen=frozenset().union(*(kind.seen for kind in kinds)) & {"Tensor", "Parameter", "ndarray"})


def _held(kind: Kind) -> Kind:
    """Return what all values of a dictionary are."""
    found = kind.items[0] if kind.items else UNKNOWN
    for other in kind.items[1:]:
        found = join(found, other)
    return found


def _likely(a: Kind, b: Kind) -> Kind | None:
    """Return the class that a value most likely is: known on one path, unknown or likely on the other."""
    if a.name in ("api", "class", "factory") and b.name in ("unknown", "factory") and a.of and "|" not in a.of:
        last = a.of.rpartition(".")[2].rpartition(":")[2]
        if (a.name == "class" or last[:1].isupper()) and (b.name == "unknown" or b.of == a.of):
            return Kind("factory", a.of, evidence=a.evidence)
    return None


def _union(a: str, b: str) -> str:
    """Return the alternatives of both; unknown ("") absorbs, and so does a set too large to be of use."""
    names = sorted({*a.split("|"), *b.split("|")})
    return "" if "" in names or len(names) > MAX_ALTERNATIVES else "|".join(names)


def parse_kind(text: str, evidence: str = "") -> Kind:
    """Return the kind a table row writes: ``"Tensor"``, ``"tuple[Tensor, int]"``, ``"Tensor:torch.int64"``."""
    text = text.strip()
    if not text:
        return UNKNOWN
    if text.endswith("]"):
        head, _, rest = text.partition("[")
        items: list[str] = [""]
        depth = 0
        for char in rest[:-1]:
            depth += (char == "[") - (char == "]")
            if char == "," and depth == 0:
                items.append("")
            else:
                items[-1] += char
        return Kind(head, "", tuple(parse_kind(item, evidence) for item in items), evidence)  # type: ignore[arg-type]
    name, _, of = text.partition(":")
    return Kind(name, of, (), evidence)  # type: ignore[arg-type]


def candidates(kind: Kind) -> tuple[str, ...]:
    """Return the canonical names a kind may stand for; empty when none is known."""
    return tuple(kind.of.split("|")) if kind.of else ()


class Oracle(Protocol):
    """Whoever knows the kind of an expression."""

    def kind(self, node: ast.expr) -> Kind:
        """Return the kind of ``node``; UNKNOWN when nothing is known."""
