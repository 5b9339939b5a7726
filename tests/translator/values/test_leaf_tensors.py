"""Tensors that a program trains by hand, through a list of them: they become parameters, where they are such."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from torch2ms import translate_project, translate_source
from torch2ms.config import Options
from torch2ms.translator.values.leaf_tensors import hand_trained

HEAD = "import torch\n"
MADE = "w = torch.zeros(2, 1, requires_grad=True)\nb = torch.zeros(1).requires_grad_()\n"
SGD = (
    "def sgd(params, lr):\n    with torch.no_grad():\n        for p in params:\n"
    "            p -= lr * p.grad\n            p.grad.zero_()\n"
)
STEP = "for x in data:\n    loss = ((x @ w + b) ** 2).mean()\n    loss.backward()\n    sgd({list}, 0.1)\n"


def translated(source: str) -> str:
    return translate_source(HEAD + source).text


@pytest.mark.parametrize("weights", ["[w, b]", "(w, b)"])
def test_weights_in_a_list(weights: str) -> None:
    step = STEP.format(list=weights)
    found = translated(MADE + SGD + step + step.splitlines()[-1])
    assert "w = ms.Parameter(ops.zeros((2, 1)))\nb = ms.Parameter(ops.zeros(1))\n" in found
    assert "ops.assign(p, p - (lr * gradients.of(p)))" in found
    assert "ops.assign(gradients.of(p), ops.zeros_like(gradients.of(p)))" in found
    assert "recording.backward(loss)" in found
    assert set(re.findall(r"TORCH2MS (\w+)", found)) == {"T2M405"}


@pytest.mark.parametrize(
    "source",
    [
        MADE + STEP.format(list="[w, b]"),  # no loop of the file asks for a gradient
        MADE + "for p in data:\n    print(p.grad)\n",  # nothing lists them
        MADE.replace("requires_grad=True", "requires_grad=False").replace(".requires_grad_()", "")
        + SGD
        + STEP.format(list="[w, b]"),
        MADE + "w = b = None\n" + SGD + STEP.format(list="[w, b]"),  # another value comes in the place
    ],
)
def test_tensors_that_are_no_weights(source: str) -> None:
    assert "Parameter" not in translated(source)


def test_a_function_that_is_handed_a_list_or_a_tuple_knows_the_weights_in_it() -> None:
    found = translated(MADE + SGD + "sgd([w, b], 0.1)\nsgd((w, b), 0.1)\n")
    assert "ops.assign(p, p - (lr * gradients.of(p)))" in found
    assert "TORCH2MS" not in found


CLOSED = "w = torch.zeros(2, 1, requires_grad=True)\nb = torch.zeros(1, requires_grad=True)\n"


@pytest.mark.parametrize("model", ["def model(x):\n    return x @ w + b\n", "model = lambda x: x @ w + b\n"])
def test_weights_that_a_function_has_from_around_it(model: str) -> None:
    found = translated(
        CLOSED
        + model
        + "for x in data:\n    loss = (model(x) ** 2).mean()\n    loss.backward()\n    with torch.no_grad():\n"
        "        w -= 0.1 * w.grad\n        b -= 0.1 * b.grad\n        w.grad.zero_()\n        b.grad.zero_()\n"
    )
    assert "w = ms.Parameter(ops.zeros((2, 1)))\nb = ms.Parameter(ops.zeros(1))\n" in found
    assert "recording.backward(loss)" in found
    assert "ops.assign(b, b - (0.1 * gradients.of(b)))" in found
    assert set(re.findall(r"TORCH2MS (\w+)", found)) == {"T2M405"}


def test_tensors_that_functions_are_handed_stay_tensors() -> None:
    found = translated(
        CLOSED
        + "def model(x, w):\n    return x @ w\nloss = (model(x, w) + b).sum()\nloss.backward()\nprint(w.grad, b.grad)"
    )
    assert "Parameter" not in found
    assert "ms.value_and_grad(forward_fn, (0, 1))" in found


def test_weights_that_a_statement_marks_behind_their_making() -> None:
    found = translated(
        "w = torch.randn(2, 1) / 3\nw.requires_grad_()\nb = torch.zeros(1)\nb.requires_grad_()\n"
        "def model(x):\n    return x @ w + b\nloss = model(data).sum()\nloss.backward()\nprint(w.grad, b.grad)"
    )
    assert "w = ms.Parameter(ops.randn((2, 1)) / 3)\n" in found or "w = ms.Parameter(ops.randn(2, 1) / 3)\n" in found
    assert "b = ms.Parameter(ops.zeros(1))\n" in found
    assert "TORCH2MS" not in found


def test_weights_that_are_handed_to_the_function_that_trains_them() -> None:
    found = translated(
        "params = torch.tensor([1.0, 0.0], requires_grad=True)\ndef train(params, x):\n    for _ in range(3):\n"
        "        if params.grad is not None:\n            params.grad.zero_()\n        loss = (x * params).sum()\n"
        "        loss.backward()\n        with torch.no_grad():\n            params -= 0.1 * params.grad\n"
        "    return params\ntrain(params=params, x=torch.ones(2))"
    )
    assert found.count("ms.Parameter(") == 1
    assert "if gradients.of(params) is not None:" in found
    assert "ops.assign(params, params - (0.1 * gradients.of(params)))" in found


def test_one_record_answers_for_all_tensors_of_a_file() -> None:
    found = translated(
        "scale = torch.ones(3, requires_grad=True)\ndef f(x):\n    return x * scale\n"
        "x = torch.ones(3, requires_grad=True)\nf(x).sum().backward()\nprint(x.grad, scale.grad)"
    )
    assert found.count("ms.Parameter(") == 2
    assert "TORCH2MS" not in found


LOOPED = (
    "for p in parameters:\n    p.requires_grad = True\nfor step in range(3):\n    loss = ((data @ w + b) ** 2).mean()\n"
    "    for p in parameters:\n        p.grad = None\n    loss.backward()\n"
    "    for p in parameters:\n        p.data += -0.1 * p.grad\n"
)


@pytest.mark.parametrize(
    ("parameters", "marks"),
    [("w = torch.zeros(2, 1)\nb = torch.randn(1) * 0.1\nparameters = [w, b]\n", set()),
     ("parameters = []\nw = torch.zeros(2, 1)\nparameters.append(w)\nb = torch.randn(1) * 0.1\n"
      "parameters.append(b)\n", {"T2M405"})],
)  # fmt: skip
def test_weights_that_a_loop_over_a_list_marks(parameters: str, marks: set[str]) -> None:
    found = translated(parameters + LOOPED)
    assert "w = ms.Parameter(ops.zeros((2, 1)))\n" in found
    assert "b = ms.Parameter(ops.randn(1) * 0.1)\n" in found
    assert set(re.findall(r"TORCH2MS (\w+)", found)) == marks


MODEL = """
class Regression:
    def __init__(self):
        self.w = torch.zeros(2, requires_grad=True)
    def __call__(self, x):
        return x @ self.w
