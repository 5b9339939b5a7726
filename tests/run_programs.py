"""Run the programs of a folder in this process, one after the other, and write what each printed.

python run_programs.py FOLDER OUT.json [NAME ...]
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import runpy
import sys
import traceback
from pathlib import Path


def main() -> None:
    """Run every ``[a-z]*.py`` of the folder but ``fixed.py`` as a script; the folder is the working folder."""
    folder, out = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    only = sys.argv[3:]
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    found = {}
    # A program that records its steps switches recording on for the process, where LayerNorm has no gradient.
    programs = sorted(folder.glob("*.py"), key=lambda path: ("recording" in path.read_text("utf-8"), path))
    for path in programs:
        if path.stem in ("fixed", "kept_tools", "penalty_tools", "train", "eval", "convert_weights") or (
            only and path.stem not in only
        ):
            continue
        stream, error = io.StringIO(), ""
        sys.argv = [str(path)]
        with contextlib.redirect_stdout(stream):
            try:
                runpy.run_path(str(path), run_name="__main__")
            except BaseException as problem:
                error = f"{type(problem).__name__}: {problem}\n{traceback.format_exc()[-900:]}"
        found[path.stem] = {"output": stream.getvalue(), "error": error}
    out.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
