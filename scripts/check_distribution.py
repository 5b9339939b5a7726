"""Build the sdist and the wheel into dist/, and check them as who installs them would: what `make dist` runs.

Checked: `twine check`; the long description has no link that leads nowhere outside the repository; the wheel is what
the sdist gives; in an environment that holds nothing but the wheel and what it depends on, `torch2ms --version`,
a translation of the bundled example, and the advice of the commands that need PyTorch or MindSpore; with the frameworks
of .venv, where they are, the whole first migration of the documents, with the wheel in the place of the checkout.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import venv
import zipfile
from email import message_from_string
from pathlib import Path

from walk import has_both_frameworks, walk

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
BARE = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
_NEEDS = (["verify", "SRC", "OUT", "--entry", "resnet:resnet50", "--input", "1x3x32x32"], ["demo", "FOLDER"])


def main() -> int:
    """Return 0 when both archives are fit to be published; what is wrong is printed."""
    for old in DIST.glob("torch2ms-*"):
        old.unlink()
    run([sys.executable, "-m", "build", "--quiet", "--outdir", str(DIST), str(ROOT)])  # the wheel from the sdist
    (wheel,) = DIST.glob("torch2ms-*.whl")
    (sdist,) = DIST.glob("torch2ms-*.tar.gz")
    run([sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist)])
    problems = [*description_problems(wheel), *installed_problems(wheel), *walk_problems(wheel)]
    for problem in problems:
        print(f"wrong: {problem}")
    for archive in (sdist, wheel):
        print(f"{archive.relative_to(ROOT)}  {archive.stat().st_size / 1e6:.1f} MB")
    return 1 if problems else 0


def description_problems(wheel: Path) -> list[str]:
    """Return the links of the long description that are no addresses."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        text = message_from_string(archive.read(name).decode("utf-8")).get_payload()
    without_code = re.sub(r"^```.*?^```", "", str(text), flags=re.DOTALL | re.MULTILINE)
    links = re.findall(r"\]\(([^)\s]+)\)", without_code)
    return [f"the long description links to {link}" for link in links if not link.startswith(("https://", "#"))]


def installed_problems(wheel: Path) -> list[str]:
    """Install the wheel into an environment of its own, run it there, and return what goes wrong."""
    problems = []
    with tempfile.TemporaryDirectory(prefix="torch2ms-dist-") as folder:
        home = Path(folder)
        venv.create(home / "env", with_pip=True)
        python, tool = home / "env" / "bin" / "python", str(home / "env" / "bin" / "torch2ms")
        run([str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", str(wheel)])
        print(run([tool, "--version"]), end="")
        place = run([str(python), "-c", "import torch2ms; print(torch2ms.__path__[0])"], cwd=home).strip()
        example, out = f"{place}/examples/resnet50_cifar10", str(home / "out")
        run([tool, "translate", example, out], cwd=home)
        if not (home / "out" / "torch2ms_report" / "report.html").is_file():
            problems.append("the installed torch2ms writes no report")
        for words in _NEEDS:
            given = [{"SRC": example, "OUT": out, "FOLDER": str(home / "demo")}.get(word, word) for word in words]
            done = subprocess.run([tool, *given], cwd=home, env=BARE, capture_output=True, text=True, check=False)
            said = done.stderr
            if done.returncode != 2 or "Traceback" in said or "pip install" not in said:
                problems.append(f"torch2ms {words[0]} without PyTorch exits with {done.returncode} and says: {said}")
    return problems


def walk_problems(wheel: Path) -> list[str]:
    """Walk through the first migration with the wheel, to a trained network, where the frameworks are installed."""
    python = str(ROOT / ".venv" / "bin" / "python")
    if not has_both_frameworks(python):
        print("the first migration was not walked through: .venv has no PyTorch and MindSpore (make install)")
        return []
    with tempfile.TemporaryDirectory(prefix="torch2ms-walk-") as folder:
        place, site = Path(folder) / "fresh", Path(folder) / "site"
        place.mkdir()
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(site)
        return walk(place, python, str(site))


def run(command: list[str], cwd: Path | None = None) -> str:
    """Run a command and return what it printed; end the program with its output when it fails."""
    done = subprocess.run(command, cwd=cwd, env=BARE, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
