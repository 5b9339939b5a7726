"""Gradients that a program asks for itself: what becomes a gradient of a function, and what stays and is marked."""

from __future__ import annotations

import pytest

from torch2ms import translate_source
from torch2ms.config import Options, Target
from torch2ms.diagnostics import Severity

LEAF = "x = torch.tensor([1.0, 2.0], requires_grad=True)\n"


def translated(source: str) -> str:
    text = translate_source(f"import torch\n{source}\n").text
    return text[text.index("x = ") :].rstrip() if "x = " in text else text


def test_backward_becomes_the_gradient_of_a_function() -> None:
    found = translated(LEAF + "y = x ** 2\nloss = y.sum()\nloss.backward()\nprint(x.grad)")
    assert found == (
        "x = ms.tensor([1.0, 2.0])\n\n\ndef forward_fn(x):\n    y = x ** 2\n    loss = y.sum()\n    return loss, y"
        "\n\n\n(loss, y), x_grad = ms.value_and_grad(forward_fn, has_aux=True)(x)\n"
        "print(functional.tensor_text(x_grad))"
    )


def test_what_is_read_afterwards_comes_back() -> None:
    found = translated(LEAF + "y = x ** 2\nloss = y.sum()\nloss.backward()\nprint(x.grad, loss, y)")
    assert "(loss, y), x_grad = ms.value_and_grad(forward_fn, has_aux=True)(x)" in found
    assert "return loss, y" in found


def test_gradients_build_up_until_they_are_set_to_zero() -> None:
    loop = LEAF + "for _ in range(3):\n    loss = (x * 2).sum()\n    loss.backward()\nprint(x.grad)"
    assert "x_grad = new_x_grad if x_grad is None else x_grad + new_x_grad" in translated(loop)
    cleared = LEAF + (
        "for _ in range(3):\n    loss = (x * 2).sum()\n    loss.backward()\n"
        "    with torch.no_grad():\n        x -= 0.1 * x.grad\n    x.grad.zero_()"
    )
    found = translated(cleared)
    assert "None" not in found
    assert "zero" not in found


def test_another_tensor_of_the_name_begins_without_a_gradient() -> None:
    steps = "y = (x * w).sum()\ny.backward()\n"
    first = LEAF + "w = torch.ones(2, requires_grad=True)\n" + steps
    again = translated(
        first + "x = torch.zeros(2, requires_grad=True)\nprint(x.grad)\n" + steps + "print(x.grad, w.grad)"
    )
    assert "print(None)" in again
    assert "y, (x_grad, new_w_grad) = ms.value_and_grad(" in again
    assert "w_grad = new_w_grad if w_grad is None else w_grad + new_w_grad" in again
    plain = translated(first + "x = torch.zeros(2)\n" + steps + "print(x.grad, w.grad)")
    assert "y, new_w_grad = ms.value_and_grad(forward_fn_2)(w)" in plain
    assert "print(None, functional.tensor_text(w_grad))" in plain


@pytest.mark.parametrize(
    "later",
    [
        "x = torch.zeros(2)\nx.requires_grad_()\n",
        "x = torch.zeros(2)\nx.requires_grad = True\n",
        "x = torch.zeros(2).requires_grad_()\n",
    ],
)
def test_another_tensor_that_is_marked_later_has_a_gradient(later: str) -> None:
    found = translated(LEAF + "(x * 2).sum().backward()\n" + later + "(x * 3).sum().backward()\nprint(x.grad)")
    assert found.endswith("print(functional.tensor_text(x_grad))")


def test_a_tensor_that_asks_for_no_gradient_has_none() -> None:
    found = translated(LEAF + "c = torch.ones(2, requires_grad=False)\n(x * c).sum().backward()\nprint(c.grad, x.grad)")
    assert found.endswith("print(None, functional.tensor_text(x_grad))")


