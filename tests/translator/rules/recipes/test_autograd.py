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
        "torch.autograd.detect_anomaly()",
    ],
)
def test_contexts_go(context: str) -> None:
    assert body_of(f"with {context}:\n    y = 1\n") == "y = 1"


@pytest.mark.parametrize(
    ("context", "kept"),
    [
        ("torch.autocast('cuda')", "amp.autocast('cuda')"),
        ("torch.cuda.amp.autocast(False)", "amp.autocast(enabled=False)"),
        ("torch.amp.autocast(d, torch.float16, on)", "amp.autocast(d, ms.float16, on)"),
        ("torch.cpu.amp.autocast()", "amp.autocast(device_type='cpu')"),
    ],
)
def test_mixed_precision_stays(context: str, kept: str) -> None:
    assert body_of(f"with {context}:\n    y = 1\n").endswith(f"with {kept}:\n    y = 1")


@pytest.mark.parametrize("decorator", ["torch.no_grad()", "torch.jit.script", "torch.compile(mode='max-autotune')"])
def test_decorators_go(decorator: str) -> None:
    assert body_of(f"@{decorator}\ndef f(x):\n    return x\n") == "def f(x):\n    return x"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(net):\n    return torch.compile(net)\n", "def f(net):\n    return net"),
        ("x = torch.autograd.Variable(torch.ones(2))\n", "from mindspore import ops\nx = ops.ones(2)"),
        ("from torch.utils import checkpoint as c\ndef f(g, x):\n    return c.checkpoint(g, x, use_reentrant=False)\n",
         "def f(g, x):\n    return g(x)"),
        ("def f(x):\n    return torch.jit.isinstance(x, int)\n", "def f(x):\n    return isinstance(x, int)"),
        ("x = 1\nif torch.jit.is_scripting():\n    pass\n", "x = 1"),
        ("x = 1\ntorch.backends.cudnn.benchmark = True\n", "x = 1"),
        ("import torch.backends.cudnn as cudnn\ncudnn.deterministic = True\nx = 1\n", "x = 1"),
        ("x = 1\ntorch.cuda.empty_cache()\n", "x = 1"),
        ("import torch._dynamo\nx = 1\ntorch._dynamo.config.cache_size_limit = 64\n", "x = 1"),
        ("import torch._inductor.config as c\nc.triton.names, c.fx_graph_cache = True, True\nx = 1\n", "x = 1"),
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


def test_a_networks_own_switch_is_the_runtimes() -> None:
    source = (
        "from torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n"
        "        with torch.set_grad_enabled(False):\n            return x\n"
    )
    assert "        with autograd.set_grad_enabled(False):\n            return x" in body_of(source)


_RECORDED = "x = torch.tensor([1.0], requires_grad=True)\n"


def test_recording_goes_on_inside_of_what_stops_it() -> None:
    source = (
        f"{_RECORDED}with torch.no_grad():\n    z = x * 5\n    with torch.enable_grad():\n        y = x * 2\n"
        "(y + z).sum().backward()\nprint(x.grad)\n"
    )
    assert "    with autograd.enable_grad():\n        y = x * 2" in body_of(source)


@pytest.mark.parametrize(
    "source",
    [
        # nothing is recorded
        "with torch.no_grad():\n    z = x * 5\n    with torch.enable_grad():\n        y = x * 2\n",
        # nothing stops it
        f"{_RECORDED}with torch.enable_grad():\n    y = x * 2\n(y * y).sum().backward()\nprint(x.grad)\n",
    ],
)
def test_recording_that_nothing_stops_needs_no_context(source: str) -> None:
    assert "enable_grad" not in body_of(source)


def test_a_switch_is_the_runtimes_where_all_is_recorded() -> None:
    source = (
        f"{_RECORDED}def f():\n    return torch.is_grad_enabled()\nwith torch.set_grad_enabled(False):\n    z = x * 5\n"
        "y = x * x\n(y + z).sum().backward()\nprint(f(), x.grad)\n"
    )
    code = body_of(source)
    assert "with autograd.set_grad_enabled(False):" in code
    assert "    return autograd.is_grad_enabled()" in code


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a = torch.is_grad_enabled()", "a = True"),
        ("with torch.no_grad():\n    a = torch.is_grad_enabled()", "a = False"),
        ("def f():\n    with torch.enable_grad():\n        return torch.is_grad_enabled()", "return True"),
        ("@torch.no_grad()\ndef f():\n    return torch.is_grad_enabled()", "return False"),
        ("def f():\n    return torch.is_grad_enabled()", "TORCH2MS T2M203"),
        ("def f(a):\n    return a and torch.is_grad_enabled()", "return a and autograd.records()"),
    ],
)
def test_the_mode_that_the_text_shows(source: str, expected: str) -> None:
    assert expected in body_of(source)


def test_a_decorator_for_later_is_neutral() -> None:
    kept = "keep = torch.amp.custom_fwd(cast_inputs=torch.float32, device_type='cuda')\n"
    assert body_of(kept) == "keep = lambda function: function"
    assert body_of("fast = torch.compile(mode='max-autotune')\n") == "fast = lambda function: function"
    assert body_of("def f(net):\n    return torch.compile(model=net)\n") == "def f(net):\n    return net"
