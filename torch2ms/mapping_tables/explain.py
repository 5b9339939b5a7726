"""Explain one torch name, or one diagnostic, in words; propose the row of a name that has none."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from torch2ms.config import DEVICES, NEWEST, OLDEST, Target, Version
from torch2ms.diagnostics import CODES, code_named
from torch2ms.errors import UsageError
from torch2ms.language import told, tr
from torch2ms.mapping_tables.call_shapes import LETTERS
from torch2ms.mapping_tables.catalogue import mindspore_catalogue, mindspore_releases
from torch2ms.mapping_tables.counterparts import proof_of
from torch2ms.mapping_tables.example_calls import same_literal
from torch2ms.mapping_tables.lookup import Tables
from torch2ms.mapping_tables.proofs import PROVED_ON, Proof, digest_of, proofs_of
from torch2ms.mapping_tables.schema import DROP, RECEIVER, MappedTo, Parameter, Row
from torch2ms.mapping_tables.signatures import format_signature

__all__ = ["explain", "explain_code", "new_row"]

_VERSIONS: tuple[Version, ...] = tuple((OLDEST[0], minor) for minor in range(NEWEST[1] + 1))


def explain(tables: Tables, name: str) -> str:
    """Return what torch2ms makes of a torch name (any spelling) or of a package, or what a diagnostic code means.

    A name of a package that has tables may be private, or of another release: that is said. Raises UsageError for any
    other name, with the nearest ones.
    """
    code = code_named(name)
    if code is not None:
        return explain_code(code)
    row = tables.row(name)
    canonical = row.name if row else tables.canonical(name)
    if row is None and tables.catalogue.record(canonical) is None:
        known = dict.fromkeys([*tables, *tables.catalogue.names])
        near = difflib.get_close_matches(name, list(known), n=3, cutoff=0.6)
        meant = f"did you mean {', '.join(near)}?" if near else "write the full name, such as torch.nn.Conv2d"
        if not _is_of_package(tables, canonical):
            if package := _explain_package(name):
                return package
            meant += "" if "." in name else "; what to do about a package: torch2ms explain T2M307"
            raise UsageError(f"torch has no {name}, and the tables do not know it", advice=meant)
        return (
            "\n".join((canonical, "", *_unlisted(canonical), meant, f"To add it: torch2ms tables new {canonical}"))
            + "\n"
        )
    return "\n".join(_lines(tables, canonical, row)) + "\n"


def _explain_package(name: str) -> str:
    """Return what to do about a package that is built on PyTorch and has no tables; nothing for another name."""
    from torch2ms.translator.project.packages import advice_for, packages

    package = name.partition(".")[0]
    if package not in packages():
        return ""
    about = tr("built on PyTorch: what uses it does not run on MindSpore's tensors and networks (T2M307)")
    return "\n".join((package, "", about, f"{tr('What to do:')} {told(advice_for(package, Target()))}")) + "\n"


def _is_of_package(tables: Tables, name: str) -> bool:
    """Whether a dotted name is below a package that the tables have rows of."""
    root, *rest = name.split(".")
    is_name = bool(rest) and all(part.isidentifier() for part in rest)
    return is_name and root in {row.partition(".")[0] for row in tables}


def _unlisted(name: str) -> Iterator[str]:
    """Say why neither the tables nor the catalogue of PyTorch hold a name."""
    private = next((part for part in name.split(".") if part.startswith("_") and not part.endswith("__")), "")
    if private:
        yield f"unknown: {private} is private, and the tables hold public names; what uses it is marked (T2M202)"
        yield "Private names change between releases of PyTorch: write what the call does with public ones."
    else:
        yield "unknown: no public name of the PyTorch release that torch2ms knows; what uses it is marked (T2M202)"


def explain_code(code: str) -> str:
    """Return the entry of a diagnostic."""
    entry = CODES[code]
    lines = [f"{entry.code} {entry.name} ({tr(str(entry.severity))})", "", tr(entry.meaning)]
    return "\n".join([*lines, *([f"{tr('What to do:')} {tr(entry.advice)}"] if entry.advice else [])]) + "\n"


def _lines(tables: Tables, name: str, row: Row | None) -> Iterator[str]:
    signature = tables.signature(name)
    yield f"{name}{format_signature(signature) if signature else ''}"
    if row is None:
        yield ""
        yield "unknown: torch has it, the mapping tables do not (T2M202)"
        yield f"To add it: torch2ms tables new {name}"
        return
    if row.keep:
        yield from ("", f"kept: {row.keep}")
    if row.unsupported:
        yield from ("", f"unsupported: {row.unsupported} (T2M201)")
    for index, option in enumerate(row.to):
        yield ""
        yield from _target_lines(tables, row, option, index)
    if row.to:
        yield from ("", "By release and device:", *_emission_lines(tables, row))
    yield from _example_lines(tables, row)
    if proof := proof_of(name):
        yield from ("", f"Compared: {proof}")
    yield from ("", f"Row: {row.file}")


def _target_lines(tables: Tables, row: Row, option: MappedTo, index: int) -> Iterator[str]:
    words = {RECEIVER: "the receiver itself", DROP: "nothing: the statement is dropped"}
    condition = "".join(f", when {name} is {literal}" for name, literal in option.when.items())
    number = f"{index + 1}. " if len(row.to) > 1 else ""
    target = words.get(option.target, option.target)
    yield f"{number}{target}  [MindSpore {option.mindspore}; {_devices(option)}{condition}]"
    if option.recipe:
        yield f"   rewritten by the recipe {option.recipe}"
    for line in _argument_lines(tables, row, option):
        yield f"   {line}"
    if isinstance(option.state, str):
        yield "   weights: same names"
    elif option.state is not None:
        for key, value in option.state.items():
            reshape = f" (reshaped: {option.reshape[key]})" if key in option.reshape else ""
            yield f"   weight {key} -> {value or 'no counterpart'}{reshape}"
    record = mindspore_catalogue(mindspore_releases()[-1]).record(option.target) or {}
    if record.get("d"):
        yield f"   deprecated in MindSpore {_dotted(mindspore_releases()[-1])}"
    if "n" in record:
        yield f"   announced: {record['n']}"
    if option.unless:
        yield f"   passed over at these edges: {', '.join(option.unless)}"
    if option.deviates:
        yield f"   passed over with --exact, as it deviates on {', '.join(sorted(option.deviates))}"
    if option.pynative:
        yield "   passed over with --mode graph, which does not compile it"
    if option.fidelity != "exact" or option.notes:
        yield f"   {option.fidelity}: {option.notes}" if option.notes else f"   {option.fidelity}"


def _devices(option: MappedTo) -> str:
    return "every device" if len(option.device) == 3 else ", ".join(sorted(option.device))


def _argument_lines(tables: Tables, row: Row, option: MappedTo) -> Iterator[str]:
    """Say what becomes of each argument that does not simply keep its name."""
    torch = tables.signature(row.name)
    theirs = tables.target_signature(option.target, NEWEST)
    for parameter in torch.parameters if torch else ():
        words = list(_argument_words(parameter, option))
        default = theirs.get(option.rename.get(parameter.name, parameter.name)) if theirs else None
        if parameter.name in option.write_default:
            other = default.default if default else "another value"
            words.append(f"{parameter.default} is written out (the target defaults to {other})")
        elif theirs and default is None and not words and not option.recipe:
            words.append("cannot be expressed (T2M203)" if not _takes_any(theirs.parameters) else "")
        if any(words):
            yield f"{parameter.name}: {', '.join(word for word in words if word)}"
    for name, text in option.add.items():
        yield f"{name}={text} is added"


def _argument_words(parameter: Parameter, option: MappedTo) -> Iterator[str]:
    name = parameter.name
    if name in option.rename:
        yield f"becomes {option.rename[name]}"
    if name in option.transform:
        yield f"changed by {option.transform[name]}"
    if name in option.named:
        yield "passed by name"
    if name in option.when:
        yield f"must be {option.when[name]} for this target"
    elif name in option.drop:
        yield "dropped, it does not change the result"
    if name in option.reject:
        yield f"cannot be expressed (T2M203): {option.reject[name]}"


def _takes_any(parameters: tuple[Parameter, ...]) -> bool:
    return any(parameter.kind in ("var_keyword", "var_positional") for parameter in parameters)


def _emission_lines(tables: Tables, row: Row) -> Iterator[str]:
    """Say which target is emitted where, neighbouring releases taken together."""
    for device in DEVICES:
        runs: list[tuple[str, Version, Version]] = []
        for version in _VERSIONS:
            chosen = tables.select(row, Target(version, device))
            text = " or ".join(dict.fromkeys(option.target for option in chosen)) or "no target (T2M204/T2M205)"
            if runs and runs[-1][0] == text:
                runs[-1] = (text, runs[-1][1], version)
            else:
                runs.append((text, version, version))
        for text, first, last in runs:
            span = f"{_dotted(first)}" if first == last else f"{_dotted(first)} to {_dotted(last)}"
            yield f"   {device:8} {span:12} {text}"
    places = [
        f"on {device} with {', '.join(sorted(executed, key=_release))}"
        for device in PROVED_ON
        if (executed := {proof.mindspore for proof in proofs_of(row.name, device) if proof.executed})
    ]
    if places:
        yield f"   Executed {' and '.join(places)}; the rest is documented, not executed."
    else:
        yield "   Documented, not executed."


def _release(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdigit())


def _dotted(version: Version) -> str:
    return f"{version[0]}.{version[1]}"


def _example_lines(tables: Tables, row: Row) -> Iterator[str]:
    everywhere = [proof for device in PROVED_ON for proof in proofs_of(row.name, device)]
    proofs = sorted(everywhere, key=lambda proof: _release(proof.mindspore))
    for index, example in enumerate(row.examples):
        yield ""
        yield f"Example {index + 1}:"
        yield from (f"   {line}" for line in example.before.strip().splitlines())
        yield "   ->"
        yield from (f"   {line}" for line in example.after.strip().splitlines())
        own = [proof for proof in proofs if proof.example == index]
        present = digest_of(tables, row, example)
        yield from (f"   {_proof_line(proof, present)}" for proof in own)
        if not own:
            yield "   not executed yet"


def _proof_line(proof: Proof, present: str) -> str:
    """Say what was executed: result, call shapes, graph mode; or that it is no proof any more."""
    words = ["not executed" if proof.result == "skipped" else proof.result]
    if proof.difference is not None:
        words.append(f"largest difference {proof.difference:.1g}")
    executed, _, marked = proof.calls.partition("/")
    if executed:
        words.append("called with " + ", ".join(LETTERS[letter] for letter in executed))
    if marked:
        words.append("marked when called with " + ", ".join(LETTERS[letter] for letter in marked))
    if proof.graph:
        words.append(f"graph mode: {proof.graph}")
    stale = "" if proof.digest == present else " (of the row as it was; it has changed since)"
    detail = f": {proof.detail}" if proof.detail else ""
    return f"MindSpore {proof.mindspore} on {proof.device}: {', '.join(words)}{detail}{stale}"


def new_row(tables: Tables, name: str) -> str:
    """Return TOML to start a row from: the likeliest target, renames and differing defaults from both catalogues.

    Raises UsageError when the name is of no package with tables, or a row is there already.
    """
    canonical = tables.canonical(name)
    if canonical in tables:
        raise UsageError(f"{canonical} has a row already", advice=f"see torch2ms explain {canonical}")
    if tables.catalogue.record(canonical) is None and not _is_of_package(tables, canonical):
        raise UsageError(f"torch has no {name}", advice="write the full name, such as torch.nn.Conv2d")
    namespace, _, short = canonical.rpartition(".")
    if tables.kind_of_name(canonical) == "method":
        namespace, short = canonical.rsplit(".", 1)
    candidates = _candidates(short)
    lines = [f'namespace = "{namespace}"', "", f"[{short}]"]
    if not candidates:
        return "\n".join([*lines, 'unsupported = "say what to write instead"']) + "\n"
    target = next((name for name in candidates if _same_family(namespace, name)), candidates[0])
    lines += [f"[[{short}.to]]", f'target = "{target}"', *_proposed(tables, canonical, target)]
    others = [candidate for candidate in candidates if candidate != target]
    if others:
        lines.append("# also: " + ", ".join(others[:6]))
    signature = tables.signature(canonical)
    needed = [item.name for item in signature.parameters if item.default is None] if signature else []
    call = ", ".join(name for name in needed if name not in ("args", "kwargs"))
    lines += [
        f"[[{short}.example]]",
        f'before = "{canonical}({call})"',
        f'after = "{target}({call})"',
        "run = { args = { " + ", ".join(f'{name} = "randn(2, 3)"' for name in needed[:1]) + " } }",
    ]
    return "\n".join(lines) + "\n"


def _candidates(short: str) -> list[str]:
    """Return the APIs of the newest release that have the same last name, not deprecated ones, mint last."""
    catalogue = mindspore_catalogue(mindspore_releases()[-1])
    places = ("mindspore.nn", "mindspore.ops", "mindspore.Tensor", "mindspore", "mindspore.experimental.optim",
              "mindspore.experimental.optim.lr_scheduler", "mindspore.dataset.vision", "mindspore.dataset",
              "mindspore.numpy", "mindspore.mint", "mindspore.mint.nn", "mindspore.mint.nn.functional")  # fmt: skip
    names = (f"{place}.{short}" for place in places)
    return [name for name in names if (record := catalogue.record(name)) and not record.get("d")]


def _same_family(namespace: str, target: str) -> bool:
    home = target.rpartition(".")[0]
    families = {
        "torch.nn": "mindspore.nn",
        "torch.Tensor": "mindspore.Tensor",
        "torch.optim": "mindspore.experimental.optim",
    }
    return families.get(namespace, "mindspore.ops") == home


def _proposed(tables: Tables, name: str, target: str) -> list[str]:
    """Return the keys of a target that both signatures suggest."""
    torch, theirs = tables.signature(name), tables.target_signature(target, NEWEST)
    if torch is None or theirs is None:
        return []
    missing = [item for item in torch.parameters if theirs.get(item.name) is None]
    free = [item for item in theirs.parameters if torch.get(item.name) is None]
    lines = []
    by_place = {
        ours.name: other.name
        for ours, other in zip(torch.parameters, theirs.parameters, strict=False)
        if ours in missing and other in free
    }
    if by_place:
        lines.append("rename = { " + ", ".join(f'{key} = "{value}"' for key, value in by_place.items()) + " }")
    differing = [
        ours.name
        for ours in torch.parameters
        if ours.default is not None
        and (other := theirs.get(by_place.get(ours.name, ours.name))) is not None
        and not same_literal(ours.default, other.default)
    ]
    if differing:
        lines.append(f"write_default = [{', '.join(repr(item).replace(chr(39), chr(34)) for item in differing)}]")
    lost = [item.name for item in missing if item.name not in by_place]
    if lost:
        lines.append(f"# without counterpart: {', '.join(lost)} (drop, reject, or left to T2M203)")
    return lines
