"""Packages built on PyTorch are reported where they are imported; everything else is none of theirs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from torch2ms.config import Target, parse_version
from torch2ms.translator.pipeline import translate_project, translate_source
from torch2ms.translator.project.packages import _counterparts, advice_for, packages
from torch2ms.translator.syntax.names import TORCH_ROOTS

MakeTree = Callable[..., Path]


@pytest.mark.parametrize(
    "line",
    [
        "import monai",
        "import monai.networks as m",
        "from fairseq import BertModel",
        "import os, torchmetrics",
        "from pytorch_lightning.callbacks import Callback",
    ],
)
def test_imports_are_marked_once(make_tree: MakeTree, tmp_path: Path, line: str) -> None:
    report = translate_project(make_tree({"a.py": f"{line}\n"}), tmp_path / "out")
    assert [d.code for d in report.diagnostics] == ["T2M307"]
    text = (tmp_path / "out/a.py").read_text()
    wanted = r"(import os\n)?try:\n    # TORCH2MS T2M307: .*\n    (?:import|from) .*\nexcept ImportError:\n"
    assert re.fullmatch(wanted + r"    from torch2ms_runtime.missing import .*\n", text)
    translate_project(tmp_path / "out", tmp_path / "again")
    assert (tmp_path / "again/a.py").read_text() == text


def test_modules_of_the_project_are_not_packages(make_tree: MakeTree, tmp_path: Path) -> None:
    tree = {"a.py": "import clip\nfrom .timm import x\nimport timmy\n", "clip.py": "", "timm.py": "x = 1\n"}
    assert not translate_project(make_tree(tree), tmp_path / "out").diagnostics


def test_a_package_that_is_translated_itself_is_not_one(make_tree: MakeTree, tmp_path: Path) -> None:
    tree = {"torchmetrics/__init__.py": "from torchmetrics import a\n", "torchmetrics/a.py": "x = 1\n"}
    assert not translate_project(make_tree(tree), tmp_path / "out").diagnostics


def test_what_has_rows_is_not_listed() -> None:
    assert not TORCH_ROOTS & set(packages())
    assert list(packages()) == sorted(packages(), key=str.lower)


def test_tensorboardx_is_written_by_the_runtime() -> None:
    source = "from tensorboardX import SummaryWriter\n\nwriter = SummaryWriter(logdir='runs/a', comment='b')\n"
    emitted = translate_source(source).text
    assert "from torch2ms_runtime.events import SummaryWriter" in emitted
    assert "writer = SummaryWriter(log_dir='runs/a', comment='b')" in emitted


WATCHED = """import wandb as w
import torch

net = torch.nn.Linear(2, 2)
if True:
    w.watch(net, log="all")
w.log({"loss": 1.0})
"""


def test_what_watches_networks_goes() -> None:
    """``wandb.watch`` refuses MindSpore's networks; what else it does takes numbers."""
    report = translate_source(WATCHED)
    assert "watch" not in report.text
    assert 'w.log({"loss": 1.0})' in report.text
    assert [d.code for d in report.diagnostics] == ["T2M304"]


@pytest.mark.parametrize(
    "code", ["observer.watch(net)", "import wandb\nwandb.log(net)", "import wandb\nx = wandb.watch"]
)
def test_other_watchers_stay(code: str) -> None:
    source = f"import torch\n{code}\n"
    assert code.splitlines()[-1] in translate_source(source).text


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ('optional_import("einops", name="rearrange")', "(einops.rearrange, True)"),
        ('optional_import("einops.layers.torch", name="Rearrange")', "(einops.Rearrange, True)"),
        ('optional_import("einops")', ""),  # the whole of it is not there
        ('optional_import("einops", name="pack_nothing")', ""),
        ('optional_import("numpy", name="array")', ""),
        ('required_import("einops", name="rearrange")', ""),
    ],
)
def test_a_member_that_is_asked_for_by_name(asked: str, given: str) -> None:
    text = translate_source(f"import torch\nfrom own import *\n\nmember, found = {asked}\n").text
    assert f"member, found = {given or asked}\n" in text


SPARED = """import os, torchnet as tnt  # meters
# counts
from thop import profile, clever_format as shown
from monai import *
import monai.networks
import clip


def f():
    import thop
    return thop


if os.name:
    import thop
"""


