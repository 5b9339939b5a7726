"""A network of torch is born in train mode, a Cell is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from torch2ms import translate_project, translate_source
from torch2ms.config import Options

HEAD = "import torch\nimport torch.nn as nn\n"
CLASS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x):
        return self.norm(x)
"""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("bn = nn.BatchNorm2d(3)", "bn = nn.BatchNorm2d(3).set_train()"),
        ("y = nn.Dropout(0.5)(x)", "y = nn.Dropout(p=0.5).set_train()(x)"),
        ("net = nn.Sequential(nn.Linear(4, 4), nn.Dropout())", ".set_train()"),
        (CLASS + "net = Net()", "net = Net().set_train()"),
        (CLASS + "net = Net().to('cpu')", "net = Net().set_train()"),
        (CLASS + "def build():\n    return Net()", "return Net().set_train()"),
        (CLASS + "def run(net):\n    return net(1)\n\n\nrun(Net())", "run(Net().set_train())"),
        (
            CLASS + "def run(net):\n    return net\n\n\nnet = run(Net())\nnet(1)\nnet.train(False)",
            "run(Net().set_train())",
        ),
        (
            CLASS + "def run(n):\n    return n(1)\n\n\nnet = Net()\nrun(net)\nnet.train()",
            "net = Net().set_train()",
        ),
        (
            "class A(nn.Module):\n    pass\n\n\ndef prepare(n):\n    for p in n.parameters():\n"
            "        p.requires_grad = True\n    return n\n\n\nother = prepare(A())\n\n\n"
            "def main(x):\n    net = prepare(nn.Sequential(nn.Linear(4, 4), nn.Dropout()))\n"
            "    return net(x), prepare(A())",
            "nn.Dropout(p=0.5)).set_train())",
        ),
        (CLASS + "nets = [Net() for _ in range(2)]", "nets = [Net().set_train() for _ in range(2)]"),
        (CLASS + "nets = nn.ModuleList([Net(), Net()])", "nets = nn.CellList([Net(), Net()]).set_train()"),
        (CLASS + "nets = []\nfor i in range(2):\n    nets.append(Net())", "nets.append(Net().set_train())"),
        (CLASS + "nets = nn.ModuleList()\nnets.append(nn.Dropout(0.5))", "nets.append(nn.Dropout(p=0.5).set_train())"),
        (CLASS + "nets = []\nnets += [Net()]\nnets[0](x)", "nets += [Net().set_train()]"),
        (
            CLASS + "class A:\n    def __init__(self):\n        self.n = []\n        self.n.append(Net())",
            "Net().set_train()",
        ),
        (CLASS + "net = nn.DataParallel(Net()).cuda()\nnet(x)", "net = Net().set_train()\n"),
        (CLASS + "def main(x):\n    net = torch.compile(Net())\n    return net(x)", "    net = Net().set_train()\n"),
        (CLASS + "    @classmethod\n    def build(cls):\n        return cls()", "return cls().set_train()"),
        (
            CLASS + "    @staticmethod\n    def make():\n        net = Net()\n        return net",
            "net = Net().set_train()",
        ),
        (
            CLASS + "    @classmethod\n    def build(cls):\n        n = cls()\n        return n\n\n\nn = Net.build()\n"
            "n(x)\nn.train()",
            "n = cls().set_train()",
        ),
        (
            "class Trainer:\n    def __init__(self, net):\n        self.net = net\n\n\n"
            "Trainer(nn.Sequential(nn.BatchNorm1d(4)))",
            "Trainer(nn.SequentialCell(nn.BatchNorm1d(4)).set_train())",
        ),
        (CLASS + "def some():\n    for _ in range(2):\n        yield Net()", "yield Net().set_train()"),
        (CLASS + "def main():\n    a, b = (Net() for _ in range(2))", "(Net().set_train() for _ in range(2))"),
        (CLASS + "def main():\n    return list(Net() for _ in range(2))", "list(Net().set_train() for _ in range(2))"),
        (CLASS + "a = Net().cuda()\nb = Net().cuda()\na.train()\nprint(a(x), b(x))", "b = Net().set_train()\n"),
    ],
)
def test_new_networks_train(source: str, expected: str) -> None:
    assert expected in translate_source(HEAD + source + "\n").text


LATER = """net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
def evaluate():
    net.eval()
    out = net(x)
    net.train()
    return out


"""
HOLDING = """class Trainer:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))

    def evaluate(self, x):
        self.net.eval()
        out = self.net(x)
        self.net.train()
        return out

    def run(self, x):
{}        return self.net(x), self.evaluate(x)
"""


