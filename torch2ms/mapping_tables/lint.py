"""Hold the tables against the catalogues: what a row claims must be so in every release and on every device.

Each check is a function of one row; ``lint`` runs them all. Releases without a catalogue cannot be checked; examples
(``prove``) are the other half.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from torch2ms.config import DEVICES, OLDEST, Target, Version, parse_version
from torch2ms.diagnostics import CODES
from torch2ms.errors import UsageError
from torch2ms.mapping_tables.catalogue import mindspore_catalogue, mindspore_releases
from torch2ms.mapping_tables.checks import holds_for
from torch2ms.mapping_tables.example_calls import producer, same_literal
from torch2ms.mapping_tables.facts import load_facts
from torch2ms.mapping_tables.lookup import Tables
from torch2ms.mapping_tables.proofs import digest_of, proofs_of
from torch2ms.mapping_tables.runtime_source import PREFIX, runtime_has, runtime_signature
from torch2ms.mapping_tables.schema import DROP, RECEIVER, MappedTo, Parameter, Row, Signature
from torch2ms.mapping_tables.transforms import TRANSFORMS

__all__ = ["Problem", "lint"]

# Arguments of torch without meaning in MindSpore: an identical API need not have them (a call that uses one is T2M203).
TORCH_ONLY = frozenset(
    {"out", "layout", "device", "requires_grad", "pin_memory", "memory_format", "generator", "_stacklevel", "names"}
)
_SHIPPED = Path(__file__).with_name("data")
# Defaults that are written differently and mean the same.
SAME_DEFAULTS = (
    {"None", "mindspore.float32"},
    {"torch.float32", "mindspore.float32"},
    {"torch.int64", "mindspore.int64"},
)


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing that is wrong with one row; ``check`` names the rule."""

    file: str
    row: str
    check: str
    message: str

    def __str__(self) -> str:
        """Return one line: file, row, rule, message."""
        return f"{self.file}: {self.row}: {self.check}: {self.message}"


def lint(tables: Tables, recipes: Sequence[str] | None = None) -> list[Problem]:
    """Return everything that is wrong with the tables, in order of file and row.

    ``recipes`` are the names of the recipes that exist; without them, recipes are not checked.
    """
    found: list[Problem] = []
    for row in tables.rows():
        for check in _CHECKS:
            found += [
                Problem(row.file, row.name, check.__name__[1:].replace("_", "-"), text) for text in check(tables, row)
            ]
        if recipes is not None:
            unknown = [option.recipe for option in row.to if option.recipe and option.recipe not in recipes]
            found += [Problem(row.file, row.name, "recipe", f"there is no recipe {name!r}") for name in unknown]
    found += _unused(tables, recipes)
    found += _disagreeing_states(tables)
    return sorted(set(found))


def _label(row: Row, option: MappedTo) -> str:
    position = f" (target {row.to.index(option) + 1})" if len(row.to) > 1 else ""
    return option.target + position


def _claimed(option: MappedTo) -> list[Version]:
    """Return the catalogued releases that a target claims."""
    return [release for release in mindspore_releases() if holds_for(option.mindspore, release)]


def _shown(release: Version) -> str:
    return f"MindSpore {release[0]}.{release[1]}"


def _is_api(option: MappedTo) -> bool:
    return option.target.startswith("mindspore.")


def _target_exists(tables: Tables, row: Row) -> Iterator[str]:
    for option in row.to:
        if option.target.startswith(PREFIX) and not runtime_has(option.target):
            yield f"the runtime has no {option.target}"
        if _is_api(option):
            for release in _claimed(option):
                if mindspore_catalogue(release).record(option.target) is None:
                    yield f"{_label(row, option)} does not exist in {_shown(release)}"
    if row.adapter.startswith(PREFIX) and not runtime_has(row.adapter):
        yield f"the runtime has no {row.adapter} (adapter)"


