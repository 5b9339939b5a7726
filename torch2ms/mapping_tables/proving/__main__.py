"""Run the examples of one framework: ``python -m proving torch|mindspore CASES RESULTS``.

CASES and RESULTS are pickles that only ``prove`` writes and reads. RESULTS is a sequence of pickles: ``("start", id)``
before a case and ``("done", id, result)`` after it, so that a crash tells which case it was.
"""

# Copied to another place to run, by a Python as old as 3.9: relative imports, no zip(strict=).
# ruff: noqa: TID252

from __future__ import annotations

import os
import pickle
import sys
import traceback
from collections.abc import Callable
from typing import Any

from .framework import Case


def work(execute: Callable[[Case], Any], cases: list[Case], results: str) -> None:
    """Run the cases one after another; write each result as soon as it is there."""
    with open(results, "ab") as stream:
        for case in cases:
            pickle.dump(("start", case["id"]), stream)
            stream.flush()
            try:
                outcome = {"ok": execute(case)}
            except BaseException as error:  # an example may fail in any way; the others go on
                if isinstance(error, KeyboardInterrupt):
                    raise
                where = traceback.extract_tb(error.__traceback__)[-1]
                place = f"{os.path.basename(where.filename)}:{where.lineno}"
                said = " ".join(str(error).replace("-" * 20, "").split())
                text = f"{type(error).__name__}: {said[:300]} ({place})"
                outcome = {"error": text, "type": type(error).__name__}
            pickle.dump(("done", case["id"], outcome), stream)
            stream.flush()


def main() -> None:
    """Run one framework's side."""
    side, cases_path, results = sys.argv[1:4]
    with open(cases_path, "rb") as stream:
        cases = pickle.load(stream)
    if side == "torch":
        from . import torch_side

        work(torch_side.execute, cases, results)
    else:
        from . import mindspore_side

        work(mindspore_side.execute, cases, results)


if __name__ == "__main__":
    main()
