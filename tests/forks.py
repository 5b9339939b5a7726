"""A Python that has imported its modules once, and runs each script in a fork of its own: as new, without the wait."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType

__all__ = ["Forks"]

_PARENT = """
import importlib, json, os, sys, traceback
for name in sys.argv[1:]:
    importlib.import_module(name)
for line in sys.stdin:
    script, said, errors = json.loads(line)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            for number, path in ((1, said), (2, errors)):
                os.dup2(os.open(path, os.O_WRONLY), number)
            sys.stdout = open(1, "w", closefd=False)
            exec(compile(script, "<script>", "exec"), {"__name__": "__main__"})
            sys.stdout.flush()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Forks:
    """Use it as a context manager; ``modules`` must leave no threads behind when they are imported."""

    def __init__(self, *modules: str) -> None:
        command = [sys.executable, "-c", _PARENT, *modules]
        self._parent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def run(self, script: str) -> str:
        """Return what a script prints; an assertion fails when it raises."""
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        with tempfile.TemporaryDirectory() as folder:
            said, errors = (Path(folder) / name for name in ("said", "errors"))
            said.touch()
            errors.touch()
            self._parent.stdin.write(json.dumps([script, str(said), str(errors)]) + "\n")
            code = self._parent.stdout.readline().strip()
            assert code == "0", f"exit code {code}\n{errors.read_text()[-2000:]}"
            return said.read_text()

    def __enter__(self) -> Forks:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._parent.communicate()
