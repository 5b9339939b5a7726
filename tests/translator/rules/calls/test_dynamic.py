"""Dynamic code: members by name, patches of torch's classes, strings, wrappers that go."""

from __future__ import annotations

import pytest

from torch2ms.config import Options, Target
from torch2ms.translator.pipeline import SourceResult, translate_source

HEAD = "import torch\nfrom torch import nn\nfrom torch.nn.parallel import DistributedDataParallel as DDP\n\n"


def translated(source: str) -> SourceResult:
    return translate_source(HEAD + source)


def codes(result: SourceResult) -> list[str]:
    return [d.code for d in result.diagnostics]


@pytest.mark.parametrize(
    "source",
    [
        "x = getattr(box, name)\n",
        "getattr(box, 'size')\n",
        "print(args.epochs)\nhasattr(args, 'weight')\n",
        "nn.Module.shout = lambda self: print(self)\n".replace("nn.Module", "Box"),
        "class Box:\n    weight = 3\n\nhasattr(Box(), 'weights')\n",
        "eval('1 + 2')\n",
        "print('see torch.org', 'torch', 'torch.nonsense.name')\n",
        "box.count += 1\n",
    ],
)
def test_what_stays(source: str) -> None:
    result = translated(source)
    assert source in result.text
    assert not codes(result)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("getattr(m, 'weight')", "getattr(m, 'gamma')"),
        ('hasattr(m, "running_mean")', 'hasattr(m, "moving_mean")'),
        ("getattr(u, 'weight', None)", "modules.get(u, 'weight', None)"),
        ("hasattr(u, 'bias')", "modules.has(u, 'bias')"),
        ("getattr(m, 'forward')", "getattr(m, 'construct')"),
        ("u.module.state_dict() if isinstance(u, nn.DataParallel) else u.state_dict()", "modules.state_dict(u)"),
        ("isinstance(u, (DDP, nn.Linear))", "isinstance(u, nn.Dense)"),
        ("isinstance(u, (DDP, nn.DataParallel))", "False"),
    ],
)
def test_names_in_literals(expression: str, expected: str) -> None:
    result = translated(f"def f(m: nn.BatchNorm2d, u):\n    return {expression}\n")
    assert f"return {expected}" in result.text.replace("states.state_dict(u)", "modules.state_dict(u)")


def test_a_wrapper_that_went_and_a_network_nobody_typed() -> None:
    wraps = "net = DDP(nn.Linear(2, 2))\n\ndef save(model):\n"
    assert "fc = getattr(model, 'module', model).fc" in translated(f"{wraps}    fc = model.module.fc\n").text
    guarded = "    fc = model.module if hasattr(model, 'module') else model\n"
    assert guarded in translated(wraps + guarded).text


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("nn.Conv2d.forward = f", "T2M505"),
        ("torch.load = f", "T2M505"),
        ("setattr(nn.Module, 'parameters', f)", "T2M505"),
        ("setattr(torch, name, f)", "T2M505"),
        ("eval('nn.' + name)", "T2M502"),
        ("exec(text)", "T2M502"),
        ("getattr(torch.ones(2), 'size')()", "T2M501"),
        ("dtype = {'a': 'torch.FloatTensor'}", "T2M503"),
        ("box.t += torch.ones(2)", "T2M305"),
        ("found = hasattr(torch, 'compile')", "T2M504"),
    ],
)
def test_what_is_said(statement: str, code: str) -> None:
    assert code in codes(translated(f"{statement}\n"))


def test_an_argument_of_torch_is_answered_for_by_its_row() -> None:
    result = translated("torch.set_default_tensor_type('torch.FloatTensor')\nx = torch.ones(2)\n")
    assert "T2M503" not in codes(result)
    assert result.text.splitlines()[-1] == "x = ops.ones(2)"


def test_layers_that_apply_visits() -> None:
    result = translated(
        "def init(m):\n    if hasattr(m, 'weight'):\n        m.weight.data.zero_()\n\nnet.apply(init)\n"
    )
    assert "if modules.has(m, 'weight'):" in result.text
    assert "modules.weight(m).set_data(" in result.text


