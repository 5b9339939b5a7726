"""Small programs in the shape of real training scripts: what their translations have to say, and what not."""

from __future__ import annotations

import textwrap

import pytest

from torch2ms.diagnostics import Severity
from torch2ms.translator.pipeline import SourceResult, translate_source

_SHOWN = "print(functional.tensor_text(gradients.of(net.line.weight)))"
HEAD = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(3, 1)

    def forward(self, x):
        return self.line(x)

net = Net()
"""


def translated(program: str, head: str = HEAD) -> SourceResult:
    return translate_source(head + textwrap.dedent(program))


def errors(result: SourceResult) -> list[str]:
    return [item.message for item in result.diagnostics if item.severity is Severity.ERROR]


BY_HAND = """
for x, y in loader:
    net.zero_grad()
    loss = ((net(x) - y) ** 2).mean()
    loss.backward()
    {before}
    for p in net.parameters():
        {update}
"""


@pytest.mark.parametrize(
    ("update", "expected"),
    [
        ("p.data.add_(p.grad, alpha=-lr)", "ops.assign(p, p + -lr * grad)"),
        ("p.data.add_(-0.1 * p.grad)", "ops.assign(p, p + -0.1 * grad)"),
        ("p -= p.grad", "ops.assign(p, p - grad)"),
    ],
)
def test_update_without_an_optimizer(update: str, expected: str) -> None:
    result = translated(BY_HAND.format(before="pass", update=update))
    assert not errors(result)
    assert "ms.value_and_grad(forward_fn, None, net.trainable_params())" in result.text
    assert "for p, grad in zip(net.trainable_params(), grads):" in result.text
    assert expected in result.text
    assert ".grad" not in result.text


def test_update_without_an_optimizer_after_clipping() -> None:
    clip = "torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)"
    result = translated(BY_HAND.format(before=clip, update="p.data.sub_(p.grad)"))
    assert not errors(result)
    assert "grads, _ = autograd.clip_grad_norm(grads, 1.0)" in result.text


@pytest.mark.parametrize(
    ("update", "expected"),
    [
        ("p.grad.zero_()", "ops.assign(gradients.of(p), ops.zeros_like(gradients.of(p)))"),
        ("p.grad = None", "gradients.put(p, None)"),
        ("p.grad += p", "gradients.put(p, gradients.of(p) + p)"),
        ("p.grad.data.clamp_(-1, 2)", "ops.assign(gradients.of(p), gradients.of(p).clamp(-1, 2))"),
    ],
)
def test_gradients_that_are_written_to_are_kept(update: str, expected: str) -> None:
    result = translated(BY_HAND.format(before="pass", update=update))
    assert "value_and_grad(forward_fn" not in result.text
    assert "recording.backward(loss)" in result.text
    assert expected in result.text
    assert not errors(result)


def test_one_of_two_updates() -> None:
    result = translated("""
        if fancy:
            optimizer = torch.optim.AdamW(net.parameters(), lr=0.1)

        def train():
            for x, y in loader:
                if fancy:
                    optimizer.zero_grad()
                else:
                    net.zero_grad()
                loss = ((net(x) - y) ** 2).mean()
                loss.backward()
                if fancy:
                    optimizer.step()
                else:
                    for p in net.parameters():
                        p.data.sub_(lr * p.grad)
    """)
    assert not errors(result)
    assert "        loss, grads = grad_fn(x, y)\n        if fancy:\n            optimizer(grads)\n" in result.text
    assert "pass" not in result.text


def test_a_reset_in_one_branch_only_is_not_enough() -> None:
    result = translated("""
        optimizer = torch.optim.AdamW(net.parameters(), lr=0.1)
        for x, y in loader:
            if fancy:
                optimizer.zero_grad()
            loss = ((net(x) - y) ** 2).mean()
            loss.backward()
            if fancy:
                optimizer.step()
            else:
                for p in net.parameters():
                    p.data.sub_(lr * p.grad)
    """)
    assert "    loss, grads = grad_fn(" not in result.text


def test_a_state_that_some_paths_leave_unbound() -> None:
    result = translated("""
        def train(net, optimizer, loader, recurrent, start):
            net.train()
            if recurrent:
                hidden = start()
            for x, y in loader:
                optimizer.zero_grad()
                if recurrent:
                    out, hidden = net(x, hidden.detach())
                else:
                    out = net(x)
                loss = ((out - y) ** 2).mean()
                loss.backward()
                optimizer.step()
    """)
    assert "    hidden = ()\n    if recurrent:\n        hidden = start()\n" in result.text
    assert "(loss, hidden), grads = grad_fn(" in result.text


def test_weights_changed_by_operators() -> None:
    result = translated("""
        for a, b in zip(net.parameters(), other.parameters()):
            a *= 0.9
            a += b
    """)
    assert "ops.assign(a, a * 0.9)" in result.text
    assert "ops.assign(a, a + b)" in result.text


def test_formats_of_tensors() -> None:
    result = translated("""
        loss = net(torch.zeros(2, 3)).mean()
        print(f"{loss:.3f} {loss} {loss / 2:.1f} {len(data):5d}")
        print("{:.3f} {}".format(loss, loss))
        print("{1:d} {name:.2f}".format(0, len(data), name=loss))
    """)
    assert 'print(f"{loss.item():.3f} {loss} {(loss / 2).item():.1f} {len(data):5d}")' in result.text
    assert 'print("{:.3f} {}".format(loss.item(), loss))' in result.text
    assert 'print("{1:d} {name:.2f}".format(0, len(data), name=loss.item()))' in result.text


def test_ranges_as_indices() -> None:
    result = translated("""
        x = torch.zeros(3, 4)
        x[range(3), labels] = 1.0
        names = table[range(3)]
    """)
    assert "x[list(range(3)), labels] = 1.0" in result.text
    assert "names = table[range(3)]" in result.text


def test_one_caller_that_hands_over_a_tensor_is_enough() -> None:
    result = translated("""
        def double(x):
            return x.clone()

        def outer(value):
            return double(value)

        double(torch.zeros(3))
    """)
    assert "return ops.deepcopy(x)" in result.text


def test_networks_are_saved_whole() -> None:
    result = translated("torch.save(net, 'net.pt')\nother = torch.load('net.pt', weights_only=False)\n")
    assert not errors(result)
    assert "checkpoint.save(net, 'net.pt')\nother = checkpoint.load('net.pt')" in result.text


def test_what_the_loader_is_told_of_classes_goes() -> None:
    result = translated("""
        with open("net.pt", "rb") as f:
            with torch.serialization.safe_globals([Net]):
                state = torch.load(f)
    """)
    assert not errors(result)
    assert 'with open("net.pt", "rb") as f:\n    state = checkpoint.load(f)\n' in result.text


def test_images_and_labels_of_mnist_are_tensors() -> None:
    result = translated("""
        from torchvision import datasets

        digits = datasets.MNIST("data")
        images = digits.data.unsqueeze(1).clone()
        count = digits.targets.size(0)
    """)
    assert "images = digits.data.unsqueeze(1).copy()" in result.text
    assert "count = digits.targets.shape[0]" in result.text


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ("net.parameters()", "sgd.SGD(net.trainable_params(), lr=0.1)"),
        ("list(net.parameters()) + list(other.parameters())", "sgd.SGD(modules.distinct(list("),
        ("itertools.chain(net.parameters(), other.parameters())", "sgd.SGD(modules.distinct(itertools.chain("),
        ("[{'params': net.parameters()}, {'params': other.parameters()}]", "sgd.SGD(modules.distinct([{'params'"),
        ("[p for n in (net, other) for p in n.parameters()]", "sgd.SGD(modules.distinct([p for"),
        ("weights", "sgd.SGD(modules.distinct(weights), lr=0.1)"),
        ("[{'params': net.parameters()}]", "sgd.SGD([{'params': net.trainable_params()}], lr=0.1)"),
    ],
)
def test_weights_of_several_networks_are_named_apart(parameters: str, expected: str) -> None:
    result = translated(f"""
        import itertools
        other = Net()
        weights = list(net.parameters())
        weights += other.parameters()
        optimizer = torch.optim.SGD({parameters}, lr=0.1)
    """)
    assert expected in result.text


def test_dictionaries_of_layers() -> None:
    result = translated("""
        plain = nn.ModuleDict({"a": nn.Linear(2, 3), "b": nn.ReLU()})
        mixed = nn.ModuleDict(dict(a=nn.Linear(2, 3), b=nn.ModuleList([Net()])))
        later = nn.ModuleDict()
    """)
    assert 'plain = nn.CellDict({"a": nn.Dense(2, 3), "b": nn.ReLU()})' in result.text
    assert "mixed = layers.ModuleDict(dict(a=nn.Dense(2, 3), b=nn.CellList([Net()])))" in result.text
    assert "later = layers.ModuleDict()" in result.text


def test_tensorboard_needs_no_torch() -> None:
    result = translated("""
        from torch.utils.tensorboard import SummaryWriter

        writer = SummaryWriter("runs/a")
        writer.add_scalar("loss", 0.5, 1)
    """)
    assert not result.diagnostics
    assert "from torch2ms_runtime.events import SummaryWriter" in result.text


def test_old_names_of_mnist() -> None:
    result = translated("""
        import torchvision

        images = torchvision.datasets.MNIST("data").train_data
        x = torch.unsqueeze(images, dim=1).type(torch.FloatTensor)[:20] / 255.0
    """)
    assert not errors(result)
    assert "ms.float32" in result.text


LOGGED = """
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for i, (x, y) in enumerate(loader):
    optimizer.zero_grad()
    loss = ((net(x) - y) ** 2).mean()
    {before}
    loss.backward()
    {behind}
    optimizer.step()
    {last}
