"""Packages taken along: what of them a project reaches, where it comes from, and what the report says of it."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from torch2ms import Options, translate_project
from torch2ms.diagnostics import Severity
from torch2ms.errors import UsageError
from torch2ms.reports.json import to_json
from torch2ms.reports.markdown import to_markdown
from torch2ms.reports.model import Report
from torch2ms.reports.todo import standings, tasks
from torch2ms.translator.output import cache

KEY_OF = cache.key_of  # before conftest turns it off
MakeTree = Callable[..., Path]

# Pure Python, but for one compiled part: a registry that finds its modules by itself, a lazy __getattr__, data.
PACKAGE = {
    "layerbox/__init__.py": (
        "from .registry import create\n\n\ndef __getattr__(name):\n    import importlib\n\n"
        '    if name in ("heads",):\n        return importlib.import_module(f".{name}", __name__)\n'
        "    raise AttributeError(name)\n"
    ),
    "layerbox/registry.py": (
        "import importlib\nimport pkgutil\n\nfrom . import models\n\nMODELS = {}\n\n\ndef register(function):\n"
        "    MODELS[function.__name__] = function\n    return function\n\n\ndef create(name, **kwargs):\n"
        "    for entry in pkgutil.iter_modules(models.__path__):\n"
        '        importlib.import_module(f"{models.__name__}.{entry.name}")\n    return MODELS[name](**kwargs)\n'
    ),
    "layerbox/models/__init__.py": (
        "import importlib\nimport pkgutil\n\n"
        "for entry in pkgutil.iter_modules(__path__):\n    importlib.import_module(f'{__name__}.{entry.name}')\n"
    ),
    "layerbox/models/small.py": (
        "import torch\nfrom torch import nn\n\nfrom ..registry import register\n\n\nclass Small(nn.Module):\n"
        "    def __init__(self, width):\n        super().__init__()\n        self.fc = nn.Linear(width, 2)\n\n"
        "    def forward(self, x):\n        return torch.relu(self.fc(x))\n\n\n"
        "@register\ndef small(width=4):\n    return Small(width)\n"
    ),
    "layerbox/models/sizes.json": '{"small": 4}\n',
    "layerbox/heads.py": "import torch\n\n\ndef head(x):\n    return torch.special_unheard_of(x)\n",
    "layerbox/fast.py": "from . import _C\n\n\ndef run(x):\n    return _C.run(x)\n",
    "layerbox/_C.cpython-311-x86_64-linux-gnu.so": b"\x7fELF",
    "layerbox/unused.py": "import torch\n",
    "layerbox/py.typed": "",
    "layerbox-1.2.dist-info/METADATA": (
        "Metadata-Version: 2.1\nName: layerbox\nVersion: 1.2\nRequires-Dist: torch>=2\nRequires-Dist: numpy\n"
    ),
    "layerbox-1.2.dist-info/licenses/LICENSE": "free\n",
    "layerbox-1.2.dist-info/RECORD": (
        "layerbox/__init__.py,,\nlayerbox/_C.cpython-311-x86_64-linux-gnu.so,,\n"
        "layerbox-1.2.dist-info/METADATA,,\nlayerbox-1.2.dist-info/licenses/LICENSE,,\nlayerbox-1.2.dist-info/RECORD,,\n"
    ),
}
MAIN = {"main.py": "import layerbox\n\nnet = layerbox.create('small')\nprint(net)\n"}
COME_ALONG = {
    "layerbox/__init__.py",
    "layerbox/registry.py",
    "layerbox/models/__init__.py",
    "layerbox/models/small.py",
    "layerbox/models/sizes.json",
    "layerbox/heads.py",
    "layerbox/py.typed",
    "layerbox-1.2.dist-info/METADATA",
    "layerbox-1.2.dist-info/licenses/LICENSE",
}


def take(src: Path, *packages: Path | str, out: Path | None = None) -> Report:
    return translate_project(src, out, Options(packages=tuple(map(str, packages)), cache=False))


def test_what_the_project_reaches_comes_along(make_tree: MakeTree, tmp_path: Path) -> None:
    site = make_tree(PACKAGE, "site")
    report = take(make_tree(MAIN), site / "layerbox", out=tmp_path / "out")
    (package,) = report.packages
    assert package.title == "layerbox 1.2"
    assert {file.path for file in package.files} == COME_ALONG
    assert [file.path for file in report.files] == ["main.py"]
    assert "class Small(nn.Cell):" in (tmp_path / "out/layerbox/models/small.py").read_text()
    assert (tmp_path / "out/layerbox-1.2.dist-info/licenses/LICENSE").read_text() == "free\n"
    assert not (tmp_path / "out/layerbox/unused.py").exists()


def test_findings_of_a_package_are_apart(make_tree: MakeTree) -> None:
    report = take(make_tree(MAIN), make_tree(PACKAGE, "site") / "layerbox")
    (package,) = report.packages
    assert report.worst is None  # what decides the exit code
    assert [found.code for found in package.diagnostics if found.severity == Severity.ERROR] == ["T2M202"]
    assert [api.name for api in package.apis if api.status == "unknown"] == ["torch.special_unheard_of"]
    assert [(task.group, task.name) for task in tasks(report)] == [("package", "torch.special_unheard_of")]
    assert [entry.state for entry in standings(report)] == ["ready"]  # the error stands in a function
    assert '"name": "layerbox"' in to_json(report)
    assert "## Package layerbox 1.2" in to_markdown(report)


def test_compiled_parts_are_marked_where_they_are_reached(make_tree: MakeTree, tmp_path: Path) -> None:
    src = make_tree({"main.py": "from layerbox import fast\n\nprint(fast.run(1))\n"})
    report = take(src, make_tree(PACKAGE, "site") / "layerbox", out=tmp_path / "out")
    (found,) = [found for found in report.packages[0].diagnostics if found.code == "T2M308"]
    assert (found.file, found.line, found.symbol, found.severity) == (
        "layerbox/fast.py",
        1,
        "layerbox._C",
        Severity.ERROR,
    )
    assert [entry.blocked_by for entry in standings(report)] == [("layerbox._C (T2M308)",)]
    assert "T2M308" in (tmp_path / "out/layerbox/fast.py").read_text()
    assert not list((tmp_path / "out/layerbox").glob("*.so"))


def test_names_are_the_package_s_own_and_not_the_tables(make_tree: MakeTree, tmp_path: Path) -> None:
    site = make_tree(
        {"einops/__init__.py": "import torch\n\n\ndef rearrange(x, p):\n    return torch.abs(x)\n"}, "site"
    )
    src = make_tree({"a.py": "import torch\nfrom einops import rearrange\n\nx = rearrange(torch.ones(2), 'a -> a')\n"})
    report = take(src, site / "einops", out=tmp_path / "out")
    assert "from einops import rearrange" in (tmp_path / "out/a.py").read_text()
    assert [api.name for api in report.apis] == ["torch.ones"]


def test_nothing_is_run(make_tree: MakeTree, tmp_path: Path) -> None:
    raising = {"trap/__init__.py": "import torch\nopen('ran', 'w')\n", "setup.py": "open('ran', 'w')\n"}
    src = make_tree({"a.py": "import trap\n"})
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path; from torch2ms import *; "
        "from torch2ms import Options; translate_project(Path(sys.argv[2]), None, Options(packages=('trap',)))"
    )
    site = make_tree(raising, "site")
    root = Path(__file__).resolve().parents[3]
    command = [sys.executable, "-c", code, str(site), str(src)]
    subprocess.run(command, check=True, cwd=tmp_path, env={"PYTHONPATH": str(root)})
    assert not list(tmp_path.rglob("ran"))


def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "layerbox-1.2-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as packed:
        for name, content in PACKAGE.items():
            packed.writestr(name, content)
    return path


def sdist(tmp_path: Path) -> Path:
    path = tmp_path / "layerbox-1.2.tar.gz"
    files = {name: content for name, content in PACKAGE.items() if name.startswith("layerbox/")}
    files |= {
        "PKG-INFO": PACKAGE["layerbox-1.2.dist-info/METADATA"],
        "LICENSE": "free\n",
        "setup.py": "raise SystemExit\n",
    }
    with tarfile.open(path, "w:gz") as packed:
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            entry = tarfile.TarInfo(f"layerbox-1.2/src/{name}" if "/" in name else f"layerbox-1.2/{name}")
            entry.size = len(data)
            packed.addfile(entry, io.BytesIO(data))
    return path


@pytest.mark.parametrize("pack", [wheel, sdist])
def test_archives_give_the_same(make_tree: MakeTree, tmp_path: Path, pack: Callable[[Path], Path]) -> None:
    report = take(make_tree(MAIN), pack(tmp_path))
    (package,) = report.packages
    files = {file.path.replace("licenses/", "") for file in package.files}
    assert (package.title, files) == ("layerbox 1.2", {path.replace("licenses/", "") for path in COME_ALONG})


@pytest.mark.parametrize(
    ("package", "message"),
    [
        ("surely_not_installed", "no package of this name is installed"),
        ("./nowhere", "no such file or folder"),
        ("sys", "no package of this name is installed"),
    ],
)
def test_what_is_no_package_is_told(make_tree: MakeTree, package: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        take(make_tree(MAIN), package)


def test_the_project_s_own_module_is_never_replaced(make_tree: MakeTree) -> None:
    src = make_tree({**MAIN, "layerbox.py": "def create(name):\n    return name\n"})
    with pytest.raises(UsageError, match="SRC has its own layerbox"):
        take(src, make_tree(PACKAGE, "site") / "layerbox")


def test_an_unused_package_brings_nothing(make_tree: MakeTree) -> None:
    report = take(make_tree({"a.py": "import torch\n"}), make_tree(PACKAGE, "site") / "layerbox")
    assert [package.files for package in report.packages] == [()]


def test_scripts_in_folders_find_the_package(make_tree: MakeTree, tmp_path: Path) -> None:
    src = make_tree({"tools/run.py": "import layerbox\nimport torch\n\nprint(torch.ones(1), layerbox.create)\n"})
    take(src, make_tree(PACKAGE, "site") / "layerbox", out=tmp_path / "out")
    assert "layerbox" in (tmp_path / "out/tools/layerbox.py").read_text()


def test_requirements_name_what_the_package_needs_instead(make_tree: MakeTree, tmp_path: Path) -> None:
    src = make_tree({**MAIN, "requirements.txt": "layerbox==1.2\ntqdm\n"})
    wanting = {**PACKAGE, "layerbox-1.2.dist-info/METADATA": "Name: layerbox\nVersion: 1.2\nRequires-Dist: PyYAML>=5\n"}
    take(src, make_tree(wanting, "site") / "layerbox", out=tmp_path / "out")
    assert (tmp_path / "out/requirements.txt").read_text().splitlines()[-1] == "PyYAML>=5"
    assert "layerbox" not in (tmp_path / "out/requirements.txt").read_text()
