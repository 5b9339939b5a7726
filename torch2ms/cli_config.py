"""The options of a translation from the command line and from ``[tool.torch2ms]`` in SRC's ``pyproject.toml``.

The command line wins over the file, the file over the defaults.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from torch2ms.config import API_FAMILIES, DEVICES, Mode, OnUnsupported, Options, RuntimeMode, Target, parse_version
from torch2ms.errors import UsageError
from torch2ms.reports.escape import shortened
from torch2ms.translator.project.package_sources import is_place

__all__ = ["CHOICES", "FailOn", "Settings", "settings_for"]

FailOn = Literal["error", "warning", "never"]

CHOICES: dict[str, tuple[str, ...]] = {
    "device": DEVICES,
    "api": API_FAMILIES,
    "on-unsupported": get_args(OnUnsupported),
    "runtime": get_args(RuntimeMode),
    "mode": get_args(Mode),
    "fail-on": get_args(FailOn),
}
_FLAGS = ("cache", "exact")
_TEXTS = ("mindspore", "entry")
_OF_MACHINE = ("jobs", "cache", "fail-on")  # settings that change nothing in OUT
_LARGEST = 1 << 20  # bytes of a pyproject.toml
_MOST_JOBS = 1024
_LISTS = {"mapping": "file names", "exclude": "patterns", "with": "packages"}
_KEYS = (*CHOICES, *_TEXTS, *_LISTS, *_FLAGS, "jobs", "data-limit", "per-file-ignores")
_CODE = re.compile(r"T2M\d{0,3}", re.IGNORECASE)
_MIB = 1 << 20
_LARGEST_LIMIT = 1 << 30  # MiB


@dataclass(frozen=True, slots=True)
class Settings:
    """What a command is to do, after all sources of settings were heard."""

    options: Options
    fail_on: FailOn


def settings_for(src: Path, given: Mapping[str, Any]) -> Settings:
    """Merge ``given`` (command line; None or () = not given) with the settings of the project at ``src``.

    Raises UsageError for a wrong key or value, with its place.
    """
    chosen = _project_settings(src)
    said = {key: value for key, value in given.items() if value is not None and value != ()}
    # As with ruff and others, the command line excludes more, not less; it takes more packages along as well.
    both = {key: (*chosen.get(key, ()), *said.get(key, ())) for key in ("exclude", "with")}
    chosen |= said | {key: found for key, found in both.items() if found}
    default = Options()
    target = Target(
        mindspore=parse_version(chosen["mindspore"]) if "mindspore" in chosen else default.target.mindspore,
        device=chosen.get("device", default.target.device),
        api=chosen.get("api", default.target.api),
        exact=chosen.get("exact", default.target.exact),
    )
    for name in chosen.get("mapping", ()):
        if not Path(name).is_file():
            raise UsageError(f"no such mapping file: {name}")
    options = Options(
        target=target,
        entry=chosen.get("entry"),
        mappings=tuple(chosen.get("mapping", ())),
        on_unsupported=chosen.get("on-unsupported", default.on_unsupported),
        runtime=chosen.get("runtime", default.runtime),
        mode=chosen.get("mode", default.mode),
        jobs=chosen.get("jobs", default.jobs) or os.cpu_count() or 1,
        cache=chosen.get("cache", default.cache),
        packages=tuple(chosen.get("with", ())),
        exclude=tuple(chosen.get("exclude", ())),
        data_limit=chosen["data-limit"] * _MIB if "data-limit" in chosen else default.data_limit,
        ignores=tuple(chosen.get("per-file-ignores", ())),
        asked=tuple(sorted((key, value) for key, value in said.items() if key not in _OF_MACHINE)),
    )
    return Settings(options, chosen.get("fail-on", "error"))


def _project_settings(src: Path) -> dict[str, Any]:
    """Return the checked ``[tool.torch2ms]`` table of the project, or {}."""
    folder = src if src.is_dir() else src.parent
    file = folder / "pyproject.toml"
    table: Any = _table(_text(file), file)
    for name in ("tool", "torch2ms"):
        table = table.get(name, {})
        if not isinstance(table, dict):
            raise _broken(file, f"{name} must be a table", "write its settings below [tool.torch2ms]")
    settings: dict[str, Any] = {}
    for key, value in table.items():
        settings[key] = _checked(key, value, file)
    return settings


def _text(file: Path) -> str:
    """Return the text of a pyproject.toml; "" where there is none."""
    try:
        if not os.path.lexists(file):
            return ""
        if not file.is_file():  # reading a pipe would wait for ever
            raise _broken(file, "no regular file", "make it one, or move it away")
        if file.stat().st_size > _LARGEST:
            raise _broken(file, f"larger than {_LARGEST} bytes", "keep data out of it")
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise _broken(file, "not UTF-8, as TOML must be", "save it as UTF-8") from None
    except OSError as error:
        raise _broken(file, f"cannot be read: {error.strerror or error}", "check its permissions") from None


def _table(text: str, file: Path) -> dict[str, Any]:
    if not text:
        return {}
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return dict(tomllib.loads(text))
    except ValueError as error:  # TOMLDecodeError, and numbers of too many digits
        raise _broken(file, f"no valid TOML: {shortened(str(error), 200)}", "repair the line that is named") from None
    except RecursionError:
        raise _broken(file, "no valid TOML: nested too deeply", "keep data out of it") from None


def _broken(file: Path, reason: str, advice: str) -> UsageError:
    return UsageError(f"{file}: {reason}", advice=advice)


def _checked(key: str, value: Any, file: Path) -> Any:
    where = f"{file}: [tool.torch2ms] {shortened(key, 80)}"
    if key not in _KEYS:
        raise UsageError(f"{where}: unknown key", advice=f"known are {', '.join(sorted(_KEYS))}")

    if key in CHOICES:
        if not isinstance(value, str) or value not in CHOICES[key]:
            shown = shortened(ascii(value), 80) if isinstance(value, (str, int, float)) else f"a {type(value).__name__}"
            raise UsageError(f"{where}: {shown} is none of {', '.join(CHOICES[key])}")
    elif key in _LISTS:
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            raise UsageError(f"{where}: must be a list of {_LISTS[key]}")
        return tuple(str(file.parent / name) if _is_relative(key, name) else name for name in value)
    elif key == "per-file-ignores":
        return _ignores(value, where)
    elif key == "data-limit":
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _LARGEST_LIMIT:
            raise UsageError(f"{where}: must be a number of MiB")
    elif key == "jobs":
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MOST_JOBS:
            raise UsageError(f"{where}: must be a number of processes")
    elif key in _FLAGS:
        if not isinstance(value, bool):
            raise UsageError(f"{where}: must be true or false")
    elif not isinstance(value, str):
        raise UsageError(f"{where}: must be a string")
    return value


def _is_relative(key: str, name: str) -> bool:
    """Whether an entry is a path, which starts from the folder of the pyproject.toml."""
    return key == "mapping" or (key == "with" and is_place(name))


def _ignores(value: Any, where: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the checked table of patterns and the codes, or beginnings of codes, that are silenced there."""
    if not isinstance(value, dict):
        raise UsageError(f"{where}: must be a table", advice='write it like "tests/**" = ["T2M203"]')
    for pattern, codes in value.items():
        if not isinstance(codes, list) or not all(isinstance(code, str) and _CODE.fullmatch(code) for code in codes):
            raise UsageError(f"{where}: {shortened(pattern, 80)}: must be a list of codes", advice='like ["T2M203"]')
    return tuple((pattern, tuple(code.upper() for code in codes)) for pattern, codes in value.items())
