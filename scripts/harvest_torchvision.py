"""Harvest torchvision's catalogue from its source: no matching CPU build exists, so it is never imported."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any, NamedTuple

Record = dict[str, Any]
PACKAGES = ("transforms", "datasets", "models", "ops", "io", "utils", "tv_tensors", "version")
# How torchvision spells members of its packages to the outside; anything deeper is an alias.
SKIPPED = ("_", "prototype", "references")


class Source(NamedTuple):
    """One file: its module name, whether it is a package, its tree."""

    module: str
    package: bool
    tree: ast.Module


def read_sources(root: Path) -> dict[str, Source]:
    """Return every source file below ``root/torchvision`` by module name."""
    found = {}
    for path in sorted((root / "torchvision").rglob("*.py")):
        parts = list(path.relative_to(root).with_suffix("").parts)
        package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if package else parts)
        found[name] = Source(name, package, ast.parse(path.read_text(encoding="utf-8")))
    return found


def statements(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements of a module with those inside ``if`` and ``try``."""
    found = []
    for node in body:
        found.append(node)
        if isinstance(node, (ast.If, ast.Try)):
            found += statements(node.body) + statements(node.orelse)
    return found


def imported_module(source: Source, node: ast.ImportFrom) -> str:
    """Return the absolute module an import statement names."""
    if not node.level:
        return node.module or ""
    parts = source.module.split(".")
    base = parts if source.package and node.level == 1 else parts[: len(parts) - node.level + source.package]
    return ".".join([*base, *([node.module] if node.module else [])])


def exports(sources: dict[str, Source], module: str, seen: set[str] | None = None) -> dict[str, tuple[str, ast.stmt]]:
    """Return what a module offers: name to (module that defines it, definition)."""
    seen = {*(seen or ()), module}
    source = sources.get(module)
    found: dict[str, tuple[str, ast.stmt]] = {}
    for node in statements(source.tree.body) if source else []:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = (module, node)
        elif isinstance(node, ast.ImportFrom) and source:
            origin = imported_module(source, node)
            if origin not in sources or origin in seen:
                continue
            offered = exports(sources, origin, seen)
            for alias in node.names:
                if alias.name == "*":
                    found.update({name: item for name, item in offered.items() if not name.startswith("_")})
                elif alias.name in offered:
                    found[alias.asname or alias.name] = offered[alias.name]
    return found


def signature(arguments: ast.arguments, skip_first: bool) -> str:
    """Return ``(a, b=1)`` without annotations."""
    for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
        argument.annotation = None
    for single in (arguments.vararg, arguments.kwarg):
        if single is not None:
            single.annotation = None
    text = ast.unparse(arguments)
    if skip_first:
        first = (arguments.posonlyargs + arguments.args)[0].arg
        text = text[len(first) :].lstrip(", ").removeprefix("/, ")
    return f"({text})"


