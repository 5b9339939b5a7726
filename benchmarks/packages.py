"""Packages taken along: translate a small program with each, run both sides, and compare.

    python benchmarks/packages.py FOLDER --install       # fetch the packages into FOLDER with pip, without dependencies
    python benchmarks/packages.py FOLDER [--only NAME ...] [--markdown docs/packages.md] [--keep DIR]

The programs stand in ``packages.toml``. FOLDER/site holds the packages, FOLDER/free what both sides import as it is.
Each program is translated with ``--with``, and its network is compared as ``torch2ms verify`` does: equal weights and
inputs, outputs and gradients against PyTorch in float64. Programs that print are run by both, and their numbers
compared. Exit code 1 if a package does not agree.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
EXTENSION = ROOT / "benchmarks" / "model_lists" / "shared" / "torchvision_extension.py"
LIST = Path(__file__).with_name("packages.toml")
sys.path.insert(0, str(ROOT))

from torch2ms import Options, translate_project  # noqa: E402
from torch2ms.diagnostics import Severity  # noqa: E402
from torch2ms.errors import Torch2msError  # noqa: E402
from torch2ms.verify import verify  # noqa: E402
from torch2ms.verify.process import environment  # noqa: E402

TOLERANCE = 1e-5  # of printed numbers, over the largest
_NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?|nan|inf")


@dataclass
class Row:
    """What was found of one package."""

    name: str
    version: str
    compares: str
    files: int = 0
    errors: int = 0
    seconds: float = 0.0
    figure: str = ""
    agrees: bool = False
    reason: str = ""


def install(folder: Path, entries: list[dict[str, Any]]) -> None:
    """Fetch the packages of the list, without what they require, and what both sides import."""
    site = sorted({name for entry in entries for name in (entry.get("package", entry["name"]), *entry.get("with", ()))})
    free = sorted({name for entry in entries for name in entry.get("free", ())})
    pip = [sys.executable, "-m", "pip", "install", "--quiet"]
    for name in site:
        subprocess.run([*pip, "--no-deps", "--target", str(folder / "site"), name], check=True)
    subprocess.run([*pip, "--target", str(folder / "free"), *free], check=True)


def modules_of(name: str, site: Path) -> list[str]:
    """Return the folders of a package's modules."""
    wanted = re.sub(r"[-_.]+", "-", name).lower()
    for found in metadata.distributions(path=[str(site)]):
        if re.sub(r"[-_.]+", "-", found.metadata["Name"]).lower() == wanted:
            tops = {str(file).partition("/")[0] for file in found.files or () if str(file).endswith(".py")}
            return sorted(top for top in tops if (site / top / "__init__.py").is_file())
    raise SystemExit(f"{name} is not in {site}: run with --install first")


def lend(target: Path, folder: Path, names: list[str] | None = None) -> None:
    """Let a program import what lies in a folder, by links beside it."""
    for entry in sorted(folder.iterdir()):
        place = target / entry.name
        if (names is None or entry.name in names) and not os.path.lexists(place):
            place.symlink_to(entry)


def check(entry: dict[str, Any], folder: Path, work: Path) -> Row:
    """Translate one program with its packages, and compare."""
    name, site = entry.get("package", entry["name"]), folder / "site"
    names = [module for package in (name, *entry.get("with", ())) for module in modules_of(package, site)]
    own = modules_of(name, site)[0]
    found = next(metadata.distributions(path=[str(site)], name=name.replace("-", "_")), None)
    row = Row(entry["name"], found.version if found is not None else "", entry["compares"])
    source, whole, out = work / "src", work / "torch", work / "out"
    for place in (source, whole):
        place.mkdir(parents=True)
        (place / "main.py").write_text(entry["program"].lstrip(), encoding="utf-8")
    begin = time.monotonic()
    report = translate_project(source, out, Options(packages=tuple(str(site / module) for module in names)))
    row.seconds = time.monotonic() - begin
    row.files = sum(len(package.files) for package in report.packages)
    row.errors = sum(package.count(Severity.ERROR) for package in report.packages)
    if report.count(Severity.ERROR):
        row.reason = "; ".join(str(d) for d in report.diagnostics if d.severity == Severity.ERROR)
    lend(whole, site, [*names, "einops"])  # which the tables have rows for
    for module in names:
        if any((site / module).rglob("*.so")):  # a compiled part, which fits no CPU build of torch
            (whole / module).unlink()
            shutil.copytree(site / module, whole / module, ignore=shutil.ignore_patterns("*.so"))
    if "torchvision" in names:
        shutil.copy(EXTENSION, whole / "torchvision" / "extension.py")
    for place in (whole, out):
        lend(place, folder / "free")
    if entry.get("prints"):
        compare_prints(row, whole, out)
    else:
        compare_networks(row, entry, whole, out)
    print(f"{own}: {row.figure or row.reason}", file=sys.stderr, flush=True)
    return row