def test_what_is_deleted_comes_back() -> None:
    found = translated(LEAF + "y = (x * 2).sum()\ny.backward()\ndel y\nprint(x.grad)")
    assert "y, x_grad = ms.value_and_grad(forward_fn)(x)\ndel y" in found


@pytest.mark.parametrize("reset", ["x.grad.zero_()", "x.grad.fill_(0)", "x.grad.data.fill_(value=0.0)"])
def test_gradients_filled_with_zeros(reset: str) -> None:
    loop = "for _ in range(3):\n    loss = (x * 2).sum()\n    loss.backward()\n    x.data -= 0.1 * x.grad\n"
    assert "grad if" not in translated(LEAF + loop + f"    {reset}")


def test_gradients_filled_with_other_numbers_are_marked() -> None:
    source = "import torch\n" + LEAF + "for _ in range(3):\n    (x * 2).sum().backward()\n    x.grad.fill_(1)\n"
    assert any(d.code == "T2M203" for d in translate_source(source).diagnostics)


def test_functions_beside_it_do_not_matter() -> None:
    inner = "def f():\n    a = torch.ones(1, requires_grad=True)\n    a.sum().backward()\n    return a.grad\n"
    found = translated(inner + LEAF + "(x * 2).sum().backward()\nprint(x.grad, f())")
    assert ".backward(" not in found
    assert found.endswith("print(functional.tensor_text(x_grad), functional.tensor_text(f()))")


def test_autograd_grad() -> None:
    one = translated(LEAF + "y = (x ** 2).sum()\ng = torch.autograd.grad(y, x)[0]")
    assert one.endswith("y, g = ms.value_and_grad(forward_fn)(x)")
    two = translated(LEAF + "w = torch.ones(2)\ng, h = torch.autograd.grad((x * w).sum(), (x, w))")
    assert two.endswith("g, h = ms.grad(forward_fn, (0, 1))(x, w)")


def test_a_product_with_a_vector() -> None:
    found = translated(LEAF + "y = x * 2\ny.backward(torch.ones(2))\nprint(x.grad)")
    assert "return (y * ops.ones(2)).sum()" in found


@pytest.mark.parametrize(
    "source",
    [
        LEAF + "x = x * 2\nx.sum().backward()\nprint(x.grad)",
        "def f(x):\n    loss = x.sum()\n    loss.backward()\n    return x.grad",
        LEAF + "for _ in range(2):\n    y = x * 2\n    y.retain_grad()\n    y.sum().backward()\n    print(y.grad)",
        LEAF + "y = f()\n(x * y).sum().backward()\nprint(x.grad, y.grad)",
        LEAF + "y = x.sum()\ny.backward(create_graph=True)\nprint(x.grad)",
    ],
)
def test_what_the_text_does_not_show_stays_and_is_marked(source: str) -> None:
    result = translate_source(f"import torch\n{source}\n")
    assert ".backward(" in result.text
    assert any(d.code in ("T2M402", "T2M404", "T2M201") for d in result.diagnostics)


def test_the_gradient_of_a_gradient() -> None:
    found = translated(
        LEAF + "y = (x ** 3).sum()\nd = torch.autograd.grad(y, x, create_graph=True)[0]\n"
        "e = torch.autograd.grad(d.sum(), x)[0]\nprint(d, e)"
    )
    assert found.endswith(
        "d = ms.grad(forward_fn)(x)\n    return d.sum()\n\n\ne = ms.grad(forward_fn_2)(x)\n"
        "# TORCH2MS T2M303: PyTorch also writes how a tensor has its gradient: "
        "tensor([1., 2.], grad_fn=<MulBackward0>)\n"
        "print(functional.tensor_text(d), functional.tensor_text(e))"
    )
    left = LEAF + "y = x.sum()\nd = torch.autograd.grad(y, x)[0]\ne = torch.autograd.grad(d.sum(), x)[0]"
    assert "recording.grad(d.sum(), x)" in translated(left)  # raises, as torch does


