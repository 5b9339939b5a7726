"""Scripts that show gradients of tensors first, and a training step behind them."""

from __future__ import annotations

from torch2ms import translate_source
from torch2ms.config import Options, Target

LEAVES = """import torch
from torch import nn
x = torch.tensor(1.0, requires_grad=True)
w = torch.tensor(2.0, requires_grad=True)
y = w * x
y.backward()
print(x.grad, w.grad)
"""
STEP = """x = torch.randn(10, 3)
net = nn.Linear(3, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
loss = net(x).mean()
loss.backward()
print(net.weight.grad)
optimizer.step()
"""


def marks(source: str) -> set[str]:
    return {d.code for d in translate_source(source).diagnostics if str(d.severity) == "error"}


def test_each_part_is_translated_for_itself() -> None:
    text = translate_source(LEAVES + STEP).text
    assert "y, (x_grad, w_grad) = ms.value_and_grad(forward_fn, (0, 1))(x, w)" in text
    assert "print(x_grad, w_grad)" in text
    assert "optimizer(grads)" in text
    assert marks(LEAVES + STEP) == set()


def test_more_than_one_part_may_come_first() -> None:
    again = LEAVES.replace("import torch\nfrom torch import nn\n", "")
    assert marks(LEAVES + again + STEP) == set()


def test_a_value_that_is_used_again_joins_the_parts() -> None:
    source = LEAVES + STEP.replace("net(x).mean()", "net(x).mean() * w")
    assert not marks(source)
    text = translate_source(source).text
    assert "w = ms.Parameter(ms.tensor(2.0))" in text
    assert "recording.backward(y)" in text
    assert "recording.backward(loss)" in text


LOOP = """net = nn.Linear(3, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for epoch in range(3):
    for _ in range(2):
        loss = net(torch.ones(4, 3)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def test_the_step_may_stand_in_a_loop() -> None:
    text = translate_source(LEAVES + LOOP).text
    assert "y, (x_grad, w_grad) = ms.value_and_grad(forward_fn, (0, 1))(x, w)" in text
    assert marks(LEAVES + LOOP) == set()


SECOND = """import torch
x = torch.tensor(0.0, requires_grad=True)
a = torch.tensor(1.0)
y = a * torch.pow(x, 2) - x
first = torch.autograd.grad(y, x, create_graph=True)[0]
print(first.data)
second = torch.autograd.grad(first, x)[0]
print(second.data)
"""
SEVERAL = """x1 = torch.tensor(1.0, requires_grad=True)
x2 = torch.tensor(2.0, requires_grad=True)
(d1, d2) = torch.autograd.grad(outputs=[x1 * x2, x1 + x2], inputs=[x1, x2])
print(d1, d2)
"""
MINIMUM = """x = torch.tensor(0.0, requires_grad=True)
a = torch.tensor(1.0)
optimizer = torch.optim.SGD(params=[x], lr=0.01)


def f(x):
    return a * torch.pow(x, 2) - x


for i in range(5):
    optimizer.zero_grad()
    y = f(x)
    y.backward()
    optimizer.step()
"""


def test_what_asks_for_second_derivatives_leaves_the_other_parts_their_records() -> None:
    source = LEAVES + SECOND + SEVERAL + MINIMUM
    assert marks(source) == set()
    text = translate_source(source).text
    assert "second = ms.grad(" in text
    assert "recording.grad(outputs=[x1 * x2, x1 + x2], inputs=[x1, x2])" in text
    assert "y, grads = grad_fn()\n    optimizer(grads)" in text


def test_a_function_that_reads_what_another_part_bound_joins_the_parts() -> None:
    joined = MINIMUM.replace("a = torch.tensor(1.0)\n", "")
    assert not marks(SECOND + joined)
    text = translate_source(SECOND + joined).text
    assert "first = higher.grad(y, x, create_graph=True)[0]\n" in text
    assert "second = recording.grad(first, x)[0]\n" in text
    assert translate_source(SECOND + joined, options=Options(target=Target(mindspore=(2, 8)))).diagnostics
