"""Training steps as functions, as exact text: meters, sums, names of modules, batches, gradients of inputs."""

from __future__ import annotations

from pathlib import Path

from torch2ms import translate_project, translate_source

METER = """
class Meter:
    def __init__(self):
        self.val = self.sum = self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
"""
BUFFER = """
import numpy as np
import torch


class Buffer:
    def __init__(self, n):
        self.states = np.zeros((n, 3), dtype=np.float32)
        self.stored = []

    def sample(self, n):
        ind = np.random.randint(0, 5, size=n)
        return torch.FloatTensor(self.states[ind])

    def kept(self):
        return torch.stack(self.stored)
"""


def emitted(source: str, start: str) -> str:
    """Return what a text becomes, from a word on, without the last newline."""
    text = translate_source(source).text
    return text[text.index(start) :].rstrip("\n")


def test_a_meter_stands_behind_the_gradient_call() -> None:
    source = f"""import torch
{METER}

def train(loader, model, criterion, optimizer):
    losses = Meter()
    for images, target in loader:
        output = model(images)
        loss = criterion(output, target)
        losses.update(loss.item(), images.size(0))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
    assert (
        emitted(source, "def train")
        == """def train(loader, model, criterion, optimizer):
    losses = Meter()

    def forward_fn(images, target):
        output = model(images)
        loss = criterion(output, target)
        return loss

    grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters)

    for images, target in loader:
        loss, grads = grad_fn(images, target)
        losses.update(loss.item(), images.shape[0])
        optimizer(grads)"""
    )


def test_what_a_sum_begins_as_is_made_in_the_function() -> None:
    source = """import torch


def train(model, f, optimizer, x, n):
    history = torch.zeros(n)
    for i in range(n):
        optimizer.zero_grad()
        loss = torch.zeros(1)
        loss += f(model, x)
        loss += model.reg()
        loss.backward()
        optimizer.step()
        history[i] = loss
    return history
"""
    assert (
        emitted(source, "def train")
        == """def train(model, f, optimizer, x, n):
    history = ops.zeros(n)

    def forward_fn():
        loss = ops.zeros(1)
        loss += f(model, x)
        loss += model.reg()
        return loss

    grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters)

    for i in range(n):
        loss, grads = grad_fn()
        optimizer(grads)
        history[i] = loss
    return history"""
    )


def test_what_a_sum_begins_as_stays_where_something_reads_it() -> None:
    source = """import torch


def train(model, f, optimizer, xs):
    for x in xs:
        loss = torch.zeros(1)
        print(loss)
        loss += f(model(x))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
    text = emitted(source, "def train")
    assert "        loss = ops.zeros(1)\n        print(loss)\n" in text
    assert "loss = ops.zeros(1)" not in text.partition("def forward_fn")[2].partition("grad_fn = ")[0]


def test_a_number_that_becomes_a_tensor_is_not_written_into() -> None:
    source = """from torch import nn


def total(outputs, targets):
    criterion = nn.L1Loss()
    terms, kept = [], []
    for round in range(2):
        loss = 0
        for output, target in zip(outputs, targets):
            loss += criterion(output, target)
        kept.append(loss)
    return kept
"""
    text = emitted(source, "def total")
    assert "            loss += criterion(output, target)\n" in text
    assert "TORCH2MS" not in text


def test_names_of_a_module_come_back_from_the_function() -> None:
    source = """import torch
from torch import nn

net = nn.Linear(2, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.ones(3, 2)
for _ in range(3):
    hidden = net(x)
    out = hidden.relu()
    opt.zero_grad()
    out.sum().backward()
    opt.step()
"""
    assert (
        emitted(source, "def forward_fn")
        == """def forward_fn():
    hidden = net(x)
    out = ops.relu(hidden)
    return out.sum(), hidden, out


grad_fn = ms.value_and_grad(forward_fn, None, opt.parameters, has_aux=True)

for _ in range(3):
    (loss, hidden, out), grads = grad_fn()
    opt(grads)"""
    )


