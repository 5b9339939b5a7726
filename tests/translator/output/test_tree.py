"""What OUT gets besides the translated files: scripts in folders find the runtime."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from torch2ms.config import Options
from torch2ms.translator.pipeline import translate_project

MakeTree = Callable[..., Path]
TOPK = "import torch\n\n\ndef best(x: torch.Tensor):\n    return torch.topk(x, 1)\n"  # written with the runtime
SCRIPT = "from {module} import best\nimport torch\n\nprint(best(torch.ones(2)))\n"
TREE = {
    "main.py": SCRIPT.format(module="lib.parts"),
    "lib/__init__.py": "",
    "lib/parts.py": TOPK,
    "lib/unused.py": TOPK,  # of a package: imported by others, elsewhere
    "models/net.py": TOPK,  # a folder without __init__.py whose module is imported
    "tools/deep/train.py": SCRIPT.format(module="models.net"),
    "lib/command.py": TOPK + '\n\nif __name__ == "__main__":\n    best(torch.ones(2))\n',
}


def test_folders_of_scripts_lead_to_the_runtime(make_tree: MakeTree, tmp_path: Path) -> None:
    out = tmp_path / "out"
    translate_project(make_tree(TREE), out)
    found = sorted(path.relative_to(out).as_posix() for path in out.rglob("torch2ms_runtime.py"))
    assert found == ["lib/torch2ms_runtime.py", "tools/deep/torch2ms_runtime.py"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    code = (
        "import importlib.util, torch2ms_runtime\n"
        "print(torch2ms_runtime.__file__, importlib.util.find_spec('torch2ms_runtime.functional').origin)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=out / "tools/deep",
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    runtime = out.resolve() / "torch2ms_runtime"
    assert done.stdout.split() == [str(runtime / "__init__.py"), str(runtime / "functional" / "__init__.py")]


def test_a_package_that_imports_all_of_its_modules_is_not_led_astray(make_tree: MakeTree, tmp_path: Path) -> None:
    out = tmp_path / "out"
    every = "from importlib import import_module\nfrom pkgutil import walk_packages\n\ncount = 0\n"
    every += "for _, name, _ in walk_packages(__path__, f'{__name__}.'):\n    import_module(name)\n    count += 1\n"
    translate_project(make_tree({**TREE, "lib/__init__.py": every, "lib/deep/__init__.py": ""}), out)
    code = "import sys, lib; print(lib.count, 'lib.torch2ms_runtime' in sys.modules, 'torch2ms_runtime' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=out, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["5", "True", "True"]
    leader = (out / "lib/torch2ms_runtime.py").read_text("utf-8")
    assert 'if __name__ == "torch2ms_runtime":' in leader


def test_a_script_that_names_no_torch_itself_is_led_as_well(make_tree: MakeTree, tmp_path: Path) -> None:
    out = tmp_path / "out"
    tree = {"src/train.py": "import parts\n\nparts.best([1])\n", "src/parts.py": TOPK, "docs/conf.py": "x = 1\n"}
    translate_project(make_tree(tree), out)
    assert [path.relative_to(out).as_posix() for path in out.rglob("torch2ms_runtime.py")] == [
        "src/torch2ms_runtime.py"
    ]


def test_an_installed_runtime_needs_no_signs(make_tree: MakeTree, tmp_path: Path) -> None:
    out = tmp_path / "out"
    translate_project(make_tree(TREE), out, Options(runtime="installed"))
    assert not list(out.rglob("torch2ms_runtime*"))


def test_a_project_without_the_runtime_needs_no_signs(make_tree: MakeTree, tmp_path: Path) -> None:
    out = tmp_path / "out"
    translate_project(make_tree({"tools/train.py": "import torch\n\nx = torch.ones(2)\n"}), out)
    assert not list(out.rglob("torch2ms_runtime.py"))


def test_a_file_of_that_name_stays(make_tree: MakeTree, tmp_path: Path) -> None:
    out = tmp_path / "out"
    translate_project(make_tree({**TREE, "tools/deep/torch2ms_runtime.py": "mine = 1\n"}), out)
    assert (out / "tools/deep/torch2ms_runtime.py").read_text() == "mine = 1\n"


JOINS = """import torch.distributed as dist

def main():
    dist.init_process_group("nccl")


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("tree", "start"),
    [
        ({"tools/train.py": JOINS}, '"$root/tools/train.py" "$@"'),
        ({"train.py": JOINS, "finetune.py": JOINS}, '"$root/$program" "$@"'),  # which of them is the user's choice
        ({"train.py": TOPK, "scripts/run_distribute_train.sh": "mine", "main.py": JOINS}, "mine"),
        ({"train.py": TOPK}, None),
    ],
)
def test_a_data_parallel_program_gets_a_launch_script(
    make_tree: MakeTree, tmp_path: Path, tree: dict[str, str], start: str | None
) -> None:
    translate_project(make_tree(tree), tmp_path / "out")
    script = tmp_path / "out/scripts/run_distribute_train.sh"
    assert script.exists() == (start is not None)
    if start is not None:
        assert script.read_text().rstrip().endswith(start)
