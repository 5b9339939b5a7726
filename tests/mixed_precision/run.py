"""Run the programs of a folder, and write the losses, the scale and the weights of each.

python run.py FOLDER OUT.npz RUN ...
"""

from __future__ import annotations

import importlib
import sys
import traceback
from pathlib import Path

import numpy as np

RUNS = {"mixed": (True, 0.0), "twin": (True, 1e-7), "full": (False, 0.0)}


def main() -> None:
    """Train every program: in mixed precision, so from weights beside these (a twin), in float32."""
    folder, runs = Path(sys.argv[1]), sys.argv[3:]
    sys.path.insert(0, str(folder))
    found = {}
    for path in sorted(folder.glob("*.py")):
        if path.stem in ("begin", "train", "eval", "convert_weights"):
            continue
        for run in runs:
            is_mixed, shift = RUNS[run]
            try:
                losses, scale, weights = importlib.import_module(path.stem).train(is_mixed, shift)
            except Exception:
                found[f"{path.stem} {run} error"] = np.array(traceback.format_exc())
                continue
            found[f"{path.stem} {run} losses"] = np.array(losses)
            found[f"{path.stem} {run} scale"] = np.array(scale)
            found[f"{path.stem} {run} weights"] = np.concatenate([np.ravel(weight) for weight in weights])
    np.savez(sys.argv[2], **found)


if __name__ == "__main__":
    main()