def test_a_tensor_that_nothing_depends_on_has_no_gradient() -> None:
    found = translated(LEAF + "y = torch.ones(2, requires_grad=True)\n(y * 2).sum().backward()\nprint(y.grad, x.grad)")
    assert found.endswith("print(functional.tensor_text(y_grad), None)")
    unasked = translated(LEAF + "y = torch.ones(2)\nz = x * y\nz.sum().backward()\nprint(x.grad, y.grad, z.grad)")
    assert unasked.endswith("print(functional.tensor_text(x_grad), None, None)")


def test_hooks_on_tensors_and_gradients_kept() -> None:
    found = translated(
        LEAF + "y = x * 2\nz = y.sum()\ny.retain_grad()\nx.register_hook(print)\nz.backward()\nprint(y.grad, x.grad)"
    )
    assert "    x.register_hook(print)\n    y = x * 2\n    y.register_hook(y_grads.append)\n    z = y.sum()\n" in found
    assert found.endswith("y_grad = y_grads[-1]\nprint(functional.tensor_text(y_grad), functional.tensor_text(x_grad))")


def test_a_tensor_beside_the_weights_of_a_network() -> None:
    found = translated(
        "net = torch.nn.Linear(2, 1)\n"
        + LEAF
        + "net(x).sum().backward()\nprint(x.grad, [p.grad for p in net.parameters()])"
    )
    assert "x_grad, grads = ms.grad(forward_fn, 0, net.trainable_params())(x)" in found


def test_gradients_in_a_function_are_constants_unless_a_graph_is_asked_for() -> None:
    source = (
        "import torch\n\n\ndef attack(net, loss_of, x, y):\n    x_adv = x.detach() + 0.1\n    for _ in range(3):\n"
        "        x_adv.requires_grad_()\n        with torch.enable_grad():\n            loss = loss_of(net(x_adv), y)\n"
        "        g = torch.autograd.grad(loss, [x_adv])[0]\n        x_adv = x_adv.detach() + g / g.norm()\n"
        "    return x_adv\n\n\ndef penalty(net, x):\n    x.requires_grad_(True)\n    out = net(x)\n"
        "    g = torch.autograd.grad(out, x, torch.ones_like(out), create_graph=True)[0]\n    return g.norm()\n"
    )
    text = translate_source(source).text
    assert "g = ops.stop_gradient(ms.grad(forward_fn)(x_adv))\n" in text
    assert "def penalty(net, x):\n    g = derivatives.by_input(net, x)\n" in text
    assert "TORCH2MS" not in text


def test_gradients_of_tensors_are_clipped() -> None:
    found = translated(LEAF + "(x * 2).sum().backward(); torch.nn.utils.clip_grad_norm_([x], 1.0)\ny = x.grad")
    assert found.endswith("(x_grad,), _ = autograd.clip_grad_norm((x_grad,), 1.0)\ny = x_grad")


def test_no_gradient_where_nothing_computes_any() -> None:
    assert translated(LEAF + "y = x.grad is None").endswith("y = None is None")
    assert "T2M201" in translated(LEAF + "def f(t):\n    return t.grad\n")


def test_autograd_grad_inside_of_an_expression() -> None:
    one = translated(LEAF + "g = torch.autograd.grad((x ** 2).sum(), x)[0].norm()")
    assert one.endswith("return (x ** 2).sum()\n\n\nx_grad = ms.grad(forward_fn)(x)\ng = functional.norm(x_grad)")
    two = translated(LEAF + "print(torch.autograd.grad(x.sum(), [x]), torch.autograd.grad((x * x).sum(), x)[0].shape)")
    assert "x_grad = (ms.grad(forward_fn)(x),)\nx_grads = ms.grad(forward_fn_2)(x)\n" in two
    assert two.endswith("print(functional.tensor_text(x_grad), x_grads.shape)")


