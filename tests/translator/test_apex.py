"""NVIDIA's apex: what of it the tables know goes; a program that can do without it does."""

from __future__ import annotations

from torch2ms import translate_source

_STEP = (
    "def train(net, opt, batches, args):\n    for x, y in batches:\n        opt.zero_grad()\n"
    "        loss = ((net(x) - y) ** 2).mean()\n        if args.half:\n"
    "            with amp.scale_loss(loss, opt) as scaled:\n                scaled.backward()\n"
    "        else:\n            loss.backward()\n        opt.step()\n\n\n"
    "def main(args, batches):\n    net = nn.Linear(3, 2)\n    opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
    "    if args.half:\n        net, opt = amp.initialize(net, opt, opt_level='O1')\n"
    "    net = DDP(net, delay_allreduce=True)\n    net.train()\n    train(net, opt, batches, args)\n"
    "    torch.save({'net': net.state_dict(), 'amp': amp.state_dict()}, 'a.pth')\n"
)
_PLAIN = "from apex import amp\nfrom apex.parallel import DistributedDataParallel as DDP\n"


def test_a_program_that_needs_apex_runs_without_it() -> None:
    result = translate_source(f"import torch\nfrom torch import nn\n{_PLAIN}\n\n{_STEP}")
    text = result.text
    assert not [word for word in ("apex", "scale_loss", "initialize") if word in text]
    assert "ms.value_and_grad(forward_fn, None, opt.parameters)" in text
    assert "net = DDP(net)" in text
    assert "net.set_train()" in text  # still known to be a network
    assert "'amp': amp.no_state()" in text
    assert not [found for found in result.diagnostics if found.severity.name == "ERROR"]


def test_an_import_that_gives_up_with_advice_is_no_fallback() -> None:
    guarded = "try:\n    from apex import amp\nexcept ImportError:\n    raise ImportError('install apex')\n"
    text = translate_source(f"import torch\nfrom torch import nn\n{guarded}\n\n{_STEP}").text
    assert "apex" not in text.replace("'install apex'", "")


def test_an_import_that_the_program_can_do_without_stays() -> None:
    guarded = "try:\n    from apex import amp\nexcept ImportError:\n    amp = None\n"
    use = "def prepare(net):\n    if amp is not None:\n        net = amp.initialize(net)\n    return net\n"
    text = translate_source(f"import torch\n{guarded}\n\n{use}").text
    assert guarded in text
    assert "net = amp.initialize(net)" in text


def test_settings_that_are_spread() -> None:
    source = (
        "import torch\nfrom apex import amp\nnet = torch.nn.Linear(2, 2)\n"
        "opt = torch.optim.SGD(net.parameters(), 0.1)\n\n\ndef prepared(settings):\n"
    )
    found = translate_source(source + "    return amp.initialize(net, opt, **settings)\n").text
    assert "return (net, opt)" in found
    kept = translate_source(source + "    return amp.initialize(net, **settings)\n")  # these may hold the optimizer
    assert "T2M203" in [d.code for d in kept.diagnostics]
