"""Numbers that tensors become where they are shown, beside losses, and spellings of other releases."""

from __future__ import annotations

import pytest

from torch2ms import translate_source


def test_what_a_number_becomes_is_formatted_as_one() -> None:
    source = (
        "import torch\n\n\ndef run(batches, n):\n    best, hits, total = 0.0, 0, 0.0\n"
        "    for output, target in batches:\n"
        "        hits += torch.sum(torch.argmax(output, 1) == target)\n        total += output.sum().item()\n"
        "    accuracy = hits.double() / n\n    if accuracy > best:\n        best = accuracy\n"
        "    print('{:.3f} {:4f}'.format(accuracy, best), f'{total / n:.2f}')\n"
    )
    emitted = translate_source(source).text
    assert ".format(metrics.number(accuracy), metrics.number(best)), f'{total / n:.2f}'" in emitted


def test_what_meters_hold_is_formatted_as_numbers() -> None:
    source = (
        "import torch\nfrom meters import Meter\n\ntop, losses = Meter(), Meter()\nfor output, loss in batches:\n"
        "    hits = torch.topk(output, 5)[0]\n    top.update(hits[0], 5)\n    losses.update(loss.item(), 5)\n"
        "    print('{losses.avg:.3f}'.format(losses=losses), '{top.val:.3f}'.format(top=top))\n"
        "    print(f'{top.avg:.2f} {losses.avg:.2f}')\n"
    )
    emitted = translate_source(source).text
    assert "'{losses.avg:.3f}'.format(losses=losses), metrics.formatted('{top.val:.3f}', top=top)" in emitted
    assert "f'{metrics.number(top.avg):.2f} {losses.avg:.2f}'" in emitted


def test_what_a_meter_is_given_on_some_paths_is_formatted_as_a_number() -> None:
    source = (
        "import torch\nfrom meters import Meter\n\n\n"
        "def own(ps):\n    return sum(p.grad.norm().item() for p in ps)\n\n\n"
        "def train(net: torch.nn.Module, clip, n):\n    norms, counts = Meter(), Meter()\n    for i in range(9):\n"
        "        if clip:\n            norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)\n"
        "        else:\n            norm = own(net.parameters())\n"
        "        norms.update(norm)\n        counts.update(i)\n"
        "        print(f'{norms.val:.4f} ({norms.avg:.4f}) {counts.avg:.1f}')\n"
    )
    emitted = translate_source(source).text
    assert "{metrics.number(norms.val):.4f} ({metrics.number(norms.avg):.4f}) {counts.avg:.1f}" in emitted


def test_the_best_of_what_meters_hold_is_formatted_as_a_number() -> None:
    source = (
        "import torch\nfrom meters import Meter\n\n\ndef validate(batches):\n    top = Meter()\n"
        "    for output in batches:\n        top.update(torch.topk(output, 5)[0][0], 5)\n    return top.avg\n\n\n"
        "def main(batches):\n    best = 0\n    for _ in range(3):\n        best = max(validate(batches), best)\n"
        "    print('{:.3f}'.format(best))\n"
    )
    assert "'{:.3f}'.format(metrics.number(best))" in translate_source(source).text


RESULTS = (
    "import torch\n\n\ndef evaluate(net, batches, full=False):\n    total = 0\n    for x in batches:\n"
    "        total += net(x).sum()\n    if full:\n        return 1, total / 2, 3\n    return 1, total / 2\n\n\n"
    "def main(net, batches):\n    hits, loss = evaluate(net, batches)\n    msg = 'Loss: {0:>%s} {1}'\n"
    "    print(msg.format(loss, hits))\n"
)


def test_a_template_that_has_a_name_is_filled_in_with_numbers() -> None:
    assert "print(metrics.formatted(msg, loss, hits))" in translate_source(RESULTS % "5.2").text


def test_a_template_of_texts_stays() -> None:
    assert "print(msg.format(loss, hits))" in translate_source(RESULTS % "10").text


def test_settings_beside_the_loss_are_packed() -> None:
    source = (
        "import torch\nfrom torch import nn\n\n\ndef train(net: nn.Module, opt, x, y, args):\n    opt.zero_grad()\n"
        "    out = net(x)\n    start = args.length - args.valid\n    loss = (out[start:] - y[start:]).pow(2).sum()\n"
        "    loss.backward()\n    opt.step()\n    return loss.item() / start\n"
    )
    assert "(loss, (start,)), grads = " in translate_source(source).text


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a = np.array(x.clone(), dtype=None, copy=None)", "a = np.array(x.copy(), dtype=None, copy=False)"),
        ("a = np.array(x, copy=True)", "a = np.array(x, copy=True)"),
        ("batches = iter(loader)\na = batches.next()", "a = next(batches)"),
        ("a = iter(loader).next()", "a = next(iter(loader))"),
        ("batches = make()\na = batches.next()", "a = batches.next()"),
        ("batches = iter(loader)\nbatches = make()\na = batches.next()", "a = batches.next()"),
    ],
)
def test_spellings_of_other_releases(line: str, expected: str) -> None:
    source = f"import numpy as np\nimport torch\n\nx = torch.ones(2)\nloader = torch.utils.data.DataLoader(x)\n{line}\n"
    assert translate_source(source).text.rstrip().splitlines()[-1] == expected