def _target_signatures(option: MappedTo) -> Iterator[tuple[str, tuple[Signature, ...]]]:
    """Give the signatures of a target in each release it claims, where they are known."""
    if option.target.startswith(PREFIX):
        signature = runtime_signature(option.target)
        if signature is not None:
            yield "the runtime", (signature,)
    elif _is_api(option):
        for release in _claimed(option):
            signatures = mindspore_catalogue(release).signatures(option.target)
            if signatures:
                yield _shown(release), signatures


def _accepts(signatures: tuple[Signature, ...], name: str) -> bool:
    return any(
        signature.get(name) is not None or any(item.kind == "var_keyword" for item in signature.parameters)
        for signature in signatures
    )


def _parameter_names(tables: Tables, row: Row) -> Iterator[str]:
    """Names on the left are torch's, names on the right the target's."""
    known = tables.overloads(row.name)
    for option in row.to:
        ours = [
            *option.rename,
            *option.transform,
            *option.when,
            *option.write_default,
            *option.drop,
            *option.reject,
            *option.named,
        ]
        if known:
            for name in dict.fromkeys(ours):
                if not _accepts(known, name):
                    yield f"{_label(row, option)}: torch has no parameter {name!r}"
        if option.recipe:
            continue
        for place, signatures in _target_signatures(option):
            for name in dict.fromkeys([*option.rename.values(), *option.add]):
                if not _accepts(signatures, name):
                    yield f"{_label(row, option)}: no parameter {name!r} in {place}"


def _required_arguments(tables: Tables, row: Row) -> Iterator[str]:
    """What every call gives must have a place in the target: else no call could ever be translated."""
    torch = tables.signature(row.name)
    for option in row.to:
        if torch is None or option.recipe or option.target in (RECEIVER, DROP):
            continue
        needed = [item for item in torch.parameters if item.default is None and not item.kind.startswith("var")]
        if row.kind == "function" and option.target.startswith(("mindspore.Tensor.", "mindspore.nn.Cell.")):
            needed = needed[1:]  # it becomes the receiver
        places: dict[str, list[str]] = {}
        for place, signatures in _target_signatures(option):
            for item in needed:
                name = option.rename.get(item.name, item.name)
                free = any(other.kind == "var_positional" for other in signatures[0].parameters)
                if item.name not in option.drop and not free and not _accepts(signatures, name):
                    places.setdefault(item.name, []).append(place)
        for name, where in places.items():
            yield f"{_label(row, option)}: the required argument {name!r} has no counterpart ({', '.join(where)})"


def _platforms(tables: Tables, row: Row) -> Iterator[str]:
    """A device that the newest release does not document is a claim without ground, unless it was executed there."""
    executed = any(proof.executed for proof in proofs_of(row.name))
    for option in row.to:
        releases = _claimed(option) if _is_api(option) else []
        if not releases:
            continue
        documented = mindspore_catalogue(releases[-1]).platforms(option.target)
        missing = set() if documented is None else option.device - documented - ({"cpu"} if executed else set())
        if missing:
            yield f"{_label(row, option)}: not documented for {', '.join(sorted(missing))}"


def _defaults(tables: Tables, row: Row) -> Iterator[str]:
    """A default that differs must be written out, or the parameter be set, transformed, dropped or rejected."""
    torch = tables.signature(row.name)
    if torch is None or row.kind not in ("function", "class", "method"):
        return
    for option in row.to:
        if option.recipe or option.target in (RECEIVER, DROP):
            continue
        handled = {*option.write_default, *option.drop, *option.reject, *option.when}
        places: dict[str, list[str]] = {}
        for place, signatures in _target_signatures(option):
            if len(signatures) > 1:
                continue  # which overload a call meets depends on the call: the examples have to show it
            for parameter in torch.parameters:
                name = option.rename.get(parameter.name, parameter.name)
                theirs = signatures[0].get(name)
                if parameter.default is None or theirs is None or parameter.name in handled or name in option.add:
                    continue
                # A parameter that the target requires fails loudly when it is absent: no silent difference.
                if theirs.default is None or _same_default(
                    parameter.default, theirs.default, parameter.name in option.transform
                ):
                    continue
                difference = f"{parameter.name} defaults to {parameter.default}, there to {theirs.default}"
                places.setdefault(f"{_label(row, option)}: {difference}", []).append(place)
        for text, where in places.items():
            yield f"{text} ({', '.join(where)})"


