"""Harvest a catalogue from an installed package: names, signatures, platforms, bases, aliases.

    python scripts/harvest_catalogues.py torch        OUT_FOLDER
    python scripts/harvest_catalogues.py mindspore    OUT_FOLDER      # with the Python of that release's environment
    python scripts/harvest_catalogues.py torchvision  OUT_FOLDER --source UNPACKED_WHEEL

Writes ``OUT_FOLDER/<package>-<version>.json``; ``torch2ms/mapping_tables/catalogue.py`` says what the keys mean.
torchvision is read from its source, it is never imported. Python 3.9 syntax, no dependency but the package itself.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import json
import os
import pkgutil
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from harvest_namespaces import (
    BASE_CLASSES,
    DEPRECATED,
    INSTANCES,
    LETTERS,
    MINDSPORE_NAMESPACES,
    OPERATORS,
    PRIVATE_MINDSPORE,
    TORCH_ALSO,
    TORCH_DEEP,
    TORCH_NAMESPACES,
    TORCH_PRIVATE,
    UNLISTED_MEMBERS,
)
from harvest_signatures import clean_signature, constructor, documented, from_source, inspected, schemas

Record = dict[str, Any]


class Found(NamedTuple):
    """One public spelling of an object."""

    name: str
    value: Any
    owner: Any  # the module or class it was found in


# --- one record ------------------------------------------------------------------------------------------------------


def kind_of(value: Any, owner: Any) -> str:
    """Return class, function, method, attribute or constant."""
    if inspect.isclass(value):
        return "class"
    if inspect.isclass(owner):
        return "method" if callable(value) and not isinstance(value, property) else "attribute"
    return "function" if callable(value) else "constant"


def signature_record(found: Found, kind: str, package: str) -> Record:
    """Return ``s`` (and ``o``) of a callable."""
    value, short = found.value, found.name.rpartition(".")[2]
    static = inspect.isclass(found.owner) and isinstance(
        inspect.getattr_static(found.owner, short, None), (staticmethod, classmethod)
    )
    text = inspected(value, drop_first=kind == "method" and not static)
    doc = inspect.getdoc(value) or ""
    record: Record = {}
    if kind == "class" and (text is None or text.endswith("*args, **kwargs)")):
        source = constructor(value)
        text = source if source is not None and (text is None or "*args" not in source) else text
    if text is not None:
        record["s"] = text
    if kind == "class" or text is not None:
        return record
    written = documented(doc, short)
    texts = [text for text in (clean_signature(item) for item in written) if text]
    overloads = list(dict.fromkeys(texts))
    if package == "torch":
        operators = schemas(short)
        if kind == "method":
            operators = [re.sub(r"^\((input|self)(, )?", "(", text) for text in operators]
        if not overloads or len(texts) < len(written):
            overloads += [text for text in operators if text not in overloads]
    if not overloads:
        source = from_source(value, drop_first=kind == "method" and not static)
        overloads = [source] if source else []
    if overloads:
        record["s"] = overloads[0]
    if len(overloads) > 1:
        record["o"] = overloads[1:]
    return record


def platforms(doc: str) -> str | None:
    """Return the letters of the docstring's platform lists, joined; None when it has none."""
    blocks = re.findall(r"Supported Platforms:\s*((?:[`\w ,]+\n?)+)", doc)
    if not blocks:
        return None
    return "".join(letter for word, letter in LETTERS if any(word in block for block in blocks)) or None


def announced(doc: str) -> str | None:
    """Return what the docstring announces for the future, shortened."""
    notes = re.findall(r"Non-backward-compatible change after version ([^\n]*(?:\n[ \t]+[^\n]*)?)", doc)
    notes += re.findall(r"\bremoved after version \d+\.\d+(?:\.\d+)?", doc)[:1]
    text = re.sub(r"[`\s]+", " ", "; ".join(notes)).strip()
    return text[:160] or None


