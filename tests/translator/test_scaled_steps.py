"""Steps of a gradient scaler: those with gradients that are not finite are left out."""

from __future__ import annotations

import textwrap

import pytest

from torch2ms import translate_source

HEAD = """\
import torch
from torch import nn

net = nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=8.0, enabled=True)
"""


def loop(body: str) -> str:
    return HEAD + "for x in [torch.ones(1, 2)]:\n" + textwrap.indent(textwrap.dedent(body), "    ")


def emitted(source: str) -> tuple[str, set[str]]:
    report = translate_source(source)
    return report.text[report.text.index("for x in") :], {item.code for item in report.diagnostics}


def test_a_step_is_given_its_gradients() -> None:
    text, codes = emitted(
        loop("""\
        opt.zero_grad()
        loss = net(x).pow(2).mean()
        scaler.scale(loss).backward()
        scaler.unscale_(opt)
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaler.step(opt)  # may be left out
        scaler.update()
        """)
    )
    assert text == textwrap.dedent("""\
        for x in [ops.ones((1, 2))]:
            loss, grads = grad_fn(x)
            scaler.unscale_(opt, grads)
            grads, _ = autograd.clip_grad_norm(grads, 1.0)
            scaler.step(opt, grads)  # may be left out
            scaler.update()
        """)
    assert codes == {"T2M401"}


def test_the_scaler_keeps_its_settings() -> None:
    text = translate_source(loop("scaler.update()\n")).text
    assert 'scaler = amp.GradScaler("cpu", init_scale=8.0, enabled=True)\n' in text


def test_gradients_that_build_up() -> None:
    text, _ = emitted(
        loop("""\
        loss = net(x).pow(2).mean()
        scaler.scale(loss).backward()
        if len(x) == 1:
            scaler.unscale_(opt)
            scaler.step(opt)
            scaler.update()
            opt.zero_grad()
        """)
    )
    assert text == textwrap.dedent("""\
        for x in [ops.ones((1, 2))]:
            loss, new_grads = grad_fn(x)
            grads = autograd.accumulate(grads, new_grads)
            if len(x) == 1:
                if grads is not None:
                    scaler.unscale_(opt, grads)
                if grads is not None:
                    scaler.step(opt, grads)
                scaler.update()
                grads = None
        """)


@pytest.mark.parametrize(
    ("source", "kept"),
    [
        ("opt.zero_grad()\nloss = net(x).sum()\nloss.backward()\nopt.step()\n", "opt(grads)"),
        ("scaler.update()\n", "scaler.update()"),
        ("print(scaler.get_scale())\n", "print(scaler.get_scale())"),
        ("y = scaler.scale(net(x))\n", "y = scaler.scale(net(x))"),
    ],
)
def test_what_is_no_scaled_step(source: str, kept: str) -> None:
    text, _ = emitted(loop(source))
    assert text.splitlines()[-1] == f"    {kept}"


def test_one_of_two_optimizers() -> None:
    head = HEAD + "other = nn.Linear(2, 1)\nopt_2 = torch.optim.SGD(other.parameters(), lr=0.1)\n"
    text, _ = emitted(
        loop("""\
        opt.zero_grad()
        opt_2.zero_grad()
        loss = (net(x) + other(x)).mean()
        scaler.scale(loss).backward()
        scaler.unscale_(opt_2)
        scaler.step(opt)
        scaler.step(opt_2)
        scaler.update()
        """).replace(HEAD, head)
    )
    assert text == textwrap.dedent("""\
        for x in [ops.ones((1, 2))]:
            loss, grads = grad_fn(x)
            scaler.unscale_(opt_2, grads[len(opt.parameters):])
            scaler.step(opt, grads[:len(opt.parameters)])
            scaler.step(opt_2, grads[len(opt.parameters):])
            scaler.update()
        """)
