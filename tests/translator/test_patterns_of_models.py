"""Patterns of whole model libraries: names handed on between files, options behind **, layers that work in place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from torch2ms import Options, Target, translate_project, translate_source
from torch2ms.translator.rules.recipes import RECIPES


def text_of(source: str) -> str:
    return translate_source(source).text


def codes_of(source: str) -> list[str]:
    return [d.code for d in translate_source(source).diagnostics]


@pytest.fixture
def files(make_tree: Callable[..., Path]) -> Callable[[dict[str, str]], dict[str, str]]:
    """Translate a small package and return its texts."""

    def translate(sources: dict[str, str]) -> dict[str, str]:
        report = translate_project(make_tree({f"p/{name}": text for name, text in sources.items()}), None)
        return {file.path.removeprefix("p/"): file.output or "" for file in report.files}

    return translate


def test_a_name_that_a_file_hands_on_is_not_imported_from_it(files: Callable[[dict[str, str]], dict[str, str]]) -> None:
    found = files(
        {
            "parts.py": "from torch import nn\n",
            "net.py": "from .parts import nn\n\n\nclass Net(nn.Module):\n    pass\n",
        }
    )
    assert "from .parts" not in found["net.py"]
    assert "from mindspore import nn" in found["net.py"]
    assert "class Net(nn.Cell)" in found["net.py"]


def test_an_import_with_a_fallback_is_one_of_torch_where_the_name_is_there() -> None:
    fallback = "except ImportError:\n    def {name}(*args):\n        return None\n"
    known = "try:\n    from torch import _assert\n" + fallback.format(name="_assert")
    assert text_of(f"{known}_assert(x > 0, 'text')\n") == "assert x > 0, 'text'\n"
    unknown = "try:\n    from torch.compiler import no_such\n" + fallback.format(name="no_such")
    assert '    raise ImportError("no_such")\n' in text_of(unknown).replace("'", '"')


BLOCK = """
import torch.nn as nn
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Sequential({layer}, nn.Conv2d(3, 3, 1))
        self.right = nn.Conv2d(3, 3, 1)
    def forward(self, x):
        x = self.right(x)
        y = self.left(x)
        return y + {use}