@pytest.mark.parametrize(
    ("source", "trains"),
    [
        (LATER + "for _ in range(2):\n    net(x)\n    evaluate()", True),
        (LATER + "for i in range(2):\n    if i == 1:\n        evaluate()\n    net(x)", True),
        (LATER + "for _ in range(2):\n    evaluate()\n    net(x)", False),
        (HOLDING.format(""), True),
        (HOLDING.format("        self.net.train()\n"), False),
    ],
)
def test_a_mode_that_a_function_says_counts_from_its_call_on(source: str, trains: bool) -> None:
    """``net.train()`` at the end of an evaluation comes after the first step of training."""
    assert ("nn.BatchNorm1d(2)).set_train()" in translate_source(HEAD + source + "\n").text) is trains


PARTS = """
class Loss(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.9)).eval()


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = Loss()
        self.norm = nn.BatchNorm1d(4)
"""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def build(kind):\n    return kind()\n\n\nnet = build(Net)", "return kind().set_train()"),
        ("def build(cls, **kw):\n    net = cls(**kw)\n    return net\n\n\nnet = build(Net)", "cls(**kw).set_train()"),
        ("class Held:\n    def __init__(self, kind):\n        self.net = kind()\n\n\nHeld(Net)", "kind().set_train()"),
        ("class Held:\n    def __init__(self, kind=Net):\n        self.net = kind()\n\n\nHeld()", "kind().set_train()"),
        ("first = Net()\nother = type(first)()", "other = type(first)().set_train()"),
        ("first = Net()\nother = first.__class__()", "other = first.__class__().set_train()"),
        ("net = functools.partial(Net)()", "net = functools.partial(Net)().set_train()"),
        ("make = functools.partial(Net)\nnet = make()", "net = make().set_train()"),
        (PARTS + "\n\ndef build(kind):\n    return kind()\n\n\nbuild(Outer)", "return mode.trained(kind())"),
    ],
)
def test_networks_of_a_class_that_is_handed_on_train(source: str, expected: str) -> None:
    assert expected in translate_source(f"import functools\n{HEAD}{CLASS}{source}\n").text


@pytest.mark.parametrize(
    "source",
    [
        "def build(kind):\n    return kind()\n\n\nnet = build(Net)\nn = build(int)",  # what it makes may be no network
        "def build(kind):\n    return kind()\n\n\nnet = build(Net)\nnet.train()",
        "def build(kind):\n    kind = wrapped(kind)\n    return kind()\n\n\nnet = build(Net)",
        "def build(kind):\n    return nn.Sequential(*[kind() for _ in range(2)])\n\n\nnet = build(Net)\nnet.train()",
        "def build(kind):\n    return kind()",
        "make = functools.partial(int, 3)\nnumber = make()",
        "make = functools.partial(Net)\nmake = other\nnumber = make()",
        "class Held(nn.Module):\n    def __init__(self, kind):\n        super().__init__()\n"
        "        self.net = kind()\n\n\n"
        "net = Held(Net)\nnet.train()",
    ],
)
def test_what_may_be_no_network_or_is_a_part_stays(source: str) -> None:
    text = translate_source(f"import functools\n{HEAD}{CLASS}{source}\n").text
    assert "set_train()" not in text.replace("net.set_train()", "")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4).eval())", "net = mode.trained(nn.SequentialCell("),
        ("net = nn.Sequential(nn.Dropout(0.5), nn.BatchNorm1d(4).train(False))", "net = mode.trained("),
        (PARTS + "\n\nloss = Loss()", "loss = mode.trained(Loss())"),
        ("body = nn.BatchNorm1d(4)\nbody.eval()\nnet = nn.Sequential(body, nn.Dropout(0.5))", "net = mode.trained("),
        ("body = nn.Sequential(nn.Dropout(0.5)).eval()\nnet = nn.Sequential(body, nn.ReLU())", "net = mode.trained("),
        (
            "body = nn.BatchNorm1d(4)\nother = nn.Dropout(0.5)\nother.eval()\nnet = nn.Sequential(body, nn.ReLU())",
            ")).set_train()",
        ),
        ("body = nn.BatchNorm1d(4)\nnet = nn.Sequential(body, nn.ReLU())\nbody.eval()", ")).set_train()"),
        (PARTS + "\n\nnet = Outer()", "net = mode.trained(Outer())"),
        (PARTS + "\n\nclass Own(Outer):\n    pass\n\n\nnet = Own()", "net = mode.trained(Own())"),
        (PARTS + CLASS + "\n\nnet = Net()", "net = Net().set_train()"),
    ],
)
def test_parts_that_are_built_in_eval_mode_stay_so(source: str, expected: str) -> None:
    assert expected in translate_source(HEAD + source + "\n").text


