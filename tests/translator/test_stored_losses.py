"""Losses that are stored into containers and objects under one name, and read under another.

What stores them belongs to the function that is differentiated; where no function holds it, the step is recorded. A
gradient that lacks these losses would be wrong without a word: another part of the loss still has one.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from torch2ms import translate_project, translate_source

HEAD = """
import torch
from torch import nn

net, other = nn.Linear(4, 3), nn.Linear(4, 3)
opt = torch.optim.SGD([*net.parameters(), *other.parameters()], lr=0.1)
crit = nn.CrossEntropyLoss()


class State:
    def __init__(self, x=None, y=None):
        self.x, self.y, self.loss = x, y, None

    def keep(self, value):
        self.loss = value
        return len(value.shape)

    def run(self, net):
        self.loss = crit(net(self.x), self.y)
        return 1


def evaluate(env):
    env["l"] = crit(net(env["x"]), env["y"])
    return 1


def slot(name):
    return store[name]


def hook(module, inputs, output):
    store["out"] = output


def kept(value, into={}):
    into["l"] = value


def keep(value, *, into=first):
    into["l"] = value


def apart():
    store["l"] = crit(net(x), y)


x, y = torch.rand(6, 4), torch.randint(0, 3, (6,))
first, second, store = {}, {}, {"a": {}, "b": {}}
envs = [{"x": x, "y": y}, {"x": x, "y": y}]
states = [State(x, y), State(x, y)]
state, runner = State(), State()
runner.x = state
net.register_forward_hook(hook)
"""
STEP = """
    for w in net.parameters():
        reg = reg + w.norm()
    opt.zero_grad()
    loss = {loss} + reg
    loss.backward()
    opt.step()
"""


def steps(before: str, loss: str) -> str:
    """Return the text of a loop in which only ``before`` computes the loss that is read."""
    body = textwrap.indent(textwrap.dedent(before).strip("\n"), "    ")
    return f"{HEAD}for step in range(3):\n    reg = torch.tensor(0.0)\n{body}{STEP.format(loss=loss)}"


@pytest.mark.parametrize(
    ("before", "loss"),
    [
        ('for env in envs:\n    env["l"] = crit(net(env["x"]), env["y"])', 'envs[0]["l"]'),
        (
            'for env in envs:\n    env["l"] = crit(net(env["x"]), env["y"])',
            'torch.stack([e["l"] for e in envs]).mean()',
        ),
        ('for i, env in enumerate(envs):\n    env["l"] = crit(net(env["x"]), env["y"])', 'envs[0]["l"]'),
        ('for k, v in store.items():\n    v["l"] = crit(net(x), y)', 'store["a"]["l"]'),
        ('for v in sorted(store.values()):\n    v["l"] = crit(net(x), y)', 'store["a"]["l"]'),
        ('for n, s in zip([net, other], envs):\n    s["l"] = crit(n(x), y)', 'envs[0]["l"]'),
        ("for i in range(2):\n    one = envs[i]\n    one.update(l=crit(net(x), y))", 'envs[1]["l"]'),
        ("for one in states:\n    one.loss = crit(net(one.x), one.y)", "states[0].loss"),
        ("for one in states:\n    one.run(net)", "states[0].loss"),
        ("for one in states:\n    n = one.run(net)", "states[0].loss"),
        ("[one.run(net) for one in states]", "states[0].loss"),
        ("for one in (state, runner):\n    one.loss = crit(net(x), y)", "state.loss"),
        ('one = envs[0]\none["l"] = crit(net(x), y)', 'envs[0]["l"]'),
        ('one, two = envs\ntwo["l"] = crit(net(x), y)', 'envs[1]["l"]'),
        ('one = store.get("a")\none["l"] = crit(net(x), y)', 'store["a"]["l"]'),
        ('one = slot("a")\none["l"] = crit(net(x), y)', 'store["a"]["l"]'),
        ('one = first if step else second\none["l"] = crit(net(x), y)', 'first["l"]'),
        ('both = [first, second]\nfirst["l"] = crit(net(x), y)', 'sum(part["l"] for part in both)'),
        ('one = envs[1]\nenvs[1]["l"] = crit(net(x), y)', 'one["l"]'),
        ('one = {}\nenvs.append(one)\none["l"] = crit(net(x), y)', 'envs[-1]["l"]'),
        ("one = runner.x\none.loss = crit(net(x), y)", "runner.x.loss"),
        ("n = state.keep(crit(net(x), y))", "state.loss"),
        ('vars(state)["loss"] = crit(net(x), y)', "state.loss"),
        ('setattr(state, "loss", crit(net(x), y))', "state.loss"),
        ("for env in envs:\n    evaluate(env)", 'envs[0]["l"]'),
        ("for env in envs:\n    n = evaluate(env)", 'envs[0]["l"]'),
        ("list(map(evaluate, envs))", 'envs[0]["l"]'),
        ("kept(crit(net(x), y))", 'kept.__defaults__[0]["l"]'),
        ("keep(crit(net(x), y))", 'first["l"]'),
    ],
)
def test_what_stores_a_loss_is_differentiated(before: str, loss: str) -> None:
    text = translate_source(steps(before, loss)).text
    function = text.partition("def forward_fn")[2].partition("grad_fn = ")[0]
    wanted = [line.strip() for line in before.splitlines()][-1].partition("=")[0].strip().removeprefix("n").strip()
    assert wanted.split("(")[0] in function or "recording.backward(loss" in text


@pytest.mark.parametrize(
    ("before", "loss"),
    [
        ("out = net(x)", 'crit(store["out"], y)'),  # the hook keeps it
        ("n = 1", 'store["l"]'),  # another function of the program computed it
        ('for env in envs:\n    env["l"] = crit(net(x), y)\nif step < 2:\n    reg = reg * 1', 'envs[0]["l"]'),
    ],
)
def test_steps_whose_losses_are_kept_elsewhere_are_recorded_or_hold_them(before: str, loss: str) -> None:
    text = translate_source(steps(before, loss)).text
    function = text.partition("def forward_fn")[2].partition("grad_fn = ")[0]
    assert "recording.backward(loss" in text or "net(x)" in function


def test_a_default_that_is_not_used_keeps_nothing() -> None:
    text = translate_source(steps("keep(crit(net(x), y), into=second)\nn = crit(other(x), y)", "n")).text
    assert "keep(" not in text.partition("def forward_fn")[2].partition("grad_fn = ")[0]


def test_what_is_computed_before_a_loop_that_keeps_the_graph_is_recorded() -> None:
    text = steps("n = 1", "crit(hidden, y)").replace("for step", "hidden = net(x)\nfor step")
    text = text.replace("backward()", "backward(retain_graph=True)")
    assert "recording.backward(loss" in translate_source(text).text


def test_functions_and_networks_of_other_files_store_too(tmp_path: Path) -> None:
    source = tmp_path / "src"
    source.mkdir()
    (source / "parts.py").write_text("""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 3)
        self.aux = None

    def forward(self, x):
        out = self.body(x)
        self.aux = out.pow(2).mean()
        return out