"""
READ = "autograd.gradient_of({}, optimizer.parameters, grads)"


@pytest.mark.parametrize(
    ("behind", "last", "expected"),
    [
        (
            "for p in net.parameters(): print(p.grad.data.norm(2))",
            "pass",
            f"print(functional.norm(ops.stop_gradient({READ.format('p')}), 2))",
        ),
        (
            "total = sum(p.grad.sum() for p in net.parameters() if p.grad is not None)",
            "pass",
            f"if {READ.format('p')} is not None",
        ),
        (
            "pass",
            "for n, v in net.named_parameters():\n        log(n, v.grad.cpu().numpy())",
            f"log(n, {READ.format('v')}.asnumpy())",
        ),
        ("pass", "print(net.line.weight.grad)", f"print({READ.format('net.line.weight')})"),
        ("for p in net.parameters(): p.grad.data.clamp_(-1, 1)", "pass", "grads = autograd.clip_grad_value(grads, 1)"),
    ],
)
def test_gradients_that_are_read(behind: str, last: str, expected: str) -> None:
    result = translated(LOGGED.format(before="pass", behind=behind, last=last))
    assert not errors(result)
    assert expected in result.text
    assert ".grad." not in result.text


@pytest.mark.parametrize(
    ("before", "behind", "last", "expected"),
    [
        ("print(net.line.weight.grad)", "pass", "pass", _SHOWN),
        ("pass", "pass", "optimizer.zero_grad(); print(net.line.weight.grad)", _SHOWN),
        (
            "pass",
            "net.line.weight.grad.mul_(2)",
            "pass",
            "ops.assign(gradients.of(net.line.weight), gradients.of(net.line.weight) * 2)",
        ),
        ("pass", "for p in net.parameters(): p.grad *= 2", "pass", "gradients.put(p, gradients.of(p) * 2)"),
        ("pass", "for p in net.parameters(): p.grad.data = -p.grad", "pass", "gradients.put(p, -gradients.of(p))"),
        ("pass", "net.line.bias.grad = None", "pass", "gradients.put(net.line.bias, None)"),
    ],
)
def test_gradients_that_change_are_kept(before: str, behind: str, last: str, expected: str) -> None:
    result = translated(LOGGED.format(before=before, behind=behind, last=last))
    assert not errors(result)
    assert expected in result.text
    for line in (
        "gradients.reset(optimizer)",
        "gradients.keep(optimizer.parameters, grads)",
        "gradients.update(optimizer)",
    ):
        assert line in result.text


@pytest.mark.parametrize("behind", ["print(x.grad)", "net.line.weight.retain_grad()", "del net.line.weight.grad"])
def test_gradients_that_cannot_be_told_stay(behind: str) -> None:
    result = translated(LOGGED.format(before="pass", behind=behind, last="pass"))
    assert "gradients" not in result.text.partition("# TORCH2MS")[0]
    assert any(item.code == "T2M404" for item in result.diagnostics)


def test_a_retained_graph_is_computed_again() -> None:
    plain = LOGGED.format(before="pass", behind="pass", last="pass")
    result = translated(plain.replace("loss.backward()", "loss.backward(retain_graph=True)"))
    assert not errors(result)


def test_contexts_that_are_kept_for_later() -> None:
    result = translated("""
        from contextlib import nullcontext

        ctx = nullcontext() if fast else torch.amp.autocast(device_type="cpu")
        quiet = torch.no_grad()
        with ctx, quiet:
            y = net(torch.ones(3))
    """)
    assert not errors(result)
    assert 'ctx = nullcontext() if fast else amp.autocast(device_type="cpu")\n' in result.text
    assert "quiet = autograd.no_grad()" in result.text


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("AdamW(net.parameters(), lr=0.1, **extra)", "optim.AdamW(net.trainable_params(), lr=0.1, **t2m_optim.numeric"),
        ("SGD(net.parameters(), **extra)", "sgd.SGD(net.trainable_params(), **optim.numeric_options(extra))"),
        (
            "Adam(net.parameters(), foreach=True, **extra)",
            "Adam(net.trainable_params(), **optim.numeric_options(extra))",
        ),
    ],
)
def test_options_of_optimizers_in_a_dictionary(call: str, expected: str) -> None:
    result = translated(f"extra = {{'fused': True}}\noptimizer = torch.optim.{call}\n")
    assert not errors(result)
    assert expected in result.text


def test_parts_of_a_dictionary_of_networks_are_layers() -> None:
    result = translated("""
        class Tied(nn.Module):
            def __init__(self):
                super().__init__()
                self.parts = nn.ModuleDict(dict(table=nn.Embedding(4, 3), blocks=nn.ModuleList([Net()])))
                self.head = nn.Linear(3, 4, bias=False)
                self.parts.table.weight = self.head.weight
    """)
    assert "self.parts.table.embedding_table = self.head.weight" in result.text


def test_what_has_parameters_is_a_network() -> None:
    result = translated("""
        class Corpus:
            def __init__(self):
                self.train = read()

        def epoch():
            model.train()
            count = len(list(model.parameters()))
    """)
    assert "model.set_train()" in result.text


def test_numbers_that_tensors_are_added_to() -> None:
    result = translated("""
        correct = 0.0
        for x, y in loader:
            correct += net(x).argmax(1).eq(y).sum()
        print("{:.4f} {}".format(correct.float() / 10, correct), f"{100 * correct / 10:.1f}")
    """)
    assert not errors(result)
    assert ".format(metrics.number(correct.float() / 10), correct)" in result.text
    assert "{metrics.number(100 * correct / 10):.1f}" in result.text


def test_a_network_handed_to_a_trainer() -> None:
    result = translated("""
        class Trainer:
            def __init__(self, model):
                self.model = model

            def run(self, training):
                self.model.train(training)
                print(len(list(self.model.parameters())))
                self.model.load_state_dict(torch.load("best.pt"))
    """)
    assert "self.model.set_train(training)" in result.text
    assert "modules.load_state_dict(self.model, checkpoint.load(" in result.text


def test_weights_of_recurrent_layers_are_flat() -> None:
    result = translated("model = torch.load('m.pt')\nmodel.rnn.flatten_parameters()\nprint(1)\n")
    assert "flatten" not in result.text


@pytest.mark.parametrize(
    "test",
    [
        "white = (nn.Linear,)\nprint([isinstance(m, white) for m in net.modules()])",
        "white = [nn.Linear, nn.Conv2d]\nprint([type(m) in white for m in net.modules()])",
        "def linear(m, kinds=(nn.Linear,)):\n    return isinstance(m, kinds)",
        "handlers = {nn.Linear: 1}\nprint([handlers.get(type(m)) for m in net.modules()])",
    ],
)
def test_classes_that_layers_are_tested_for_are_those_that_are_made(test: str) -> None:
    text = translated(test).text
    assert "self.line = nn.Dense(3, 1)" in text
    assert "nn.Dense" in text.partition("net = Net()")[2]
    assert "layers.Linear" not in text


@pytest.mark.parametrize(
    "use",
    [
        "made = [nn.Linear]\nprint(made[0](2, 3))",
        "def block(act=nn.Linear):\n    return build(act=act)",
        "def block(act=nn.Linear):\n    return None if act is None else build(act=act)",
    ],
)
def test_classes_that_are_called_take_torch_arguments(use: str) -> None:
    assert "layers.Linear" in translated(use).text


def test_numbers_beside_the_loss_are_packed() -> None:
    source = (
        "import torch\nfrom torch import nn\n\n\ndef train(net, opt, x, y):\n    opt.zero_grad()\n    loss = 0\n"
        "    h = net(x)\n    steps = h.size(0)\n    for i in range(steps):\n"
        "        loss += (h[i] - y[i]).pow(2).sum()\n"
        "    loss.backward()\n    opt.step()\n    return loss.item() / steps\n"
    )
    emitted = translate_source(source).text
    assert "return loss, (steps,)\n" in emitted
    assert "(loss, (steps,)), grads = " in emitted


def test_the_state_of_what_may_be_an_optimizer() -> None:
    source = (
        "import torch\n\n\nclass Finder:\n    def __init__(self, optimizer):\n        self.optimizer = optimizer\n\n"
        "    def reset(self, state):\n        self.optimizer.load_state_dict(state)\n\n"
        "    def text(self):\n        return '{a:.2f}'.format(**self.__dict__)\n"
    )
    emitted = translate_source(source).text
    assert "states.load_state_dict(self.optimizer, state)" in emitted
    assert "metrics.formatted('{a:.2f}', **self.__dict__)" in emitted