def test_autograd_grad_in_a_returned_expression_is_cut_off() -> None:
    text = translated(
        "def f(x):\n    x = x.detach().requires_grad_(True)\n    y = (x ** 3).sum()\n"
        "    return y, torch.autograd.grad(y, x)[0].mean()"
    )
    assert text.endswith(
        "    y, x_grad = ms.value_and_grad(forward_fn)(x)\n    x_grad = ops.stop_gradient(x_grad)\n"
        "    return y, x_grad.mean()"
    )


@pytest.mark.parametrize(
    "expression",
    [
        "[torch.autograd.grad((x * i).sum(), x)[0] for i in range(2)]",
        "lambda: torch.autograd.grad(x.sum(), x)[0].norm()",
        "x.sum() > 0 and torch.autograd.grad(x.sum(), x)[0].norm()",
        "torch.autograd.grad(x.sum(), x)[0].norm() if len(x) else 0",
    ],
)
def test_autograd_grad_that_may_not_run_once_is_recorded(expression: str) -> None:
    text = translated(LEAF + f"g = {expression}")
    assert text.startswith("x = recording.leaf(ms.tensor([1.0, 2.0]))\n")
    assert "recording.grad(" in text
    assert "TORCH2MS" not in text


def test_what_is_written_into_a_view_belongs_to_the_forward_pass() -> None:
    text = translated(LEAF + "h = x * 2\nv = h[:1]\nv[0] = 0\nh.sum().backward()\nprint(x.grad)")
    assert "    h = x * 2\n    v = h[:1]\n    v[0] = 0\n    return h.sum(), h, v\n" in text
    text = translated(LEAF + "h = x * 2\nv = h.view(2, 1)\nv[0] = 0\nh.sum().backward()\nprint(x.grad)")
    assert "    # TORCH2MS T2M305: h.view(2, 1) shares its memory in torch and is a copy" in text


OLDER = Options(target=Target(mindspore=(2, 8)))


@pytest.mark.parametrize("made", ["s = (x ** 2).sum()\ny = s ** 2\n", "y = (x.norm() ** 3).sum()\n"])
def test_second_derivatives_through_what_loses_them_are_recorded(made: str) -> None:
    """MindSpore 2.8 and older have no such record: there they are reported."""
    twice = "d = torch.autograd.grad(y, x, create_graph=True)[0]\ne = torch.autograd.grad(d.sum(), x)[0]"
    found = translated(LEAF + made + twice)
    assert found.endswith("d = higher.grad(y, x, create_graph=True)[0]\ne = recording.grad(d.sum(), x)[0]")
    assert "T2M303" in translate_source(f"import torch\n{LEAF}{made}{twice}\n", options=OLDER).text


def test_second_derivatives_that_are_kept_are_those_of_functions() -> None:
    twice = "d = torch.autograd.grad(y, x, create_graph=True)[0]\ne = torch.autograd.grad(d.sum(), x)[0]"
    assert "T2M303" not in translated(LEAF + f"y = (x ** 3).sum()\n{twice}")
    assert "T2M303" not in translated(LEAF + "y = (x.sum() ** 2)\nd = torch.autograd.grad(y, x)[0]")
    assert "T2M303" in translated("h = torch.autograd.functional.hessian(lambda a: a.sum() ** 2, torch.ones(2))")


PENALTY = (
    "import torch\n\n\ndef penalty(net, x, y, alpha):\n    mixed = (alpha * x + y).requires_grad_(True)\n"
    "    out = net({})\n    w = torch.rand(4, 1)\n"
    "    g = torch.autograd.grad({}, create_graph=True)[0]\n    return g.norm()\n\n\n"
    "print(penalty(torch.nn.Linear(2, 1), torch.ones(3, 2), torch.ones(3, 2), 0.5))\n"
)


