"""The shape of a mapping table: rows, targets, examples, signatures.

A table is TOML. The path of a file below ``data/`` gives the prefix of its rows (``data/torch/nn/conv.toml`` holds
``torch.nn.*`` when its table says ``namespace = "torch.nn"``); one ``[Name]`` table is one row, ``[[Name.to]]`` are its
targets in order: the first whose release, device and conditions hold wins. ``docs/mapping-tables.md`` explains the keys
with examples; ``loader`` checks them and ``lint`` holds them against the catalogues.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = [
    "DROP",
    "RECEIVER",
    "Example",
    "Limit",
    "MappedTo",
    "Parameter",
    "ParameterKind",
    "Row",
    "RowKind",
    "Signature",
]

RowKind = Literal["function", "class", "method", "attribute", "constant", "module"]
Fidelity = Literal["exact", "approximate", "partial"]
Edge = Literal[
    "",
    "nan",
    "void",
    "infinite",
    "empty",
    "leaf",
    "counted",
    "selections",
    "single",
    "scalar",
    "short",
    "bool",
    "whole",
    "real",
    "tensors",
    "long",
    "double",
    "half",
    "complex",
    "twice",
]  # kinds of programs, edges.py of the translator
Limit = Literal["device", "gradient", "infinite", "basis", "dense", "layout", "stored"]  # limits.py of the translator
ParameterKind = Literal["positional_only", "positional", "var_positional", "keyword", "var_keyword"]

# Two targets that name no API.
RECEIVER = "@receiver"  # the call becomes its receiver (method) or its first argument (function): x.contiguous() -> x
DROP = "@drop"  # the statement goes (T2M304); an error where the value is used: torch.cuda.empty_cache()


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a signature; ``default`` is source text, None when the argument is required."""

    name: str
    kind: ParameterKind = "positional"
    default: str | None = None


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a callable, without ``self``."""

    parameters: tuple[Parameter, ...]

    def get(self, name: str) -> Parameter | None:
        """Return the parameter called ``name``, or None."""
        return next((parameter for parameter in self.parameters if parameter.name == name), None)


@dataclass(frozen=True, slots=True)
class MappedTo:
    """One target of a row: the API emitted, for which releases and devices, and how the call changes.

    ``target`` is a canonical MindSpore name (``mindspore.nn.Dense``, ``mindspore.Tensor.view``), a name of the runtime
    (``torch2ms.runtime.data.DataLoader``), a plain Python or numpy name, or RECEIVER or DROP.
    ``recipe`` names the code that does the rewriting where data cannot say it.
    """

    target: str
    recipe: str | None = None
    mindspore: str = ">=2.0"  # comma-separated comparisons on (major, minor)
    device: frozenset[str] = frozenset({"ascend", "gpu", "cpu"})  # portable needs all three
    when: Mapping[str, str] = field(default_factory=dict)  # torch parameter -> literal it must equal (or default to)
    rename: Mapping[str, str] = field(default_factory=dict)  # torch parameter -> target parameter
    transform: Mapping[str, str] = field(default_factory=dict)  # torch parameter -> function of transforms.py
    write_default: tuple[str, ...] = ()  # torch parameters whose default is spelled out when absent
    named: tuple[str, ...] = ()  # torch parameters that are passed by name, whatever place the call gives them
    add: Mapping[str, str] = field(default_factory=dict)  # target parameter -> literal source text
    drop: tuple[str, ...] = ()  # torch parameters without effect on the result
    reject: Mapping[str, str] = field(default_factory=dict)  # torch parameter -> advice; T2M203 unless at its default
    edge: Edge = ""  # tried first, where edges.py says so
    unless: tuple[Edge, ...] = ()  # passed over where edges.py says one of these
    deviates: frozenset[str] = frozenset()  # devices where the notes tell of a difference: --exact passes it over there
    pynative: bool = False  # graph mode does not compile it: --mode graph passes it over
    state: Literal["same"] | Mapping[str, str] | None = None  # torch state key -> parameter name ("" = no counterpart)
    reshape: Mapping[str, str] = field(default_factory=dict)  # torch state key -> reshape rule of weights.py
    attributes: Mapping[str, str] = field(default_factory=dict)  # attribute of the torch object -> of the target
    fidelity: Fidelity = "exact"
    limits: tuple[Limit, ...] = ()  # a program that meets none of them gets what PyTorch computes
    codes: tuple[str, ...] = ()  # diagnostics that every use carries
    notes: str = ""


@dataclass(frozen=True, slots=True)
class Example:
    """Documentation, golden test and differential test in one.

    ``before`` is torch code with canonical names, ``after`` what is emitted for ``target`` (same convention). ``run``
    says how both are executed and compared; see ``docs/mapping-tables.md``.
    """

    before: str
    after: str
    run: Mapping[str, Any] = field(default_factory=dict)
    mindspore: str = "2.10"
    device: str = "portable"
    edge: Edge = ""  # of the target it shows, where several edges share one
    exact: bool = False  # translated with --exact
    graph: bool = False  # translated with --mode graph


@dataclass(frozen=True, slots=True)
class Row:
    """What torch2ms knows about one torch name.

    Exactly one of these holds: ``to`` is not empty (mapped), ``keep`` is set (left as it is, with the rule), or
    ``unsupported`` is set (T2M201, with the advice).
    """

    name: str
    kind: RowKind
    to: tuple[MappedTo, ...] = ()
    keep: str = ""
    unsupported: str = ""
    returns: str = ""  # kind of the result: "Tensor", "Module", "tuple[Tensor, Tensor]", "int", ...
    signature: Signature | None = None  # overrides the catalogue's
    domain: Mapping[str, Any] = field(
        default_factory=dict
    )  # torch parameter -> what it may be when examples are varied
    adapter: str = ""  # runtime class or function with torch's own signature, for use as a value or base class
    examples: tuple[Example, ...] = ()
    file: str = ""  # where the row is written, for messages
