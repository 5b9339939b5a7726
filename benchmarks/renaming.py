"""Rename what a project names: does anything else change in its translation?

    python benchmarks/renaming.py                            # goldens, programs, cases, 60 files each of two packages
    python benchmarks/renaming.py --seed 7 --files 20 --only torchvision

Local variables, parameters, attributes, functions and classes get neutral names (``v1``) and misleading ones (``env``,
``mask``, ``scaler``). The output of the renamed source must be the renamed output. Exit code 1 where one is not.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from tests.properties.renaming import changes_by_renaming  # noqa: E402
from tests.properties.sources import package_files, python_of, sources  # noqa: E402

_SMALL = ("golden", "programs", "cases")
_PACKAGES = ("timm", "torchvision")


def _chosen(only: Sequence[str], files: int, seed: int) -> Iterator[tuple[str, dict[str, str]]]:
    for kind in (kind for kind in _SMALL if kind in only):
        yield from sources(kind)
    for package in (package for package in _PACKAGES if package in only):
        yield from package_files(package, files, seed)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the campaign and print what differs."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--files", type=int, default=60, help="files of each package")
    parser.add_argument("--only", nargs="+", choices=(*_SMALL, *_PACKAGES), default=[*_SMALL, *_PACKAGES])
    options = parser.parse_args(arguments)
    done = different = 0
    for name, files in _chosen(options.only, options.files, options.seed):
        own = python_of(files)
        done += 1
        changes = [
            change
            for misleading in (False, True)
            for change in changes_by_renaming(own, f"{name}{options.seed}{misleading}", misleading=misleading)
        ]
        different += bool(changes)
        for path, expected, found in changes[:5]:
            print(f"{name} {path}\n  expected {expected[:200]}\n  found    {found[:200]}", flush=True)
    print(f"{done} projects renamed, {different} with differences (seed {options.seed})")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