def _same_default(torch: str, target: str | None, transformed: bool) -> bool:
    if target is None:
        return False
    if same_literal(torch, target) or {torch, target} in SAME_DEFAULTS or "..." in (torch, target):
        return True
    if _is_name(torch) and _is_name(target):
        return True  # two functions or members of enumerations: that they do the same, the examples have to show
    return transformed and torch != "None"


def _is_name(default: str) -> bool:
    return isinstance(ast.parse(default, mode="eval").body, (ast.Name, ast.Attribute))


def _identical(tables: Tables, row: Row) -> Iterator[str]:
    """An identical API has torch's parameters, in order and with their defaults, in every release it claims."""
    torch = tables.signature(row.name)
    for option in row.to:
        if not tables.is_identical(row, option):
            continue
        if torch is None:
            if row.kind in ("function", "class", "method"):
                yield f"{option.target}: torch's signature is not known"
            continue
        wanted = [item for item in torch.parameters if item.name not in TORCH_ONLY]
        for place, signatures in _target_signatures(option):
            differences = [_difference(wanted, signature) for signature in signatures]
            if all(differences):
                yield f"{option.target}: {differences[0]} in {place}"


def _difference(wanted: Sequence[Parameter], signature: Signature) -> str:
    """Return how a signature differs from what torch has, empty when it does not."""
    theirs = [item for item in signature.parameters if item.name not in TORCH_ONLY]
    for index, ours in enumerate(wanted):
        other = signature.get(ours.name)
        if other is None:
            return f"there is no parameter {ours.name!r}"
        if ours.kind == "positional" and (index >= len(theirs) or theirs[index].name != ours.name):
            return f"parameter {ours.name!r} has another place"
        if ours.default is not None and not _same_default(ours.default, other.default, False):
            return f"{ours.name} defaults to {other.default}, torch's to {ours.default}"
    required = [item.name for item in theirs[len(wanted) :] if item.default is None and not item.kind.startswith("var")]
    return f"the parameter {required[0]!r} is required" if required else ""


def _examples(tables: Tables, row: Row) -> Iterator[str]:
    """Every target has an example that yields it; the text of examples is Python."""
    shown: list[MappedTo] = []
    for index, example in enumerate(row.examples):
        try:
            ast.parse(example.before)
            ast.parse(example.after)
            parse_version(example.mindspore)
        except (SyntaxError, UsageError) as error:
            yield f"example {index}: {error}"
            continue
        option = producer(tables, row, example)
        if option is not None:
            shown.append(option)
        elif row.to:
            yield f"example {index}: no target holds for MindSpore {example.mindspore}, {example.device}"
    for option in row.to:
        if not any(option is other for other in shown):
            yield f"{_label(row, option)}: no example shows this target"


def _deviations(tables: Tables, row: Row) -> Iterator[str]:
    """A target that deviates, does not compile, or is passed over at edges, needs another one that answers there."""
    for device in DEVICES:
        target = Target(device=device)
        chosen, exact = tables.select(row, target), tables.select(row, replace(target, exact=True))
        if chosen and not any(not option.edge for option in exact):
            yield f"no target for --exact with {device}"
        if chosen and not tables.select(row, replace(target, graph=True)):
            yield f"no target for --mode graph with {device}"
        if any(option.unless for option in chosen) and all(option.unless for option in chosen if not option.edge):
            yield f"no target for what others are not meant for, with {device}"


