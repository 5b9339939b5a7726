"""Scripts in folders below the root find the runtime, which stands at the root; nothing else changes its path."""

from __future__ import annotations

from pathlib import Path

import pytest

from torch2ms import translate_project

NEEDS = "import torch\n\n\ndef f(count):\n    return torch.linspace(0, 1, count)\n"
PATH = "sys.path.append(str(Path(__file__).resolve().parents[1]))"


def translated(tmp_path: Path, files: dict[str, str], path: str) -> str:
    for name, text in files.items():
        (tmp_path / "src" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "src" / name).write_text(text)
    translate_project(tmp_path / "src", tmp_path / "out")
    return (tmp_path / "out" / path).read_text()


def test_a_script_below_the_root(tmp_path: Path) -> None:
    text = translated(tmp_path, {"tools/train.py": '"""Doc."""\n# why\n' + NEEDS}, "tools/train.py")
    assert text.startswith('"""Doc."""\n# why\nimport sys\nfrom pathlib import Path\n\n' + PATH)
    assert text.index(PATH) < text.index("torch2ms_runtime import")


def test_the_path_of_a_deep_script_counts_its_folders(tmp_path: Path) -> None:
    assert "parents[3]" in translated(tmp_path, {"a/b/c/train.py": NEEDS}, "a/b/c/train.py")


def test_a_script_whose_modules_need_it(tmp_path: Path) -> None:
    files = {"tools/train.py": "import net\n\nnet.f(1)\n", "tools/net.py": NEEDS}
    assert PATH in translated(tmp_path, files, "tools/train.py")


@pytest.mark.parametrize(
    ("files", "path"),
    [
        ({"train.py": NEEDS}, "train.py"),
        ({"lib/net.py": NEEDS, "train.py": "import lib.net\n"}, "lib/net.py"),
        ({"lib/__init__.py": NEEDS}, "lib/__init__.py"),
        ({"tools/plain.py": "import os\n\nprint(os.sep)\n"}, "tools/plain.py"),
        ({"tools/train.py": "import torch\n\nprint(torch.float32)\n"}, "tools/train.py"),
    ],
)
def test_nothing_else_does(tmp_path: Path, files: dict[str, str], path: str) -> None:
    assert "sys.path" not in translated(tmp_path, files, path)
