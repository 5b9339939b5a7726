"""What a translation is asked to do: the target and the options."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from keyword import iskeyword
from typing import Literal

from torch2ms.errors import UsageError

__all__ = ["API_FAMILIES", "DEVICES", "NEWEST", "OLDEST", "Options", "Target", "parse_version"]

Version = tuple[int, int]
Device = Literal["portable", "ascend", "gpu", "cpu"]
ApiFamily = Literal["auto", "classic", "mint"]
OnUnsupported = Literal["mark", "raise"]
RuntimeMode = Literal["copied", "installed"]
Mode = Literal["pynative", "graph"]

DEVICES: tuple[Device, ...] = ("portable", "ascend", "gpu", "cpu")
API_FAMILIES: tuple[ApiFamily, ...] = ("auto", "classic", "mint")
OLDEST: Version = (2, 0)
NEWEST: Version = (2, 10)


def parse_version(text: str) -> Version:
    """Return ``"2.10"`` or ``"2.10.0"`` as ``(2, 10)``.

    Raises UsageError for anything that is not a MindSpore release from 2.0 to 2.10.
    """
    parts = text.strip().lstrip("vr").split(".")
    try:
        version = (int(parts[0]), int(parts[1]) if len(parts) > 1 else 0)
    except ValueError:
        raise UsageError(f"not a MindSpore version: {text!r}", advice="write it like 2.10") from None
    if not OLDEST <= version <= NEWEST:
        raise UsageError(
            f"MindSpore {text} is outside the supported targets",
            advice=f"choose a release from {OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]}",
        )
    return version


@dataclass(frozen=True, slots=True)
class Target:
    """The MindSpore that the emitted code is written for: release, device, API family."""

    mindspore: Version = NEWEST
    device: Device = "portable"
    api: ApiFamily = "auto"
    exact: bool = False  # the runtime's function wherever MindSpore's own is known to differ
    graph: bool = False  # nothing that graph mode is known not to compile; as ``Options.mode`` says

    @property
    def mint(self) -> bool:
        """Whether ``mindspore.mint`` may be emitted (Ascend only, unless asked for)."""
        return self.api == "mint" or (self.api == "auto" and self.device == "ascend")

    def __str__(self) -> str:
        return f"MindSpore {self.mindspore[0]}.{self.mindspore[1]}, {self.device}{', exact' if self.exact else ''}"


@dataclass(frozen=True, slots=True)
class Options:
    """Everything ``translate`` can be told; defaults are the command line's."""

    target: Target = field(default_factory=Target)
    entry: str | None = None  # "module:callable" of the network, when it is not found by itself
    mappings: tuple[str, ...] = ()  # users' own TOML tables, later ones win
    on_unsupported: OnUnsupported = "mark"
    runtime: RuntimeMode = "copied"
    package: str = "torch2ms_runtime"  # of the copied runtime in OUT; the pipeline chooses one that SRC does not have
    mode: Mode = "pynative"  # how the program is to run: graph raises T2M6xx and T2M7xx to warnings
    jobs: int = 1
    cache: bool = True
    packages: tuple[str, ...] = ()  # taken along: names of installed ones, or paths of folders, wheels, sdists
    exclude: tuple[str, ...] = ()  # patterns as in a .gitignore; what they name is not translated
    data_limit: int = 256 << 20  # bytes of data in one folder or file; what is larger is not copied
    ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()  # pattern of paths -> codes, or beginnings of codes
    # What the command line said, kept in OUT for `torch2ms update`
    asked: tuple[tuple[str, object], ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.mode == "graph" and not self.target.graph:
            object.__setattr__(self, "target", replace(self.target, graph=True))
        if self.entry is not None and not _is_entry(self.entry):
            raise UsageError(f"not an entry: {self.entry!r}", advice="write it like package.module:callable")


def _is_entry(text: str) -> bool:
    """Whether a text is ``module:callable``, both dotted names that Python accepts."""
    module, _, name = text.partition(":")
    parts = [*module.split("."), *name.split(".")]
    return all(part.isidentifier() and not iskeyword(part) for part in parts)