def record_of(found: Found, package: str, canonical: Callable[[Any], str | None]) -> Record:
    """Return the record of one object."""
    value = found.value
    kind = kind_of(value, found.owner)
    record: Record = {"k": kind}
    doc = text_of(value)
    if kind in ("class", "function", "method"):
        record.update(signature_record(found, kind, package))
    elif kind == "constant":
        record["t"] = type(value).__name__
    if found.name == "mindspore.Tensor" and "s" not in record:
        # Made in C++ from 2.7 on; its factory has the same parameters.
        record.update(
            signature_record(Found("mindspore.tensor", resolve("mindspore.tensor"), None), "function", package)
        )
    if kind == "class":
        bases = [name for base in value.__mro__[1:] if (name := canonical(base))]
        if found.name == "mindspore.Parameter" and "mindspore.Tensor" not in bases:
            bases.append("mindspore.Tensor")  # by Tensor's own isinstance check; both derive from a class in C++
        if bases:
            record["b"] = bases
        for method in ("forward", "construct"):
            if method in vars(value) and (text := inspected(vars(value)[method], drop_first=True)):
                record["c"] = text
    if package == "mindspore" and kind != "constant":
        record.update(mindspore_facts(doc, found.name.rpartition(".")[2]))
    elif re.search(r"deprecated:: |is deprecated|This (class|function|method) is deprecated", doc[:600]):
        record["d"] = True
    return record


def mindspore_facts(doc: str, name: str = "", depth: int = 2) -> Record:
    """Return platforms, deprecation and announcements, following one reference to another API."""
    record: Record = {}
    sections = re.split(r"^\.\. (?:py:)?method::", doc, flags=re.MULTILINE)
    found = {letter for section in sections for letter in section_platforms(section, depth)}
    letters = "".join(letter for _, letter in LETTERS if letter in found) or None
    if letters is not None:
        record["p"] = letters
    said = re.sub(r"Non-backward-compatible[^\n]*(?:\n[ \t]+[^\n]*){0,2}", "", doc.partition("Args:")[0])
    if re.search(DEPRECATED.replace("NAME", re.escape(name) or "-"), said, re.IGNORECASE):
        record["d"] = True
    if note := announced(doc):
        record["n"] = note
    return record


def section_platforms(doc: str, depth: int) -> str:
    """Return the letters one overload's text gives, or those of the API it refers to."""
    own = platforms(doc)
    if own is not None or not depth:
        return own or ""
    names = re.findall(r"(?:[Rr]efer to|[Aa]lias (?:for|of)) :\w+:`~?\.?(mindspore[\w.]+)`", doc)[:1]
    return "".join(mindspore_facts(text_of(resolve(name)), depth=depth - 1).get("p", "") for name in names)


def text_of(value: Any) -> str:
    """Return the docstring of an object, empty when it has none."""
    doc = getattr(value, "__doc__", None)
    return doc if isinstance(doc, str) else ""


def resolve(name: str) -> Any:
    """Return the object of a dotted name, None when there is none."""
    if name in sys.modules:  # torch.optim deletes its submodules' names, so attributes alone do not find them
        return sys.modules[name]
    parts = name.split(".")
    value: Any = sys.modules.get(parts[0])
    for part in parts[1:]:
        value = getattr(value, part, None)
    return value


# --- walking ---------------------------------------------------------------------------------------------------------


def is_foreign(value: Any, package: str) -> bool:
    """Whether a value merely passes through the package (typing, math, os, ...)."""
    module = getattr(value, "__module__", None)
    if isinstance(value, ModuleType):
        return True
    if isinstance(module, str) and module:
        if module == "builtins" and (inspect.isclass(value) or inspect.isbuiltin(value)):
            return True
        if module.startswith("mindspore._c_expression"):
            return True
        return module.split(".")[0] not in (package, "builtins") and not module.startswith("torch")
    return False