def test_marks_of_an_earlier_translation_are_what_a_second_one_says() -> None:
    first = translated("x = torch.no_such_function(3)\ny = torch.ones(3)\n")
    second = translate_source(first.text)
    assert second.text == first.text
    assert [(d.code, d.line) for d in second.diagnostics] == [
        ("T2M202", first.text.split("\n").index("x = torch.no_such_function(3)") + 1)
    ]


@pytest.mark.parametrize("name", ["x.size", "x.std", "x.norm"])
def test_a_method_that_is_handed_on_uncalled(name: str) -> None:
    result = translated(f"def f(model: nn.Module, x: torch.Tensor):\n    made = {name}\n    return made\n")
    assert f"made = {name}\n" in result.text
    assert "T2M208" in codes(result)


def test_a_variable_is_a_tensor() -> None:
    result = translate_source("from torch.autograd import Variable\nx = isinstance(y, Variable)\n")
    assert "isinstance(y, Tensor)" in result.text
    assert not codes(result)


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("nn.init.normal_(net.weight[:2])", "net.weight[:2] = initializers.normal_(net.weight[:2])"),
        ("nn.init.normal_(net.weight.data[:2])", "net.weight[:2] = initializers.normal_(net.weight[:2])"),
        ("nn.init.normal_(net.weight.view(-1))", "initializers.normal_(net.weight.view(-1))"),
        ("w = net.weight.data\nnn.init.normal_(w)", "initializers.normal_(w)"),
        ("for part in net.weight.chunk(2):\n    nn.init.normal_(part)", "initializers.normal_(part)"),
    ],
)
def test_what_an_initializer_fills_is_what_the_program_means(statement: str, expected: str) -> None:
    result = translated(f"net = nn.Linear(4, 4)\n{statement}\n")
    assert expected in result.text
    assert not codes(result)


@pytest.mark.parametrize(
    "statement", ["nn.init.normal_(torch.flatten(net.weight, 1))", "nn.init.normal_(x.as_strided((2,), (1,)))"]
)
def test_an_initializer_of_a_copy_is_told(statement: str) -> None:
    assert "T2M305" in codes(translated(f"net = nn.Linear(4, 4)\nx: torch.Tensor = net.weight\n{statement}\n"))


def test_views_of_weights_are_copies_in_mindspore_2_0() -> None:
    source = "import torch.nn as nn\nnet = nn.Linear(4, 4)\nnn.init.normal_(net.weight.view(-1))\n"
    found = translate_source(source, options=Options(target=Target(mindspore=(2, 0)))).diagnostics
    assert "T2M305" in {diagnostic.code for diagnostic in found}


@pytest.mark.parametrize(
    "source",
    ["net.named_parameters()", "net.state_dict().items()", "zip(net.state_dict(), net.parameters())"],
)
@pytest.mark.parametrize("test", ["'bias' in name", "name.split('.')[-1] == 'weight'", "name.endswith('.weight')"])
def test_what_a_network_gives_has_the_names_of_pytorch(source: str, test: str) -> None:
    result = translated(f"def f(net):\n    for name, p in {source}:\n        if {test}:\n            print(name)\n")
    assert "T2M503" not in codes(result)
    assert "modules." in result.text or "states." in result.text


def test_weights_out_of_a_state_are_the_networks_own() -> None:
    body = "for key in net.state_dict():\n    nn.init.kaiming_normal_(net.state_dict()[key])\n"
    result = translated(f"net = nn.Linear(4, 4)\n{body}")
    assert "    initializers.kaiming_normal_(modules.state_dict(net)[key])\n" in result.text
    assert "T2M305" not in codes(result)


