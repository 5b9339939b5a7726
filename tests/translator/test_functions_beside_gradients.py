"""Functions of the program's own around a gradient: their names are their own, and what they give is given again."""

from __future__ import annotations

import pytest

from torch2ms import translate_source
from torch2ms.config import Options, Target

TWICE = "\ng, = torch.autograd.grad(f(x), x, create_graph=True)\nh, = torch.autograd.grad(g @ x, x)\nprint(g, h)"
LEAF = "import torch\nx = torch.tensor([1.0, 2.0], requires_grad=True)\n"


def translated(source: str) -> str:
    return translate_source(LEAF + source + "\n").text


@pytest.mark.parametrize(
    "function",
    [
        "def f(a):\n    y = a * 2\n    y = y + 1\n    return y\n",
        "class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, i):\n        y = i ** 3\n"
        "        return y\n    @staticmethod\n    def backward(ctx, g):\n        x = g * 2\n        return x\n"
        "f = F.apply\n",
    ],
)
def test_variables_of_a_function_are_not_those_around_it(function: str) -> None:
    found = translated(function + "y = f(x)\n(y * 2).sum().backward()\nprint(y, x.grad)")
    assert ".backward(" not in found.replace("def backward(", "")
    assert "(_, y), x_grad = ms.value_and_grad(forward_fn, has_aux=True)(x)" in found


@pytest.mark.parametrize(
    "function", ["def f():\n    global y\n    y = x * 2\nf()\n", "y = x * 2\ndef f():\n    y.mul_(2)\nf()\n"]
)
def test_what_a_function_changes_outside_of_it_counts(function: str) -> None:
    assert "ms.grad(forward_fn" not in translated(function + "y.sum().backward()\nprint(x.grad)")


def test_what_is_no_tensor_is_returned_in_a_tuple() -> None:
    # MindSpore 2.10 counts the tensors and containers of what has_aux returns: one object alone is refused.
    found = translated(
        "from torch.distributions import Categorical\ndist = Categorical(logits=x)\n"
        "loss = -dist.log_prob(torch.tensor(1))\nloss.backward()\nprint(loss, x.grad, dist.probs)"
    )
    assert "return loss, (dist,)" in found
    assert "(loss, (dist,)), x_grad = ms.value_and_grad(forward_fn, has_aux=True)(x)" in found


@pytest.mark.parametrize("function", ["f = lambda t: (t ** 3).sum()", "def f(t):\n    y = t ** 3\n    return y.sum()"])
def test_a_gradient_of_a_gradient_of_a_function(function: str) -> None:
    found = translated(function + TWICE)
    assert "g, = higher.grad(f(x), x, create_graph=True)\nh, = recording.grad(g @ x, x)\n" in found
    older = translate_source(LEAF + function + TWICE, options=Options(target=Target(mindspore=(2, 8)))).text
    assert "torch.autograd" not in older
    assert "h = ms.grad(forward_fn_2)(x)" in older


@pytest.mark.parametrize(
    "function",
    [
        "def f(t):\n    return (t * torch.rand(2)).sum()",
        "seen = []\ndef f(t):\n    seen.append(t)\n    return (t ** 2).sum()",
        "net = torch.nn.Dropout()\ndef f(t):\n    return net(t).sum()",
    ],
)
def test_no_gradient_of_a_gradient_of_what_differs_each_time(function: str) -> None:
    """A function that runs twice would give another value; what is recorded runs once."""
    assert "g, = higher.grad(f(x), x, create_graph=True)" in translated(function + TWICE)
    older = Options(target=Target(mindspore=(2, 8)))
    assert "torch.autograd.grad(" in translate_source(LEAF + function + TWICE, options=older).text


CLIPPED = """import torch
net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Linear(2, 2))
PARAMS
opt = torch.optim.SGD(params, lr=0.1)
for data in [torch.ones(2, 3)]:
    opt.zero_grad()
    loss = net(data).pow(2).mean()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
"""


@pytest.mark.parametrize(
    "params",
    [
        "params = net[1].parameters()",
        "params = [p for n, p in net.named_parameters() if 'weight' in n]",
        "params = list(net.parameters())[2:]",
        "params = filter(lambda p: p.dim() > 1, net.parameters())",
    ],
)
def test_a_norm_of_more_than_is_trained(params: str) -> None:
    found = translate_source(CLIPPED.replace("PARAMS", params)).text
    assert "recording.clip_norm(modules.parameters(net), 1.0)" in found


@pytest.mark.parametrize(
    "params",
    [
        "params = net.parameters()",
        "params = [p for p in net.parameters() if p.requires_grad]",
        "params = [{'params': net[0].parameters()}, {'params': net[1].parameters(), 'lr': 0.2}]",
        "for p in net[0].parameters():\n    p.requires_grad = False\nparams = net[1].parameters()",
    ],
)
def test_a_norm_of_what_is_trained(params: str) -> None:
    assert "grads, _ = autograd.clip_grad_norm(grads, 1.0)" in translate_source(CLIPPED.replace("PARAMS", params)).text


def test_empty_places_that_are_made_together() -> None:
    found = translated(
        "v, i = torch.empty(0), torch.empty(0, dtype=torch.long)\ntorch.max(x, 0, out=(v, i))\nprint(v, i)"
    )
    assert "v, i = ops.max(x, 0)" in found


RECURRENT = """
import torch
from torch import nn


def train(net: nn.GRU, opt: torch.optim.Optimizer, data):
    def reset(h, mask):
        h[:, mask] = 0
        return h

    hidden = torch.zeros(1, 4, 3)
    for x, mask in data:
        opt.zero_grad()
        hidden = {state}
        out, hidden = net(x, hidden)
        loss = out.mean()
        loss.backward()
        opt.step()
"""


@pytest.mark.parametrize("state", ["reset(hidden, mask).detach()", "reset(hidden.detach(), mask)"])
def test_a_state_that_a_function_changes_in_place_is_no_part_of_the_step(state: str) -> None:
    """Where the gradient does not go through it: MindSpore refuses changed inputs of a gradient function."""
    text = translate_source(RECURRENT.format(state=state)).text
    assert "reset(" not in text.partition("def forward_fn")[2].partition("grad_fn = ")[0]
    assert "def forward_fn(hidden, x):" in text