@pytest.mark.parametrize(
    ("given", "asked", "expected"),
    [
        ("mixed", "out, mixed, torch.ones_like(out)", "derivatives.by_input(net, mixed)"),
        ("mixed", "out.sum(), mixed", "derivatives.by_input(net, mixed)"),
        ("mixed", "outputs=out, inputs=mixed, grad_outputs=w", "derivatives.by_input(net, mixed, seed=w)"),
        ("mixed", "out, mixed, torch.ones(out.size()) if y.is_cuda else torch.ones(3, 1)", "by_input(net, mixed)"),
        ("y, mixed", "out.sum(), [mixed]", "derivatives.by_input(net, y, mixed, place=1)"),
    ],
)  # fmt: skip
def test_the_gradient_of_a_network_by_its_input_is_compiled_where_it_is_differentiated_again(
    given: str, asked: str, expected: str
) -> None:
    found = translate_source(PENALTY.format(given, asked))
    assert expected in found.text
    assert not [d for d in found.diagnostics if d.severity is not Severity.NOTE]


@pytest.mark.parametrize(
    ("given", "asked"),
    [("mixed", "(out ** 2).sum(), mixed"), ("mixed, k=2", "out.sum(), mixed"), ("mixed * 2", "out.sum(), mixed")],
)
def test_other_second_derivatives_through_networks_are_recorded(given: str, asked: str) -> None:
    """What a network does inside is not looked at: nearly all of them change a shape somewhere."""
    found = translate_source(PENALTY.format(given, asked))
    assert f"g = higher.grad({asked}, create_graph=True)[0]" in found.text
    assert "mixed = recording.leaf((alpha * x + y), True)" in found.text
    assert not [d for d in found.diagnostics if d.severity is not Severity.NOTE]
    text = translate_source(PENALTY.format(given, asked), options=OLDER).text
    assert "    # TORCH2MS T2M303: PyNative since MindSpore 2.7 forgets parts of second derivatives" in text
    once = translate_source(PENALTY.format(given, asked).replace(", create_graph=True", "")).text
    assert "T2M303" not in once


def test_views_are_copies_where_steps_are_recorded() -> None:
    text = translated(
        "net = torch.nn.Linear(2, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nlosses = []\n"
        "def play(x):\n    losses.append(net(x).sum())\n"
        "def learn():\n    opt.zero_grad()\n    loss = sum(losses)\n    loss.backward()\n    opt.step()\n"
        "t = torch.zeros(4)\nv = t.view(2, 2)\nv[0] = 1\nprint(t)"
    )
    assert "recording.backward(" in text
    assert "# TORCH2MS T2M305: t.view(2, 2) shares its memory in torch and is a copy" in text


ATTACK = """
def attack({given}):
    {head}
    output = model(x)
    {between}
    loss = output.sum()
    loss.backward()
    return {result}
"""


def _attack(
    given: str = "model, x", head: str = "x.requires_grad = True", between: str = "guess = output.max(1)[1]",
    result: str = "x.grad.sign(), guess",
) -> str:  # fmt: skip
    source = ATTACK.format(given=given, head=head, between=between, result=result)
    return translate_source(f"import torch\nfrom torch import nn\n{source}").text


def test_what_a_function_is_handed_has_a_gradient() -> None:
    """And what reads the prediction between it and the loss comes behind the gradient."""
    found = _attack()
    assert "(_, output), x_grad = ms.value_and_grad(forward_fn, has_aux=True)(x)" in found
    assert found.index("guess = ") > found.index("x_grad = ms.")


def test_what_only_says_that_a_gradient_is_wanted_goes_without_a_word() -> None:
    found = translate_source("import torch\n" + ATTACK.format(
        given="model, x", head="x.requires_grad = True", between="", result="x.grad.sign()"))  # fmt: skip
    assert "requires_grad" not in found.text
    assert not [d for d in found.diagnostics if d.severity is Severity.ERROR]


