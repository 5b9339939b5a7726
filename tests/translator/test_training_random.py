"""Random training programs: whatever is planned must run exactly as before; nothing else is promised."""

from __future__ import annotations

import ast
import random
import textwrap

import pytest

from tests.translator.simulated_training import NameOracle, Rewriter, run
from torch2ms.translator.training.model import TrainingUnit
from torch2ms.translator.training.plan.steps import find_units

BEFORE = [
    "data = data + 1", "target = target * 0.9", "w = 0.5", "print('pre', data)", "seen += 1", "label = Tensor(1)",
    "label.fill_(0.5)", "x = data", "noise = data * 0.3",
]  # fmt: skip
FORWARD = [
    "out = model(data)", "out = model(x)", "out = out * 2", "out2 = net(data)", "out2 = net(out)",
    "h = h * 0.5 if isinstance(h, float) else h.detach()", "out, h = rnn(data, h)", "print('o', out)",
    "meter.update(out.item())", "feats.append(out)", "feats = [out]", "if seen % 2:\n    out = out * 3",
    "for k in range(2):\n    out = model(out) * 0.1", "aux = out.detach()", "extra = criterion(out, label)",
    "acc = out.item() + 1", "seen += 1", "fake = netG(noise)", "if seen > 3:\n    w = 0.25",
    "if out.item() > 100:\n    continue", "store['o'] = out", "y = store['o']", "total += out.item()",
]  # fmt: skip
LOSS = [
    "loss = criterion(out, target)", "loss = criterion(out, target) * w", "loss = loss + out2 * 0.01",
    "loss = loss / 2", "loss = loss + extra", "print(loss)", "total += loss.item()", "loss = criterion(out, label)",
    "loss = loss + criterion(feats[-1], 0.1)", "loss = criterion(y, target)", "meter.update(loss.item())",
]  # fmt: skip
AFTER = ["print(out)", "total += loss.item()", "seen += 1", "print('w', w)", "print(seen)", "h = 0.1", "target = 0"]
CLIP = "norm = clip_grad_norm_(model.parameters(), 0.5)"
BACKWARD = [
    "loss.backward()", "(loss * 0.5).backward()", "loss.mean().backward()", "criterion(out, target).backward()",
]  # fmt: skip
START = """
out, out2, loss, y, extra, fake, acc, aux, noise = [Tensor(0.1 * k) for k in range(9)]
seen, total, h, train, w, x = 0, 0.0, 0.1, True, 1.0, 1.0
store, feats, label = {}, [Tensor(0.2)], Tensor(0.3)
"""
WEIGHTS = ["model.parameters()", "list(model.parameters()) + list(net.parameters()) + list(rnn.parameters())"]


def some(chance: random.Random, pool: list[str], most: int) -> list[str]:
    return [chance.choice(pool) for _ in range(chance.randint(0, most))]


def under(condition: str, statements: list[str]) -> str:
    return f"if {condition}:\n" + textwrap.indent("\n".join(statements), "    ")


def loop_body(chance: random.Random) -> list[str]:
    """One iteration: a forward pass with statements in between, in one of the forms that real loops have."""
    forward = [*some(chance, BEFORE, 3), "out = model(data)", *some(chance, FORWARD, 4)]
    forward += ["loss = criterion(out, target)", *some(chance, LOSS, 3)]
    backward, zero, step = chance.choice(BACKWARD), "optimizer.zero_grad()", "optimizer.step()"
    clip = [CLIP] if chance.random() < 0.2 else []
    end = some(chance, AFTER, 2)
    match chance.choice(["before", "before", "after", "guard", "accumulate", "two"]):
        case "before":
            forward.insert(chance.randint(0, len(forward)), zero)
            return [*forward, backward, *some(chance, AFTER, 2), *clip, step, *end]
        case "after":
            return [*forward, backward, *clip, step, zero, *end]
        case "guard":
            condition = chance.choice(["i % 2 == 0", "seen < 3", "train", "loss.item() < 5"])
            return [*forward, under(condition, [zero, backward, *some(chance, AFTER, 1), *clip, step]), *end]
        case "accumulate":
            return [*forward, backward, *end, under("(i + 1) % 2 == 0", [*clip, step, zero])]
        case _:
            middle = chance.choice([[step, zero], [], [step]])
            again = ["out = model(data * 2)", "loss = criterion(out, target)", *some(chance, LOSS, 1)]
            return [zero, *forward, backward, *middle, *again, chance.choice(BACKWARD), step, *end]


def program(seed: int) -> str:
    chance = random.Random(seed)
    body = textwrap.indent("\n".join(loop_body(chance)), "    ")
    loop = "for i, (data, target) in enumerate(loader):\n" + body
    if chance.random() < 0.4:
        loop = "for epoch in range(2):\n" + textwrap.indent(loop, "    ")
    main = START + loop + "\nprint(seen, total, w)\n" + ("print(loss)\n" if chance.random() < 0.3 else "")
    if chance.random() < 0.4:
        main = "def main(optimizer):" + textwrap.indent(main, "    ") + "main(optimizer)\n"
    return f"optimizer = SGD({chance.choice(WEIGHTS)}, lr=0.003)\nmeter = Meter()\n" + main


def is_valid(source: str) -> bool:
    """Whether the program runs at all, by torch's rules."""
    try:
        run(ast.parse(source), recording=True)
    except (AssertionError, NameError, AttributeError, TypeError, KeyError):
        return False
    return True


@pytest.mark.parametrize("first", range(0, 800, 100))
def test_planned_programs_run_as_before(first: int) -> None:
    planned = 0
    for seed in range(first, first + 100):
        source = program(seed)
        if not is_valid(source):
            continue
        tree = ast.parse(source)
        units = [unit for unit in find_units(tree, NameOracle()) if isinstance(unit, TrainingUnit)]
        if len(units) < source.count(".backward()"):
            continue
        planned += 1
        trace, weights = run(ast.parse(source), recording=True)
        tree.body = Rewriter(units).block(tree.body)
        text = ast.unparse(ast.fix_missing_locations(tree))
        found = run(ast.parse(text), recording=False)
        assert found[0] == trace, (seed, source, text)
        assert found[1] == pytest.approx(weights, rel=1e-9, abs=1e-9), (seed, source, text)
    assert planned >= 25
