"""Take dropout out of a training-mode pass on either side, and note the rate of every call that was taken out."""

from __future__ import annotations

from typing import Any, Callable, List

__all__ = ["Switch"]


class Switch:
    """While ``off`` is set, the wrapped calls return their input; ``rates`` collects their drop rates, in order."""

    def __init__(self) -> None:
        self.off = False
        self.rates: List[float] = []

    def wrap(self, holder: Any, name: str, rate_of: Callable[..., float], position: int = 0) -> None:
        """Wrap the function ``name`` of a module or class; its input is the argument at ``position``.

        ``rate_of`` gets the original function and the call's arguments.
        """
        original = getattr(holder, name, None)
        if original is None:
            return

        def wrapped(*args: Any, **kwargs: Any) -> Any:
            if not self.off:
                return original(*args, **kwargs)
            self.rates.append(rate_of(original, *args, **kwargs))
            return args[position] if len(args) > position else next(iter(kwargs.values()))

        setattr(holder, name, wrapped)

    def __enter__(self) -> Switch:
        self.off, self.rates = True, []
        return self

    def __exit__(self, *_: object) -> None:
        self.off = False
