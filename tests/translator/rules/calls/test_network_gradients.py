"""Gradients of a network's output by its input, in a step or in a function that does not see the network."""

from __future__ import annotations

import textwrap

import pytest

from torch2ms import translate_source
from torch2ms.config import Options, Target
from torch2ms.diagnostics import Severity

HEAD = """
import torch
import torch.nn as nn
from torch import autograd


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)

    def forward(self, x):
        return self.fc(x)
"""
PENALTY = """

def penalty(out, x):
    g = autograd.grad(out.sum(), x, create_graph=True)[0]
    return g.pow(2).view(g.size(0), -1).sum(1).mean()
"""


def translated(body: str, version: tuple[int, int] = (2, 10)) -> tuple[str, list[str]]:
    """Return what a step becomes, and the codes of its errors and warnings."""
    options = Options(target=Target(mindspore=version))
    result = translate_source(HEAD + textwrap.dedent(body), options=options)
    return result.text, [found.code for found in result.diagnostics if found.severity > Severity.NOTE]


def test_a_function_that_is_handed_an_output_gets_the_gradient() -> None:
    text, codes = translated(
        PENALTY
        + """

def step(critic, optimizer: torch.optim.SGD, x):
    x.requires_grad_()
    out = critic(x)
    loss = out.mean() + penalty(out, x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    )
    assert "def penalty(out, x, *, input_gradient):" in text
    assert "g = input_gradient\n" in text
    assert "penalty(out, x, input_gradient=derivatives.by_input(critic, x))" in text
    assert "requires_grad" not in text
    assert not {"T2M201", "T2M207"} & set(codes)


def test_a_step_asks_for_one_of_several_outputs() -> None:
    text, codes = translated(
        """
        def step(net: nn.Module, optimizer: torch.optim.SGD, x, y):
            x.requires_grad = True
            _, out = net(y, x)
            grads = autograd.grad(outputs=out, inputs=x, grad_outputs=torch.ones_like(out), create_graph=True)
            loss = out.mean() + grads[0].pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """
    )
    assert "grads = (derivatives.by_input(net, y, x, place=1, output=1),)" in text
    assert "requires_grad" not in text
    assert "T2M201" not in codes


LEFT = {
    "what the output was computed from is another": """
        def step(critic: Critic, optimizer: torch.optim.SGD, x, y):
            out = critic(y)
            loss = out.mean() + penalty(out, x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """,
    "the input is another by then": """
        def step(critic: Critic, optimizer: torch.optim.SGD, x):
            out = critic(x)
            x = x + 1
            loss = out.mean() + penalty(out, x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """,
    "the output is one of two": """
        def step(critic: Critic, optimizer: torch.optim.SGD, x, flag):
            out = critic(x)
            if flag:
                out = out * 2
            loss = out.mean() + penalty(out, x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """,
    "the network is switched in between": """
        def step(critic: Critic, optimizer: torch.optim.SGD, x):
            out = critic(x)
            critic.eval()
            loss = out.mean() + penalty(out, x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """,
    "the output is computed on": """
        def step(critic: Critic, optimizer: torch.optim.SGD, x):
            out = critic(x) ** 2
            loss = out.mean() + penalty(out, x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """,
}


@pytest.mark.parametrize("name", LEFT)
def test_what_the_text_does_not_show_is_recorded(name: str) -> None:
    """As the program says it, since MindSpore 2.9; before, it is marked."""
    source = textwrap.dedent(PENALTY) + textwrap.dedent(LEFT[name])
    text, codes = translated(source)
    assert "    g = higher.grad(out.sum(), x, create_graph=True)[0]\n" in text
    assert "by_input(" not in text
    assert not codes
    text, codes = translated(source, (2, 8))
    assert "by_input(" not in text
    assert "T2M201" in codes


def test_a_function_that_binds_what_it_is_handed_is_left() -> None:
    source = """
        def penalty(out, x):
            x = x * 2
            g = autograd.grad(out.sum(), x, create_graph=True)[0]
            return g.pow(2).mean()
        """
    text, codes = translated(source, (2, 8))
    assert "input_gradient" not in text
    assert "T2M203" in codes
    assert "higher.grad(out.sum(), x, create_graph=True)" in translated(source)[0]


def test_a_function_that_others_may_call_is_to_be_looked_at() -> None:
    source = PENALTY + "\n\nclass Holder:\n    def __init__(self, p):\n        self.loss = p.penalty(1, 2)\n"
    assert "T2M303" in translated(source, (2, 8))[1]
    text, codes = translated(source)
    assert "def penalty(out, x):\n    g = higher.grad(" in text
    assert not codes