@pytest.mark.parametrize("test", ["'bias' in {'bias': 1}", "print('weight')", "x['bias'] == 3"])
def test_words_that_are_no_names_of_parameters(test: str) -> None:
    assert "T2M503" not in codes(translated(f"x = {{'bias': 3}}\ny = {test}\n"))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("act = getattr(nn, name)(**params)\n", "act = getattr(layers, name)(**params)\n"),
        ("act = getattr(nn.modules.activation, name)()\n", "act = getattr(layers, name)()\n"),
        ("act = vars(nn.modules.activation)[name]()\n", "act = vars(layers)[name]()\n"),
        ("act = vars(nn)[name]()\n", "act = vars(layers)[name]()\n"),
        ("act = nn.__dict__[name]()\n", "act = layers.__dict__[name]()\n"),
        ("act = getattr(torch.nn, 'GELU')()\n", "act = layers.GELU()\n"),
        ("conv = getattr(nn, f'Conv{rank}d', None)\n", "conv = getattr(layers, f'Conv{rank}d', None)\n"),
    ],
)
def test_layers_that_a_running_program_names_take_torchs_arguments(source: str, expected: str) -> None:
    result = translated(source)
    assert expected in result.text
    assert not codes(result)


def test_optimizers_and_datasets_by_name_have_the_arguments_of_pytorch() -> None:
    result = translated(
        "import torchvision.datasets as datasets\n"
        "optimizer = getattr(torch.optim, kind)(net.parameters(), lr=0.1)\n"
        "data = datasets.__dict__[name]('data')\n"
        "make(torch.optim)\n"
    )
    assert "getattr(optimizers, kind)(modules.parameters(net), lr=0.1)" in result.text
    assert "datasets.__dict__[name]('data')" in result.text
    assert "make(optimizers)" in result.text
    assert set(codes(result)) <= {"T2M301", "T2M501"}
    assert "# TORCH2MS" not in result.text


def test_the_module_of_summaries_is_imported_by_its_new_name() -> None:
    source = (
        "import importlib\n\nfor name in ['torch.utils.tensorboard', 'tensorboardX']:\n"
        "    writer = importlib.import_module(name).SummaryWriter('runs')\nprint(name == 'torch.utils.tensorboard')\n"
    )
    emitted = translate_source(source).text
    assert "for name in [events.__name__, 'tensorboardX']:" in emitted
    assert "import events" in emitted
    assert "print(name == 'torch.utils.tensorboard')" in emitted  # a comparison shows no import


def test_a_string_that_is_only_shown_stays() -> None:
    source = "import torch\n\nprint('torch.utils.tensorboard')\n"
    assert "print('torch.utils.tensorboard')" in translate_source(source).text


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("eval(name)", "eval(name, {**globals(), **locals(), 'nn': layers})"),
        ("eval('nn.' + name)(3, 4)", "eval('nn.' + name, {**globals(), **locals(), 'nn': layers})(3, 4)"),
        ("eval(name, space)", "eval(name, space)"),
        ("exec(name)", "exec(name)"),
    ],
)
def test_layers_that_a_running_program_names(call: str, expected: str) -> None:
    result = translated(f"def make(name, space):\n    return {call}\n")
    assert f"return {expected}" in result.text
    assert "T2M502" in codes(result)


def test_a_file_without_layers_evaluates_as_it_did() -> None:
    result = translate_source("import torch\n\n\ndef make(name):\n    return eval(name)\n")
    assert "return eval(name)\n" in result.text
    assert [d.code for d in result.diagnostics] == ["T2M502"]


ADDED = """import torch
from torch import nn


class Masked(nn.Module):
    def forward(self, x):
        return x


nn.{name} = Masked
net = nn.{name}()
parts = nn.Sequential(nn.{name}(), nn.ReLU())
y = net.{member}
"""


def test_a_class_that_a_program_adds_to_a_module_of_torch_is_its_own() -> None:
    report = translate_source(ADDED.format(name="Masked", member="state_dict()"))
    assert report.diagnostics == ()
    assert "nn.Masked = Masked\nnet = nn.Masked()\nparts = nn.SequentialCell(nn.Masked(), nn.ReLU())" in report.text


