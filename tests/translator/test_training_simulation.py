"""Training programs in the shapes real ones have: rewritten by their plans, they must run exactly as before."""

from __future__ import annotations

import textwrap

import pytest

from tests.translator.simulated_training import check

PROGRAMS: dict[str, tuple[str, str]] = {}


def program(name: str, shapes: str, source: str) -> None:
    PROGRAMS[name] = (shapes, textwrap.dedent(source))


program(
    "canonical at module level",
    "A",
    """
    optimizer = SGD(model.parameters())
    for epoch in range(2):
        for data, target in loader:
            optimizer.zero_grad()
            output = model(data)
            loss = criterion(output, target)
            loss.backward()
            optimizer.step()
            print(epoch, loss.item())
""",
)
program(
    "function with arguments",
    "A",
    """
    def train(model, optimizer, epoch):
        for i, (data, target) in enumerate(loader):
            data, target = data * 2, target + 1
            optimizer.zero_grad()
            output = model(data)
            loss = criterion(output, target)
            loss.backward()
            optimizer.step()
            if i % 2 == 0:
                print(epoch, i, loss.item())
    train(model, SGD(model.parameters()), 1)
""",
)
program(
    "criterion inside backward",
    "A",
    """
    optimizer = SGD(model.parameters())
    for data, target in loader:
        optimizer.zero_grad()
        criterion(model(data), target).backward()
        optimizer.step()
        print(data)
""",
)
program(
    "loss divided in backward",
    "A",
    """
    optimizer = SGD(model.parameters())
    for data, target in loader:
        optimizer.zero_grad()
        loss = criterion(model(data), target)
        (loss / 2).backward()
        optimizer.step()
        print(loss)
""",
)
program(
    "mean of the loss",
    "A",
    """
    optimizer = SGD(model.parameters())
    for data, target in loader:
        loss = criterion(model(data), target)
        optimizer.zero_grad()
        loss.mean().backward()
        optimizer.step()
        print(loss)
""",
)
program(
    "dictionary of losses",
    "A",
    """
    optimizer = SGD(model.parameters())
    for data, target in loader:
        out = model(data)
        losses = {'a': criterion(out, target), 'b': out * 0.1}
        losses['total'] = losses['a'] + losses['b']
        optimizer.zero_grad()
        losses['total'].backward()
        optimizer.step()
        print(losses['a'], losses['b'])
""",
)
program(
    "metrics between forward and backward",
    "A",
    """
    optimizer = SGD(model.parameters())
    meter = Meter()
    seen = 0
    for data, target in loader:
        output = model(data)
        seen += 1
        loss = criterion(output, target)
        meter.update(loss.item(), 2)
        print('acc', output, seen)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(seen)
""",
)
program(
    "metric before the loss changes",
    "A",
    """
    optimizer = SGD(model.parameters())
    total = 0.0
    for data, target in loader:
        optimizer.zero_grad()
        loss = criterion(model(data), target)
        total += loss.item()
        loss = loss / 4
        loss.backward()
        optimizer.step()
    print(total)
""",
)
program(
    "zero_grad after step",
    "A",
    """
    optimizer = SGD(model.parameters())
    for data, target in loader:
        loss = criterion(model(data), target)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
""",
)
program(
    "zero_grad of the model",
    "A",
    """
    optimizer = SGD(model.parameters())
    for data, target in loader:
        model.zero_grad()
        loss = criterion(model(data), target)
        loss.backward()
        optimizer.step()
""",
)
program(
    "sum of terms with regularisation",
    "A",
    """
    optimizer = SGD(list(model.parameters()) + list(net.parameters()))
    weight = 0.3
    for data, target in loader:
        optimizer.zero_grad()
        hidden = model(data)
        l1 = criterion(hidden, target)
        l2 = criterion(net(hidden), target)
        loss = l1 + weight * l2
        loss.backward()
        optimizer.step()
        print(l1, l2)
""",
)
program(
    "loop inside the forward pass",
    "A",
    """
    optimizer = SGD(model.parameters())
    for data, target in loader:
        optimizer.zero_grad()
        loss = 0
        out = data
        for k in range(3):
            out = model(out)
            loss += criterion(out, target)
        loss.backward()
        optimizer.step()
        print(loss.item() / 3)
""",
)
program(
    "condition inside the forward pass",
    "A",
    """
    optimizer = SGD(model.parameters())
    for data, target in loader:
        optimizer.zero_grad()
        out = model(data)
        if target > 1:
            out = out * 2
            extra = 'doubled'
        else:
            extra = 'plain'
        loss = criterion(out, target)
        loss.backward()
        optimizer.step()
        print(extra)
""",
)
program(
    "hidden state carried on",
    "A",
    """
    optimizer = SGD(rnn.parameters())
    hidden = 0.0
    def repackage(h):
        return h.detach() if isinstance(h, Tensor) else h
    for data, target in loader:
        hidden = repackage(hidden)
        optimizer.zero_grad()
        output, hidden = rnn(data, hidden)
        loss = criterion(output, target)
        loss.backward()
        optimizer.step()
        print(hidden)
""",
)
program(
    "rebinding the target",
    "A",
    """
    optimizer = SGD(model.parameters())
    for data, target in loader:
        optimizer.zero_grad()
        out = model(data)
        target = target * 2
        data = data + 1
        loss = criterion(out, target) + criterion(model(data), target)
        loss.backward()
        optimizer.step()
        print(target, data)
""",
)
program(
    "clipped by norm",
    "B1",
    """
    optimizer = SGD(model.parameters())
    for data, target in loader:
        optimizer.zero_grad()
        loss = criterion(model(data), target)
        loss.backward()
        clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
""",
)
program(
    "norm used afterwards",
    "B1",
    """
    optimizer = SGD(model.parameters())
    for data, target in loader:
        optimizer.zero_grad()
        loss = criterion(model(data), target)
        loss.backward()
        norm = clip_grad_norm_(model.parameters(), max_norm=0.5)
        print(norm)
        optimizer.step()
""",
)
program(
    "clipped under a condition",
    "B1",
    """
    optimizer = SGD(model.parameters())
    for data, target in loader:
        optimizer.zero_grad()
        loss = criterion(model(data), target)
        loss.backward()
        if data > 1:
            clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
""",
)
program(
    "step under a condition",
    "B3",
    """
    optimizer = SGD(model.parameters())
    for data, target in loader:
        optimizer.zero_grad()
        loss = criterion(model(data), target)
        loss.backward()
        if loss.item() < 20:
            optimizer.step()
""",
)
program(
    "training phase guard",
    "B3",
    """
    optimizer = SGD(model.parameters())
    for phase in ['train', 'val', 'train']:
        running = 0.0
        for data, target in loader:
            optimizer.zero_grad()
            out = model(data)
            pred = out.item() > 0
            loss = criterion(out, target)
            if phase == 'train':
                loss.backward()
                optimizer.step()
            running += loss.item()
            print(phase, pred)
        print(running)
""",
)
program(
    "optimizer that may be missing",
    "B3",
    """
    def run_epoch(optimizer=None):
        for data, target in loader:
            out = model(data)
            loss = criterion(out, target)
            if optimizer is not None:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            print(loss.item(), out)
    run_epoch(SGD(model.parameters()))
    run_epoch()
""",
)
program(
    "leaving the loop on a bad loss",
    "A",
    """
    optimizer = SGD(model.parameters())
    for data, target in loader:
        optimizer.zero_grad()
        out = model(data)
        loss = criterion(out, target)
        if loss.item() > 30:
            print('skip')
            continue
        loss.backward()
        optimizer.step()
        print(out)
""",
)
program(
    "in try, with while",
    "A",
    """
    optimizer = SGD(model.parameters())
    try:
        step = 0
        while step < 3:
            data, target = loader[step]
            optimizer.zero_grad()
            loss = criterion(model(data), target)
            loss.backward()
            optimizer.step()
            step += 1
    finally:
        print('done', step)
""",
)
program(
    "learning rate changed in the loop",
    "A",
    """
    optimizer = SGD(model.parameters())
    for epoch in range(2):
        for group in optimizer.param_groups:
            group['lr'] = 0.1 / (epoch + 1)
        for data, target in loader:
            optimizer.zero_grad()
            loss = criterion(model(data), target)
            loss.backward()
            optimizer.step()
""",
)
program(
    "new model and optimizer in every fold",
    "A",
    """
    for fold in range(2):
        model = Net(0.1 * fold)
        optimizer = SGD(model.parameters())
        for data, target in loader:
            optimizer.zero_grad()
            loss = criterion(model(data), target)
            loss.backward()
            optimizer.step()
        print(fold, model.w)
""",
)
program(
    "trainer class",
    "B1",
    """
    class Trainer:
        def __init__(self, model):
            self.model = model
            self.optimizer = SGD(self.model.parameters())
            self.steps = 0
        def run_batch(self, source, targets):
            self.optimizer.zero_grad()
            output = self.model(source)
            loss = criterion(output, targets)
            loss.backward()
            clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.steps += 1
            return loss.item()
        def train(self):
            for source, targets in loader:
                print(self.run_batch(source, targets), self.steps)
    Trainer(model).train()
""",
)
program(
    "loss kept on self",
    "A",
    """
    class Trainer:
        def __init__(self, model):
            self.model = model
            self.optimizer = SGD(self.model.parameters())
        def step(self, batch):
            self.out = self.model(batch[0])
            self.loss = criterion(self.out, batch[1])
            self.optimizer.zero_grad()
            self.loss.backward()
            self.optimizer.step()
            print(self.out, self.loss)
    trainer = Trainer(model)
    for batch in loader:
        trainer.step(batch)
""",
)


@pytest.mark.parametrize("name", PROGRAMS)
def test_rewritten_program_runs_as_before(name: str) -> None:
    shapes, source = PROGRAMS[name]
    units = check(source)
    assert " ".join(unit.shape for unit in units) == shapes
