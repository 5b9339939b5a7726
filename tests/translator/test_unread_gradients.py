"""Backward calls whose gradients nobody reads, leaves that take the name of what they come from, asked lists."""

from __future__ import annotations

import pytest

from torch2ms import translate_source
from torch2ms.diagnostics import Severity

HEAD = "import torch\nimport torch.nn as nn\n"
LEAF = "x = torch.randn(3, 5, requires_grad=True)\nt = torch.tensor([1, 0, 4])\ncriterion = nn.CrossEntropyLoss()\n"


def translated(source: str) -> tuple[str, list[str]]:
    result = translate_source(f"{HEAD}{source}\n")
    return result.text, [d.code for d in result.diagnostics if d.severity >= Severity.WARNING]


def test_a_loss_that_is_only_shown_is_differentiated_by_what_is_marked() -> None:
    text, codes = translated(LEAF + "output = criterion(x, t)\noutput.backward()\nprint(output)")
    assert "output, x_grad = ms.value_and_grad(forward_fn)(x)" in text
    assert not codes


def test_a_second_loss_of_the_same_name_adds_nothing_up() -> None:
    part = "output = criterion(x, t)\noutput.backward()\n"
    text, codes = translated(LEAF + part + "x = torch.randn(3, 5, requires_grad=True)\n" + part + "print(output)")
    assert text.count("output, x_grad = ms.value_and_grad(") == 2
    assert "new_x_grad" not in text
    assert not codes


def test_without_a_marked_tensor_it_is_the_one_network() -> None:
    source = "net = nn.Linear(5, 3)\nx = torch.randn(2, 5)\nout = net(x)\nt = torch.tensor([1, 2])\n"
    text, codes = translated(source + "net.zero_grad()\nloss = nn.CrossEntropyLoss()(out, t)\nloss.backward()\n")
    assert "(loss, out), grads = ms.value_and_grad(forward_fn, None, net.trainable_params(), has_aux=True)()" in text
    assert text.index("t = ms.tensor") < text.index("def forward_fn")
    assert not codes


@pytest.mark.parametrize(
    "rest",
    [
        "def step(optimizer):\n    optimizer.step()",  # somebody steps
        "def show(p):\n    print(p.grad)",  # somebody reads
        "from .training import finish",  # who knows what that does
    ],
)
def test_gradients_that_somebody_may_want_are_not_dropped(rest: str) -> None:
    source = "net = nn.Linear(5, 3)\nloss = net(torch.randn(2, 5)).sum()\nloss.backward()\n"
    text, codes = translated(source + rest)
    assert "recording.backward(loss)" in text
    assert "T2M402" not in codes


def test_several_networks_are_differentiated_by_together() -> None:
    source = "a = nn.Linear(5, 3)\nb = nn.Linear(3, 1)\nloss = b(a(torch.randn(2, 5))).sum()\nloss.backward()\n"
    text, codes = translated(source)
    assert "loss, grads = ms.value_and_grad(forward_fn, None, [*a.trainable_params(), *b.trainable_params()])()" in text
    assert not codes
    text, codes = translated(source.replace("b(a(", "b(nn.Linear(5, 3)("))  # a network without a name
    assert "recording.backward(loss)" in text
    assert codes == ["T2M405"]


def test_a_statement_between_is_left_in_front_when_nothing_before_it_reads_it() -> None:
    source = "w = torch.ones(2, requires_grad=True)\ny = w * 2\nk = torch.ones(2)\nz = (y * k).sum()\nz.backward()\n"
    text, _ = translated(source + "print(w.grad)")
    assert text.index("k = ops.ones(2)") < text.index("y = w * 2")
    text, codes = translated(source.replace("y = w * 2", "k = torch.zeros(2)\ny = w * k") + "print(w.grad)")
    assert "forward_fn" not in text
    assert "w = ms.Parameter(ops.ones(2))" in text
    assert "recording.backward(z)" in text
    assert codes == ["T2M405"]


@pytest.mark.parametrize("made", ["x.clone().requires_grad_(True)", "x.detach().requires_grad_()"])
def test_a_leaf_may_take_the_name_of_what_it_is_made_of(made: str) -> None:
    text, codes = translated(f"x = torch.tensor([1., 2.])\nx = {made}\n(x * 2).sum().backward()\nprint(x.grad)")
    assert "x_grad = ms.grad(forward_fn)(x)" in text
    assert not codes


def test_what_a_leaf_was_made_of_may_be_bound_anew() -> None:
    source = "p = torch.tensor([1., 2.])\nleaf = p.clone().requires_grad_(True)\np = leaf * 2\np.sum().backward()\n"
    text, codes = translated(source + "print(leaf.grad)")
    assert "    p = leaf * 2\n    return p.sum(), p\n" in text
    assert "(_, p), leaf_grad = ms.value_and_grad(forward_fn, has_aux=True)(leaf)" in text
    assert not codes


def test_a_computed_tensor_that_takes_a_leaf_s_name_has_no_gradient() -> None:
    source = "x = torch.tensor([1., 2.], requires_grad=True)\nx = x * 2\nx.sum().backward()\nprint(x.grad)"
    _, codes = translated(source)
    assert codes