"""


def test_the_first_layer_of_a_sequence_changes_its_input() -> None:
    text = text_of(BLOCK.format(layer="nn.ReLU(inplace=True)", use="self.right(x)"))
    assert "        x = self.left[0](x)\n        y = self.left(x)\n" in text


def test_a_layer_that_cannot_run_twice_is_run_apart() -> None:
    source = BLOCK.format(layer="nn.ELU(inplace=True)", use="self.right(x)")
    assert "y = parts.behind(self.left, x, 'ELU')\n" in text_of(source)
    assert "T2M305" not in codes_of(source)
    assert "T2M305" in codes_of(BLOCK.format(layer="nn.Hardswish(inplace=True)", use="self.right(x)"))


@pytest.mark.parametrize(("layer", "use"), [("nn.ReLU()", "self.right(x)"), ("nn.ReLU(inplace=True)", "1")])
def test_nothing_is_added_where_nobody_sees_a_change(layer: str, use: str) -> None:
    source = BLOCK.format(layer=layer, use=use)
    assert "self.left[0]" not in text_of(source)
    assert "T2M305" not in codes_of(source)


def test_layers_get_tuples_where_torch_takes_lists() -> None:
    text = text_of("import torch.nn as nn\nk = [i for i in (3, 3)]\na = nn.MaxPool2d(k, [2])\n")
    assert "nn.MaxPool2d(tuple(k), 2)" in text


def test_a_dtype_that_may_be_none_goes_to_a_layer_that_takes_it() -> None:
    source = "import torch, torch.nn as nn\ndef f(dtype=None):\n    return nn.Linear(3, 4, dtype=dtype)\n"
    assert "layers.Linear(3, 4, dtype=dtype)" in text_of(source)
    assert "nn.Dense(3, 4, dtype=ms.float16)" in text_of(
        "import torch, torch.nn as nn\na = nn.Linear(3, 4, dtype=torch.float16)\n"
    )


def test_layers_in_a_module_dict_are_known_by_name() -> None:
    source = (
        "import torch.nn as nn\n"
        "class Net(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.parts = nn.ModuleDict(dict(emb=nn.Embedding(3, 4), fc=nn.Linear(4, 3)))\n"
        "        self.parts.emb.weight = self.parts['fc'].weight\n"
    )
    assert "self.parts.emb.embedding_table = self.parts['fc'].weight" in text_of(source)


def test_a_weight_of_a_layer_of_any_class_is_asked_for() -> None:
    source = "import torch.nn as nn\ndef f(m: nn.Module):\n    return m.weight.sum()\n"
    assert "modules.weight(m).sum()" in text_of(source)
    assert "T2M206" in codes_of("import torch.nn as nn\ndef f(m: nn.Module, w):\n    m.weight = w\n")


def test_a_buffer_that_is_registered_twice_may_change() -> None:
    source = (
        "import torch, torch.nn as nn\n"
        "class Net(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.register_buffer('mask', None)\n"
        "    def fill(self):\n"
        "        self.register_buffer('mask', torch.ones(2))\n"
    )
    assert "self.register_buffer" not in text_of(source)


def test_a_class_in_a_table_takes_torchs_arguments() -> None:
    source = (
        "import torch.nn as nn\nNORMS = dict(bn=nn.BatchNorm2d)\ndef make(key, **kw):\n    return NORMS[key](**kw)\n"
    )
    assert "dict(bn=layers.BatchNorm2d)" in text_of(source)


def test_a_list_of_layers_is_made_of_any_number_of_arguments() -> None:
    source = (
        "import torch.nn as nn\n"
        "class All(nn.Module):\n"
        "    def __init__(self, *parts):\n"
        "        super().__init__()\n"
        "        self.parts = nn.ModuleList(parts)\n"
    )
    assert "nn.CellList(list(parts))" in text_of(source)


def test_a_normalization_gets_its_eps_as_a_float() -> None:
    assert "nn.BatchNorm2d(4, 1.0)" in text_of("import torch.nn as nn\nb = nn.BatchNorm2d(4, 1)\n")


def test_a_switch_of_a_layer_is_a_bool() -> None:
    assert "nn.Dense(3, 4, has_bias=True)" in text_of("import torch.nn as nn\nb = nn.Linear(3, 4, 1)\n")


@pytest.mark.parametrize(("last", "name"), [("nn.ReLU()", "nn.CellList"), ("None", "layers.ModuleList"),
                                            ("nn.ReLU() if flag else None", "layers.ModuleList")])  # fmt: skip
def test_a_list_of_layers_may_hold_none(last: str, name: str) -> None:
    assert f"{name}([nn.Dense(2, 2), " in text_of(
        f"import torch.nn as nn\nm = nn.ModuleList([nn.Linear(2, 2), {last}])\n"
    )


def test_default_of_the_parameters_own_name_is_read_outside() -> None:
    text = text_of("import torch.nn.functional as F\n\n\ndef f(x, F=F):\n    return F.relu(x)\n")
    assert "def f(x, F=ops):" in text


def test_a_module_handed_on_is_reported() -> None:
    source = (
        "import torch.nn.functional as F\n\n\nclass A:\n    def __init__(self, backend=F):\n        self.b = backend\n"
    )
    assert "T2M208" in codes_of(source)


def test_a_module_under_another_name_is_not() -> None:
    source = "import torch\n\nF = torch.nn.functional\ny = F.relu(torch.ones(2))\n"
    assert "T2M208" not in codes_of(source)
    assert "y = ops.relu(" in text_of(source)


def test_a_name_looked_up_in_an_alias_is_reported() -> None:
    source = "import torch\n\nF = torch.nn.functional\n\n\ndef act(n):\n    return getattr(F, n)\n"
    assert "T2M501" in codes_of(source)


def test_keys_named_like_classes_are_no_annotations() -> None:
    source = 'from torch.nn import Linear\n\nLAYERS = {"Linear": Linear}\n\n\ndef f(x: "Linear") -> None: ...\n'
    text = text_of(source)
    assert '{"Linear": Linear}' in text
    assert 'x: "Dense"' in text


@pytest.mark.parametrize(
    ("call", "made"),
    [
        ("nn.Module.__init__(self)", "nn.Cell.__init__(self)"),
        ("nn.Module.forward(self, x)", "nn.Cell.construct(self, x)"),
        ("nn.Module.train(self, mode)", "nn.Cell.set_train(self, mode)"),
        ("nn.Linear.__init__(self, 2, 2)", "layers.Linear.__init__(self, 2, 2)"),
        ("torch.Tensor.size(x, 0)", "x.shape[0]"),
        ("torch.Tensor.view(x + 1, -1)", "(x + 1).view(-1)"),
    ],
)
def test_methods_called_through_their_class(call: str, made: str) -> None:
    text = text_of(f"import torch\nfrom torch import nn\n\n\ndef f(self, x, mode):\n    return {call}\n")
    assert f"return {made}\n" in text


def test_a_method_that_calls_its_base_through_the_class_is_left() -> None:
    source = "from torch import nn\n\n\nclass A(nn.Module):\n    def parameters(self):\n"
    source += "        return nn.Module.parameters(self)\n"
    assert "T2M203" in codes_of(source)
    assert "torch.nn.Module.parameters(self)" in text_of(source)


def test_unbound_call_without_a_certain_first_argument_is_left() -> None:
    source = "import torch\n\n\ndef f(*a):\n    return torch.Tensor.size(*a)\n"
    assert "T2M203" in codes_of(source)


def test_imports_stand_before_a_fallback_that_needs_them() -> None:
    source = "try:\n    from apex import LN\nexcept ImportError:\n    from torch.nn import LayerNorm as LN\n"
    text = text_of(source + "import torch\n\nnorm = LN(4)\nx = torch.ones(2)\n")
    assert text.index("from torch2ms_runtime") < text.index("LN = layers.LayerNorm")


FREEZING = """import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm2d(4)

    def train(self, mode=True):
        super().train(mode)
        self.bn.eval()
        return self