def members(name: str, package: str) -> list[Found]:
    """Return the public members of a namespace (module, or the Tensor class with all it inherits)."""
    owner = resolve(name)
    if owner is None:
        return []
    is_class = inspect.isclass(owner)
    public = getattr(owner, "__all__", None) if not is_class else None
    found = []
    for member in sorted({*(public or ()), *dir(owner)}, key=lambda item: (item.startswith("_"), item)):
        if not member.isidentifier() or (member.startswith("_") and not (is_class and member in OPERATORS)):
            continue
        try:
            value = inspect.getattr_static(owner, member) if is_class else getattr(owner, member)
        except Exception:  # a lazy attribute of an optional part may fail in any way
            continue
        if isinstance(value, (staticmethod, classmethod)):
            value = value.__func__
        declared = member in (public or ()) and not isinstance(value, ModuleType)
        if isinstance(value, ModuleType) and value.__name__.startswith(f"{package}.") and "._" not in value.__name__:
            found.append(Found(f"{name}.{member}", value, owner))
            continue
        if not is_class and not declared and is_foreign(value, package):
            continue
        if name == "torch.nn.functional" and inspect.isclass(value):
            continue  # it comes before torch for the functions both have (conv2d), not for what it imports
        if not is_class and not declared and isinstance(value, (str, bool, list, tuple, dict, set, type(None))):
            continue
        found.append(Found(f"{name}.{member}", value, owner))
    return found


def own_members(name: str, value: type) -> list[Found]:
    """Return the public methods, properties and annotated attributes that a class itself defines."""
    found: list[Found] = []
    internal = str(getattr(value, "__module__", "")).startswith("torch._C") and value.__name__ not in (
        "Generator",
        "Event",
        "Stream",
        "Future",
    )
    if type(value).__name__ == "tensortype" or internal:  # torch.FloatTensor and the like: legacy spellings of Tensor
        return found
    for member, raw in sorted(vars(value).items()):
        if member.startswith("_") or (member in UNLISTED_MEMBERS and name not in BASE_CLASSES):
            continue
        item = raw.__func__ if isinstance(raw, (staticmethod, classmethod)) else raw
        found.append(Found(f"{name}.{member}", item, value))
    known = {item.name for item in found}
    annotations = vars(value).get("__annotations__", {})
    for member in annotations if isinstance(annotations, dict) else ():
        if not member.startswith("_") and f"{name}.{member}" not in known:
            found.append(Found(f"{name}.{member}", property(), value))
    return found


def import_all(names: list[str]) -> list[str]:
    """Import modules; return those that could be."""
    done = []
    for name in names:
        try:
            importlib.import_module(name)
        except BaseException:  # optional parts raise ImportError, RuntimeError, even SystemExit
            if resolve(name) is None:
                continue
        done.append(name)
    return done


def submodules(root: str) -> list[str]:
    """Return the public submodules of a package, not imported."""
    package = sys.modules.get(root)
    paths = getattr(package, "__path__", None)
    if paths is None:
        return []
    found = []
    for item in pkgutil.iter_modules(paths, f"{root}."):
        if (
            not item.name.rpartition(".")[2].startswith("_")
            and "test" not in item.name
            and "datapipes" not in item.name
        ):
            found.append(item.name)
            if item.ispkg:
                import_all([item.name])
                found += submodules(item.name)
    return found