def compare_networks(row: Row, entry: dict[str, Any], whole: Path, out: Path) -> None:
    """Compare ``Net`` of both sides as ``torch2ms verify`` does."""
    try:
        found = verify(
            whole, out, entry="main:Net", inputs=entry["inputs"], gradients=entry.get("gradients", True), layers=False
        )
    except Torch2msError as error:
        row.reason = str(error)
        return
    row.agrees = found.passed
    parts = []
    for group in dict.fromkeys(figure.group for figure in found.figures):
        own = [figure for figure in found.figures if figure.group == group and figure.name != "dropout rates"]
        worst = max(own, key=lambda figure: figure.ours / (figure.limit or 1), default=None)
        if worst is not None:
            parts.append(f"{group} {worst.ours:.1e} (limit {worst.limit:.1e})")
    row.figure = ", ".join(parts)
    row.reason = "" if found.passed else "; ".join(found.problems)


def compare_prints(row: Row, whole: Path, out: Path) -> None:
    """Run the program on both sides and compare the numbers that it prints."""
    printed = []
    for place in (whole, out):
        done = subprocess.run(
            [sys.executable, "main.py"], cwd=place, env=environment(), capture_output=True, text=True, check=False
        )
        if done.returncode:
            row.reason = f"{'PyTorch' if place is whole else 'MindSpore'}: {done.stderr.strip().splitlines()[-1]}"
            return
        printed.append([float(text) for text in _NUMBER.findall(done.stdout)])
    expected, got = printed
    if len(expected) != len(got) or not expected:
        row.reason = f"PyTorch prints {len(expected)} numbers, MindSpore {len(got)}"
        return
    largest = max(map(abs, expected)) or 1.0
    error = max(abs(a - b) / largest for a, b in zip(expected, got, strict=True))
    row.figure = f"{error:.1e} (printed numbers; limit {TOLERANCE:.0e})"
    row.agrees = not math.isnan(error) and error <= TOLERANCE


def to_markdown(rows: list[Row]) -> str:
    """Return the table of the documentation."""
    lines = [
        "# Packages taken along",
        "",
        "`python benchmarks/packages.py FOLDER --markdown docs/packages.md` wrote this page: each package of",
        "`benchmarks/packages.toml` is translated with a small program (`--with`), and both run with equal weights and",
        "inputs. The figure is the one nearest to its limit, by the rules of [parity](parity.md). *Errors* are those",
        "of the translated files of the package, most of them in code that the program does not run.",
        "",
        "| package | version | what is compared | files | errors | agrees | figure, or why not |",
        "|---|---|---|--:|--:|---|---|",
    ]
    for row in sorted(rows, key=lambda row: row.name):
        said = row.figure if row.agrees else f"{row.figure}. {row.reason}".strip(". ")
        said = said.replace("|", "\\|").replace("\n", " ")[:300]
        cells = (row.name, row.version, row.compares, row.files, row.errors, "yes" if row.agrees else "no", said)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    done = sum(row.agrees for row in rows)
    return "\n".join([*lines, "", f"{done} of {len(rows)} agree."]) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--only", nargs="+", default=())
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--json", type=Path, help="Write what was found, and go on from what was written before.")
    options = parser.parse_args()
    entries = tomllib.loads(LIST.read_text(encoding="utf-8"))["package"]
    if options.install:
        install(options.folder, entries)
    folder = options.folder.resolve()
    known = json.loads(options.json.read_text()) if options.json and options.json.is_file() else []
    rows = [Row(**found) for found in known]
    with tempfile.TemporaryDirectory() as temporary:
        base = (options.keep or Path(temporary)).resolve()
        for entry in entries:
            if (options.only and entry["name"] not in options.only) or entry["name"] in {row.name for row in rows}:
                continue
            rows.append(check(entry, folder, base / entry["name"]))
            if options.json:
                options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1), encoding="utf-8")
    done = {row.name for row in rows}
    others = [Row(e["name"], "", e["compares"], reason="not run") for e in entries if e["name"] not in done]
    text = to_markdown([*rows, *others])
    if options.markdown:
        options.markdown.write_text(text, encoding="utf-8")
    print(text)
    return 0 if all(row.agrees for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
