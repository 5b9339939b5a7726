"""Tests of the runtime: PyTorch's side runs in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture(scope="session")
def run_torch() -> Callable[[str], Any]:
    """Run a script that puts its answer into ``result``, with torch imported, and return the answer."""

    def run(script: str) -> Any:
        program = f"import json\nimport numpy as np\nimport torch\n{script}\nprint(json.dumps(result))\n"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run
