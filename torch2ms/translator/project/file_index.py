"""The index of one file, as a record: what the rest of its project needs to know of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["PACKERS", "PARALLEL", "CallShape", "Definition", "FileIndex"]

# Calls that tell of the whole program: it runs on several devices, it packs sequences
PARALLEL = frozenset({"DistributedDataParallel", "DDP", "Accelerator"})
PACKERS = frozenset({"pack_padded_sequence", "pack_sequence", "PackedSequence"})
Definition = Literal["function", "class"]


@dataclass(frozen=True, slots=True)
class CallShape:
    """How a callee of some name is called somewhere: number of positional arguments, keywords, splats."""

    positional: int
    keywords: tuple[str, ...]
    splat: bool


@dataclass(frozen=True, slots=True)
class FileIndex:
    """What the rest of the project needs to know of one Python file without reading it again."""

    path: str
    imports: frozenset[tuple[int, str]]  # (level, dotted module)
    calls: Mapping[str, frozenset[CallShape]]  # last identifier of the callee -> shapes
    passed: frozenset[str]  # names handed on as arguments: callbacks such as model.apply(init_weights)
    flows: frozenset[tuple[str, str]]  # (from, to): plain copies between names, ``self._norm = norm_layer``
    handed: frozenset[tuple[str, str, int]]  # (name, callee, position): plain names as positional arguments
    escaped: frozenset[str]  # names whose value goes where it cannot be followed: results, containers, other libraries
    parameters: Mapping[str, frozenset[tuple[str, ...]]]  # function or class -> names of its parameters, without self
    public: tuple[str, ...] | None  # the literal ``__all__``
    classes: Mapping[str, frozenset[str]]  # name of a class -> last identifiers of its bases
    methods: Mapping[str, frozenset[str]]  # name of a method -> names of the classes of the file that define it
    stored: frozenset[str]  # attributes set on ``self`` that may be called: layers, functions
    roots: frozenset[str] = frozenset()  # folders that the file puts on sys.path, as far as it writes them out
    asks_for_gradients: bool = False  # whether a function asks weights for gradients that another one computes
    resets_apart: bool = False  # whether a function resets gradients that another one computes
    takes_losses: bool = False  # whether an object of the file is handed losses and takes the steps for them
    wrappers: Mapping[str, frozenset[str]] = field(default_factory=dict)  # classes that step an optimizer -> methods
    optional: frozenset[str] = frozenset()  # packages that the file can do without
    thaws: bool = False  # whether functions of the file freeze weights and free them again
    marks: bool = True  # whether anything in the file speaks of ``requires_grad``
    definitions: Mapping[str, Definition] = field(default_factory=dict)  # names that only one statement binds
    set_on_others: frozenset[str] = frozenset()  # attributes bound on anything but ``self``: ``head.anchors /= stride``
    # Attributes and literal keys that values are stored under; layers, and what __init__ stores, are left out.
    kept: frozenset[str] = frozenset()
    has_gradients: bool = False  # whether anything is asked for an attribute called ``grad``, or such a function called
    answers: frozenset[str] = frozenset()  # attributes called ``is_...`` that the file gives to objects
    differentiates: frozenset[str] = frozenset()  # functions and classes that differentiate losses they are given
    read: frozenset[str] = frozenset()  # attributes of what the file imports that are read, and not called
    asks_for_given: bool = False  # whether a function asks for gradients, to derive again, of what it is handed
    is_guarded: bool = False  # whether the file does something when it is run only: ``if __name__ == "__main__"``
    has_effects: bool = False  # whether its own statements do more than define and import
    has_groups: bool = False  # whether anything is asked for an attribute called ``param_groups``
    runs: Mapping[str, frozenset[str]] = field(default_factory=dict)  # function or method -> what it calls or hands on

    @property
    def asks_for_graphs(self) -> bool:
        """Whether the file asks for gradients that are differentiated once more."""
        return any("create_graph" in shape.keywords for shape in self.calls.get("grad", ()))

    @property
    def computes_gradients(self) -> bool:
        """Whether the file calls ``backward``, or asks for gradients."""
        return "backward" in self.calls or "grad" in self.calls

    @property
    def asks_for_records(self) -> bool:
        """Whether the file may ask for gradients of what other functions computed."""
        return self.asks_for_given or any("create_graph" not in shape.keywords for shape in self.calls.get("grad", ()))
