"""Checks that PyTorch offers as functions."""

from __future__ import annotations

from typing import Any, Callable, Optional

__all__ = ["assert_true", "check"]


def assert_true(condition: Any, message: str) -> None:
    """Raise AssertionError with ``message`` unless the condition holds."""
    if not condition:
        raise AssertionError(message)


def check(cond: Any, message: Optional[Callable[[], object]] = None) -> None:
    """Raise RuntimeError unless the condition holds; ``message`` is a function that makes the text."""
    if not cond:
        raise RuntimeError("Expected cond to be True, but got False." if message is None else str(message()))