"""


def test_train_overridden_is_set_train() -> None:
    text = text_of(FREEZING + "\n\nnet = Net()\nnet.train()\n")
    assert "class Net(t2m_mode.OwnMode, nn.Cell):" in text
    assert "def set_train(self, mode=True):\n        super().set_train(mode)\n        self.bn.set_train(False)" in text
    assert "net.set_train()" in text


def test_a_class_that_inherits_such_a_train_gets_no_second_base() -> None:
    text = text_of(
        FREEZING + "\n\nclass Sub(Net):\n    def train(self, mode=True):\n        return super().train(mode)\n"
    )
    assert "class Sub(Net):" in text
    assert text.count("OwnMode") == 1


def test_a_train_that_trains_is_the_projects_own() -> None:
    source = (
        "import torch.nn as nn\n\n\nclass Net(nn.Module):\n    def train(self, loader):\n        return len(loader)\n"
    )
    text = text_of(source + "\n\nNet().train([])\n")
    assert "def train(self, loader):" in text
    assert "Net().train([])" in text


MIXIN = """import torch.nn as nn


class Counts:
    def count(self):
        return sum(p.numel() for p in self.parameters())


class Net(Counts, nn.Module):
    pass
"""


def test_self_of_a_mixin_is_the_network() -> None:
    assert "for p in modules.parameters(self)" in text_of(MIXIN)


def test_a_mixin_of_other_classes_too_is_not() -> None:
    assert "for p in self.parameters()" in text_of(MIXIN + "\n\nclass Other(Counts):\n    pass\n")


def test_a_class_in_a_class_is_found_by_its_path() -> None:
    source = "import torch.nn as nn\n\n\nclass A:\n    class Norm(nn.Module):\n        def __init__(self):\n"
    source += "            super().__init__()\n            self.bn = nn.BatchNorm1d(4)\n\n\nw = A.Norm().bn.weight\n"
    assert "w = A.Norm().bn.gamma" in text_of(source)


def test_what_is_set_on_an_object_from_outside_is_known_in_the_scope() -> None:
    source = "import torch\n\n\ndef f(args):\n    args.x = torch.ones(2, 3)\n    return args.x.size(0)\n"
    assert "return args.x.shape[0]" in text_of(source)


def test_what_is_set_at_module_level_is_known_in_functions() -> None:
    source = "import torch\n\nargs = make()\nargs.x = torch.ones(2, 3)\n\n\ndef f():\n    return args.x.max(1)[0]\n"
    assert "T2M207" not in codes_of(source)


def test_a_weight_of_an_unknown_layer_is_found_where_it_is_used_as_a_parameter() -> None:
    source = (
        "import torch\n\n\ndef f(model, font):\n    model.head.bias.requires_grad = False\n    return font.weight\n"
    )
    assert "modules.bias(model.head).requires_grad = False" in text_of(source)
    assert "return font.weight" in text_of(source)


def test_what_is_set_on_another_object_of_that_name_is_not() -> None:
    source = "import torch\n\nargs = make()\nargs.x = torch.ones(2, 3)\n\n\ndef f(args):\n    return args.x.max(1)[0]\n"
    assert "T2M207" in codes_of(source)


FUNCTION = """import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class Round(Function):
    @staticmethod
    def forward(ctx, x, bits):
        ctx.save_for_backward(x)
        return torch.round(x)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g.clone() * x.size(0), None