def test_the_gradient_of_an_input_is_computed_with_those_of_the_weights() -> None:
    source = """import torch


def step(model, opt, images):
    x = images.clone().detach().requires_grad_(True)
    opt.zero_grad()
    loss = model(x).sum()
    loss.backward()
    opt.step()
    return x.grad
"""
    assert (
        emitted(source, "    gradients.reset")
        == """    gradients.reset(opt)

    def forward_fn():
        loss = model(x).sum()
        return loss

    grad_fn = ms.value_and_grad(forward_fn, None, [*opt.parameters, x])
    loss, grads = grad_fn()
    gradients.keep([*opt.parameters, x], grads)
    gradients.update(opt)
    return gradients.of(x)"""
    )


def test_gradients_of_gradients_are_all_asked_of_the_record() -> None:
    source = """import torch


def residual(model, x):
    u = model(x)
    u_x = torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)[0]
    u_xx = torch.autograd.grad(u_x, x, torch.ones_like(u_x), create_graph=True)[0]
    return u_xx + u
"""
    assert (
        emitted(source, "def residual")
        == """def residual(model, x):
    recording.start()
    u = model(x)
    u_x = higher.grad(u, x, ops.ones_like(u), create_graph=True)[0]
    u_xx = higher.grad(u_x, x, ops.ones_like(u_x), create_graph=True)[0]
    return u_xx + u"""
    )


def test_one_gradient_of_a_network_is_compiled() -> None:
    source = """import torch


def penalty(model, x):
    u = model(x)
    u_x = torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)[0]
    return (u_x.norm(2, dim=1) - 1).pow(2).mean()
"""
    assert "    u_x = derivatives.by_input(model, x)\n" in emitted(source, "def penalty")


def of_buffer(tmp_path: Path, method: str) -> str:
    """Return the training function of a file that takes its batches from a buffer of another one."""
    source = tmp_path / "src"
    source.mkdir()
    (source / "buffers.py").write_text(BUFFER)
    (source / "main.py").write_text(f"""import torch
from buffers import Buffer


def train(net, optimizer, steps):
    buffer = Buffer(8)
    for i in range(steps):
        batch = buffer.{method}
        if i % 2 == 0:
            loss = net(batch).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
""")
    translate_project(source, tmp_path / "out")
    text = (tmp_path / "out" / "main.py").read_text()
    return text[text.index("def train") :].rstrip("\n")


def test_a_batch_of_another_files_buffer_is_data(tmp_path: Path) -> None:
    assert (
        of_buffer(tmp_path, "sample(4)")
        == """def train(net, optimizer, steps):
    buffer = Buffer(8)

    def forward_fn(batch):
        loss = net(batch).mean()
        return loss

    grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters)

    for i in range(steps):
        batch = buffer.sample(4)
        if i % 2 == 0:
            loss, grads = grad_fn(batch)
            optimizer(grads)"""
    )


def test_what_a_buffer_has_stored_may_carry_gradients(tmp_path: Path) -> None:
    text = of_buffer(tmp_path, "kept()")
    assert "recording.backward(loss)" in text
    assert "forward_fn" not in text


def test_a_value_that_two_backward_calls_go_through_is_data() -> None:
    source = """import torch


def train(source, critic, actor, critic_opt, actor_opt):
    state = source.draw()
    critic_loss = critic(state).pow(2).mean()
    critic_opt.zero_grad()
    critic_loss.backward({})
    critic_opt.step()
    actor_loss = -critic(actor(state)).mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
"""
    text = emitted(source.format(""), "def train")
    assert "    state = source.draw()\n\n    def forward_fn_critic" in text
    assert "recording" not in text
    kept = emitted(source.format("retain_graph=True"), "def train")
    assert "state = source.draw()\n\n    def forward_fn_critic" not in kept
