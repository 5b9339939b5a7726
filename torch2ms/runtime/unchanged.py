"""What stands for a decorator of PyTorch's compiler where it is handed on as a value: ``wrap = torch.jit.script``."""

from typing import Any, Callable

__all__ = ["unchanged"]


def unchanged(function: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Return the function, class or network as it is; without one, a decorator that does."""
    if callable(function):
        return function
    decorator: Callable[[Any], Any] = unchanged
    return decorator