quantize = Round.apply


def f(x):
    return quantize(x, 2).max(1)[0]
"""


def test_functions_with_their_own_gradient() -> None:
    text = text_of(FUNCTION)
    assert "class Round(Function):" in text
    assert "from torch2ms_runtime.functions import Function" in text
    assert "return ops.deepcopy(g) * x.shape[0], None" in text
    assert "once_differentiable" not in text
    assert not [code for code in codes_of(FUNCTION) if code in ("T2M201", "T2M207")]


def test_functions_with_their_own_gradient_need_a_recent_release() -> None:
    options = Options(target=Target(mindspore=(2, 0)))
    assert "T2M201" in [d.code for d in translate_source(FUNCTION, options=options).diagnostics]


def test_memory_formats_handed_on_are_none() -> None:
    text = text_of(
        "import torch\n\n\ndef f(x, fmt=torch.channels_last):\n    return g(x, memory_format=torch.preserve_format)\n"
    )
    assert "def f(x, fmt=None):" in text
    assert "g(x, memory_format=None)" in text
    assert "import torch" not in text


@pytest.mark.parametrize("call", ["x.new()", "x.new_zeros(size=(2, 3))"])
def test_odd_ways_to_make_a_tensor_cost_no_file(call: str) -> None:
    source = f"import torch\n\n\ndef f(x):\n    y = x.view(-1)\n    z = {call}\n    return y, z, torch.relu(x)\n"
    assert "T2M900" not in codes_of(source)
    assert "ops.relu(x)" in text_of(source)


def test_a_fault_in_one_call_leaves_the_rest_translated(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(site: object, ctx: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setitem(RECIPES, "size", fails)
    result = translate_source("import torch\n\n\ndef f(x: torch.Tensor):\n    return torch.relu(x), x.size(0)\n")
    assert [d.code for d in result.diagnostics] == ["T2M900"]
    assert "return ops.relu(x), x.size(0)" in result.text


def test_a_package_is_reported_once_a_file_and_never_in_itself() -> None:
    assert codes_of("import monai\nfrom monai.networks import nets\nimport torch\n").count("T2M307") == 1


@pytest.mark.parametrize("name", ["fc", 'f"fc{i}"'])
def test_own_layers_are_looked_up_as_they_are(name: str) -> None:
    source = (
        "import torch.nn as nn\n\n\nclass A(nn.Module):\n    def f(self, fc, i):\n        return getattr(self, NAME)\n"
    )
    assert f"getattr(self, {name})" in text_of(source.replace("NAME", name))


def test_members_of_layers_are_looked_up_under_either_name() -> None:
    source = "import torch.nn as nn\n\n\ndef f(name):\n    return getattr(nn.BatchNorm2d(3), name, None)\n"
    assert "modules.get(nn.BatchNorm2d(3), name, None)" in text_of(source)


def test_members_of_tensors_looked_up_are_reported() -> None:
    source = "import torch\n\n\ndef f(name):\n    return getattr(torch.ones(2), name)()\n"
    assert "T2M501" in codes_of(source)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("torch.eye(3).view(3, 3, 1, 1)", "ops.eye(3).view(3, 3, 1, 1).copy()"),
        ("w[:2]", "w[:2].copy()"),
        ("torch.randn(4, 3)", "ops.randn(4, 3)"),
        ("w", "w"),
    ],
)
def test_a_parameter_owns_its_memory(value: str, expected: str) -> None:
    """MindSpore refuses to assign to a parameter that is a view of another tensor."""
    head = "import torch\nfrom torch import nn\n\n\ndef f(w: torch.Tensor, layer: nn.Linear):\n"
    assert text_of(f"{head}    return nn.Parameter({value})\n").endswith(f"    return ms.Parameter({expected})\n")
    put = f"    weight_data.put(layer.weight, {expected})\n"
    assert text_of(f"{head}    layer.weight.data = {value}\n").endswith(put)


def test_autocast_kept_under_a_name_of_its_own() -> None:
    source = "import torch\nautocast = torch.cuda.amp.autocast\nwith autocast(enabled=False):\n    y = torch.ones(2)\n"
    assert "autocast = amp.autocast\nwith autocast(enabled=False):\n" in text_of(source)


PROPERTY = """import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.raw = nn.Parameter(torch.ones(4))

    @property
    def weight_(self):
        return self.raw.abs()

    @weight_.setter
    def weight_(self, value):
        self.raw.data.copy_(value)

    def length(self):
        return self.weight_.size(0), self.length.__name__
