"""Weight conversion between PyTorch's and MindSpore's files, by the rules of the mapping tables.

The conversion itself is ``torch2ms.runtime.weights``, the same code that OUT's ``convert_weights.py`` runs; here the
rules are taken from the tables, and the network is built in a process of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from torch2ms.errors import InputError, TableError, UsageError, VerificationError
from torch2ms.mapping_tables.lookup import Tables
from torch2ms.mapping_tables.schema import Row
from torch2ms.verify.process import environment

__all__ = ["Conversion", "Rules", "convert_weights", "rules_from_rows", "table_rules"]

Rules = Mapping[str, Mapping[str, Any]]

_RUNTIME = Path(__file__).resolve().parent / "runtime"
_SUFFIXES: dict[bool, tuple[tuple[str, ...], tuple[str, ...]]] = {
    False: ((".pth", ".pt", ".bin", ".tar", ".safetensors", ".index.json"), (".ckpt", ".safetensors")),
    # translated programs write MindSpore weights under the names their source gave, x.pth too
    True: ((".ckpt", ".safetensors", ".pth", ".pt"), (".pth", ".pt", ".safetensors")),
}

_CONVERT = """
import importlib, importlib.util, json, os, sys
sys.path[:] = [entry for entry in sys.path if entry]
request = json.load(open(sys.argv[1]))
spec = importlib.util.spec_from_file_location(
    "torch2ms_worker_runtime", request["runtime"] + "/__init__.py", submodule_search_locations=[request["runtime"]])
package = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = package
spec.loader.exec_module(package)
weights = importlib.import_module("torch2ms_worker_runtime.weights")
sys.path.insert(0, request["project"])
os.chdir(request["project"])
try:
    import pathlib
    network = weights.build(request["entry"], request["kwargs"])
    reply = weights.convert(pathlib.Path(request["source"]), pathlib.Path(request["destination"]), network,
                            request["rules"], request["reverse"], request["whole"], sys.stdout)
except weights.WeightsError as error:
    reply = {"error": str(error)}
json.dump(reply, open(request["reply"], "w"))
"""


@dataclass(frozen=True, slots=True)
class Conversion:
    """What a conversion did: arrays written, torch keys dropped by rule, what was noticed."""

    parameters: int
    dropped: tuple[str, ...]
    notes: tuple[str, ...]


def rules_from_rows(rows: Iterable[Row]) -> dict[str, dict[str, Any]]:
    """Return the rule of every MindSpore layer that some row emits: ``{target: {"state": ..., "reshape": ...}}``.

    Raises TableError where two rows say different things of one target: a cell's type could not decide then.
    """
    rules: dict[str, dict[str, Any]] = {}
    origin: dict[str, str] = {}
    for row in rows:
        for option in row.to:
            if option.state is None:
                continue
            state = option.state if isinstance(option.state, str) else dict(option.state)
            rule = {"state": state, "reshape": dict(option.reshape)}
            if rules.setdefault(option.target, rule) != rule:
                raise TableError(
                    f"{row.file}: {row.name}: the state of {option.target} is not what {origin[option.target]} says",
                    advice="one MindSpore layer has one state map; give the odd one an adapter of its own",
                )
            origin.setdefault(option.target, row.name)
    return dict(sorted(rules.items()))


def table_rules(mappings: tuple[str, ...] = ()) -> dict[str, dict[str, Any]]:
    """Return the rules of the shipped tables, with the users' own ``mappings`` over them."""
    from torch2ms.mapping_tables import loader

    return dict(_rules_of(loader.load(mappings)))


@lru_cache(maxsize=1)
def _rules_of(tables: Tables) -> dict[str, dict[str, Any]]:
    return rules_from_rows(tables.layers())


def convert_weights(
    source: Path,
    destination: Path,
    *,
    project: Path,
    entry: str,
    kwargs: Mapping[str, Any] | None = None,
    reverse: bool = False,
    whole: bool = False,
    rules: Rules | None = None,
    mappings: tuple[str, ...] = (),
    python: str | None = None,
) -> Conversion:
    """Convert the weights in ``source`` for the network that ``entry`` builds in the translated ``project``.

    PyTorch (.pth, .pt, .safetensors) to MindSpore (.ckpt, .safetensors), or back with ``reverse``; then, with
    ``whole``, a training checkpoint with all it holds. ``python`` is the interpreter that has mindspore. Raises
    UsageError for names that make no sense, InputError for a missing file, VerificationError (T2M801) where keys do not
    pair up or a file cannot be read; the destination is written only when everything pairs up.
    """
    _check_names(source, destination, project, reverse)
    with tempfile.TemporaryDirectory(prefix="torch2ms-") as folder:
        reply = Path(folder) / "reply.json"
        request = {
            "runtime": str(_RUNTIME),
            "project": str(project.resolve()),
            "entry": entry,
            "kwargs": dict(kwargs or {}),
            "source": str(source.resolve()),
            "destination": str(destination.resolve()),
            "rules": rules if rules is not None else table_rules(mappings),
            "reverse": reverse,
            "whole": whole,
            "reply": str(reply),
        }
        asked = Path(folder) / "request.json"
        asked.write_text(json.dumps(request), encoding="utf-8")
        command = [python or sys.executable, "-c", _CONVERT, str(asked)]
        terminal = sys.stderr if sys.stderr.isatty() else subprocess.DEVNULL  # for the bar
        done = subprocess.run(
            command, env=environment(), stdout=terminal, stderr=subprocess.PIPE, text=True, check=False
        )
        if done.returncode or not reply.exists():
            last = "\n".join(done.stderr.splitlines()[-15:])
            raise VerificationError(f"the network of {entry} could not be built in {project}", advice=last)
        result = json.loads(reply.read_text(encoding="utf-8"))
    if "error" in result:
        raise VerificationError(result["error"])
    return Conversion(result["parameters"], tuple(result["dropped"]), tuple(result["notes"]))


def _check_names(source: Path, destination: Path, project: Path, reverse: bool) -> None:
    if not source.is_file():
        raise InputError(f"{source}: no such file")
    if not project.is_dir():
        raise InputError(f"{project}: no such folder")
    for path, allowed, what in zip((source, destination), _SUFFIXES[reverse], ("read", "write"), strict=True):
        if not path.name.endswith(allowed):
            raise UsageError(
                f"{path.name}: cannot {what} this kind of file {'from MindSpore' if reverse else 'from PyTorch'}",
                advice=f"choose one of {', '.join(allowed)}" + ("" if reverse else "; --reverse converts to PyTorch"),
            )