model = Regression()
for x in data:
    loss = (model(x) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        model.w -= 0.1 * model.w.grad
        model.w.grad.zero_()
"""


def test_weights_of_an_object_that_is_no_network() -> None:
    found = translated(MODEL)
    assert "self.w = ms.Parameter(ops.zeros(2))" in found
    assert "TORCH2MS" not in found


def test_a_file_whose_gradients_no_function_gives_is_translated_again_with_weights() -> None:
    found = translated(
        MODEL.replace(
            "        model.w -= 0.1 * model.w.grad\n        model.w.grad.zero_()\n",
            "        for p in model.all():\n            p -= 0.1 * p.grad\n            p.grad.zero_()\n",
        ).replace("    def __call__", "    def all(self):\n        return [self.w]\n    def __call__")
    )
    assert "self.w = ms.Parameter(ops.zeros(2))" in found
    assert "recording.backward(loss)" in found
    assert set(re.findall(r"TORCH2MS (\w+)", found)) == {"T2M405"}


def test_what_is_better_as_the_gradient_of_a_function_stays_that() -> None:
    found = translated("x = torch.ones(2, requires_grad=True)\n(x ** 2).sum().backward()\nprint(x.grad)")
    assert "Parameter" not in found
    assert "ms.grad(forward_fn)(x)" in found


def test_weights_on_the_memory_of_others_get_their_own() -> None:
    found = translated(
        "w = torch.linspace(-1, 1, 4).view(2, 2).requires_grad_()\ndef f(x):\n    return x @ w\n"
        "f(data).sum().backward()\nprint(w.grad)"
    )
    assert "w = ms.Parameter(ops.linspace(-1, 1, 4).view(2, 2).copy())\n" in found


def test_weights_that_objects_list_for_a_loop_that_marks_them() -> None:
    found = translated(
        "class Linear:\n    def __init__(self, n, bias=True):\n        self.weight = torch.ones(n) / n ** 0.5\n"
        "        self.bias = torch.zeros(1) if bias else None\n        self.mean = torch.zeros(1)\n"
        "    def __call__(self, x):\n        return x @ self.weight + self.bias\n"
        "    def parameters(self):\n        return [self.weight, self.bias]\nlayers = [Linear(2)]\n"
        "parameters = [p for layer in layers for p in layer.parameters()]\n"
        + LOOPED.replace("data @ w + b", "layers[0](data)")
    )
    assert "self.weight = ms.Parameter(ops.ones(n) / n ** 0.5)" in found
    assert "self.bias = ms.Parameter(ops.zeros(1)) if bias else None" in found
    assert "self.mean = ops.zeros(1)\n" in found
    assert "recording.backward(loss)" in found
    assert set(re.findall(r"TORCH2MS (\w+)", found)) == {"T2M405"}


@pytest.mark.parametrize(
    ("made", "is_weight"),
    [
        ("(0.5 * real + 0.5 * net(noise)).requires_grad_(True)", False),
        ("net(noise).requires_grad_()", False),
        ("real.clone().detach().requires_grad_(True)", True),
        ("real.data.clone().requires_grad_()", True),
        ("torch.zeros_like(real).requires_grad_()", True),
        ("torch.linspace(0, 1, 4).view(2, 2).requires_grad_()", True),
    ],
)
def test_what_hands_its_gradient_on_is_no_weight(made: str, is_weight: bool) -> None:
    tree = ast.parse(f"x = {made}")
    assert bool(hand_trained(tree, is_whole=True)) == is_weight


def test_a_list_of_weights_that_another_file_trains(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "tools.py").write_text(
        "import torch\ndef sgd(params, lr):\n    for param in params:\n        param.data -= lr * param.grad\n"
        "def fit(net, x, params, lr):\n    if params[0].grad is not None:\n        for param in params:\n"
        "            param.grad.data.zero_()\n    loss = net(x).sum()\n    loss.backward()\n    sgd(params, lr)\n"
    )
    (tmp_path / "src" / "main.py").write_text(
        "import torch\nimport tools\nw = torch.zeros(2, 1)\nb = torch.zeros(1)\nx = torch.ones(1, requires_grad=True)\n"
        "params = [w, b]\nfor param in params:\n    param.requires_grad_(requires_grad=True)\n"
        "tools.fit(lambda x: x @ w + b, torch.ones(3, 2), params, 0.1)\n"
    )
    report = translate_project(tmp_path / "src", tmp_path / "out", options=Options(cache=False))
    made = (tmp_path / "out" / "main.py").read_text()
    assert "w = ms.Parameter(ops.zeros((2, 1)))\nb = ms.Parameter(ops.zeros(1))\nx = ops.ones(1)\n" in made
    assert "recording.backward(loss)\n" in (tmp_path / "out" / "tools.py").read_text()
    assert not {d.code for d in report.diagnostics} & {"T2M402", "T2M403", "T2M404"}


@pytest.mark.parametrize(
    ("body", "is_weight"),
    [
        ("return Variable(torch.randn(n, 2) * 0.1, requires_grad=True)", True),
        ("return (torch.randn(n, 2) * 0.1).requires_grad_()", True),
        ("return torch.zeros(n)", False),
        ("if n:\n        return None\n    return torch.zeros(n, requires_grad=True)", False),
    ],
)
def test_weights_that_a_helper_makes(body: str, is_weight: bool) -> None:
    source = (
        f"def init(n):\n    {body}\nw, v = init(3), init(4)\nparams = [w] + [v]\n"
        "for p in params:\n    p.data -= 0.1 * p.grad.data\n"
    )
    assert bool(hand_trained(ast.parse(source))) == is_weight
