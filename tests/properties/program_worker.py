"""Run many programs in one process: ``python -m tests.properties.program_worker IN.json OUT.npz``.

IN.json maps names to programs; OUT.npz holds ``name#i``, the arrays that ``result()`` returns, and ``name!``, the error
of a program that fails. In MindSpore the first failure ends the run: 2.10 may refuse ``x[0]`` for the rest of a process
in which a function it differentiates has raised.
"""

from __future__ import annotations

import json
import sys
import types
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from tests.properties.two_files import parts_of

__all__ = ["main"]


def _run(text: str) -> list[Any]:
    main, parts = parts_of(text)
    if parts:
        module = sys.modules["parts"] = types.ModuleType("parts")
        exec(compile(parts, "parts", "exec"), module.__dict__)
    space: dict[str, Any] = {"__name__": "program"}
    exec(compile(main, "program", "exec"), space)
    return [np.asarray(value) for value in space["result"]()]


def main() -> None:
    """Run the programs of the file given first and write their results to the file given second."""
    warnings.simplefilter("ignore")
    programs = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    found: dict[str, Any] = {}
    for name, text in programs.items():
        try:
            found.update({f"{name}#{index}": value for index, value in enumerate(_run(text))})
        except Exception as error:
            found[f"{name}!"] = np.array(f"{type(error).__name__}: {error}".partition("\n")[0])
            if "mindspore" in sys.modules:
                break
    np.savez(sys.argv[2], **found)


if __name__ == "__main__":
    main()
