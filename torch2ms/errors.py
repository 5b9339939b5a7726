"""Exceptions torch2ms raises for its callers.

Torch2msError
├── UsageError        the request makes no sense (bad option, OUT inside SRC, ...); exit code 2
├── InputError        SRC cannot be read at all (missing, unreadable, empty); exit code 2
├── OutputError       OUT cannot be written (exists, read-only, disk full); exit code 2
├── TableError        a mapping table is wrong: file, key and what was expected; exit code 2
├── VerificationError a differential check could not be run; exit code 2
└── InternalError     a broken promise of our own (T2M900); exit code 2

What is wrong with *one file* of SRC is no exception: it is a diagnostic, and the rest goes on.
"""

from __future__ import annotations

__all__ = [
    "InputError",
    "InternalError",
    "OutputError",
    "TableError",
    "Torch2msError",
    "UsageError",
    "VerificationError",
]


class Torch2msError(Exception):
    """Base of every exception torch2ms raises on purpose.

    ``advice`` says what the user can do about it.
    """

    def __init__(self, message: str, *, advice: str = "") -> None:
        super().__init__(message)
        self.advice = advice


class UsageError(Torch2msError):
    """The request makes no sense."""


class InputError(Torch2msError):
    """SRC cannot be read at all."""


class OutputError(Torch2msError):
    """OUT cannot be written."""


class TableError(Torch2msError):
    """A mapping table is wrong."""


class VerificationError(Torch2msError):
    """A differential check could not be run."""


class InternalError(Torch2msError):
    """torch2ms broke one of its own promises (T2M900)."""
