"""Tests of the runtime: PyTorch's side runs in a process of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.forks import Forks


@pytest.fixture(scope="session")
def run_torch() -> Iterator[Callable[[str], Any]]:
    """Run a script that puts its answer into ``result``, with torch imported, and return the answer."""
    with Forks("torch", "torch._dynamo") as forks:

        def run(script: str) -> Any:
            program = f"import json\nimport numpy as np\nimport torch\n{script}\nprint(json.dumps(result))\n"
            return json.loads(forks.run(program).splitlines()[-1])

        yield run
