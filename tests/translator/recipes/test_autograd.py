"""What a program says about how to run, and MindSpore needs not be told."""

from __future__ import annotations

import pytest

from torch2ms.translator.pipeline import translate_source


def body_of(source: str) -> str:
    """Return the translation of ``source`` behind an import of torch, without marks."""
    lines = translate_source(f"import torch\n{source}").text.strip().splitlines()
    return "\n".join(line for line in lines if "# TORCH2MS T2M303" not in line)


@pytest.mark.parametrize(
    "context",
    [
        "torch.no_grad()",
        "torch.inference_mode()",
        "torch.set_grad_enabled(flag)",
        "torch.autocast('cuda')",
        "torch.cuda.amp.autocast(enabled=True)",
        "torch.autograd.detect_anomaly()",
    ],
)
def test_contexts_go(context: str) -> None:
    assert body_of(f"with {context}:\n    y = 1\n") == "y = 1"


@pytest.mark.parametrize("decorator", ["torch.no_grad()", "torch.jit.script", "torch.compile(mode='max-autotune')"])
def test_decorators_go(decorator: str) -> None:
    assert body_of(f"@{decorator}\ndef f(x):\n    return x\n") == "def f(x):\n    return x"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(net):\n    return torch.compile(net)\n", "def f(net):\n    return net"),
        ("def f(x):\n    return torch.autograd.Variable(x)\n", "def f(x):\n    return x"),
        ("from torch.utils import checkpoint as c\ndef f(g, x):\n    return c.checkpoint(g, x, use_reentrant=False)\n",
         "def f(g, x):\n    return g(x)"),
        ("if torch.jit.is_scripting():\n    pass\n", "if False:\n    pass"),
        ("x = 1\ntorch.backends.cudnn.benchmark = True\n", "x = 1"),
        ("import torch.backends.cudnn as cudnn\ncudnn.deterministic = True\nx = 1\n", "x = 1"),
        ("x = 1\ntorch.cuda.empty_cache()\n", "x = 1"),
    ],
)  # fmt: skip
def test_what_stands_for_them(source: str, expected: str) -> None:
    assert body_of(source) == expected


def test_a_collective_binds_its_result() -> None:
    source = "import torch.distributed as dist\ndef f(y):\n    x = y + 1\n    dist.all_reduce(x)\n    return x\n"
    assert "    x = collectives.all_reduce(x)\n    return x" in body_of(source)


def test_a_collective_fills_what_others_hold() -> None:
    source = "import torch.distributed as dist\ndef sync(values):\n    for x in values:\n        dist.broadcast(x, 0)\n"
    assert "        x[...] = collectives.broadcast(x, 0)" in body_of(source)
    weights = "import torch.distributed as dist\ndef sync(net: torch.nn.Module):\n    for p in net.parameters():\n"
    code = body_of(weights + "        dist.broadcast(p.data, 0)\n")
    assert "ops.assign(p, collectives.broadcast(ops.stop_gradient(p), 0))" in code


def test_a_networks_own_switch_is_left() -> None:
    source = (
        "from torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n"
        "        with torch.set_grad_enabled(False):\n            return x\n"
    )
    assert "TORCH2MS T2M203" in body_of(source)