def private_constructor(node: ast.ClassDef, module: str, sources: dict[str, Source], homes: dict[int, str]) -> str:
    """Return the signature of the constructor that a class takes from a base without a public name; "" for none."""
    offered = exports(sources, module)
    for base in node.bases:
        origin, definition = offered.get(ast.unparse(base), (module, None))
        if isinstance(definition, ast.ClassDef) and id(definition) not in homes:
            own = [item for item in definition.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"]
            found = [signature(item.args, skip_first=True) for item in own]
            return found[0] if found else private_constructor(definition, origin, sources, homes)
    return ""


def names_of_bases(node: ast.ClassDef, module: str, sources: dict[str, Source], homes: dict[int, str]) -> list[str]:
    """Return the public names of the base classes, nearest first, as far as the source says."""
    found: list[str] = []
    offered = exports(sources, module)
    for base in node.bases:
        text = ast.unparse(base)
        if text in offered:
            origin, definition = offered[text]
            if id(definition) in homes:
                found.append(homes[id(definition)])
            if isinstance(definition, ast.ClassDef):
                found += names_of_bases(definition, origin, sources, homes)
        elif text in ("nn.Module", "torch.nn.Module"):
            found.append("torch.nn.Module")
        elif text in ("data.Dataset", "Dataset", "torch.utils.data.Dataset"):
            found.append("torch.utils.data.Dataset")
    return list(dict.fromkeys(found))


def class_records(name: str, node: ast.ClassDef, bases: list[str], records: dict[str, Record]) -> None:
    """Add the record of a class and of its public members."""
    record: Record = {"k": "class"}
    if bases:
        record["b"] = bases
    for item in node.body:
        if isinstance(item, ast.FunctionDef):
            decorators = {ast.unparse(decorator) for decorator in item.decorator_list}
            if item.name == "__init__":
                record["s"] = signature(item.args, skip_first=True)
            elif item.name in ("forward", "__call__"):
                record["c"] = signature(item.args, skip_first=True)
            elif not item.name.startswith("_") and item.name != "extra_repr":
                kind = "attribute" if "property" in decorators else "method"
                records[f"{name}.{item.name}"] = {"k": kind}
                if kind == "method":
                    bound = "staticmethod" not in decorators
                    records[f"{name}.{item.name}"]["s"] = signature(item.args, skip_first=bound)
        elif isinstance(item, ast.Assign):
            for target in item.targets:
                if isinstance(target, ast.Name) and not target.id.startswith("_"):
                    records[f"{name}.{target.id}"] = {"k": "attribute"}
    records[name] = record


def inherit_signatures(records: dict[str, Record]) -> None:
    """Give classes without a constructor (or call) of their own that of the nearest base."""
    for record in records.values():
        for key in ("s", "c"):
            if record["k"] == "class" and key not in record:
                texts = [records[base][key] for base in record.get("b", ()) if key in records.get(base, {})]
                if texts:
                    record[key] = texts[0]
                elif key == "s" and "torch.nn.Module" in record.get("b", ()):
                    record[key] = "()"


def harvest_source(root: Path) -> tuple[str, dict[str, Record], dict[str, str]]:
    """Return version, records and aliases of an unpacked torchvision wheel."""
    sources = read_sources(root)
    modules = [
        name for name in sorted(sources, key=lambda name: (name.count("."), name))
        if name == "torchvision"
        or (name.split(".")[1] in PACKAGES and not any(part.startswith(SKIPPED) for part in name.split(".")[1:]))
    ]  # fmt: skip
    homes: dict[int, str] = {}
    found: dict[str, tuple[str, ast.stmt]] = {}
    aliases: dict[str, str] = {}
    # v1 transforms name the plain spellings; v2 comes after all others.
    for module in sorted(modules, key=lambda name: (".v2" in name, name.count("."), name)):
        for name, (origin, node) in sorted(exports(sources, module).items()):
            spelled = f"{module}.{name}"
            if name.startswith("_") or (
                module != "torchvision" and not origin.startswith("torchvision." + module.split(".")[1])
            ):
                continue
            if id(node) in homes:
                aliases[spelled] = homes[id(node)]
            else:
                homes[id(node)] = spelled
                found[spelled] = (origin, node)
    records: dict[str, Record] = {module: {"k": "module"} for module in modules}
    for spelled, (origin, node) in found.items():
        if isinstance(node, ast.FunctionDef):
            records[spelled] = {"k": "function", "s": signature(node.args, skip_first=False)}
        elif isinstance(node, ast.ClassDef):
            class_records(spelled, node, names_of_bases(node, origin, sources, homes), records)
            inherited = private_constructor(node, origin, sources, homes)
            if inherited and "s" not in records[spelled]:
                records[spelled]["s"] = inherited
    inherit_signatures(records)
    metadata = next(root.glob("torchvision-*.dist-info")).name
    return metadata[len("torchvision-") : -len(".dist-info")], records, aliases
