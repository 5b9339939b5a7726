"""Training programs whose resets, branches and wrappers stand between the forward pass and the backward call."""

from __future__ import annotations

import textwrap

import pytest

from tests.translator.simulated_training import check

PROGRAMS: dict[str, tuple[str, str]] = {}


def program(name: str, shapes: str, source: str) -> None:
    PROGRAMS[name] = (shapes, textwrap.dedent(source))


program(
    "reset behind the forward pass, in the first of several batches",
    "D",
    """
    optimizer = SGD(model.parameters())
    for i, (data, target) in enumerate(loader):
        loss = criterion(model(data), target)
        if i % 2 == 0:
            optimizer.zero_grad()
        loss.backward()
        if i % 2 == 1:
            optimizer.step()
        print(loss.item())
""",
)
program(
    "backward in either branch, behind a reset",
    "E",
    """
    optimizer = SGD(model.parameters())
    for i, (data, target) in enumerate(loader):
        loss = criterion(model(data), target)
        optimizer.zero_grad()
        if i % 2 == 0:
            loss.backward()
        else:
            loss.backward()
        optimizer.step()
        print(loss.item())
""",
)
program(
    "a scaled loss in one of two branches",
    "E",
    """
    optimizer = SGD(model.parameters())
    for i, (data, target) in enumerate(loader):
        loss = criterion(model(data), target)
        optimizer.zero_grad()
        if i % 2 == 0:
            with scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
        print(loss.item())
""",
)
program(
    "forward pass and backward in branches of one option",
    "C1",
    """
    scaled = False
    optimizer = SGD(model.parameters())
    for epoch in range(2):
        losses = []
        for i, (data, target) in enumerate(loader):
            optimizer.zero_grad()
            data = data * 2
            if scaled:
                with autocast():
                    target = target + 1
                    loss = criterion(model(data), target)
                    losses.append(loss.item())
            else:
                target = target + 1
                loss = criterion(model(data), target)
                losses.append(loss.item())
            if (i + 1) % 2 == 0:
                print(i, loss.item())
            if scaled:
                scaler.scale(loss).backward()
                scaler.step(optimizer)
                scaler.update()
            else:
                loss.backward()
                optimizer.step()
        print(epoch, sum(losses))
""",
)


@pytest.mark.parametrize("name", PROGRAMS)
def test_rewritten_program_runs_as_before(name: str) -> None:
    shapes, source = PROGRAMS[name]
    units = check(source)
    assert " ".join(unit.shape for unit in units) == shapes