def evaluate(net, env):
    env["l"] = net(env["x"]).mean()
    return 1
""")
    head = "import torch\nfrom parts import Net, evaluate\n\nnet = Net()\nenvs = [{'x': torch.rand(2, 4)}]\n"
    head += "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor step in range(3):\n    reg = torch.tensor(0.0)\n"
    body = "    for env in envs:\n        n = evaluate(net, env)\n"
    (source / "keys.py").write_text(head + body + STEP.format(loss='envs[0]["l"]'))
    (source / "attributes.py").write_text(head + "    out = net(envs[0]['x'])\n" + STEP.format(loss="net.aux"))
    translate_project(source, tmp_path / "out")
    for name, wanted in (("keys", "evaluate(net, env)"), ("attributes", "net(envs[0]['x'])")):
        text = (tmp_path / "out" / f"{name}.py").read_text()
        assert wanted in text.partition("def forward_fn")[2].partition("grad_fn = ")[0]


@pytest.mark.parametrize(
    "between",
    [
        "losses.update(loss.data[0], x.size(0))",
        "losses.update(loss.item(), 1)",
        "history.append(loss.item())",
        'stats["loss"] = loss.item()',
        'meters["a"].val = loss.item()',
    ],
)
def test_notes_stay_outside(between: str) -> None:
    text = translate_source(f"""
import torch
from torch import nn

net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def train(loader, losses, history, stats, meters):
    for x, y in loader:
        out = net(x)
        loss = nn.functional.cross_entropy(out, y)
        {between}
        opt.zero_grad()
        loss.backward()
        opt.step()
""").text
    function = text.partition("def forward_fn")[2].partition("grad_fn = ")[0]
    assert "cross_entropy" in function
    assert between.partition("(")[0].partition(" =")[0] not in function


def test_values_of_an_object_are_not_stored_by_calling_its_other_parts() -> None:
    text = translate_source("""
import torch
from torch import nn


class Agent:
    def __init__(self, actor, critic, target, gamma):
        self.actor, self.critic, self.target = actor, critic, target
        self.scale = torch.tensor(0.5)
        self.gamma = gamma
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters())
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters())
        self.scales = [self.scale]

    def reset(self, gamma):
        self.gamma = gamma * 2

    def update(self, states, rewards):
        wanted = rewards + self.gamma * self.target(states, self.actor(states)) * self.scale.exp()
        critic_loss = nn.functional.mse_loss(self.critic(states), wanted.detach())
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()
        actor_loss = -self.critic(states, self.actor(states)).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()
""").text
    assert text.count("ms.value_and_grad") == 2
    assert "recording" not in text