def test_what_a_loader_gives_has_a_gradient_in_each_round() -> None:
    loop = (
        "def attack(model, loader):\n    for x, y in loader:\n        x.requires_grad = True\n"
        "        loss = (model(x) * y).sum()\n        loss.backward()\n        print(x.grad.sign())\n"
    )
    found = translate_source(f"import torch\n{loop}").text
    assert "x_grad = ms.grad(forward_fn)(x)" in found
    assert "is None" not in found  # nothing builds up


def test_a_gradient_that_a_function_gives_back_is_a_constant() -> None:
    assert "x_grad = ops.stop_gradient(ms.grad(forward_fn)(x))" in _attack(between="", result="x + x.grad")
    assert "stop_gradient" not in _attack(between="", result="x + x.grad.sign()")


@pytest.mark.parametrize(
    "changed",
    [
        {"head": "pass"},  # nothing says that a gradient is wanted
        {"between": "guess = output.max()\n    x.mul_(2)"},
    ],
)
def test_gradients_of_what_is_handed_in_that_stay(changed: dict[str, str]) -> None:
    assert "loss.backward()" in _attack(**changed)


def test_what_is_asked_for_has_nothing_to_do_with_the_steps_of_its_function() -> None:
    """The step on the disturbance keeps its gradient; what ``autograd.grad`` gives is that of a function."""
    source = """
def robust_loss(model, x, y, optimizer, kind):
    adv = x.detach() + 0.01
    if kind == "inf":
        adv.requires_grad_()
        loss = F.cross_entropy(model(adv), y)
        grad = torch.autograd.grad(loss, [adv])[0]
        adv = adv.detach() + torch.sign(grad.detach())
    else:
        delta = torch.zeros_like(x).requires_grad_()
        inner = optim.SGD([delta], lr=0.1)
        loss = F.cross_entropy(model(x + delta), y)
        loss.backward()
        delta.grad.div_(2)
        inner.step()
    optimizer.zero_grad()
    return F.cross_entropy(model(adv), y)
"""
    result = translate_source("import torch\nimport torch.nn.functional as F\nimport torch.optim as optim\n" + source)
    assert "grad = ms.value_and_grad(forward_fn_2)(adv)" in result.text
    assert "optimizer.zero_grad()" not in result.text
    assert "ops.assign(gradients.of(delta), gradients.of(delta) / 2)\n        gradients.update(inner)" in result.text
    assert "TORCH2MS" not in result.text


@pytest.mark.parametrize(
    "source",
    [
        "h = x\nfor _ in range(2):\n    h = h * x\n    h.sum().backward(retain_graph=True)\nprint(x.grad)",
        "y = x * torch.rand(2)\nprint(y)\nz = y.sum()\nz.backward(retain_graph=True)\nw = y.sum() * 2\nw.backward()\n"
        "print(x.grad)",
    ],
)
def test_what_no_function_gives_is_recorded(source: str) -> None:
    result = translate_source(f"import torch\n{LEAF}{source}\n")
    assert "x = ms.Parameter(ms.tensor([1.0, 2.0]))" in result.text
    assert "recording.backward(" in result.text
    assert not any(d.severity >= Severity.ERROR for d in result.diagnostics)


def test_a_tensor_that_a_function_has_from_around_it_is_a_weight() -> None:
    found = translated(LEAF + "def f():\n    return x * 2\nloss = f().sum() + x.sum()\nloss.backward()\nprint(x.grad)")
    assert found.startswith("x = ms.Parameter(ms.tensor([1.0, 2.0]))")
    assert "recording.backward(loss)\nprint(functional.tensor_text(gradients.of(x)))" in found


@pytest.mark.parametrize(
    ("steps", "gradient"),
    [
        ("(x.detach() * b).sum().backward()", "b_grad = ms.grad(forward_fn)(b)"),
        (
            "y = x * 2\n(y.detach() * b).sum().backward()",
            "(_, y), b_grad = ms.value_and_grad(forward_fn, has_aux=True)(b)",
        ),
    ],
)
def test_what_is_detached_has_no_gradient(steps: str, gradient: str) -> None:
    found = translated(LEAF + f"b = torch.ones(2, requires_grad=True)\n{steps}\nprint(x.grad, b.grad)")
    assert f"{gradient}\nprint(None, functional.tensor_text(b_grad))" in found


