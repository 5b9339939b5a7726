"""What ``MODULE:CALLABLE`` names in a project."""

from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType
from typing import Any, List

__all__ = ["load_entry"]

_roots: List[str] = []  # on the path, because of an entry


def load_entry(root: str, entry: str) -> Any:
    """Return what ``entry`` names in the project at ``root``, which becomes the working folder.

    The modules of another project, which was there before, are forgotten: they may have the same names.
    """
    if root not in sys.path:
        for other in _roots:
            sys.path[:] = [path for path in sys.path if path != other]
            _forget(other)
        _roots[:] = [root]
        sys.path.insert(0, root)
    os.chdir(root)
    module, _, name = entry.partition(":")
    target: Any = _load(root, module)
    for part in name.split("."):
        target = getattr(target, part)
    return target


def _forget(root: str) -> None:
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(root + os.sep):
            del sys.modules[name]
    importlib.invalidate_caches()


def _load(root: str, module: str) -> ModuleType:
    """Import a module: as a part of the project, where that is itself a package and imported as one."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        place, package = os.path.split(root)
        is_package = os.path.isfile(os.path.join(root, "__init__.py")) and "." not in package
        if not is_package or not ("relative import" in str(error) or error.name == package):
            raise
    sys.path.append(place)
    return importlib.import_module(f"{package}.{module}")
