"""Walk through docs/first-migration.md as a reader does: to a trained network, and to a translation again.

    python scripts/walk.py [PYTHON [SITE]]

In a fresh folder, every command of the page is run as it stands, with ``torch2ms`` and ``python`` of an interpreter
that has both frameworks; SITE is a folder with the torch2ms to be walked with, such as a wheel was unpacked into.
What the page promises is looked for at the end. Then SRC and OUT are both changed, and ``torch2ms update`` merges them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "first-migration.md"
_HAS_BOTH = "import importlib.util as u, sys; sys.exit(not (u.find_spec('torch') and u.find_spec('mindspore')))"


def main(python: str = sys.executable, site: str = str(ROOT)) -> int:
    """Walk in a temporary folder; 0 when every step does what the page says."""
    with tempfile.TemporaryDirectory(prefix="torch2ms-walk-") as folder:
        problems = walk(Path(folder), python, site)
    for problem in problems:
        print(f"wrong: {problem}")
    return 1 if problems else 0


def has_both_frameworks(python: str) -> bool:
    """Whether an interpreter is there, and PyTorch and MindSpore with it."""
    return Path(python).exists() and subprocess.run([python, "-c", _HAS_BOTH], check=False).returncode == 0


def walk(folder: Path, python: str, site: str) -> list[str]:
    """Take every step in ``folder``, and return what goes otherwise than the page says; the first failure ends it."""
    surroundings = _surroundings(folder, python, site)
    (folder / "digits").mkdir()
    program = folder / "digits" / "train.py"
    program.write_text(_program(), encoding="utf-8")
    said: dict[str, str] = {}
    found = _run('python -c "import torch2ms; print(torch2ms.__path__[0])"', folder, surroundings).stdout.strip()
    if Path(found).parent.resolve() != Path(site).resolve():
        return [f"the torch2ms that is walked with is {found or 'missing'}, not that of {site}"]
    for command in steps():
        done = _run(command, folder, surroundings)
        if done.returncode:
            return [f"{command!r} exits with {done.returncode}: {done.stderr[-2000:]}"]
        said[command] = done.stdout
    return [*_unkept(folder, said), *_translated_again(folder, program, surroundings)]


def steps() -> list[str]:
    """Return the commands of the page in its order, without the installation; a block is one command."""
    text = PAGE.read_text(encoding="utf-8").partition("## 2.")[2]
    found = re.findall(
        r"^```sh\n(.*?)^```|`((?:cd|torch2ms update|torch2ms translate) [^`\n]+)`", text, re.DOTALL | re.M
    )
    return [" && ".join((block or inline).strip().split("\n")) for block, inline in found]


def _program() -> str:
    text = PAGE.read_text(encoding="utf-8")
    found = re.search(r"<!-- file: digits/train.py -->\n```python\n(.*?)```", text, re.DOTALL)
    if found is None:
        raise SystemExit(f"{PAGE} holds no digits/train.py")
    return found[1]


def _surroundings(folder: Path, python: str, site: str) -> dict[str, str]:
    """Return an environment whose ``python`` is the interpreter, and whose ``torch2ms`` is that of ``site``."""
    commands = folder / "bin"
    commands.mkdir()
    for name, words in (("python", ""), ("torch2ms", " -m torch2ms")):
        script = commands / name
        script.write_text(f'#!/bin/sh\nexec "{python}"{words} "$@"\n', encoding="utf-8")
        script.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**kept, "PATH": f"{commands}{os.pathsep}{kept.get('PATH', '')}", "PYTHONPATH": site}


def _run(command: str, folder: Path, surroundings: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    print(f"$ {command}", flush=True)
    return subprocess.run(
        command, shell=True, cwd=folder, env=dict(surroundings), capture_output=True, text=True, check=False
    )


def _unkept(folder: Path, said: Mapping[str, str]) -> Iterator[str]:
    """Yield what the page promises and is not so."""
    everything = "\n".join(said.values())
    trained = next((text for command, text in said.items() if command.startswith("cd digits-ms")), "")
    losses = [float(loss) for loss in re.findall(r"^epoch \d+  loss ([\d.]+)", trained, re.MULTILINE)]
    if len(losses) < 3 or losses[-1] >= losses[0]:
        yield f"the translated network does not learn: {losses}"
    if not re.search(r"^\d+ figures, all within their limits", everything, re.MULTILINE):
        yield "verify does not find the two programs equal"
    for path in ("digits-ms/torch2ms_report/report.html", "digits.ckpt", "digits-ascend/train.py"):
        if not (folder / path).is_file():
            yield f"there is no {path}"


def _translated_again(folder: Path, program: Path, surroundings: Mapping[str, str]) -> Iterator[str]:
    """Change SRC and OUT at different lines, update OUT, train it once more; yield what is lost."""
    source, emitted = program.read_text(encoding="utf-8"), folder / "digits-ms" / "train.py"
    program.write_text(source.replace("lr=1e-3", "lr=1e-3, weight_decay=1e-4"), encoding="utf-8")
    emitted.write_text("# mine\n" + emitted.read_text(encoding="utf-8"), encoding="utf-8")
    for command in ("torch2ms update digits digits-ms", "cd digits-ms && python train.py"):
        done = _run(command, folder, surroundings)
        if done.returncode:
            yield f"{command!r}, after changes, exits with {done.returncode}: {done.stderr[-2000:]}"
    merged = emitted.read_text(encoding="utf-8")
    yield from (f"update loses the change {text!r}" for text in ("# mine", "weight_decay=1e-4") if text not in merged)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
