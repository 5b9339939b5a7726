"""``recording.start()``: a script starts the record, an import never does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from torch2ms.translator.pipeline import translate_project, translate_source

MakeTree = Callable[..., Path]

HELPER = """import torch


def finish(loss, optimizer):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
SCRIPT = """import torch
from helper import finish

net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
finish(net(torch.ones(1, 2)).sum(), optimizer)
"""


def texts(make_tree: MakeTree, tmp_path: Path, tree: dict[str, str]) -> dict[str, str]:
    """Return the translated files."""
    translate_project(make_tree(tree), tmp_path / "out")
    return {name: (tmp_path / "out" / name).read_text() for name in tree}


def test_the_script_starts_the_record_for_a_function_that_is_handed_its_loss(
    make_tree: MakeTree, tmp_path: Path
) -> None:
    found = texts(make_tree, tmp_path, {"helper.py": HELPER, "run.py": SCRIPT})
    assert found["helper.py"] == (
        "from torch2ms_runtime import recording\n\n\n"
        "# TORCH2MS T2M405: this step is recorded as it runs (no graph mode, slower): the loss is computed elsewhere: "
        "no module is called before it in this function\ndef finish(loss, optimizer):\n"
        "    recording.reset(optimizer)\n    recording.backward(loss)\n    recording.update(optimizer)\n"
    )
    assert "from helper import finish\n\nrecording.start()\n\nnet = nn.Dense(2, 1)\n" in found["run.py"]


def test_a_guard_starts_the_record(make_tree: MakeTree, tmp_path: Path) -> None:
    lines = SCRIPT.splitlines(keepends=True)
    guarded = "".join([*lines[:3], "if __name__ == '__main__':\n", *(f"    {line}" for line in lines[3:])])
    found = texts(make_tree, tmp_path, {"helper.py": HELPER, "run.py": guarded})
    assert "if __name__ == '__main__':\n    recording.start()\n    net = nn.Dense(2, 1)\n" in found["run.py"]


def test_a_script_that_does_not_call_the_function_records_nothing(make_tree: MakeTree, tmp_path: Path) -> None:
    script = "import torch\nimport helper\n\nprint(torch.ones(2))\n"
    assert "recording" not in texts(make_tree, tmp_path, {"helper.py": HELPER, "run.py": script})["run.py"]


AGENT = """import torch


class Agent:
    def __init__(self):
        self.net = torch.nn.Linear(3, 2)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        self.losses = []

    def act(self, x):
        out = self.net(x)
        self.losses.append(out.mean())
        return out.argmax().item()

    def learn(self):
        \"\"\"Take a step for all that was stored.\"\"\"
        loss = torch.stack(self.losses).sum()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
"""


def test_the_script_starts_the_record_for_what_an_object_stores(make_tree: MakeTree, tmp_path: Path) -> None:
    play = "import torch\nfrom agent import Agent\n\nagent = Agent()\nagent.act(torch.ones(1, 3))\nagent.learn()\n"
    found = texts(make_tree, tmp_path, {"agent.py": AGENT, "play.py": play})
    head, _, learn = found["agent.py"].partition("    def learn(self):\n")
    assert learn.startswith('        """Take a step for all that was stored."""\n        recording.start()\n')
    assert "start" not in head
    assert "from agent import Agent\n\nrecording.start()\n\nagent = Agent()\n" in found["play.py"]


def test_steps_that_a_function_holds_start_nothing() -> None:
    source = SCRIPT.replace("from helper import finish\n", "").replace(
        "finish(net(torch.ones(1, 2)).sum(), optimizer)",
        "optimizer.zero_grad()\nloss = net(torch.ones(1, 2)).sum()\nloss.backward()\noptimizer.step()",
    )
    text = translate_source(source).text
    assert "value_and_grad" in text
    assert "recording" not in text