def test_an_array_that_a_network_gives_beside_its_result_is_packed() -> None:
    source = (
        "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.line = nn.Linear(2, 2)\n\n    def forward(self, x):\n"
        "        return self.line(x), x.data.numpy()\n\n\n"
        "def train(net: Net, opt, x):\n    opt.zero_grad()\n    y, seen = net(x)\n    loss = y.sum()\n"
        "    loss.backward()\n    opt.step()\n    return seen\n"
    )
    assert "(loss, (seen,)), grads = " in translate_source(source).text


def test_a_network_that_moves_itself_gives_itself_back() -> None:
    source = (
        "from torch import nn\n\n\nclass Net(nn.Module):\n    def to(self, device):\n"
        "        self.scale = self.scale.to(device)\n        return super(Net, self).to(device)\n"
    )
    assert "        return self\n" in translate_source(source).text


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("print(f'{value:.3f}')", "print(f'{metrics.number(value):.3f}')"),
        ("print('{:>6.2f}'.format(sum(held) / n))", "print('{:>6.2f}'.format(metrics.number(sum(held) / n)))"),
        ("print(format(value, '.2f'))", "print(format(metrics.number(value), '.2f'))"),
        ("print('{a:.1f}'.format(**losses))", "print(metrics.formatted('{a:.1f}', **losses))"),
        ("print(' '.join(f'{k:<9}{v:.4f}' for k, v in losses.items()))", "f'{k:<9}{metrics.number(v):.4f}'"),
        ("print(f'{n:03d} {value:>9} {name}')", "print(f'{n:03d} {value:>9} {name}')"),
        ("print(f'{time.time() - start:.2f}')", "print(f'{time.time() - start:.2f}')"),
        ("print(f'{lr:.2e}')", "print(f'{lr:.2e}')"),
    ],
)
def test_values_of_which_nothing_is_known_are_shown_as_numbers(line: str, expected: str) -> None:
    source = (
        "import time\nimport torch\n\n\ndef show(losses, name, n, value, lr=0.1):\n    start = time.time()\n"
        f"    for held in losses.values():\n        {line}\n"
    )
    assert expected in translate_source(source).text


def test_what_iterating_over_a_dictionary_gives_is_its_keys() -> None:
    source = (
        "import torch\nimport torch.nn.functional as F\n\n\ndef show(key, value):\n"
        "    print(f'{key:>8}: {value:.3f}')\n\n\ndef main(x, y):\n"
        "    losses = dict(a=F.mse_loss(x, y), b=F.l1_loss(x, y))\n    for k in losses:\n        show(k, losses[k])\n"
    )
    assert "f'{key:>8}: {value.item():.3f}'" in translate_source(source).text


def test_what_a_total_is_added_to_may_be_a_tensor() -> None:
    source = (
        "import torch\n\n\nclass Meter:\n    def __init__(self):\n        self.total = 0\n        self.n = 0\n\n"
        "    def add(self, value):\n        self.total += value\n        self.n += 1\n\n"
        "    def mean(self):\n        return self.total / self.n\n\n\n"
        "def run(losses):\n    meter = Meter()\n    for loss in losses:\n        meter.add(loss)\n"
        "    print(f'{meter.mean():.3f}')\n"
    )
    assert "f'{metrics.number(meter.mean()):.3f}'" in translate_source(source).text


def test_a_result_that_is_kept_with_the_settings_is_formatted_as_a_number() -> None:
    source = (
        "import torch\nfrom meters import Meter\n\n\ndef evaluate(batches):\n    top = Meter()\n"
        "    for output in batches:\n        top.update(torch.topk(output, 5)[0][0], 5)\n    return 1, top.avg\n\n\n"
        "def main(args, batches):\n    args.best, args.lr = 0.0, 0.1\n    loss, top1 = evaluate(batches)\n"
        "    if top1 > args.best:\n        args.best = top1\n    print(f'{args.best:.2f} {args.lr:.3f}')\n"
    )
    assert "f'{metrics.number(args.best):.2f} {args.lr:.3f}'" in translate_source(source).text


LOADED = """import torch


def resume(path, args, values):
    state = torch.load(path)
    args.epoch, best = state["epoch"], state["best"]
    lr, rate = args.lr, values.rate
    print("{:d} {:.2f} {:.2f} {:.2f}".format(state["epoch"], best, lr, rate))
    return f"{state['acc']:.3f} {state['epoch']}"
"""


def test_what_a_checkpoint_holds_is_formatted_as_a_number() -> None:
    """PyTorch formats a tensor without dimensions as a number; programs save their best accuracy as one."""
    text = translate_source(LOADED).text
    assert '.format(state["epoch"], metrics.number(best), lr, rate))' in text
    assert "{metrics.number(state['acc']):.3f} {state['epoch']}" in text


MIXED = "import torch\n\nlogs = [3]\nlogs += [torch.tensor(0.25)]\n"


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        ("'{:>5}{:>10.3f}'.format(*logs)", "metrics.formatted('{:>5}{:>10.3f}', *logs)"),
        ("'{:>8}'.format(logs[-1])", "'{:>8}'.format(metrics.number(logs[-1]))"),
        ("f'{logs[1]:<9}'", "f'{metrics.number(logs[1]):<9}'"),
        ("[f'{v / 2:.2f}' for v in logs]", "[f'{metrics.number(v / 2):.2f}' for v in logs]"),
        ("'%5d %.3f' % tuple(logs)", "'%5d %.3f' % tuple(logs)"),  # MindSpore's tensors are numbers there
    ],
)
def test_what_holds_tensors_beside_numbers_is_formatted_as_numbers(shown: str, expected: str) -> None:
    assert f"print({expected})" in translate_source(f"{MIXED}print({shown})\n").text
