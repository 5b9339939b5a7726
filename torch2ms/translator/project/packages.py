"""Packages built on PyTorch, and those known to be free of it: what the tables and the installed ones say."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import Any

from torch2ms.config import Target
from torch2ms.translator.project.package_sources import COMPILED_SUFFIXES
from torch2ms.translator.project.symbol_table import SymbolTable
from torch2ms.translator.syntax.names import TORCH_ROOTS

__all__ = ["advice_for", "compiled_modules", "free_packages", "packages", "requires_torch", "torch_package"]


if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


_TABLES = Path(__file__).resolve().parent.parent.parent / "mapping_tables"


_FILE, _FREE = _TABLES / "packages.toml", _TABLES / "free_packages.toml"
_COUNTERPARTS = _TABLES / "counterparts.toml"


@lru_cache(maxsize=1)
def packages() -> Mapping[str, Any]:
    """Return the packages built on PyTorch, with the advice for each."""
    return dict(tomllib.loads(_FILE.read_text(encoding="utf-8")))


@lru_cache(maxsize=1)
def _counterparts() -> Mapping[str, Mapping[str, Any]]:
    return dict(tomllib.loads(_COUNTERPARTS.read_text(encoding="utf-8")))


def advice_for(package: str, target: Target) -> str:
    """Return what to do about a package built on PyTorch: what installs beside the chosen MindSpore release, if any."""
    release = "{}.{}".format(*target.mindspore)
    none = f"no counterpart is known to install beside MindSpore {release}"
    entry = packages().get(package)
    if isinstance(entry, str):
        return entry or none
    if entry is None:
        return _taking(package, _is_pure(package))
    fitting = [
        f"{name} {found['version']} installs beside MindSpore {release} and has {found['has']}"
        for name, found in ((name, _counterparts()[name]) for name in entry.get("counterparts", ()))
        if _numbers(found["mindspore"][0]) <= target.mindspore <= _numbers(found["mindspore"][1])
    ]
    is_pure = True if entry.get("pure") else None
    others = [_taking(package, is_pure)] if is_pure or not fitting else []
    if "counterparts" in entry and not fitting:
        others = [none, *others]
    return "; ".join([*fitting, *others, *([entry["advice"]] if "advice" in entry else [])])


def _taking(package: str, is_pure: bool | None) -> str:
    """Say whether a package can be translated with the project; None: it is not known to be pure Python."""
    if is_pure is False:
        return "it has compiled parts, which cannot be translated: replace what is used of it"
    where = "" if package in _distributions() else " (installed beside torch2ms first, or the folder of its source)"
    return f"{'' if is_pure else 'where it is pure Python, '}take it along: --with {package}{where}"


def _is_pure(package: str) -> bool | None:
    """Whether an installed package holds nothing compiled; None where it is not installed."""
    files = [str(file) for name in _distributions().get(package, ()) for file in metadata.files(name) or ()]
    return not any(PurePosixPath(file).suffix in COMPILED_SUFFIXES for file in files) if files else None


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


@lru_cache(maxsize=1)
def free_packages() -> frozenset[str]:
    """Return the packages that are known to be free of PyTorch, Python's own among them."""
    listed = tomllib.loads(_FREE.read_text(encoding="utf-8"))
    return frozenset(" ".join(listed.values()).split()) | sys.stdlib_module_names


@lru_cache(maxsize=1024)
def _needs_torch(root: str) -> bool:
    """Whether an installed package says that it needs PyTorch; it is not imported."""
    if root in free_packages() or root in TORCH_ROOTS:
        return False
    needed = (line for name in _distributions().get(root, ()) for line in metadata.requires(name) or ())
    return any(re.match(r"torch\b(?![-_.])", line) and "extra ==" not in line for line in needed)


@lru_cache(maxsize=1)
def _distributions() -> Mapping[str, Sequence[str]]:
    return metadata.packages_distributions()


def requires_torch(entry: str) -> bool:
    """Whether a line of requirements names PyTorch or a package built on it: ``timm>=0.9``."""
    found = re.match(r"[\w.-]+", entry)
    name = re.sub(r"[-.]+", "_", found.group()) if found is not None else ""
    return name in TORCH_ROOTS or name in packages() or _needs_torch(name)


def compiled_modules(symbols: SymbolTable, path: str, names: Iterable[tuple[int, str]]) -> list[str]:
    """Return those of the modules, each with its level, that are compiled parts left behind by packages taken along."""
    found = []
    for level, module in names if symbols.compiled else ():
        parts = [*PurePosixPath(path).parts[:-level], *module.split(".")] if level else module.split(".")
        if "/".join(part for part in parts if part) in symbols.compiled:
            found.append(".".join(part for part in parts if part))
    return sorted(set(found))


def torch_package(symbols: SymbolTable, path: str, module: str, level: int = 0) -> str | None:
    """Return the package built on PyTorch that an import names; None for others and for modules of the project."""
    root = module.partition(".")[0]
    if level or not (root in packages() or _needs_torch(root)):
        return None
    if path.endswith("__init__.py") and Path(path).parent.name == root:
        return None  # a file is never found from itself, and p/__init__.py imports from p
    own = symbols.find_module(path, root, 0) or symbols.find_module(path, module, 0)
    return None if own is not None else root
