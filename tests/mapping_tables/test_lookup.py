from __future__ import annotations

from collections.abc import Callable

import pytest

from torch2ms.config import ApiFamily, Device, Target
from torch2ms.mapping_tables.checks import holds_for
from torch2ms.mapping_tables.lookup import Tables
from torch2ms.mapping_tables.signatures import format_signature

Only = Callable[[str], Tables]


@pytest.mark.parametrize(
    ("spelled", "canonical"),
    [
        ("torch.nn.modules.conv.Conv2d", "torch.nn.Conv2d"),
        ("torch.nn.parameter.Parameter", "torch.nn.Parameter"),
        ("torch.utils.data.dataloader.DataLoader", "torch.utils.data.DataLoader"),
        ("torch.optim.adam.Adam", "torch.optim.Adam"),
        ("torch.functional.F.relu", "torch.nn.functional.relu"),
        ("torch.conv2d", "torch.nn.functional.conv2d"),
        ("torch.nn.modules.linear.Linear.forward", "torch.nn.Linear.forward"),
        ("torchvision.models.resnet.BasicBlock", "torchvision.models.BasicBlock"),
        ("torch.nn.Linear", "torch.nn.Linear"),
        ("torch.nobody.knows.this", "torch.nobody.knows.this"),
        ("numpy.abs", "numpy.abs"),
    ],
)
def test_canonical_names(only: Only, spelled: str, canonical: str) -> None:
    assert only("").canonical(spelled) == canonical


def test_a_spelling_with_a_row_of_its_own_is_canonical(only: Only) -> None:
    tables = only('"torch.conv2d" = "mindspore.ops.conv2d"\n')
    assert tables.canonical("torch.conv2d") == "torch.conv2d"
    assert tables.canonical("torch.nn.functional.conv2d") == "torch.conv2d"
    row = tables.row("torch.nn.functional.conv2d")
    assert row is not None
    assert row.name == "torch.conv2d"


def test_inherited_members_have_the_row_of_the_base_class(only: Only) -> None:
    tables = only('"torch.nn.Module.train" = "mindspore.nn.Cell.set_train"\n')
    row = tables.row("torch.nn.modules.batchnorm.BatchNorm2d.train")
    assert row is not None
    assert row.name == "torch.nn.Module.train"
    assert tables.row("torch.nn.BatchNorm2d.eval") is None
    assert "torch.nn.Module" in tables.bases("torch.nn.BatchNorm2d")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("torch.nn", "module"),
        ("torch.nn.Linear", "class"),
        ("torch.abs", "function"),
        ("torch.Tensor.view", "method"),
        ("torch.Tensor.shape", "attribute"),
        ("torch.float32", "constant"),
        ("torch.nn.Conv2d.weight", "attribute"),
        ("torchvision.transforms.ToTensor", "class"),
        ("torch.nn.Nothing", None),
    ],
)
def test_kinds(only: Only, name: str, kind: str | None) -> None:
    tables = only("")
    assert tables.kind_of_name(name) == kind
    assert tables.is_module(name) == (kind == "module")


MINT = """
namespace = "torch"
[abs]
[[abs.to]]
target = "mindspore.mint.abs"
mindspore = ">=2.3"
device = ["ascend"]
[[abs.to]]
target = "mindspore.ops.abs"
[[abs.to]]
target = "mindspore.ops.cpu_only"
device = ["cpu"]
"""


@pytest.mark.parametrize(
    ("version", "device", "api", "expected"),
    [
        ((2, 10), "portable", "auto", ["ops.abs"]),
        ((2, 10), "cpu", "auto", ["ops.abs", "ops.cpu_only"]),
        ((2, 10), "ascend", "auto", ["mint.abs", "ops.abs"]),
        ((2, 10), "ascend", "classic", ["ops.abs"]),
        ((2, 2), "ascend", "auto", ["ops.abs"]),
        ((2, 10), "portable", "mint", ["mint.abs", "ops.abs"]),
        ((2, 10), "gpu", "mint", ["ops.abs"]),
    ],
)
def test_select(only: Only, version: tuple[int, int], device: Device, api: ApiFamily, expected: list[str]) -> None:
    tables = only(MINT)
    row = tables.row("torch.abs")
    assert row is not None
    chosen = tables.select(row, Target(version, device, api))
    assert [option.target.removeprefix("mindspore.") for option in chosen] == expected


DEVIATING = """
namespace = "torch"
[exp]
[[exp.to]]
target = "mindspore.ops.exp"
deviates = ["cpu"]
notes = "off by 5e-6 on CPU"
[[exp.to]]
target = "torch2ms.runtime.functional.exp"
"""