@pytest.mark.parametrize("made", ["(x * 1.0).mul_(0.5)", "x.clone().add_(1)", "(-x).clamp_(min=0)"])
def test_a_new_tensor_that_is_changed_in_place_is_no_leaf(made: str) -> None:
    result = translate_source(
        f"import torch\nx = torch.ones(2, requires_grad=True)\ny = {made}\ny.sum().backward()\nprint(x.grad)\n"
    )
    assert "(_, y), x_grad = ms.value_and_grad(forward_fn, has_aux=True)(x)" in result.text


def test_the_variable_of_a_generator_is_none_of_the_function() -> None:
    source = (
        "import torch\nfrom torch import nn\nnet = nn.Linear(2, 2)\n"
        "total = sum(p.pow(2).sum() for p in net.parameters())\n"
        "loss = net(torch.ones(1, 2)).sum() + total\nloss.backward()\nout = [p.grad for p in net.parameters()]\n"
    )
    assert "    return loss, total\n" in translate_source(source).text


def test_a_graph_that_may_be_asked_for_is_not_lost() -> None:
    """``create_graph=self.training``: parts of the second derivative were lost without a word."""
    source = PENALTY.format("mixed * 2", "out.sum(), mixed").replace("create_graph=True", "create_graph=net.training")
    assert "g = higher.grad(out.sum(), mixed, create_graph=net.training)[0]" in translate_source(source).text
    assert "T2M303" in translate_source(source, options=OLDER).text


@pytest.mark.parametrize("by", ["x", "y"])
def test_one_tensor_with_two_names_has_one_gradient(by: str) -> None:
    found = translated(f"{LEAF}y = x\n({by} ** 2).sum().backward()\nprint(x.grad, y.grad)")
    assert "gradients.of(x)), functional.tensor_text(gradients.of(y))" in found
    assert "recording.backward(" in found
    alone = translated(f"{LEAF}y = x\n(x ** 2).sum().backward()\nprint(x.grad)")
    assert "x_grad = ms.grad(forward_fn)(x)" in alone


def test_what_is_marked_behind_a_backward_call_has_no_gradient_of_it() -> None:
    made = "w = torch.ones(2, requires_grad=True)\nx = torch.ones(2)\n"
    found = translated(
        f"{made}(x * w).sum().backward()\nx.requires_grad_()\n(x * w).sum().backward()\nprint(x.grad, w.grad)"
    )
    assert "x_grad = ms.grad" not in found.split("return (x * w).sum()")[1]
    net = "net = torch.nn.Linear(2, 1)\nx = torch.ones(2)\nnet(x).sum().backward()\n"
    found = translated(f"{net}print(x.grad)\nx.requires_grad_()\nnet(x).sum().backward()\nprint(x.grad)")
    assert "x = ms.Parameter(ops.ones(2), requires_grad=False)" in found
    found = translated(f"{net.replace('net(x).sum().backward()', 'pass')}x.requires_grad_()\nnet(x).sum().backward()\n")
    assert "requires_grad=False" not in found


@pytest.mark.parametrize("call", ["deepcopy(x)", "copy.deepcopy(x)"])
def test_a_deep_copy_of_a_leaf_is_another_leaf(call: str) -> None:
    source = (
        f"import copy\nfrom copy import deepcopy\n{LEAF}y = {call}\n(x + y).sum().backward()\nprint(x.grad, y.grad)"
    )
    found = translated(source)
    assert "y = ops.stop_gradient(x).copy()" in found
    assert "x_grad, y_grad = " in found
    plain = translated("from copy import deepcopy\nx = torch.ones(2)\ny = deepcopy(x)\nprint(y, y.requires_grad)")
    assert "y = x.copy()" in plain
