"""What ``MODULE:CALLABLE`` names in a project, and the inputs that a user gives."""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import os
import sys
from types import ModuleType
from typing import Any, Callable, Dict, List, Tuple

import numpy as np

from .channel import load_arrays, unpack

__all__ = ["given_arguments", "load_entry"]

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


def given_arguments(
    root: str, folder: str, source: str, seed: Callable[[], object]
) -> Tuple[List[Any], Dict[str, Any]]:
    """Return the arguments of a network that ``source`` gives: positional ones, and those by name.

    ``source``: ``FILE.npz`` or ``FILE.py:CALLABLE`` below ``folder``, or ``MODULE:CALLABLE`` of the project at
    ``root``; ``seed`` is called in front of the callable. Of what it returns, a tuple holds the arguments, a dictionary
    those by name; anything else is the only one. Raises ValueError where it gives none.
    """
    if source.endswith(".npz"):
        return _of_file(os.path.join(folder, source))
    module, _, name = source.rpartition(":")
    target = _of_module(os.path.join(folder, module), name) if module.endswith(".py") else load_entry(root, source)
    seed()
    found = target()
    if found is None:
        raise ValueError(f"{name} returns nothing")
    if isinstance(found, dict):
        return [], found
    return list(found) if isinstance(found, tuple) else [found], {}


def _of_file(path: str) -> Tuple[List[Any], Dict[str, Any]]:
    """Return the arrays of a file: those that ``numpy.savez`` was given without names, and those with one."""
    with np.load(path, allow_pickle=False) as archive:
        names = list(archive.files)
        if "names" in names and "arguments" in archive["names"]:
            return unpack(load_arrays(path), lambda array: array)
        plain = list(itertools.takewhile(names.__contains__, (f"arr_{number}" for number in range(len(names)))))
        return [archive[name] for name in plain], {name: archive[name] for name in names if name not in plain}


def _of_module(path: str, name: str) -> Any:
    spec = importlib.util.spec_from_file_location("torch2ms_inputs", path)
    if spec is None or spec.loader is None or not os.path.isfile(path):
        raise FileNotFoundError(f"no such file: {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)