@pytest.mark.parametrize(
    ("device", "exact", "first"),
    [
        ("portable", False, "mindspore.ops.exp"),
        ("portable", True, "torch2ms.runtime.functional.exp"),
        ("cpu", True, "torch2ms.runtime.functional.exp"),
        ("gpu", True, "mindspore.ops.exp"),
    ],
)
def test_exact_passes_over_what_deviates(only: Only, device: Device, exact: bool, first: str) -> None:
    tables = only(DEVIATING)
    row = tables.row("torch.exp")
    assert row is not None
    assert tables.select(row, Target(device=device, exact=exact))[0].target == first


@pytest.mark.parametrize(
    ("versions", "version", "holds"),
    [
        (">=2.0", (2, 0), True),
        (">=2.3", (2, 10), True),
        ("<2.10", (2, 9), True),
        ("<2.10", (2, 10), False),
        (">=2.3, <2.5", (2, 4), True),
        (">=2.3,<2.5", (2, 5), False),
        ("==2.7", (2, 7), True),
        ("!=2.7", (2, 7), False),
        ("<=2.7,>2.0", (2, 0), False),
    ],
)
def test_ranges_of_releases(versions: str, version: tuple[int, int], holds: bool) -> None:
    assert holds_for(versions, version) is holds


@pytest.mark.parametrize("text", ["", "2.3", ">=2", ">=a.b", "~=2.3", ">=2.3,"])
def test_what_is_no_range(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the caller turns it into a TableError that names the key
        holds_for(text, (2, 10))


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("torch.nn.Dropout", "(p=0.5, inplace=False)"),
        ("torch.nn.Tanh", "()"),
        ("torch.Tensor.abs", "()"),
        ("torch.Tensor.sum", "(dim=None, keepdim=False, dtype=None)"),
        ("torch.zeros", "(*size, out=None, dtype=None, layout=torch.strided, device=None, requires_grad=False)"),
        ("torch.optim.lr_scheduler.StepLR", "(optimizer, step_size, gamma=0.1, last_epoch=-1)"),
        ("torchvision.transforms.Normalize", "(mean, std, inplace=False)"),
    ],
)
def test_signatures_of_torch(only: Only, name: str, signature: str) -> None:
    found = only("").signature(name)
    assert found is not None
    assert format_signature(found) == signature


def test_overloads(only: Only) -> None:
    names = [[p.name for p in s.parameters if p.kind == "positional"] for s in only("").overloads("torch.arange")]
    assert ["end"] in names
    assert ["start", "end", "step"] in names


def test_a_row_can_correct_the_signature(only: Only) -> None:
    tables = only('[\'torch.abs\']\nto = "mindspore.ops.abs"\nsignature = "(input, /, *, scale=1)"\n')
    found = tables.signature("torch.abs")
    assert found is not None
    assert format_signature(found) == "(input, /, *, scale=1)"


def test_signatures_of_targets(only: Only) -> None:
    tables = only("")
    old, new = (
        tables.target_signature("mindspore.nn.Dense", (2, 0)),
        tables.target_signature("mindspore.nn.Dense", (2, 9)),
    )
    assert old is not None
    assert new is not None
    weight_init = old.get("weight_init")
    assert weight_init is not None
    assert weight_init.default == "'normal'"
    assert new.get("dtype") is not None
    between = tables.target_signature("mindspore.mint.abs", (2, 4))  # not in 2.0: the next release above knows it
    assert between is not None
    assert tables.target_signature("mindspore.nn.Nothing", (2, 10)) is None
    assert tables.target_signature("numpy.abs", (2, 10)) is None
    loader = tables.target_signature("torch2ms.runtime.data.DataLoader", (2, 10))
    assert loader is not None
    assert loader.parameters[0].name == "dataset"


def test_call_signature_is_that_of_forward(only: Only) -> None:
    found = only("").call_signature("torch.nn.Conv2d")
    assert found is not None
    assert format_signature(found) == "(input)"


def test_members_of_an_unsupported_class_have_what_it_says_under_their_own_name(only: Only) -> None:
    tables = only('[[unsupported]]\nnames = ["torch.utils.data.DataLoader"]\nkind = "class"\nadvice = "use another"\n')
    row = tables.row("torch.utils.data.dataloader.DataLoader.multiprocessing_context")
    assert row is not None
    assert (row.name, row.unsupported) == ("torch.utils.data.DataLoader.multiprocessing_context", "use another")
    assert tables.row("torch.utils.data.Dataset.multiprocessing_context") is None
