"""The workers of both sides, started once for all comparisons that need no process of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext

import pytest

from torch2ms.verify import verification
from torch2ms.verify.process import Side, Worker

Workers = tuple[Worker, Worker]


@pytest.fixture(scope="session")
def workers() -> Iterator[Workers]:
    """One running process of each side: starting them takes longer than a comparison of a small network."""
    with Worker("torch_side") as torch, Worker("mindspore_side") as mindspore:
        yield torch, mindspore


@pytest.fixture
def share_workers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Have the next verification use the running workers; what it starts besides, for graph mode, is its own."""

    def share() -> None:
        left: set[Side] = {"torch_side", "mindspore_side"}

        def lend(side: Side, python: str | None = None) -> AbstractContextManager[Worker]:
            if python is not None or side not in left:
                return Worker(side, python)
            left.remove(side)
            running: Workers = request.getfixturevalue("workers")
            return nullcontext(running[side == "mindspore_side"])

        monkeypatch.setattr(verification, "Worker", lend)

    return share