def test_a_class_of_torchs_that_a_program_replaces_is_reported() -> None:
    assert "T2M505" in [d.code for d in translate_source(ADDED.format(name="Linear", member="training")).diagnostics]


def test_functions_that_a_loop_looks_up_by_listed_names() -> None:
    source = "import torch\ndef f(x):\n    return [getattr(torch, name)(x) for name in ('relu', 'sigmoid')]\n"
    found = translate_source(source)
    assert '{"relu": ops.relu, "sigmoid": ops.sigmoid}[name](x)' in found.text
    assert not found.diagnostics
    other = translate_source(source.replace("('relu', 'sigmoid')", "names"))
    assert [d.code for d in other.diagnostics] == ["T2M501"]


NAMED = """import inspect
from inspect import getattr_static

import torch
from torch import nn


class Base(nn.Module):
    def __init_subclass__(cls, **words):
        super().__init_subclass__(**words)
        found = {found}

    def forward(self, x):
        return x


class Plain:
    def forward(self):
        return 1


def f(net: nn.Module, other):
    found = {elsewhere}
"""


@pytest.mark.parametrize(
    "lookup",
    [
        'getattr_static(cls, "forward")', 'inspect.getattr_static(cls, "forward", None)', '"forward" in cls.__dict__',
        '"forward" not in vars(cls)', '"forward" in dir(cls)', 'cls.__dict__["forward"]',
        'cls.__dict__.get("forward")', 'getattr(Base, "forward")', '"forward" in Base.__dict__',
    ],
)  # fmt: skip
def test_a_name_that_is_looked_up_among_a_networks_members_is_mindspores(lookup: str) -> None:
    expected = f"found = {lookup.replace('forward', 'construct')}\n"
    assert expected in translate_source(NAMED.replace("{found}", lookup)).text


@pytest.mark.parametrize(
    "lookup", ['"forward" in net.__class__.__dict__', '"forward" in type(net).__dict__', 'vars(type(net))["forward"]']
)
def test_so_is_one_among_those_of_its_class(lookup: str) -> None:
    expected = f"found = {lookup.replace('forward', 'construct')}\n"
    assert expected in translate_source(NAMED.replace("{elsewhere}", lookup)).text


@pytest.mark.parametrize(
    "lookup",
    [
        'getattr_static(Plain, "forward")', 'getattr(Plain, "forward")', '"forward" in Plain.__dict__',
        '"forward" in vars(other)', '"forward" in {"forward": 1}', 'other["forward"]', '"forward" == net',
        '"forwards" in net.__dict__', 'net.get("forward")',
    ],
)  # fmt: skip
def test_what_is_looked_up_elsewhere_stays(lookup: str) -> None:
    assert f"found = {lookup}\n" in translate_source(NAMED.replace("{elsewhere}", lookup)).text


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a = torch.jit.is_tracing\n", "a = lambda: False\n"),
        ("run(torch.compiler.is_compiling)\n", "run(lambda: False)\n"),
        ("run(test=torch.onnx.is_in_onnx_export)\n", "run(test=lambda: False)\n"),
        ("a = b or torch.jit.is_scripting\n", "a = b or (lambda: False)\n"),
        ('a = getattr(torch.compiler, "is_compiling", None)\n', "a = lambda: False\n"),
        ('a = getattr(torch.compiler, "is_exporting", None) or b\n', "a = (lambda: False) or b\n"),
        ("a = torch.jit.is_tracing()\n", "a = False\n"),
    ],
)
def test_a_function_that_always_answers_the_same_stays_a_function(source: str, expected: str) -> None:
    result = translated(source)
    assert expected in result.text
    assert not codes(result)


def test_a_module_that_is_looked_into_is_told_once() -> None:
    result = translated('a = getattr(torch.compiler, "nonsense", None)\n')
    assert 'getattr(torch.compiler, "nonsense", None)' in result.text
    assert codes(result) == ["T2M501"]
    assert "a = True\n" in translated('a = hasattr(torch.backends, "mps")\n').text