def _proofs(tables: Tables, row: Row) -> Iterator[str]:
    """A proof holds for the example, the target and the runtime's code that were executed, and for nothing else."""
    if Path(row.file).is_absolute() or not (_SHIPPED / row.file).is_file():
        return  # a user's row: the proofs are the shipped one's
    try:
        present = {index: digest_of(tables, row, example) for index, example in enumerate(row.examples)}
    except (SyntaxError, UsageError):
        return  # said by the check of the examples
    stale = sorted({proof.example for proof in proofs_of(row.name) if present.get(proof.example) != proof.digest})
    if stale:
        yield f"example {', '.join(map(str, stale))} changed since it was executed: run make prove PROVE_ARGS=--missing"


def _known_name(tables: Tables, row: Row) -> Iterator[str]:
    if tables.catalogue.record(row.name) is None and not tables.names_its_kind(row):
        yield "torch has no such name; if an older one had, say its kind"


def _facts(tables: Tables, row: Row) -> Iterator[str]:
    """A mapped operation of a namespace that has facts has its own; they do not contradict the row."""
    facts = load_facts()
    holder, _, member = row.name.rpartition(".")
    is_operation = row.kind == "class" if holder == "torch.nn" else row.kind in ("function", "method", "attribute")
    if holder not in facts.namespaces or not is_operation or not (row.to or row.keep):
        return
    fact = facts.of(row.name)
    if fact is None:
        if (_SHIPPED / row.file).is_file():  # of users' own rows nothing is asked
            yield "no line in data/facts: python scripts/harvest_facts.py adds one"
        return
    if any(option.recipe == "inplace" for option in row.to) and not (fact.writes or fact.memory == "self"):
        yield "facts: the row changes its argument in place, they say nothing of what it writes"
    if fact.memory == "none" and "Tensor" in row.returns:
        yield f"facts: no tensor comes back, but the row returns {row.returns}"
    if fact.shares and row.returns in ("int", "float", "bool", "str", "Size", "dtype"):
        yield f"facts: the result shares memory, but the row returns {row.returns}"
    if fact.memory == "fresh" and fact.writes == ("self",) and not fact.when and member.endswith("_"):
        yield "facts: an operation in place returns its argument"


def _words(tables: Tables, row: Row) -> Iterator[str]:
    """Transforms, codes and the attributes' reshapes are things that exist."""
    for option in row.to:
        for name in option.transform.values():
            if name not in TRANSFORMS:
                yield f"{_label(row, option)}: there is no transform {name!r}"
        for code in option.codes:
            if code not in CODES:
                yield f"{_label(row, option)}: there is no diagnostic {code!r}"
        if not any(holds_for(option.mindspore, release) for release in _all_releases()):
            yield f"{_label(row, option)}: no release from 2.0 to 2.10 fulfils {option.mindspore!r}"


def _all_releases() -> list[Version]:
    return [(OLDEST[0], minor) for minor in range(11)]


def _unused(tables: Tables, recipes: Sequence[str] | None) -> list[Problem]:
    transforms = {name for row in tables.rows() for option in row.to for name in option.transform.values()}
    named = {option.recipe for row in tables.rows() for option in row.to}
    found = [
        Problem("transforms.py", name, "unused", "no row uses this transform")
        for name in TRANSFORMS
        if name not in transforms
    ]
    found += [
        Problem("recipes", name, "unused", "no row uses this recipe") for name in recipes or () if name not in named
    ]
    return found


def _disagreeing_states(tables: Tables) -> list[Problem]:
    """Weights are carried by the type of the target, so all rows of one target must say the same."""
    first: dict[str, tuple[str, object]] = {}
    found = []
    for row in tables.rows():
        for option in row.to:
            if option.state is None:
                continue
            state = option.state if isinstance(option.state, str) else dict(option.state)
            said = (state, dict(option.reshape))
            name, other = first.setdefault(option.target, (row.name, said))
            if other != said:
                found.append(Problem(row.file, row.name, "state", f"{option.target} has another state in {name}"))
    return found


_CHECKS = (
    _facts,
    _target_exists,
    _parameter_names,
    _required_arguments,
    _platforms,
    _defaults,
    _identical,
    _examples,
    _deviations,
    _known_name,
    _words,
    _proofs,
)