def test_a_list_of_tensors_is_asked_for_one_by_one() -> None:
    source = "ws = [torch.ones(2, requires_grad=True), torch.tensor(0.5, requires_grad=True)]\n"
    text, codes = translated(source + "loss = (ws[0] * ws[1]).sum()\ngrads = torch.autograd.grad(loss, ws)\n")
    assert "def forward_fn(*ws):" in text
    assert "loss, grads = ms.value_and_grad(forward_fn, tuple(range(len(ws))))(*ws)" in text
    assert not codes


def test_unused_tensors_have_none_or_zeros() -> None:
    two = "x = torch.ones(2, requires_grad=True)\ny = torch.ones(2, requires_grad=True)\n"
    ask = "torch.autograd.grad((x ** 2).sum(), [x, y], {})"
    text, codes = translated(f"{two}g = {ask.format('allow_unused=True')}\n")
    assert "g = (g[0], None)" in text
    assert not codes
    text, codes = translated(f"{two}a, b = {ask.format('allow_unused=True')}\n")
    assert "\nb = None\n" in text
    text, codes = translated(f"{two}g = {ask.format('materialize_grads=True')}\n")
    assert "None" not in text
    text, _ = translated(f"{two}g = {ask.format('retain_graph=True')}\n")
    assert "recording.grad(" in text  # raises, as torch does


def test_a_frozen_weight_has_no_gradient() -> None:
    source = "net = nn.Linear(2, 2)\nnet.weight.requires_grad_(False)\nnet(torch.ones(1, 2)).sum().backward()\n"
    text, _ = translated(source + "print(net.weight.grad, net.bias.grad)")
    assert "print(functional.tensor_text(None), " in text or "print(None, " in text
    assert "ms.grad(forward_fn, None, [net.bias])()" in text
    thawed = source.replace("net(torch", "net.weight.requires_grad_(True)\nnet(torch")
    text, _ = translated(thawed + "print(net.weight.grad)")
    assert "[net.weight]" in text


TWICE = "x = torch.ones(2, requires_grad=True)\n(x * 2).sum().backward()\na = x.grad\n{}(x * 3).sum().backward()\n"


@pytest.mark.parametrize("made", ["x = torch.zeros(2, requires_grad=True)", "x = x.detach().requires_grad_()"])
def test_a_new_leaf_of_the_name_begins_without_a_gradient(made: str) -> None:
    text, codes = translated(TWICE.format(made + "\n") + "out = a, x.grad")
    assert "x_grad = ms.grad(forward_fn_2)(x)" in text
    assert "new_x_grad" not in text
    assert not codes
    text, _ = translated(TWICE.format("") + "out = a, x.grad")
    assert "x_grad + new_x_grad" in text


def test_the_gradient_of_a_new_leaf_is_none_before_it_is_computed() -> None:
    source = TWICE.format("x = torch.zeros(2, requires_grad=True)\nb = x.grad\n")
    text, codes = translated(source + "out = a, b, x.grad")
    assert "x = ops.zeros(2)\nb = None\n" in text
    assert "x_grad = ms.grad(forward_fn_2)(x)\nout = a, b, x_grad" in text
    assert not codes
    looped = (
        "for i in range(2):\n    x = torch.zeros(2, requires_grad=True)\n    b = x.grad\n    (x * 3).sum().backward()\n"
    )
    text, _ = translated(
        "x = torch.ones(2, requires_grad=True)\n(x * 2).sum().backward()\n" + looped + "out = b, x.grad"
    )
    assert "b = gradients.of(x)\n" in text


def test_a_new_network_of_the_name_begins_without_gradients() -> None:
    part = "net = nn.Linear(2, 1)\nnet(torch.ones(1, 2)).sum().backward()\nprint([p.grad for p in net.parameters()])\n"
    text, codes = translated(part * 2)
    assert "accumulate" not in text
    assert not codes
    text, _ = translated(part + part.partition("\n")[2])
    assert "accumulate" in text


def test_a_loop_may_make_its_leaf_anew_each_time() -> None:
    source = (
        "x = torch.tensor([1., 2.])\nfor _ in range(3):\n    x = x.detach().requires_grad_(True)\n"
        "    loss = (x ** 2).sum()\n    loss.backward()\n    x = x + 0.1 * x.grad.sign()\n"
    )
    text, codes = translated(source)
    assert "    loss, x_grad = ms.value_and_grad(forward_fn)(x)\n    x = x + 0.1 * x_grad.sign()\n" in text
    assert not codes
    assert translated(source + "    print(x.grad)\n")[1]  # what x is there has none
    assert translated(source.replace("    x = x.detach().requires_grad_(True)\n", ""))[1]


ASKED = "l_t = torch.FloatTensor(4, 2).uniform_(-1, 1)\nl_t.requires_grad = True\n"


def test_a_gradient_that_nothing_looks_at_may_be_asked_for() -> None:
    text, codes = translated(ASKED)
    assert "l_t.requires_grad = True" in text
    assert not codes
    assert "T2M203" in translated(ASKED + "def f(h):\n    return h.grad\n")[1]
