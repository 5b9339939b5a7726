"""What stands for PyTorch where it is not installed: its names can be written, but not used.

A translated program names PyTorch only where it is marked. Such a name may stand in a table of layers, a default or an
``isinstance`` test that other parts of the program never need: those run. Calling it, or asking for its truth, raises
NotImplementedError with its name.
"""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["Missing"]


class Missing(type):
    """The class of a missing name; a class itself, so that it can be a base class and stand in ``isinstance``."""

    def __getattr__(cls, name: str) -> Missing:
        if name.startswith("__"):
            raise AttributeError(name)
        return _missing(f"{cls.__qualname__}.{name}")

    def __getitem__(cls, item: Any) -> Missing:
        return cls

    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise: neither it nor a class derived from it can be used."""
        names = [base.__qualname__ for base in cls.__mro__ if base.__dict__.get("__missing__")]
        raise NotImplementedError(f"{names[0]} was not translated; see torch2ms_report/report.html for advice")

    def __bool__(cls) -> NoReturn:
        cls()

    def __eq__(cls, other: object) -> bool:
        if cls is other:
            return True
        raise NotImplementedError(f"{cls.__qualname__} was not translated; see torch2ms_report/report.html for advice")

    def __hash__(cls) -> int:
        return type.__hash__(cls)


def _missing(name: str) -> Missing:
    return Missing(name.rpartition(".")[2], (), {"__qualname__": name, "__missing__": True})


def __getattr__(name: str) -> Missing:
    if name.startswith("__"):
        raise AttributeError(name)
    return _missing(name)