def harvest(
    package: str, namespaces: list[str], deep: list[str], extra: list[str]
) -> tuple[dict[str, Record], dict[str, str]]:
    """Return records by canonical name, and the other spellings."""
    warnings.simplefilter("ignore")  # deprecated names warn when they are looked at
    import_all([name for name in namespaces if not inspect.isclass(resolve(name))])
    further = import_all([name for root in deep for name in submodules(root)])
    order: list[Found] = []
    for namespace in [*namespaces, *further]:
        order += members(namespace, package)
    for name in extra:
        value = resolve(name)
        if value is not None:
            order.append(Found(name, value, resolve(name.rpartition(".")[0])))
    names: dict[str, Found] = {}
    aliases: dict[str, str] = {}
    by_identity: dict[int, str] = {}
    for found in order:
        if found.name in names or found.name in aliases:
            continue
        if isinstance(found.value, ModuleType):
            if found.value.__name__ != found.name:
                aliases[found.name] = found.value.__name__
            continue
        shared = inspect.isclass(found.value) or inspect.isroutine(found.value)
        known = by_identity.get(id(found.value)) if shared else None
        same_holder = known is not None and inspect.isclass(found.owner) != inspect.isclass(names[known].owner)
        if known is not None and not same_holder:
            aliases[found.name] = known
            continue
        names[found.name] = found
        if shared:
            by_identity[id(found.value)] = found.name
    for name, found in list(names.items()):
        if inspect.isclass(found.value) and name != f"{package}.Tensor":
            for member in own_members(name, found.value):
                names.setdefault(member.name, member)

    for name in INSTANCES:
        if name in names:  # what only an instance has, private registries included: programs reach for them
            for member in vars(names[name].value()):
                names.setdefault(f"{name}.{member}", Found(f"{name}.{member}", property(), names[name].value))

    def canonical(value: Any) -> str | None:
        return by_identity.get(id(value))

    records = {name: record_of(found, package, canonical) for name, found in names.items()}
    for name in [package, *namespaces, *further]:
        parts = name.split(".")
        for cut in range(1, len(parts) + 1):
            if isinstance(resolve(".".join(parts[:cut])), ModuleType):
                records.setdefault(".".join(parts[:cut]), {"k": "module"})
    for target in aliases.values():
        if target not in records:  # what is left without a record of its own are modules
            records[target] = {"k": "module"}
    return records, {alias: name for alias, name in aliases.items() if alias not in records}


def not_importable() -> dict[str, Record]:
    """Return the classes of torch's parts that need another package, read from their source."""
    from harvest_torchvision import class_records

    records: dict[str, Record] = {"torch.utils.tensorboard": {"k": "module"}}
    path = Path(str(sys.modules["torch"].__file__)).parent / "utils" / "tensorboard" / "writer.py"
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef) and node.name in ("SummaryWriter", "FileWriter"):
            class_records(f"torch.utils.tensorboard.{node.name}", node, [], records)
    return records


def version_of(package: str) -> str:
    """Return the installed release without local parts."""
    return str(sys.modules[package].__version__).partition("+")[0]


def main() -> None:
    """Write one catalogue."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("package", choices=("torch", "mindspore", "torchvision"))
    parser.add_argument("out", type=Path)
    parser.add_argument("--source", type=Path, help="folder with the unpacked torchvision wheel")
    options = parser.parse_args()
    if options.package == "torchvision":
        from harvest_torchvision import harvest_source

        version, names, aliases = harvest_source(options.source)
    else:
        os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX2")
        importlib.import_module(options.package)
        if options.package == "torch":
            names, aliases = harvest("torch", [*TORCH_NAMESPACES, *TORCH_ALSO], TORCH_DEEP, TORCH_PRIVATE)
            names.update(not_importable())
        else:
            names, aliases = harvest("mindspore", MINDSPORE_NAMESPACES, [], PRIVATE_MINDSPORE)
        version = version_of(options.package)
    path = options.out / f"{options.package}-{version}.json"
    path.write_text(as_text(f"{options.package} {version}", names, aliases), encoding="utf-8")
    print(f"{path}: {len(names)} names, {len(aliases)} aliases, {path.stat().st_size} bytes")


def as_text(title: str, names: dict[str, Record], aliases: dict[str, str]) -> str:
    """Return JSON with one name a line, so that differences between releases can be read."""
    rows = ",\n".join(f"{json.dumps(name)}:{json.dumps(names[name], separators=(',', ':'))}" for name in sorted(names))
    others = ",\n".join(f"{json.dumps(name)}:{json.dumps(aliases[name])}" for name in sorted(aliases))
    return f'{{"title":{json.dumps(title)},\n"names":{{\n{rows}\n}},\n"aliases":{{\n{others}\n}}}}\n'


if __name__ == "__main__":
    main()