"""


def test_a_property_is_what_it_returns() -> None:
    assert "return self.weight_.shape[0], self.length.__name__" in text_of(PROPERTY)


@pytest.mark.parametrize("lines", ["c.real[0] = 3", "d = c.imag; d[1] = 7", "d = c.flatten(1); d[0] += 1"])
def test_writing_into_a_view_that_is_a_copy_is_reported(lines: str) -> None:
    source = f"import torch\n\n\ndef f(c: torch.Tensor):\n    {lines}\n    return c\n"
    assert "T2M305" in codes_of(source)


@pytest.mark.parametrize(
    "lines", ["c = c.flatten(1); c[0] = 1", "d = c.view(-1); d[0] = 1", "d = c.flatten(1) + 1; d[0] = 1"]
)
def test_writing_into_what_is_shared_or_new_is_not(lines: str) -> None:
    source = f"import torch\n\n\ndef f(c: torch.Tensor):\n    {lines}\n    return c\n"
    assert "T2M305" not in codes_of(source)


def test_parts_replaced_by_name_are_not_reported() -> None:
    source = "import torch.nn as nn\n\n\ndef convert(m):\n    for name, child in m.named_children():\n"
    source += "        if isinstance(child, nn.ReLU):\n            setattr(m, name, nn.SiLU())\n"
    assert "T2M501" not in codes_of(source)


DELEGATING = """import torch.nn as nn


class Wrap(nn.Module):
    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.model, name)
"""


def test_a_network_that_hands_names_on_does_not_ask_itself() -> None:
    text = text_of(DELEGATING)
    assert '            if name == "model":\n                raise AttributeError(name)\n            return' in text
    assert text_of(text) == text


def test_other_classes_hand_names_on_as_they_did() -> None:
    assert "raise" not in text_of(
        DELEGATING.replace("(nn.Module)", "").replace("import torch.nn as nn", "import torch")
    )
