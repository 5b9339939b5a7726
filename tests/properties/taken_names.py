"""Projects with names that OUT needs: nothing of the user's is replaced or lost, and OUT still has all of its own.

python -m tests.properties.taken_names --projects 200 --seed 3
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import sys
import tempfile
from pathlib import Path

from torch2ms import translate_project
from torch2ms.config import Options

__all__ = ["NAMES", "check", "main", "project", "write"]

NAMES = (
    "scripts", "torch2ms_runtime", "torch2ms_report", "convert_weights.py", "requirements.txt", "train.py", "eval.py",
    "config.yaml", "train", "ms_train.py", "ms_scripts", "torch2ms_runtime.py", "torch2ms_runtime_2", "tools",
    "torch2ms_report_2", "ms_convert_weights.py", "scripts/run_distribute_train.sh", "scripts/run_eval.sh",
    "torch2ms_runtime/__init__.py", "torch2ms_runtime/seed.py", "torch2ms_report/report.md", "scripts/train.py",
    "torch2ms_report/manifest.json", "tools/torch2ms_runtime.py",
)  # fmt: skip
KINDS = ("file", "folder", "link to a file", "link to a folder", "dangling link", "python")
_NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3072, 10)

    def forward(self, x):
        return self.fc(x.flatten(1)).topk(3)[0]
"""
_MAIN = """\
import torch
import torchvision
from torch import nn

from net import Net

data = torchvision.datasets.CIFAR10("data", transform=torchvision.transforms.ToTensor())
loader = torch.utils.data.DataLoader(data, batch_size=8)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
for epoch in range(2):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
"""


def project(rng: random.Random) -> dict[str, str]:
    """Return some of the names, each with what it is."""
    return {name: rng.choice(KINDS) for name in rng.sample(NAMES, rng.choice((1, 1, 2, 3, 5)))}


def write(root: Path, names: dict[str, str]) -> None:
    """Write a program that gets every generated file, and what has the names."""
    (root / "own").mkdir(parents=True)
    (root / "own" / "kept.txt").write_text("kept\n")
    (root / "own" / "run_distribute_train.sh").write_text("mine\n")
    (root / "own" / "report.md").write_text("mine\n")
    (root / "net.py").write_text(_NET)
    (root / "main.py").write_text(_MAIN)
    for name, kind in names.items():
        path = root / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if kind == "folder":
                path.mkdir()
                (path / "mine.txt").write_text(f"{name}\n")
            elif kind == "file":
                path.write_text("# the user's\n")
            elif kind == "python":
                path.write_text("import torch\n\nx = torch.zeros(3)\n")
            else:
                up = "../" * name.count("/")
                target = {"link to a file": "own/kept.txt", "link to a folder": "own", "dangling link": "nowhere"}[kind]
                path.symlink_to(up + target)
        except OSError:
            continue  # two names that exclude each other


def _tree(root: Path) -> dict[str, str]:
    found = {}
    for folder, subfolders, files in os.walk(root):
        for name in (*files, *(name for name in subfolders if (Path(folder) / name).is_symlink())):
            path = Path(folder, name)
            relative = path.relative_to(root).as_posix()
            is_link = path.is_symlink() and not (
                path.suffix == ".py" and path.is_file()
            )  # a module is a file of its own
            found[relative] = f"link {path.readlink()}" if is_link else path.read_text(errors="surrogateescape")
    return found


def check(folder: Path, names: dict[str, str]) -> list[str]:
    """Translate such a project twice (the second time over the first), and return what is wrong."""
    src, out = folder / "src", folder / "out"
    write(src, names)
    before = _tree(src)
    faults = []
    for force in (False, True):
        try:
            report = translate_project(src, out, Options(cache=False), force=force)
        except Exception as error:
            return [f"{type(error).__name__}: {error}"]
        faults += _faults(before, _tree(src), _tree(out), {file.path: file.status for file in report.files})
        faults += [str(found) for found in report.diagnostics if found.code == "T2M900"]
        if "backup" in report.facts:
            faults.append(f"an untouched OUT was kept: {report.facts['backup']}")
    left = sorted(path.name for path in folder.iterdir())
    if left != ["out", "src"]:
        faults.append(f"beside OUT: {left}")
    return faults


def _faults(before: dict[str, str], src: dict[str, str], out: dict[str, str], status: dict[str, str]) -> list[str]:
    faults = [] if src == before else ["SRC was changed"]
    for path, text in before.items():
        if path not in out:
            faults.append(f"{path} is lost")
        elif out[path] != text and status.get(path) != "translated":
            faults.append(f"{path} was replaced")
    generated = [path for path, kind in status.items() if kind == "generated"]
    faults += [f"{path} is generated and was the user's" for path in generated if path in before]
    faults += [f"{path} is not there" for path in generated if path not in out]
    wanted = ("train.py", "eval.py", "convert_weights.py", "config.yaml", "run_eval.sh", "run_distribute_train.sh")
    faults += [f"no {name}" for name in wanted if not any(path.endswith(name) for path in generated)]
    reports = [path for path in out if path.endswith("/report.html") and path not in before]
    runtimes = [path for path in out if path.endswith("/seed.py") and path not in before]
    if len(reports) != 1 or len(runtimes) != 1:
        faults.append(f"reports {reports}, runtimes {runtimes}")
        return faults
    package = runtimes[0].split("/")[0]
    for path, text in out.items():
        if (
            path.endswith(".py")
            and not path.startswith(f"{package}/")
            and status.get(path) in ("generated", "translated")
        ):
            faults += [f"{path} imports {name}" for name in _runtimes(text) if name != package]
    return faults


def _runtimes(text: str) -> set[str]:
    found = (node.module or "" for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom))
    return {module.split(".")[0] for module in found if module.startswith("torch2ms_runtime")}


def main() -> int:
    """Run a campaign; 1 when something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--projects", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    failures = 0
    for number in range(given.projects):
        names = project(random.Random(f"{given.seed} {number}"))
        with tempfile.TemporaryDirectory() as folder:
            faults = check(Path(folder), names)
        if faults:
            failures += 1
            print(f"{names}: {'; '.join(faults)}", flush=True)
    print(f"{given.projects} projects with taken names: {failures} failures")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
