"""What takes the place of an API without counterpart, where the program is to stop there (on-unsupported: raise)."""

from typing import Any, NoReturn

__all__ = ["unsupported"]


def unsupported(name: str, *_: Any, **__: Any) -> NoReturn:
    """Raise NotImplementedError for the PyTorch API ``name``; the report of the translation says what to do."""
    raise NotImplementedError(f"{name} was not translated; see torch2ms_report/report.html for advice")