def test_what_a_missing_package_gives_raises_where_it_is_used() -> None:
    text = translate_source(SPARED).text
    assert text.count("    from torch2ms_runtime.missing import") == 4
    for line in (
        "import os\ntry:\n", "    import torchnet as tnt  # meters\n", "# counts\ntry:\n",
        "missing import profile, clever_format as shown\n", "missing import monai\n", "missing import clip\n",
        "\nfrom monai import *\n", "def f():\n", "    import thop\n    return thop\n",
    ):  # fmt: skip
        assert line in text
    assert translate_source(text).text == text
    scope: dict[str, object] = {}
    run = text.replace("torch2ms_runtime", "torch2ms.runtime").replace("\nfrom monai import *\n", "\n")
    exec(run[: run.index("def f")], scope)
    with pytest.raises(NotImplementedError, match="profile was not translated"):
        scope["profile"](1)  # type: ignore[operator]
    with pytest.raises(NotImplementedError, match=r"torchnet\.meter\.AverageValueMeter was not translated"):
        scope["tnt"].meter.AverageValueMeter()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "source",
    ["try:\n    import thop\nexcept ImportError:\n    thop = None\n", "from .thop import profile\n", "import os\n"],
)
def test_imports_that_are_spared_already_stay(source: str) -> None:
    assert "missing" not in translate_source(source).text


IN_A_FUNCTION = "def bert():\n    from fairseq import Bert\n    return Bert()\n"
PROGRAM = "if __name__ == '__main__':\n    print(Bert)\n"


@pytest.mark.parametrize(
    ("files", "severity"),
    [
        ({"a.py": "from fairseq import Bert\n" + PROGRAM}, "error"),
        ({"a.py": "from fairseq import Bert\n", "run.py": "from a import Bert\n" + PROGRAM}, "error"),
        ({"a.py": "from fairseq import Bert\n", "run.py": "from b import Bert\n" + PROGRAM}, "warning"),
        (
            {"a.py": "try:\n    from fairseq import Bert\nexcept ImportError:\n    Bert = None\n" + PROGRAM},
            "warning",
        ),
        ({"a.py": "if TYPE_CHECKING:\n    from fairseq import Bert\n" + PROGRAM}, "warning"),
        (
            {"a.py": "try:\n    from fairseq import Bert\nexcept ImportError:\n    raise\n" + PROGRAM},
            "error",
        ),
        (
            {"a.py": "try:\n    import fairseq\nexcept:\n    pass\nfrom fairseq import Bert\n" + PROGRAM},
            "error",
        ),
        ({"a.py": IN_A_FUNCTION + "net = bert() if args.bert else None\n" + PROGRAM}, "warning"),
        ({"a.py": IN_A_FUNCTION + "def main():\n    return bert()\nif __name__ == '__main__':\n    main()\n"}, "error"),
        ({"a.py": IN_A_FUNCTION, "run.py": "import a\n" + PROGRAM}, "warning"),
        ({"a.py": IN_A_FUNCTION, "run.py": "import a\na.bert()\n" + PROGRAM}, "error"),
    ],
)
def test_a_package_that_a_program_needs_is_an_error(make_tree: MakeTree, files: dict[str, str], severity: str) -> None:
    report = translate_project(make_tree(files), None)
    found = [d for d in report.diagnostics if d.code == "T2M307"]
    assert [(d.file, d.symbol, str(d.severity)) for d in found] == [("a.py", "fairseq", severity)]


def test_advice_is_of_the_chosen_release() -> None:
    assert "mindone 0.5.0 installs beside MindSpore 2.10" in advice_for("pytorch_transformers", Target())
    older = advice_for("pytorch_transformers", Target(mindspore=(2, 7)))
    assert "mindnlp 0.5.1 installs beside MindSpore 2.7" in older
    assert "mindone" not in older
    none = "no counterpart is known to install beside MindSpore 2.0"
    assert advice_for("pretrainedmodels", Target(mindspore=(2, 0))).startswith(none)
    assert advice_for("fairseq", Target(mindspore=(2, 0))) == none
    assert advice_for("kornia", Target()).startswith("take it along: --with kornia (installed beside ")
    assert advice_for("not_listed", Target()) == (
        "where it is pure Python, take it along: --with not_listed "
        "(installed beside torch2ms first, or the folder of its source)"
    )


def test_counterparts_are_listed_with_their_releases() -> None:
    named = {
        name for entry in packages().values() if not isinstance(entry, str) for name in entry.get("counterparts", ())
    }
    assert named == set(_counterparts())
    for name, entry in _counterparts().items():
        first, last = map(parse_version, entry["mindspore"])
        assert first <= last, name
        assert set(entry) == {"version", "mindspore", "has"}, name


def test_a_script_that_imports_itself_names_no_package(make_tree: MakeTree) -> None:
    text = (
        "import torch\n\n\nclass Drop(torch.nn.Module):\n    def forward(self, x):\n        return x\n\n\n"
        "if __name__ == '__main__':\n    from drop import Drop\n\n    print(Drop()(torch.zeros(2)))\n"
    )
    assert not [d for d in translate_project(make_tree({"drop.py": text}), None).diagnostics if d.code == "T2M307"]