@pytest.mark.parametrize(
    "source",
    [
        "fc = nn.Linear(3, 3)",
        "net = nn.BatchNorm2d(3).eval()",
        "net = nn.BatchNorm2d(3)\nnet.train()",
        "layers = [nn.BatchNorm2d(3)]",
        CLASS + "def run(net):\n    return net\n\n\nnet = run(Net())\nnet.train()\nnet(1)",
        CLASS + "def run(net):\n    net.train()\n    return net(1)\n\n\nnet = Net()\nrun(net)",
        CLASS + "nets = []\nnets.append(Net())\nfor net in nets:\n    net.train()",
        CLASS + "def build():\n    n = Net()\n    return n\n\n\nnet = build()\nnet.train()\nnet(x)",
        CLASS + "a = Net()\nnet = a\nfor net in (a,):\n    net.train()\na(x)",
        CLASS + "net = nn.DataParallel(Net()).cuda()\nnet.train()\nnet(x)",
        CLASS + "def build():\n    parts = []\n    parts.append(Net())\n    return nn.Sequential(*parts)",
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.parts = self.made()\n"
        "    @classmethod\n    def made(cls):\n        return nn.ModuleList([nn.Dropout(0.5)])",
        CLASS + "net = nn.Sequential(*(Net() for _ in range(2)))\nnet.train()",
        CLASS + "class Nets(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.nets = nn.ModuleList([Net()])\n        self.nets.append(Net())",
        "def parts():\n    layers = []\n    layers.append(nn.Dropout(0.5))\n    return layers",
        CLASS,
    ],
)
def test_nothing_is_added_where_it_cannot_matter(source: str) -> None:
    assert "set_train()" not in translate_source(HEAD + source + "\n").text.replace("net.set_train()", "")


def test_only_trained_weights_are_spoken_of() -> None:
    code = "import torchvision\na = torchvision.models.resnet18(weights=None)\nb = torchvision.models.resnet18({})\n"
    for argument, codes in (
        ("", []),
        ("pretrained=False", []),
        ("weights='DEFAULT'", ["T2M303"]),
        ("True", ["T2M303"]),
    ):
        assert [found.code for found in translate_source(code.format(argument)).diagnostics] == codes


def test_processes_share_no_parameters() -> None:
    code = "import torch\nnet = torch.nn.Linear(2, 3)\nnet.share_memory()\n"
    assert [found.code for found in translate_source(code).diagnostics] == ["T2M201"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("layers = [nn.BatchNorm1d(3), nn.Dropout(0.5)]\nfor layer in layers:\n    x = layer(x)", 2),
        ("parts = {'drop': nn.Dropout(0.5)}\ny = parts['drop'](x)", 1),
        ("make = lambda d: nn.BatchNorm1d(d)\nnorm = make(3)", 1),
        ("def make(kind):\n    return {'bn': lambda: nn.BatchNorm1d(3)}[kind]()\nnorm = make('bn')", 1),
        ("import copy\nnet = copy.deepcopy(nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)))", 1),
        ("for layer in [nn.Dropout(0.5)]:\n    x = layer(x)", 1),
    ],
)
def test_layers_that_are_taken_out_one_by_one_train(source: str, expected: int) -> None:
    assert translate_source(HEAD + source + "\n").text.count(".set_train()") == expected


@pytest.mark.parametrize(
    "source",
    [
        "layers = [nn.Linear(3, 3), nn.Dropout(0.5)]\nnet = nn.Sequential(*layers)\nnet.eval()",
        "norm = lambda d: nn.BatchNorm2d(d)\nnet = build(norm)",
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        make = lambda d: nn.BatchNorm2d(d)\n        self.a = make(3)",
    ],
)
def test_layers_that_become_parts_are_left(source: str) -> None:
    text = translate_source(HEAD + source + "\n").text
    assert "BatchNorm2d(d).set_train()" not in text
    assert "Dropout(p=0.5).set_train()" not in text


BODY = (
    "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.p = nn.Parameter(torch.ones(1))\n"
    "    def forward(self, x):\n        {body}\n"
)


@pytest.mark.parametrize(
    "body",
    [
        "return nn.Dropout(0.5)(x)",
        "drop = nn.Dropout(0.5)\n        return drop(x) + drop(x)",
    ],
)
def test_a_layer_that_a_method_makes_and_calls_trains(body: str) -> None:
    assert "nn.Dropout(p=0.5).set_train()" in translate_source(HEAD + BODY.format(body=body)).text


def test_a_layer_that_a_method_makes_and_keeps_is_a_part() -> None:
    body = "self.drop = nn.Dropout(0.5)\n        parts = [nn.Dropout(0.5)]\n        return self.drop(x)"
    assert "set_train" not in translate_source(HEAD + BODY.format(body=body)).text


def test_a_network_that_a_class_of_another_file_holds(tmp_path: Path) -> None:
    (tmp_path / "base.py").write_text(
        "import copy\nimport torch\n\n\nclass Client:\n    def __init__(self, args):\n"
        "        self.model = copy.deepcopy(args.model)\n"
        "        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)\n"
    )
    (tmp_path / "avg.py").write_text(
        "from base import Client\nimport torch\n\n\nclass Average(Client):\n    def train(self, x):\n"
        "        self.model.train()\n        return self.model(x), torch.ones(2)\n"
    )
    report = translate_project(tmp_path, tmp_path.parent / f"{tmp_path.name}_out")
    assert "self.model.set_train()" in (tmp_path.parent / f"{tmp_path.name}_out" / "avg.py").read_text()
    assert not [d for d in report.diagnostics if d.code == "T2M207"]


def test_what_a_function_of_another_file_builds_trains(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/nets.py").write_text(
        f"{HEAD}def make():\n    return nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))\n"
    )
    (tmp_path / "src/run.py").write_text("import torch\nfrom nets import make\nnet = make()\nprint(net(x))\n")
    translate_project(tmp_path / "src", tmp_path / "out", Options(cache=False))
    assert "net = make().set_train()" in (tmp_path / "out/run.py").read_text()


def test_a_network_that_was_loaded_is_known_by_its_use_though_it_gives_itself() -> None:
    source = HEAD + "net = torch.load('a.pt')\nnet = net.eval()\nnet = net.cuda()\nprint(net(x))\n"
    assert "net = net.set_train(False)\n" in translate_source(source).text
    assert "cuda" not in translate_source(source).text


def test_what_eval_gives_is_the_network_whatever_has_it() -> None:
    source = HEAD + "import copy\ndef f(model):\n    old = copy.deepcopy(model).eval()\n    return old\n"
    text = translate_source(source).text
    assert "old = copy.deepcopy(model).set_train(False)" in text


def test_eval_of_the_projects_own_objects_stays() -> None:
    own = "class Run:\n    def eval(self):\n        return 1\n\ndef f(run):\n    return run.eval()\n"
    assert "run.eval()" in translate_source(HEAD + own).text


FREEZING = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm2d(4)

    def train(self, mode=True):
        super().train(mode)
        self.bn.eval()
        return self


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()


"""


@pytest.mark.parametrize("name", ["Net", "Outer"])
def test_a_new_network_has_not_been_set_by_its_own_train(name: str) -> None:
    """PyTorch calls no ``train`` for it: its parts are in train mode until somebody does."""
    text = translate_source(f"{HEAD}{FREEZING}net = {name}()\nprint(net(x))\n").text
    assert f"net = t2m_mode.trained({name}())" in text


def test_wrapped_network_of_a_function_that_sets_eval_mode_keeps_it() -> None:
    text = (
        "from torch import nn\n"
        "def load():\n    net = nn.Sequential(nn.Dropout(0.5))\n    return net.eval()\n"
        "backbone = load()\n"
        "model = nn.Sequential(backbone, nn.Dropout(0.5))\n"
        "print(model)\n"
    )
    result = translate_source(text).text
    assert "mode.trained(nn.SequentialCell(backbone, nn.Dropout(p=0.5)))" in result
    assert "load().set_train()" not in result


def test_copy_before_train_is_made_in_train_mode() -> None:
    text = (
        "import copy\nfrom torch import nn\n"
        "net = nn.Sequential(nn.Dropout(0.5))\n"
        "twin = copy.deepcopy(net)\n"
        "net.train()\n"
    )
    assert "net = nn.SequentialCell(nn.Dropout(p=0.5)).set_train()" in translate_source(text).text
